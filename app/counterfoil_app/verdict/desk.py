"""Brings the dialogs around verdicts together with the session: signing one, and reading one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QDialog, QWidget
from shiboken6 import isValid

from counterfoil import AdjudicationReport, AuditReport, Role, TrustStore, key_id_of
from counterfoil_app.engine.port import Engine, Signable, VerdictReading
from counterfoil_app.engine.strangers import beside, plain, quote_texts
from counterfoil_app.engine.worker import Failure, JobResult, attempt
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.inquiry import Hearing
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import Settings
from counterfoil_app.verdict import passphrases
from counterfoil_app.verdict.export import SigningRequest, Unsigned, export_adjudication, export_verdict, now
from counterfoil_app.verdict.handover import HandOverDesk
from counterfoil_app.verdict.key_desk import KeyDesk
from counterfoil_app.verdict.report_document import Case
from counterfoil_app.verdict.signing_dialog import SigningDialog
from counterfoil_app.verdict.viewer import VerdictViewer


@dataclass(frozen=True)
class KeyRingAnswer:
    """Why the system's key ring cannot be used (empty when it can), and the passphrase that it remembers."""

    problem: str
    passphrase: str | None


class VerdictDesk(QObject):
    """Opens the dialogs, lets the worker answer their questions, and notes the user's own key.

    Args:
        session: The session.
        settings: Remember what the user chose.
        keys: Takes in public keys.
        theme: The theme of the application.
        window: The window that the dialogs belong to.
    """

    files_dropped = Signal(list)
    """Files were dropped on a verdict that is read."""
    was_read = Signal(Path, VerdictReading)
    """A verdict that was read, and what came of it."""

    def __init__(self, session: Session, settings: Settings, keys: KeyDesk, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._keys = keys
        self._settings = settings
        self._theme = theme
        self._window = window
        self._open: set[QDialog] = set()
        self._key_in_use: Path | None = None
        self._reports: dict[Path, Path | None] = {}
        """The report to print that is written with each signed file."""
        self._handing = HandOverDesk(session, keys.book, self.sign, settings, theme, window)
        self.handed_over = self._handing.done
        session.exports.finished.connect(self._exported)
        keys.book.changed.connect(self._check_all)

    # Signing

    def sign(self, then: Callable[[Case], None] | None = None) -> None:
        """Ask how to sign the report of the session, then sign it.

        Args:
            then: What follows once it is signed, with what the head of the report says.
        """
        report, path = self._session.report, self._session.path
        if report is None or path is None:
            return
        target = beside(self._session.near(path), ".verdict.json", ".report.pdf", ".steps.csv")
        dialog = self._open_signing(report, target, self._session.files_read())
        dialog.case.show_case(self._handing.remembered(report))
        dialog.wanted.connect(partial(self._sign, dialog, report, then))

    def hand_over(self) -> None:
        """Make a folder of what was found, for others."""
        self._handing.hand_over()

    def report_of(self, written: Path) -> Path | None:
        """The report to print that was written with a signed file, or into a folder for others; None for none."""
        found = self._reports.get(written) or next(written.glob("*.pdf"), None)
        return found if found is not None and found.is_file() else None

    def sign_hearing(self, hearing: Hearing) -> None:
        """Ask how to sign what an adjudication found, then sign it."""
        report = hearing.found
        if report is None:
            return
        target = beside(self._session.near(hearing.path), ".adjudication.json", ".adjudication.report.pdf")
        dialog = self._open_signing(report, target, hearing.files_read())
        dialog.case.auditor.setText(self._settings.auditor_name)
        dialog.wanted.connect(partial(self._sign_hearing, dialog, hearing, report))

    def _open_signing(self, report: Signable, target: Path, reads: tuple[Path, ...]) -> SigningDialog:
        """Show the dialog, and fetch what it shows: the statement, and what the key ring has."""
        key, folder = self._settings.key_file, self._settings.config_folder
        dialog = SigningDialog(report, key, folder, target, reads, self._keys.unlocked, self._theme, self._window)
        self._show(dialog)
        self._ask(dialog, lambda engine: Unsigned.of(engine, report, now()), partial(self._previewed, dialog))
        self._ask(dialog, lambda _engine: _look_up(key), partial(self._looked_up, dialog))
        return dialog

    def _sign_hearing(self, dialog: SigningDialog, hearing: Hearing, report: AdjudicationReport) -> None:
        request = dialog.request()
        self._reports[request.target] = request.report
        self._session.ask(
            lambda _engine: export_adjudication(report, request),
            partial(self._hearing_signed, dialog, hearing, report, request),
        )

    def _hearing_signed(
        self,
        dialog: SigningDialog,
        hearing: Hearing,
        report: AdjudicationReport,
        request: SigningRequest,
        result: JobResult,
    ) -> None:
        self._note_mine(request)
        if result.failure is None:
            self._settings.key_file = request.private_key
            if isValid(hearing):  # its window may be closed by now
                hearing.note_signed(report, request.target)
            self._session.exports.finished.emit(request.target)
        self._signed(dialog, result.failure)

    def _previewed(self, dialog: SigningDialog, result: JobResult) -> None:
        if result.failure is not None:
            dialog.show_no_statement(result.failure)
        else:
            assert isinstance(result.value, Unsigned)
            dialog.show_statement(result.value)

    def _looked_up(self, dialog: SigningDialog, result: JobResult) -> None:
        if result.failure is not None:
            dialog.show_key_ring(result.failure.sentence, None)
        else:
            assert isinstance(result.value, KeyRingAnswer)
            dialog.show_key_ring(result.value.problem, result.value.passphrase)

    def _sign(self, dialog: SigningDialog, report: AuditReport, then: Callable[[Case], None] | None) -> None:
        # Another bundle may have been opened meanwhile: what was shown is signed, or nothing.
        if self._session.report is not report:
            dialog.done(QDialog.DialogCode.Rejected)
            return
        request = dialog.request()
        self._key_in_use = request.private_key
        self._reports[request.target] = request.report
        self._settings.auditor_name = request.case.auditor
        self._note_parties(report, request.case)
        self._session.export_verdict(
            partial(export_verdict, request=request), partial(self._verdict_signed, dialog, request, then)
        )

    def _note_parties(self, report: AuditReport, case: Case) -> None:
        """How the case and its parties are called is offered at the next signing of the case."""
        order, cases, named = report.run_order or report.order_digest, self._session.cases, astuple(case)[:3]
        if cases is not None and order is not None and named != cases.parties(order, report.about):
            attempt(partial(cases.name_parties, order, report.about, *named), self._session.failed)

    def _verdict_signed(
        self,
        dialog: SigningDialog,
        request: SigningRequest,
        then: Callable[[Case], None] | None,
        failure: Failure | None,
    ) -> None:
        self._note_mine(request)
        self._signed(dialog, failure)
        if failure is None and then is not None:
            then(request.case)

    def _note_mine(self, request: SigningRequest) -> None:
        """The key that signed is the user's own, whatever came of the files."""
        if request.signed_with:
            self._keys.unlocked.keep(request.private_key, request.passphrase)
            name = self._settings.auditor_name or self.tr("My key")
            self._keys.note_mine(request.signed_with[-1], str(request.private_key), name)

    def _signed(self, dialog: SigningDialog, failure: Failure | None) -> None:
        if dialog in self._open:
            dialog.end(failure)
        elif failure is not None:
            self._session.failed.emit(failure)

    def _exported(self, path: Path) -> None:
        if path == self._session.verdict_file and self._key_in_use is not None:
            self._settings.key_file = self._key_in_use

    # Reading

    def read(self, path: Path, statements: Sequence[Path] = ()) -> VerdictViewer:
        """Open a verdict file and say whether its signature holds.

        Args:
            path: The verdict.
            statements: What was said of it afterwards, beside what lies in its folder.
        """
        viewer = VerdictViewer(path, self._keys.book, self._theme, self._window)
        viewer.statements += statements
        self._show(viewer)
        viewer.key_chosen.connect(partial(self._take_key, viewer))
        viewer.bundle_chosen.connect(partial(self._take_bundle, viewer))
        viewer.statement_chosen.connect(partial(self.take_statement, viewer))
        viewer.files_dropped.connect(self.files_dropped)
        self._check(viewer)
        return viewer

    @property
    def store(self) -> TrustStore:
        """What the user trusts, by which verdicts are read."""
        return self._keys.book.store

    @property
    def reading(self) -> VerdictViewer | None:
        """The verdict that is read; None when none is."""
        return next((dialog for dialog in self._open if isinstance(dialog, VerdictViewer)), None)

    def _check(self, viewer: VerdictViewer) -> None:
        path, bundle, store, given = viewer.path, viewer.bundle, self._keys.book.store, tuple(viewer.statements)
        question = partial(_read, path=path, store=store, bundle=bundle, statements=given)
        self._ask(viewer, question, partial(self._checked, viewer))

    def _check_all(self) -> None:
        """The known keys changed: what is read counts by those that are known now."""
        for dialog in self._open:
            if isinstance(dialog, VerdictViewer):
                dialog.other_key = None
                self._check(dialog)

    def _take_key(self, viewer: VerdictViewer, path: Path) -> None:
        self._keys.read(path, partial(self._have_key, viewer, path))

    def _have_key(self, viewer: VerdictViewer, path: Path, public: str) -> None:
        if viewer not in self._open:
            return
        key_id, book = key_id_of(public), self._keys.book
        if key_id not in viewer.key_ids:
            viewer.show_other_key(path)
        elif public in book.checking:
            self._check(viewer)
        else:
            self._keys.propose(public, str(path), Role.AUDITOR, viewer)

    def _take_bundle(self, viewer: VerdictViewer, bundle: Path) -> None:
        viewer.bundle = bundle
        self._check(viewer)

    def take_statement(self, viewer: VerdictViewer, statement: Path) -> None:
        """Show what was said of the verdict that is read."""
        if statement not in viewer.statements:
            viewer.statements.append(statement)
        self._check(viewer)

    def _checked(self, viewer: VerdictViewer, result: JobResult) -> None:
        if result.failure is not None:
            viewer.show_failure(result.failure)
        else:
            assert isinstance(result.value, VerdictReading)
            self.was_read.emit(viewer.path, result.value)
            for envelope in result.value.counted:  # what was given once is known from then on, here and by commands
                attempt(partial(self._keys.book.keep_later, envelope), self._session.failed)
            reading, later = plain(result.value), quote_texts(result.value.validity.later)
            viewer.show_reading(replace(reading, validity=replace(reading.validity, later=later)))

    # Both

    def _show(self, dialog: QDialog) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._open.add(dialog)
        dialog.finished.connect(lambda _result: self._open.discard(dialog))
        dialog.open()

    def _ask(self, dialog: QDialog, question: Callable[[Engine], object], answer: Callable[[JobResult], None]) -> None:
        """Ask the worker; an answer that comes after the dialog was closed is dropped."""
        self._session.ask(question, lambda result: answer(result) if dialog in self._open else None)


def _read(
    engine: Engine, path: Path, store: TrustStore, bundle: Path | None, statements: Sequence[Path]
) -> VerdictReading:
    """In the worker thread."""
    return engine.read_verdict(path, store, bundle, statements)


def _look_up(key: Path | None) -> KeyRingAnswer:
    problem = passphrases.unavailable()
    return KeyRingAnswer(problem, passphrases.recall_passphrase(key) if key is not None and not problem else None)
