"""The program: a straight-line list of operators, as data.

A program has inputs (state tensors, batch rows, per-step scalars), nodes, and results (the new state and the loss).
Every input and every output of a node is a *value* with a number, counted from 0 in the order in which they appear.
Its canonical JSON is specified in docs/bundle-format.md, section 9; the program's digest is the SHA-256 of that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from counterfoil_core.base import canonical
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.dtypes import STATE_DTYPES
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.base.plaintext import quote
from counterfoil_core.base.sentence import say
from counterfoil_core.operators.catalogue import is_allowed
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.node import Argument, Keyword, Node, TensorType, Value
from counterfoil_core.operators.signatures import (
    MAX_AXES,
    REMEDY,
    check_arguments,
    check_pieces,
    defaults_of,
    signature_of,
)
from counterfoil_core.operators.uses import undefined_use
from counterfoil_core.program.limits import MAX_OPERATORS, Limits, check_operators
from counterfoil_core.program.places import Place, places_of
from counterfoil_core.program.sameness import Same, sameness

FORMAT_VERSION = 1
INPUT_KINDS = ("state", "batch", "scalar", "combined")
PASSES = ("forward", "backward", "update")
NAME_OF_COMBINED = re.compile(r"[A-Za-z0-9_.\-:]{1,220}")
"""What the name of a value looks like that the shares of a step give: ``gradient:``, and the name of the parameter."""
GRADIENT, BUFFER = "gradient:", "buffer:"
"""What the name of such a value begins with, before the name of a parameter or of a buffer."""
MAX_ELEMENTS = 2**36
MAX_MODULE = 1000
"""Characters of the path of a module."""


@dataclass(frozen=True)
class Input:
    """One input of a step."""

    #: Name of the state tensor, of the data array, of the per-step scalar, or of what the shares of a step give.
    name: str
    kind: str  #: ``state``, ``batch``, ``scalar`` or, of an update program, ``combined``.
    type: TensorType  #: Dtype and shape; for a batch the first axis is the row.


@dataclass(frozen=True)
class Site:
    """A rounding site: one floating-point output of an operator of class rounded."""

    node: int  #: Index of the node in the program.
    output: int  #: Index of the output among the node's.
    elements: int  #: Number of its elements.
    kind: str  #: Operator kind, for the margin.


@dataclass(frozen=True)
class Program:
    """A captured training step."""

    inputs: tuple[Input, ...]  #: The inputs; they have the first value numbers.
    nodes: tuple[Node, ...]  #: The operators in the order in which they run.
    #: Value of the new state by name of the state tensor; a state tensor that is not named stays as it is.
    updates: Mapping[str, Value]
    loss: Value  #: Value of the loss, zero-dimensional.
    #: Of a gradient program, which a share of a step runs: the values by name that are combined with those of the other
    #: shares; each is rounded to float32, as new state is.
    combined: Mapping[str, Value] = field(default_factory=dict)

    @property
    def results(self) -> tuple[Value, ...]:
        """The values that a step stores: those of the new state, and those that are combined."""
        return (*self.updates.values(), *self.combined.values())

    @cached_property
    def types(self) -> tuple[TensorType | None, ...]:
        """Type of every value by its number."""
        result: list[TensorType | None] = [item.type for item in self.inputs]
        for node in self.nodes:
            result.extend(node.outputs)
        return tuple(result)

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """The rounding sites in the order in which they are computed; a step's log has one record for each."""
        return tuple(
            Site(index, position, output.elements, node.entry.kind)
            for index, node in enumerate(self.nodes)
            if node.entry.operator_class is OperatorClass.ROUNDED
            for position, output in enumerate(node.outputs)
            if output is not None and output.floating
        )

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Where a step is fingerprinted, in the order of its fingerprints."""
        return places_of(self.inputs, self.nodes)

    @cached_property
    def site_places(self) -> tuple[int, ...]:
        """Number of the place of each rounding site."""
        return tuple(number for number, place in enumerate(self.places) if place.site is not None)

    @cached_property
    def place_values(self) -> tuple[int, ...]:
        """Number of the value of each place."""
        return tuple(
            place.output if place.node is None else self.nodes[place.node].first_value + place.output
            for place in self.places
        )

    @cached_property
    def last_uses(self) -> tuple[tuple[int, ...], ...]:
        """For each node the values that nothing after it needs: they are freed when it is done (liveness)."""
        last: dict[int, int] = {}
        for index, node in enumerate(self.nodes):
            for position in range(len(node.outputs)):
                last[node.first_value + position] = index
            for value in node_values(node):
                last[value.number] = index
        kept = {value.number for value in self.results} | {self.loss.number}
        dying: list[list[int]] = [[] for _ in self.nodes]
        for number, index in last.items():
            if number not in kept:
                dying[index].append(number)
        return tuple(tuple(sorted(numbers)) for numbers in dying)

    @cached_property
    def sameness(self) -> tuple[Same, ...]:
        """What each value is another form of, by its number."""
        return sameness(self.inputs, self.nodes)

    @cached_property
    def value_names(self) -> Mapping[int, Mapping[str, int]]:
        """Numbers of the values among a node's arguments, by the parameters' names, for the node's first output.

        Those within lists are left out.
        """
        found = {}
        for node in self.nodes:
            names = (parameter.name for parameter in signature_of(node.operator).parameters)
            given = (*zip(names, node.args, strict=False), *node.kwargs)
            found[node.first_value] = {name: item.number for name, item in given if isinstance(item, Value)}
        return found

    @cached_property
    def batch_names(self) -> tuple[str, ...]:
        """Names of the data arrays that a step reads rows of."""
        return tuple(item.name for item in self.inputs if item.kind == "batch")

    def state_inputs(self) -> tuple[Input, ...]:
        """The state tensors among the inputs."""
        return tuple(item for item in self.inputs if item.kind == "state")

    def combined_inputs(self) -> tuple[Input, ...]:
        """What an update program takes of the shares of a step, among the inputs."""
        return tuple(item for item in self.inputs if item.kind == "combined")

    def to_bytes(self) -> bytes:
        """Return the canonical JSON."""
        combined = {name: value.number for name, value in self.combined.items()}
        return canonical.encode(
            {
                "format": FORMAT_VERSION,
                "inputs": [_input_json(item) for item in self.inputs],
                "nodes": [_node_json(node) for node in self.nodes],
                "updates": {name: value.number for name, value in self.updates.items()},
                "loss": self.loss.number,
                **({"combined": combined} if combined else {}),
            }
        )

    @cached_property
    def digest(self) -> Digest:
        """The program's digest."""
        return Digest.of(self.to_bytes())

    @classmethod
    def from_bytes(cls, data: bytes, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> Program:
        """Read canonical JSON from a stranger.

        Args:
            data: The JSON.
            limits: How large a program is read; the default limits unless given.
            cancel: Looked at between operators.

        Raises:
            ProgramError: The bytes are not a well-formed program, an operator is not on the allow-list, or an argument
                is none that its operator takes.
            LimitError: It has more operators than the limits allow.
            CancelledError: ``cancel`` was set.
        """
        limits = limits or Limits()
        # Keys stand between quotes that no text can hold, so this counts nodes without parsing anything.
        check_operators(data.count(b'"op":'), limits)
        try:
            with canonical.without_collection():
                program = _Parser(cancel).program(
                    canonical.decode(
                        data,
                        max_values=limits.values,
                        max_bytes=limits.text,
                        between=None if cancel is None else cancel.check,
                    )
                )
        except canonical.CanonicalError as error:
            raise ProgramError(
                say("The program is damaged: it is not canonical JSON. {0}", error.sentence), detail=error.detail
            ) from error
        except (LookupError, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise ProgramError(say("The program is malformed."), detail=f"{type(error).__name__}: {error}") from error
        # The parser has compared every part with what it would be written as, so these are its bytes.
        program.__dict__["digest"] = Digest.of(data)
        return program


def node_values(node: Node) -> Iterator[Value]:
    """Yield every value that a node's arguments refer to."""
    yield from _values(node.args)
    for _, argument in node.kwargs:
        yield from _values(argument)


def _values(argument: Argument) -> Iterator[Value]:
    if isinstance(argument, Value):
        yield argument
    elif isinstance(argument, tuple):
        for item in argument:
            yield from _values(item)


def map_argument(argument: Argument, convert: Callable[[Value | Keyword], Any]) -> Any:
    """Replace the values and keywords in an argument; sequences become lists, as torch expects them."""
    if isinstance(argument, (Value, Keyword)):
        return convert(argument)
    if isinstance(argument, tuple):
        return [map_argument(item, convert) for item in argument]
    return argument


def types_by_name(node: Node, types: Sequence[TensorType | None]) -> dict[str, Any]:
    """Return the arguments of a node by name, with defaults, the types of values in their places.

    Args:
        node: The node.
        types: The type of every value of the program, by its number.
    """

    def described(argument: Argument) -> Any:
        return map_argument(argument, lambda item: types[item.number] if isinstance(item, Value) else item)

    names = (parameter.name for parameter in signature_of(node.operator).parameters)
    given = (*zip(names, node.args, strict=False), *node.kwargs)
    return {**defaults_of(node.operator), **{name: described(argument) for name, argument in given}}


def _input_json(item: Input) -> dict[str, Any]:
    return {"name": item.name, "kind": item.kind, **_type_json(item.type)}


def _node_json(node: Node) -> dict[str, Any]:
    return {
        "op": node.operator,
        "args": [_argument_json(item) for item in node.args],
        "kwargs": {name: _argument_json(item) for name, item in node.kwargs},
        "outputs": [None if described is None else _type_json(described) for described in node.outputs],
        "module": node.module,
        "pass": node.phase,
    }


def _type_json(value: TensorType) -> dict[str, Any]:
    return {"dtype": value.dtype, "shape": list(value.shape)}


def _argument_json(argument: Argument) -> Any:
    if isinstance(argument, Value):
        return {"value": argument.number}
    if isinstance(argument, Keyword):
        return {argument.kind: argument.name}
    if isinstance(argument, tuple):
        return [_argument_json(item) for item in argument]
    if isinstance(argument, float):
        return {"float": canonical.float_text(argument)}
    if isinstance(argument, int) and not isinstance(argument, bool) and abs(argument) > canonical.MAX_EXACT_INTEGER:
        return {"int": str(argument)}
    return argument


_KEYWORDS = {
    "dtype": frozenset(STATE_DTYPES),
    "memory_format": frozenset({"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"}),
    "layout": frozenset({"strided"}),
}


def _shown(value: Any) -> str:
    """A value of a stranger for a sentence: no longer than a few words."""
    # A number or a truth value is no words of a stranger's.
    return str(value) if isinstance(value, (bool, int)) else quote(value if isinstance(value, str) else repr(value))


class _Parser:
    """Reads a program strictly: exact keys, types and ranges.

    One program has one digest: other spellings of a number or of an argument are refused, operator by operator.
    """

    def __init__(self, cancel: CancelToken | None = None) -> None:
        self._cancel = cancel
        self._types: list[TensorType | None] = []

    def program(self, value: Any) -> Program:
        if not isinstance(value, dict) or type(value.get("format")) is not int or value["format"] != FORMAT_VERSION:
            found = _shown(value.get("format")) if isinstance(value, dict) else "none"
            raise ProgramError(say("The program has format {0}; supported is {1}.", found, FORMAT_VERSION))
        combines = ("combined",) if "combined" in value else ()
        self._keys(value, "format", "inputs", "nodes", "updates", "loss", *combines)
        inputs = tuple(self._input(item) for item in self._list(value["inputs"]))
        names = [(item.kind, item.name) for item in inputs]
        if len(set(names)) != len(names):
            raise ProgramError(say("Two inputs of the program have the same name."))
        listed = self._list(value["nodes"])
        if len(listed) > MAX_OPERATORS:
            raise ProgramError(say("The program has {0} operators; the limit is {1}.", len(listed), MAX_OPERATORS))
        nodes = []
        self._types = [item.type for item in inputs]
        for item in listed:
            if self._cancel is not None:
                self._cancel.check()
            node = self._node(item, len(self._types))
            self._types.extend(node.outputs)
            nodes.append(node)
        updates = self._results(value["updates"])
        combined = self._results(value["combined"]) if combines else {}
        if combines and not combined:
            raise ProgramError(say("The program gives nothing that is combined, and says so."))
        program = Program(inputs, tuple(nodes), updates, self._value(value["loss"]), combined)
        self._check_results(program)
        return program

    def _results(self, value: Any) -> dict[str, Value]:
        if not isinstance(value, dict):
            raise ProgramError(say("The program's updates are not a record."))
        return {name: self._value(number) for name, number in value.items()}

    def _check_results(self, program: Program) -> None:
        state = {item.name: item.type for item in program.state_inputs()}
        for name, result in program.updates.items():
            if name not in state or program.types[result.number] != state[name]:
                raise ProgramError(say("The program's update of {0} does not fit a state tensor.", _shown(name)))
        for name, result in program.combined.items():
            described = program.types[result.number]
            if not NAME_OF_COMBINED.fullmatch(name) or described is None or not described.floating:
                raise ProgramError(say("The program gives {0} to be combined, which cannot be.", _shown(name)))
        if program.types[program.loss.number] != TensorType("float32", ()):
            raise ProgramError(say("The program's loss is not a single number."))

    def _list(self, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise ProgramError(say("The program has something else where a list should be."), detail=_shown(value))
        return value

    def _keys(self, value: Any, *keys: str) -> None:
        if not isinstance(value, dict) or set(value) != set(keys):
            raise ProgramError(say("A record of the program has missing or unknown fields."), detail=_shown(value))

    def _input(self, value: Any) -> Input:
        self._keys(value, "name", "kind", "dtype", "shape")
        if value["kind"] not in INPUT_KINDS or not isinstance(value["name"], str):
            raise ProgramError(say("The program has an input of the unknown kind {0}.", _shown(value["kind"])))
        return Input(value["name"], value["kind"], self._type(value))

    def _type(self, value: Any) -> TensorType:
        shape = tuple(self._list(value["shape"]))
        if value["dtype"] not in STATE_DTYPES:
            raise ProgramError(
                say(
                    "The program uses the dtype {0}; supported are {1}.",
                    _shown(value["dtype"]),
                    ", ".join(STATE_DTYPES),
                )
            )
        if len(shape) > MAX_AXES or not all(type(n) is int and 0 <= n < 2**40 for n in shape):
            raise ProgramError(say("A shape in the program is not a list of lengths."))
        result = TensorType(value["dtype"], shape)
        # A length of 0 elsewhere does not make the other lengths small.
        if TensorType("bool", tuple(n or 1 for n in shape)).elements > MAX_ELEMENTS:
            raise ProgramError(
                say("A value of the program has {0} elements; the limit is {1}.", result.elements, MAX_ELEMENTS)
            )
        return result

    def _output(self, value: Any) -> TensorType | None:
        if value is None:
            return None
        self._keys(value, "dtype", "shape")
        return self._type(value)

    def _node(self, value: Any, first_value: int) -> Node:
        self._keys(value, "op", "args", "kwargs", "outputs", "module", "pass")
        name = value["op"]
        if not isinstance(name, str) or not is_allowed(name):
            raise ProgramError(
                say(
                    "The program uses the operator {0} in {1}, which is not on the allow-list.",
                    _shown(name),
                    _shown(value["module"]),
                ),
                remedy=REMEDY,
            )
        module = value["module"]
        if not isinstance(module, str) or len(module) > MAX_MODULE or value["pass"] not in PASSES:
            raise ProgramError(say("An operator {0} of the program has no proper origin.", name))
        if not isinstance(value["kwargs"], dict):
            raise ProgramError(say("The arguments by name of an operator {0} of the program are not a record.", name))
        kwargs = tuple(sorted((key, self._argument(item)) for key, item in value["kwargs"].items()))
        args = tuple(self._argument(item) for item in self._list(value["args"]))
        outputs = tuple(self._output(item) for item in self._list(value["outputs"]))
        node = Node(name, args, kwargs, outputs, first_value, module, value["pass"])
        if _node_json(node) != value:
            raise ProgramError(say("The operator {0} of the program is not in the one form that it has.", node.where))
        check_arguments(node)
        operands = [known for value in node_values(node) if (known := self._types[value.number]) is not None]
        check_pieces(node, operands)
        undefined = undefined_use(node, operands)
        if undefined is not None:
            raise ProgramError(say("The operator {0} of the program {1}.", node.where, undefined), remedy=REMEDY)
        return node

    def _value(self, number: Any) -> Value:
        if type(number) is not int or not 0 <= number < len(self._types) or self._types[number] is None:
            raise ProgramError(say("The program refers to the value {0} before it is computed.", _shown(number)))
        return Value(number)

    def _argument(self, value: Any, depth: int = 0) -> Argument:
        if depth > 4:
            raise ProgramError(say("An argument of the program is nested too deeply."))
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, list):
            return tuple(self._argument(item, depth + 1) for item in value)
        if isinstance(value, dict) and len(value) == 1:
            key, content = next(iter(value.items()))
            if key == "value":
                return self._value(content)
            if key == "float" and isinstance(content, str):
                return float.fromhex(content)
            if key == "int" and isinstance(content, str):
                return int(content)
            if key in _KEYWORDS and isinstance(content, str) and content in _KEYWORDS[key]:
                return Keyword(key, content)
        raise ProgramError(say("An argument of the program is of an unknown kind."), detail=_shown(value))
