"""The demonstration: the whole job on handwritten digits, once with an honest trainer and once with one who cheats."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from PySide6.QtCore import QMessageLogContext, QSettings, QTimer, QtMsgType, qInstallMessageHandler

import counterfoil
from counterfoil import AuditReport, CounterfoilError, Outcome, Role
from counterfoil_app.desktop import startup
from counterfoil_app.driver.capture import replay_and_capture
from counterfoil_app.main import application, make_window
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.window import LEAST_FIRST_SIZE
from counterfoil_resources.digits import load_digits

STEPS = 60
TAMPERED_STEP = 37
PARTIES = ("client", "trainer", "auditor")


def tampered_step(steps: int) -> int:
    """Which of so many steps is tampered with: 37 of 60, and as far into a shorter demonstration."""
    return -(-steps * TAMPERED_STEP // STEPS)


@dataclass(frozen=True)
class DemoFiles:
    """The files of a demonstration."""

    folder: Path  #: The folder that holds them all.

    @property
    def order(self) -> Path:
        """The client's order."""
        return self.folder / "job.cfoil"

    @property
    def auditor_public_key(self) -> Path:
        """The key that the verdicts can be checked with."""
        return self.folder / "auditor.pub.pem"

    def run(self, name: str) -> Path:
        """The run called ``honest`` or ``tampered``."""
        return self.folder / f"{name}.cfoil"

    def verdict(self, name: str) -> Path:
        """The signed verdict on a run."""
        return self.folder / f"{name}.verdict.json"

    def picture(self, name: str) -> Path:
        """The window after the replay of a run."""
        return self.folder / f"{name}.png"

    def key(self, party: str) -> Path:
        """The private key of one of :data:`PARTIES`: for the demonstration only, without a passphrase."""
        return self.folder / "keys" / f"{party}.pem"


def run(folder: Path, say: Callable[[str], None] = print, *, steps: int = STEPS) -> int:
    """Write an order, record an honest and a tampered run, replay both in the window, and sign the verdicts.

    With a display the window stays open afterwards, until the user closes it; without one it is drawn off screen.

    Args:
        folder: Where the files go; made if needed. Files of an earlier demonstration are replaced.
        say: Takes each line of progress.
        steps: How many steps are trained, at least 2.

    Returns:
        0 when the honest run is VERIFIED and the tampered one DISPUTED at its step, else the exit code of ERROR.

    Raises:
        CounterfoilError: The folder cannot be written, or a part of the demonstration failed.
    """
    begun = time.perf_counter()
    tampered = tampered_step(steps)
    files = DemoFiles(folder)
    offscreen = startup.use_offscreen_without_display()
    if offscreen:
        qInstallMessageHandler(_show_message)
    application()
    _make_keys(files)
    say(f"Order: {steps} training steps of a small residual network on handwritten digits, signed by its client.")
    client = counterfoil.load_private_key(files.key("client"), None)
    counterfoil.order_digits(*load_digits(), steps=steps).write(files.order, trial=False, key=client)
    say("Honest trainer: carries out the order and records every step.")
    _record(files, "honest", None, say)
    say(f"Cheating trainer: flips the labels of one batch, at step {tampered}, and signs the run all the same.")
    _record(files, "tampered", counterfoil.LabelFlip(step=tampered), say)

    with tempfile.TemporaryDirectory() as scratch:
        # Settings of its own: a demonstration leaves the user's alone.
        store = QSettings(str(Path(scratch) / "window.ini"), QSettings.Format.IniFormat)
        window = make_window(settings=Settings(store))
        if offscreen:  # where there is no screen to fit
            window.resize(LEAST_FIRST_SIZE)
        window.show()
        name_keys(files, window.key_book)
        reports = {}
        for name in ("honest", "tampered"):
            say(f"Auditor: replays the {name} run in the window.")
            reports[name] = replay_and_capture(
                window, files.run(name), files.order, files.picture(name), files.key("auditor"), files.verdict(name)
            )
        as_expected = _summarise(files, reports, tampered, time.perf_counter() - begun, say)
        if offscreen:
            QTimer.singleShot(0, window.close)
        else:
            say("The window stays open; close it to end the demonstration.")
        application().exec()
        store.sync()
    return 0 if as_expected else Outcome.ERROR.exit_code


def name_keys(files: DemoFiles, book: KeyBook) -> None:
    """Put the keys of trainer and client in a list of keys, as an auditor does who got them from their owners.

    Here that is so: this very program made them.

    Raises:
        CounterfoilError: A key cannot be read, or the list cannot be written.
    """
    names = {Role.TRAINER: "Trainer of the demonstration", Role.CLIENT: "Client of the demonstration"}
    for role, name in names.items():
        path = files.key(role.value).with_name(f"{role.value}.pub.pem")
        public = counterfoil.load_public_key(path).public
        known = book.find(counterfoil.key_id_of(public))
        if known is None or known.role is not role or not known.name:
            book.trust(public, role, name, str(path), date.today().isoformat())


def _show_message(_kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    # Every window drawn off screen says that it cannot tell a window manager its size; nobody can act on that.
    if "propagateSizeHints" not in message:
        print(message, file=sys.stderr)


def _make_keys(files: DemoFiles) -> None:
    try:
        files.key("trainer").parent.mkdir(parents=True, exist_ok=True)
        for party in PARTIES:
            if not files.key(party).exists():
                counterfoil.generate_key(files.key(party), None)
        public = files.key("auditor").with_name("auditor.pub.pem").read_bytes()
        counterfoil.write_whole(files.auditor_public_key, public, what="the public key")
    except OSError as error:
        raise CounterfoilError(
            f"The folder {files.folder} cannot be written: {error.strerror or error}.", remedy="Choose another folder."
        ) from error


def _record(files: DemoFiles, name: str, tamper: counterfoil.LabelFlip | None, say: Callable[[str], None]) -> None:
    key = counterfoil.load_private_key(files.key("trainer"), None)
    for event in counterfoil.record(files.order, files.run(name), key, tamper=tamper, fresh=True):
        if isinstance(event, counterfoil.StepRecorded) and event.step % 20 == 0:
            say(f"  step {event.step} of {event.steps}, loss {event.loss:.3f}")


def _summarise(
    files: DemoFiles, reports: dict[str, AuditReport], tampered: int, seconds: float, say: Callable[[str], None]
) -> bool:
    say("")
    key = counterfoil.load_public_key(files.auditor_public_key)
    for name, report in reports.items():
        # Read back from the signed file, so that what is said here is what anybody else will read.
        verdict = counterfoil.verify_verdict(files.verdict(name).read_bytes(), key)
        say(f"{name + ' run':<13} {verdict.outcome.value:<9} {report.reason}")
    say("")
    say(f"Verdicts, pictures and bundles are in {files.folder} ({seconds:.0f} s). Check one with:")
    verdict_path, run_path = files.verdict("tampered"), files.run("tampered")
    say(f"  counterfoil verify {verdict_path} {run_path} --key {files.auditor_public_key}")
    dispute = reports["tampered"].dispute
    return (
        reports["honest"].outcome is Outcome.VERIFIED
        and reports["tampered"].outcome is Outcome.DISPUTED
        and dispute is not None
        and dispute.step == tampered
    )
