"""Runs the command line in a process of its own, and measures it."""

from __future__ import annotations

import atexit
import functools
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

from support.fork_server import ForkServer, processor_seconds


@dataclass(frozen=True)
class Measured:
    """What a command did: exit code, what it said, processor seconds, and the most memory it had, in MiB."""

    code: int
    said: str
    seconds: float
    memory: int


def command(*arguments: str) -> Measured:
    """Run a command to its end, in a fork of a process that has loaded the libraries. Needs POSIX."""
    ended = _server().run(*arguments)
    assert ended.code is not None, ended.said
    return Measured(ended.code, ended.said, ended.processor_seconds, ended.memory)


@functools.cache
def _server() -> ForkServer:
    """The process that is forked; it lives as long as this one."""
    server = ForkServer()
    atexit.register(server.__exit__, None, None, None)
    return server


@dataclass(frozen=True)
class Interrupted:
    """How a command ended that was interrupted: exit code, what it said, and the processor seconds it still took."""

    code: int
    said: str
    seconds: float


def interrupted(*arguments: str, after: float) -> Interrupted:
    """Run a command, and interrupt it as Ctrl-C does when it has taken ``after`` processor seconds. Needs Linux.

    It runs in a fork of a process that has loaded the libraries: what is interrupted is its own work.
    """
    ended = _server().run(*arguments, interrupt_after=after)
    assert ended.code is not None, ended.said
    assert ended.seconds_after_interrupt is not None, f"it ended before: {ended.said}"
    return Interrupted(ended.code, ended.said, ended.seconds_after_interrupt)


def interrupted_while_it_starts(*arguments: str, after: float) -> Interrupted:
    """The same in a process that starts from nothing: it may still import its libraries."""
    process = subprocess.Popen(
        [sys.executable, "-m", "counterfoil.cli", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        while process.poll() is None and processor_seconds(process.pid) < after:
            time.sleep(0.01)
        assert process.poll() is None, process.communicate()
        begun = processor_seconds(process.pid)
        process.send_signal(signal.SIGINT)
        # Its times can be read until it is waited for.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        ended = processor_seconds(process.pid)
        out, err = process.communicate(timeout=60)
        return Interrupted(process.returncode, out + err, ended - begun)
    finally:
        process.kill()
