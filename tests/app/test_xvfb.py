"""One session on a real X server, with the events of a real keyboard and mouse: the off-screen platform has neither."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import counterfoil
from support.jobs import digits_order

SESSIONS = Path(__file__).resolve().parents[1] / "support"
STEPS, LIE = 60, 8
LIBRARIES = ("libX11.so.6", "libXtst.so.6", "libxcb-cursor.so.0")


def missing_library() -> str | None:
    for name in LIBRARIES:
        try:
            ctypes.CDLL(name)
        except OSError:
            return name
    return None


@pytest.fixture
def x_server() -> Iterator[str]:
    """An X server of its own; yields its DISPLAY."""
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


def session(name: str, display: str, folder: Path, seconds: float = 240) -> list[str]:
    """Run a session, a program of tests/support, on an X server; returns what it printed, line by line."""
    environment = dict(os.environ, DISPLAY=display, QT_QPA_PLATFORM="xcb", PYTHONPATH=os.pathsep.join(sys.path))
    environment.pop("WAYLAND_DISPLAY", None)
    environment.pop("DBUS_SESSION_BUS_ADDRESS", None)
    done = subprocess.run(
        [sys.executable, str(SESSIONS / name), str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout.splitlines()


@pytest.mark.xvfb
def test_a_session_with_real_keys_and_mouse(x_server: str, tmp_path: Path) -> None:
    lines = session("x_session.py", x_server, tmp_path)
    assert lines[-1] == "a click closed the window without signing"
    assert len(lines) >= 27, lines


@pytest.mark.xvfb
def test_a_run_is_recorded_and_followed_with_real_keys(x_server: str, tmp_path: Path) -> None:
    order = tmp_path / "job.cfoil"
    digits_order(steps=STEPS, checkpoint_every=5).write(order, trial=False)
    counterfoil.generate_key(tmp_path / "trainer.pem", None)
    key = counterfoil.load_private_key(tmp_path / "trainer.pem", None)
    lying = counterfoil.record(order, tmp_path / "liar.cfoil", key, threads=1, tamper=counterfoil.LabelFlip(LIE))
    for event in lying:
        if isinstance(event, counterfoil.StepRecorded) and event.step == 10:
            break
    lying.close()
    lines = session("x_recording.py", x_server, tmp_path, 900)
    assert f"VERIFIED: all {STEPS} steps match" in lines
    assert lines[-2:] == [f"DISPUTED: step {LIE} came out otherwise", "the window closed"]


@pytest.mark.xvfb
def test_a_stopped_replay_is_resumed_from_the_desk_with_real_keys(x_server: str, tmp_path: Path) -> None:
    lines = session("x_home.py", x_server, tmp_path)
    assert lines[-1] == "the desk offers to sign its result"
    assert "Space on Resume went on" in lines


@pytest.mark.xvfb
def test_a_lying_provider_is_found_by_keys_and_one_click(x_server: str, tmp_path: Path) -> None:
    lines = session("x_providers.py", x_server, tmp_path)
    assert "it says who is right" in lines
    assert lines[-1] == "Ctrl+Q closed the window"
