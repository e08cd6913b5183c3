"""The words, icons and tones for the engine's values, in one place so that all views say the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from counterfoil import (
    AdjudicationOutcome,
    AuditReport,
    Cause,
    Check,
    CheckNumber,
    CheckState,
    Dispute,
    Finding,
    Kept,
    KnownKey,
    Level,
    OrderSource,
    Outcome,
    Revocation,
    Right,
    Role,
    Sample,
    SegmentRequest,
    StepMatch,
    TrainerTrust,
    Trust,
    TrustLine,
    Verdict,
    account_of,
    bound_by,
    consequence_of,
    difference_of,
    kept_said,
    meaning_of,
    ranges,
    rows_named,
)
from counterfoil_app.looks import engine_words, text
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Tone
from counterfoil_app.model.step_data import StepState
from counterfoil_core.base.sentence import Sentence


@dataclass(frozen=True)
class Look:
    """How a value is shown: never by colour alone."""

    word: str
    icon: str
    tone: Tone


_tr = texts("words")


def outcome(value: Outcome, sample: Sample | None = None, trust: Trust | None = None) -> Look:
    """How an outcome is shown.

    A clean sample never looks like a whole run that was verified, nor does a run of which it is open whether it is what
    the client ordered, or who trained.
    """
    look = _outcome(value, sample)
    if value is not Outcome.VERIFIED or trust is None or trust.level is Level.WHOLE:
        return look
    return Look(look.word, "verified-open", Tone.WARN if trust.level is Level.OPEN else Tone.BAD)


def conclusion(judged: AuditReport | Verdict, trust: Trust | None = None) -> Look:
    """How what an audit found is shown: of a run that ended early it says how many of the ordered steps it has."""
    look = outcome(judged.outcome, judged.sample, trust)
    if judged.outcome is not Outcome.VERIFIED or judged.steps_recorded == judged.steps_ordered:
        return look
    said = _tr("{0}, {1} of {2} ordered steps")
    return replace(
        look, word=said.format(look.word, text.count(judged.steps_recorded), text.count(judged.steps_ordered))
    )


def reason(judged: AuditReport | Verdict, trust: Trust | None) -> str:
    """Why an audit found what it found, with its caveat."""
    return f"{engine_words.translate(judged.reason)} {caveat(judged.outcome, trust)}".strip()


def caveat(outcome: Outcome | AdjudicationOutcome, trust: Trust | None) -> str:
    """What is open of a verified run, wherever its outcome stands: header, signing, report; empty where nothing is."""
    return engine_words.translate(trust.reason) if outcome is Outcome.VERIFIED and trust is not None else ""


def recorded_steps(steps: int, ordered: int) -> str:
    """How many steps a run has, and of how many where these are more."""
    if steps == ordered:
        return text.count(steps)
    return _tr("{0} of {1} ordered").format(text.count(steps), text.count(ordered))


def judged_steps(judged: AuditReport | Verdict) -> str:
    """How many steps were ordered, recorded where these are fewer, and judged."""
    ordered, recorded, replayed = map(text.count, (judged.steps_ordered, judged.steps_recorded, judged.steps_replayed))
    if judged.steps_recorded == judged.steps_ordered:
        return _tr("{0} ordered, {1} judged").format(ordered, replayed)
    return _tr("{0} ordered, {1} recorded, {2} judged").format(ordered, recorded, replayed)


def trust(rests_on: Trust, trainer: str) -> Iterator[tuple[TrustLine, Look]]:
    """How order, trainer and machine, on which a conclusion rests, are shown.

    Args:
        rests_on: What it rests on.
        trainer: Name that the reader has given the trainer's key; empty for none.
    """
    for line, named in zip(rests_on.lines, (False, rests_on.trainer is TrainerTrust.NAMED, False), strict=True):
        look = {
            Level.WHOLE: ("passed", Tone.OK),
            Level.OPEN: ("warning", Tone.WARN) if line.reason else ("pending", Tone.MUTED),
            Level.NONE: ("failed", Tone.BAD),
        }[line.level]
        yield line, Look(trainer if named and trainer else engine_words.translate(line.words), *look)


def role(value: Role) -> str:
    """What a key is for."""
    return {
        Role.TRAINER: _tr("a trainer"),
        Role.AUDITOR: _tr("an auditor"),
        Role.CLIENT: _tr("a client"),
        Role.MINE: _tr("yourself"),
    }[value]


def order_signature(key_id: str, known: KnownKey | None = None, when: str = "", *, given: bool = False) -> str:
    """Whose signature an order has.

    Args:
        key_id: Fingerprint of the key that signed it as its client; empty for an unsigned order.
        known: That key in the list of keys.
        when: When it was signed, ISO 8601, as the client says; empty where that is not known.
        given: Whether an auditor gave that key as the client's.
    """
    if not key_id:
        return _tr("unsigned")
    if known is not None and known.name:
        signed = _tr("signed by {0}, {1}").format(known.name, role(known.role))
    elif given:
        signed = _tr("signed with the client's key, which was given")
    else:
        signed = _tr("signed with a key that you do not know")
    return _tr("{0}, on {1}, as the signature says").format(signed, text.moment(when)) if when else signed


def order_acceptance(accepted: bool, when: str = "") -> str:
    """Whether a trainer accepted an order.

    Args:
        accepted: Whether an acceptance holds.
        when: When, ISO 8601, as the trainer says; empty where that is not known.
    """
    if not accepted:
        return _tr("not accepted")
    return (
        _tr("accepted by the trainer on {0}, as the trainer says").format(text.moment(when))
        if when
        else _tr("accepted by the trainer")
    )


def order_source(value: OrderSource) -> str:
    """How it is known whose order a run is of."""
    return {
        "client": _tr("compared with the client's own file"),
        "signature": _tr("signed with the client's key, which was given"),
        "bundle": _tr("taken from the bundle; not compared with the client's own file"),
    }[value]


def disputed_step(step: int, ordered: int, agreed: int) -> str:
    """Which step a capsule is about."""
    return _tr("step {0} of {1}, replayed from the state after step {2}").format(
        text.count(step), text.count(ordered), text.count(agreed)
    )


def check_said(value: Check) -> str:
    """Where a check stands, and what was found."""
    return f"{check(value).word}. {engine_words.translate(value.detail)}".strip()


def revocation(found: Revocation) -> str:
    """That a key was revoked, from when on and why."""
    cause = {
        Cause.COMPROMISED: _tr("somebody else has it, or may have it"),
        Cause.RETIRED: _tr("no longer used"),
    }[found.cause]
    return _tr("Revoked from {0} on ({1}): \u201c{2}\u201d.").format(text.moment(found.since), cause, found.reason)


def known_key(key: KnownKey, found: Revocation | None = None) -> Look:
    """How a key in the list of keys is shown: one that was only met is not known, and a revoked one not trusted."""
    if found is not None:
        return Look(_tr("revoked"), "failed", Tone.BAD)
    return Look(_tr("known"), "passed", Tone.OK) if key.name else Look(_tr("no name yet"), "warning", Tone.WARN)


def as_signed(outcome: str) -> str:
    """An outcome as it stands in a verdict, with its meaning in brackets where the window speaks another language."""
    meaning = {
        "VERIFIED": _tr("verified"),
        "DISPUTED": _tr("disputed"),
        "INCONCLUSIVE": _tr("inconclusive"),
        "REFUSED": _tr("refused"),
        "ERROR": _tr("error"),
    }.get(outcome, outcome)
    return outcome if meaning.upper() == outcome else f"{outcome} ({meaning})"


def headline(judged: AuditReport | Verdict) -> str:
    """The outcome as it is signed, with how much of the run and of the order it holds for."""
    return headline_of(judged.outcome, judged.headline)


def headline_of(value: Outcome, said: str) -> str:
    """The same of a headline of the engine's, which begins with the outcome."""
    return as_signed(value.value) + engine_words.translate(said).removeprefix(value.value)


