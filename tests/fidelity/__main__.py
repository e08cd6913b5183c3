"""Tries the scripts of the corpus: ``python -m tests.fidelity [--only IDIOM/NAME ...] [--write docs/scripts.md]``.

What becomes of each is kept in ``tests/fidelity/results.jsonl`` with ``--write``, which also writes the page.
"""

from __future__ import annotations

import os

# Before torch is loaded: a process that has several threads cannot be copied, and no hub is asked for anything.
os.environ.update(
    OMP_NUM_THREADS="1",
    OMP_WAIT_POLICY="PASSIVE",
    MPLBACKEND="Agg",
    HF_HUB_OFFLINE="1",
    HF_HUB_DISABLE_TELEMETRY="1",
    TOKENIZERS_PARALLELISM="false",
    WANDB_MODE="disabled",
)

import argparse
import gc
import json
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from tests.fidelity.corpus import SCRIPTS, corpus  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fidelity", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], metavar="IDIOM[/NAME]", help="these idioms and scripts alone")
    parser.add_argument(
        "--folder", type=Path, default=SCRIPTS, help="other scripts than the corpus, FOLDER/IDIOM/NAME.py"
    )
    parser.add_argument("--write", type=Path, help="keep what became of them, and write this page")
    parser.add_argument("--jobs", type=int, default=1, help="how many scripts are tried at a time")
    parser.add_argument("--json", type=Path, help="write all that is known of each trial to this file, a line each")
    parser.add_argument("--mutants", nargs="*", help="try mutants of the follower, all or these, in the corpus' place")
    parser.add_argument("--uncompared", action="store_true", help="of mutants: switch the product's comparison off")
    given = parser.parse_args()

    from tests.fidelity import trial
    from tests.fidelity.corpus import by_name

    if given.mutants is not None:
        from tests.fidelity.mutants import MUTANTS

        chosen = [mutant for mutant in MUTANTS if not given.mutants or mutant.name in given.mutants]
        tasks = [trial.Task(by_name(each.script), each.name, not given.uncompared) for each in chosen]
    else:
        scripts = [s for s in corpus(given.folder) if not given.only or {s.name, s.idiom} & set(given.only)]
        tasks = [trial.Task(script) for script in scripts]
    if not tasks:
        parser.error("there is no such script, or mutant")
    trial.warm()
    found = []
    begun = time.monotonic()
    for number, done in enumerate(trial.tried(trial.in_order(tasks), given.jobs), start=1):
        found.append(done)
        seconds = f"{done.plain_seconds:6.1f} s {done.order_seconds:6.1f} s"
        print(f"{number:3} {done.outcome:10} {seconds}  {done.mutant or done.name}: {done.sentence[:160]}", flush=True)
        if given.json:
            with given.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(done), sort_keys=True) + "\n")
    counted = Counter(done.outcome for done in found)
    print(f"{time.monotonic() - begun:.0f} s: " + ", ".join(f"{name} {n}" for name, n in sorted(counted.items())))
    if given.write and given.mutants is None:
        from tests.fidelity.results import keep
        from tests.scripts import results as public

        keep(found, [script.name for script in corpus()])
        given.write.write_text(public.page(public.results()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    finally:
        # What was frozen for the forks is let go in its turn, or libraries say that it leaks.
        gc.unfreeze()
