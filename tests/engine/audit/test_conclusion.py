"""The outcome as a table: what was found, and what is concluded from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from counterfoil_core.base.errors import BundleError, CommitmentError, DeviceError, LogError, NonFiniteError
from counterfoil_core.hearing.conclusion import Coverage, conclude
from counterfoil_core.values.dispute import Dispute
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from counterfoil_core.values.report import Steering, SteeringRow
from counterfoil_core.values.steptable import Tally
from support.reports import dispute

PASSED, FAILED, WARNING = CheckState.PASSED, CheckState.FAILED, CheckState.WARNING
CONFIRMED = dispute()
UNCONFIRMED = replace(CONFIRMED, confirmed=False)
DAMAGED = CommitmentError("The stored state of step 5 differs.")
BROKEN = DeviceError("No such device.")


Found = tuple[Tally, Dispute | None]


def found(dispute: Dispute | None = None, **fields: Any) -> Found:
    return Tally(**({"judged": 10, "log_entries": 1000} | fields)), dispute


NOTHING: Found = Tally(), None
CASES: dict[str, tuple[Found, Any, bool, Outcome, str, tuple[CheckState, ...]]] = {
    "all match": (found(), None, False, Outcome.VERIFIED, "All 10 steps", (PASSED, PASSED, PASSED)),
    "ties": (found(corrections=900), None, False, Outcome.VERIFIED, "All 10", (PASSED, PASSED, PASSED)),
    "some steps": (found(judged=4), None, False, Outcome.INCONCLUSIVE, "Only 4 of the 10", (PASSED, PASSED, WARNING)),
    "cancelled": (
        found(judged=4), None, True, Outcome.INCONCLUSIVE, "stopped after 4 of 10", (PASSED, PASSED, WARNING),
    ),
    "cancelled at once": (NOTHING, None, True, Outcome.INCONCLUSIVE, "stopped before any step was judged", ()),
    "contradictions": (
        found(contradictions=1), None, False, Outcome.INCONCLUSIVE, "1 contradictions", (PASSED, FAILED, PASSED),
    ),
    "omissions": (found(omissions=2), None, False, Outcome.INCONCLUSIVE, "2 omissions", (PASSED, FAILED, PASSED)),
    "disputed": (
        found(mismatched=(37,), dispute=CONFIRMED),
        None, False, Outcome.DISPUTED, "Step 37 is not what was ordered", (FAILED, PASSED, PASSED),
    ),
    "disputed, more later": (
        found(mismatched=(37, 41, 45), dispute=CONFIRMED),
        None, False, Outcome.DISPUTED, "judged from the trainer's own checkpoints: 2", (FAILED, PASSED, PASSED),
    ),
    "disputed, then cancelled": (
        found(judged=4, mismatched=(3,), dispute=CONFIRMED),
        None, True, Outcome.DISPUTED, "Step 37", (FAILED, PASSED, WARNING),
    ),
    "disputed, then a damaged checkpoint": (
        found(judged=4, mismatched=(3,), dispute=CONFIRMED),
        DAMAGED, False, Outcome.DISPUTED, "Step 37", (FAILED, PASSED, WARNING),
    ),
    "unsound hardware": (
        found(mismatched=(37,), dispute=UNCONFIRMED),
        None, False, Outcome.INCONCLUSIVE, "Nobody is accused", (FAILED, PASSED, PASSED),
    ),
    "cancelled before it was confirmed": (
        found(judged=4, mismatched=(4,)),
        None, True, Outcome.INCONCLUSIVE, "Step 4 came out different", (FAILED, PASSED, WARNING),
    ),
    "damaged": (NOTHING, BundleError("No bundle."), False, Outcome.REFUSED, "No bundle. Nothing was concluded", ()),
    "damaged in the middle": (found(judged=4), DAMAGED, False, Outcome.REFUSED, "step 5", (PASSED, PASSED, WARNING)),
    "unreadable log": (
        found(judged=1), LogError("Truncated."), False, Outcome.REFUSED, "Truncated.", (PASSED, PASSED, WARNING),
    ),
    "no device": (NOTHING, BROKEN, False, Outcome.ERROR, "No such device.", ()),
    "not finite": (
        found(judged=4), NonFiniteError("Infinite."), False,
        Outcome.INCONCLUSIVE, "Infinite.", (PASSED, PASSED, WARNING),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_conclusion(case):
    (tally, located), error, cancelled, outcome, sentence, states = CASES[case]
    concluded, reason, checks = conclude(
        tally, dispute=located, coverage=Coverage(10, 10, 10), error=error, cancelled=cancelled
    )
    assert concluded is outcome
    assert sentence in reason
    assert tuple(check.state for check in checks) == states
    assert [check.number for check in checks] == [CheckNumber.REPLAY, CheckNumber.LOG, CheckNumber.COVERAGE][
        : len(states)
    ]


def test_every_outcome_has_its_exit_code():
    assert [outcome.exit_code for outcome in Outcome] == [0, 1, 2, 3, 4]
    assert {case[3] for case in CASES.values()} == set(Outcome)


def test_only_a_whole_clean_replay_is_verified():
    """Each finding alone takes VERIFIED away."""
    for change in (
        {"judged": 9},
        {"contradictions": 1},
        {"omissions": 1},
        {"dispute": CONFIRMED},
        {"dispute": UNCONFIRMED},
    ):
        tally, located = found(**change, mismatched=(3,))
        outcome, _, _ = conclude(tally, dispute=located, coverage=Coverage(10, 10, 10), error=None, cancelled=False)
        assert outcome is not Outcome.VERIFIED


@pytest.mark.parametrize(("suspects", "outcome"), [((), Outcome.VERIFIED), (("all mm",), Outcome.INCONCLUSIVE)])
def test_directions_that_look_chosen_take_verified_away(suspects, outcome):
    steering = Steering((SteeringRow("mm", 5000, 100, 60, 90, 50),), 24, suspects)
    tally, located = found()
    found_outcome, reason, checks = conclude(
        tally, dispute=located, coverage=Coverage(10, 10, 10), error=None, cancelled=False, steering=steering
    )
    assert found_outcome is outcome
    assert ("50 of 90" in reason and "all mm" in reason) == bool(suspects)
    assert (checks[1].state is FAILED) == bool(suspects)
    assert ("look chosen in all mm" in checks[1].detail) == bool(suspects)


def test_under_an_exact_profile_there_is_no_log_to_be_honest():
    tally, located = found(log_entries=0)
    outcome, _, checks = conclude(
        tally, dispute=located, coverage=Coverage(10, 10, 10), error=None, cancelled=False, exact=True
    )
    assert outcome is Outcome.VERIFIED
    assert checks[1].state is PASSED
    assert (
        checks[1].detail == "There is no rounding log: under an exact profile every result is defined by mathematics."
    )


def test_a_machine_that_does_not_confirm_itself_is_not_outside_of_a_margin_that_is_none():
    tally, located = found(mismatched=(37,), dispute=UNCONFIRMED)
    for exact in (False, True):
        outcome, reason, _ = conclude(
            tally, dispute=located, coverage=Coverage(10, 10, 10), error=None, cancelled=False, exact=exact
        )
        assert outcome is Outcome.INCONCLUSIVE
        assert ("outside the margin" in reason, "every result is defined" in reason) == (not exact, exact)
