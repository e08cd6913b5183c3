"""Magnitudes of tensors, for the scale rules: largest element, sum of magnitudes, sum of squares.

On the CPU one compiled pass (:mod:`counterfoil_core.kernels.cpu.measures`) gives all three, for the rows and the
columns of a matrix at once; elsewhere plain torch reductions do. They need not agree to the last bit: a scale is used
through its exponent alone, and the replay accepts an exponent that is off by one.

What is known of a value of the program is not measured again
(:mod:`counterfoil_core.arithmetic.families.magnitudecache`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from counterfoil_core.arithmetic.families.magnitudecache import Known, Matrices
from counterfoil_core.kernels import devices
from counterfoil_core.kernels.cpu import formulas, measures
from counterfoil_core.kernels.cpu.measures import ALL, LARGEST, PART, SQUARES, TOTAL, measure
from counterfoil_core.kernels.devicenumber import DeviceNumber
from counterfoil_core.kernels.exact.geometry import runs

_BLOCKS = 16
"""Parts of one matrix at most; each has sums of its own for the columns."""


@dataclass(frozen=True)
class _Setting:
    threads: int
    known: Known


_ALONE = _Setting(1, Known(()))
_setting: ContextVar[_Setting] = ContextVar("counterfoil_magnitudes", default=_ALONE)


class using:  # noqa: N801 (used as a function is)
    """Let large tensors be measured by several threads meanwhile, and what is known of values stand for a pass.

    May be entered again when it was left.

    Args:
        threads: Number of threads.
        known: What is known of the arguments of the operator whose scale is wanted.
    """

    def __init__(self, threads: int, known: Known = _ALONE.known) -> None:
        self._own = _Setting(threads, known)
        self._token: Token[_Setting] | None = None

    def __enter__(self) -> None:
        self._token = _setting.set(self._own)

    def __exit__(self, *_: object) -> None:
        assert self._token is not None
        _setting.reset(self._token)


@dataclass(frozen=True)
class Magnitudes:
    """Magnitudes along one axis, all others reduced: float64 ``[n]`` each, whatever the tensor's dtype."""

    largest: Tensor  #: Largest magnitude; infinite or not a number if an element is.
    total: Tensor  #: Sum of magnitudes.
    squares: Tensor  #: Sum of squares.
    tops: Tensor | None = None  #: The largest of each of the three, ``[3]``, if that is known.

    @property
    def norm(self) -> Tensor:
        """Euclidean norms."""
        return self.squares.sqrt()

    def top(self, kind: int) -> DeviceNumber | float:
        """Return the largest of one kind, LARGEST, TOTAL or SQUARES of :mod:`.kernels.cpu.measures`."""
        if self.tops is not None:
            return DeviceNumber.read(self.tops[kind])
        return top_of((self.largest, self.total, self.squares)[kind])


def _measured_there(x: Tensor, kept: Sequence[int]) -> Magnitudes | None:
    """Measure a tensor on a device by one launch: for each place of the axes that are kept, in their order.

    None where there is no kernel for it, and torch's operators do it.
    """
    if x.dtype not in _FLOATING or not devices.triton_reaches(x.device) or not x.numel():
        return None
    if not x.is_contiguous():
        if x.dim() < 2 or not x.mT.is_contiguous() or {x.dim() - 1, x.dim() - 2} <= set(kept):
            return None
        x, last = x.mT, x.dim() - 1
        kept = [2 * last - 1 - axis if axis >= last - 1 else axis for axis in kept]
    lengths = runs(x.shape, [axis for axis in range(x.dim()) if axis not in kept])
    from counterfoil_core.kernels.cuda.measures import measures, takes

    if len(lengths) > 4 or not takes(lengths):
        return None
    found, tops = measures(x, lengths)
    return Magnitudes(found[LARGEST], found[TOTAL], found[SQUARES], tops)


