"""The trial: an order's first step, executed once before the order is written.

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

from counterfoil.bundle.schema import OrderManifest, Precision
from counterfoil.cancel import CancelToken
from counterfoil.errors import (
    DeviceError,
    MemoryShortageError,
    NonFiniteError,
    ProgramError,
    TrialError,
)
from counterfoil.execution.admission import read_program
from counterfoil.execution.devices import check_memory
from counterfoil.execution.interpreter import (
    Interpreter,
    Operation,
    StepInputs,
    native,
)
from counterfoil.generators import relay
from counterfoil.program.graph import Program, Value
from counterfoil.program.limits import LARGE
from counterfoil.program.torchdtypes import TORCH_DTYPES
from counterfoil.rounding.grid import ZERO_SCALE
from counterfoil.rounding.log import SiteLog
from counterfoil.rounding.rounder import Kernels, RecordingRounder, step_key
from counterfoil.training.gradients import Gradient, gradients

_LARGEST_CHANGE = 2.0**-4
_COARSEST_BITS = 8
LARGEST_ZEROED = 1 / 2
"""So large a share of a gradient's elements may be rounded to zero."""
_NOISE_BITS = 2
"""Elements within 2^2 margins of zero are not counted: where terms cancel, they are rounding errors alone."""
REMEDY = (
    "Such a gradient is far smaller than the numbers that it is computed from. Bring the data to mean 0 and deviation "
    "1, and what is added to like sizes."
)
"""What to do about a gradient below the grid."""
_SHOWN = 3
"""Gradients that a warning names, the worst first."""
_LONGEST_DETAIL = 200
"""Characters of what torch says that are shown."""
_ELSEWHERE = "Write the order with --no-trial (in Python: trial=False), and let the trainer find out."


class CoarseGridWarning(UserWarning):
    """A gradient of the first step is below the grid, or nearly so."""


