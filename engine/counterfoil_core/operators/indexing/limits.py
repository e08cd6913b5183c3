"""How many terms meet at an index, and which of these sums are single operations of the exact profiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from counterfoil_core.base.sentence import say
from counterfoil_core.operators import sums
from counterfoil_core.operators.limits import Limited
from counterfoil_core.operators.sums import Arguments


def _meeting(kind: str, base: int) -> Callable[[Arguments], tuple[int]]:
    return lambda arguments: (sums.meeting(kind, arguments) + base,)


def _by_frequency(arguments: Arguments) -> str | None:
    if arguments["scale_grad_by_freq"]:
        return say("divides by frequencies, which is an operation of its own")
    return None


def _with_factor(arguments: Arguments) -> str | None:
    return say("has a factor, which is a multiplication of its own") if arguments["alpha"] != 1 else None


def _by_mask(arguments: Arguments) -> str | None:
    if any(index is not None and index.dtype in ("bool", "uint8") for index in arguments["indices"]):
        return say("has a mask in the place of indices, so that values decide how many numbers are added")
    return None


LIMITS: Mapping[str, Limited] = {
    "embedding_dense_backward": Limited(
        terms=_meeting("embedding_dense_backward", 0), several=_by_frequency, indexed=True
    ),
    # What the values are added to is one term more.
    "index_add": Limited(terms=_meeting("index_add", 1), several=_with_factor, indexed=True),
    "scatter_add": Limited(terms=_meeting("scatter_add", 1), indexed=True),
    "index_put": Limited(terms=_meeting("index_put", 1), several=_by_mask, indexed=True),
}
"""By operator kind."""
