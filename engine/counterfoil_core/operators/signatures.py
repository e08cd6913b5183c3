"""What may stand as an argument of an operator: each is checked against the operator's schema before anything runs.

The schema is the library's own (``OpOverload._schema``): names, order, types and defaults of the parameters. It is
read strictly, since the library reads it generously: it takes a truth value for an integer and a number for a tensor.
What the schema does not say, how large an integer may be and which texts there are, stands here. A kernel of the
library may divide by a stride of zero, which ends the process, or count in 64 bits beyond their end.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from counterfoil_core.base.errors import ProgramError
from counterfoil_core.base.sentence import say
from counterfoil_core.operators.catalogue import FILLS, kinds_with
from counterfoil_core.operators.facts import OWN, Trait
from counterfoil_core.operators.node import Argument, Node, TensorType, Value
from counterfoil_core.operators.schemas import SCHEMAS
from counterfoil_core.operators.uses import COMPARISONS

REMEDY = say("Ask the client for an order captured by this version of Counterfoil.")
MAX_AXES = 16
"""Axes of a value."""
_INT64 = (-(2**63), 2**63 - 1)
_LENGTH = 2**40
"""No length, position or count of an argument is beyond this; sums of a few of them fit 64 bits."""


class WrongArgumentError(Exception):
    """An argument is not what the operator takes; the text ends a sentence that begins with the argument's name."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of an operator."""

    name: str  #: Its name.
    #: Its type as the schema writes it, ``Optional`` taken off: ``int``, ``List[int]``, ``Tensor`` and so on.
    type: str
    length: int | None  #: Length of a list of a fixed length; None for one of any length.
    optional: bool  #: Whether null may stand for it.
    required: bool  #: Whether it has no default.
    by_name: bool  #: Whether it is given by name, and only so.


@dataclass(frozen=True)
class Signature:
    """The parameters of an operator in order, and how many results it has; None for a list of them."""

    parameters: tuple[Parameter, ...]
    results: int | None


@cache
def overload(name: str) -> Any:
    """Return the library's function for an operator of the allow-list.

    Raises:
        ProgramError: This version of torch lacks it.
    """
    import torch  # here, so that a program can be looked at, and the window work, without it

    if name in OWN:
        import counterfoil_core.operators.own  # noqa: F401  (it declares the operators)
    library, kind, *rest = name.split(".")
    try:
        return getattr(getattr(getattr(torch.ops, library), kind), rest[0] if rest else "default")
    except AttributeError as error:
        raise ProgramError(
            say("The torch {0} of this machine lacks the operator {1}.", torch.__version__, name),
            remedy=say("Install a torch version that Counterfoil supports (2.11 to 2.13)."),
        ) from error


@cache
def _declared(name: str) -> tuple[tuple[Parameter, Any], ...]:
    """The parameters of an operator, each with its default; raises ProgramError where nobody has its schema."""
    arguments = _schema_of(name).partition("(")[2].rpartition(" -> ")[0].rpartition(")")[0]
    found = []
    by_name = False
    for text in _AT_COMMAS.split(arguments):
        if text == "*":
            by_name = True
        elif text:
            found.append(_parameter(text, by_name=by_name))
    return tuple(found)


def _schema_of(name: str) -> str:
    return SCHEMAS.get(name) or str(overload(name)._schema)


_AT_COMMAS = re.compile(r", (?![^\[]*\])")
"""Between two parameters; a default that is a list has commas of its own."""
_PARAMETER = re.compile(r"(\w+)(?:\([^)]*\))?((?:\[\d*\]|\?)*) (\w+)(?:=(.*))?")
"""The type, what may stand behind it, the name, the default."""
_TYPES = {"SymInt": "int", "Scalar": "number"}
"""Types that a schema calls otherwise than the library's own table of parameters."""


