"""Goes through docs/tutorial-auditor.md in a window, step by step, and makes its pictures on the way.

``make screenshots`` calls it: ``python packaging/tutorial_pictures.py docs/images``
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pictured import wait, window_in_a_folder  # sets the platform before Qt is loaded
from PySide6.QtWidgets import QWidget

from counterfoil import Outcome
from counterfoil_app.driver.capture import settle
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict.signing_dialog import SigningDialog

SIZE = (1280, 760)
SETTLE_MILLISECONDS = 600


class Walk:
    """A walk through the tutorial.

    Args:
        window: The window, shown.
        pictures: Where the pictures go.
    """

    def __init__(self, window: MainWindow, pictures: Path) -> None:
        self.window, self.pictures = window, pictures

    def go(self) -> None:
        """Go through it: an honest run, its signed verdict, and a run with a lie."""
        self.open_sample("honest_sample")
        self.picture("opened", self.window)
        self.replay(Outcome.VERIFIED)
        self.picture("verified", self.window)
        self.sign()
        self.open_sample("tampered_sample")
        self.replay(Outcome.DISPUTED)
        self.picture("disputed", self.window)

    def open_sample(self, name: str) -> None:
        """Choose a sample, and wait until it is recorded and open."""
        session = self.window.session
        before = session.path
        self.window.commands[name].trigger()
        wait(lambda: session.path not in (None, before) and session.phase is Phase.READY and not session.checking)

    def replay(self, outcome: Outcome) -> None:
        """Replay what is open; it has to end as the tutorial says."""
        session = self.window.session
        self.window.commands["replay"].trigger()
        wait(lambda: session.phase is Phase.CONCLUDED)
        if session.report is None or session.report.outcome is not outcome:
            raise RuntimeError(f"the tutorial says {outcome.value}, and the replay says {session.report}")

    def sign(self) -> None:
        """Make a key with a passphrase, and sign the verdict with it."""
        self.window.commands["verdict"].trigger()
        dialog = self.window.findChild(SigningDialog)
        if dialog is None:
            raise RuntimeError("the window does not ask how to sign")
        dialog.create_new.setChecked(True)
        dialog.key.setText("keys/auditor.pem")
        dialog.passphrase.setText("for the picture only")
        dialog.repeat.setText("for the picture only")
        dialog.target.setText("sample-honest.verdict.json")
        wait(dialog.ok.isEnabled)  # what is signed is there
        self.picture("signing", dialog)
        dialog.ok.click()
        wait(lambda: self.window.session.verdict_file is not None)

    def picture(self, name: str, of: QWidget) -> None:
        """Save a picture."""
        settle(SETTLE_MILLISECONDS)
        self.window.statusBar().clearMessage()  # what goes by itself after some seconds
        self.window.divergence.redraw()
        target = self.pictures / f"tutorial-{name}.png"
        if not of.grab().save(str(target), "PNG", 0):
            raise OSError(f"{target} cannot be written")
        print(target)


def main() -> None:
    """Go through the tutorial in English, with settings, samples and keys in a folder of its own."""
    pictures = Path(sys.argv[1]).resolve()
    with window_in_a_folder() as (window, folder):
        os.chdir(folder)  # so that no picture shows where it was made
        window.resize(*SIZE)
        window.show()
        window.shell.samples.folder = folder / "sample"
        Walk(window, pictures).go()


if __name__ == "__main__":
    main()
