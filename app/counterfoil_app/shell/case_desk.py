"""Does what the user asks for on the desk: opens files of cases, resumes, signs, shows results, finds what moved."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from counterfoil_app.engine.strangers import name_of
from counterfoil_app.engine.worker import Failure, attempt
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.case_file import Case, CaseFile, FileKind
from counterfoil_app.model.cases import Cases
from counterfoil_app.model.casestate import NextStep, Standing, result_of
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.file_search import FileSearch
from counterfoil_app.model.history import History, Past
from counterfoil_app.model.replayresult import Finished
from counterfoil_app.model.resumption import Resumption, order_of
from counterfoil_app.model.session import Session
from counterfoil_app.shell.clerk import Clerk
from counterfoil_app.shell.files import Files
from counterfoil_app.verdict.desk import VerdictDesk
from counterfoil_app.views.find_dialog import FindDialog
from counterfoil_app.views.home import HomeView
from counterfoil_app.views.parts import open_dialog


class CaseDesk(QObject):
    """Carries out what is chosen on the desk.

    Args:
        home: Where it is chosen.
        cases: The cases.
        clerk: Keeps them.
        session: Opens and replays.
        files: Opens one run, and asks before what is open is left.
        verdicts: Signs.
        history: Has the results.
        theme: The theme of the application.
        window: The window that dialogs belong to.
    """

    failed = Signal(Failure)
    files_wanted = Signal(list)
    """Files to be used for what they are."""
    replay_wanted = Signal()
    """The replay that goes on is to be seen."""
    told = Signal(str)
    """What there is to say, as a sentence."""

    def __init__(
        self,
        home: HomeView,
        cases: Cases,
        clerk: Clerk,
        session: Session,
        files: Files,
        verdicts: VerdictDesk,
        history: History,
        theme: Theme,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._home, self._cases, self._clerk = home, cases, clerk
        self._session, self._files, self._verdicts = session, files, verdicts
        self._history, self._theme, self._window = history, theme, window
        self._resumption = Resumption(session, self)
        self._resumption.nothing_kept.connect(self._nothing_kept)
        home.list.wanted.connect(self._do)
        home.list.file_wanted.connect(self.open)
        home.list.lost.connect(self.find)
        home.list.removed.connect(lambda case: attempt(partial(cases.remove, case), self.failed))
        follow(self._show_running, session.phase_changed)

    def _show_running(self) -> None:
        path = self._session.path
        running = path is not None and self._session.running
        self._home.show_running(Path(os.path.abspath(path)) if running and path is not None else None)

    def _do(self, step: NextStep, found: Standing) -> None:
        file, past = found.file, found.past
        if step is NextStep.SHOW_REPLAY:
            self.replay_wanted.emit()
        elif step is NextStep.RESUME and found.replay is not None:
            resume = partial(self._resumption.begin, found.replay)
            self._files.open_bundle(file.file, order_of(found.replay), resume)
        elif step in (NextStep.SIGN, NextStep.SHOW_RESULT) and past is not None:
            sign = step is NextStep.SIGN
            if past.file == self._session.result_file and not self._session.running:  # it is open behind the desk
                self.replay_wanted.emit()
                if sign:
                    self._verdicts.sign()
            else:
                self._leave_for(past, then_sign=sign)
        else:
            self.open(file)

    def open(self, file: CaseFile) -> None:
        """Use a file of a case for what it is: a run that was judged here is shown with what was found."""
        past = result_of(file, self._history.pasts)
        if past is not None and (past.signed is not None or past.signable):
            self._leave_for(past, then_sign=False)
        elif file.kind in (FileKind.RUN, FileKind.ORDER):
            self._files.open_bundle(file.file)
        else:
            self.files_wanted.emit([file.file])

    def show_result(self, past: Past) -> None:
        """Show a kept result again."""
        self._leave_for(past, then_sign=False)

    def _leave_for(self, past: Past, *, then_sign: bool) -> None:
        if self._session.running:
            self.told.emit(self.tr("A replay is running: results can be shown when it is over."))
            return
        show = partial(self._show, then_sign)
        read = partial(self._history.read, past, show)
        self._files.leave_result(self.tr("Show without signing"), read)

    def _show(self, then_sign: bool, finished: Finished) -> None:
        self._files.opening.emit()
        self._session.show(finished)
        if then_sign:
            self._verdicts.sign()

    def find(self, case: Case, file: CaseFile) -> None:
        """Look for a file that moved."""
        search = FileSearch(self._session.ask, case, file, self._verdicts.store)
        dialog = FindDialog(search, self._theme, self._window)
        search.setParent(dialog)
        dialog.found.connect(partial(self._found, case, file))
        open_dialog(dialog)

    def _found(self, case: Case, file: CaseFile, path: Path) -> None:
        attempt(partial(self._cases.move, case, file, path), self.failed)
        self.told.emit(self.tr("{0} was found: {1}").format(name_of(file.file), path))

    def _nothing_kept(self, run: Path) -> None:
        self._clerk.forget_waiting(run)
        self.told.emit(
            self.tr("Nothing is kept of that replay on this machine as it is now: replay the run from the beginning.")
        )
