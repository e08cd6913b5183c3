"""Reads the parts of a signed statement: each is checked in form, and nothing is taken that was not asked for.

Everything here raises SignatureError; the words say "verdict" for adjudications too, which share these parts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any, TypeVar

from counterfoil.audit.statement.write import VERIFIER_ID
from counterfoil.audit.values.dispute import Right, accuses
from counterfoil.audit.values.outcome import Check, CheckNumber, CheckState
from counterfoil.audit.values.sampling import NONCE, Sample, Selection, draw_segments, ranges
from counterfoil.bundle.schema import MAX_STEPS
from counterfoil.canonical import float_text
from counterfoil.commit.digest import Digest
from counterfoil.commit.merkle import verify_inclusion
from counterfoil.errors import ProofError, SignatureError
from counterfoil.fields import Fields
from counterfoil.program.limits import MAX_OPERATORS
from counterfoil.sentence import say
from counterfoil.signing import RUN_PREDICATE

EnumT = TypeVar("EnumT", bound=Enum)
ORDER_SOURCES = ("client", "bundle")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_COUNT = re.compile(r"0|[1-9][0-9]{0,19}")
_EXACT_DECIMAL = re.compile(r"-?[0-9]{1,40}\.[0-9]{1,40}(e[+-][0-9]{1,5})?")
_HEX_FLOAT = re.compile(r"-?0x[01]\.[0-9a-f]+p[+-][0-9]{1,4}|-?inf|nan")


def fields_of(value: Any, what: str) -> Fields:
    """Return a reader of the fields of a JSON object."""
    return Fields(value, what, SignatureError)


def read_verifier(predicate: Fields) -> str:
    """Take what every predicate begins with: who made it, when, of what; returns the time."""
    verifier = fields_of(predicate.take("verifier", dict), "verdict's verifier")
    if verifier.take("id", str) != VERIFIER_ID:
        raise SignatureError(say("The verdict was not made by Counterfoil."))
    verifier.take("version", str)
    verifier.end()
    signed_at: str = predicate.take("timeVerified", str)
    if not _TIME.fullmatch(signed_at):
        raise SignatureError(say("The verdict's time {0} is not of the form 2026-01-31T12:00:00Z.", repr(signed_at)))
    predicate.take("resourceUri", str)
    predicate.take("title", str)
    return signed_at


def check_environments(value: Any) -> None:
    """Check that the environments of both parties are texts."""
    environment = fields_of(value, "verdict's environment")
    for party in ("auditor", "trainer"):
        if not all(isinstance(text, str) for text in environment.take(party, dict).values()):
            raise SignatureError(say("An environment of the verdict holds something that is not text."))
    environment.end()


def read_enum(kind: type[EnumT], text: str, what: str) -> EnumT:
    """Return the member of an enumeration that a text names."""
    try:
        return kind(text)
    except ValueError as error:
        raise SignatureError(say("The verdict's {0} {1} is unknown.", what, repr(text))) from error


def read_subjects(subjects: Any) -> tuple[str, Digest, Digest | None]:
    """Return the name and the SHA-256 of the bundle file, and the run root if there is one."""
    if not isinstance(subjects, list) or len(subjects) not in (1, 2):
        raise SignatureError(say("The verdict's subjects should be the bundle file and the run."))
    name, bundle_digest = _read_subject(subjects[0], "sha256")
    if len(subjects) == 1:
        return name, bundle_digest, None
    run, run_root = _read_subject(subjects[1], "rfc9162Sha256")
    if run != "run":
        raise SignatureError(say("The verdict's second subject is not the run."))
    return name, bundle_digest, run_root


def _read_subject(subject: Any, algorithm: str) -> tuple[str, Digest]:
    fields = fields_of(subject, "verdict's subject")
    name: str = fields.take("name", str)
    digest = fields_of(fields.take("digest", dict), "digest of the verdict's subject")
    value = digest.digest(algorithm)
    digest.end()
    fields.end()
    return name, value


def read_policy(policy: Any) -> tuple[Digest | None, str]:
    """Return the order's digest, None when it is not known, and where the order came from."""
    fields = fields_of(policy, "verdict's policy")
    order = fields.take("orderDigest", dict, type(None))
    source: str = fields.take("orderSource", str)
    fields.end()
    if source not in ORDER_SOURCES:
        raise SignatureError(say("The verdict's order comes from {0}, which is unknown.", repr(source)))
    if order is None:
        return None, source
    digest = fields_of(order, "verdict's order digest")
    value = digest.digest("sha256")
    digest.end()
    return value, source


