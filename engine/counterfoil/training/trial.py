"""The trial: an order's first step, executed once before the order is written; the first of each program it has.

What cannot be known from shapes alone shows there: an operator that fails, a value that does not fit float32. The step
is executed as the trainer will, rounded to the grid, and once more without rounding: where the grid is too coarse for a
gradient, the two differ by more than a training should bear, and the client is warned.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from counterfoil.arithmetic.admission import read_program
from counterfoil.arithmetic.compute.interpreter import Interpreter, StepInputs, StepResult
from counterfoil.arithmetic.compute.operation import Compute, Operation, native
from counterfoil.arithmetic.grid.fingerprinting import Kernels, step_key
from counterfoil.arithmetic.grid.rounder import Rounder
from counterfoil.arithmetic.machine import Machine
from counterfoil.arithmetic.profiles import arithmetic_of
from counterfoil.base.cancel import CancelToken
from counterfoil.base.errors import (
    DeviceError,
    MemoryShortageError,
    NonFiniteError,
    ProgramError,
    TrialError,
)
from counterfoil.base.generators import relay
from counterfoil.base.precision import AnyPrecision, Precision
from counterfoil.bundle.schema import OrderManifest
from counterfoil.kernels.grid import ZERO_SCALE
from counterfoil.operators.node import Node, Value
from counterfoil.program.graph import GRADIENT, Program
from counterfoil.program.limits import LARGE
from counterfoil.training.gradients import Gradient, gradients
from counterfoil.training.loaded import LoadedOrder

_LARGEST_CHANGE = 2.0**-4
_COARSEST_BITS = 8
LARGEST_ZEROED = 1 / 2
"""So large a share of a gradient's elements may be rounded to zero."""
_NOISE_BITS = 2
"""Elements within 2^2 margins of zero are not counted: where terms cancel, they are rounding errors alone."""
REMEDY = (
    "Such a gradient is far smaller than the numbers that it is computed from. Bring the data to mean 0 and deviation "
    "1, and what is added to like sizes, or order a profile with more bits."
)
"""What to do about a gradient that rounding changes too much."""
_UNPROVEN = Precision(proven=False)
"""A profile whose margins need no proof, to measure scales with."""
_SHOWN = 3
"""Gradients that a warning names, the worst first."""
_LONGEST_DETAIL = 200
"""Characters of what torch says that are shown."""
_ELSEWHERE = "Write the order with --no-trial (in Python: trial=False), and let the trainer find out."


class CoarseGridWarning(UserWarning):
    """A gradient of the first step is below the grid, or below the operands' bits of an exact profile, or nearly so."""


@dataclass(frozen=True)
class CoarseGradient:
    """A gradient of the first step that rounding changes too much: to the grid, or of operands in an exact profile.

    Attributes:
        parameter: The state tensor that it changes; empty where that is not one alone.
        where: The operator that gives it, in words.
        zeroed: Share of its elements, 0 to 1, that rounding made zero.
        change: Norm of the change, relative to the gradient's.
        change_in_float32: The same for ordinary training in float32.
        step: The step that was tried.
    """

    parameter: str
    where: str
    zeroed: float
    change: float
    change_in_float32: float
    step: int = 1

    @property
    def sentence(self) -> str:
        """What is wrong with it."""
        name = f"The gradient of {self.parameter}" if self.parameter else "A gradient"
        zeroed = f", and makes {self.zeroed:.0%} of it zero" if self.zeroed > LARGEST_ZEROED else ""
        return (
            f"{name} ({self.where}) is too small for the profile at step {self.step}: rounding changes it by "
            f"{_share(self.change)}{zeroed}; training in float32 changes it by {_share(self.change_in_float32)}."
        )


def _share(value: float) -> str:
    if not math.isfinite(value):
        return "more than can be said"
    return f"{value:.2g} times its size" if value >= 1 else f"{value:.2%}" if value < 0.01 else f"{value:.0%}"


@dataclass(frozen=True)
class TrialStarted:
    """First event of a trial: the number of operators that will be executed."""

    total: int


@dataclass(frozen=True)
class TrialProgress:
    """Operators done."""

    done: int


@dataclass(frozen=True)
class Trial:
    """A trial that went well; the last event.

    Attributes:
        loss: The loss of the first step.
        seconds: Time that it took.
        coarse: The gradients for which the grid is too coarse.
    """

    loss: float
    seconds: float
    coarse: tuple[CoarseGradient, ...]

    @property
    def warning(self) -> str:
        """What is wrong with the gradients, and what to do; empty when nothing is."""
        if not self.coarse:
            return ""
        worst = sorted(self.coarse, key=lambda gradient: -gradient.change)
        others = len(worst) - _SHOWN
        more = f" So are {others} more." if others > 0 else ""
        return f"{' '.join(gradient.sentence for gradient in worst[:_SHOWN])}{more} {REMEDY}"


