"""What of the product is judged: the one place that names it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from counterfoil.talk import programs
from counterfoil.training.following import plainprocess, script as product
from counterfoil.training.following.survey import Survey
from counterfoil.training.order import OrderDraft
from counterfoil.training.scripts.handover import ScriptOrder, Wanted
from counterfoil_core.base.precision import Precision


def ordered(script: Path) -> OrderDraft:
    """Return the order of a script, as ``counterfoil order --script`` makes it under the default profile.

    Raises:
        CounterfoilError: It is refused.
    """
    return product.order_of_script(script, (), Wanted(Precision())).draft


def scored(script: Path, **counts: str) -> ScriptOrder:
    """Return the order of what a script counts, as ``counterfoil order evaluate --script`` makes it.

    Args:
        script: The script.
        counts: What it calls counts, by what the order calls them.

    Raises:
        CounterfoilError: It is refused.
    """
    return product.order_of_script(script, (), Wanted(Precision(), takeovers=False, evaluates=True, counts=counts))


@contextmanager
def uncompared() -> Iterator[None]:
    """Within, an order is not compared with its script; for controls alone, the product has no such switch.

    The script runs by itself all the same, and is followed with what was seen of it.
    """

    def followed(path: Path, arguments: Sequence[str], wanted: Wanted, survey: Survey) -> ScriptOrder:
        return product._followed(path, arguments, wanted, survey, Path.cwd())

    with mock.patch.object(product, "_compared", followed):
        yield


@contextmanager
def quiet_processes() -> Iterator[None]:
    """Within, nothing is drawn in models where the product runs a script with values, either."""
    command, otherwise = programs.program_command, programs.hashing_otherwise

    def quiet(module: str) -> list[str]:
        return _replaced(command(module))

    def quiet_otherwise(module: str) -> tuple[list[str], dict[str, str]]:
        given, hashing = otherwise(module)
        return _replaced(given), hashing

    with (
        mock.patch.object(plainprocess, "program_command", quiet),
        mock.patch.object(plainprocess, "hashing_otherwise", quiet_otherwise),
    ):
        yield


def _replaced(command: Sequence[str]) -> list[str]:
    """The command of a plain run, with another file than the product's own behind the options of Python."""
    last = command.index(str(Path(programs.__file__).absolute()))
    return [*command[:last], str(Path(__file__).with_name("quietrun.py"))]
