"""The dispute: which step, which operator, which values, what that means, and what is proven about it."""

from __future__ import annotations

import math
from functools import partial

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QStackedWidget, QTableView, QWidget

from counterfoil import (
    Dispute,
    DisputedElement,
    ElementComparison,
    Finding,
    NeighbourOperator,
    TensorDivergence,
)
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import failure_text, translate
from counterfoil_app.looks.limits import not_said
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts
from counterfoil_app.views.header import ActionButton
from counterfoil_app.views.look import LookView
from counterfoil_app.views.parts import Field, FieldGrid, Folded, Page, caption, digest_field, label
from counterfoil_app.views.share_strip import ShareStrip
from counterfoil_app.views.tables import Column, RecordTable, fit_height, table_view

_ERROR, _MIDPOINT = 4, 5
"""Columns that count in error bounds."""


class FindingView(QWidget):
    """Hidden until there is a finding; the table is there when elements were computed."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = caption(self.tr("Finding"), "section")
        self.sentence = label()
        self.recomputed = label()
        self.model: RecordTable[DisputedElement] = RecordTable(self._columns(), theme, self)
        self.table = table_view(self.model, self.tr("Elements computed exactly"))
        layouts.column(self._title, self.sentence, self.recomputed, self.table, inside=self, margins=layouts.NONE)
        self.show_finding(None)

    def show_finding(self, finding: Finding | None) -> None:
        """Show a finding; None hides the view."""
        self.setVisible(finding is not None)
        elements = () if finding is None else finding.elements
        self.model.show_records(elements)
        for widget in (self.recomputed, self.table):
            widget.setVisible(bool(elements))
        if finding is not None:
            self.sentence.setText(translate(finding.sentence))
            self.recomputed.setText(words.finding_extent(finding))
            for column in (_ERROR, _MIDPOINT):
                # Under an exact profile there is no bound to measure in.
                self.table.setColumnHidden(column, finding.defined)
            fit_height(self.table)

    def _columns(self) -> list[Column[DisputedElement]]:
        return [
            Column(self.tr("Element"), lambda item: text.index(item.index), 13),
            Column(self.tr("Exact value"), lambda item: text.digits(item.exact), 34, numeric=True),
            Column(self.tr("Replay"), lambda item: _decimal(item.replay), 23, numeric=True),
            Column(self.tr("Trainer"), self._trainer, 23, numeric=True),
            Column(self.tr("Error, in bounds"), lambda item: text.digits(f"{item.error:.2g}"), 15, numeric=True),
            Column(self.tr("To the midpoint"), lambda item: text.digits(f"{item.midpoint:.3g}"), 14, numeric=True),
            Column(self.tr("Exact, nearest float64"), lambda item: item.exact_nearest.hex(), 24, fixed=True),
            Column(self.tr("Before rounding"), lambda item: item.computed.hex(), 24, fixed=True),
            Column(self.tr("Replay, hexadecimal"), lambda item: item.replay.hex(), 24, fixed=True),
            Column(self.tr("Trainer, hexadecimal"), self._trainer_exactly, 24, fixed=True),
        ]

    def _trainer(self, item: DisputedElement) -> str:
        return self.tr("not known") if item.trainer is None else _decimal(item.trainer)

    def _trainer_exactly(self, item: DisputedElement) -> str:
        return self.tr("not known") if item.trainer is None else item.trainer.hex()


def _decimal(value: float) -> str:
    """The shortest decimal text that reads back to the same number: neighbouring grid points must not look equal."""
    return text.digits(repr(value))


LONG = 160
"""Characters from which the header shortens a sentence on a small screen, so that it stands here whole."""


class DisputeView(QWidget):
    """What was found: of a dispute all that is known, of any other outcome what the header has no room for."""

    def __init__(self, session: Session, theme: Theme, save_capsule: QAction, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._dispute: Dispute | None = None
        self._empty = Page(self.tr("Finding"))
        self.whole = label("", "title")
        self.nothing = label()
        # In both pages, for whoever takes an outcome for more than it is.
        self.limits, self._limits_of_dispute = label("", "muted"), label("", "muted")
        layouts.fill(self._empty.column, self.whole, self.nothing, self.limits, 1)
        self.account = label("", "title")
        self.headline = label("", "section")
        self.figures = label("", "muted")
        self.meaning = label()
        self.shares = ShareStrip(theme)
        self.finding = FindingView(theme)
        self._facts = FieldGrid()
        self.operators: RecordTable[NeighbourOperator] = RecordTable(self._operator_columns(), theme, self)
        self.operator_table = table_view(self.operators, self.tr("Operators around the disputed one"))
        self.model: RecordTable[TensorDivergence] = RecordTable(self._tensor_columns(), theme, self)
        self.table = table_view(self.model, self.tr("Differing tensors"))
        self.table.selectionModel().currentRowChanged.connect(self._tensor_chosen)
        self.elements: RecordTable[ElementComparison] = RecordTable(self._element_columns(), theme, self)
        self.element_table = table_view(self.elements, self.tr("Values around the first differing element"))
        self._above_operators = caption(self.tr("The operators of the step around the first that differs"), "section")
        self._above_tensors = caption("", "section")
        self.above_elements = caption("", "section")
        self.save = ActionButton(save_capsule, guarded=True)
        self.look = LookView(session, theme)
        self.details = Folded(self.tr("Technical details"))
        layouts.fill(self.details.column, self.finding, self._facts, self._above_operators, self.operator_table)
        layouts.fill(self.details.column, self._above_tensors, self.table, self.above_elements, self.element_table)
        page = Page(self.tr("Finding"))
        save = layouts.row((self.headline, 1), (self.save, 0, Qt.AlignmentFlag.AlignTop))
        # From what was found to what it rests on.
        layouts.fill(
            page.column, self.account, save, self.figures, self.shares, self.look, self.meaning,
            self._limits_of_dispute, self.details, 1,
        )  # fmt: skip
        self.stack = QStackedWidget()
        self.stack.addWidget(self._empty)
        self.stack.addWidget(page)
        layouts.column(self.stack, inside=self, margins=layouts.NONE)
        session.phase_changed.connect(self._show_account)
        show_soon = partial(session.drawing.soon, self._show)
        follow(show_soon, session.dispute_changed, session.phase_changed, session.bundle_changed)
        self._show()

    def _operator_columns(self) -> list[Column[NeighbourOperator]]:
        return [
            Column(self.tr("No."), lambda item: text.count(item.number), 6, numeric=True),
            Column(self.tr("Fingerprint"), lambda item: self._agreement(item).word, 17, look=self._agreement),
            Column(self.tr("Operator"), lambda item: item.name, 36, tip=lambda item: item.name),
            Column(self.tr("Pass"), lambda item: words.phase(item.phase), 9),
            Column(self.tr("Module or slot"), lambda item: item.module, 26, tip=lambda item: item.module),
            Column(self.tr("Output"), lambda item: ", ".join(map(text.shape, item.shapes)), 16),
        ]

    def _agreement(self, item: NeighbourOperator) -> Look:
        dispute = self._dispute
        if item.agrees is None:
            return Look(self.tr("not rounded"), "skipped", Tone.MUTED)
        if dispute is not None and dispute.operator is not None and item.number == dispute.operator.number:
            return Look(self.tr("first to differ"), "failed", Tone.BAD)
        # What follows from a difference differs too; only the first is marked in colour.
        return words.equality(True) if item.agrees else Look(self.tr("different"), "warning", Tone.WARN)

    def _tensor_columns(self) -> list[Column[TensorDivergence]]:
        return [
            Column(self.tr("Tensor"), lambda item: item.name, 29, tip=lambda item: item.name),
            Column(self.tr("Shape"), lambda item: text.shape(item.shape), 15),
            Column(self.tr("Difference"), lambda item: text.number(item.max_abs), 11, numeric=True),
            Column(self.tr("ulps"), lambda item: text.count(item.max_ulps), 13, numeric=True),
            Column(self.tr("L2"), lambda item: text.number(item.l2), 11, numeric=True),
            Column(self.tr("Differing"), lambda item: text.count(item.differing), 10, numeric=True),
            Column(self.tr("Where"), lambda item: text.index(item.index), 13),
        ]

    def _element_columns(self) -> list[Column[ElementComparison]]:
        return [
            Column(self.tr("Element"), lambda item: text.index(item.index), 16),
            Column(self.tr("Trainer"), lambda item: text.exact(item.trainer), 16, numeric=True),
            Column(self.tr("Replay"), lambda item: text.exact(item.replay), 16, numeric=True),
            Column(self.tr("ulps"), lambda item: text.count(item.ulps), 13, numeric=True),
            Column(self.tr("Result"), lambda item: _equality(item).word, 11, look=_equality),
            Column(self.tr("Trainer, exactly"), lambda item: text.hexadecimal(item.trainer), 18, fixed=True),
            Column(self.tr("Replay, exactly"), lambda item: text.hexadecimal(item.replay), 18, fixed=True),
        ]

    def _show(self) -> None:
        dispute = self._session.dispute
        self.stack.setCurrentIndex(0 if dispute is None else 1)
        if dispute is None:
            self._dispute = None
            self.nothing.setText(self._why_none())
            self._show_whole()
            return
        if dispute is self._dispute:
            return
        self._dispute = dispute
        self._show_account()
        self.headline.setText(self._headline(dispute))
        self.figures.setText(self._figures(dispute))
        summary = self._session.summary
        self.shares.show_dispute(dispute, 0 if summary is None else summary.order.shares)
        self.meaning.setText(words.dispute_meaning(dispute))
        self.look.show_dispute(dispute)
        self.finding.show_finding(dispute.finding)
        self._facts.show_fields(
            [
                *self._operator_fields(dispute),
                *([Field(self.tr("Signed by the party"), dispute.signer, exact=True)] if dispute.signer else []),
                Field(self.tr("Trainer's loss"), text.exact(dispute.trainer_loss)),
                Field(self.tr("Replay's loss"), text.exact(dispute.replay_loss)),
                Field(self.tr("Trainer's leaf"), dispute.trainer_leaf.hex, exact=True),
                digest_field(self.tr("Replay's leaf"), dispute.replay_leaf, words.no_leaf(dispute)),
            ]
        )
        for show_part in (self._show_operators, self._show_tensors):
            self._session.drawing.soon(show_part)

    def _show_account(self) -> None:
        """What follows from the dispute; and what was found too, where the header says something else."""
        session, dispute = self._session, self._dispute
        if dispute is not None:
            # What stands before the dispute may only be known when more was replayed.
            tell = words.dispute_consequence if self._is_in_the_header(dispute) else words.dispute_account
            self.account.setText(tell(dispute, session.steps.mismatches_before(dispute.step)))
        report = session.report if session.phase is Phase.CONCLUDED else None
        said = "" if report is None else not_said(report.outcome, report.sample)
        for limits in (self.limits, self._limits_of_dispute):
            limits.setText(said)
            limits.setVisible(bool(said))

    def _is_in_the_header(self, dispute: Dispute) -> bool:
        return self._session.phase is Phase.CONCLUDED and dispute.accuses

    def _show_whole(self) -> None:
        """What was found and what is open about it, where it is too long for the header."""
        session = self._session
        said = ""
        if session.failure is not None:
            said = failure_text(session.failure)
        elif session.phase is Phase.CONCLUDED and session.report is not None:
            said = words.reason(session.report, session.trust)
        self.whole.setText(said)
        self.whole.setVisible(len(said) > LONG)

    def _figures(self, dispute: Dispute) -> str:
        """The losses of both sides, and how the step was found."""
        said = []
        if dispute.step and not math.isnan(dispute.replay_loss):
            losses = text.number(dispute.replay_loss), text.number(dispute.trainer_loss)
            said.append(self.tr("Loss {0} as ordered, {1} as signed").format(*losses))
        if dispute.path:
            said.append(self.tr("{0} comparisons of hashes").format(text.count(len(dispute.path))))
        if dispute.confirmed:
            said.append(self.tr("a second replay agrees"))
        return "   \u00b7   ".join(said)

    def _show_tensors(self) -> None:
        dispute = self._dispute
        if dispute is None:
            return
        self._above_tensors.setText(self._compared(dispute))
        self.model.show_records(dispute.tensors)
        self.table.setVisible(bool(dispute.tensors))
        fit_height(self.table)
        if dispute.tensors:
            self.table.selectRow(0)
        else:
            self._show_elements(None)

    def _show_operators(self) -> None:
        operator = self._dispute.operator if self._dispute is not None else None
        near = operator.neighbours if operator is not None else ()
        self.operators.show_records(near)
        for widget in (self._above_operators, self.operator_table):
            widget.setVisible(bool(near))
        fit_height(self.operator_table)
        if operator is not None and near:
            place = next((place for place, item in enumerate(near) if item.number == operator.number), 0)
            self.operator_table.selectRow(place)
            self.operator_table.scrollTo(self.operators.index(place, 0), QTableView.ScrollHint.PositionAtCenter)

    def _tensor_chosen(self, current: QModelIndex) -> None:
        tensor = self.model.record(current.row()) if current.isValid() else None
        self._show_elements(tensor)
        if tensor is not None:
            self.look.show_tensor(tensor.name)

    def _show_elements(self, tensor: TensorDivergence | None) -> None:
        detail = tensor.detail if tensor is not None else None
        self.elements.show_records(detail.elements if detail is not None else ())
        for widget in (self.above_elements, self.element_table):
            widget.setVisible(detail is not None)
        fit_height(self.element_table)
        if tensor is not None:
            self.above_elements.setText(
                self.tr("{0}: the values around the first element that differs").format(tensor.name)
            )

    def _operator_fields(self, dispute: Dispute) -> list[Field]:
        operator = dispute.operator
        if dispute.inputs:
            return [Field(self.tr("What the step read"), words.rows(dispute.inputs))]
        if dispute.part == "combine":
            return [Field(self.tr("First operator"), self.tr("none: the shares are added in integers"))]
        if dispute.replay_leaf is None and operator is None:
            return [Field(self.tr("First operator"), words.no_leaf(dispute))]
        if operator is None:
            return [Field(self.tr("First operator"), self.tr("all fingerprints agree"))]
        inputs = ", ".join(map(text.shape, operator.input_shapes))
        return [
            Field(self.tr("First operator"), operator.name),
            Field(
                self.tr("Where"),
                self.tr("number {0} of {1}, {2} pass, {3}").format(
                    text.count(operator.number),
                    text.count(operator.total),
                    words.phase(operator.phase),
                    operator.module or self.tr("the step itself"),
                ),
            ),
            Field(
                self.tr("Shapes"),
                self.tr("output {0}; inputs {1}").format(text.shape(operator.shape), inputs or self.tr("none")),
            ),
            Field(
                self.tr("In all"),
                self.tr("{0} operators of this step differ").format(text.count(operator.differing_operators)),
            ),
        ]

    def _why_none(self) -> str:
        phase = self._session.phase
        if phase is Phase.CONCLUDED and self._session.steps.done:
            return self.tr("There is no dispute: no replayed step differs from what the trainer signed.")
        if self._session.running:
            return self.tr("So far no replayed step differs from what the trainer signed.")
        return self.tr("Nothing has been replayed. If a step comes out different, this page says what differs.")

    def _headline(self, dispute: Dispute) -> str:
        parts = ", ".join(words.part(name) for name in dispute.parts)
        if dispute.step == 0:
            return self.tr("The initial state differs.")
        if dispute.part:
            return self.tr("Step {0} differs ({1}), first in its {2}.").format(
                text.count(dispute.step), parts, words.step_part(dispute.part)
            )
        return self.tr("Step {0} differs ({1}).").format(text.count(dispute.step), parts)

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


def _equality(item: ElementComparison) -> Look:
    return words.equality(item.equal)
