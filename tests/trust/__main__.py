"""Makes the tables of what counts: ``python -m tests.trust [--write docs/threat-model.md]``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.pages import write_between

from trust.outcomes import Desk, tables

MARKER = "trust"


def main() -> int:
    """Print the tables, or write them into a page."""
    parser = argparse.ArgumentParser(prog="python -m tests.trust", description=__doc__)
    parser.add_argument("--write", type=Path, help=f"a page whose part '{MARKER}' is replaced")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "desk").mkdir()
        (place / "cases").mkdir()
        found = tables(Desk(place / "desk"), place / "cases")
    if arguments.write is None:
        print(found)
    else:
        write_between(arguments.write, MARKER, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
