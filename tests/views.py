"""``python -m tests.views``: what choosing a step and drawing the plots anew take in a window of very many steps.

The run is made up by an engine that computes nothing; processor time counts, of this process alone.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).parent))

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from counterfoil_app.driver.capture import settle, wait_until
from counterfoil_app.main import make_window
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.window import MainWindow
from support.fake_engine import FakeEngine

SIZES = ((1366, 768), (1920, 1080), (2560, 1440))
CHOICES, DRAWINGS = 30, 10
PATIENCE = 600.0


def opened(folder: Path, steps: int) -> MainWindow:
    """Return a window with a replay of so many steps, one of which differs."""
    settings = Settings(QSettings(str(folder / "window.ini"), QSettings.Format.IniFormat))
    window = make_window(engine=FakeEngine(steps=steps, disputed=3 * steps // 4), settings=settings)
    window.show()
    run = folder / "run.cfoil"
    run.touch()
    window.open_bundle(run)
    assert wait_until(lambda: window.session.phase is Phase.READY, PATIENCE)
    window.commands["replay"].trigger()
    assert wait_until(lambda: window.session.phase is Phase.CONCLUDED, PATIENCE)
    settle(500)
    return window


def milliseconds(act: Callable[[], object]) -> float:
    """Return the processor time of an act, until what it changed is painted."""
    begun = time.process_time()
    act()
    for _ in range(2):
        QApplication.processEvents()
    return 1e3 * (time.process_time() - begun)


def main() -> int:
    """Measure at each size, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.views", description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    steps = parser.parse_args().steps
    drawn = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        window = opened(Path(name), steps)
        print("| window | choose a step | draw the plots anew |\n|---|---|---|")
        for width, height in SIZES:
            window.resize(width, height)
            window.desk.restore()
            settle(400)
            window.docks["steps"].raise_()
            settle(300)
            chosen = []
            for _ in range(CHOICES):
                step = drawn.randrange(1, steps)
                chosen.append(milliseconds(partial(window.session.select_step, step)))
                settle(120)
            window.docks["divergence"].raise_()
            settle(300)
            plots = [milliseconds(window.divergence.redraw) for _ in range(DRAWINGS)]
            print(f"| {width} x {height} | {median(chosen):.1f} ms | {median(plots):.1f} ms |", flush=True)
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"\n{steps:,} steps; {megabytes:.0f} MB at most, with the engine that makes them up.")
        window.close()
        window.session.shut_down()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
