"""``python -m benchmarks sandbox``: what the box costs a command: its start, and each step of a replay.

The same run is audited by processes of their own, in turn with the box and without. Of each time the least of several
is taken, since whatever else runs on the machine only adds.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.workers import recorded
from counterfoil.sandbox.box import SWITCH
from counterfoil.signing.privatekeys import generate_key

_CLOSING = (
    "import time; from counterfoil.sandbox import box; begun = time.perf_counter(); closed = box.enter([]); "
    "print(time.perf_counter() - begun)"
)
_COMMAND = "import sys; from counterfoil.cli import main; sys.exit(main())"


@dataclass(frozen=True)
class Measured:
    """How long an audit took."""

    start: float  #: Seconds from the start of the command to that of the first step.
    steps: tuple[float, ...]  #: Seconds of each step of the replay.
    processor: float  #: Seconds of the processor that all of it took.


def closing(times: int) -> float:
    """Return the least time in which a box closed, in seconds."""
    command = [sys.executable, "-c", _CLOSING]
    return min(float(subprocess.check_output(command, env=_environment(boxed=True))) for _ in range(times))


def audited(run: Path, boxed: bool) -> Measured:
    """Audit a run by the command; raises ValueError when it is not VERIFIED."""
    table = run.with_name("steps.csv")
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-c", _COMMAND, "audit", str(run), "--threads", "1", "--csv", str(table), "--force"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=_environment(boxed)) as process:
        assert process.stdout is not None
        process.stdout.readline()
        first = time.perf_counter() - begun
        process.stdout.read()
    if process.returncode:
        raise ValueError(f"the audit ended with {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with table.open(encoding="utf-8", newline="") as file:
        steps = [float(row["seconds"]) for row in csv.DictReader(file)]
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(first - steps[0], tuple(steps), used)


def read(run: Path, boxed: bool) -> tuple[float, float]:
    """Inspect a run by the command; returns the seconds that it took, and those of the processor."""
    return _timed(["inspect", str(run)], boxed)


def trained(order: Path, boxed: bool) -> tuple[float, float, float]:
    """Record an order by the command.

    Returns:
        The seconds that it took, those of the processor, and those from the first step to the last.
    """
    lines: list[float] = []
    out, key = order.with_name("again.cfoil"), order.with_name("trainer.pem")
    words = ["train", str(order), "--out", str(out), "--key", str(key), "--threads", "1", "--fresh", "--force"]
    took = _timed(words, boxed, lines)
    return (*took, lines[-1] - lines[0])


def _timed(words: list[str], boxed: bool, lines: list[float] | None = None) -> tuple[float, float]:
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    # As it is installed: a command that is called as a function leaves the box of its process open.
    command = [sys.executable, "-m", "counterfoil", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment(boxed)) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if lines is not None and line.startswith("Training: "):
                lines.append(time.perf_counter())
    if process.returncode:
        raise ValueError(f"{words[0]} ended with {process.returncode}")
    took = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(name: str, boxed: Sequence[float], home: Sequence[float]) -> None:
    """Print the least of times in a box and without."""
    one, other = min(boxed), min(home)
    print(f"{name}: {one:.3f} s in a box, {other:.3f} s without: {one - other:+.3f} s, {one / other - 1:+.2%}")


def least(found: list[Measured]) -> dict[str, float]:
    """Return the least of each time, and of all steps the sum of the least of each."""
    return {
        "start": min(each.start for each in found),
        "steps": sum(map(min, zip(*(each.steps for each in found), strict=True))),
        "processor": min(each.processor for each in found),
    }


def _environment(boxed: bool) -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name != SWITCH}
    return environment if boxed else {**environment, SWITCH: "off"}


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks sandbox", description=__doc__)
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--width", type=int, default=128)
    wanted = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        run = recorded(Path(folder), wanted.steps, wanted.width)
        order = run  # the order of a run is executed as the order itself is
        if not run.with_name("trainer.pem").exists():
            generate_key(run.with_name("trainer.pem"), None)
        audited(run, boxed=False)  # kernels are compiled, and files are in memory
        audited(run, boxed=True)
        print(f"prepared in {time.perf_counter() - begun:.0f} s")
        reads = [(read(run, boxed=True), read(run, boxed=False)) for _ in range(wanted.times)]
        trains = [(trained(order, boxed=True), trained(order, boxed=False)) for _ in range(wanted.times)]
        pairs = [(audited(run, boxed=True), audited(run, boxed=False)) for _ in range(wanted.times)]
    print(f"the box closes in {1e3 * closing(wanted.times):.1f} ms")
    for place, name in enumerate(("inspect", "inspect, processor")):
        compare(name, [pair[0][place] for pair in reads], [pair[1][place] for pair in reads])
    for place, name in enumerate(("train", "train, processor", "train, from the first step to the last")):
        compare(name, [pair[0][place] for pair in trains], [pair[1][place] for pair in trains])
    boxed, home = least([pair[0] for pair in pairs]), least([pair[1] for pair in pairs])
    for name, one in boxed.items():
        compare(f"audit, {name}", [one], [home[name]])
