"""How far an order is prepared: its stages, one after the other, each with what is counted."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

from counterfoil_core.base.generators import relay

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Preparing:
    """How far an order is prepared."""

    stage: str  #: What is being done, in words.
    unit: str  #: What is counted.
    done: int  #: How many of them are done.
    total: int  #: How many there are.


@dataclass(frozen=True)
class Expected:
    """What a run of an order is expected to take."""

    operators: int  #: Operators of a step, of the largest program that the order has.
    step_bytes: int  #: Memory of a step at its fullest moment, as its declared shapes say.
    flops: int  #: Floating-point operations of a step.
    run_bytes: int  #: Size of the run beside its rounding log: states, records, and what of the order lies in it.
    #: Size of the rounding log of all steps, if each has that of the first one; None where that was not tried.
    log_bytes: int | None = None
    #: Time of all steps on this machine, if each takes as long as the first one, which is the slowest; None where it
    #: was not tried.
    seconds: float | None = None
    first_seconds: float | None = None  #: Time of the first step; None where it was not tried.
    #: The loss of the first step; None where it was not tried, and for an evaluation that adds none up.
    loss: float | None = None
    scores: tuple[tuple[str, int], ...] = ()  #: What the first step of an evaluation counts, if it was tried.


CAPTURING = Preparing("Capturing the step", "steps", 0, 1)
"""The step is captured; how far it is cannot be told."""
RUNNING = "Running the script as it is"
FOLLOWING = "Following the script"
COMPARING = "Comparing the order with the script"
"""The stages of a script's order, each of which counts steps; of the first nobody may know how many there are."""


def run_stage(
    stage: str, unit: str, work: Generator[tuple[int, int], None, _Result]
) -> Generator[Preparing, None, _Result]:
    """Run a stage that reports what is done and its total, and return what it returns.

    Args:
        stage: What is being done, in words.
        unit: What is counted.
        work: Yields how many are done and their total.
    """
    return relay(work, lambda report: Preparing(stage, unit, *report))
