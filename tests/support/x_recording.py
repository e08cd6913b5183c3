"""A run recorded, paused, stopped, gone on with and followed on a real X server, with real keys and the real engine.

Run as a program by tests/app/test_xvfb.py, which starts the server and makes the files. Prints one line per thing done.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QApplication, QDialog

from counterfoil import Outcome
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.recordings import Doing
from counterfoil_app.views.recording_forms import FollowForm, RecordForm
from support.x_input import ALT, CONTROL, SHIFT, XInput
from support.x_user import give_keyboard, until as until_in, window_in

until = partial(until_in, seconds=240.0)
"""The engine may work meanwhile."""


def main(folder: Path) -> None:
    """Record with the replay beside it, to VERIFIED; and follow a liar, to DISPUTED."""
    window = window_in(folder)
    user, desk = XInput(), window.recordings

    def paste(text: Path) -> None:
        QApplication.clipboard().setText(str(text))
        user.press(CONTROL, "a")
        user.press(CONTROL, "v")

    def form_of(kind: type[QDialog], what: str) -> QDialog:
        page = desk.page
        assert page is not None
        until(lambda: any(each.isVisible() for each in page.findChildren(kind)), what)
        (form,) = (each for each in page.findChildren(kind) if each.isVisible())
        give_keyboard(form)
        return form

    user.press(CONTROL, SHIFT, "n")
    until(lambda: desk.page is not None and desk.page.isVisible(), "Ctrl+Shift+N opened the page")
    page = desk.page
    assert page is not None
    give_keyboard(page)

    user.press(ALT, "r")
    form = form_of(RecordForm, "Alt+R asked what is recorded")
    assert isinstance(form, RecordForm)
    until(form.order.hasFocus, "it begins with the order")
    paste(folder / "job.cfoil")
    until(lambda: form.order.text() == str(folder / "job.cfoil"), "the order is named")
    user.press("Tab")
    until(lambda: form.run.text() == str(folder / "job.run.cfoil"), "the run is proposed beside it")
    user.press(ALT, "k")
    until(form.key.hasFocus, "Alt+K went to the key")
    paste(folder / "trainer.pem")
    user.press(ALT, "r")
    until(form.beside.isChecked, "Alt+R wants the replay beside it")
    until(form.ok.isEnabled, "it can begin")
    user.press(ALT, "s")
    until(lambda: desk.recorder.losses.last >= 2, "Alt+S began to record")
    give_keyboard(page)
    user.press(ALT, "p")
    until(lambda: desk.recorder.doing is Doing.PAUSED, "Alt+P paused it")
    user.press(ALT, "u")
    until(lambda: desk.recorder.doing is Doing.WORKING, "Alt+U let it go on")
    user.press(ALT, "s")
    until(lambda: desk.recorder.doing is Doing.STOPPED, "Alt+S stopped it")
    kept = desk.recorder.losses.last
    assert 0 < kept < desk.recorder.ordered, kept
    user.press(ALT, "u")
    again = form_of(RecordForm, "Alt+U asked again")
    assert isinstance(again, RecordForm)
    assert again.key.text() == str(folder / "trainer.pem")
    user.press(ALT, "s")
    until(lambda: desk.recorder.made is not None, "it went on, and the run is made")
    until(lambda: not desk.working, "the run is audited")
    assert page.headline.text() == "VERIFIED", page.sentence.text()
    print(f"{page.headline.text()}: {page.replay_figures.value('judged')}", flush=True)
    give_keyboard(page)
    user.press(ALT, "o")
    until(lambda: window.session.phase is Phase.CONCLUDED, "Alt+O showed the run with its audit")
    assert window.session.report is not None
    assert window.session.report.outcome is Outcome.VERIFIED
    until(lambda: not page.isVisible(), "the page does not lie on top of it")

    give_keyboard(window)
    user.press(CONTROL, SHIFT, "n")
    until(page.isVisible, "Ctrl+Shift+N shows the page again")
    give_keyboard(page)
    user.press(ALT, "f")
    asked = form_of(FollowForm, "Alt+F asked what is followed")
    assert isinstance(asked, FollowForm)
    paste(folder / ".liar.cfoil.recording")
    user.press(ALT, "o")
    until(asked.order.hasFocus, "Alt+O went to the order")
    paste(folder / "job.cfoil")
    until(asked.ok.isEnabled, "it can be followed")
    user.press(ALT, "f")
    until(lambda: desk.follower.working, "Alt+F began to follow")
    until(lambda: not desk.follower.working, "it came to an end")
    assert page.headline.text() == "DISPUTED", page.sentence.text()
    print(f"DISPUTED: {page.replay_figures.value('judged')}", flush=True)
    desk.shut_down()
    window._closing = True
    window.close()
    print("the window closed", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
