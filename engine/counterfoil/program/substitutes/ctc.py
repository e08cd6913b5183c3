"""Connectionist temporal classification: its lengths are values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from counterfoil.program.substitutes.assumptions import hold
from counterfoil.program.substitutes.masks import select_rows

_NEVER = -1e30
"""The logarithm of the probability of what cannot be: finite, so that no sum of logarithms is without a value."""


def _lengths(given: Tensor | Sequence[int]) -> Tensor:
    return given if isinstance(given, Tensor) else torch.tensor(list(given))


def _ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """The forward variables of Graves et al. 2006 in logarithms, for the longest target; masks for lengths."""
    if isinstance(reduction, int):
        reduction = ("none", "mean", "sum")[reduction]
    rows_of_targets = select_rows(targets)
    if rows_of_targets is not None:
        targets = rows_of_targets
    if targets.dim() != 2 and log_probs.dim() == 3:
        return NotImplemented
    single = log_probs.dim() == 2
    if single:
        log_probs, targets = log_probs[:, None], targets.reshape(1, -1)
    times, rows = log_probs.shape[:2]
    ends, counts = (_lengths(given).reshape(-1).to(torch.int64) for given in (input_lengths, target_lengths))
    labels = targets.to(torch.int64)
    states = 2 * labels.shape[1] + 1
    # Blanks between, before and behind the labels; what lies beyond a target is a blank too.
    inside = torch.arange(labels.shape[1]) < counts[:, None]
    spread = torch.full((rows, labels.shape[1]), blank, dtype=torch.int64)
    labels = torch.where(inside, labels, spread)
    path = torch.cat([torch.stack([spread, labels], -1).reshape(rows, -1), spread.new_full((rows, 1), blank)], 1)
    # A label may follow the one before it without a blank between, unless they are the same.
    skips = torch.cat(
        [
            path.new_zeros((rows, min(2, states)), dtype=torch.bool),
            (path[:, 2:] != blank) & (path[:, 2:] != path[:, :-2]),
        ],
        1,
    )
    number = torch.arange(states)
    scores = log_probs.gather(2, path.expand(times, rows, states))
    alpha = torch.where(number < 2, scores[0], _NEVER)
    for time in range(1, times):
        one = functional.pad(alpha, [1, 0], value=_NEVER)[:, :-1]
        two = torch.where(skips, functional.pad(alpha, [2, 0], value=_NEVER)[:, :states], _NEVER)
        largest = torch.maximum(torch.maximum(alpha, one), two).detach()
        total = (alpha - largest).exp() + (one - largest).exp() + (two - largest).exp()
        following = torch.clamp_min(largest + total.log() + scores[time], _NEVER)
        alpha = torch.where((time < ends)[:, None], following, alpha)
    last, before = (alpha.gather(1, place.clamp_min(0)[:, None])[:, 0] for place in (2 * counts, 2 * counts - 1))
    before = torch.where(counts > 0, before, _NEVER)
    largest = torch.maximum(last, before).detach()
    loss = -(largest + ((last - largest).exp() + (before - largest).exp()).log())
    impossible = loss > -_NEVER / 2
    if zero_infinity:
        loss = torch.where(impossible, 0.0, loss)
    else:
        hold(~impossible)
    if reduction == "mean":
        loss = (loss / counts.clamp_min(1).to(loss.dtype)).mean()
    elif reduction == "sum":
        loss = loss.sum()
    return loss[0] if single and reduction == "none" else loss


TABLE: Mapping[Any, Any] = {
    functional.ctc_loss: _ctc_loss,
    torch.ctc_loss: _ctc_loss,
}
