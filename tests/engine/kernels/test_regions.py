"""A compiled loop that has no memory says so: its results would be garbage, and an honest trainer's log wrong."""

from __future__ import annotations

import ast
import math
import struct
import sys
from typing import Any

import numpy as np
import pytest

from counterfoil_core.kernels.cpu.regions import Region, add_atomically, claimed, entered, left, record_at
from support.packages import sources

THREADS = [1, 2, 4]
FILL = np.dtype([("size", "i8"), ("number", "u8")])
EVERY = np.dtype([("parts", "i8"), ("key", "u8"), ("tau", "f8"), ("axes", "i8", 3), ("total", "u8"), ("tops", "f8", 2)])


def _fill(pointer: Any) -> None:
    entered(pointer)
    given = record_at(pointer, FILL)
    room = np.empty(given.size, np.uint8)
    room[0] = 7
    given.number = np.uint64(room[0])
    left(pointer)


def _unmarked(pointer: Any) -> None:
    given = record_at(pointer, FILL)
    room = np.empty(given.size, np.uint8)
    room[0] = 7
    given.number = np.uint64(room[0])


def _every(pointer: Any) -> None:
    entered(pointer)
    given = record_at(pointer, EVERY)
    while claimed(pointer) < given.parts:
        add_atomically(given, "total", given.key + np.uint64(given.axes[2]))
    given.tops[1] = given.tau
    left(pointer)


def _run(region: Region, size: int, threads: int) -> int:
    return int(region.run(threads, size)[0])


@pytest.mark.parametrize("threads", THREADS)
def test_what_is_told_and_found_has_names(threads: int) -> None:
    region = Region(_every, EVERY, "total")
    for _ in range(2):  # what was found before is forgotten
        assert region.run(threads, 1000, 2**64 - 1, -0.5, -1, -2, -3) == (2**64 - 4000, 0.0, -0.5)
    assert region.run(threads, 0, 1, math.inf, 2, 3, 4) == (0, 0.0, math.inf)


@pytest.mark.parametrize(
    "told", [(1, 2, 0.5, 1, 2), (1, 2, 0.5, 1, 2, 3, 4), (1, -2, 0.5, 1, 2, 3), (1, 2, 0.5, 1, 2, 0.5)]
)
def test_too_few_numbers_too_many_and_wrong_ones_are_errors(told: tuple[float, ...]) -> None:
    with pytest.raises(struct.error):
        Region(_every, EVERY, "total").run(1, *told)


def test_a_job_finds_room() -> None:
    with pytest.raises(AssertionError, match="no room"):
        Region(_every, np.dtype([("axes", "i8", 33)]))


@pytest.fixture
def unraised(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was raised where nobody could catch it."""
    found: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: found.append(lost.exc_type.__name__))
    return found


@pytest.mark.parametrize("threads", THREADS)
def test_a_loop_without_memory_is_an_error(threads: int, unraised: list[str]) -> None:
    region = Region(_fill, FILL, "number")
    assert _run(region, 16, threads) == 7
    with pytest.raises(MemoryError, match="_fill"):
        _run(region, 2**60, threads)
    assert set(unraised) == {"MemoryError"}
    assert _run(region, 16, threads) == 7


def test_without_the_marks_it_goes_unnoticed(unraised: list[str]) -> None:
    """The control, and why there are marks."""
    assert _run(Region(_unmarked, FILL, "number"), 2**60, 1) == 0
    assert unraised == ["MemoryError"]


def _regions() -> dict[str, ast.FunctionDef]:
    found = {}
    for name, path in sources():
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
                found[f"{name}: {node.name}"] = node
    return found


def test_every_region_says_when_it_is_done() -> None:
    found = _regions()
    assert len(found) >= 12
    for name, function in found.items():
        body = function.body[1:] if ast.get_docstring(function) else function.body
        assert ast.unparse(body[0]) == "entered(pointer)", name
        assert ast.unparse(body[-1]) == "left(pointer)", name
        assert not any(isinstance(node, ast.Return) for node in ast.walk(function)), name