def _parameter(text: str, *, by_name: bool) -> tuple[Parameter, Any]:
    matched = _PARAMETER.fullmatch(text)
    assert matched is not None, text
    written, behind, name, default = matched.groups()
    kind, length, optional = _TYPES.get(written, written), None, False
    for suffix in re.findall(r"\[\d*\]|\?", behind):
        if suffix == "?":
            optional = True
            continue
        # What was optional until here are the items of the list.
        kind, optional = f"List[Optional[{kind}]]" if optional else f"List[{kind}]", False
        length = int(suffix[1:-1]) if suffix != "[]" else None
    parameter = Parameter(name, kind, length, optional, default is None, by_name)
    return parameter, None if default is None else _default(default, length)


def _default(text: str, length: int | None) -> Any:
    value = ast.literal_eval(text)
    return [value] * length if length is not None and isinstance(value, int) else value


@cache
def defaults_of(name: str) -> Mapping[str, Any]:
    """Return the default values of an operator's parameters that have one, by name."""
    return MappingProxyType({p.name: default for p, default in _declared(name) if not p.required})


@cache
def signature_of(name: str) -> Signature:
    """Return the signature of an operator of the allow-list."""
    results = _schema_of(name).rpartition(" -> ")[2]
    count = None if results.endswith("[]") else len(results.split(", "))
    return Signature(tuple(parameter for parameter, _ in _declared(name)), count)


def check_arguments(node: Node) -> None:
    """Check every argument of a node, and the number of its outputs, against the operator's signature.

    Args:
        node: The node; the values that it refers to exist.

    Raises:
        ProgramError: The sentence names the operator and the argument.
    """
    signature = signature_of(node.operator)
    by_position = [parameter for parameter in signature.parameters if not parameter.by_name]
    by_name = {parameter.name: parameter for parameter in signature.parameters if parameter.by_name}
    if len(node.args) > len(by_position):
        raise _malformed(node, say("has {0} arguments; it takes {1} at most", len(node.args), len(by_position)))
    for parameter, argument in zip(by_position, node.args, strict=False):
        _check(node, parameter, argument)
    for name, argument in node.kwargs:
        if name not in by_name:
            positional = any(parameter.name == name for parameter in by_position)
            raise _malformed(
                node,
                say("has the argument {0} by name, not by position", repr(name[:80]))
                if positional
                else say("has the argument {0} by name, which it lacks", repr(name[:80])),
            )
        _check(node, by_name[name], argument)
    given = {parameter.name for parameter in by_position[: len(node.args)]} | {name for name, _ in node.kwargs}
    missing = [p.name for p in signature.parameters if p.required and p.name not in given]
    if missing:
        raise _malformed(node, say("lacks the argument {0}", repr(missing[0])))
    _check_outputs(node, signature)


def _check_outputs(node: Node, signature: Signature) -> None:
    expected = signature.results
    if len(node.outputs) != expected if expected is not None else not node.outputs:
        raise _malformed(
            node, say("has {0} outputs, not {1}", len(node.outputs), expected if expected is not None else "1 or more")
        )
    if all(output is None for output in node.outputs) or (expected is None and None in node.outputs):
        raise _malformed(node, say("has an output that is not computed, where there is no other"))


def check_pieces(node: Node, operands: Sequence[TensorType]) -> None:
    """Check that an operator that cuts a tensor into pieces declares as many as it makes.

    The library would make them all before anybody counts them.

    Args:
        node: The node, its arguments checked.
        operands: Types of its tensor arguments, in order.

    Raises:
        ProgramError: It declares another number.
    """
    count = _PIECES.get(node.operator.split(".")[1])
    if count is None:
        return
    shape = operands[0].shape
    position = 1 if node.operator == "aten.unbind.int" else 2
    axis = node.args[position] if len(node.args) > position else 0
    if not isinstance(axis, int) or not -len(shape) <= axis < len(shape):
        raise _malformed(node, f"cuts along the axis {axis} of a tensor that has {len(shape)}")
    expected = count(node, shape[axis])
    if expected != len(node.outputs):
        raise _malformed(node, say("has {0} outputs, not {1}", len(node.outputs), expected))


