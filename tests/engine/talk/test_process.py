"""A process that is asked, from outside and from within: values, questions back, failures, and how it ends."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from counterfoil.talk import table
from counterfoil.talk.failure import FaultError
from counterfoil.talk.port import Call, Port
from counterfoil.talk.process import Process, Start
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, CounterfoilError, GivenFileError

from . import till
from .till import BANK, OPEN, PROGRAM, TILL, Bank, Till


def started(program: table.Program = PROGRAM) -> Process:
    process = Process(program, start=Start([sys.executable, "-P", till.__file__], keeps_errors=True))
    process.enclose(OPEN)
    return process


@pytest.fixture(scope="module")
def shared() -> Iterator[Process]:
    process = started()
    yield process
    assert process.end() == 0


@pytest.fixture
def process() -> Iterator[Process]:
    found = started()
    yield found
    found.end(now=True)


def test_what_is_called_before_the_box_is_carried_out() -> None:
    process = Process(PROGRAM, start=Start([sys.executable, "-P", till.__file__]))
    assert process.call(TILL, Till.pay, 1) == "paid 1"
    process.end()


def test_the_one_call_of_a_process_has_no_thread_beside_it(process: Process) -> None:
    offers = ((BANK, Bank()),)
    call = TILL.call(Till.look_around, (), {})
    assert next(process.ask(TILL, call, offers=offers))[0] > 1
    alone = Process(PROGRAM, start=Start([sys.executable, "-P", till.__file__, "alone"]))
    assert list(alone.ask(TILL, call, offers=offers)) == [(1, 5)]
    assert alone.wait() == 0
    alone.end()


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no groups of processes")
def test_what_a_leading_process_starts_ends_with_it() -> None:
    process = Process(PROGRAM, start=Start([sys.executable, "-P", till.__file__, "alone"], leads=True))
    hired = process.call(TILL, Till.hire)
    process.end(now=True)
    until = time.monotonic() + 30
    while Path(f"/proc/{hired}").exists() and "Z" not in Path(f"/proc/{hired}/stat").read_text().split():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_call_returns_and_a_failure_keeps_its_class(shared: Process) -> None:
    assert shared.call(TILL, Till.pay, 3) == "paid 3"
    with pytest.raises(GivenFileError, match="Nothing is paid back") as caught:
        shared.call(TILL, Till.pay, -1)
    assert (caught.value.role, caught.value.remedy, caught.value.detail) == ("data", "Pay.", "d")
    with pytest.raises(FaultError, match="ZeroDivisionError: oh") as fault:
        shared.call(TILL, Till.fail, "oh")
    assert "Traceback" in fault.value.failure.detail
    assert list(shared.ask(TILL, TILL.call(Till.spell, ("abc",), {}))) == ["a", "b", "c"]


def test_what_it_asks_is_done_or_refused(shared: Process) -> None:
    def borrow(amount: int, *offers: Any) -> Any:
        (lent,) = shared.ask(TILL, TILL.call(Till.borrow, (amount,), {}), offers=offers)
        return lent

    assert borrow(7, (BANK, Bank())) == 7
    with pytest.raises(GivenFileError, match="Too much") as caught:
        borrow(101, (BANK, Bank()))
    assert caught.value.role == "order"
    with pytest.raises(CancelledError):
        borrow(7)


def test_what_it_may_not_ask_ends_it(process: Process) -> None:
    with pytest.raises(CounterfoilError, match="may not say"):
        list(process.ask(TILL, TILL.call(Till.borrow, (7,), {}), offers=[(Port[Bank](), Bank())]))
    assert process.closed


def test_a_call_waits_and_is_stopped_and_one_that_nobody_waits_for_too(shared: Process) -> None:
    token = CancelToken()
    numbers = shared.ask(TILL, TILL.call(Till.count, (), {}), token)
    assert next(numbers) == 0
    token.cancel()
    with pytest.raises(CancelledError):
        list(numbers)
    left = shared.ask(TILL, TILL.call(Till.count, (), {}))
    assert next(left) == 0
    left.close()  # type: ignore[attr-defined]
    assert shared.call(TILL, Till.pay, 1) == "paid 1"


@pytest.mark.parametrize(("how", "said"), [("exit", "exit code 7"), ("lie", "may not say")])
def test_one_that_ends_or_lies_is_told_and_can_be_asked_no_more(how: str, said: str, process: Process) -> None:
    for _ in range(2):
        with pytest.raises(CounterfoilError, match=said if not process.closed else "ended"):
            process.call(TILL, Till.fail, how)
    assert not process.alive


def test_one_that_takes_too_long_is_ended(process: Process) -> None:
    begun = time.monotonic()
    with pytest.raises(CounterfoilError, match="SIGKILL"):
        list(process.ask(TILL, TILL.call(Till.fail, ("hang",), {}), seconds=0.5))
    assert time.monotonic() - begun < 30


def test_one_that_does_not_heed_a_wish_to_stop_is_ended() -> None:
    process = started(replace(PROGRAM, heeds=0.2))
    token = CancelToken()
    asked = process.ask(TILL, TILL.call(Till.fail, ("hang",), {}), token)
    token.cancel()
    with pytest.raises(CancelledError):
        list(asked)
    assert not process.alive


def test_too_large_a_message_is_read_by_neither_side() -> None:
    process = started()
    with pytest.raises(CounterfoilError, match="exit code 1"):
        list(process.ask(TILL, Call(1, "spell", ("a" * 10_001,))))
    process.end()
    small = started(replace(PROGRAM, says=10))
    with pytest.raises(CounterfoilError, match="may not say"):
        small.call(TILL, Till.pay, 3)


def test_the_table_names_what_there_is() -> None:
    assert len({program.name for program in table.PROGRAMS}) == len(table.PROGRAMS)
    for program in table.PROGRAMS:
        assert program.open_port().names
        assert not program.boxed or program.reads is not table.Reach.ANY
        for name in program.open_port().names:
            program.open_port().form(name)
