"""Compiles variants of the kernels for all targets: ``python -m tests.ptx --write docs/kernels.md``."""

from __future__ import annotations

import argparse
from pathlib import Path

from .ahead import BUDGETS, table, write

PAGE = Path(__file__).parents[2] / "docs" / "kernels.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.ptx", description=__doc__)
    parser.add_argument("kernels", nargs="*", help="compile these, as _multiply; without, all. Other rows stay")
    parser.add_argument("--write", type=Path, help="put the table into this page; without, it is printed")
    given = parser.parse_args()
    if strange := set(given.kernels) - BUDGETS.keys():
        parser.error(f"There is no kernel {min(strange)}: they are {', '.join(BUDGETS)}.")
    text = table((given.write or PAGE).read_text("utf-8"), given.kernels or BUDGETS)
    if given.write:
        write(given.write, text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
