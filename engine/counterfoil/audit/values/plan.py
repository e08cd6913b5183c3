"""What each way to audit a run would cost: pure, and free of torch, so that the window can hold a plan."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil_core.bundle.extent import Extent
from counterfoil_core.program.limits import Estimate
from counterfoil_core.values.sampling import bad_segments, passing_probability, sample_size, segment_count

CONFIDENCES = (0.5, 0.9, 0.95, 0.99, 0.999)
"""The confidences that a plan lists."""


@dataclass(frozen=True)
class PlanProgress:
    """Steps measured so far, and how many will be at most."""

    done: int
    total: int


@dataclass(frozen=True)
class PlanRow:
    """One way to audit the run."""

    confidence: float  #: Least probability that a run with so many bad segments is caught; 1.0 for the whole run.
    segments: int  #: Number of segments to replay.
    steps: int  #: Number of steps in them, on average.
    seconds: float  #: Time that their replay would take.
    passing: float  #: Probability that a run with so many bad segments passes.


@dataclass(frozen=True)
class Plan:
    """What auditing a run would cost."""

    device: str  #: Where it was measured.
    steps: int  #: Number of steps of the run.
    segments: int  #: Number of its segments.
    bad_fraction: float  #: The share of bad segments that must not pass.
    bad: int  #: The same as a number of segments.
    step_seconds: float  #: Measured time of a step.
    load_seconds: float  #: Measured time to read and check a checkpoint, once for each segment of a sample.
    measured_steps: int  #: How many steps were measured.
    rows: tuple[PlanRow, ...]  #: One for each confidence, then the whole run.
    estimate: Estimate  #: What a step takes.
    profile: str = ""  #: Name of the order's precision profile; empty where its numbers are others.
    #: Size of the log for each value that was rounded, over the steps that were measured; 0 without a log.
    log_bits: float = 0.0
    advice: str = ""  #: What to order for a device that is slow in this profile; empty for another.


def make_plan(
    extent: Extent,
    *,
    device: str,
    bad_fraction: float,
    step_seconds: float,
    load_seconds: float,
    measured_steps: int,
    estimate: Estimate,
    profile: str = "",
    log_bits: float = 0.0,
    advice: str = "",
) -> Plan:
    """Return the plan that follows from measured times; pure."""
    total = segment_count(extent)
    bad = bad_segments(total, bad_fraction)
    rows = []
    for confidence in CONFIDENCES:
        count = sample_size(total, bad, confidence)
        steps = round(count * extent.steps / total)
        seconds = steps * step_seconds + count * load_seconds
        rows.append(PlanRow(confidence, count, steps, seconds, passing_probability(total, bad, count)))
    rows.append(PlanRow(1.0, total, extent.steps, extent.steps * step_seconds, 0.0))
    return Plan(
        device,
        extent.steps,
        total,
        bad_fraction,
        bad,
        step_seconds,
        load_seconds,
        measured_steps,
        tuple(rows),
        estimate,
        profile,
        log_bits,
        advice,
    )
