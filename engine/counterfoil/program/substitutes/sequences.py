"""Packed sequences: rows of several lengths, which are values.

A packed sequence of torch holds as many rows as its lengths add up to. Here it holds the rows of every step, and its
lengths go with it: a recurrent layer leaves a sequence's state alone beyond its end, and a padded sequence has the
padding there. What works row by row may read it, recurrent layers and ``pad_packed_sequence``; anything else is
refused, since a loss over its rows would count those that are none. A padded sequence is as long as what was packed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import _VF, Tensor
from torch.nn import functional

from counterfoil_core.base.errors import ProgramError

_LENGTHS = "_counterfoil_lengths"
"""Attribute of the numbers of rows of each step: the length of each sequence."""
_ROWS = "_counterfoil_packed"
"""Attribute of the rows of a packed sequence."""
_States = tuple[Tensor, ...]
_Cell = Callable[[Tensor, _States, Sequence[Tensor]], _States]
"""The next states from the input of a step, the states before and the weights; the first state is the output."""


def _pack(rows: Tensor, lengths: Tensor, batch_first: bool) -> tuple[Tensor, Tensor]:
    data = rows.transpose(0, 1) if batch_first else rows
    times, count = data.shape[:2]
    sizes = torch.full((times,), count, dtype=torch.int64)
    setattr(sizes, _LENGTHS, lengths)
    return _marked(data.reshape(times * count, *data.shape[2:])), sizes


def _marked(rows: Tensor) -> Tensor:
    setattr(rows, _ROWS, True)
    return rows


def _pad(rows: Tensor, sizes: Tensor, batch_first: bool, value: float, total: int) -> Any:
    lengths = getattr(sizes, _LENGTHS, None)
    if lengths is None:
        return NotImplemented
    times, count = len(sizes), len(lengths)
    data = rows.reshape(times, count, *rows.shape[1:])
    inside = (torch.arange(times)[:, None] < lengths).reshape(times, count, *[1] * (data.dim() - 2))
    padded = torch.where(inside, data, torch.full((), value, dtype=data.dtype))
    if total > times:
        more = torch.full((total - times, *padded.shape[1:]), value, dtype=data.dtype)
        padded = torch.cat([padded, more])
    return (padded.transpose(0, 1) if batch_first else padded), lengths


def _lstm(x: Tensor, states: _States, weights: Sequence[Tensor]) -> _States:
    gates = _affine(x, weights, 0) + _affine(states[0], weights, 1)
    i, f, g, o = gates.chunk(4, -1)
    cell = f.sigmoid() * states[1] + i.sigmoid() * g.tanh()
    hidden = o.sigmoid() * cell.tanh()
    projected = len(weights) in (3, 5)
    return (functional.linear(hidden, weights[-1]) if projected else hidden), cell


def _gru(x: Tensor, states: _States, weights: Sequence[Tensor]) -> _States:
    given, own = _affine(x, weights, 0).chunk(3, -1), _affine(states[0], weights, 1).chunk(3, -1)
    reset, update = (given[0] + own[0]).sigmoid(), (given[1] + own[1]).sigmoid()
    new = (given[2] + reset * own[2]).tanh()
    return ((states[0] - new) * update + new,)


def _plain(activation: Callable[[Tensor], Tensor]) -> _Cell:
    return lambda x, states, weights: (activation(_affine(x, weights, 0) + _affine(states[0], weights, 1)),)


def _affine(x: Tensor, weights: Sequence[Tensor], position: int) -> Tensor:
    bias = weights[position + 2] if len(weights) >= 4 else None
    return functional.linear(x, weights[position], bias)


def _layers(cell: _Cell, several: bool) -> Callable[..., Any]:
    def run(
        rows: Tensor,
        sizes: Tensor,
        first: Any,
        weights: Sequence[Tensor],
        bias: bool,
        layers: int,
        dropout: float,
        training: bool,
        bidirectional: bool,
    ) -> Any:
        lengths = getattr(sizes, _LENGTHS, None)
        if lengths is None:
            return NotImplemented
        times, count = len(sizes), len(lengths)
        x = rows.reshape(times, count, *rows.shape[1:])
        starts: _States = tuple(first) if several else (first,)
        sides = 2 if bidirectional else 1
        each = len(weights) // (layers * sides)
        ends: list[_States] = []
        for layer in range(layers):
            outputs = []
            for side in range(sides):
                number = layer * sides + side
                own = weights[number * each : (number + 1) * each]
                output, end = _along(cell, x, tuple(start[number] for start in starts), own, lengths, bool(side))
                outputs.append(output)
                ends.append(end)
            x = torch.cat(outputs, -1) if sides > 1 else outputs[0]
            if dropout and training and layer + 1 < layers:
                x = functional.dropout(x, dropout)
        final = tuple(torch.stack(states) for states in zip(*ends, strict=True))
        return (_marked(x.reshape(times * count, -1)), *final)

    return run


def _along(
    cell: _Cell, x: Tensor, states: _States, weights: Sequence[Tensor], lengths: Tensor, backwards: bool
) -> tuple[Tensor, _States]:
    """One direction of one layer: ``[steps, sequences, width]``, and the states at the end of each sequence."""
    outputs: dict[int, Tensor] = {}
    for time in reversed(range(len(x))) if backwards else range(len(x)):
        inside = (time < lengths)[:, None]
        new = cell(x[time], states, weights)
        states = tuple(torch.where(inside, n, old) for n, old in zip(new, states, strict=True))
        outputs[time] = torch.where(inside, new[0], torch.zeros_like(new[0]))
    return torch.stack([outputs[time] for time in range(len(x))]), states


def _first_size(sizes: Tensor, key: Any) -> Any:
    """How many sequences a step has is a shape here."""
    lengths = getattr(sizes, _LENGTHS, None)
    return len(lengths) if lengths is not None and isinstance(key, int) else NotImplemented


TABLE: Mapping[Any, Any] = {
    _VF._pack_padded_sequence: _pack,
    _VF._pad_packed_sequence: _pad,
    _VF.lstm: lambda *args: _layers(_lstm, several=True)(*args) if _is_packed(args) else NotImplemented,
    _VF.gru: lambda *args: _layers(_gru, several=False)(*args) if _is_packed(args) else NotImplemented,
    _VF.rnn_tanh: lambda *args: (
        _layers(_plain(torch.tanh), several=False)(*args) if _is_packed(args) else NotImplemented
    ),
    _VF.rnn_relu: lambda *args: (
        _layers(_plain(torch.relu), several=False)(*args) if _is_packed(args) else NotImplemented
    ),
    Tensor.__getitem__: _first_size,
}
_ROW_BY_ROW = frozenset(
    (
        functional.embedding, functional.dropout, functional.linear, functional.relu, functional.gelu,
        functional.layer_norm, torch.tanh, torch.relu, Tensor.tanh, Tensor.relu,
    )
)  # fmt: skip
_SHAPES = frozenset((Tensor.size, Tensor.dim, Tensor.is_floating_point, Tensor.__len__))


def _is_packed(args: Sequence[Any]) -> bool:
    return len(args) > 1 and getattr(args[1], _LENGTHS, None) is not None


def mark_rows(func: Any, args: Sequence[Any], result: Any) -> Any:
    """Mark what was computed from the rows of a packed sequence row by row.

    Args:
        func: The function that was called.
        args: What it was called with.
        result: What it gave.

    Returns:
        ``result``, marked where its rows are those of a packed sequence.

    Raises:
        ProgramError: It was computed otherwise, so that rows beyond the ends of sequences would count.
    """
    if not any(getattr(item, _ROWS, False) for item in _tensors(args)):
        return result
    if func in _ROW_BY_ROW:
        return _marked(result)
    if func in _SHAPES or getattr(func, "__name__", "") == "__get__":
        return result
    raise ProgramError(
        f"The rows of a packed sequence are used by {getattr(func, '__name__', func)}, and how many there are is told "
        "by values alone.",
        remedy="Pad it first with pad_packed_sequence, and choose by the lengths with torch.where.",
    )


def _tensors(args: Sequence[Any]) -> Iterator[Tensor]:
    for item in args:
        if isinstance(item, Tensor):
            yield item
        elif isinstance(item, (list, tuple)):
            yield from _tensors(item)
