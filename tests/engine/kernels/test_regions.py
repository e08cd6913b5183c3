"""A compiled loop that has no memory says so: its results would be garbage, and an honest trainer's log wrong."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterfoil
from counterfoil.kernels.cpu.regions import JOB_WORDS, Region, carray, entered, job, left

PACKAGE = Path(counterfoil.__file__).parent
THREADS = [1, 2, 4]


def _fill(pointer: Any) -> None:
    entered(pointer)
    given = carray(pointer, (JOB_WORDS,))
    room = np.empty(given[2], np.uint8)
    room[0] = 7
    given[3] = np.uint64(room[0])
    left(pointer)


def _unmarked(pointer: Any) -> None:
    given = carray(pointer, (JOB_WORDS,))
    room = np.empty(given[2], np.uint8)
    room[0] = 7
    given[3] = np.uint64(room[0])


def _run(region: Region, size: int, threads: int) -> int:
    words = np.frombuffer(job.words, np.uint64)
    words[:] = 0
    words[2] = size
    region.run(threads)
    return int(words[3])


@pytest.fixture
def unraised(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was raised where nobody could catch it."""
    found: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: found.append(lost.exc_type.__name__))
    return found


@pytest.mark.parametrize("threads", THREADS)
def test_a_loop_without_memory_is_an_error(threads: int, unraised: list[str]) -> None:
    region = Region(_fill)
    assert _run(region, 16, threads) == 7
    with pytest.raises(MemoryError, match="_fill"):
        _run(region, 2**60, threads)
    assert set(unraised) == {"MemoryError"}
    assert _run(region, 16, threads) == 7


def test_without_the_marks_it_goes_unnoticed(unraised: list[str]) -> None:
    """The control, and why there are marks."""
    assert _run(Region(_unmarked), 2**60, 1) == 0
    assert unraised == ["MemoryError"]


def _regions() -> dict[str, ast.FunctionDef]:
    found = {}
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {
            node.args[0].id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "Region"
            and isinstance(node.args[0], ast.Name)
        }
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name in names:
                found[f"{path.relative_to(PACKAGE).as_posix()}: {node.name}"] = node
    return found


def test_every_region_says_when_it_is_done() -> None:
    found = _regions()
    assert len(found) >= 12
    for name, function in found.items():
        body = function.body[1:] if ast.get_docstring(function) else function.body
        assert ast.unparse(body[0]) == "entered(pointer)", name
        assert ast.unparse(body[-1]) == "left(pointer)", name
        assert not any(isinstance(node, ast.Return) for node in ast.walk(function)), name
