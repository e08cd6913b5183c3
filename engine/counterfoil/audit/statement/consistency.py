"""Whether the parts of a signed statement can all be true together. Pure.

A statement is refused when its outcome does not follow from what it says was found, or when two of its parts exclude
each other. docs/verdict.md lists the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from counterfoil.audit.values.adjudication import AdjudicationOutcome
from counterfoil.audit.values.outcome import Check, CheckNumber, CheckState, Outcome
from counterfoil.errors import SignatureError
from counterfoil.sentence import say

if TYPE_CHECKING:
    from counterfoil.audit.statement.model import Adjudication, Verdict
    from counterfoil.audit.statement.read import Coverage, DisputedStep

Rule = tuple[bool, str]
"""Whether a rule is broken, and the words that say how."""
_DONE = (CheckState.PASSED, CheckState.WARNING)
_BEFORE_REPLAY = tuple(number for number in CheckNumber if number < CheckNumber.REPLAY)


def check_verdict(
    verdict: Verdict,
    coverage: Coverage,
    disputed: DisputedStep | None,
    counts: Mapping[str, int],
    *,
    attested: bool,
) -> None:
    """Check that a verdict does not contradict itself.

    Args:
        verdict: What it says.
        coverage: What it says of its coverage.
        disputed: The step that it disputes.
        counts: Its counts by name.
        attested: Whether it names the key that signed the run.

    Raises:
        SignatureError: It does; the sentence says where.
    """
    states = _states(verdict.checks)
    _refuse("verdict", _checks_rules(verdict, states, attested=attested))
    _refuse("verdict", _coverage_rules(verdict, coverage, states, counts))
    _refuse("verdict", _dispute_rules(verdict, coverage, disputed))
    if verdict.outcome is Outcome.VERIFIED:
        _refuse("verdict", _verified_rules(verdict, coverage, disputed, states, counts))


def check_adjudication(
    adjudication: Adjudication, found: DisputedStep | None, counts: Mapping[str, int], *, attested: bool
) -> None:
    """Check that an adjudication does not contradict itself; raises SignatureError as :func:`check_verdict` does.

    Args:
        adjudication: What it says.
        found: The step in which it found a difference.
        counts: Its counts by name.
        attested: Whether it names the key that signed the run.
    """
    states = _states(adjudication.checks)
    first, last = adjudication.agreed_step + 1, adjudication.agreed_step + adjudication.steps_replayed
    needed = adjudication.step - adjudication.agreed_step
    rejected, confirmed = (
        adjudication.outcome is outcome for outcome in (AdjudicationOutcome.REJECTED, AdjudicationOutcome.CONFIRMED)
    )
    accuses = found is not None and found.accuses
    replay, log = states[CheckNumber.REPLAY], states[CheckNumber.LOG]
    unsound = bool(counts["contradictions"] or counts["omissions"])
    _refuse("adjudication", _checks_rules(adjudication, states, attested=attested))
    _refuse(
        "adjudication",
        [
            (confirmed != accuses, say("its outcome is not what its dispute says")),
            (found is not None and not first <= found.step <= last, say("it disputes a step that was not replayed")),
            (found is not None and found.accuses and found.step != last, say("it went on after a confirmed dispute")),
            (found is not None and replay is CheckState.PASSED, say("a step differs, and check 8 passed")),
            (unsound and log is CheckState.PASSED, say("its log is at fault, and check 9 passed")),
            (rejected and found is not None, say("it says REJECTED, and disputes a step")),
            (
                rejected and (not needed or adjudication.steps_replayed != needed),
                say("it says REJECTED, but did not replay every step"),
            ),
            (rejected and unsound, say("it says REJECTED, but the log is at fault")),
            (
                rejected and any(state not in _DONE for state in states.values()),
                say("it says REJECTED, but its checks do not"),
            ),
            (confirmed and replay is not CheckState.FAILED, say("it says CONFIRMED, but check 8 did not fail")),
        ],
    )


def _states(checks: Sequence[Check]) -> dict[CheckNumber, CheckState]:
    return {check.number: check.state for check in checks}


def _refuse(what: str, rules: Iterable[Rule]) -> None:
    for broken, words in rules:
        if broken:
            raise SignatureError(say("The {0} contradicts itself: {1}.", what, words))


def _checks_rules(
    said: Verdict | Adjudication, states: Mapping[CheckNumber, CheckState], *, attested: bool
) -> list[Rule]:
    """What the checks say against what is known of the order and the run."""
    order, signature = states[CheckNumber.ORDER], states[CheckNumber.SIGNATURE]
    unfinished = (CheckState.PENDING, CheckState.RUNNING)
    before = all(states[number] in _DONE for number in _BEFORE_REPLAY)
    return [
        (any(state in unfinished for state in states.values()), say("a check is not finished")),
        ((said.order_digest is None) != (said.steps_ordered == 0), say("its order is known, and its steps are not")),
        (order in _DONE and said.order_digest is None, say("check 2 was passed without an order")),
        (
            order is CheckState.PASSED and said.order_source != "client",
            say("check 2 was passed without the client's order"),
        ),
        (order is CheckState.WARNING and said.order_source == "client", say("check 2 warns with the client's order")),
        (signature in _DONE and said.run_root is None, say("check 5 was passed without a run root")),
        ((said.run_root is not None) != attested, say("its run root and the key that signed it do not come together")),
        (said.run_root is not None and said.order_digest is None, say("it knows a run and no order")),
        (
            bool(said.steps_replayed) and not before,
            say("steps were replayed although a check before that was not passed"),
        ),
    ]  # fmt: skip


def _coverage_rules(
    verdict: Verdict, coverage: Coverage, states: Mapping[CheckNumber, CheckState], counts: Mapping[str, int]
) -> list[Rule]:
    """What was replayed against what was planned, counted and concluded of it."""
    sample, steering, replayed = coverage.sample, verdict.steering, coverage.replayed
    replay, log = states[CheckNumber.REPLAY], states[CheckNumber.LOG]
    differing = sum(last - first + 1 for first, last in coverage.mismatches)
    rounded = sum(row.values for row in steering.rows) if steering is not None else 0
    unsound = bool(counts["contradictions"] or counts["omissions"] or (steering is not None and steering.suspects))
    return [
        (bool(replayed) != (steering is not None), say("its account of the log does not belong to the replayed steps")),
        (bool(replayed) and (verdict.run_root is None or sample is None), say("steps were replayed of no run")),
        (differing > replayed, say("more steps differ than were replayed")),
        (bool(differing) != (replay is CheckState.FAILED), say("check 8 is not what the differing steps say")),
        (replay is CheckState.PASSED and not replayed, say("check 8 was passed without a replay")),
        (unsound and log is CheckState.PASSED, say("its log is at fault, and check 9 passed")),
        (
            states[CheckNumber.COVERAGE] is CheckState.PASSED and replayed != coverage.ordered,
            say("check 10 was passed, but not every step was replayed"),
        ),
        (
            steering is not None
            and (
                verdict.without_bound is None or not set(verdict.without_bound) <= {row.kind for row in steering.rows}
            ),
            say("its operators without a bound are not among those that it counted"),
        ),
        (rounded > counts["roundedValues"], say("its account of the log has more values than were rounded")),
        (
            bool(replayed) and not differing and rounded != counts["roundedValues"],
            say("its account of the log does not add up to its rounded values"),
        ),
        (
            sample is not None
            and (
                sample.total > coverage.ordered
                or sample.count > coverage.planned
                or sample.total - sample.count > coverage.ordered - coverage.planned
                or sample.whole != (coverage.planned == coverage.ordered)
            ),
            say("its sample does not have the planned steps"),
        ),
    ]


def _dispute_rules(verdict: Verdict, coverage: Coverage, disputed: DisputedStep | None) -> list[Rule]:
    """Whether what it disputes bears out what it concludes."""
    accuses = disputed is not None and disputed.accuses
    listed = disputed is None or any(first <= disputed.step <= last for first, last in coverage.mismatches)
    return [
        (verdict.outcome is Outcome.DISPUTED and disputed is None, say("it says DISPUTED, but names no step")),
        ((verdict.outcome is Outcome.DISPUTED) != accuses, say("its outcome is not what its dispute says")),
        (not listed, say("it disputes a step that is not among those that differ")),
        (
            verdict.outcome is Outcome.REFUSED and disputed is not None,
            say("it refuses the file, and disputes a step of it"),
        ),
    ]


def _verified_rules(
    verdict: Verdict,
    coverage: Coverage,
    disputed: DisputedStep | None,
    states: Mapping[CheckNumber, CheckState],
    counts: Mapping[str, int],
) -> list[Rule]:
    """What VERIFIED needs: everything chosen was replayed, and nothing was found."""
    says = say("it says VERIFIED, but")
    warned = {number for number, state in states.items() if state is CheckState.WARNING}
    return [
        (any(state not in _DONE for state in states.values()), say("{0} a check was not passed", says)),
        (bool(warned - {CheckNumber.ORDER, CheckNumber.COVERAGE}), say("{0} a check warns that must be passed", says)),
        (
            CheckNumber.COVERAGE in warned and coverage.replayed == coverage.ordered,
            say("{0} check 10 warns of a whole replay", says),
        ),
        (verdict.run_root is None or verdict.order_digest is None, say("{0} names no run and no order", says)),
        (
            not coverage.replayed or coverage.replayed != coverage.planned,
            say("{0} not every chosen step was replayed", says),
        ),
        (bool(coverage.mismatches) or disputed is not None, say("{0} a step differs", says)),
        (bool(counts["contradictions"] or counts["omissions"]), say("{0} the log is at fault", says)),
        (
            verdict.steering is None or bool(verdict.steering.suspects),
            say("{0} directions of the log look chosen", says),
        ),
    ]
