"""Home: the desk with the cases, what is to be done next, and what each kind of person can do."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QFileDialog, QLabel, QMessageBox
from pytestqt.qtbot import QtBot
from tests.app.conftest import PATIENCE, MakeWindow

from counterfoil import Role
from counterfoil_app.model.case_file import FileKind
from counterfoil_app.model.cases import Cases
from counterfoil_app.model.casestate import CaseState, NextStep, Standing
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.window import CARD_ACTIONS, MainWindow
from counterfoil_app.verdict.signing_dialog import SigningDialog
from counterfoil_app.views.case_list import FILTERED_FROM, MOST_SHOWN, CaseRow
from counterfoil_app.views.find_dialog import FindDialog
from counterfoil_app.views.home import Part
from counterfoil_app.views.inquiry import DeliveryDialog
from counterfoil_core.signing.subject import Subject
from support.fake_engine import AUDITOR, FakeEngine, digest
from support.message_boxes import click_in_box, no_box
from support.waiting import reached

LEFT = Qt.MouseButton.LeftButton


def rows(window: MainWindow) -> list[CaseRow]:
    return window.home.list.rows


def only(window: MainWindow) -> CaseRow:
    """The row of the only case; the results, by which it is shown, are read in the worker."""
    left = PATIENCE
    while len(rows(window)) != 1 and left > 0:
        QTest.qWait(10)
        left -= 10
    (row,) = rows(window)
    return row


def replay(window: MainWindow, qtbot: QtBot) -> None:
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))


def stop_after(window: MainWindow, engine: FakeEngine, steps: int, qtbot: QtBot) -> None:
    engine.halt = steps + 1
    window.commands["replay"].trigger()
    qtbot.waitUntil(lambda: window.session.steps.done == steps)
    window.commands["stop"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    engine.halt = None
    engine.gate.set()


def at_home(window: MainWindow, qtbot: QtBot) -> None:
    window.commands["home"].trigger()
    qtbot.waitUntil(lambda: window.stack.currentWidget() is window.home)


def shown_dialog(window: MainWindow, kind: type[QDialog]) -> QDialog:
    return next(dialog for dialog in window.findChildren(kind) if dialog.isVisible())


def test_an_empty_desk_says_what_each_kind_of_person_can_do(window: MainWindow) -> None:
    assert window.stack.currentWidget() is window.home
    assert window.home.empty.isVisible()
    assert rows(window) == []
    for part, card in window.home.cards.of.items():
        assert [button.shown for button in card.buttons] == window.commands.several(*CARD_ACTIONS[part])
        said = " ".join(label.text() for label in card.findChildren(QLabel))
        assert bool(card.buttons) != ("counterfoil " in said), "without an action the command line is named"
    assert window.home.cards.of[Part.CLIENT].accessibleName() == "I order training"
    assert not window.commands["home"].isEnabled()


def test_alt_home_closes_an_open_run_and_its_case_lies_on_the_desk(
    opened: MainWindow, bundle: Path, qtbot: QtBot
) -> None:
    QTest.keyClick(opened, Qt.Key.Key_Home, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: opened.stack.currentWidget() is opened.home)
    assert (opened.session.phase, opened.session.path) == (Phase.EMPTY, None)
    assert not opened.header.isVisible()
    row = only(opened)
    assert (row.title.text(), row.state.text()) == ("Digits, small residual network", "recorded, not replayed here")
    qtbot.mouseClick(row.button, LEFT)
    qtbot.waitUntil(reached(opened, Phase.READY))
    assert opened.session.path == bundle


def test_what_is_not_signed_is_asked_about_and_then_signed_from_the_desk(
    opened: MainWindow, bundle: Path, qtbot: QtBot
) -> None:
    replay(opened, qtbot)
    qtbot.waitUntil(lambda: bool(opened.history.pasts))
    opened.commands["home"].trigger()
    click_in_box(opened, "unsigned-question", "Cancel")
    assert opened.session.path == bundle
    opened.commands["home"].trigger()
    click_in_box(opened, "unsigned-question", "Close without signing")
    qtbot.waitUntil(lambda: opened.stack.currentWidget() is opened.home)
    row = only(opened)
    assert row.state.text() == "VERIFIED, not signed"
    assert row.button.text() == "Sign\u2026"
    bundle.unlink()  # what was found is signed without the file
    qtbot.mouseClick(row.button, LEFT)
    qtbot.waitUntil(lambda: opened.findChild(SigningDialog) is not None)
    assert opened.session.path == bundle
    assert opened.session.report is not None


def test_a_run_with_the_same_steps_of_another_trainer_or_order_is_not_shown_as_verified(
    opened: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    """Honest providers share the run root: *Sign...* opened the one's result under the other's name."""
    replay(opened, qtbot)
    qtbot.waitUntil(lambda: bool(opened.history.pasts))
    about = opened.history.pasts[0].about
    assert about is not None
    opened.cases.remove(opened.cases.cases[0])
    theirs = [replace(about, trainer_key=digest("another").hex), replace(about, order=digest("another"))]
    for number, other in enumerate(theirs):
        (tmp_path / f"{number}.cfoil").touch()
        opened.cases.note(other.order, FileKind.RUN, tmp_path / f"{number}.cfoil", about=other)
    opened.commands["home"].trigger()
    click_in_box(opened, "unsigned-question", "Close without signing")
    qtbot.waitUntil(lambda: len(rows(opened)) == 2)
    assert {row.state.text() for row in rows(opened)} == {"recorded, not replayed here"}
    assert {row.found.next for row in rows(opened)} == {NextStep.REPLAY}


def test_a_stopped_replay_is_resumed_from_the_desk_as_it_was(
    window_of: MakeWindow, settings: Settings, bundle: Path, qtbot: QtBot
) -> None:
    engine = FakeEngine()
    window = window_of(engine)
    window.session.device = "cuda:0"
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    stop_after(window, engine, 12, qtbot)
    at_home(window, qtbot)
    row = only(window)
    assert (row.state.text(), row.button.text()) == ("stopped", "Resume")
    assert "honest.cfoil stopped after step 10 of 60" in row.sentence.text()
    qtbot.waitUntil(lambda: bool(window.history.pasts) and not window.session.busy)  # the result lies on the disk
    window.close()
    # Another day, with another device chosen.
    again = FakeEngine(progress=engine.progress)
    second = window_of(again)
    assert second.session.device == "cpu"
    qtbot.waitUntil(lambda: only(second).button.text() == "Resume")  # the kept results are read in the worker
    qtbot.mouseClick(only(second).button, LEFT)
    qtbot.waitUntil(reached(second, Phase.CONCLUDED))
    (plan,) = again.plans
    assert (plan.resume, plan.device) == (True, "cuda:0")
    assert second.header.outcome.text() == "VERIFIED"
    second.commands["home"].trigger()
    click_in_box(second, "unsigned-question", "Close without signing")
    qtbot.waitUntil(lambda: second.stack.currentWidget() is second.home)
    qtbot.waitUntil(lambda: only(second).state.text() == "VERIFIED, not signed")


def test_a_question_that_is_answered_with_no_resumes_nothing_later(
    window_of: MakeWindow, bundle: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    engine = FakeEngine()
    window = window_of(engine)
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    stop_after(window, engine, 12, qtbot)
    kept = dict(engine.progress)
    other = tmp_path / "second.cfoil"
    other.touch()
    window.open_bundle(other)
    qtbot.waitUntil(reached(window, Phase.READY))
    engine.halt = 13
    window.commands["replay"].trigger()
    qtbot.waitUntil(lambda: window.session.steps.done == 12)
    at_home(window, qtbot)
    (row,) = [row for row in rows(window) if row.found.next is NextStep.SHOW_REPLAY]
    (file,) = [file for file in row.case.files if file.file == bundle]
    assert file.replay is not None
    resume = Standing(CaseState.STOPPED, NextStep.RESUME, file, replay=file.replay)
    window.home.list.wanted.emit(NextStep.RESUME, resume)
    click_in_box(window, "stop-question", "Keep replaying")
    engine.gate.set()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    engine.progress |= kept  # the engine knows runs apart, and this one does not
    window.open_bundle(bundle)
    click_in_box(window, "unsigned-question", "Open without signing")
    qtbot.waitUntil(reached(window, Phase.READY))
    qtbot.waitUntil(lambda: window.session.kept is not None)
    assert [plan.resume for plan in engine.plans] == [False, False], "the run is open, and nobody asked to replay it"


def test_where_nothing_is_kept_that_is_said_and_the_run_waits_no_more(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot
) -> None:
    engine = FakeEngine()
    window = window_of(engine)
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    stop_after(window, engine, 12, qtbot)
    at_home(window, qtbot)
    engine.progress.clear()
    qtbot.mouseClick(only(window).button, LEFT)
    qtbot.waitUntil(lambda: "Nothing is kept" in window.statusBar().currentMessage())
    assert window.session.phase is Phase.READY
    assert len(engine.plans) == 1
    at_home(window, qtbot)
    assert only(window).state.text() == "recorded, not replayed here"


def test_a_replay_that_ended_with_its_computer_can_be_resumed(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot
) -> None:
    engine = FakeEngine(halt=13)
    window = window_of(engine)
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    qtbot.waitUntil(lambda: window.session.steps.done == 12)
    other = window_of(FakeEngine())  # what a window sees that is started after a crash
    assert only(other).button.text() == "Resume"
    assert "did not come to its end" in only(other).sentence.text()


def test_home_during_a_replay_lets_it_go_on(opened: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.halt = 13
    opened.commands["replay"].trigger()
    qtbot.waitUntil(lambda: opened.session.steps.done == 12)
    at_home(opened, qtbot)
    assert no_box(opened)
    row = only(opened)
    assert (row.state.text(), row.button.text()) == ("being replayed", "Show the replay")
    qtbot.mouseClick(row.button, LEFT)
    qtbot.waitUntil(lambda: opened.stack.currentWidget() is opened.desk)
    assert opened.session.phase is Phase.REPLAYING
    at_home(opened, qtbot)
    engine.gate.set()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED))
    qtbot.waitUntil(lambda: only(opened).state.text() == "VERIFIED, not signed")
    assert opened.stack.currentWidget() is opened.home
    qtbot.mouseClick(only(opened).button, LEFT)
    qtbot.waitUntil(lambda: opened.findChild(SigningDialog) is not None)
    assert opened.stack.currentWidget() is opened.desk


# A file that moved


def lose(window: MainWindow, bundle: Path, place: Path, qtbot: QtBot) -> FindDialog:
    at_home(window, qtbot)
    place.parent.mkdir(parents=True, exist_ok=True)
    bundle.rename(place)
    window.cases.refresh()
    window.home._draw()
    row = only(window)
    assert (row.state.text(), row.button.text()) == ("recorded, not replayed here, file moved", "Find it\u2026")
    assert "file moved; find it" in row.sentence.text()
    qtbot.mouseClick(row.button, LEFT)
    dialog = shown_dialog(window, FindDialog)
    assert isinstance(dialog, FindDialog)
    return dialog


def test_a_file_that_moved_is_found_in_a_folder_by_its_digest(
    opened: MainWindow, bundle: Path, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "archive" / "2026" / "renamed.cfoil"
    (tmp_path / "archive").mkdir()
    for name in ("honest.txt", "other.cfoil"):  # of its name, and of another order
        (tmp_path / "archive" / name).touch()
    dialog = lose(opened, bundle, place, qtbot)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_args: str(tmp_path / "archive"))
    qtbot.mouseClick(dialog.choose, LEFT)
    qtbot.waitUntil(lambda: not opened.findChildren(FindDialog))
    row = only(opened)
    assert (row.state.text(), row.found.file.file) == ("recorded, not replayed here", place)
    assert opened.cases.recent == (place,)


def test_a_file_that_is_another_one_is_not_taken(
    opened: MainWindow, bundle: Path, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "away" / "run.cfoil"
    dialog = lose(opened, bundle, place, qtbot)
    other = tmp_path / "other.cfoil"
    other.touch()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_args: (str(other), ""))
    qtbot.mouseClick(dialog.start, LEFT)
    qtbot.waitUntil(lambda: "another file" in dialog.sentence.text())
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_args: str(empty))
    qtbot.mouseClick(dialog.choose, LEFT)
    qtbot.waitUntil(lambda: "It is not in" in dialog.sentence.text())
    assert only(opened).found.file.file == bundle
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_args: (str(place), ""))
    qtbot.mouseClick(dialog.start, LEFT)
    qtbot.waitUntil(lambda: only(opened).found.file.file == place)


def test_a_folder_that_is_dropped_is_looked_through(
    opened: MainWindow, bundle: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    place = tmp_path / "archive" / "renamed.cfoil"
    dialog = lose(opened, bundle, place, qtbot)
    for data, taken in ((QMimeData(), False), (QMimeData(), True)):
        if taken:
            data.setUrls([QUrl.fromLocalFile(str(place.parent))])
        else:
            data.setText("no file")
        what = (Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier)
        enters = QDragEnterEvent(QPoint(5, 5), *what)
        dialog.dragEnterEvent(enters)
        assert enters.isAccepted() is taken
        dialog.dropEvent(QDropEvent(QPointF(5, 5), *what))
        assert dialog.search.working is taken
    qtbot.waitUntil(lambda: not opened.findChildren(FindDialog))
    assert only(opened).found.file.file == place


def test_a_search_shows_how_far_it_is_and_can_be_stopped(
    opened: MainWindow, engine: FakeEngine, bundle: Path, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "many"
    dialog = lose(opened, bundle, folder / "z.cfoil", qtbot)
    for number in range(30):
        (folder / f"other{number}.cfoil").touch()
    engine.gate.clear()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_args: str(folder))
    qtbot.mouseClick(dialog.choose, LEFT)
    qtbot.waitUntil(lambda: dialog.progress.maximum() == 1000)
    assert dialog.progress.isVisible()
    qtbot.mouseClick(dialog.stop, LEFT)
    assert not dialog.search.working
    qtbot.waitUntil(lambda: not opened.session.busy)
    dialog.reject()
    assert only(opened).found.file.file == bundle


# The desk


def test_many_cases_are_found_by_typing(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    for number in range(FILTERED_FROM - 1):
        window.cases.note(digest(str(number)), FileKind.RUN, tmp_path / f"{number}.cfoil", title=f"Job {number}")
    qtbot.waitUntil(lambda: len(rows(window)) == FILTERED_FROM - 1)
    assert not window.home.list.filter.isVisible()
    for number in range(FILTERED_FROM - 1, MOST_SHOWN + 5):
        window.cases.note(digest(str(number)), FileKind.RUN, tmp_path / f"{number}.cfoil", title=f"Job {number}")
    assert window.home.list.filter.isVisible()
    assert len(rows(window)) == MOST_SHOWN
    assert "5 more cases" in window.home.list.more.text()
    qtbot.keyClicks(window.home.list.filter, "job 3")
    assert only(window).title.text() == "Job 3"
    qtbot.keyClicks(window.home.list.filter, "x")
    assert (rows(window), window.home.list.more.text()) == ([], "No case has this in it.")


def test_a_case_is_taken_off_the_desk_and_its_files_stay(opened: MainWindow, bundle: Path, qtbot: QtBot) -> None:
    at_home(opened, qtbot)
    only(opened).removed.emit()
    assert rows(opened) == []
    assert opened.home.empty.isVisible()
    assert bundle.is_file()


def test_the_files_of_a_case_stay_unfolded_and_are_opened(opened: MainWindow, bundle: Path, qtbot: QtBot) -> None:
    at_home(opened, qtbot)
    only(opened).files.button.click()
    opened.cases.name_parties(digest("order"), None, "2026-117", "", "")
    row = only(opened)
    assert row.title.text() == "2026-117 \u2013 Digits, small residual network"
    qtbot.waitUntil(row.files.inside.isVisible)
    (line,) = opened.home.recent_lines
    assert str(bundle.parent) in line.name.toolTip()
    qtbot.mouseClick(line.name, LEFT)
    qtbot.waitUntil(reached(opened, Phase.READY))


def test_texts_of_strangers_are_plain(window: MainWindow, tmp_path: Path) -> None:
    window.cases.note(digest("x"), FileKind.RUN, tmp_path / "<b>a\u202eb.cfoil", title="<b>bold</b>\u202eevil\x00")
    row = only(window)
    assert "\u202e" not in row.title.text() + row.sentence.text()
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in (row.title, row.state, row.sentence))


def test_a_damaged_list_is_said_on_the_desk(window_of: MakeWindow, tmp_path: Path) -> None:
    (tmp_path / "cases.json").write_text("{")
    window = window_of(FakeEngine())
    assert window.home.notice.isVisible()
    assert "cases.damaged-1.json" in window.home.notice.text()


def test_a_list_that_cannot_be_written_is_told_of_once(
    window_of: MakeWindow, tmp_path: Path, bundle: Path, qtbot: QtBot
) -> None:
    (tmp_path / "cases.json").mkdir()
    window = window_of(FakeEngine())
    for _ in range(2):
        window.open_bundle(bundle)
        qtbot.waitUntil(reached(window, Phase.READY))
        window.session.leave()
    boxes = [box for box in window.findChildren(QMessageBox, "failure") if box.isVisible()]
    assert len(boxes) == 1
    assert "cannot be read" in boxes[0].text()


def test_a_capsule_and_weights_belong_to_the_case_of_their_order(
    opened: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    capsule, weights = tmp_path / "x.capsule.cfoil", tmp_path / "model.safetensors"
    capsule.touch()
    weights.touch()
    opened.open_files([weights])
    qtbot.waitUntil(lambda: len(opened.cases.cases[0].files) == 2)
    opened.open_files([capsule])
    qtbot.waitUntil(lambda: len(opened.cases.cases[0].files) == 3)
    (case,) = opened.cases.cases
    assert {file.kind: file.outcome for file in case.files} == {
        FileKind.RUN: "",
        FileKind.WEIGHTS: "INCONCLUSIVE",
        FileKind.CAPSULE: "",
    }


def test_a_verdict_that_was_read_lies_in_its_case_with_what_it_says(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    verdict = tmp_path / "theirs.verdict.json"
    verdict.write_text("{}")
    window.open_files([verdict])
    qtbot.waitUntil(lambda: window.verdicts.reading is not None and bool(window.verdicts.reading.key_ids))
    assert window.cases.cases == (), "its signature was not checked: no key of an auditor is known"
    window.key_book.trust(AUDITOR, Role.AUDITOR, "Ada", "", "2026-11-22")
    qtbot.waitUntil(lambda: bool(window.cases.cases))
    row = only(window)
    assert (row.state.text(), row.button.text()) == ("VERIFIED", "Open")
    assert row.property("tone") == "info", "what somebody else signed is quoted, and nothing is verified by it here"
    assert "So says theirs.verdict.json" in row.sentence.text()


# What was asked for beside it


def test_case_number_client_and_trainer_are_there_at_the_next_signing(
    opened: MainWindow, bundle: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    replay(opened, qtbot)
    for number in (1, 2):
        opened.commands["verdict"].trigger()
        dialog = shown_dialog(opened, SigningDialog)
        assert isinstance(dialog, SigningDialog)
        said = (dialog.case.number, dialog.case.client, dialog.case.trainer)
        if number == 2:
            assert [line.text() for line in said] == ["2026-117", "Bank", "Provider A"]
            dialog.reject()
            break
        for line, text in zip(said, ("2026-117", "Bank", "Provider A"), strict=True):
            line.setText(text)
        dialog.create_new.setChecked(True)
        dialog.key.setText(str(tmp_path / "keys" / "auditor.pem"))
        qtbot.waitUntil(dialog.ok.isEnabled)
        with qtbot.waitSignal(opened.session.exports.finished):
            qtbot.mouseClick(dialog.ok, LEFT)
    at_home(opened, qtbot)
    qtbot.waitUntil(lambda: only(opened).state.text() == "VERIFIED")
    assert only(opened).title.text().startswith("2026-117")
    kinds = [file.kind for file in only(opened).case.files]
    assert sorted(kinds, key=str) == [FileKind.RUN, FileKind.VERDICT]


def test_each_run_of_a_case_has_its_own_trainer(tmp_path: Path) -> None:
    cases, runs = Cases(tmp_path / "cases.json"), [tmp_path / f"{name}.cfoil" for name in "ab"]
    about = [Subject(digest("order"), digest("root"), digest(name).hex) for name in "ab"]
    for run, of, maker in zip(runs, about, ("Provider A", ""), strict=True):
        run.touch()
        cases.note(digest("order"), FileKind.RUN, run, about=of, trainer=maker)
    cases.name_parties(digest("order"), about[1], "17", "Bank", "Provider B")
    assert [cases.parties(digest("order"), of) for of in about] == [
        ("17", "Bank", "Provider A"), ("17", "Bank", "Provider B"),
    ]  # fmt: skip
    cases.note(digest("order"), FileKind.RUN, runs[0], about=about[0])
    assert cases.parties(digest("order"), about[0])[2] == "Provider A"
    assert cases.parties(digest("order"), Subject(digest("order"), digest("root"), digest("c").hex))[2] == ""


def test_a_run_that_was_judged_is_shown_with_what_was_found(opened: MainWindow, bundle: Path, qtbot: QtBot) -> None:
    replay(opened, qtbot)
    qtbot.waitUntil(lambda: bool(opened.history.pasts))
    opened.commands["home"].trigger()
    click_in_box(opened, "unsigned-question", "Close without signing")
    qtbot.waitUntil(lambda: opened.stack.currentWidget() is opened.home)
    (line,) = opened.home.recent_lines
    qtbot.mouseClick(line.name, LEFT)
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED))
    assert opened.header.outcome.text() == "VERIFIED"
    assert opened.commands["replay"].isEnabled(), "and can be replayed again"


def test_weights_of_a_disputed_run_are_said_to_be_those_of_a_disputed_run(
    window_of: MakeWindow, bundle: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    window = window_of(FakeEngine(disputed=37))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    replay(window, qtbot)
    weights = tmp_path / "model.safetensors"
    weights.touch()
    window.open_files([weights])
    qtbot.waitUntil(lambda: bool(window.findChildren(DeliveryDialog)))
    dialog = window.findChildren(DeliveryDialog)[-1]
    qtbot.waitUntil(lambda: dialog.delivery.found is not None)
    assert dialog.headline.text() == "INCONCLUSIVE: the weights of a disputed run"
    assert "disputed" in dialog.notice.text()
    assert dialog.notice.property("tone") == "bad"
    assert "audited" not in dialog.sentence.text() + dialog.notice.text()


def test_weights_are_opened_with_the_run_that_they_should_come_from(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights, run = tmp_path / "model.safetensors", tmp_path / "run.cfoil"
    for path in (weights, run):
        path.touch()
    chosen = [str(weights), str(run)]
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_args: (chosen, ""))
    window.commands["open"].trigger()
    qtbot.waitUntil(lambda: bool(window.findChildren(DeliveryDialog)))
    dialog = window.findChildren(DeliveryDialog)[-1]
    assert (dialog.delivery.weights, dialog.delivery.run) == (weights, run)
    qtbot.waitUntil(lambda: {file.file for case in window.cases.cases for file in case.files} == {weights, run})
