"""The arbiter: recomputes elements of the disputed operator exactly, and says who is right.

Fingerprints lead to the first operator whose output differs although its inputs agree. Its exact output follows from
these inputs, and every conforming machine's value lies within a proven bound of it. So these cases can be told apart:

* This machine's value lies farther from the exact one: its arithmetic is off, and whatever follows accuses nobody.
* The exact value lies within the bound of a midpoint between two grid points, and the trainer's value is one of both:
  conforming hardware may round to either side. If the margin is proven, a conforming recorder has logged the decision.
* The trainer's value is another one: no conforming machine gives it, and the trainer is wrong.
* The fingerprint does not tell which elements differ. At a proven margin the log holds every decision that conforming
  machines could take otherwise, so no difference is left that they could have. At a smaller one there may be.

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

from counterfoil_core.arithmetic.grid.fingerprints import Unfit, Watched
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.grid.margin import error_bound, is_proven, node_bounds
from counterfoil_core.arithmetic.grid.neighbours import Neighbours, Values, neighbours
from counterfoil_core.arithmetic.grid.replayrounder import Observation
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.commit.merkle import leaf_hash
from counterfoil_core.judge import findings
from counterfoil_core.judge.elements import Elements, is_defined, tolerance
from counterfoil_core.judge.explain import explain
from counterfoil_core.kernels.grid import (
    ACCEPTANCE_FACTOR,
    LARGEST_EXPONENT,
    SCALE_TOLERANCE,
    is_explained,
    scale_exponent,
)
from counterfoil_core.operators.draws.judge import is_as_defined
from counterfoil_core.operators.judge import exact_output
from counterfoil_core.operators.judging.numbers import NotExactError
from counterfoil_core.program.graph import Program
from counterfoil_core.program.places import PlaceSort
from counterfoil_core.replay.replayer import Job, NoResult, ReplayedStep, StepReplayer, differing_places, replay_result
from counterfoil_core.replay.shares import State, first_draw
from counterfoil_core.values.dispute import Finding
from counterfoil_core.values.events import Event

MOST_OMISSIONS = 16
"""Operators of one step whose decisions may be missing from the log before that alone accuses."""
BUDGET = 1_000_000
"""Exact products spent where the fingerprint does not tell which elements differ: a second or two."""
MOST_ELEMENTS = 4096
LEAST_ELEMENTS = 8


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
    outcome: ReplayedStep | NoResult,
    fingerprints: npt.NDArray[np.uint64],
) -> Generator[Event, None, Arbitration]:
    """Say who is right about a step whose leaf differs, or which comes to no result here.

    Args:
        steps: Replays the step.
        claimed: The trainer's record of it.
        state: The agreed state before it.
        logs: The trainer's log of it.
        outcome: The replay of it, or where it ended.
        fingerprints: uint64 ``[places]``: the trainer's fingerprints.

    Yields:
        OperatorDone now and then.

    Raises:
        CancelledError: The replayer's token was cancelled.
    """
    current: ReplayedStep | NoResult = outcome
    program, manifest = steps.job.programs.of(claimed.step), steps.job.manifest
    compute = manifest.precision.compute
    rounded: list[Elements] = []
    forced: dict[int, Values] = {}
    while True:
        differing = differing_places(fingerprints, current)
        if not len(differing):
            break
        number = int(differing[0])
        site = program.places[number].site
        seen = yield from replay_result(steps.replay(claimed, state, logs, forced=forced, observe=number))
        if (seen.observation or seen.watched) is None:  # it ended before
            return Arbitration(findings.machine_wavers())
        if site in forced or seen.fingerprints[number] == fingerprints[number]:
            # Forced values have the trainer's fingerprint, and the place differed just now.
            return Arbitration(findings.machine_wavers())
        if site is None:
            assert seen.watched is not None
            return Arbitration(findings.after(_judge_exact(steps.job, seen.watched, claimed.step), rounded))
        assert seen.observation is not None
        judged = _judge(program, compute, seen.observation, int(fingerprints[number]), logs[site])
        if isinstance(judged, Finding):
            return Arbitration(findings.after(judged, rounded))
        assert judged.trainer is not None
        if not judged.conforming:
            values = {**forced, site: Values(judged.indices, judged.trainer)}
            led = yield from replay_result(steps.replay(claimed, state, logs, forced=values))
            found = _borne_out(judged, claimed, current, led, fingerprints)
            return Arbitration(findings.after(found, rounded))
        rounded.append(judged)
        if sum(elements.proven for elements in rounded) == MOST_OMISSIONS:
            return Arbitration(findings.too_many_omissions(rounded))
        forced[site] = Values(judged.indices, judged.trainer)
        then = yield from replay_result(steps.replay(claimed, state, logs, forced=forced))
        if isinstance(then, NoResult) and isinstance(current, ReplayedStep):
            # The step came to a result without these values, so they do not lead to what the trainer signed.
            return Arbitration(findings.leads_elsewhere(rounded))
        current = then
    if isinstance(current, NoResult):
        return Arbitration(findings.after(judge_end(program, compute, current), rounded))
    if not rounded:
        return Arbitration(findings.does_not_follow())
    if current.leaf != leaf_hash(claimed.to_bytes()):
        return Arbitration(findings.leads_elsewhere(rounded))
    return Arbitration(findings.explained_finding(rounded), current)


def judge_end(program: Program, compute: str, end: NoResult) -> Finding:
    """Judge a step that comes to no result, and whose places up to there are those that the trainer signed.

    A scale is the same on all conforming machines but for its last bits (docs/numerics.md, "Scales"), and where it is
    2^128 or more, the step ends on each of them. That this machine's own values are right is shown by an element.

    Args:
        program: The program of the step.
        compute: Name of the compute dtype of the order's profile.
        end: Where it ended.
    """
    unfit = end.unfit
    if unfit is None:
        return findings.may_end_elsewhere(say("at no rounded operator"))
    if not math.isfinite(unfit.scale) or unfit.scale * (1 - SCALE_TOLERANCE) < 2.0 ** (LARGEST_EXPONENT + 1):
        return findings.may_end_elsewhere(unfit.node.where)
    try:
        right = _is_right(program, compute, unfit)
    except NotExactError:
        right = None
    if right is None:
        return findings.may_end_elsewhere(unfit.node.where)
    return findings.no_result(unfit.node, unfit.scale) if right else findings.machine_is_not_as_defined(unfit.node)


def _is_right(program: Program, compute: str, unfit: Unfit) -> bool | None:
    """Whether the largest finite element lies within the bound of the exact one; None where there is no bound."""
    bound = node_bounds(program, unfit.node)[unfit.output]
    if bound is None:
        return None
    error = error_bound(bound, math.frexp(unfit.scale)[1] - 1, compute)
    values = unfit.value.double().cpu().numpy()
    magnitudes = np.where(np.isfinite(values), np.abs(values), -1.0)
    index = int(np.argmax(magnitudes))
    if magnitudes[index] < 0:  # float32 has none so large: every sum runs over, as the scale says
        return True
    exact = exact_output(unfit.node, unfit.arguments, unfit.output).element(index)
    return bool(abs(exact - float(values[index])) <= error)


def _borne_out(
    judged: Elements,
    claimed: StepRecord,
    current: ReplayedStep | NoResult,
    led: ReplayedStep | NoResult,
    fingerprints: npt.NDArray[np.uint64],
) -> Finding:
    """Accuse by a value that no conforming machine has only if it leads on to what the trainer signed. Pure.

    A fingerprint alone does not show it: of n elements one fits by chance with a probability of n / 2^34, and who
    chooses an order may look for one in which an honest difference does. A later place that comes right is no chance.

    Args:
        judged: The elements, whose values no conforming machine has.
        claimed: The trainer's record of the step.
        current: The step without these values.
        led: The step with them.
        fingerprints: uint64 ``[places]``: the trainer's fingerprints.
    """
    if isinstance(led, NoResult):
        return findings.undecided_finding(judged)
    later = set(differing_places(fingerprints, current)[1:].tolist())
    right = later - set(differing_places(fingerprints, led).tolist()) or led.leaf == leaf_hash(claimed.to_bytes())
    return findings.wrong_values(judged) if right else findings.undecided_finding(judged)


def _judge(program: Program, compute: str, seen: Observation, trainer: int, log: SiteLog) -> Finding | Elements:
    """Judge the first site that differs; returns its elements where what follows from them has to tell more."""
    if not seen.before.numel():
        return findings.nothing_can_differ(seen.node)
    try:
        elements = examine(program, compute, seen, trainer, log)
    except NotExactError as error:
        return findings.no_exact_value(seen.node, error)
    if elements is None:
        return findings.no_bound(seen.node)
    if elements.off:
        return findings.machine_is_off(elements)
    if not is_explained(log.exponent, seen.scale):
        return findings.wrong_scale(elements)
    if elements.trainer is None:
        return findings.undecided_finding(elements) if elements.open else findings.other_values(elements)
    if not elements.conforming:
        # One value that explains the difference may fit by chance, where conforming machines may differ in others.
        return elements if elements.open else findings.wrong_values(elements)
    return findings.contradiction(elements) if elements.against_log else elements


def _judge_exact(job: Job, seen: Watched, step: int) -> Finding:
    """Judge a place that differs and is not rounded: nothing there hangs on a last bit."""
    place, program, manifest = seen.place, job.programs.of(step), job.manifest
    if place.node is None:
        return findings.other_rows(place.name, step)
    node = program.nodes[place.node]
    own = seen.value.double().cpu().numpy()
    if place.sort is PlaceSort.DRAW:
        right = is_as_defined(node, own, manifest.seed, step, first_draw(job, step))
        return findings.other_draws(node, step) if right else findings.machine_is_not_as_defined(node)
    if not len(own):
        return findings.nothing_can_differ(node)
    try:
        exact = exact_output(node, seen.arguments, place.output)
        count = min(max(BUDGET // max(exact.cost, 1), LEAST_ELEMENTS), MOST_ELEMENTS)
        indices = np.unique(np.linspace(0, len(own) - 1, count).astype(np.int64))
        compute = manifest.precision.compute
        right = all(is_defined(float(own[index]), exact.element(int(index)), compute) for index in indices)
    except NotExactError as error:
        return findings.no_exact_value(node, error)
    return findings.not_as_defined(node) if right else findings.machine_is_not_as_defined(node)


def examine(program: Program, compute: str, seen: Observation, trainer: int, log: SiteLog) -> Elements | None:
    """Recompute the elements in question of one rounding site.

    Args:
        program: The program of the step.
        compute: Name of the compute dtype of the order's profile.
        seen: What this machine computed there.
        trainer: The trainer's fingerprint of it.
        log: The trainer's decisions there.

    Returns:
        The elements; None when there is no bound.

    Raises:
        NotExactError: There is no exact value.
    """
    bounded = _bound(program, seen, compute)
    if bounded is None:
        return None
    bound, proven = bounded
    before, after = (flat.double().cpu().numpy() for flat in (seen.before, seen.after))
    beside = neighbours(before, after, seen.grid)
    close = _rounded_either_way(beside, bound, seen.grid.tau, log)
    explanation = explain(before, after, seen.grid, seen.key, (trainer - seen.fingerprint) % 2**64, close)
    unsure = 0 if proven or explanation.rounding_excluded else len(close)
    values = explanation.values
    exact = exact_output(seen.node, seen.arguments, seen.output)
    if values is None:
        count = min(max(BUDGET // max(exact.cost, 1), LEAST_ELEMENTS), MOST_ELEMENTS)
        indices = sample_places(np.abs(beside.distance), count)
    else:
        indices = values.indices
    described = seen.node.outputs[seen.output]
    assert described is not None
    return Elements(
        node=seen.node,
        shape=described.shape,
        grid=seen.grid,
        bound=bound,
        proven=proven,
        indices=indices,
        exact=[exact.element(int(index)) for index in indices],
        computed=before[indices],
        replay=after[indices],
        trainer=None if values is None else values.values,
        against_log=values is not None and _against(log, values, after[indices]),
        open=unsure,
        total=len(before),
    )


def _bound(program: Program, seen: Observation, compute: str) -> tuple[float, bool] | None:
    """Return how far conforming machines may err at a site, and whether its margin is proven; None without a bound."""
    bound = node_bounds(program, seen.node)[seen.output]
    if bound is None:
        return None
    # The exponent of the own scale, not the trainer's: nobody is to narrow the bound by what it logs.
    exponent = scale_exponent(seen.scale)
    assert exponent is not None, "a step with a scale that is not finite ends"
    error = error_bound(bound, exponent, compute)
    if math.isinf(error):
        return None
    return tolerance(error, seen.grid), is_proven(seen.grid.margin_bits, bound, compute)


def _rounded_either_way(beside: Neighbours, bound: float, tau: float, log: SiteLog) -> npt.NDArray[np.int64]:
    """Return the elements that another conforming machine may have rounded otherwise, its log not being followed."""
    distance = np.abs(beside.distance)
    followed = log.indices[distance[log.indices] <= ACCEPTANCE_FACTOR * tau]
    return np.setdiff1d(np.flatnonzero(distance <= 2 * bound), followed, assume_unique=True).astype(np.int64)


def _against(log: SiteLog, trainer: Values, replay: npt.NDArray[np.float64]) -> bool:
    """Return whether the trainer's values, which differ from the replay's, lie on the other side than its log says."""
    logged = np.isin(trainer.indices, log.indices)
    ups = log.ups[np.searchsorted(log.indices, trainer.indices[logged])]
    return bool((ups != (trainer.values > replay)[logged]).any())


def sample_places(distance: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.int64]:
    """Choose elements to recompute: the first ones, those closest to a midpoint, and some spread over the rest.

    Args:
        distance: float64 ``[n]``: how far each value lies from a midpoint.
        count: How many to choose.

    Returns:
        int64 ``[<= count]``: their places, in ascending order; all where there are no more.
    """
    total = len(distance)
    if total <= count:
        return np.arange(total, dtype=np.int64)
    share = count // 4
    closest = np.argpartition(distance, share)[:share]
    spread = np.linspace(0, total - 1, count - 2 * share).astype(np.int64)
    return np.unique(np.concatenate([np.arange(share), closest, spread])).astype(np.int64)
