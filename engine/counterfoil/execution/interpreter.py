"""Interprets a program operator by operator."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, cast

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from counterfoil.cancel import CancelToken
from counterfoil.definite import cuts
from counterfoil.errors import DIVERGED, CounterfoilError, NonFiniteError, ProgramError
from counterfoil.execution import blocked
from counterfoil.execution.bounds import check_indices, kept_inside
from counterfoil.execution.defined import Definition, definition_of
from counterfoil.execution.draws import drawn
from counterfoil.execution.strides import stride_free
from counterfoil.execution.trouble import obstacle
from counterfoil.generators import finish
from counterfoil.program import sums
from counterfoil.program.graph import Keyword, Node, Program, TensorType, Value, map_argument, node_values
from counterfoil.program.operators import DRAWS, OperatorClass
from counterfoil.program.places import PlaceSort
from counterfoil.program.signatures import overload
from counterfoil.program.torchdtypes import TORCH_DTYPES
from counterfoil.sentence import say

Outputs = list[Tensor | None]
Compute = Callable[["Operation", list[Any], dict[str, Any]], Any]
"""Runs one operator on its arguments; :func:`native` or a perturbed executor."""
_PROGRESS_SECONDS = 0.1
"""Time between two reports of progress inside a step."""


class Round(Protocol):
    """Rounds and fingerprints what an interpreter computes; see :class:`counterfoil.rounding.rounder.Rounder`."""

    def __call__(self, node: Node, arguments: Callable[[], dict[str, Any]], outputs: Outputs, /) -> Outputs:
        """Return the rounded outputs of an operator of class rounded."""

    def watch(self, place: int, value: Tensor, arguments: Callable[[], dict[str, Any]], /) -> None:
        """Look at the value of a place that is not rounded."""


class RunsAhead(Round, Protocol):
    """One that does not wait for the device; see :mod:`counterfoil.rounding.ahead`."""

    @property
    def waits(self) -> bool:
        """Whether it does wait, in this step."""

    def flag(self, wrong: Tensor, /) -> None:
        """Take note that the step must be computed again, by waiting, where ``wrong``, bool ``[]``, is true."""

    def wait(self) -> None:
        """Begin the step again, and wait for each operator."""

    def finish(self, numbers: Tensor, /) -> list[float] | None:
        """Return numbers, float64 ``[n]``, from the device; None where the step begins again."""


def _running_ahead(rounder: Round | None) -> RunsAhead | None:
    """Return the rounder if it is one that does not wait for the device in this step."""
    return None if rounder is None or getattr(rounder, "waits", True) else cast(RunsAhead, rounder)


@dataclass(frozen=True)
class Draws:
    """What keys the random draws of a step: the order's seed and the step number."""

    seed: int
    step: int


@dataclass(frozen=True)
class StepInputs:
    """The inputs of one step.

    Attributes:
        state: State tensors by name, as stored: floating ones float32.
        batch: Rows of each data array by name.
        scalars: Per-step scalars by name.
        draws: Key of the random draws.
    """

    state: Mapping[str, Tensor]
    batch: Mapping[str, Tensor]
    scalars: Mapping[str, float]
    draws: Draws


@dataclass(frozen=True)
class StepResult:
    """The outcome of one step: the new state as stored, floating tensors float32, and the loss."""

    state: dict[str, Tensor]
    loss: float


@dataclass(frozen=True)
class Operation:
    """A node together with the torch function that computes it.

    Attributes:
        node: The node.
        function: The torch function.
        takes_device: Whether it must be told the device.
        takes_dtype: Whether it must be told the dtype.
        is_piece: Whether it is a piece of another operator's own form, and so computed by the library.
    """

    node: Node
    function: Any
    takes_device: bool
    takes_dtype: bool
    is_piece: bool = False

    @cached_property
    def definition(self) -> Definition | None:
        """What computes it where the library's result is not the defined one."""
        return definition_of(self.node)

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the function's parameters, in order."""
        return tuple(argument.name for argument in self.function._schema.arguments)

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Default values of the parameters that have one."""
        return {a.name: a.default_value for a in self.function._schema.arguments if a.has_default_value()}

    def named(self, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments by name, with defaults filled in."""
        return {**self.defaults, **dict(zip(self.parameter_names, args, strict=False)), **kwargs}

    def own_form(self, args: list[Any], kwargs: dict[str, Any]) -> Callable[[blocked.Run], Any] | None:
        """Return what computes a rounded operator from its pieces, where it is computed in a form of our own."""
        entry = self.node.entry
        if self.is_piece or entry.operator_class is not OperatorClass.ROUNDED or not sums.may_have_own_form(entry.kind):
            return None
        arguments = self.named(args, kwargs)
        form = blocked.function_for(entry.kind, arguments)
        return None if form is None else lambda run: form(run, arguments)


