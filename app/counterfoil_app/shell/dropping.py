"""Files that are dropped or picked find their places: each is recognised by its content, and used for what it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from counterfoil import CounterfoilError, FileUse, Outcome, Recognised
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.engine.worker import Failure, JobResult, attempt
from counterfoil_app.model.bundle_queue import BundleQueue
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.files import Files
from counterfoil_app.verdict.desk import VerdictDesk
from counterfoil_app.verdict.key_desk import KeyDesk
from counterfoil_app.views.dialogs import ask_to_sign_with

MOST_FILES = 1000


Found = dict[FileUse, list[Recognised]]
"""The files by what they are."""


class Dropping(QObject):
    """Uses files, in any number and of any kind.

    Args:
        session: Recognises them in its worker, uses what belongs to the open run, and remembers orders.
        queue: Takes several runs.
        files: Opens one run.
        verdicts: Reads verdicts.
        keys: Takes in public keys.
        settings: Remember the private key.
        window: The window that questions belong to.
    """

    placed = Signal(str)
    """What was done with the files, as sentences."""
    failed = Signal(Failure)
    capsule_found = Signal(Path, object)
    """A capsule, and the order to compare it with or None."""
    weights_found = Signal(Path, Path, object, object)
    """Weights, their run, and a verdict on it or the report of a replay that verified it; None where there is none."""

    def __init__(
        self,
        session: Session,
        queue: BundleQueue,
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
        self._queue = queue
        self._files = files
        self._verdicts = verdicts
        self._settings = settings

    def place(self, paths: Sequence[Path]) -> None:
        """Use files for what they are; :attr:`placed` or :attr:`failed` follows."""
        if paths:
            self._session.ask(partial(_recognise, paths=tuple(paths[:MOST_FILES])), self._recognised)

    def _recognised(self, result: JobResult) -> None:
        if result.failure is not None:
            self.failed.emit(result.failure)
            return
        assert isinstance(result.value, tuple)
        found: Found = {use: [] for use in FileUse}
        for each in result.value:
            if isinstance(each, Failure):
                self.failed.emit(each)
            else:
                found[each.kind].append(each)
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

    def note_order(self, order: Recognised) -> None:
        """Remember an order that the user gave as the client's."""
        if order.order is not None and self._session.orders is not None:
            attempt(partial(self._session.orders.note, order.order, order.path), self.failed)

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
        return self._session.orders.find(file.order) if self._session.orders is not None else None

    def _use_orders(self, found: Found) -> list[str]:
        orders = found[FileUse.ORDER]
        for order in orders:
            self.note_order(order)
        if not orders or found[FileUse.RUN] or found[FileUse.CAPSULE]:
            return []
        path = orders[0].path
        session = self._session
        if session.path is None or session.summary is None or session.summary.run is None:
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
            self.capsule_found.emit(each.path, self._order_of(each, found))
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
        opened = session.path if session.summary is not None and session.summary.run is not None else None
        run = (read.bundle if read is not None else None) or opened
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
        if verdict is None and report is not None:
            verdict = session.verdict_file
        verified = report if report is not None and report.outcome is Outcome.VERIFIED else None
        for each in weights:
            self.weights_found.emit(each.path, run, verdict, verified)
        return []


def _recognise(engine: Engine, paths: tuple[Path, ...]) -> tuple[Recognised | Failure, ...]:
    """In the worker thread."""
    found: list[Recognised | Failure] = []
    for path in paths:
        try:
            found.append(engine.recognise(path))
        except CounterfoilError as error:
            found.append(Failure.of(error))
    return tuple(found)
