"""Runs the experiments, each at the largest batch that this machine can do in a given time, and writes the page."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import torch

from benchmarks.pages import machine_name
from benchmarks.paper.experiments import EXPERIMENTS, Experiment
from benchmarks.paper.measurement import MEMORY_EXIT, Measurement
from benchmarks.paper.published import PAGE
from benchmarks.programs import command, environment
from counterfoil import __version__
from counterfoil.base.errors import CounterfoilError

BITS_PER_VALUE = 1.6
"""What the paper's released code writes: five decisions of three kinds in a byte."""
AIM = 500
"""The log should be at most one part in so many of the paper's encoding."""
_MEMORY_SHARE = 0.7

Say = Callable[[str], None]


@dataclass(frozen=True)
class Found:
    """What was measured of one experiment.

    Attributes:
        name: Key of EXPERIMENTS.
        small: At the smallest batch.
        large: At the largest batch that was possible; the same object when that is the smallest.
    """

    name: str
    small: Measurement
    large: Measurement

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


def page(found: Sequence[Found], device: str, *, made_up_images: bool, seconds: float) -> str:
    """Return the page as Markdown."""
    today = datetime.now(UTC).date().isoformat()
    images = "made-up images" if made_up_images else "CIFAR-10's images"
    origin = (
        f"Written by `python -m benchmarks paper --seconds {seconds:g}` on {today}: {machine_name(device)}; "
        f"Counterfoil {__version__}, torch {torch.__version__}, Python {platform.python_version()}, "
        f"{platform.system()}."
    )
    tables = {
        "log": _log_table(found),
        "time": _time_table(found),
        "replay": _replay_table(found),
        "published": _published(found),
    }
    return PAGE.format(
        origin=origin,
        images=images,
        aim=AIM,
        bits=BITS_PER_VALUE,
        **{name: "\n".join(lines) for name, lines in tables.items()},
    )


def _row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def _head(*cells: str) -> list[str]:
    return [_row(*cells), "|" + "---|" * len(cells)]


def _batch(one: Found) -> str:
    return f"{one.large.batch} of {one.experiment.batch}" if one.extrapolated else str(one.large.batch)


def _about(one: Found) -> str:
    return "extrapolated" if one.extrapolated else "measured"


def size(count: float) -> str:
    """A number of bytes in words, in powers of 1000 as the paper has them."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}" if count < 999.5 * factor else f"{count / factor:,.0f} {unit}"
    return f"{count:.0f} bytes"


def duration(seconds: float) -> str:
    """A time in words."""
    if seconds != seconds:
        return "-"
    if seconds >= 120:
        return f"{seconds / 60:.3g} min"
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"


def encoded_in_the_paper(values: float) -> float:
    """Bytes that the paper's encoding takes for so many values."""
    return values * BITS_PER_VALUE / 8


def _share(ratio: float) -> str:
    """One part in ``ratio``, and whether that reaches the aim."""
    return f"1/{ratio:,.0f}" + ("" if ratio >= AIM else f", short of 1/{AIM}")


def _log_table(found: Sequence[Found]) -> list[str]:
    lines = _head(
        "experiment",
        "batch measured",
        "values rounded",
        "logged",
        "log",
        "bits per value",
        "log at the paper's batch",
        "paper's encoding there",
        "ours is",
    )
    for one in found:
        m = one.large
        whole = one.at_full_batch(lambda x: x.log_bytes)
        theirs = encoded_in_the_paper(one.at_full_batch(lambda x: x.values))
        ratio = theirs / whole
        lines.append(
            _row(
                one.experiment.title,
                _batch(one),
                f"{m.values:,}",
                f"{m.entries:,}",
                size(m.log_bytes),
                f"{8 * m.log_bytes / m.values:.5f}",
                f"{size(whole)}, {_about(one)}",
                size(theirs),
                _share(ratio),
            )
        )
    return lines


def _time_table(found: Sequence[Found]) -> list[str]:
    lines = _head(
        "experiment",
        "batch measured",
        "eager float32",
        "unrounded float64",
        "recorded",
        "replayed",
        "recorded / unrounded",
        "replayed / unrounded",
        "recorded / eager float32",
    )
    for one in found:
        m = one.large
        eager = "-" if m.eager32 != m.eager32 else f"{m.recorded / m.eager32:.2f}"
        lines.append(
            _row(
                one.experiment.title,
                _batch(one),
                *(duration(x) for x in (m.eager32, m.unrounded, m.recorded, m.replayed)),
                f"{m.recorded / m.unrounded:.2f}",
                f"{m.replayed / m.unrounded:.2f}",
                eager,
            )
        )
    return lines


def _replay_table(found: Sequence[Found]) -> list[str]:
    lines = _head(
        "experiment",
        "batch measured",
        "same state root",
        "corrections",
        "contradictions",
        "omissions",
        "a checkpoint",
        "its digest",
        "peak memory of all forms",
    )
    for one in found:
        m = one.large
        lines.append(
            _row(
                one.experiment.title,
                _batch(one),
                "yes" if m.identical else "NO",
                f"{m.corrections:,}",
                m.contradictions,
                m.omissions,
                size(m.state_bytes),
                duration(m.digested),
                size(m.peak_bytes) if m.peak_bytes else "-",
            )
        )
    return lines


def _published(found: Sequence[Found]) -> list[str]:
    lines = _head("what", "published", "ours on this machine")
    by_name = {one.name: one for one in found}
    for name, published, theirs in (
        ("resnet50", "105 MB forward and 105 MB backward (the paper's released code)", 210e6),
        ("gpt2", "42 MB (the paper's released code)", 42e6),
    ):
        if name in by_name:
            one = by_name[name]
            log = one.at_full_batch(lambda x: x.log_bytes)
            what = f"log of a step of {one.experiment.title}, batch {one.experiment.batch}"
            lines.append(_row(what, published, f"{size(log)}, {_about(one)}: {_share(theirs / log)}"))
    if "vgg11" in by_name:
        one = by_name["vgg11"]
        recorded, replayed = (one.at_full_batch(read) for read in (lambda x: x.recorded, lambda x: x.replayed))
        ours = f"{duration(recorded)} to record, {duration(replayed)} to replay, {_about(one)}"
        lines.append(_row("VGG-11, 10 million parameters, a batch of 16", "22 min to prove (Kaizen)", ours))
    if "logistic" in by_name:
        one = by_name["logistic"]
        steps = -(-one.experiment.rows // one.experiment.batch)
        recorded, replayed, log = (
            steps * one.at_full_batch(read)
            for read in (lambda x: x.recorded, lambda x: x.replayed, lambda x: x.log_bytes)
        )
        ours = (
            f"{duration(recorded)} to record, {duration(replayed)} to replay, {size(log)} of log: {steps} times what "
            "one step takes"
        )
        lines.append(_row("Logistic regression, 262,144 x 1,024, an epoch", "72 s and 350 MB (zkPoT)", ours))
    return lines
