"""The longest pause of the window's event loop while it opens, replays and exports, and opens a large bundle.

The real engine works on a recorded run, and the window is drawn off screen. Runs are written by processes of their own,
so that the window's starts as a user's does: without torch.
"""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.measure import Benchmark, Cell, Results, Sections, Values, argument, figures, on_page, origins
from benchmarks.pages import tabulated

LIMIT_SECONDS = 0.050
BEAT_MILLISECONDS = 1
TIMEOUT_SECONDS = 600.0
SETTLE_MILLISECONDS = 300
"""Looked at after the end of an activity: the window may draw its result in later turns of the event loop."""
LOG_BYTES = 1_000_000
"""A step's log in the large bundle."""


class Heartbeat:
    """A timer that asks to run every millisecond and notes by how much it was kept waiting.

    What kept it does not matter: a slow slot in the loop's own thread, another thread that held the interpreter, or
    other programs on a busy machine. To tell the last from the others, the processor time that this process used in a
    pause is noted too: a pause in which it used little was not its own doing.
    """

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self._pauses: list[tuple[float, float]] = []
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(BEAT_MILLISECONDS)
        self._timer.timeout.connect(self._beat)
        self._last = (time.perf_counter(), time.process_time())
        self._timer.start()

    def _beat(self) -> None:
        now = (time.perf_counter(), time.process_time())
        pause = max(0.0, now[0] - self._last[0] - BEAT_MILLISECONDS / 1000)
        self._pauses.append((pause, now[1] - self._last[1]))
        self._last = now

    def stop(self) -> Values:
        """Stop counting; returns the longest pause, the most of it own work, in ms, and how many were too long."""
        self._timer.stop()
        return {
            "longest": 1e3 * max((pause for pause, _ in self._pauses), default=0.0),
            "own": 1e3 * max((min(pause, used) for pause, used in self._pauses), default=0.0),
            "over": sum(pause > LIMIT_SECONDS for pause, _ in self._pauses),
        }


def _during(activity: str, begin: Callable[[], object], ended: Callable[[], bool]) -> Values:
    """Begin an activity, let the event loop run until it is done and drawn, and return its pauses."""
    from counterfoil_app.driver.capture import settle, wait_until

    heart, begun = Heartbeat(), time.perf_counter()
    begin()
    if not wait_until(ended, TIMEOUT_SECONDS):
        raise TimeoutError("the window did not finish")
    seconds = time.perf_counter() - begun
    settle(SETTLE_MILLISECONDS)
    return {"activity": activity, "seconds": seconds, **heart.stop()}


def _pauses(window: Any, folder: Path) -> Iterator[Values]:
    """Yield the pauses while the window works on ``run.cfoil`` of a folder."""
    from counterfoil_app.model.open_bundle import Phase
    from counterfoil_app.verdict.export import SigningRequest, Unsigned, export_verdict, now

    session = window.session
    yield _during("start the engine", session.look_for_devices, lambda: bool(session.devices))
    yield _during(
        "open",
        partial(window.open_bundle, folder / "run.cfoil", folder / "job.cfoil"),
        lambda: session.phase is Phase.READY and not session.drawing.waiting,
    )
    yield _during("replay", window.commands["replay"].trigger, lambda: session.phase is Phase.CONCLUDED)
    key, verdict, report, table = (
        folder / name for name in ("auditor.pem", "run.verdict.json", "run.report.pdf", "run.steps.csv")
    )
    request = SigningRequest(key, None, create=False, target=verdict, report=report, table=table)

    def write(engine: Any, material: Any) -> Path:
        statement = Unsigned.of(engine, material.report, now())  # what the dialog shows
        return export_verdict(engine, material, replace(request, statement=statement))

    yield _during("export", partial(session.export_verdict, write), lambda: session.verdict_file is not None)


def _large_pauses(window: Any, folder: Path) -> Iterator[Values]:
    """Yield the pauses while ``large.cfoil`` of a folder is opened: to its overview, and to the end of its checks."""
    from counterfoil_app.model.open_bundle import Phase

    session, run = window.session, folder / "large.cfoil"
    name = f"open {run.stat().st_size / 1e9:.0f} GB, to its"
    opening = partial(window.open_bundle, run, folder / "large-job.cfoil")
    yield _during(f"{name} overview", opening, lambda: session.phase is Phase.READY and not session.drawing.waiting)
    yield _during(f"{name} checks", lambda: None, lambda: session.phase is Phase.READY and not session.checking)


def _in_window(options: Namespace) -> Values:
    from PySide6.QtCore import QSettings

    from counterfoil_app.main import make_window, spare_the_collector
    from counterfoil_app.model.settings import Settings

    settings = Settings(QSettings(str(options.out / "window.ini"), QSettings.Format.IniFormat))
    window = make_window(settings=settings)
    window.show()
    spare_the_collector()
    large = _large_pauses(window, options.out) if options.large else iter(())
    rows = list(chain(_pauses(window, options.out), large))
    loaded = sorted({"torch", "numba", "h5py"} & set(sys.modules))
    window.close()
    window.session.shut_down()
    long = [f"{row['activity']}: a pause of {row['own']:.0f} ms" for row in rows if row["own"] > 1e3 * LIMIT_SECONDS]
    return {"rows": rows, "loaded": loaded, "strange": long}


