"""The trial: an order's first step, executed once before the order is written; the first of each program it has.

What cannot be known from shapes alone shows there: an operator that fails, a value that does not fit float32. The step
is executed as the trainer will, rounded to the grid; then its gradients by themselves, rounded and without rounding:
where the grid is too coarse for a gradient, the two differ by more than a training should bear, and the client is
warned.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from counterfoil.base.joberrors import TrialError
from counterfoil_core.arithmetic.admission import read_program
from counterfoil_core.arithmetic.compute.interpreter import Interpreter, StepInputs, StepResult
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, step_key
from counterfoil_core.arithmetic.grid.rounder import Rounder
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DeviceError, MemoryShortageError, NonFiniteError, ProgramError
from counterfoil_core.base.generators import relay
from counterfoil_core.base.precision import AnyPrecision, Precision
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.kernels.cache import compiling_time
from counterfoil_core.kernels.grid import ZERO_SCALE
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.node import Node, Value
from counterfoil_core.order.evaluation import NATS, SCORE, score_names
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.program.graph import GRADIENT, Program, node_values
from counterfoil_core.program.limits import LARGE

if TYPE_CHECKING:
    from counterfoil_core.arithmetic.profiles import Recorder

# Where the gradients of a program are: what the backward pass gives, and the optimizer reads or a share hands on.


@dataclass(frozen=True)
class Gradient:
    """One gradient that the optimizer reads, or that a share of a step gives."""

    value: int  #: Number of its value in the program.
    parameter: str  #: Name of the state tensor that it changes; empty where that is not one alone.
    where: str  #: The operator that gives it, in words.
    sites: tuple[int, ...]  #: Numbers of the rounding sites that it comes from through views and exact operators.
    #: First value of the first node of the update that has it as an argument; None where a share gives it.
    reader: int | None


def gradients(program: Program) -> tuple[Gradient, ...]:
    """Return the gradients of a program: floating-point values of a pass before the update that the update reads.

    Those of a gradient program are what it gives as such; an update program has none.
    """
    givers = {n.first_value + k: n for n in program.nodes for k in range(len(n.outputs))}
    sites = {program.nodes[s.node].first_value + s.output: number for number, s in enumerate(program.sites)}
    readers: dict[int, int] = {}
    for node in program.nodes:
        for argument in node.args if node.phase == "update" else ():
            if isinstance(argument, Value) and _is_given(program, givers.get(argument.number), argument.number):
                readers.setdefault(argument.number, node.first_value)
    found: list[tuple[int, str, int | None]] = [
        (number, _parameter(program, number), reader) for number, reader in sorted(readers.items())
    ]
    found += [
        (value.number, name.removeprefix(GRADIENT), None)
        for name, value in sorted(program.combined.items())
        if name.startswith(GRADIENT) and value.number in givers
    ]
    return tuple(
        Gradient(number, parameter, givers[number].where, _sites(givers, number, sites), reader)
        for number, parameter, reader in found
    )


def passes_of(program: Program, found: Sequence[Gradient]) -> Program:
    """Return the part of a program that gives its loss and some of its gradients, without what comes after them.

    It leaves the state as it is, and gives the gradients as values to be combined, each named after its number. The
    numbers of values and of sites are those of the program.

    Args:
        program: The program.
        found: Gradients of it.
    """
    last = max([program.loss.number, *(gradient.value for gradient in found)])
    nodes = sum(node.first_value <= last for node in program.nodes)
    given = {str(gradient.value): Value(gradient.value) for gradient in found}
    return Program(program.inputs, program.nodes[:nodes], {}, program.loss, given)


def _is_given(program: Program, giver: Node | None, number: int) -> bool:
    described = program.types[number]
    return giver is not None and giver.phase != "update" and described is not None and described.floating


def _sites(givers: Mapping[int, Node], number: int, sites: Mapping[int, int]) -> tuple[int, ...]:
    """Follow a value back through operators that are not rounded."""
    found: set[int] = set()
    seen: set[int] = set()
    waiting = [number]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        if current in sites:
            found.add(sites[current])
        elif current in givers and givers[current].entry.operator_class is not OperatorClass.ROUNDED:
            waiting.extend(value.number for value in node_values(givers[current]))
    return tuple(sorted(found))


def _parameter(program: Program, number: int) -> str:
    """Follow a gradient on through values of its own shape to the state tensors that it changes."""
    shape = program.types[number]
    reached = {number}
    for node in program.nodes:
        if node.phase == "update" and any(value.number in reached for value in node_values(node)):
            reached.update(node.first_value + k for k, output in enumerate(node.outputs) if output == shape)
    # Slots of the optimizer are named slot:parameter.
    names = [name for name, value in program.updates.items() if value.number in reached and ":" not in name]
    return names[0] if len(names) == 1 else ""


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
    """A gradient of the first step that rounding changes too much: to the grid, or of operands in an exact profile."""

    parameter: str  #: The state tensor that it changes; empty where that is not one alone.
    where: str  #: The operator that gives it, in words.
    zeroed: float  #: Share of its elements, 0 to 1, that rounding made zero.
    change: float  #: Norm of the change, relative to the gradient's.
    change_in_float32: float  #: The same for ordinary training in float32.
    step: int = 1  #: The step that was tried.

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
class Executed:
    """What it took to execute a program of the order once, as a trainer does: a step, a share of one, or an update."""

    step: int  #: The step whose turn it was.
    update: bool  #: Whether it is an update program, which a step with shares has beside what its shares execute.
    #: Time that it took, that of compiling kernels left out; the first time is the slowest all the same.
    seconds: float
    log_bytes: int  #: Size of its rounding log.


@dataclass(frozen=True)
class Trial:
    """A trial that went well; the last event."""

    loss: float  #: The loss of the first step.
    seconds: float  #: Time that it took.
    coarse: tuple[CoarseGradient, ...]  #: The gradients for which the grid is too coarse.
    executed: tuple[Executed, ...] = ()  #: Each program of the order that was executed.
    #: What the first step of an evaluation counts beside losses, each a number by itself; empty for a training.
    scores: tuple[tuple[str, int], ...] = ()

    @property
    def shown_loss(self) -> float | None:
        """The loss; None where an evaluation has none, which is 0 there whatever the model says."""
        return None if self.scores and not self.loss else self.loss

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
    yield TrialStarted(sum(_operators(turns.of(step)) for turns, step in parts))
    before, trials = 0, []
    given: Mapping[str, Tensor] = {}
    for turns, step in parts:
        inputs = _inputs(order, step, given if turns is order.updates else None)
        trial, given = yield from _try_program(order.manifest, step, turns.of(step), inputs, before, cancel)
        trials.append(trial)
        before += _operators(turns.of(step))
    coarse = tuple(gradient for trial in trials for gradient in trial.coarse)
    # The loss of a step with shares is the update's.
    loss = trials[0 if order.updates is None else 1].loss
    executed = tuple(
        replace(each, update=turns is order.updates)
        for (turns, _), trial in zip(parts, trials, strict=True)
        for each in trial.executed
    )
    yield Trial(loss, sum(trial.seconds for trial in trials), coarse, executed, trials[0].scores)


def _operators(program: Program) -> int:
    """How many operators the trial of a program executes, unless a gradient is looked at in float32 as well."""
    found = gradients(program)
    return len(program.nodes) + (2 * len(passes_of(program, found).nodes) if found else 0)


def _inputs(order: LoadedOrder, step: int, share: Mapping[str, Tensor] | None) -> StepInputs:
    """Return the inputs of a step, of its first share, or, given what the first share gave, of its update."""
    shares = order.manifest.shares
    if shares is None:
        return order.inputs(step, order.initial)
    if share is None:
        return order.share_inputs(step, 0, order.initial)
    alike = {
        name: value * shares.count if shares.sums else value.expand(shares.count, *value.shape).contiguous()
        for name, value in share.items()
    }
    return order.update_inputs(step, order.initial, alike)


def _try_program(
    manifest: OrderManifest,
    step: int,
    program: Program,
    inputs: StepInputs,
    before: int,
    cancel: CancelToken | None,
) -> Generator[TrialProgress, None, tuple[Trial, Mapping[str, Tensor]]]:
    """Try a program; ``before`` operators were done before it. Returns what a share gives beside the trial."""
    begun = time.perf_counter()
    what = f"{'The first step' if step == 1 else f'Step {step}'} of this order"
    # The process keeps its own switches: nothing here is compared with what another machine gives.
    machine, precision = Machine(torch.device("cpu"), torch.get_num_threads()), manifest.precision
    try:
        machine.check_memory([program], precision)
        program = _as_others_read_it(program, precision, cancel)
        with machine.kernels() as kernels:
            trying = _Trying(machine, manifest, step, inputs, kernels, cancel)
            rounder = trying.recorder(program)
            started = time.perf_counter()
            with compiling_time() as compiled:
                result = yield from relay(trying.recorded(program, rounder), lambda done: TrialProgress(before + done))
                seconds = time.perf_counter() - started - compiled()
            executed = Executed(step, False, seconds, len(arithmetic_of(precision).encode_log(rounder.logs)))
            loss, given = result.loss, result.combined
            scores = tuple(
                (name.removeprefix(SCORE), int(result.state[name]))
                for name in score_names([program])
                if name != NATS and result.state[name].numel() == 1
            )
            # Nobody needs the new state, which is as large as the old one.
            del result
            before += len(program.nodes)
            coarse = yield from trying.coarse(program, before)
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
    return Trial(loss, time.perf_counter() - begun, coarse, (executed,), scores), given


@dataclass(frozen=True)
class _Trying:
    """Executes programs of a step that is tried."""

    machine: Machine  #: This machine.
    manifest: OrderManifest  #: The order's manifest.
    step: int  #: Number of the step.
    inputs: StepInputs  #: Its inputs.
    kernels: Kernels  #: Compiled loops.
    cancel: CancelToken | None  #: Looked at between operators.

    def recorder(self, program: Program) -> Recorder:
        """Return the trainer's side of a program's step."""
        rounder = arithmetic_of(self.manifest.precision).recorder(program, self.kernels)
        rounder.begin_step(step_key(self.manifest.digest, self.step))
        return rounder

    def recorded(self, program: Program, rounder: Recorder) -> Generator[int, None, StepResult]:
        """Execute a program as a trainer does."""
        interpreter = self.machine.interpreter(program, self.manifest.precision)
        return interpreter.execute(self.inputs, rounder=rounder, cancel=self.cancel)

    def plain(
        self, program: Program, rounder: Rounder | None = None, dtype: torch.dtype = torch.float64
    ) -> Generator[int, None, StepResult]:
        """Execute a program without rounding; ``rounder`` looks at its sites."""
        interpreter = Interpreter(program, self.machine.device, dtype)
        return interpreter.execute(self.inputs, rounder=rounder, cancel=self.cancel)

    def coarse(self, program: Program, before: int) -> Generator[TrialProgress, None, tuple[CoarseGradient, ...]]:
        """Return the gradients of a program that rounding changes too much; ``before`` operators were done before.

        They are computed once more by themselves: so less is alive at once than in a step, which goes on to what the
        optimizer makes of them.
        """
        precision, found = self.manifest.precision, gradients(program)
        if not found:
            return ()
        passes = passes_of(program, found)
        scales = _Scales(passes, self.kernels)
        count = len(passes.nodes)
        rounded = yield from _gradients(self.recorded(passes, self.recorder(passes)), lambda done: before + done)
        exact = yield from _gradients(self.plain(passes, scales), lambda done: before + count + done)
        if not (rounded and exact):
            return ()
        noise = {gradient: _noise(gradient, scales.exponents, precision) for gradient in found}
        measured = {g: _compare(rounded[str(g.value)], exact[str(g.value)], noise[g]) for g in found}
        suspects = [gradient for gradient in found if _is_coarse(measured[gradient], precision)]
        if not suspects:
            return ()
        # This is done for few orders, and was not counted.
        single = yield from _gradients(self.plain(passes, dtype=torch.float32), lambda _: before + 2 * count)

        def in_float32(gradient: Gradient) -> float:
            name = str(gradient.value)
            return _compare(single[name], exact[name], noise[gradient])[1] if single else math.inf

        return tuple(
            CoarseGradient(gradient.parameter, gradient.where, *measured[gradient], in_float32(gradient), self.step)
            for gradient in suspects
        )


def _gradients(
    execution: Generator[int, None, StepResult], shown: Callable[[int], int]
) -> Generator[TrialProgress, None, Mapping[str, Tensor]]:
    """Return the gradients that a program gives, as float32; none where one of them is beyond float32's range."""
    try:
        result = yield from relay(execution, lambda done: TrialProgress(shown(done)))
    except NonFiniteError:
        return {}
    return result.combined


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
