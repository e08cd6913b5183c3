"""Operators of class exact against their definitions, bit for bit, on every instruction set and number of threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.operation import Operation
from counterfoil_core.operators.catalogue import allowed_names, classify
from counterfoil_core.operators.facts import DRAWS, OperatorClass
from counterfoil_core.operators.judge import defined_kinds, exact_output
from counterfoil_core.operators.uses import INTEGER_KINDS, ROUNDED_UNLESS_INTEGER
from support.exact_calls import Call, all_calls, digest

CALLS = all_calls()
TESTS = Path(__file__).parents[2]
SLOW = pytest.mark.slow
MACHINES = [("default", 3), *(pytest.param(*each, marks=SLOW) for each in [("default", 1), ("avx2", 3), ("avx512", 3)])]
"""Instruction sets and numbers of threads; this process has the machine's own, and one thread."""


def names_of_class_exact() -> set[str]:
    """Every listed name that is exact in one of its uses; Philox has known answers of its own (test_philox.py)."""
    always = {name for name in allowed_names() if classify(name).operator_class is OperatorClass.EXACT}
    integer = {name for name in ROUNDED_UNLESS_INTEGER if name.split(".")[1] in INTEGER_KINDS}
    return (always | integer) - DRAWS


def test_every_exact_operator_has_a_definition_and_a_call() -> None:
    names = names_of_class_exact()
    assert {name.split(".")[1] for name in names} == defined_kinds()
    assert names == {call.name for call in CALLS}


SAMPLED_FROM = 300
"""From so many elements that do not repeat, the definition computes some."""
SAMPLED_ENDS = 70
SAMPLED_STRIDE = 61
"""No vector is a multiple of it, so that elements are taken from every place of a vector."""


def places(call: Call, result: Tensor) -> list[int]:
    """Flat indices of the elements of a result that the definition computes: those that are not repetitions.

    Of a large one without repetitions: the first and the last, and every 61st between them.
    """
    count = min(call.period or result.numel(), result.numel())
    if call.period or count < SAMPLED_FROM:
        return list(range(count))
    ends = SAMPLED_ENDS
    return [*range(ends), *range(ends, count - ends, SAMPLED_STRIDE), *range(count - ends, count)]


def differs_from_definition(call: Call) -> bool:
    """Whether a result of this process is not what is defined."""
    operation, args, kwargs, results = call.run()
    assert operation.node.entry.operator_class is OperatorClass.EXACT
    for position, result in enumerate(results):
        value = exact_output(operation.node, operation.named(args, kwargs), position).value
        assert value is not None
        chosen, computed = places(call, result), result.numpy().reshape(-1)
        with np.errstate(over="raise"):
            elements = np.array([value(index) for index in chosen], computed.dtype)
        if digest(elements) != digest(computed[chosen]):
            return True
        if call.period:
            repeated = np.tile(computed[chosen], -(-computed.size // max(len(chosen), 1)))[: computed.size]
            if digest(repeated) != digest(computed):
                return True
    return False


def test_this_process_gives_what_is_defined() -> None:
    assert [describe(index) for index, call in enumerate(CALLS) if differs_from_definition(call)] == []


OWN: list[list[str]] = []


def own() -> list[list[str]]:
    """The digests of all results of this process, whose elements are those that are defined."""
    if not OWN:
        OWN.extend([digest(result.numpy()) for result in call.run()[3]] for call in CALLS)
    return OWN


def describe(index: int) -> str:
    call = CALLS[index]
    shown = [tuple(a.shape) if hasattr(a, "shape") else a for a in call.args]
    return f"{call.name} {shown} {call.kwargs}"


@pytest.mark.parametrize(("capability", "threads"), MACHINES)
def test_the_library_gives_the_same_on_every_instruction_set(capability: str, threads: int) -> None:
    if capability == "avx512" and torch.backends.cpu.get_cpu_capability() != "AVX512":
        pytest.skip("this processor has no AVX-512")
    environment = {
        **os.environ,
        "ATEN_CPU_CAPABILITY": capability,
        "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path]),
    }
    environment.pop("OMP_NUM_THREADS", None)
    command = [sys.executable, "-m", "support.library_results", str(threads)]
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    report = json.loads(output)
    if capability == "default":
        assert report["capability"] == "DEFAULT"  # the switch works
    found = enumerate(zip(report["digests"], own(), strict=True))
    assert [describe(index) for index, (got, want) in found if got != want] == []


def test_control_one_bit_of_one_element_is_noticed() -> None:
    for call in CALLS[::97]:
        for result in call.run()[3]:
            array = result.numpy()
            if not array.size or array.dtype == bool or np.isnan(array.reshape(-1)[-1:]).any():
                continue
            changed = array.copy()
            changed.reshape(-1)[-1:].view(f"u{array.itemsize}")[:] ^= 1
            assert digest(changed) != digest(array)


def test_control_one_element_of_another_value_differs_from_the_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    call = next(call for call in CALLS if call.name == "aten.cumsum.default")
    assert not differs_from_definition(call)
    run = Call.run

    def changed(self: Call) -> tuple[Operation, list[Any], dict[str, Any], list[Tensor]]:
        operation, args, kwargs, results = run(self)
        last = results[0].reshape(-1)[-1:]
        last += 1
        return operation, args, kwargs, results

    monkeypatch.setattr(Call, "run", changed)
    assert differs_from_definition(call)


def test_control_a_zero_of_the_other_sign_is_noticed() -> None:
    zeros = np.zeros(9)
    assert digest(zeros) != digest(-zeros)
    assert digest(np.array([np.nan])) == digest(-np.array([np.nan]))
