from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NoReturn

import pytest

from counterfoil.base.behind import Behind
from counterfoil_core.base.errors import CancelledError, FileWriteError


def test_one_thing_at_a_time_in_another_thread() -> None:
    go_on = threading.Event()
    with Behind[int]() as behind:
        assert not behind.busy
        behind.begin(lambda: threading.get_ident() if go_on.wait(10) else 0)
        assert behind.busy
        assert not behind.ready
        with pytest.raises(AssertionError):
            behind.begin(threading.get_ident)
        go_on.set()
        assert behind.take() not in (0, threading.get_ident())
        assert not behind.busy


def fail() -> NoReturn:
    raise FileWriteError("The disk is full.")


def test_an_error_is_raised_where_the_result_is_taken() -> None:
    with Behind[int]() as behind:
        behind.begin(fail)
        with pytest.raises(FileWriteError, match="full"):
            behind.take()
        behind.begin(lambda: 3)
        assert behind.take() == 3


def stopped(work: Callable[[], object], error: BaseException | None) -> None:
    """Begin something, and be stopped before it is taken."""
    with Behind[object]() as behind:
        behind.begin(work)
        if error is not None:
            raise error


@pytest.mark.parametrize("error", [None, CancelledError("Stopped.")])
def test_an_error_that_nobody_took_is_raised_at_the_end(error: Exception | None) -> None:
    with pytest.raises(FileWriteError, match="full") as caught:
        stopped(fail, error)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), CancelledError("Stopped.")])
def test_what_has_begun_comes_to_its_end(error: BaseException) -> None:
    done = []
    with pytest.raises(type(error)):
        stopped(lambda: done.append(threading.Event().wait(0.05)), error)
    assert done == [False]


def test_an_interrupt_is_not_replaced() -> None:
    with pytest.raises(KeyboardInterrupt):
        stopped(fail, KeyboardInterrupt())
