"""The main window: menus, the header, and the views as docks around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, QTimer
from PySide6.QtGui import (
    QAction,
    QActionGroup,
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QIcon,
    QKeySequence,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QDockWidget,
    QFileDialog,
    QMainWindow,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from counterfoil import SegmentRequest
from counterfoil_app.engine import strangers
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.strangers import beside, name_of
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks import icons, words
from counterfoil_app.looks.engine_words import translated
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.address_book import open_address_book
from counterfoil_app.model.bundle_queue import BundleQueue
from counterfoil_app.model.session import Phase, Session
from counterfoil_app.model.settings import Settings, ThemeChoice
from counterfoil_app.shell.shell import Shell
from counterfoil_app.verdict.desk import VerdictDesk
from counterfoil_app.views.dialogs import ask_to_stop, show_failure
from counterfoil_app.views.dispute import DisputeView
from counterfoil_app.views.divergence import DivergenceView
from counterfoil_app.views.header import HeaderActions, HeaderView
from counterfoil_app.views.merkle import MerkleView
from counterfoil_app.views.overview import OverviewView
from counterfoil_app.views.parts import label
from counterfoil_app.views.plan_dialog import PlanDialog
from counterfoil_app.views.queue import QueueView
from counterfoil_app.views.steps import StepsView
from counterfoil_app.views.strip import StepStrip
from counterfoil_app.views.welcome import WelcomeView

FIRST_SIZE = (1366, 768)
LAYOUT_VERSION = 3
"""Number of the set of views: a layout that was kept with another set is not restored."""
OVERVIEW_CHARACTERS = 66
OVERVIEW_SHARE = 0.31
"""Share of the window's width that the overview has at first, unless its text needs more."""
LARGEST_OVERVIEW_SHARE = 0.42
ROOM_FOR_TWO = 64
"""Height of a window, in lines of text, from which two views lie above each other at first."""
QUEUE_WIDTH = 270
MESSAGE_MILLISECONDS = 15_000


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
        self.verdicts = VerdictDesk(self.session, settings, theme, self)
        self._closing = False
        self._raised_dispute = False
        self.setAcceptDrops(True)
        self.setWindowIcon(QIcon(icons.pixmap("counterfoil", "#000000", 64)))
        self.shell = Shell(self, engine, self.session, settings, theme)
        self._make_actions()
        self._make_views()
        self._make_menus()
        self._connect()
        self.resize(*FIRST_SIZE)
        if not settings.geometry.isEmpty():
            self.restoreGeometry(settings.geometry)
        self._laid_out = False
        self._recent: tuple[Path, ...] | None = None
        self.shell.watch_layout(self.desk, self.docks)
        self._draw_icons()
        self._show_page()
        self._refresh()

    # Making

    def _action(
        self, text: str, icon: str, slot: Callable[[], object], shortcut: QKeySequence | str = "", tip: str = ""
    ) -> QAction:
        action = QAction(text, self)
        action.setProperty("icon-name", icon)
        action.setShortcut(QKeySequence(shortcut))
        action.setToolTip(tip or text.replace("&", "").rstrip("\u2026"))
        action.setStatusTip(tip)
        action.triggered.connect(lambda _checked=False: slot())
        self.addAction(action)
        return action

    def _make_actions(self) -> None:
        keys = QKeySequence.StandardKey
        self.open_action = self._action(
            self.tr("&Open a run\u2026"), "open", self.choose_bundle, QKeySequence(keys.Open), self.tr("Open a bundle")
        )
        self.compare_action = self._action(
            self.tr("Co&mpare with order\u2026"),
            "compare",
            self.choose_order,
            "Ctrl+Shift+O",
            self.tr("Compare the open run with the client's own order file"),
        )
        self.data_action = self._action(
            self.tr("Choose the &data file\u2026"),
            "open",
            self.choose_data,
            "Ctrl+D",
            self.tr("Choose the file with the data that the order names and does not hold"),
        )
        self.drop_order_action = self._action(
            self.tr("Ta&ke the order from the bundle"), "", lambda: self.session.compare_with(None)
        )
        self.clear_recent_action = self._action(self.tr("&Clear recent files"), "", self._clear_recent)
        self.verdict_action = self._action(
            self.tr("&Export signed verdict\u2026"),
            "export",
            self.verdicts.sign,
            "Ctrl+E",
            self.tr("Sign what the replay found, and save it"),
        )
        self.read_verdict_action = self._action(
            self.tr("Open a &verdict\u2026"),
            "verdict",
            self.choose_verdict_file,
            "Ctrl+Shift+V",
            self.tr("Check the signature of a verdict, and read it"),
        )
        self.table_action = self._action(
            self.tr("Export step &table\u2026"),
            "table",
            self.choose_table,
            "Ctrl+Shift+E",
            self.tr("Save the replayed steps as CSV"),
        )
        self.capsule_action = self._action(
            self.tr("Save dispute &capsule\u2026"),
            "disputed",
            self.choose_capsule,
            "Ctrl+Shift+C",
            self.tr("Save the disputed step with its proofs, so that anybody can replay it on another machine"),
        )
        self.quit_action = self._action(self.tr("&Quit"), "", self.close, QKeySequence(keys.Quit))
        self.replay_action = self._action(self.tr("&Replay"), "replay", self.session.replay, "F5")
        self.go_on_action = self._action(self.tr("R&esume"), "replay", self.session.go_on, "F7")
        self.pause_action = self._action(
            self.tr("&Pause"), "pause", self._pause_or_resume, "F6", self.tr("Pause the replay, or let it go on")
        )
        self.stop_action = self._action(
            self.tr("&Stop"), "stop", self.session.stop, "Shift+F5", self.tr("Stop the replay")
        )
        self.plan_action = self._action(
            self.tr("P&lan\u2026"),
            "plan",
            self.plan_replay,
            "Ctrl+L",
            self.tr("Choose how much of the run is replayed, and see what that costs and proves"),
        )
        self.add_to_queue_action = self._action(
            self.tr("&Add\u2026"), "queue", self.choose_for_queue, "Ctrl+Shift+A", self.tr("Add bundles to the queue")
        )
        self.start_queue_action = self._action(
            self.tr("Sta&rt"),
            "replay",
            self.queue.start,
            "Ctrl+F5",
            self.tr("Replay the waiting bundles one after the other"),
        )
        self.stop_queue_action = self._action(
            self.tr("S&top"),
            "stop",
            self.queue.stop,
            "Ctrl+Shift+F5",
            self.tr("Stop the queue; what waits stays"),
        )
        self.layout_action = self._action(self.tr("&Restore layout"), "", self._restore_layout)
        self.shell.make_actions(self._action)

    def _make_views(self) -> None:
        self.header = HeaderView(
            self.session,
            self.theme,
            HeaderActions(
                self.open_action,
                self.compare_action,
                self.data_action,
                self.replay_action,
                self.go_on_action,
                self.pause_action,
                self.stop_action,
                self.verdict_action,
                self.plan_action,
            ),
        )
        self.welcome = WelcomeView(
            self.open_action, (self.shell.honest_sample_action, self.shell.tampered_sample_action)
        )
        book, problem = open_address_book(self.settings.config_folder)
        self.overview = OverviewView(self.session, self.theme, self.compare_action, book, problem)
        self.overview.trainer_key.failed.connect(self._failed)
        self.strip = StepStrip(self.session, self.theme)
        self.steps = StepsView(self.session, self.theme)
        self.divergence = DivergenceView(self.session, self.theme)
        self.merkle = MerkleView(self.session, self.theme)
        self.dispute = DisputeView(self.session, self.theme, self.capsule_action)
        self.desk = QMainWindow()
        self.desk.setWindowFlags(Qt.WindowType.Widget)
        self.desk.setDockNestingEnabled(True)
        self.docks: dict[str, QDockWidget] = {}
        self._add_dock("overview", self.tr("Overview"), self.overview)
        self._add_dock("steps", self.tr("Steps"), self.steps)
        self._add_dock("divergence", self.tr("Divergence"), self.divergence)
        self._add_dock("merkle", self.tr("Merkle"), self.merkle)
        self._add_dock("dispute", self.tr("Dispute"), self.dispute)
        self._add_dock("log", self.tr("Log"), self.shell.log)
        self._arrange_docks()
        self.desk.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.message = label("", "muted")
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.stack = QStackedWidget()
        for page in (self.welcome, self.message, self.desk):
            self.stack.addWidget(page)
        centre = QWidget()
        column = self._column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self.strip)
        column.addWidget(self.stack, 1)
        self.setCentralWidget(centre)
        self.queue_view = QueueView(
            self.queue, self.theme, (self.add_to_queue_action, self.start_queue_action, self.stop_queue_action)
        )
        # A dock of the window and not of the desk: it stays while bundles are opened and closed.
        self.queue_dock = QDockWidget(self.tr("Queue"))
        self.queue_dock.setObjectName("queue")
        self.queue_dock.setAccessibleName(self.tr("Queue"))
        self.queue_dock.setWidget(self.queue_view)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self.queue_dock)
        self.queue_dock.hide()
        self.resizeDocks([self.queue_dock], [QUEUE_WIDTH], Qt.Orientation.Horizontal)
        self.statusBar().setSizeGripEnabled(False)

    def _add_dock(self, name: str, title: str, view: QWidget) -> None:
        dock = QDockWidget(title)
        dock.setObjectName(name)
        dock.setWidget(view)
        dock.setAccessibleName(title)
        self.docks[name] = dock

    @property
    def _has_room_for_two(self) -> bool:
        return self.height() >= ROOM_FOR_TWO * self.fontMetrics().height()

    def _arrange_docks(self) -> None:
        """The overview beside all other views: behind each other, or where there is room, plots above the rest."""
        left, right = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
        for name, dock in self.docks.items():
            self.desk.addDockWidget(left if name == "overview" else right, dock)
        others = [dock for name, dock in self.docks.items() if name != "overview"]
        if self._has_room_for_two:
            others.remove(self.docks["divergence"])
            self.desk.splitDockWidget(self.docks["divergence"], others[0], Qt.Orientation.Vertical)
        for one, other in pairwise(others):
            self.desk.tabifyDockWidget(one, other)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Make the views ready behind the page that is shown: the first bundle then opens without a pause."""
        super().showEvent(event)
        if not self._laid_out:
            shown = self.stack.currentIndex()
            self.stack.setCurrentWidget(self.desk)
            self._lay_out_as_left()
            self.stack.setCurrentIndex(shown)

    def _lay_out_first(self) -> None:
        """Lay the docks out for the size that the window has when a bundle is first shown."""
        self._laid_out = True
        self._lay_out_as_left()
        if self.shell.layouts is not None:
            self.shell.layouts.start()

    def _lay_out_as_left(self) -> None:
        """Lay the docks out as they were left; sizes hold only once the desk has its own."""
        self._column.activate()
        self.desk.resize(self.stack.size())
        layout = self.settings.layout
        if layout.isEmpty() or not self.desk.restoreState(layout, LAYOUT_VERSION):
            self._lay_out()

    def _lay_out(self) -> None:
        """Arrange the docks for the size of the window."""
        self._arrange_docks()
        docks = self.docks
        # Larger text needs a wider overview, but never more than its part of the window.
        wanted = max(int(OVERVIEW_SHARE * self.width()), self.fontMetrics().averageCharWidth() * OVERVIEW_CHARACTERS)
        overview = min(wanted, int(LARGEST_OVERVIEW_SHARE * self.width()))
        widths = [overview, self.width() - overview]
        self.desk.resizeDocks([docks["overview"], docks["steps"]], widths, Qt.Orientation.Horizontal)
        if self._has_room_for_two:
            self.desk.resizeDocks([docks["divergence"], docks["steps"]], [1, 1], Qt.Orientation.Vertical)
        docks["steps"].raise_()

    def _make_menus(self) -> None:
        file = self.menuBar().addMenu(self.tr("&File"))
        file.addAction(self.open_action)
        self.recent_menu = file.addMenu(self.tr("Open &recent"))
        file.addAction(self.compare_action)
        self.shell.fill_file_menu(file, self.compare_action)
        file.addAction(self.drop_order_action)
        file.addAction(self.data_action)
        file.addSeparator()
        file.addActions([self.verdict_action, self.table_action, self.capsule_action])
        file.addActions(self.divergence.export_actions())
        file.addAction(self.read_verdict_action)
        file.addSeparator()
        file.addAction(self.shell.preferences_action)
        file.addAction(self.quit_action)
        replay = self.menuBar().addMenu(self.tr("&Replay"))
        replay.addActions(
            [self.replay_action, self.go_on_action, self.pause_action, self.stop_action, self.plan_action]
        )
        replay.addSeparator()
        queue = replay.addMenu(self.tr("&Queue"))
        queue.addActions([self.add_to_queue_action, self.start_queue_action, self.stop_queue_action])
        self.device_menu = replay.addMenu(self.tr("&Device"))
        steps = self.menuBar().addMenu(self.tr("&Steps"))
        steps.addActions(self.steps.actions_for_menu())
        view = self.menuBar().addMenu(self.tr("&View"))
        for position, dock in enumerate(self.docks.values(), start=1):
            action = dock.toggleViewAction()
            action.setShortcut(QKeySequence(f"Ctrl+{position}"))
            view.addAction(action)
        show_queue = self.queue_dock.toggleViewAction()
        show_queue.setShortcut(QKeySequence("Ctrl+0"))
        view.addAction(show_queue)
        view.addSeparator()
        view.addAction(self.layout_action)
        self.shell.fill_view_menu(view)
        view.addSeparator()
        themes = view.addMenu(self.tr("&Theme"))
        group = QActionGroup(self)
        names = {
            ThemeChoice.SYSTEM: self.tr("Like the &system"),
            ThemeChoice.LIGHT: self.tr("&Light"),
            ThemeChoice.DARK: self.tr("&Dark"),
        }
        self.theme_actions: dict[ThemeChoice, QAction] = {}
        for choice, name in names.items():
            action = themes.addAction(name)
            action.setCheckable(True)
            action.setChecked(self.settings.theme is choice)
            action.triggered.connect(partial(self._choose_theme, choice))
            group.addAction(action)
            self.theme_actions[choice] = action
        self.shell.fill_help_menu(self.menuBar().addMenu(self.tr("&Help")))

    def _connect(self) -> None:
        session = self.session
        session.phase_changed.connect(self._refresh)
        session.bundle_changed.connect(self._refresh)
        session.progress_changed.connect(self._show_title)
        session.rows_changed.connect(self._refresh_exports)
        session.dispute_changed.connect(self._raise_dispute)
        session.devices_changed.connect(self._show_devices)
        session.export_finished.connect(self._exported)
        session.failed.connect(self._failed)
        session.idle.connect(self._close_when_idle)
        self.queue.changed.connect(self._refresh_queue)
        self.theme.changed.connect(self._draw_icons)
        self.welcome.recent_chosen.connect(self.open_bundle)
        self.header.device.activated.connect(self._device_chosen)
        self.shell.samples.made.connect(lambda files: self.open_bundle(files.run, files.order))
        self.shell.samples.progress_changed.connect(self._show_sample)
        self.shell.samples.ended.connect(lambda: self.welcome.show_sample(""))
        self.shell.settings_changed.connect(self._show_theme)
        self.welcome.sample_cancelled.connect(self.shell.samples.cancel)
        self._show_devices()

    # Opening

    def open_bundle(self, path: Path, order: Path | None = None) -> None:
        """Open a bundle; asks first when a replay is running."""
        if self.session.running:
            sentence = self.tr("A replay of {0} is running.").format(self._bundle_name())
            ask_to_stop(self, sentence, self.tr("Stop it and open"), partial(self._open_now, path, order))
        else:
            self._open_now(path, order)

    def _open_now(self, path: Path, order: Path | None) -> None:
        self._raised_dispute = False
        self.settings.folder = path.resolve().parent
        self.session.open(path, order)

    def choose_bundle(self) -> None:
        """Let the user pick a bundle, or several to be queued."""
        names, _ = QFileDialog.getOpenFileNames(
            self, self.tr("Open a run"), str(self.settings.folder), self._bundle_filter()
        )
        self.open_files([Path(name) for name in names])

    def open_files(self, paths: Sequence[Path]) -> None:
        """Open what was dropped or picked: a verdict to be read, one bundle, or several to be queued."""
        verdicts = [path for path in paths if path.suffix == ".json"]
        bundles = [path for path in paths if path.suffix != ".json"]
        for path in verdicts:
            self.verdicts.read(path)
        if len(bundles) == 1:
            self.open_bundle(bundles[0])
        elif bundles:
            self.queue.add(bundles)
            self.queue_dock.show()
            if not self.session.running:
                self.queue.start()

    def choose_for_queue(self) -> None:
        """Let the user pick bundles for the queue; they wait until it is started."""
        names, _ = QFileDialog.getOpenFileNames(
            self, self.tr("Add to the queue"), str(self.settings.folder), self._bundle_filter()
        )
        if names:
            self.queue.add([Path(name) for name in names])
            self.queue_dock.show()

    def choose_verdict_file(self) -> None:
        """Let the user pick a verdict to read."""
        name, _ = QFileDialog.getOpenFileName(
            self,
            self.tr("Open a verdict"),
            str(self.settings.folder),
            self.tr("Verdicts (*.json);;All files (*)"),
        )
        if name:
            self.verdicts.read(Path(name))

    def plan_replay(self) -> None:
        """Ask how much of the run is replayed."""
        if self.session.summary is None or not self.session.can_replay:
            return
        dialog = PlanDialog(self.session, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(self._device_chosen)
        dialog.accepted.connect(self.header.show_devices)
        dialog.open()

    def choose_order(self) -> None:
        """Let the user pick the client's order file."""
        name, _ = QFileDialog.getOpenFileName(
            self, self.tr("Compare with the client's order"), str(self.settings.folder), self._bundle_filter()
        )
        if name:
            self.session.compare_with(Path(name))

    def choose_data(self) -> None:
        """Let the user pick the data file that the order names."""
        wanted = self.session.data_file
        if wanted is None:
            return
        name, _ = QFileDialog.getOpenFileName(
            self,
            self.tr("Choose the data file {0}").format(wanted),
            str(self.settings.folder / wanted),
            self.tr("Counterfoil data files (*.cfdata);;All files (*)"),
        )
        if name:
            self.session.use_data(Path(name))

    def _bundle_filter(self) -> str:
        return self.tr("Counterfoil bundles (*.cfoil);;All files (*)")

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Take files."""
        if _dropped_files(event.mimeData()):
            event.acceptProposedAction()
            self.welcome.show_hot(True)

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:  # noqa: N802 - Qt's name
        """Forget the drag."""
        self.welcome.show_hot(False)

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Open the dropped files."""
        self.welcome.show_hot(False)
        paths = _dropped_files(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self.open_files(paths)

    # Exporting

    def choose_table(self) -> None:
        """Ask where the step table goes, then write it."""
        path = self.session.path
        if path is None or not self.session.steps.done:
            return
        proposal = beside(path, ".steps.csv")
        name, _ = QFileDialog.getSaveFileName(self, self.tr("Export step table"), str(proposal), "*.csv")
        if name:
            self.session.export_table(Path(name))

    def choose_capsule(self) -> None:
        """Ask where the dispute capsule goes, then write it."""
        path = self.session.path
        if path is None or not self.session.can_export_capsule:
            return
        proposal = beside(path, "-dispute.cfoil")
        name, _ = QFileDialog.getSaveFileName(
            self, self.tr("Save dispute capsule"), str(proposal), self.tr("Dispute capsules (*.cfoil)")
        )
        if name:
            self.session.export_capsule(Path(name))

    def _exported(self, path: Path) -> None:
        self.statusBar().showMessage(self.tr("Written: {0}").format(path), MESSAGE_MILLISECONDS)

    def _failed(self, failure: Failure) -> None:
        if failure.expected:
            show_failure(self, failure)
        else:
            self.shell.show_exception(failure)

    # Showing

    def _show_page(self) -> None:
        session = self.session
        empty = session.phase is Phase.EMPTY
        self.header.setVisible(not empty)
        nothing_to_show = session.phase in (Phase.LOADING, Phase.UNREADABLE)
        page = self.welcome if empty else self.message if nothing_to_show else self.desk
        if page is not self.stack.currentWidget():
            # Laid out in this turn and painted in the next: both at once would hold the window up.
            self.stack.setUpdatesEnabled(False)
            session.turns.soon(self._draw_page)
        self.stack.setCurrentWidget(page)
        self.strip.setVisible(page is self.desk and session.step_data.count > 0)
        if page is self.desk and self.isVisible() and not self._laid_out:
            self._lay_out_first()

    def _draw_page(self) -> None:
        self.stack.setUpdatesEnabled(True)

    def _refresh(self) -> None:
        session = self.session
        session.turns.soon(self._show_page)
        self.message.setText(
            self.tr("Reading {0}\u2026").format(self._bundle_name())
            if session.phase is Phase.LOADING
            else self.tr("{0} cannot be shown. Open another run, or drop one here.").format(self._bundle_name())
        )
        if session.phase is Phase.READY and session.path is not None:
            self.settings.add_recent(session.path)
        self._show_recent()
        judged = session.phase in (Phase.CONCLUDED, Phase.FAILED)
        if session.refused_so_far and not judged:
            self.replay_action.setText(self.tr("&Conclude as refused"))
            self.replay_action.setToolTip(
                self.tr("Run the checks and conclude REFUSED, so that a verdict can be signed")
            )
        else:
            part = session.segments != SegmentRequest()
            begin = self.tr("&Replay the sample") if part else self.tr("&Replay")
            begin = self.tr("&Replay again") if judged else begin
            self.replay_action.setText(self.tr("Start &anew") if session.can_go_on else begin)
            self.replay_action.setToolTip(
                self.tr("Replay {0} on this machine and compare it").format(words.segments(session.segments))
            )
        self.replay_action.setEnabled(session.can_replay)
        self.go_on_action.setEnabled(session.can_go_on)
        if session.kept is not None:
            self.go_on_action.setToolTip(words.kept(session.kept))
        readable = session.can_replay and session.summary is not None
        self.plan_action.setEnabled(readable and not session.refused_so_far and not self.queue.running)
        self._refresh_queue()
        paused = session.phase is Phase.PAUSED
        self.pause_action.setText(self.tr("&Resume") if paused else self.tr("&Pause"))
        self.pause_action.setProperty("icon-name", "replay" if paused else "pause")
        self.pause_action.setEnabled(session.phase in (Phase.REPLAYING, Phase.PAUSED))
        self.stop_action.setEnabled(session.phase in (Phase.REPLAYING, Phase.PAUSED))
        self.compare_action.setEnabled(session.path is not None and not session.running)
        self.data_action.setEnabled(session.data_file is not None and not session.running)
        self.drop_order_action.setEnabled(session.order is not None and not session.running)
        self._refresh_exports()
        self._show_title()

    def _refresh_queue(self) -> None:
        self.start_queue_action.setEnabled(
            bool(self.queue.waiting) and not self.queue.running and not self.session.running
        )
        self.stop_queue_action.setEnabled(self.queue.running and self.session.running)

    def _refresh_exports(self) -> None:
        self.verdict_action.setEnabled(self.session.report is not None)
        self.table_action.setEnabled(self.session.steps.done > 0)
        self.capsule_action.setEnabled(self.session.can_export_capsule)

    def _show_title(self) -> None:
        name = self._bundle_name()
        progress = self.session.progress
        if self.session.running and progress.total:
            name = f"{100 * progress.done / progress.total:.0f} % \u2013 {name}"
        self.setWindowTitle(f"{name} \u2013 Counterfoil" if name else "Counterfoil")

    def _show_sample(self, done: int, total: int) -> None:
        sentence = self.tr("Recording the sample on this machine: the first step takes some seconds.")
        if done:
            sentence = self.tr("Recording the sample on this machine: step {0} of {1}.").format(done, total)
        self.welcome.show_sample(sentence)
        self.statusBar().showMessage(sentence, MESSAGE_MILLISECONDS)

    def _bundle_name(self) -> str:
        return name_of(self.session.path)

    def _raise_dispute(self) -> None:
        if self.session.dispute is not None and not self._raised_dispute:
            self._raised_dispute = True
            self.session.turns.soon(self.docks["dispute"].raise_)

    def _show_recent(self) -> None:
        paths = self.settings.recent
        if paths == self._recent:
            return
        self._recent = paths
        self.welcome.show_recent(paths)
        self.recent_menu.clear()
        for path in paths:
            action = self.recent_menu.addAction(
                strangers.sentence(f"{path.name} \u2013 {path.parent}").replace("&", "&&")
            )
            action.triggered.connect(partial(self._recent_chosen, path))
        self.recent_menu.addSeparator()
        self.recent_menu.addAction(self.clear_recent_action)
        self.clear_recent_action.setEnabled(bool(paths))

    def _recent_chosen(self, path: Path, _checked: bool = False) -> None:
        self.open_bundle(path)

    def _clear_recent(self) -> None:
        self.settings.clear_recent()
        self._show_recent()

    def _show_devices(self) -> None:
        self.device_menu.clear()
        group = QActionGroup(self.device_menu)
        for device in self.session.devices:
            action = self.device_menu.addAction(f"{device.name}: {device.title}")
            action.setCheckable(True)
            action.setChecked(device.name == self.session.device)
            action.setToolTip(translated(device.float64_note))
            action.triggered.connect(partial(self._use_device, device.name))
            group.addAction(action)
        self.device_menu.setEnabled(bool(self.session.devices))

    def _use_device(self, name: str, _checked: bool = False) -> None:
        self.session.device = name
        self.header.show_devices()
        self._device_chosen()

    def _device_chosen(self, _position: int = 0) -> None:
        self.settings.device = self.session.device
        self._show_devices()

    def _choose_theme(self, choice: ThemeChoice, _checked: bool = False) -> None:
        self.settings.theme = choice
        self.theme.choose(choice)

    def _show_theme(self) -> None:
        self.theme_actions[self.settings.theme].setChecked(True)

    def _draw_icons(self) -> None:
        tokens = self.theme.tokens
        for action in self.actions():
            name = action.property("icon-name")
            if name:
                action.setIcon(icons.icon(name, tokens.text, tokens.muted))

    def _restore_layout(self) -> None:
        for dock in self.docks.values():
            dock.setFloating(False)
            dock.show()
        self._lay_out()

    def _pause_or_resume(self) -> None:
        if self.session.phase is Phase.PAUSED:
            self.session.resume()
        else:
            self.session.pause()

    # Closing

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """Ask while a replay runs; close once the worker has let go of its files."""
        if self.session.running and not self._closing:
            event.ignore()
            sentence = self.tr("A replay of {0} is running.").format(self._bundle_name())
            ask_to_stop(self, sentence, self.tr("Stop it and close"), self._stop_and_close)
            return
        self.shell.samples.cancel()
        if self.session.busy:
            self._closing = True
            event.ignore()
            self.hide()
            return
        self.settings.geometry = self.saveGeometry()
        if self._laid_out:
            self.settings.layout = self.desk.saveState(LAYOUT_VERSION)
        self.shell.close()
        self.session.shut_down()
        for timer in self.findChildren(QTimer):  # what views would redraw later, nobody will see
            timer.stop()
        event.accept()

    def _stop_and_close(self) -> None:
        self._closing = True
        self.session.stop()
        self.hide()

    def _close_when_idle(self) -> None:
        if self._closing:
            self.close()


def _dropped_files(data: QMimeData) -> list[Path]:
    urls = data.urls() if data.hasUrls() else []
    return [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]
