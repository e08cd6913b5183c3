"""Which type the results have: reads and writes at places that a tensor names."""

from __future__ import annotations

from counterfoil_core.operators.shaping import (
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
