"""The Merkle tree of the run, drawn as the binary search from the run root to a step, and on below its leaf."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QComboBox, QHeaderView, QSizePolicy, QSplitter, QWidget

from counterfoil import Digest, Dispute, TensorDetail, TensorDivergence
from counterfoil_app.looks import text, words
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.eventloop import follow, single_shot
from counterfoil_app.model.search_tree import NodeState, SearchLevel, TreeNode, levels_to, search_levels
from counterfoil_app.model.session import Session
from counterfoil_app.model.step_data import StepState
from counterfoil_app.views import layouts
from counterfoil_app.views.parts import Field, FieldGrid, caption, digest_field, label
from counterfoil_app.views.tables import Column, RecordTable, table_view
from counterfoil_app.views.tree_scene import Box, TreeRow, TreeScene

SHOWN_ELEMENTS = 8
REDRAW_MILLISECONDS = 500
STATE, TENSOR, CHUNK, ELEMENTS = "state", "tensor", "chunk", "elements"


class MerkleView(QWidget):
    """In a dispute the search and what lies below the leaf; before one, the way from the run root to a step."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._levels: list[SearchLevel] = []
        self.conclusion = label()
        self.conclusion.setContentsMargins(12, 8, 12, 6)
        self.scene = TreeScene(theme, self.tr("The search from the run root to the step"))
        self.scene.chosen.connect(self._box_chosen)
        self.model: RecordTable[TreeNode] = RecordTable(self._columns(), theme, self)
        self.table = table_view(self.model, self.tr("Comparisons from the run root to the disputed step"))
        self.table.selectionModel().currentRowChanged.connect(self._row_chosen)
        self.table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.tensor = QComboBox()
        self.tensor.setAccessibleName(self.tr("Tensor below the leaf"))
        self.tensor.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.tensor.setMinimumContentsLength(9)
        self.tensor.currentIndexChanged.connect(self._draw)
        self._tensor_label = label(self.tr("Tensor"), "muted", wrap=False)
        self._tensor_label.setBuddy(self.tensor)
        fit_tip = self.tr("Fit the tree into the view; Ctrl and the wheel zoom")
        self.fit = layouts.button(
            self.tr("Fit"), self.scene.fit, tip=fit_tip, name=self.tr("Fit the tree into the view")
        )
        self.fit.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._title = caption("", "section")
        self._chosen = FieldGrid()
        self._filler = QWidget()  # keeps what is below together while there is no comparison to list
        tensor = layouts.row(self._tensor_label, (self.tensor, 1), 0, self.fit)
        below = layouts.column(tensor, self._title, self._chosen, margins=(12, 0, 8, 8))
        side = QWidget()
        shown = ((self.table, 1), below, (self._filler, 1))
        layouts.column(*shown, inside=side, margins=layouts.NONE, spacing=4)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        for part, stretch in ((self.scene, 3), (side, 1)):
            self.splitter.addWidget(part)
            self.splitter.setStretchFactor(self.splitter.indexOf(part), stretch)
        self.splitter.setSizes([670, 300])
        layouts.column(self.conclusion, (self.splitter, 1), inside=self, margins=layouts.NONE, spacing=0)
        self._later = single_shot(self, REDRAW_MILLISECONDS, self._draw)
        session.rows_changed.connect(self._grown)
        show_soon = partial(session.drawing.soon, self._show)
        follow(show_soon, session.bundle_changed, session.dispute_changed, session.phase_changed)
        session.step_selected.connect(self._selected)
        self._show()

    def _columns(self) -> list[Column[TreeNode]]:
        return [
            Column(self.tr("No."), lambda item: str(item.number), 3, numeric=True),
            Column(self.tr("Compared"), lambda item: text.leaves(item.first, item.last), 17),
            Column(
                self.tr("Result"),
                lambda item: self._look(item).word,
                11,
                look=self._look,
                tip=lambda item: item.trainer.hex if item.trainer is not None else "",
            ),
        ]

    def _look(self, node: TreeNode) -> Look:
        if node.finding is NodeState.NOT_COMPARED:
            return Look(self.tr("not compared"), "skipped", Tone.MUTED)
        return words.equality(node.finding is NodeState.EQUAL)

    # What is known

    def _show(self) -> None:
        dispute = self._session.dispute
        names = [tensor.name for tensor in dispute.tensors if tensor.detail is not None] if dispute is not None else []
        if names != [self.tensor.itemText(place) for place in range(self.tensor.count())]:
            self.tensor.blockSignals(True)
            self.tensor.clear()
            self.tensor.addItems(names)
            self.tensor.blockSignals(False)
        for widget in (self.tensor, self._tensor_label):
            widget.setVisible(bool(names))
        self.conclusion.setText(self._conclusion())
        self._draw()

    def _conclusion(self) -> str:
        dispute, summary = self._session.dispute, self._session.summary
        if dispute is not None:
            return self.tr(
                "{0} comparisons of hashes lead from the run root to step {1}, the first whose leaf differs. "
                "The trainer's leaf is part of the signed run root; {2} hashes prove it."
            ).format(len(dispute.path), text.count(dispute.step), len(dispute.inclusion_proof))
        run = summary.run if summary is not None else None
        if run is None:
            return self.tr("There is no run to compare.")
        sentence = self.tr(
            "The trainer signed one hash, the run root, over {0} leaves: the initial state and every step. If a step "
            "comes out different, at most {1} comparisons find the first such step; they are then shown here."
        ).format(text.count(run.steps + 1), 1 + 2 * run.steps.bit_length())
        if self._session.report is not None:
            sentence = self.tr("The replay found no differing leaf.") + " " + sentence
        return sentence

    def _draw(self) -> None:
        dispute, data = self._session.dispute, self._session.step_data
        if dispute is not None:
            self._levels = search_levels(dispute.path)
        elif data.count:
            self._levels = levels_to(self._session.selected_step or data.count, data.count + 1)
        else:
            self._levels = []
        rows = [self._row(place, level) for place, level in enumerate(self._levels)]
        if dispute is not None:
            rows += self._below(dispute)
        self.scene.show_rows(rows)
        compared = [node for level in self._levels for node in level.nodes if node.number]
        if list(self.model.records) != compared:
            self.model.show_records(compared)
        self.table.setVisible(bool(compared))
        self._filler.setVisible(not compared)
        self._mark()
        self._show_chosen(self._key(self._levels[-1].node) if self._levels else "")

    def _row(self, place: int, level: SearchLevel) -> TreeRow:
        return TreeRow(tuple(self._box(node) for node in level.nodes), level.taken, self._note(place, level))

    def _key(self, node: TreeNode) -> str:
        return f"{node.first}-{node.last}"

    def _box(self, node: TreeNode) -> Box:
        title = text.leaves(node.first, node.last)
        title = title[:1].upper() + title[1:]
        if node.finding is NodeState.NOT_COMPARED:
            look = self._replayed(node) if self._session.dispute is None else self._look(node)
            return Box(self._key(node), title, look, quiet=look.tone is Tone.MUTED)
        assert node.trainer is not None
        assert node.replay is not None
        equal = node.finding is NodeState.EQUAL
        both = (self.tr("both    {0}").format(node.trainer.short),)
        lines = both if equal else self._two(node.trainer, node.replay)
        return Box(self._key(node), title, self._look(node), lines, badge=f"{node.number}.")

    def _replayed(self, node: TreeNode) -> Look:
        """How the steps below a node stand: what a search would find there."""
        counts = self._session.step_data.counts(max(1, node.first), node.last)
        total = sum(counts.values())
        matching = counts.get(StepState.MATCH, 0) + counts.get(StepState.SUSPICIOUS, 0)
        if not total:
            return Look(self.tr("ordered, compared at opening"), "passed", Tone.OK)
        if matching == total:
            word = self.tr("the leaf matches") if total == 1 else self.tr("all leaves match")
            return Look(word, "passed", Tone.OK)
        if not matching:
            return Look(self.tr("not replayed"), "pending", Tone.MUTED)
        return Look(
            self.tr("{0} of {1} leaves match").format(text.count(matching), text.count(total)),
            "pending",
            Tone.MUTED,
        )

    def _note(self, place: int, level: SearchLevel) -> str:
        taken = text.leaves(level.node.first, level.node.last)
        if self._session.dispute is None:
            if place == 0:
                return self.tr("The run root, which the trainer signed, stands above all leaves.")
            return self.tr("Down to {0}.").format(taken) if place == len(self._levels) - 1 else ""
        if place == 0:
            return self.tr("The run roots differ, so at least one leaf does.")
        if place == len(self._levels) - 1:
            return self.tr("The leaf of {0} differs, and every leaf before it is equal.").format(taken)
        if level.taken == 0:
            return self.tr("The left half differs, so the first difference lies there: {0}.").format(taken)
        return self.tr("The left half is equal, so the first difference lies on the right: {0}.").format(taken)

    # Below the leaf

    def _below(self, dispute: Dispute) -> list[TreeRow]:
        if dispute.trainer_state is None or dispute.replay_state is None or dispute.compared_at is None:
            return []
        differing, at = len(dispute.tensors), text.count(dispute.compared_at)
        state = self.tr("State after step {0}").format(at)
        note = self.tr("A leaf commits to the state root, the loss, the fingerprints and the log.")
        if dispute.compared_at != dispute.step:
            note = self.tr("The next state that the trainer stored is that of step {0}.").format(at)
        rows = [TreeRow((self._pair(STATE, state, dispute.trainer_state, dispute.replay_state),), 0, note)]
        tensor = self._tensor_below(dispute)
        if tensor is None or tensor.detail is None:
            return rows
        detail = tensor.detail
        note = self.tr("The only tensor that differs in this state.")
        if differing > 1:
            note = self.tr("One of {0} tensors that differ in this state; choose another on the right.").format(
                text.count(differing)
            )
        rows.append(TreeRow((self._pair(TENSOR, tensor.name, detail.trainer, detail.replay),), 0, note))
        chunk = self.tr("Chunk {0} of {1}").format(text.count(detail.first_chunk + 1), text.count(detail.chunks))
        note = self.tr("Chunks hold 16 KiB of a tensor; {0} of {1} differ, this is the first.").format(
            text.count(detail.differing_chunks), text.count(detail.chunks)
        )
        rows.append(TreeRow((self._pair(CHUNK, chunk, detail.trainer_chunk, detail.replay_chunk),), 0, note))
        rows.append(self._elements(tensor, detail))
        return rows

    def _tensor_below(self, dispute: Dispute) -> TensorDivergence | None:
        """The tensor that is chosen."""
        return next((item for item in dispute.tensors if item.name == self.tensor.currentText()), None)

    def _pair(self, key: str, title: str, trainer: Digest, replay: Digest) -> Box:
        return Box(key, title, words.equality(trainer == replay), self._two(trainer, replay))

    def _two(self, trainer: Digest, replay: Digest) -> tuple[str, str]:
        return self.tr("trainer {0}").format(trainer.short), self.tr("replay  {0}").format(replay.short)

    def _elements(self, tensor: TensorDivergence, detail: TensorDetail) -> TreeRow:
        shown = [element for element in detail.elements if not element.equal][:SHOWN_ELEMENTS]
        lines = tuple(
            f"{text.index(element.index)} {text.exact(element.trainer)} | {text.exact(element.replay)}"
            for element in shown
        )
        look = Look(self.tr("{0} differ").format(text.count(tensor.differing)), "failed", Tone.BAD)
        return TreeRow(
            (Box(ELEMENTS, self.tr("Elements: trainer | replay"), look, lines, wide=True),),
            0,
            self.tr("The first elements that differ; the Dispute view shows their neighbours and all digits."),
        )

    # Choosing

    def _grown(self) -> None:
        """Count the replayed leaves again, now and then; a search that is shown does not change any more."""
        if self._session.dispute is None and not self._later.isActive():
            self._later.start()

    def _selected(self, _step: int) -> None:
        if self._session.dispute is None:
            self._draw()
        else:
            self._mark()

    def _mark(self) -> None:
        """Mark the lowest drawn node above the selected step."""
        step = self._session.selected_step
        above = [node for level in self._levels for node in level.nodes if step is not None and node.covers(step)]
        self.scene.mark({self._key(above[-1])} if above else set())

    def _node(self, key: str) -> TreeNode | None:
        return next((node for level in self._levels for node in level.nodes if self._key(node) == key), None)

    def _row_chosen(self, current: QModelIndex) -> None:
        node = self.model.record(current.row()) if current.isValid() else None
        if node is not None:
            self.scene.select(self._key(node))

    def _box_chosen(self, key: str) -> None:
        """Show a box; a leaf selects its step in all views."""
        self._show_chosen(key)
        node = self._node(key)
        if node is not None and node.first == node.last >= 1:
            self._session.select_step(node.last)

    def _show_chosen(self, key: str) -> None:
        """Show the hashes of a box in full."""
        node = self._node(key)
        dispute = self._session.dispute
        self._title.setVisible(bool(key))
        if node is not None:
            self._title.setText(text.leaves(node.first, node.last))
            self._chosen.show_fields(self._fields(node))
        elif dispute is not None:
            self._chosen.show_fields(self._fields_below(key, dispute))
        else:
            self._chosen.show_fields([])

    def _fields(self, node: TreeNode) -> list[Field]:
        trainer, replay = node.trainer, node.replay
        run = self._session.run
        row = self._session.step_data.result(node.first)
        if node.number == 0 and node.first == node.last and row is not None:
            trainer, replay = row.trainer_leaf, row.replay_leaf
        if trainer is None and node.first == 0 and run is not None and node.last == run.steps:
            trainer = run.run_root
        missing = self.tr("not compared")
        return [
            Field(self.tr("Result"), self._box(node).look.word),
            digest_field(self.tr("Trainer's hash"), trainer, missing),
            digest_field(self.tr("Replay's hash"), replay, missing),
        ]

    def _fields_below(self, key: str, dispute: Dispute) -> list[Field]:
        tensor = self._tensor_below(dispute)
        detail = tensor.detail if tensor is not None else None
        pairs: dict[str, tuple[str, Digest | None, Digest | None]] = {
            STATE: (self.tr("State root"), dispute.trainer_state, dispute.replay_state)
        }
        if tensor is not None and detail is not None:
            pairs[TENSOR] = (tensor.name, detail.trainer, detail.replay)
            pairs[CHUNK] = (self.tr("Chunk"), detail.trainer_chunk, detail.replay_chunk)
            pairs[ELEMENTS] = (self.tr("Elements"), detail.trainer_chunk, detail.replay_chunk)
        title, trainer, replay = pairs.get(key, ("", None, None))
        self._title.setText(title)
        missing = self.tr("not stored")
        return [
            digest_field(self.tr("Trainer's hash"), trainer, missing),
            digest_field(self.tr("Replay's hash"), replay, missing),
        ]
