"""Everything around the views: sample, log, long jobs, layout history, preferences, help and unexpected errors.

The window makes one and calls it in a few places; the work is in the modules beside this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow

from counterfoil_app.desktop.services import LongJobs, notifier, sleep_inhibitor, task_bar
from counterfoil_app.engine.sample import SampleFiles, SampleKind
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks.language import choose_language
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.journal import Journal, Kind
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.actions import Face, Row
from counterfoil_app.shell.chronicle import Chronicle
from counterfoil_app.shell.crash import ExceptionDialog, ExceptionGuard
from counterfoil_app.shell.desk import LayoutHistory
from counterfoil_app.shell.help import AboutDialog, HelpWindow, Shortcut, ShortcutSheet
from counterfoil_app.shell.machine import MachineDialog
from counterfoil_app.shell.preferences import PreferencesDialog
from counterfoil_app.shell.records import Records
from counterfoil_app.shell.sample_maker import SampleMaker, user_sample_folder
from counterfoil_app.views.log import LogView
from counterfoil_app.views.parts import open_dialog

DESKTOP_ID = "counterfoil"
HELP_PAGES = {
    "checks": "20-open.md",
    "run": "20-open.md",
    "divergence": "40-views.md",
    "steps": "40-views.md",
    "merkle": "40-views.md",
    "dispute": "50-dispute.md",
    "log": "70-trouble.md",
    "queue": "30-replay.md",
}
"""The help page of each dock, by its name; F1 opens the one of the dock that has the keyboard."""
FIRST_HELP_PAGE = "10-start.md"


class Shell(QObject):
    """What surrounds the views of a window.

    Args:
        window: The window, also the parent.
        session: What is followed; its worker records the sample.
        settings: The user's settings.
        theme: The theme of the window.
    """

    settings_changed = Signal()
    """The user has changed the preferences."""
    actions_changed = Signal()
    """Whether its actions can be done has changed."""

    def __init__(self, window: QMainWindow, session: Session, settings: Settings, theme: Theme) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._settings = settings
        self._theme = theme
        self.journal = Journal(self)
        self.chronicle = Chronicle(session, self.journal, self)
        self.log = LogView(self.journal, theme)
        self.samples = SampleMaker(session, user_sample_folder(), self)
        self.guard = ExceptionGuard(self)
        icon = window.windowIcon()
        self.long_jobs = LongJobs(
            session, settings, window, notifier(icon, window), sleep_inhibitor(window), task_bar(DESKTOP_ID)
        )
        self.commands: Callable[[], Sequence[tuple[str, QAction]]] = tuple
        """Returns every command, with what it belongs to."""
        self.layouts: LayoutHistory | None = None
        self._records: Records | None = None
        self._help: HelpWindow | None = None
        session.threads, session.workers = settings.threads, settings.workers
        session.phase_changed.connect(self._follow_phase)
        self.samples.made.connect(self._note_sample)
        self.samples.failed.connect(session.failed)
        self.samples.ended.connect(self.actions_changed)
        self.guard.caught.connect(self.show_exception)
        self.guard.qt_complained.connect(lambda message: self.journal.note(Kind.WARNING, f"Qt: {message}"))

    # Actions

    def rows(self) -> list[Row]:
        """Its part of the window's action table."""
        face, role = self._faces(), QAction.MenuRole
        honest, tampered = (partial(self._make_sample, kind) for kind in (SampleKind.HONEST, SampleKind.TAMPERED))
        return [
            Row("honest_sample", face["honest_sample"], honest, "Ctrl+Alt+H", self._is_free),
            Row("tampered_sample", face["tampered_sample"], tampered, "Ctrl+Alt+T", self._is_free),
            Row("undo_layout", face["undo_layout"], self._undo_layout, "Ctrl+Alt+Z", self._can_undo),
            Row("redo_layout", face["redo_layout"], self._redo_layout, "Ctrl+Alt+Shift+Z", self._can_redo),
            Row("preferences", face["preferences"], self.show_preferences, "Ctrl+,", role=role.PreferencesRole),
            Row("help", face["help"], self.show_help, QKeySequence(Qt.Key.Key_F1)),
            Row("shortcuts", face["shortcuts"], self.show_shortcuts, "Ctrl+F1"),
            Row("copy_log", face["copy_log"], self._copy_log),
            Row("machine", face["machine"], self.show_machine, "", self._is_free),
            Row("about", face["about"], self.show_about, role=role.AboutRole),
        ]

    def _faces(self) -> dict[str, Face]:
        return {
            "honest_sample": Face(
                self.tr("Sample: an &honest run"),
                "passed",
                self.tr("Record a small run on this machine, as an honest trainer does, and open it"),
            ),
            "tampered_sample": Face(
                self.tr("Sample: a t&ampered run"),
                "failed",
                self.tr("Record a small run on this machine that departs from its order in one step, and open it"),
            ),
            "undo_layout": Face(self.tr("&Undo layout change"), tip=self.tr("Take the last change back")),
            "redo_layout": Face(self.tr("R&edo layout change"), tip=self.tr("Change it once more")),
            "preferences": Face(self.tr("&Preferences\u2026"), tip=self.tr("Theme, language, device, files")),
            "help": Face(self.tr("&Help"), tip=self.tr("Open the help page of the view that has the keyboard")),
            "shortcuts": Face(self.tr("&Keyboard shortcuts"), tip=self.tr("All keys on one sheet")),
            "copy_log": Face(self.tr("&Copy the log"), tip=self.tr("Copy every line of the log, for a report")),
            "machine": Face(
                self.tr("This &machine\u2026"), tip=self.tr("Examine the machine that computes, and copy what it has")
            ),
            "about": Face(self.tr("&About Counterfoil"), tip=self.tr("Versions and licence")),
        }

    def watch_layout(self, desk: QMainWindow, docks: Mapping[str, QDockWidget]) -> None:
        """Remember changes of the docks from now on."""
        self.layouts = LayoutHistory(desk, docks, self)
        self.layouts.changed.connect(self.actions_changed)

    def close(self) -> None:
        """Leave nothing behind: no helper, no help window, no hook."""
        self.samples.cancel()
        self.long_jobs.close()
        if self._records is not None:
            self._records.close()
        if self.layouts is not None:
            self.layouts.stop()
        if self._help is not None:
            self._help.close()

    # Dialogs

    def show_preferences(self) -> None:
        """Show the preferences."""
        dialog = PreferencesDialog(self._settings, self._session, self._window)
        dialog.stored.connect(self._take_settings)
        dialog.open()

    def show_about(self) -> None:
        """Show name and versions."""
        AboutDialog(self._window).open()

    def show_machine(self) -> None:
        """Examine the machine that computes, and show its page."""
        open_dialog(MachineDialog(self._session, self._theme, self._window))

    def show_shortcuts(self) -> None:
        """Show all keyboard shortcuts."""
        ShortcutSheet(self.commands(), self._more_shortcuts(), self._theme, self._window).open()

    def show_help(self) -> None:
        """Open the help page of the dock that has the keyboard, or the first page."""
        if self._help is None:
            self._help = HelpWindow(choose_language(self._settings.language), self._window)
        around = QApplication.focusWidget()
        while around is not None and not isinstance(around, QDockWidget):
            around = around.parentWidget()
        self._help.open_page(HELP_PAGES.get(around.objectName() if around is not None else "", FIRST_HELP_PAGE))

    def show_exception(self, failure: Failure) -> None:
        """Show an unexpected exception, beside those that are shown already."""
        self.journal.note(Kind.ERROR, failure.sentence, failure.detail)
        shown = self._window.findChild(ExceptionDialog)
        kept = self._records.keep(failure) if self._records is not None else None
        if shown is None:
            ExceptionDialog(failure, self._window, kept).open()
        else:
            shown.add(failure, kept)

    def say_safe_mode(self) -> None:
        """Say in the log what a start in safe mode leaves out."""
        self.journal.note(
            Kind.WARNING,
            self.tr(
                "Safe mode: without your settings, layout, cases, results and known trainers, which stay as they are. "
                "What you change is forgotten at the end; what you sign or save is kept."
            ),
        )

    def keep_records(self, folder: Path) -> None:
        """Write the log, and each unexpected error, into a folder from now on."""
        self._records = Records(self.journal, folder, self)
        earlier = self._records.watch_faults()
        if earlier is not None:
            self.journal.note(
                Kind.WARNING,
                self.tr("Counterfoil was ended by a signal before. Where it was is kept on this machine: {0}").format(
                    earlier
                ),
            )

    # What happens

    def _make_sample(self, kind: SampleKind) -> None:
        self.journal.note(Kind.NOTE, self.tr("Recording a sample in {0}.").format(self.samples.folder))
        self.samples.make(kind)
        self.actions_changed.emit()

    def _note_sample(self, files: SampleFiles) -> None:
        self.journal.note(Kind.GOOD, self.tr("The sample is ready: {0}").format(files.run))

    def _follow_phase(self) -> None:
        # The worker does one thing after the other: what the user asked for last goes first.
        if self._session.phase in (Phase.LOADING, Phase.REPLAYING):
            self.samples.cancel()

    def _is_free(self, session: Session) -> bool:
        return not session.running and not self.samples.working

    def _take_settings(self) -> None:
        self._theme.choose(self._settings.theme)
        self._session.device = self._settings.device
        self._session.threads = self._settings.threads
        self._session.workers = self._settings.workers
        self._session.devices_changed.emit()
        self.long_jobs.refresh()
        self.settings_changed.emit()

    def _can_undo(self, _session: Session) -> bool:
        return self.layouts is not None and self.layouts.can_undo

    def _can_redo(self, _session: Session) -> bool:
        return self.layouts is not None and self.layouts.can_redo

    def _undo_layout(self) -> None:
        if self.layouts is not None:
            self.layouts.undo()

    def _redo_layout(self) -> None:
        if self.layouts is not None:
            self.layouts.redo()

    def _copy_log(self) -> None:
        QApplication.clipboard().setText(self.journal.text)

    def _more_shortcuts(self) -> list[Shortcut]:
        copy = QKeySequence(QKeySequence.StandardKey.Copy).toString(QKeySequence.SequenceFormat.NativeText)
        tables, log = self.tr("Tables"), self.tr("Log")
        return [
            Shortcut(tables, self.tr("Copy the cell; a shortened hash is copied whole"), copy),
            Shortcut(tables, self.tr("Next and previous line"), "\u2191 \u2193"),
            Shortcut(tables, self.tr("First and last line"), "Ctrl+Home, Ctrl+End"),
            Shortcut(log, self.log.copy_lines.text(), "Ctrl+Alt+L"),
            Shortcut(self.tr("Everywhere"), self.tr("Next and previous control"), "Tab, Shift+Tab"),
            Shortcut(self.tr("Everywhere"), self.tr("Open the menus"), "F10, Alt"),
        ]
