"""Files that come in and go out: opened, dropped and chosen ones, each used for what it is, and where exports go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from counterfoil import AuditReport, CancelToken, FileUse, Outcome, Recognised
from counterfoil_app.engine.incoming import Incoming
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.strangers import beside, name_of
from counterfoil_app.engine.worker import Failure, JobResult
from counterfoil_app.looks import words
from counterfoil_app.model.bundle_queue import BundleQueue
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.history import kept_capsule
from counterfoil_app.model.incoming import IncomingFiles
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.sample_maker import user_sample_folder
from counterfoil_app.verdict.desk import VerdictDesk
from counterfoil_app.verdict.key_desk import KeyDesk
from counterfoil_app.views.dialogs import ask_about_result, ask_to_sign_with, ask_to_stop, offer_another
from counterfoil_app.views.judges import SealDialog
from counterfoil_app.views.layouts import existing_file, existing_files, new_file
from counterfoil_app.views.parts import open_dialog
from counterfoil_core.base.sentence import say


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
        self._compared: Path | None = None
        follow(self._compare_known, session.phase_changed, session.bundle_changed, session.checks_changed)

    # Opening

    def open_bundle(self, path: Path, order: Path | None = None, then: Callable[[], object] | None = None) -> None:
        """Open a bundle; asks first when a replay is running, or what was found is not signed.

        Args:
            path: The bundle.
            order: The client's order to compare with.
            then: Called when the session has begun to open it, and not where the user leaves open what is.
        """
        if not self._session.where and not path.exists():
            failure = Failure(say("There is no file {0}.", str(path)), "", "", expected=True, role="file")
            offer_another(self._window, failure, self.choose)
            return
        if self._session.running:
            sentence = self.tr("A replay of {0} is running.").format(name_of(self._session.path))
            ask_to_stop(self._window, sentence, self.tr("Stop it and open"), partial(self._open_now, path, order, then))
        else:
            self.leave_result(self.tr("Open without signing"), partial(self._open_now, path, order, then))

    def leave_result(self, confirm: str, then: Callable[[], None]) -> None:
        """Go on with what takes the open result off the window; asks first when it is not signed."""
        report = self._session.report
        if report is None or not self._session.unsigned:
            then()
            return
        sentence = self.tr("The result of {0} is not signed: {1}.").format(
            name_of(self._session.path), words.conclusion(report).word
        )
        ask_about_result(self._window, sentence, confirm, then, self._verdicts.sign)

    def choose_again(self, failure: Failure) -> None:
        """Say that a chosen file is another one than was meant, and offer to choose again."""
        choose = {"order": self.choose_order, "data": self.choose_data}.get(failure.role, self.choose)
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

    def _compare_known(self) -> None:
        """Compare what was opened with the order that the user gave for its like before: once, and not a queued run."""
        session = self._session
        settled = session.phase is Phase.READY and not session.checking and not self._queue.running
        if settled and session.order is None and session.path != self._compared and session.known_order is not None:
            self._compared = session.path
            session.compare_with(session.known_order, known=True)

    def _open_now(self, path: Path, order: Path | None, then: Callable[[], object] | None) -> None:
        self.opening.emit()
        self._compared = None
        folder = path.resolve().parent
        if folder != self.sample_folder.resolve() and not self._session.where:
            self._settings.folder = folder
        self._session.open(path, order)
        if then is not None:
            then()

    # Choosing

    def choose(self) -> None:
        """Let the user pick files of whatever kind, each to be used for what it is."""
        title, kinds = self.tr("Open"), self.tr("All files (*)")
        self.chosen.emit(existing_files(self._window, title, self._settings.folder, kinds))

    def choose_for_queue(self) -> None:
        """Let the user pick bundles for the queue; they wait until it is started."""
        if paths := self.choose_runs(self.tr("Add to the queue"), self._window):
            self._queue.add(paths)
            self.queued.emit()

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

    def choose_data_of(self, use: Callable[[Path], None]) -> None:
        """Let the user pick a data file for something else than the open run."""
        kinds = self.tr("Counterfoil data files (*.cfdata);;All files (*)")
        self._choose(use, self.tr("Choose the data file"), kinds)

    def choose_runs(self, title: str, parent: QWidget) -> list[Path]:
        """Let the user pick several bundles for something else than the open run."""
        return existing_files(parent, title, self._settings.folder, self._bundle_filter())

    # Exporting

    def choose_table(self) -> None:
        """Ask where the step table goes, then write it."""
        if self._session.path is None or not self._session.steps.done:
            return
        proposal = beside(self._session.near(self._session.path), ".steps.csv")
        if target := new_file(self._window, self.tr("Export step table"), proposal, "*.csv", here=True):
            self._session.exports.table(self._session.steps.snapshot(), target)

    def choose_capsule(self) -> None:
        """Ask where the dispute capsule goes, then write it."""
        path, report = self._session.path, self._session.report
        if path is None or report is None or not self._session.can_export_capsule:
            return
        dialog = SealDialog(self._settings.folder, self._window)
        dialog.accepted.connect(partial(self._save_capsule, dialog, path, report))
        dialog.judges.count(self._session)
        open_dialog(dialog)

    def _save_capsule(self, dialog: SealDialog, path: Path, report: AuditReport) -> None:
        judges, end, kinds = dialog.judges.judges, "-dispute.cfoil", self.tr("Dispute capsules (*.cfoil)")
        if judges:
            end, kinds = f"{end}.age", self.tr("Sealed capsules (*.age)")
        if self._session.report is not report:  # another bundle was opened meanwhile
            return
        title = self.tr("Save dispute capsule")
        if target := new_file(self._window, title, beside(self._session.near(path), end), kinds, here=True):
            self._session.exports.capsule(report, target, kept_capsule(self._session.result_file), judges)

    # Dialogs

    def _bundle_filter(self) -> str:
        return self.tr("Counterfoil bundles (*.cfoil);;All files (*)")

    def _choose(self, use: Callable[[Path], object], title: str, kinds: str, name: str = "") -> None:
        if path := existing_file(self._window, title, self._settings.folder / name, kinds):
            use(path)


FORESEEN_FILES = 8


Found = dict[FileUse, list[Recognised]]
"""The files by what they are."""


class Dropping(QObject):
    """Uses files, in any number and of any kind.

    Args:
        session: Recognises them in its worker, uses what belongs to the open run, and remembers orders.
        files: Opens one run, and queues several.
        verdicts: Reads verdicts.
        keys: Takes in public keys.
        settings: Remember the private key.
        window: The window that questions belong to.
    """

    placed = Signal(str)
    """What was done with the files, as sentences."""
    failed = Signal(Failure)
    belonging = Signal(Recognised)
    """A file that belongs to a case: an order that the user gave as the client's, or a capsule."""
    capsule_found = Signal(Path, object)
    """A capsule, and the order to compare it with or None."""
    job_found = Signal(FileUse, Path)
    """A statement that a job of the command line reads."""
    sealed_found = Signal(Path)
    """A sealed capsule."""
    weights_found = Signal(Path, Path, object, object)
    """Weights, their run, and a verdict on it or the report of a replay of it; None where there is none."""

    def __init__(
        self,
        session: Session,
        files: Files,
        verdicts: VerdictDesk,
        keys: KeyDesk,
        settings: Settings,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._keys = keys
        self._session = session
        self._files = files
        self._verdicts = verdicts
        self._settings = settings
        self.incoming = IncomingFiles(session.ask, self)
        self.incoming.found.connect(self._use)
        self.incoming.changed.connect(self._look)

    def place(self, paths: Sequence[Path]) -> None:
        """Use files for what they are; :attr:`placed` or :attr:`failed` follows."""
        self.incoming.take(paths)

    def stop(self) -> None:
        """Look at no more files, and use none of them."""
        if self.incoming.working:
            self.incoming.stop()
            self.placed.emit(self.tr("Stopped: none of the {0} files is used.").format(self.incoming.total))

    def _look(self) -> None:
        if self.incoming.failure is not None and not self.incoming.working:
            self.failed.emit(self.incoming.failure)

    def foresee(self, paths: Sequence[Path], tell: Callable[[Sequence[str]], None]) -> None:
        """Say what will become of files that are dragged over the window; nothing while the worker is at something."""
        if paths and len(paths) <= FORESEEN_FILES and not self._session.busy:
            question = partial(_look_at, paths=tuple(paths))
            self._session.ask(question, lambda result: tell(self._foreseen(result)))

    def _foreseen(self, result: JobResult) -> list[str]:
        if not isinstance(result.value, tuple):
            return []
        alone = len(result.value) == 1
        return [self.sentence(each, alone=alone) for each in result.value if each.found is not None]

    def sentence(self, told: Incoming, *, alone: bool = False) -> str:
        """Say what a file is, and where it comes alone what becomes of it."""
        fates = {
            FileUse.RUN: self.tr("{0} is a run: it is opened.") if alone else self.tr("{0} is a run."),
            FileUse.ORDER: self.tr("{0} is an order: a run is compared with it."),
            FileUse.VERDICT: self.tr("{0} is a verdict: its signature is checked, and it is read."),
            FileUse.STATEMENT: self.tr("{0} says something of a verdict: it is shown with that verdict."),
            FileUse.CAPSULE: self.tr("{0} is a dispute capsule: it can be adjudicated here."),
            FileUse.SEALED: self.tr("{0} is sealed: you are asked for the key that opens it."),
            FileUse.WEIGHTS: self.tr("{0} holds weights: they are compared with the run."),
            FileUse.DATA: self.tr("{0} holds data: the run that needs them uses them."),
            FileUse.HEADS: self.tr("{0} holds tree heads: they are compared with the run."),
            FileUse.REVOCATIONS: self.tr("{0} is a list of revoked keys: you are asked who signed it."),
            FileUse.WITNESS: self.tr("{0} is the log of a witness: it is compared with runs."),
            FileUse.ANSWER: self.tr("{0} is what a model answered: it is checked with the model."),
            FileUse.SIGNED: self.tr("{0} is a signed statement: its signature is checked, and it is shown."),
            FileUse.PUBLIC_KEY: self.tr("{0} is a public key: you are asked whose it is."),
            FileUse.PRIVATE_KEY: self.tr("{0} is a private key: you are asked whether you sign with it."),
            FileUse.OTHER: self.tr("{0} is no file that Counterfoil reads."),
        }
        said = self.tr("{0} cannot be read.") if told.found is None else fates[told.found.kind]
        return said.format(name_of(told.path))

    def _use(self, told: tuple[Incoming, ...]) -> None:
        found: Found = {use: [] for use in FileUse}
        for each in told:
            if each.found is not None:
                found[each.found.kind].append(each.found)
            elif each.failure is not None:
                self.failed.emit(_failure(each.failure.error))
        said = [
            *self._use_orders(found),
            *self._use_keys(found),
            *self._use_runs(found),
            *self._use_beside_the_run(found),
            *self._use_capsules(found),
            *self._use_verdicts(found),
            *self._use_statements(found),
            *self._use_weights(found),
            *(
                self.tr("{0} is no file that Counterfoil reads.").format(name_of(each.path))
                for each in found[FileUse.OTHER]
            ),
        ]
        if said:
            self.placed.emit(" ".join(said))

    # Each kind

    def _order_of(self, file: Recognised, found: Found) -> Path | None:
        """The order to compare with: one that came along, or else one that is known by the digest that it names."""
        orders = found[FileUse.ORDER]
        same = next((order.path for order in orders if order.order == file.order), None)
        if same is not None:
            return same
        # A single order that came along is what it is to be compared with, also when it is another one.
        if len(orders) == 1:
            return orders[0].path
        return self._session.cases.order_file(file.order) if self._session.cases is not None else None

    def _use_orders(self, found: Found) -> list[str]:
        orders = found[FileUse.ORDER]
        for order in orders:
            self.belonging.emit(order)
        if not orders or found[FileUse.RUN] or found[FileUse.CAPSULE]:
            return []
        path = orders[0].path
        session = self._session
        if session.run_file is None:
            self._files.open_bundle(path)
            return []
        if session.running:
            return [self.tr("{0} is remembered; compare with it after the replay.").format(name_of(path))]
        session.compare_with(path)
        return [self.tr("Comparing with the order {0}.").format(name_of(path))]

    def _use_keys(self, found: Found) -> list[str]:
        """What a key signed says nothing about whose it is, nor is a private key the user's own: the user is asked."""
        for each in found[FileUse.PUBLIC_KEY]:
            self._keys.offer(each.path)
        for each in found[FileUse.REVOCATIONS]:
            self._keys.ask_whose(each.path)
        for each in found[FileUse.PRIVATE_KEY]:
            ask_to_sign_with(self._window, name_of(each.path), partial(self._sign_with, each.path))
        return []

    def _sign_with(self, path: Path) -> None:
        self._settings.key_file = path
        self.placed.emit(self.tr("{0} is offered when you sign.").format(name_of(path)))

    def _use_runs(self, found: Found) -> list[str]:
        runs, came_along = found[FileUse.RUN], bool(found[FileUse.ORDER])
        if len(runs) == 1:
            order = self._order_of(runs[0], found) if came_along else None
            self._files.open_bundle(runs[0].path, order)
            return [] if order is None else [self.tr("{0} is the order.").format(name_of(order))]
        if not runs:
            return []
        orders = {run.path: order for run in runs if came_along and (order := self._order_of(run, found)) is not None}
        self._files.open_several([run.path for run in runs], orders)
        return [self.tr("{0} runs are queued.").format(len(runs))]

    def _use_beside_the_run(self, found: Found) -> list[str]:
        """Data and tree heads, with the run that is open."""
        session = self._session
        cannot, said = session.path is None or session.running, []
        uses = (
            (
                FileUse.DATA,
                session.use_data,
                self.tr("{0} holds data: open the run that needs it first."),
                self.tr("{0} is the data file."),
            ),
            (
                FileUse.HEADS,
                session.use_heads,
                self.tr("{0} holds tree heads: open their run first."),
                self.tr("The tree heads in {0} are compared when the run is replayed."),
            ),
        )
        for kind, use, without_run, used in uses:
            for each in found[kind]:
                if not cannot:
                    use(each.path)
                said.append((without_run if cannot else used).format(name_of(each.path)))
        return said

    def _use_capsules(self, found: Found) -> list[str]:
        for each in found[FileUse.CAPSULE]:
            self.belonging.emit(each)
            self.capsule_found.emit(each.path, self._order_of(each, found))
        for each in found[FileUse.SEALED]:
            self.sealed_found.emit(each.path)
        return []

    def _use_verdicts(self, found: Found) -> list[str]:
        """Read them, with what was said of them; one that came with weights is what these are compared by."""
        if not found[FileUse.WEIGHTS]:
            for each in found[FileUse.VERDICT]:
                self._verdicts.read(each.path, [said.path for said in found[FileUse.STATEMENT]])
        return []

    def _use_statements(self, found: Found) -> list[str]:
        """What was said of a verdict goes to the verdict that is read, unless one came along."""
        statements, viewer = found[FileUse.STATEMENT], self._verdicts.reading
        for kind in (FileUse.WITNESS, FileUse.ANSWER, FileUse.SIGNED):
            for each in found[kind]:
                self.job_found.emit(kind, each.path)
        if found[FileUse.VERDICT]:
            return []
        if viewer is None:
            alone = self.tr("{0} is about a verdict: drop it together with that verdict.")
            return [alone.format(name_of(each.path)) for each in statements]
        for each in statements:
            self._verdicts.take_statement(viewer, each.path)
        return []

    def _use_weights(self, found: Found) -> list[str]:
        """Compare them with a run that came along or is open, by a verdict that came along, is read, or was signed."""
        session, read = self._session, self._verdicts.reading
        run = (read.bundle if read is not None else None) or session.run_file
        if found[FileUse.RUN]:
            run = found[FileUse.RUN][0].path
        weights = found[FileUse.WEIGHTS]
        if session.running or run is None:
            wait = self.tr("{0} holds weights: compare them after the replay.")
            first = self.tr("{0} holds weights: open the run that they should come from first.")
            return [(wait if session.running else first).format(name_of(each.path)) for each in weights]
        report = session.report if run == session.path else None
        verdict = next((each.path for each in found[FileUse.VERDICT]), None)
        if verdict is None and read is not None and read.checked:
            verdict = read.path
        if verdict is None and report is not None and report.outcome is Outcome.VERIFIED:
            verdict = session.verdict_file
        for each in weights:
            self.weights_found.emit(each.path, run, verdict, report)
        return []


def _look_at(engine: Engine, paths: tuple[Path, ...]) -> tuple[Incoming, ...]:
    """In the worker thread."""
    return tuple(engine.incoming(paths, CancelToken()))


def _failure(error: Exception) -> Failure:
    try:
        raise error
    except Exception as raised:
        return Failure.of(raised)
