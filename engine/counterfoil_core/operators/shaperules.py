"""What the rules are made of that say which type each result of an operator has, from the types of its arguments.

A rule is a pure function of shapes and dtypes (``operators/<family>/shapes.py``). It answers for the uses that an
honest program has, and raises :class:`UnsureError` for any other: whoever asks then has the library answer. So a rule
may know little, and must never say of a use that it gives something where the library refuses it. Programs are
strangers': the numbers here are integers without an end, and shapes are bounded by whoever read them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from counterfoil_core.base.dtypes import FLOAT_FORMATS, INTEGER_RANGES

Arguments = Mapping[str, Any]
"""Arguments by name, with defaults: types in the places of tensors, names in those of dtypes and formats."""
_RANKS = {"bool": 0, "uint8": 1, "int32": 2, "int64": 3, "float32": 4, "float64": 5}
"""Of two dtypes the one that ranks higher holds the numbers of both; so the library has it."""
DEFAULT_FLOAT = "float32"
"""What a number with a fraction is to the library beside integers."""


class UnsureError(Exception):
    """A rule does not answer for such arguments."""


class Typed(NamedTuple):
    """A tensor, of which dtype and shape are known; ``float32`` is no other name of a compute dtype here."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def floating(self) -> bool:
        """Whether it is floating-point."""
        return self.dtype in FLOAT_FORMATS

    @property
    def rank(self) -> int:
        """How many axes it has."""
        return len(self.shape)


Results = Sequence[Typed | None]
"""The type of each result; None for one that is not computed."""
ShapeRule = Callable[[Arguments], Results]
"""Gives the results of one use of an operator; raises UnsureError."""


def require(holds: bool) -> None:
    """Go on where something holds; raises UnsureError where it does not."""
    if not holds:
        raise UnsureError


def tensor(arguments: Arguments, name: str) -> Typed:
    """Return the type of a tensor argument; raises UnsureError where it is none."""
    found = arguments[name]
    require(isinstance(found, Typed))
    return found  # type: ignore[no-any-return]


def tensors(arguments: Arguments, *names: str) -> list[Typed]:
    """Return the types of tensor arguments; raises UnsureError where one is none."""
    return [tensor(arguments, name) for name in names]


def floats(arguments: Arguments, *names: str) -> list[Typed]:
    """Return tensor arguments that are floating-point, all of one dtype; raises UnsureError where they are not."""
    found = tensors(arguments, *names)
    require(all(item.floating and item.dtype == found[0].dtype for item in found))
    return found


def alike(arguments: Arguments, *names: str) -> list[Typed]:
    """Return floating-point tensor arguments of one dtype and shape; raises UnsureError where they are not."""
    found = floats(arguments, *names)
    require(all(item.shape == found[0].shape for item in found))
    return found


def fits(given: Any, wanted: Typed) -> None:
    """Require that an optional tensor is missing, or of a type."""
    require(given is None or given == wanted)


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of shapes laid over each other; raises UnsureError where they do not fit."""
    result = []
    for place in range(-max(map(len, shapes)), 0):
        lengths = {shape[place] for shape in shapes if len(shape) >= -place} - {1}
        require(len(lengths) <= 1)
        result.append(lengths.pop() if lengths else 1)
    return tuple(result)


def spreads(shape: tuple[int, ...], over: tuple[int, ...]) -> None:
    """Require that a shape can be laid over another without changing it."""
    require(broadcast(shape, over) == over)


def common_dtype(operands: Sequence[Any]) -> str:
    """Return the dtype in which operands meet: tensors, and numbers as they are.

    Tensors with axes come first, then those without, then numbers: what comes later changes the kind of dtype (truth
    value, integer, fraction), and not how wide it is.
    """
    with_axes = [item.dtype for item in operands if isinstance(item, Typed) and item.rank]
    without = [item.dtype for item in operands if isinstance(item, Typed) and not item.rank]
    numbers = [_number_dtype(item) for item in operands if not isinstance(item, Typed)]
    return _meet(_widest(with_axes), _meet(_widest(without), _widest(numbers)))


def _number_dtype(number: Any) -> str:
    require(isinstance(number, (bool, int, float)))
    return "bool" if isinstance(number, bool) else "int64" if isinstance(number, int) else DEFAULT_FLOAT


def _widest(dtypes: Sequence[str]) -> str:
    return max(dtypes, key=_RANKS.__getitem__, default="")


def _meet(first: str, later: str) -> str:
    if not first or not later:
        return first or later
    if first not in FLOAT_FORMATS and (first == "bool" or later in FLOAT_FORMATS):
        return _widest([first, later])
    return first


def within(dtype: str, *numbers: Any) -> None:
    """Require that a dtype holds numbers: fractions only a floating-point one does, and integers in its range."""
    for number in numbers:
        if dtype not in FLOAT_FORMATS and isinstance(number, Typed):
            continue
        if dtype not in FLOAT_FORMATS:
            low, high = INTEGER_RANGES.get(dtype, (0, 1))
            require(isinstance(number, int) and low <= number <= high)


def axis(number: Any, rank: int) -> int:
    """Return an axis as it is counted from the front; what has no axes has one. Raises UnsureError beyond."""
    rank = max(rank, 1)
    require(type(number) is int and -rank <= number < rank)
    return int(number) % rank


def axes(numbers: Any, rank: int) -> tuple[int, ...]:
    """Return axes as they are counted from the front, none twice; none for all. Raises UnsureError."""
    require(numbers is None or isinstance(numbers, list))
    found = [axis(number, rank) for number in numbers] if numbers else list(range(max(rank, 1)))
    require(len(set(found)) == len(found))
    return tuple(found)


def without(shape: tuple[int, ...], removed: Sequence[int], *, keep: bool) -> tuple[int, ...]:
    """Return a shape without some axes, or with the length 1 in their places."""
    if keep:
        return tuple(1 if place in removed else length for place, length in enumerate(shape))
    return tuple(length for place, length in enumerate(shape) if place not in removed)


def put(shape: tuple[int, ...], place: int, *lengths: int) -> tuple[int, ...]:
    """Return a shape with other lengths in the place of one."""
    return (*shape[:place], *lengths, *shape[place + 1 :])


def each(numbers: Any, count: int) -> tuple[int, ...]:
    """Return a list of a number for each of some axes; raises UnsureError where there is no such list."""
    require(isinstance(numbers, list) and len(numbers) == count and all(type(number) is int for number in numbers))
    return tuple(numbers)


def resize_lengths(elements: int, size: Sequence[Any]) -> tuple[int, ...]:
    """Return the lengths that a shape of so many elements asks for, where -1 stands for what is left."""
    known = math.prod(length for length in size if length != -1)
    require(all(type(length) is int and length >= -1 for length in size) and list(size).count(-1) <= 1 and known > 0)
    require(elements % known == 0 if -1 in size else elements == known)
    return tuple(elements // known if length == -1 else length for length in size)


def same(*names: str) -> ShapeRule:
    """Return the rule of what gives one result of the type that its floating-point arguments share."""
    return lambda arguments: [alike(arguments, *names)[0]]


def masked_results(results: Results, mask: Sequence[Any]) -> Results:
    """Return results of which only those are computed that are asked for."""
    return [result if wanted else None for result, wanted in zip(results, mask, strict=True)]
