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

_CLOSING = (
    "import time; from counterfoil.sandbox import box; begun = time.perf_counter(); closed = box.enter([]); "
    "print(time.perf_counter() - begun)"
)
_COMMAND = "import sys; from counterfoil.cli import main; sys.exit(main())"


@dataclass(frozen=True)
class Measured:
    """How long an audit took.

    Attributes:
        start: Seconds from the start of the command to that of the first step.
        steps: Seconds of each step of the replay.
        processor: Seconds of the processor that all of it took.
    """

    start: float
    steps: tuple[float, ...]
    processor: float


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
        audited(run, boxed=False)  # kernels are compiled, and files are in memory
        audited(run, boxed=True)
        print(f"prepared in {time.perf_counter() - begun:.0f} s")
        pairs = [(audited(run, boxed=True), audited(run, boxed=False)) for _ in range(wanted.times)]
    boxed, home = least([pair[0] for pair in pairs]), least([pair[1] for pair in pairs])
    print(f"the box closes in {1e3 * closing(wanted.times):.1f} ms")
    for name, one in boxed.items():
        other = home[name]
        print(f"{name}: {one:.3f} s in a box, {other:.3f} s without: {one - other:+.3f} s, {one / other - 1:+.2%}")
