"""Work that waits for others, such as a name service or a server, and that nothing else bounds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def within(seconds: float, work: Callable[[], Result]) -> Result:
    """Do work in a thread of its own, and wait for it no longer than is said; what it does behind that is lost.

    A timeout of a socket begins anew with each byte, and looking up a name has none.

    Raises:
        TimeoutError: It was not done by then.
        Exception: What the work raises.
    """
    done: list[Result] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="bounded", daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise TimeoutError
    return done[0]
