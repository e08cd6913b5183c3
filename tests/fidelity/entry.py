"""What of the product is judged: the one place that names it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from counterfoil.base.precision import Precision
from counterfoil.training.following import script as product
from counterfoil.training.following.survey import Survey
from counterfoil.training.order import OrderDraft
from counterfoil.training.scripts.handing import ScriptOrder, Wanted


def ordered(script: Path) -> OrderDraft:
    """Return the order of a script, as ``counterfoil order --script`` makes it under the default profile.

    Raises:
        CounterfoilError: It is refused.
    """
    return product.order_of_script(script, (), Wanted(Precision())).draft


@contextmanager
def uncompared() -> Iterator[None]:
    """Within, an order is not compared with its script; for controls alone, the product has no such switch.

    The script runs by itself all the same, and is followed with what was seen of it.
    """

    def followed(path: Path, arguments: Sequence[str], wanted: Wanted, survey: Survey) -> ScriptOrder:
        return product._followed(path, arguments, wanted, survey, Path.cwd())

    with mock.patch.object(product, "_compared", followed):
        yield
