"""Whether a step that is ordered does what the script did: executed from the script's own state, and held against it.

For each tensor that the step gives, with x what the script holds after it, y the step in float64 and z in float32, both
from the script's own state before it and with the numbers that it drew:

    max |x - y| <= f max( max |z - y|, 2^-24 max |x| ),    f = 64 max(1, sqrt(n) / 8), at most 8192

where n is the number of terms of the longest sum in the step: a kernel that adds one term after the other is off by
about sqrt(n) roundings, and one that adds in pairs, as ours may, by few. The difference between float32 and float64 is
what rounding alone does to this very step, so that an ill-conditioned one is allowed more. (Measured over 256 small
scripts: the ratio is at most 10 where script and order agree, and at least 3.8e4 where they do not; 700 where a bias
gets 24,576 terms from a convolution.)

Before a step counts as another it is computed in float32 as other machines may (sums in other orders, functions by
other algorithms), and then shaken, for the sake of jumps such as a rounding to whole numbers: each operator's result is
moved by at most half an ulp of float32. What that does counts as noise, too. Whole numbers, truth values, and whatever
the step leaves alone are equal to the bit, to what one of these ways gives: of two answers that are as close as
rounding either is counted. So are floating-point tensors that count: where x and y hold nothing but whole numbers,
their difference is a jump, and only a way of computing that jumps, too, explains it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from counterfoil.training.following.calls import same_bits
from counterfoil_core.arithmetic.compute.interpreter import Interpreter, StepInputs, StepResult
from counterfoil_core.arithmetic.compute.operation import Operation, native
from counterfoil_core.arithmetic.compute.plan import Frame, PreparedDraw
from counterfoil_core.arithmetic.otherwise.perturbation import perturb
from counterfoil_core.program.estimate import node_flops
from counterfoil_core.program.graph import Program, node_values

_FACTOR = 64.0
_LONG_SUM = 8.0
"""The root of so many terms that adding them one after the other shows beside adding them in pairs."""
_LARGEST_FACTOR = 8192.0
_ULP = 2.0**-24
"""Half the distance of two neighbours in float32, relative to the smaller."""
_HALF = 0.5
_COUNTED = 2.0**22
"""Below this half an ulp of float32 is far less than the distance of two whole numbers."""
_SHAKES = 40
_ORDERS = ("reversed", "shuffled-1", "split-7", "rewritten", "shuffled-2+rewritten-1")
"""Ways of another machine to compute the same (:mod:`counterfoil_core.arithmetic.otherwise.perturbation`)."""
_SMALL = 10**8
"""Floating-point operations of a step, which one thread does in some 10 ms."""
_CPU = torch.device("cpu")


@dataclass(frozen=True)
class Difference:
    """A tensor that the ordered step gives another value than the script."""

    name: str  #: Its name in the order.
    size: float  #: Largest difference of an element.
    allowed: float  #: What rounding may do.
    movement: float  #: How far the script's step moved it at most.
    where: str  #: What in the order gives it.
    is_left_alone: bool = False  #: Whether the order leaves it as it is.

    @property
    def sentence(self) -> str:
        """What differs, and by how much."""
        if self.is_left_alone:
            return f"the script changes {self.name!r} by up to {self.movement:.3g}, and the order leaves it as it is"
        share = f", {self.size / self.movement:.0%} of what the step changed it by" if self.movement else ""
        return f"{self.name!r} differs by {self.size:.3g}{share}; rounding explains {self.allowed:.3g}"


class _GivenDraw(PreparedDraw):
    """A node that draws what the script drew."""

    numbers: Mapping[int, Tensor] = {}

    def drawn(self, frame: Frame) -> Tensor:
        number = self.node.args[1]
        assert isinstance(number, int)
        return self.numbers[number].to(self._dtype)


class _WithDraws(Interpreter):
    """Runs a program with given random numbers."""

    def __init__(self, program: Program, dtype: torch.dtype, compute: Any = native) -> None:
        super().__init__(program, _CPU, dtype, compute)
        for unit in self._prepared:
            if isinstance(unit, PreparedDraw):
                unit.__class__ = _GivenDraw

    def result(self, inputs: StepInputs, numbers: Mapping[int, Tensor]) -> StepResult:
        for unit in self._prepared:
            if isinstance(unit, _GivenDraw):
                unit.numbers = numbers
        return self.run(inputs)


class StepComparison:
    """Compares steps of one program.

    Args:
        program: The program.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._double = _WithDraws(program, torch.float64)
        self._single = _WithDraws(program, torch.float32)
        self._shakes = torch.Generator().manual_seed(0)
        self._factor = _factor(program)
        self._flops = sum(node_flops(program.types, node) for node in program.nodes)

    @cached_property
    def _reordered(self) -> tuple[_WithDraws, ...]:
        """The step in float32 as other kernels may add: where terms cancel, their order is all that is left."""
        return tuple(_WithDraws(self.program, torch.float32, perturb(name)) for name in _ORDERS)

    @cached_property
    def _shaken(self) -> _WithDraws:
        return _WithDraws(self.program, torch.float64, self._shake)

    @cached_property
    def reads(self) -> frozenset[str]:
        """Names of the state that an operator of the step reads, or that becomes another tensor's new value."""
        used = {value.number for node in self.program.nodes for value in node_values(node)}
        used |= {value.number for value in self.program.results} | {self.program.loss.number}
        return frozenset(item.name for n, item in enumerate(self.program.inputs) if item.kind == "state" and n in used)

    def _shake(self, operation: Operation, args: Any, kwargs: Any) -> Any:
        return self._moved(native(operation, args, kwargs))

    def _moved(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            if not value.is_floating_point():
                return value
            noise = torch.rand(value.shape, generator=self._shakes, dtype=value.dtype)
            return value * (1 + _ULP * (2 * noise - 1))
        return type(value)(map(self._moved, value)) if isinstance(value, (tuple, list)) else value

    def differences(
        self,
        inputs: StepInputs,
        numbers: Mapping[int, Tensor],
        after: Mapping[str, Tensor],
    ) -> tuple[list[Difference], StepResult, float]:
        """Return what a step gives another value than the script, what it gives, and its loss in float32.

        Args:
            inputs: The step's inputs, from the script's own state before it.
            numbers: The random numbers that the script drew, by the number of the draw.
            after: What the script holds after the step, of those of the order's state that it has.
        """
        with self._threads():
            return self._compared(inputs, numbers, after)

    @contextmanager
    def _threads(self) -> Iterator[None]:
        """Compute a small step with one thread: to wake others takes longer than all its operators."""
        before = torch.get_num_threads()
        if self._flops < _SMALL:
            torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)

    def _compared(
        self, inputs: StepInputs, numbers: Mapping[int, Tensor], after: Mapping[str, Tensor]
    ) -> tuple[list[Difference], StepResult, float]:
        result = self._double.result(inputs, numbers)
        other = self._single.result(inputs, numbers)
        double, single = result.state, other.state
        found: list[Difference] = []
        suspects: list[str] = []
        for name, mine in after.items():
            before = inputs.state[name]
            if name not in self.program.updates:
                if not same_bits(before, mine):
                    found.append(Difference(name, 0.0, 0.0, _distance(before, mine), "", is_left_alone=True))
            elif not self._agrees(mine, double[name], [single[name]]):
                suspects.append(name)
        if suspects:
            noisy = [single, *self._shaken_states(inputs, numbers, suspects, after, double)]
            for name in suspects:
                if not self._agrees(after[name], double[name], [state[name] for state in noisy]):
                    allowed = self._allowed(after[name], double[name], [state[name] for state in noisy])
                    size, moved = _distance(after[name], double[name]), _distance(inputs.state[name], after[name])
                    found.append(Difference(name, size, allowed, moved, self._where(name)))
        return found, result, other.loss

    def _shaken_states(
        self,
        inputs: StepInputs,
        numbers: Mapping[int, Tensor],
        suspects: Sequence[str],
        after: Mapping[str, Tensor],
        double: Mapping[str, Tensor],
    ) -> list[dict[str, Tensor]]:
        """Compute the step otherwise until what that does explains every difference: reordered first, then shaken."""
        states: list[dict[str, Tensor]] = []
        for computed in (*self._reordered, *[self._shaken] * _SHAKES):
            state = computed.result(inputs, numbers).state
            states.append({name: state[name] for name in suspects})
            if all(self._agrees(after[name], double[name], [one[name] for one in states]) for name in suspects):
                break
        return states

    def _where(self, name: str) -> str:
        number = self.program.updates[name].number
        return next((node.where for node in reversed(self.program.nodes) if node.first_value <= number), "")

    def _agrees(self, mine: Tensor, double: Tensor, noisy: Sequence[Tensor]) -> bool:
        if mine.numel() != double.numel():
            return False
        if not double.is_floating_point():
            return any(torch.equal(mine.reshape(double.shape), one) for one in (double, *noisy))
        x, y = _flat(mine), _flat(double)
        finite = x.isfinite()
        if not torch.equal(finite, y.isfinite()):
            return False
        if not finite.all() and not torch.equal(x[~finite].nan_to_num(0.0), y[~finite].nan_to_num(0.0)):
            return False
        return _distance(mine, double) <= self._allowed(mine, double, noisy)

    def _allowed(self, mine: Tensor, double: Tensor, noisy: Sequence[Tensor]) -> float:
        """How far the script's tensor may be from the step's."""
        moved = max(_distance(one, double) for one in noisy)
        if _counts(mine) and _counts(double):
            # The bound of a long sum, or of a large number, would reach the next whole number.
            return self._factor * moved if moved >= _HALF else 0.0
        return self._factor * max(_ULP * _largest(_flat(mine)), moved, 2.0**-149)


