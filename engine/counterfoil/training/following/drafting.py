"""The order of the steps that were followed."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil.base.cancel import CancelToken
from counterfoil.base.errors import DataError
from counterfoil.base.precision import AnyPrecision, is_exact
from counterfoil.base.turns import ALONE, Turns
from counterfoil.bundle.pattern import MAX_PATTERN
from counterfoil.operators.node import TensorType
from counterfoil.program.capture import CapturedStep
from counterfoil.program.recompute import Segments
from counterfoil.training.custom import ClientJob
from counterfoil.training.following.layout import Layout, Made, Plan, period, plan_of
from counterfoil.training.following.optimizers import FollowedOptimizer
from counterfoil.training.following.retracing import BatchInput, Sources, retrace
from counterfoil.training.following.rows import Pool
from counterfoil.training.following.steps import Geometry, Tape, Update
from counterfoil.training.order import OrderDraft, assemble_order
from counterfoil.training.preparing import Preparing
from counterfoil.training.united import united

RECIPE = "script"


@dataclass(frozen=True)
class Variant:
    """One of a script's different steps.

    Attributes:
        tape: What the first such step did.
        dtypes: The dtypes of the tensors that it brought along.
        kept: Keeps what stood for its tensors, as memory tells them apart.
    """

    tape: Tape
    dtypes: tuple[torch.dtype, ...]
    kept: object


@dataclass(frozen=True)
class Followed(ClientJob):
    """The training that a script's own loop did while it was followed.

    Attributes:
        title: The name of the job.
        steps: Its steps.
        variants: Its different steps.
        pool: The rows that they brought along.
        optimizers: The optimizers.
        state: The initial state by name.
        stands: What stood for it.
        tied: As of a captured step.
        unsaved: Likewise.
        seed: Seed of the draws.
        checkpoint_every: The state is stored every so many steps.
    """

    title: str
    steps: Sequence[Made]
    variants: Sequence[Variant]
    pool: Pool
    optimizers: Sequence[FollowedOptimizer]
    state: Mapping[str, Tensor]
    stands: Mapping[str, Geometry]
    tied: Mapping[str, str]
    unsaved: tuple[str, ...]
    seed: int = 0
    checkpoint_every: int = 10

    def drafting(
        self,
        precision: AnyPrecision | None = None,
        recompute_activations: Segments | None = None,
        cancel: CancelToken | None = None,
    ) -> Generator[Preparing, None, OrderDraft]:
        """Draft the order; see :meth:`ClientJob.drafting`."""
        by_variant = [[step for step in self.steps if step.variant == number] for number in range(len(self.variants))]
        plans = [plan_of(steps) for steps in by_variant]
        layout = Layout.of(plans)
        captured: dict[str, CapturedStep] = {}
        for number, (plan, steps) in enumerate(zip(plans, by_variant, strict=True)):
            yield Preparing("Writing down steps", "programs", number, len(plans))
            if cancel is not None:
                cancel.check()
            program, constants = retrace(
                self.variants[number].tape,
                dict(zip(self.variants[number].tape.used, steps[0].numbers, strict=True)),
                self._sources(number, plan, layout, steps[0]),
                exact=is_exact(precision),
                ignore_autocast=precision is not None,
            )
            unsaved = tuple(sorted({*self.unsaved, *constants}))
            captured[_name(number, len(plans))] = CapturedStep(
                program, {**self.state, **constants}, (), 1, self.tied, unsaved
            )
        programs, state, module = united(captured)
        names, scalars = self._scalars(plans)
        schedule, data = layout.scheduled(self.steps, plans, self.pool)
        draft = assemble_order(
            title=self.title,
            recipe=RECIPE,
            optimizer="; ".join(own.rule.describe() for own in self.optimizers),
            programs=Turns(programs, self._pattern(len(plans))),
            scalar_names=names,
            scalars=scalars,
            state=state,
            module=module,
            schedule=schedule,
            data=data,
            seed=self.seed,
            precision=precision,
            commit_every=1,
            checkpoint_every=self.checkpoint_every,
            rates={own.prefix.rstrip("."): [rates[0] for rates in own.rates] for own in self.optimizers},
        )
        return (yield from draft.recomputing_in_stages(recompute_activations, cancel))

    def _sources(self, variant: int, plan: Plan, layout: Layout, step: Made) -> Sources:
        """Where the values of a variant come from."""
        tape, dtypes = self.variants[variant].tape, self.variants[variant].dtypes
        batch = {
            tape.met[place]: BatchInput(name, TensorType(kind[0], (layout.width, *kind[1])), plan.rows, dtypes[place])
            for place, name, kind in zip(plan.varying, layout.names[plan.kinds], plan.kinds, strict=True)
        }
        constants = {
            geometry: torch.from_numpy(self.pool.tensor(step.brought[place])).to(dtypes[place])
            for place, geometry in enumerate(tape.met)
            if place not in plan.varying
        }
        scalars = {tape.used[place]: name for place, name in plan.numbered.items()}
        return Sources(self.stands, self.state, self.optimizers, batch, constants, scalars)

    def _pattern(self, variants: int) -> tuple[str, ...]:
        """The shortest pattern that gives every step its program."""
        names = tuple(_name(step.variant, variants) for step in self.steps)
        length = period([step.variant for step in self.steps])
        if length > MAX_PATTERN:
            raise DataError(
                f"The script's steps follow no pattern of at most {MAX_PATTERN} steps.",
                remedy="Order fewer steps with --max-steps.",
            )
        return names[:length]

    def _scalars(self, plans: Sequence[Plan]) -> tuple[tuple[str, ...], npt.NDArray[np.float64]]:
        """Return the names of the per-step scalars, and float64 ``[steps, scalars]``."""
        values = [own.scalars() for own in self.optimizers]
        rows: list[dict[str, float]] = []
        for step in self.steps:
            row = {name: step.numbers[place] for place, name in plans[step.variant].numbered.items()}
            updates = [event for event in self.variants[step.variant].tape.events if isinstance(event, Update)]
            for update, call in zip(updates, step.calls, strict=True):
                own = self.optimizers[update.optimizer]
                row.update(zip(own.scalar_names(update.time), values[update.optimizer][call], strict=True))
            rows.append(row)
        names = tuple(dict.fromkeys(name for row in rows for name in row))
        return names, np.array([[row.get(name, 0.0) for name in names] for row in rows], np.float64).reshape(
            len(rows), len(names)
        )


def _name(variant: int, variants: int) -> str:
    return ALONE if variants == 1 else f"p{variant + 1}"
