"""One person plays client, trainer and auditor on a real X server, with the real engine, from an empty desk.

Run as a program by tests/app/test_xvfb.py, which starts the server. Prints one line per thing done, and at the end how
many clicks it took and how many fields were typed in. With a second argument, a folder, it saves a picture of each
page.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QWidget

from counterfoil import Outcome
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.order_plan import Stage
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict.handover_dialog import HandOverDialog
from counterfoil_app.verdict.signing_dialog import SigningDialog
from counterfoil_app.views.header import ActionButton
from counterfoil_app.views.home import Part
from counterfoil_app.views.recording_forms import RecordForm
from support.x_input import CONTROL, XInput
from support.x_user import give_keyboard, place, until, window_in

PATIENCE = 150.0
"""Seconds for what the engine computes."""
RESTS = 20
"""So many looks a button is in the same place."""
STEPS, BATCH = "3", "8"
"""Less than the window proposes, which trains for minutes."""


class Hand:
    """The mouse and the keyboard of one person, counted."""

    def __init__(self, pictures: Path | None) -> None:
        self._x = XInput()
        self._pictures = pictures
        self.clicks, self.fields = 0, 0

    def click(self, button: QWidget, done: Callable[[], bool], what: str) -> None:
        """Click what can be seen and used, and wait for what comes of it."""
        until(lambda: button.isVisible() and button.isEnabled(), f"{what}: it is offered", PATIENCE)
        self._look(button.window(), what)
        seen: list[tuple[int, int]] = []

        def rests() -> bool:  # a button whose text changes moves; nobody aims while it does
            seen.append(place(button))
            return len(seen) > RESTS and len(set(seen[-RESTS:])) == 1

        until(rests, f"{what}: it has its place")
        until(lambda: not isinstance(button, ActionButton) or button.settled, f"{what}: it has its meaning")
        assert not button.visibleRegion().isEmpty(), f"{what}: one would have to scroll"
        self._x.click(*place(button))
        self.clicks += 1
        until(done, what, PATIENCE)

    def type(self, field: QLineEdit, text: str) -> None:
        """Type over what a field says; the click into it counts."""
        self.click(field, field.hasFocus, f"{field.accessibleName()} has the keyboard")
        self._x.press(CONTROL, "a")
        for letter in text:
            self._x.press(letter)
        self.fields += 1
        until(lambda: field.text() == text, f"{field.accessibleName()} was typed")

    def close(self) -> None:
        """Let go of both."""
        self._x.close()

    def _look(self, window: QWidget, what: str) -> None:
        if self._pictures is not None:
            name = f"{self.clicks:02}-{what.replace(' ', '-').replace('/', '-')}.png"
            window.grab().save(str(self._pictures / name))


def order(hand: Hand, window: MainWindow) -> None:
    """The client: what is trained, on what, how; the first step is tried, and the order saved."""
    card = window.home.cards.of[Part.CLIENT].buttons[0]
    hand.click(card, lambda: window.orders.wizard is not None, "the client opens the wizard")
    wizard = window.orders.wizard
    assert wizard is not None
    give_keyboard(wizard)
    hand.click(wizard.next, lambda: wizard.stage is Stage.DATA, "the digits are taken")
    hand.click(wizard.next, lambda: wizard.stage is Stage.SETTINGS, "and their data")
    for name, text in (("steps", STEPS), ("batch_size", BATCH)):
        field = wizard.settings.fields[0].controls[name]
        assert isinstance(field, QLineEdit)
        hand.type(field, text)
    hand.click(wizard.next, lambda: wizard.stage is Stage.TRY, "the settings are said")
    hand.click(wizard.next, lambda: wizard.ordering.written is not None, "the first step is tried")
    hand.click(wizard.next, lambda: wizard.stage is Stage.SAVE, "the card is shown")
    hand.click(wizard.saving.save, lambda: wizard.saved is not None, "the order is saved")
    form = shown(window, RecordForm)
    hand.click(wizard.record, lambda: bool(form()), "the order goes on to the recording")


def record(hand: Hand, window: MainWindow) -> None:
    """The trainer: everything is proposed, a key of its own as well."""
    desk = window.recordings
    (form,) = shown(window, RecordForm)()
    give_keyboard(form)
    assert form.makes_key.isChecked()
    hand.click(form.ok, lambda: desk.recorder.made is not None, "the run is recorded and signed")
    assert desk.page is not None
    give_keyboard(desk.page)
    ready = lambda: window.session.phase is Phase.READY  # noqa: E731 - asked again and again
    hand.click(desk.page.open_run, ready, "the run is open, beside the order")
    until(lambda: not desk.page or not desk.page.isVisible(), "the page does not lie on top of it")
    assert window.session.order is not None, "the order that it was recorded from is the one that it is held to"


def audit(hand: Hand, window: MainWindow) -> Path:
    """The auditor: replay, sign with a new key, hand over; returns the folder."""
    give_keyboard(window)
    header = window.header
    hand.click(header.primary, lambda: window.session.phase is Phase.CONCLUDED, "it is replayed")
    assert window.session.report is not None
    assert window.session.report.outcome is Outcome.VERIFIED
    until(lambda: not window.session.busy, "the result is kept", PATIENCE)
    print(f"{header.outcome.text()}: {header.sentence.text()}", flush=True)
    signing, handing = shown(window, SigningDialog), shown(window, HandOverDialog)
    if header.primary.shown is window.commands["name_trainer"]:
        panel = window.run.trainer_key
        hand.click(header.primary, panel.name.hasFocus, "the auditor is asked whose key it is")
        hand.type(panel.name, "trainer")
        hand.click(panel.keep, lambda: header.primary.shown is window.commands["verdict"], "the trainer is named")
    hand.click(header.primary, lambda: bool(signing()), "the auditor is asked to sign")
    give_keyboard(signing()[0])
    until(lambda: not window.session.busy, "what is signed is shown", PATIENCE)
    hand.click(signing()[0].ok, lambda: window.session.verdict_file is not None, "it is signed")
    until(lambda: not signing(), "the question is gone")
    give_keyboard(window)
    hand.click(header.primary, lambda: bool(handing()), "it is asked where it goes")
    give_keyboard(handing()[0])
    folder = handing()[0].chosen
    hand.click(handing()[0].ok, lambda: window.session.handed_over is not None, "it is handed over")
    until(lambda: not handing(), "nothing else is asked")
    return folder


def shown(window: MainWindow, kind: type[QDialog]) -> Callable[[], list]:
    """The dialogs of a kind that are shown."""
    return lambda: [each for each in window.findChildren(kind) if each.isVisible()]


def main(folder: Path, pictures: Path | None) -> None:
    """Order, record, audit, hand over."""
    # A private key does not lie beside what is handed over.
    window = window_in(folder, config="config")
    hand = Hand(pictures)
    try:
        order(hand, window)
        record(hand, window)
        target = audit(hand, window)
        if pictures is not None:
            QApplication.processEvents()
            window.grab().save(str(pictures / "99-end.png"))
            window.go_home()
            until(lambda: window.home.isVisible(), "the desk is shown")
            window.grab().save(str(pictures / "99-home.png"))
        print(target, flush=True)
        print(f"clicks {hand.clicks}, fields {hand.fields}", flush=True)
    finally:
        hand.close()
        window.recordings.shut_down()
        window.session.shut_down()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
