"""What a folder of verdicts says of each trainer's key, and how much of its next run to replay."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QDoubleSpinBox, QFileDialog, QGridLayout, QSizePolicy, QSpinBox, QTabWidget, QWidget

from counterfoil import LedgerRun, LedgerVerdict, NotCounted, RatePolicy, RunOutcome, TrainerRecord
from counterfoil_app.engine import strangers
from counterfoil_app.looks import lookup_words, text
from counterfoil_app.looks.engine_words import failure_text, translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.lookup_words import most_replayed
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.questions import LedgerReading
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import Frame
from counterfoil_app.views.inquiry import InquiryDialog
from counterfoil_app.views.layouts import button, choice_action, menu_button
from counterfoil_app.views.parts import Page, caption, label, restyle, tell
from counterfoil_app.views.tables import Column, RecordTable, fit_height, table_view

SIZE = (1080, 720)
SHORT = 12
"""Digits of a key or a run root in a table; all are in its tool tip and in what is copied."""
LEAST_TABS = 190
"""Least height of what is said of one trainer, in pixels."""
MOST_SEGMENTS = 1_000_000
LEAST_PERCENT, MOST_PERCENT = 0.01, 99.99


class LedgerDialog(InquiryDialog):
    """Verdicts of a folder by the trainer's key.

    Args:
        reading: The reading of the folder.
        folder: Where the user begins to choose one.
        theme: The theme of the application.
    """

    def __init__(self, reading: LedgerReading, folder: Path, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(reading, theme, SIZE, parent)
        self.setWindowTitle(self.tr("Ledger: what verdicts say of trainers"))
        self.take_files(lambda folders: reading.choose(folders[0]), Path.is_dir)
        self.reading = reading
        self._start_folder = folder
        self._shown: object = None
        self._key = ""
        self.progress.setAccessibleName(self.tr("Progress of the reading"))
        self.page = page = Page(self.tr("What was found"))
        self.trainers: RecordTable[TrainerRecord] = RecordTable(self._trainer_columns(), theme, self)
        self.trainer_table = table_view(self.trainers, self.tr("Trainers"))
        self.trainer_table.selectionModel().currentRowChanged.connect(self._choose_trainer)
        self.runs: RecordTable[LedgerRun] = RecordTable(self._run_columns(), theme, self)
        self.disputes: RecordTable[LedgerVerdict] = RecordTable(self._dispute_columns(), theme, self)
        self.not_counted: RecordTable[NotCounted] = RecordTable(self._file_columns(), theme, self)
        self.rate = label()
        self.tabs = QTabWidget()
        self.tabs.tabBar().setAccessibleName(self.tr("What is known of the trainer"))
        self.tabs.setMinimumHeight(scale(LEAST_TABS))
        # They take the room that is left: what is long scrolls in them, and not the page.
        self.tabs.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        inside = QWidget()
        layouts.column(self.rate, 1, inside=inside, margins=(12, 12, 12, 12))
        self.tabs.addTab(table_view(self.runs, self.tr("Runs of the trainer")), "")
        self.tabs.addTab(table_view(self.disputes, self.tr("Disputes of the trainer's runs")), "")
        self.tabs.addTab(Frame(inside), self.tr("&Proposed rate"))
        self.tabs.addTab(table_view(self.not_counted, self.tr("Files that do not count")), "")
        self._trainer_title = caption(self.tr("Trainers"), "section")
        self._rest = QWidget()  # below the wishes, while nothing is known
        shown = (self._wishes(), self._trainer_title, self.trainer_table, (self.tabs, 1), (self._rest, 1))
        layouts.fill(page.column, *shown)
        choose = button(self.tr("Choose the &folder\u2026"), self._choose_folder)
        start = button(self.tr("Read a&gain"), reading.read)
        self.close_button = button(self.tr("C&lose"), self.close)
        self.arrange(page, choose, start, self.close_button)

    # Making

    def _wishes(self) -> QGridLayout:
        usual = self.reading.policy
        self.segments = QSpinBox()
        self.segments.setRange(1, MOST_SEGMENTS)
        self.segments.setValue(usual.segments)
        self.segments.setGroupSeparatorShown(True)
        self.clean_runs = QSpinBox()
        self.clean_runs.setRange(1, 1000)
        self.clean_runs.setValue(usual.clean_runs)
        self.bad_fraction, self.risk, self.floor = map(_percent, (usual.bad_fraction, usual.risk, usual.floor))
        self.auditors = menu_button(
            self.tr("&Auditors\u2026"),
            [
                choice_action(self, self._key_name(key.key_id), partial(self._count, key.key_id), checked=True)
                for key in self.reading.auditors
            ],
        )
        self.auditors.setEnabled(bool(self.reading.auditors))
        named = (
            (self.tr("Segments of the next run"), self.segments),
            (self.tr("Least share of bad segments"), self.bad_fraction),
            (self.tr("Risk that it is bad and passes"), self.risk),
            (self.tr("Share that is always replayed"), self.floor),
            (self.tr("Clean runs after a dispute"), self.clean_runs),
            (self.tr("Whose verdicts count"), self.auditors),
        )
        grid = layouts.grid(across=10, down=6, stretch=4)
        for place, (name, box) in enumerate(named):
            row, column = divmod(place, 2)
            if box is not self.auditors:
                box.setAccessibleName(name)
            grid.addWidget(label(name, wrap=False), row, 2 * column)
            grid.addWidget(box, row, 2 * column + 1)
        for spin in (self.segments, self.clean_runs, self.bad_fraction, self.risk, self.floor):
            spin.setKeyboardTracking(False)
            spin.valueChanged.connect(self._wish)
        return grid

    def _trainer_columns(self) -> list[Column[TrainerRecord]]:
        def number(outcome: RunOutcome, record: TrainerRecord) -> str:
            return text.count(sum(run.outcome is outcome for run in record.runs))

        return [
            Column(self.tr("Trainer"), lambda one: self._key_name(one.key_id), 30, tip=lambda one: one.key_id),
            Column(self.tr("Runs"), lambda one: text.count(len(one.runs)), 8, numeric=True),
            Column(self.tr("Clean"), partial(number, RunOutcome.CLEAN), 8, numeric=True),
            Column(self.tr("Disputed"), partial(number, RunOutcome.DISPUTED), 10, numeric=True),
            Column(self.tr("Undecided"), partial(number, RunOutcome.UNDECIDED), 10, numeric=True),
            Column(self.tr("Last signed"), lambda one: text.moment(_last_signed(one)), 24),
            Column(self.tr("Replay of the next run"), self._proposal, 24, look=self._trainer_look),
        ]

    def _run_columns(self) -> list[Column[LedgerRun]]:
        def look(run: LedgerRun) -> Look:
            return lookup_words.run_look(run.outcome)

        return [
            Column(self.tr("Run"), lambda run: run.run_root.hex[:SHORT], 14, fixed=True, tip=_root),
            Column(
                self.tr("Order"), lambda run: most_replayed(run).title, 24, tip=lambda run: most_replayed(run).title
            ),
            Column(self.tr("Together"), lambda run: look(run).word, 13, look=look),
            Column(self.tr("Verdicts"), lookup_words.outcomes_said, 38, tip=lookup_words.outcomes_said),
            Column(self.tr("Replayed at most"), lookup_words.coverage_said, 19),
            Column(self.tr("Last signed"), lambda run: text.moment(run.last_signed), 24),
        ]

    def _dispute_columns(self) -> list[Column[LedgerVerdict]]:
        return [
            Column(
                self.tr("Says"), lambda one: lookup_words.verdict_look(one).word, 27, look=lookup_words.verdict_look
            ),
            Column(self.tr("Step"), _step, 9, numeric=True),
            Column(
                self.tr("Run"), lambda one: _short(one.run_root), 14, fixed=True, tip=lambda one: _hex(one.run_root)
            ),
            Column(self.tr("Trainer answered"), lambda one: self.tr("yes") if one.replied else self.tr("no"), 12),
            Column(self.tr("Auditor"), lambda one: self._key_name(one.auditor), 26, tip=lambda one: one.auditor),
            Column(self.tr("Signed"), lambda one: text.moment(one.signed_at), 25),
            Column(self.tr("File"), lambda one: one.name, 12, tip=lambda one: one.name),
        ]

    def _file_columns(self) -> list[Column[NotCounted]]:
        return [
            Column(self.tr("File"), lambda one: one.name, 34, tip=lambda one: one.name),
            Column(
                self.tr("Why it does not count"),
                lambda one: translate(one.reason),
                60,
                tip=lambda one: translate(one.reason),
            ),
        ]

    # What the user does

    def _choose_folder(self) -> None:
        # Signed statements are read on this machine, also where the engine is on another one.
        start = self.reading.folder or self._start_folder
        if name := QFileDialog.getExistingDirectory(self, self.tr("A folder with verdicts"), str(start)):
            self.reading.choose(Path(name))

    def _count(self, key_id: str) -> None:
        counts = all(key.key_id != key_id for key in self.reading.counted)
        self.reading.count_key(key_id, counts)

    def _wish(self, _value: object = None) -> None:
        policy = RatePolicy(
            segments=self.segments.value(),
            bad_fraction=self.bad_fraction.value() / 100,
            risk=self.risk.value() / 100,
            floor=self.floor.value() / 100,
            clean_runs=self.clean_runs.value(),
        )
        self.reading.wish(policy)

    def _choose_trainer(self, current: QModelIndex) -> None:
        record = self.trainers.record(current.row()) if current.isValid() else None
        self._key = record.key_id if record is not None else ""
        self._show_trainer(record)

    # Showing

    def refresh(self) -> None:
        """Show where the reading stands."""
        reading, found = self.reading, self.reading.found
        self.top.show_look(*self._headline())
        tell(self.notice, *self._counted())
        super().refresh()
        self.choose.setEnabled(True)
        self.start.setEnabled(reading.folder is not None and not reading.working)
        for part in (self._trainer_title, self.trainer_table):
            part.setVisible(found is not None and bool(found.trainers))
        self.tabs.setVisible(found is not None)
        self._rest.setVisible(found is None)
        if found is not self._shown:
            self._shown = found
            self._show_found()
        restyle(self.choose, "primary", reading.folder is None)
        restyle(self.close_button, "primary", found is not None)

    def _show_found(self) -> None:
        found, key = self.reading.found, self._key
        trainers = found.trainers if found is not None else ()
        files = found.not_counted if found is not None else ()
        self.trainers.show_records(trainers)
        fit_height(self.trainer_table)
        self.not_counted.show_records(files)
        self.tabs.setTabText(3, self.tr("&Not counted ({0})").format(text.count(len(files))))
        place = next((place for place, one in enumerate(trainers) if one.key_id == key), 0)
        if trainers:
            self.trainer_table.selectRow(place)
        self._show_trainer(trainers[place] if trainers else None)
        if found is not None and not trainers:
            self.tabs.setCurrentIndex(3)
        elif self.tabs.currentIndex() == 3:
            self.tabs.setCurrentIndex(0)

    def _show_trainer(self, record: TrainerRecord | None) -> None:
        runs = record.runs if record is not None else ()
        disputes = [one for run in runs for one in run.verdicts if one.kind == "adjudication" or _disputes(one)]
        self.runs.show_records(runs)
        self.disputes.show_records(disputes)
        self.tabs.setTabText(0, self.tr("&Runs ({0})").format(text.count(len(runs))))
        self.tabs.setTabText(1, self.tr("&Disputes ({0})").format(text.count(len(disputes))))
        for place in range(3):
            self.tabs.setTabEnabled(place, record is not None)
        self.rate.setText("" if record is None else self._rate_said(record))

    def _rate_said(self, record: TrainerRecord) -> str:
        rate = record.rate
        whole = self.tr("Replay {0} of {1} segments of the next run.")
        lines = [whole.format(text.count(rate.chosen), text.count(rate.segments)), *map(translate, rate.reasons)]
        lines.append(
            self.tr(
                "It follows from a model: each run of a trainer is bad with the same unknown probability. Which "
                "segments are replayed must stay unknown until the run is signed."
            )
        )
        return "\n\n".join(lines)

    def _headline(self) -> tuple[Look, str]:
        reading, found = self.reading, self.reading.found
        if reading.working and found is None:
            said = reading.progress
            files = self.tr("{0} of {1} files")
            return Look(self.tr("Being read"), "running", Tone.INFO), (
                "" if said is None else files.format(text.count(said.done), text.count(said.total))
            )
        if reading.failure is not None:
            return Look(self.tr("Not read"), "inconclusive", Tone.WARN), failure_text(reading.failure)
        if reading.folder is None:
            return Look(self.tr("What verdicts say of trainers"), "verdict", Tone.INFO), self.tr(
                "Choose a folder with signed verdicts, adjudications, withdrawals and replies, or drop it here."
            )
        place = strangers.sentence(str(reading.folder))
        if found is None:
            return Look(self.tr("Not read"), "waiting", Tone.INFO), self.tr("The reading of {0} was stopped.").format(
                place
            )
        if not found.trainers:
            nothing = self.tr("No verdict in {0} counts, so nothing is known of any trainer.")
            return Look(self.tr("Nothing counts"), "inconclusive", Tone.WARN), nothing.format(place)
        runs = [run for record in found.trainers for run in record.runs]
        disputed = sum(run.outcome is RunOutcome.DISPUTED for run in runs)
        said_of = self.tr("{0}: trainers {1}, runs {2}, disputed {3}, files that do not count {4}.").format(
            place, *map(text.count, (len(found.trainers), len(runs), disputed, len(found.not_counted)))
        )
        if disputed:
            return Look(self.tr("Runs were disputed"), "disputed", Tone.BAD), said_of
        return Look(self.tr("No run was disputed"), "verified-open", Tone.INFO), said_of

    def _counted(self) -> tuple[str, Tone]:
        reading = self.reading
        if not reading.auditors:
            return self.tr("You know no auditor's key, so no verdict counts: add one under Keys, Keys."), Tone.WARN
        if not reading.counted:
            return self.tr("No auditor is chosen, so no verdict counts."), Tone.WARN
        names = ", ".join(self._key_name(key.key_id) for key in reading.counted)
        said = self.tr("Verdicts count that are signed by: {0}. What nobody put into the folder is not known.")
        return said.format(names), Tone.INFO

    def _key_name(self, key_id: str) -> str:
        name = self.reading.name_of_key(key_id)
        return f"{name} ({key_id[:SHORT]})" if name else key_id[:SHORT]

    def _proposal(self, record: TrainerRecord) -> str:
        segments = self.tr("{0} of {1} segments")
        return segments.format(text.count(record.rate.chosen), text.count(record.rate.segments))

    def _trainer_look(self, record: TrainerRecord) -> Look | None:
        """A trainer with a dispute is marked, whatever came after it."""
        if any(run.outcome is RunOutcome.DISPUTED for run in record.runs):
            return Look(self.tr("disputed"), "disputed", Tone.BAD)
        return None


def _percent(share: float) -> QDoubleSpinBox:
    """A box for a share."""
    box = QDoubleSpinBox()
    box.setRange(LEAST_PERCENT, MOST_PERCENT)
    box.setDecimals(2)
    box.setSuffix(" %")
    box.setValue(100 * share)
    return box


def _disputes(verdict: LedgerVerdict) -> bool:
    return verdict.outcome == "DISPUTED"


def _last_signed(record: TrainerRecord) -> str:
    return max((run.last_signed for run in record.runs), default="")


def _step(verdict: LedgerVerdict) -> str:
    if verdict.judged is not None:
        first, last = verdict.judged
        return text.count(last) if first == last else f"{text.count(first)}\u2013{text.count(last)}"
    return "" if verdict.disputed_step is None else text.count(verdict.disputed_step)


def _root(run: LedgerRun) -> str:
    return run.run_root.hex


def _hex(digest: object) -> str:
    return getattr(digest, "hex", "")


def _short(digest: object) -> str:
    return _hex(digest)[:SHORT]
