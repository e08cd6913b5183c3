"""What must be true of the dispute in a signed statement: rules 9 and 10 of docs/verdict.md. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from msgspec import UNSET

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import ProofError
from counterfoil_core.base.sentence import say
from counterfoil_core.commit.merkle import MerkleComparison, descent_to, verify_inclusion
from counterfoil_core.statement.judgement import Adjudication, Signed, Verdict
from counterfoil_core.statement.model import (
    ComparisonFields,
    DisputeFields,
    ElementFields,
    FindingFields,
    TensorFields,
)
from counterfoil_core.statement.violation import Broken, outside
from counterfoil_core.values.dispute import COMBINE, SHARE, UPDATE, Right

_ROUNDING = 1e-6
"""How far sums of squares and quotients of float64 numbers may be off, relatively; far less than what they tell."""
_DIGITS = Fraction(1, 10**24)
"""How far a number of 25 digits may lie from what it was written from, relatively."""
_LEAF = ("shares", "state", "loss", "fingerprints")
_LEAF_PARTS = {chosen for count in range(1, 5) for chosen in combinations(_LEAF, count)}
_UNREPLAYED = (("log",), ("result",))
"""What differs where there is no leaf of the replay's: the log cannot be read, or the step comes to no result."""


def dispute(said: Signed) -> Broken:
    """Rule 9: the parts of a dispute belong together."""
    fields = said.statement.dispute
    if fields is None:
        return
    steps = said.steps_recorded
    yield from outside("step", say("verdict's dispute"), fields.step, 1, steps)
    if fields.compared_at is not None and not fields.step <= fields.compared_at <= steps:
        yield say("The verdict's dispute was compared at a step that cannot be.")
    if fields.tensors and fields.compared_at is None:
        yield say("The verdict's dispute names tensors that it did not compare.")
    if fields.tensors and fields.compared_at == fields.step and "state" not in fields.parts:
        yield say("The verdict's dispute names tensors that differ after a step whose state does not.")
    yield from _wrong_tensors(fields.tensors)
    yield from _wrong_parts(fields)
    if fields.inputs and fields.operator is not None:
        yield say("The verdict's dispute names an operator although what the step read differs already.")
    if fields.operator is not None:
        yield from outside("number", say("verdict's operator"), fields.operator.number, 1, fields.operator.total)
        differing = fields.operator.differing_operators
        yield from outside("differingOperators", say("verdict's operator"), differing, 1, fields.operator.total)
    if fields.confirmed != (fields.finding is not None):
        yield say("The verdict's dispute is confirmed without a finding, or has one without being confirmed.")
    if fields.finding is not None:
        yield from _wrong_finding(fields.finding, said)
        if not fields.names_a_place and fields.parts not in _UNREPLAYED and not _follows_from_leaf(fields.finding):
            yield say("The verdict's finding is about an operator, and the dispute names none.")
    right = None if fields.finding is None else fields.finding.right
    unread = fields.replay_leaf is None
    if unread != (fields.parts in _UNREPLAYED):
        yield say("The verdict disputes a step without a replay, or its log although it was replayed.")
    if (fields.parts == ("log",)) != (right is Right.UNREADABLE):
        yield say("The verdict's finding is about the log, and its parts are not, or the other way round.")
    if right is Right.NO_RESULT and fields.parts != ("result",):
        yield say("The verdict finds that a step has no result, and has one.")
    if fields.trainer_leaf == fields.replay_leaf:
        yield say("The verdict disputes a step whose Merkle leaves are equal.")


