"""Jobs without what surrounds their parts: wrappers of models, compiled functions, optimizers of other libraries."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from torch import nn
from torch.optim.swa_utils import AveragedModel

from counterfoil.program.remedies import Notes
from counterfoil.program.update.rule import Wrapper
from counterfoil.program.wrappers import function_within, model_within
from counterfoil_core.base.errors import DataError

_Job = TypeVar("_Job")
_WITHIN: Mapping[tuple[str, str], str] = {
    ("AcceleratedOptimizer", "optimizer"): "Accelerate's optimizer is taken off.",
    ("AcceleratedScheduler", "scheduler"): "Accelerate's scheduler is taken off.",
    ("_FabricOptimizer", "optimizer"): "Fabric's optimizer is taken off.",
    ("LightningOptimizer", "optimizer"): "Lightning's optimizer is taken off.",
    ("DeepSpeedOptimizerWrapper", "optimizer"): "Accelerate's optimizer is taken off.",
}
"""Names of classes that hold an optimizer or a scheduler, where they hold it, and what is said."""
STARTS = (
    "AveragedModel becomes an average that starts at the initial weights; torch's begins with those after its first "
    "update."
)
"""The note on an average that has averaged nothing yet."""


def unwrap_job(job: _Job, notes: Notes) -> _Job:
    """Return a job with its own model, objective, optimizer and scheduler; each of its turns likewise.

    Args:
        job: A dataclass that has some of these fields.
        notes: Is told what was taken off.

    Raises:
        ProgramError: The model is wrapped in what splits it, or it is an average of another one.
    """
    wrapper = getattr(job, "model", None)
    if not isinstance(wrapper, nn.Module):
        return _bare(job, None, notes)
    model = model_within(wrapper, notes)
    seen = None if model is wrapper else wrapper
    turns = {"turns": [_bare(turn, seen, notes) for turn in job.turns]} if hasattr(job, "turns") else {}
    return replace(_bare(job, seen, notes), model=model, **turns)  # type: ignore[type-var]


def _bare(job: _Job, wrapper: nn.Module | None, notes: Notes) -> _Job:
    """A job, or a turn, with its own objective, optimizer and scheduler; the objective sees a wrapped model if any."""
    changes: dict[str, Any] = {}
    objective = getattr(job, "objective", None)
    if callable(objective):
        own = function_within(objective, notes)
        changes["objective"] = own if wrapper is None else _given(wrapper, own)
    for name in ("rule", "scheduler"):
        if getattr(job, name, None) is not None:
            changes[name] = _within(getattr(job, name), notes)
    return replace(job, **changes)  # type: ignore[type-var]


def _given(wrapper: nn.Module, objective: Callable[..., Any]) -> Callable[..., Any]:
    """The objective with the model as the client wrapped it, which may be asked for what it wraps."""
    return lambda _model, batch: objective(wrapper, batch)


def _within(item: Any, notes: Notes) -> Any:
    if isinstance(item, Wrapper):
        return replace(item, rule=_within(item.rule, notes))
    if isinstance(item, (list, tuple)):
        return [_within(one, notes) for one in item]
    for (kind, attribute), sentence in _WITHIN.items():
        if type(item).__name__ == kind:
            notes.add(sentence)
            return _within(getattr(item, attribute), notes)
    return item


def decay_of(average: AveragedModel | float) -> float:
    """Return the decay of an exponential moving average of a model's weights.

    Args:
        average: The decay itself, or torch's AveragedModel that was made with one.

    Raises:
        DataError: It averages by another rule.
    """
    if not isinstance(average, AveragedModel):
        return average
    for function in (average.multi_avg_fn, average.avg_fn):
        found = _variables(function).get("decay")
        if isinstance(found, float) and function.__module__ == AveragedModel.__module__:
            return found
    raise DataError(
        "The AveragedModel averages by a rule of its own, or all weights alike, which an order does not have.",
        remedy="Order an exponential moving average: AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(decay)), "
        "or average the stored states of the run afterwards.",
    )


def _variables(function: Any) -> Mapping[str, Any]:
    """The variables that an inner function takes from around it."""
    inner = None if function is None else inspect.unwrap(function)
    code = getattr(inner, "__code__", None)
    cells: Sequence[Any] = getattr(inner, "__closure__", None) or ()
    names = code.co_freevars if code is not None else ()
    return {name: cell.cell_contents for name, cell in zip(names, cells, strict=True)}
