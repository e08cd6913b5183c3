"""``python -m benchmarks growth``: how cost grows with batch, width, depth and steps, and with the size of a bundle.

Each curve has the slope of the line through its logarithms: 1 is in proportion, 0 is constant. Times of a step are the
least processor time of some rounds; those of whole runs and of bundles are by the clock. What is measured is kept in
:data:`RESULTS`, so that the parts can be measured one by one.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from benchmarks.forms import Forms
from benchmarks.pages import markdown, origin, write_between
from benchmarks.plots import Curve, Panel, draw_panels
from benchmarks.sessions import recorded_steps, replayed_steps
from benchmarks.timing import rounds_of
from benchmarks.workloads import EagerStep, gpt2_of_size
from counterfoil.audit.timing import plan_audit
from counterfoil.training.recipes.gpt2 import Gpt2Size
from counterfoil.training.recipes.logistic import order_logistic, synthetic_table
from counterfoil_core.arithmetic.grid.log import encode
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.hearing.inspection import open_inspection

RESULTS = Path(__file__).with_name("growth.json")
ROUNDS = 5

BATCHES = (1, 2, 4, 8, 16, 32)
WIDTHS = (32, 64, 128, 256, 512)
DEPTHS = (1, 2, 4, 8, 16)
STEPS = (30, 100, 300, 1000, 3000)
FEATURES = (40_000, 160_000, 640_000, 2_560_000, 10_240_000)
"""Of the bundles that are opened: each has four rows of data and three states of so many values."""

Points = dict[str, list[list[float]]]
"""x and y of each point, by curve."""


def _steps_of(sizes: Sequence[tuple[int, Gpt2Size, int]], threads: int) -> dict[str, Points]:
    """Time a step at each size: x, the model, the batch. Returns the curves of time, and of the log."""
    machine = open_machine("cpu", threads)
    times: Points = {name: [] for name in ("eager float32", "unrounded", "recorded", "replayed")}
    log: Points = {"entries": [], "bytes": []}
    for x, size, batch in sizes:
        workload = gpt2_of_size(size, batch)
        order = workload.order(None)
        eager: EagerStep = workload.eager(torch.float32, machine.device)
        with machine.kernels() as kernels:
            forms = Forms(order, machine, kernels)
            calls: dict[str, Callable[[], object]] = {
                "eager float32": eager,
                "unrounded": forms.run,
                "recorded": forms.record,
                "replayed": forms.replay,
            }
            taken = rounds_of(calls, ROUNDS, warm_up=1, clock=time.process_time)
            values = sum(site.elements for site in order.program.sites)
            log["entries"].append([values, sum(len(site.indices) for site in forms.logs)])
            log["bytes"].append([values, len(encode(forms.logs))])
        for name, seconds in taken.items():
            times[name].append([x, 1e3 * min(seconds)])
    return {"times": times, "log": log}


def _batch(threads: int) -> dict[str, Points]:
    size = Gpt2Size(layers=2, heads=4, width=64, context=32)
    return _steps_of([(batch, size, batch) for batch in BATCHES], threads)


def _width(threads: int) -> dict[str, Points]:
    return _steps_of([(width, Gpt2Size(layers=2, heads=4, width=width, context=32), 4) for width in WIDTHS], threads)


def _depth(threads: int) -> dict[str, Points]:
    return _steps_of(
        [(layers, Gpt2Size(layers=layers, heads=4, width=64, context=32), 4) for layers in DEPTHS], threads
    )


def _many_steps(threads: int) -> dict[str, Points]:
    """Milliseconds of a step of logistic regression, recorded and audited, by the number of steps of the run."""
    table = synthetic_table(256, 4, 0)
    found: Points = {"recorded": [], "audited": []}
    for steps in STEPS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            draft = order_logistic(table.features, table.labels, steps=steps, batch_size=8, checkpoint_every=100)
            recorded = [event.seconds for event in recorded_steps(folder, draft, threads=threads)]
            audited = [event.row.seconds for event in replayed_steps(folder, threads)]
        for curve, seconds in (("recorded", recorded), ("audited", audited)):
            found[curve].append([steps, 1e3 * float(np.mean(seconds[1:]))])
    return {"times": found}


def _bundles(threads: int) -> dict[str, Points]:
    """Seconds to open a run, to make all checks before a replay, and to plan its audit, by its size in MB."""
    found: Points = {"open": [], "checks 1 to 6": [], "plan": []}
    rng = np.random.default_rng(0)
    for width in FEATURES:
        rows, labels = rng.standard_normal((4, width), np.float32), np.arange(4) % 2
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            draft = order_logistic(rows, labels, steps=2, batch_size=4, learning_rate=1e-6, checkpoint_every=1)
            list(recorded_steps(folder, draft, threads=threads))
            run = folder / "run.cfoil"
            megabytes = run.stat().st_size / 1e6

            def opened(run: Path = run) -> None:
                with BundleReader.open(run):
                    pass

            def checked(run: Path = run) -> None:
                with open_inspection(run) as inspection:
                    assert inspection.failure is None

            def planned(run: Path = run) -> None:
                for _ in plan_audit(run, threads=threads):
                    pass

            for curve, call in (("open", opened), ("checks 1 to 6", checked), ("plan", planned)):
                found[curve].append([megabytes, min(rounds_of({"": call}, 2, warm_up=0)[""])])
    return {"times": found}


PARTS: Mapping[str, Callable[[int], dict[str, Points]]] = {
    "batch": _batch,
    "width": _width,
    "depth": _depth,
    "steps": _many_steps,
    "bundle": _bundles,
}
WHAT = {
    "batch": ("batch", "ms a step", "gpt2, 2 layers, width 64, sequence 32"),
    "width": ("width", "ms a step", "gpt2, 2 layers, sequence 32, batch 4"),
    "depth": ("layers", "ms a step", "gpt2, width 64, sequence 32, batch 4"),
    "steps": ("steps of the run", "ms a step", "logistic regression, 5 weights"),
    "bundle": (
        "MB of the bundle",
        "seconds",
        "logistic regression with many weights, two steps, each state stored",
    ),
}
"""Of each part the axes, and what it is."""


def _curves(points: Points) -> list[Curve]:
    return [Curve(name, tuple((x, y) for x, y in found)) for name, found in points.items()]


def panels(found: Mapping[str, Mapping[str, Points]]) -> list[Panel]:
    """Return what is drawn: a panel for each part, and one for the log of all sizes."""
    drawn = [Panel(WHAT[part][0], WHAT[part][1], _curves(found[part]["times"])) for part in PARTS if part in found]
    sizes = [part for part in PARTS if "log" in found.get(part, {})]
    log = [
        Curve(f"log entries, {part} grows", tuple((x, y) for x, y in found[part]["log"]["entries"])) for part in sizes
    ]
    return [*drawn, *([Panel("values rounded in a step", "log entries of a step", log)] if log else [])]


def table(found: Mapping[str, Mapping[str, Points]]) -> str:
    """Return every curve with its ends and its slope as Markdown."""
    rows = []
    for part in PARTS:
        if part not in found:
            continue
        x, y, what = WHAT[part]
        for curve in _curves(found[part]["times"]):
            rows.append([f"{what}: {y} by {x}", curve.name, *_row(curve)])
        if "log" in found[part]:
            for curve in _curves(found[part]["log"]):
                rows.append([f"{what}: log by values rounded, {x} grows", curve.name, *_row(curve)])
    return markdown(["what grows", "curve", "from", "to", "slope"], rows)


def _row(curve: Curve) -> list[str]:
    ends = [f"{y:,.3g} at {x:,.4g}" for x, y in (curve.points[0], curve.points[-1])]
    return [*ends, f"{curve.slope:.2f}"]


def main(arguments: Sequence[str]) -> None:
    """Measure the parts that were asked for, keep them, and print all that is known."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks growth", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of {', '.join(PARTS)}; none only prints")
    parser.add_argument("--threads", type=int, default=1, help="threads on the CPU (default 1)")
    parser.add_argument("--write", type=Path, help="a page whose part is replaced")
    parser.add_argument("--plot", type=Path, help="draw the curves into this PNG file")
    options = parser.parse_args(arguments)
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {"origins": {}, "found": {}}
    for part in options.parts:
        kept["found"][part] = PARTS[part](options.threads)
        kept["origins"][part] = origin(options.threads)
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    measured = "\n".join(f"- {part}: {where}" for part, where in kept["origins"].items())
    text = f"{table(kept['found'])}\n\n{measured}"
    print(text)
    if options.write:
        write_between(options.write, "growth", text)
    if options.plot:
        draw_panels(panels(kept["found"]), options.plot)
