"""Work that is stopped: where it looks, and anywhere in blocks that say so."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import BundleError, CancelledError


@pytest.fixture
def token() -> Iterator[CancelToken]:
    """A token that SIGINT interrupts, as on the command line."""
    token = CancelToken()
    before = signal.signal(signal.SIGINT, lambda *_: token.interrupt())
    yield token
    signal.signal(signal.SIGINT, before)


def idle(seconds: float) -> None:
    """Look at no token for so long."""
    begun = time.monotonic()
    while time.monotonic() < begun + seconds:
        pass


def half_an_import() -> None:
    """A library that makes something else of the interrupt."""
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt as error:
        raise ImportError("half of a module") from error


def test_a_block_is_stopped_anywhere(token: CancelToken) -> None:
    begun = time.monotonic()
    threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(CancelledError), token.at_once():
        idle(30)
    assert time.monotonic() < begun + 20


def test_what_changes_the_interrupt_does_not_go_on(token: CancelToken) -> None:
    with pytest.raises(CancelledError), token.at_once():
        half_an_import()
    with pytest.raises(CancelledError), token.at_once():
        pytest.fail("the block of a cancelled token begins")


def test_elsewhere_it_goes_on_to_its_next_look(token: CancelToken) -> None:
    with token.at_once():
        pass
    signal.raise_signal(signal.SIGINT)
    assert token.cancelled
    with pytest.raises(CancelledError):
        token.check()


def test_another_thread_interrupts_nothing(token: CancelToken) -> None:
    done = False
    with token.at_once():
        other = threading.Thread(target=token.interrupt)
        other.start()
        other.join()
        done = True
    assert done
    assert token.cancelled


def test_errors_of_the_block_are_its_own(token: CancelToken) -> None:
    for error in (ValueError("its own"), KeyboardInterrupt()):
        with pytest.raises(type(error)), token.at_once():
            raise error


@pytest.mark.parametrize(
    ("stopped", "broken", "told"),
    [
        (True, RecursionError(), CancelledError),
        (False, RecursionError(), RecursionError),
        (True, BundleError("A sentence of ours stays."), BundleError),
    ],
)
def test_what_breaks_after_an_interrupt_is_no_bug(stopped: bool, broken: Exception, told: type[Exception]) -> None:
    """An interrupt anywhere may leave a library in disorder; without one the same exception is shown as it is."""

    def work() -> None:
        with cancel_on_interrupt() as token:
            if stopped:
                token.cancel()
            raise broken

    with pytest.raises(told):
        work()


def test_waiting_ends_with_its_time_or_with_the_work(token: CancelToken) -> None:
    token.wait(0.001)
    begun = time.monotonic()
    threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(CancelledError):
        token.wait(60)
    assert time.monotonic() < begun + 20
