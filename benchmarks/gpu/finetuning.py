"""A whole fine-tuning, from the order to the delivered weights, trained and audited on the device, audited on the CPU.

It is the example of the source tree (``examples/fine_tuning.py``), with its models from transformers.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from importlib.util import find_spec

from benchmarks.campaign.task import Found, LeftOutError, Task
from benchmarks.gpu.part import Part
from benchmarks.gpu.settings import Settings
from benchmarks.programs import ROOT
from counterfoil.talk.programs import program_command

NAME = "fine-tuning"
FOLDER = "fine-tuning"
_NEEDED = ("transformers", "tokenizers", "safetensors")
_SMALL = ("--small=--steps 5 --layers 1 --width 32", "--order=--steps 3")


def _tasks(_settings: Settings) -> list[Task]:
    return [Task(NAME, "example", 150, 400, alone=True)]


def _do(settings: Settings, _name: str) -> Found:
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise LeftOutError(f"It needs {' and '.join(missing)}, not installed here.")
    folder = settings.out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    figures = folder / "figures.json"
    script = ROOT / "examples" / "fine_tuning.py"
    options = list(_SMALL) if settings.small else []
    command = [sys.executable, "-P", str(script), "--folder", str(folder), "--device", settings.device, *options]
    _run([*command, "--json", str(figures)])
    begun = time.perf_counter()
    audit = program_command("counterfoil.cli", "audit", str(folder / "tuned.cfoil"))
    said = _run([*audit, "--order", str(folder / "tune.cfoil"), "--device", "cpu"])
    seconds = time.perf_counter() - begun
    verdict = next((line for line in said.splitlines() if line.startswith("VERIFIED")), "")
    values = {**json.loads(figures.read_text(encoding="utf-8")), "cpu_audit_seconds": seconds, "cpu_audit": verdict}
    strange = () if verdict else ("the fine-tuning of the device is not VERIFIED on the CPU",)
    return Found(f"trained and audited on the device; on the CPU: {verdict or 'not VERIFIED'}", values, strange)


def _run(command: list[str]) -> str:
    """Run a command and return what it printed; RuntimeError with the end of that when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(
            f"{shlex.join(command)} ended with {done.returncode}:\n{done.stdout[-1500:]}{done.stderr[-1500:]}"
        )
    return done.stdout


FINE_TUNING = Part(NAME, "a whole fine-tuning, trained and audited on the device, and audited on the CPU", _tasks, _do)
