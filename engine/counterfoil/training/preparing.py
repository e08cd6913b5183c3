"""How far an order is prepared: its stages, one after the other, each with what is counted."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

from counterfoil_core.base.generators import relay

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


@dataclass(frozen=True)
class Expected:
    """What a run of an order is expected to take.

    Attributes:
        operators: Operators of a step, of the largest program that the order has.
        step_bytes: Memory of a step at its fullest moment, as its declared shapes say.
        flops: Floating-point operations of a step.
        run_bytes: Size of the run beside its rounding log: states, records, and what of the order lies in it.
        log_bytes: Size of the rounding log of all steps, if each has that of the first one; None where that was not
            tried.
        seconds: Time of all steps on this machine, if each takes as long as the first one, which is the slowest; None
            where it was not tried.
        first_seconds: Time of the first step; None where it was not tried.
        loss: The loss of the first step; None where it was not tried.
    """

    operators: int
    step_bytes: int
    flops: int
    run_bytes: int
    log_bytes: int | None = None
    seconds: float | None = None
    first_seconds: float | None = None
    loss: float | None = None


CAPTURING = Preparing("Capturing the step", "steps", 0, 1)
"""The step is captured; how far it is cannot be told."""
RUNNING = "Running the script as it is"
FOLLOWING = "Following the script"
COMPARING = "Comparing the order with the script"
"""The stages of a script's order, each of which counts steps; of the first nobody may know how many there are."""


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
