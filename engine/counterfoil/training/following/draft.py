"""The order of the steps that were followed."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil.program.capture import CapturedStep
from counterfoil.program.recompute import Segments
from counterfoil.training.custom import ClientJob
from counterfoil.training.following.layout import Layout, Made, Plan, plan_of
from counterfoil.training.following.optimizers import FollowedOptimizer
from counterfoil.training.following.retrace import BatchInput, Sources, carried, retrace
from counterfoil.training.following.scriptsteps import TakenSteps, Variant
from counterfoil.training.following.steps import Update
from counterfoil.training.forms import pattern_of
from counterfoil.training.order import OrderDraft, assemble_order
from counterfoil.training.stages import Preparing
from counterfoil.training.turncapture import united
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.precision import AnyPrecision, is_exact
from counterfoil_core.base.turns import ALONE, Turns
from counterfoil_core.operators.node import TensorType

RECIPE = "script"


@dataclass(frozen=True)
class Followed(ClientJob):
    """The training that a script's own loop did while it was followed."""

    title: str  #: The name of the job.
    taken: TakenSteps  #: Its steps.
    optimizers: Sequence[FollowedOptimizer]  #: The optimizers.
    state: Mapping[str, Tensor]  #: The initial state by name.
    tied: Mapping[str, str]  #: As of a captured step.
    unsaved: tuple[str, ...]  #: Likewise.
    seed: int = 0  #: Seed of the draws.
    checkpoint_every: int = 10  #: The state is stored every so many steps.

    def drafting(
        self,
        precision: AnyPrecision | None = None,
        recompute_activations: Segments | None = None,
        cancel: CancelToken | None = None,
    ) -> Generator[Preparing, None, OrderDraft]:
        """Draft the order; see :meth:`ClientJob.drafting`."""
        steps, variants = self.taken.made, list(self.taken.variants.values())
        by_variant = [[step for step in steps if step.variant == number] for number in range(len(variants))]
        plans = [plan_of(alike) for alike in by_variant]
        layout = Layout.of(plans)
        captured: dict[str, CapturedStep] = {}
        for number, (plan, alike) in enumerate(zip(plans, by_variant, strict=True)):
            yield Preparing("Writing down steps", "programs", number, len(plans))
            if cancel is not None:
                cancel.check()
            program, constants = retrace(
                variants[number].tape,
                dict(zip(variants[number].tape.used, alike[0].numbers, strict=True)),
                self._sources(variants[number], plan, layout, alike[0]),
                exact=is_exact(precision),
                ignore_autocast=precision is not None,
            )
            unsaved = tuple(sorted({*self.unsaved, *self._carried, *constants}))
            captured[_name(number, len(plans))] = CapturedStep(
                program, {**self.state, **self._carried, **constants}, (), 1, self.tied, unsaved
            )
        made = united(captured)
        names, scalars = self._scalars(plans)
        schedule, data = layout.scheduled(steps, plans, self.taken.pool)
        draft = assemble_order(
            title=self.title,
            recipe=RECIPE,
            optimizer="; ".join(own.describe() for own in self.optimizers),
            programs=Turns(made.programs, self._pattern(len(plans))),
            scalar_names=names,
            scalars=scalars,
            state=made.state,
            module=made.module,
            schedule=schedule,
            data=data,
            seed=self.seed,
            precision=precision,
            commit_every=1,
            checkpoint_every=self.checkpoint_every,
            rates={own.prefix.rstrip("."): [rates[0] for rates in own.rates] for own in self.optimizers},
        )
        return (yield from draft.recomputing_in_stages(recompute_activations, cancel))

    @property
    def _carried(self) -> dict[str, Tensor]:
        """What steps hand to the next that is no state of the script's."""
        return {carried(number): zeros for number, zeros in enumerate(self.taken.carried)}

    def _sources(self, variant: Variant, plan: Plan, layout: Layout, step: Made) -> Sources:
        """Where the values of a variant come from."""
        tape, dtypes = variant.tape, variant.dtypes
        batch = {
            tape.met[place]: BatchInput(name, TensorType(kind[0], (layout.width, *kind[1])), plan.rows, dtypes[place])
            for place, name, kind in zip(plan.varying, layout.names[plan.kinds], plan.kinds, strict=True)
        }
        constants = {
            geometry: torch.from_numpy(self.taken.pool.tensor(step.brought[place])).to(dtypes[place])
            for place, geometry in enumerate(tape.met)
            if place not in plan.varying
        }
        scalars = {tape.used[place]: name for place, name in plan.numbered.items()}
        return Sources(self.state, self.optimizers, batch, constants, scalars, self._carried)

    def _pattern(self, variants: int) -> tuple[str, ...]:
        """The shortest pattern that gives every step its program."""
        return pattern_of([_name(step.variant, variants) for step in self.taken.made])

    def _scalars(self, plans: Sequence[Plan]) -> tuple[tuple[str, ...], npt.NDArray[np.float64]]:
        """Return the names of the per-step scalars, and float64 ``[steps, scalars]``."""
        values = [own.scalars() for own in self.optimizers]
        variants = list(self.taken.variants.values())
        rows: list[dict[str, float]] = []
        for step in self.taken.made:
            row = {name: step.numbers[place] for place, name in plans[step.variant].numbered.items()}
            updates = [event for event in variants[step.variant].tape.events if isinstance(event, Update)]
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
