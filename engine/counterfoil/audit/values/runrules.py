"""Rules on a training run, and what a run shows of each: held, broken, or not to be told. Pure; docs/rules.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.subject import Subject
from counterfoil_core.values.runfacts import RunFacts

Range = tuple[float, float]
"""The least and the most, both allowed."""
_LOSS, _SCORE, _VERDICT = "performance.final_loss", "performance.score.", "verdict"
_COUNTED = frozenset(
    ("compute.operations", "compute.parameters", "data.epochs", "hyperparameters.batch_size", "hyperparameters.steps")
)
"""Rules on what is counted over the steps of the run."""


class RuleOutcome(Enum):
    """What a run shows of a rule."""

    HELD = "HELD"
    BROKEN = "BROKEN"
    CANNOT_BE_TOLD = "CANNOT_BE_TOLD"
    """Nothing that binds the run says it."""


@dataclass(frozen=True)
class RunRules:
    """What is asked of a run; what is not asked is None or empty."""

    title: str = ""  #: What they are, in the words of whoever wrote them.
    operations: Range | None = None  #: How many operations it may take.
    parameters: Range | None = None  #: How many trainable values it may have.
    must: tuple[Digest, ...] = ()  #: Digests that its data must have: of an array, or the root over all.
    #: Digests that its data must not have, by the name of the array of which each is the digest: it is in the digest,
    #: so that the same array under another name has another one.
    must_not: Mapping[str, tuple[Digest, ...]] = field(default_factory=dict)
    epochs: float | None = None  #: How often each array may be gone through, at most.
    steps: Range | None = None  #: How many steps it may have.
    batch_size: Range | None = None  #: How many rows a step may have.
    #: Per-step scalars of the order, such as ``lr``, by name: where each value must lie.
    scalars: Mapping[str, Range] = field(default_factory=dict)
    programs: tuple[Digest, ...] = ()  #: Digests of which each program's must be one.
    compute: tuple[str, ...] = ()  #: Dtypes of which that of the profile must be one.
    exact: bool | None = None  #: Whether its profile must be an exact one, or must not be.
    final_loss: Range | None = None  #: Where the loss of the last step must lie.
    #: Metrics and counts of an evaluation, such as ``accuracy``, by name: where each must lie.
    score: Mapping[str, Range] = field(default_factory=dict)
    auditors: tuple[str, ...] = ()  #: Key ids of auditors of whom one must have verified it.
    replayed: float = 1.0  #: The share of its steps that such a verdict must have replayed.


@dataclass(frozen=True)
class GivenVerdict:
    """A verdict whose signature holds, as far as rules ask."""

    auditor: str  #: Key id of who signed it.
    about: Subject | None  #: The run that it is about; None where it does not say whose that is.
    outcome: str  #: Its outcome, by name.
    replayed: float  #: The share of the run's steps that were replayed.
    reaches_end: bool = False  #: Whether the last of them was.
    #: Whether its auditor took it back, or the auditor's key was revoked: it does not count then.
    withdrawn: bool = False

    @property
    def verifies(self) -> bool:
        """Whether it verifies its run, by somebody who is not its trainer, and was not taken back."""
        stands = self.outcome == "VERIFIED" and not self.withdrawn
        return stands and self.about is not None and self.auditor != self.about.trainer_key


@dataclass(frozen=True)
class RuleSubject:
    """A run as rules see it."""

    facts: RunFacts  #: What it shows of itself.
    data_root: Digest  #: Root over the data arrays of its order.
    scalars: Mapping[str, Range]  #: The least and the most value of each per-step scalar, over the steps of the run.
    final_loss: float | None  #: The loss of its last step; None of a run without steps.
    verdicts: tuple[GivenVerdict, ...] = ()  #: Verdicts that were given with it.
    #: The digest that each data array would have under a name, by that name; without those whose bytes lie in another
    #: file.
    renamed: Mapping[str, Mapping[str, Digest]] = field(default_factory=dict)


@dataclass(frozen=True)
class RuleResult:
    """What a run shows of one rule."""

    rule: str  #: Its name, as in the file of rules.
    outcome: RuleOutcome  #: Whether it is held.
    said: str  #: Why, and by what that is bound, in a sentence.

    @property
    def bound_by(self) -> str:
        """What the outcome rests on, in words, as the table of docs/rules.md has it."""
        if self.outcome is RuleOutcome.CANNOT_BE_TOLD:
            return say("nothing")
        if self.rule == _VERDICT:
            return say("an auditor's signature")
        if self.rule == _LOSS or self.rule.startswith(_SCORE):
            broken = self.outcome is RuleOutcome.BROKEN
            return say("the trainer's signature") if broken else say("an auditor's signature")
        return say("order digest, run root") if self.rule in _COUNTED else say("order digest")


@dataclass(frozen=True)
class CheckedRules:
    """Rules that were checked on a run."""

    title: str  #: What they are, in the words of whoever wrote them; may be empty.
    rules: Digest  #: SHA-256 of the file of rules.
    run_root: Digest  #: The run.
    results: tuple[RuleResult, ...]  #: What it shows of each.

    @property
    def outcome(self) -> RuleOutcome:
        """What they come to, by :func:`outcome_of`."""
        return outcome_of(self.results)


def check_rules(rules: RunRules, subject: RuleSubject) -> tuple[RuleResult, ...]:
    """Check every rule that is asked. Pure.

    Args:
        rules: The rules.
        subject: The run.
    """
    return tuple(_results(rules, subject))


def outcome_of(results: Sequence[RuleResult]) -> RuleOutcome:
    """Return what they come to: BROKEN where one is, HELD where all are."""
    found = {result.outcome for result in results}
    for outcome in (RuleOutcome.BROKEN, RuleOutcome.CANNOT_BE_TOLD):
        if outcome in found:
            return outcome
    return RuleOutcome.HELD


def _results(rules: RunRules, subject: RuleSubject) -> Iterator[RuleResult]:
    facts = subject.facts
    counted: tuple[tuple[str, Range | None, int], ...] = (
        ("compute.operations", rules.operations, facts.total_operations),
        ("compute.parameters", rules.parameters, facts.parameters),
        ("hyperparameters.steps", rules.steps, facts.steps),
        ("hyperparameters.batch_size", rules.batch_size, facts.batch_size),
    )
    for name, allowed, count in counted:
        if allowed is not None:
            yield _ranged(name, allowed, (count, count))
    yield from _data(rules, subject)
    for name, allowed in sorted(rules.scalars.items()):
        yield _scalar(f"hyperparameters.scalars.{name}", allowed, subject.scalars.get(name))
    if rules.programs:
        other = [digest for _, digest in facts.program_digests if digest not in rules.programs]
        said = say("{0} of {1} programs are among those that are allowed, by the order digest.",
                   len(facts.program_digests) - len(other), len(facts.program_digests))  # fmt: skip
        yield RuleResult("hyperparameters.programs", _held(not other), said)
    if rules.compute:
        said = say("The profile computes in {0}, by the order digest.", facts.compute)
        yield RuleResult("precision.compute", _held(facts.compute in rules.compute), said)
    if rules.exact is not None:
        exact = facts.exact_bits is not None
        said = (
            say("The profile is exact, by the order digest.")
            if exact
            else say("The profile rounds, by the order digest.")
        )
        yield RuleResult("precision.exact", _held(exact is rules.exact), said)
    if rules.final_loss is not None:
        yield _loss(rules.final_loss, rules, subject)
    for name, allowed in sorted(rules.score.items()):
        yield _score(name, allowed, rules, subject)
    if rules.auditors:
        yield _verdict(rules, subject)


def _held(holds: bool) -> RuleOutcome:
    return RuleOutcome.HELD if holds else RuleOutcome.BROKEN


def _ranged(name: str, allowed: Range, found: Range) -> RuleResult:
    said = say("It has {0}; {1} to {2} are allowed. Counted from the order, which the trainer signed.",
               f"{found[0]:,}", f"{allowed[0]:.12g}", f"{allowed[1]:.12g}")  # fmt: skip
    return RuleResult(name, _held(allowed[0] <= found[0] and found[1] <= allowed[1]), said)


def _data(rules: RunRules, subject: RuleSubject) -> Iterator[RuleResult]:
    held = {use.digest: use.name for use in subject.facts.data} | {subject.data_root: say("all data")}
    for digest in rules.must:
        said = (say("The order has it: {0}.", held[digest]) if digest in held
                else say("No data array of the order has the digest {0}.", digest.short))  # fmt: skip
        yield RuleResult("data.must", _held(digest in held), said)
    for name, digests in sorted(rules.must_not.items()):
        for digest in digests:
            yield _forbidden(name, digest, subject)
    if rules.epochs is not None:
        most = max((use.epochs for use in subject.facts.data), default=0.0)
        said = say("An array was gone through {0} times at most; {1} are allowed. Counted from the order's schedule.",
                   f"{most:.3f}", f"{rules.epochs:g}")  # fmt: skip
        yield RuleResult("data.epochs", _held(most <= rules.epochs), said)


def _forbidden(name: str, digest: Digest, subject: RuleSubject) -> RuleResult:
    """Whether an array is in the order, whatever it is called there."""
    rule, renamed = "data.must_not", subject.renamed.get(name, {})
    digests = {use.name: {use.digest, renamed.get(use.name)} for use in subject.facts.data}
    for other, found in digests.items():
        if digest in found:
            return RuleResult(rule, RuleOutcome.BROKEN, say("The order has it: {0}.", other))
    unread = sorted(digests.keys() - renamed.keys() - {name})
    if unread:
        said = say("The bytes of {0} lie in another file: it may be this array under its own name.", unread[0])
        return RuleResult(rule, RuleOutcome.CANNOT_BE_TOLD, said)
    said = say("No data array of the order has the digest {0}, whatever it is called.", digest.short)
    return RuleResult(rule, RuleOutcome.HELD, said)


def _scalar(name: str, allowed: Range, found: Range | None) -> RuleResult:
    if found is None:
        said = say("The order has no per-step scalar of this name; its value may stand in the program.")
        return RuleResult(name, RuleOutcome.CANNOT_BE_TOLD, said)
    said = say("It lies in {0} to {1}; {2} to {3} are allowed. By the order digest.",
               f"{found[0]:g}", f"{found[1]:g}", f"{allowed[0]:g}", f"{allowed[1]:g}")  # fmt: skip
    return RuleResult(name, _held(allowed[0] <= found[0] and found[1] <= allowed[1]), said)


def _loss(allowed: Range, rules: RunRules, subject: RuleSubject) -> RuleResult:
    """The loss breaks a rule by the trainer's own words, and keeps one only where an auditor replayed the last step."""
    loss, name = subject.final_loss, _LOSS
    if loss is None or loss != loss:
        return RuleResult(name, RuleOutcome.CANNOT_BE_TOLD, say("The run has no loss of a last step that is a number."))
    found = say("The loss of the last step is {0}; {1} to {2} are allowed.",
                f"{loss:g}", f"{allowed[0]:g}", f"{allowed[1]:g}")  # fmt: skip
    if not allowed[0] <= loss <= allowed[1]:
        return RuleResult(name, RuleOutcome.BROKEN, say("{0} The trainer signed it.", found))
    seen = any(one.outcome == "VERIFIED" and one.reaches_end for one in _counting(rules, subject))
    held = say("{0} One of the auditors replayed that step.", found)
    untold = say("{0} The trainer says so; no verdict was given by one of the auditors who replayed that step.", found)
    return _by_auditors(name, held if seen else None, untold, rules, subject)


