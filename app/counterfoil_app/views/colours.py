"""Colours of the heat map: one scale for light and one for dark, and what stands beside the scale."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QColor

from counterfoil_app.looks.theme import LIGHT, Tokens
from counterfoil_app.model.divergence_table import Floats, Scale

Pixels = npt.NDArray[np.uint8]
_LIGHT_STOPS = ("#fbd9a5", "#f59d56", "#d9542f", "#9c1f1f", "#4a0511")
_DARK_STOPS = ("#5a2317", "#9c3d20", "#d96b34", "#f5ad63", "#fff0cf")
_LIGHT_BROKEN, _DARK_BROKEN = "#a000a8", "#ff7bff"


def rgba(colour: str) -> tuple[int, int, int, int]:
    """A colour as red, green, blue and alpha, 0 to 255."""
    parsed = QColor(colour)
    return parsed.red(), parsed.green(), parsed.blue(), parsed.alpha()


def broken(tokens: Tokens) -> str:
    """The colour of differences that are not finite."""
    return _LIGHT_BROKEN if tokens == LIGHT else _DARK_BROKEN


def ramp(tokens: Tokens, fractions: Floats) -> Pixels:
    """Return the colours of places on the scale: float64 ``[...]`` in 0 to 1 to uint8 ``[..., 4]``."""
    stops = np.array([rgba(stop) for stop in (_LIGHT_STOPS if tokens == LIGHT else _DARK_STOPS)], np.float64)
    places = np.linspace(0.0, 1.0, len(stops))
    channels = [np.interp(np.nan_to_num(fractions), places, stops[:, channel]) for channel in range(4)]
    return np.stack(channels, axis=-1).round().astype(np.uint8)


def paint(values: Floats, scale: Scale, tokens: Tokens) -> Pixels:
    """Return the pixels of differences.

    Args:
        values: float64 ``[tensors, columns]``: NaN where nothing was compared, 0 where all is equal.
        scale: The colour scale.
        tokens: The theme's colours.

    Returns:
        uint8 ``[tensors, columns, 4]``; transparent where nothing was compared.
    """
    pixels = ramp(tokens, scale.fractions(values))
    pixels[values == 0] = rgba(tokens.ok_tint)
    pixels[np.isinf(values)] = rgba(broken(tokens))
    pixels[np.isnan(values)] = 0
    return pixels
