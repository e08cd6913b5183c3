"""Interprets a program operator by operator."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.utils.dlpack import from_dlpack

from counterfoil_core.arithmetic.compute.chainplan import RunChain, plan_chains
from counterfoil_core.arithmetic.compute.operation import Compute, native
from counterfoil_core.arithmetic.compute.plan import Frame, Round, Unit, dtype_of, prepare, rounder_ahead
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DIVERGED, NonFiniteError, ProgramError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.sentence import say
from counterfoil_core.kernels import buffers, devices
from counterfoil_core.kernels.cpu.magnitudes import INFINITE
from counterfoil_core.kernels.devicenumber import number_on
from counterfoil_core.kernels.exact import digits
from counterfoil_core.kernels.exact.refusals import Noted, note_refusals
from counterfoil_core.operators.node import TensorType, Value
from counterfoil_core.program.chains import ON_CPU, ChainRules
from counterfoil_core.program.graph import Program
from counterfoil_core.program.places import PlaceSort
from counterfoil_core.program.torchdtypes import TORCH_DTYPES

_PROGRESS_SECONDS = 0.1
"""Time between two reports of progress inside a step."""


@dataclass(frozen=True)
class Draws:
    """What keys the random draws of a step."""

    seed: int  #: The order's seed.
    step: int  #: The step number.
    first: int = 0  #: What is added to the numbers of the draws: the shares of a step draw one behind the other.


@dataclass(frozen=True)
class StepInputs:
    """The inputs of one step."""

    state: Mapping[str, Tensor]  #: State tensors by name, as stored: floating ones float32.
    batch: Mapping[str, Tensor]  #: Rows of each data array by name.
    scalars: Mapping[str, float]  #: Per-step scalars by name.
    draws: Draws  #: Key of the random draws.
    #: Of an update program: what the shares of the step gave, combined, by name; float32.
    combined: Mapping[str, Tensor] = field(default_factory=dict)
    #: Number of the share whose rows these are; None where a step has no shares, and of an update program.
    share: int | None = None


@dataclass(frozen=True)
class StepResult:
    """The outcome of one step."""

    state: dict[str, Tensor]  #: The new state as stored, floating tensors float32.
    loss: float  #: The loss.
    #: Of a gradient program: what is combined with that of the other shares, by name; float32.
    combined: dict[str, Tensor] = field(default_factory=dict)


class Interpreter:
    """Runs a program on a device.

    Args:
        program: The program; a stranger's must have been admitted (:mod:`counterfoil_core.arithmetic.admission`).
        device: Where to compute.
        dtype: The compute dtype that takes the place of ``float32``.
        compute: Runs one operator, unless a step is told otherwise.
        run_chain: Computes chains of elementwise operators; None for one operator after the other.
        rules: What may be a chain.

    Raises:
        ProgramError: This version of torch lacks an operator.
    """

    def __init__(
        self,
        program: Program,
        device: torch.device,
        dtype: torch.dtype = torch.float64,
        compute: Compute = native,
        run_chain: RunChain | None = None,
        rules: ChainRules = ON_CPU,
    ) -> None:
        self.program = program
        self.device = device
        self.dtype = dtype
        self.compute = compute
        self._prepared = prepare(program, device, dtype)
        self._run_chain = run_chain
        self._rules = rules
        self._batches = tuple((n, p.output) for n, p in enumerate(program.places) if p.sort is PlaceSort.BATCH)
        """Place and value of each batch."""

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """What a step consists of where operators are computed as the device does, in the order of execution."""
        if self._run_chain is None:
            return self._prepared
        # Without Triton chains are for float64 in the memory of the CPU.
        compiled = self.device.type == "cpu" and self.dtype == torch.float64
        if not compiled and not devices.triton_reaches(self.device):
            return self._prepared
        return plan_chains(self.program, self._prepared, self._run_chain, rules=self._rules)

    def run(
        self,
        inputs: StepInputs,
        *,
        rounder: Round | None = None,
        compute: Compute | None = None,
        cancel: CancelToken | None = None,
    ) -> StepResult:
        """Execute one step; :meth:`execute`, whose arguments these are, without the reports of progress."""
        return finish(self.execute(inputs, rounder=rounder, compute=compute, cancel=cancel))

    def execute(
        self,
        inputs: StepInputs,
        *,
        rounder: Round | None = None,
        compute: Compute | None = None,
        cancel: CancelToken | None = None,
    ) -> Generator[int, None, StepResult]:
        """Execute one step, and report the number of operators done about ten times a second.

        Args:
            inputs: State, batch, scalars and the key of the draws.
            rounder: Rounds the outputs of rounded operators; None leaves them as computed.
            compute: Runs one operator; None for :attr:`compute`.
            cancel: Looked at between operators.

        Yields:
            The number of operators done.

        Returns:
            The new state and the loss.

        Raises:
            CancelledError: ``cancel`` was set.
            NonFiniteError: An operator's result, the new state or the loss does not fit float32.
            ProgramError: An operator rejects its arguments, or gives other shapes than the program says.
            ObstacleError: Memory is short, or the device failed.
        """
        ahead = rounder_ahead(rounder)
        if ahead is not None:
            try:
                result = yield from self._execute(inputs, rounder, compute or self.compute, cancel)
            except (NonFiniteError, ProgramError):
                # What is wrong may have begun before: the operator to name is found by waiting.
                ahead.wait()
                result = None
            if result is not None:
                return result
        result = yield from self._execute(inputs, rounder, compute or self.compute, cancel)
        assert result is not None, "a rounder that waits computes nothing again"
        return result

    def _execute(
        self, inputs: StepInputs, rounder: Round | None, compute: Compute, cancel: CancelToken | None
    ) -> Generator[int, None, StepResult | None]:
        """Execute one step; None where the rounder wants it computed again."""
        # What was kept of values of another step is of no use, and the state may have been changed since.
        digits.forget()
        frame = _StepFrame(self, inputs, None if compute is native else compute, rounder)
        if rounder is not None:
            for place, number in self._batches:
                frame.load(number)
                rounder.watch(place, frame.values[number], dict)
        units = self.units if compute == self.compute else self._prepared
        done = 0
        while done < len(units):
            with note_refusals(frame.noted):
                done, late = _advance(units, done, frame, cancel)
            if late:
                yield units[done - 1].end
        return frame.result()


def _advance(units: Sequence[Unit], done: int, frame: Frame, cancel: CancelToken | None) -> tuple[int, bool]:
    """Execute units until the next report is due; returns how many are done, and whether it is."""
    due = time.monotonic() + _PROGRESS_SECONDS
    # Without what torch keeps for gradients its functions are called in half the time. What computes by its own means
    # may ask for versions of tensors, which they then lack; and a generator must not hold this.
    bare = torch.inference_mode(frame.compute is None)
    with bare, cancel.looked_at() if cancel is not None else nullcontext():
        for number in range(done, len(units)):
            if cancel is not None:
                cancel.check()
            units[number].advance(frame)
            if time.monotonic() >= due:
                return number + 1, True
    return len(units), False


class _StepFrame(Frame):
    """A step under way on a device: inputs are converted when they are first used, new states when they are final.

    So a state tensor lies in the compute dtype only while something needs it.
    """

    def __init__(
        self, interpreter: Interpreter, inputs: StepInputs, compute: Compute | None, rounder: Round | None
    ) -> None:
        self._program = interpreter.program
        super().__init__(
            [None] * len(self._program.types),
            seed=inputs.draws.seed,
            step=inputs.draws.step,
            first_draw=inputs.draws.first,
            compute=compute,
            rounder=rounder,
        )
        self._device = interpreter.device
        self._dtype = interpreter.dtype
        self._inputs = inputs
        sources: dict[str, Mapping[str, Any]] = {
            "state": inputs.state,
            "batch": inputs.batch,
            "scalar": inputs.scalars,
            "combined": inputs.combined,
        }
        self._given = [sources[item.kind][item.name] for item in self._program.inputs]
        self._new: dict[int, Tensor] = {}
        """New state tensors as stored, by the number of their value."""
        self._unfit: set[int] = set()
        """The numbers of those that hold a value that is no finite float32 number."""
        self._tops: dict[int, Tensor] = {}
        """Where nobody waits for the device: the bits of the largest magnitude of one, int32 ``[1]`` on the device."""
        self.noted = None if self.ahead is None else Noted()
        """There as well: what an operator refuses."""

    def load(self, number: int) -> None:
        """Put an input of the program among the values."""
        if self.values[number] is not None:
            return
        item = self._program.inputs[number]
        if item.kind == "scalar":
            self.values[number] = number_on(self._given[number], self._dtype, self._device)
        else:
            dtype = dtype_of(item.type.dtype, self._dtype)
            self.values[number] = _on(self._device, self._given[number], dtype)

    def given(self, number: int) -> Tensor:
        """Return a tensor of the state, or one that was combined, among the inputs of the program as it is stored."""
        tensor: Tensor = self._given[number]
        return tensor

    def store(self, number: int) -> None:
        """Keep a value as the new state that it is, and free it."""
        described = self._program.types[number]
        assert described is not None
        value = self.values[number]
        if self.ahead is not None and described.floating:
            tensor, top = stored_and_largest(value, described)
            self.keep(number, tensor, finite=top)
            return
        tensor = stored_tensor(value, described)
        self.keep(number, tensor, finite=not described.floating or all_finite(tensor))

    def keep(self, number: int, tensor: Tensor, *, finite: bool | Tensor) -> None:
        """Keep a new state as it is stored, in place of the value of this number, which is freed."""
        self._new[number] = tensor
        if isinstance(finite, Tensor):
            self._tops[number] = finite
        elif not finite:
            self._unfit.add(number)
        self.values[number] = None

    def result(self) -> StepResult | None:
        """Return what the step gave; None where the rounder wants it computed again.

        Raises:
            NonFiniteError: The new state or the loss does not fit float32.
        """
        if self._program.loss.number < len(self._program.inputs):
            self.load(self._program.loss.number)
        loss = self.values[self._program.loss.number]
        # What the program does not take, or does not change, stays as it is.
        state = dict(self._inputs.state)
        combined: dict[str, Tensor] = {}
        for into, name, value in self._results():
            if value.number not in self._new:
                if value.number < len(self._program.inputs):
                    self.load(value.number)
                self.store(value.number)
            (state if into == "state" else combined)[name] = _ordinary(self._new[value.number])
            if value.number in self._unfit:
                raise _infinite(into, name)
        if self.ahead is None:
            number = float(loss)
        else:
            assert self.noted is not None
            for wrong in self.noted.raised():
                self.ahead.flag(wrong)
            flagged = sorted(self._tops)
            told = loss.double()[None]
            if flagged:
                told = torch.cat([told, torch.cat([self._tops[value] for value in flagged]).double()])
            numbers = self.ahead.finish(told)
            if numbers is None:
                return None
            number = numbers[0]
            unfit = {value for value, top in zip(flagged, numbers[1:], strict=True) if top >= INFINITE}
            for into, name, value in self._results():
                if value.number in unfit:
                    raise _infinite(into, name)
        if not math.isfinite(number):
            raise NonFiniteError(say("The loss is infinite or not a number."), remedy=DIVERGED)
        return StepResult(state, number, combined)

    def _results(self) -> Iterator[tuple[str, str, Value]]:
        """Yield what the step stores: into what, its name, and its value."""
        program = self._program
        for item in program.state_inputs():
            if item.name in program.updates:
                yield "state", item.name, program.updates[item.name]
        for name, value in sorted(program.combined.items()):
            yield "combined", name, value


def _ordinary(tensor: Tensor) -> Tensor:
    """Return a tensor of the same memory that everybody may write into."""
    if not tensor.is_inference():
        return tensor
    return torch.from_numpy(tensor.numpy()) if tensor.is_cpu else from_dlpack(tensor)


def _infinite(into: str, name: str) -> NonFiniteError:
    if into == "combined":
        return NonFiniteError(
            say(
                "What a share gives as {0} holds a value that is infinite, not a number, or beyond float32's range.",
                repr(name),
            ),
            remedy=DIVERGED,
        )
    return NonFiniteError(
        say(
            "The new state tensor {0} holds a value that is infinite, not a number, or beyond float32's range.",
            repr(name),
        ),
        remedy=DIVERGED,
    )


def stored_tensor(tensor: Tensor, described: TensorType) -> Tensor:
    """Return a state tensor as it is stored: contiguous, floating ones rounded to float32, ties to even."""
    return _on(tensor.device, tensor, TORCH_DTYPES[described.dtype]).contiguous()


def _on(device: torch.device, tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a tensor on a device in a dtype; itself where it is that already."""
    if tensor.dtype == dtype or device.type != "cpu" or not tensor.is_cpu or not tensor.is_contiguous():
        return tensor.to(device=device, dtype=dtype)
    return buffers.empty(tensor.shape, dtype).copy_(tensor)


def stored_and_largest(tensor: Tensor, described: TensorType) -> tuple[Tensor, Tensor]:
    """Return a floating-point state tensor on a device as it is stored, and the bits of its largest magnitude.

    Nobody waits for the device; the bits are int32 ``[1]``.
    """
    if not tensor.numel():
        return stored_tensor(tensor, described), torch.zeros(1, dtype=torch.int32, device=tensor.device)
    from counterfoil_core.kernels.cuda import chains, exact

    if tensor.dtype is torch.float64:
        return chains.narrow(tensor.contiguous())
    stored = stored_tensor(tensor, described)
    return stored, exact.largest(stored, (1, 1, 1, stored.numel()))


def all_finite(tensor: Tensor) -> bool:
    """Return whether every element of a floating-point tensor is finite."""
    # Both ends are NaN where any element is: one pass, and no tensor of answers.
    return not tensor.numel() or all(math.isfinite(float(end)) for end in tensor.aminmax())