def read_attestations(attestations: list[Any]) -> bool:
    """Return whether the statement rests on the claim of a run; it rests on one, or on none."""
    if len(attestations) > 1:
        raise SignatureError(say("The verdict rests on more than one run."))
    for attestation in attestations:
        fields = fields_of(attestation, "verdict's input attestation")
        if fields.take("predicateType", str) != RUN_PREDICATE:
            raise SignatureError(say("The verdict rests on something that is not the claim of a run."))
        fields.digest("keyId")
        fields.end()
    return bool(attestations)


def read_checks(values: list[Any]) -> tuple[Check, ...]:
    """Return the ten checks; each must be there once and in order."""
    checks = []
    for value in values:
        fields = fields_of(value, "verdict's check")
        number = fields.integer("number", min(CheckNumber), max(CheckNumber))
        fields.take("title", str)
        state = read_enum(CheckState, fields.take("state", str), "check state")
        checks.append(Check(CheckNumber(number), state, fields.take("detail", str)))
        fields.end()
    if [check.number for check in checks] != list(CheckNumber):
        raise SignatureError(say("The verdict does not list every check once and in order."))
    return tuple(checks)


@dataclass(frozen=True)
class Coverage:
    """What the verdict says of its coverage."""

    ordered: int
    planned: int
    replayed: int
    mismatches: list[tuple[int, int]]
    sample: Sample | None


def read_coverage(value: Any, run_root: Digest | None) -> Coverage:
    """Return what was ordered, planned and replayed."""
    fields = fields_of(value, "verdict's coverage")
    ordered = fields.integer("stepsOrdered", 0, MAX_STEPS)
    planned = fields.integer("stepsPlanned", 0, ordered)
    replayed = fields.integer("stepsReplayed", 0, planned)
    mismatches = _read_spans(fields.take("mismatchedSteps", list), 1, ordered, "mismatched steps")
    sample = _read_sample(fields.take("sample", dict, type(None)), ordered, run_root)
    fields.end()
    return Coverage(ordered, planned, replayed, mismatches, sample)


def _read_spans(spans: list[Any], low: int, high: int, what: str) -> list[tuple[int, int]]:
    for span in spans:
        if not (
            isinstance(span, list)
            and len(span) == 2
            and all(type(number) is int for number in span)
            and low <= span[0] <= span[1] <= high
        ):
            raise SignatureError(say("The verdict's {0} are not ranges of {1} to {2}.", what, low, high))
    if any(later[0] <= earlier[1] + 1 for earlier, later in pairwise(spans)):
        raise SignatureError(say("The verdict's {0} are not in order.", what))
    return [(span[0], span[1]) for span in spans]


def _read_sample(value: Any, steps: int, run_root: Digest | None) -> Sample | None:
    """Read which segments were chosen; a random sample is drawn again and compared."""
    if value is None:
        return None
    fields = fields_of(value, "verdict's sample")
    total = fields.integer("segments", 1, max(steps, 1))
    spans = _read_spans(fields.take("chosen", list), 1, total, "chosen segments")
    selection = read_enum(Selection, fields.take("selection", str), "selection of segments")
    nonce = fields.take("nonce", str)
    bad = fields.integer("badSegments", 0, total)
    passing = fields.take("passingProbability", dict)
    check_float(passing)
    fields.end()
    sample = Sample(total, tuple(spans), selection, nonce, bad)
    random = selection is Selection.RANDOM
    if not spans or random != bool(NONCE.fullmatch(nonce)) or random != bool(bad) or (nonce and not random):
        raise SignatureError(say("The verdict's sample is incomplete, or says more than its selection allows."))
    if selection is Selection.ALL and not sample.whole:
        raise SignatureError(say("The verdict says that all segments were chosen, and lists fewer."))
    if random:
        if run_root is None:
            raise SignatureError(say("The verdict's sample was drawn from a run root that the verdict does not name."))
        if ranges(draw_segments(total, sample.count, nonce, run_root)) != spans:
            raise SignatureError(say("The verdict's sample is not the one that its nonce and the run root draw."))
    if float_text(sample.passing) != passing["hex"]:
        raise SignatureError(say("The verdict states another probability than its sample has."))
    return sample


