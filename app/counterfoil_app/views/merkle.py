"""The Merkle tree of the run: the comparisons from the run root down to the disputed step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from counterfoil_app import text
from counterfoil_app.session import Session
from counterfoil_app.theme import Theme
from counterfoil_app.views import words
from counterfoil_app.views.parts import Field, FieldGrid, Page, digest_field, label
from counterfoil_app.views.tables import Column, RecordTable, table_view


@dataclass(frozen=True)
class Comparison:
    """One comparison of a node of the two trees."""

    number: int
    first: int
    last: int
    trainer: str
    replay: str
    equal: bool


class MerkleView(QWidget):
    """Before a dispute it says what the tree is; in a dispute it shows the path to the step."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._about = Page(self.tr("Merkle tree"))
        self._explanation = label()
        self._root = FieldGrid()
        self._about.column.addWidget(self._explanation)
        self._about.column.addWidget(self._root)
        self._about.column.addStretch(1)
        self.model: RecordTable[Comparison] = RecordTable(self._columns(), theme, self)
        self.table = table_view(self.model, self.tr("Comparisons from the run root to the disputed step"))
        self.conclusion = label()
        self.conclusion.setContentsMargins(12, 8, 12, 8)
        path = QWidget()
        column = QVBoxLayout(path)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.conclusion)
        column.addWidget(self.table, 1)
        self.stack = QStackedWidget()
        self.stack.addWidget(self._about)
        self.stack.addWidget(path)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.stack)
        session.bundle_changed.connect(self._show)
        session.dispute_changed.connect(self._show)
        session.phase_changed.connect(self._show)
        self._show()

    def _columns(self) -> list[Column[Comparison]]:
        def steps(item: Comparison) -> str:
            if item.first == item.last:
                return self.tr("step {0}").format(text.count(item.first))
            return self.tr("steps {0} to {1}").format(text.count(item.first), text.count(item.last))

        def hashes(title: str, side: Callable[[Comparison], str]) -> Column[Comparison]:
            return Column(title, lambda item: f"{side(item)[:16]}\u2026", 20, fixed=True, tip=side)

        return [
            Column(self.tr("Comparison"), lambda item: str(item.number), 8, numeric=True),
            Column(self.tr("Covers"), steps, 20),
            hashes(self.tr("Trainer's hash"), lambda item: item.trainer),
            hashes(self.tr("Replay's hash"), lambda item: item.replay),
            Column(
                self.tr("Result"),
                lambda item: words.equality(item.equal).word,
                12,
                look=lambda item: words.equality(item.equal),
            ),
        ]

    def _show(self) -> None:
        dispute, summary = self._session.dispute, self._session.summary
        self.stack.setCurrentIndex(0 if dispute is None else 1)
        if dispute is not None:
            self.model.show_records(
                [
                    Comparison(number, c.first_leaf, c.last_leaf, c.trainer.hex, c.replay.hex, c.equal)
                    for number, c in enumerate(dispute.path, start=1)
                ]
            )
            self.conclusion.setText(
                self.tr(
                    "{0} comparisons of hashes lead from the run root to step {1}, the first whose leaf differs. "
                    "The trainer's leaf is part of the signed run root; {2} hashes prove it."
                ).format(len(dispute.path), text.count(dispute.step), len(dispute.inclusion_proof))
            )
            return
        self.model.show_records([])
        run = summary.run if summary is not None else None
        if run is None:
            self._explanation.setText(self.tr("There is no run to compare."))
            self._root.show_fields([])
            return
        report = self._session.report
        found = ""
        if report is not None:
            found = self.tr("The replay found no differing leaf. ")
        self._explanation.setText(
            found
            + self.tr(
                "The trainer signed one hash, the run root, over a Merkle tree with one leaf for the initial state and "
                "one for every step. If a step of the replay comes out different, comparing a few nodes of both trees "
                "finds the first such step; the comparisons are then listed here."
            )
        )
        self._root.show_fields(
            [
                digest_field(self.tr("Run root"), run.run_root, self.tr("not signed")),
                Field(self.tr("Leaves"), text.count(run.steps + 1)),
                Field(self.tr("Comparisons"), self.tr("about {0} to find a step").format(run.steps.bit_length())),
            ]
        )