TrialEvent = TrialStarted | TrialProgress | Trial


def try_steps(
    order: LoadedOrder, firsts: Sequence[int], cancel: CancelToken | None = None
) -> Generator[TrialEvent, None, None]:
    """Execute the first step of an order, or of each program that it has, on the CPU, as its trainer will.

    Where steps have shares the first share is executed, and the update as if all shares had given the same.

    Args:
        order: The order, as the client has it.
        firsts: The steps, ascending: the first turn of each program.
        cancel: Looked at between operators.

    Yields:
        TrialStarted, TrialProgress now and then, and the Trial.

    Raises:
        TrialError: A step fails; the sentence says where, and what to do.
        CancelledError: ``cancel`` was set.
    """
    parts = [(turns, step) for step in firsts for turns in (order.programs, order.updates) if turns is not None]
    yield TrialStarted(2 * sum(len(turns.of(step).nodes) for turns, step in parts))
    before, trials = 0, []
    result = StepResult({}, 0.0)
    for turns, step in parts:
        inputs = _inputs(order, step, result if turns is order.updates else None)
        trial, result = yield from _try_program(order.manifest, step, turns.of(step), inputs, before, cancel)
        trials.append(trial)
        before += 2 * len(turns.of(step).nodes)
    coarse = tuple(gradient for trial in trials for gradient in trial.coarse)
    # The loss of a step with shares is the update's.
    loss = trials[0 if order.updates is None else 1].loss
    yield Trial(loss, sum(trial.seconds for trial in trials), coarse)


def _inputs(order: LoadedOrder, step: int, share: StepResult | None) -> StepInputs:
    """Return the inputs of a step, of its first share, or, given what the first share gave, of its update."""
    shares = order.manifest.shares
    if shares is None:
        return order.inputs(step, order.initial)
    if share is None:
        return order.share_inputs(step, 0, order.initial)
    alike = {
        name: value * shares.count if shares.sums else value.expand(shares.count, *value.shape).contiguous()
        for name, value in share.combined.items()
    }
    return order.update_inputs(step, order.initial, alike)


def _try_program(
    manifest: OrderManifest,
    step: int,
    program: Program,
    inputs: StepInputs,
    before: int,
    cancel: CancelToken | None,
) -> Generator[TrialProgress, None, tuple[Trial, StepResult]]:
    """Try a program; ``before`` operators were done before it."""
    begun = time.perf_counter()
    what = f"{'The first step' if step == 1 else f'Step {step}'} of this order"
    # The process keeps its own switches: nothing here is compared with what another machine gives.
    machine, precision = Machine(torch.device("cpu"), torch.get_num_threads()), manifest.precision
    found = gradients(program)
    total = len(program.nodes)
    try:
        machine.check_memory([program], precision)
        program = _as_others_read_it(program, precision, cancel)
        with machine.kernels() as kernels:
            rounder = arithmetic_of(precision).recorder(program, kernels)
            rounder.begin_step(step_key(manifest.digest, step))
            rounded = _Kept(found, machine.compute(precision))
            execution = machine.interpreter(program, precision).execute(
                inputs, rounder=rounder, compute=rounded.compute, cancel=cancel
            )
            result = yield from relay(execution, lambda done: TrialProgress(before + done))
            rounded.take(result)
            scales = _Scales(program, kernels)
            wide = _Kept(found, native)
            execution = Interpreter(program, machine.device).execute(
                inputs, rounder=scales, compute=wide.compute, cancel=cancel
            )
            with suppress(NonFiniteError):
                yield from relay(execution, lambda done: TrialProgress(before + total + done))
        noise = {gradient: _noise(gradient, scales.exponents, precision) for gradient in found}
        measured = {g: _compare(rounded.values[g.value], wide.values[g.value], noise[g]) for g in found}
        suspects = [gradient for gradient in found if _is_coarse(measured[gradient], precision)]
        single = _Kept(suspects, native)
        if suspects:
            with suppress(NonFiniteError):
                Interpreter(program, machine.device, torch.float32).run(inputs, compute=single.compute, cancel=cancel)
    except (DeviceError, MemoryShortageError) as error:
        raise TrialError(f"{what} cannot be tried here. {error.sentence}", remedy=_ELSEWHERE) from error
    except NonFiniteError as error:
        raise TrialError(
            f"{what} fails, so no order was written. {error.sentence}",
            remedy="Nothing was trained before it, so look at the data and the initial weights, for a division by "
            "zero, a logarithm of zero, and a row that is masked as a whole; the learning rate acts only on the new "
            "state.",
            detail=error.detail,
        ) from error
    except ProgramError as error:
        raise TrialError(
            f"{what} fails, so no order was written. {error.sentence}{_first_line(error.detail)}",
            remedy=error.remedy or "Try the model and the objective on the first batch outside Counterfoil.",
            detail=error.detail,
        ) from error
    coarse = tuple(
        CoarseGradient(
            gradient.parameter,
            gradient.where,
            *measured[gradient],
            _compare(single.values[gradient.value], wide.values[gradient.value], noise[gradient])[1],
            step,
        )
        for gradient in suspects
    )
    return Trial(result.loss, time.perf_counter() - begun, coarse), result


