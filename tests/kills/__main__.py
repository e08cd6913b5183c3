"""Kills commands that write: ``python -m tests.kills --kills 200``; exits with 1 if anything was lost or differs.

What became of each is kept in ``--results``; the same command goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

# As pytest has it.
sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ["OMP_NUM_THREADS"] = "1"

from benchmarks.pages import write_between

from kills.campaign import MARKER, Killed, Killer, table


def main() -> int:
    """Kill as often as the arguments ask for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="how many in all (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed draws the same moments (default: 1)")
    parser.add_argument("--write", type=Path, help=f"a page whose part '{MARKER}' is replaced")
    parser.add_argument("--results", type=Path, help="where what became of each is kept, a line each")
    arguments = parser.parse_args()
    killed = list[Killed]()
    if arguments.results is not None and arguments.results.exists():
        killed = [Killed(**json.loads(line)) for line in arguments.results.read_text().splitlines()]
    with tempfile.TemporaryDirectory() as folder, Killer(Path(folder), arguments.seed, len(killed)) as killer:
        for each in killer.kills(arguments.kills - len(killed)):
            killed.append(each)
            if arguments.results is not None:
                with arguments.results.open("a") as results:
                    results.write(json.dumps(vars(each)) + "\n")
            if each.wrong:
                print(f"WRONG: {each}", flush=True)
            if sys.stderr.isatty():
                print(f"\r{len(killed)} of {arguments.kills} \x1b[K", end="", file=sys.stderr)
    print(table(killed, arguments.seed))
    if arguments.write is not None:
        write_between(arguments.write, MARKER, table(killed, arguments.seed))
    return int(any(each.wrong for each in killed))


if __name__ == "__main__":
    sys.exit(main())