class Vectors:
    """Magnitudes in the CPU's memory, where compiled formulas find them by an address.

    Args:
        found: float64, in which ``[3, n]`` lies: the largest magnitudes, their sums, the sums of squares.
        start: Where it begins.
        count: n.
        tops: The largest of each of the three.
        kind: The only one of the three that was asked for; ALL of them.
    """

    __slots__ = ("_found", "_kind", "_start", "address", "count", "tops")

    def __init__(self, found: Tensor, start: int, count: int, tops: tuple[float, ...], kind: int = ALL) -> None:
        self._found = found
        self._start = start
        self._kind = kind
        self.address: int = found.data_ptr() + 8 * start
        """Address of ``[3, n]``, of which nothing but what was asked for has a meaning."""
        self.count = count
        self.tops = tops

    def _part(self, kind: int) -> Tensor:
        part = self._found.narrow(0, self._start + kind * self.count, self.count)
        # Whoever looks at what was not asked for finds no number.
        return part if self._kind in (kind, ALL) else torch.full_like(part, math.nan)

    @property
    def largest(self) -> Tensor:
        """Largest magnitudes, as :attr:`Magnitudes.largest`."""
        return self._part(0)

    @property
    def total(self) -> Tensor:
        """Sums of magnitudes, as :attr:`Magnitudes.total`."""
        return self._part(1)

    @property
    def squares(self) -> Tensor:
        """Sums of squares, as :attr:`Magnitudes.squares`."""
        return self._part(2)

    @property
    def norm(self) -> Tensor:
        """Euclidean norms."""
        return self.squares.sqrt()

    def top(self, kind: int) -> float:
        """Return the largest of one kind, as :meth:`Magnitudes.top`."""
        return self.tops[kind]


@dataclass(frozen=True)
class Sizes:
    """Magnitudes of the rows and of the columns of a stack of matrices ``[outer, rows, columns]``."""

    rows: Magnitudes  #: ``[outer, rows]`` each.
    columns: Magnitudes  #: ``[outer, columns]`` each.


class Measured:
    """What :class:`Sizes` has, in the CPU's memory, where compiled formulas find it by addresses.

    Args:
        shape: outer, rows, columns.
        found: float64: ``[2, outer]``, the largest sums of squares of a row and of a column of each matrix; then ``[3,
            outer, rows]`` and ``[3, outer, columns]``, largest magnitudes, their sums and the sums of squares.
        tops: The largest of each of the three, of the rows and then of the columns.
        joined: What :meth:`row_vectors` gives; None to find it when it is asked for.
        kind: The only one of the three that was asked for; ALL of them.
    """

    __slots__ = ("_found", "_joined", "_kind", "shape", "tops")

    def __init__(
        self, shape: Matrices, found: Tensor, tops: tuple[float, ...], joined: Vectors | None = None, kind: int = ALL
    ) -> None:
        self.shape = shape
        self.tops = tops
        self._found = found
        self._joined = joined
        self._kind = kind

    def address(self, number: int = 0) -> int:
        """Return the address of one of the numbers found: of the largest sums of squares to begin with."""
        return self._found.data_ptr() + 8 * number

    @property
    def columns_at(self) -> int:
        """Which number is the first of those of the columns."""
        outer, rows, _ = self.shape
        return 2 * outer + 3 * outer * rows

    @property
    def rows(self) -> Magnitudes:
        """Those of the rows, as :attr:`Sizes.rows`."""
        return self._view(2 * self.shape[0], self.shape[1])

    @property
    def columns(self) -> Magnitudes:
        """Those of the columns, as :attr:`Sizes.columns`."""
        return self._view(self.columns_at, self.shape[2])

    def _view(self, start: int, length: int) -> Magnitudes:
        outer = self.shape[0]
        parts = self._found.narrow(0, start, 3 * outer * length).view(3, outer, length).unbind()
        # As in :meth:`Vectors._part`.
        return Magnitudes(
            *(part if self._kind in (kind, ALL) else torch.full_like(part, math.nan) for kind, part in enumerate(parts))
        )

    def row_vectors(self) -> Vectors:
        """Return the magnitudes for each row of all matrices together."""
        outer, rows, _ = self.shape
        if outer == 1:
            return Vectors(self._found, 2, rows, self.tops[:3], self._kind)
        if self._joined is None:
            target = torch.empty(3 * rows, dtype=torch.float64)
            tops = formulas.join(outer, rows, self.address(2 * outer), target.data_ptr())
            self._joined = Vectors(target, 0, rows, _only(tops, self._kind), self._kind)
        return self._joined

    def column_vectors(self) -> Vectors:
        """Return the magnitudes for each column of a single matrix."""
        assert self.shape[0] == 1
        return Vectors(self._found, self.columns_at, self.shape[2], self.tops[3:], self._kind)


def top_of(x: Tensor) -> DeviceNumber | float:
    """Return the largest of some magnitudes; a number where that costs no transfer."""
    if not x.numel():
        return 0.0
    return float(x.amax()) if x.device.type == "cpu" else DeviceNumber.read(x.amax())