def _wrong_parts(fields: DisputeFields) -> Broken:
    """What differs in the leaf, against what is said of the step."""
    parts = fields.parts
    if parts not in _UNREPLAYED and parts not in _LEAF_PARTS:
        yield say("The verdict's dispute does not name the parts of the leaf once and in order.")
    if "shares" in parts and fields.part is UNSET:
        yield say("The verdict's dispute is about a step's shares, and names no part of the step.")
    if parts not in _UNREPLAYED and fields.part is not UNSET and (fields.part != UPDATE) != ("shares" in parts):
        yield say("The verdict's dispute names a part of the step that does not differ, or not the first that does.")
    if fields.signer is not UNSET and (fields.part is UNSET or not fields.part.startswith((SHARE, COMBINE))):
        yield say("The verdict's dispute names a party that answers for a share, and what differs is none.")
    if fields.part == COMBINE and fields.names_a_place:
        yield say("The verdict's dispute names an operator or rows of a combination, which has none.")
    printed = parts != ("result",) and (fields.part is UNSET or fields.part == UPDATE)
    if printed and fields.names_a_place != ("fingerprints" in parts):
        yield say(
            "The verdict's dispute names what differs first, and the fingerprints do not, or the other way round."
        )
    if len(set(fields.inputs)) != len(fields.inputs):
        yield say("The verdict's dispute names a data array twice.")
    losses = {fields.trainer_loss.hex, fields.replay_loss.hex}
    if parts not in _UNREPLAYED and (len(losses) == 1) == ("loss" in parts) and losses != {"nan"}:
        yield say("The verdict's dispute says of the loss what its two losses do not say.")


def _wrong_tensors(tensors: Sequence[TensorFields]) -> Broken:
    if [tensor.name for tensor in tensors] != [
        tensor.name for tensor in sorted(tensors, key=lambda tensor: (-tensor.max_abs.value, tensor.name))
    ] or len({tensor.name for tensor in tensors}) != len(tensors):
        yield say("The tensors of the verdict's dispute are not in order, or one stands there twice.")
    for tensor in tensors:
        most, norm, name = tensor.max_abs.value, tensor.l2.value, repr(tensor.name)
        if not _inside(tensor.index, tensor.shape) or not 1 <= tensor.differing <= math.prod(tensor.shape):
            yield say("The verdict's tensor {0} differs in more elements than it has, or in one that it lacks.", name)
        if not most >= 0 or not most * (1 - _ROUNDING) <= norm <= most * math.sqrt(tensor.differing) * (1 + _ROUNDING):
            yield say("The verdict's tensor {0} has differences that do not fit each other.", name)
        one, other = tensor.trainer, tensor.replay
        # Integers beyond 2^53 are not told apart by their float64.
        if max(abs(one.value), abs(other.value)) < 2**53:
            if one == other or abs(one.value - other.value) != most:
                yield say("The verdict's tensor {0} does not differ as it says.", name)
        elif one == other and math.isinf(one.value):
            yield say("The verdict's tensor {0} does not differ as it says.", name)


def _wrong_finding(finding: FindingFields, said: Signed) -> Broken:
    """What exact arithmetic found: whether its numbers and its elements can be, and bear out who is right."""
    elements, margin, bound = finding.elements, finding.margin.value, finding.bound.value
    if not len(elements) <= finding.recomputed <= finding.total:
        yield say("The verdict's finding is about more elements than were recomputed, or than there are.")
    if not (0 <= margin < math.inf and 0 <= bound < math.inf):
        yield say("The verdict's finding has a margin or a bound that cannot be.")
    if not finding.recomputed and (finding.total or margin or bound):
        yield say("The verdict's finding has a margin, a bound or elements, although nothing was recomputed.")
    # Under another profile they are 0 where every term of the operator is: then every conforming machine gives 0.
    if isinstance(said, Verdict) and said.statement.exact_bits is not None and (bound or margin):
        yield say("The verdict's finding has a bound or a margin under an exact profile.")
    if finding.right is Right.UNREADABLE and finding.recomputed:
        yield say("The verdict's finding is about a log that cannot be read, and has elements.")
    if len({element.index for element in elements}) != len(elements) or len({len(e.index) for e in elements}) > 1:
        yield say("The verdict's finding shows an element twice, or elements of different tensors.")
    known = [element for element in elements if element.trainer is not None]
    if known and (len(known) != len(elements) or any(element.trainer == element.replay for element in known)):
        yield say("The verdict's finding shows an element that is the same on both sides.")
    for element in elements:
        yield from _wrong_element(element, bound)
    if elements and not _borne_out(finding, elements):
        yield say("The elements of the verdict's finding do not bear out who is right.")


