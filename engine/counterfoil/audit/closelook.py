"""The first operator of a step that differs, with its inputs and its output as a replay has them."""

from __future__ import annotations

import math
import os
from collections.abc import Generator, Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil.audit.signedrun import SignedRun, observe_part, replay_up_to
from counterfoil.audit.values.closelook import LookProgress, OperatorLook, OperatorValue, TensorSides
from counterfoil.base.oneline import one_line
from counterfoil.training.orderfile import load_order
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.generators import relay
from counterfoil_core.base.sentence import say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.judge.compare import ulp_distances
from counterfoil_core.judge.locate import first_differing_operator
from counterfoil_core.order.executable import with_data_file
from counterfoil_core.replay.sharedreplay import step_replayer
from counterfoil_core.replay.shares import SharedJob, State
from counterfoil_core.values.dispute import COMBINE, UPDATE

# One tensor of the state, as the trainer stored it and as a replay gives it: how far apart, and what that is worth.

BINS = 48
MOST_SHOWN = 200
"""Elements that are shown at most, those that lie farthest apart."""


def compare_tensor(
    run: str | os.PathLike[str],
    step: int,
    tensor: str,
    *,
    data: str | os.PathLike[str] | None = None,
    device: str = "cpu",
    threads: int | None = None,
    cancel: CancelToken | None = None,
) -> Generator[LookProgress, None, TensorSides]:
    """Replay up to a stored state, and compare one tensor of it, element by element; yields how far it is.

    The replay starts from the state that the trainer stored before, and follows the trainer's log.

    Args:
        run: The run.
        step: A step whose state the trainer stored.
        tensor: Name of a tensor of the state.
        data: The data file, for an order that keeps data outside.
        device: Where to replay.
        threads: Threads on the CPU; None for torch's choice.
        cancel: Looked at between operators.

    Raises:
        DataError: The trainer stored no state after the step, or it has no such tensor.
        LogError: A log cannot be read.
        NonFiniteError: A step leads to a value that does not fit float32.
        RefusedError: The run is damaged, or not what its trainer signed.
        CancelledError: The token was cancelled.
    """
    with obstacles_noticed(), ExitStack() as stack:
        opened = SignedRun.opened(stack.enter_context(BundleReader.open(run)), cancel)
        signed = yield from relay(opened, lambda report: LookProgress(*report))
        extent = signed.reader.extent
        if not step or not extent.is_checkpoint(step):
            raise DataError(say("The trainer stored no state after step {0}, so there is nothing to compare.", step))
        begin = extent.checkpoint_before(step)
        before, trainer = signed.state(begin), signed.state(step)
        if tensor not in trainer:
            raise DataError(say("The state has no tensor {0}.", repr(tensor)))
        job = with_data_file(load_order(signed.reader), data, stack, cancel)
        state: State = {name: torch.from_numpy(array) for name, array in before.items()}
        with step_replayer(job, open_machine(device, threads), cancel=cancel) as replayer:
            state = yield from replay_up_to(replayer, signed, begin, step, state)
        yield LookProgress(say("Comparing"), step - begin, step - begin)
        replay = state[tensor].cpu().numpy()
        return compare_sides(tensor, (begin, step), before[tensor], trainer[tensor], replay)


