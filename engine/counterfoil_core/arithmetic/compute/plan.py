"""The plan of a step, made once for a program: for each node what is called, on which values, and what is looked at.

What a node takes from the step alone is filled into a template of its arguments; everything else, constants, dtypes,
shapes, forms, last uses, is settled here, so that a step costs a few microseconds of Python an operator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, cast

import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.draws import draw_numbers
from counterfoil_core.arithmetic.compute.indices import check_indices, check_indices_ahead
from counterfoil_core.arithmetic.compute.operation import Compute, Operation, Outputs, make_operation
from counterfoil_core.arithmetic.families.memoryreuse import into_buffers
from counterfoil_core.arithmetic.families.parts import natively
from counterfoil_core.arithmetic.families.table import LOOPS
from counterfoil_core.base.errors import CounterfoilError, ProgramError
from counterfoil_core.base.sentence import say
from counterfoil_core.base.trouble import obstacle
from counterfoil_core.operators.facts import DRAWS, OperatorClass
from counterfoil_core.operators.node import Argument, Keyword, Node, TensorType, Value
from counterfoil_core.program.graph import Program, map_argument, node_values
from counterfoil_core.program.torchdtypes import TORCH_DTYPES


class Round(Protocol):
    """Rounds and fingerprints what an interpreter computes (:mod:`counterfoil_core.arithmetic.grid.rounder`)."""

    def __call__(self, node: Node, arguments: Callable[[], dict[str, Any]], outputs: Outputs, /) -> Outputs:
        """Return the rounded outputs of an operator of class rounded."""

    def watch(self, place: int, value: Tensor, arguments: Callable[[], dict[str, Any]], /) -> None:
        """Look at the value of a place that is not rounded."""


class RunsAhead(Round, Protocol):
    """One that does not wait for the device; see :mod:`counterfoil_core.arithmetic.grid.ahead`."""

    @property
    def waits(self) -> bool:
        """Whether it does wait, in this step."""

    def flag(self, wrong: Tensor, /) -> None:
        """Take note that the step must be computed again, by waiting, where ``wrong``, bool ``[]``, is true."""

    def wait(self) -> None:
        """Begin the step again, and wait for each operator."""

    def finish(self, numbers: Tensor, /) -> list[float] | None:
        """Return numbers, float64 ``[n]``, from the device; None where the step begins again."""


def rounder_ahead(rounder: Round | None) -> RunsAhead | None:
    """Return the rounder if it is one that does not wait for the device in this step."""
    return None if rounder is None or getattr(rounder, "waits", True) else cast(RunsAhead, rounder)


Values = Sequence[Any] | Mapping[int, Any]
"""Values by number."""


class Frame:
    """A step under way.

    Attributes:
        values: The values by number; None before they are computed and after their last use.
        seed: Seed of the random draws.
        step: Number of the step, for the draws.
        first_draw: What is added to the numbers of the draws.
        compute: Runs one operator; None where the device does.
        rounder: Rounds and fingerprints; None leaves values as computed.
        ahead: The same if it does not wait for the device, else None.
    """

    def __init__(
        self,
        values: list[Any],
        *,
        seed: int,
        step: int,
        first_draw: int,
        compute: Compute | None,
        rounder: Round | None,
    ) -> None:
        self.values = values
        self.seed = seed
        self.step = step
        self.first_draw = first_draw
        self.compute = compute
        self.rounder = rounder
        self.ahead = rounder_ahead(rounder)

    def load(self, number: int) -> None:
        """Put an input of the program among the values."""
        raise NotImplementedError

    def given(self, number: int) -> Tensor:
        """Return a state tensor among the inputs of the program as it is stored."""
        raise NotImplementedError

    def store(self, number: int) -> None:
        """Keep a value as the new state that it is, and free it: nothing needs it any more."""
        raise NotImplementedError

    def keep(self, number: int, tensor: Tensor, *, finite: bool | Tensor) -> None:
        """Keep a new state as it is stored, in place of the value of this number, which is freed.

        Args:
            number: The value.
            tensor: float32 where it is floating-point; nobody else may write into it.
            finite: Whether all of its elements are finite; where nobody waits for a device, the bits of the largest
                magnitude, int32 ``[1]`` there.
        """
        raise NotImplementedError


class Unit(Protocol):
    """A part of a step that is executed at once: one node, or several."""

    @property
    def end(self) -> int:
        """Number of the program's nodes that are done when it is."""

    def advance(self, frame: Frame) -> None:
        """Execute it: values that it takes are there, values that it gives are put there, the dead ones are freed."""


