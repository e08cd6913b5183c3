"""``python -m benchmarks soak``: record and audit very many steps of a tiny model; memory, files and time stay flat.

Both are done by a process of their own, which writes down every so many steps how long they took, how much memory it
holds, and how many files it has open.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.pages import tabulated
from benchmarks.plots import canvas, save
from benchmarks.programs import command, environment
from benchmarks.sessions import recorded_steps, replayed_steps
from counterfoil.training.recipes.logistic import order_logistic, synthetic_table

STEPS = 100_000
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
        return [
            sentence
            for holds, sentence in (
                (self.slowdown <= MOST_SLOWDOWN, f"Steps take {self.slowdown:.2f} times as long at the end."),
                (
                    self.bytes_per_step <= MOST_BYTES_PER_STEP,
                    f"Each step takes {self.bytes_per_step:.0f} bytes that are not given back.",
                ),
                (self.more_files <= 0, f"{self.more_files} more files are open at the end."),
            )
            if not holds
        ]


def flatness(samples: Samples) -> Flatness:
    """Judge samples of one process, the warm-up left out."""
    later = samples[samples[:, 0] > _WARM_UP * samples[-1, 0]]
    quarter = max(len(later) // 4, 1)
    first, last = later[:quarter], later[-quarter:]
    slope = np.polyfit(later[:, 0], later[:, 2], 1)[0]
    return Flatness(
        1e3 * float(np.median(later[:, 1])),
        float(np.median(last[:, 1]) / np.median(first[:, 1])),
        float(slope),
        int(np.median(last[:, 3]) - np.median(first[:, 3])),
    )


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _sampled(steps: Iterator[int], every: int) -> Samples:
    """Follow steps as they are done, and look at the process every so many."""
    rows = []
    before, since = 0, time.perf_counter()
    for step in steps:
        if step - before >= every:
            now = time.perf_counter()
            rows.append((step, (now - since) / (step - before), _resident(), len(os.listdir("/proc/self/fd"))))
            before, since = step, time.perf_counter()
    return np.array(rows, np.float64).reshape(-1, 4)


def _recorded(folder: Path, steps: int) -> Iterator[int]:
    table = synthetic_table(256, 4, 0)
    draft = order_logistic(table.features, table.labels, steps=steps, batch_size=8, checkpoint_every=1000)
    return (event.step for event in recorded_steps(folder, draft, threads=1))


def _audited(folder: Path, _steps: int) -> Iterator[int]:
    return (event.row.step for event in replayed_steps(folder, threads=1))


PHASES = {"record": _recorded, "audit": _audited}


def soak(folder: Path, steps: int) -> dict[str, Samples]:
    """Record ``steps`` steps and audit them, each in a process; returns the samples of each.

    Raises:
        subprocess.CalledProcessError: One of them failed.
    """
    found = {}
    for phase in PHASES:
        child = command("soak", "--phase", phase, "--folder", str(folder), "--steps", str(steps))
        subprocess.run(child, env=environment(), check=True)
        found[phase] = np.load(folder / f"{phase}.npy")
    return found


def plot(found: dict[str, Samples], path: Path) -> None:
    """Draw time per step, memory and open files over the steps."""
    layout = canvas(900, 720)
    colours = {"record": "#1f6feb", "audit": "#d1570a"}
    for row, (title, column, factor) in enumerate(
        (("ms per step", 1, 1e3), ("resident memory, MiB", 2, 2.0**-20), ("open files", 3, 1.0))
    ):
        axes = layout.addPlot(row=row, col=0)
        axes.setLabel("left", title)
        axes.showGrid(x=True, y=True, alpha=0.2)
        if row == 0:
            axes.addLegend(offset=(-10, 10))
        for phase, samples in found.items():
            axes.plot(
                samples[1:, 0], factor * samples[1:, column], pen={"color": colours[phase], "width": 2}, name=phase
            )
        # The first sample holds what is done once, loading and compiling.
        axes.setYRange(0, 1.2 * max(factor * samples[1:, column].max() for samples in found.values()))
        axes.getAxis("left").setWidth(60)
    axes.setLabel("bottom", "step")
    save(layout, path)


def main(arguments: Sequence[str]) -> int:
    """Run a soak, or one part of it; returns 1 if something is not flat."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks soak", description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--plot", type=Path, help="draw the samples into this PNG file")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--phase", choices=PHASES, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.phase:
        steps = PHASES[options.phase](options.folder, options.steps)
        np.save(options.folder / f"{options.phase}.npy", _sampled(steps, max(options.steps // _SAMPLES, 1)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        found = soak(Path(folder), options.steps)
        size = (Path(folder) / "run.cfoil").stat().st_size
    if options.plot:
        plot(found, options.plot)
    print(f"{options.steps:,} steps, run of {size / 2**20:.1f} MiB; Python {platform.python_version()}\n")
    judged = {phase: flatness(samples) for phase, samples in found.items()}
    columns: dict[str, Callable[[str], object]] = {
        "": str,
        "ms per step": lambda phase: f"{judged[phase].milliseconds:.2f}",
        "last quarter / first": lambda phase: f"{judged[phase].slowdown:.2f}",
        "bytes per step": lambda phase: f"{judged[phase].bytes_per_step:.0f}",
        "more open files": lambda phase: judged[phase].more_files,
        "most memory": lambda phase: f"{found[phase][:, 2].max() / 2**20:.0f} MiB",
    }
    print(tabulated(judged, columns))
    faults = [f"{phase}: {fault}" for phase, flat in judged.items() for fault in flat.faults]
    print("".join(f"\n- {fault}" for fault in faults))
    return 1 if faults else 0
