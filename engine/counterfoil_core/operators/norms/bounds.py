"""Error bounds of batch, layer and group norm, and their gradients; docs/numerics.md derives each."""

from __future__ import annotations

import math
from collections.abc import Sequence

from counterfoil_core.operators import sums
from counterfoil_core.operators.bounds import FUNCTION, MOMENTS
from counterfoil_core.operators.facts import Bound, Use


def batch_norm(use: Use) -> Sequence[Bound]:
    """Batch norm: result, mean, reciprocal deviation, running mean, running variance."""
    if not use.own_form:  # in evaluation: what is saved is empty, and running statistics stay as they are
        return [Bound(FUNCTION + 16, 2.0), *[Bound(1)] * 4][: use.outputs]
    n = sums.blocked_terms(sums.channel_lengths(use.shape("input"))) + MOMENTS
    return [Bound(n, 2.0), Bound(n), Bound(n), Bound(n), Bound(n, 4.0)][: use.outputs]


def batch_norm_backward(use: Use) -> Sequence[Bound]:
    """Gradients of batch norm: batch times positions."""
    n = sums.blocked_terms(sums.channel_lengths(use.shape("input")))
    return [Bound(n + MOMENTS + FUNCTION, 2.0), Bound(n + MOMENTS, 1.0), Bound(max(n, 1))]


def layer_norm(use: Use) -> Sequence[Bound]:
    """Layer norm: result, mean, reciprocal deviation; a row is what batch norm's channel is."""
    n = sums.blocked_terms([int(n) for n in use.arguments["normalized_shape"]]) + MOMENTS
    return [Bound(n, 2.0), Bound(n), Bound(n)]


def layer_norm_backward(use: Use) -> Sequence[Bound]:
    """Gradients of layer norm: a row for the input's, all rows for weight and bias."""
    shape = use.shape("input")
    outer = len(shape) - len(use.arguments["normalized_shape"])
    length, rows = sums.blocked_terms(shape[outer:]), sums.blocked_terms(shape[:outer])
    return [Bound(length + MOMENTS + FUNCTION, 2.0), Bound(rows + 8), Bound(max(rows, 1))]


def _group_lengths(use: Use) -> list[int]:
    return [use.arguments["C"] // max(use.arguments["group"], 1), use.arguments["HxW"]]


def group_norm(use: Use) -> Sequence[Bound]:
    """Group norm: as layer norm, a row for each sample and group."""
    n = sums.blocked_terms(_group_lengths(use)) + MOMENTS
    return [Bound(n, 2.0), Bound(n), Bound(n)]


def group_norm_backward(use: Use) -> Sequence[Bound]:
    """Gradients of group norm: a sample's group for the input's, batch and positions for weight and bias."""
    length = sums.blocked_terms(_group_lengths(use))
    rows = sums.blocked_terms([use.arguments["N"], use.arguments["HxW"]])
    return [Bound(length + MOMENTS + FUNCTION, 2.0), Bound(rows + 8), Bound(max(rows, 1))]


def longest_of_batch_norm(use: Use) -> float:
    """Let it be computed in a form of our own in training, as :func:`always` does; in evaluation nothing is summed."""
    return math.inf if use.arguments.get("training", True) else 0.0