def _outcome(value: Outcome, sample: Sample | None) -> Look:
    if value is Outcome.VERIFIED and sample is not None and not sample.whole:
        of = _tr("{0} for {1} of {2} segments")
        return Look(of.format(as_signed(value.value), sample.count, sample.total), "verified-part", Tone.INFO)
    icon, tone = {
        Outcome.VERIFIED: ("verified", Tone.OK),
        Outcome.DISPUTED: ("disputed", Tone.BAD),
        Outcome.INCONCLUSIVE: ("inconclusive", Tone.WARN),
        Outcome.REFUSED: ("refused", Tone.WARN),
        Outcome.ERROR: ("error", Tone.WARN),
    }[value]
    return Look(as_signed(value.value), icon, tone)


def adjudication(value: AdjudicationOutcome) -> Look:
    """How the outcome of an adjudication is shown."""
    return {
        AdjudicationOutcome.CONFIRMED: Look(_tr("CONFIRMED: the auditor is right"), "disputed", Tone.BAD),
        AdjudicationOutcome.REJECTED: Look(_tr("REJECTED: the trainer is right"), "verified", Tone.OK),
        AdjudicationOutcome.INCONCLUSIVE: Look(as_signed("INCONCLUSIVE"), "inconclusive", Tone.WARN),
        AdjudicationOutcome.REFUSED: Look(as_signed("REFUSED"), "refused", Tone.WARN),
        AdjudicationOutcome.ERROR: Look(as_signed("ERROR"), "error", Tone.WARN),
    }[value]


