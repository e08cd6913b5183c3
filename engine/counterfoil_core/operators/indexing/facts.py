"""What is known of operators that take indices: error bounds, terms of exact profiles, types, classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from counterfoil_core.base.sentence import say
from counterfoil_core.operators import indices, sums
from counterfoil_core.operators.bounds import FUNCTION
from counterfoil_core.operators.facts import COPIES, Bound, BoundRule, Trait, Use, exact, rounded_operators
from counterfoil_core.operators.limits import Limited
from counterfoil_core.operators.shaperules import (
    Arguments,
    Results,
    ShapeRule,
    Typed,
    axis,
    broadcast,
    floats,
    put,
    require,
    spreads,
    tensor,
    tensors,
    within,
)


def meeting(extra: int) -> BoundRule:
    """Sums over repeated indices: what can meet, in groups and groups of them, and what was there."""

    def rule(use: Use) -> Sequence[Bound]:
        met = sums.meeting(use.kind, use.arguments)
        return [Bound((sums.in_parts(met, sums.block_length(met)) if use.own_form else met) + extra)]

    return rule


def longest(use: Use) -> float:
    """Return how many terms can meet in one element; 0 where a mask among the indices tells that by its values."""
    indices = use.arguments.get("indices")
    if use.kind == "index_put" and (
        not isinstance(indices, (list, tuple))
        or any(index is not None and not str(index.dtype).endswith(("int64", "int32")) for index in indices)
    ):
        return 0.0
    return sums.meeting(use.kind, use.arguments)


def _meeting(kind: str, base: int) -> Callable[[Arguments], tuple[int]]:
    return lambda arguments: (sums.meeting(kind, arguments) + base,)


def _by_frequency(arguments: Arguments) -> str | None:
    if arguments["scale_grad_by_freq"]:
        return say("divides by frequencies, which is an operation of its own")
    return None


def _with_factor(arguments: Arguments) -> str | None:
    return say("has a factor, which is a multiplication of its own") if arguments["alpha"] != 1 else None


def _by_mask(arguments: Arguments) -> str | None:
    if any(index is not None and index.dtype in ("bool", "uint8") for index in arguments["indices"]):
        return say("has a mask in the place of indices, so that values decide how many numbers are added")
    return None


LIMITS: Mapping[str, Limited] = {
    "embedding_dense_backward": Limited(
        terms=_meeting("embedding_dense_backward", 0), several=_by_frequency, indexed=True
    ),
    # What the values are added to is one term more.
    "index_add": Limited(terms=_meeting("index_add", 1), several=_with_factor, indexed=True),
    "scatter_add": Limited(terms=_meeting("scatter_add", 1), indexed=True),
    "index_put": Limited(terms=_meeting("index_put", 1), several=_by_mask, indexed=True),
}
"""By operator kind."""


_PLACES = ("int64", "int32")


def _along(arguments: Arguments) -> tuple[Typed, Typed]:
    """A tensor and places along an axis of it, which are not more than it has along the others."""
    x, index = tensors(arguments, "self", "index")
    require(x.rank == index.rank > 0 and index.dtype == "int64")
    place = axis(arguments["dim"], x.rank)
    require(all(few <= many for n, (few, many) in enumerate(zip(index.shape, x.shape, strict=True)) if n != place))
    return x, index


def _gather(arguments: Arguments) -> Results:
    x, index = _along(arguments)
    return [Typed(x.dtype, index.shape)]


def _scatter(arguments: Arguments) -> Results:
    x, index = _along(arguments)
    source = arguments.get("src")
    if source is None:
        within(x.dtype, arguments["value"])
    else:
        require(source.dtype == x.dtype and source.rank == x.rank)
        require(all(few <= many for few, many in zip(index.shape, source.shape, strict=True)))
    return [x]


def _index_select(arguments: Arguments) -> Results:
    x, index = tensors(arguments, "self", "index")
    require(x.rank > 0 and index.rank == 1 and index.dtype in _PLACES)
    return [Typed(x.dtype, put(x.shape, axis(arguments["dim"], x.rank), index.shape[0]))]


def _index_add(arguments: Arguments) -> Results:
    x, index, source = tensors(arguments, "self", "index", "source")
    require(x.rank > 0 and index.rank == 1 and index.dtype == "int64" and source.dtype == x.dtype != "bool")
    require(source.shape == put(x.shape, axis(arguments["dim"], x.rank), index.shape[0]))
    within(x.dtype, arguments["alpha"])
    return [x]


def _indexed(arguments: Arguments) -> Typed:
    """What is read by one index for each of some axes."""
    x = tensor(arguments, "self")
    given = arguments["indices"]
    taken = [place for place, index in enumerate(given) if index is not None]
    require(bool(taken) and len(given) <= x.rank and all(given[place].dtype == "int64" for place in taken))
    # An index without axes selects where it is the only one; beside others the library goes another way.
    require(len(taken) == 1 or all(given[place].rank for place in taken))
    lengths = broadcast(*(given[place].shape for place in taken))
    side_by_side = taken == list(range(taken[0], taken[-1] + 1))
    before = taken[0] if side_by_side else 0
    rest = [length for place, length in enumerate(x.shape) if place not in taken]
    return Typed(x.dtype, (*rest[:before], *lengths, *rest[before:]))


def _index_put(arguments: Arguments) -> Results:
    values, places = tensor(arguments, "values"), _indexed(arguments)
    require(values.dtype == places.dtype != "bool" and arguments["accumulate"] is True)
    spreads(values.shape, places.shape)
    return [arguments["self"]]


def _embedding(arguments: Arguments) -> Results:
    (weight,), indices = floats(arguments, "weight"), tensor(arguments, "indices")
    require(weight.rank == 2 and indices.dtype in _PLACES and not arguments["sparse"])
    return [Typed(weight.dtype, (*indices.shape, weight.shape[1]))]


def _embedding_backward(arguments: Arguments) -> Results:
    (gradient,), indices = floats(arguments, "grad_output"), tensor(arguments, "indices")
    require(indices.dtype in _PLACES and gradient.shape[:-1] == indices.shape and gradient.rank == indices.rank + 1)
    require(arguments["num_weights"] > 0)
    return [Typed(gradient.dtype, (arguments["num_weights"], gradient.shape[-1]))]


RULES: dict[str, ShapeRule] = {
    "aten.gather.default": _gather,
    "aten.scatter.value": _scatter,
    "aten.scatter.src": _scatter,
    "aten.scatter_reduce.two": _scatter,
    "aten.scatter_add.default": _scatter,
    "aten.index_select.default": _index_select,
    "aten.index_add.default": _index_add,
    "aten.index.Tensor": lambda arguments: [_indexed(arguments)],
    "aten.index_put.default": _index_put,
    "aten.embedding.default": _embedding,
    "aten.embedding_dense_backward.default": _embedding_backward,
}
"""By operator."""


FACTS = (
    *exact(COPIES, "gather.default index_select.default", indices=indices.along_axis),
    *exact(COPIES, "index.Tensor", indices=indices.of_each_axis),
    *exact(COPIES, "embedding.default", indices=indices.of_rows),
    *exact(
        "writes one constant, so repeated indices do not matter", "scatter.value", fills=3, indices=indices.along_axis
    ),
    *exact(
        "writes values; of several for one place the last along the axis stays",
        "scatter.src",
        Trait.WRITES,
        indices=indices.along_axis,
    ),
    *exact(
        "selects the largest or the smallest of the values for a place",
        "scatter_reduce.two",
        Trait.WRITES,
        indices=indices.along_axis,
    ),
    *rounded_operators(
        "scatter",
        meeting(FUNCTION),
        "embedding_dense_backward.default",
        Trait.SUMS,
        longest=longest,
        indices=indices.of_rows,
    ),
    *rounded_operators(
        "scatter",
        meeting(2),
        "index_add.default",
        Trait.INTEGERS,
        Trait.SUMS,
        longest=longest,
        indices=indices.along_axis,
    ),
    *rounded_operators(
        "scatter",
        meeting(1),
        "scatter_add.default",
        Trait.INTEGERS,
        Trait.SUMS,
        longest=longest,
        indices=indices.along_axis,
    ),
    *rounded_operators(
        "scatter",
        meeting(1),
        "index_put.default",
        Trait.INTEGERS,
        Trait.SUMS,
        longest=longest,
        indices=indices.of_each_axis,
    ),
)