def compare_sides(name: str, steps: tuple[int, int], before: Array, trainer: Array, replay: Array) -> TensorSides:
    """Compare a tensor of two sides. Pure.

    Args:
        name: Its name.
        steps: After which step both sides had the same, and after which they are compared.
        before: The tensor after the first of these.
        trainer: The trainer's.
        replay: The replay's, of the same dtype and shape.
    """
    ulps = ulp_distances(trainer, replay).reshape(-1)
    sides = [np.ascontiguousarray(side).reshape(-1) for side in (trainer, replay)]
    differs = sides[0].view(np.uint8).reshape(trainer.size, -1) != sides[1].view(np.uint8).reshape(trainer.size, -1)
    apart = np.flatnonzero(differs.any(axis=1)) if trainer.size else np.zeros(0, np.int64)
    worst = apart[np.argsort(ulps[apart], kind="stable")[::-1][:MOST_SHOWN]]
    wide = [side.astype(np.float64) for side in sides]
    edges = _edges(wide)
    bins = [np.histogram(side[np.isfinite(side)], edges)[0].astype(np.int64) for side in wide]
    places = np.array(np.unravel_index(worst, trainer.shape), np.int64).T.reshape(len(worst), trainer.ndim)
    return TensorSides(
        name=name,
        step=steps[1],
        begin=steps[0],
        shape=tuple(trainer.shape),
        said=_said(steps, len(apart), ulps, before.reshape(-1).astype(np.float64), *wide),
        differing=len(apart),
        edges=edges,
        trainer_bins=bins[0],
        replay_bins=bins[1],
        ulp_bins=_by_powers(ulps),
        indices=places,
        trainer=wide[0][worst],
        replay=wide[1][worst],
        ulps=ulps[worst],
    )


