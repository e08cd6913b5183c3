"""Opens the jobs of the command line, each with what is known of what is open."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from counterfoil import FileUse
from counterfoil_app.engine.port import Engine
from counterfoil_app.looks import job_words
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.jobs import JOBS, Job, JobPlan, JobRun
from counterfoil_app.model.orders import Aside
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import Settings
from counterfoil_app.model.unlocked_keys import UnlockedKeys
from counterfoil_app.shell.actions import Face, Row
from counterfoil_app.views.job_dialog import JobDialog
from counterfoil_app.views.parts import open_dialog


class JobDesk(QObject):
    """Opens jobs.

    Args:
        engine: Carries them out, each in a process of its own.
        session: What is open.
        unlocked: The keys that are unlocked.
        settings: Remember keys.
        theme: The theme of the application.
        window: The window that the dialogs belong to.
    """

    written = Signal(Path)
    """A file, or a folder, that was written."""

    def __init__(
        self,
        engine: Engine,
        session: Session,
        unlocked: UnlockedKeys,
        settings: Settings,
        theme: Theme,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._unlocked = unlocked
        self._engine, self._session, self._settings = engine, session, settings
        self._theme, self._window = theme, window
        self._open: dict[JobDialog, Aside] = {}

    def rows(self) -> list[Row]:
        """Its part of the window's action table."""
        titles = job_words.titles()
        return [Row(job.name, Face(titles[job.name]), partial(self.show, job)) for job in JOBS]

    @property
    def open_dialogs(self) -> tuple[JobDialog, ...]:
        """The jobs that are shown."""
        return tuple(self._open)

    def show(self, job: Job, **given: Path) -> JobDialog:
        """Open a job.

        Args:
            job: The job.
            given: Files that it is about, by the names of options.
        """
        known = {**self._known(), **{name: str(path) for name, path in given.items()}}
        plan = JobPlan(job, self._settings.store, known)
        aside = Aside(self._engine, self)
        run = JobRun(aside.ask)
        dialog = JobDialog(plan, run, self._settings.trust_folder, self._unlocked, self._theme, self._window)
        run.setParent(dialog)
        self._open[dialog] = aside
        dialog.finished.connect(partial(self._closed, dialog))
        dialog.written.connect(self.written)
        open_dialog(dialog)
        return dialog

    def read(self, kind: FileUse, path: Path) -> None:
        """Open the job that reads a statement."""
        readers = {FileUse.WITNESS: ("witness_check", "log"), FileUse.ANSWER: ("check_answer", "answer")}
        name, option = readers.get(kind, ("verify", "file"))
        self.show(next(job for job in JOBS if job.name == name), **{option: path})

    def close(self) -> None:
        """Stop what goes on; for the end of the window."""
        for dialog in list(self._open):
            dialog.close()

    def _closed(self, dialog: JobDialog, _result: int) -> None:
        aside = self._open.pop(dialog)
        aside.close()  # a job ends at once
        aside.deleteLater()

    def _known(self) -> dict[str, str]:
        """What is open, by what a job calls it; nothing where that lies on another machine."""
        session = self._session
        if session.where:
            return {}
        run, order = session.run_file, session.order
        if order is None and run is None:
            order = session.path
        known = {"run": run, "runs": run, "order": order, "verdict": session.verdict_file}
        return {"device": session.device} | {name: str(path) for name, path in known.items() if path is not None}
