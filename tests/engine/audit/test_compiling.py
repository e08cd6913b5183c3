"""Kernels are compiled ahead by several processes, and what was compiled ahead is all that a step needs."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from counterfoil.audit.boxed.compilation import Compiled, compile_kernels
from counterfoil.audit.boxed.kernels import HOMES, TESTED, parts
from counterfoil.talk import process
from counterfoil.talk.failure import FaultError
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, ObstacleError
from counterfoil_core.kernels.cpu.regions import Region
from support.packages import sources

PARTS = [f"part {number}" for number in range(9)]
WORKER = f"""
import os, sys, time
from counterfoil.audit.boxed.compilation import COMPILES, Kernels
from counterfoil.talk.line import Line
from counterfoil.talk.table import COMPILER
def compiled(line):
    FAULT
    with open(sys.argv[1], "a") as told:
        told.write(line + chr(10))
parts = {{part: lambda part=part: compiled(part) for part in {PARTS}}}
Line(COMPILER, COMPILES).serve(Kernels(parts, lambda: KEPT))
"""


@pytest.fixture
def imitated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which processes that compile nothing write what they are told."""
    told = tmp_path / "told"
    imitate(monkeypatch, told)
    return told


def imitate(monkeypatch: pytest.MonkeyPatch, told: Path, fault: str = "pass", kept: bool = True) -> None:
    script = WORKER.replace("FAULT", fault).replace("KEPT", str(kept))
    command = [sys.executable, "-P", "-c", script, str(told)]
    monkeypatch.setattr(process, "program_command", lambda module: command)


@pytest.mark.parametrize("processes", [1, 3])
def test_each_part_is_compiled_once_by_one_of_the_processes(imitated: Path, processes: int) -> None:
    events = list(compile_kernels(processes))
    assert [(event.done, event.total) for event in events] == [(number, 9) for number in range(1, 10)]
    assert sorted(event.part for event in events) == PARTS
    assert sorted(imitated.read_text().splitlines()) == PARTS
    if processes == 1:
        assert events[-1] == Compiled(9, 9, "part 8")


@pytest.mark.parametrize(
    ("fault", "kept"), [("if '4' in line: os._exit(1)", True), ("pass", False)], ids=["one ends", "it is not kept"]
)
def test_what_was_not_compiled_or_not_kept_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, kept: bool
) -> None:
    imitate(monkeypatch, tmp_path / "told", fault, kept)
    with pytest.raises(ObstacleError, match="not be kept"):
        list(compile_kernels(2))


def test_a_fault_of_the_program_is_not_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imitate(monkeypatch, tmp_path / "told", "if '4' in line: raise AttributeError('no such function')")
    with pytest.raises(FaultError, match="no such function"):
        list(compile_kernels(2))


def test_it_can_be_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imitate(monkeypatch, tmp_path / "told", "if '4' in line: time.sleep(600)")
    cancel = CancelToken()
    events = compile_kernels(2, cancel)
    assert [next(events).done for _ in range(8)] == list(range(1, 9))
    cancel.cancel()
    with pytest.raises(CancelledError):
        next(events)


def test_every_module_with_kernels_is_loaded() -> None:
    declares = re.compile(r"^@kernel\(|= Region\(", re.MULTILINE)
    declaring = {
        name.removesuffix(".py").replace("/", ".")
        for name, path in sources()
        if declares.search(path.read_text(encoding="utf-8"))
    }
    # The loops for OpenSSL's functions are loaded where they are asked for.
    assert declaring == {*HOMES, "kernels.cpu.sha256"}


def test_all_that_can_be_compiled_has_a_part() -> None:
    made = parts()
    regions = {region.name for region in Region.declared()}
    assert regions
    others = {*(f"self-test {number}" for number in range(1, len(TESTED) + 1)), "loops of SHA-256", "others"}
    assert set(made) == regions | others
    assert all(map(callable, made.values()))


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.slow
@pytest.mark.parametrize("jit", [True, False], ids=["", "control"])
def test_a_step_compiles_nothing_that_was_compiled_ahead(tmp_path: Path, jit: bool) -> None:
    """Under a profile of each kind. The control: without the command the first step compiles, and keeps it."""
    cache = tmp_path / "cache"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1"}

    def run(*words: str) -> None:
        command = [sys.executable, "-m", "counterfoil", *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=1200)
        assert done.returncode == 0, done.stderr

    run("keygen", "key.pem", "--no-passphrase")
    profiles = ("float64-24", "float32-bfloat16", "exact-20", "exact-13") if jit else ("float64-24",)
    if jit:
        run("doctor", "--compile")
        ahead = digests(cache)
        assert sum(name.endswith(".nbc") for name in ahead) > 90
    for name in profiles:
        run("order", "digits-cnn", "--out", f"{name}.job", "--steps", "2", "--width", "8", "--precision", name)
        run("train", f"{name}.job", "--out", f"{name}.cfoil", "--key", "key.pem")
        run("audit", f"{name}.cfoil", "--order", f"{name}.job")
        found = digests(cache)
        if jit:
            assert sorted(each for each in found if found[each] != ahead.get(each)) == []
        else:
            assert sum(each.endswith(".nbc") for each in found) > 30
