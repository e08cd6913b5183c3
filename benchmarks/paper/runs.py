"""Runs the experiments, each at the largest batch that this machine can do in a given time."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.paper.experiments import EXPERIMENTS, Experiment
from benchmarks.paper.measurement import MEMORY_EXIT, Measurement
from benchmarks.programs import command, environment
from counterfoil_core.base.errors import CounterfoilError

_MEMORY_SHARE = 0.7

Say = Callable[[str], None]


@dataclass(frozen=True)
class Found:
    """What was measured of one experiment."""

    name: str  #: Key of EXPERIMENTS.
    small: Measurement  #: At the smallest batch.
    large: Measurement  #: At the largest batch that was possible; the same object when that is the smallest.

    @property
    def experiment(self) -> Experiment:
        """What was measured."""
        return EXPERIMENTS[self.name]

    @property
    def extrapolated(self) -> bool:
        """Whether the paper's batch is larger than what was measured."""
        return self.large.batch < self.experiment.batch

    def at_full_batch(self, quantity: Callable[[Measurement], float]) -> float:
        """A quantity at the paper's batch: measured, or on the line through both measurements."""
        return on_line(self.small, self.large, self.experiment.batch, quantity)


def run_experiments(
    names: Sequence[str],
    *,
    device: str = "cpu",
    threads: int | None = None,
    seconds: float = 120.0,
    images: Path | None = None,
    say: Say = print,
) -> list[Found]:
    """Measure experiments, each in processes of its own.

    Args:
        names: Keys of EXPERIMENTS.
        device: ``cpu`` or ``cuda:0``.
        threads: Threads on the CPU; None for torch's choice.
        seconds: Time that the steps of one measurement may take, roughly; the batch is chosen for it.
        images: Folder of CIFAR-10; None for made-up images.
        say: Takes each line of progress.

    Raises:
        CounterfoilError: A measurement failed; the sentence says why.
    """
    found = []
    for name in names:
        experiment = EXPERIMENTS[name]
        say(f"{experiment.title}: a first step of {experiment.smallest} rows ...")
        small = _measure_alone(name, experiment.smallest, device, threads, images)
        large = small
        batch = min(2 * small.batch, experiment.batch)
        while batch > large.batch:
            say(f"{experiment.title}: {batch} rows ...")
            try:
                large = _measure_alone(name, batch, device, threads, images)
            except _OutOfMemoryError:
                say(f"{experiment.title}: {batch} rows need more memory than is free.")
                experiment = replace(experiment, batch=max(batch // 2, large.batch))
            batch = affordable_batch(experiment, small, large, seconds)
        say(
            f"{experiment.title}: recorded in {large.recorded:.2f} s, {large.recorded / large.unrounded:.2f} times the "
            f"unrounded step; {large.log_bytes:,} bytes of log."
        )
        found.append(Found(name, small, large))
    return found


def affordable_batch(experiment: Experiment, small: Measurement, large: Measurement, seconds: float) -> int:
    """Return the largest batch whose steps take at most so long, or else the batch that was measured last.

    The batch is the experiment's, divided by a power of two. Time is taken to lie on the line through two measurements.
    """
    batch = experiment.batch
    while batch > large.batch and on_line(small, large, batch, lambda m: m.seconds) > seconds:
        batch //= 2
    return max(batch, large.batch)


def on_line(small: Measurement, large: Measurement, batch: int, quantity: Callable[[Measurement], float]) -> float:
    """A quantity at a batch, on the line through two measurements; through one and the origin if they are the same."""
    here = quantity(large)
    if batch == large.batch:
        return here
    if small.batch == large.batch:
        return here * batch / large.batch
    return here + (here - quantity(small)) / (large.batch - small.batch) * (batch - large.batch)


class _OutOfMemoryError(CounterfoilError):
    """A measurement needs more memory than is free."""


def _measure_alone(name: str, batch: int, device: str, threads: int | None, images: Path | None) -> Measurement:
    request = {
        "name": name,
        "batch": batch,
        "device": device,
        "threads": threads,
        "images": None if images is None else str(images),
        "memory": int(_MEMORY_SHARE * _free_memory()),
    }
    child = command("paper", "--child", json.dumps(request))
    done = subprocess.run(child, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        title = EXPERIMENTS[name].title
        lines = done.stderr.strip().splitlines()
        if done.returncode < 0:
            reason = f"the process was ended by signal {-done.returncode}, perhaps for want of memory"
        else:
            reason = lines[-1].rstrip(".") if lines else f"exit code {done.returncode}"
        kind = _OutOfMemoryError if done.returncode == MEMORY_EXIT else CounterfoilError
        raise kind(
            f"Measuring {title} with {batch} rows failed: {reason}.",
            remedy="Leave this experiment out, or give it less time with --seconds, which makes the batch smaller.",
            detail=done.stderr,
        )
    return Measurement.from_json(done.stdout.strip().splitlines()[-1])


def _free_memory() -> int:
    """Free memory in bytes; 0 where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable"):
                return int(line.split()[1]) * 1024
    except OSError:
        return 0
    return 0
