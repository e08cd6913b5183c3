"""A dispute capsule says which step it is about before it is adjudicated."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from counterfoil import CounterfoilError
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.inquiry import CapsuleDialog
from counterfoil_app.views.parts import Field
from counterfoil_core.base.sentence import say
from support.fake_engine import FakeEngine

CAPSULE = Path("/capsules/dispute.capsule.cfoil")


def opened(window: MainWindow, qtbot: QtBot) -> CapsuleDialog:
    window.open_capsule(CAPSULE)
    (dialog,) = window.findChildren(CapsuleDialog)
    qtbot.waitUntil(lambda: not window.session.busy)
    return dialog


def fields(dialog: CapsuleDialog) -> dict[str, str]:
    shown: list[Field] = dialog.facts._shown  # what the page shows, as it was made
    return {field.name: field.value for field in shown}


def test_step_and_job_are_named(window: MainWindow, qtbot: QtBot) -> None:
    dialog = opened(window, qtbot)
    assert dialog.sentence.text().startswith(
        "An auditor says that step 38 of Digits is not what was ordered. Replay it"
    )
    assert fields(dialog)["Disputed"] == "step 38 of 60, replayed from the state after step 35"
    assert "Part of the step" not in fields(dialog)
    assert dialog.hearing.report is None


def test_a_share_is_named(window: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.part = "share 2"
    dialog = opened(window, qtbot)
    assert "its share 2 is another" in dialog.sentence.text()
    assert fields(dialog)["Part of the step"] == "share 2"


def test_what_cannot_be_read_is_said_when_it_is_adjudicated(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    engine.inspect_errors[CAPSULE.name] = CounterfoilError(say("The file is damaged."))
    dialog = opened(window, qtbot)
    assert dialog.sentence.text().startswith("An auditor says that a step of this run is not what was ordered.")
    assert dialog.start.isEnabled()


def test_a_page_that_was_closed_hears_nothing_any_more(window: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.inspect_gate.clear()
    window.session.open(Path("/runs/honest.cfoil"))
    window.open_capsule(CAPSULE)
    (dialog,) = window.findChildren(CapsuleDialog)
    dialog.close()
    qtbot.waitUntil(lambda: not window.findChildren(CapsuleDialog))
    engine.inspect_gate.set()
    qtbot.waitUntil(lambda: not window.session.busy)
