"""The workers of a replay as a table: where each is, what it replays, and how fast."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog, QWidget

from counterfoil import WorkerState
from counterfoil_app.engine.strangers import plain
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import fit_to_screen
from counterfoil_app.views.layouts import button
from counterfoil_app.views.parts import label
from counterfoil_app.views.tables import Column, RecordTable, table_view

SIZE = QSize(900, 320)


class WorkersTable(QWidget):
    """One line for each worker, and below them what all do together.

    Args:
        theme: The theme of the application.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model: RecordTable[WorkerState] = RecordTable(self._columns(), theme, self)
        self.table = table_view(self.model, self.tr("Workers"))
        self.together = label("", "muted")
        layouts.column((self.table, 1), self.together, inside=self, margins=layouts.NONE)

    def show_workers(self, workers: Sequence[WorkerState]) -> None:
        """Show what workers do now; the chosen line stays."""
        shown = [plain(worker) for worker in workers]
        if shown == list(self.model.records):
            return
        row = self.table.currentIndex().row()
        self.model.show_records(shown)
        if 0 <= row < len(shown):
            self.table.selectRow(row)
        able = [worker for worker in shown if not worker.trouble]
        self.together.setText(
            self.tr("{0} of {1} workers replay; together {2} steps, {3}.").format(
                text.count(sum(worker.segment is not None for worker in able)),
                text.count(len(shown)),
                text.count(sum(worker.steps for worker in shown)),
                _rate(sum(worker.rate for worker in able)) or self.tr("no rate yet"),
            )
        )

    def _columns(self) -> list[Column[WorkerState]]:
        return [
            Column(self.tr("No."), lambda worker: text.count(worker.number), 4, numeric=True),
            Column(self.tr("Host"), lambda worker: worker.machine or self.tr("not ready"), 16),
            Column(self.tr("Device"), lambda worker: worker.device, 8),
            Column(self.tr("Segment"), self._doing, 22, look=self._look, tip=self._doing),
            Column(self.tr("Segments done"), lambda worker: text.count(worker.segments), 12, numeric=True),
            Column(self.tr("Steps done"), lambda worker: text.count(worker.steps), 11, numeric=True),
            Column(self.tr("Rate"), lambda worker: _rate(worker.rate), 14, numeric=True),
        ]

    def _doing(self, worker: WorkerState) -> str:
        if worker.trouble:
            return translate(worker.trouble)
        if not worker.machine:
            return self.tr("opening the run")
        return self.tr("waiting") if worker.segment is None else text.count(worker.segment)

    def _look(self, worker: WorkerState) -> Look:
        if worker.trouble:
            return Look(self.tr("can do no more"), "failed", Tone.BAD)
        if worker.segment is None:
            return Look(self.tr("waiting"), "waiting", Tone.MUTED)
        return Look(self.tr("replaying"), "running", Tone.INFO)


def _rate(steps_per_second: float) -> str:
    return text.rate(steps_per_second) if steps_per_second > 0 else ""


class WorkersDialog(QDialog):
    """The workers of the replay that runs, or that ran last, beside the window.

    Args:
        session: Whose workers are shown.
        theme: The theme of the application.
    """

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Workers"))
        fit_to_screen(self, SIZE)
        self._session = session
        self.workers = WorkersTable(theme)
        close = button(self.tr("C&lose"), self.close, primary=True)
        layouts.column((self.workers, 1), layouts.row(1, close), inside=self, spacing=12)
        follow(self.refresh, session.progress_changed, session.phase_changed)
        self.refresh()

    def refresh(self) -> None:
        """Show what they do now."""
        self.workers.show_workers(self._session.progress.workers)
