"""The court by itself: it judges where nothing else of the program is installed, and reaches nothing but its files."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from counterfoil_core.arithmetic.compute.interpreter import StepInputs
from counterfoil_core.signing.keys import SigningKey
from support.jobs import Job
from support.malicious import Trainer, record_malicious
from support.packages import COURT

ALONE = """
import sys
FORBIDDEN = ("counterfoil", "counterfoil_app", "counterfoil_resources", "h5py", "typer", "rich", "aiohttp", "fsspec")
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in FORBIDDEN:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
from pathlib import Path
from counterfoil_core.hearing.session import run_audit
from counterfoil_core.signing.keys import load_public_key
from counterfoil_core.values.request import AuditRequest
order, key, *runs = map(Path, sys.argv[1:])
for run in runs:
    *_, end = run_audit(AuditRequest(run, order=order, trainer_key=load_public_key(key)))
    print(end.report.outcome.name, end.report.steps_replayed)
try:
    next(run_audit(AuditRequest(run, order=order, progress=Path("."))))
except ValueError as error:
    print("ValueError")
"""


class TwiceTheRate(Trainer):
    """Trains one step with twice the rates that are ordered."""

    def inputs(self, inputs: StepInputs) -> StepInputs:
        if not self.acting:
            return inputs
        return replace(inputs, scalars={name: 2 * value for name, value in inputs.scalars.items()})


def test_it_audits_where_nothing_else_is_installed(digits_job: Job, trainer_key: SigningKey, tmp_path: Path) -> None:
    key = tmp_path / "trainer.pub.pem"
    key.write_text(trainer_key.public.pem)
    wrong = record_malicious(digits_job.order, tmp_path / "wrong.cfoil", trainer_key, TwiceTheRate(step=3))
    command = [sys.executable, "-c", ALONE, *map(str, (digits_job.order, key, digits_job.run, wrong))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    verified, disputed, refused = done.stdout.splitlines()
    assert (verified, refused) == ("VERIFIED 6", "ValueError")
    assert disputed.startswith("DISPUTED")


STARTS = {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "spawnv", "spawnl", "execv", "execve"}


def reaches_out(source: str) -> list[str]:
    """What of a module starts a process or opens a network, which imports alone do not show."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "urllib":
            found += [node.module or ""] * (node.module != "urllib.parse")
        elif isinstance(node, ast.Import):
            found += [
                each.name for each in node.names if each.name.startswith("urllib") and each.name != "urllib.parse"
            ]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            found += [node.attr] * (node.attr in STARTS)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("importlib.import_module", "__import__"):
            found += [ast.unparse(node)] * ("py_ecc" not in ast.unparse(node))
    return found


def test_it_starts_no_process_and_opens_no_network() -> None:
    found = {str(path.relative_to(COURT)): reaches_out(path.read_text("utf-8")) for path in COURT.rglob("*.py")}
    assert len(found) > 300
    assert {name: what for name, what in found.items() if what} == {}


@pytest.mark.parametrize(
    "source",
    ["import urllib.request", "from urllib import request", "os.fork()", "importlib.import_module('counterfoil.cli')"],
)
def test_what_does_would_be_seen(source: str) -> None:
    assert reaches_out(source)
