"""Compiles all variants of the kernels for all targets: ``python -m tests.ptx --write docs/kernels.md``."""

from __future__ import annotations

import argparse
from pathlib import Path

from .ahead import table, write


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.ptx", description=__doc__)
    parser.add_argument("--write", type=Path, help="put the table into this page; without, it is printed")
    given = parser.parse_args()
    text = table()
    if given.write:
        write(given.write, text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
