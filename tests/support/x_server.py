"""An X server of its own for a test, and programs that have their windows on it."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

LIBRARIES = ("libX11.so.6", "libXtst.so.6", "libxcb-cursor.so.0")


def missing_library() -> str | None:
    for name in LIBRARIES:
        try:
            ctypes.CDLL(name)
        except OSError:
            return name
    return None


@contextmanager
def served() -> Iterator[str]:
    """Yield the DISPLAY of a server; the test is skipped where the system lacks what that takes."""
    missing = missing_library()
    if missing is not None:
        pytest.skip(f"{missing} is not installed")
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1366x768x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=(writing,), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        with os.fdopen(reading) as numbers:
            number = numbers.readline().strip()
        assert number, "Xvfb did not start"
        yield f":{number}"
    finally:
        server.terminate()
        server.wait(10)


def run_session(program: Path, display: str, folder: Path, seconds: float = 240) -> subprocess.CompletedProcess[str]:
    """Run a user's session on a server: a program that is given a folder of its own."""
    environment = dict(os.environ, DISPLAY=display, QT_QPA_PLATFORM="xcb", PYTHONPATH=os.pathsep.join(sys.path))
    environment.pop("WAYLAND_DISPLAY", None)
    environment.pop("DBUS_SESSION_BUS_ADDRESS", None)
    return subprocess.run(
        [sys.executable, str(program), str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
