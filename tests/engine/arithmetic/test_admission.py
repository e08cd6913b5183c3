"""A program is read and checked once while it is in use, whoever asks for it; a digest tells which one it is."""

from __future__ import annotations

import gc

import pytest

from counterfoil_core.arithmetic import admission
from counterfoil_core.arithmetic.admission import read_program
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, LimitError, ProgramError
from counterfoil_core.base.precision import PROFILES, Precision
from counterfoil_core.program.limits import Limits
from support.hostile_programs import single

SMALL = single("counterfoil.uniform", [[3, 5], 0], [("float32", [3, 5])])


def test_it_is_read_once_while_it_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    check = admission.check_types
    monkeypatch.setattr(admission, "check_types", lambda *args: made.append(args) or check(*args))
    first = read_program(SMALL, Precision())
    assert read_program(bytes(bytearray(SMALL)), Precision()) is first
    assert len(made) == 1
    del first, made[:]
    gc.collect()
    assert read_program(SMALL, Precision()).nodes
    assert len(made) == 1, "nobody used it any more, and it was not kept"


def test_other_bytes_another_dtype_and_other_limits_are_looked_at_anew() -> None:
    first = read_program(SMALL, Precision())
    assert read_program(SMALL, PROFILES["float32-bfloat16"]) is not first
    assert read_program(SMALL, Precision(), Limits(operators=7)) is not first
    with pytest.raises(LimitError):
        read_program(SMALL, Precision(), Limits(operators=0))
    lie = single("counterfoil.uniform", [[3, 5], 0], [("float32", [5, 3])])
    for _ in range(2):
        with pytest.raises(ProgramError):
            read_program(lie, Precision())


def test_who_stops_gets_none() -> None:
    first = read_program(SMALL, Precision())
    assert first.nodes
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        read_program(SMALL, Precision(), cancel=cancel)
