"""How far an order is prepared: its stages, one after the other, each with what is counted."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

from counterfoil.base.generators import relay

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Preparing:
    """How far an order is prepared.

    Attributes:
        stage: What is being done, in words.
        unit: What is counted.
        done: How many of them are done.
        total: How many there are.
    """

    stage: str
    unit: str
    done: int
    total: int


CAPTURING = Preparing("Capturing the step", "steps", 0, 1)
"""The step is captured; how far it is cannot be told."""


def staged(
    stage: str, unit: str, work: Generator[tuple[int, int], None, _Result]
) -> Generator[Preparing, None, _Result]:
    """Run a stage that reports what is done and its total, and return what it returns.

    Args:
        stage: What is being done, in words.
        unit: What is counted.
        work: Yields how many are done and their total.
    """
    return relay(work, lambda report: Preparing(stage, unit, *report))
