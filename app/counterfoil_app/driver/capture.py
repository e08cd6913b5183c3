"""Drives the window without a user: opens a bundle, replays it, exports the verdict, and takes a picture.

The same actions and the same session as a user's clicks; the demo and the README's pictures come from here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEventLoop, QTimer

from counterfoil import AuditReport, CounterfoilError, write_whole
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.worker import Failure
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.replayresult import VerdictMaterial
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict.export import SigningRequest, Unsigned, export_verdict, now
from counterfoil_app.views.plot_export import png
from counterfoil_core.base.sentence import say

# Lets the event loop run for whoever drives the window without a user: the demonstration, benchmarks, pictures.

LOOK_MILLISECONDS = 5


def wait_until(done: Callable[[], bool], seconds: float) -> bool:
    """Run the event loop until something is so; returns False when it was not within the time."""
    if done():
        return True
    loop, look = QEventLoop(), QTimer()
    look.timeout.connect(lambda: loop.exit(0) if done() else None)
    look.start(LOOK_MILLISECONDS)
    limit = QTimer()
    limit.setSingleShot(True)
    limit.timeout.connect(lambda: loop.exit(1))
    limit.start(int(1000 * seconds))
    return loop.exec() == 0


def settle(milliseconds: int) -> None:
    """Run the event loop for a while."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


DEFAULT_TIMEOUT_SECONDS = 600.0
SETTLE_MILLISECONDS = 300
"""After the end, time for the plots' last redraw and for fonts and layouts to settle before the picture."""


def replay_and_capture(
    window: MainWindow,
    bundle: Path,
    order: Path | None,
    screenshot: Path,
    key: Path,
    verdict: Path,
    *,
    passphrase: str | None = None,
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
) -> AuditReport:
    """Open a bundle in a window, replay it, export the signed verdict, and save a picture of the window.

    Args:
        window: The window, shown.
        bundle: The run to replay.
        order: The client's order file, if any.
        screenshot: Where the picture goes (PNG).
        key: The auditor's private key file.
        verdict: Where the signed verdict goes.
        passphrase: Passphrase of the key; None when it has none.
        timeout_seconds: Longest wait for each of opening, replay and export.

    Returns:
        What the replay found.

    Raises:
        CounterfoilError: A step of this failed or took too long.
    """
    session = window.session
    failures: list[Failure] = []
    session.failed.connect(failures.append)
    try:
        window.open_bundle(bundle, order)
        _wait(lambda: session.phase is not Phase.LOADING, "opening the bundle", timeout_seconds, failures)
        replay = window.commands["conclude" if session.only_refuses else "replay"]
        if not replay.isEnabled():
            raise CounterfoilError(say("{0} holds nothing to replay.", bundle.name))
        replay.trigger()
        _wait(lambda: not session.running, "the replay", timeout_seconds, failures)
        report: AuditReport | None = session.report
        if report is None:
            failure = session.failure
            sentence = failure.sentence if failure is not None else say("The replay ended without a report.")
            raise CounterfoilError(sentence, remedy=failure.remedy if failure is not None else "")
        request = SigningRequest(private_key=key, passphrase=passphrase, create=False, target=verdict, replace=True)
        session.export_verdict(partial(_export, request=request))
        _wait(lambda: session.verdict_file is not None, "signing the verdict", timeout_seconds, failures)
    finally:
        session.failed.disconnect(failures.append)
    capture(window, screenshot)
    return report


def _export(engine: Engine, material: VerdictMaterial, request: SigningRequest) -> Path:
    statement = Unsigned.of(engine, material.report, now())
    return export_verdict(engine, material, replace(request, statement=statement))


def capture(window: MainWindow, screenshot: Path) -> None:
    """Save a picture of the window (PNG) once it has settled.

    Raises:
        CounterfoilError: The file cannot be written.
    """
    settle(SETTLE_MILLISECONDS)
    window.divergence.redraw()
    write_whole(screenshot, png(window.grab().toImage()), what=say("the picture"))


def _wait(done: Callable[[], bool], what: str, timeout_seconds: float, failures: list[Failure]) -> None:
    ended = wait_until(lambda: done() or bool(failures), timeout_seconds)
    if failures:
        raise CounterfoilError(failures[0].sentence, remedy=failures[0].remedy, detail=failures[0].detail)
    if not ended:
        raise CounterfoilError(say("Gave up after {0:.0f} seconds of waiting for {1}.", timeout_seconds, what))