def segments(request: SegmentRequest) -> str:
    """Which segments are to be replayed."""
    if request.numbers:
        return _tr("the segments {0}").format(number_list(request.numbers))
    if request.confidence is not None:
        return _tr("a random sample that finds a run with {0} % of bad segments with a probability of {1} %").format(
            text.number(100 * request.bad_fraction), text.number(100 * request.confidence)
        )
    if request.count is not None:
        return _tr("a random sample of {0} segments").format(request.count)
    return _tr("the whole run")


def kept_replay(value: Kept) -> str:
    """What is kept of a replay that was stopped, as sentences."""
    return _tr("Kept: {0}. Resume goes on from there.").format(engine_words.translate(kept_said(value)))


def number_list(numbers: Sequence[int]) -> str:
    """Ascending numbers with neighbours merged: ``1, 4, 7-9``."""
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges(numbers))


def check(value: Check) -> Look:
    """How the state of a check is shown; what was only done in part does not read as passed."""
    look = check_state(value.state)
    if value.state is not CheckState.WARNING:
        return look
    word = {
        CheckNumber.ORDER: _tr("not compared"),
        CheckNumber.ORDER_CONTENTS: _tr("in part"),
        CheckNumber.COVERAGE: _tr("in part"),
    }.get(value.number, look.word)
    return Look(word, look.icon, look.tone)


def check_state(value: CheckState) -> Look:
    """How the state of a check is shown."""
    return {
        CheckState.PENDING: Look(_tr("not yet checked"), "pending", Tone.MUTED),
        CheckState.RUNNING: Look(_tr("being checked"), "running", Tone.INFO),
        CheckState.PASSED: Look(_tr("passed"), "passed", Tone.OK),
        CheckState.FAILED: Look(_tr("failed"), "failed", Tone.BAD),
        CheckState.WARNING: Look(_tr("passed, with a remark"), "warning", Tone.WARN),
        CheckState.SKIPPED: Look(_tr("not reached"), "skipped", Tone.MUTED),
    }[value]


def step_match(value: StepMatch) -> Look:
    """How the comparison of a step is shown."""
    return {
        StepMatch.MATCH: Look(_tr("match"), "passed", Tone.OK),
        StepMatch.MISMATCH: Look(_tr("mismatch"), "failed", Tone.BAD),
        StepMatch.UNJUDGED: Look(_tr("unjudged"), "skipped", Tone.MUTED),
    }[value]


def step_state(value: StepState) -> Look:
    """How the state of a step is shown."""
    return {
        StepState.LEFT_OUT: Look(_tr("not chosen"), "skipped", Tone.MUTED),
        StepState.MATCH: Look(_tr("match"), "passed", Tone.OK),
        StepState.WAITING: Look(_tr("not replayed"), "pending", Tone.MUTED),
        StepState.UNJUDGED: Look(_tr("unjudged"), "skipped", Tone.WARN),
        StepState.SUSPICIOUS: Look(_tr("match, suspicious log"), "warning", Tone.BAD),
        StepState.MISMATCH: Look(_tr("mismatch"), "failed", Tone.BAD),
    }[value]