def read_count(text: str) -> int:
    """Return a whole number that is written as text, since JSON loses large ones."""
    if not _COUNT.fullmatch(text):
        raise SignatureError(say("The verdict's count {0} is not a whole number.", repr(text)))
    return int(text)


def check_float(value: Any) -> None:
    """Check that a float64 is written exactly, and as people read it, and that both are the same number."""
    fields = fields_of(value, "number of the verdict")
    exact = fields.take("hex", str)
    decimal = fields.take("decimal", str)
    fields.end()
    if not _HEX_FLOAT.fullmatch(exact):
        raise SignatureError(say("The verdict's number {0} is not a hexadecimal floating-point number.", repr(exact)))
    try:
        same = repr(float.fromhex(exact)) == decimal
    except (ValueError, OverflowError):
        same = False
    if not same:
        raise SignatureError(say("The verdict writes {0} as {1}, which is another number.", repr(exact), repr(decimal)))


def _check_integers(values: list[Any], what: str) -> None:
    if len(values) > 64 or not all(type(value) is int and value >= 0 for value in values):
        raise SignatureError(say("The {0} is not a list of lengths.", what))


@dataclass(frozen=True)
class DisputedStep:
    """The step that a verdict disputes, and whether it accuses the trainer."""

    step: int
    accuses: bool


def read_dispute(value: Any, steps: int, run_root: Digest | None) -> DisputedStep | None:
    """Check the form of a dispute, and that the run root contains the trainer's Merkle leaf."""
    if value is None:
        return None
    fields = fields_of(value, "verdict's dispute")
    step = fields.integer("step", 1, steps)
    trainer_leaf = fields.digest("trainerLeaf")
    replay_leaf = fields.take("replayLeaf", str, type(None))
    if replay_leaf is not None:
        replay_leaf = fields.as_digest(replay_leaf, "replay's leaf of the verdict")
    parts = fields.take("parts", list)
    if not all(isinstance(part, str) for part in parts):
        raise SignatureError(say("The differing parts of the verdict's dispute are not texts."))
    _check_comparisons(fields.take("comparisons", list), steps, run_root)
    proof = [fields.as_digest(text, "inclusion proof of the verdict") for text in fields.take("inclusionProof", list)]
    compared_at = fields.take("comparedAt", int, type(None))
    if compared_at is not None and not step <= compared_at <= steps:
        raise SignatureError(say("The verdict's dispute was compared at a step that cannot be."))
    tensors = fields.take("tensors", list)
    for tensor in tensors:
        _check_tensor(tensor)
    if tensors and compared_at is None:
        raise SignatureError(say("The verdict's dispute names tensors that it did not compare."))
    check_float(fields.take("trainerLoss", dict))
    check_float(fields.take("replayLoss", dict))
    confirmed = fields.take("confirmed", bool)
    inputs = fields.take("inputs", list)
    if not all(isinstance(name, str) for name in inputs):
        raise SignatureError(say("The differing inputs of the verdict's dispute are not texts."))
    operator = fields.take("operator", dict, type(None))
    if inputs and operator is not None:
        raise SignatureError(
            say("The verdict's dispute names an operator although what the step read differs already.")
        )
    _check_operator(operator)
    right = _read_finding(fields.take("finding", dict, type(None)))
    fields.end()
    if (replay_leaf is None) != (parts == ["log"]) or (replay_leaf is None) != (right is Right.UNREADABLE):
        raise SignatureError(say("The verdict disputes a step without a replay, or its log although it was replayed."))
    if trainer_leaf == replay_leaf:
        raise SignatureError(say("The verdict disputes a step whose Merkle leaves are equal."))
    if run_root is None:
        raise SignatureError(say("The verdict disputes a step of a run that it does not name."))
    _check_inclusion(trainer_leaf, step, steps, proof, run_root)
    return DisputedStep(step, accuses=accuses(confirmed, right))


