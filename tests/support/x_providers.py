"""A client compares two providers on a real X server: run as a program by tests/app/test_xvfb.py.

One of them lies. Everything is done by keys, but for the click that replays. Prints one line per thing done.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from counterfoil_app.views.providers import ProvidersDialog
from support.fake_engine import FakeEngine
from support.x_input import ALT, CONTROL, SHIFT, XInput
from support.x_user import give_keyboard, place, until, window_in

KEYS = {".": ("period",), " ": ("space",), '"': (SHIFT, "apostrophe")}


def typed(user: XInput, text: str) -> None:
    """Type on an American keyboard."""
    for character in text:
        user.press(*KEYS.get(character, (character,)))


def answer_question(page: QWidget, user: XInput, text: str) -> QTimer:
    """Type into the question for files as soon as it has the keyboard: it keeps the program until it is answered."""
    timer = QTimer(page)

    def look() -> None:
        chooser = page.findChild(QFileDialog)
        if chooser is not None and chooser.isActiveWindow():
            timer.stop()
            print("the question for runs has the keyboard", flush=True)
            typed(user, text)
            user.press("Return")

    timer.timeout.connect(look)
    timer.start(50)
    return timer


def main(folder: Path) -> None:
    """Add two runs, compare, go to the parting, replay it, close."""
    for name in ("honest.cfoil", "lying.cfoil"):
        (folder / name).touch()
    window = window_in(folder, FakeEngine())
    user = XInput()
    try:
        user.press(ALT, "t")
        until(lambda: QApplication.activePopupWidget() is not None, "Alt+T opened the menu Tools")
        user.press("p")
        until(lambda: bool(window.findChildren(ProvidersDialog)), "P opened the page of providers")
        (page,) = window.findChildren(ProvidersDialog)
        until(page.isActiveWindow, "it has the keyboard")
        answer = answer_question(page, user, '"honest.cfoil" "lying.cfoil"')
        user.press(ALT, "d")
        until(lambda: len(page.comparison.runs) == 2, "both runs are taken")
        assert not answer.isActive()
        give_keyboard(page)
        user.press(ALT, "c")
        until(lambda: page.comparison.parting is not None and not page.comparison.working, "Alt+C compared them")
        assert page.headline.text() == "They part at step 30", page.headline.text()
        page.matrix.setFocus()
        user.press("Home")
        until(lambda: page.matrix.step == 1, "Home went to the first step")
        user.press("n")
        until(lambda: page.matrix.step == 30, "N went to the step in which they part")
        user.click(*place(page.start))
        until(lambda: page.comparison.report is not None, "a click replayed it")
        assert "Not what was ordered: lying.cfoil." in page.sentence.text(), page.sentence.text()
        print("it says who is right", flush=True)
        user.press("Escape")
        until(lambda: not window.findChildren(ProvidersDialog), "Escape closed the page")
        give_keyboard(window)
        user.press(CONTROL, "q")
        until(lambda: not window.isVisible(), "Ctrl+Q closed the window")
    finally:
        user.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
