"""The facts of a run: what it shows of itself, counted without a replay, to be copied and saved."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QTableView, QWidget

from counterfoil import DataUse, OperationCount, RunFacts, Score, score_lines, score_said
from counterfoil_app.engine.strangers import beside, name_of
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.questions import FactsCount
from counterfoil_app.views import layouts
from counterfoil_app.views.inquiry import InquiryDialog
from counterfoil_app.views.layouts import button
from counterfoil_app.views.parts import Field, FieldGrid, Page, caption, digest_field, restyle, tell
from counterfoil_app.views.tables import Column, Record, RecordTable, fit_height, table_view

SIZE = (1040, 680)


@dataclass(frozen=True)
class Counted:
    """One number of a score."""

    name: str  #: What was counted.
    place: tuple[int, ...]  #: Where it stands in what has axes, such as label and answer of a confusion.
    number: int  #: How many there are.


def _counted(score: Score | None) -> list[Counted]:
    """Every number of a score; of counts that are no such array as they say, none."""
    return [
        Counted(one.name, place, number)
        for one in (score.counts if score is not None else ())
        if one.fits
        for place, number in zip(product(*map(range, one.shape)), one.values, strict=True)
    ]


class FactsDialog(InquiryDialog):
    """Shows what a run shows of itself, and what binds each part of it.

    Args:
        count: Counts it.
        near: The folder and name beside which a file is offered to be saved.
        theme: The theme of the application.
    """

    save_wanted = Signal(Path)
    """The facts are to be written there as JSON."""

    def __init__(self, count: FactsCount, near: Path, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(count, theme, SIZE, parent)
        self.setWindowTitle(self.tr("Facts of {0}").format(name_of(count.run)))
        self.count = count
        self._near = near
        self.progress.setAccessibleName(self.tr("Progress of the count"))
        self.page = page = Page(self.tr("What the run shows"))
        self.fields = FieldGrid()
        self.operations: RecordTable[OperationCount] = RecordTable(self._operation_columns(), theme, self)
        self.data: RecordTable[DataUse] = RecordTable(self._data_columns(), theme, self)
        self.counts: RecordTable[Counted] = RecordTable(self._count_columns(), theme, self)
        self.said = FieldGrid()
        self._sections = (
            (self.tr("What was ordered and run"), self.tr("By the order digest and the run root"), self.fields),
            (
                self.tr("What was counted of the answers"),
                self.tr("By the run root: the counts are part of the state after the last step"),
                table_view(self.counts, self.tr("What was counted of the answers")),
            ),
            (
                self.tr("Operations in all steps"),
                self.tr("Counted from the order's programs and the steps of the run, by order digest and run root"),
                table_view(self.operations, self.tr("Operations in all steps")),
            ),
            (
                self.tr("Data that the steps read"),
                self.tr(
                    "Counted from the schedule of the steps that were run, by order digest and run root. Left out are "
                    "rows that only fill a shorter batch."
                ),
                table_view(self.data, self.tr("Data that the steps read")),
            ),
            (self.tr("As the trainer says"), self.tr("By the trainer's signature: nobody else measured it"), self.said),
        )
        self._shown: list[QWidget] = []
        for title, bound, part in self._sections:
            named = caption(title, "section"), caption(bound, "muted"), part
            self._shown += named
            layouts.fill(page.column, *named)
        layouts.fill(page.column, 1)
        save = button(self.tr("Save as &JSON\u2026"), self._ask_target)
        self.copy = button(self.tr("&Copy"), self._copy)
        start = button(self.tr("Count &again"), count.start)
        self.close_button = button(self.tr("C&lose"), self.close)
        self.arrange(page, save, start, self.copy, self.close_button)

    def refresh(self) -> None:
        """Show where the count stands, or what was found."""
        facts = self.count.found
        super().refresh()
        self.top.show_look(*self._headline())
        tell(
            self.notice,
            self.tr("Nothing is replayed: whether the steps are true, a verdict says, and none of these facts."),
            Tone.INFO,
        )
        for part in self._shown:
            part.setVisible(facts is not None)
        scored = facts is not None and facts.score is not None
        for part in self._shown[3:6]:
            part.setVisible(scored)
        for each in (self.choose, self.copy):
            each.setEnabled(facts is not None)
        restyle(self.close_button, "primary", facts is not None)
        if facts is None:
            return
        self.fields.show_fields(self._fields(facts))
        self.counts.show_records(_counted(facts.score))
        self.operations.show_records(facts.operations)
        self.data.show_records(facts.data)
        self.said.show_fields(self._sayings(facts))
        for _, _, part in self._sections:
            if isinstance(part, QTableView):
                fit_height(part)

    def _headline(self) -> tuple[Look, str]:
        count, facts = self.count, self.count.found
        said = translate(count.progress.what) if count.progress is not None else self.tr("The run is opened.")
        if unfinished := self.unfinished(self.tr("Being counted"), said, self.tr("Not counted")):
            return unfinished
        if facts is None:
            return Look(self.tr("Not counted"), "waiting", Tone.INFO), self.tr("The count was stopped.")
        operations, steps = text.digits(f"{facts.total_operations:.3g}"), text.count(facts.steps)
        headline = self.tr("{0} operations in {1} steps").format(operations, steps)
        if facts.score is not None:
            headline = translate(score_said(facts.score))
        return Look(headline, "information", Tone.INFO), facts.title

    # What is shown

    def _fields(self, facts: RunFacts) -> list[Field]:
        steps = self.tr("{0} of {1} ordered, {2} rows each")
        counts = map(text.count, (facts.steps, facts.steps_ordered, facts.batch_size))
        client = Field(self.tr("Client's key"), self.tr("the order is not signed"))
        if facts.client_key:
            client = Field(self.tr("Client's key"), facts.client_key, exact=True)
        return [
            *(self._score(facts.score) if facts.score is not None else ()),
            digest_field(self.tr("Order digest"), facts.order, ""),
            digest_field(self.tr("Run root"), facts.run_root, ""),
            Field(self.tr("Trainer's key"), facts.trainer_key, exact=True),
            client,
            Field(self.tr("Steps"), steps.format(*counts)),
            Field(self.tr("Parameters"), text.count(facts.parameters)),
            Field(self.tr("Optimizer"), translate(facts.optimizer)),
            Field(self.tr("Precision"), words.precision(facts.precision, exactly=True)),
            *(
                digest_field(self.tr("Program {0}").format(name) if name else self.tr("Program"), digest, "")
                for name, digest in facts.program_digests
            ),
            Field(self.tr("Operations"), text.count(facts.total_operations)),
            *([Field(self.tr("Tokens looked up"), text.count(facts.tokens))] if facts.tokens else []),
        ]

    def _score(self, score: Score) -> list[Field]:
        _, (model, _), (data, _) = score_lines(score)  # what it comes to stands at the top
        return [
            digest_field(translate(model), score.model_root, ""),
            digest_field(translate(data), score.data_root, ""),
        ]

    def _sayings(self, facts: RunFacts) -> list[Field]:
        unsaid = self.tr("not said")
        accepted = text.moment(facts.started) if facts.started else unsaid
        passed = unsaid if facts.seconds is None else text.duration(facts.seconds)
        return [
            Field(self.tr("Order accepted"), accepted),
            Field(self.tr("Run signed"), text.moment(facts.signed)),
            Field(self.tr("Between the two"), passed),
            *(Field(name, value) for name, value in facts.machine),
        ]

    def _operation_columns(self) -> list[Column[OperationCount]]:
        parts = {"forward": self.tr("forward"), "backward": self.tr("backward"), "update": self.tr("update")}
        kinds = {
            "matrix product": self.tr("matrix product"),
            "convolution": self.tr("convolution"),
            "elementwise": self.tr("elementwise"),
            "reduction": self.tr("reduction"),
            "other": self.tr("other"),
        }
        integers = {"integers": self.tr("integers")}
        return [
            Column(self.tr("Part of a step"), lambda each: parts.get(each.part, each.part), 16),
            Column(self.tr("Kind"), lambda each: kinds.get(each.kind, each.kind), 20),
            Column(self.tr("Computed in"), lambda each: integers.get(each.precision, each.precision), 16),
            Column(self.tr("Operations"), lambda each: text.count(each.operations), 26, numeric=True),
        ]

    def _count_columns(self) -> list[Column[Counted]]:
        return [
            Column(self.tr("Count"), lambda each: each.name, 24, tip=lambda each: each.name),
            Column(self.tr("Place"), lambda each: text.index(each.place) if each.place else "", 14),
            Column(self.tr("Number"), lambda each: text.count(each.number), 24, numeric=True),
        ]

    def _data_columns(self) -> list[Column[DataUse]]:
        return [
            Column(self.tr("Array"), lambda use: use.name, 14, tip=lambda use: use.name),
            Column(self.tr("Dtype"), lambda use: use.dtype, 9),
            Column(self.tr("Shape"), lambda use: " \u00d7 ".join(map(text.count, use.shape)), 14),
            Column(self.tr("Digest"), lambda use: use.digest.short, 14, fixed=True, tip=lambda use: use.digest.hex),
            Column(self.tr("Rows read"), lambda use: text.count(use.rows_read), 12, numeric=True),
            Column(self.tr("Different ones"), lambda use: text.count(use.distinct_rows), 12, numeric=True),
            Column(self.tr("Epochs"), lambda use: text.digits(f"{use.epochs:.3f}"), 9, numeric=True),
            Column(self.tr("Elements read"), lambda use: text.count(use.elements_read), 14, numeric=True),
            Column(self.tr("Left out"), lambda use: text.count(use.filling_rows), 9, numeric=True),
        ]  # fmt: skip

    # What is taken along

    def _copy(self) -> None:
        """Copy what is shown: a line for each fact, and the tables as a spreadsheet takes them."""
        facts = self.count.found
        if facts is None:
            return
        lines = [self.headline.text(), facts.title]
        for (title, bound, _), inside in zip(
            self._sections,
            (
                _lines(self._fields(facts)),
                _table(self.counts),
                _table(self.operations),
                _table(self.data),
                _lines(self._sayings(facts)),
            ),
            strict=True,
        ):
            if inside:
                lines += ["", f"{title} ({bound})", *inside]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def _ask_target(self) -> None:
        kinds = self.tr("JSON files (*.json)")
        target = layouts.new_file(self, self.tr("Save the facts"), beside(self._near, ".facts.json"), kinds, here=True)
        if target is not None:
            self.save_wanted.emit(target)


def _lines(fields: list[Field]) -> list[str]:
    return [f"{field.name}\t{field.value}" for field in fields]


def _table(table: RecordTable[Record]) -> list[str]:
    """The headings and the lines of a table, if it has any; what is shortened in it is whole here."""
    if not table.records:
        return []
    lines = [[column.title for column in table.columns]]
    lines += [
        [column.tip(record) if column.tip else column.text(record) for column in table.columns]
        for record in table.records
    ]
    return ["\t".join(line) for line in lines]
