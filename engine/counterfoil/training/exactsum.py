"""The exact sum of what ranks computed, in pieces that are still on their way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from counterfoil.base.buckets import buckets
from counterfoil_core.kernels.exact.combine import (
    NOT_FINITE,
    combine_bits,
    combined,
    no_shares,
    quantise_into,
)
from counterfoil_core.kernels.exact.refusals import not_finite

BeginSum = Callable[[Tensor], Callable[[], None]]
"""Begins to add int64 numbers of all processes, in place; returns what waits until they are added."""


IN_FLIGHT = 3
"""Buckets that are on their way at once."""


_INT64_BYTES = 8


def exact_sum(
    shares: Sequence[dict[str, Tensor]],
    names: Sequence[str],
    exponents: Mapping[str, int],
    count: int,
    begin_sum: BeginSum,
    look: Callable[[str, Tensor], None] | None = None,
) -> dict[str, Tensor]:
    """Return the sums of all shares of a step, each rounded once to float32, tensors of a bucket at a time.

    One bucket is quantised while others are on their way, and what was added is rounded.

    Args:
        shares: What each share of this process gives; it is taken out, so that its memory is free, unless ``look``
            is given.
        names: Its names, in the order in which buckets are made of them.
        exponents: E of each tensor, of all shares.
        count: W, the number of shares in all.
        begin_sum: Adds what other processes have.
        look: Called with the name and the integer sum of each tensor, before it is rounded.

    Raises:
        NonFiniteError: A share or a sum is infinite or not a number.
    """
    if NOT_FINITE in exponents.values():
        raise not_finite()
    bits, found = combine_bits(count), dict[str, Tensor]()
    under_way = deque[tuple[list[str], Sequence[Tensor], Callable[[], None]]]()

    def finish() -> None:
        part, totals, wait = under_way.popleft()
        wait()
        for name, total in zip(part, totals, strict=True):
            found[name] = combined(total, exponents[name], bits)
            if look is not None:
                look(name, total)

    shapes = {name: shares[0][name].shape for name in names}
    for bucket in buckets([_INT64_BYTES * shapes[name].numel() for name in names]):
        part = [names[number] for number in bucket]
        lengths = [shapes[name].numel() for name in part]
        flat = no_shares((sum(lengths),), shares[0][part[0]].device)
        totals = [total.view(shapes[name]) for name, total in zip(part, torch.split(flat, lengths), strict=True)]
        for given in shares:
            for name, total in zip(part, totals, strict=True):
                quantise_into(total, given.pop(name) if look is None else given[name], exponents[name], bits)
        under_way.append((part, totals, begin_sum(flat)))
        if len(under_way) == IN_FLIGHT:
            finish()
    while under_way:
        finish()
    return {name: found[name] for name in sorted(found)}
