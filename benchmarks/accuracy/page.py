"""The page ``docs/accuracy.md``: the table, and what it says."""

from __future__ import annotations

import math
import platform
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import torch

from benchmarks.accuracy.cases import Done
from benchmarks.accuracy.tasks import Task
from benchmarks.accuracy.training import REFERENCE, Trained
from benchmarks.pages import machine_name
from counterfoil_core.arithmetic.machine import Machine

LAST_SHARE = 0.1
"""The final loss is the mean over this share of the steps, the last ones."""

PAGE = """\
# Accuracy: do models learn as well under the precision profiles?

*For*: clients who choose a precision profile.
*Answers*: how training under each profile compares with ordinary float32 training, on three tasks with five seeds,
and what the differences mean.

{origin}

{tasks}

Model, initial weights, order of the rows, learning rates, augmentation and dropout masks are the same in all rows of a
task and seed; only the arithmetic differs. *float32* is ordinary eager PyTorch with `torch.optim`, to which the others
are compared; *bfloat16 autocast* is the same under `torch.autocast`. *float32, weights one ulp up* is a control:
ordinary float32 training in which each initial parameter is the next larger float32 number. What that changes is the
noise of float32 itself, which other hardware brings too. The others are [precision profiles](profiles.md), with the
arithmetic of a recording. Held-out data are tried in float32, whatever a model was trained in.

Numbers are means ± standard deviations over {seeds} seeds; a seed decides weights, order, augmentation and dropout. The
final training loss is the mean of the last {share} % of the steps; loss and accuracy are those on held-out data.
Differences are to float32, seed by seed.

| task | arithmetic | final training loss | loss | difference | accuracy, % | difference |
|---|---|---|---|---|---|---|
{table}

## What it says
The *spread* is the standard deviation of float32 between seeds: the luck of the draw. Of each arithmetic this is the
largest mean difference to float32 in either direction, in parts of the spread, ± the standard error of that mean. More
loss and less accuracy are worse.

| arithmetic | loss | accuracy | mean differences larger than the spread |
|---|---|---|---|
{summary}

{sentence}

Where the noise of a single training is a large part of the spread, as the control shows it to be, {seeds} seeds cannot
tell a small harm from none. Models are small and stop early; large models and long trainings were not measured.
"""


@dataclass(frozen=True)
class Measure:
    """A number of a training that is compared."""

    name: str
    of: Callable[[Trained], float]
    after: int


def final_loss(trained: Trained) -> float:
    """The mean loss of the last steps."""
    return statistics.fmean(trained.losses[-max(1, int(len(trained.losses) * LAST_SHARE)) :])


FINAL = Measure("final training loss", final_loss, 4)
HELD_OUT = (
    Measure("loss", lambda trained: trained.held_out_loss, 4),
    Measure("accuracy", lambda trained: trained.held_out_accuracy, 2),
)

Results = dict[str, dict[str, list[Trained]]]
"""By task and arithmetic, the results in the order of the seeds."""


def collected(done: Sequence[Done]) -> Results:
    """Sort what was trained by task and arithmetic."""
    results: Results = {}
    for one in done:
        results.setdefault(one.case.task.name, {}).setdefault(one.case.arithmetic, []).append(one.trained)
    return results


def differences(measure: Measure, found: Sequence[Trained], reference: Sequence[Trained]) -> list[float]:
    """Return the differences of a measure, seed by seed."""
    return [measure.of(one) - measure.of(other) for one, other in zip(found, reference, strict=True)]


def table(results: Results) -> Iterator[str]:
    """Yield the rows of the table."""
    for task, by_arithmetic in results.items():
        for arithmetic, found in by_arithmetic.items():
            cells = [task, arithmetic, _spread([FINAL.of(one) for one in found], FINAL.after)]
            for measure in HELD_OUT:
                cells.append(_spread([measure.of(one) for one in found], measure.after))
                between = differences(measure, found, by_arithmetic[REFERENCE])
                cells.append("-" if arithmetic == REFERENCE else _difference(between, measure.after))
            yield f"| {' | '.join(cells)} |"


