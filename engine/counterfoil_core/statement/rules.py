"""What must be true of a signed statement beyond its form: numbered rules, judged one after the other. Pure.

Each rule is a function of its own that yields what is broken, as sentences; a rule may rely on those before it.
docs/verdict.md lists them under the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from msgspec import UNSET

from counterfoil_core.base.canonical import float_text
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import timestamp
from counterfoil_core.signing.kinds import ACCEPTANCE, ORDER, ROOT, SHA256, SHARE
from counterfoil_core.statement.dispute_rules import dispute, leaf_in_run
from counterfoil_core.statement.fact_rules import facts
from counterfoil_core.statement.judgement import Adjudication, Signed, Verdict
from counterfoil_core.statement.model import (
    VERIFIER_ID,
    SteeringFields,
)
from counterfoil_core.statement.parts import sentence_of
from counterfoil_core.statement.violation import Broken, contradiction, not_spans, outside
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.beacon import CHAINS, Beacon
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from counterfoil_core.values.report import NAMED_SITES
from counterfoil_core.values.sampling import NONCE, NonceSource, Selection, draw_segments, ranges

_DONE = (CheckState.PASSED, CheckState.WARNING)
_UNFINISHED = (CheckState.PENDING, CheckState.RUNNING)
_MAY_WARN = (CheckNumber.ORDER, CheckNumber.COVERAGE)
_MAY_WARN_BEFORE = (*_MAY_WARN, CheckNumber.ORDER_CONTENTS)
"""Before data that lie in a data file are compared."""
_BEFORE_REPLAY = tuple(number for number in CheckNumber if number < CheckNumber.REPLAY)
_REMEDY = say("Rely on nothing that it says, and tell whoever signed it.")


@dataclass(frozen=True)
class Rule:
    """One rule."""

    number: int  #: Its number in docs/verdict.md.
    name: str  #: What it asks, in a few words.
    about: tuple[type[Signed], ...]  #: The kinds of statements that it is judged of.
    judge: Callable[[Any], Broken]  #: Yields what is broken.


def judge(said: Signed) -> None:
    """Judge a statement by every rule that is about its kind, in order, up to the first that is broken.

    Raises:
        SignatureError: One is broken; the sentence says how, and the detail which.
    """
    for rule in RULES:
        if isinstance(said, rule.about):
            for sentence in rule.judge(said):
                raise SignatureError(sentence, remedy=_REMEDY, detail=f"rule {rule.number}: {rule.name}")


def maker(said: Signed) -> Broken:
    """Rule 1: a statement of another program means something else by the same fields."""
    if said.statement.verifier.id != VERIFIER_ID:
        yield say("The verdict was not made by Counterfoil.")


def subjects(said: Signed) -> Broken:
    """Rule 2: a verdict is about one file, and one run when that was read; of a verified one it may name the model.

    A verdict on a run that was fetched is about that run alone.
    """
    file, *rest = said.statement.subject
    fetched = isinstance(said, Verdict) and said.fetched is not None
    if fetched == said.statement.resource_uri.startswith("file:"):
        yield say("The verdict's file lay elsewhere, and it does not say how much was fetched; or the other way round.")
    if fetched:
        if file.digest.keys() != {ROOT} or rest:
            yield say("The verdict is about a run that was fetched, and names something else than that run.")
        return
    runs, models = rest[:1], rest[1:]
    if file.digest.keys() != {SHA256}:
        yield say("The verdict's subjects should be the bundle file and the run.")
    for run in runs:
        if run.name != "run" or run.digest.keys() != {ROOT}:
            yield say("The verdict's second subject is not the run.")
    for model in models:
        if model.digest.keys() != {SHA256} or said.statement.result is not Outcome.VERIFIED:
            yield say("The verdict's third subject is not the model of a verified run.")


def claim(said: Signed) -> Broken:
    """Rule 3: it rests on an order's signature, the trainer's acceptance, the run's claim, and the parties' shares.

    Each once, in this order; the parties of shares by key id, and none without the claim.
    """
    parties = said.parties
    attested = said.statement.input_attestations
    shares = [attestation.predicate_type for attestation in attested[len(attested) - len(parties) :]]
    if list(parties) != sorted(set(parties)) or set(shares) - {SHARE.predicate} or (parties and not said.trainer_key):
        yield say("The parties of shares that the verdict names are not in order, or name no run.")
    attested = attested[: len(attested) - len(parties)]
    kinds = [attestation.predicate_type for attestation in attested]
    run = said.claim_kind
    if kinds != [kind for kind in (ORDER.predicate, ACCEPTANCE.predicate, run) if kind in kinds]:
        yield say("The verdict rests on something else than an order's signature, its acceptance and a run's claim.")
    keys = {attestation.key_id for attestation in attested[-2:]}
    if ACCEPTANCE.predicate in kinds and (run not in kinds or len(keys) > 1):
        yield say("The verdict says that another key accepted the order than the one that signed the run.")


def ten_checks(said: Signed) -> Broken:
    """Rule 4: the checks are all there, each once, under its title."""
    checks = said.statement.checks
    if [check.number for check in checks] != list(CheckNumber):
        yield say("The verdict does not list every check once and in order.")
    if any(check.title != check.number.title for check in checks):
        yield say("The verdict gives a check another title than it has.")


def coverage(verdict: Verdict) -> Broken:
    """Rule 5: no more steps were planned than recorded, nor replayed than planned; only recorded ones differ."""
    said = verdict.statement.coverage
    yield from outside("stepsPlanned", say("verdict's coverage"), said.steps_planned, 0, verdict.steps_recorded)
    yield from outside("stepsReplayed", say("verdict's coverage"), said.steps_replayed, 0, said.steps_planned)
    yield from not_spans(said.mismatched_steps, verdict.steps_recorded, say("mismatched steps"))


def capsule_steps(adjudication: Adjudication) -> Broken:
    """Rule 6: a capsule begins before the step that it disputes, and no more steps are replayed than lie between."""
    said = adjudication.statement.steps
    yield from outside("disputed", say("adjudication's steps"), said.disputed, 0, adjudication.steps_recorded)
    yield from outside("agreed", say("adjudication's steps"), said.agreed, 0, said.disputed)
    yield from outside("replayed", say("adjudication's steps"), said.replayed, 0, said.disputed - said.agreed)


def sample(verdict: Verdict) -> Broken:
    """Rule 7: a random sample is the one that its nonce and the run root draw, with the probability that it has."""
    fields, chosen = verdict.statement.coverage.sample, verdict.sample
    if fields is None or chosen is None:
        return
    yield from outside("segments", say("verdict's sample"), fields.segments, 1, max(verdict.steps_recorded, 1))
    yield from not_spans(fields.chosen, fields.segments, say("chosen segments"))
    yield from outside("badSegments", say("verdict's sample"), fields.bad_segments, 0, fields.segments)
    random = fields.selection is Selection.RANDOM
    if (
        not fields.chosen
        or random != bool(NONCE.fullmatch(fields.nonce))
        or random != bool(fields.bad_segments)
        or (fields.nonce and not random)
        or random != (fields.nonce_source is not None)
        or (fields.nonce_source is NonceSource.BEACON) != (fields.beacon is not None)
    ):
        yield say("The verdict's sample is incomplete, or says more than its selection allows.")
    if chosen.beacon is not None:
        yield from _wrong_beacon(chosen.beacon, fields.nonce, verdict.signed_at)
    if fields.selection is Selection.ALL and not chosen.whole:
        yield say("The verdict says that all segments were chosen, and lists fewer.")
    if random:
        if verdict.run_root is None:
            yield say("The verdict's sample was drawn from a run root that the verdict does not name.")
        elif tuple(ranges(draw_segments(chosen.total, chosen.count, chosen.nonce, verdict.run_root))) != chosen.spans:
            yield say("The verdict's sample is not the one that its nonce and the run root draw.")
    if float_text(chosen.passing) != fields.passing_probability.hex:
        yield say("The verdict states another probability than its sample has.")


def _wrong_beacon(beacon: Beacon, nonce: str, signed_at: str) -> Broken:
    if beacon.chain not in CHAINS:
        yield say("The verdict's nonce is of a beacon that is not known.")
    elif beacon.nonce != nonce:
        yield say("The verdict's nonce is not the randomness of its beacon's round.")
    elif timestamp(beacon.published) > signed_at:
        yield say("The verdict's nonce is of a round that was published after the verdict.")


def account(verdict: Verdict) -> Broken:
    """Rule 8: the account of the log adds up, and its lists are in order, so that each kind stands in it once.

    Under an exact profile there is no log, and no account of one.
    """
    predicate = verdict.statement
    if predicate.steering is not None:
        yield from _wrong_account(predicate.steering, predicate.counts.log_entries, predicate.counts.corrections)
    counts = predicate.counts
    logged = (
        counts.rounded_values,
        counts.log_entries,
        counts.log_bytes,
        counts.corrections,
        counts.contradictions,
        counts.omissions,
    )
    if predicate.exact_bits is not None and (predicate.steering is not None or predicate.without_bound or any(logged)):
        yield say("The verdict has an account of a log under an exact profile, which has none.")
    kinds = predicate.without_bound
    if kinds is not None and list(kinds) != sorted(set(kinds)):
        yield say("The operators without a bound of the verdict are not a sorted list of names.")


def _wrong_account(steering: SteeringFields, entries: int, corrections: int) -> Broken:
    rows = steering.operators
    for row in rows:
        if not (
            row.steered <= min(row.steerable, row.corrections)
            and max(row.steerable, row.corrections) <= row.entries <= row.values
        ):
            yield say("The verdict's steering of {0} has a part that is larger than the whole.", repr(row.kind))
    if len(steering.suspects) > max(NAMED_SITES, len({row.kind for row in rows})) or any(
        one.kind >= other.kind for one, other in pairwise(rows)
    ):
        yield say("The operators of the verdict's steering are not in order, or it has too many suspects.")
    if (sum(row.entries for row in rows), sum(row.corrections for row in rows)) != (entries, corrections):
        yield say("The operators of the verdict's steering do not add up to its log entries.")


def checks(said: Signed) -> Broken:
    """Rule 11: the checks say what is known of the order and of the run."""
    states = said.states
    order, signature = states[CheckNumber.ORDER], states[CheckNumber.SIGNATURE]
    attested = bool(said.trainer_key)
    if any(state in _UNFINISHED for state in states.values()):
        yield contradiction(said, say("a check is not finished"))
    for number, state in states.items():
        if state is CheckState.WARNING and number not in (_MAY_WARN if said.steps_replayed else _MAY_WARN_BEFORE):
            yield contradiction(said, say("check {0} warns, which it never does", int(number)))
    if (said.run_order is None) != (said.steps_ordered == 0):
        yield contradiction(said, say("its order is known, and its steps are not"))
    if order in _DONE and said.run_order is None:
        yield contradiction(said, say("check 2 was passed without an order"))
    if order is CheckState.PASSED and said.order_source == "bundle":
        yield contradiction(said, say("check 2 was passed without the client's order"))
    if order is CheckState.WARNING and said.order_source != "bundle":
        yield contradiction(said, say("check 2 warns with the client's order"))
    if order in _DONE and said.given_client_key not in ("", said.client_key):
        yield contradiction(said, say("check 2 was passed, and the client's key did not sign the order"))
    if said.order_source == "signature" and (order is not CheckState.PASSED or not said.given_client_key):
        yield contradiction(said, say("its order is known by a client's key that was not given"))
    yield from _wrong_orders(said)
    if signature in _DONE and said.run_root is None:
        yield contradiction(said, say("check 5 was passed without a run root"))
    if (said.run_root is not None) != attested:
        yield contradiction(said, say("its run root and the key that signed it do not come together"))
    if said.run_root is not None and said.run_order is None:
        yield contradiction(said, say("it knows a run and no order"))
    if said.run_root is not None and said.given_key not in ("", said.trainer_key):
        yield contradiction(said, say("another key signed the run than the trainer's that was given"))
    if signature is CheckState.PASSED and not said.accepted and order in _DONE:
        yield contradiction(said, say("check 5 was passed without the trainer's acceptance of the order"))
    if said.statement.result.value in ("REFUSED", "ERROR") and all(state in _DONE for state in states.values()):
        yield contradiction(said, say("it says {0}, and every check was passed", said.statement.result.value))
    # A stored state that is damaged is found while the steps around it are replayed.
    later = (CheckNumber.COMMITMENTS,) if isinstance(said, Verdict) else ()
    if said.steps_replayed and any(
        state not in _DONE and not (number in later and state is CheckState.FAILED)
        for number, state in states.items()
        if number in _BEFORE_REPLAY
    ):
        yield contradiction(said, say("steps were replayed although a check before that was not passed"))


def _wrong_orders(said: Signed) -> Broken:
    state, asked, held = said.states[CheckNumber.ORDER], said.order_digest, said.run_order
    if said.order_source != "client" and asked != held:
        yield contradiction(said, say("its order came from the file, and is another than the file's"))
    if said.order_source == "client" and asked is None:
        yield contradiction(said, say("the client's order was given, and is not named"))
    # With equal orders it fails where another key signed one of them than the client's.
    keys = said.client_key or said.given_client_key or said.order_source != "client"
    if (state is CheckState.PASSED and asked != held) or (state is CheckState.FAILED and asked == held and not keys):
        yield contradiction(said, say("check 2 is not what the two orders say"))


def replayed(verdict: Verdict) -> Broken:
    """Rule 12: what was replayed fits what was planned, counted and concluded of it."""
    states, predicate = verdict.states, verdict.statement
    covered, counts, steering, chosen = predicate.coverage, predicate.counts, predicate.steering, verdict.sample
    replay, log = states[CheckNumber.REPLAY], states[CheckNumber.LOG]
    steps = covered.steps_replayed
    differing = _length(covered.mismatched_steps)
    rounded = 0 if steering is None else sum(row.values for row in steering.operators)
    if bool(steps and predicate.exact_bits is None) != (steering is not None):
        yield contradiction(verdict, say("its account of the log does not belong to the replayed steps"))
    if steps and (verdict.run_root is None or chosen is None):
        yield contradiction(verdict, say("steps were replayed of no run"))
    if differing > steps:
        yield contradiction(verdict, say("more steps differ than were replayed"))
    if bool(differing) != (replay is CheckState.FAILED):
        yield contradiction(verdict, say("check 8 is not what the differing steps say"))
    if replay is CheckState.PASSED and not steps:
        yield contradiction(verdict, say("check 8 was passed without a replay"))
    if log is CheckState.PASSED and (_faulty_log(verdict) or (steering is not None and steering.suspects)):
        yield contradiction(verdict, say("its log is at fault, and check 9 passed"))
    if states[CheckNumber.COVERAGE] is CheckState.PASSED and steps != verdict.steps_recorded:
        yield contradiction(verdict, say("check 10 was passed, but not every step was replayed"))
    if steering is not None and (
        predicate.without_bound is None or not set(predicate.without_bound) <= {row.kind for row in steering.operators}
    ):
        yield contradiction(verdict, say("its operators without a bound are not among those that it counted"))
    if rounded > counts.rounded_values:
        yield contradiction(verdict, say("its account of the log has more values than were rounded"))
    if steps and not differing and rounded != counts.rounded_values:
        yield contradiction(verdict, say("its account of the log does not add up to its rounded values"))
    if chosen is not None and (
        chosen.total > verdict.steps_recorded
        or chosen.count > covered.steps_planned
        or chosen.total - chosen.count > verdict.steps_recorded - covered.steps_planned
        or chosen.whole != (covered.steps_planned == verdict.steps_recorded)
    ):
        yield contradiction(verdict, say("its sample does not have the planned steps"))


def disputed(verdict: Verdict) -> Broken:
    """Rule 13: DISPUTED goes with a dispute that accuses, and no other result does."""
    step, outcome = verdict.disputed_step, verdict.outcome
    differing = verdict.statement.coverage.mismatched_steps
    if outcome is Outcome.DISPUTED and step is None:
        yield contradiction(verdict, say("it says DISPUTED, but names no step"))
    if (outcome is Outcome.DISPUTED) != verdict.accuses:
        yield contradiction(verdict, say("its outcome is not what its dispute says"))
    if step is not None and not any(first <= step <= last for first, last in differing):
        yield contradiction(verdict, say("it disputes a step that is not among those that differ"))
    if outcome is Outcome.REFUSED and step is not None:
        yield contradiction(verdict, say("it refuses the file, and disputes a step of it"))


def verified(verdict: Verdict) -> Broken:
    """Rule 14: VERIFIED needs that everything chosen was replayed, and that nothing was found."""
    if verdict.outcome is not Outcome.VERIFIED:
        return
    states, predicate = verdict.states, verdict.statement
    covered = predicate.coverage
    warned = {number for number, state in states.items() if state is CheckState.WARNING}
    if any(state not in _DONE for state in states.values()):
        yield contradiction(verdict, say("it says VERIFIED, but a check was not passed"))
    if warned - {CheckNumber.ORDER, CheckNumber.COVERAGE}:
        yield contradiction(verdict, say("it says VERIFIED, but a check warns that must be passed"))
    if CheckNumber.COVERAGE in warned and covered.steps_replayed == verdict.steps_recorded:
        yield contradiction(verdict, say("it says VERIFIED, but check 10 warns of a whole replay"))
    if verdict.run_root is None or verdict.order_digest is None:
        yield contradiction(verdict, say("it says VERIFIED, but names no run and no order"))
    if not covered.steps_replayed or covered.steps_replayed != covered.steps_planned:
        yield contradiction(verdict, say("it says VERIFIED, but not every chosen step was replayed"))
    if covered.mismatched_steps or predicate.dispute is not None:
        yield contradiction(verdict, say("it says VERIFIED, but a step differs"))
    if verdict.model is not None and verdict.sample is not None and not verdict.sample.reaches_end:
        yield contradiction(verdict, say("it names a model, and nobody replayed the segment that ends in it"))
    if _faulty_log(verdict):
        yield contradiction(verdict, say("it says VERIFIED, but the log is at fault"))
    if predicate.steering.suspects if predicate.steering is not None else predicate.exact_bits is None:
        yield contradiction(verdict, say("it says VERIFIED, but directions of the log look chosen"))


def places(verdict: Verdict) -> Broken:
    """Rule 17: no segment was replayed at two places, and none that was not chosen."""
    said, chosen = verdict.statement.replayed_at, verdict.sample
    if said is UNSET:
        return
    spans = [span for place in said for span in place.segments]
    for place in said:
        yield from not_spans(place.segments, 0 if chosen is None else chosen.total, say("segments of a machine"))
    if any(later[0] <= earlier[1] for earlier, later in pairwise(sorted(spans))):
        yield contradiction(verdict, say("a segment was replayed on two machines"))
    within = () if chosen is None else chosen.spans
    if any(not any(low <= first and last <= high for low, high in within) for first, last in spans):
        yield contradiction(verdict, say("a segment was replayed that was not chosen"))
    if verdict.outcome is Outcome.VERIFIED and chosen is not None and _length(spans) != chosen.count:
        yield contradiction(verdict, say("it says VERIFIED, but not where every segment was replayed"))


def length(said: Signed) -> Broken:
    """Rule 18: only a signed run ends before its last ordered step, and then it has one at least."""
    recorded = said.said_recorded
    if recorded is None:
        return
    yield from outside("recorded", say("steps of the run"), recorded, 1, said.steps_ordered - 1)
    if said.run_root is None:
        yield contradiction(said, say("it says how many steps a run has that it does not know"))


def adjudicated(said: Adjudication) -> Broken:
    """Rule 15: what was found in a capsule was found in the steps that were replayed, and ended the replay."""
    first, last = said.agreed_step + 1, said.agreed_step + said.steps_replayed
    found, states = said.disputed_step, said.states
    if (said.outcome is AdjudicationOutcome.CONFIRMED) != said.accuses:
        yield contradiction(said, say("its outcome is not what its dispute says"))
    if found is not None and not first <= found <= last:
        yield contradiction(said, say("it disputes a step that was not replayed"))
    if said.accuses and found != last:
        yield contradiction(said, say("it went on after a confirmed dispute"))
    if found is not None and states[CheckNumber.REPLAY] is CheckState.PASSED:
        yield contradiction(said, say("a step differs, and check 8 passed"))
    if _faulty_log(said) and states[CheckNumber.LOG] is CheckState.PASSED:
        yield contradiction(said, say("its log is at fault, and check 9 passed"))
    if said.outcome is AdjudicationOutcome.CONFIRMED and states[CheckNumber.REPLAY] is not CheckState.FAILED:
        yield contradiction(said, say("it says CONFIRMED, but check 8 did not fail"))


def rejected(said: Adjudication) -> Broken:
    """Rule 16: REJECTED needs that every step of the capsule was replayed, and that nothing was found."""
    if said.outcome is not AdjudicationOutcome.REJECTED:
        return
    needed = said.step - said.agreed_step
    if said.disputed_step is not None:
        yield contradiction(said, say("it says REJECTED, and disputes a step"))
    if not needed or said.steps_replayed != needed:
        yield contradiction(said, say("it says REJECTED, but did not replay every step"))
    if _faulty_log(said):
        yield contradiction(said, say("it says REJECTED, but the log is at fault"))
    if any(state not in _DONE for state in said.states.values()):
        yield contradiction(said, say("it says REJECTED, but its checks do not"))


def sentences(said: Signed) -> Broken:
    """Rule 19: what stands beside a sentence gives that very sentence, or it would say something else elsewhere."""
    predicate = said.statement
    told = [("reason", predicate.reason, predicate.reason_parts)]
    told += [(f"check {one.number.value}", one.detail, one.detail_parts) for one in predicate.checks]
    if predicate.dispute is not None and predicate.dispute.finding is not None:
        finding = predicate.dispute.finding
        told.append(("finding", finding.sentence, finding.sentence_parts))
    for where, text, parts in told:
        try:
            sentence_of(text, parts)
        except ValueError:
            yield say(
                "The {0} has another sentence in its template and values than in its text, under {1}: in another "
                "language it would say something else.",
                said.kind,
                repr(where),
            )


_BOTH = (Verdict, Adjudication)
RULES = (
    Rule(1, "It was made by Counterfoil", _BOTH, maker),
    Rule(2, "It is about one file, one run at most, and a model of it", _BOTH, subjects),
    Rule(3, "It rests on the order's signature, its acceptance and the run's claim", _BOTH, claim),
    Rule(4, "It has the ten checks", _BOTH, ten_checks),
    Rule(5, "Its steps fit inside each other", (Verdict,), coverage),
    Rule(6, "Its steps fit inside each other", (Adjudication,), capsule_steps),
    Rule(7, "Its sample is the one that was drawn", (Verdict,), sample),
    Rule(8, "Its account of the log adds up", (Verdict,), account),
    Rule(9, "The parts of its dispute belong together", _BOTH, dispute),
    Rule(10, "The disputed leaf is in the run", _BOTH, leaf_in_run),
    Rule(11, "Its checks say what it knows of order and run", _BOTH, checks),
    Rule(12, "Its replay fits its plan, its counts and its checks", (Verdict,), replayed),
    Rule(13, "Its dispute bears out its result", (Verdict,), disputed),
    Rule(14, "It says VERIFIED only where nothing is missing", (Verdict,), verified),
    Rule(15, "Its dispute bears out its result", (Adjudication,), adjudicated),
    Rule(16, "It says REJECTED only where nothing is missing", (Adjudication,), rejected),
    Rule(17, "It says where each segment was replayed, if not in one place", (Verdict,), places),
    Rule(18, "It says how many steps the run has, if fewer than ordered", _BOTH, length),
    Rule(19, "It says the same in every language", _BOTH, sentences),
    Rule(20, "Its facts are those of its run, and add up", (Verdict,), facts),
)
"""In the order in which they are judged."""


def _faulty_log(said: Verdict | Adjudication) -> bool:
    counts = said.statement.counts
    return bool(counts.contradictions or counts.omissions)


def _length(spans: Sequence[tuple[int, int]]) -> int:
    return sum(last - first + 1 for first, last in spans)
