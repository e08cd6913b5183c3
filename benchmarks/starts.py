"""What commands take: ``starts``, before they do what they are for, and ``sandbox``, in the box and without.

Each is a process of its own, in turn with the others, and of its times the least is shown, since whatever else runs on
the machine only adds. What an audit takes beside its steps is its own time less that of the steps as it reports them.
"""

from __future__ import annotations

import csv
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks.measure import (
    Benchmark,
    Cell,
    CommandCost,
    Results,
    Sections,
    Values,
    argument,
    figures,
    least,
    on_page,
    run_command,
)
from benchmarks.pages import tabulated
from benchmarks.workers import record_segments
from counterfoil.sandbox.box import SWITCH

# As it is installed: a command that is called as a function leaves the box of its process open.
_HERE = [sys.executable, "-P", "-m", "counterfoil"]
_CLOSING = (
    "import time; from counterfoil.sandbox import box; begun = time.perf_counter(); closed = box.enter([]); "
    "print(time.perf_counter() - begun)"
)
_WINDOW = """
import os, sys, time
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from pathlib import Path
from PySide6.QtCore import QSettings
from counterfoil_app.driver.capture import settle, wait_until
from counterfoil_app.main import make_window, spare_the_collector
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.settings import Settings
run, order, kept = map(Path, sys.argv[1:])
window = make_window(settings=Settings(QSettings(str(kept), QSettings.Format.IniFormat)))
window.show()
spare_the_collector()
session = window.session
window.open_bundle(run, order)
session.look_for_devices()
settle(0)
window.grab()
begun = time.perf_counter()
wait_until(lambda: session.phase is Phase.READY and not session.drawing.waiting, 600)
window.grab()
print(time.perf_counter() - begun)
session.shut_down()
"""
"""Opens a run as the window does that is started with one: prints the seconds from its paint to its first figures."""


def time_audit(folder: Path, variables: Mapping[str, str] | None = None) -> tuple[CommandCost, list[float], float]:
    """Audit the run of a folder.

    Returns:
        What that took beside its steps, the seconds of each step, and those until its first line is said.
    """
    table, run = folder / "steps.csv", str(folder / "run.cfoil")
    words = [*_HERE, "audit", run, "--order", str(folder / "job.cfoil"), "--threads", "1"]
    whole = run_command([*words, "--csv", str(table), "--force"], variables)
    with table.open(encoding="utf-8", newline="") as file:
        steps = [float(row["seconds"]) for row in csv.DictReader(file)]
    beside = replace(whole, seconds=whole.seconds - sum(steps), processor=whole.processor - sum(steps))
    return beside, steps, whole.lines[0]


def record(folder: Path, steps: int) -> None:
    """Order and record the network for digits in a folder."""
    job, key = str(folder / "job.cfoil"), str(folder / "key.pem")
    run_command([*_HERE, "keygen", key, "--no-passphrase"])
    run_command([*_HERE, "order", "digits-cnn", "--out", job, "--steps", str(steps)])
    run_command([*_HERE, "train", job, "--out", str(folder / "run.cfoil"), "--key", key])


def starts(folder: Path) -> dict[str, Callable[[], CommandCost]]:
    """What is started, with the run of a folder."""
    run, job = str(folder / "run.cfoil"), str(folder / "job.cfoil")

    def window() -> CommandCost:
        whole = run_command([sys.executable, "-P", "-c", _WINDOW, run, job, str(folder / "window.ini")])
        return replace(whole, seconds=float(whole.said))

    return {
        "`import torch`, which no command can be quicker than that computes": lambda: run_command(
            [sys.executable, "-P", "-c", "import torch"]
        ),
        "`counterfoil --help`": lambda: run_command([*_HERE, "--help"]),
        "`counterfoil inspect run.cfoil --order job.cfoil`": lambda: run_command(
            [*_HERE, "inspect", run, "--order", job]
        ),
        "`counterfoil audit run.cfoil --order job.cfoil`, beside its steps": lambda: time_audit(folder)[0],
        "window, from its paint to a run's first figures (processor: to its end)": window,
    }