@dataclass(frozen=True)
class Share:
    """A mean difference to float32 in parts of the spread between seeds, and the standard error of that mean."""

    task: str
    measure: str
    size: float
    error: float

    def __str__(self) -> str:
        return f"{self.size:+.2f} ± {self.error:.2f} ({self.task})"

    @property
    def is_beyond(self) -> bool:
        """Whether it is larger than the spread, for better or worse."""
        return abs(self.size) > 1


def shares(results: Results, arithmetic: str) -> list[Share]:
    """Return how far an arithmetic is from float32, for each task and measure."""
    found = []
    for task, by_arithmetic in results.items():
        for measure in HELD_OUT:
            reference = by_arithmetic[REFERENCE]
            between = differences(measure, by_arithmetic[arithmetic], reference)
            spread = statistics.stdev(measure.of(one) for one in reference)
            error = statistics.stdev(between) / math.sqrt(len(between))
            found.append(Share(task, measure.name, _part(statistics.fmean(between), spread), _part(error, spread)))
    return found


def summary(results: Results) -> Iterator[str]:
    """Yield the rows of the second table: the largest differences of each arithmetic."""
    for arithmetic in _compared(results):
        found = shares(results, arithmetic)
        largest = [
            max((one for one in found if one.measure == measure.name), key=lambda one: abs(one.size))
            for measure in HELD_OUT
        ]
        beyond = [f"{one.measure} of {one.task}" for one in found if one.is_beyond]
        yield f"| {arithmetic} | {largest[0]} | {largest[1]} | {', '.join(beyond) or 'none'} |"


def sentence(results: Results) -> str:
    """Return what the second table comes down to."""
    within = [name for name in _compared(results) if not any(one.is_beyond for one in shares(results, name))]
    beyond = [name for name in _compared(results) if name not in within]
    parts = []
    if within:
        parts.append(f"No mean difference is larger than the spread under {_listed(within)}.")
    if beyond:
        parts.append(f"At least one is under {_listed(beyond)}.")
    return " ".join(parts)


def _compared(results: Results) -> list[str]:
    return [name for name in next(iter(results.values())) if name != REFERENCE]


def _listed(names: Sequence[str]) -> str:
    names = [f"*{name}*" for name in names]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _part(size: float, spread: float) -> float:
    if spread == 0.0:
        return 0.0 if size == 0.0 else math.copysign(math.inf, size)
    return size / spread


def page(done: Sequence[Done], command: str, machine: Machine) -> str:
    """Return the page as Markdown; ``done`` holds at least two seeds of everything."""
    results = collected(done)
    tasks: dict[str, Task] = {one.case.task.name: one.case.task for one in done}
    seeds = len({one.case.seed for one in done})
    today = datetime.now(UTC).date().isoformat()
    origin = (
        f"Measured on {today} by `{command}` on {machine_name(str(machine.device))}, {machine.threads} "
        f"{'thread' if machine.threads == 1 else 'threads'}; torch {torch.__version__}, Python "
        f"{platform.python_version()}."
    )
    return PAGE.format(
        origin=origin,
        tasks="\n".join(f"- **{name}**: {task.what}." for name, task in tasks.items()),
        seeds=seeds,
        share=round(100 * LAST_SHARE),
        table="\n".join(table(results)),
        summary="\n".join(summary(results)),
        sentence=sentence(results),
    )


def _spread(values: Sequence[float], after: int) -> str:
    return f"{statistics.fmean(values):.{after}f} ± {statistics.stdev(values):.{after}f}"


def _difference(values: Sequence[float], after: int) -> str:
    """A mean difference and its deviation; in powers of ten where the digits would all be zero."""
    mean, deviation = statistics.fmean(values), statistics.stdev(values)
    if max(abs(mean), deviation) == 0.0:
        return "0"
    style = f".{after}f" if max(abs(mean), deviation) >= 10.0**-after else ".0e"
    return f"{mean:+{style}} ± {deviation:{style}}"
