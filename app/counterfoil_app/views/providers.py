"""Runs of one order by several providers, beside each other: where they part, and who is right."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QWidget

from counterfoil import Member, PanelOutcome, Parting, Ruling, Standing
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.model.providers import Comparison
from counterfoil_app.views import layouts
from counterfoil_app.views.dispute import FindingView
from counterfoil_app.views.inquiry import InquiryDialog
from counterfoil_app.views.layouts import button, keys_in
from counterfoil_app.views.parts import Page, caption, label, restyle, tell
from counterfoil_app.views.provider_matrix import ProviderMatrix
from counterfoil_app.views.provider_words import outcome_look, ruling_look, standing_look
from counterfoil_app.views.tables import Column, RecordTable, fit_height, table_view

SIZE = (1080, 690)
FEWEST = 2
Line = tuple[int, Path, Member | None]
"""A provider: its number, its run, and what was read of it."""


class ProvidersDialog(InquiryDialog):
    """One comparison; runs are added, compared, and replayed where they part.

    Args:
        comparison: The comparison.
        book: The known keys.
        theme: The theme of the application.
    """

    runs_wanted = Signal()
    """The user wants to choose more runs."""
    order_wanted = Signal()
    """The user wants to choose the client's order."""
    data_wanted = Signal()
    """The user wants to choose the data file that the order names."""
    audit_wanted = Signal(Path)
    """The user wants to audit one of the runs by itself."""

    def __init__(self, comparison: Comparison, book: KeyBook, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(comparison, theme, SIZE, parent)
        self.setWindowTitle(self.tr("Compare providers"))
        self.take_files(comparison.add, lambda _path: not comparison.working)
        self.comparison = comparison
        self._book = book
        self._shown: object = None
        self.progress.setAccessibleName(self.tr("Progress of the comparison"))
        self.time_left = label("", "muted")
        self.page = page = Page(self.tr("What was found"))
        self.model: RecordTable[Line] = RecordTable(self._columns(), theme, self)
        self.table = table_view(self.model, self.tr("Providers"))
        self.add = button(self.tr("A&dd runs\u2026"), self.runs_wanted)
        self.remove = button(self.tr("&Remove"), self._remove)
        self.audit = button(
            self.tr("&Open this run"), self._audit, tip=self.tr("Close this page, and audit the chosen run by itself")
        )
        self._above_matrix = caption(self.tr("Results, step by step"), "section")
        self.matrix = ProviderMatrix(comparison, theme)
        self.said = label("", "muted")
        self._above_rulings = caption(self.tr("What the replay says of each run, by its own rounding log"), "section")
        self.rulings: RecordTable[Ruling] = RecordTable(self._ruling_columns(), theme, self)
        self.ruling_table = table_view(self.rulings, self.tr("What the replay says of each run"))
        self.finding = FindingView(theme)
        edit = layouts.row(self.add, self.remove, self.audit, 1)
        layouts.fill(page.column, caption(self.tr("Providers"), "section"), self.table, edit)
        layouts.fill(page.column, self._above_matrix, self.matrix, self.said)
        layouts.fill(page.column, self._above_rulings, self.ruling_table, self.finding, 1)
        self.table.selectionModel().currentRowChanged.connect(self._run_chosen)
        self.ruling_table.selectionModel().currentRowChanged.connect(self._ruling_chosen)
        keys_in(self.table, Qt.Key.Key_Delete, self._remove)
        self.matrix.chosen.connect(self._step_chosen)
        choose_order = button(self.tr("Choose the o&rder\u2026"), self.order_wanted)
        self.choose_data = button(self.tr("Choose the d&ata\u2026"), self.data_wanted)
        start = button(self.tr("&Compare"), self._start)
        self.close_button = button(self.tr("C&lose"), self.close)
        self.arrange(page, choose_order, start, self.choose_data, self.close_button)
        layouts.fill(self.top, (self.time_left, 0, Qt.AlignmentFlag.AlignTop))

    # What the user does

    def use_order(self, order: Path | None) -> None:
        """Compare with this order from now on; what was found without it is found anew."""
        again = self.comparison.compared is not None
        self.comparison.order = order
        self.refresh()
        if again:
            self.comparison.compare()

    def use_data(self, data: Path) -> None:
        """Take a data file, and replay what waited for it."""
        self.comparison.data = data
        self.comparison.replay()

    def _start(self) -> None:
        """Compare, or replay where the runs part: whatever is next."""
        if self._to_replay():
            self.comparison.replay()
        else:
            self.comparison.compare()

    def _to_replay(self) -> bool:
        comparison = self.comparison
        return comparison.report is None and comparison.parting is not None

    def _chosen(self) -> int | None:
        row = self.table.currentIndex().row()
        return row if 0 <= row < len(self.comparison.runs) else None

    def _remove(self) -> None:
        number = self._chosen()
        if number is not None:
            self.comparison.remove(number)

    def _audit(self) -> None:
        number = self._chosen()
        if number is not None:
            path = self.comparison.runs[number]
            self.close()
            self.audit_wanted.emit(path)

    def _run_chosen(self, current: QModelIndex) -> None:
        if current.isValid() and self.matrix.isVisible() and current.row() < len(self.comparison.matrix.cells):
            self.matrix.choose(self.matrix.step, current.row())

    def _step_chosen(self, step: int, provider: int) -> None:
        self.said.setText(self.matrix.describe(step, provider))
        if self._chosen() != provider:
            self.table.selectRow(provider)

    def _ruling_chosen(self, current: QModelIndex) -> None:
        ruling = self.rulings.record(current.row()) if current.isValid() else None
        self.finding.show_finding(None if ruling is None else ruling.finding)

    # Showing

    def refresh(self) -> None:
        """Show where the comparison stands."""
        comparison = self.comparison
        self.top.show_look(*self._headline())
        if comparison.order is None:
            unknown = self.tr(
                "They are not compared with the client's own order: what the first run says of its order counts."
            )
            tell(self.notice, unknown, Tone.WARN)
        else:
            ordered = self.tr("They are compared with the order {0}.").format(name_of(comparison.order))
            tell(self.notice, ordered, Tone.INFO)
        super().refresh()
        left = comparison.seconds_left if comparison.working else None
        self.time_left.setText("" if left is None else self.tr("{0} left").format(text.duration(left)))
        self._show_runs()
        self._show_found()
        enough = len(comparison.runs) >= FEWEST and not comparison.working
        self.start.setText(self._start_text())
        self.start.setEnabled(enough)
        for each in (self.add, self.remove, self.audit):
            each.setEnabled(not comparison.working and (each is self.add or bool(comparison.runs)))
        failure = comparison.failure
        self.choose_data.setVisible(failure is not None and failure.role == "data")
        done = comparison.report is not None
        first = self.close_button if done else self.start if enough else self.add
        for one in (self.start, self.add, self.close_button):
            restyle(one, "primary", one is first)

    def _start_text(self) -> str:
        parting = self.comparison.parting
        if self._to_replay() and parting is not None:
            return self.tr("Re&play step {0}").format(text.count(parting.step))
        return self.tr("&Compare") if self.comparison.report is None else self.tr("&Compare again")

    def _show_runs(self) -> None:
        comparison, members = self.comparison, self.comparison.members
        lines = [
            (number, path, members[number] if number < len(members) else None)
            for number, path in enumerate(comparison.runs)
        ]
        if lines != list(self.model.records):
            chosen = max(0, self.table.currentIndex().row())
            self.model.show_records(lines)
            fit_height(self.table)
            if lines:
                self.table.selectRow(min(chosen, len(lines) - 1))

    def _show_found(self) -> None:
        comparison = self.comparison
        for said in (self._above_matrix, self.said):
            said.setVisible(bool(comparison.matrix.steps))
        found = (comparison.compared, comparison.ruled, comparison.report)
        self.matrix.refresh()
        if self._shown == found:
            return
        self._shown = found
        if comparison.matrix.steps:
            parting = comparison.parting
            if parting is not None:
                self.matrix.choose(parting.step, parting.second[0])
                self.page.ensureWidgetVisible(self.matrix)
            else:
                self.said.setText(self.tr("No step differs."))
        rulings = [ruling for parting in comparison.ruled for ruling in parting.rulings]
        rulings.sort(key=lambda ruling: (not ruling.wrong, ruling.provider))
        self.rulings.show_records(rulings)
        for widget in (self._above_rulings, self.ruling_table):
            widget.setVisible(bool(rulings))
        if rulings:
            fit_height(self.ruling_table)
            self.ruling_table.selectRow(0)
        else:
            self.finding.show_finding(None)

    def _headline(self) -> tuple[Look, str]:
        comparison = self.comparison
        report, parting = comparison.report, comparison.parting
        said = self.tr("The runs are read, and compared with what was signed.")
        if comparison.replaying and comparison.share:
            said = self.tr("The step in which they part is replayed, once with each run's own log.")
        if unfinished := self.unfinished(self.tr("Being compared"), said, self.tr("Not compared")):
            return unfinished
        if report is not None:
            return outcome_look(report.outcome), self._conclusion(report.outcome, translate(report.reason))
        if parting is not None:
            return Look(self.tr("They part at step {0}").format(text.count(parting.step)), "compare", Tone.INFO), (
                self._parted(comparison.partings)
            )
        if len(comparison.runs) < FEWEST:
            return Look(self.tr("Compare providers"), "compare", Tone.INFO), self.tr(
                "Add the runs of one order that several providers made: one that computed honestly exposes the others."
            )
        return Look(self.tr("Not compared yet"), "compare", Tone.INFO), self.tr(
            "The runs are compared step by step. Where they part, the step can be replayed here: the replay decides, "
            "not the majority."
        )

    def _conclusion(self, outcome: PanelOutcome, reason: str) -> str:
        wrong = [ruling for parting in self.comparison.ruled for ruling in parting.rulings if ruling.wrong]
        if outcome is not PanelOutcome.EXPOSED or not wrong:
            return reason
        first = min(wrong, key=lambda ruling: ruling.step)
        name = self.comparison.members[first.provider].name
        at = self.tr("The first such step is step {0} of {1}.").format(text.count(first.step), name)
        return f"{reason} {at}"

    def _parted(self, partings: tuple[Parting, ...]) -> str:
        """Who parts from whom, and what can be said of that before anything is replayed."""
        members = self.comparison.members
        said = []
        for parting in partings:
            first, second = (
                ", ".join(members[number].name for number in group) for group in (parting.first, parting.second)
            )
            sentence = self.tr("Up to step {0} the results of {1} and of {2} are the same.")
            said.append(sentence.format(text.count(parting.step - 1), first, second))
        out = [member.name for member in members if member.standing is Standing.REFUSED]
        if out:
            said.append(self.tr("No part is taken by: {0}.").format(", ".join(out)))
        return " ".join([*said, self.tr("Nobody is accused yet: replay the step to see who is right.")])

    # Columns

    def _columns(self) -> list[Column[Line]]:
        return [
            Column(self.tr("Run"), self._name, 30, tip=lambda line: str(line[1])),
            Column(
                self.tr("Found"), lambda line: standing_look(line[2]).word, 24, look=lambda line: standing_look(line[2])
            ),
            Column(
                self.tr("Trainer's key"), self._key, 20, tip=lambda line: "" if line[2] is None else line[2].trainer_key
            ),
            Column(self.tr("Run root"), self._root, 16, fixed=True, tip=self._whole_root),
            Column(self.tr("Remark"), self._remark, 30, tip=self._remark),
        ]

    def _name(self, line: Line) -> str:
        return name_of(line[1]) if line[2] is None else line[2].name

    def _key(self, line: Line) -> str:
        if line[2] is None or not line[2].trainer_key:
            return ""
        known = self._book.find(line[2].trainer_key)
        return known.name if known is not None and known.name else line[2].trainer_key[:12]

    def _root(self, line: Line) -> str:
        return self._whole_root(line)[:12]

    def _whole_root(self, line: Line) -> str:
        return "" if line[2] is None or line[2].run_root is None else line[2].run_root.hex

    def _remark(self, line: Line) -> str:
        if line[2] is None:
            return ""
        key, members = line[2].trainer_key, self.comparison.members
        if key and sum(member.trainer_key == key for member in members) > 1:
            return self.tr("the same key as another run")
        return translate(line[2].detail)

    def _ruling_columns(self) -> list[Column[Ruling]]:
        return [
            Column(self.tr("Run"), lambda ruling: self.comparison.members[ruling.provider].name, 30),
            Column(self.tr("Step"), lambda ruling: text.count(ruling.step), 8, numeric=True),
            Column(self.tr("Replay"), lambda ruling: ruling_look(ruling).word, 24, look=ruling_look),
            Column(self.tr("What differs"), self._parts, 30),
            Column(
                self.tr("First operator"),
                lambda ruling: "" if ruling.operator is None else ruling.operator.where,
                36,
                tip=lambda ruling: "" if ruling.operator is None else ruling.operator.where,
            ),
        ]

    def _parts(self, ruling: Ruling) -> str:
        parts = ", ".join(words.part(name) for name in ruling.parts)
        return f"{words.step_part(ruling.part)}: {parts}" if ruling.part else parts
