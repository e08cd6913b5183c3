"""The main window: menus, the header, and the views as docks around it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import (
    QAction,
    QActionGroup,
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QIcon,
    QKeySequence,
)
from PySide6.QtWidgets import (
    QDialog,
    QDockWidget,
    QFileDialog,
    QMainWindow,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from counterfoil_app import icons
from counterfoil_app.dialogs import SigningDialog, ask_to_stop, show_failure
from counterfoil_app.engine_port import Engine
from counterfoil_app.session import Phase, Session
from counterfoil_app.settings import Settings, ThemeChoice
from counterfoil_app.theme import Theme
from counterfoil_app.views.dispute import DisputeView
from counterfoil_app.views.header import HeaderActions, HeaderView
from counterfoil_app.views.merkle import MerkleView
from counterfoil_app.views.overview import OverviewView
from counterfoil_app.views.parts import label
from counterfoil_app.views.plots import PlotsView
from counterfoil_app.views.steps import StepsView
from counterfoil_app.views.welcome import WelcomeView
from counterfoil_app.worker import Failure

FIRST_SIZE = (1366, 768)
FIRST_WIDTHS = [400, 966]
FIRST_HEIGHTS = [270, 360]
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
        self._closing = False
        self._key_in_use: Path | None = None
        self._raised_dispute = False
        self.setAcceptDrops(True)
        self.setWindowIcon(QIcon(icons.pixmap("counterfoil", "#000000", 64)))
        self._make_actions()
        self._make_views()
        self._make_menus()
        self._connect()
        self.resize(*FIRST_SIZE)
        if not settings.geometry.isEmpty():
            self.restoreGeometry(settings.geometry)
        self._laid_out = not settings.layout.isEmpty() and self.desk.restoreState(settings.layout)
        self._draw_icons()
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
            self.tr("Compare with &order\u2026"),
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
            self.tr("&Take the order from the bundle"), "", lambda: self.session.compare_with(None)
        )
        self.clear_recent_action = self._action(self.tr("&Clear recent files"), "", self._clear_recent)
        self.verdict_action = self._action(
            self.tr("&Export signed verdict\u2026"),
            "export",
            self.choose_verdict,
            "Ctrl+E",
            self.tr("Sign what the replay found, and save it"),
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
        self.pause_action = self._action(
            self.tr("&Pause"), "pause", self._pause_or_resume, "F6", self.tr("Pause the replay, or let it go on")
        )
        self.stop_action = self._action(
            self.tr("&Stop"), "stop", self.session.stop, "Shift+F5", self.tr("Stop the replay")
        )
        self.layout_action = self._action(self.tr("&Restore layout"), "", self._restore_layout)

    def _make_views(self) -> None:
        self.header = HeaderView(
            self.session,
            self.theme,
            HeaderActions(
                self.open_action,
                self.compare_action,
                self.data_action,
                self.replay_action,
                self.pause_action,
                self.stop_action,
                self.verdict_action,
            ),
        )
        self.welcome = WelcomeView(self.open_action)
        self.overview = OverviewView(self.session, self.theme)
        self.steps = StepsView(self.session, self.theme)
        self.plots = PlotsView(self.session, self.theme)
        self.merkle = MerkleView(self.session, self.theme)
        self.dispute = DisputeView(self.session, self.theme, self.capsule_action)
        self.desk = QMainWindow()
        self.desk.setWindowFlags(Qt.WindowType.Widget)
        self.desk.setDockNestingEnabled(True)
        self.docks: dict[str, QDockWidget] = {}
        self._add_dock("overview", self.tr("Overview"), self.overview)
        self._add_dock("plots", self.tr("Plots"), self.plots)
        self._add_dock("steps", self.tr("Steps"), self.steps)
        self._add_dock("merkle", self.tr("Merkle"), self.merkle)
        self._add_dock("dispute", self.tr("Dispute"), self.dispute)
        self._arrange_docks()
        self.desk.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.message = label("", "muted")
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.stack = QStackedWidget()
        for page in (self.welcome, self.message, self.desk):
            self.stack.addWidget(page)
        centre = QWidget()
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self.stack, 1)
        self.setCentralWidget(centre)
        self.statusBar().setSizeGripEnabled(False)

    def _add_dock(self, name: str, title: str, view: QWidget) -> None:
        dock = QDockWidget(title)
        dock.setObjectName(name)
        dock.setWidget(view)
        dock.setAccessibleName(title)
        self.docks[name] = dock

    def _arrange_docks(self) -> None:
        left, right = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
        for name, dock in self.docks.items():
            self.desk.addDockWidget(left if name == "overview" else right, dock)
        self.desk.splitDockWidget(self.docks["plots"], self.docks["steps"], Qt.Orientation.Vertical)
        self.desk.tabifyDockWidget(self.docks["steps"], self.docks["merkle"])
        self.desk.tabifyDockWidget(self.docks["merkle"], self.docks["dispute"])

    def _lay_out(self) -> None:
        """Give the docks their first sizes; Qt takes them only once the desk is shown."""
        self._laid_out = True
        docks = self.docks
        self.desk.resizeDocks([docks["overview"], docks["plots"]], FIRST_WIDTHS, Qt.Orientation.Horizontal)
        self.desk.resizeDocks([docks["plots"], docks["steps"]], FIRST_HEIGHTS, Qt.Orientation.Vertical)
        docks["steps"].raise_()

    def _make_menus(self) -> None:
        file = self.menuBar().addMenu(self.tr("&File"))
        file.addAction(self.open_action)
        self.recent_menu = file.addMenu(self.tr("Open &recent"))
        file.addAction(self.compare_action)
        file.addAction(self.drop_order_action)
        file.addAction(self.data_action)
        file.addSeparator()
        file.addActions([self.verdict_action, self.table_action, self.capsule_action])
        file.addSeparator()
        file.addAction(self.quit_action)
        replay = self.menuBar().addMenu(self.tr("&Replay"))
        replay.addActions([self.replay_action, self.pause_action, self.stop_action])
        self.device_menu = replay.addMenu(self.tr("&Device"))
        view = self.menuBar().addMenu(self.tr("&View"))
        for position, dock in enumerate(self.docks.values(), start=1):
            action = dock.toggleViewAction()
            action.setShortcut(QKeySequence(f"Ctrl+{position}"))
            view.addAction(action)
        view.addAction(self.layout_action)
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
        self.theme.changed.connect(self._draw_icons)
        self.welcome.recent_chosen.connect(self.open_bundle)
        self.header.device.activated.connect(self._device_chosen)
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
        """Let the user pick a bundle."""
        name, _ = QFileDialog.getOpenFileName(
            self, self.tr("Open a run"), str(self.settings.folder), self._bundle_filter()
        )
        if name:
            self.open_bundle(Path(name))

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
        if _dropped_file(event.mimeData()) is not None:
            event.acceptProposedAction()
            self.welcome.show_hot(True)

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:  # noqa: N802 - Qt's name
        """Forget the drag."""
        self.welcome.show_hot(False)

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Open the dropped file."""
        self.welcome.show_hot(False)
        path = _dropped_file(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            self.open_bundle(path)

    # Exporting

    def choose_verdict(self) -> None:
        """Ask how to sign, then sign."""
        report, path = self.session.report, self.session.path
        if report is None or path is None:
            return
        dialog = SigningDialog(
            report, self.settings.key_file, path.resolve().parent, path.with_name(f"{path.stem}.verdict.json"), self
        )
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.finished.connect(lambda result: self._sign(dialog) if result == QDialog.DialogCode.Accepted else None)
        dialog.open()

    def _sign(self, dialog: SigningDialog) -> None:
        request = dialog.request()
        self._key_in_use = request.private_key
        self.session.export_verdict(request)

    def choose_table(self) -> None:
        """Ask where the step table goes, then write it."""
        path = self.session.path
        if path is None or not self.session.rows:
            return
        proposal = path.with_name(f"{path.stem}.steps.csv")
        name, _ = QFileDialog.getSaveFileName(self, self.tr("Export step table"), str(proposal), "*.csv")
        if name:
            self.session.export_table(Path(name))

    def choose_capsule(self) -> None:
        """Ask where the dispute capsule goes, then write it."""
        path = self.session.path
        if path is None or not self.session.can_export_capsule:
            return
        proposal = path.with_name(f"{path.stem}-dispute.cfoil")
        name, _ = QFileDialog.getSaveFileName(
            self, self.tr("Save dispute capsule"), str(proposal), self.tr("Dispute capsules (*.cfoil)")
        )
        if name:
            self.session.export_capsule(Path(name))

    def _exported(self, path: Path) -> None:
        if path == self.session.verdict_file and self._key_in_use is not None:
            self.settings.key_file = self._key_in_use
        self.statusBar().showMessage(self.tr("Written: {0}").format(path), MESSAGE_MILLISECONDS)

    def _failed(self, failure: Failure) -> None:
        show_failure(self, failure)

    # Showing

    def _refresh(self) -> None:
        session = self.session
        empty = session.phase is Phase.EMPTY
        self.header.setVisible(not empty)
        nothing_to_show = session.phase in (Phase.LOADING, Phase.UNREADABLE)
        page = self.welcome if empty else self.message if nothing_to_show else self.desk
        self.stack.setCurrentWidget(page)
        if page is self.desk and self.isVisible() and not self._laid_out:
            self._lay_out()
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
            self.replay_action.setText(self.tr("&Replay again") if judged else self.tr("&Replay"))
            self.replay_action.setToolTip(self.tr("Replay every step on this machine and compare it"))
        self.replay_action.setEnabled(session.can_replay)
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

    def _refresh_exports(self) -> None:
        self.verdict_action.setEnabled(self.session.report is not None)
        self.table_action.setEnabled(bool(self.session.rows))
        self.capsule_action.setEnabled(self.session.can_export_capsule)

    def _show_title(self) -> None:
        name = self._bundle_name()
        progress = self.session.progress
        if self.session.running and progress.total:
            name = f"{100 * progress.done / progress.total:.0f} % \u2013 {name}"
        self.setWindowTitle(f"{name} \u2013 Counterfoil" if name else "Counterfoil")

    def _bundle_name(self) -> str:
        return self.session.path.name if self.session.path is not None else ""

    def _raise_dispute(self) -> None:
        if self.session.dispute is not None and not self._raised_dispute:
            self._raised_dispute = True
            self.docks["dispute"].raise_()

    def _show_recent(self) -> None:
        paths = self.settings.recent
        self.welcome.show_recent(paths)
        self.recent_menu.clear()
        for path in paths:
            action = self.recent_menu.addAction(f"{path.name} \u2013 {path.parent}".replace("&", "&&"))
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
            action.setToolTip(device.float64_note)
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
        self._arrange_docks()
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
        if self.session.busy:
            self._closing = True
            event.ignore()
            self.hide()
            return
        self.settings.geometry = self.saveGeometry()
        self.settings.layout = self.desk.saveState()
        self.session.shut_down()
        event.accept()

    def _stop_and_close(self) -> None:
        self._closing = True
        self.session.stop()
        self.hide()

    def _close_when_idle(self) -> None:
        if self._closing:
            self.close()


def _dropped_file(data: QMimeData) -> Path | None:
    urls = data.urls() if data.hasUrls() else []
    return Path(urls[0].toLocalFile()) if urls and urls[0].isLocalFile() else None
