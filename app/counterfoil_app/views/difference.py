"""Two bundles in two columns: their orders, the step in which they part, its operator and its elements."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import QTabBar, QWidget

from counterfoil import BundleSummary, Difference, NeighbourOperator, TensorDivergence
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import icons, text, words
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.looks.words import Look
from counterfoil_app.model.bundle_difference import BundleDifference
from counterfoil_app.views import layouts
from counterfoil_app.views.comparison import order_lines
from counterfoil_app.views.inquiry import InquiryDialog
from counterfoil_app.views.layouts import button
from counterfoil_app.views.parts import Page, label, restyle, tell
from counterfoil_app.views.tables import Column, RecordTable, fit_height, table_view

# Two bundles in two columns, line by line: orders, the step in which they part, its operator, its elements. Pure.

Sides = tuple[BundleSummary, BundleSummary]
_tr = texts("difference")


class Depth(Enum):
    """How deep one looks."""

    ORDER = "order"
    STEP = "step"
    OPERATOR = "operator"
    ELEMENT = "element"


@dataclass(frozen=True)
class Line:
    """One line of both columns."""

    name: str  #: What it is.
    first: str  #: What the first bundle has there.
    second: str  #: What the second has.
    same: bool | None  #: Whether both are the same; None where that is not known.
    digest: bool = False  #: Whether the values are digests.


def lines_of(depth: Depth, sides: Sides, found: Difference) -> list[Line]:
    """Return the lines of a depth."""
    made = {Depth.ORDER: _orders, Depth.STEP: _steps, Depth.OPERATOR: _operators, Depth.ELEMENT: _elements}
    return made[depth](sides, found)


def same_at(depth: Depth, found: Difference) -> bool | None:
    """Whether nothing differs at a depth; None where that is not known."""
    if depth is Depth.ORDER:
        return not found.orders
    if found.step is None:
        return True
    if depth is Depth.STEP:
        return False
    if depth is Depth.OPERATOR:
        return False if found.operator is not None or found.inputs else None
    if found.elements is not None and found.elements.differing:
        return False
    return False if found.state is not None and found.state.tensors else None


def _orders(sides: Sides, found: Difference) -> list[Line]:
    both = [{name: (value, digest) for name, value, digest in order_lines(side)} for side in sides]
    lines = [
        Line(
            _tr("Order digest"),
            sides[0].order.digest.hex,
            sides[1].order.digest.hex,
            sides[0].order.digest == sides[1].order.digest,
            digest=True,
        ),
        _line(_tr("Steps ordered"), *(text.count(side.order.steps) for side in sides)),
    ]
    for name in {**both[0], **both[1]}:
        (first, digest), (second, also) = (side.get(name, ("", False)) for side in both)
        lines.append(Line(name, first, second, first == second, digest or also))
    # What the overview has no line for.
    lines += [
        Line(translate(unlike.what), unlike.first, unlike.second, same=False)
        for unlike in found.orders
        if unlike.what in ("commit_every", "checkpoint_every", "schedule", "per-step scalars", "recipe")
        or unlike.what.startswith(("operator", "data "))
    ]
    return lines


def _steps(_sides: Sides, found: Difference) -> list[Line]:
    first, second = found.runs
    lines = [_line(_tr("Steps recorded"), text.count(first.steps), text.count(second.steps))]
    if found.step is None:
        equal = _tr("the same up to step {0}").format(text.count(found.compared))
        lines.append(Line(_tr("Results"), equal, equal, same=True))
    else:
        if found.step > 1:
            equal = _tr("the same up to step {0}").format(text.count(found.step - 1))
            lines.append(Line(_tr("Results"), equal, equal, same=True))
        name = text.leaves(found.step, found.step)
        for part in ("shares", "state", "loss", "fingerprints"):
            if part == "loss" and found.losses is not None:
                one, other = map(text.exact, found.losses)
                lines.append(Line(f"{name}: {words.part(part)}", one, other, part not in found.parts))
            elif part in found.parts:
                lines.append(Line(f"{name}: {words.part(part)}", *_apart(), same=False))
        if found.part:
            which = words.step_part(found.part)
            lines.append(Line(_tr("First part that differs"), which, which, same=False))
    if found.log_step is not None:
        said = _tr("another from step {0} on").format(text.count(found.log_step))
        lines.append(Line(_tr("Rounding log, which two honest machines need not share"), said, said, same=None))
    names = {name: (dict(first.environment).get(name, ""), dict(second.environment).get(name, "")) for name, _ in (
        *first.environment, *second.environment,
    )}  # fmt: skip
    lines += [_line(_tr("Machine: {0}").format(words.environment(name)), *values) for name, values in names.items()]
    lines.append(
        Line(_tr("Run root"), first.run_root.hex, second.run_root.hex, first.run_root == second.run_root, True)
    )
    return lines


def _apart() -> tuple[str, str]:
    return _tr("one result"), _tr("another result")


def _operators(_sides: Sides, found: Difference) -> list[Line]:
    if found.step is None:
        return []
    if found.inputs:
        return [Line(_tr("What the step read: {0}").format(name), *_apart(), same=False) for name in found.inputs]
    if found.operator is None:
        return []
    operator = found.operator
    near = operator.neighbours
    return [_operator_line(item, first=item.number == operator.number) for item in near] or [
        Line(f"{text.count(operator.number)}. {operator.where}", *_apart(), same=False)
    ]


def _operator_line(item: NeighbourOperator, *, first: bool) -> Line:
    where = f"{words.phase(item.phase)}{f', {item.module}' if item.module else ''}"
    name = f"{text.count(item.number)}. {item.name} ({where})"
    if item.agrees is None:
        said = _tr("not fingerprinted")
        return Line(name, said, said, same=None)
    if item.agrees:
        said = _tr("the same result")
        return Line(name, said, said, same=True)
    return Line(name, *(_apart() if first else (_tr("follows from it"), _tr("follows from it"))), same=False)


def _elements(_sides: Sides, found: Difference) -> list[Line]:
    lines = []
    if found.elements is not None:
        elements = found.elements
        one, other = (
            _tr("came out again here") if again else _tr("did not come out here") for again in elements.reproduced
        )
        lines.append(Line(_tr("The recorded output of the operator"), one, other, all(elements.reproduced)))
        count = _tr("{0} of {1} elements differ, by up to {2}").format(
            text.count(elements.differing), text.count(elements.elements), text.number(elements.largest)
        )
        lines.append(Line(_tr("Its elements"), count, count, same=not elements.differing))
        if elements.differing:
            values = text.exact(elements.first), text.exact(elements.second)
            lines.append(Line(_tr("Element {0}").format(text.index(elements.index)), *values, same=False))
    state = found.state
    if state is not None:
        step = text.leaves(state.step, state.step)
        same = _tr("{0} tensors").format(text.count(state.equal))
        lines.append(Line(_tr("State, {0}: equal").format(step), same, same, same=True))
        lines += [_tensor_line(tensor) for tensor in state.tensors]
        lines += [Line(name, *_apart(), same=False) for name in state.unlike]
    return lines


def _tensor_line(tensor: TensorDivergence) -> Line:
    where = f"{tensor.name} {text.index(tensor.index)}" if tensor.index else tensor.name
    name = _tr("{0}: {1} elements, up to {2} ulp").format(
        where, text.count(tensor.differing), text.count(tensor.max_ulps)
    )
    return Line(name, text.exact(tensor.trainer), text.exact(tensor.replay), same=False)


def _line(name: str, first: str, second: str) -> Line:
    return Line(name, first, second, first == second)


SIZE = (1060, 680)
DEPTHS = tuple(Depth)
_FIRST, _SECOND = 2, 3
"""Columns of the two bundles."""


class DifferenceDialog(InquiryDialog):
    """One comparison of two bundles; a click goes from the order down to single elements.

    Args:
        difference: The comparison.
        theme: The theme of the application.
    """

    run_wanted = Signal(int)
    """The user wants to choose the first bundle, 0, or the second, 1."""
    data_wanted = Signal()
    """The user wants to choose the data file that the order names."""

    def __init__(self, difference: BundleDifference, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(difference, theme, SIZE, parent)
        self.setWindowTitle(self.tr("Difference of two bundles"))
        self.take_files(self._take_dropped, lambda _path: not difference.working)
        self.difference = difference
        self.looked_at = Depth.ORDER
        self._chosen_by_hand = False
        self.progress.setAccessibleName(self.tr("Progress of the comparison"))
        page = Page(self.tr("What was found"))
        self.choosers = [
            button(self.tr("Choose the &first\u2026"), partial(self.run_wanted.emit, 0)),
            button(self.tr("Choose the &second\u2026"), partial(self.run_wanted.emit, 1)),
        ]
        self.turn = button(self.tr("&Turn round"), difference.turn, tip=self.tr("Let both change places"))
        self.depths = QTabBar()
        self.depths.setAccessibleName(self.tr("How deep one looks"))
        self.depths.setExpanding(False)
        self.depths.setDrawBase(False)
        self.depths.setIconSize(QSize(scale(16), scale(16)))
        for title in (self.tr("&Order"), self.tr("St&ep"), self.tr("O&perator"), self.tr("Ele&ment")):
            self.depths.addTab(title)
        self.depths.currentChanged.connect(self._turned)
        self.model: RecordTable[Line] = RecordTable(self._columns(), theme, self)
        self.table = table_view(self.model, self.tr("Both bundles, line by line"))
        self.table.activated.connect(self._deeper)
        self.nothing = label()
        layouts.fill(page.column, layouts.row(*self.choosers, self.turn, 1))
        layouts.fill(page.column, self.depths, self.nothing, self.table, 1)
        choose_data = button(self.tr("Choose the d&ata\u2026"), self.data_wanted)
        start = button(self.tr("&Replay this step"), difference.replay)
        set_tip(
            start, self.tr("Replay the step in which they part with each run's own log, to compare single elements")
        )
        self.again = button(self.tr("&Compare again"), difference.compare)
        self.close_button = button(self.tr("C&lose"), self.close)
        self.arrange(page, choose_data, start, self.again, self.close_button)
        theme.changed.connect(self.refresh)

    def show_depth(self, depth: Depth) -> None:
        """Look so deep."""
        self.looked_at = depth
        self.refresh()

    def use_data(self, data: Path) -> None:
        """Take a data file, and replay what waited for it."""
        self.difference.data = data
        self.difference.replay()

    def _take_dropped(self, paths: list[Path]) -> None:
        """Two files are both bundles; one is that which is missing, or else the second."""
        if len(paths) > 1:
            self.difference.choose(*paths[:2])
        elif self.difference.first is None:
            self.difference.choose(paths[0], self.difference.second)
        else:
            self.difference.choose(self.difference.first, paths[0])

    def _turned(self, place: int) -> None:
        """The user chose how deep to look."""
        self._chosen_by_hand = True
        self.show_depth(DEPTHS[place])

    def _deeper(self) -> None:
        """Look one deeper: what a double click or Enter on a line does."""
        self._chosen_by_hand = True
        self.show_depth(DEPTHS[min(DEPTHS.index(self.looked_at) + 1, len(DEPTHS) - 1)])

    # Showing

    def refresh(self) -> None:
        """Show where the comparison stands."""
        difference, found = self.difference, self.difference.found
        if found is None:
            self._chosen_by_hand = False
        elif not self._chosen_by_hand:
            self.looked_at = self._deepest()
        self.top.show_look(*self._headline())
        tell(
            self.notice,
            self.tr("Nobody is judged here: neither of the two is compared with what was ordered."),
            Tone.INFO,
        )
        super().refresh()
        for chooser in (*self.choosers, self.turn):
            chooser.setEnabled(not difference.working)
        self.turn.setEnabled(difference.ready and not difference.working)
        self.choose.setVisible(difference.failure is not None and difference.failure.role == "data")
        self.again.setEnabled(difference.ready and not difference.working)
        self.start.setEnabled(not difference.working and found is not None and found.operator is not None)
        self._show_depths()
        self._show_lines()
        first = self.close_button if found is not None else self.choosers[0 if difference.first is None else 1]
        wants = (
            found is not None and self.looked_at is Depth.ELEMENT and found.elements is None and self.start.isEnabled()
        )
        for one in (self.start, self.close_button, *self.choosers):
            restyle(one, "primary", one is (self.start if wants else first))

    def _deepest(self) -> Depth:
        """Where one looks first: as deep as something is known to differ."""
        found = self.difference.found
        assert found is not None
        if self.difference.replaying and found.elements is not None:
            return Depth.ELEMENT
        if found.orders or found.step is None:
            return Depth.ORDER if found.orders else Depth.STEP
        return Depth.OPERATOR if found.operator is not None or found.inputs else Depth.STEP

    def _show_depths(self) -> None:
        found = self.difference.found
        self.depths.setEnabled(found is not None)
        with QSignalBlocker(self.depths):
            self.depths.setCurrentIndex(DEPTHS.index(self.looked_at))
        for place, depth in enumerate(DEPTHS):
            same = None if found is None else same_at(depth, found)
            look = Look(self.tr("not known"), "pending", Tone.MUTED) if same is None else words.equality(same)
            tokens = self._theme.tokens
            self.depths.setTabIcon(place, icons.icon(look.icon, tokens.tone(look.tone), tokens.muted))
            self.depths.setTabToolTip(place, look.word)

    def _show_lines(self) -> None:
        difference, found, sides = self.difference, self.difference.found, self.difference.sides
        lines = [] if found is None or sides is None else lines_of(self.looked_at, sides, found)
        self.model.columns = tuple(self._columns())
        if lines != list(self.model.records) or not lines:
            self.model.show_records(lines)
        self.model.headerDataChanged.emit(Qt.Orientation.Horizontal, _FIRST, _SECOND)
        self.table.setVisible(bool(lines))
        fit_height(self.table)
        said = self._why_nothing() if found is not None and not lines else ""
        if (
            found is not None
            and self.looked_at is Depth.ELEMENT
            and found.elements is None
            and found.operator is not None
        ):
            said = self.tr("Replay this step to compare the elements of the operator's output.")
        self.nothing.setText(said)
        self.nothing.setVisible(bool(said) and not difference.working)

    def _why_nothing(self) -> str:
        found = self.difference.found
        if found is None or found.step is None:
            return self.tr("Nothing differs.")
        if self.looked_at is Depth.OPERATOR and found.orders:
            return self.tr("The orders differ: fingerprints of operators can be compared under one order alone.")
        if self.looked_at is Depth.OPERATOR:
            return self.tr("All fingerprints of operators agree.")
        return self.tr("No later state is stored in both, so that there are no elements to be compared.")

    def _headline(self) -> tuple[Look, str]:
        difference, found = self.difference, self.difference.found
        said = "" if difference.progress is None else translate(difference.progress.what)
        if unfinished := self.unfinished(self.tr("Being compared"), said, self.tr("Not compared")):
            return unfinished
        if found is None:
            return Look(self.tr("Difference of two bundles"), "compare", Tone.INFO), self.tr(
                "Choose two runs, of one order or of two, or drop them here."
            )
        if found.step is None and not found.orders:
            return Look(self.tr("No difference"), "passed", Tone.OK), translate(found.sentence)
        if found.step is None:
            return Look(self.tr("Other orders, the same results"), "compare", Tone.WARN), translate(found.sentence)
        title = self.tr("They differ from the beginning")
        if found.step:
            title = self.tr("They differ from step {0} on").format(text.count(found.step))
        return Look(title, "compare", Tone.WARN), translate(found.sentence)

    def _columns(self) -> list[Column[Line]]:
        first, second = (
            name_of(path) or empty
            for path, empty in (
                (self.difference.first, self.tr("First")),
                (self.difference.second, self.tr("Second")),
            )
        )
        return [
            Column(self.tr("What"), lambda line: line.name, 50, tip=lambda line: line.name),
            Column(self.tr("Result"), self._word, 16, look=self._mark),
            Column(first, lambda line: _short(line, line.first), 24, tip=lambda line: line.first),
            Column(second, lambda line: _short(line, line.second), 24, tip=lambda line: line.second),
        ]

    def _mark(self, line: Line) -> Look:
        if line.same is None:
            return Look(self.tr("not compared"), "skipped", Tone.MUTED)
        # Another machine, or another order, accuses nobody.
        return words.equality(True) if line.same else Look(words.equality(False).word, "warning", Tone.WARN)

    def _word(self, line: Line) -> str:
        return self._mark(line).word


def _short(line: Line, value: str) -> str:
    return value[:12] if line.digest else value
