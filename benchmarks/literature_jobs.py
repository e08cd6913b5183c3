"""Small orders of the trainings in ``examples/literature``, to be recorded and replayed on other machines.

The networks that others begin with (the teacher of a distillation, the shallow network that is stacked) have their
first weights here: what a run shows of machines does not hang on how well they were trained.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType

import torch

from benchmarks.honest_jobs import Job
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.order import OrderDraft
from counterfoil.training.turns import TurnsJob, order_turns
from counterfoil_core.base.precision import AnyPrecision

EXAMPLES = Path(__file__).parents[1] / "examples" / "literature"


@cache
def example(name: str) -> ModuleType:
    """Return a module of the examples, which are no package."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None, name
    assert spec.loader is not None, name
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ordered(job: CustomJob | TurnsJob, precision: AnyPrecision | None = None) -> OrderDraft:
    """Draft the order of a job under a precision profile; the job's own unless given."""
    if precision is not None:
        job = replace(job, precision=precision)
    return order_turns(job) if isinstance(job, TurnsJob) else order_custom(job)


def _adversarial(steps: int) -> CustomJob:
    job: CustomJob = example("adversarial").make_job(steps)
    return job


def _sharpness(steps: int) -> CustomJob:
    job: CustomJob = example("sharpness").make_job(steps)
    return job


def _distillation(steps: int) -> CustomJob:
    module = example("distillation")
    torch.manual_seed(2)
    job: CustomJob = module.make_student(steps, module.perceptron(64))
    return job


def _by_turns(steps: int) -> TurnsJob:
    job: TurnsJob = example("stacking").make_job(steps, min(3, steps))
    return job


def _stacked(steps: int) -> CustomJob:
    module = example("stacking")
    torch.manual_seed(2)
    job: CustomJob = module.make_deep(steps, module.Stack(1).state_dict())
    return job


def _sparse(steps: int) -> CustomJob:
    job: CustomJob = example("sparse").make_job(steps)
    return job


def _drafting(make: Callable[[int], CustomJob | TurnsJob]) -> Job:
    return lambda steps, precision: ordered(make(steps), precision)


LITERATURE: Mapping[str, Job] = {
    name: _drafting(make)
    for name, make in (
        ("adversarial training (PGD)", _adversarial),
        ("sharpness-aware minimisation", _sharpness),
        ("distillation", _distillation),
        ("layers by turns", _by_turns),
        ("stacked layer", _stacked),
        ("sparse network", _sparse),
    )
}
"""How to order each, given the number of steps and the precision."""
