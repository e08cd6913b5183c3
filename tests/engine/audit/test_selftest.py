from __future__ import annotations

import pytest
import torch

from counterfoil.audit import selftest
from counterfoil.errors import DeviceError
from counterfoil.execution.interpreter import Interpreter
from counterfoil.machine import Machine
from counterfoil.program.graph import Program
from counterfoil.program.operators import OperatorClass

HERE = Machine(torch.device("cpu"), 1)


def test_this_machine_passes():
    assert "cpu" in selftest.run_selftest(HERE)


def test_the_tiny_program_is_a_real_program_with_every_class():
    program = selftest.tiny_program()
    assert Program.from_bytes(program.to_bytes()) == program
    Interpreter(program, torch.device("cpu")).check_types()
    assert {node.entry.operator_class for node in program.nodes} == set(OperatorClass)


@pytest.mark.parametrize(
    ("name", "wrong", "sentence"),
    [
        ("_SHA256_ABC", "00" * 32, "SHA-256"),
        ("_PHILOX_ANSWER", (0, 0, 0, 0), "Philox"),
        ("STATE_ROOT", "00" * 32, "a rounded training step"),
        ("FINGERPRINT", 1, "a rounded training step"),
    ],
)
def test_a_wrong_answer_is_named(monkeypatch, name, wrong, sentence):
    monkeypatch.setattr(selftest, name, wrong)
    with pytest.raises(DeviceError) as caught:
        selftest.run_selftest(HERE)
    assert sentence in caught.value.sentence
    assert caught.value.remedy


def test_a_machine_that_multiplies_wrongly_is_found(monkeypatch):
    real = torch.ops.aten.mm.default

    def wrong(a, b):
        result = real(a, b)
        result[3, 4] *= 1 + 2.0**-20
        return result

    operation = selftest.Interpreter

    class Wrong(operation):
        def __init__(self, *args) -> None:
            super().__init__(*args)
            for item in self._operations:
                if item.node.operator == "aten.mm.default":
                    object.__setattr__(item, "function", _Function(wrong, real))

    monkeypatch.setattr(selftest, "Interpreter", Wrong)
    with pytest.raises(DeviceError, match="training step"):
        selftest.run_selftest(HERE)


class _Function:
    def __init__(self, call, real) -> None:
        self._call, self._schema = call, real._schema

    def __call__(self, *args):
        return self._call(*args)
