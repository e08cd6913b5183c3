"""Writes the conformance vectors into a folder; tests/vectors/README.md explains each.

Small runs, logs and single functions with the results that they must have, for a second implementation of format and
numerics.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks.vectors import jobs
from benchmarks.vectors.functions import all_functions
from benchmarks.vectors.recording import write_run, write_shared_run
from counterfoil.base.wholefiles import write_errors, write_whole
from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.compute.devices import set_determinism

RUNS: Mapping[str, tuple[Callable[[], OrderDraft], Callable[..., dict[str, Any]]]] = {
    # Of the first a decision of step 2 is turned round; the orders of two are signed by their client.
    "convolution": (jobs.convolution_order, partial(write_run, turned=2)),
    "transformer": (jobs.transformer_order, partial(write_run, signed=True)),
    "exact": (jobs.exact_order, write_run),
    "rows": (jobs.rows_order, write_run),
    "turns": (jobs.turns_order, partial(write_run, signed=True)),
    "stopped": (jobs.stopped_order, write_run),
    "shares": (jobs.shares_order, write_shared_run),
}
"""The order of each run, and what writes it."""


def write_vectors(folder: str | os.PathLike[str]) -> list[Path]:
    """Write all vectors.

    Sets torch's switches as a recording on one thread does. Files of the same names are replaced.

    Args:
        folder: Where they go; made when it is missing.

    Returns:
        The files, in the order in which they were written.

    Raises:
        FileWriteError: The folder cannot be written.
    """
    set_determinism(1)
    folder = Path(folder)
    written: list[Path] = []

    def write(name: str, value: Mapping[str, Any]) -> None:
        written.append(folder / name)
        # One entry of a list in a line, so that a difference shows where it is.
        text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
        write_whole(written[-1], text.encode(), what="a vector")

    with write_errors(folder, "the vectors"):
        folder.mkdir(parents=True, exist_ok=True)
    for name, vector in all_functions():
        write(name, vector)
    for name, (order, write_one) in RUNS.items():
        written.append(folder / f"{name}.cfoil")
        write(f"{name}.json", write_one(written[-1], order()))
    return written


def main(name: str, arguments: Sequence[str]) -> int:
    """Write them.

    Raises:
        FileWriteError: The folder cannot be written.
    """
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder; files of the same names are replaced")
    options = parser.parse_args(arguments)
    print(f"Wrote {len(write_vectors(options.out))} files to {options.out}.")
    return 0


VECTORS = SimpleNamespace(main=main)
"""A command that measures nothing."""