def _as_others_read_it(program: Program, precision: AnyPrecision, cancel: CancelToken | None) -> Program:
    """Return the program that trainer and auditor will read from the order, in place of the client's own."""
    try:
        return read_program(program.to_bytes(), precision, LARGE, cancel)
    except ProgramError as error:
        raise TrialError(
            f"Nobody could train this order. {error.sentence}",
            remedy=error.remedy or "Write that part of the model in another way.",
            detail=error.detail,
        ) from error


def _first_line(detail: str) -> str:
    line = detail.strip().partition("\n")[0][:_LONGEST_DETAIL]
    return f" ({line})" if line else ""


class _Kept:
    """Computes as it is told, and keeps the gradients that pass by, as float32 to save memory."""

    def __init__(self, wanted: Sequence[Gradient], compute: Compute) -> None:
        self._compute = compute
        self._combined = {gradient.value: gradient.parameter for gradient in wanted if gradient.reader is None}
        self._read: dict[int, list[int]] = {}
        for gradient in wanted:
            if gradient.reader is not None:
                self._read.setdefault(gradient.reader, []).append(gradient.value)
        self.values: dict[int, Tensor] = {}

    def compute(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Compute an operator; see :data:`counterfoil.arithmetic.compute.operation.Compute`."""
        node = operation.node
        wanted = self._read.get(node.first_value, ())
        if wanted:
            given = dict(zip(node.args, args, strict=False))
            for number in wanted:
                self.values[number] = given[Value(number)].float()
        result = self._compute(operation, args, kwargs)
        for number, output in enumerate([result] if isinstance(result, Tensor) else result, node.first_value):
            if number in self._combined:
                self.values[number] = output.float()
        return result

    def take(self, result: StepResult) -> None:
        """Keep the gradients that are combined as a share gives them: a rounder rounds what was computed."""
        self.values |= {number: result.combined[f"{GRADIENT}{name}"] for number, name in self._combined.items()}


class _Scales(Rounder):
    """Rounds nothing, and keeps the scale exponents of a step in float64."""

    def __init__(self, program: Program, kernels: Kernels) -> None:
        super().__init__(program, _UNPROVEN, kernels)
        self.exponents: list[int] = []
        """E of each rounding site so far, or ZERO_SCALE."""

    def _round(self, node: Node, exponent: int, flat: Tensor) -> int:
        self.exponents.append(exponent)
        return 0


def _noise(gradient: Gradient, exponents: Sequence[int], precision: AnyPrecision) -> float:
    """Return the size up to which the elements of a gradient are rounding errors alone, whoever computes them.

    Args:
        gradient: The gradient.
        exponents: E of the rounding sites that were reached.
        precision: The order's profile. Exact arithmetic is compared with float64, whose errors count then.
    """
    margin_bits = precision.margin_bits if isinstance(precision, Precision) else _UNPROVEN.margin_bits
    found = [exponents[site] for site in gradient.sites if site < len(exponents) and exponents[site] != ZERO_SCALE]
    return math.ldexp(1.0, max(found) - margin_bits + _NOISE_BITS) if found else 0.0


def _compare(rounded: Tensor, exact: Tensor, noise: float) -> tuple[float, float]:
    """Return the share of elements that rounding made zero, and the norm of the change relative to the gradient's."""
    counted = exact.abs() > noise
    if not bool(counted.any()):
        return 0.0, 0.0
    zeroed = float((rounded[counted] == 0).double().mean())
    return zeroed, float((rounded.double() - exact.double()).norm() / exact.double().norm())


def largest_change(precision: AnyPrecision) -> float:
    """Return how much rounding may change a gradient, relative to its norm, before the client is warned.

    A sixteenth; more under a profile of few significand bits, whose noise was chosen with it.
    """
    bits = precision.significand_bits if isinstance(precision, Precision) else precision.bits
    return max(_LARGEST_CHANGE, 2.0 ** (_COARSEST_BITS - bits))


def _is_coarse(measured: tuple[float, float], precision: AnyPrecision) -> bool:
    zeroed, change = measured
    # Not a number, too, is more than may be.
    return zeroed > LARGEST_ZEROED or not change <= largest_change(precision)
