"""Files that are dropped or picked find their places: each is recognised by its content, and used for what it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from counterfoil import AuditReport, CounterfoilError, FileUse, Outcome, Recognised
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.engine.worker import Failure, JobResult
from counterfoil_app.model.bundle_queue import BundleQueue
from counterfoil_app.model.known_orders import KnownOrders
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.files import Files
from counterfoil_app.verdict.desk import VerdictDesk
from counterfoil_app.verdict.key_desk import KeyDesk
from counterfoil_app.views.dialogs import ask_to_sign_with

MOST_FILES = 1000


class Dropping(QObject):
    """Uses files, in any number and of any kind.

    Args:
        session: Recognises them in its worker, and uses what belongs to the open run.
        queue: Takes several runs.
        files: Opens one run.
        verdicts: Reads verdicts.
        keys: Takes in public keys.
        orders: The orders that were used before.
        settings: Remember the private key.
        open_capsule: Shows a capsule, to be compared with an order if one is known.
        open_weights: Compares weights with a run, by a verdict on it or the report of a replay that verified it.
        window: The window that questions belong to.
    """

    placed = Signal(str)
    """What was done with the files, as sentences."""
    failed = Signal(Failure)

    def __init__(
        self,
        session: Session,
        queue: BundleQueue,
        files: Files,
        verdicts: VerdictDesk,
        keys: KeyDesk,
        orders: KnownOrders,
        settings: Settings,
        open_capsule: Callable[[Path, Path | None], None],
        open_weights: Callable[[Path, Path, Path | None, AuditReport | None], None],
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._keys = keys
        self._session = session
        self._queue = queue
        self._files = files
        self._verdicts = verdicts
        self._orders = orders
        self._settings = settings
        self._open_capsule = open_capsule
        self._open_weights = open_weights

    def place(self, paths: Sequence[Path]) -> None:
        """Use files for what they are; :attr:`placed` or :attr:`failed` follows."""
        if paths:
            self._session.ask(partial(_recognise, paths=tuple(paths[:MOST_FILES])), self._recognised)

    def _recognised(self, result: JobResult) -> None:
        if result.failure is not None:
            self.failed.emit(result.failure)
            return
        assert isinstance(result.value, tuple)
        found: dict[FileUse, list[Recognised]] = {}
        for each in result.value:
            if isinstance(each, Failure):
                self.failed.emit(each)
            else:
                found.setdefault(each.kind, []).append(each)
        sentences: list[str] = []
        use_first = (
            (FileUse.ORDER, self._use_orders),
            (FileUse.PUBLIC_KEY, self._use_public_keys),
            (FileUse.PRIVATE_KEY, self._use_private_keys),
        )
        for kind, use in use_first:
            sentences += use(found.get(kind, []), found)
        sentences += self._use_runs(found.get(FileUse.RUN, []), found)
        sentences += self._use_beside_the_run(found)
        for each in found.get(FileUse.CAPSULE, []):
            self._open_capsule(each.path, self._order_of(each, found))
        if not found.get(FileUse.WEIGHTS):
            for each in found.get(FileUse.VERDICT, []):
                self._verdicts.read(each.path, [said.path for said in found.get(FileUse.STATEMENT, [])])
        sentences += self._use_statements(found.get(FileUse.STATEMENT, []), found)
        sentences += self._use_weights(found.get(FileUse.WEIGHTS, []), found)
        for each in found.get(FileUse.OTHER, []):
            sentences.append(self.tr("{0} is no file that Counterfoil reads.").format(name_of(each.path)))
        if sentences:
            self.placed.emit(" ".join(sentences))

    def note_order(self, order: Recognised) -> None:
        """Remember an order that the user gave as the client's."""
        if order.order is not None:
            try:
                self._orders.note(order.order, order.path)
            except CounterfoilError as error:
                self.failed.emit(Failure.of(error))

    # Each kind

    def _order_of(self, file: Recognised, found: dict[FileUse, list[Recognised]]) -> Path | None:
        """The order to compare with: one that came along, or else one that is known by the digest that it names."""
        orders = found.get(FileUse.ORDER, [])
        same = next((order.path for order in orders if order.order == file.order), None)
        if same is not None:
            return same
        # A single order that came along is what it is to be compared with, also when it is another one.
        return orders[0].path if len(orders) == 1 else self._orders.find(file.order)

    def _use_orders(self, orders: list[Recognised], found: dict[FileUse, list[Recognised]]) -> list[str]:
        for order in orders:
            self.note_order(order)
        if not orders or found.get(FileUse.RUN) or found.get(FileUse.CAPSULE):
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

    def _use_runs(self, runs: list[Recognised], found: dict[FileUse, list[Recognised]]) -> list[str]:
        came_along = bool(found.get(FileUse.ORDER))
        if len(runs) == 1:
            order = self._order_of(runs[0], found) if came_along else None
            self._files.open_bundle(runs[0].path, order)
            return [] if order is None else [self.tr("{0} is the order.").format(name_of(order))]
        if not runs:
            return []
        orders = {run.path: order for run in runs if came_along and (order := self._order_of(run, found)) is not None}
        self._files.open_several([run.path for run in runs], orders)
        return [self.tr("{0} runs are queued.").format(len(runs))]

    def _use_beside_the_run(self, found: dict[FileUse, list[Recognised]]) -> list[str]:
        session, said = self._session, []
        for each in found.get(FileUse.DATA, []):
            if session.path is None or session.running:
                said.append(self.tr("{0} holds data: open the run that needs it first.").format(name_of(each.path)))
            else:
                session.use_data(each.path)
                said.append(self.tr("{0} is the data file.").format(name_of(each.path)))
        for each in found.get(FileUse.HEADS, []):
            if session.path is None or session.running:
                said.append(self.tr("{0} holds tree heads: open their run first.").format(name_of(each.path)))
            else:
                session.use_heads(each.path)
                said.append(
                    self.tr("The tree heads in {0} are compared when the run is replayed.").format(name_of(each.path))
                )
        return said

    def _use_statements(self, statements: list[Recognised], found: dict[FileUse, list[Recognised]]) -> list[str]:
        """What was said of a verdict goes to the verdict that came along or is read."""
        if found.get(FileUse.VERDICT):
            return []
        viewer, said = self._verdicts.reading, []
        for each in statements:
            if viewer is None:
                said.append(
                    self.tr("{0} is about a verdict: drop it together with that verdict.").format(name_of(each.path))
                )
            else:
                self._verdicts.take_statement(viewer, each.path)
        return said

    def _use_weights(self, weights: list[Recognised], found: dict[FileUse, list[Recognised]]) -> list[str]:
        """Compare them with a run that came along or is open, by a verdict that came along, is read, or was signed."""
        session, read = self._session, self._verdicts.reading
        said = []
        for each in weights:
            runs = [run.path for run in found.get(FileUse.RUN, [])]
            opened = session.path if session.summary is not None and session.summary.run is not None else None
            run = runs[0] if runs else read.bundle or opened if read is not None else opened
            if session.running:
                said.append(self.tr("{0} holds weights: compare them after the replay.").format(name_of(each.path)))
            elif run is None:
                said.append(
                    self.tr("{0} holds weights: open the run that they should come from first.").format(
                        name_of(each.path)
                    )
                )
            else:
                verdicts = [verdict.path for verdict in found.get(FileUse.VERDICT, [])]
                if not verdicts and read is not None and read.checked:
                    verdicts = [read.path]
                report = session.report if run == session.path else None
                if not verdicts and report is not None and session.verdict_file is not None:
                    verdicts = [session.verdict_file]
                verified = report if report is not None and report.outcome is Outcome.VERIFIED else None
                self._open_weights(each.path, run, verdicts[0] if verdicts else None, verified)
        return said

    def _use_public_keys(self, keys: list[Recognised], _found: dict[FileUse, list[Recognised]]) -> list[str]:
        """What a key signed says nothing about whose it is: the user is asked."""
        for each in keys:
            self._keys.offer(each.path)
        return []

    def _use_private_keys(self, keys: list[Recognised], _found: dict[FileUse, list[Recognised]]) -> list[str]:
        """Anybody's private key can lie among the files; the user's own is only the one that the user says."""
        for each in keys:
            ask_to_sign_with(self._window, name_of(each.path), partial(self._sign_with, each.path))
        return []

    def _sign_with(self, path: Path) -> None:
        self._settings.key_file = path
        self.placed.emit(self.tr("{0} is offered when you sign.").format(name_of(path)))


def _recognise(engine: Engine, paths: tuple[Path, ...]) -> tuple[Recognised | Failure, ...]:
    """In the worker thread."""
    found: list[Recognised | Failure] = []
    for path in paths:
        try:
            found.append(engine.recognise(path))
        except CounterfoilError as error:
            found.append(Failure.of(error))
    return tuple(found)
