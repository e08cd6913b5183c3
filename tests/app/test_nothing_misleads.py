"""Wrong files condemn nobody: what is chosen by mistake is said, and changes nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLabel
from pytestqt.qtbot import QtBot
from tests.app.conftest import MakeWindow

from counterfoil import AdjudicationOutcome, CheckNumber, CheckState, GivenFileError, Outcome, Sample, Selection
from counterfoil_app.engine.port import VerdictReading
from counterfoil_app.looks import limits, words
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.settings import ThemeChoice
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict.report_document import Curves
from counterfoil_app.verdict.signing_dialog import SigningDialog
from support.fake_engine import FakeEngine
from support.message_boxes import click_in_box, no_box, shown_box
from support.proposals import confirm
from support.waiting import reached

LEFT = Qt.MouseButton.LeftButton
ORDER = CheckNumber.ORDER


def idle(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.session.busy and not window.session.drawing.waiting)


def replayed(window: MainWindow, qtbot: QtBot) -> None:
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    idle(window, qtbot)


def pick(monkeypatch: pytest.MonkeyPatch, *paths: Path) -> list[str]:
    """Let the file dialog choose these, one after the other; returns the titles that it is shown with."""
    titles: list[str] = []
    left = list(paths)

    def choose(_parent: object, title: str, *_rest: object) -> tuple[str, str]:
        titles.append(title)
        return str(left.pop(0)) if left else "", ""

    monkeypatch.setattr(QFileDialog, "getOpenFileName", choose)
    return titles


def slip(sentence: str, role: str = "order") -> GivenFileError:
    return GivenFileError(sentence, role=role, remedy="Choose the right one.")  # type: ignore[arg-type]


def test_a_wrong_pick_as_order_keeps_the_run_open_and_is_chosen_again(
    opened: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, job = bundle.with_name("notes.txt"), bundle.with_name("job.cfoil")
    engine.order_errors[notes.name] = slip("notes.txt is no order of a client's.")
    replayed(opened, qtbot)
    report = opened.session.report
    titles = pick(monkeypatch, notes, job)
    opened.commands["compare"].trigger()
    idle(opened, qtbot)
    box = shown_box(opened, "misnamed")
    assert box.text() == "notes.txt is no order of a client's."
    assert "Nothing was concluded" in box.informativeText()
    assert (opened.session.path, opened.session.report, opened.session.order) == (bundle, report, None)
    assert opened.header.outcome.text() == "VERIFIED"
    click_in_box(opened, "misnamed", "Choose another file\u2026")
    assert len(titles) == 2
    qtbot.waitUntil(lambda: opened.session.order == job)
    assert opened.session.checks[ORDER].state is CheckState.PASSED


def test_the_same_order_needs_no_other_replay(
    opened: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot
) -> None:
    replayed(opened, qtbot)
    assert opened.session.checks[ORDER].state is CheckState.WARNING
    opened.session.compare_with(bundle.with_name("job.cfoil"))
    qtbot.waitUntil(lambda: opened.session.checks[ORDER].state is CheckState.PASSED)
    idle(opened, qtbot)
    assert no_box(opened)
    assert len(engine.plans) == 1, "nothing was replayed again"
    report = opened.session.report
    assert report is not None
    assert (report.outcome, report.order_source) == (Outcome.VERIFIED, "client")
    assert opened.session.phase is Phase.CONCLUDED
    assert opened.session.client is not None


def test_another_order_asks_first_and_is_replaced_by_one_click(
    opened: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    replayed(opened, qtbot)
    other, job = bundle.with_name("other-job.cfoil"), bundle.with_name("job.cfoil")
    opened.session.compare_with(other)
    idle(opened, qtbot)
    assert opened.session.phase is Phase.CONCLUDED, "nothing is lost before the question is answered"
    engine.failing = (ORDER,)
    click_in_box(opened, "unsigned-question", "Compare without signing")
    qtbot.waitUntil(reached(opened, Phase.READY))
    idle(opened, qtbot)
    assert opened.header.outcome.text() == "Cannot be accepted"
    assert opened.header.primary.shown is opened.commands["compare"]
    assert opened.header.primary.text() == "Compare with order\u2026"
    engine.failing = ()
    pick(monkeypatch, job)
    opened.header.primary.click()
    qtbot.waitUntil(lambda: opened.session.order == job and opened.session.phase is Phase.READY)
    assert opened.session.checks[ORDER].state is CheckState.PASSED


def test_an_order_that_is_none_does_not_keep_a_run_from_opening(
    window: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot
) -> None:
    """As ``counterfoil gui run.cfoil --order run.cfoil`` asks for."""
    engine.order_errors[bundle.name] = slip(
        "honest.cfoil is the very file that is examined: the order in it confirms nothing."
    )
    window.open_bundle(bundle, bundle)
    qtbot.waitUntil(lambda: not no_box(window))
    qtbot.waitUntil(reached(window, Phase.READY))
    assert "confirms nothing" in shown_box(window, "misnamed").text()
    assert (window.session.path, window.session.order) == (bundle, None)
    assert window.session.checks[ORDER].state is CheckState.WARNING


def test_a_path_that_leads_nowhere_leaves_what_is_open(
    opened: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened.open_bundle(bundle.with_name("gone.cfoil"))
    assert "There is no file" in shown_box(opened, "misnamed").text()
    assert (opened.session.path, opened.session.phase) == (bundle, Phase.READY)
    click_in_box(opened, "misnamed", "Cancel")
    # It was there when it was looked for, and is gone when the engine opens it.
    other = bundle.with_name("late.cfoil")
    other.touch()
    engine.inspect_errors[other.name] = slip("There is no file late.cfoil.", "file")
    opened.open_bundle(other)
    qtbot.waitUntil(lambda: not no_box(opened))
    assert opened.session.phase is Phase.EMPTY
    assert not opened.commands["replay"].isEnabled(), "nothing can be concluded as refused"


def test_a_wrong_data_file_concludes_nothing(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    engine = FakeEngine(data_file="digits.cfdata")
    window = window_of(engine)
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.session.use_data(bundle.with_name("wrong.cfdata"))
    engine.audit_error = slip("The data file wrong.cfdata cannot be used.", "data")
    window.commands["replay"].trigger()
    qtbot.waitUntil(lambda: not no_box(window))
    assert "wrong.cfdata" in shown_box(window, "misnamed").text()
    idle(window, qtbot)
    assert window.session.phase is Phase.READY
    assert window.session.data is None
    assert window.session.report is None
    assert window.header.primary.shown is window.commands["data"]


def test_a_missing_file_in_the_queue_is_said_there_and_the_queue_goes_on(
    window: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot
) -> None:
    gone = bundle.with_name("gone.cfoil")
    engine.inspect_errors[gone.name] = slip("There is no file gone.cfoil.", "file")
    window.queue.add([gone, bundle])
    with qtbot.waitSignal(window.queue.finished):
        window.queue.start()
    assert no_box(window)
    assert window.queue.entries[0].sentence == "There is no file gone.cfoil."
    report = window.queue.entries[1].finished
    assert report is not None
    assert report.report is not None


# What is said first, and the numbers that are said


def test_a_dispute_begins_with_what_it_comes_to_and_folds_the_details(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot
) -> None:
    window = window_of(FakeEngine(disputed=38))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    replayed(window, qtbot)
    window.docks["dispute"].raise_()
    view = window.dispute
    found = "By what the trainer signed, its model computed something else at step 38 than was ordered."
    assert window.header.sentence.text() == found
    assert view.account.text() == (
        "Most likely it computed with other values or other operations than were ordered. The steps before it that "
        "were replayed are right. Everything after follows from it: the model of this run is not the one that was "
        "ordered."
    ), "no sentence twice"
    qtbot.waitUntil(view.account.isVisible)
    assert view.account.geometry().top() < view.headline.geometry().top()
    assert not view.table.isVisible()
    qtbot.mouseClick(view.details.button, LEFT)
    qtbot.waitUntil(view.table.isVisible)


def test_steps_are_counted_alike_wherever_they_are_said(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window = window_of(FakeEngine(disputed=38))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    replayed(window, qtbot)
    session = window.session
    assert session.report is not None
    assert (session.steps.judged, session.steps.done) == (58, 60)
    assert session.report.steps_replayed == session.steps.judged
    window.commands["verdict"].trigger()
    idle(window, qtbot)
    dialog = window.findChild(SigningDialog)
    assert dialog is not None
    said = " ".join(label.text() for label in dialog.findChildren(QLabel))
    assert "60 ordered, 58 judged, 1 different" in said
    assert words.check(session.checks[CheckNumber.COVERAGE]).word == "in part"
    row = window.checks.checks.rows[CheckNumber.COVERAGE]
    assert row.detail.text() == "In part. 58 of 60 steps were judged."
    # The corrections that are drawn are those that are counted: of matching steps.
    curves = Curves.of(session.steps)
    assert np.nansum(curves.corrections) == session.steps.tally().corrections
    assert session.steps.column("corrections").sum() > session.steps.tally().corrections


@pytest.mark.drawn
@pytest.mark.parametrize("tone", [ThemeChoice.LIGHT, pytest.param(ThemeChoice.DARK, marks=pytest.mark.slow)])
def test_a_verdict_that_does_not_count_is_red_as_a_whole(
    window: MainWindow, bundle: Path, qtbot: QtBot, tmp_path: Path, tone: ThemeChoice
) -> None:
    window.theme.choose(tone)
    verdict, key = tmp_path / "v.json", tmp_path / "auditor.pub.pem"
    verdict.write_text("{}")
    key.touch()
    viewer = window.verdicts.read(verdict)
    idle(window, qtbot)
    assert not viewer.property("tone"), "nothing was checked yet"
    viewer.key_chosen.emit(key)
    idle(window, qtbot)
    confirm(qtbot)
    qtbot.waitUntil(lambda: viewer.checked)
    assert viewer.headline.text() == "The signature holds: VERIFIED"

    def red() -> float:
        """The share of the dialog that is red."""
        picture = viewer.grab().toImage()
        places = [(x, y) for x in range(4, picture.width(), 9) for y in range(4, picture.height(), 9)]
        found = [picture.pixelColor(x, y).name() for x, y in places]
        return found.count(window.theme.tokens.bad_tint) / len(found)

    assert red() == 0
    viewer.bundle_chosen.emit(bundle.with_name("wrong.cfoil"))
    idle(window, qtbot)
    assert viewer.headline.text() == "This verdict is about another file"
    assert "VERIFIED" not in viewer.headline.text()
    assert "It says nothing of wrong.cfoil." in viewer.sentence.text()
    assert red() > 0.7, "not a strip of it"
    viewer.bundle_chosen.emit(bundle)
    idle(window, qtbot)
    assert viewer.headline.text() == "The signature holds: VERIFIED"
    assert red() == 0


def test_a_verdict_of_another_key_is_red_as_a_whole(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict, key = tmp_path / "v.json", tmp_path / "other.pub.pem"
    verdict.write_text("{}")
    monkeypatch.setattr(engine, "read_verdict", lambda *_: VerdictReading(("ab" * 32,)))
    viewer = window.verdicts.read(verdict)
    idle(window, qtbot)
    assert viewer.headline.text().startswith("Not checked")
    assert not viewer.property("tone")
    viewer.key_chosen.emit(key)
    idle(window, qtbot)
    assert viewer.headline.text() == "This verdict was not signed with that key"
    assert viewer.property("tone") == "bad"


def test_each_outcome_says_what_it_does_not(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    for disputed, limit in ((None, "harmless"), (37, "It does not say why")):
        window = window_of(FakeEngine(disputed=disputed))
        window.open_bundle(bundle)
        qtbot.waitUntil(reached(window, Phase.READY))
        window.commands["show_dispute"].trigger()
        assert not any(limit in label.text() for label in window.dispute.findChildren(QLabel))
        window.commands["replay"].trigger()
        qtbot.waitUntil(reached(window, Phase.CONCLUDED))
        idle(window, qtbot)
        assert any(limit in label.text() and label.isVisible() for label in window.dispute.findChildren(QLabel))
        window.commands["verdict"].trigger()
        (signing,) = window.findChildren(SigningDialog)
        idle(window, qtbot)
        assert any(limit in label.text() and label.isVisible() for label in signing.findChildren(QLabel))
        signing.reject()


def test_a_sample_and_a_confirmed_capsule_have_limits_of_their_own() -> None:
    sample = Sample(12, ((1, 3),), Selection.LISTED)
    assert "segments" in limits.not_said(Outcome.VERIFIED, sample)
    assert "why" in limits.not_said(AdjudicationOutcome.CONFIRMED)
    assert limits.not_said(Outcome.ERROR) == ""
