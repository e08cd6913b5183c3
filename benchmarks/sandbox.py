"""``python -m benchmarks.sandbox``: what the box costs a command: its start, and each step of a replay.

The same run is audited by processes of their own, in turn with the box and without. Of each time the least of several
is taken, since whatever else runs on the machine only adds.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.workers import recorded
from counterfoil.sandbox.box import SWITCH

_CLOSING = (
    "import time; from counterfoil.sandbox import box; begun = time.perf_counter(); closed = box.enter([]); "
    "print(time.perf_counter() - begun)"
)
_AUDIT = """
import sys, time
from pathlib import Path
begun = time.perf_counter()
from counterfoil.audit.boxed.session import open_session
from counterfoil.audit.values.events import AuditFinished, AuditStarted
from counterfoil.audit.values.request import AuditRequest
from counterfoil.cancel import CancelToken
with open_session() as session:
    for event in session.audit(AuditRequest(Path(sys.argv[1]), threads=1), CancelToken()):
        if isinstance(event, AuditStarted):
            started = time.perf_counter() - begun
        if isinstance(event, AuditFinished):
            print(started, sum(row.seconds for row in event.steps.rows()), event.report.outcome.value)
"""


@dataclass(frozen=True)
class Measured:
    """The least of several times.

    Attributes:
        start: Seconds from the first import to the event that says that the replay begins.
        steps: Seconds of all steps of the replay.
        processor: Seconds of the processor that all of it took.
    """

    start: float
    steps: float
    processor: float


def closing(times: int) -> float:
    """Return the least time in which a box closed, in seconds."""
    return min(float(_printed([_CLOSING])[0]) for _ in range(times))


def audited(run: Path, boxed: bool) -> Measured:
    """Audit a run in a process of its own; raises ValueError when it is not VERIFIED."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start, steps, outcome = _printed([_AUDIT, str(run)], boxed)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if outcome != "VERIFIED":
        raise ValueError(f"the run is {outcome}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(float(start), float(steps), used)


def least(found: list[Measured]) -> Measured:
    """Return the least of each time."""
    return Measured(*(min(getattr(each, name) for each in found) for name in ("start", "steps", "processor")))


def _printed(arguments: list[str], boxed: bool = True) -> list[str]:
    environment = {name: value for name, value in os.environ.items() if name != SWITCH}
    done = subprocess.run(
        [sys.executable, "-c", *arguments],
        check=True,
        capture_output=True,
        text=True,
        env=environment if boxed else {**environment, SWITCH: "off"},
    )
    return done.stdout.split()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--width", type=int, default=128)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        run = recorded(Path(folder), wanted.steps, wanted.width)
        audited(run, boxed=False)  # kernels are compiled, and files are in memory
        audited(run, boxed=True)
        print(f"prepared in {time.perf_counter() - begun:.0f} s")
        pairs = [(audited(run, boxed=True), audited(run, boxed=False)) for _ in range(wanted.times)]
    boxed, home = least([pair[0] for pair in pairs]), least([pair[1] for pair in pairs])
    print(f"the box closes in {1e3 * closing(wanted.times):.1f} ms")
    for name in ("start", "steps", "processor"):
        one, other = getattr(boxed, name), getattr(home, name)
        print(f"{name}: {one:.3f} s in a box, {other:.3f} s without: {one - other:+.3f} s, {one / other - 1:+.2%}")


if __name__ == "__main__":
    main()