def in_turn(calls: Mapping[str, Callable[[], CommandCost]], rounds: int) -> dict[str, list[float]]:
    """Call each in turn, and return the least seconds and processor seconds of each."""
    times: dict[str, list[CommandCost]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(call())
    return {name: [least(each).seconds, least(each).processor] for name, each in times.items()}


def _starts(options: Namespace, what: str) -> Values:
    folder = options.out
    if not (folder / "run.cfoil").exists():
        record(folder, options.steps)
    if what == "starts":
        return {"times": in_turn(starts(folder), options.rounds)}
    # An installation whose kernels are compiled ahead: compiling, its first audit and its second.
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "kernels")}
    first = {
        "`counterfoil doctor --compile` of an installation without any": lambda: run_command(
            [*_HERE, "doctor", "--compile"], variables
        ),
        "its first audit, beside its steps": lambda: time_audit(folder, variables)[0],
        "its second": lambda: time_audit(folder, variables)[0],
    }
    return {"times": in_turn(first, 1)}


def _table(results: Results, _options: Namespace) -> Sections:
    times = {name: each for one in figures(results).values() for name, each in one["times"].items()}
    columns = {"what": "{name}", "time": "{times[0]:.2f} s", "processor time": "{times[1]:.2f} s"}
    return on_page(
        "benchmarks.md", "starts", tabulated([{"name": name, "times": times[name]} for name in times], columns)
    )


STARTS = Benchmark(
    "What commands take before they do what they are for, and the window's first figures.",
    lambda options: [Cell(what, alone=True) for what in ("starts", *(["first"] if options.first else []))],
    _starts,
    _table,
    (
        argument("--steps", type=int, default=60, help="steps of the run (default 60)"),
        argument("--rounds", type=int, default=5, help="how often each is done (default 5)"),
        argument("--first", action="store_true", help="compile anew, and do a first audit too (minutes)"),
    ),
)


# The box.


def box_environment(box: bool) -> dict[str, str]:
    """The environment of a command with its box, or without."""
    variables = {name: value for name, value in os.environ.items() if name != SWITCH}
    return variables if box else {**variables, SWITCH: "off"}


def _of_box(options: Namespace, _key: str) -> Values:
    """Audit, inspect and record the same run in turn in the box and without; least seconds of each."""
    folder, times = options.out, dict[str, dict[bool, list[float]]]()
    run = record_segments(folder, options.steps, options.width)
    train = [*_HERE, "train", str(run), "--out", str(folder / "again.cfoil"), "--key", str(folder / "trainer.pem")]
    steps: dict[bool, list[list[float]]] = {True: [], False: []}
    for box in (False, True):  # kernels are compiled, and files are in memory
        time_audit(folder, box_environment(box))
    for _ in range(options.times):
        for box in (True, False):
            looked = run_command([*_HERE, "inspect", str(run)], box_environment(box))
            made = run_command([*train, "--threads", "1", "--fresh", "--force"], box_environment(box))
            beside, each, first = time_audit(folder, box_environment(box))
            steps[box].append(each)
            said = [at for line, at in zip(made.said.splitlines(), made.lines, strict=True) if "Training: " in line]
            for name, seconds in (
                ("inspect", looked.seconds), ("inspect, processor", looked.processor), ("train", made.seconds),
                ("train, processor", made.processor), ("train, from the first step to the last", said[-1] - said[0]),
                ("audit, to its first step", first - each[0]), ("audit, processor", beside.processor + sum(each)),
            ):  # fmt: skip
                times.setdefault(name, {True: [], False: []})[box].append(seconds)
    found = {name: [min(both[True]), min(both[False])] for name, both in times.items()}
    found["audit, its steps"] = [sum(map(min, zip(*steps[box], strict=True))) for box in (True, False)]
    closing = min(
        float(run_command([sys.executable, "-c", _CLOSING], box_environment(True)).said) for _ in range(options.times)
    )
    return {"times": found, "closing": closing}


def _boxes(results: Results, _options: Namespace) -> Sections:
    found = figures(results).get("all", {"times": {}, "closing": float("nan")})
    rows = [
        {"name": name, "one": one, "other": other, "more": one / other - 1}
        for name, (one, other) in found["times"].items()
    ]
    columns = {"what": "{name}", "in a box": "{one:.3f} s", "without": "{other:.3f} s", "more": "{more:+.2%}"}
    return on_page(
        "sandbox.md", "sandbox", f"The box closes in {1e3 * found['closing']:.1f} ms.", tabulated(rows, columns)
    )


SANDBOX = Benchmark(
    "What the box costs a command: its start, and each step of a replay.",
    lambda _options: [Cell("all", alone=True)],
    _of_box,
    _boxes,
    (
        argument("--times", type=int, default=7),
        argument("--steps", type=int, default=8),
        argument("--width", type=int, default=128),
    ),
)
