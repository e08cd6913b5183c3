"""A trainer who simulates: the real recorder runs, and does something else than was ordered while it does.

Everything that it writes down follows from what it really did, and it signs all of it. That is stronger than a file
edited afterwards: only replay can tell. An attack overrides one or two methods of :class:`Trainer`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from torch import Tensor

from counterfoil.training import recorder
from counterfoil.training.orderfile import prepare_order
from counterfoil_core.arithmetic import machine
from counterfoil_core.arithmetic.compute.interpreter import Interpreter, StepInputs, StepResult
from counterfoil_core.arithmetic.compute.operation import Compute, Operation, native
from counterfoil_core.arithmetic.compute.plan import Frame, PreparedDraw, Round
from counterfoil_core.arithmetic.grid.directions import apply_directions
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision
from counterfoil_core.kernels.cpu.rounding import mix_values
from counterfoil_core.operators.node import Node
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.program.graph import Program
from counterfoil_core.signing.keys import SigningKey
from support.jobs import record_run, recorded_by, replaced

NEVER = 0
"""No step has this number, so a trainer who acts at it does as ordered."""
Train = Callable[[StepInputs], StepResult]
TrainerT = TypeVar("TrainerT", bound="Trainer")


@dataclass
class Trainer:
    """Does as ordered; an attack overrides what it does differently.

    Attributes:
        step: The step at which an attack acts; :data:`NEVER` for the control.
        order: The order that is being executed.
        now: The step that is being executed.
        plain: Computes an operator as ordered.
    """

    step: int = NEVER
    order: LoadedOrder = field(init=False, repr=False)
    now: int = field(init=False, default=NEVER)
    plain: Compute = field(init=False, repr=False, default=native)

    @property
    def acting(self) -> bool:
        """Whether this is the step of the attack."""
        return self.now == self.step != NEVER

    def inputs(self, inputs: StepInputs) -> StepInputs:
        """Return the inputs that the step really gets."""
        return inputs

    def drawn(self, node: Node, numbers: Tensor) -> Tensor:
        """Return the random numbers that the step really uses."""
        return numbers

    def operator(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Compute an operator."""
        return self.plain(operation, args, kwargs)

    def result(self, inputs: StepInputs, result: StepResult, train: Train) -> StepResult:
        """Return what is recorded as the outcome; ``train`` executes a step off the record."""
        return result

    def exponent(self, node: Node, exponent: int) -> int:
        """Return the scale exponent to round with and to log."""
        return exponent

    def directions(self, node: Node, log: SiteLog) -> SiteLog:
        """Return the log with the directions really taken; values follow it."""
        return log

    def written(self, node: Node, log: SiteLog, elements: int) -> SiteLog:
        """Return the log to write, whatever was done."""
        return log

    def honest(self: TrainerT) -> TrainerT:
        """Return the same trainer with the lie switched off."""
        return replace(self, step=NEVER)


def record_malicious(order: Path, run: Path, key: SigningKey, trainer: Trainer, **settings: Any) -> Path:
    """Record and sign a run of an order by ``trainer``, whose self-test before it is an honest one."""

    def received(*read: Any) -> LoadedOrder:
        trainer.order = prepare_order(*read)
        return trainer.order

    def interpreter(program: Program, *args: Any) -> Interpreter:
        # The self-test, which comes first, computes another program: it is passed honestly.
        ordered = program is trainer.order.program
        return _Interpreter(trainer, program, *args) if ordered else Interpreter(program, *args)

    def rounder(program: Program, precision: AnyPrecision, kernels: Kernels) -> Any:
        if isinstance(precision, ExactPrecision):
            return arithmetic_of(precision).recorder(program, kernels)
        return _Rounder(trainer, program, precision, kernels)

    with ExitStack() as stack:
        stack.enter_context(replaced(recorder, "prepare_order", received))
        stack.enter_context(replaced(machine, "Interpreter", interpreter))
        stack.enter_context(recorded_by(rounder))
        return record_run(order, run, key, **settings)


class _Interpreter(Interpreter):
    """Executes what the trainer makes of a step."""

    def __init__(self, trainer: Trainer, *args: Any) -> None:
        super().__init__(*args)
        self._trainer = trainer
        self._unrecorded = Interpreter(*args)
        for prepared in self._prepared:
            if isinstance(prepared, PreparedDraw):
                prepared.drawn = partial(self._drawn, prepared.node, prepared.drawn)  # type: ignore[method-assign]

    def execute(
        self,
        inputs: StepInputs,
        *,
        rounder: Round | None = None,
        compute: Compute | None = None,
        cancel: CancelToken | None = None,
    ) -> Generator[int, None, StepResult]:
        self._trainer.now = inputs.draws.step
        given = self._trainer.inputs(inputs)
        self._trainer.plain = compute or self.compute
        result = yield from super().execute(given, rounder=rounder, compute=self._trainer.operator, cancel=cancel)
        return self._trainer.result(inputs, result, self._unrecorded.run)

    def _drawn(self, node: Node, honestly: Callable[[Frame], Tensor], frame: Frame) -> Tensor:
        return self._trainer.drawn(node, honestly(frame))


class _Rounder(RecordingRounder):
    """Rounds as the trainer pleases, and keeps values, fingerprints and log consistent with it."""

    def __init__(self, trainer: Trainer, *args: Any) -> None:
        super().__init__(*args)
        self._trainer = trainer

    def _round(self, node: Node, exponent: int, flat: Tensor) -> int:
        exponent = self._trainer.exponent(node, exponent)
        own = flat.clone().numpy()
        fingerprint = super()._round(node, exponent, flat)
        honest = self.logs[-1]
        taken = self._trainer.directions(node, honest)
        if taken is not honest:
            where = taken.indices
            rounded = flat.numpy()
            old = rounded[where].astype(np.float64)
            _, new, _ = apply_directions(
                own[where].astype(np.float64), old, taken.ups, self._grid(self._site, exponent), 0.0
            )
            rounded[where] = new
            key = np.uint64(self._site_key)
            fingerprint += int(mix_values(new, where, key)) - int(mix_values(old, where, key))
        self.logs[-1] = self._trainer.written(node, taken, flat.numel())
        return fingerprint % 2**64
