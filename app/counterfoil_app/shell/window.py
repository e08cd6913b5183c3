"""The main window: the header, the strip, and below them the page that fits what is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, QUrl
from PySide6.QtGui import (
    QCloseEvent,
    QDesktopServices,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QIcon,
    QKeySequence,
    QShowEvent,
)
from PySide6.QtWidgets import QApplication, QMainWindow, QStackedWidget, QWidget

from counterfoil import AuditReport
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.strangers import name_of, plain
from counterfoil_app.engine.worker import Failure, JobResult, attempt
from counterfoil_app.looks import icons
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.theme import Theme
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.model.bundle_queue import BundleQueue
from counterfoil_app.model.case_file import FILE_NAME as CASES_FILE
from counterfoil_app.model.cases import Cases
from counterfoil_app.model.eventloop import follow, single_shot
from counterfoil_app.model.history import History
from counterfoil_app.model.inquiry import Delivery, Hearing
from counterfoil_app.model.journal import Kind
from counterfoil_app.model.key_book import FILE_NAME as KEYS_FILE, KeyBook
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.otherwindows import Replaying
from counterfoil_app.model.replayresult import Finished
from counterfoil_app.model.sealedcapsule import Unsealing
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import Settings
from counterfoil_app.model.unlocked_keys import UnlockedKeys
from counterfoil_app.shell.actions import ActionTable, Face, Menus, Row, without_mnemonic
from counterfoil_app.shell.case_desk import CaseDesk
from counterfoil_app.shell.clerk import Clerk
from counterfoil_app.shell.commands import Commands
from counterfoil_app.shell.desk import Desk, focus_dock, make_dock
from counterfoil_app.shell.editing import EditDesk
from counterfoil_app.shell.files import Dropping, Files
from counterfoil_app.shell.find_desk import FindDesk
from counterfoil_app.shell.job_desk import JobDesk
from counterfoil_app.shell.lookup_desk import CompareDesk, LookupDesk
from counterfoil_app.shell.order_desk import OrderDesk
from counterfoil_app.shell.places import PlaceDesk
from counterfoil_app.shell.recordings import RecordingDesk
from counterfoil_app.shell.shell import Shell
from counterfoil_app.verdict.batch import BatchDesk
from counterfoil_app.verdict.desk import VerdictDesk
from counterfoil_app.verdict.key_desk import KeyDesk
from counterfoil_app.views import layouts
from counterfoil_app.views.checks import Door
from counterfoil_app.views.dialogs import ask_to_leave_recording, ask_to_stop, show_failure
from counterfoil_app.views.dispute import DisputeView
from counterfoil_app.views.divergence import DivergenceView
from counterfoil_app.views.drop import DropHint, dropped_files
from counterfoil_app.views.frame import WINDOW_FRAME, Frame
from counterfoil_app.views.header import OFFERED, HeaderView
from counterfoil_app.views.home import HomeView, Part
from counterfoil_app.views.identity import IdentityDialog
from counterfoil_app.views.incoming import IncomingView
from counterfoil_app.views.inquiry import CapsuleDialog, DeliveryDialog
from counterfoil_app.views.merkle import MerkleView
from counterfoil_app.views.overview import ChecksView, RunView
from counterfoil_app.views.parts import Page, label, open_dialog
from counterfoil_app.views.plan_dialog import PlanDialog
from counterfoil_app.views.results import QueueView, ResultsDialog
from counterfoil_app.views.steps import StepsView
from counterfoil_app.views.transport import CONTROLS, Transport
from counterfoil_app.views.workers import WorkersDialog

CARD_ACTIONS: Mapping[Part, tuple[str, ...]] = {
    Part.CLIENT: ("order_training",),
    Part.TRAINER: ("follow_recording",),
    Part.AUDITOR: ("open", "results", "keys"),
    Part.RECEIVER: ("open", "open_address"),
}
"""What each kind of person finds on its card of the desk, the obvious thing first."""
LEAST_FIRST_SIZE = QSize(1366, 768)
SHARE_OF_SCREEN = 0.8
QUEUE_WIDTH = 270
LEAST_VIEW_PIXELS = 190
"""Height of the page below the header and the strip; where there is less, all three scroll."""
MESSAGE_MILLISECONDS = 15_000


def first_size(room: QSize) -> QSize:
    """How large the window opens: a good part of a large screen, and never more than fits with its frame.

    Args:
        room: The screen without task bars.
    """
    wanted = (room * SHARE_OF_SCREEN).expandedTo(LEAST_FIRST_SIZE)
    return wanted.boundedTo(room - WINDOW_FRAME)


class MainWindow(QMainWindow):
    """Counterfoil's window.

    Args:
        engine: The engine that does the work.
        settings: The user's settings.
        theme: The theme of the application.
    """

    def __init__(self, engine: Engine, settings: Settings, theme: Theme) -> None:
        super().__init__()
        self.settings = settings
        self.theme = theme
        self.session = Session(engine, self)
        self.session.device = settings.device
        self.queue = BundleQueue(self.session, self)
        self.key_book = KeyBook(settings.trust_folder / KEYS_FILE, self)
        self.session.keys = self.key_book
        self.key_book.changed.connect(self.session.know_keys)
        self.unlocked = UnlockedKeys(settings, self)
        self.keys = KeyDesk(self.session, self.key_book, self.unlocked, settings, theme, self)
        self.verdicts = VerdictDesk(self.session, settings, self.keys, theme, self)
        self.batch = BatchDesk(self.session, self.queue, self.keys, settings, theme, self)
        self.history = History(engine, self.session.submit, settings.config_folder / "results", self)
        self.history.follow(self.session)
        self.batch.signed.connect(self.history.note_signed)
        self.orders = OrderDesk(engine, self.session, settings, theme, self)
        self.files = Files(self.session, self.queue, self.verdicts, settings, self)
        self.session.replaying = Replaying(settings.config_folder / "replaying")
        self.session.cases = self.cases = Cases(settings.config_folder / CASES_FILE, self)
        self.clerk = Clerk(self.session, self.cases, self)
        self.dropping = Dropping(self.session, self.files, self.verdicts, self.keys, settings, self)
        self._closing = False
        self._laid_out = False
        self._raised_dispute = False
        self._recent: tuple[Path, ...] | None = None
        self._at_home = False
        self._wanted: tuple[int | None, str] | None = None
        """Step and view that are shown once the run is read."""
        self._written: Path | None = None
        """What was written last."""
        self._report: Path | None = None
        """The report to print that was written with it."""
        self.setAcceptDrops(True)
        self.setWindowIcon(QIcon(icons.pixmap("counterfoil", "#000000", 64)))
        self.recordings = RecordingDesk(engine, self.session, self.key_book, self.unlocked, settings, theme, self)
        self.shell = Shell(self, self.session, settings, theme)
        commands = Commands(
            self.session, self.queue, self.files, self.verdicts, self.plan_replay,
            self.show_results, self.keys.show, self.batch.sign_all,
        )  # fmt: skip
        self.comparing = CompareDesk(self.session, self.files, self.key_book, theme, self)
        self.comparing.audit_wanted.connect(self.open_bundle)
        self.lookups = LookupDesk(self.session, self.key_book, settings, theme, self)
        self.finding = FindDesk(self.session, self.cases, theme, self)
        self.jobs = JobDesk(engine, self.session, self.unlocked, settings, theme, self)
        self.places = PlaceDesk(engine, settings, self)
        self.editing = EditDesk(self.session, lambda: self.desk.shown_view, self)
        rows = [
            *commands.rows(), *self.finding.rows(), *self.comparing.rows(), *self.lookups.rows(),
            *self.places.rows(), *self.jobs.rows(), *self.editing.rows(), *self.shell.rows(), *self.orders.rows(),
            *self.recordings.rows(), *self._rows(),
        ]  # fmt: skip
        self.commands = ActionTable(rows, self.session, theme, self)
        self._make_views()
        self._put_together()
        self.menus = Menus(self.commands, self.session, self)
        self.menus.fill(
            self.divergence.export.actions, self.steps.actions_for_menu(), [f"show_{name}" for name in self.docks]
        )
        self.finding.commands = self.shell.commands = self.menus.commands
        self.finding.show_view, self.finding.open_file = self._show_view, self.open_bundle
        self.finding.show_tensor = self._show_tensor
        self._connect()
        self.resize(first_size(self.screen().availableSize()))
        if not settings.geometry.isEmpty():
            self.restoreGeometry(settings.geometry)
        self.shell.watch_layout(self.desk, self.docks)
        self.drop_hint = DropHint(self)
        for child in self.findChildren(QWidget):
            child.setAcceptDrops(False)  # a line of text would take the name of a file that is dropped on it
        self._show_page()
        self._refresh()

    # Making

    def _rows(self) -> list[Row]:
        return [
            Row(
                "clear_recent",
                Face(self.tr("&Clear recent files")),
                self._clear_recent,
                enabled=lambda _session: bool(self._recent),
            ),
            Row(
                "home",
                Face(self.tr("Ho&me"), "home", self.tr("Go to the desk with all cases; what is open is closed")),
                self.go_home,
                "Alt+Home",
                lambda session: session.phase is not Phase.EMPTY,
            ),
            *self._rows_of_views(),
            Row(
                "previous_run",
                Face(self.tr("The run that was open before"), tip=self.tr("Change between the last two runs")),
                self._open_previous,
                "Ctrl+Shift+U",
                lambda session: self._previous(session) is not None,
            ),
            Row(
                "name_trainer",
                Face(self.tr("Name the trainer"), "key", self.tr("Say whose key signed the run, after comparing it")),
                self._name_trainer,
                "",
                lambda session: bool(session.trainer_key),
            ),
            Row(
                "lock_keys",
                Face(
                    self.tr("&Lock my keys"),
                    "key",
                    self.tr("Forget the passphrases of your keys at once, which the preferences keep for a while"),
                ),
                self.unlocked.lock,
                "",
                lambda _session: self.unlocked.any,
            ),
            Row(
                "workers",
                Face(
                    self.tr("&Workers\u2026"),
                    tip=self.tr("Show where each worker of the replay is, and how fast it goes"),
                ),
                self.show_workers,
                "Ctrl+Shift+W",
                lambda session: session.workers > 1 or bool(session.progress.workers),
            ),
            Row("layout", Face(self.tr("&Restore layout")), lambda: self.desk.restore()),
            Row("quit", Face(self.tr("&Quit")), self.close, QKeySequence.StandardKey.Quit),
        ]

    def _rows_of_views(self) -> list[Row]:
        def is_open(session: Session) -> bool:
            return session.summary is not None

        back = Face(self.tr("Pre&vious view"))
        close_tip = self.tr("Close the view that has the keyboard")
        return [
            *(
                Row(f"show_{name}", Face(title), partial(self._show_view, name), f"Ctrl+{key}", is_open)
                for key, (name, title) in enumerate(self._titles().items(), start=1)
            ),
            Row("show_queue", Face(self.tr("&Queue")), self._show_queue, "Ctrl+0"),
            Row("next_view", Face(self.tr("&Next view")), lambda: self.desk.turn(1), "Ctrl+Tab", is_open),
            Row("previous_view", back, lambda: self.desk.turn(-1), "Ctrl+Shift+Tab", is_open),
            Row("close_view", Face(self.tr("&Close view"), tip=close_tip), self._close_view, "Ctrl+W"),
        ]

    def _titles(self) -> dict[str, str]:
        """The views of a run by their names, as the menu has them."""
        return {
            "dispute": self.tr("&Finding"),
            "steps": self.tr("&Steps"),
            "divergence": self.tr("&Plots"),
            "merkle": self.tr("&Merkle"),
            "checks": self.tr("Chec&ks"),
            "run": self.tr("Run &and keys"),
            "log": self.tr("&Log"),
        }

    def _show_view(self, name: str) -> None:
        self._leave_home()
        self.desk.show_view(name)
        self._frame.ensureWidgetVisible(self.stack, 0, 0)

    def _previous(self, session: Session) -> Path | None:
        """The run that was open before that which is."""
        return next((path for path in self._recent or () if path != session.path), None)

    def _open_previous(self) -> None:
        if (path := self._previous(self.session)) is not None:
            self.open_bundle(path)

    def _name_trainer(self) -> None:
        self._show_view("run")
        self.run.trainer_key.name.setFocus()

    def _show_tensor(self, name: str) -> None:
        self._show_view("dispute")
        self.dispute.look.tensor.button.setChecked(True)
        self.dispute.look.show_tensor(name)

    def _tell_trial(self) -> None:
        """What the rows most likely were, in the header too: nobody looks further for the evidence."""
        found = self.dispute.look.rows_look.found
        changed = [] if found is None else [row for row in found.arrays if len(row.read) and not row.same]
        self.header.tell_trial(" ".join(plain(f"{row.name}: {translate(row.said)}") for row in changed))

    def _open_door(self, door: Door) -> None:
        """Open what shows or mends one of the things that the outcome rests on."""
        session = self.session
        if door is Door.TRAINER:
            self._name_trainer()
        elif door is Door.ORDER and session.order is None and not session.running:
            self.commands["compare"].trigger()
        else:
            self._show_view("checks" if door is Door.ORDER else "run")

    def _show_queue(self) -> None:
        self.queue_dock.show()
        focus_dock(self.queue_dock)

    def _close_view(self) -> None:
        if self.queue_dock.isAncestorOf(QApplication.focusWidget() or self):
            self.queue_dock.close()
        else:
            self.desk.close_view()

    def _make_views(self) -> None:
        session, theme, commands = self.session, self.theme, self.commands
        self.header = HeaderView(session, theme, {name: commands[name] for name in OFFERED})
        cards = {part: commands.several(*names) for part, names in CARD_ACTIONS.items()}
        samples = commands.several("honest_sample", "tampered_sample")
        self.home = HomeView(self.cases, self.history, cards, samples, theme)
        self.case_desk = CaseDesk(
            self.home, self.cases, self.clerk, session, self.files, self.verdicts, self.history, theme, self
        )
        self.transport = Transport(session, theme, {name: commands[name] for name in CONTROLS})
        self.strip = self.transport.strip
        self.checks = ChecksView(session, theme)
        self.run = RunView(session, self.key_book)
        self.steps = StepsView(session, theme)
        self.divergence = DivergenceView(session, theme)
        self.merkle = MerkleView(session, theme)
        self.dispute = DisputeView(session, theme, commands["capsule"])
        self.queue_view = QueueView(
            self.queue, theme, tuple(commands.several("add_to_queue", "start_queue", "stop_queue", "sign_queue"))
        )
        self.incoming = IncomingView(self.dropping.incoming, self.dropping.sentence)
        self.message = label("", "muted")
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)

    def _put_together(self) -> None:
        views = (
            self.dispute, self.steps, self.divergence, self.merkle, self.checks, self.run, self.shell.log,
        )  # fmt: skip
        titled = zip(self._titles().items(), views, strict=True)
        self.desk = Desk({name: (without_mnemonic(title), view) for (name, title), view in titled}, self)
        self.docks = self.desk.docks
        self.stack = QStackedWidget()
        for page in (self.home, self.message, self.desk):
            self.stack.addWidget(page)
        centre = QWidget()
        shown = (self.header, self.transport, (self.stack, 1), self.incoming)
        self._column = layouts.column(*shown, inside=centre, margins=layouts.NONE, spacing=0)
        self.stack.setMinimumHeight(scale(LEAST_VIEW_PIXELS))
        self._frame = Frame(centre)
        self.setCentralWidget(self._frame)
        # A dock of the window and not of the desk: it stays while bundles are opened and closed.
        self.queue_dock = make_dock("queue", self.tr("Queue"), self.queue_view)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self.queue_dock)
        self.queue_dock.hide()
        self.resizeDocks([self.queue_dock], [scale(QUEUE_WIDTH)], Qt.Orientation.Horizontal)
        self.statusBar().setSizeGripEnabled(False)
        self.reveal = layouts.button(self.tr("Show in folder"), self._show_in_folder)
        self.read = layouts.button(self.tr("Open the report"), self._open_report)
        for link in (self.read, self.reveal):
            link.setProperty("link", True)
            self.statusBar().addPermanentWidget(link)
            link.hide()
        if self.session.where:
            machine = self.tr("The engine works on {0}: files are those of that machine, keys are here.")
            self.statusBar().addPermanentWidget(label(machine.format(self.session.where), wrap=False))

    def _connect(self) -> None:
        session, shell, menus = self.session, self.shell, self.menus
        follow(self._refresh, session.phase_changed, session.bundle_changed)
        follow(self._show_wanted, session.phase_changed, session.rows_changed)
        session.progress_changed.connect(self._show_title)
        session.dispute_changed.connect(self._raise_dispute)
        session.devices_changed.connect(menus.show_devices)
        follow(self._exported, session.exports.finished, self.verdicts.handed_over, self.jobs.written)
        session.misnamed.connect(self._misnamed)
        self.incoming.cancelled.connect(self.dropping.stop)
        self.dropping.belonging.connect(self.clerk.note_recognised)
        self.orders.ordered.connect(self.clerk.note_order)
        self.orders.record_wanted.connect(self.recordings.record)
        self.verdicts.was_read.connect(self.clerk.note_reading)
        self.case_desk.files_wanted.connect(self.open_files)
        self.case_desk.replay_wanted.connect(self._leave_home)
        follow(self._placed, self.case_desk.told)
        self.cases.changed.connect(self._show_recent)
        follow(self.open_files, self.files.chosen, self.verdicts.files_dropped, self.places.fetched)
        self.editing.copied.connect(lambda sentence: self.statusBar().showMessage(sentence, MESSAGE_MILLISECONDS))
        self.dropping.capsule_found.connect(self.open_capsule)
        self.dropping.job_found.connect(self.jobs.read)
        self.dropping.sealed_found.connect(self.open_sealed)
        self.dropping.weights_found.connect(self.open_weights)
        follow(self._placed, self.dropping.placed, self.keys.placed, self.orders.placed)
        follow(self._failed, session.failed, self.dropping.failed, self.keys.failed, self.history.failed)
        follow(self._failed, self.clerk.failed, self.case_desk.failed, self.recordings.failed)
        follow(self._failed, self.run.trainer_key.failed, self.orders.failed)
        self.clerk.follow_recordings(self.recordings.follower)
        self.recordings.run_wanted.connect(self.open_bundle)
        self.recordings.result_wanted.connect(self._show_followed)
        self.recordings.handed_over.connect(self._exported)
        session.other_order.connect(self.files.open_with_order)
        session.idle.connect(self._close_when_idle)
        follow(self.commands.refresh, self.queue.changed, shell.actions_changed, self.unlocked.changed)
        shell.settings_changed.connect(self.unlocked.follow_settings)
        follow(self._forget_dispute, self.files.opening)
        follow(self._leave_home, self.files.opening)
        follow(self._scroll_up, self.files.opening)
        self.files.queued.connect(self.queue_dock.show)
        self.steps.copied.connect(lambda sentence: self.statusBar().showMessage(sentence, MESSAGE_MILLISECONDS))
        self.steps.view_wanted.connect(self._show_view)
        self.steps.searches.show_kept(self.settings.searches)
        self.steps.searches.changed.connect(self._keep_searches)
        self.steps.dispute_wanted.connect(partial(self._show_view, "dispute"))
        self.home.sample_cancelled.connect(shell.samples.cancel)
        self.header.trust.opened.connect(self._open_door)
        self.dispute.look.rows_look.changed.connect(self._tell_trial)
        self.transport.offer_devices(menus.device_menu)
        menus.recent_chosen.connect(self.open_bundle)
        menus.device_chosen.connect(self._use_device)
        shell.samples.made.connect(lambda files: self.open_bundle(files.run, files.order))
        shell.samples.progress_changed.connect(self._show_sample)
        shell.samples.ended.connect(lambda: self.home.show_sample(""))
        # Behind what the program opens first: all results are read whole, and in the worker that opens runs.
        single_shot(self, 0, self.history.refresh).start()

    # Opening

    def open_bundle(self, path: Path, order: Path | None = None) -> None:
        """Open a bundle; asks first when a replay is running."""
        self.files.open_bundle(path, order)

    def show_place(self, step: int | None, view: str) -> None:
        """Show a step, and a view, of the run that is being opened, once it is read.

        Args:
            step: The step; None for none, and nothing where the run has none of this number.
            view: The name of the view's dock; empty for that which is shown first.
        """
        self._wanted = step, view
        self._show_wanted()

    def _show_wanted(self) -> None:
        if self._wanted is None or self.session.phase in (Phase.EMPTY, Phase.LOADING):
            return
        (step, view), self._wanted = self._wanted, None
        if self.session.phase is Phase.UNREADABLE:
            return
        if step is not None and 1 <= step <= self.session.step_data.count:
            self.session.select_step(step)
        if view:
            self.session.drawing.soon(partial(self._show_view, view))

    def open_files(self, paths: Sequence[Path]) -> None:
        """Use what was dropped or picked for what it is: runs, orders, verdicts, keys, capsules, weights, data."""
        self.dropping.place(paths)

    def go_home(self) -> None:
        """Show the desk; what is open is closed, but for a replay, which goes on."""
        if self.session.running:
            self._at_home = True
            self._show_page()
        else:
            self.files.leave_result(self.tr("Close without signing"), self._close_open)

    def _close_open(self) -> None:
        self._forget_dispute()
        self.session.leave()

    def _scroll_up(self) -> None:
        """Every page of another run is read from its beginning."""
        for page in self.desk.findChildren(Page):
            page.verticalScrollBar().setValue(0)

    def _leave_home(self) -> None:
        if self._at_home:
            self._at_home = False
            self._show_page()

    def open_sealed(self, path: Path) -> None:
        """Ask for the key of a sealed capsule, and show what was sealed for as long as its window is open."""
        asked = IdentityDialog(path, self)
        asked.wanted.connect(partial(self._unseal, asked, path))
        open_dialog(asked)

    def _unseal(self, asked: IdentityDialog, path: Path) -> None:
        unsealing = Unsealing(path, asked.identity, asked.passphrase)
        self.session.submit(unsealing.open, partial(self._unsealed, asked, unsealing))

    def _unsealed(self, asked: IdentityDialog, unsealing: Unsealing, result: JobResult) -> None:
        asked.end(result.failure)
        if isinstance(result.value, Path):
            dialog = self.open_capsule(result.value, filed=unsealing.sealed)
            dialog.finished.connect(unsealing.close)

    def open_capsule(self, path: Path, order: Path | None = None, filed: Path | None = None) -> CapsuleDialog:
        """Show a dispute capsule, which can be adjudicated here; ``filed`` is the sealed file that it came out of."""
        hearing = Hearing(self.session, path, self)
        hearing.filed = filed or path
        hearing.order = order
        dialog = CapsuleDialog(hearing, self.theme, self)
        hearing.setParent(dialog)
        self.clerk.follow_hearing(hearing)
        dialog.order_wanted.connect(partial(self.files.choose_order_of, dialog.use_order))
        dialog.signature_wanted.connect(partial(self.verdicts.sign_hearing, hearing))
        open_dialog(dialog)
        return dialog

    def open_weights(self, weights: Path, run: Path, verdict: Path | None, replay: AuditReport | None) -> None:
        """Compare delivered weights with a run, by a verdict on it or by a replay here."""
        delivery = Delivery(self.session, weights, run, self)
        delivery.replay = replay
        dialog = DeliveryDialog(delivery, self.key_book, self.theme, self.verdicts.reading or self)
        delivery.setParent(dialog)
        self.clerk.follow_delivery(delivery)

        def begin(by: Path | None) -> None:
            delivery.verdict, delivery.store = by, self.key_book.store
            delivery.start()

        def again() -> None:
            """Other keys count now: what was found by a verdict is found anew, the rest is shown by what is known."""
            if delivery.verdict is not None:
                delivery.stop()
                begin(delivery.verdict)
            else:
                dialog.refresh()

        dialog.verdict_chosen.connect(begin)
        dialog.steps_wanted.connect(lambda: self.lookups.locate(run, weights, dialog))
        self.key_book.changed.connect(again)
        dialog.finished.connect(lambda _result: self.key_book.changed.disconnect(again))
        open_dialog(dialog)
        begin(verdict)

    def plan_replay(self) -> None:
        """Ask how much of the run is replayed."""
        if self.session.summary is None or not self.session.can_replay:
            return
        dialog = PlanDialog(self.session, self)
        dialog.accepted.connect(self._device_chosen)
        dialog.accepted.connect(self.header.refresh)
        open_dialog(dialog)

    def show_workers(self) -> None:
        """Show the workers of the replay beside the window."""
        dialog = WorkersDialog(self.session, self.theme, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show()

    def show_results(self) -> None:
        """Show all results, those of earlier days too."""
        dialog = ResultsDialog(self.history, self.theme, self)
        dialog.chosen.connect(self.case_desk.show_result)
        open_dialog(dialog)

    def _show_followed(self, finished: Finished) -> None:
        def show() -> None:
            self.session.show(finished)
            self.session.concluded.emit()

        if not self.session.running:
            self.files.leave_result(self.tr("Show without signing"), show)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Take files, and say so."""
        if paths := dropped_files(event.mimeData()):
            event.acceptProposedAction()
            self.home.show_hot(True)
            self.drop_hint.show_for(len(paths))
            self.dropping.foresee(paths, self.drop_hint.say)

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:  # noqa: N802 - Qt's name
        """Forget the drag."""
        self._drag_over()

    def _drag_over(self) -> None:
        self.home.show_hot(False)
        self.drop_hint.hide()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Use the dropped files for what they are."""
        self._drag_over()
        if paths := dropped_files(event.mimeData()):
            event.acceptProposedAction()
            self.open_files(paths)

    def _placed(self, sentence: str) -> None:
        self.shell.journal.note(Kind.NOTE, sentence)
        self.statusBar().showMessage(sentence, MESSAGE_MILLISECONDS)

    # Showing

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Look again whether another window replays the same run, when this one comes to the front."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.ActivationChange and self.isActiveWindow() and self._laid_out:
            self.header.refresh()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Make the views ready behind the page that is shown: the first bundle then opens without a pause."""
        super().showEvent(event)
        if not self._laid_out:
            shown = self.stack.currentIndex()
            self.stack.setCurrentWidget(self.desk)
            self._lay_out()
            self.stack.setCurrentIndex(shown)

    def _lay_out(self) -> None:
        self._column.activate()
        self.desk.lay_out_as_left(self.stack.size(), self.settings.layout(self.desk.screen_class))

    def _show_page(self) -> None:
        session = self.session
        empty = session.phase is Phase.EMPTY or self._at_home
        self.header.setVisible(not empty)
        nothing_to_show = session.phase in (Phase.LOADING, Phase.UNREADABLE)
        page = self.home if empty else self.message if nothing_to_show else self.desk
        if page is not self.stack.currentWidget():
            # Laid out in this turn and painted in the next: both at once would hold the window up.
            self.stack.setUpdatesEnabled(False)
            session.drawing.soon(self._draw_page)
        self.stack.setCurrentWidget(page)
        self.transport.setVisible(page is self.desk and session.step_data.count > 0)
        if page is self.desk and self.isVisible() and not self._laid_out:
            # For the size that the window has when a bundle is first shown.
            self._laid_out = True
            self._lay_out()
            if self.shell.layouts is not None:
                self.shell.layouts.start()

    def _draw_page(self) -> None:
        self.stack.setUpdatesEnabled(True)

    def _refresh(self) -> None:
        session = self.session
        session.drawing.soon(self._show_page)
        if session.phase is Phase.LOADING:
            self.message.setText(self.tr("Reading {0}\u2026").format(self._bundle_name()))
        elif session.phase is Phase.UNREADABLE:  # in any other phase the page is about to be left
            self.message.setText(
                self.tr("{0} cannot be shown. Open another run, or drop one here.").format(self._bundle_name())
            )
        self._show_recent()
        self._show_title()

    def _show_title(self) -> None:
        name = self._bundle_name()
        progress = self.session.progress
        if self.session.running and progress.total:
            name = f"{100 * progress.done / progress.total:.0f} % \u2013 {name}"
        program = self.tr("Counterfoil on {0}").format(self.session.where) if self.session.where else "Counterfoil"
        self.setWindowTitle(f"{name} \u2013 {program}" if name else program)

    def _show_sample(self, done: int, total: int) -> None:
        sentence = self.tr("Recording the sample on this machine: the first step takes some seconds.")
        if done:
            sentence = self.tr("Recording the sample on this machine: step {0} of {1}.").format(done, total)
        self.home.show_sample(sentence)
        self.statusBar().showMessage(sentence, MESSAGE_MILLISECONDS)

    def _bundle_name(self) -> str:
        return name_of(self.session.path)

    def _raise_dispute(self) -> None:
        if self.session.dispute is not None and not self._raised_dispute:
            self._raised_dispute = True
            self.session.drawing.soon(self.docks["dispute"].raise_)

    def _forget_dispute(self) -> None:
        self._raised_dispute = False

    def _exported(self, path: Path) -> None:
        self.statusBar().showMessage(self.tr("Written: {0}").format(path), MESSAGE_MILLISECONDS)
        self._written = path
        self.reveal.setVisible(not self.session.where)  # on another machine there is no folder to show
        self._report = self.verdicts.report_of(path)
        self.read.setVisible(self._report is not None and not self.session.where)
        set_tip(self.reveal, self.tr("Show {0} in the file manager").format(path))

    def _open_report(self) -> None:
        if self._report is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._report)))

    def _show_in_folder(self) -> None:
        if self._written is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._written.parent)))

    def _misnamed(self, failure: Failure) -> None:
        if not self.queue.running:  # which says so at its entry
            self.files.choose_again(failure)

    def _failed(self, failure: Failure) -> None:
        if failure.expected:
            show_failure(self, failure)
        else:
            self.shell.show_exception(failure)

    # Settings that are seen

    def _show_recent(self) -> None:
        paths = self.cases.recent
        if paths != self._recent:
            self._recent = paths
            self.menus.show_recent(paths)
            self.commands.refresh()

    def _clear_recent(self) -> None:
        attempt(self.cases.forget_recent, self.clerk.failed)

    def _keep_searches(self) -> None:
        self.settings.searches = self.steps.searches.kept

    def _use_device(self, name: str) -> None:
        self.session.device = name
        self.header.refresh()
        self._device_chosen()

    def _device_chosen(self, _position: int = 0) -> None:
        self.settings.device = self.session.device
        self.menus.show_devices()

    # Closing

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """Ask while a replay runs; close once the worker has let go of its files."""
        if self.session.running and not self._closing:
            event.ignore()
            sentence = self.tr("A replay of {0} is running.").format(self._bundle_name())
            ask_to_stop(self, sentence, self.tr("Stop it and close"), self._stop_and_close)
            return
        if self.session.unsigned and not self._closing:
            event.ignore()
            self.files.leave_result(self.tr("Close without signing"), self._close_unsigned)
            return
        if self.recordings.working and not self._closing:
            event.ignore()
            sentence = self.tr("Something is recorded or followed in this window.")
            ask_to_leave_recording(self, sentence, self._close_unsigned)
            return
        self.recordings.shut_down()
        self.unlocked.lock()
        self.shell.samples.cancel()
        self.dropping.incoming.stop()
        if self.session.busy:
            self._closing = True
            event.ignore()
            self.hide()
            return
        self.settings.geometry = self.saveGeometry()
        if self._laid_out:
            self.settings.keep_layout(self.desk.screen_class, self.desk.save())
        self.orders.close()
        self.jobs.close()
        self.shell.close()
        self.session.shut_down()
        for timer in self.findChildren(QTimer):  # what views would redraw later, nobody will see
            timer.stop()
        event.accept()

    def _stop_and_close(self) -> None:
        self._closing = True
        self.session.stop()
        self.hide()

    def _close_unsigned(self) -> None:
        self._closing = True
        self.close()

    def _close_when_idle(self) -> None:
        if self._closing:
            self.close()
