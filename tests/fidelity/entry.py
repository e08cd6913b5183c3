"""What of the product is judged: the one place that names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from counterfoil.base.precision import Precision
from counterfoil.training.following.script import order_of_script
from counterfoil.training.order import OrderDraft
from counterfoil.training.scripts.handing import Wanted


def ordered(script: Path) -> OrderDraft:
    """Return the order of a script, as ``counterfoil order --script`` makes it under the default profile.

    Raises:
        CounterfoilError: It is refused.
    """
    return order_of_script(script, (), Wanted(Precision())).draft


@contextmanager
def uncompared() -> Iterator[None]:
    """Within, an order is not compared with its script; for controls alone, the product has no such switch."""
    yield