def losses_agree(mine: float, double: float, single: float) -> bool:
    """Whether the loss of a step is the script's own, by the bound of its tensors; what is not finite is so in both.

    Args:
        mine: The script's.
        double: The step's in float64.
        single: The step's in float32.
    """
    if not (math.isfinite(mine) and math.isfinite(double)):
        return math.isfinite(mine) == math.isfinite(double)
    noise = abs(double - single) if math.isfinite(single) else 0.0
    # A loss is a sum of many terms, which each side adds in its own order: 2^4 in place of one rounding.
    return abs(mine - double) <= _FACTOR * max(noise, 2.0**4 * _ULP * abs(mine), 2.0**-149)


def _factor(program: Program) -> float:
    """How much larger than the noise that is measured here that of another kernel may be."""
    longest = 1.0
    for node in program.nodes:
        given = [program.types[value.number] for value in node_values(node)]
        read = max((math.prod(item.shape) for item in given if item is not None and item.floating), default=0)
        made = [math.prod(item.shape) for item in node.outputs if item is not None and item.floating]
        smallest = min(made, default=0)
        if smallest:
            longest = max(longest, read / smallest)
    return min(_FACTOR * max(1.0, math.sqrt(longest) / _LONG_SUM), _LARGEST_FACTOR)


def _counts(tensor: Tensor) -> bool:
    """Whether all numbers are whole, and so small that no rounding leads from one to the next."""
    x = _flat(tensor)
    return bool(((x == x.round()) & (x.abs() < _COUNTED)).all())


def _flat(tensor: Tensor) -> Tensor:
    return tensor.detach().double().reshape(-1)


def _distance(one: Tensor, other: Tensor) -> float:
    if one.numel() != other.numel():
        return float("inf")
    return _largest(_flat(one) - _flat(other))


def _largest(x: Tensor) -> float:
    """Return the largest finite magnitude; 0 where there is none."""
    # No mask: picking elements wakes all threads, which takes longer than the step itself where tensors are small.
    return float(x.abs().nan_to_num(nan=0.0, posinf=0.0).max()) if x.numel() else 0.0
