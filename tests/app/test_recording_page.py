"""Recording and following from the window: what the page says, and what its buttons do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

import counterfoil
from counterfoil import LabelFlip, Outcome, Role
from counterfoil.training.recordingfolder import recording_folder
from counterfoil_app.engine.process import ProcessEngine
from counterfoil_app.engine.recordings import KnownFollow, RecordRequest
from counterfoil_app.model.case_file import FileKind
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.recordingcurves import GrowingCurve
from counterfoil_app.model.recordings import Doing, Recording
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.recording_forms import RecordForm, Wanted
from support.fake_engine import FakeEngine
from support.jobs import digits_order


@pytest.fixture
def key(tmp_path: Path) -> Path:
    counterfoil.generate_key(tmp_path / "trainer.pem", None)
    return tmp_path / "trainer.pem"


@pytest.fixture(autouse=True)
def stopped(window: MainWindow, engine: FakeEngine) -> Iterator[None]:
    yield
    engine.open_gates()
    window.recordings.shut_down()


def follow_of(folder: Path, **more: object) -> KnownFollow:
    run = folder / "run.cfoil"
    return KnownFollow(recording_folder(run), run, folder / "job.cfoil", **more)  # type: ignore[arg-type]


def recording_of(folder: Path, key: Path, passphrase: str | None = None) -> Recording:
    asked = RecordRequest(folder / "job.cfoil", folder / "run.cfoil", "", heads=folder / "heads.jsonl")
    return Recording(asked, key, passphrase)


def test_the_action_opens_one_page_that_says_what_can_be_done(window: MainWindow, qtbot: QtBot) -> None:
    action = window.commands["follow_recording"]
    assert action.shortcut().toString() == "Ctrl+Shift+N"
    action.trigger()
    page = window.recordings.page
    assert page is not None
    assert page.headline.text() == "Nothing goes on"
    assert page.record.isEnabled()
    assert page.follow.isEnabled()
    for button in (page.pause, page.stop, page.hand_over, page.stop_following, page.open_run):
        assert not button.isEnabled()
    page.close()
    action.trigger()
    assert window.recordings.page is page
    assert page.isVisible()


def test_a_recording_is_paused_resumed_stopped_and_gone_on_with(
    window: MainWindow, engine: FakeEngine, key: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    desk, engine.record_halt = window.recordings, 23
    page, recorder = desk.show(), desk.recorder
    desk._begin(Wanted(recording_of(tmp_path, key), None))
    qtbot.waitUntil(lambda: recorder.losses.last == 22)
    assert page.headline.text() == "Recording"
    assert page.figures.value("steps") == "22 of 60 steps"
    assert page.figures.value("written") == "878.9 KiB"
    assert page.figures.value("heads") == "2 published"
    assert not page.record.isEnabled()
    page.pause.click()
    assert recorder.doing is Doing.PAUSED
    assert (page.headline.text(), page.pause.text()) == ("Paused", "Res&ume")
    page.pause.click()
    assert recorder.doing is Doing.WORKING
    page.stop.click()
    qtbot.waitUntil(lambda: recorder.doing is Doing.STOPPED)
    assert page.headline.text() == "Stopped"
    assert recorder.failure is None
    engine.open_gates()
    page.pause.click()
    (form,) = page.findChildren(RecordForm)
    assert form.run.text() == str(tmp_path / "run.cfoil")
    assert not form.passphrase.text(), "a passphrase is not kept"
    engine.record_halt = None
    form.accept()
    qtbot.waitUntil(lambda: recorder.made is not None and not recorder.working)
    assert [request.resume for request in engine.recorded] == [True, True]
    assert page.headline.text() == "Recorded"
    assert page.hand_over.isEnabled()
    public = counterfoil.load_public_key(key.with_name("trainer.pub.pem")).public
    assert {request.public for request in engine.recorded} == {public}


def test_a_wrong_passphrase_is_said_before_anything_begins(
    window: MainWindow, engine: FakeEngine, tmp_path: Path, qtbot: QtBot
) -> None:
    counterfoil.generate_key(tmp_path / "locked.pem", "right")
    desk = window.recordings
    page = desk.show()
    desk._begin(Wanted(recording_of(tmp_path, tmp_path / "locked.pem", "wrong"), None))
    qtbot.waitUntil(lambda: desk.recorder.doing is Doing.FAILED)
    assert page.headline.text() == "Not recorded"
    assert "passphrase" in page.sentence.text()
    assert engine.recorded == []
    assert page.pause.text() == "Res&ume"


def test_a_run_that_was_recorded_is_handed_over(
    window: MainWindow, engine: FakeEngine, key: Path, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = window.recordings
    page = desk.show()
    desk._begin(Wanted(recording_of(tmp_path, key), None))
    qtbot.waitUntil(lambda: desk.recorder.made is not None and not desk.recorder.working)
    monkeypatch.setattr("counterfoil_app.shell.recordings.new_file", lambda *_given: tmp_path / "over")
    with qtbot.waitSignal(desk.handed_over) as told:
        page.hand_over.click()
    assert told.args == [tmp_path / "over"]
    public = counterfoil.load_public_key(key.with_name("trainer.pub.pem")).public
    assert engine.handed_over == [(tmp_path / "run.cfoil", tmp_path / "heads.jsonl", public, tmp_path / "over")]
    (tmp_path / "run.cfoil").touch()
    with qtbot.waitSignal(window.session.bundle_changed):
        page.open_run.click()
    assert (window.session.path, window.session.order) == (tmp_path / "run.cfoil", tmp_path / "job.cfoil")


def test_a_recording_is_followed_with_the_replay_beside_it(
    window: MainWindow, engine: FakeEngine, tmp_path: Path, qtbot: QtBot
) -> None:
    desk, engine.halt = window.recordings, 13
    page, follower = desk.show(), desk.follower
    desk._begin(Wanted(None, follow_of(tmp_path)))
    qtbot.waitUntil(lambda: follower.sealed.last == 12)
    assert page.headline.text() == "Following"
    assert page.figures.value("what") == "Digits, small residual network"
    assert page.figures.value("steps") == "12 of 60 steps"
    assert page.replay_figures.value("steps") == "10 of 60 steps"
    assert page.replay_figures.value("behind").startswith("2 steps")
    assert page.replay_figures.value("judged") == "all 10 steps match"
    assert page.replay_figures.value("now") == "Waiting until step 11 is recorded."
    assert list(page.plot.trainer.line.getData()[1]) == list(follower.sealed.values)
    engine.halt = None
    engine.open_gates()
    qtbot.waitUntil(lambda: not follower.working)
    assert page.headline.text() == "VERIFIED"
    assert page.replay_figures.value("judged") == "all 60 steps match"
    (noted,) = window.cases.cases[0].files
    assert (noted.kind, noted.file, noted.about) == (
        FileKind.RUN,
        tmp_path / "run.cfoil",
        follower.run.finished.report.about,
    )
    with qtbot.waitSignal(window.session.concluded):
        page.open_run.click()
    assert window.session.phase is Phase.CONCLUDED
    assert window.session.report is not None
    assert window.session.report.outcome is Outcome.VERIFIED
    assert window.session.steps.done == 60
    assert window.session.order == tmp_path / "job.cfoil"
    assert window.session.unsigned, "it can be signed as any other"


def test_it_stops_at_the_first_lie_and_says_which_step(
    window: MainWindow, engine: FakeEngine, tmp_path: Path, qtbot: QtBot
) -> None:
    desk, engine.disputed = window.recordings, 37
    page, follower = desk.show(), desk.follower
    desk._begin(Wanted(None, follow_of(tmp_path)))
    qtbot.waitUntil(lambda: not follower.working)
    assert (follower.sealed.last, follower.replayed.last, follower.mismatch) == (40, 37, 37)
    assert page.headline.text() == "DISPUTED"
    assert "Step 37 is not what was ordered" in page.sentence.text()
    assert page.replay_figures.value("judged") == "step 37 came out otherwise"
    assert page.plot.lie.isVisible()
    assert page.plot.lie.value() == 37
    assert not page.open_run.isEnabled(), "no run is there"


def test_a_recording_is_only_watched_where_that_is_wanted(
    window: MainWindow, engine: FakeEngine, tmp_path: Path, qtbot: QtBot
) -> None:
    desk, engine.halt = window.recordings, 13
    page = desk.show()
    form = desk.ask_follow()
    form.folder.setText(str(recording_folder(tmp_path / "run.cfoil")))
    assert not form.ok.isEnabled()
    form.order.setText(str(tmp_path / "job.cfoil"))
    form.replays.setChecked(False)
    assert form.ok.isEnabled()
    form.accept()
    qtbot.waitUntil(lambda: desk.follower.sealed.last == 12)
    assert not engine.followed[0].replays
    assert page.headline.text() == "Watching"
    assert page.replay_figures.value("judged") == "\u2013"
    engine.halt = None
    engine.open_gates()
    qtbot.waitUntil(lambda: not desk.follower.working)
    assert page.headline.text() == "Finished"
    assert engine.plans == [], "nothing was audited"


def test_the_beginning_is_waited_for_and_can_be_given_up(
    window: MainWindow, engine: FakeEngine, tmp_path: Path, qtbot: QtBot
) -> None:
    engine.recording_begun.clear()
    desk = window.recordings
    page = desk.show()
    desk._begin(Wanted(None, follow_of(tmp_path)))
    qtbot.waitUntil(lambda: page.replay_figures.value("now") == "Waiting until the recording begins.")
    page.stop_following.click()
    qtbot.waitUntil(lambda: desk.follower.doing is Doing.STOPPED)
    assert page.headline.text() == "Stopped"
    assert engine.followed == []


def test_a_known_trainer_is_compared_with(window: MainWindow, engine: FakeEngine, tmp_path: Path, qtbot: QtBot) -> None:
    window.key_book.trust("ab" * 32, Role.TRAINER, "Ada", "a file", "2026-11-20")
    form = window.recordings.ask_follow()
    form.folder.setText(str(tmp_path / "run.cfoil"))
    form.order.setText(str(tmp_path / "job.cfoil"))
    form.trainer.setCurrentIndex(form.trainer.findText("Ada"))
    request = form.request().follow
    assert request is not None
    assert (request.trainer, request.folder) == ("ab" * 32, recording_folder(tmp_path / "run.cfoil"))
    form.reject()


def test_files_of_a_recording_must_differ(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    form = window.recordings.ask_record(again=False)
    form.order.setText(str(tmp_path / "job.cfoil"))
    form.order.editingFinished.emit()
    assert form.run.text() == str(tmp_path / "job.run.cfoil")
    form.key.setText(str(tmp_path / "trainer.pem"))
    assert form.ok.isEnabled()
    assert str(recording_folder(tmp_path / "job.run.cfoil")) in form.hint.text()
    form.run.setText(form.order.text())
    assert not form.ok.isEnabled()
    form.reject()


def test_the_window_asks_before_it_stops_a_recording(
    window: MainWindow, engine: FakeEngine, key: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    desk, engine.record_halt = window.recordings, 4
    desk._begin(Wanted(recording_of(tmp_path, key), None))
    qtbot.waitUntil(lambda: desk.recorder.losses.last == 3)
    assert not window.close()
    (box,) = [each for each in window.findChildren(QMessageBox) if each.objectName() == "recording-question"]
    box.reject()
    assert desk.recorder.working
    assert window.isVisible()
    window._close_unsigned()
    assert not window.isVisible()
    assert not desk.working


def test_hostile_names_are_shown_as_text(window: MainWindow, engine: FakeEngine, tmp_path: Path, qtbot: QtBot) -> None:
    run = tmp_path / "a\u202eb\n.cfoil"
    desk = window.recordings
    page = desk.show()
    desk._begin(Wanted(None, KnownFollow(recording_folder(run), run, tmp_path / "<b>job.cfoil", replays=False)))
    qtbot.waitUntil(lambda: not desk.follower.working)
    shown = page.figures.value("where")
    assert "\u202e" not in shown
    assert "\n" not in shown


def test_a_curve_keeps_values_and_measures_its_speed() -> None:
    now = [0.0]
    curve = GrowingCurve(lambda: now[0])
    for step in range(1, 5):
        now[0] = float(step)
        curve.put(step, float(step))
    assert curve.steps_per_second == 1.0
    assert curve.seconds_to(10) == 6.0
    curve.put(7, 7.0)
    assert [value == value for value in curve.values] == [True] * 4 + [False] * 2 + [True]
    curve.go_back(2)
    assert curve.last == 2
    assert curve.steps_per_second is None
    assert len(curve.values) == 7


@pytest.mark.slow
def test_a_small_order_is_recorded_and_followed_by_the_real_engine(
    window_of: Callable[[ProcessEngine], MainWindow], key: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    order = tmp_path / "job.cfoil"
    digits_order(steps=4, checkpoint_every=2).write(order, trial=False)
    real = window_of(ProcessEngine())
    desk = real.recordings
    page = desk.show()
    try:
        desk._begin(Wanted(recording_of(tmp_path, key), follow_of(tmp_path, threads=1)))
        qtbot.waitUntil(lambda: not desk.working, timeout=240_000)
        assert page.headline.text() == "VERIFIED", page.sentence.text()
        assert (desk.recorder.losses.last, desk.follower.judged) == (4, 4)
        assert list(desk.recorder.losses.values) == list(desk.follower.replay_losses)
        assert desk.recorder.made is not None
    finally:
        desk.shut_down()


@pytest.mark.slow
def test_a_lie_in_a_real_recording_is_named(
    window_of: Callable[[ProcessEngine], MainWindow], key: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    order = tmp_path / "job.cfoil"
    digits_order(steps=6, checkpoint_every=2).write(order, trial=False)
    private = counterfoil.load_private_key(key, None)
    lying = counterfoil.record(order, tmp_path / "run.cfoil", private, threads=1, tamper=LabelFlip(3))
    for event in lying:
        if isinstance(event, counterfoil.StepRecorded) and event.step == 4:
            break
    lying.close()
    real = window_of(ProcessEngine())
    desk = real.recordings
    page = desk.show()
    try:
        desk._begin(Wanted(None, follow_of(tmp_path, threads=1)))
        qtbot.waitUntil(lambda: not desk.working, timeout=240_000)
        assert page.headline.text() == "DISPUTED", page.sentence.text()
        assert desk.follower.mismatch == 3
        assert "Step 3" in page.sentence.text()
        assert not page.open_run.isEnabled()
    finally:
        desk.shut_down()
    QApplication.processEvents()


def test_a_first_key_is_made_and_proposed_the_next_time(
    window: MainWindow, engine: FakeEngine, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    desk = window.recordings
    desk.record(tmp_path / "job.cfoil")
    (form,) = desk.show().findChildren(RecordForm)
    first = tmp_path / "trainer.pem"
    assert (form.key.text(), form.makes_key.isChecked(), form.ok.isEnabled()) == (str(first), True, True)
    form.passphrase.setText("one")
    assert (form.hint.text(), form.ok.isEnabled()) == ("The two passphrases differ.", False)
    form.repeat.setText("one")
    form.accept()
    qtbot.waitUntil(lambda: desk.recorder.made is not None and not desk.recorder.working)
    public = counterfoil.load_public_key(tmp_path / "trainer.pub.pem").public
    assert {request.public for request in engine.recorded} == {public}
    assert "PRIVATE" in first.read_text()
    assert counterfoil.load_private_key(first, "one").public.public == public
    again = desk.ask_record(again=False)
    assert (again.key.text(), again.makes_key.isChecked()) == (str(first), False)
    assert settings.trainer_key_file == first
    again.order.setText(str(tmp_path / "other.cfoil"))
    again.run.setText(str(tmp_path / "other.run.cfoil"))
    assert again.ok.isEnabled()
    again.makes_key.setChecked(True)
    assert again.hint.text() == "There is a file of this name already; a key is never overwritten."
    again.makes_key.setChecked(False)
    again.key.setText(str(tmp_path / "none.pem"))
    assert (again.hint.text(), again.ok.isEnabled()) == ("There is no such key file.", False)
    again.reject()


def test_a_trainer_s_key_stays_unlocked_for_the_next_recording(
    window: MainWindow, engine: FakeEngine, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    key = tmp_path / "locked.pem"
    counterfoil.generate_key(key, "four words of mine")
    desk = window.recordings
    desk.show()
    for minutes, unlocked in ((0, False), (10, True)):
        settings.key_minutes = minutes
        desk._begin(Wanted(recording_of(tmp_path, key, "four words of mine"), None))
        qtbot.waitUntil(lambda: desk.recorder.made is not None and not desk.recorder.working)
        form = desk.ask_record(again=True)
        assert (form.passphrase.passphrase is not None) is unlocked
        assert not form.passphrase.text()
        form.reject()
    window.unlocked.lock()
    desk._begin(Wanted(recording_of(tmp_path, key, "wrong"), None))
    qtbot.waitUntil(lambda: desk.recorder.failure is not None)
    assert not window.unlocked.any
