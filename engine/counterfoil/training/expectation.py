"""What a run of an order is expected to take: by its shapes, and by the trial of its first step."""

from __future__ import annotations

from dataclasses import replace

from counterfoil.bundle.writer import order_bytes, run_bytes
from counterfoil.training.order import OrderDraft
from counterfoil.training.stages import Expected
from counterfoil.training.trial import Executed, Trial
from counterfoil_core.base.dtypes import ITEM_BYTES
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.order.admission import places_of
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.program.estimate import estimate
from counterfoil_core.program.graph import Program
from counterfoil_core.program.limits import largest_estimate


def expected_of(draft: OrderDraft, trial: Trial | None, *, data_outside: bool = False) -> Expected:
    """Return what a run of an order takes if every step takes what the first one did.

    Args:
        draft: The order.
        trial: The trial of its first step; None where there was none.
        data_outside: Whether the data goes into a file of its own, and not into order and run.
    """
    manifest = draft.manifest
    bits = manifest.precision.bits if isinstance(manifest.precision, ExactPrecision) else None
    item_bytes = ITEM_BYTES[manifest.precision.compute]
    step = largest_estimate([estimate(program, item_bytes, None, bits) for program in draft.all_programs])
    loaded = LoadedOrder(
        manifest, draft.programs, draft.initial, draft.schedule, draft.scalars, draft.data, draft.updates
    )
    state_bytes = sum(array.nbytes for array in draft.initial.values())
    programs, data = draft.programs.map(Program.to_bytes), {} if data_outside else draft.data
    order = order_bytes(programs, draft.schedule, draft.scalars, data, draft.initial)
    stored = run_bytes(manifest, manifest.extent, state_bytes, places_of(loaded)) + order
    expected = Expected(step.operators, step.bytes, step.flops, stored)
    if trial is None:
        return expected
    executed = _executions(draft, trial, manifest.steps)
    return replace(
        expected,
        log_bytes=sum(each.log_bytes * times for each, times in executed),
        seconds=sum(each.seconds * times for each, times in executed),
        first_seconds=sum(each.seconds * times for each, times in _executions(draft, trial, 1)),
        loss=trial.shown_loss,
        scores=trial.scores,
    )


def _executions(draft: OrderDraft, trial: Trial, steps: int) -> list[tuple[Executed, int]]:
    """Return what was executed, each with how often it is in so many steps."""
    shares = draft.manifest.shares
    count = 1 if shares is None else shares.count
    turns = [draft.programs.count(draft.programs.name(each.step), steps) for each in trial.executed]
    return [(each, times * (1 if each.update else count)) for each, times in zip(trial.executed, turns, strict=True)]
