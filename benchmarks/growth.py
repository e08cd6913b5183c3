"""How cost grows with batch, width, depth and steps, and with the size of a bundle.

Each curve has the slope of the line through its logarithms: 1 is in proportion, 0 is constant. Times of a step are the
least processor time of some rounds; those of whole runs and of bundles are by the clock.
"""

from __future__ import annotations

import os
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from benchmarks.forms import Forms
from benchmarks.measure import (
    Benchmark,
    Cell,
    Results,
    Sections,
    Values,
    argument,
    figures,
    on_page,
    rounds_of,
    some_of,
)
from benchmarks.pages import markdown, size, tabulated
from benchmarks.plots import Curve, Panel, draw_panels
from benchmarks.sessions import recorded_steps, replayed_steps
from benchmarks.workloads import CPU, gpt2_of_size
from counterfoil.audit.timing import plan_audit
from counterfoil.training.recipes.gpt2 import Gpt2Size
from counterfoil.training.recipes.logistic import order_logistic, synthetic_table
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.hearing.inspection import open_inspection

ROUNDS = 5
STEPS = (30, 100, 300, 1000, 3000)
FEATURES = (40_000, 160_000, 640_000, 2_560_000, 10_240_000)
"""Of the bundles that are opened: each has four rows of data and three states of so many values."""

Points = dict[str, list[list[float]]]
"""x and y of each point, by curve."""


def _size(layers: int = 2, width: int = 64) -> Gpt2Size:
    return Gpt2Size(layers=layers, heads=4, width=width, context=32)


SIZES: Mapping[str, list[tuple[int, Gpt2Size, int]]] = {
    "batch": [(batch, _size(), batch) for batch in (1, 2, 4, 8, 16, 32)],
    "width": [(width, _size(width=width), 4) for width in (32, 64, 128, 256, 512)],
    "depth": [(layers, _size(layers), 4) for layers in (1, 2, 4, 8, 16)],
}
"""Of a step that grows: x, the model, the batch."""
WHAT = {
    "batch": ("batch", "ms a step", "gpt2, 2 layers, width 64, sequence 32"),
    "width": ("width", "ms a step", "gpt2, 2 layers, sequence 32, batch 4"),
    "depth": ("layers", "ms a step", "gpt2, width 64, sequence 32, batch 4"),
    "steps": ("steps of the run", "ms a step", "logistic regression, 5 weights"),
    "bundle": ("MB of the bundle", "seconds", "logistic regression with many weights, two steps, each state stored"),
}
"""Of each part the axes, and what it is."""


def _steps_of(part: str, threads: int) -> Values:
    """Time a step at each size; returns the curves of time, and of the log."""
    machine = open_machine("cpu", threads)
    times, log = Points(), Points(entries=[], bytes=[])
    for x, shape, batch in SIZES[part]:
        workload = gpt2_of_size(shape, batch)
        with machine.kernels() as kernels:
            forms = Forms(workload.order(None), machine, kernels)
            calls = {"eager float32": workload.eager(torch.float32, CPU), **forms.calls}
            taken = rounds_of(calls, ROUNDS, warm_up=1, clock=time.process_time)
            for curve, what in (("entries", "entries"), ("bytes", "log_bytes")):
                log[curve].append([forms.counted["values"], forms.counted[what]])
        for name, seconds in taken.items():
            times.setdefault(name, []).append([x, 1e3 * min(seconds)])
    return {"times": times, "log": log}


def _many_steps(threads: int) -> Values:
    """Milliseconds of a step of logistic regression, recorded and audited, by the number of steps of the run."""
    table, found = synthetic_table(256, 4, 0), Points(recorded=[], audited=[])
    for steps in STEPS:
        with tempfile.TemporaryDirectory() as name:
            draft = order_logistic(table.features, table.labels, steps=steps, batch_size=8, checkpoint_every=100)
            recorded = [event.seconds for event in recorded_steps(Path(name), draft, threads=threads)]
            audited = [event.row.seconds for event in replayed_steps(Path(name), threads)]
        for curve, seconds in (("recorded", recorded), ("audited", audited)):
            found[curve].append([steps, 1e3 * float(np.mean(seconds[1:]))])
    return {"times": found}


