"""The main job, with a made-up engine: open, replay, see the outcome, export."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

import counterfoil
from counterfoil import CheckNumber, CounterfoilError, Outcome
from counterfoil_app.driver.capture import replay_and_capture
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.crash import ExceptionDialog
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict.signing_dialog import SigningDialog
from counterfoil_app.views.divergence import Shown
from counterfoil_app.views.home import Part
from counterfoil_app.views.judges import SealDialog
from counterfoil_app.views.tables import RecordTable
from support.docks import in_front
from support.fake_engine import FakeEngine
from support.message_boxes import click_in_box
from support.waiting import drawn, reached

MakeWindow = Callable[[FakeEngine], MainWindow]
LEFT = Qt.MouseButton.LeftButton


def replay(window: MainWindow, qtbot: QtBot) -> None:
    window.header.primary.click()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED, Phase.FAILED), timeout=20_000)


def signed_statement(verdict: Path) -> str:
    return base64.b64decode(json.loads(verdict.read_bytes())["payload"]).decode()


def question(window: MainWindow) -> QMessageBox:
    box = window.findChild(QMessageBox, "stop-question")
    assert box is not None
    return box


def click(box: QMessageBox, role: QMessageBox.ButtonRole, qtbot: QtBot) -> None:
    qtbot.mouseClick(next(button for button in box.buttons() if box.buttonRole(button) is role), LEFT)


def test_empty_window_says_what_to_do(window: MainWindow) -> None:
    assert window.stack.currentWidget() is window.home
    assert window.home.cards.of[Part.AUDITOR].buttons[0].shown is window.commands["open"]
    assert not window.header.isVisible()
    assert not window.commands["replay"].isEnabled()


def test_honest_run_is_verified_and_signed(
    opened: MainWindow, engine: FakeEngine, settings: Settings, qtbot: QtBot, tmp_path: Path
) -> None:
    window = opened
    assert window.header.outcome.text() == "Not yet replayed"
    assert window.header.primary.shown is window.commands["replay"]
    replay(window, qtbot)
    assert window.header.outcome.text() == "VERIFIED"
    assert window.header.property("tone") == "warn", "the client's order was not compared"
    assert window.session.steps.done == engine.steps
    assert window.steps.model.index(0, 1).data() == "match"
    assert "no replayed step differs" in window.dispute.nothing.text()

    assert window.header.primary.shown is window.commands["name_trainer"]
    window.header.primary.click()
    assert window.run.trainer_key.name.isVisible()
    window.key_book.name(engine.trainer_key, "Trainwell")
    assert window.header.primary.shown is window.commands["compare"], "what is open is closed before it is signed"
    window.commands["verdict"].trigger()
    dialog = window.findChild(SigningDialog)
    assert dialog is not None
    qtbot.waitUntil(lambda: "VERIFIED" in dialog.what.text())
    dialog.create_new.setChecked(True)
    dialog.key.setText(str(tmp_path / "keys" / "auditor.pem"))
    dialog.passphrase.setText("secret")
    assert not dialog.ok.isEnabled()
    dialog.repeat.setText("secret")
    with qtbot.waitSignal(window.session.exports.finished):
        qtbot.mouseClick(dialog.ok, LEFT)
    verdict = tmp_path / "honest.verdict.json"
    assert "VERIFIED" in signed_statement(verdict)
    assert window.session.verdict_file == verdict
    assert str(verdict) in window.header.sentence.text()
    key = counterfoil.load_public_key(tmp_path / "keys" / "auditor.pub.pem")
    assert counterfoil.claimed_key_ids(verdict.read_bytes()) == (key.key_id,)
    assert counterfoil.needs_passphrase(tmp_path / "keys" / "auditor.pem")
    assert settings.key_file == tmp_path / "keys" / "auditor.pem"


def test_a_failed_signature_keeps_what_was_typed(opened: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    replay(opened, qtbot)
    opened.commands["verdict"].trigger()
    dialog = opened.findChild(SigningDialog)
    assert dialog is not None
    qtbot.waitUntil(lambda: not opened.session.busy)
    counterfoil.generate_key(tmp_path / "mine.pem", "right")
    dialog.key.setText(str(tmp_path / "mine.pem"))
    dialog.use_existing.setChecked(True)
    dialog.passphrase.setText("wrong")
    dialog.table.setChecked(True)
    dialog.target.setText(str(tmp_path / "mine.json"))
    qtbot.mouseClick(dialog.ok, LEFT)
    assert not dialog.ok.isEnabled()
    qtbot.waitUntil(dialog.ok.isEnabled)
    assert dialog.isVisible()
    assert dialog.hint.text() == "The passphrase of mine.pem is wrong, or the file is damaged. Try again."
    assert dialog.hint.property("tone") == "bad"
    assert not (tmp_path / "mine.json").exists()
    assert opened.session.verdict_file is None
    # Everything is still there, and only the passphrase is typed again.
    assert dialog.passphrase.selectedText() == "wrong"
    assert dialog.table.isChecked()
    qtbot.keyClicks(dialog.passphrase, "right")
    with qtbot.waitSignal(opened.session.exports.finished):
        qtbot.mouseClick(dialog.ok, LEFT)
    assert opened.session.verdict_file == tmp_path / "mine.json"
    qtbot.waitUntil(lambda: not dialog.isVisible())


def test_unwritable_folder_ends_in_a_sentence(opened: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    replay(opened, qtbot)
    opened.commands["verdict"].trigger()
    dialog = opened.findChild(SigningDialog)
    assert dialog is not None
    dialog.key.setText(str(tmp_path / "keys" / "new.pem"))
    dialog.target.setText(str(tmp_path / "missing" / "v.json"))
    qtbot.waitUntil(dialog.ok.isEnabled)
    qtbot.mouseClick(dialog.ok, LEFT)
    qtbot.waitUntil(lambda: "cannot be written" in dialog.hint.text())
    assert dialog.isVisible()


def test_tampered_run_is_disputed_at_the_step(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    window: MainWindow = window_of(FakeEngine(disputed=37))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    replay(window, qtbot)
    assert window.header.outcome.text() == "DISPUTED"
    assert window.header.property("tone") == "bad"
    model = window.steps.model
    assert [row + 1 for row in range(model.rowCount()) if model.index(row, 1).data() == "mismatch"] == [37]
    assert model.index(36, 0).data(Qt.ItemDataRole.BackgroundRole) == QColor(window.theme.tokens.bad_tint)
    assert model.index(35, 0).data(Qt.ItemDataRole.BackgroundRole) is None
    assert model.index(37, 1).data() == "unjudged"
    assert model.index(37, 7).data() == "\u2013", "the log of an unjudged step belongs to other values"
    assert model.index(37, 0).data(Qt.ItemDataRole.BackgroundRole) is None, "what could not be judged is not wrong"
    assert window.session.report is not None
    assert (
        window.header.sentence.text()
        == "By what the trainer signed, its model computed something else at step 37 than was ordered."
    )
    assert window.dispute.account.text().endswith("the model of this run is not the one that was ordered.")
    assert not window.checks.sentence.isVisibleTo(window.checks)
    assert "Step 37" in window.dispute.headline.text()
    assert "This is confirmed" in window.dispute.meaning.text()
    qtbot.waitUntil(lambda: in_front(window.docks["dispute"]))
    assert window.dispute.model.rowCount() == 6
    merkle = window.merkle.model
    assert merkle.index(merkle.rowCount() - 1, 1).data() == "step 37"
    assert merkle.index(merkle.rowCount() - 1, 2).data() == "different"
    assert window.session.selected_step == 37
    assert window.session.divergence.at(40).max() == 1e-3
    assert not window.session.divergence.at(35).any()


@pytest.mark.drawn
def test_contradictions_of_a_matching_step_are_marked(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window: MainWindow = window_of(FakeEngine(lying_log=9))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    replay(window, qtbot)
    tint = QColor(window.theme.tokens.bad_tint)
    backgrounds = [window.steps.model.index(row, 7).data(Qt.ItemDataRole.BackgroundRole) for row in range(60)]
    assert [row + 1 for row, ground in enumerate(backgrounds) if ground == tint] == [9]
    window.divergence.show_plot(Shown.ENTRIES)
    assert list(window.divergence.suspicious.getData()[0]) == [9]


@pytest.mark.drawn
def test_disputed_row_is_seen(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window: MainWindow = window_of(FakeEngine(disputed=37))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    replay(window, qtbot)
    window.docks["steps"].raise_()
    window.steps.show_step(40)
    table = window.steps.table

    def colour(step: int) -> str:
        rectangle = table.visualRect(window.steps.model.index(step - 1, 2))
        return table.viewport().grab().toImage().pixelColor(rectangle.left() + 1, rectangle.top() + 2).name()

    qtbot.waitUntil(lambda: colour(37) == window.theme.tokens.bad_tint)
    assert colour(36) != window.theme.tokens.bad_tint


def test_order_that_differs_is_concluded_as_refused(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window: MainWindow = window_of(FakeEngine(failing=(CheckNumber.ORDER,)))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    assert window.header.outcome.text() == "Cannot be accepted"
    assert "Conclude" in window.header.primary.text()
    replay(window, qtbot)
    assert window.header.outcome.text() == "REFUSED"
    assert window.header.property("tone") == "warn"
    assert window.commands["verdict"].isEnabled()


def test_order_without_run_cannot_be_replayed(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window: MainWindow = window_of(FakeEngine(has_run=False))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    assert not window.commands["replay"].isEnabled()
    assert window.header.primary.shown is window.commands["open"]
    assert window.steps.model.rowCount() == 0


def test_unreadable_file_is_refused_in_a_sentence(
    window: MainWindow, engine: FakeEngine, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "broken.cfoil"
    path.touch()
    engine.inspect_errors[path.name] = CounterfoilError("It is no bundle.", remedy="Ask for another.")
    window.open_bundle(path)
    qtbot.waitUntil(reached(window, Phase.UNREADABLE))
    assert window.header.outcome.text() == "REFUSED"
    assert window.header.sentence.text() == "It is no bundle. Ask for another."
    assert window.stack.currentWidget() is window.message
    assert path not in window.cases.recent


def test_opening_never_blocks(window: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot) -> None:
    engine.inspect_gate.clear()
    window.open_bundle(bundle)
    assert window.session.phase is Phase.LOADING
    qtbot.waitUntil(drawn(window))
    assert window.stack.currentWidget() is window.message
    assert bundle.name in window.message.text()
    engine.inspect_gate.set()
    qtbot.waitUntil(reached(window, Phase.READY))
    assert window.stack.currentWidget() is window.desk
    assert engine.threads == {"counterfoil-engine"}


def test_late_summary_of_another_bundle_is_ignored(
    window: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot
) -> None:
    seen: list[str] = []
    window.session.bundle_changed.connect(
        lambda: seen.append(window.session.summary.path) if window.session.summary else None
    )
    engine.inspect_gate.clear()
    first = bundle.with_name("first.cfoil")
    first.touch()
    window.open_bundle(first)
    window.open_bundle(bundle)
    engine.inspect_gate.set()
    qtbot.waitUntil(reached(window, Phase.READY))
    assert set(seen) == {str(bundle)}


def test_opening_while_replaying_asks_and_ignores_the_rest(
    opened: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot
) -> None:
    engine.steps = 60
    engine.gate.clear()
    opened.commands["replay"].trigger()
    other = bundle.with_name("other.cfoil")
    other.touch()
    opened.open_bundle(other)
    assert opened.session.path == bundle
    click(question(opened), QMessageBox.ButtonRole.DestructiveRole, qtbot)
    engine.gate.set()
    qtbot.waitUntil(reached(opened, Phase.READY))
    assert opened.session.path == other
    assert opened.session.report is None
    assert not opened.session.steps.done
    assert opened.commands["replay"].isEnabled()


def test_pause_resume_stop(opened: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.gate.clear()
    opened.commands["replay"].trigger()
    assert opened.header.primary.shown is opened.commands["pause"]
    opened.commands["pause"].trigger()
    assert opened.session.phase is Phase.PAUSED
    assert opened.header.primary.text() == "Resume"
    opened.commands["go_on"].trigger()
    assert opened.session.phase is Phase.REPLAYING
    opened.commands["pause"].trigger()
    opened.commands["stop"].trigger()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED))
    assert opened.session.report is not None
    assert opened.session.report.outcome is Outcome.INCONCLUSIVE
    assert opened.header.outcome.text() == "INCONCLUSIVE"


def test_closing_asks_during_a_replay(opened: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.gate.clear()
    opened.commands["replay"].trigger()
    assert not opened.close()
    click(question(opened), QMessageBox.ButtonRole.RejectRole, qtbot)
    assert opened.isVisible()
    assert opened.session.running
    question(opened).deleteLater()
    question(opened).setObjectName("")
    assert not opened.close()
    click(question(opened), QMessageBox.ButtonRole.DestructiveRole, qtbot)
    qtbot.waitUntil(lambda: not opened.isVisible() and not opened.session.busy)
    qtbot.waitUntil(lambda: opened.session.has_let_go)


def test_closing_without_a_replay_does_not_ask(opened: MainWindow, qtbot: QtBot) -> None:
    opened.close()  # at once, or as soon as the worker has let go of the bundle that it is still reading
    assert opened.findChild(QMessageBox) is None
    assert not opened.isVisible()
    qtbot.waitUntil(lambda: opened.session.has_let_go)


def test_engine_error_during_replay_is_inconclusive(opened: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.audit_error = CounterfoilError("The device ran out of memory.", remedy="Use the CPU.")
    replay(opened, qtbot)
    assert opened.session.phase is Phase.FAILED
    assert opened.header.outcome.text() == "INCONCLUSIVE"
    assert opened.header.sentence.text() == "The device ran out of memory. Use the CPU."
    assert not opened.commands["verdict"].isEnabled()
    assert opened.commands["table"].isEnabled()


def test_unexpected_error_shows_its_details(opened: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.audit_error = ZeroDivisionError("division by zero")
    replay(opened, qtbot)
    assert opened.header.outcome.text() == "ERROR"
    dialog = opened.findChild(ExceptionDialog)
    assert dialog is not None
    assert "Traceback" in dialog.details.toPlainText()
    assert "ZeroDivisionError" in dialog.sentence.text()
    assert opened.isVisible()
    dialog.reject()


def test_client_order_is_compared_and_dropped(opened: MainWindow, bundle: Path, qtbot: QtBot) -> None:
    assert opened.commands["compare"].isEnabled()
    opened.session.compare_with(bundle.with_name("job.cfoil"))
    qtbot.waitUntil(lambda: opened.session.checks[CheckNumber.ORDER].state.value == "passed")
    qtbot.waitUntil(reached(opened, Phase.READY))
    opened.commands["drop_order"].trigger()
    qtbot.waitUntil(reached(opened, Phase.READY))
    assert opened.session.checks[CheckNumber.ORDER].state.value == "warning"


def test_dropped_file_is_opened(window: MainWindow, bundle: Path, qtbot: QtBot) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(bundle))])
    actions, modifiers = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPointF(9, 9).toPoint(), actions, data, LEFT, modifiers)
    window.dragEnterEvent(enter)
    assert enter.isAccepted()
    assert window.home.drop.property("hot") is True
    window.dropEvent(QDropEvent(QPointF(9, 9), actions, data, LEFT, modifiers))
    qtbot.waitUntil(reached(window, Phase.READY))
    assert window.session.path == bundle
    assert window.home.drop.property("hot") is False


def test_text_that_is_no_file_is_not_taken(window: MainWindow) -> None:
    data = QMimeData()
    data.setUrls([QUrl("https://example.org/run.cfoil")])
    enter = QDragEnterEvent(
        QPointF(9, 9).toPoint(), Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier
    )
    enter.ignore()
    window.dragEnterEvent(enter)
    assert not enter.isAccepted()


def test_recent_files_are_offered(opened: MainWindow, bundle: Path) -> None:
    assert opened.menus.recent_menu.actions()[0].text().startswith(bundle.name)
    opened.commands["clear_recent"].trigger()
    assert not opened.cases.recent
    assert not opened.commands["clear_recent"].isEnabled()


def test_device_is_chosen(opened: MainWindow, engine: FakeEngine, settings: Settings, qtbot: QtBot) -> None:
    with qtbot.waitSignal(opened.session.devices_changed):
        opened.session.look_for_devices()
    assert opened.transport.buttons["replay"].menu() is opened.menus.device_menu
    assert len(opened.menus.device_menu.actions()) == 2
    next(a for a in opened.menus.device_menu.actions() if "H200" in a.text()).trigger()
    assert opened.header.about.text() == "honest.cfoil, cuda:0"
    replay(opened, qtbot)
    assert engine.plans[-1].device == "cuda:0"
    assert settings.device == "cuda:0"


def test_step_table_is_exported(opened: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    replay(opened, qtbot)
    with qtbot.waitSignal(opened.session.exports.finished):
        opened.session.exports.table(opened.session.steps.snapshot(), tmp_path / "steps.csv")
    assert len((tmp_path / "steps.csv").read_text().splitlines()) == 60
    assert opened.session.verdict_file is None


def warned(window: MainWindow, qtbot: QtBot) -> SealDialog:
    """What is asked before a capsule is saved, answered."""
    qtbot.waitUntil(lambda: any(dialog.isVisible() for dialog in window.findChildren(SealDialog)))
    dialog = next(dialog for dialog in window.findChildren(SealDialog) if dialog.isVisible())
    dialog.judges.open.setChecked(True)
    qtbot.waitUntil(dialog.ok.isEnabled)
    return dialog


def test_dispute_capsule_is_saved(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window: MainWindow = window_of(FakeEngine(disputed=37))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    assert not window.commands["capsule"].isEnabled()
    replay(window, qtbot)
    assert window.commands["capsule"].isEnabled()
    asked: list[str] = []

    def choose(_parent: object, _title: str, proposal: str, _filter: str) -> tuple[str, str]:
        asked.append(proposal)
        return str(target), ""

    monkeypatch.setattr("counterfoil_app.views.layouts.QFileDialog.getSaveFileName", choose)
    target = tmp_path / "honest-dispute.cfoil"
    window.docks["dispute"].raise_()
    qtbot.waitUntil(lambda: window.dispute.save.isVisible() and window.dispute.save.settled)
    with qtbot.waitSignal(window.session.exports.finished):
        qtbot.mouseClick(window.dispute.save, LEFT)
        warned(window, qtbot).ok.click()
    assert asked == [str(target)]
    assert target.read_text() == "step 37"
    assert str(target) in window.statusBar().currentMessage()
    target = tmp_path / "missing" / "dispute.cfoil"
    with qtbot.waitSignal(window.session.failed) as caught:
        window.commands["capsule"].trigger()
        warned(window, qtbot).ok.click()
    assert "there is no such folder" in caught.args[0].sentence
    box = window.findChild(QMessageBox, "failure")
    assert box is not None
    box.done(0)


def test_without_a_dispute_there_is_no_capsule_to_save(opened: MainWindow, qtbot: QtBot) -> None:
    replay(opened, qtbot)
    assert not opened.commands["capsule"].isEnabled()


def test_layout_is_restored(opened: MainWindow) -> None:
    opened.docks["divergence"].close()
    opened.docks["steps"].setFloating(True)
    opened.commands["layout"].trigger()
    assert all(not dock.isFloating() for dock in opened.docks.values())
    assert opened.docks["divergence"].isVisible()


@pytest.mark.sampled(1)
@pytest.mark.drawn
@pytest.mark.parametrize("disputed", [None, 12])
def test_capture_drives_the_whole_flow(
    window_of: MakeWindow, bundle: Path, tmp_path: Path, disputed: int | None
) -> None:
    window: MainWindow = window_of(FakeEngine(disputed=disputed))
    picture, verdict = tmp_path / "picture.png", tmp_path / "v.json"
    counterfoil.generate_key(tmp_path / "key.pem", None)
    report = replay_and_capture(window, bundle, tmp_path / "job.cfoil", picture, tmp_path / "key.pem", verdict)
    assert report.outcome is (Outcome.VERIFIED if disputed is None else Outcome.DISPUTED)
    assert picture.stat().st_size > 10_000
    assert report.outcome.value in signed_statement(verdict)


@pytest.mark.drawn
def test_capture_tells_why_it_cannot(window: MainWindow, bundle: Path, tmp_path: Path) -> None:
    counterfoil.generate_key(tmp_path / "k.pem", "right")
    with pytest.raises(CounterfoilError, match="passphrase"):
        replay_and_capture(
            window, bundle, None, tmp_path / "p.png", tmp_path / "k.pem", tmp_path / "v.json", passphrase="wrong"
        )


def test_record_tables_are_sound(opened: MainWindow, qtbot: QtBot, qtmodeltester: object) -> None:
    replay(opened, qtbot)
    model: RecordTable[object] = opened.steps.model
    qtmodeltester.check(model)  # type: ignore[attr-defined]


def test_a_run_that_needs_a_data_file_asks_for_it(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = FakeEngine(data_file="digits.cfdata")
    window: MainWindow = window_of(engine)
    assert not window.commands["data"].isEnabled()
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    assert window.header.primary.shown is window.commands["data"]
    assert "digits.cfdata" in window.header.sentence.text()
    chosen = tmp_path / "elsewhere" / "digits.cfdata"
    asked: list[str] = []

    def choose(_parent: object, title: str, proposal: str, _filter: str) -> tuple[str, str]:
        asked.extend((title, proposal))
        return (str(chosen) if len(asked) > 2 else "", "")

    monkeypatch.setattr("counterfoil_app.views.layouts.QFileDialog.getOpenFileName", choose)
    window.header.primary.click()
    assert window.session.data is None, "the dialog was cancelled"
    window.header.primary.click()
    assert "digits.cfdata" in asked[0]
    assert asked[1].endswith("digits.cfdata")
    assert window.header.primary.shown is window.commands["replay"]
    replay(window, qtbot)
    assert engine.plans[-1].data == chosen
    assert window.header.outcome.text() == "VERIFIED"
    # Comparing with the client's order keeps the data file; another bundle forgets it.
    window.session.compare_with(tmp_path / "job.cfoil")
    qtbot.waitUntil(lambda: window.session.order == tmp_path / "job.cfoil")
    assert window.session.data == chosen
    other = bundle.with_name("other.cfoil")
    other.write_bytes(b"")
    window.open_bundle(other)
    click_in_box(window, "unsigned-question", "Open without signing")
    assert window.session.data is None
    qtbot.waitUntil(reached(window, Phase.READY))
