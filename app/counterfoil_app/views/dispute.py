"""The dispute: which step, what differs there, and what that means."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from counterfoil import Dispute, TensorDivergence
from counterfoil_app import text
from counterfoil_app.session import Phase, Session
from counterfoil_app.theme import Theme
from counterfoil_app.views import words
from counterfoil_app.views.finding import FindingView
from counterfoil_app.views.header import ActionButton
from counterfoil_app.views.parts import Field, FieldGrid, Page, label
from counterfoil_app.views.tables import Column, RecordTable, table_view


class DisputeView(QWidget):
    """Empty until there is a dispute; then it also offers to save the dispute's capsule."""

    def __init__(self, session: Session, theme: Theme, save_capsule: QAction, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._empty = Page(self.tr("Dispute"))
        self.nothing = label()
        self._empty.column.addWidget(self.nothing)
        self._empty.column.addStretch(1)
        self.headline = label("", "title")
        self.meaning = label()
        self.finding = FindingView(theme)
        self._facts = FieldGrid()
        self._above = label("", "section")
        self.model: RecordTable[TensorDivergence] = RecordTable(self._columns(), theme, self)
        self.table = table_view(self.model, self.tr("Differing tensors"))
        self.table.setMinimumHeight(150)
        self.save = ActionButton()
        self.save.show_action(save_capsule, primary=False)
        page = Page(self.tr("Dispute"))
        for widget in (self.headline, self.meaning, self.finding):
            page.column.addWidget(widget)
        page.column.addWidget(self.save, 0, Qt.AlignmentFlag.AlignLeft)
        page.column.addWidget(self._facts)
        page.column.addWidget(self._above)
        page.column.addWidget(self.table, 1)
        self.stack = QStackedWidget()
        self.stack.addWidget(self._empty)
        self.stack.addWidget(page)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.stack)
        session.dispute_changed.connect(self._show)
        session.phase_changed.connect(self._show)
        session.bundle_changed.connect(self._show)
        self._show()

    def _columns(self) -> list[Column[TensorDivergence]]:
        return [
            Column(self.tr("Tensor"), lambda item: item.name, 27, tip=lambda item: item.name),
            Column(self.tr("Shape"), lambda item: text.shape(item.shape), 13),
            Column(self.tr("Difference"), lambda item: text.number(item.max_abs), 10, numeric=True),
            Column(self.tr("ulps"), lambda item: text.count(item.max_ulps), 11, numeric=True),
            Column(self.tr("L2"), lambda item: text.number(item.l2), 9, numeric=True),
            Column(self.tr("Differing"), lambda item: text.count(item.differing), 9, numeric=True),
            Column(self.tr("Where"), lambda item: text.index(item.index), 11),
            Column(
                self.tr("Trainer's value"),
                lambda item: text.number(item.trainer),
                10,
                numeric=True,
                tip=lambda item: float(item.trainer).hex(),
            ),
            Column(
                self.tr("Replay's value"),
                lambda item: text.number(item.replay),
                10,
                numeric=True,
                tip=lambda item: float(item.replay).hex(),
            ),
        ]

    def _show(self) -> None:
        dispute = self._session.dispute
        self.stack.setCurrentIndex(0 if dispute is None else 1)
        if dispute is None:
            self.nothing.setText(self._why_none())
            return
        self.headline.setText(self._headline(dispute))
        self.meaning.setText(self._meaning(dispute))
        self.finding.show_finding(dispute.finding)
        self._facts.show_fields(
            [
                Field(self.tr("First operator"), self._operator(dispute)),
                Field(self.tr("Trainer's leaf"), dispute.trainer_leaf.hex, digest=True),
                Field(self.tr("Replay's leaf"), dispute.replay_leaf.hex, digest=True),
                Field(self.tr("Trainer's loss"), text.loss(dispute.trainer_loss)),
                Field(self.tr("Replay's loss"), text.loss(dispute.replay_loss)),
            ]
        )
        self._above.setText(self._compared(dispute))
        self.model.show_records(dispute.tensors)
        self.table.setVisible(bool(dispute.tensors))

    def _operator(self, dispute: Dispute) -> str:
        operator = dispute.operator
        if operator is None:
            return self.tr("all fingerprints agree")
        return self.tr("{0}, number {1} of {2}, output {3}; {4} operators differ in all").format(
            operator.where,
            text.count(operator.number),
            text.count(operator.total),
            text.shape(operator.shape),
            text.count(operator.differing_operators),
        )

    def _why_none(self) -> str:
        phase = self._session.phase
        if phase is Phase.CONCLUDED and self._session.rows:
            return self.tr("There is no dispute: no replayed step differs from what the trainer signed.")
        if self._session.running:
            return self.tr("So far no replayed step differs from what the trainer signed.")
        return self.tr("Nothing has been replayed. If a step comes out different, this page says what differs.")

    def _headline(self, dispute: Dispute) -> str:
        parts = ", ".join(words.part(name) for name in dispute.parts)
        if dispute.step == 0:
            return self.tr("The initial state differs.")
        return self.tr("Step {0} is the first that differs ({1}).").format(text.count(dispute.step), parts)

    def _meaning(self, dispute: Dispute) -> str:
        if not dispute.confirmed:
            return self.tr(
                "This is not confirmed. A second replay of the step, with every sum taken in another order, has not "
                "given the same result, so the difference may come from this machine. The trainer is not accused."
            )
        if not dispute.accuses:
            return self.tr(
                "The trainer is not accused. A second replay gave the same result as the first, but exact arithmetic "
                "explains the difference without the trainer."
            )
        return self.tr(
            "This is confirmed. Starting from the state that the trainer signed before step {0}, the ordered step "
            "gives another result than the trainer signed after it. A second replay, with every sum taken in another "
            "order, gave the same result as the first, so this machine's arithmetic does not explain the difference: "
            "what was run in this step is not what was ordered."
        ).format(text.count(dispute.step))

    def _compared(self, dispute: Dispute) -> str:
        if dispute.compared_at is None:
            return self.tr("The trainer stored no later state, so single tensors cannot be compared.")
        if not dispute.tensors:
            return self.tr("At step {0}, the next stored state, all tensors are equal.").format(
                text.count(dispute.compared_at)
            )
        if dispute.compared_at == dispute.step:
            return self.tr("Tensors that differ after step {0}").format(text.count(dispute.step))
        return self.tr("Tensors that differ at step {0}, the trainer's next stored state").format(
            text.count(dispute.compared_at)
        )
