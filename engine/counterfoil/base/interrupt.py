"""Ctrl-C, and a request to end, as a token that work looks at."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CounterfoilError

_AGAIN_SECONDS = 0.05


@contextmanager
def cancel_on_interrupt(signals: Iterable[int] = (signal.SIGINT, signal.SIGTERM)) -> Iterator[CancelToken]:
    """Let Ctrl-C and a request to end set the token, and stop at once what may be; a second one ends the process.

    Args:
        signals: What says so.
    """
    token = CancelToken()
    previous = {number: signal.getsignal(number) for number in signals}
    hook = sys.unraisablehook
    timed = hasattr(signal, "setitimer") and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL

    def stop(number: int, frame: object) -> None:
        signal.signal(number, signal.default_int_handler)
        # An exception that is raised in a callback of the interpreter's, as imports have, is shown and forgotten.
        sys.unraisablehook = quietly
        if timed:
            signal.signal(signal.SIGALRM, lambda *_: token.interrupt())
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_SECONDS, _AGAIN_SECONDS)
        token.interrupt()

    def quietly(forgotten: Any) -> None:
        if forgotten.exc_type is not KeyboardInterrupt:
            hook(forgotten)

    for number in previous:
        signal.signal(number, stop)
    try:
        yield token
    except CounterfoilError:
        raise
    except Exception:
        # What is interrupted anywhere may leave a library in disorder; that is no bug then.
        token.check()
        raise
    finally:
        if timed:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        for number, handler in previous.items():
            signal.signal(number, handler)
        sys.unraisablehook = hook