def _read_finding(value: Any) -> Right | None:
    """Check the form of what exact arithmetic says; returns who is right."""
    if value is None:
        return None
    fields = fields_of(value, "verdict's finding")
    right = read_enum(Right, fields.take("right", str), "finding")
    fields.take("sentence", str)
    recomputed, total = (read_count(fields.take(key, str)) for key in ("recomputed", "total"))
    for key in ("margin", "bound"):
        check_float(fields.take(key, dict))
    elements = fields.take("elements", list)
    fields.end()
    if not len(elements) <= recomputed <= total:
        raise SignatureError(
            say("The verdict's finding is about more elements than were recomputed, or than there are.")
        )
    for element in elements:
        fields = fields_of(element, "verdict's disputed element")
        _check_integers(fields.take("index", list), "index of the verdict's disputed element")
        exact = fields.take("exact", str)
        if not _EXACT_DECIMAL.fullmatch(exact):
            raise SignatureError(say("The verdict's exact value {0} is not a decimal number.", repr(exact)))
        for key in ("exactNearest", "computed", "replay", "quantum", "error", "midpoint"):
            check_float(fields.take(key, dict))
        trainer = fields.take("trainer", dict, type(None))
        if trainer is not None:
            check_float(trainer)
        fields.end()
    return right


def _check_operator(value: Any) -> None:
    if value is None:
        return
    fields = fields_of(value, "verdict's operator")
    total = fields.integer("total", 1, MAX_OPERATORS)
    fields.integer("number", 1, total)
    fields.integer("differingOperators", 1, total)
    for text in ("name", "module", "pass"):
        fields.take(text, str)
    _check_integers(fields.take("shape", list), "shape of the verdict's operator")
    for shape in fields.take("inputShapes", list):
        if not isinstance(shape, list):
            raise SignatureError(say("An input shape of the verdict's operator is not a list."))
        _check_integers(shape, "shape of an input of the verdict's operator")
    fields.end()


def _check_inclusion(leaf: Digest, step: int, steps: int, proof: Sequence[Digest], run_root: Digest) -> None:
    try:
        verify_inclusion(leaf, step, steps + 1, proof, run_root)
    except ProofError as error:
        raise SignatureError(
            say("The verdict does not prove that the run contains the trainer's leaf of step {0}.", step),
            detail=str(error),
        ) from error


def _check_comparisons(values: list[Any], steps: int, run_root: Digest | None) -> None:
    """Check the form of the comparisons, and that they begin at the run root."""
    for number, value in enumerate(values):
        fields = fields_of(value, "verdict's comparison")
        first = fields.integer("firstLeaf", 0, steps)
        last = fields.integer("lastLeaf", first, steps)
        trainer = fields.digest("trainer")
        fields.digest("replay")
        fields.end()
        if number == 0 and (first, last, trainer) != (0, steps, run_root):
            raise SignatureError(say("The verdict's comparisons do not begin at the run root."))


def _check_tensor(value: Any) -> None:
    fields = fields_of(value, "verdict's tensor")
    fields.take("name", str)
    _check_integers(fields.take("shape", list), "shape of the verdict's tensor")
    _check_integers(fields.take("index", list), "index of the verdict's tensor")
    for key in ("differing", "maxUlps"):
        read_count(fields.take(key, str))
    for key in ("maxAbs", "l2", "trainer", "replay"):
        check_float(fields.take(key, dict))
    fields.end()
