"""``python -m benchmarks starts``: what commands take before they do what they are for, and the window's first figures.

Each is a process of its own, in turn with the others, and of its times the least is shown, since whatever else runs on
the machine only adds. What an audit takes beside its steps is its own time less that of the steps as it reports them.
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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HEAD = "| what | time | processor time |\n|---|---|---|"
_HERE = [sys.executable, "-P", "-m", "counterfoil"]
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


@dataclass(frozen=True)
class Taken:
    """What a process took."""

    #: From its start to its end; of an audit without its steps; of the window from its paint to figures.
    seconds: float
    #: Seconds of processor time, of all processes that it started; of an audit without those of its steps.
    processor: float

    def row(self, name: str) -> str:
        """The line of a Markdown table under :data:`HEAD`."""
        return f"| {name} | {self.seconds:.2f} s | {self.processor:.2f} s |"


def taken(command: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[Taken, str]:
    """Run a command.

    Args:
        command: The command.
        environment: Its environment, if it is not that of this process.

    Returns:
        What it took, and its standard output.

    Raises:
        ValueError: It failed.
    """
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise ValueError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Taken(seconds, used), done.stdout


def least(times: Sequence[Taken]) -> Taken:
    """The least of each time."""
    return Taken(min(each.seconds for each in times), min(each.processor for each in times))


def audited(folder: Path, environment: Mapping[str, str] | None = None) -> tuple[Taken, float]:
    """Audit the run of a folder; return what that took beside its steps, and the seconds of the steps."""
    table = folder / "steps.csv"
    command = [*_HERE, "audit", str(folder / "run.cfoil"), "--order", str(folder / "job.cfoil"), "--threads", "1"]
    whole, _ = taken([*command, "--csv", str(table), "--force"], environment)
    with table.open(encoding="utf-8", newline="") as file:
        steps = sum(float(row["seconds"]) for row in csv.DictReader(file))
    return Taken(whole.seconds - steps, whole.processor - steps), steps


def record(folder: Path, steps: int) -> None:
    """Order and record the network for digits in a folder."""
    job, key = str(folder / "job.cfoil"), str(folder / "key.pem")
    taken([*_HERE, "keygen", key, "--no-passphrase"])
    taken([*_HERE, "order", "digits-cnn", "--out", job, "--steps", str(steps)])
    taken([*_HERE, "train", job, "--out", str(folder / "run.cfoil"), "--key", key])


def measured(folder: Path, rounds: int) -> dict[str, Taken]:
    """Measure the starts with the run of a folder.

    Args:
        folder: Has ``run.cfoil`` and ``job.cfoil``.
        rounds: How often each is done.

    Returns:
        What each took, at the least.
    """
    run, job = str(folder / "run.cfoil"), str(folder / "job.cfoil")

    def window() -> Taken:
        whole, said = taken([sys.executable, "-P", "-c", _WINDOW, run, job, str(folder / "window.ini")])
        return Taken(float(said), whole.processor)

    starts: dict[str, Callable[[], Taken]] = {
        "`import torch`, which no command can be quicker than that computes": lambda: taken(
            [sys.executable, "-P", "-c", "import torch"]
        )[0],
        "`counterfoil --help`": lambda: taken([*_HERE, "--help"])[0],
        "`counterfoil inspect run.cfoil --order job.cfoil`": lambda: taken([*_HERE, "inspect", run, "--order", job])[0],
        "`counterfoil audit run.cfoil --order job.cfoil`, beside its steps": lambda: audited(folder)[0],
        "window, from its paint to a run's first figures (processor: to its end)": window,
    }
    times: dict[str, list[Taken]] = {name: [] for name in starts}
    for _ in range(rounds):
        for name, start in starts.items():
            times[name].append(start())
    return {name: least(each) for name, each in times.items()}


def first_audit(folder: Path) -> dict[str, Taken]:
    """What an installation takes whose kernels are compiled ahead: compiling, its first audit and its second."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "kernels")}
    compiling, _ = taken([*_HERE, "doctor", "--compile"], environment)
    return {
        "`counterfoil doctor --compile` of an installation without any": compiling,
        "its first audit, beside its steps": audited(folder, environment)[0],
        "its second": audited(folder, environment)[0],
    }


def main(arguments: Sequence[str]) -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks starts", description=__doc__)
    parser.add_argument("--steps", type=int, default=60, help="steps of the run (default 60)")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is done (default 5)")
    parser.add_argument("--first", action="store_true", help="compile anew, and do a first audit too (minutes)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        record(folder, options.steps)
        print(HEAD)
        for what, least_of in measured(folder, options.rounds).items():
            print(least_of.row(what), flush=True)
        for what, once in (first_audit(folder) if options.first else {}).items():
            print(once.row(what), flush=True)
    return 0
