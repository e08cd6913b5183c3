"""Hands over what an audit found: signs it first where that is not done, then writes a folder or a zip for others."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog, QWidget

from counterfoil import AuditReport, CounterfoilError, HandOver, SignatureError, TrustStore, write_hand_over
from counterfoil.exports.handover import CAPSULE, HTML, PDF, SEALED, ZIP
from counterfoil.sealed.recipients import read_recipients
from counterfoil.sealed.seal import seal_file
from counterfoil.sealed.unseal import private_folder
from counterfoil_app.engine.port import MAX_VERDICT_BYTES, Engine
from counterfoil_app.engine.strangers import beside
from counterfoil_app.engine.worker import JobResult
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.history import kept_capsule
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.model.replayresult import VerdictMaterial
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import Settings
from counterfoil_app.verdict.export import contents_of
from counterfoil_app.verdict.handover_dialog import HandOverDialog
from counterfoil_app.verdict.report_document import NO_CASE, Case
from counterfoil_app.verdict.report_process import print_report
from counterfoil_app.views.parts import open_dialog
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import joined, say


@dataclass(frozen=True)
class Wanted:
    """What is to be handed over, and how."""

    material: VerdictMaterial  #: What the report is made from.
    verdict: Path  #: The signed verdict.
    target: Path  #: The folder to make, or the zip.
    store: TrustStore  #: What the user trusts, by which the verdict is read.
    case: Case = NO_CASE  #: What the head of the report says.
    capsule: bool = False  #: Whether a dispute capsule goes with it.
    kept: Path | None = None  #: Where one lies already; None where it is made of the evidence in memory.
    #: Files of public sealing keys of the judges for whom it is sealed; none leaves it readable.
    judges: tuple[Path, ...] = ()


class HandOverDesk(QObject):
    """Asks where the folder goes, and has it written.

    Args:
        session: What was found.
        book: The known keys.
        sign: Asks how to sign the report, and calls back once it is signed.
        settings: Remember the auditor's name.
        theme: The theme of the application.
        window: The window that the dialog belongs to.
    """

    done = Signal(Path)
    """The folder, or the zip, was written."""

    def __init__(
        self,
        session: Session,
        book: KeyBook,
        sign: Callable[[Callable[[Case], None]], None],
        settings: Settings,
        theme: Theme,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._session = session
        self._book = book
        self._sign = sign
        self._settings = settings
        self._theme = theme
        self._window = window
        self._named: dict[Path, Case] = {}

    def hand_over(self) -> None:
        """Ask where it goes; what is not signed yet is signed first."""
        session = self._session
        if session.report is None or session.path is None:
            return
        if session.verdict_file is None:
            self._sign(self._signed)
        else:
            self._ask(self._named.get(session.verdict_file) or self.remembered(session.report))

    def remembered(self, report: AuditReport) -> Case:
        """What was named when the case was signed, on another day too; the trainer is the run's own."""
        cases, auditor = self._session.cases, self._settings.auditor_name
        order = report.run_order or report.order_digest
        number, client, trainer = ("", "", "") if cases is None else cases.parties(order, report.about)
        return Case(number, client, trainer or self._session.trainer_name, auditor)

    def _signed(self, case: Case) -> None:
        if self._session.verdict_file is not None:
            self._named[self._session.verdict_file] = case
            self._ask(case)

    def _ask(self, case: Case) -> None:
        session = self._session
        report, path = session.report, session.path
        if report is None or path is None or session.verdict_file is None:
            return
        target = beside(path, "-handover", f"-handover{ZIP}")
        dialog = HandOverDialog(
            report,
            target,
            case,
            self._theme,
            self._window,
            signed=session.verdict_file,
            capsule=session.can_export_capsule,
        )
        dialog.wanted.connect(partial(self._write, dialog, report))
        if session.can_export_capsule:
            dialog.judges.count(session)
        open_dialog(dialog)

    def _write(self, dialog: HandOverDialog, report: AuditReport) -> None:
        session = self._session
        material = session.material()
        # Another bundle may have been opened meanwhile: what was shown is handed over, or nothing.
        if material is None or material.report is not report or session.verdict_file is None:
            dialog.done(QDialog.DialogCode.Rejected)
            return
        self._named[session.verdict_file] = dialog.case.case()
        wanted = Wanted(
            material=material,
            verdict=session.verdict_file,
            target=dialog.chosen,
            store=self._book.store,
            case=dialog.case.case(),
            capsule=session.can_export_capsule and dialog.judges.goes_along,
            kept=kept_capsule(session.result_file),
            judges=dialog.judges.judges,
        )
        session.ask(partial(write, wanted=wanted), partial(self._written, dialog, report))

    def _written(self, dialog: HandOverDialog, report: AuditReport, result: JobResult) -> None:
        dialog.end(result.failure)
        if isinstance(result.value, Path):
            self._session.note_handed_over(report, result.value)
            self.done.emit(result.value)


# In the worker thread


def write(engine: Engine, wanted: Wanted) -> Path:
    """Check the verdict once more, as whoever gets it will, print the reports, and write the folder.

    Raises:
        SignatureError: The verdict's file is not what the auditor signed.
        CounterfoilError: A file cannot be read or written, or the report cannot be printed.
    """
    reading = engine.read_verdict(wanted.verdict, wanted.store, None, ())
    if reading.verdict is None:
        raise SignatureError(
            say("The verdict {0} was signed with a key that you have not confirmed.", wanted.verdict.name),
            remedy=say("Drop the auditor's public key on the window, and confirm it."),
        )
    if not reading.validity.counts and not reading.validity.self_signed:
        raise SignatureError(
            say("The verdict {0} does not count. {1}", wanted.verdict.name, joined(*reading.validity.why)),
            remedy=say("Sign one that counts."),
        )
    envelope = read_input(wanted.verdict, say("a verdict"), CounterfoilError, most=MAX_VERDICT_BYTES)
    page = contents_of(wanted.material, envelope, wanted.verdict, wanted.case)
    reports = {PDF: print_report(page), HTML: print_report(page, as_html=True)}
    with ExitStack() as stack:
        capsule = None
        if wanted.capsule:
            capsule = wanted.kept
            if capsule is None or not capsule.is_file():
                capsule = stack.enter_context(private_folder()) / CAPSULE
                engine.write_capsule(wanted.material.report, capsule)
        if capsule is not None and wanted.judges:
            sealed = stack.enter_context(private_folder()) / SEALED
            seal_file(capsule, sealed, read_recipients(wanted.judges))
            capsule = sealed
        given = HandOver(reading.verdict, envelope, reading.key, capsule, reports, sealed=bool(wanted.judges))
        write_hand_over(wanted.target, given, translate)
    return wanted.target
