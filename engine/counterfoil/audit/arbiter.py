"""The arbiter: recomputes elements of the disputed operator exactly, and says who is right.

Fingerprints lead to the first operator whose output differs although its inputs agree. Its exact output follows from
these inputs, so three cases can be told apart at an element:

* This machine's value, before rounding, is off the exact one by more than the margin: its arithmetic is broken or worse
  than the order allows, and whatever follows accuses nobody.
* The exact value lies within the margin of a midpoint between two grid points. Sound hardware may then round to either
  side, and the trainer may have rounded to the other one without logging it: perhaps the margin was too small.
* Otherwise every machine within the margin rounds to the same side, and a trainer with another value is wrong.

A trainer could try to pass for the second case by forging one early fingerprint. So that case is a hypothesis, which
counts only if it carries the whole step: the elements are put on the trainer's side, the step is replayed, and where
the next operator differs the same question is asked again, until the leaf is the trainer's or something is no rounding.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterfoil.audit.events import DisputedElement, Event, Finding, Right
from counterfoil.audit.explain import explain
from counterfoil.audit.steps import ReplayedStep, State, StepReplayer
from counterfoil.bundle.schema import StepRecord
from counterfoil.commit.merkle import leaf_hash
from counterfoil.errors import NonFiniteError
from counterfoil.exact import NotExactError, Number, exact_output
from counterfoil.exact.numbers import MP
from counterfoil.program.graph import Node, Program
from counterfoil.program.places import Place, PlaceSort
from counterfoil.rounding.grid import SMALLEST_EXPONENT, Grid
from counterfoil.rounding.log import SiteLog
from counterfoil.rounding.neighbours import neighbours
from counterfoil.rounding.rounder import Observation

MOST_ROUNDS = 16
"""Operators of a step that may have been rounded to the other side before the arbiter stops believing it."""
BUDGET = 1_000_000
"""Exact products spent where the fingerprint does not tell which elements differ: a second or two."""
MOST_ELEMENTS = 4096
LEAST_ELEMENTS = 8
SHOWN_ELEMENTS = 8
_PRECISION = 400
"""Working precision in bits: far beyond what separates a value from a midpoint."""
_DIGITS = 25
_HARMLESS_BITS = 7
"""An error of 2^-7 of the finest quantum there is decides nothing; tau is up to 2^-3 of a quantum."""


@dataclass(frozen=True)
class Arbitration:
    """A finding, and the step as the trainer has it, where rounding explains the whole difference."""

    finding: Finding
    reached: ReplayedStep | None = None


def arbitrate(
    steps: StepReplayer,
    claimed: StepRecord,
    state: State,
    logs: Sequence[SiteLog],
    outcome: ReplayedStep,
    fingerprints: npt.NDArray[np.uint64],
) -> Generator[Event, None, Arbitration]:
    """Say who is right about a step whose leaf differs.

    Args:
        steps: Replays the step.
        claimed: The trainer's record of it.
        state: The agreed state before it.
        logs: The trainer's log of it.
        outcome: The replay of it.
        fingerprints: uint64 ``[places]``: the trainer's fingerprints.

    Yields:
        OperatorDone now and then.

    Raises:
        CancelledError: The replayer's token was cancelled.
    """
    following = list(logs)
    current = outcome
    forced: list[_Elements] = []
    for _ in range(MOST_ROUNDS):
        differing = np.flatnonzero(fingerprints != current.fingerprints)
        if not len(differing):
            break
        number = int(differing[0])
        place = steps.job.program.places[number]
        if place.site is None:
            return Arbitration(_not_rounded(steps.job.program, place, claimed.step, forced))
        site = place.site
        current = yield from steps.replay(claimed, state, following, observe=number)
        assert current.observation is not None
        if not current.observation.before.numel():
            return Arbitration(_nothing_can_differ(current.observation.node, forced))
        try:
            elements = _examine(current.observation, int(fingerprints[number]), following[site])
        except NotExactError as error:
            return Arbitration(_no_exact_value(current.observation.node, error, forced))
        if elements.off:
            return Arbitration(_machine_is_off(elements))
        if not elements.near_midpoint:
            return Arbitration(_trainer_is_wrong(elements, forced))
        forced.append(elements)
        following[site] = _with_directions(following[site], elements)
        try:
            current = yield from steps.replay(claimed, state, following)
        except NonFiniteError:
            # The step ended well without these directions, so they do not lead to what the trainer signed.
            break
    if not forced:
        return Arbitration(
            Finding(
                Right.REPLAY,
                "Every fingerprint that the trainer signed for this step agrees with the replay, and what follows the "
                "last of them is arithmetic that is exact on all hardware: the result that it signed does not follow "
                "from what it signed on the way.",
            )
        )
    if current.leaf == leaf_hash(claimed.to_bytes()):
        count = sum(len(elements.indices) for elements in forced)
        sentence = (
            f"The exact values of {count} element{'s' * (count > 1)} lie within the margin of a midpoint between two "
            "grid points; rounded to the other side there, the step comes out as the trainer signed it. The margin was "
            "too small for one of the two machines. Nobody is accused; calibrate the order again, or order guaranteed "
            "margins."
        )
        return Arbitration(_with_elements(Right.MARGIN, sentence, forced[0]), current)
    return Arbitration(
        _with_elements(
            Right.REPLAY,
            "Some values lie close enough to a midpoint for hardware to round them differently, but rounding them to "
            "the other side does not lead to what the trainer signed.",
            forced[0],
        )
    )


@dataclass(frozen=True)
class _Elements:
    """Elements of one operator's output, recomputed exactly."""

    node: Node
    shape: tuple[int, ...]
    grid: Grid
    indices: npt.NDArray[np.int64]
    exact: list[Number]
    computed: npt.NDArray[np.float64]
    replay: npt.NDArray[np.float64]
    trainer: npt.NDArray[np.float64] | None
    logged: bool
    total: int

    @property
    def errors(self) -> list[float]:
        """Distance of this machine's values from the exact ones, in units of the tolerance."""
        with MP.workprec(_PRECISION):
            return [
                _in_units(_difference(value, exact), tolerance(self.grid))
                for value, exact in zip(self.computed.tolist(), self.exact, strict=True)
            ]

    @property
    def off(self) -> bool:
        """Whether this machine's arithmetic is off by more than the margin."""
        return max(self.errors) > 1

    @property
    def midpoints(self) -> list[float]:
        """Distance of the exact values from the nearest midpoint, in units of tau."""
        return [midpoint_distance(exact, self.grid) for exact in self.exact]

    @property
    def near_midpoint(self) -> bool:
        """Whether the trainer's values are known, and rounding alone may explain every one of them.

        Not where the trainer logged a direction: then it had the decision before it, and its log and its fingerprint
        contradict each other.
        """
        if self.trainer is None or self.logged:
            return False
        other = neighbours(self.computed, self.replay, self.grid).other
        return bool((other == self.trainer).all()) and max(self.midpoints) <= 1

    def trainer_is_right(self) -> bool:
        """Whether the trainer's values are known, and are the exact ones rounded to the grid."""
        if self.trainer is None:
            return False
        rounded = [exact_rounding(exact, self.grid) for exact in self.exact]
        return bool((np.array(rounded) == self.trainer).all())