def _bundles(threads: int) -> Values:
    """Seconds to open a run, to make all checks before a replay, and to plan its audit, by its size in MB."""
    found, rng = Points(), np.random.default_rng(0)

    def opened(run: Path) -> None:
        with BundleReader.open(run):
            pass

    def checked(run: Path) -> None:
        with open_inspection(run) as inspection:
            assert inspection.failure is None

    for width in FEATURES:
        rows, labels = rng.standard_normal((4, width), np.float32), np.arange(4) % 2
        with tempfile.TemporaryDirectory() as name:
            draft = order_logistic(rows, labels, steps=2, batch_size=4, learning_rate=1e-6, checkpoint_every=1)
            list(recorded_steps(Path(name), draft, threads=threads))
            run = Path(name) / "run.cfoil"
            calls: dict[str, Callable[[], object]] = {
                "open": lambda run=run: opened(run),  # type: ignore[misc]
                "checks 1 to 6": lambda run=run: checked(run),  # type: ignore[misc]
                "plan": lambda run=run: list(plan_audit(run, threads=threads)),  # type: ignore[misc]
            }
            for curve, call in calls.items():
                seconds = min(rounds_of({"": call}, 2, warm_up=0)[""])
                found.setdefault(curve, []).append([run.stat().st_size / 1e6, seconds])
    return {"times": found}


def _measure(options: Namespace, part: str) -> Values:
    if part in SIZES:
        return _steps_of(part, options.threads)
    return (_many_steps if part == "steps" else _bundles)(options.threads)


def _curves(points: Points) -> list[Curve]:
    return [Curve(name, tuple((x, y) for x, y in found)) for name, found in points.items()]


def draw(results: Results, path: Path) -> None:
    """Draw a panel for each part, and one for the log of all sizes."""
    found = figures(results)
    panels = [Panel(*WHAT[part][:2], _curves(found[part]["times"])) for part in WHAT if part in found]
    log = [
        Curve(f"log entries, {part} grows", tuple((x, y) for x, y in found[part]["log"]["entries"]))
        for part in SIZES
        if part in found
    ]
    draw_panels([*panels, *([Panel("values rounded in a step", "log entries of a step", log)] if log else [])], path)


def _sections(results: Results, _options: Namespace) -> Sections:
    rows, found = [], figures(results)
    for part in filter(found.__contains__, WHAT):
        x, y, what = WHAT[part]
        for kind, title in (("times", f"{what}: {y} by {x}"), ("log", f"{what}: log by values rounded, {x} grows")):
            for curve in _curves(found[part].get(kind, {})):
                ends = [f"{high:,.3g} at {at:,.4g}" for at, high in (curve.points[0], curve.points[-1])]
                rows.append([title, curve.name, *ends, f"{curve.slope:.2f}"])
    measured = "\n".join(f"- {part}: {results[part].origin}" for part in WHAT if part in found)
    table = markdown(["what grows", "curve", "from", "to", "slope"], rows)
    return on_page("benchmarks.md", "growth", table, measured)


GROWTH = Benchmark(
    "How cost grows with sizes.",
    lambda options: [Cell(part, alone=True) for part in options.parts],
    _measure,
    _sections,
    (some_of("parts", WHAT),),
    out="benchmarks/measured/growth",
    picture=draw,
)


# Very many steps: memory, files and time stay flat. Recording and auditing have a process of their own each, which
# looks at itself every so many steps: how long they took, how much memory it holds, how many files it has open.

SOAK_STEPS = 100_000
_SAMPLES = 200
_WARM_UP = 0.1
"""Share of the steps at the start that are not judged: kernels are loaded, pools filled."""
MOST_BYTES_PER_STEP = 1024
"""Memory may grow by the results of a step, which are kept, and by no more."""
MOST_SLOWDOWN = 1.25
"""Median time of a step in the last quarter, over that in the first quarter after the warm-up."""

Samples = npt.NDArray[np.float64]
"""float64 ``[samples, 4]``: step, seconds per step since the last sample, resident bytes, open files."""