def _split(node: Node, length: int) -> int:
    size = node.args[1]
    assert isinstance(size, int)
    return max(-(-length // size), 1)


_PIECES: dict[str, Callable[[Node, int], int]] = {
    "unbind": lambda node, length: length,
    **dict.fromkeys(("split", "unsafe_split"), _split),
    **dict.fromkeys(
        ("split_with_sizes", "unsafe_split_with_sizes"),
        lambda node, length: len(node.args[1]),  # type: ignore[arg-type]
    ),
}


def _malformed(node: Node, what: str) -> ProgramError:
    return ProgramError(say("The operator {0} of the program {1}.", node.where, what), remedy=REMEDY)


def _check(node: Node, parameter: Parameter, argument: Argument) -> None:
    if argument is None:
        if parameter.optional:
            return
        raise _malformed(node, say("has nothing as its argument {0}", repr(parameter.name)))
    check = _CHECKS.get(parameter.type)
    try:
        if check is None:
            raise WrongArgumentError(say("cannot be given"))
        check(node.operator, parameter, argument)
    except WrongArgumentError as error:
        raise _malformed(node, say("has an argument {0} that {1}", repr(parameter.name), error)) from None


def _tensor(operator: str, parameter: Parameter, argument: Argument) -> None:
    if isinstance(argument, Value):
        return
    if type(argument) in (int, float) and parameter.name == "other" and operator.split(".")[1] in _WITH_NUMBERS:
        _number(operator, parameter, argument)
        return
    raise WrongArgumentError(say("is not a tensor"))


def _tensors(operator: str, parameter: Parameter, argument: Argument) -> None:
    if not isinstance(argument, tuple) or not argument or not all(isinstance(item, Value) for item in argument):
        raise WrongArgumentError(say("is not a list of tensors"))


def _indices(operator: str, parameter: Parameter, argument: Argument) -> None:
    fitting = isinstance(argument, tuple) and all(item is None or isinstance(item, Value) for item in argument)
    if not fitting or not any(argument) or len(argument) > MAX_AXES:  # type: ignore[arg-type]
        raise WrongArgumentError(say("is not a list of indices"))


def _integer(operator: str, parameter: Parameter, argument: Argument) -> None:
    if type(argument) is not int:
        raise WrongArgumentError(say("is not an integer"))
    low, high = _range(operator, parameter.name)
    if not low <= argument <= high:
        raise WrongArgumentError(say("is {0}; it must lie in {1} to {2}", argument, low, high))


def _integers(operator: str, parameter: Parameter, argument: Argument) -> None:
    if type(argument) is int and parameter.length is not None:
        argument = (argument,)  # one for all, as the schema allows
    if not isinstance(argument, tuple):
        raise WrongArgumentError(say("is not a list of integers"))
    least, most = _lengths(operator, parameter)
    if not least <= len(argument) <= most:
        raise WrongArgumentError(say("has {0} integers; it takes {1} to {2}", len(argument), least, most))
    for item in argument:
        _integer(operator, parameter, item)


def _lengths(operator: str, parameter: Parameter) -> tuple[int, int]:
    if parameter.name in ("padding", "pad") and "_pad" in operator:
        return (0, 2 * MAX_AXES) if parameter.length is None else (parameter.length, parameter.length)
    if parameter.name == "split_sizes":
        return 1, _LENGTH
    if parameter.length is not None and parameter.length > 1:
        return (0 if parameter.name == "stride" else 1), parameter.length
    return 0, MAX_AXES


def _range(operator: str, name: str) -> tuple[int, int]:
    """Return the smallest and the largest integer that may stand for a parameter."""
    if name in ("start", "end", "ignore_index"):
        return _INT64
    if name == "padding" and "_pad" not in operator:
        return _COUNT
    if name == "stride" and "alias" in operator:
        return _COUNT
    return _RANGES.get(name, (-_LENGTH, _LENGTH))


_POSITIVE = (1, _LENGTH)
_COUNT = (0, _LENGTH)
_RANGES = {
    "reduction": (0, 2),
    "draw": (0, 2**32 - 1),
    **dict.fromkeys(("dim", "dim0", "dim1", "dim2", "dims", "dimension"), (-MAX_AXES, MAX_AXES - 1)),
    **dict.fromkeys(
        (
            "kernel_size", "stride", "dilation", "group", "groups", "step", "split_size", "upscale_factor",
            "downscale_factor", "divisor_override",
        ),
        _POSITIVE,
    ),
    **dict.fromkeys(
        (
            "output_size", "output_padding", "input_sizes", "normalized_shape", "repeats", "split_sizes", "bias_sizes",
            "C", "HxW", "N", "m", "n", "num_weights", "length",
        ),
        _COUNT,
    ),
}  # fmt: skip


def _truths(operator: str, parameter: Parameter, argument: Argument) -> None:
    if (
        not isinstance(argument, tuple)
        or len(argument) != parameter.length
        or any(type(item) is not bool for item in argument)
    ):
        raise WrongArgumentError(say("is not a list of {0} truth values", parameter.length))


def _truth(operator: str, parameter: Parameter, argument: Argument) -> None:
    if type(argument) is not bool:
        raise WrongArgumentError(say("is not a truth value"))
    if parameter.name == "pin_memory" and argument:
        raise WrongArgumentError(say("is about this machine"))


def _float(operator: str, parameter: Parameter, argument: Argument) -> None:
    if type(argument) not in (int, float):
        raise WrongArgumentError(say("is not a number"))
    _number(operator, parameter, argument)


def _number(operator: str, parameter: Parameter, argument: Argument) -> None:
    kind = operator.split(".")[1]
    if type(argument) is bool:
        if kind not in _WITH_TRUTHS:
            raise WrongArgumentError(say("is a truth value, not a number"))
    elif type(argument) is int:
        if not _INT64[0] <= argument <= _INT64[1]:
            raise WrongArgumentError(say("is {0}, which 64 bits do not hold", argument))
    elif type(argument) is not float or (math.isnan(argument) and kind not in _FILLS):
        raise WrongArgumentError(say("is not a number"))
    elif math.isinf(argument) and kind not in _WITH_INFINITY:
        raise WrongArgumentError(say("is infinite"))


_FILLS = FILLS.keys() | kinds_with(Trait.VERBATIM)
_WITH_TRUTHS = _FILLS | COMPARISONS | kinds_with(Trait.TRUTHS)
_WITH_INFINITY = _FILLS | COMPARISONS | kinds_with(Trait.INFINITE)
_WITH_NUMBERS = kinds_with(Trait.NUMBER_OR_TENSOR)


def _text(operator: str, parameter: Parameter, argument: Argument) -> None:
    known = _TEXTS.get(parameter.name, ())
    if not isinstance(argument, str) or argument not in known:
        raise WrongArgumentError(say("is not one of {0}", ", ".join(known)))


_TEXTS = {"approximate": ("none", "tanh"), "rounding_mode": ("floor", "trunc"), "reduce": ("amax", "amin")}


def _keyword(kind: str) -> Callable[[str, Parameter, Argument], None]:
    def check(operator: str, parameter: Parameter, argument: Argument) -> None:
        if getattr(argument, "kind", None) != kind:
            raise WrongArgumentError(say("is not a {0}", kind.replace("_", " ")))

    return check


_CHECKS: dict[str, Callable[[str, Parameter, Argument], None]] = {
    "Tensor": _tensor,
    "List[Tensor]": _tensors,
    "List[Optional[Tensor]]": _indices,
    "int": _integer,
    "List[int]": _integers,
    "bool": _truth,
    "List[bool]": _truths,
    "float": _float,
    "number": _number,
    "str": _text,
    "ScalarType": _keyword("dtype"),
    "MemoryFormat": _keyword("memory_format"),
    "Layout": _keyword("layout"),
}
"""By type; there is none for ``Device``, which no argument names."""
