"""``python -m benchmarks window``: the longest pause of the window's event loop while it opens, replays and exports.

The real engine works on a recorded run, and the window is drawn off screen. The run is recorded by a process of its
own, so that this one starts as a user's does: without torch.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSettings

from benchmarks.heartbeat import Heartbeat
from benchmarks.programs import command, environment
from counterfoil_app.driver.capture import settle, wait_until
from counterfoil_app.main import make_window, spare_the_collector
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict.export import SigningRequest, export_verdict

LIMIT_SECONDS = 0.050
HEAD = (
    "| activity | took | longest pause of the event loop | of it own work, at most | pauses over 50 ms |\n"
    "|---|---|---|---|---|"
)
TIMEOUT_SECONDS = 600.0
SETTLE_MILLISECONDS = 300
"""Looked at after the end of an activity: the window may draw its result in later turns of the event loop."""
_RECORD = """
import sys
from pathlib import Path
import counterfoil
from counterfoil_resources.digits import load_digits
folder = Path(sys.argv[1])
counterfoil.order_digits(*load_digits(), steps=int(sys.argv[2])).write(folder / "job.cfoil", trial=False)
counterfoil.generate_key(folder / "trainer.pem", None)
counterfoil.generate_key(folder / "auditor.pem", None)
key = counterfoil.load_private_key(folder / "trainer.pem", None)
for _ in counterfoil.record(folder / "job.cfoil", folder / "run.cfoil", key, tamper=counterfoil.LabelFlip(step=7)):
    pass
"""


@dataclass(frozen=True)
class Pause:
    """The longest pause of the event loop during one activity."""

    activity: str  #: What the user did.
    seconds: float  #: How long the activity took.
    longest: float  #: The longest pause in seconds.
    longest_own: float  #: The most processor time of this process in one pause, in seconds.
    over_limit: int  #: How many pauses were longer than :data:`LIMIT_SECONDS`.

    def row(self) -> str:
        """The line of a Markdown table under :data:`HEAD`."""
        return (
            f"| {self.activity} | {self.seconds:.2f} s | {1e3 * self.longest:.0f} ms | {1e3 * self.longest_own:.0f} ms "
            f"| {self.over_limit} |"
        )


def measure(window: MainWindow, folder: Path) -> Iterator[Pause]:
    """Yield the pauses while the window works on ``run.cfoil`` of a folder."""
    session, heart = window.session, Heartbeat(window)
    yield _during("start the engine", heart, session.look_for_devices, lambda: bool(session.devices))
    yield _during(
        "open",
        heart,
        partial(window.open_bundle, folder / "run.cfoil", folder / "job.cfoil"),
        lambda: session.phase is Phase.READY and not session.drawing.waiting,
    )
    yield _during("replay", heart, window.commands["replay"].trigger, lambda: session.phase is Phase.CONCLUDED)
    request = SigningRequest(
        folder / "auditor.pem",
        None,
        create=False,
        target=folder / "run.verdict.json",
        report=folder / "run.report.pdf",
        table=folder / "run.steps.csv",
    )
    write = partial(export_verdict, request=request)
    yield _during("export", heart, partial(session.export_verdict, write), lambda: session.verdict_file is not None)


def measure_large(window: MainWindow, folder: Path) -> Iterator[Pause]:
    """Yield the pauses while ``large.cfoil`` of a folder is opened: to its overview, and to the end of its checks."""
    session, heart = window.session, Heartbeat(window)
    size = (folder / "large.cfoil").stat().st_size / 1e9
    yield _during(
        f"open {size:.0f} GB, to its overview",
        heart,
        partial(window.open_bundle, folder / "large.cfoil", folder / "large-job.cfoil"),
        lambda: session.phase is Phase.READY and not session.drawing.waiting,
    )
    checked = f"open {size:.0f} GB, to its checks"
    yield _during(checked, heart, lambda: None, lambda: session.phase is Phase.READY and not session.checking)


def _during(activity: str, heart: Heartbeat, begin: Callable[[], object], done: Callable[[], bool]) -> Pause:
    """Begin an activity, let the event loop run until it is done and drawn, and return the longest pause."""
    heart.start()
    begun = time.perf_counter()
    begin()
    _wait(done)
    seconds = time.perf_counter() - begun
    settle(SETTLE_MILLISECONDS)
    heart.stop()
    return Pause(activity, seconds, heart.longest, heart.longest_own, heart.over(LIMIT_SECONDS))


def _wait(done: Callable[[], bool]) -> None:
    if not wait_until(done, TIMEOUT_SECONDS):
        raise TimeoutError("the window did not finish")


def main(arguments: Sequence[str]) -> int:
    """Measure and print a table; the exit code is 1 when a pause of the window's own doing exceeded the limit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks window", description=__doc__)
    parser.add_argument("--steps", type=int, default=30, help="steps of the run (default 30)")
    parser.add_argument("--large", type=int, default=0, help="open a bundle of so many GB too, written for it")
    parser.add_argument("--folder", type=Path, help="a folder that holds the large bundle already, or will")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large = options.folder or folder
        subprocess.run([sys.executable, "-c", _RECORD, str(folder), str(options.steps)], check=True)
        if options.large and not (large / "large.cfoil").exists():
            subprocess.run(command("large", str(large), str(options.large)), env=environment(), check=True)
        settings = Settings(QSettings(str(folder / "window.ini"), QSettings.Format.IniFormat))
        window = make_window(settings=settings)
        window.show()
        spare_the_collector()
        print(HEAD)
        worst = 0.0
        for pause in chain(measure(window, folder), measure_large(window, large) if options.large else ()):
            worst = max(worst, pause.longest_own)
            print(pause.row(), flush=True)
        loaded = {"torch", "numba", "h5py"} & set(sys.modules)
        print(f"\nLoaded by the window's process: {', '.join(sorted(loaded)) or 'neither torch, numba nor h5py'}.")
        window.close()
        window.session.shut_down()
    return int(worst > LIMIT_SECONDS)