def largest(value: Any) -> DeviceNumber | float:
    """Return max |value| of a tensor or number; 0 for an empty tensor and for None; not a number stays so."""
    if not isinstance(value, Tensor):
        return 0.0 if value is None else abs(float(value))
    if value.numel() == 0:
        return 0.0
    setting = _setting.get()
    known = setting.known.largest(value)
    if known is not None:
        return known
    top = _largest(value, setting.threads)
    if isinstance(top, float):
        setting.known.keep_largest(value, top)
    return top


def largest_of_new(value: Tensor | None) -> DeviceNumber | float:
    """Return what :func:`largest` does, of a tensor that nothing can be known of: one that was just computed."""
    return 0.0 if value is None or value.numel() == 0 else _largest(value, _setting.get().threads)


def _largest(value: Tensor, threads: int) -> DeviceNumber | float:
    if _fast(value) and value.is_contiguous():
        return measures.largest(value.data_ptr(), value.numel(), value.itemsize, threads)
    if not value.is_floating_point():
        value = value.to(torch.float64)
    if devices.triton_reaches(value.device) and value.is_contiguous():
        from counterfoil_core.kernels.cuda.measures import top as top_there

        top = top_there(value)
    else:
        low, high = torch.aminmax(value)
        top = torch.maximum(-low, high)
    return float(top) if value.device.type == "cpu" else DeviceNumber.read(top)


def along(x: Tensor, axis: int, kind: int = ALL) -> Magnitudes | Vectors:
    """Return the magnitudes for each position of ``axis``, reduced over all other axes.

    Args:
        x: float64 or float32 tensor with at least one axis.
        axis: The axis that stays.
        kind: TOTAL or SQUARES where these sums alone are asked for; the others may be no numbers then.
    """
    axis %= x.dim()
    if _fast(x) and x.numel():
        if x.is_contiguous():
            shape = x.shape
            outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
            if inner == 1:
                return _sizes(x, (1, outer, shape[axis]), kind).column_vectors()
            return _sizes(x, (outer, shape[axis], inner), kind, joins=True).row_vectors()
        if x.dim() == 2 and x.t().is_contiguous():
            return along(x.t(), 1 - axis, kind)
    there = _measured_there(x, [axis])
    if there is not None:
        return there
    others = [other for other in range(x.dim()) if other != axis]
    x = x.double()
    if x.numel() == 0:
        nothing = x.new_zeros(x.shape[axis])
        return Magnitudes(nothing, nothing, nothing)
    if not others:
        return Magnitudes(x.abs(), x.abs(), x.square())
    norm = torch.linalg.vector_norm
    return Magnitudes(norm(x, math.inf, others), norm(x, 1, others), norm(x, 2, others).square())


