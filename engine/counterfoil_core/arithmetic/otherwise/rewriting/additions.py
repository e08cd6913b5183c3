"""Sums, products of matrices and moments in two orders of addition: one after another, and as a binary tree.

Compiled by numba without fast-math, so no addition changes its place and none is fused with a product. What a library
does lies in between: several running sums, blocks, fused operations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from counterfoil_core.base.arrays import Array
from counterfoil_core.kernels.cache import kernel

_LEVELS = 64
"""More than the levels of any tree."""


@kernel(nogil=True)
def _rows_in_order(rows: Any, out: Any) -> None:
    for i in range(rows.shape[0]):
        total = out[i]
        for j in range(rows.shape[1]):
            total += rows[i, j]
        out[i] = total


@kernel(nogil=True)
def _rows_as_trees(rows: Any, out: Any) -> None:
    # Like a binary counter: level k holds the sum of 2^k neighbours, or nothing.
    waiting = np.empty(_LEVELS, rows.dtype)
    for i in range(rows.shape[0]):
        depth = 0
        for j in range(rows.shape[1]):
            value = rows[i, j]
            carry = j
            while carry & 1:
                depth -= 1
                value = waiting[depth] + value
                carry >>= 1
            waiting[depth] = value
            depth += 1
        if depth:
            value = waiting[depth - 1]
            for level in range(depth - 2, -1, -1):
                value = waiting[level] + value
            out[i] = value


@kernel(nogil=True)
def _products_in_order(a: Any, b: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            factor = a[i, k]
            for j in range(b.shape[1]):
                out[i, j] += factor * b[k, j]


@kernel(nogil=True)
def _products_as_trees(a: Any, b: Any, out: Any) -> None:
    width = b.shape[1]
    waiting = np.empty((_LEVELS, width), out.dtype)
    for i in range(a.shape[0]):
        depth = 0
        for k in range(a.shape[1]):
            factor = a[i, k]
            for j in range(width):
                waiting[depth, j] = factor * b[k, j]
            carry = k
            while carry & 1:
                depth -= 1
                for j in range(width):
                    waiting[depth, j] += waiting[depth + 1, j]
                carry >>= 1
            depth += 1
        for level in range(depth - 2, -1, -1):
            for j in range(width):
                waiting[level, j] += waiting[level + 1, j]
        if depth:
            out[i] = waiting[0]


@kernel(nogil=True)
def _meet_backwards(places: Any, values: Any, out: Any) -> None:
    for i in range(len(places) - 1, -1, -1):
        out[places[i]] += values[i]


@kernel(nogil=True)
def _meet_as_trees(places: Any, values: Any, out: Any) -> None:
    """``places`` are sorted; each one's values are added as a tree, and then to what is there."""
    waiting = np.empty(_LEVELS, values.dtype)
    start = 0
    while start < len(places):
        depth = 0
        end = start
        while end < len(places) and places[end] == places[start]:
            value = values[end]
            carry = end - start
            while carry & 1:
                depth -= 1
                value = waiting[depth] + value
                carry >>= 1
            waiting[depth] = value
            depth += 1
            end += 1
        value = waiting[depth - 1]
        for level in range(depth - 2, -1, -1):
            value = waiting[level] + value
        out[places[start]] += value
        start = end


@kernel(nogil=True)
def _welford(rows: Any, mean: Any, spread: Any) -> None:
    # Welford 1962: each value moves the mean by its share.
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            distance = rows[i, j] - mean[i]
            mean[i] += distance / (j + 1)
            spread[i] += distance * (rows[i, j] - mean[i])


@kernel(nogil=True)
def _erfs(x: Any, out: Any) -> None:
    for i in range(len(x)):
        out[i] = math.erf(x[i])


@kernel(nogil=True)
def _erfcs(x: Any, out: Any) -> None:
    for i in range(len(x)):
        out[i] = math.erfc(x[i])


def erf(x: Array) -> Array:
    """The error function of each element, by the C library."""
    out = np.empty(x.size)
    _erfs(x.astype(np.float64).reshape(-1), out)
    result: Array = out.reshape(x.shape).astype(x.dtype)
    return result


def erfc(x: Array) -> Array:
    """1 less the error function of each element, without cancellation, by the C library."""
    out = np.empty(x.size)
    _erfcs(x.astype(np.float64).reshape(-1), out)
    result: Array = out.reshape(x.shape).astype(x.dtype)
    return result


class Adder:
    """Adds in one of the two orders.

    Args:
        tree: As a binary tree; else one after another.
    """

    def __init__(self, tree: bool) -> None:
        self.tree = tree

    def rows(self, rows: Array) -> Array:
        """Return the sums ``[rows]`` of ``[rows, n]``."""
        out: Array = np.zeros(len(rows), rows.dtype)
        (_rows_as_trees if self.tree else _rows_in_order)(np.ascontiguousarray(rows), out)
        return out

    def over(self, x: Array, axes: Sequence[int], keepdim: bool = False) -> Array:
        """Return the sums of ``x`` over some axes."""
        rows, kept = rows_over(x, axes)
        sums = self.rows(rows).reshape([x.shape[axis] for axis in kept])
        result: Array = np.expand_dims(sums, tuple(sorted({axis % x.ndim for axis in axes}))) if keepdim else sums
        return result

    def products(self, a: Array, b: Array) -> Array:
        """Return the product ``[m, n]`` of ``[m, k]`` and ``[k, n]``."""
        out: Array = np.zeros((a.shape[0], b.shape[1]), a.dtype)
        (_products_as_trees if self.tree else _products_in_order)(np.ascontiguousarray(a), np.ascontiguousarray(b), out)
        return out

    def met(self, base: Array, places: Array, values: Array) -> Array:
        """Return ``base`` ``[n]`` with ``values`` ``[k]`` added to its elements at ``places`` int64 ``[k]``."""
        out = base.copy()
        if self.tree:
            order = np.argsort(places, kind="stable")
            _meet_as_trees(places[order], np.ascontiguousarray(values[order]), out)
        else:
            _meet_backwards(np.ascontiguousarray(places), np.ascontiguousarray(values), out)
        return out

    def moments(self, rows: Array) -> tuple[Array, Array]:
        """Return mean and sum of squared distances from it, each ``[rows]``: by Welford, or in two passes as trees."""
        if self.tree:
            mean = self.rows(rows) / rows.shape[1]
            distances = rows - mean[:, None]
            return mean, self.rows(distances * distances)
        mean, spread = np.zeros(len(rows), rows.dtype), np.zeros(len(rows), rows.dtype)
        _welford(np.ascontiguousarray(rows), mean, spread)
        return mean, spread


def rows_over(x: Array, axes: Sequence[int]) -> tuple[Array, list[int]]:
    """Return ``x`` as ``[rows, n]``, the n elements that meet over ``axes`` in a row each; and the axes that stay."""
    reduced = {axis % x.ndim for axis in axes} if x.ndim else set()
    kept = [axis for axis in range(x.ndim) if axis not in reduced]
    moved = x.transpose(*kept, *sorted(reduced)) if x.ndim else x
    return moved.reshape(math.prod(x.shape[axis] for axis in kept), -1), kept
