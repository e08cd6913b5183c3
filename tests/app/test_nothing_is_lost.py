"""Nothing that was found is lost: files are not overwritten, results are asked about and outlive the window."""

from __future__ import annotations

import hmac
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot
from tests.app.conftest import MakeWindow
from tests.app.test_nothing_misleads import idle, replayed

from counterfoil import Outcome
from counterfoil.base.seal import SEAL_BYTES, seal
from counterfoil.signing.privatekeys import generate_key
from counterfoil_app.engine.strangers import beside
from counterfoil_app.model.history import (
    MARK,
    capsule_of,
)
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.replayresult import Finished
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict.signing_dialog import SigningDialog
from counterfoil_app.views.results import ResultsDialog
from counterfoil_core.base.errors import FileWriteError
from support.fake_engine import FakeEngine
from support.message_boxes import click_in_box, no_box, shown_box
from support.waiting import reached

LEFT = Qt.MouseButton.LeftButton
BEGUN = datetime(2026, 11, 20, 8, tzinfo=UTC)


def signing(window: MainWindow, qtbot: QtBot) -> SigningDialog:
    idle(window, qtbot)
    return next(dialog for dialog in window.findChildren(SigningDialog) if dialog.isVisible())


def sign(window: MainWindow, qtbot: QtBot, key: Path) -> Path:
    window.commands["verdict"].trigger()
    dialog = signing(window, qtbot)
    dialog.use_existing.setChecked(True)
    dialog.key.setText(str(key))
    with qtbot.waitSignal(window.session.exports.finished):
        qtbot.mouseClick(dialog.ok, LEFT)
    idle(window, qtbot)
    path = window.session.verdict_file
    assert path is not None
    return path


@pytest.fixture
def key(tmp_path: Path) -> Path:
    folder = tmp_path / "keys"
    folder.mkdir()
    generate_key(folder / "mine.pem", None)
    return folder / "mine.pem"


# Files


def test_names_that_are_offered_are_free(tmp_path: Path) -> None:
    run = tmp_path / "run.cfoil"
    assert beside(run, ".verdict.json", ".report.pdf") == tmp_path / "run.verdict.json"
    (tmp_path / "run.report.pdf").touch()
    assert beside(run, ".verdict.json", ".report.pdf") == tmp_path / "run-2.verdict.json"
    assert beside(run, ".verdict.json") == tmp_path / "run.verdict.json"
    (tmp_path / "run-2.verdict.json").touch()
    assert beside(run, ".verdict.json", ".report.pdf") == tmp_path / "run-3.verdict.json"


def test_signing_twice_writes_two_verdicts(opened: MainWindow, key: Path, qtbot: QtBot) -> None:
    replayed(opened, qtbot)
    first = sign(opened, qtbot, key)
    before = first.read_bytes()
    second = sign(opened, qtbot, key)
    assert second.name == "honest-2.verdict.json"
    assert first.read_bytes() == before
    assert no_box(opened)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("meant", ["key", "link", "run", "order"])
def test_nothing_is_signed_over_what_is_read(
    opened: MainWindow, key: Path, qtbot: QtBot, bundle: Path, meant: str
) -> None:
    replayed(opened, qtbot)
    order = bundle.with_name("order.cfoil")
    order.touch()
    opened.session.order = order
    link = bundle.with_name("link.json")
    link.symlink_to(key)
    target = {"key": key, "link": link, "run": bundle, "order": order}[meant]
    before = target.read_bytes()
    opened.commands["verdict"].trigger()
    dialog = signing(opened, qtbot)
    dialog.use_existing.setChecked(True)
    dialog.key.setText(str(key))
    assert dialog.ok.isEnabled()
    dialog.target.setText(str(target))
    assert not dialog.ok.isEnabled()
    assert "would be written over" in dialog.hint.text()
    with pytest.raises(FileWriteError, match="would be written over"):
        dialog.request().check_apart()
    dialog.reject()
    assert target.read_bytes() == before


def test_no_table_replaces_the_open_run(opened: MainWindow, qtbot: QtBot, bundle: Path) -> None:
    """A file dialog asks whether to replace a file; an auditor who says yes still has the run."""
    replayed(opened, qtbot)
    before = bundle.read_bytes()
    with qtbot.waitSignal(opened.session.exports.failed) as said:
        opened.session.exports.table(opened.session.steps.snapshot(), bundle)
    assert "would be written over" in said.args[0].sentence
    with qtbot.waitSignal(opened.session.exports.failed):
        opened.session.exports.contents(bundle, lambda: b"picture")
    assert bundle.read_bytes() == before
    for box in opened.findChildren(QMessageBox):
        box.close()


