"""The page of the machine in the window: examined, shown with its remedies, copied in English."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from counterfoil import CancelToken, MachineFact, MachinePage, MachineState
from counterfoil_app.engine.process import ProcessEngine
from counterfoil_app.shell.machine import MachineDialog
from counterfoil_app.shell.window import MainWindow
from support.fake_engine import FakeEngine

MakeWindow = Callable[[FakeEngine], MainWindow]
BAD = MachinePage(
    (
        MachineFact("Versions", "torch", "2.13"),
        MachineFact(
            "Folders", "Temporary files", "/tmp: 0.01 GiB of room", MachineState.WRONG, "Make room on that disk."
        ),
        MachineFact("Versions", "<b>h5py</b>", "a\x1b[31m", MachineState.NOTE, "Nothing."),
    )
)


def dialog_of(window: MainWindow) -> MachineDialog:
    window.shell.show_machine()
    found = window.findChild(MachineDialog)
    assert isinstance(found, MachineDialog)
    return found


def test_what_is_wrong_is_shown_with_its_remedy_and_copied(window_of: MakeWindow, qtbot: QtBot) -> None:
    engine = FakeEngine(machine=BAD)
    dialog = dialog_of(window_of(engine))
    qtbot.waitUntil(lambda: dialog.examination.found is not None)
    assert dialog.headline.text() == "One thing is wrong."
    assert dialog.top.icon.accessibleName() == dialog.headline.text()
    assert "Temporary files: Make room on that disk." in dialog.remedies.text()
    states = [dialog.model.columns[0].text(fact) for fact in dialog.model.records]
    assert states == ["wrong", "note", "fine"]
    dialog.copy.click()
    copied = QApplication.clipboard().text()
    assert "Make room on that disk." in copied
    assert "\x1b" not in copied
    dialog.reject()


def test_it_is_examined_again_when_that_is_asked_for(window_of: MakeWindow, qtbot: QtBot) -> None:
    engine = FakeEngine()
    dialog = dialog_of(window_of(engine))
    qtbot.waitUntil(lambda: dialog.examination.found is not None)
    assert dialog.headline.text() == "Nothing is wrong with this machine."
    engine.machine = BAD
    dialog.start.click()
    assert not dialog.copy.isEnabled()
    qtbot.waitUntil(lambda: dialog.examination.found is not None)
    assert dialog.headline.text() == "One thing is wrong."
    dialog.reject()


@pytest.mark.slow
def test_the_engines_process_examines_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the pipe, and out of no box, or there would be neither processes nor devices."""
    monkeypatch.delenv("COUNTERFOIL_SANDBOX", raising=False)
    engine = ProcessEngine()
    try:
        *_, page = engine.examine(CancelToken())
    finally:
        engine.close()
    assert isinstance(page, MachinePage)
    assert page.wrong == 0, page.text
    assert any(fact.section == "Self-test" for fact in page.facts)
    assert any(fact.section == "Sandbox" and "switched off" not in fact.value for fact in page.facts)
