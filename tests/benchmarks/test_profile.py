"""The profile counts the time of a step where it was spent, and every file of the engine is some part."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import pytest
from benchmarks.profile import (
    BETWEEN,
    ORDER,
    PARTS,
    WAITING,
    WARM_UP,
    Samples,
    Watch,
    bytes_to_move,
    follow_steps,
    part_of,
)

from benchmarks import profile
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.graph import Input, Program
from support.packages import ENGINE


@pytest.mark.parametrize(
    ("file", "function", "part"),
    [
        ("arithmetic/grid/log.py", "encode", "log"),
        ("kernels/cpu/rounding.py", "CpuKernel.round", "rounding"),
        ("kernels/cpu/rounding.py", "CpuKernel.fingerprint", "fingerprints"),
        ("arithmetic/grid/replayrounder.py", "ReplayingRounder._round", "log"),
        ("arithmetic/grid/fingerprints.py", "Kernels.round", "rounding"),
        ("arithmetic/grid/rounder.py", "Rounder._scales.<locals>.measured", "scale rules"),
        ("arithmetic/compute/operation.py", "native", "compute"),
        ("arithmetic/compute/plan.py", "Prepared._native.<locals>.<lambda>", "compute"),
        ("arithmetic/compute/plan.py", "Prepared.advance", "dispatch"),
        ("arithmetic/compute/interpreter.py", "Interpreter.execute", "dispatch"),
        ("arithmetic/compute/interpreter.py", "_Step.load", "state and copies"),
        ("arithmetic/families/magnitude.py", "anything", "scale rules"),
        ("kernels/cpu/regions.py", "Region.run", ""),
        ("arithmetic/grid/tiles.py", "sweep", "chains: compute and rounding in one sweep"),
        ("arithmetic/families/norms.py", "anything", ""),
        ("base/behind.py", "Behind.take", WAITING),
        ("commit/state.py", "state_root", "hashing"),
        ("training/recording.py", "append", "writing and reading"),
        ("hearing/session.py", "anything", "recorder and auditor"),
    ],
)
def test_a_function_is_a_part_of_a_step(file: str, function: str, part: str) -> None:
    assert part_of(str(ENGINE / file), function) == part


def test_what_is_not_the_engine_is_no_part() -> None:
    assert part_of(torch_file(), "forward") is None


def torch_file() -> str:
    import torch

    return torch.__file__


def test_every_part_has_a_line_of_the_table() -> None:
    assert {part for _, _, part in PARTS if part} < set(ORDER)


def test_the_time_is_the_callers_where_a_function_is_no_part() -> None:
    samples = Samples()
    samples.add(sys._getframe(), 2.0)
    assert samples.seconds == 2.0
    assert dict(samples.parts) == {"recorder and auditor": 2.0}
    assert dict(samples.kinds) == {(BETWEEN, "recorder and auditor"): 2.0}


def test_a_call_that_no_interruption_reaches_into_is_counted_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile, "INTERVAL", 60.0)

    def steps() -> Iterator[bool]:
        for _ in range(WARM_UP + 3):
            time.sleep(0.005)
            yield True

    samples = follow_steps(steps(), WARM_UP + 3, Watch())
    assert samples.steps == 3
    assert samples.seconds >= 0.015


def test_bytes_that_a_step_must_move() -> None:
    matrix, vector = TensorType("float32", (4, 8)), TensorType("float32", (32,))
    program = Program(
        inputs=(Input("w", "state", matrix),),
        nodes=(
            Node("aten.mul.Tensor", (Value(0), Value(0)), (), (matrix,), 1, "", "forward"),
            Node("aten.view.default", (Value(1), (32,)), (), (vector,), 2, "", "forward"),
            Node("aten.sum.default", (Value(2),), (), (TensorType("float32", ()),), 3, "", "forward"),
        ),
        updates={"w": Value(1)},
        loss=Value(3),
    )
    values = 8 * (2 * 32 + 32) + 8 * (32 + 1)
    assert bytes_to_move(program) == values + 2 * 4 * 32