@pytest.mark.parametrize("taken", ["mine.json", "mine.report.pdf"])
def test_a_file_is_replaced_only_if_the_user_agrees(
    opened: MainWindow, key: Path, qtbot: QtBot, bundle: Path, taken: str
) -> None:
    """Also one that is written beside the verdict, which no file dialog asks about."""
    old = bundle.with_name(taken)
    old.write_bytes(b"precious")
    bundle.with_name("mine.steps.csv").touch()  # which is not asked for, and so not in the way
    replayed(opened, qtbot)
    opened.commands["verdict"].trigger()
    dialog = signing(opened, qtbot)
    dialog.use_existing.setChecked(True)
    dialog.key.setText(str(key))
    dialog.target.setText(str(bundle.with_name("mine.json")))
    qtbot.mouseClick(dialog.ok, LEFT)
    assert taken in shown_box(opened, "replace-question").text()
    click_in_box(opened, "replace-question", "Cancel")
    assert old.read_bytes() == b"precious"
    assert dialog.isVisible()
    qtbot.mouseClick(dialog.ok, LEFT)
    with qtbot.waitSignal(opened.session.exports.finished):
        click_in_box(opened, "replace-question", "Replace")
    assert old.read_bytes() != b"precious"


def test_a_key_is_not_made_beside_a_trainer_s_file(opened: MainWindow, qtbot: QtBot, bundle: Path) -> None:
    trainer = bundle.with_name("trainer")
    trainer.mkdir()
    run = Path(shutil.copy(bundle, trainer / "run.cfoil"))
    opened.open_bundle(run)
    qtbot.waitUntil(reached(opened, Phase.READY))
    replayed(opened, qtbot)
    opened.commands["verdict"].trigger()
    dialog = signing(opened, qtbot)
    assert dialog.create_new.isChecked()
    assert Path(dialog.key.text()).parent == opened.settings.config_folder != trainer
    assert dialog.ok.isEnabled()
    dialog.key.setText(str(trainer / "auditor.pem"))
    assert not dialog.ok.isEnabled()
    assert "does not belong beside the trainer's file" in dialog.hint.text()


def test_the_folder_of_the_sample_does_not_become_the_default(opened: MainWindow, bundle: Path, qtbot: QtBot) -> None:
    folder = opened.settings.folder
    assert folder == bundle.parent
    opened.commands["honest_sample"].trigger()
    qtbot.waitUntil(lambda: opened.session.path is not None and opened.session.path != bundle)
    assert opened.settings.folder == folder


# Questions


@pytest.mark.parametrize("signed", [False, True])
def test_what_takes_an_unsigned_result_away_asks(
    opened: MainWindow, key: Path, qtbot: QtBot, bundle: Path, signed: bool
) -> None:
    other = bundle.with_name("other.cfoil")
    other.touch()
    replayed(opened, qtbot)
    if signed:
        sign(opened, qtbot, key)
    for attempt in (lambda: opened.open_bundle(other), lambda: opened.open_files([other])):
        if signed:
            break
        attempt()
        idle(opened, qtbot)
        assert "honest.cfoil is not signed: VERIFIED" in shown_box(opened, "unsigned-question").text()
        click_in_box(opened, "unsigned-question", "Cancel")
        assert (opened.session.path, opened.session.phase) == (bundle, Phase.CONCLUDED)
    if not signed:
        opened.close()
        assert opened.isVisible()
        click_in_box(opened, "unsigned-question", "Cancel")
        assert opened.isVisible()
        opened.open_bundle(other)
        click_in_box(opened, "unsigned-question", "Sign\u2026")
        assert signing(opened, qtbot).isVisible()
    else:
        opened.open_bundle(other)
        assert no_box(opened)
        qtbot.waitUntil(lambda: opened.session.path == other)


def test_a_window_with_an_unsigned_result_closes_if_told_so(opened: MainWindow, qtbot: QtBot) -> None:
    replayed(opened, qtbot)
    opened.close()
    click_in_box(opened, "unsigned-question", "Close without signing")
    qtbot.waitUntil(lambda: not opened.isVisible())