def _edges(sides: list[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    finite = np.concatenate([side[np.isfinite(side)] for side in sides])
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    return np.linspace(low, high, BINS + 1) if high > low else np.linspace(low - 0.5, low + 0.5, BINS + 1)


def _by_powers(ulps: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Count the elements that are equal, that differ by 1, by 2 to 3, by 4 to 7 and so on."""
    powers = np.zeros(len(ulps), np.int64)
    above = ulps > 0
    powers[above] = np.floor(np.log2(ulps[above].astype(np.float64))).astype(np.int64) + 1
    return np.bincount(powers, minlength=1).astype(np.int64)


def _said(
    steps: tuple[int, int],
    differing: int,
    ulps: npt.NDArray[np.uint64],
    before: npt.NDArray[np.float64],
    trainer: npt.NDArray[np.float64],
    replay: npt.NDArray[np.float64],
) -> tuple[str, ...]:
    """Say what would change, and measure it by how far the ordered steps themselves moved the tensor."""
    if not differing:
        return (say("All {0} elements are equal, bit for bit.", len(ulps)),)
    said = [
        say(
            "{0} of {1} elements would be others, by up to {2} units in the last place and {3:.3g} at most.",
            differing,
            len(ulps),
            int(ulps.max()),
            _largest(trainer - replay),
        )
    ]
    moved, apart = _length(replay - before), _length(trainer - replay)
    if np.isfinite(moved) and np.isfinite(apart) and moved > 0:
        share = 100 * apart / moved
        said.append(
            say(
                "From step {0} to step {1} the ordered training moves this tensor by {2:.3g} (Euclidean norm). The "
                "trainer's lies {3:.3g} from there: {4:.3g} % of that way.",
                steps[0],
                steps[1],
                moved,
                apart,
                share,
            )
        )
    turned = int(np.count_nonzero(np.sign(trainer - before) * np.sign(replay - before) < 0))
    if turned:
        said.append(say("{0} elements moved the other way.", turned))
    return tuple(said)


def _length(difference: npt.NDArray[np.float64]) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.sqrt(np.square(difference).sum()))


def _largest(difference: npt.NDArray[np.float64]) -> float:
    return float(np.nan_to_num(np.abs(difference), nan=np.inf).max(initial=0.0))


FIRST = 12
"""Values of a tensor that are shown."""
MOST_CHARACTERS = 80
"""Of what is no tensor."""


def look_at_operator(
    run: str | os.PathLike[str],
    step: int,
    part: str = "",
    *,
    data: str | os.PathLike[str] | None = None,
    device: str = "cpu",
    threads: int | None = None,
    cancel: CancelToken | None = None,
) -> Generator[LookProgress, None, OperatorLook]:
    """Replay up to a step, and show what its first differing operator was given and gave; yields how far it is.

    Args:
        run: The run.
        step: The step, from 1.
        part: Which part of it, where shares make the step: a share or the update; as :attr:`Dispute.part`.
        data: The data file, for an order that keeps data outside.
        device: Where to replay.
        threads: Threads on the CPU; None for torch's choice.
        cancel: Looked at between operators.

    Raises:
        DataError: The run has no such step, or no operator of it differs.
        LogError: A log cannot be read.
        RefusedError: The run is damaged, or not what its trainer signed.
        CancelledError: The token was cancelled.
    """
    with obstacles_noticed(), ExitStack() as stack:
        opened = SignedRun.opened(stack.enter_context(BundleReader.open(run)), cancel)
        signed = yield from relay(opened, lambda report: LookProgress(*report))
        if not 1 <= step <= signed.reader.extent.steps or part == COMBINE:
            raise DataError(_NONE)
        begin = signed.reader.extent.checkpoint_before(step)
        job = with_data_file(load_order(signed.reader), data, stack, cancel)
        state: State = {name: torch.from_numpy(array) for name, array in signed.state(begin).items()}
        with step_replayer(job, open_machine(device, threads), cancel=cancel) as replayer:
            state = yield from replay_up_to(replayer, signed, begin, step - 1, state)
            where = LookProgress(say("Replaying step {0}", step), step - 1 - begin, step - begin)
            seen = yield from relay(observe_part(replayer, signed, step, part, state, None), lambda _event: where)
            turns = job.programs
            if part == UPDATE:
                assert isinstance(replayer.job, SharedJob)
                assert replayer.job.updates is not None
                turns = replayer.job.updates
            program, trainer = turns.of(step), signed.printed(step, part)
            operator = first_differing_operator(program, trainer, seen.fingerprints)
            if operator is None:
                raise DataError(_NONE)
            place = int(np.flatnonzero(trainer != seen.fingerprints)[0])
            seen = yield from relay(observe_part(replayer, signed, step, part, state, place), lambda _event: where)
        kept = seen.observation if seen.observation is not None else seen.watched
        assert kept is not None, "the place was reached before"
        output = seen.observation.after if seen.observation is not None else seen.watched.value  # type: ignore[union-attr]
        values = [value_of(name, value) for name, value in _flat(kept.arguments)]
        gave = value_of("", output.reshape(operator.shape))
        return OperatorLook(step, operator.number, operator.where, SAID, (*values, gave))


_NONE = say("There is no operator to be shown: no fingerprint of an operator differs in this part of the step.")
SAID = (
    say("These are the values of the replay here."),
    say("The fingerprints of all that reaches the operator agree, so the trainer's inputs are most likely the same."),
    say("Of the trainer's output the run holds a fingerprint and no values."),
)


def _flat(arguments: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The arguments, each tensor of a list by itself."""
    found: list[tuple[str, Any]] = []
    for name, value in arguments.items():
        if isinstance(value, (list, tuple)) and any(isinstance(each, Tensor) for each in value):
            found += [(f"{name}[{number}]", each) for number, each in enumerate(value)]
        elif value is not None:
            found.append((name, value))
    return found


def value_of(name: str, value: Any) -> OperatorValue:
    """Describe an argument, or a result. Pure."""
    if not isinstance(value, Tensor):
        said = one_line(str(value), MOST_CHARACTERS)
        return OperatorValue(name, (), "", math.nan, math.nan, math.nan, np.zeros(0), said)
    flat = value.detach().reshape(-1).cpu().to(torch.float64).numpy()
    numbers = flat[~np.isnan(flat)]
    with np.errstate(over="ignore", invalid="ignore"):
        least, largest, mean = (
            (float(numbers.min()), float(numbers.max()), float(numbers.mean()))
            if numbers.size
            else (math.nan, math.nan, math.nan)
        )
    dtype = str(value.dtype).removeprefix("torch.")
    return OperatorValue(name, tuple(value.shape), dtype, least, largest, mean, flat[:FIRST].copy())