def _difference(value: float, exact: Number) -> Number:
    """Return the distance of a value from the exact one: none where both are the same infinity."""
    return MP.mpf(0) if MP.isinf(exact) and exact == value else abs(MP.mpf(value) - exact)


def midpoint_distance(exact: Number, grid: Grid) -> float:
    """Return the distance of an exact value from the nearest midpoint between grid points, in units of tau."""
    if MP.isinf(exact):
        return math.inf
    with MP.workprec(_PRECISION):
        quantum = _quantum(exact, grid)
        steps = exact / quantum
        return _in_units(abs(steps - MP.floor(steps) - 0.5) * quantum, grid.tau)


def tolerance(grid: Grid) -> float:
    """Return the error beyond which a machine's arithmetic is off: tau, or what no rounding decision hangs on.

    Tau shrinks with the tensor's scale down to nothing, below what float64 can compute to, but the quantum stops at
    float32's subnormal spacing. Without a floor, a lie about a tensor of tiny numbers would pass for broken hardware.
    """
    finest = SMALLEST_EXPONENT - grid.significand_bits + 1
    return max(grid.tau, math.ldexp(1.0, finest - _HARMLESS_BITS))


def _in_units(distance: Number, unit: float) -> float:
    """Return a distance in units of tau, which is 0 where every term is zero, or of another unit."""
    if not distance:
        return 0.0
    return float(distance / MP.mpf(unit)) if unit else math.inf


