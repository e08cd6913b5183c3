"""Reads and writes at places that a tensor names, and sums of values that meet, element by element."""

from __future__ import annotations

import math

import numpy as np
import torch

from counterfoil_core.base.arrays import Array
from counterfoil_core.operators.judging.accumulation import Meetings
from counterfoil_core.operators.judging.forms import Arguments, Call, Element, ExactOutput, Judge
from counterfoil_core.operators.judging.ieee import Value, convert_element
from counterfoil_core.operators.judging.moves import whole
from counterfoil_core.operators.judging.numbers import NotExactError, Number, fixed_point, number
from counterfoil_core.operators.judging.quantisation import array_of, exponents_of, of_terms, quantised, terms_bits
from counterfoil_core.operators.judging.selections import first_extreme, plus_zero

JUDGE = Judge()


@whole(JUDGE, "gather")
def _gather(call: Call) -> Array:
    x, index, axis = call["self"], call["index"], call["dim"] % max(call["self"].ndim, 1)
    result = np.empty(index.shape, x.dtype)
    for place in np.ndindex(*index.shape):
        source = list(place)
        if source:
            source[axis] = index[place]
        result[place] = x[tuple(source)]
    return result


@whole(JUDGE, "index")
def _index(call: Call) -> Array:
    return call["self"][tuple(slice(None) if i is None else i for i in call["indices"])]  # type: ignore[no-any-return]


@whole(JUDGE, "index_select")
def _index_select(call: Call) -> Array:
    return np.take(np.atleast_1d(call["self"]), np.atleast_1d(call["index"]), call["dim"])


@whole(JUDGE, "embedding")
def _embedding(call: Call) -> Array:
    return call["weight"][call["indices"]]  # type: ignore[no-any-return]


@whole(JUDGE, "scatter")
def _scatter(call: Call) -> Array:
    result, index, axis = call["self"].copy(), call["index"], call["dim"] % max(call["self"].ndim, 1)
    source = call.get("src")
    for place in np.ndindex(*index.shape):
        target = list(place)
        if target:
            target[axis] = index[place]
        # In C order, so of several values for one place the last along the axis stays.
        result[tuple(target)] = convert_element(call["value"], call.dtype) if source is None else source[place]
    return result  # type: ignore[no-any-return]


@JUDGE.definition("scatter_reduce")
def _scatter_reduce(call: Call) -> Element:
    """The largest or smallest of what is written to a place, and of what was there if that takes part; a zero is +0."""
    x, index, source = (np.atleast_1d(call[name]) for name in ("self", "index", "src"))
    axis, sign = call["dim"] % x.ndim, 1 if call["reduce"] == "amax" else -1
    written: dict[int, list[Value]] = {}
    for place in np.ndindex(*index.shape):
        target = (*place[:axis], index[place], *place[axis + 1 :])
        written.setdefault(int(np.ravel_multi_index(target, x.shape)), []).append(source[place].item())
    flat = x.reshape(-1)

    def element(number: int) -> Value:
        values = written.get(number, [])
        if call["include_self"] or not values:
            values = [flat[number].item(), *values]
        return plus_zero(values[first_extreme(values, sign)])

    return element


def _onto(base: Array, meetings: Meetings, factor: Number) -> ExactOutput:
    def element(index: int) -> Number:
        total = fixed_point(meetings.at(index)).total * factor
        return number(base.flat[index]) + total

    return ExactOutput(element, meetings.most + 1)


@JUDGE.exact_form("embedding_dense_backward")
def _embedding_dense_backward(call: Call) -> ExactOutput:
    rows = call["indices"].reshape(-1)
    width = call.shape[1]
    g = call["grad_output"].reshape(len(rows), width)
    meetings = Meetings(rows, np.arange(len(rows)))

    def element(index: int) -> Number:
        row, column = divmod(index, width)
        if row == call["padding_idx"]:
            return number(0)
        met = meetings.at(row)
        total = fixed_point(g[met, column]).total
        return total / len(met) if call["scale_grad_by_freq"] and len(met) else total

    return ExactOutput(element, meetings.most)