def _wrong_element(element: ElementFields, bound: float) -> Broken:
    computed, error, midpoint = element.computed.value, element.error.value, element.midpoint.value
    unit = bound or element.quantum.value
    if not 0 < element.quantum.value < math.inf or midpoint < 0 or (not bound and midpoint):
        yield say("An element of the verdict's finding has a quantum or a midpoint that cannot be.")
        return
    if not bound and element.computed != element.replay:
        yield say("An element of the verdict's finding was rounded under an exact profile.")
    nearest = element.exact_nearest.value
    if not (element.exact.is_finite and math.isfinite(computed) and math.isfinite(nearest)):
        return
    exact = Fraction(element.exact)
    digits = abs(exact) * _DIGITS
    if abs(Fraction(nearest) - exact) > Fraction(math.ulp(nearest)) + digits:
        yield say("An element of the verdict's finding has two exact values.")
    distance = abs(Fraction(computed) - (exact if bound else Fraction(nearest))) / Fraction(unit)
    off = distance * Fraction(_ROUNDING) + digits / Fraction(unit)
    if not math.isfinite(error) or abs(Fraction(error) - distance) > off:
        yield say("An element of the verdict's finding has another error than its values have.")


def _borne_out(finding: FindingFields, elements: Sequence[ElementFields]) -> bool:
    """Whether elements are such as they are where that side is right."""
    errors = [element.error.value for element in elements]
    if finding.bound.value == 0:
        exact = [(element.replay == element.exact_nearest, element.trainer) for element in elements]
        match finding.right:
            case Right.REPLAY:
                return all(own for own, _ in exact)
            case Right.TRAINER:
                return all(element.trainer == element.exact_nearest != element.replay for element in elements)
            case right:
                return right is Right.NOBODY_KNOWN
    if finding.right is Right.TRAINER:
        return max(errors) > 1 and all(element.trainer is not None for element in elements)
    if finding.right is Right.NOBODY_KNOWN:
        return True  # the elements may be of an earlier operator, whose differences were rounding
    if finding.right in (Right.OMISSION, Right.OMISSIONS, Right.MARGIN) and any(e.trainer is None for e in elements):
        return False
    return all(error <= 1 for error in errors)


def _follows_from_leaf(finding: FindingFields) -> bool:
    """Whether a finding is about the leaf alone: all fingerprints agree, and what was signed does not follow."""
    return finding.right is Right.REPLAY and not finding.recomputed


def _inside(index: Sequence[int], shape: Sequence[int]) -> bool:
    return len(index) == len(shape) and all(at < length for at, length in zip(index, shape, strict=True))


def leaf_in_run(said: Signed) -> Broken:
    """Rule 10: the run root contains the trainer's leaf, so that the trainer cannot deny it."""
    fields, run_root = said.statement.dispute, said.run_root
    if fields is None:
        return
    if run_root is None:
        yield say("The verdict disputes a step of a run that it does not name.")
        return
    proof = [Digest.from_hex(text) for text in fields.inclusion_proof]
    try:
        verify_inclusion(Digest.from_hex(fields.trainer_leaf), fields.step, said.steps_recorded + 1, proof, run_root)
    except ProofError:
        yield say("The verdict does not prove that the run contains the trainer's leaf of step {0}.", fields.step)
        return
    if isinstance(said, Adjudication):
        if fields.comparisons or fields.tensors or fields.compared_at is not None:
            yield say("The adjudication's dispute compares what a capsule does not hold.")
        return
    # The replay's tree is the trainer's with the replay's leaf in it, so the proof has every sibling of either.
    found: tuple[MerkleComparison, ...] = ()
    if fields.replay_leaf is not None:
        leaves = Digest.from_hex(fields.trainer_leaf), Digest.from_hex(fields.replay_leaf)
        found = descent_to(fields.step, said.steps_recorded + 1, proof, *leaves)
    if fields.comparisons != tuple(
        ComparisonFields(node.first_leaf, node.last_leaf, node.trainer.hex, node.replay.hex) for node in found
    ):
        yield say("The verdict's comparisons do not lead from the run root to the disputed leaf.")
