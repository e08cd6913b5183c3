"""An order ready to be executed: its state as tensors, and the inputs of each step."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.interpreter import Draws, StepInputs
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.generators import finish
from counterfoil_core.bundle.datafile import a_slip_of_the_giver, open_data_file
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.operators.facts import DRAWS
from counterfoil_core.order.admission import AdmittedOrder, RowArray, share_rows
from counterfoil_core.program.graph import Program


@dataclass(frozen=True)
class LoadedOrder(AdmittedOrder):
    """An order ready to be executed."""

    @classmethod
    def of(cls, order: AdmittedOrder) -> LoadedOrder:
        """Return an admitted order, ready to be executed; nothing is copied."""
        return cls(**{field.name: getattr(order, field.name) for field in fields(order)})

    @cached_property
    def initial(self) -> dict[str, Tensor]:
        """The initial state as stored."""
        return {name: torch.from_numpy(array) for name, array in self.stored.items()}

    def inputs(self, step: int, state: Mapping[str, Tensor]) -> StepInputs:
        """Return the inputs of a step, from 1, that starts from ``state``."""
        data = {name: self._data[name] for name in self.programs.of(step).batch_names}
        return step_inputs(self.manifest, step, state, self._schedule[step - 1], self._scalars[step - 1], data)

    def share_inputs(self, step: int, share: int, state: Mapping[str, Tensor]) -> StepInputs:
        """Return the inputs of a share of a step, from 0, of a step from 1 that starts from ``state``."""
        data = {name: self._data[name] for name in self.programs.of(step).batch_names}
        row = self._schedule[step - 1], self._scalars[step - 1]
        return share_inputs(self.manifest, self.programs.of(step), step, share, state, *row, data)

    def update_inputs(self, step: int, state: Mapping[str, Tensor], combined: Mapping[str, Tensor]) -> StepInputs:
        """Return the inputs of the update of a step, from 1, that starts from ``state``."""
        return update_inputs(self.manifest, self.programs.of(step), step, state, self._scalars[step - 1], combined)


def draws_of(program: Program) -> int:
    """Return D, how many numbers of draws a program takes: one more than the largest."""
    numbers = [node.args[1] for node in program.nodes if node.operator in DRAWS]
    return 1 + max((number for number in numbers if isinstance(number, int)), default=-1)


def with_data_file(
    order: LoadedOrder, path: str | os.PathLike[str] | None, stack: ExitStack, cancel: CancelToken | None
) -> LoadedOrder:
    """Return an order with the arrays of its data file, checked; for whoever does not show how far the check is.

    An order that keeps no data outside is returned as it is.

    Args:
        order: The order.
        path: The data file, as the user gives it.
        stack: Keeps it open.
        cancel: Looked at between pieces.

    Raises:
        GivenFileError: The order needs a data file and none was given, or it is not the one that the order names.
        CancelledError: ``cancel`` was set.
    """
    with a_slip_of_the_giver():
        file = open_data_file(order.manifest, path, stack)
        return order if file is None else order.with_data(finish(file.check(order.manifest, cancel)))


def step_inputs(
    manifest: OrderManifest,
    step: int,
    state: Mapping[str, Tensor],
    rows: npt.NDArray[np.int64],
    scalars: npt.NDArray[np.float64],
    data: Mapping[str, RowArray],
) -> StepInputs:
    """Return the inputs of a step.

    Args:
        manifest: The order's manifest.
        step: Step number, from 1.
        state: The state before it.
        rows: int64 ``[batch_size]``: the step's row of the schedule.
        scalars: float64 ``[scalars]``: its row of the per-step scalars.
        data: The data arrays that the program reads.
    """
    return StepInputs(
        state=state,
        batch={name: torch.from_numpy(array[rows]) for name, array in data.items()},
        scalars=dict(zip(manifest.scalar_names, scalars.tolist(), strict=True)),
        draws=Draws(manifest.seed, step),
    )


def share_inputs(
    manifest: OrderManifest,
    program: Program,
    step: int,
    share: int,
    state: Mapping[str, Tensor],
    rows: npt.NDArray[np.int64],
    scalars: npt.NDArray[np.float64],
    data: Mapping[str, RowArray],
) -> StepInputs:
    """Return the inputs of a share of a step.

    Args:
        manifest: The order's manifest.
        program: The gradient program of the step.
        step: Step number, from 1.
        share: Number of the share, from 0.
        state: The state before the step.
        rows: int64 ``[batch_size]``: the step's row of the schedule, of all shares.
        scalars: float64 ``[scalars]``: its row of the per-step scalars.
        data: The data arrays that the program reads.
    """
    inputs = step_inputs(manifest, step, state, rows[share_rows(manifest, share)], scalars, data)
    return replace(inputs, draws=replace(inputs.draws, first=share * draws_of(program)), share=share)


def update_inputs(
    manifest: OrderManifest,
    program: Program,
    step: int,
    state: Mapping[str, Tensor],
    scalars: npt.NDArray[np.float64],
    combined: Mapping[str, Tensor],
) -> StepInputs:
    """Return the inputs of the update of a step; as :func:`share_inputs`, with what the shares gave, combined."""
    assert manifest.shares is not None
    inputs = step_inputs(manifest, step, state, np.zeros(0, np.int64), scalars, {})
    first = manifest.shares.count * draws_of(program)
    return replace(inputs, combined=combined, draws=replace(inputs.draws, first=first))
