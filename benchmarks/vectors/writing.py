"""Writes the conformance vectors into a folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.vectors.functions import all_functions
from benchmarks.vectors.jobs import (
    convolution_order,
    exact_order,
    shares_order,
    stopped_order,
    transformer_order,
    turns_order,
)
from benchmarks.vectors.readme import readme
from benchmarks.vectors.recording import write_run
from benchmarks.vectors.sharing import write_shared_run
from counterfoil.base.wholefiles import write_errors, write_whole
from counterfoil_core.arithmetic.compute.devices import set_determinism

_SIGNED = ("transformer", "turns")
"""The runs whose order its client signed."""


def write_vectors(folder: str | os.PathLike[str]) -> list[Path]:
    """Write all vectors, and a README that explains them.

    Sets torch's switches as a recording on one thread does. Files of the same names are replaced.

    Args:
        folder: Where they go; made when it is missing.

    Returns:
        The files, in the order in which they were written.

    Raises:
        FileWriteError: The folder cannot be written.
    """
    import torch

    set_determinism(1)
    folder = Path(folder)
    written: list[Path] = []

    def write(name: str, text: str) -> None:
        written.append(folder / name)
        write_whole(written[-1], text.encode(), what="a vector")

    with write_errors(folder, "the vectors"):
        folder.mkdir(parents=True, exist_ok=True)
    write("README.md", readme(torch.__version__.split("+")[0]))
    for name, vector in all_functions():
        write(name, _text(vector))
    for name, draft, turned in (
        ("convolution", convolution_order(), 2),
        ("transformer", transformer_order(), None),
        ("exact", exact_order(), None),
        ("turns", turns_order(), None),
        ("stopped", stopped_order(), None),
    ):
        expected = write_run(folder / f"{name}.cfoil", draft, turned, signed=name in _SIGNED)
        written.append(folder / f"{name}.cfoil")
        write(f"{name}.json", _text(expected))
    expected = write_shared_run(folder / "shares.cfoil", shares_order())
    written.append(folder / "shares.cfoil")
    write("shares.json", _text(expected))
    return written


def _text(value: Mapping[str, Any]) -> str:
    """JSON with one entry of a list in a line, so that a difference shows where it is."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