def _record(folder: Path, steps: int) -> None:
    import counterfoil
    from benchmarks.sessions import key_in, recorded_steps
    from counterfoil_resources.digits import load_digits

    key_in(folder, "auditor.pem")
    draft = counterfoil.order_digits(*load_digits(), steps=steps)
    for _ in recorded_steps(folder, draft, tamper=counterfoil.LabelFlip(step=7)):
        pass


def write_large_bundle(folder: Path, gigabytes: int) -> Path:
    """Write ``large.cfoil`` of at least so many GB (10^9 bytes), well-formed, signed and consistent; returns its path.

    The state is that of a GPT-2 of 85 million parameters under AdamW, about 1 GB, stored after every step. No step is
    computed: the state stays the initial one, which only a replay could tell.
    """
    import numpy as np

    from benchmarks.sessions import key_in
    from counterfoil.bundle.writer import BundleWriter
    from counterfoil.training.recipes.gpt2 import Gpt2Size, order_gpt2
    from counterfoil_core.base.digest import Digest
    from counterfoil_core.base.turns import Turns
    from counterfoil_core.bundle.places import Places
    from counterfoil_core.bundle.reader import BundleReader
    from counterfoil_core.bundle.schema import StepRecord
    from counterfoil_core.commit.merkle import MerkleTree, leaf_hash
    from counterfoil_core.commit.state import state_root
    from counterfoil_core.program.graph import Program
    from counterfoil_core.signing.claims import Acceptance, RunClaim
    from counterfoil_core.signing.statements import sign_said

    size = Gpt2Size(layers=12, heads=12, width=768, context=128)
    text = np.random.default_rng(0).integers(0, 256, 4 * 2 * (size.context + 1)).astype(np.uint8).tobytes()
    small = order_gpt2(text, size=size, batch_size=2, steps=1)
    state = {name: np.ascontiguousarray(array) for name, array in small.initial.items()}
    state_bytes = sum(array.nbytes for array in state.values())
    steps = max(1, -(-(gigabytes * 10**9 - state_bytes) // state_bytes))
    order = order_gpt2(text, size=size, batch_size=2, steps=steps, checkpoint_every=1)
    order.write(folder / "large-job.cfoil", trial=False)
    log = np.random.default_rng(1).integers(0, 256, LOG_BYTES).astype(np.uint8).tobytes()
    manifest, root, key = order.manifest, state_root(state), key_in(folder, "large.pem")
    with BundleReader.open(folder / "large-job.cfoil") as reader, BundleWriter.create(folder / "large.cfoil") as writer:
        found = reader.check_order_contents()
        sites = len(Program.from_bytes(found.program).sites)
        fingerprints = np.zeros(sites, np.uint64)
        writer.write_order(manifest, found.programs, found.schedule, found.scalars, found.data, found.initial)
        writer.begin_run(Turns.alone(Places(sites)), steps * len(log))
        leaves = [leaf_hash(StepRecord(0, manifest.initial_root, None, None, None).to_bytes())]
        for step in range(1, steps + 1):
            record = StepRecord(step, root, Digest.of(log), Digest.of(fingerprints.tobytes()), 1.0)
            leaves.append(leaf_hash(record.to_bytes()))
            writer.append_step(step, log=log, log_entries=1, fingerprints=fingerprints, loss=1.0, state_root=root)
            writer.write_checkpoint(step, state)
        claim = RunClaim(manifest.digest, MerkleTree(leaves).root, steps, {}, signed_at="2026-01-31T12:00:00Z")
        writer.finish_run(sign_said(claim, key), sign_said(Acceptance.of(manifest.digest, None), key))
    return folder / "large.cfoil"


def _measure(options: Namespace, key: str) -> Values:
    if key == "record":
        _record(options.out, options.steps)
    elif key == "large":
        write_large_bundle(options.out, options.large)
    else:
        return _in_window(options)
    return {}


def _sections(results: Results, _options: Namespace) -> Sections:
    found = figures(results).get("window", {"rows": [], "loaded": []})
    columns = {
        "activity": "{activity}", "took": "{seconds:.2f} s", "longest pause of the event loop": "{longest:.0f} ms",
        "of it own work, at most": "{own:.0f} ms", "pauses over 50 ms": "{over}",
    }  # fmt: skip
    loaded = ", ".join(found["loaded"]) or "neither torch, numba nor h5py"
    table = tabulated(found["rows"], columns)
    return on_page("benchmarks.md", "window", table, f"Loaded by the window's process: {loaded}.", origins(results))


WINDOW = Benchmark(
    "The longest pause of the window's event loop while it opens, replays and exports.",
    lambda options: [
        Cell("record", fresh=True),
        *([Cell("large", fresh=True)] if options.large else []),
        Cell("window", alone=True, fresh=True, variables={"QT_QPA_PLATFORM": "offscreen"}),
    ],
    _measure,
    _sections,
    (
        argument("--steps", type=int, default=30, help="steps of the run (default 30)"),
        argument("--large", type=int, default=0, help="open a bundle of so many GB too, written for it"),
    ),
)
