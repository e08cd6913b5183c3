"""What GPUs do in a second by their makers' data sheets, and how long a token takes under a profile by that. Pure.

A model, not a measurement: no GPU ran any of it. Time is the sum of two parts, each at :data:`EFFICIENCY` of the
published rate: the products, and the bytes that all operators read and write, as if nothing were fused or overlapped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from counterfoil.audit.values.transformer import EXACT, GRID, Counts, Transformer
from counterfoil.base.cards import EFFICIENCY, Gpu

RECOMPUTED = 4 / 3
"""Forward and backward with the forward pass a second time, since activations do not fit: 8 N in place of 6 N."""


@dataclass(frozen=True)
class Way:
    """How a profile computes on a GPU."""

    name: str  #: The profile; ``bfloat16`` is ordinary training, which nobody can audit.
    rate: str  #: Name of the rate of its products, an attribute of :class:`Gpu`.
    products: int  #: How many products of that dtype make one.
    read: float  #: Bytes that are moved for each element of an operand of a product.
    made: float  #: The same for each element of its result.
    item: int  #: Bytes of an element between operators.
    counts: Counts  #: Elements that its operators take.
    rounds: float = 0.0  #: Bytes more for each value that is rounded to a grid.
    log_bits: float = 0.0  #: Size of the log for each such value; 0 where there is no log.
    #: Whether attention and what lies between products is one kernel each, so that it moves next to nothing.
    fused: bool = False

    @property
    def audited(self) -> bool:
        """Whether what it trains can be audited: ordinary training cannot."""
        return not self.fused


def _exact(name: str, digits: int) -> Way:
    """Return an exact profile's, by the digits of its integers in base 256, each of which meets each.

    An operand is read for its exponent, and by the kernel that cuts it in registers; that writes one float32
    (:mod:`counterfoil_core.kernels.cuda.products`). That tiles read it again is taken to be the cache's.
    """
    return Way(name, "digits", digits**2, 8.0, 4.0, 4, EXACT)


LOG_BITS = 0.01
"""Bits of the log for each value that float64-24 rounds: 0.003 to 0.03 were measured (docs/benchmarks.md). Logs of
float32-bfloat16 were 12 and 105 times as long (docs/numerics.md)."""
_ROUNDED = 3.0
"""A value that is rounded is read for its scale, read again and written."""
WAYS: Mapping[str, Way] = {
    way.name: way
    for way in (
        Way("bfloat16", "bfloat16", 1, 2, 2, 2, GRID, fused=True),
        Way("float64-24", "float64", 1, 8, 8, 8, GRID, rounds=_ROUNDED * 8, log_bits=LOG_BITS),
        _exact("exact-20", 3),
        _exact("exact-13", 2),
        Way("float32-bfloat16", "float32", 1, 4, 4, 4, GRID, rounds=_ROUNDED * 4, log_bits=100 * LOG_BITS),
    )
}
"""By profile. The three digits of exact-20 take nine products, the two of exact-13 four."""


def with_products(way: Way, products: int) -> Way:
    """Return an exact way with another number of products of digits: three, say, by Karatsuba's sums of digits."""
    return replace(way, products=products)


def product_seconds(gpu: Gpu, way: Way, model: Transformer) -> float:
    """Return how long the products of a token take."""
    rate: float = getattr(gpu, way.rate)
    return model.flops * way.products / (EFFICIENCY * rate)


def sweep_seconds(gpu: Gpu, way: Way, model: Transformer) -> float:
    """Return how long the bytes of a token take that operators read and write."""
    if way.fused:
        return 0.0
    counts = way.counts
    moved = (
        way.read * model.elements(counts.products_read)
        + way.made * model.elements(counts.products_made)
        + way.item * (model.elements(counts.others_read) + model.elements(counts.others_made))
        + way.rounds * model.elements(counts.rounded)
    )
    return moved / (EFFICIENCY * gpu.bandwidth)


def token_seconds(gpu: Gpu, way: Way, model: Transformer) -> float:
    """Return how long a GPU takes for a token: products and sweeps, the forward pass twice."""
    return RECOMPUTED * (product_seconds(gpu, way, model) + sweep_seconds(gpu, way, model))


def useful_rate(gpu: Gpu, way: Way, model: Transformer) -> float:
    """Return the useful operations a second, as others state them: without those that are done a second time."""
    return model.flops / token_seconds(gpu, way, model)
