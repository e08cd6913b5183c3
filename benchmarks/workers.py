"""``python -m benchmarks workers``: what workers gain on this machine, and what a segment costs them.

An audit of one run without workers, with one worker process and with several, each with one thread. The time of the
replay is taken from the first judged step to the last, so that the start of the processes is told apart from it.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.pages import tabulated
from benchmarks.sessions import recorded_steps
from counterfoil.audit.hearings import run_audit
from counterfoil.training.recipes.gpt2 import Gpt2Size, order_gpt2
from counterfoil_core.values.events import AuditFinished, StepReplayed, WorkersReported
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.workers import LocalWorkers, RayWorkers, Workers

TEXT = b"Measured on a machine that does nothing else. " * 2000


@dataclass(frozen=True)
class Measured:
    """How long an audit took."""

    whole: float  #: Seconds from its call to its end.
    replay: float  #: Seconds from the moment at which all workers were ready, or at which the replay could begin.


def measured(run: Path, workers: Workers | None) -> Measured:
    """Audit a run; raises ValueError when it is not VERIFIED."""
    begun = ready = time.perf_counter()
    request = AuditRequest(run, threads=1, workers=workers, recheck=0)
    for event in run_audit(request):
        match event:
            case WorkersReported() if not all(worker.machine for worker in event.workers):
                ready = time.perf_counter()
            case StepReplayed() if workers is None and event.row.step == 1:
                ready = time.perf_counter() - event.row.seconds
            case AuditFinished() if event.report.outcome is not Outcome.VERIFIED:
                raise ValueError("the run was not verified")
    ended = time.perf_counter()
    return Measured(ended - begun, ended - ready)


def recorded(folder: Path, segments: int, width: int) -> Path:
    """Record a run of so many segments of one step."""
    size = Gpt2Size(layers=2, heads=4, width=width, context=64)
    draft = order_gpt2(TEXT, size=size, steps=segments, batch_size=8, warmup=2, checkpoint_every=1, seed=1)
    for _ in recorded_steps(folder, draft):
        pass
    return folder / "run.cfoil"


def main(arguments: Sequence[str]) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks workers", description=__doc__)
    parser.add_argument("--segments", type=int, default=40)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--ray", help="address of a Ray cluster, or auto")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        run = recorded(Path(folder), chosen.segments, chosen.width)
        ways: dict[str, Workers | None] = {"no workers": None, "1 process": LocalWorkers(1)}
        ways[f"{chosen.workers} processes"] = LocalWorkers(chosen.workers)
        if chosen.ray:
            ways |= {"1 Ray actor": RayWorkers(chosen.ray, 1), f"{chosen.workers} Ray actors": RayWorkers(chosen.ray)}
        times = {name: measured(run, workers) for name, workers in ways.items()}
    alone = times["no workers"].replay
    print(f"load {os.getloadavg()[0]:.1f}; {chosen.segments} segments of one step of gpt2, width {chosen.width}")
    columns: dict[str, Callable[[str], object]] = {
        "audit": str,
        "whole": lambda name: f"{times[name].whole:.1f} s",
        "replay": lambda name: f"{times[name].replay:.1f} s",
        "replay, times no workers": lambda name: f"{alone / times[name].replay:.2f}",
        "more for each segment": lambda name: (
            f"{1000 * (times[name].replay - alone) / chosen.segments:.1f} ms" if name.startswith("1 ") else "-"
        ),
    }
    print(tabulated(times, columns))
