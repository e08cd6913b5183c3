"""One session on a real X server, with the events of a real keyboard and mouse: the off-screen platform has neither."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import counterfoil
from support.jobs import digits_order
from support.x_server import run_session, served

SESSIONS = Path(__file__).resolve().parents[1] / "support"
STEPS, LIE = 300, 8
MOST_CLICKS = 20
"""For a person who orders, records, audits and hands over at one desk; typing begins with a click."""


@pytest.fixture
def x_server() -> Iterator[str]:
    """An X server of its own; yields its DISPLAY."""
    with served() as display:
        yield display


def session(name: str, display: str, folder: Path, seconds: float = 240) -> list[str]:
    """Run a session, a program of tests/support, on an X server; returns what it printed, line by line."""
    done = run_session(SESSIONS / name, display, folder, seconds)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout.splitlines()


@pytest.mark.xvfb
def test_a_session_with_real_keys_and_mouse(x_server: str, tmp_path: Path) -> None:
    lines = session("x_session.py", x_server, tmp_path)
    assert lines[-1] == "a click closed the window without signing"
    assert len(lines) >= 27, lines


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.xvfb
def test_a_stopped_replay_is_resumed_from_the_desk_with_real_keys(x_server: str, tmp_path: Path) -> None:
    lines = session("x_home.py", x_server, tmp_path)
    assert lines[-1] == "the desk offers to sign its result"
    assert "Space on Resume went on" in lines


@pytest.mark.slow
@pytest.mark.xvfb
def test_an_order_is_recorded_audited_and_handed_over_in_twenty_clicks(x_server: str, tmp_path: Path) -> None:
    lines = session("x_journey.py", x_server, tmp_path, 580)
    assert "the page does not lie on top of it" in lines
    assert any(line.startswith("VERIFIED: All 3 steps") for line in lines)
    folder, counted = Path(lines[-2]), lines[-1]
    assert {"README.txt", "auditor.pub.pem", "verdict.json"} <= {path.name for path in folder.iterdir()}
    clicks, fields = (int(word) for word in counted.replace(",", "").split() if word.isdigit())
    assert clicks <= MOST_CLICKS, counted
    assert fields == 3, "steps and rows, which the test makes few of, and whose key it is; the rest is proposed"


@pytest.mark.slow
@pytest.mark.xvfb
def test_a_lying_provider_is_found_by_keys_and_one_click(x_server: str, tmp_path: Path) -> None:
    lines = session("x_providers.py", x_server, tmp_path)
    assert "it says who is right" in lines
    assert lines[-1] == "Ctrl+Q closed the window"


@pytest.mark.slow
@pytest.mark.xvfb
def test_digits_are_ordered_from_an_empty_desk_by_keys_alone(x_server: str, tmp_path: Path) -> None:
    lines = session("x_order.py", x_server, tmp_path, 580)
    assert lines[-1] == "Ctrl+Q closed the window"
    (found,) = tmp_path.glob("*.cfoil")
    order = counterfoil.inspect(found).order
    assert order.steps == 2
    assert f"digest {order.digest.hex}" in lines
