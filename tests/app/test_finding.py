"""The window shows what exact arithmetic says, and accuses nobody whom it clears."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from tests.app.conftest import MakeWindow

from counterfoil import Dispute, DisputedElement, Finding, Right
from counterfoil_app.driver.capture import wait_until
from counterfoil_app.looks import text
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.dispute import FindingView
from support.fake_engine import FakeEngine
from support.waiting import reached

QUANTUM = 2.0**-24
KNOWN = DisputedElement(
    index=(1, 2),
    exact="0.7500000298023223876953125",
    exact_nearest=0.75 + QUANTUM / 2,
    computed=0.75 + QUANTUM / 2,
    replay=0.75,
    trainer=0.75 + QUANTUM,
    quantum=QUANTUM,
    error=0.0,
    midpoint=0.0,
)
NOT_KNOWN = replace(KNOWN, index=(), trainer=None, error=123456.0)
FINDING = Finding(Right.MARGIN, "The margin was too small.", (KNOWN, NOT_KNOWN), 2, 1000, 2.0**-44, 2.0**-46)


class Arbitrated(FakeEngine):
    """Finds a dispute with what exact arithmetic says about it."""

    finding: Finding | None = None

    def dispute(self, step: int) -> Dispute:
        return replace(super().dispute(step), finding=self.finding)


@pytest.fixture(scope="module")
def engine() -> Arbitrated:
    return Arbitrated(disputed=37)


@pytest.fixture(scope="module")
def window(shared_window_of: MakeWindow, engine: Arbitrated) -> MainWindow:
    """One for all: what it showed before is replaced by what each test shows."""
    window = shared_window_of(engine)
    window.session.look_for_devices()  # starts its engine's thread
    assert wait_until(lambda: bool(window.session.devices) and not window.session.busy, 60.0)
    return window


@pytest.fixture
def view(window: MainWindow) -> FindingView:
    window.dispute.finding.show_finding(None)
    return window.dispute.finding


def row(view: FindingView, number: int) -> dict[str, str]:
    model = view.model
    return {column.title: model.index(number, place).data() for place, column in enumerate(model.columns)}


def test_elements_in_decimal_and_hexadecimal(view: FindingView) -> None:
    view.show_finding(FINDING)
    assert not view.isHidden()
    assert view.sentence.text() == "The margin was too small."
    assert f"2 of {text.count(1000)} elements" in view.recomputed.text()
    known = row(view, 0)
    assert known["Element"] == "[1, 2]"
    assert known["Exact value"] == KNOWN.exact
    # Neighbouring grid points differ in the eighth digit: no rounding may hide that.
    assert (float(known["Replay"]), float(known["Trainer"])) == (KNOWN.replay, KNOWN.trainer)
    assert known["Replay"] != known["Trainer"]
    assert float.fromhex(known["Exact, nearest float64"]) == KNOWN.exact_nearest
    assert float.fromhex(known["Before rounding"]) == KNOWN.computed
    assert float.fromhex(known["Trainer, hexadecimal"]) == KNOWN.trainer
    unknown = row(view, 1)
    assert unknown["Trainer"] == unknown["Trainer, hexadecimal"] == "not known"


def test_under_an_exact_profile_nothing_is_counted_in_bounds(view: FindingView) -> None:
    columns = [column.title for column in view.model.columns]
    bounds = [columns.index(title) for title in ("Error, in bounds", "To the midpoint")]
    exact = replace(FINDING, right=Right.REPLAY, margin=0.0, bound=0.0)
    for finding, hidden in ((FINDING, False), (exact, True), (FINDING, False)):
        view.show_finding(finding)
        assert [view.table.isColumnHidden(column) for column in bounds] == [hidden, hidden]
        assert ("computed in integers" in view.recomputed.text()) == hidden


def test_a_finding_without_elements_has_no_table(view: FindingView) -> None:
    view.show_finding(FINDING)
    assert not view.table.isHidden()
    view.show_finding(Finding(Right.UNKNOWN, "There is no exact form."))
    assert view.table.isHidden()
    assert view.recomputed.isHidden()
    assert not view.isHidden()


def test_without_a_finding_nothing_is_shown(view: FindingView) -> None:
    view.show_finding(FINDING)
    view.show_finding(None)
    assert view.isHidden()
    assert view.model.rowCount() == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("right", "accused"),
    [
        (Right.REPLAY, True),
        (Right.UNKNOWN, False),
        (Right.OMISSION, False),
        (Right.MARGIN, False),
        (Right.TRAINER, False),
        (Right.NOBODY_KNOWN, False),
    ],
)
def test_the_dispute_says_whether_the_trainer_is_accused(
    window: MainWindow, engine: Arbitrated, bundle: Path, qtbot: QtBot, right: Right, accused: bool
) -> None:
    engine.finding = replace(FINDING, right=right)
    window.session.open(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.header.primary.click()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    meaning = window.dispute.meaning.text()
    assert ("what the trainer signed as the result of this step is not what was ordered" in meaning) is accused
    assert ("The trainer is not accused" in meaning) is not accused
    assert window.dispute.finding.model.rowCount() == 2
    assert window.dispute.finding.isVisibleTo(window.dispute.details.inside)
