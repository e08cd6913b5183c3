"""Keeps the memory of a process that holds a secret to itself, as far as the system lets it."""

from __future__ import annotations

import ctypes
import signal
import sys

_PR_SET_DUMPABLE = 4
"""Of prctl(2): when 0, no core is dumped, and other processes of the same user can neither trace nor read this one."""


def protect_memory() -> None:
    """Let no core be dumped; on Linux, let no other process of the user read this one's memory (prctl(2))."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def ignore_signals() -> None:
    """Go on when the user presses Ctrl-C or a service is stopped: the client decides, and closes the pipe."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, signal.SIG_IGN)
