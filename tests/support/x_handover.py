"""An auditor's session on a real X server with the real engine: a tampered sample is replayed, signed and handed over.

Run as a program by tests/app/test_handover.py, which starts the server and checks the folder. Prints one line per thing
done.
"""

from __future__ import annotations

import sys
from pathlib import Path

from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.verdict.handover_dialog import HandOverDialog
from counterfoil_app.verdict.signing_dialog import SigningDialog
from support.x_input import XInput
from support.x_user import place, until, window_in

PATIENCE = 150.0
"""Seconds for what the engine computes."""


def main(folder: Path) -> None:
    """Sample, replay, hand over: all by keys and mouse."""
    window = window_in(folder)
    window.shell.samples.folder = folder / "sample"
    user = XInput()
    try:
        button = window.home.samples[1]
        until(button.isVisible, "the sample is offered")
        user.click(*place(button))
        until(lambda: window.session.phase is Phase.READY, "a click recorded the tampered sample", PATIENCE)
        user.press("F5")
        until(lambda: window.session.phase is Phase.CONCLUDED, "F5 replayed it", PATIENCE)
        assert window.header.outcome.text() == "DISPUTED", window.header.outcome.text()
        first = window.header.primary
        assert first.shown is window.commands["hand_over"], first.text()
        until(lambda: not window.session.busy and first.settled, "the result is kept", PATIENCE)
        user.click(*place(first))
        until(lambda: bool(window.findChildren(SigningDialog)), "a click on the first button asked for a signature")
        signing = window.findChildren(SigningDialog)[0]
        until(signing.isActiveWindow, "the question has the keyboard")
        until(lambda: not window.session.busy, "what is signed is shown", PATIENCE)
        for line in (signing.passphrase, signing.repeat):
            user.click(*place(line))
            until(line.hasFocus, "a line for the passphrase has the keyboard")
            for letter in "secret":
                user.press(letter)
            until(lambda line=line: line.text() == "secret", "it was typed")
        until(signing.ok.isEnabled, "it can be signed")
        user.press("Return")
        until(lambda: bool(window.findChildren(HandOverDialog)), "Return signed it, and asked where it goes", PATIENCE)
        asking = window.findChildren(HandOverDialog)[0]
        until(asking.isActiveWindow, "the question where has the keyboard")
        target = asking.chosen
        user.click(*place(asking.judges.open))
        until(asking.ok.isEnabled, "what it hands out is counted, and open is chosen", PATIENCE)
        user.press("Return")
        until(lambda: window.session.handed_over is not None, "Return handed it over", PATIENCE)
        until(lambda: not window.findChildren(HandOverDialog), "nothing else is asked")
        print(target, flush=True)
    finally:
        user.close()
        window.session.shut_down()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