@dataclass(frozen=True)
class CoarseGradient:
    """A gradient of the first step that rounding to the grid changes too much.

    Attributes:
        parameter: The state tensor that it changes; empty where that is not one alone.
        where: The operator that gives it, in words.
        zeroed: Share of its elements, 0 to 1, that rounding made zero.
        change: Norm of the change, relative to the gradient's.
        change_in_float32: The same for ordinary training in float32.
    """

    parameter: str
    where: str
    zeroed: float
    change: float
    change_in_float32: float

    @property
    def sentence(self) -> str:
        """What is wrong with it."""
        name = f"The gradient of {self.parameter}" if self.parameter else "A gradient"
        zeroed = f", and makes {self.zeroed:.0%} of it zero" if self.zeroed > LARGEST_ZEROED else ""
        return (
            f"{name} ({self.where}) is below the grid at step 1: rounding changes it by {_share(self.change)}{zeroed}; "
            f"training in float32 changes it by {_share(self.change_in_float32)}."
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


def try_step(
    manifest: OrderManifest, program: Program, inputs: StepInputs, cancel: CancelToken | None = None
) -> Generator[TrialEvent, None, None]:
    """Execute the first step of an order on the CPU, as its trainer will.

    Args:
        manifest: The order's manifest.
        program: Its program.
        inputs: The inputs of step 1.
        cancel: Looked at between operators.

    Yields:
        TrialStarted, TrialProgress now and then, and the Trial.

    Raises:
        TrialError: The step fails; the sentence says where, and what to do.
        CancelledError: ``cancel`` was set.
    """
    begun = time.perf_counter()
    cpu, dtype = torch.device("cpu"), TORCH_DTYPES[manifest.precision.compute]
    kernels = Kernels(cpu, torch.get_num_threads())
    found = gradients(program)
    total = len(program.nodes)
    try:
        check_memory(cpu, program.least_memory(dtype.itemsize))
        program = _as_others_read_it(program, manifest.precision.compute, cancel)
        yield TrialStarted(2 * total)
        rounder = RecordingRounder(program, manifest.precision, kernels)
        rounder.begin_step(step_key(manifest.digest, 1))
        rounded = _Kept(found)
        execution = Interpreter(program, cpu, dtype).execute(
            inputs, rounder=rounder, compute=rounded.compute, cancel=cancel
        )
        result = yield from relay(execution, TrialProgress)
        exact = _Kept(found)
        execution = Interpreter(program, cpu).execute(inputs, compute=exact.compute, cancel=cancel)
        with suppress(NonFiniteError):
            yield from relay(execution, lambda done: TrialProgress(total + done))
        noise = _noise(found, rounder.logs, manifest.precision)
        measured = {g: _compare(rounded.values[g.value], exact.values[g.value], noise[g]) for g in found}
        suspects = [gradient for gradient in found if _is_coarse(measured[gradient], manifest.precision)]
        single = _Kept(suspects)
        if suspects:
            with suppress(NonFiniteError):
                Interpreter(program, cpu, torch.float32).run(inputs, compute=single.compute, cancel=cancel)
    except (DeviceError, MemoryShortageError) as error:
        raise TrialError(
            f"The first step of this order cannot be tried here. {error.sentence}", remedy=_ELSEWHERE
        ) from error
    except NonFiniteError as error:
        raise TrialError(
            f"The first step of this order fails, so no order was written. {error.sentence}",
            remedy="Nothing was trained before it, so look at the data and the initial weights, for a division by "
            "zero, a logarithm of zero, and a row that is masked as a whole; the learning rate acts only on the new "
            "state.",
            detail=error.detail,
        ) from error
    except ProgramError as error:
        raise TrialError(
            f"The first step of this order fails, so no order was written. {error.sentence}{_first_line(error.detail)}",
            remedy=error.remedy or "Try the model and the objective on the first batch outside Counterfoil.",
            detail=error.detail,
        ) from error
    finally:
        kernels.close()
    coarse = tuple(
        CoarseGradient(
            gradient.parameter,
            gradient.where,
            *measured[gradient],
            _compare(single.values[gradient.value], exact.values[gradient.value], noise[gradient])[1],
        )
        for gradient in suspects
    )
    yield Trial(result.loss, time.perf_counter() - begun, coarse)


def _as_others_read_it(program: Program, compute: str, cancel: CancelToken | None) -> Program:
    """Return the program that trainer and auditor will read from the order, in place of the client's own."""
    try:
        return read_program(program.to_bytes(), compute, LARGE, cancel)
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
    """Computes natively, and keeps the gradients that pass by, as float32 to save memory."""

    def __init__(self, wanted: Sequence[Gradient]) -> None:
        self._wanted: dict[int, list[int]] = {}
        for gradient in wanted:
            self._wanted.setdefault(gradient.reader, []).append(gradient.value)
        self.values: dict[int, Tensor] = {}

    def compute(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Compute an operator; see :data:`counterfoil.execution.interpreter.Compute`."""
        wanted = self._wanted.get(operation.node.first_value, ())
        if wanted:
            given = dict(zip(operation.node.args, args, strict=False))
            for number in wanted:
                self.values[number] = given[Value(number)].float()
        return native(operation, args, kwargs)


def _noise(found: Sequence[Gradient], logs: Sequence[SiteLog], precision: Precision) -> dict[Gradient, float]:
    """Return for each gradient the size up to which its elements are rounding errors alone, whoever computes them."""
    noise = {}
    for gradient in found:
        exponents = [logs[site].exponent for site in gradient.sites if logs[site].exponent != ZERO_SCALE]
        noise[gradient] = math.ldexp(1.0, max(exponents) - precision.margin_bits + _NOISE_BITS) if exponents else 0.0
    return noise


def _compare(rounded: Tensor, exact: Tensor, noise: float) -> tuple[float, float]:
    """Return the share of elements that rounding made zero, and the norm of the change relative to the gradient's."""
    counted = exact.abs() > noise
    if not bool(counted.any()):
        return 0.0, 0.0
    zeroed = float((rounded[counted] == 0).double().mean())
    return zeroed, float((rounded.double() - exact.double()).norm() / exact.double().norm())


def largest_change(precision: Precision) -> float:
    """Return how much rounding may change a gradient, relative to its norm, before the client is warned.

    A sixteenth; more under a profile of few significand bits, whose noise was chosen with it.
    """
    return max(_LARGEST_CHANGE, 2.0 ** (_COARSEST_BITS - precision.significand_bits))


def _is_coarse(measured: tuple[float, float], precision: Precision) -> bool:
    zeroed, change = measured
    # Not a number, too, is more than may be.
    return zeroed > LARGEST_ZEROED or not change <= largest_change(precision)