def equality(equal: bool) -> Look:
    """How the comparison of two hashes is shown."""
    return Look(_tr("equal"), "passed", Tone.OK) if equal else Look(_tr("different"), "failed", Tone.BAD)


def not_compared() -> Look:
    """How two values are shown that nobody compared, because both come from one file."""
    return Look(_tr("not compared with anybody's order"), "pending", Tone.MUTED)


def dispute_account(dispute: Dispute, earlier: int | None) -> str:
    """What differs, what that most likely means, and what follows for the model.

    Args:
        dispute: The dispute.
        earlier: How many steps before it differ; None where nothing is said of those.
    """
    return engine_words.translate(account_of(dispute, earlier=earlier))


def dispute_difference(dispute: Dispute) -> str:
    """What differs."""
    return engine_words.translate(difference_of(dispute))


def dispute_consequence(dispute: Dispute, earlier: int | None) -> str:
    """What that most likely means, and what follows for the model; ``earlier`` as in :func:`dispute_account`."""
    return engine_words.translate(consequence_of(dispute, earlier=earlier))


def dispute_meaning(dispute: Dispute) -> str:
    """What a dispute means for the trainer, as a plain paragraph."""
    return engine_words.translate(meaning_of(dispute))


def dispute_bound(dispute: Dispute) -> str:
    """What an accusation is about and who can settle it, for a client."""
    return engine_words.translate(bound_by(dispute))


def rows(inputs: Sequence[str]) -> str:
    """Which rows have other fingerprints."""
    return engine_words.translate(rows_named(tuple(inputs)))


def no_leaf(dispute: Dispute) -> str:
    """Why a disputed step has no Merkle leaf of the replay's."""
    return _tr("no result") if dispute.right is Right.NO_RESULT else _tr("not replayed")


def finding_extent(finding: Finding) -> str:
    """How much of the disputed operator's output was computed exactly."""
    if finding.defined:
        return _tr("{0} of {1} elements were computed in integers. Every machine must have these bits.").format(
            text.count(finding.recomputed), text.count(finding.total)
        )
    return _tr("{0} of {1} elements were computed exactly. The error bound is {2}.").format(
        text.count(finding.recomputed), text.count(finding.total), text.number(finding.bound)
    )


def check_title(number: CheckNumber) -> str:
    """What a check asks, with its number."""
    return f"{int(number)}. {engine_words.translate(number.title)}"


def precision(whole: str, *, exactly: bool = False) -> str:
    """A precision profile: the grid alone, or exactly, with its margins."""
    if not exactly and isinstance(whole, Sentence) and whole.values and isinstance(whole.values[0], Sentence):
        return engine_words.translate(whole.values[0])
    return engine_words.translate(whole)


def environment(name: str) -> str:
    """What a line of a machine's environment says."""
    return {
        "counterfoil": "Counterfoil",
        "cpu_capability": _tr("CPU capability"),
        "deterministic_algorithms": _tr("deterministic algorithms"),
        "device": _tr("device"),
        "device_title": _tr("name of the device"),
        "platform": _tr("operating system"),
        "python": "Python",
        "threads": _tr("threads"),
    }.get(name, name)


def phase(name: str) -> str:
    """The pass of a step to which an operator belongs."""
    return {"forward": _tr("forward"), "backward": _tr("backward"), "update": _tr("update")}.get(name, name)


def step_part(name: str) -> str:
    """A part of a step that shares make, in words."""
    if name.startswith("share "):
        return _tr("share {0}").format(name.removeprefix("share "))
    return {"combine": _tr("combination"), "update": _tr("update")}.get(name, name)


def part(name: str) -> str:
    """A part of a step's record in words."""
    return {
        "shares": _tr("shares"),
        "state": _tr("state"),
        "loss": _tr("loss"),
        "fingerprints": _tr("fingerprints"),
        "log": _tr("log"),
        "result": _tr("result"),
    }.get(name, name)