def native(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Compute an operator as the device does, in the form that its shapes call for, or by its definition."""
    if operation.definition is not None:
        return operation.definition(operation, args, kwargs)
    form = operation.own_form(args, kwargs)
    return operation.function(*args, **kwargs) if form is None else form(blocked.natively)


def piece(name: str) -> Operation:
    """Return the operation of a piece of an own form, for a machine that computes pieces in its own way."""
    return replace(make_operation(Node(name, (), (), (TensorType("float32", ()),), 0, "", "forward")), is_piece=True)


class Interpreter:
    """Runs a program on a device.

    Args:
        program: The program; from a stranger it must pass :meth:`check_types` first.
        device: Where to compute.
        dtype: The compute dtype that takes the place of ``float32``.
        compute: Runs one operator, unless a step is told otherwise.

    Raises:
        ProgramError: This version of torch lacks an operator.
    """

    def __init__(
        self,
        program: Program,
        device: torch.device,
        dtype: torch.dtype = torch.float64,
        compute: Compute = native,
    ) -> None:
        self.program = program
        self.device = device
        self.dtype = dtype
        self.compute = compute
        self._operations = tuple(make_operation(node) for node in program.nodes)
        self._batches = tuple((n, p.output) for n, p in enumerate(program.places) if p.sort is PlaceSort.BATCH)
        """Place and value of each batch."""
        self._watched: dict[int, list[tuple[int, int]]] = {}
        """Place and output of the values of a node that are fingerprinted and not rounded."""
        for number, place in enumerate(program.places):
            if place.node is not None and place.site is None:
                self._watched.setdefault(place.node, []).append((number, place.output))

    def run(
        self,
        inputs: StepInputs,
        *,
        rounder: Round | None = None,
        compute: Compute | None = None,
        cancel: CancelToken | None = None,
    ) -> StepResult:
        """Execute one step; :meth:`execute` without the reports of progress."""
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
        ahead = _running_ahead(rounder)
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
        cuts.forget()
        values = self._load(inputs)
        if rounder is not None:
            for place, number in self._batches:
                rounder.watch(place, values[number], dict)
        reported = time.monotonic()
        for index, operation in enumerate(self._operations):
            if cancel is not None:
                cancel.check()
            with cancel.looked_at() if cancel is not None else nullcontext():
                self._advance(index, operation, values, inputs.draws, compute, rounder)
            now = time.monotonic()
            if now - reported >= _PROGRESS_SECONDS:
                reported = now
                yield index + 1
        return self._results(values, inputs, rounder)

    def check_types(self, cancel: CancelToken | None = None) -> None:
        """Run the program's operators on fake tensors, which have shapes and dtypes but no memory.

        An operator that rejects its arguments, or a result of another size than declared, is found before anything
        large is allocated. Each runs on tensors of the types that the program declares, so that one run stands for
        all uses of an operator with the same arguments: a layer's for those of the layers like it.

        Args:
            cancel: Looked at between operators.

        Raises:
            ProgramError: The message names the operator and its module.
            CancelledError: ``cancel`` was set.
        """
        types = self.program.types
        passed: set[Any] = set()
        with FakeTensorMode(), _quietly():
            for index, operation in enumerate(self._operations):
                if cancel is not None:
                    cancel.check()
                node = operation.node
                use = (node.operator, _typed(node.args, types), _typed(node.kwargs, types), node.outputs)
                if use in passed:
                    continue
                values = {value.number: self._empty(types[value.number]) for value in node_values(node)}
                self._compute(index, operation, values, None, native, None)
                passed.add(use)

    def _empty(self, described: TensorType | None) -> Tensor:
        assert described is not None, "nothing refers to a value that is not computed"
        return torch.empty(described.shape, dtype=self._torch_dtype(described.dtype), device=self.device)

    def _advance(
        self,
        index: int,
        operation: Operation,
        values: dict[int, Any],
        draws: Draws | None,
        compute: Compute,
        rounder: Round | None,
    ) -> None:
        outputs = self._compute(index, operation, values, draws, compute, rounder)
        values.update(enumerate(outputs, operation.node.first_value))
        for number in self.program.last_uses[index]:
            del values[number]

    def _load(self, inputs: StepInputs) -> dict[int, Any]:
        values: dict[int, Any] = {}
        for number, item in enumerate(self.program.inputs):
            if item.kind == "scalar":
                values[number] = torch.tensor(inputs.scalars[item.name], dtype=self.dtype, device=self.device)
                continue
            tensor = (inputs.state if item.kind == "state" else inputs.batch)[item.name]
            values[number] = tensor.to(device=self.device, dtype=self._torch_dtype(item.type.dtype))
        return values

    def _torch_dtype(self, name: str) -> torch.dtype:
        return self.dtype if name == "float32" else TORCH_DTYPES[name]

    def _compute(
        self,
        index: int,
        operation: Operation,
        values: dict[int, Any],
        draws: Draws | None,
        compute: Compute,
        rounder: Round | None,
    ) -> Outputs:
        node = operation.node
        if node.operator in DRAWS:
            numbers: Outputs = [self._draw(node, draws)]
            self._watch(index, numbers, dict, rounder)
            return numbers

        def convert(item: Value | Keyword) -> Any:
            if isinstance(item, Value):
                return values[item.number]
            return self._torch_dtype(item.name) if item.kind == "dtype" else _KEYWORDS[item.kind][item.name]

        args = [map_argument(argument, convert) for argument in node.args]
        kwargs = {name: map_argument(argument, convert) for name, argument in node.kwargs}
        if operation.takes_device:
            kwargs["device"] = self.device
        if operation.takes_dtype:
            output = node.outputs[0]
            assert output is not None
            kwargs["dtype"] = self._torch_dtype(output.dtype)
        with _about(node):
            ahead = _running_ahead(rounder)
            if ahead is not None:
                instead, wrong = kept_inside(node.entry.kind, operation.named(args, kwargs))
                for outside in wrong:
                    ahead.flag(outside)
                if instead:
                    args = _exchanged(args, instead)
                    kwargs = {name: _exchanged(value, instead) for name, value in kwargs.items()}
            else:
                check_indices(node.entry.kind, operation.named(args, kwargs))
            result = compute(operation, args, kwargs)
        outputs: Outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        outputs = self._agreed(node, outputs)
        if rounder is not None and node.entry.operator_class is OperatorClass.ROUNDED:
            with _about(node):
                return rounder(node, lambda: operation.named(args, kwargs), _unshared(outputs, args))
        self._watch(index, outputs, lambda: operation.named(args, kwargs), rounder)
        return outputs

    def _draw(self, node: Node, draws: Draws | None) -> Tensor:
        """Draw the numbers that a node asks for; without a key a tensor of their type, to check types with."""
        shape, draw = node.args
        declared = node.outputs[0]
        if declared is None or not declared.floating or shape != declared.shape:
            raise ProgramError(
                say("The operator {0} gives another shape or dtype than the program says.", node.where),
                detail=f"{shape} for {declared}",
            )
        if draws is None:
            return torch.empty(declared.shape, dtype=self.dtype, device=self.device)
        assert isinstance(draw, int)
        return drawn(
            node.operator,
            declared.shape,
            seed=draws.seed,
            step=draws.step,
            draw=draw,
            dtype=self.dtype,
            device=self.device,
        )

    def _watch(
        self, index: int, outputs: Outputs, arguments: Callable[[], dict[str, Any]], rounder: Round | None
    ) -> None:
        if rounder is not None:
            for place, output in self._watched.get(index, ()):
                value = outputs[output]
                assert value is not None
                rounder.watch(place, value, arguments)

    def _agreed(self, node: Node, outputs: Outputs) -> Outputs:
        """Compare the outputs with what the program says of them; drop those that it does not have."""
        if len(outputs) != len(node.outputs):
            raise ProgramError(
                say("The operator {0} has {1} outputs, not {2}.", node.where, len(outputs), len(node.outputs))
            )
        agreed: Outputs = []
        for output, expected in zip(outputs, node.outputs, strict=True):
            if expected is None:
                agreed.append(None)
            elif (
                output is None
                or tuple(output.shape) != expected.shape
                or (output.dtype != self._torch_dtype(expected.dtype))
            ):
                raise ProgramError(
                    say("The operator {0} gives another shape or dtype than the program says.", node.where),
                    detail=f"{None if output is None else (output.dtype, tuple(output.shape))} for {expected}",
                )
            else:
                agreed.append(output)
        return agreed

    def _results(self, values: dict[int, Any], inputs: StepInputs, rounder: Round | None) -> StepResult | None:
        # What the program does not take, or does not change, stays as it is.
        state = dict(inputs.state)
        floating = []
        for item in self.program.state_inputs():
            update = self.program.updates.get(item.name)
            if update is not None:
                state[item.name] = stored(values[update.number], item.type)
                if item.type.floating:
                    floating.append(item.name)
        loss = values[self.program.loss.number]
        ahead = _running_ahead(rounder)
        if ahead is not None:
            finite = [torch.isfinite(state[name]).all().double() for name in floating]
            numbers = ahead.finish(torch.stack([loss.double(), *finite]))
            if numbers is None:
                return None
            return _finite_result(
                state, numbers[0], (name for name, one in zip(floating, numbers[1:], strict=True) if not one)
            )
        return _finite_result(
            state, float(loss), (name for name in floating if not bool(torch.isfinite(state[name]).all()))
        )


def _finite_result(state: dict[str, Tensor], loss: float, infinite: Iterator[str]) -> StepResult:
    """Return the outcome of a step; ``infinite`` gives the names of state tensors that are not finite."""
    for name in infinite:
        raise NonFiniteError(
            say(
                "The new state tensor {0} holds a value that is infinite, not a number, or beyond float32's range.",
                repr(name),
            ),
            remedy=DIVERGED,
        )
    if not math.isfinite(loss):
        raise NonFiniteError(say("The loss is infinite or not a number."), remedy=DIVERGED)
    return StepResult(state, loss)


def _exchanged(argument: Any, instead: Mapping[int, Tensor]) -> Any:
    """An argument with other tensors, by ``id``, in the place of some."""
    if isinstance(argument, list):
        return [_exchanged(item, instead) for item in argument]
    return instead.get(id(argument), argument)


def stored(tensor: Tensor, described: TensorType) -> Tensor:
    """Return a state tensor as it is stored: contiguous, floating ones rounded to float32, ties to even."""
    return tensor.to(TORCH_DTYPES[described.dtype]).contiguous()


def _unshared(outputs: Outputs, args: list[Any]) -> Outputs:
    """Copy outputs that share memory with an argument: rounding happens in place."""
    pointers = {a.untyped_storage().data_ptr() for a in args if isinstance(a, Tensor) and a.numel()}
    return [o.clone() if o is not None and o.untyped_storage().data_ptr() in pointers else o for o in outputs]


_KEYWORDS: dict[str, dict[str, Any]] = {
    "memory_format": {
        "contiguous_format": torch.contiguous_format,
        "preserve_format": torch.preserve_format,
        "channels_last": torch.channels_last,
        "channels_last_3d": torch.channels_last_3d,
    },
    "layout": {"strided": torch.strided},
}
FACTORIES = frozenset(
    f"aten.{name}"
    for name in (
        "full.default", "zeros.default", "ones.default", "scalar_tensor.default", "eye.default", "eye.m",
        "arange.default", "arange.start", "arange.start_step",
    )
)  # fmt: skip
"""Operators that make a tensor out of no tensor: they are told dtype and device."""
"""Operators without a tensor argument: they must be told the device, and the dtype that the program gives them."""


@contextmanager
def _about(node: Node) -> Iterator[None]:
    """Turn what a function of the library raises into an error about an operator's arguments, or about this machine.

    Some functions take arguments that do not fit together, and give what has no scale.
    """
    try:
        yield
    except CounterfoilError:
        raise
    except Exception as error:
        trouble = obstacle(error)
        if trouble is not None:
            raise trouble from error
        raise ProgramError(say("The operator {0} cannot be computed.", node.where), detail=str(error)) from error


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep what the library writes on the error output about arguments that it rejects."""
    log = logging.getLogger("torch._subclasses.fake_tensor")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def _typed(argument: Any, types: Sequence[TensorType | None]) -> Any:
    """An argument with types in place of values, so that equal ones mean the same: 1, 1.0 and True do not."""
    if isinstance(argument, Value):
        return types[argument.number]
    if isinstance(argument, tuple):
        return tuple(_typed(item, types) for item in argument)
    return type(argument), argument


def make_operation(node: Node) -> Operation:
    """Return what computes a node; its function is None for random numbers, which Philox draws.

    Raises:
        ProgramError: This torch has no such operator.
    """
    if node.operator in DRAWS:
        return Operation(node, None, False, False)
    function = overload(node.operator)
    factory = node.operator in FACTORIES
    return Operation(node, stride_free(node.operator.split(".")[1], function), factory, factory)
