"""What surrounds the views: the log, the sample, the layout, the preferences, the help, and unexpected errors."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt, QUrl, qDebug, qInstallMessageHandler, qWarning
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.exceptions import capture_exceptions
from pytestqt.qtbot import QtBot

from counterfoil import CounterfoilError, LocalWorkers, Outcome, SegmentRequest
from counterfoil_app.engine.sample import SampleKind
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks.theme import DARK
from counterfoil_app.model.journal import Journal, Kind
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.settings import Settings, ThemeChoice
from counterfoil_app.shell.crash import ExceptionDialog, ExceptionGuard, failure_of
from counterfoil_app.shell.help import AboutDialog, HelpWindow, ShortcutSheet, versions_text
from counterfoil_app.shell.preferences import PreferencesDialog
from counterfoil_app.shell.shell import FIRST_HELP_PAGE, HELP_PAGES
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.log import LogView
from support.fake_engine import FakeEngine
from support.waiting import reached

MakeWindow = Callable[[FakeEngine], MainWindow]
LEFT = Qt.MouseButton.LeftButton


def concluded(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(reached(window, Phase.CONCLUDED, Phase.FAILED), timeout=20_000)


# The journal and its view


def clock() -> Callable[[], datetime]:
    start = datetime(2026, 11, 21, 12, 0, tzinfo=timezone(timedelta(hours=1)))
    ticks = iter(range(10**9))
    return lambda: start + timedelta(seconds=next(ticks))


def test_journal_keeps_the_last_entries() -> None:
    journal = Journal(capacity=3, clock=clock())
    for number in range(10):
        journal.note(Kind.NOTE, f"line {number}", "more\nlines" if number == 9 else "")
    assert [entry.message for entry in journal] == ["line 7", "line 8", "line 9"]
    assert journal.text.splitlines()[0] == "2026-11-21T12:00:07+01:00  note     line 7"
    assert journal.text.splitlines()[-2:] == ["    more", "    lines"]
    journal.clear()
    assert len(journal) == 0


def test_details_are_bounded() -> None:
    journal = Journal()
    journal.note(Kind.ERROR, "large", "x" * 10**6)
    assert len(journal[0].detail) == 20_000


def test_log_view_follows_a_full_journal(window: MainWindow, qtbot: QtBot, qtmodeltester: object) -> None:
    journal = Journal(capacity=50)
    view = LogView(journal, window.theme)
    qtbot.addWidget(view)
    qtmodeltester.check(view.model)  # type: ignore[attr-defined]
    for number in range(120):
        journal.note(Kind.ERROR if number % 40 == 0 else Kind.NOTE, f"line {number}")
    assert view.model.rowCount() == 50
    assert view.model.index(0, 2).data() == "line 70"
    assert view.model.index(49, 2).data() == "line 119"
    assert view.counts.text() == "50 lines, errors: 1"
    view.table.selectRow(3)
    view.copy_lines.trigger()
    assert QGuiApplication.clipboard().text().endswith("line 73")
    qtbot.mouseClick(view.copy_button, LEFT)
    assert len(QGuiApplication.clipboard().text().splitlines()) == 50
    qtbot.mouseClick(view.clear_button, LEFT)
    assert view.model.rowCount() == 0
    assert not view.copy_button.isEnabled()


def test_log_stays_where_the_user_reads(window: MainWindow, qtbot: QtBot) -> None:
    journal = Journal()
    view = LogView(journal, window.theme)
    qtbot.addWidget(view)
    view.resize(600, 200)
    view.show()
    for number in range(100):
        journal.note(Kind.NOTE, f"line {number}")
    bar = view.table.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.value() == bar.maximum() > 0)
    bar.setValue(10)
    journal.note(Kind.NOTE, "one more")
    QApplication.processEvents()
    assert bar.value() == 10


def test_log_that_grew_while_it_was_hidden_is_at_its_end(window: MainWindow, qtbot: QtBot) -> None:
    journal = Journal()
    view = LogView(journal, window.theme)
    qtbot.addWidget(view)
    view.resize(600, 200)
    for number in range(100):
        journal.note(Kind.NOTE, f"line {number}")
    view.show()
    bar = view.table.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.value() == bar.maximum() > 0)
    view.hide()
    for number in range(50):
        journal.note(Kind.NOTE, f"hidden {number}")
    view.show()
    qtbot.waitUntil(lambda: bar.value() == bar.maximum() > 100)


def messages(window: MainWindow) -> list[str]:
    return [entry.message for entry in window.shell.journal]


def test_the_whole_job_is_written_down(window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path) -> None:
    window = window_of(FakeEngine(disputed=37))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    window.commands["pause"].trigger()
    window.commands["go_on"].trigger()
    concluded(window, qtbot)
    with qtbot.waitSignal(window.session.exports.finished):
        window.session.exports.table(window.session.steps.snapshot(), tmp_path / "steps.csv")
    lines = messages(window)
    order = [
        f"Opening {bundle}.",
        "honest.cfoil is open.",
        "Replaying honest.cfoil on cpu.",
        "The replay goes on.",
        "Step 37 comes out different.",
        f"Written: {tmp_path / 'steps.csv'}",
    ]
    assert [line for line in lines if line in order] == order
    outcome = next(line for line in lines if line.startswith("DISPUTED: ") and "Step 37 is not" in line)
    checks = [line for line in lines if line.startswith("Check 8.")]
    assert len(checks) == 1
    assert lines.index(checks[0]) < lines.index(outcome)
    kinds = {entry.message: entry.kind for entry in window.shell.journal}
    assert kinds[checks[0]] is Kind.ERROR
    assert kinds[outcome] is Kind.WARNING


def test_refused_file_and_failed_replay_are_written_down(
    window: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot
) -> None:
    engine.inspect_errors[bundle.name] = CounterfoilError("It is no bundle.", remedy="Ask again.", detail="byte 3")
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.UNREADABLE))
    last = window.shell.journal[len(window.shell.journal) - 1]
    assert (last.kind, last.message, last.detail) == (Kind.ERROR, "It is no bundle. Ask again.", "byte 3")
    engine.inspect_errors.clear()
    engine.audit_error = CounterfoilError("The device ran out of memory.")
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    concluded(window, qtbot)
    assert messages(window)[-1] == "The device ran out of memory."


# The sample


@pytest.mark.parametrize(("kind", "outcome"), [("honest", Outcome.VERIFIED), ("tampered", Outcome.DISPUTED)])
def test_sample_is_recorded_opened_and_replayed(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot, kind: str, outcome: Outcome
) -> None:
    button = window.home.samples[0 if kind == "honest" else 1]
    assert button.isVisible()
    engine.gate.clear()
    qtbot.mouseClick(button, LEFT)
    qtbot.waitUntil(lambda: "step 1 of 3" in window.home.sample_progress.text())
    assert window.home.cancel_sample.isVisible()
    assert not window.commands["honest_sample"].isEnabled()
    engine.gate.set()
    qtbot.waitUntil(reached(window, Phase.READY))
    assert window.session.path is not None
    assert window.session.path.name == f"sample-{kind}.cfoil"
    assert window.session.order is not None, "the sample is compared with its order"
    assert engine.threads == {"counterfoil-engine"}
    assert window.header.primary.shown is window.commands["replay"]
    window.commands["replay"].trigger()
    concluded(window, qtbot)
    assert window.session.report is not None
    assert window.session.report.outcome is outcome


def test_sample_is_made_once(window: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    made: list[int] = []
    original = engine.make_sample
    engine.make_sample = lambda *arguments: (made.append(1), original(*arguments))[1]  # type: ignore[method-assign]
    for _ in range(2):
        window.commands["honest_sample"].trigger()
        qtbot.waitUntil(reached(window, Phase.READY))
        window.session.phase = Phase.EMPTY
    assert made == [1]
    window.shell.samples.make(SampleKind.TAMPERED)
    qtbot.waitUntil(lambda: len(made) == 2)


def test_cancelled_sample_is_forgotten(window: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.gate.clear()
    window.commands["honest_sample"].trigger()
    qtbot.waitUntil(lambda: window.home.cancel_sample.isVisible())
    qtbot.mouseClick(window.home.cancel_sample, LEFT)
    qtbot.waitUntil(lambda: not window.session.busy)
    assert window.session.phase is Phase.EMPTY
    assert not window.home.cancel_sample.isVisible()
    assert window.commands["honest_sample"].isEnabled()
    assert window.findChild(QWidget, "failure") is None, "who cancels needs no error"


def test_late_sample_does_not_replace_what_was_opened(
    window: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot
) -> None:
    engine.gate.clear()
    window.commands["tampered_sample"].trigger()
    qtbot.waitUntil(lambda: window.home.cancel_sample.isVisible())
    window.open_bundle(bundle)
    engine.gate.set()
    qtbot.waitUntil(reached(window, Phase.READY))
    qtbot.waitUntil(lambda: not window.session.busy)
    assert window.session.path == bundle


def test_failed_sample_is_told(window: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    def fail(*_arguments: object) -> None:
        raise CounterfoilError("There is no room.", remedy="Make some.")

    engine.make_sample = fail  # type: ignore[method-assign, assignment]
    with qtbot.waitSignal(window.session.failed):
        window.commands["honest_sample"].trigger()
    box = window.findChild(QWidget, "failure")
    assert box is not None
    box.close()
    assert window.commands["honest_sample"].isEnabled()
    assert messages(window)[-1] == "There is no room. Make some."


def test_a_result_that_is_shown_again_is_no_news(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window = window_of(FakeEngine(disputed=37))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    concluded(window, qtbot)
    finished = window.session.keep()
    assert finished is not None
    before = len(messages(window))
    window.session.show(finished)
    new = messages(window)[before:]
    assert [
        line for line in new if line.startswith("Shown again: honest.cfoil, DISPUTED. The replay ended at")
    ] == new, "its checks were made then, and have no time of now"


def test_the_segments_that_were_drawn_are_written_down(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window = window_of(FakeEngine(spans=((3, 3), (7, 8))))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.session.use_segments(SegmentRequest(count=3))
    window.commands["replay"].trigger()
    concluded(window, qtbot)
    assert "Segments that are replayed: 3 of 12, namely 3, 7\u20138." in messages(window)


# The layout


def test_a_layout_is_remembered_for_screens_of_its_class(opened: MainWindow, settings: Settings) -> None:
    desk = opened.desk
    opened.resize(1366, 768)
    behind = desk.screen_class
    settings.keep_layout(behind, desk.save())
    opened.resize(2400, 1100)
    assert desk.screen_class != behind
    assert settings.layout(desk.screen_class).isEmpty(), "what fits a small screen does not fit this one"
    assert not settings.layout(behind).isEmpty()


def test_another_window_says_that_a_run_is_being_replayed(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    first, second = window_of(FakeEngine()), window_of(FakeEngine())
    for window in (first, second):
        window.open_bundle(bundle)
        qtbot.waitUntil(reached(window, Phase.READY))
    said = "Another window replays this run at this moment."
    second.header.refresh()
    assert said not in second.header.sentence.text()
    first.commands["replay"].trigger()
    first.commands["pause"].trigger()
    second.header.refresh()
    assert said in second.header.sentence.text()
    assert said not in first.header.sentence.text()
    first.commands["go_on"].trigger()
    concluded(first, qtbot)
    second.header.refresh()
    assert said not in second.header.sentence.text()


def visible(window: MainWindow) -> set[str]:
    return {name for name, dock in window.docks.items() if dock.toggleViewAction().isChecked()}


def test_layout_changes_are_undone_and_redone(opened: MainWindow, qtbot: QtBot) -> None:
    shell, docks = opened.shell, opened.docks
    everything = visible(opened)
    assert everything == set(docks)
    assert not opened.commands["undo_layout"].isEnabled()
    docks["divergence"].close()
    qtbot.waitUntil(opened.commands["undo_layout"].isEnabled)
    docks["steps"].setFloating(True)
    qtbot.waitUntil(lambda: shell.layouts is not None and shell.layouts.changes == 2)
    opened.commands["undo_layout"].trigger()
    assert not docks["steps"].isFloating()
    assert visible(opened) == everything - {"divergence"}
    opened.commands["undo_layout"].trigger()
    assert visible(opened) == everything
    assert not opened.commands["undo_layout"].isEnabled()
    opened.commands["redo_layout"].trigger()
    assert visible(opened) == everything - {"divergence"}
    opened.commands["redo_layout"].trigger()
    assert docks["steps"].isFloating()
    assert not opened.commands["redo_layout"].isEnabled()
    opened.commands["layout"].trigger()
    qtbot.waitUntil(lambda: shell.layouts is not None and shell.layouts.changes == 3)
    assert visible(opened) == everything
    opened.commands["undo_layout"].trigger()
    assert visible(opened) == everything - {"divergence"}, "putting the layout back can be undone like any change"


def test_bringing_a_tab_to_the_front_is_no_change(opened: MainWindow, qtbot: QtBot) -> None:
    for name in ("merkle", "dispute", "log", "steps"):
        opened.docks[name].raise_()
        QApplication.processEvents()
    assert not opened.commands["undo_layout"].isEnabled()


# Preferences


def test_preferences_are_stored_and_used(
    opened: MainWindow, engine: FakeEngine, settings: Settings, qtbot: QtBot, tmp_path: Path
) -> None:
    with qtbot.waitSignal(opened.session.devices_changed):
        opened.session.look_for_devices()
    key = tmp_path / "auditor.pem"
    key.touch()
    opened.commands["preferences"].trigger()
    dialog = opened.findChild(PreferencesDialog)
    assert dialog is not None
    dialog.theme.setCurrentIndex(dialog.theme.findData(ThemeChoice.DARK))
    dialog.language.setCurrentIndex(dialog.language.findData("de"))
    dialog.text_size.setCurrentIndex(dialog.text_size.findData(150))
    dialog.device.setCurrentIndex(dialog.device.findData("cuda:0"))
    dialog.threads.setValue(3)
    assert dialog.workers.value() == 1
    dialog.workers.setValue(4)
    dialog.notify.setChecked(True)
    dialog.key.setText(str(tmp_path / "missing.pem"))
    assert not dialog.ok.isEnabled()
    assert "no such key" in dialog.hint.text()
    dialog.key.setText(str(key))
    dialog.folder.setText(str(tmp_path / "missing"))
    assert not dialog.ok.isEnabled()
    dialog.folder.setText(str(tmp_path))
    qtbot.mouseClick(dialog.ok, LEFT)
    assert opened.theme.tokens == DARK
    assert (settings.language, settings.text_percent, settings.threads) == ("de", 150, 3)
    assert (settings.notify, settings.stay_awake) == (True, False)
    assert (settings.key_file, settings.folder) == (key, tmp_path)
    assert opened.session.device == "cuda:0"
    assert opened.header.about.text().endswith(", cuda:0")
    opened.commands["replay"].trigger()
    concluded(opened, qtbot)
    assert (engine.plans[-1].device, engine.plans[-1].threads) == ("cuda:0", 3)
    assert engine.plans[-1].workers == LocalWorkers(4)


def test_cancelled_preferences_change_nothing(opened: MainWindow, settings: Settings, qtbot: QtBot) -> None:
    opened.commands["preferences"].trigger()
    dialog = opened.findChild(PreferencesDialog)
    assert dialog is not None
    dialog.theme.setCurrentIndex(dialog.theme.findData(ThemeChoice.DARK))
    dialog.threads.setValue(7)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert settings.theme is ThemeChoice.SYSTEM
    assert settings.threads is None


def test_junk_in_the_new_settings_falls_back(settings: Settings) -> None:
    for key, junk in (
        ("text_percent", "1000"),
        ("threads", "-3"),
        ("threads", "9999999"),
        ("threads", "\u0663"),
        ("workers", "0"),
    ):
        settings.store.setValue(key, junk)
    assert settings.text_percent == 100
    assert settings.threads is None
    assert settings.workers == 1
    settings.threads = 2
    assert settings.threads == 2
    settings.threads = None
    assert settings.threads is None


# Help, keys, versions


def test_f1_opens_the_page_of_the_view_that_has_the_keyboard(opened: MainWindow, qtbot: QtBot) -> None:
    assert set(HELP_PAGES) == {*opened.docks, opened.queue_dock.objectName()}
    opened.activateWindow()
    opened.docks["steps"].raise_()
    opened.steps.table.setFocus()
    qtbot.waitUntil(opened.steps.table.hasFocus)
    qtbot.keyClick(opened.steps.table, Qt.Key.Key_F1)
    window = opened.findChild(HelpWindow)
    assert window is not None
    qtbot.waitUntil(window.isVisible)
    names = [page.name for page in window.pages]
    assert set(HELP_PAGES.values()) | {FIRST_HELP_PAGE} <= set(names)
    assert names[window.list.currentRow()] == HELP_PAGES["steps"]
    assert "unjudged" in window.browser.toPlainText()
    opened.activateWindow()
    opened.queue_dock.show()
    opened.queue_view.table.setFocus()
    qtbot.waitUntil(opened.queue_view.table.hasFocus)
    qtbot.keyClick(opened.queue_view.table, Qt.Key.Key_F1)
    assert names[window.list.currentRow()] == HELP_PAGES["queue"]
    window.browser.anchorClicked.emit(QUrl("50-dispute.md"))
    assert window.browser.toPlainText().startswith("A dispute")
    window.search.setText("traceback")
    shown = [page.name for row, page in enumerate(window.pages) if not window.list.item(row).isHidden()]
    assert shown == ["70-trouble.md"]
    assert names[window.list.currentRow()] == "70-trouble.md"
    window.search.setText("no page says this")
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not window.isVisible()


def test_sheet_lists_every_shortcut_of_the_menus(opened: MainWindow) -> None:
    opened.commands["shortcuts"].trigger()
    sheet = opened.findChild(ShortcutSheet)
    assert sheet is not None
    listed = {line.keys for line in sheet.model.records}
    expected = {action.shortcut().toString() for action in opened.actions() if not action.shortcut().isEmpty()}
    assert {"F1", "F5", "Ctrl+1"} < listed | {"F1"}
    assert expected <= listed
    sheet.filter.setText("REPLAY")
    assert 1 <= len(sheet.model.records) < len(listed)
    assert any(line.keys == "F5" for line in sheet.model.records)
    sheet.reject()


def test_versions_can_be_copied(opened: MainWindow, qtbot: QtBot) -> None:
    opened.commands["about"].trigger()
    dialog = opened.findChild(AboutDialog)
    assert dialog is not None
    qtbot.mouseClick(dialog.copy, LEFT)
    copied = QGuiApplication.clipboard().text()
    assert copied == versions_text()
    for name in ("Counterfoil: ", "Python: ", "Qt: 6", "torch: ", "System: "):
        assert name in copied
    dialog.reject()


# Unexpected errors


def error() -> Failure:
    try:
        raise ValueError("three is no four")
    except ValueError as caught:
        return failure_of(caught)


def test_exception_is_shown_and_the_window_lives(opened: MainWindow, qtbot: QtBot) -> None:
    opened.shell.show_exception(error())
    dialog = opened.findChild(ExceptionDialog)
    assert dialog is not None
    assert dialog.sentence.text() == "ValueError: three is no four"
    assert "Traceback" in dialog.details.toPlainText()
    assert "torch: " in dialog.details.toPlainText()
    for _ in range(20):
        opened.shell.show_exception(error())
    assert len(opened.findChildren(ExceptionDialog)) == 1, "a fault in a paint event must not open a window per frame"
    assert "20 more" in dialog.sentence.text()
    assert dialog.details.toPlainText().count("three is no four") <= 21
    qtbot.mouseClick(dialog.copy, LEFT)
    assert "ValueError" in QGuiApplication.clipboard().text()
    dialog.reject()
    assert opened.isVisible()
    assert opened.shell.journal[len(opened.shell.journal) - 1].kind is Kind.ERROR
    opened.commands["replay"].trigger()
    concluded(opened, qtbot)
    assert opened.session.report is not None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # pytest hears of it too
def test_exceptions_of_slots_threads_and_qt_are_caught(qtbot: QtBot, capsys: pytest.CaptureFixture[str]) -> None:
    python, thread = sys.excepthook, threading.excepthook
    guard = ExceptionGuard()
    caught: list[Failure] = []
    said: list[str] = []
    guard.caught.connect(caught.append)
    guard.qt_complained.connect(said.append)
    with capture_exceptions():  # the test's own hook stays out of it
        guard.install()

        class Faulty(QLabel):
            def event(self, event: QEvent) -> bool:
                if event.type() == QEvent.Type.User:
                    raise RuntimeError("in an event handler")
                return super().event(event)

        label = Faulty()
        qtbot.addWidget(label)
        QApplication.postEvent(label, QEvent(QEvent.Type.User))
        qtbot.waitUntil(lambda: len(caught) == 1)
        worker = threading.Thread(target=lambda: 1 // 0)
        worker.start()
        worker.join()
        qtbot.waitUntil(lambda: len(caught) == 2)
        qWarning("something is odd")
        assert said == ["something is odd (default)"]
        qDebug("chatter")
        assert len(said) == 1
        guard.uninstall()
    assert (sys.excepthook, threading.excepthook) == (python, thread)
    assert {failure.sentence for failure in caught} == {
        "RuntimeError: in an event handler",
        "ZeroDivisionError: integer division or modulo by zero",
    }
    assert not any(failure.expected for failure in caught)
    printed = capsys.readouterr().err
    assert "in an event handler" in printed, "the terminal hears of it too"


def test_interrupting_from_the_keyboard_is_no_error(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, _error, _where: said.append(kind))
    guard = ExceptionGuard()
    caught: list[Failure] = []
    guard.caught.connect(caught.append)
    guard.install()
    try:
        sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
        assert caught == []
        sys.excepthook(RuntimeError, RuntimeError(), None)
        assert len(caught) == 1, "the hook is in place"
    finally:
        guard.uninstall()
    assert said == [KeyboardInterrupt, RuntimeError], "the terminal hears of both"


def test_qt_gets_its_handler_back() -> None:
    marker = lambda *_arguments: None  # noqa: E731 - compared by identity
    before = qInstallMessageHandler(marker)
    guard = ExceptionGuard()
    guard.install()
    guard.uninstall()
    assert qInstallMessageHandler(before) is marker
