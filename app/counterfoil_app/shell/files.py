"""Files that come in and go out: opened, dropped and chosen ones, and where an export goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from counterfoil.base.sentence import say
from counterfoil_app.engine.strangers import beside, name_of
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks import words
from counterfoil_app.model.bundle_queue import BundleQueue
from counterfoil_app.model.history import capsule_of
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.sample_maker import user_sample_folder
from counterfoil_app.verdict.desk import VerdictDesk
from counterfoil_app.views.dialogs import ask_about_result, ask_to_stop, offer_another
from counterfoil_app.views.layouts import existing_file, new_file


class Files(QObject):
    """Opens files, and asks for them.

    Args:
        session: Opens one bundle, and writes exports.
        queue: Takes several bundles.
        verdicts: Reads verdicts.
        settings: Know the folder where a dialog starts.
        window: The window that the dialogs belong to.
    """

    opening = Signal()
    """Another bundle is about to be opened."""
    queued = Signal()
    """Bundles were added to the queue."""
    chosen = Signal(list)
    """The user picked files to be opened, of whatever kind."""

    def __init__(
        self, session: Session, queue: BundleQueue, verdicts: VerdictDesk, settings: Settings, window: QWidget
    ) -> None:
        super().__init__(window)
        self._session = session
        self._queue = queue
        self._verdicts = verdicts
        self._settings = settings
        self._window = window
        self.sample_folder = user_sample_folder()

    # Opening

    def open_bundle(self, path: Path, order: Path | None = None) -> None:
        """Open a bundle; asks first when a replay is running, or what was found is not signed."""
        if not path.exists():
            failure = Failure(say("There is no file {0}.", str(path)), "", "", expected=True, role="file")
            offer_another(self._window, failure, self.choose_bundle)
            return
        if self._session.running:
            sentence = self.tr("A replay of {0} is running.").format(name_of(self._session.path))
            ask_to_stop(self._window, sentence, self.tr("Stop it and open"), partial(self._open_now, path, order))
        else:
            self.leave_result(self.tr("Open without signing"), partial(self._open_now, path, order))

    def leave_result(self, confirm: str, then: Callable[[], None]) -> None:
        """Go on with what takes the open result off the window; asks first when it is not signed."""
        report = self._session.report
        if report is None or not self._session.unsigned:
            then()
            return
        sentence = self.tr("The result of {0} is not signed: {1}.").format(
            name_of(self._session.path), words.outcome(report.outcome, report.sample).word
        )
        ask_about_result(self._window, sentence, confirm, then, self._verdicts.sign)

    def choose_again(self, failure: Failure) -> None:
        """Say that a chosen file is another one than was meant, and offer to choose again."""
        choose = {"order": self.choose_order, "data": self.choose_data}.get(failure.role, self.choose_bundle)
        offer_another(self._window, failure, choose)

    def open_with_order(self, order: Path) -> None:
        """Open the open bundle anew, to compare it with another order."""
        path = self._session.path
        if path is not None:
            self.leave_result(self.tr("Compare without signing"), partial(self._session.open, path, order))

    def drop_order(self) -> None:
        """Take the order from the bundle again."""
        self.leave_result(self.tr("Go on without signing"), partial(self._session.compare_with, None))

    def open_several(self, paths: Sequence[Path], orders: Mapping[Path, Path]) -> None:
        """Queue runs, each with its order where that is known, and begin unless a replay is running."""
        self._queue.add(paths, orders)
        self.queued.emit()
        if not self._session.running:
            self.leave_result(self.tr("Replay without signing"), self._queue.start)

    def _open_now(self, path: Path, order: Path | None) -> None:
        self.opening.emit()
        folder = path.resolve().parent
        if folder != self.sample_folder.resolve():
            self._settings.folder = folder
        self._session.open(path, order)

    # Choosing

    def choose_bundle(self) -> None:
        """Let the user pick a bundle, or several to be queued."""
        self.chosen.emit(self._bundles(self.tr("Open a run")))

    def choose_for_queue(self) -> None:
        """Let the user pick bundles for the queue; they wait until it is started."""
        paths = self._bundles(self.tr("Add to the queue"))
        if paths:
            self._queue.add(paths)
            self.queued.emit()

    def choose_verdict_file(self) -> None:
        """Let the user pick a verdict to read."""
        self._choose(self._verdicts.read, self.tr("Open a verdict"), self.tr("Verdicts (*.json);;All files (*)"))

    def use_known_order(self) -> None:
        """Compare with the file that held the order which the open run names, when the user last gave it."""
        if self._session.known_order is not None:
            self._session.compare_with(self._session.known_order)

    def choose_order(self) -> None:
        """Let the user pick the client's order file."""
        self.choose_order_of(self._session.compare_with)

    def choose_order_of(self, use: Callable[[Path], None]) -> None:
        """Let the user pick the client's order file for something else than the open run."""
        self._choose(use, self.tr("Compare with the client's order"), self._bundle_filter())

    def choose_data(self) -> None:
        """Let the user pick the data file that the order names."""
        wanted = self._session.data_file
        if wanted is not None:
            title = self.tr("Choose the data file {0}").format(wanted)
            kinds = self.tr("Counterfoil data files (*.cfdata);;All files (*)")
            self._choose(self._session.use_data, title, kinds, wanted)

    # Exporting

    def choose_table(self) -> None:
        """Ask where the step table goes, then write it."""
        if self._session.path is None or not self._session.steps.done:
            return
        proposal = beside(self._session.path, ".steps.csv")
        if target := new_file(self._window, self.tr("Export step table"), proposal, "*.csv"):
            self._session.exports.table(self._session.steps.snapshot(), target)

    def choose_capsule(self) -> None:
        """Ask where the dispute capsule goes, then write it."""
        path, report = self._session.path, self._session.report
        if path is None or report is None or not self._session.can_export_capsule:
            return
        title, kinds = self.tr("Save dispute capsule"), self.tr("Dispute capsules (*.cfoil)")
        if target := new_file(self._window, title, beside(path, "-dispute.cfoil"), kinds):
            kept = capsule_of(self._session.result_file) if self._session.result_file is not None else None
            self._session.exports.capsule(report, target, kept)

    # Dialogs

    def _bundle_filter(self) -> str:
        return self.tr("Counterfoil bundles (*.cfoil);;All files (*)")

    def _bundles(self, title: str) -> list[Path]:
        names, _ = QFileDialog.getOpenFileNames(self._window, title, str(self._settings.folder), self._bundle_filter())
        return [Path(name) for name in names]

    def _choose(self, use: Callable[[Path], object], title: str, kinds: str, name: str = "") -> None:
        if path := existing_file(self._window, title, self._settings.folder / name, kinds):
            use(path)