def test_a_replay_that_was_stopped_is_kept_to_go_on_and_not_asked_about(
    opened: MainWindow, engine: FakeEngine, qtbot: QtBot, bundle: Path
) -> None:
    engine.halt = 12
    opened.commands["replay"].trigger()
    qtbot.waitUntil(lambda: opened.session.steps.done == 11)
    opened.commands["stop"].trigger()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED))
    engine.halt = None
    engine.open_gates()
    other = bundle.with_name("other.cfoil")
    other.touch()
    opened.open_bundle(other)
    assert no_box(opened)
    qtbot.waitUntil(lambda: opened.session.path == other)


def test_a_replay_that_was_stopped_is_among_the_results_and_goes_on_another_day(
    opened: MainWindow, engine: FakeEngine, window_of: MakeWindow, qtbot: QtBot
) -> None:
    engine.halt = 12
    opened.header.primary.click()
    qtbot.waitUntil(lambda: opened.session.steps.done == 11)
    QTest.keyClick(opened, Qt.Key.Key_F5, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED))
    idle(opened, qtbot)
    second = window_of(FakeEngine(progress=dict(engine.progress)))
    dialog = results(second, qtbot)
    assert [dialog.table.item(0, column).text() for column in (2, 3, 4)] == [
        "INCONCLUSIVE", "11 of 60 steps", "not signed",
    ]  # fmt: skip
    QTest.keyClick(dialog.table, Qt.Key.Key_Return)
    qtbot.waitUntil(reached(second, Phase.CONCLUDED))
    assert second.session.steps.done == 11
    assert not second.session.unsigned, "nobody is asked about a replay that can be gone on with"
    qtbot.waitUntil(lambda: second.session.can_go_on)
    second.header.primary.click()
    qtbot.waitUntil(lambda: second.session.report is not None and second.session.report.outcome is Outcome.VERIFIED)
    idle(second, qtbot)
    assert results(second, qtbot).table.rowCount() == 2


def test_a_replay_that_was_stopped_before_its_first_step_leaves_nothing(
    opened: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    engine.gate.clear()
    opened.commands["replay"].trigger()
    opened.commands["stop"].trigger()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED))
    idle(opened, qtbot)
    assert results(opened, qtbot).table.rowCount() == 0


# Results


def results(window: MainWindow, qtbot: QtBot) -> ResultsDialog:
    window.commands["results"].trigger()
    idle(window, qtbot)
    return next(dialog for dialog in window.findChildren(ResultsDialog) if dialog.isVisible())