def _score(metric: str, allowed: Range, rules: RunRules, subject: RuleSubject) -> RuleResult:
    """A score breaks a rule by the trainer's own words; as a sum over all steps it holds where all were replayed."""
    name, score = f"{_SCORE}{metric}", subject.facts.score
    value = None if score is None else score.metrics.get(metric, score.count(metric))
    if score is None or value is None:
        said = (
            say("The run is no evaluation, or its last state is not the one that it commits to.")
            if score is None
            else say("The evaluation has no score of this name.")
        )
        return RuleResult(name, RuleOutcome.CANNOT_BE_TOLD, said)
    found = say("The score is {0}; {1} to {2} are allowed. It is that of the model {3} on the data {4}.",
                f"{value:.12g}", f"{allowed[0]:g}", f"{allowed[1]:g}", score.model_root.short,
                score.data_root.short)  # fmt: skip
    if not Decimal(allowed[0]) <= value <= Decimal(allowed[1]):
        return RuleResult(name, RuleOutcome.BROKEN, say("{0} The trainer signed it.", found))
    seen = any(one.outcome == "VERIFIED" and one.replayed >= 1.0 for one in _counting(rules, subject))
    held = say("{0} One of the auditors replayed every step.", found)
    untold = say("{0} The trainer says so; no verdict was given by one of the auditors who replayed every step.", found)
    return _by_auditors(name, held if seen else None, untold, rules, subject)


