"""Home by real keys on an X server: run as a program by tests/app/test_xvfb.py, which starts the server.

A sample is opened from the desk, its replay is stopped, the desk shows it, and Resume goes on. Prints one line per
thing done.
"""

from __future__ import annotations

import sys
from pathlib import Path

from counterfoil_app.model.open_bundle import Phase
from support.fake_engine import FakeEngine
from support.x_input import ALT, SHIFT, XInput
from support.x_user import place, questions, until, window_in


def main(folder: Path) -> None:
    """Home, sample, replay, stop, home, Resume: all by keys, but for two clicks."""
    engine = FakeEngine()
    window = window_in(folder, engine)
    home, session = window.home, window.session
    user = XInput()
    try:
        until(home.empty.isVisible, "the desk is empty")
        user.click(*place(home.samples[0]))
        until(lambda: session.phase is Phase.READY, "a click on the sample opened it")
        engine.halt = 13
        user.press("F5")
        until(lambda: session.steps.done == 12, "F5 began to replay it")
        user.press(ALT, "Home")
        until(home.isVisible, "Alt+Home shows the desk beside the replay")
        until(lambda: [row.state.text() for row in home.list.rows] == ["being replayed"], "its case is being replayed")
        assert not questions(window)
        user.press(SHIFT, "F5")
        until(lambda: session.phase is Phase.CONCLUDED, "Shift+F5 stopped it")
        until(lambda: [row.state.text() for row in home.list.rows] == ["stopped"], "its case is shown as stopped")
        (row,) = home.list.rows
        assert "stopped after step 10 of 60" in row.sentence.text(), row.sentence.text()
        assert row.button.text() == "Resume"
        user.press("Home")  # no key of the desk: nothing happens
        engine.halt = None
        engine.gate.set()
        until(lambda: home.list.rows[0].button.hasFocus(), "the button of the first case has the keyboard")
        user.press("space")
        until(lambda: session.phase is Phase.REPLAYING or session.steps.done == 60, "Space on Resume went on")
        until(lambda: session.phase is Phase.CONCLUDED, "it came to its end")
        assert [plan.resume for plan in engine.plans] == [False, True]
        assert window.header.outcome.text() == "VERIFIED", window.header.outcome.text()
        assert not home.isVisible()
        user.press(ALT, "Home")
        until(lambda: bool(questions(window)), "Alt+Home asked about the result that nobody signed")
        until(questions(window)[0].isActiveWindow, "the question has the keyboard")
        (leave,) = [each for each in questions(window)[0].buttons() if "without" in each.text()]
        user.click(*place(leave))
        until(home.isVisible, "a click closed the run")
        until(
            lambda: [row.button.text() for row in home.list.rows] == ["Sign\u2026"],
            "the desk offers to sign its result",
        )
    finally:
        user.close()
    window.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
