"""What keeping each step and what workers cost: ``recording`` and ``workers``.

An audit of one run without workers, with one worker process and with several, each with one thread: the time of the
replay is taken from the first judged step to the last, so that the start of the processes is told apart from it.
"""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import Benchmark, Cell, Results, Sections, Values, argument, figures, on_page, origins
from benchmarks.pages import tabulated
from benchmarks.sessions import recorded_steps
from counterfoil.audit.hearings import run_audit
from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes.digits import order_digits
from counterfoil.training.recipes.gpt2 import Gpt2Size, order_gpt2
from counterfoil.training.recipes.logistic import order_logistic, synthetic_table
from counterfoil.training.recording import Recording
from counterfoil_core.values.events import AuditFinished, StepReplayed, WorkersReported
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.workers import LocalWorkers, RayWorkers, Workers
from counterfoil_resources.digits import load_digits

TEXT = b"Measured on a machine that does nothing else. " * 2000
_ALONE = "no workers"


def record_segments(folder: Path, segments: int, width: int) -> Path:
    """Record a run of so many segments of one step."""
    size = Gpt2Size(layers=2, heads=4, width=width, context=64)
    draft = order_gpt2(TEXT, size=size, steps=segments, batch_size=8, warmup=2, checkpoint_every=1, seed=1)
    for _ in recorded_steps(folder, draft):
        pass
    return folder / "run.cfoil"


def _workers(options: Namespace) -> dict[str, Workers | None]:
    several = options.processes
    ways: dict[str, Workers | None] = {
        _ALONE: None,
        "1 process": LocalWorkers(1),
        f"{several} processes": LocalWorkers(several),
    }
    if options.ray:
        ways |= {"1 Ray actor": RayWorkers(options.ray, 1), f"{several} Ray actors": RayWorkers(options.ray)}
    return ways


def _audited(options: Namespace, name: str) -> Values:
    """Audit a run: seconds of all, and from the moment at which all workers were ready or the replay could begin."""
    workers, run = _workers(options)[name], options.out / "run.cfoil"
    if not run.exists():
        record_segments(options.out, options.segments, options.width)
    begun = ready = time.perf_counter()
    for event in run_audit(AuditRequest(run, threads=1, workers=workers, recheck=0)):
        match event:
            case WorkersReported() if not all(worker.machine for worker in event.workers):
                ready = time.perf_counter()
            case StepReplayed() if workers is None and event.row.step == 1:
                ready = time.perf_counter() - event.row.seconds
            case AuditFinished() if event.report.outcome is not Outcome.VERIFIED:
                raise ValueError("the run was not verified")
    ended = time.perf_counter()
    return {"whole": ended - begun, "replay": ended - ready}


def _gains(results: Results, options: Namespace) -> Sections:
    found = figures(results)
    alone = found[_ALONE]["replay"]
    rows = [{"name": name, **one, "gain": alone / one["replay"]} for name, one in found.items()]

    def more(one: Values) -> str:
        cost = 1000 * (one["replay"] - alone) / options.segments
        return f"{cost:.1f} ms" if one["name"].startswith("1 ") else "-"

    columns: dict[str, str | Callable[[Values], object]] = {
        "audit": "{name}", "whole": "{whole:.1f} s", "replay": "{replay:.1f} s",
        "replay, times no workers": "{gain:.2f}", "more for each segment": more,
    }  # fmt: skip
    what = f"{options.segments} segments of one step of gpt2, width {options.width}. {origins(results)}"
    return on_page("cluster.md", "workers", what, tabulated(rows, columns))


WORKERS = Benchmark(
    "What workers gain on this machine, and what a segment costs them.",
    lambda options: [Cell(name, alone=True, fresh=True) for name in _workers(options)],
    _audited,
    _gains,
    (
        argument("--segments", type=int, default=40),
        argument("--width", type=int, default=128),
        argument("--processes", type=int, default=os.cpu_count() or 1),
        argument("--ray", help="address of a Ray cluster, or auto"),
    ),
)


# What keeping every finished step on the disk costs.


def _orders() -> dict[str, Callable[[], OrderDraft]]:
    """A tiny, a small and a larger step, each with a state stored every tenth step."""
    table, text = synthetic_table(256, 8, 0), bytes(range(32, 127)) * 200
    return {
        "logistic regression, 9 weights": lambda: order_logistic(
            table.features, table.labels, steps=2000, batch_size=16, checkpoint_every=10
        ),
        "digits, 16 channels": lambda: order_digits(
            *load_digits(), steps=100, batch_size=32, width=16, checkpoint_every=10
        ),
        "GPT-2, 4 layers of width 128": lambda: order_gpt2(
            text, size=Gpt2Size(), batch_size=4, steps=20, checkpoint_every=10
        ),
    }


def _kept(options: Namespace, name: str) -> Values:
    """Record an order: seconds of a step, the share of keeping, and the bytes kept for each step."""
    spent = 0.0

    def timed(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            nonlocal spent
            begun = time.perf_counter()
            try:
                return method(*arguments)
            finally:
                spent += time.perf_counter() - begun

        return call

    Recording.append = timed(Recording.append)  # type: ignore[method-assign]
    Recording.store_state = timed(Recording.store_state)  # type: ignore[method-assign]
    events = list(recorded_steps(options.out, _orders()[name]()))
    seconds, file = sum(event.seconds for event in events), (options.out / "run.cfoil").stat().st_size
    return {"ms": 1e3 * seconds / len(events), "share": 100 * spent / seconds, "kb": file / len(events) / 1000}


RECORDING = Benchmark(
    "What keeping every finished step on the disk costs, as a share of recording; --out is on the disk to measure.",
    lambda _options: [Cell(name, alone=True, fresh=True) for name in _orders()],
    _kept,
    lambda results, _options: on_page(
        "recording.md",
        "recording",
        tabulated(
            [{"name": name, **one} for name, one in figures(results).items()],
            {
                "": "{name}",
                "a step": "{ms:.1f} ms",
                "of it to keep it": "{share:.2f} %",
                "kept for a step": "{kb:.1f} kB",
            },
        ),
    ),
)