@dataclass(frozen=True)
class Flatness:
    """What is found in samples."""

    milliseconds: float  #: Median time of a step, in ms.
    slowdown: float  #: Median time of a step in the last quarter over that in the first.
    bytes_per_step: float  #: By how much memory grows in a step, by a line of least squares.
    more_files: int  #: Median of open files in the last quarter over that in the first.

    @property
    def faults(self) -> list[str]:
        """What is not flat, a sentence each."""
        kept = f"Each step takes {self.bytes_per_step:.0f} bytes that are not given back."
        holds = {
            f"Steps take {self.slowdown:.2f} times as long at the end.": self.slowdown <= MOST_SLOWDOWN,
            kept: self.bytes_per_step <= MOST_BYTES_PER_STEP,
            f"{self.more_files} more files are open at the end.": self.more_files <= 0,
        }
        return [sentence for sentence, flat in holds.items() if not flat]


def flatness(samples: Samples) -> Flatness:
    """Judge samples of one process, the warm-up left out."""
    later = samples[samples[:, 0] > _WARM_UP * samples[-1, 0]]
    quarter = max(len(later) // 4, 1)
    first, last = later[:quarter], later[-quarter:]
    return Flatness(
        1e3 * float(np.median(later[:, 1])),
        float(np.median(last[:, 1]) / np.median(first[:, 1])),
        float(np.polyfit(later[:, 0], later[:, 2], 1)[0]),
        int(np.median(last[:, 3]) - np.median(first[:, 3])),
    )


def _sampled(steps: Iterator[int], every: int) -> Samples:
    """Follow steps as they are done, and look at the process every so many."""
    rows, before, since = [], 0, time.perf_counter()
    for step in steps:
        if step - before >= every:
            now = time.perf_counter()
            resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            rows.append((step, (now - since) / (step - before), resident, len(os.listdir("/proc/self/fd"))))
            before, since = step, time.perf_counter()
    return np.array(rows, np.float64).reshape(-1, 4)


def _soaked(options: Namespace, phase: str) -> Values:
    if phase == "record":
        table = synthetic_table(256, 4, 0)
        draft = order_logistic(table.features, table.labels, steps=options.steps, batch_size=8, checkpoint_every=1000)
        steps = (event.step for event in recorded_steps(options.out, draft, threads=1))
    else:
        steps = (event.row.step for event in replayed_steps(options.out, threads=1))
    samples = _sampled(steps, max(options.steps // _SAMPLES, 1))
    file = (options.out / "run.cfoil").stat().st_size
    return {"samples": samples.tolist(), "bytes": file, "strange": flatness(samples).faults}


def draw_soak(results: Results, path: Path) -> None:
    """Draw time per step, memory and open files over the steps."""

    def curve(phase: str, samples: Sequence[Sequence[float]], column: int, factor: float) -> Curve:
        # The first sample holds what is done once, loading and compiling.
        return Curve(phase, tuple((row[0], factor * row[column]) for row in samples[1:]))

    kinds = (("ms per step", 1, 1e3), ("resident memory, MiB", 2, 2.0**-20), ("open files", 3, 1.0))
    found = {phase: one["samples"] for phase, one in figures(results).items()}
    panels = [
        Panel("step", title, [curve(phase, samples, column, factor) for phase, samples in found.items()], False)
        for title, column, factor in kinds
    ]
    draw_panels(panels, path, columns=1)


def _soak_sections(results: Results, options: Namespace) -> Sections:
    rows = [
        {
            "phase": phase,
            "most": max(row[2] for row in one["samples"]) / 2**20,
            **vars(flatness(np.array(one["samples"]))),
        }
        for phase, one in figures(results).items()
    ]
    columns = {
        "": "{phase}", "ms per step": "{milliseconds:.2f}", "last quarter / first": "{slowdown:.2f}",
        "bytes per step": "{bytes_per_step:.0f}", "more open files": "{more_files}", "most memory": "{most:.0f} MiB",
    }  # fmt: skip
    file = max((one["bytes"] for one in figures(results).values()), default=0)
    return on_page("benchmarks.md", "soak", f"{options.steps:,} steps, run of {size(file)}", tabulated(rows, columns))


SOAK = Benchmark(
    "Very many steps: do memory, files and time stay flat?",
    lambda _options: [Cell(phase, fresh=True, alone=True) for phase in ("record", "audit")],
    _soaked,
    _soak_sections,
    (argument("--steps", type=int, default=SOAK_STEPS),),
    picture=draw_soak,
)
