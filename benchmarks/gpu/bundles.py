"""A folder of runs that the device recorded, with their orders: to be replayed elsewhere, on any machine."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from benchmarks.cross_hardware.campaign import Training
from benchmarks.cross_hardware.results import Recorded, parts_of
from benchmarks.gpu.crossing import HOST, campaign
from benchmarks.gpu.finetuning import FOLDER as FINE_TUNING
from benchmarks.gpu.settings import Settings
from counterfoil.base.wholefiles import write_whole
from counterfoil_core.base.digest import Digest

FOLDER = "bundles"
SCRIPT = "replay.sh"
_README = """\
# Runs of one machine, to be replayed on another

Recorded on {title}. Each file in `runs` has its order under the same name in `orders`. On any machine with Counterfoil,

    sh {script} [OPTIONS OF counterfoil audit, such as --device cuda:0]

audits every run, and ends with 1 if one is not VERIFIED. `COUNTERFOIL="python -m counterfoil.cli"` before it names
another command. `runs.json` lists the run roots. Tampered runs are in `tampered`: each must be DISPUTED.
"""
_SCRIPT = """\
#!/bin/sh
# Audits every run of this folder; further arguments go to 'counterfoil audit'.
cd "$(dirname "$0")" || exit 4
failed=0
check() { # run, expected exit code, options
    run=$1 expected=$2; shift 2
    ${COUNTERFOIL:-counterfoil} audit "$run" --order "orders/$(basename "$run")" "$@" </dev/null >last.log 2>&1
    code=$?
    if [ "$code" -eq "$expected" ]; then
        echo "as expected: $run, exit code $code"
    else
        echo "NOT as expected: $run, exit code $code"; cat last.log; failed=1
    fi
}
for run in runs/*.cfoil; do [ -e "$run" ] && check "$run" 0 "$@"; done
for run in tampered/*.cfoil; do [ -e "$run" ] && check "$run" 1 "$@"; done
rm -f last.log
exit $failed
"""


def gather(settings: Settings) -> int:
    """Collect what the device has recorded so far, and say how to replay it; returns the number of runs.

    Raises:
        FileWriteError: The folder cannot be written.
    """
    folder, shared = settings.out / FOLDER, campaign(settings)
    listed: dict[str, dict[str, str]] = {}
    for part in parts_of(shared.folder / "results"):
        if isinstance(part, Recorded) and part.machine != HOST:
            training, kind = Training(part.job, part.profile, part.tampered), "tampered" if part.tampered else "runs"
            file = f"{training.name}.cfoil"
            _place(shared.run(part.machine, training), folder / kind / file)
            _place(shared.order(training), folder / "orders" / file)
            listed[f"{kind}/{file}"] = {
                "job": part.job,
                "profile": part.profile,
                "run_root": part.run_root,
                "order": part.order,
            }
    tuned = settings.out / FINE_TUNING
    if (tuned / "tuned.cfoil").exists():
        _place(tuned / "tuned.cfoil", folder / "runs" / "fine-tuning.cfoil")
        _place(tuned / "tune.cfoil", folder / "orders" / "fine-tuning.cfoil")
        digest = Digest.of((tuned / "tuned.cfoil").read_bytes()).hex
        listed["runs/fine-tuning.cfoil"] = {"job": "fine-tuning", "sha256": digest}
    if listed:
        readme = _README.format(title=settings.about["title"], script=SCRIPT)
        for file, text in (
            ("README.md", readme),
            (SCRIPT, _SCRIPT),
            ("runs.json", json.dumps(listed, indent=1) + "\n"),
        ):
            write_whole(folder / file, text.encode(), what="a file of the bundles")
    return len(listed)


def _place(source: Path, target: Path) -> None:
    """Put a file into the folder, as a link to the same bytes where the system has such links."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without such links
        shutil.copyfile(source, target)
