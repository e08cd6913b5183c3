"""Signs what a queue found, each result with a verdict of its own: one list of what is signed, one passphrase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHeaderView, QTableWidgetItem, QWidget

from counterfoil import Verdict, figures
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.strangers import beside, name_of, plain
from counterfoil_app.engine.worker import Failure, JobResult
from counterfoil_app.looks import words
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.theme import Theme
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.model.bundle_queue import BundleQueue
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.model.replayresult import Finished, VerdictMaterial
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import Settings
from counterfoil_app.model.unlocked_keys import UnlockedKeys
from counterfoil_app.verdict.export import SigningRequest, Unsigned, export_verdict, now
from counterfoil_app.verdict.key_desk import KeyDesk
from counterfoil_app.verdict.report_document import Case
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import Body, fit_to_screen
from counterfoil_app.views.parts import caption, label, open_dialog
from counterfoil_app.views.passphrase_line import PassphraseLine
from counterfoil_app.views.tables import LEFT, item, item_table, outcome_item
from counterfoil_app.views.work_dialog import WorkDialog

SIZE = (820, 560)
ICON_PIXELS = 18


@dataclass(frozen=True)
class Offer:
    """A result that can be signed, and the statement that would be."""

    result: Finished
    statement: Unsigned


@dataclass(frozen=True)
class Chosen:
    """How the chosen results are signed."""

    results: tuple[Offer, ...]  #: Those that are signed, in the order of the list.
    key: Path  #: The auditor's private key file.
    passphrase: str | None  #: Its passphrase; None when it has none.
    printed: bool  #: Whether a report to print lies beside each verdict.


class BatchDialog(WorkDialog):
    """Lists what will be signed, each with its outcome, and asks for the key once: :meth:`request`.

    Args:
        results: Results that are not signed, each with its statement.
        key: The key file to offer.
        unlocked: The keys that are unlocked.
        theme: The theme of the application.
    """

    def __init__(
        self,
        results: Sequence[Offer],
        key: Path | None,
        unlocked: UnlockedKeys,
        theme: Theme,
        parent: QWidget | None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Sign the queue"))
        self._results = tuple(results)
        self._theme = theme
        self._said = self.tr("Signing\u2026")
        what = label(
            self.tr(
                "You sign that you replayed each of the ticked runs and found what stands beside it. Each gets a "
                "verdict of its own, beside its file."
            )
        )
        titles = (self.tr("Run"), self.tr("Outcome"), self.tr("Steps"))
        self.table = item_table(titles, self.tr("What is signed"), ICON_PIXELS)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.horizontalHeader().setDefaultAlignment(LEFT)
        self._fill()
        self.key = layouts.line_edit("" if key is None else str(key), name=self.tr("Private key file"))
        choose = layouts.button(self.tr("Choose\u2026"), self._choose, name=self.tr("Choose the private key file"))
        self.passphrase = PassphraseLine(unlocked, lambda: Path(self.key.text()).expanduser())
        self.printed = QCheckBox(self.tr("A report to &print (PDF) with each"))
        self.printed.setChecked(True)
        grid = layouts.grid(down=7)
        for row, (name, parts) in enumerate(
            ((self.tr("Private key"), (self.key, choose)), (self.tr("Passphrase"), (self.passphrase,)))
        ):
            grid.addWidget(caption(name, wrap=False), row, 0)
            for column, part in enumerate(parts, start=1):
                grid.addWidget(part, row, column, 1, 1 if len(parts) > 1 else 2)
        grid.addWidget(self.printed, 2, 1, 1, 2)
        layouts.fill(Body(self, self.hint, self.buttons), what, (self.table, 1), grid, spacing=12)
        fit_to_screen(self, QSize(*map(scale, SIZE)))
        self.table.itemChanged.connect(self._edited)
        self.key.textChanged.connect(self._edited)
        self.passphrase.textChanged.connect(self._edited)
        self._refresh()
        self.passphrase.setFocus()

    def _fill(self) -> None:
        self.table.setRowCount(len(self._results))
        for row, offer in enumerate(self._results):
            shown = plain(offer.statement.said)
            assert isinstance(shown, Verdict), "a queue holds no capsules"
            look = words.conclusion(shown, shown.trust)
            run = QTableWidgetItem(name_of(offer.result.path))
            set_tip(run, str(offer.result.path))
            run.setFlags(run.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            run.setCheckState(Qt.CheckState.Checked)
            (_, steps), *_rest = figures(shown)
            cells = (
                run,
                outcome_item(look, self._theme, look.word, translate(shown.reason)),
                item(translate(steps), ""),
            )
            for column, cell in enumerate(cells):
                self.table.setItem(row, column, cell)
        self.table.resizeRowsToContents()

    def ticked(self) -> tuple[Offer, ...]:
        """The results that are to be signed."""
        cells = (self.table.item(row, 0) for row in range(len(self._results)))
        return tuple(
            result
            for result, cell in zip(self._results, cells, strict=True)
            if cell is not None and cell.checkState() is Qt.CheckState.Checked
        )

    def request(self) -> Chosen:
        """What is to be signed, and how."""
        return Chosen(
            self.ticked(), Path(self.key.text()).expanduser(), self.passphrase.passphrase, self.printed.isChecked()
        )

    def show_progress(self, done: int, total: int) -> None:
        """Say how many are signed."""
        self._said = self.tr("{0} of {1} are signed\u2026").format(done, total)
        self._refresh()

    def show_failure(self, failure: Failure, done: Sequence[Offer]) -> None:
        """Say why it stopped, with what was signed no longer in the list."""
        left = [result for result in self._results if not any(result is one for one in done)]
        self._results = tuple(left)
        self.table.blockSignals(True)
        self._fill()
        self.table.blockSignals(False)
        self.end(failure)
        self.passphrase.setFocus()
        self.passphrase.selectAll()

    def _refresh(self) -> None:
        self.passphrase.refresh()
        self.ok.setText(self.tr("Sign {0}").format(len(self.ticked())))
        for part in (self.table, self.key, self.passphrase, self.printed):
            part.setEnabled(not self.working)
        self._show_state(self._problem(), self._said)

    def _problem(self) -> str:
        if not self.ticked():
            return self.tr("Tick what you want to sign.")
        if not self.key.text():
            return self.tr("Say where your key is. A new one is made when you sign a single verdict.")
        return "" if Path(self.key.text()).expanduser().is_file() else self.tr("There is no such key file.")

    def _choose(self) -> None:
        path = layouts.existing_file(self, self.tr("Private key"), self.key.text(), "*.pem")
        if path is not None:
            self.key.setText(str(path))


class BatchDesk(QObject):
    """Brings the dialog together with the queue: one result is signed after the other.

    Args:
        session: Lets the worker sign, and shows one of the results.
        queue: Has the results.
        keys: Knows the user's key once it signed.
        settings: Remember the key file and the auditor's name.
        theme: The theme of the application.
        window: The window that the dialog belongs to.
    """

    signed = Signal(Finished, Path)
    """A result, and where its signed verdict lies."""

    def __init__(
        self, session: Session, queue: BundleQueue, keys: KeyDesk, settings: Settings, theme: Theme, window: QWidget
    ) -> None:
        super().__init__(window)
        self._session = session
        self._queue = queue
        self._keys = keys
        self._settings = settings
        self._theme = theme
        self._window = window

    def sign_all(self) -> None:
        """Ask how to sign what is not signed yet."""
        if results := self._queue.unsigned:
            self._session.ask(partial(_statements, results), self._ask)

    def _ask(self, prepared: JobResult) -> None:
        if prepared.failure is not None:
            self._session.failed.emit(prepared.failure)
            return
        assert isinstance(prepared.value, tuple)
        dialog = BatchDialog(prepared.value, self._settings.key_file, self._keys.unlocked, self._theme, self._window)
        dialog.wanted.connect(lambda: self._next(dialog, dialog.request(), ()))
        open_dialog(dialog)

    def _next(self, dialog: BatchDialog, chosen: Chosen, done: tuple[Offer, ...]) -> None:
        """Sign the first that is not signed; when there is none, it is over."""
        dialog.show_progress(len(done), len(chosen.results))
        if len(done) == len(chosen.results):
            self._settings.key_file = chosen.key
            dialog.accept()
            return
        offer = chosen.results[len(done)]
        result, report = offer.result, offer.result.report
        assert report is not None
        target = beside(result.path, ".verdict.json", ".report.pdf")
        request = SigningRequest(
            chosen.key,
            chosen.passphrase,
            create=False,
            target=target,
            report=target.with_name(target.name.removesuffix(".verdict.json") + ".report.pdf")
            if chosen.printed
            else None,
            statement=offer.statement,
            reads=tuple(path for path in (result.path, result.order, result.data) if path is not None),
            case=Case(auditor=self._settings.auditor_name),
        )
        material = _material(result, self._keys.book)

        def answer(outcome: JobResult) -> None:
            if outcome.failure is not None:
                dialog.show_failure(outcome.failure, done)
                return
            self._keys.unlocked.keep(request.private_key, request.passphrase)
            name = self._settings.auditor_name or self.tr("My key")
            self._keys.note_mine(request.signed_with[-1], str(request.private_key), name)
            self._session.exports.signed.emit(report, target)
            self.signed.emit(result, target)
            self._next(dialog, chosen, (*done, offer))

        self._session.ask(partial(_sign, material=material, request=request), answer)


def _material(result: Finished, book: KeyBook) -> VerdictMaterial:
    """What the verdict on a result is made from, as it is seen by who knows these keys."""
    report = result.report
    assert report is not None
    digest = report.run_order.hex if report.run_order is not None else ""
    trust = book.seen(report.trust, report.trainer_key, digest, report.client_key)
    return VerdictMaterial(report, result.summary, result.steps, result.order, trust)


def _statements(results: tuple[Finished, ...], engine: Engine) -> tuple[Offer, ...]:
    """In the worker thread."""
    return tuple(Offer(one, Unsigned.of(engine, one.report, now())) for one in results if one.report is not None)


def _sign(engine: Engine, material: VerdictMaterial, request: SigningRequest) -> Path:
    """In the worker thread."""
    return export_verdict(engine, material, request)
