"""Records and follows from the window: asks, begins, hands over, and shows the run that came of it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog, QWidget

from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.worker import Failure, JobResult
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.model.recordings import Follower, Recorder
from counterfoil_app.model.replayresult import Finished
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import Settings
from counterfoil_app.model.unlocked_keys import UnlockedKeys
from counterfoil_app.shell.actions import Face, Row
from counterfoil_app.views.layouts import new_file
from counterfoil_app.views.parts import open_dialog
from counterfoil_app.views.recording_forms import FollowForm, RecordForm, Wanted
from counterfoil_app.views.recording_page import RecordingPage

TRAINER_KEY = "trainer.pem"
"""Name that is proposed for a trainer's first key."""


class RecordingDesk(QObject):
    """What is recorded and followed in this window; it goes on while other runs are looked at.

    Args:
        engine: The session's engine, beside which both work.
        session: Shows the run that came of it, and knows the devices.
        book: The known keys.
        unlocked: The user's own keys that are unlocked.
        settings: Know the folder where a dialog starts.
        theme: The theme of the application.
        window: The window that the dialogs belong to.
    """

    failed = Signal(Failure)
    handed_over = Signal(Path)
    """What was handed over lies in this folder."""
    run_wanted = Signal(Path, Path)
    """A run, and the client's order, are to be opened."""
    result_wanted = Signal(Finished)
    """A run is to be shown with its audit."""

    def __init__(
        self,
        engine: Engine,
        session: Session,
        book: KeyBook,
        unlocked: UnlockedKeys,
        settings: Settings,
        theme: Theme,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._session, self._book, self._settings = session, book, settings
        self._unlocked, self._theme, self._window = unlocked, theme, window
        self.recorder = Recorder(engine, self)
        self.recorder.changed.connect(self._note_key)
        self._in_use: tuple[Path, str | None] | None = None
        """The key that a recording was asked for with, and its passphrase, until it has begun or failed."""
        self.follower = Follower(engine, book, self)
        self.page: RecordingPage | None = None

    @property
    def working(self) -> bool:
        """Whether anything is recorded or followed."""
        return self.recorder.working or self.follower.working

    def rows(self) -> list[Row]:
        """The rows of the window's action table."""
        tip = self.tr("Record a run of an order, or follow a recording and replay it while it is made")
        return [
            Row("follow_recording", Face(self.tr("Record or &follow\u2026"), "running", tip), self.show, "Ctrl+Shift+N")
        ]

    def show(self) -> RecordingPage:
        """Show the page; it is one for the whole time."""
        if self.page is None:
            page = self.page = RecordingPage(
                self.recorder, self.follower, self._session.exports, self._theme, self._window
            )
            page.record_wanted.connect(partial(self.ask_record, again=False))
            page.go_on_wanted.connect(partial(self.ask_record, again=True))
            page.follow_wanted.connect(self.ask_follow)
            page.hand_over_wanted.connect(self._hand_over)
            page.open_wanted.connect(self._open)
        self.page.show()
        self.page.raise_()
        self.page.activateWindow()
        return self.page

    def shut_down(self) -> None:
        """Stop both, and wait until they have; finished steps of a recording are kept."""
        for going in (self.recorder, self.follower):
            going.shut_down()

    def record(self, order: Path) -> None:
        """Show the page, and ask how an order is recorded; what is recorded already goes on."""
        self.show()
        if not self.recorder.working:
            self.ask_record(again=False, order=order)

    def ask_record(self, *, again: bool, order: Path | None = None) -> RecordForm:
        """Ask what is recorded; ``again`` proposes what was recorded last."""
        last = self.recorder.asked if again else None
        settings, session = self._settings, self._session
        key = settings.trainer_key_file or settings.config_folder / TRAINER_KEY
        form = RecordForm(session.devices, session.device, settings.folder, self._unlocked, last, order=order, key=key)
        form.wanted.connect(self._begin)
        self._ask(form)
        return form

    def ask_follow(self) -> FollowForm:
        """Ask what is followed."""
        form = FollowForm(self._session.devices, self._session.device, self._settings.folder, self._book)
        form.wanted.connect(self._begin)
        self._ask(form)
        return form

    def _ask(self, form: QDialog) -> None:
        form.setParent(self.page or self._window, form.windowFlags())
        open_dialog(form)

    def _begin(self, wanted: Wanted) -> None:
        if wanted.recording is not None:
            self.recorder.record(wanted.recording)
            self._in_use = wanted.recording.private_key, wanted.recording.passphrase
            if not self._session.where:
                self._settings.folder = wanted.recording.request.order.parent
        if wanted.follow is not None:
            self.follower.follow(wanted.follow)

    def _note_key(self) -> None:
        """A key with which a recording began is proposed for the next, and stays unlocked for as long as is wanted."""
        if self._in_use is None or (self.recorder.working and self.recorder.begun is None):
            return
        if self.recorder.begun is not None:
            self._settings.trainer_key_file = self._in_use[0]
            self._unlocked.keep(*self._in_use)
        self._in_use = None

    def _hand_over(self) -> None:
        made, asked, begun = self.recorder.made, self.recorder.asked, self.recorder.begun
        if made is None or asked is None or begun is None:
            return
        proposal = made.run.with_name(f"{made.run.stem}-handed-over")
        folder = new_file(self.page or self._window, self.tr("The folder that is handed over"), proposal, "")
        if folder is not None:
            heads, run = asked.request.heads, made.run
            self._session.ask(
                lambda engine: engine.hand_over_run(run, heads, begun.public, folder), self._have_handed_over
            )

    def _have_handed_over(self, result: JobResult) -> None:
        if result.failure is not None:
            self.failed.emit(result.failure)
        elif isinstance(result.value, Path):
            self.handed_over.emit(result.value)

    def _open(self) -> None:
        """Show the run with its audit; one of a dispute is replayed again, since its evidence lies elsewhere.

        The window comes in front: the page is left where nothing goes on in it.
        """
        if self.page is not None and not self.working:
            self.page.close()
        self._window.activateWindow()
        run = self.follower.run
        finished = None if run is None else run.finished
        if finished is not None and finished.dispute is None:
            self.result_wanted.emit(finished)
        elif run is not None and run.path is not None and run.order is not None:
            self.run_wanted.emit(run.path, run.order)
        elif self.recorder.made is not None and self.recorder.asked is not None:
            self.run_wanted.emit(self.recorder.made.run, self.recorder.asked.request.order)