def test_results_outlive_the_window_and_can_be_signed_later(
    window_of: MakeWindow, bundle: Path, key: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    first = window_of(FakeEngine(disputed=38))
    first.open_bundle(bundle)
    qtbot.waitUntil(reached(first, Phase.READY))
    replayed(first, qtbot)
    before = first.session
    assert before.report is not None
    # Another window, with an engine that has replayed nothing, shows the same.
    second = window_of(FakeEngine())
    dialog = results(second, qtbot)
    assert dialog.table.rowCount() == 1
    assert [dialog.table.item(0, column).text() for column in (1, 2, 3, 4)] == [
        "honest.cfoil", "DISPUTED", f"{before.steps.judged} of 60 steps", "not signed",
    ]  # fmt: skip
    QTest.keyClick(dialog.table, Qt.Key.Key_Return)
    qtbot.waitUntil(reached(second, Phase.CONCLUDED))
    idle(second, qtbot)
    after = second.session
    assert after.report == before.report
    assert after.dispute == before.dispute
    assert after.report is not None
    assert before.report is not None
    when = (after.report.begun_at, after.report.ended_at)
    assert when == (before.report.begun_at, before.report.ended_at) != ("", ""), "the printed report says when it was"
    assert list(after.steps.rows()) == list(before.steps.rows())
    assert after.steps.tally() == before.steps.tally()
    assert (after.divergence.steps == before.divergence.steps).all()
    assert (after.divergence.at(40) == before.divergence.at(40)).all()
    assert after.checks == before.checks
    assert after.summary == before.summary
    assert "Step 38" in second.dispute.headline.text()
    assert after.unsigned
    # The dispute's capsule was kept as well: the evidence is otherwise in memory alone.
    assert after.result_file is not None
    assert capsule_of(after.result_file).read_text() == "step 38"
    target = tmp_path / "saved.cfoil"
    with qtbot.waitSignal(after.exports.finished):
        after.exports.capsule(after.report, target, capsule_of(after.result_file))
    assert target.read_text() == "step 38"
    verdict = sign(second, qtbot, key)
    third = window_of(FakeEngine())
    dialog = results(third, qtbot)
    assert dialog.table.item(0, 4).text() == verdict.name


def test_a_signed_verdict_is_remembered_when_the_order_is_compared_afterwards(
    opened: MainWindow, bundle: Path, key: Path, qtbot: QtBot
) -> None:
    replayed(opened, qtbot)
    session, verdict = opened.session, sign(opened, qtbot, key)
    qtbot.waitUntil(lambda: [past.verdict for past in opened.history.pasts] == [verdict])
    (before,) = opened.history.pasts
    assert str(verdict) in opened.header.sentence.text()
    session.compare_with(bundle.with_name("job.cfoil"))
    qtbot.waitUntil(lambda: session.earlier_verdict == verdict)
    qtbot.waitUntil(lambda: [past.earlier for past in opened.history.pasts] == [verdict])
    (after,) = opened.history.pasts
    assert (after.when, after.signed, after.verdict) == (before.when, verdict, None), "the end of the replay stays"
    assert not session.unsigned, "nothing is asked when it is left"
    assert str(verdict) not in opened.header.sentence.text(), "that one does not say that the order was compared"
    dialog = results(opened, qtbot)
    assert dialog.table.item(0, 4).text() == verdict.name
    dialog.reject()
    read: list[Finished] = []
    opened.history.read(after, read.append)
    qtbot.waitUntil(lambda: bool(read))
    assert (read[0].verdict_file, read[0].earlier_verdict) == (None, verdict), "nor on another day"
    second = sign(opened, qtbot, key)
    qtbot.waitUntil(lambda: [(past.verdict, past.earlier) for past in opened.history.pasts] == [(second, None)])
    assert second != verdict


def test_a_result_is_removed_only_after_a_question(opened: MainWindow, qtbot: QtBot) -> None:
    replayed(opened, qtbot)
    dialog = results(opened, qtbot)
    kept = list(opened.history.folder.iterdir())
    assert len(kept) == 1
    qtbot.mouseClick(dialog.remove_button, LEFT)
    click_in_box(opened, "remove-question", "Cancel")
    assert kept[0].exists()
    qtbot.mouseClick(dialog.remove_button, LEFT)
    click_in_box(opened, "remove-question", "Remove")
    qtbot.waitUntil(lambda: dialog.table.rowCount() == 0)
    assert not kept[0].exists()


def test_a_damaged_result_is_left_out_and_the_others_stay(opened: MainWindow, qtbot: QtBot) -> None:
    replayed(opened, qtbot)
    folder = opened.history.folder
    for number, junk in enumerate((b"", MARK, MARK + b"\xff" * 100, MARK + bytes(8) + b"x")):
        (folder / f"{number}.result").write_bytes(junk)
    assert results(opened, qtbot).table.rowCount() == 1


def test_a_result_whose_body_is_damaged_is_said(opened: MainWindow, qtbot: QtBot) -> None:
    replayed(opened, qtbot)
    (kept,) = opened.history.folder.iterdir()
    dialog = results(opened, qtbot)
    kept.write_bytes(kept.read_bytes()[:-20])
    with qtbot.waitSignal(opened.history.failed) as caught:
        qtbot.mouseClick(dialog.show_button, LEFT)
        click_in_box(opened, "unsigned-question", "Show without signing")
    assert "is not used. It is damaged, or was not kept by this user." in caught.args[0].sentence
    assert opened.session.report is not None
    assert opened.session.report.outcome is Outcome.VERIFIED


def test_a_result_that_somebody_else_made_is_left_out(opened: MainWindow, qtbot: QtBot) -> None:
    """It is whole, and could be signed; only its seal is not this user's."""
    replayed(opened, qtbot)
    (kept,) = opened.history.folder.iterdir()
    data = kept.read_bytes()
    held = data[len(MARK) + SEAL_BYTES :]
    (opened.history.folder / "a.result").write_bytes(MARK + bytes(SEAL_BYTES) + held)
    (opened.history.folder / "b.result").write_bytes(MARK + hmac.digest(bytes(32), MARK + held, "sha256") + held)
    assert results(opened, qtbot).table.rowCount() == 1
    # The control: with this user's seal it is a result.
    (opened.history.folder / "c.result").write_bytes(MARK + seal(MARK + held) + held)
    assert results(opened, qtbot).table.rowCount() == 2
