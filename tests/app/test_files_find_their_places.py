"""Dropped files find their places: by what they are, in any number, anywhere on the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid
from tests.app.conftest import MakeWindow
from tests.app.test_nothing_misleads import idle

from counterfoil import BundleSummary, CheckNumber, CheckState, Role
from counterfoil.signing.privatekeys import generate_key
from counterfoil_app.model.bundle_queue import EntryState
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict.signing_dialog import SigningDialog
from counterfoil_app.verdict.viewer import VerdictViewer
from counterfoil_app.views.inquiry import CapsuleDialog, DeliveryDialog
from counterfoil_core.signing.envelope import open_statement
from counterfoil_core.signing.keys import load_public_key
from support.fake_engine import AUDITOR, FakeEngine
from support.made_up_run import digest
from support.message_boxes import click_in_box, no_box
from support.proposals import confirm
from support.waiting import reached

LEFT = Qt.MouseButton.LeftButton
ACTIONS, KEYS = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier


def made(folder: Path, *names: str) -> list[Path]:
    paths = [folder / name for name in names]
    for path in paths:
        path.write_text("{}")
    return paths


def dragged(paths: Sequence[Path]) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def drop(window: MainWindow, qtbot: QtBot, *paths: Path, on: QWidget | None = None) -> None:
    """Drag files over a widget and drop them there, as Qt delivers it: to the nearest that takes drops."""
    target = on if on is not None else window
    while not target.acceptDrops():
        target = target.parentWidget()
    data = dragged(paths)
    enter = QDragEnterEvent(QPoint(9, 9), ACTIONS, data, LEFT, KEYS)
    QApplication.sendEvent(target, enter)
    assert enter.isAccepted()
    assert window.drop_hint.isVisible()
    QApplication.sendEvent(target, QDropEvent(QPointF(9, 9), ACTIONS, data, LEFT, KEYS))
    assert not window.drop_hint.isVisible()
    idle(window, qtbot)


def said(window: MainWindow) -> str:
    return window.statusBar().currentMessage()


def test_a_run_and_its_order_are_opened_together(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    run, job = made(tmp_path, "run.cfoil", "job.cfoil")
    drop(window, qtbot, job, run)
    qtbot.waitUntil(reached(window, Phase.READY))
    assert (window.session.path, window.session.order) == (run, job)
    assert window.session.checks[CheckNumber.ORDER].state is CheckState.PASSED
    assert said(window) == "job.cfoil is the order."


def test_an_order_is_compared_with_the_open_run(opened: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    (job,) = made(tmp_path, "job.cfoil")
    drop(opened, qtbot, job)
    qtbot.waitUntil(lambda: opened.session.order == job)
    qtbot.waitUntil(reached(opened, Phase.READY))
    assert opened.session.path != job, "the run stays open"


def test_data_heads_and_keys_are_used_with_the_open_run(window_of: MakeWindow, tmp_path: Path, qtbot: QtBot) -> None:
    engine = FakeEngine(data_file="digits.cfdata")
    window = window_of(engine)
    run, data, heads = made(tmp_path, "run.cfoil", "digits.cfdata", "heads.jsonl")
    public, private, notes = made(tmp_path, "auditor.pub.pem", "mine.pem", "notes.txt")
    drop(window, qtbot, data, run, heads, private, public, notes)
    qtbot.waitUntil(reached(window, Phase.READY))
    session = window.session
    assert (session.path, session.data, session.heads) == (run, data, heads)
    assert "notes.txt is no file that Counterfoil reads." in said(window)
    # Whose keys these are, the files do not say.
    assert window.settings.key_file is None
    assert window.key_book.checking == ()
    click_in_box(window, "private-key-question", "Sign with it")
    assert window.settings.key_file == private
    confirm(qtbot)
    assert window.key_book.checking == (AUDITOR,)
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    assert (engine.plans[-1].data, engine.plans[-1].heads) == (data, heads)


def test_several_runs_are_queued_each_with_its_order(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    one, two, job, other = made(tmp_path, "one.cfoil", "other-two.cfoil", "job.cfoil", "other-job.cfoil")
    drop(window, qtbot, one, job, two, other)
    assert [(entry.path, entry.order) for entry in window.queue.entries] == [(one, job), (two, other)]
    qtbot.waitUntil(lambda: all(entry.state is EntryState.DONE for entry in window.queue.entries))
    assert said(window) == "2 runs are queued."


def test_a_key_that_is_dropped_checks_the_verdict_that_waits_for_it(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    verdict, key = made(tmp_path, "run.verdict.json", "auditor.pub.pem")
    drop(window, qtbot, verdict)
    viewer = window.findChild(VerdictViewer)
    assert viewer is not None
    assert viewer.headline.text().startswith("Not checked")
    window.open_files([key])
    idle(window, qtbot)
    assert viewer.headline.text().startswith("Not checked"), "nobody has said whose key it is"
    confirm(qtbot)
    qtbot.waitUntil(lambda: viewer.headline.text() == "The signature holds: VERIFIED")


def test_a_text_field_does_not_swallow_a_file(opened: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    fields = [field for field in opened.findChildren(QLineEdit) if field.isVisible()]
    assert fields
    (job,) = made(tmp_path, "job.cfoil")
    drop(opened, qtbot, job, on=fields[0])
    qtbot.waitUntil(lambda: opened.session.order == job)
    assert str(job) not in fields[0].text()


def test_the_hint_goes_with_the_files(window: MainWindow, tmp_path: Path) -> None:
    data = dragged(made(tmp_path, "a.cfoil", "b.cfoil"))
    window.dragEnterEvent(QDragEnterEvent(QPoint(9, 9), ACTIONS, data, LEFT, KEYS))
    assert window.drop_hint.headline.text() == "Drop the 2 files here"
    window.dragLeaveEvent(QDragLeaveEvent())
    assert not window.drop_hint.isVisible()


class AnotherOrder(FakeEngine):
    """Every order file holds another order than runs name."""

    def on_client_order(self, path: Path) -> BundleSummary:
        found = self.summary(path, None)
        return replace(found, order=replace(found.order, digest=digest("another")))


def test_an_order_that_was_used_is_compared_with_every_run_that_names_it(
    window_of: MakeWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    run, job, next_run = made(tmp_path, "run.cfoil", "job.cfoil", "next.cfoil")
    first = window_of(FakeEngine())
    drop(first, qtbot, run, job)
    qtbot.waitUntil(reached(first, Phase.READY))
    # Another window, another day.
    second = window_of(FakeEngine())
    drop(second, qtbot, next_run)
    qtbot.waitUntil(reached(second, Phase.READY))
    qtbot.waitUntil(lambda: second.session.order == job)
    qtbot.waitUntil(reached(second, Phase.READY))
    idle(second, qtbot)
    # Whoever wants the bundle's own word gets it.
    second.commands["drop_order"].trigger()
    qtbot.waitUntil(lambda: second.session.order is None and second.session.phase is Phase.READY)
    idle(second, qtbot)
    assert second.session.order is None
    # The file holds another order by now, which nobody asked to be compared with.
    changed = window_of(AnotherOrder())
    drop(changed, qtbot, next_run)
    qtbot.waitUntil(reached(changed, Phase.READY))
    idle(changed, qtbot)
    assert (changed.session.order, changed.header.outcome.text()) == (None, "Not yet replayed")
    assert no_box(changed)
    job.unlink()
    third = window_of(FakeEngine())
    drop(third, qtbot, next_run)
    qtbot.waitUntil(reached(third, Phase.READY))
    idle(third, qtbot)
    assert third.session.order is None, "the file is gone"


# Capsules


def capsule_dialog(window: MainWindow) -> CapsuleDialog:
    return next(dialog for dialog in window.findChildren(CapsuleDialog) if dialog.isVisible())


def test_a_capsule_is_adjudicated_in_the_window(
    window: MainWindow, engine: FakeEngine, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    capsule, job = made(tmp_path, "dispute.capsule.cfoil", "job.cfoil")
    drop(window, qtbot, capsule)
    dialog = capsule_dialog(window)
    assert dialog.headline.text() == "An accusation, not yet checked"
    assert "whether this step was ordered is not known" in dialog.notice.text()
    engine.gate.clear()
    qtbot.mouseClick(dialog.start, LEFT)
    qtbot.waitUntil(lambda: dialog.checks.rows[CheckNumber.FORMAT].detail.text() != "")
    assert dialog.headline.text() == "Being adjudicated"
    assert dialog.stop.isEnabled()
    assert not dialog.start.isEnabled()
    engine.open_gates()
    qtbot.waitUntil(lambda: dialog.hearing.report is not None)
    assert dialog.headline.text() == "CONFIRMED: the auditor is right"
    assert "Everything after follows from it" in dialog.sentence.text()
    # The client's order, chosen afterwards, is compared with at once.
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(job), ""))
    qtbot.mouseClick(dialog.choose, LEFT)
    qtbot.waitUntil(lambda: engine.hearings == [(capsule, None), (capsule, job)])
    qtbot.waitUntil(lambda: dialog.hearing.report is not None)
    assert dialog.notice.text() == "It is compared with the order job.cfoil."
    assert no_box(window)


def test_an_adjudication_is_signed_and_read_again(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    (capsule,) = made(tmp_path, "dispute.capsule.cfoil")
    generate_key(tmp_path / "judge.pem", None)
    drop(window, qtbot, capsule)
    dialog = capsule_dialog(window)
    assert not dialog.sign.isEnabled(), "nothing was found yet"
    qtbot.mouseClick(dialog.start, LEFT)
    qtbot.waitUntil(dialog.sign.isEnabled)
    qtbot.mouseClick(dialog.sign, LEFT)
    idle(window, qtbot)
    signing = next(each for each in window.findChildren(SigningDialog) if each.isVisible())
    assert signing.windowTitle() == "Sign the adjudication"
    assert "CONFIRMED: the auditor is right" in signing.what.text()
    assert signing.report.isVisible()
    assert not signing.table.isVisible(), "there is no table of steps of it"
    assert '"urn:counterfoil:adjudication:v2"' in signing.statement.toPlainText()
    signing.use_existing.setChecked(True)
    signing.key.selectAll()
    QTest.keyClicks(signing.key, str(tmp_path / "judge.pem"))
    qtbot.mouseClick(signing.ok, LEFT)
    target = tmp_path / "dispute.capsule.adjudication.json"
    qtbot.waitUntil(lambda: dialog.hearing.signed == target)
    assert f"The signed adjudication is in {target}." in dialog.sentence.text()
    qtbot.waitUntil(lambda: not isValid(signing))
    statement = open_statement(target.read_bytes(), load_public_key(tmp_path / "judge.pub.pem"))
    assert statement["predicate"]["result"] == "CONFIRMED"
    assert statement["subject"][0]["name"] == capsule.name
    printed = tmp_path / "dispute.capsule.adjudication.report.pdf"
    assert printed.read_bytes().startswith(b"%PDF-"), "an adjudication has its report too"
    qtbot.mouseClick(dialog.close_button, LEFT)
    # What was signed is opened like a verdict.
    drop(window, qtbot, target)
    drop(window, qtbot, *made(tmp_path, "auditor.pub.pem"))
    confirm(qtbot)
    viewer = next(each for each in window.findChildren(VerdictViewer) if each.isVisible())
    qtbot.waitUntil(lambda: viewer.headline.text() == "The signature holds: CONFIRMED: the auditor is right")
    assert "step 38 of 60, replayed from the state after step 35" in [e.text() for e in viewer.findChildren(QLabel)]


def test_weights_are_compared_with_the_run_that_is_open(window_of: MakeWindow, tmp_path: Path, qtbot: QtBot) -> None:
    engine = FakeEngine()
    window = window_of(engine)
    run, weights, bad, verdict = made(
        tmp_path, "run.cfoil", "model.safetensors", "other.safetensors", "run.verdict.json"
    )
    drop(window, qtbot, weights)
    assert "open the run" in said(window)
    drop(window, qtbot, run)
    qtbot.waitUntil(reached(window, Phase.READY))
    drop(window, qtbot, weights)
    dialog = window.findChild(DeliveryDialog)
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog.delivery.found is not None)
    # Nobody has said that the run is verified.
    assert dialog.headline.text() == "INCONCLUSIVE"
    assert "choose the verdict" in dialog.notice.text()
    dialog.verdict_chosen.emit(verdict)
    qtbot.waitUntil(lambda: dialog.headline.text() == "Not compared")
    assert "a key that you have not confirmed" in dialog.sentence.text()
    window.key_book.trust(AUDITOR, Role.AUDITOR, "Ada", "", "2026-11-22")
    qtbot.waitUntil(lambda: dialog.headline.text().startswith("DELIVERED"))
    assert not dialog.table.isVisible()
    assert not dialog.property("tone")
    dialog.close()
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    engine.gate.clear()
    window.open_files([bad])
    qtbot.waitUntil(lambda: len(engine.deliveries) == 4)
    dialog = window.findChildren(DeliveryDialog)[-1]
    qtbot.waitUntil(lambda: dialog.sentence.text().startswith("Comparing"))
    assert dialog.progress.isVisible()
    assert "was replayed here and verified" in dialog.notice.text()
    engine.gate.set()
    qtbot.waitUntil(lambda: dialog.headline.text().startswith("DIFFERENT"))
    assert dialog.property("tone") == "bad"
    assert [dialog.model.index(row, 0).data() for row in range(dialog.model.rowCount())] == [
        "blocks.0.conv1.weight",
        "backdoor.weight",
    ]
    assert [(*files, replay is not None) for *files, replay in engine.deliveries] == [
        (weights, run, None, False),
        (weights, run, verdict, False),
        (weights, run, verdict, False),
        (bad, run, None, True),
    ]


def test_weights_that_are_dropped_on_a_verdict(opened: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    verdict, weights, key = made(tmp_path, "run.verdict.json", "model.safetensors", "auditor.pub.pem")
    opened.open_files([key, verdict])
    confirm(qtbot)
    qtbot.waitUntil(lambda: (viewer := opened.verdicts.reading) is not None and viewer.checked)
    viewer = opened.verdicts.reading
    assert viewer is not None
    data = dragged([weights])
    enter = QDragEnterEvent(QPoint(9, 9), ACTIONS, data, LEFT, KEYS)
    QApplication.sendEvent(viewer, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(viewer, QDropEvent(QPointF(9, 9), ACTIONS, data, LEFT, KEYS))
    qtbot.waitUntil(lambda: viewer.findChild(DeliveryDialog) is not None)
    dialog = viewer.findChild(DeliveryDialog)
    qtbot.waitUntil(lambda: dialog.delivery.found is not None)
    assert (dialog.delivery.verdict, dialog.delivery.store.auditors) == (verdict, (AUDITOR,))
    assert dialog.headline.text().startswith("DELIVERED")


def test_a_capsule_finds_the_order_that_it_names(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    run, job, capsule = made(tmp_path, "run.cfoil", "job.cfoil", "dispute.capsule.cfoil")
    drop(window, qtbot, run, job)
    qtbot.waitUntil(reached(window, Phase.READY))
    drop(window, qtbot, capsule)
    assert capsule_dialog(window).hearing.order == job
    assert window.session.path == run, "the run stays open"


def test_an_adjudication_can_be_stopped(window: MainWindow, engine: FakeEngine, tmp_path: Path, qtbot: QtBot) -> None:
    (capsule,) = made(tmp_path, "dispute.capsule.cfoil")
    drop(window, qtbot, capsule)
    dialog = capsule_dialog(window)
    engine.gate.clear()
    qtbot.mouseClick(dialog.start, LEFT)
    qtbot.waitUntil(lambda: bool(engine.hearings))
    qtbot.mouseClick(dialog.stop, LEFT)
    qtbot.waitUntil(lambda: not window.session.busy)
    assert dialog.hearing.report is None
    assert dialog.headline.text() == "An accusation, not yet checked"
    qtbot.mouseClick(dialog.start, LEFT)
    dialog.close()
    qtbot.waitUntil(lambda: not window.session.busy)
