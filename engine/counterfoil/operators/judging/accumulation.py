"""Sums over elements that indices bring together: gradients of embeddings, scatter and index operators, max pooling."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from counterfoil.operators.judging.forms import Call, ExactOutput, exact_form
from counterfoil.operators.judging.numbers import Array, NotExactError, Number, fixed, number


class _Meetings:
    """Which of many values meet in which place.

    Args:
        places: int ``[k]``: the place of each value; -1 for none.
        values: ``[k]``.
    """

    def __init__(self, places: Array, values: Array) -> None:
        self._places = places.reshape(-1)
        self._values = values.reshape(-1)

    @cached_property
    def _order(self) -> Array:
        return np.argsort(self._places, kind="stable")

    @cached_property
    def _sorted(self) -> Array:
        return self._places[self._order]

    def at(self, place: int) -> Array:
        """The values of a place, in their order."""
        first, end = np.searchsorted(self._sorted, [place, place + 1])
        return self._values[self._order[first:end]]

    @property
    def most(self) -> int:
        """The most values that meet in one place."""
        kept = self._sorted[self._sorted >= 0]
        return int(np.unique(kept, return_counts=True)[1].max()) if len(kept) else 1


def _onto(base: Array, meetings: _Meetings, factor: Number) -> ExactOutput:
    def element(index: int) -> Number:
        total = fixed(meetings.at(index)).total * factor
        return number(base.flat[index]) + total

    return ExactOutput(element, meetings.most + 1)


@exact_form("embedding_dense_backward")
def _embedding_dense_backward(call: Call) -> ExactOutput:
    rows = call["indices"].reshape(-1)
    width = call.shape[1]
    g = call["grad_output"].reshape(len(rows), width)
    meetings = _Meetings(rows, np.arange(len(rows)))

    def element(index: int) -> Number:
        row, column = divmod(index, width)
        if row == call["padding_idx"]:
            return number(0)
        met = meetings.at(row)
        total = fixed(g[met, column]).total
        return total / len(met) if call["scale_grad_by_freq"] and len(met) else total

    return ExactOutput(element, meetings.most)


@exact_form("index_put")
def _index_put(call: Call) -> ExactOutput:
    base = call["self"]
    # Indexing of the places themselves says where each value goes. A byte is a mask, as a bool is.
    places = np.arange(base.size).reshape(base.shape)
    masked = [
        index.astype(bool) if index is not None and index.dtype == np.uint8 else index for index in call["indices"]
    ]
    chosen = places[tuple(slice(None) if index is None else index for index in masked)]
    meetings = _Meetings(chosen, np.broadcast_to(call["values"], chosen.shape))
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


@exact_form("scatter_add")
def _scatter_add(call: Call) -> ExactOutput:
    base, indices = np.atleast_1d(call["self"]), np.atleast_1d(call["index"])
    source = np.atleast_1d(call["src"])[tuple(slice(0, n) for n in indices.shape)]
    places = _places_along(base.shape, indices, call["dim"] % base.ndim)
    return _onto(base, _Meetings(places, source), number(1))


@exact_form("index_add")
def _index_add(call: Call) -> ExactOutput:
    base, source = np.atleast_1d(call["self"]), np.atleast_1d(call["source"])
    axis = call["dim"] % base.ndim
    along = call["index"].reshape(-1, *[1] * (base.ndim - axis - 1))
    places = _places_along(base.shape, np.broadcast_to(along, source.shape), axis)
    return _onto(base, _Meetings(places, source), number(call["alpha"]))


def _plane_of(axes: int) -> Callable[[Call], ExactOutput]:
    def rule(call: Call) -> ExactOutput:
        """Each gradient goes to the place, within its plane, that the forward pass took its maximum from."""
        g, indices = call["grad_output"], call["indices"]
        area = int(np.prod(call.shape[-axes:]))
        planes = g.reshape(-1, int(np.prod(g.shape[-axes:]))).shape[0]
        places = indices.reshape(planes, -1) + np.arange(planes)[:, None] * area
        meetings = _Meetings(places, g)
        return ExactOutput(lambda index: fixed(meetings.at(index)).total, meetings.most)

    return rule


exact_form("max_pool2d_with_indices_backward", "adaptive_max_pool2d_backward")(_plane_of(2))
exact_form("max_pool3d_with_indices_backward")(_plane_of(3))


@exact_form("unfold_backward")
def _unfold_backward(call: Call) -> ExactOutput:
    g, axis = call["grad_in"], call["dim"] % len(call.shape)
    size, step = int(call["size"]), int(call["step"])
    windows = g.shape[axis]

    def element(index: int) -> Number:
        place = call.place(index)
        met = [
            g[(*place[:axis], window, *place[axis + 1 :], place[axis] - window * step)]
            for window in range(windows)
            if 0 <= place[axis] - window * step < size
        ]
        return fixed(np.array(met, g.dtype)).total

    return ExactOutput(element, windows)


@exact_form("col2im")
def _col2im(call: Call) -> ExactOutput:
    kernel, dilation, padding, stride = (call[n] for n in ("kernel_size", "dilation", "padding", "stride"))
    size = call["output_size"]
    blocks = [(size[a] + 2 * padding[a] - dilation[a] * (kernel[a] - 1) - 1) // stride[a] + 1 for a in range(2)]
    columns = call["self"].reshape(-1, *kernel, *blocks)

    def along(axis: int, place: int) -> list[tuple[int, int]]:
        reached = [(tap, place + padding[axis] - tap * dilation[axis]) for tap in range(kernel[axis])]
        pairs = [(tap, at // stride[axis]) for tap, at in reached if at % stride[axis] == 0]
        return [(tap, block) for tap, block in pairs if 0 <= block < blocks[axis]]

    def element(index: int) -> Number:
        *_, row, column = call.place(index)
        plane = index // (size[0] * size[1])
        met = [columns[plane, i, j, p, q] for i, p in along(0, row) for j, q in along(1, column)]
        return fixed(np.array(met, columns.dtype)).total

    return ExactOutput(element, kernel[0] * kernel[1])
