"""A program of 199,000 operators, or of one that takes a year: nothing of it is computed unless it is allowed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from counterfoil_core.arithmetic.admission import read_program
from counterfoil_core.base.errors import LimitError
from counterfoil_core.base.precision import Precision
from counterfoil_core.program.limits import LARGE
from counterfoil_core.values.outcome import Outcome
from support.hostile_programs import chain, order_of, single
from support.measured import Interrupted, command, interrupted, interrupted_while_it_starts

OPERATORS = 199_000
DEAF_SECONDS = 10
"""Processor seconds after which a command has not heard; it hears within one or two, and takes a minute when left."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return order_of(chain(OPERATORS), tmp_path_factory.mktemp("large") / "large.cfoil")


def test_it_is_counted_before_it_is_read(large: Path) -> None:
    done = command("inspect", str(large))
    assert done.code == Outcome.INCONCLUSIVE.exit_code
    assert "The program has 199,000 operators; the limit is 50,000." in " ".join(done.said.split())
    assert "--allow-large" in done.said
    control = command("inspect", str(order_of(chain(3), large.with_name("small.cfoil"))))
    assert control.code == Outcome.REFUSED.exit_code, "of another order, but not too large"
    assert done.seconds < control.seconds + 5
    assert done.memory < control.memory + 128


@pytest.mark.skipif(sys.platform != "linux", reason="reads processor seconds from /proc")
@pytest.mark.parametrize(
    ("interrupt", "after"),
    [
        pytest.param(interrupted_while_it_starts, 2, marks=pytest.mark.slow),
        (interrupted, 1.5),
        pytest.param(interrupted, 4.5, marks=pytest.mark.slow),
    ],
    ids=["importing", "reading", "tables"],
)
def test_who_allows_it_can_stop_it(large: Path, interrupt: Callable[..., Interrupted], after: float) -> None:
    """While libraries are imported, while it is read, and while tables over all operators are made."""
    stopped = interrupt("inspect", str(large), "--allow-large", after=after)
    assert stopped.code == Outcome.INCONCLUSIVE.exit_code, stopped.said
    assert "nothing was concluded" in stopped.said
    assert "Traceback" not in stopped.said
    assert stopped.seconds < DEAF_SECONDS


MATRIX = ("float32", [2, 2**16, 2**16])


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        (
            single(
                "aten.expand.default", [{"value": 0}, [2**18, 2**18]], [("float32", [2**18, 2**18])], ("float32", [])
            ),
            "",
        ),
        (single("aten.exp.default", [{"value": 0}], [MATRIX], MATRIX), ""),
        (single("aten.full.default", [[2**18, 2**18], 1], [("float32", [2**18, 2**18])]), "512.0 GiB of memory"),
        (single("aten.bmm.default", [{"value": 0}, {"value": 0}], [MATRIX], MATRIX), "floating-point operations"),
    ],
    ids=["expand", "large", "memory", "operations"],
)
def test_memory_and_operations_are_limited(program: bytes, sentence: str) -> None:
    if not sentence:
        read_program(program, Precision())
        return
    with pytest.raises(LimitError, match=sentence):
        read_program(program, Precision())
    read_program(program, Precision(), LARGE)
