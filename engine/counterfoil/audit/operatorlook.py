"""The first operator of a step that differs, with its inputs and its output as a replay has them."""

from __future__ import annotations

import math
import os
from collections.abc import Generator, Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil.audit.signedrun import SignedRun, observe_part, replay_up_to
from counterfoil.audit.values.closelook import LookProgress, OperatorLook, OperatorValue
from counterfoil.base.oneline import one_line
from counterfoil.training.orderfile import load_order
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.generators import relay
from counterfoil_core.base.sentence import say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.judge.locate import first_differing_operator
from counterfoil_core.order.executable import with_data_file
from counterfoil_core.replay.sharedreplay import step_replayer
from counterfoil_core.replay.shares import SharedJob, State
from counterfoil_core.values.dispute import COMBINE, UPDATE

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
