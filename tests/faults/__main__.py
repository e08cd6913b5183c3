"""Lets calls of the C library fail under each command: ``python -m tests.faults --faults 500``.

It exits with 1 if one ends wrong. What was tried is kept in ``--results``; the same command goes on. Needs Linux with
GNU's C library, and gcc.
"""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

# As pytest has it.
sys.path.insert(0, str(Path(__file__).parents[1]))

import counterfoil
from counterfoil.base.wholefiles import write_whole
from counterfoil.sandbox.box import SWITCH
from faults import jobs, shim
from faults.table import MARKER, table, write_table
from faults.trial import Campaign, Fault, Tried
from support.fork_server import ForkServer


def main() -> int:
    """Try the faults that the arguments ask for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--faults", type=int, default=500, help="faults in all (default: 500)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed chooses the same faults (default: 1)")
    parser.add_argument("--only", default="", help="only commands whose name holds this text")
    parser.add_argument("--results", type=Path, help="where what was tried is kept, a line each; it goes on from there")
    parser.add_argument("--write", type=Path, help=f"a page whose part '{MARKER}' is replaced")
    arguments = parser.parse_args()
    if not shim.can_preload():
        parser.error("this needs Linux with GNU's C library, and gcc")
    kept = (
        []
        if arguments.results is None or not arguments.results.exists()
        else arguments.results.read_text().splitlines()
    )
    found: dict[Fault, Tried] = {tried.fault: tried for tried in map(Tried.of, kept)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "files").mkdir()
        # Without a box the replay, where most calls are, is in the process of the command, in which they are counted.
        environment = {"LD_PRELOAD": str(shim.build(folder)), "HOME": name, "XDG_STATE_HOME": name, SWITCH: "off"}
        with ForkServer(environment) as server:
            jobs.prepare(folder / "files", server)
            campaign = Campaign(folder, server)
            chosen = [
                fault for fault in campaign.faults(arguments.faults, arguments.seed) if arguments.only in fault.work
            ]
            waiting = [fault for fault in chosen if fault not in found]
            begun = time.monotonic()
            for number, fault in enumerate(waiting, 1):
                tried = found[fault] = campaign.try_one(fault)
                if arguments.results is not None:
                    with arguments.results.open("a") as file:
                        file.write(tried.line + "\n")
                if tried.wrong:
                    print(f"\nWRONG: {fault}: {'; '.join(tried.wrong)}\n{tried.said}", flush=True)
                if sys.stderr.isatty():
                    left = (time.monotonic() - begun) / number * (len(waiting) - number) / 60
                    print(
                        f"\r{number:,} of {len(waiting):,} faults, {left:.0f} min left \x1b[K", end="", file=sys.stderr
                    )
    results = [found[fault] for fault in chosen]
    wrong = [tried for tried in results if tried.wrong]
    title = f"Counterfoil {counterfoil.__version__}, Python {platform.python_version()}, seed {arguments.seed}"
    print(f"{title}: {len(results):,} faults, {len(wrong)} ended wrong")
    print(Counter(tried.ended for tried in results))
    text = table(results, arguments.seed)
    if arguments.write is not None:
        page = arguments.write.read_text(encoding="utf-8")
        write_whole(arguments.write, write_table(page, text).encode(), what="the page")
    else:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
