"""Makes the frozen files again: ``python -m tests.frozen [--write] [NAME ...]``.

Without ``--write`` it prints a diff from the stored files to those made now, and ends with 1 if there is one. Names are
of the groups of ``tests.frozen.groups``; all unless given.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

# As pytest has it.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.frozen.store import MACHINE, as_text, differences, machine, write


def main() -> int:
    """Make, and compare or write."""
    parser = argparse.ArgumentParser(prog="python -m tests.frozen", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--write", action="store_true", help="put what is made in the place of the stored files")
    chosen = parser.parse_args()
    from tests.frozen.groups import GROUPS, prepare

    if unknown := set(chosen.names) - set(GROUPS):
        parser.error(f"{', '.join(sorted(unknown))}: choose from {', '.join(GROUPS)}")
    prepare()
    differ = False
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen.names or GROUPS:
            group, begun = GROUPS[name], time.monotonic()
            texts = group.make(Path(folder))
            print(f"{name}: {len(texts)} files, {time.monotonic() - begun:.1f} s", file=sys.stderr)
            if chosen.write:
                write(texts, group.prefixes)
                continue
            for line in differences(texts, group.prefixes):
                differ = True
                print(line)
    if chosen.write and not chosen.names:
        MACHINE.write_text(as_text(machine()))
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
