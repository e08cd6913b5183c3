"""The tests that need a GPU, from the source tree, file by file."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from benchmarks.campaign.task import Found, LeftOutError, Task
from benchmarks.gpu.part import Part
from benchmarks.gpu.settings import Settings
from benchmarks.programs import ROOT

NAME = "tests"
_MARK = "pytest.mark.gpu"
_PROCESSES = 4
_INI = """\
[pytest]
addopts = --import-mode=importlib -p no:cacheprovider
markers =
    gpu: needs a CUDA device
    slow: takes long
    xvfb: needs an X server
pythonpath = {root}/tests {root}
"""
"""Not the tree's own settings, which want plugins for the window."""


def _files() -> list[str]:
    """The files that have such tests, relative to the tree."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [file.relative_to(ROOT).as_posix() for file in files if _MARK in file.read_text(encoding="utf-8")]


def _name(file: str) -> str:
    return file.removeprefix("tests/").removesuffix(".py").replace("/", ".")


def _tasks(_settings: Settings) -> list[Task]:
    return [Task(NAME, _name(file), 60, 400) for file in _files()]


def _do(settings: Settings, name: str) -> Found:
    if find_spec("pytest") is None:
        raise LeftOutError("pytest is not installed.")
    file = next(file for file in _files() if _name(file) == name)
    with tempfile.TemporaryDirectory() as folder:
        ini, report = Path(folder) / "pytest.ini", Path(folder) / "report.xml"
        ini.write_text(_INI.format(root=ROOT), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-c", str(ini), "--rootdir", str(ROOT)]
        if settings.on_gpu and find_spec("xdist") is not None:
            command += ["-n", str(_PROCESSES)]
        command += [f"--junitxml={report}", str(ROOT / file)]
        path = os.pathsep.join(filter(None, [*sys.path, os.environ.get("PYTHONPATH", "")]))
        environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if not report.exists():
            raise RuntimeError(f"pytest ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        cases = {_case(case): _outcome(case) for case in ET.parse(report).getroot().iter("testcase")}
    counts = Counter(cases.values())
    failed = [case for case, outcome in cases.items() if outcome in ("failed", "error")]
    said = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "no test"
    values = {"file": file, "counts": dict(counts), "failed": failed}
    if failed:
        values["output"] = done.stdout[-6000:]
    return Found(said, values, tuple(f"test {case} of {file} failed" for case in failed))


def _case(case: ET.Element) -> str:
    return case.get("name", "")


def _outcome(case: ET.Element) -> str:
    for tag, word in (("failure", "failed"), ("error", "error"), ("skipped", "skipped")):
        if case.find(tag) is not None:
            return word
    return "passed"


TESTS = Part(NAME, "the tests that need a GPU", _tasks, _do)
