"""Ctrl-C, and a request to end, as a token that work looks at."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from counterfoil.cancel import CancelToken


@contextmanager
def cancel_on_interrupt() -> Iterator[CancelToken]:
    """Let Ctrl-C and a request to end set the token; a second one ends the process at once."""
    token = CancelToken()
    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def stop(number: int, frame: object) -> None:
        token.cancel()
        signal.signal(number, signal.default_int_handler)

    for number in previous:
        signal.signal(number, stop)
    try:
        yield token
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