@JUDGE.exact_form("index_put")
def _index_put(call: Call) -> ExactOutput:
    base = call["self"]
    # Indexing of the places themselves says where each value goes. A byte is a mask, as a bool is.
    places = np.arange(base.size).reshape(base.shape)
    masked = [
        index.astype(bool) if index is not None and index.dtype == np.uint8 else index for index in call["indices"]
    ]
    chosen = places[tuple(slice(None) if index is None else index for index in masked)]
    meetings = Meetings(chosen, np.broadcast_to(call["values"], chosen.shape))
    if call["accumulate"]:
        return _onto(base, meetings, number(1))

    def element(index: int) -> Number:
        met = meetings.at(index)
        if len(np.unique(met)) > 1:
            raise NotExactError("several values are written to one place, and which is last is not defined")
        return number(met[0] if len(met) else base.flat[index])

    return ExactOutput(element, meetings.most)


def _places_along(shape: tuple[int, ...], indices: Array, axis: int) -> Array:
    """Flat places in ``shape`` of elements that stay where they are but for one axis, where ``indices`` lead them."""
    own = np.indices(indices.shape)
    coordinates = tuple(indices if i == axis else own[i] for i in range(indices.ndim))
    places: Array = np.asarray(np.ravel_multi_index(coordinates, shape))
    return places


@JUDGE.exact_form("scatter_add")
def _scatter_add(call: Call) -> ExactOutput:
    base, indices = np.atleast_1d(call["self"]), np.atleast_1d(call["index"])
    source = np.atleast_1d(call["src"])[tuple(slice(0, n) for n in indices.shape)]
    places = _places_along(base.shape, indices, call["dim"] % base.ndim)
    return _onto(base, Meetings(places, source), number(1))


@JUDGE.exact_form("index_add")
def _index_add(call: Call) -> ExactOutput:
    base, source = np.atleast_1d(call["self"]), np.atleast_1d(call["source"])
    axis = call["dim"] % base.ndim
    along = call["index"].reshape(-1, *[1] * (base.ndim - axis - 1))
    places = _places_along(base.shape, np.broadcast_to(along, source.shape), axis)
    return _onto(base, Meetings(places, source), number(call["alpha"]))


# Under an exact profile.


@JUDGE.quantised("embedding_dense_backward")
def _quantised_embedding_dense(arguments: Arguments, bits: int) -> Arguments:
    if arguments["scale_grad_by_freq"]:
        raise NotExactError("a division is an operation of its own")
    return of_terms("grad_output", lambda given: given["indices"].numel())(arguments, bits)


def _with_what_is_added(arguments: Arguments, name: str, added: Array, meeting: int) -> Arguments:
    """What is added and what it is added to have one exponent, and count together.

    Args:
        arguments: Of the operator; ``self`` is what is added to.
        name: Of the argument that holds what is added.
        added: The elements of it that are.
        meeting: The most of them that shapes let meet in one place.
    """
    base, held = array_of(arguments["self"]), array_of(arguments[name])
    exponent = max(int(exponents_of(x, range(x.ndim)).max()) for x in (base, added))
    bits = terms_bits(meeting + 1)
    # What is not added has no say in E, and no part in a result.
    inside = np.where(np.isfinite(held) & (np.abs(held, dtype=np.float64) < 2.0**exponent), held, np.float32(0))
    both = {"self": base, name: inside}
    shared = np.array(exponent, np.int64)
    return {**arguments, **{key: torch.from_numpy(quantised(x, shared, bits)) for key, x in both.items()}}


@JUDGE.quantised("index_add")
def _quantised_index_add(arguments: Arguments, bits: int) -> Arguments:
    if arguments["alpha"] != 1:
        raise NotExactError("a product is an operation of its own")
    return _with_what_is_added(arguments, "source", array_of(arguments["source"]), arguments["index"].numel())


@JUDGE.quantised("scatter_add")
def _quantised_scatter_add(arguments: Arguments, bits: int) -> Arguments:
    index = arguments["index"]
    lengths = tuple(index.shape) or (1,)
    added = np.atleast_1d(array_of(arguments["src"]))[tuple(slice(length) for length in lengths)]
    return _with_what_is_added(arguments, "src", added, lengths[arguments["dim"] % len(lengths)])


@JUDGE.quantised("index_put")
def _quantised_index_put(arguments: Arguments, bits: int) -> Arguments:
    given = [index for index in arguments["indices"] if index is not None]
    if not arguments["accumulate"] or any(index.dtype in (torch.bool, torch.uint8) for index in given):
        raise NotExactError("it is no sum of values that meet at integer indices")
    meeting = math.prod(np.broadcast_shapes(*(tuple(index.shape) for index in given)))
    values = array_of(arguments["values"])
    return _with_what_is_added(arguments, "values", values if meeting else values.reshape(-1)[:0], meeting)