def _by_auditors(name: str, held: str | None, untold: str, rules: RunRules, subject: RuleSubject) -> RuleResult:
    """What the trainer says is held if an auditor saw it, and none of them disputes the run; else it cannot be told."""
    if held is None or any(one.outcome == "DISPUTED" for one in _counting(rules, subject)):
        return RuleResult(name, RuleOutcome.CANNOT_BE_TOLD, untold)
    return RuleResult(name, RuleOutcome.HELD, held)


def _counting(rules: RunRules, subject: RuleSubject) -> list[GivenVerdict]:
    """The verdicts that count: on this run, by one of the auditors, who is not its trainer, and not taken back."""
    return [
        one
        for one in subject.verdicts
        if one.about == subject.facts.about
        and one.auditor in rules.auditors
        and one.auditor != subject.facts.trainer_key
        and not one.withdrawn
    ]


def _verdict(rules: RunRules, subject: RuleSubject) -> RuleResult:
    name, counting = _VERDICT, _counting(rules, subject)
    if any(one.outcome == "DISPUTED" for one in counting):
        return RuleResult(name, RuleOutcome.BROKEN, say("One of the auditors disputes this run."))
    best = max((one.replayed for one in counting if one.outcome == "VERIFIED"), default=None)
    if best is None:
        return RuleResult(
            name,
            RuleOutcome.CANNOT_BE_TOLD,
            say("No verdict was given that one of the auditors signed on this run and that verifies it."),
        )
    said = say("One of the auditors verified it and replayed {0} of its steps; {1} are asked for.",
               f"{best:.1%}", f"{rules.replayed:.1%}")  # fmt: skip
    # Nothing was found against the run: another audit may replay more of it.
    return RuleResult(name, RuleOutcome.HELD if best >= rules.replayed else RuleOutcome.CANNOT_BE_TOLD, said)
