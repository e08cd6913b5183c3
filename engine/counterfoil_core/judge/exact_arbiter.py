"""The arbiter of exact profiles: at the first place that differs one side is wrong, and integers show which.

Under an exact profile every result is defined by mathematics (``docs/numerics.md``, "Exact profiles"). So there is no
error bound, no margin, and no difference that hardware may honestly make. Fingerprints lead to the first operator whose
output differs although its inputs agree. Its elements are computed by their definition, in Python's integers: where
this machine's are those, the trainer's are wrong, and where they are not, this machine is.

Where only a single element differs, the fingerprint gives away which one, and what the trainer has there.
"""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np
import numpy.typing as npt
import torch

from counterfoil_core.arithmetic.grid.fingerprints import Watched
from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.judge import findings
from counterfoil_core.judge.exactelements import DefinedElements
from counterfoil_core.judge.explain import changed_alone
from counterfoil_core.operators.draws.judge import is_as_defined
from counterfoil_core.operators.judge import defined_output
from counterfoil_core.operators.judging.numbers import NotExactError
from counterfoil_core.operators.node import Node
from counterfoil_core.program.places import PlaceSort
from counterfoil_core.replay.replayer import NoResult, ReplayedStep, StepReplayer, differing_places, replay_result
from counterfoil_core.replay.shares import State, first_draw
from counterfoil_core.values.dispute import Finding
from counterfoil_core.values.events import Event

BUDGET = 1_000_000
"""Products spent where the fingerprint does not tell which elements differ: a second or two."""
MOST_ELEMENTS = 4096
LEAST_ELEMENTS = 8


def arbitrate_exactly(
    steps: StepReplayer,
    claimed: StepRecord,
    state: State,
    fingerprints: npt.NDArray[np.uint64],
    outcome: ReplayedStep | NoResult,
) -> Generator[Event, None, Finding]:
    """Say who is right about a step whose leaf differs, or which comes to no result here, under an exact profile.

    Args:
        steps: Replays the step.
        claimed: The trainer's record of it.
        state: The agreed state before it.
        fingerprints: uint64 ``[places]``: the trainer's fingerprints.
        outcome: The replay of it, or where it ended.

    Yields:
        OperatorDone now and then.

    Raises:
        CancelledError: The replayer's token was cancelled.
    """
    precision = steps.job.manifest.precision
    assert isinstance(precision, ExactPrecision)
    differing = differing_places(fingerprints, outcome)
    if not len(differing):
        return _judge_end(outcome, precision.bits) if isinstance(outcome, NoResult) else findings.does_not_follow()
    number = int(differing[0])
    seen = yield from replay_result(steps.replay(claimed, state, (), observe=number))
    watched, program = seen.watched, steps.job.programs.of(claimed.step)
    if watched is None or seen.fingerprints[number] != outcome.fingerprints[number]:
        return findings.machine_wavers()
    place = watched.place
    if place.node is None:
        return findings.other_rows(place.name, claimed.step)
    node = program.nodes[place.node]
    if place.sort is PlaceSort.DRAW:
        first = first_draw(steps.job, claimed.step)
        own = watched.value.double().cpu().numpy()
        right = is_as_defined(node, own, steps.job.manifest.seed, claimed.step, first)
        return findings.other_draws(node, claimed.step) if right else findings.machine_is_not_as_defined(node)
    if not watched.value.numel():
        return findings.nothing_can_differ(node)
    try:
        elements = examine(node, watched, int(fingerprints[number]), precision.bits)
    except NotExactError as error:
        return findings.no_exact_value(node, error)
    return findings.machine_is_wrong(elements) if elements.off else findings.trainer_is_wrong(elements)


def _judge_end(end: NoResult, bits: int) -> Finding:
    """Judge a step that comes to no result, and whose places up to there are those that the trainer signed."""
    unfit = end.unfit
    if unfit is None:
        return findings.may_end_elsewhere(say("at no operator with a result"))
    infinite = torch.isinf(unfit.value).nonzero()
    if len(infinite):
        try:
            index = int(infinite[0])
            found = defined_output(unfit.node, unfit.arguments, unfit.output, bits).element(index)
        except (NotExactError, NonFiniteError):
            return findings.may_end_elsewhere(unfit.node.where)
        if isinstance(found, float) and math.isinf(found):
            return findings.infinite_result(unfit.node, index)
    return findings.may_end_elsewhere(unfit.node.where)


def examine(node: Node, seen: Watched, trainer: int, bits: int) -> DefinedElements:
    """Compute the elements in question of an operator's output by their definition.

    Args:
        node: The operator.
        seen: What this machine computed there.
        trainer: The trainer's fingerprint of it.
        bits: S of the profile.

    Raises:
        NotExactError: The operator, used like this, has no definition.
    """
    output = seen.place.output
    described = node.outputs[output]
    assert described is not None
    own = seen.value.cpu().numpy()
    defined = defined_output(node, seen.arguments, output, bits)
    alone = changed_alone(own, seen.key, (trainer - seen.fingerprint) % 2**64)
    if alone is None:
        count = min(max(BUDGET // max(defined.cost, 1), LEAST_ELEMENTS), MOST_ELEMENTS)
        indices = np.unique(np.linspace(0, len(own) - 1, count).astype(np.int64))
    else:
        indices = np.array([alone[0]], np.int64)
    return DefinedElements(
        node=node,
        shape=described.shape,
        dtype=described.dtype,
        indices=indices,
        defined=[defined.element(int(index)) for index in indices],
        replay=[own[index].item() for index in indices],
        trainer=None if alone is None else [alone[1]],
        total=len(own),
    )
