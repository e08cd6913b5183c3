"""``python -m benchmarks vectors``: write conformance vectors for a second implementation of format and numerics.

Small runs, logs and single functions with the results that they must have; README.md in the folder explains each.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.vectors.writing import write_vectors


def main(arguments: Sequence[str]) -> None:
    """Write them.

    Raises:
        FileWriteError: The folder cannot be written.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks vectors", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder; files of the same names are replaced")
    options = parser.parse_args(arguments)
    written = write_vectors(options.out)
    print(f"Wrote {len(written)} files to {options.out}; README.md explains them.")