class Prepared:
    """A node, ready to be executed in any step; a :class:`Unit`.

    Attributes:
        index: Index of the node in the program.
        end: The index after it.
        operation: The node and what computes it.
        node: The node.
        first_used: Inputs of the program that no node before it takes.
        dying: Values that nothing after it needs.
        final: Values that are a new state, and that nothing after it needs.
        watched: Place and output of its values that are fingerprinted and not rounded.
        is_rounded: Whether its floating-point outputs are rounded.
    """

    def __init__(self, index: int, program: Program, device: torch.device, dtype: torch.dtype) -> None:
        node = program.nodes[index]
        self.index = index
        self.end = index + 1
        self.node = node
        self.operation = make_operation(node)
        self.is_rounded = node.entry.operator_class is OperatorClass.ROUNDED
        self.first_used: tuple[int, ...] = ()
        self.dying: tuple[int, ...] = program.last_uses[index]
        self.final: tuple[int, ...] = ()
        self.watched: tuple[tuple[int, int], ...] = ()
        self._first_value = node.first_value
        self._types = program.types
        self._device = device
        self._dtype = dtype
        self._expected = tuple(
            None if output is None else (output.shape, dtype_of(output.dtype, dtype)) for output in node.outputs
        )
        self._only = self._expected[0] if len(self._expected) == 1 else None
        self._has_indices = node.entry.indices is not None
        self._call: Callable[[list[Any], dict[str, Any]], Any] | None = None
        self._function: Any = None
        # Arguments: a copy of the template, with values in their places.
        self._args = [_constant(argument, dtype) for argument in node.args]
        self._places = tuple((n, a.number) for n, a in enumerate(node.args) if isinstance(a, Value))
        self._nested = tuple((n, a) for n, a in enumerate(self._args) if isinstance(a, list) and _holds_value(a))
        self._kwargs = {name: _constant(argument, dtype) for name, argument in node.kwargs}
        self._named_values = tuple((name, a) for name, a in self._kwargs.items() if _holds_value(a))
        if self.operation.is_factory:
            (output,) = self._expected
            assert output is not None
            self._kwargs |= {"device": device, "dtype": output[1]}

    def advance(self, frame: Frame) -> None:
        """Execute the node."""
        for number in self.first_used:
            frame.load(number)
        values = frame.values
        for number, output in enumerate(self.outputs(frame), self._first_value):
            values[number] = output
        for number in self.final:
            frame.store(number)
        for number in self.dying:
            values[number] = None

    def outputs(self, frame: Frame) -> Outputs:
        """Compute the outputs, checked, rounded and fingerprinted.

        Raises:
            NonFiniteError: A result does not fit float32.
            ProgramError: The operator rejects its arguments, or gives other shapes than the program says.
            ObstacleError: Memory is short, or the device failed.
        """
        rounder = frame.rounder
        args, kwargs = self.arguments(frame.values)
        try:
            if self._has_indices:
                args, kwargs = self._inside(frame.ahead, args, kwargs)
            outputs = self._agreed(self._result(frame.compute, args, kwargs))
            if rounder is None:
                return outputs
            if self.is_rounded:
                return rounder(self.node, partial(self.operation.named, args, kwargs), _unshared(outputs, args))
        except CounterfoilError:
            raise
        except Exception as error:
            raise argument_error(self.node, error) from error
        if self.watched:
            self._watch(rounder, outputs, partial(self.operation.named, args, kwargs))
        return outputs

    def check(self, values: Mapping[int, Tensor]) -> None:
        """Compute the outputs from tensors of the declared types, and check them.

        Args:
            values: What the node takes, by number.

        Raises:
            ProgramError: The operator rejects its arguments, or gives other shapes than the program says.
        """
        args, kwargs = self.arguments(values)
        try:
            if self._has_indices:
                self._inside(None, args, kwargs)
            self._agreed(self._result(None, args, kwargs))
        except CounterfoilError:
            raise
        except Exception as error:
            raise argument_error(self.node, error) from error

    def arguments(self, values: Values) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments by position and by name; neither those by name nor lists in them may be changed."""
        args = self._args.copy()
        for place, number in self._places:
            args[place] = values[number]
        for place, argument in self._nested:
            args[place] = _filled(argument, values)
        if not self._named_values:
            return args, self._kwargs
        return args, {**self._kwargs, **{name: _filled(argument, values) for name, argument in self._named_values}}

    def _inside(
        self, ahead: RunsAhead | None, args: list[Any], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Check the indices among the arguments; where nobody waits, see to it that they are inside."""
        entry, named = self.node.entry, self.operation.named(args, kwargs)
        if ahead is None:
            check_indices(entry, named)
            return args, kwargs
        instead, wrong = check_indices_ahead(entry, named)
        for outside in wrong:
            ahead.flag(outside)
        return _exchanged(args, instead), {name: _exchanged(value, instead) for name, value in kwargs.items()}

    def _result(self, compute: Compute | None, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if compute is not None:
            return compute(self.operation, args, kwargs)
        if self._function is not None:
            return self._function(*args, **kwargs)
        if self._call is None:
            self._call = self._native()
        return self._call(args, kwargs)

    def _native(self) -> Callable[[list[Any], dict[str, Any]], Any]:
        """Return what computes the node as :func:`native` does; its form follows from the declared types.

        Where that is the library's function, it is called without a detour from then on.
        """
        operation = self.operation
        definition, function = operation.definition, operation.function
        if definition is not None:
            return lambda args, kwargs: definition(operation, args, kwargs)
        declared = [_described(argument, self._types) for argument in self.node.args]
        form = operation.form(declared, {name: _described(a, self._types) for name, a in self.node.kwargs})
        if form is not None:
            return lambda args, kwargs: form(natively, operation.named(args, kwargs))
        # What an OpOverload calls in its turn.
        direct = getattr(function, "_op", function)
        if self._only is not None:
            direct = into_buffers(self.node.operator, direct, *self._only) or direct
        loops = LOOPS.get(self.node.operator)
        if loops is not None and self._device.type == "cpu" and self._dtype is torch.float64:
            return partial(_by_loops, loops, operation, direct)
        self._function = direct
        return lambda args, kwargs: direct(*args, **kwargs)

    def _watch(self, rounder: Round, outputs: Outputs, arguments: Callable[[], dict[str, Any]]) -> None:
        for place, output in self.watched:
            value = outputs[output]
            assert value is not None
            rounder.watch(place, value, arguments)

    def _agreed(self, result: Any) -> Outputs:
        """Compare the outputs with what the program says of them; drop those that it does not have."""
        only = self._only
        if only is not None and result.__class__ is Tensor and result.dtype is only[1] and result.shape == only[0]:
            return [result]
        outputs: Outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        if len(outputs) != len(self._expected):
            raise ProgramError(
                say("The operator {0} has {1} outputs, not {2}.", self.node.where, len(outputs), len(self._expected))
            )
        for position, expected in enumerate(self._expected):
            if expected is None:
                outputs[position] = None
                continue
            output = outputs[position]
            if output is None or output.dtype is not expected[1] or output.shape != expected[0]:
                raise ProgramError(
                    say("The operator {0} gives another shape or dtype than the program says.", self.node.where),
                    detail=f"{None if output is None else (output.dtype, tuple(output.shape))} "
                    f"for {self.node.outputs[position]}",
                )
        return outputs


def _by_loops(loops: Any, operation: Operation, library: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Compute an operator by compiled loops, or by the library where they do not take its arguments."""
    result = loops(operation.named(args, kwargs))
    return library(*args, **kwargs) if result is None else result


class PreparedDraw(Prepared):
    """A node that draws random numbers."""

    def outputs(self, frame: Frame) -> Outputs:
        """Draw the numbers, and fingerprint them."""
        numbers: Outputs = [self.drawn(frame)]
        if frame.rounder is not None:
            self._watch(frame.rounder, numbers, dict)
        return numbers

    def drawn(self, frame: Frame) -> Tensor:
        """Draw the numbers of a step."""
        described, draw = self._described(), self.node.args[1]
        assert isinstance(draw, int)
        return draw_numbers(
            self.node.operator,
            described.shape,
            seed=frame.seed,
            step=frame.step,
            draw=frame.first_draw + draw,
            dtype=self._dtype,
            device=self._device,
        )

    def check(self, values: Mapping[int, Tensor]) -> None:
        """Check that the numbers that the node asks for are of the type that the program says."""
        self._described()

    def _described(self) -> TensorType:
        shape, declared = self.node.args[0], self.node.outputs[0]
        if declared is None or not declared.floating or shape != declared.shape:
            raise ProgramError(
                say("The operator {0} gives another shape or dtype than the program says.", self.node.where),
                detail=f"{shape} for {declared}",
            )
        return declared


def prepare_node(program: Program, index: int, device: torch.device, dtype: torch.dtype) -> Prepared:
    """Return one node of a program, ready to be executed by itself; as :func:`prepare`, whose arguments these are."""
    kind = PreparedDraw if program.nodes[index].operator in DRAWS else Prepared
    return kind(index, program, device, dtype)


def prepare(program: Program, device: torch.device, dtype: torch.dtype) -> tuple[Prepared, ...]:
    """Return the nodes of a program, ready to be executed on a device.

    Args:
        program: The program.
        device: Where to compute.
        dtype: The compute dtype that takes the place of ``float32``.

    Raises:
        ProgramError: This version of torch lacks an operator.
    """
    found = tuple(prepare_node(program, index, device, dtype) for index in range(len(program.nodes)))
    updates = {value.number for value in program.results}
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for index, node in enumerate(program.nodes):
        last.update(dict.fromkeys(range(node.first_value, node.first_value + len(node.outputs)), index))
        for value in node_values(node):
            last[value.number] = index
            if value.number < len(program.inputs):
                first.setdefault(value.number, index)
    for number, index in first.items():
        found[index].first_used += (number,)
    for number in sorted(updates & last.keys() - {program.loss.number}):
        found[last[number]].final += (number,)
    for number, place in enumerate(program.places):
        if place.node is not None and place.site is None:
            found[place.node].watched += ((number, place.output),)
    return found


def dtype_of(name: str, compute: torch.dtype) -> torch.dtype:
    """Return the dtype of a value that a program declares, in a compute dtype."""
    return compute if name == "float32" else TORCH_DTYPES[name]


def argument_error(node: Node, error: Exception) -> CounterfoilError:
    """Return what a function of the library raised as an error about an operator's arguments, or about this machine.

    Some functions take arguments that do not fit together, and give what has no scale.
    """
    trouble = obstacle(error)
    if trouble is not None:
        return trouble
    return ProgramError(say("The operator {0} cannot be computed.", node.where), detail=str(error))


def _constant(argument: Argument, dtype: torch.dtype) -> Any:
    """Return an argument as torch expects it; values are left in their places."""

    def convert(item: Value | Keyword) -> Any:
        if isinstance(item, Value):
            return item
        return dtype_of(item.name, dtype) if item.kind == "dtype" else _KEYWORDS[item.kind][item.name]

    return map_argument(argument, convert)


def _holds_value(argument: Any) -> bool:
    return any(map(_holds_value, argument)) if isinstance(argument, list) else isinstance(argument, Value)


def _filled(argument: Any, values: Values) -> Any:
    """Return an argument with a step's values in their places."""
    if isinstance(argument, Value):
        return values[argument.number]
    return [_filled(item, values) for item in argument] if isinstance(argument, list) else argument


def _exchanged(argument: Any, instead: Mapping[int, Tensor]) -> Any:
    """Return an argument with other tensors, by ``id``, in the place of some."""
    if isinstance(argument, list):
        return [_exchanged(item, instead) for item in argument]
    return instead.get(id(argument), argument)


def _described(argument: Argument, types: Sequence[TensorType | None]) -> Any:
    """Return an argument with types in place of values."""
    return map_argument(argument, lambda item: types[item.number] if isinstance(item, Value) else item)


def _unshared(outputs: Outputs, args: list[Any]) -> Outputs:
    """Copy outputs that share memory with an argument: rounding happens in place."""
    pointers = {a.untyped_storage().data_ptr() for a in args if isinstance(a, Tensor) and a.numel()}
    return [o.clone() if o is not None and o.untyped_storage().data_ptr() in pointers else o for o in outputs]


_KEYWORDS: Mapping[str, Mapping[str, Any]] = {
    "memory_format": {
        "contiguous_format": torch.contiguous_format,
        "preserve_format": torch.preserve_format,
        "channels_last": torch.channels_last,
        "channels_last_3d": torch.channels_last_3d,
    },
    "layout": {"strided": torch.strided},
}