def exact_rounding(exact: Number, grid: Grid) -> float:
    """Return an exact value rounded to the grid, ties to even; infinities stay."""
    if MP.isinf(exact):
        return float(exact)
    with MP.workprec(_PRECISION):
        quantum = _quantum(exact, grid)
        return float(MP.nint(exact / quantum) * quantum) + 0.0


def _quantum(exact: Number, grid: Grid) -> Number:
    exponent = MP.frexp(exact)[1] - 1 if exact else SMALLEST_EXPONENT
    return MP.ldexp(1, int(max(exponent, grid.floor_exponent)) - grid.significand_bits + 1)


def _examine(observed: Observation, trainer: int, log: SiteLog) -> _Elements:
    """Recompute the elements in question; raises NotExactError when there is no exact value of them."""
    before, after = (flat.double().cpu().numpy() for flat in (observed.before, observed.after))
    difference = (trainer - observed.fingerprint) % 2**64
    explanation = explain(before, after, observed.grid, observed.key, difference, log.indices)
    exact = exact_output(observed.node, observed.arguments, observed.output)
    if explanation is None:
        count = min(max(BUDGET // max(exact.cost, 1), LEAST_ELEMENTS), MOST_ELEMENTS)
        indices = _sample(np.abs(neighbours(before, after, observed.grid).distance), count)
    else:
        indices = explanation.indices
    described = observed.node.outputs[observed.output]
    assert described is not None
    return _Elements(
        node=observed.node,
        shape=described.shape,
        grid=observed.grid,
        indices=indices,
        exact=[exact.element(int(index)) for index in indices],
        computed=before[indices],
        replay=after[indices],
        trainer=None if explanation is None else explanation.values,
        logged=explanation is not None and bool(np.isin(indices, log.indices).any()),
        total=len(before),
    )


def _sample(distance: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.int64]:
    """Choose elements to recompute: the first ones, those closest to a midpoint, and some spread over the rest."""
    total = len(distance)
    if total <= count:
        return np.arange(total, dtype=np.int64)
    share = count // 4
    closest = np.argpartition(distance, share)[:share]
    spread = np.linspace(0, total - 1, count - 2 * share).astype(np.int64)
    return np.unique(np.concatenate([np.arange(share), closest, spread])).astype(np.int64)


def _with_directions(log: SiteLog, elements: _Elements) -> SiteLog:
    """Add to a log that these elements go to the trainer's side."""
    assert elements.trainer is not None
    decisions = dict(zip(log.indices.tolist(), log.ups.tolist(), strict=True))
    ups = elements.trainer > elements.replay
    decisions.update(zip(elements.indices.tolist(), ups.tolist(), strict=True))
    order = sorted(decisions)
    return SiteLog(
        elements.grid.exponent, np.array(order, np.int64), np.array([decisions[index] for index in order], np.bool_)
    )


def _not_rounded(program: Program, place: Place, step: int, forced: Sequence[_Elements]) -> Finding:
    """What a difference says at a place that is not rounded: nothing there hangs on a last bit."""
    if place.sort is PlaceSort.BATCH:
        sentence = (
            f"The rows of {place.name!r} that the trainer used at step {step} are not the ordered ones. The order "
            "commits to its data and to the rows of every step, so no arithmetic is needed to tell."
        )
        return _with_elements(Right.REPLAY, sentence, forced[0] if forced else None)
    assert place.node is not None
    node = program.nodes[place.node]
    if place.sort is PlaceSort.DRAW:
        sentence = (
            f"The random numbers that the trainer used at step {step} at the operator {node.where} are not those that "
            "the order's seed gives. They follow from integer arithmetic, which is the same on every machine."
        )
        return _with_elements(Right.REPLAY, sentence, forced[0] if forced else None)
    sentence = (
        f"The operator {node.where}, whose inputs agree, gives exact results, and the trainer's fingerprint belongs to "
        "others: one of the two machines does not compute what the operator is defined to be."
    )
    return _with_elements(Right.UNKNOWN, sentence, forced[0] if forced else None)


def _no_exact_value(node: Node, error: NotExactError, forced: Sequence[_Elements]) -> Finding:
    sentence = (
        f"There is no exact value to hold the operator {node.where} against, because {error}: the second replay "
        "decides."
    )
    return _with_elements(Right.UNKNOWN, sentence, forced[0] if forced else None)


def _nothing_can_differ(node: Node, forced: Sequence[_Elements]) -> Finding:
    sentence = (
        f"The output of the operator {node.where} has no elements, so its fingerprint can only be 0, and the trainer "
        "signed another."
    )
    return _with_elements(Right.REPLAY, sentence, forced[0] if forced else None)


def _machine_is_off(elements: _Elements) -> Finding:
    worst = max(elements.errors)
    operator = elements.node.where
    if elements.trainer_is_right():
        return _with_elements(
            Right.TRAINER,
            f"The trainer's values at the operator {operator} are the exact ones. This machine's are off by up to "
            f"{worst:.3g} times the margin, so nothing that it computes can accuse anybody. Replay the run on another "
            "machine.",
            elements,
        )
    return _with_elements(
        Right.NOBODY_KNOWN,
        f"This machine's values at the operator {operator} are off the exact ones by up to {worst:.3g} times the "
        "margin, so nothing that it computes can accuse anybody. Replay the run on another machine.",
        elements,
    )


def _trainer_is_wrong(elements: _Elements, forced: Sequence[_Elements]) -> Finding:
    operator = elements.node.where
    if elements.trainer is None:
        checked = "all" if len(elements.indices) == elements.total else f"{len(elements.indices)} of"
        sentence = (
            f"At the operator {operator}, whose inputs agree, {checked} {elements.total} elements were recomputed "
            f"exactly, and this machine's values are right, to {max(elements.errors):.2g} of the margin. The trainer's "
            "fingerprint belongs to other values."
        )
    elif elements.logged and max(elements.midpoints) <= 1:
        sentence = (
            f"At the operator {operator} the trainer's log says that a value was rounded one way, and its fingerprint "
            "that it was rounded the other way: what it signed contradicts itself."
        )
    else:
        count = len(elements.indices)
        sentence = (
            f"At the operator {operator}, whose inputs agree, the trainer's fingerprint shows {count} other "
            f"value{'s' * (count > 1)} than the exact one{'s' * (count > 1)}, which no hardware within the margin "
            "gives."
        )
    if forced:
        sentence += " An earlier difference could be rounding within the margin; this one cannot."
    return _with_elements(Right.REPLAY, sentence, elements)


def _with_elements(right: Right, sentence: str, elements: _Elements | None) -> Finding:
    if elements is None:
        return Finding(right, sentence)
    errors, midpoints = elements.errors, elements.midpoints
    # Where it is not known which elements differ, the worst of this machine's own come first.
    order = range(len(errors))
    chosen = sorted(sorted(order, key=lambda i: -errors[i])[:SHOWN_ELEMENTS] if elements.off else order)[
        :SHOWN_ELEMENTS
    ]
    quanta = neighbours(elements.computed, elements.replay, elements.grid).quantum
    with MP.workprec(_PRECISION):
        shown = tuple(
            DisputedElement(
                index=tuple(int(part) for part in np.unravel_index(int(elements.indices[i]), elements.shape))
                if elements.shape
                else (),
                exact=MP.nstr(elements.exact[i], _DIGITS),
                exact_nearest=float(elements.exact[i]),
                computed=float(elements.computed[i]),
                replay=float(elements.replay[i]),
                trainer=None if elements.trainer is None else float(elements.trainer[i]),
                quantum=float(quanta[i]),
                error=errors[i],
                midpoint=midpoints[i],
            )
            for i in chosen
        )
    return Finding(right, sentence, shown, len(elements.indices), elements.total, elements.grid.tau)
