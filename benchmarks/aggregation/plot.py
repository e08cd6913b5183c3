"""Draws the table: a line for each rule, and on it a dot for each attack, at the accuracy that is left."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Final

_LEFT, _WIDTH, _RIGHT = 200, 700, 30
"""Where the axis begins, how long it is, and what is to the right of it."""
_TOP, _LINE = 30, 34
WELL: Final = 85.0
"""From this accuracy on a rule is said to hold."""
_NAMED_APART: Final = 9.0
"""Dots that are closer have one name beside them."""


def picture(accuracies: Mapping[str, Mapping[str, float]]) -> str:
    """Return an SVG picture; a dot where a rule does not hold has the attack's name.

    Args:
        accuracies: Of every rule, by the attack's name.
    """
    bottom = _TOP + _LINE * len(accuracies)
    width, height = _LEFT + _WIDTH + _RIGHT, bottom + 50
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for mark in range(0, 101, 20):
        lines += [
            f'<line x1="{_x(mark)}" x2="{_x(mark)}" y1="{_TOP - 10}" y2="{bottom}" stroke="#d0d7de"/>',
            _text(_x(mark), bottom + 16, f"{mark} %", "middle"),
        ]
    lines.append(_text(_x(50), bottom + 38, "digits held out that the network names rightly", "middle"))
    for number, (rule, found) in enumerate(accuracies.items()):
        y = _TOP + _LINE * number + _LINE // 2
        lines += [
            _text(_LEFT - 12, y + 4, rule, "end"),
            f'<line x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y}" y2="{y}" stroke="#eaeef2"/>',
            *_dots(found, y),
        ]
    return "\n".join([*lines, "</svg>", ""])


def _dots(found: Mapping[str, float], y: int) -> list[str]:
    lines, named = [], dict[float, list[str]]()
    for attack, accuracy in sorted(found.items(), key=lambda item: item[1]):
        colour = "#2da44e" if accuracy >= WELL else "#cf222e"
        lines.append(f'<circle cx="{_x(accuracy)}" cy="{y}" r="5" fill="{colour}" fill-opacity="0.6"/>')
        if accuracy < WELL:
            near = next((at for at in named if accuracy - at < _NAMED_APART), accuracy)
            named.setdefault(near, []).append(attack)
    right = {at: max(found[attack] for attack in attacks) for at, attacks in named.items()}
    return lines + [_text(_x(right[at]) + 9, y - 4, ", ".join(named[at]), "start") for at in named]


def _x(accuracy: float) -> int:
    return _LEFT + round(_WIDTH * accuracy / 100)


def _text(x: int, y: int, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="#24292f">{escape(text)}</text>'