def _summed(x: Tensor, axis: int) -> tuple[Measured, bool] | None:
    """Return the sizes of which the sums of squares over an axis are a part, and whether they are those of the rows.

    None where no compiled pass can give them.
    """
    if not _fast(x) or not x.numel():
        return None
    last, shape = x.dim() - 1, x.shape
    if x.is_contiguous():
        if axis == last:
            # Rows of the matrices of the two last axes, which may be asked for their columns as well.
            outer = math.prod(shape[: max(last - 1, 0)])
            return _sizes(x, (outer, x.numel() // (outer * shape[last]), shape[last]), SQUARES), True
        outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
        return _sizes(x, (outer, shape[axis], inner), SQUARES), False
    if last and axis >= last - 1:
        turned = x.transpose(-1, -2)
        if turned.is_contiguous():
            # The same sums: only the two last axes change places, and one of them is summed away.
            return _summed(turned, last if axis == last - 1 else last - 1)
    return None


def energy(x: Tensor, axis: int) -> Tensor:
    """Return the sum of squares over one axis, float64 with that axis gone."""
    axis %= x.dim()
    summed = _summed(x, axis)
    if summed is None:
        there = _measured_there(x, [other for other in range(x.dim()) if other != axis])
        if there is not None:
            return there.squares.view(*x.shape[:axis], *x.shape[axis + 1 :])
        return x.double().square().sum(axis)
    found, of_rows = summed
    squares = (found.rows if of_rows else found.columns).squares
    return squares.reshape((*x.shape[:axis], *x.shape[axis + 1 :]))


def largest_energy(x: Tensor, axis: int) -> DeviceNumber | float:
    """Return the largest of the sums of squares over one axis."""
    axis %= x.dim()
    summed = _summed(x, axis)
    if summed is None:
        there = _measured_there(x, [other for other in range(x.dim()) if other != axis])
        return top_of(energy(x, axis)) if there is None else there.top(SQUARES)
    found, of_rows = summed
    return found.tops[2 if of_rows else 5]


def largest_energy_product(first: Tensor, second: Tensor) -> DeviceNumber | float:
    """Return the largest sum of squares of a row of the first times that of a column of the second, in one matrix.

    Args:
        first: ``[n, rows, k]``, none of the lengths zero.
        second: ``[n, k, columns]``, likewise.
    """
    one, other = _summed(first, 2), _summed(second, 1)
    if one is None or other is None:
        rows, columns = energy(first, 2), energy(second, 1)
        if not devices.triton_reaches(first.device):
            return top_of(rows.amax(1) * columns.amax(1))
        from counterfoil_core.kernels.cuda.measures import largest_of_products

        return DeviceNumber.read(largest_of_products(rows.contiguous(), columns.contiguous()))
    # Of each matrix the largest of a row lies before the largest of a column.
    count = first.shape[0]
    places = [found.address(0 if of_rows else found.shape[0]) for found, of_rows in (one, other)]
    return formulas.products(count, *places)


def largest_window(x: Tensor, groups: int, axes: Sequence[formulas.Axis], *, transposed: bool) -> Tensor | float | None:
    """Return the largest sum of squares of a group of channels that a kernel brings together.

    Args:
        x: float64 or float32 ``[N, C, *space]``.
        groups: A divisor of C.
        axes: The axes of space, of which there are one or two.
        transposed: Whether the kernel writes where otherwise it would read.

    Returns:
        The sums, float64 ``[groups]``, or the only one; None where no compiled pass can give them.
    """
    if not _fast(x) or not x.numel() or not x.is_contiguous():
        return None
    shape = x.shape
    samples, channels, space = shape[0], shape[1], math.prod(shape[2:])
    found = _sizes(x, (samples * groups, channels // groups, space), SQUARES, joins=groups == 1)
    squares = found.address(found.columns_at + 2 * samples * groups * space)
    rows = axes[0] if len(axes) == 2 else _NO_AXIS
    tops = None if groups == 1 else torch.empty(groups, dtype=torch.float64)
    kept = 0 if tops is None else tops.data_ptr()
    top = formulas.windows(samples, groups, squares, rows, axes[-1], kept, transposed=transposed)
    return top if tops is None else tops


_NO_AXIS = formulas.Axis(1, 1, 1, 1, 0, 1)


def channels(x: Tensor, axis: int) -> Magnitudes | Vectors:
    """Return what :func:`along` does, where nothing will be asked of the positions along the other axes.

    Args:
        x: float64 or float32 tensor with at least one axis.
        axis: The axis that stays.
    """
    axis %= x.dim()
    if not _fast(x) or not x.numel() or not x.is_contiguous() or axis == x.dim() - 1:
        return along(x, axis)
    shape = x.shape
    cut = (math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))
    return _measured_rows(x, _zeros(shape[axis]), cut, _setting.get().threads)


def centred_channels(x: Tensor, mean: Tensor) -> Vectors | None:
    """Return the magnitudes of ``x - mean`` for each channel; None where no compiled pass can give them.

    Args:
        x: float64 or float32 ``[N, C, *space]``.
        mean: ``[C]``.
    """
    if not _fast(x) or not x.numel() or not x.is_contiguous() or not mean.numel():
        return None
    mean, shape = mean.double().contiguous(), x.shape
    samples, channels = shape[0], shape[1]
    cut = (samples, channels, math.prod(shape[2:]))
    return _measured_rows(x, mean, cut, _setting.get().threads)


def largest_row_total(x: Tensor, kept: int) -> float | None:
    """Return the largest sum of magnitudes over all but the first axes; None where no compiled pass can give it.

    Args:
        x: float64 or float32.
        kept: Number of axes that stay, at least one.
    """
    if not _fast(x) or not x.numel() or not x.is_contiguous():
        return None
    shape = x.shape
    return _sizes(x, (math.prod(shape[: kept - 1]), shape[kept - 1], math.prod(shape[kept:])), TOTAL).tops[TOTAL]


def largest_column_total(x: Tensor, reduced: int) -> float | None:
    """Return the largest sum of magnitudes over the first axes; None where no compiled pass can give it.

    Args:
        x: float64 or float32.
        reduced: Number of axes that are summed, at least one, and not all of them.
    """
    if not _fast(x) or not x.numel() or not x.is_contiguous():
        return None
    shape = x.shape
    return _sizes(x, (1, math.prod(shape[:reduced]), math.prod(shape[reduced:])), TOTAL).tops[3 + TOTAL]


def _fast(x: Tensor) -> bool:
    return x.dtype in _FLOATING and devices.loops_reach(x.device)


_FLOATING = (torch.float64, torch.float32)


def sizes(x: Tensor) -> Measured:
    """Return the magnitudes of rows and columns: of each matrix of a stack, in one pass.

    Args:
        x: float64 or float32 ``[outer, rows, columns]`` on the CPU, contiguous, none of the lengths zero.
    """
    return _sizes(x, (x.shape[0], x.shape[1], x.shape[2]))


def _sizes(x: Tensor, shape: Matrices, kind: int = ALL, *, joins: bool = False) -> Measured:
    """Return what :func:`sizes` does, of a contiguous tensor of any shape that is taken as a stack of matrices.

    With a ``kind``, TOTAL or SQUARES, these sums alone are right; where all are known, these are given. With ``joins``
    what :meth:`Measured.row_vectors` gives is asked for next.
    """
    setting = _setting.get()
    known = setting.known
    order = known.order(x)
    if order is not None:
        found = known.sizes(order, (*shape, ALL))
        if found is None and kind != ALL:
            found = known.sizes(order, (*shape, kind))
        if found is not None:
            assert isinstance(found, Measured)
            return found
    measured = _measured(x, None, None, shape, setting.threads, kind, joins=joins)
    if order is not None:
        known.keep_sizes(order, (*shape, kind), measured)
    return measured


def matrix_sizes(x: Tensor) -> Sizes | Measured:
    """Return the magnitudes of rows and columns of a matrix, with an axis of length 1 before them.

    Args:
        x: float64 or float32 ``[rows, columns]``, on any device, of any strides.
    """
    if _fast(x) and x.numel() and x.is_contiguous():
        return _sizes(x, (1, x.shape[0], x.shape[1]))
    both = [_measured_there(x, [axis]) for axis in (0, 1)]
    if None not in both:
        return Sizes(*(Magnitudes(m.largest[None], m.total[None], m.squares[None], m.tops) for m in both if m))
    return normalised_sizes(x[None], _ZERO.to(x.device), _ONE.to(x.device))


def normalised_sizes(x: Tensor, mean: Tensor, factor: Tensor) -> Sizes | Measured:
    """Return the magnitudes of rows and columns of ``(x - mean) * factor``, which is nowhere stored.

    Args:
        x: float64 or float32 ``[outer, rows, columns]``.
        mean: ``[n]``: one number for each row, n a divisor of outer times rows: of row i that with index i mod n.
        factor: ``[n]``: the same.
    """
    if _fast(x) and x.numel() and mean.numel() == factor.numel() > 0:
        x, mean, factor = x.contiguous(), mean.double().contiguous(), factor.double().contiguous()
        return _measured(x, mean, factor, (x.shape[0], x.shape[1], x.shape[2]), _setting.get().threads)
    rows = x.shape[0] * x.shape[1]
    repeats = rows // max(mean.numel(), 1)
    flat = (x.reshape(rows, -1).double() - mean.repeat(repeats)[:, None]) * factor.repeat(repeats)[:, None]
    magnitudes = flat.view(x.shape).abs()
    parts = []
    for axis in (2, 1):
        top = magnitudes.amax(axis) if magnitudes.shape[axis] else magnitudes.sum(axis)
        parts.append(Magnitudes(top, magnitudes.sum(axis), magnitudes.square().sum(axis)))
    return Sizes(*parts)


def largest_product(g: Tensor, x: Tensor, slope: float, cubic: float) -> DeviceNumber | float:
    """Return the largest of ``abs(g) * (1 + slope * abs(x) * (1 + cubic * x * x))``.

    Args:
        g: float64 or float32, of any shape.
        x: The same shape and dtype.
        slope: A number.
        cubic: A number.
    """
    if g.numel() == 0:
        return 0.0
    if _fast(g) and _fast(x) and g.dtype == x.dtype and g.shape == x.shape:
        first, second = g.contiguous(), x.contiguous()
        addresses, threads = (first.data_ptr(), second.data_ptr()), _setting.get().threads
        return measures.largest_gate(*addresses, first.numel(), first.itemsize, slope, cubic, threads)
    if devices.triton_reaches(g.device) and g.dtype in _FLOATING and g.dtype == x.dtype and g.shape == x.shape:
        from counterfoil_core.kernels.cuda.measures import largest_gate

        return DeviceNumber.read(largest_gate(g.contiguous(), x.contiguous(), slope, cubic))
    wide, argument = g.double(), x.double()
    return _largest(wide * (1.0 + slope * argument.abs() * (1.0 + cubic * argument * argument)), 1)


_ZERO, _ONE = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)


_ZERO_AT, _ONE_AT = _ZERO.data_ptr(), _ONE.data_ptr()


@lru_cache(maxsize=64)
def _ones(count: int) -> Tensor:
    return torch.ones(count, dtype=torch.float64)


@lru_cache(maxsize=64)
def _zeros(count: int) -> Tensor:
    return torch.zeros(count, dtype=torch.float64)


class _Cut(NamedTuple):
    """How a stack of matrices is cut into parts, and where what is found of it lies, in bytes behind the beginning."""

    lengths: tuple[int, int, int, int, int]  #: outer, rows, columns; rows of a part, parts of a matrix.
    numbers: int  #: How many are found.
    along_rows: int  #: Where those of the rows begin.
    along_columns: int  #: Where those of the columns begin.
    #: Where those of all rows together begin, as a number's place, without them the end; 0 where the matrix is the only
    #: one.
    together: int
    of_parts: int  #: Room for the columns of parts, in numbers; 0 where a matrix is one part.


@lru_cache(maxsize=1024)
def _cut(shape: Matrices, joins: bool) -> _Cut:
    outer, rows, columns = shape
    # Enough rows for a part, but no more parts than there is need for.
    height = min(max(-(-PART // columns), -(-rows // _BLOCKS)), rows)
    blocks = -(-rows // height)
    together = outer * (2 + 3 * (rows + columns))
    joins = joins and outer > 1
    return _Cut(
        lengths=(outer, rows, columns, height, blocks),
        numbers=together + 3 * rows if joins else together,
        along_rows=16 * outer,
        along_columns=16 * outer + 24 * outer * rows,
        together=together if joins else 0,
        of_parts=3 * outer * blocks * columns if blocks > 1 else 0,
    )


def _only(tops: tuple[float, ...], kind: int) -> tuple[float, ...]:
    """Return the largest of each kind where one alone was asked for: of others there is no number."""
    return tops if kind == ALL else tuple(top if place % ALL == kind else math.nan for place, top in enumerate(tops))


def _measured(
    x: Tensor,
    mean: Tensor | None,
    factor: Tensor | None,
    shape: Matrices,
    threads: int,
    kind: int = ALL,
    *,
    joins: bool = False,
) -> Measured:
    cut = _cut(shape, joins)
    found = torch.empty(cut.numbers, dtype=torch.float64)
    tops = found.data_ptr()
    along_columns = tops + cut.along_columns
    room = torch.empty(cut.of_parts, dtype=torch.float64) if cut.of_parts else None
    where = (
        tops + cut.along_rows,
        along_columns if room is None else room.data_ptr(),
        along_columns,
        tops,
        tops + 8 * cut.together if cut.together else 0,
    )
    means = (_ZERO_AT, _ONE_AT, 1)
    if mean is not None and factor is not None:
        means = mean.data_ptr(), factor.data_ptr(), mean.numel()
    ends = _only(measure(x.data_ptr(), x.itemsize, *means, cut.lengths, where, threads, kind), kind)
    joined = Vectors(found, cut.together, shape[1], ends[6:], kind) if cut.together else None
    return Measured(shape, found, ends[:6], joined, kind)


def _measured_rows(x: Tensor, mean: Tensor, shape: Matrices, threads: int) -> Vectors:
    """Return the magnitudes of ``x - mean`` for each row of all matrices together."""
    outer, rows, columns = shape
    ones = _ones(rows)
    # One long stack of rows.
    height = min(-(-PART // columns), outer * rows)
    found = torch.empty(3 * (outer + 1) * rows, dtype=torch.float64)
    cut = 1, outer * rows, columns, height, -(-outer * rows // height)
    together, address = 3 * outer * rows, found.data_ptr()
    where = address, 0, outer, 0, address + 8 * together
    ends = measure(x.data_ptr(), x.itemsize, mean.data_ptr(), ones.data_ptr(), rows, cut, where, threads)
    return Vectors(found, together, rows, ends[6:])
