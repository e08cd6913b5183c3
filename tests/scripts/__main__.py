"""Tries public training scripts whose sources lie in a folder: ``python -m tests.scripts --write docs/scripts.md``.

What becomes of each is kept in ``tests/scripts/results.jsonl``; names on the command line choose scripts whose names
begin so. ``--page`` tries nothing, and writes the page of what is kept.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from tests.scripts import results  # noqa: E402
from tests.scripts.campaign import BrokenError, MissingError, tried  # noqa: E402
from tests.scripts.entries.table import SCRIPTS  # noqa: E402
from tests.scripts.entry import StaleError  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.scripts", description=__doc__)
    parser.add_argument("names", nargs="*", help="try only scripts whose names begin so")
    parser.add_argument(
        "--sources", type=Path, default=os.environ.get("COUNTERFOIL_SCRIPTS"), help="the fetched sources"
    )
    parser.add_argument("--write", type=Path, default=results.PAGE, help="the page")
    parser.add_argument("--folder", type=Path, help="keep copies, orders and runs in this folder")
    parser.add_argument("--page", action="store_true", help="try nothing, and only write the page")
    given = parser.parse_args()
    if not given.page and given.sources is None:
        parser.error("--sources or COUNTERFOIL_SCRIPTS names the folder of the fetched sources")
    scripts = [script for script in SCRIPTS if not given.names or script.name.startswith(tuple(given.names))]
    for script in () if given.page else scripts:
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as passing:
            into = (given.folder or Path(passing)) / script.name.replace("/", "-").replace(" ", "-")
            shutil.rmtree(into, ignore_errors=True)
            try:
                trial = tried(script, given.sources, into)
            except (BrokenError, MissingError, StaleError) as error:
                print(f"not tried  {script.name}: {error}", flush=True)
                continue
        results.keep(trial)
        words = ", ".join(f"{outcome.verdict} {outcome.sentence}".strip() for outcome in trial.outcomes)
        print(f"{time.monotonic() - started:6.1f} s  {script.name}: {words}", flush=True)
    given.write.write_text(results.page(results.results()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
