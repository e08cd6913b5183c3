"""Providers below each other, steps from left to right: which results are the same, and where runs part."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from counterfoil import Ruling
from counterfoil_app.looks import icons, text
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.theme import Theme
from counterfoil_app.looks.tips import plain
from counterfoil_app.looks.words import Look
from counterfoil_app.model.providers import ABSENT, Comparison
from counterfoil_app.views.provider_words import ruling_look

ROW, GAP, ABOVE = 26, 4, 24
"""Pixels of a row, between two rows, and above the first one."""
NAMES = 26
"""Width of the names at most, in average characters."""
LEAST = 3.0
"""Pixels of the narrowest other result: one step among a hundred thousand is still seen."""
JUMP = 100
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_PATTERNS = (Qt.BrushStyle.BDiagPattern, Qt.BrushStyle.FDiagPattern, Qt.BrushStyle.DiagCrossPattern)


def letter(result: int) -> str:
    """The name of a result of a step: A is that of the largest group."""
    return LETTERS[min(result, len(LETTERS) - 1)]


class ProviderMatrix(QWidget):
    """A click or the arrow keys choose a step and a provider; N and P go to the next and the last step that differs.

    The result of the largest group is plain, each other one has a hatching and a letter of its own, a step that a run
    does not have is dotted. Where runs part a line goes through all rows, and what a replay said of a run stands in its
    row: nothing rests on colour.

    Args:
        comparison: What is shown.
        theme: The theme of the application.
    """

    chosen = Signal(int, int)
    """A step, and the number of a provider."""

    def __init__(self, comparison: Comparison, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._comparison = comparison
        self._theme = theme
        self.step = 0
        self.provider = 0
        self.setAccessibleName(self.tr("Results of all providers, step by step"))
        self.setAccessibleDescription(
            self.tr("Arrow keys choose a step and a provider, N and P the next and the last step that differs")
        )
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def refresh(self) -> None:
        """Show what the comparison has found."""
        self.setVisible(bool(self._comparison.matrix.steps))
        self.provider = min(self.provider, max(0, len(self._comparison.members) - 1))
        parting = self._comparison.parting
        if not 1 <= self.step <= self._comparison.matrix.steps:
            self.step = parting.step if parting is not None else 0
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As wide as there is room, a row for each provider, a line of steps above and one below."""
        rows = len(self._comparison.matrix.cells)
        return QSize(400, scale(ABOVE) + rows * (self._row + GAP) + self.fontMetrics().height() + 6)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """All rows."""
        return QSize(240, self.sizeHint().height())

    # Where things lie

    @property
    def _row(self) -> int:
        return int(max(scale(ROW), self.fontMetrics().height() + 8))

    @property
    def _left(self) -> float:
        metrics = self.fontMetrics()
        widest = max((metrics.horizontalAdvance(member.name) for member in self._comparison.members), default=0)
        return float(min(widest, NAMES * metrics.averageCharWidth()) + 10)

    @property
    def _width(self) -> float:
        return max(1.0, self.width() - self._left - 1)

    def place_of(self, step: int) -> float:
        """The horizontal middle of a step."""
        return self._left + (step - 0.5) * self._width / max(1, self._comparison.matrix.steps)

    def step_at(self, x: float) -> int:
        """The step that is drawn at a horizontal position."""
        steps = self._comparison.matrix.steps
        return min(steps, max(1, int((x - self._left) * steps / self._width) + 1))

    def row_at(self, number: int) -> QRectF:
        """Where the steps of a provider are drawn."""
        return QRectF(self._left, scale(ABOVE) + number * (self._row + GAP), self._width, self._row)

    def stretches(self) -> list[tuple[int, QRectF, int]]:
        """What is drawn: for each stretch of one result its provider, its place, and the result."""
        found = []
        thin = self._comparison.matrix.thinned(max(1, int(self._width)))
        wide = self._width / max(1, thin.shape[1]) if thin.size else 0.0
        for number, cells in enumerate(thin.tolist()):
            row, begin = self.row_at(number), 0
            for place in range(1, len(cells) + 1):
                if place == len(cells) or cells[place] != cells[begin]:
                    least = LEAST if cells[begin] > 0 else 0.0
                    width = max(least, (place - begin) * wide)
                    found.append(
                        (number, QRectF(row.left() + begin * wide, row.top(), width, row.height()), cells[begin])
                    )
                    begin = place
        return found

    def rulings(self) -> list[tuple[Ruling, Look]]:
        """What the replay said of providers, each with how that is shown."""
        return [(ruling, ruling_look(ruling)) for parting in self._comparison.ruled for ruling in parting.rulings]

    # Drawing

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the rows, the partings, what the replay said, and what is chosen."""
        painter = QPainter(self)
        tokens = self._theme.tokens
        for number, member in enumerate(self._comparison.members[: len(self._comparison.matrix.cells)]):
            row = self.row_at(number)
            painter.setPen(QColor(tokens.text))
            name = self.fontMetrics().elidedText(member.name, Qt.TextElideMode.ElideMiddle, int(self._left) - 10)
            painter.drawText(QRectF(0, row.top(), self._left, row.height()), int(Qt.AlignmentFlag.AlignVCenter), name)
        for each in sorted(self.stretches(), key=lambda stretch: stretch[2]):
            self._draw_stretch(painter, *each)
        for parting in self._comparison.partings:
            self._draw_parting(painter, parting.step)
        for ruling, look in self.rulings():
            self._draw_ruling(painter, ruling, look)
        self._draw_chosen(painter)
        self._draw_scale(painter)
        painter.end()

    def _draw_stretch(self, painter: QPainter, _number: int, place: QRectF, result: int) -> None:
        tokens = self._theme.tokens
        if result == ABSENT:
            painter.setPen(QPen(QColor(tokens.control), 1, Qt.PenStyle.DotLine))
            middle = int(place.center().y())
            painter.drawLine(int(place.left()), middle, int(place.right()), middle)
            return
        painter.fillRect(place, QColor(tokens.progress if result == 0 else tokens.warn_tint))
        if result:
            colour = QColor(tokens.trainer)
            painter.fillRect(place, QBrush(colour, _PATTERNS[min(result, len(_PATTERNS)) - 1]))
            painter.setPen(QPen(colour, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(place.adjusted(0.5, 0.5, -0.5, -0.5))
        name = letter(result)
        if place.width() > self.fontMetrics().horizontalAdvance(name) + 8:
            size = self.fontMetrics().size(0, name)
            # Not in the middle, where a mark of the replay or a line may stand.
            left, top = place.left() + place.width() / 4, place.center().y() - size.height() / 2
            box = QRectF(left - 4, top, size.width() + 8, size.height())
            if result:
                painter.fillRect(box, QColor(tokens.warn_tint))
            painter.setPen(QColor(tokens.text))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), name)

    def _draw_parting(self, painter: QPainter, step: int) -> None:
        tokens, rows = self._theme.tokens, len(self._comparison.matrix.cells)
        # The line stands where the step begins: what is left of it is equal.
        x = self._left + (step - 1) * self._width / self._comparison.matrix.steps
        painter.setPen(QPen(QColor(tokens.text), 2))
        painter.drawLine(QPointF(x, scale(ABOVE) - 4), QPointF(x, self.row_at(rows - 1).bottom() + 2))
        self._notch(painter, x, tokens.text)
        said = self.tr("Step {0}").format(text.count(step))
        width = self.fontMetrics().horizontalAdvance(said)
        left = min(max(self._left, x + 8), self.width() - width - 1.0)
        painter.setPen(QColor(tokens.text))
        painter.drawText(QRectF(left, 0, width + 2, scale(ABOVE) - 4), int(Qt.AlignmentFlag.AlignVCenter), said)

    def _notch(self, painter: QPainter, x: float, colour: str) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colour))
        top = scale(ABOVE) - 9.0
        painter.drawPolygon([QPointF(x - 5, top), QPointF(x + 5, top), QPointF(x, top + 7)])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _draw_ruling(self, painter: QPainter, ruling: Ruling, look: Look) -> None:
        tokens, row = self._theme.tokens, self.row_at(ruling.provider)
        side = min(scale(18), int(row.height()) - 4)
        x = min(max(row.left() + side / 2, self.place_of(ruling.step)), row.right() - side / 2)
        box = QRectF(x - side / 2 - 2, row.top() + 1, side + 4, row.height() - 2)
        painter.setPen(QPen(QColor(tokens.tone(look.tone)), 2))
        painter.setBrush(QColor(tokens.tint(look.tone)))
        painter.drawRect(box)
        mark = icons.pixmap(look.icon, tokens.tone(look.tone), side, self.devicePixelRatioF())
        painter.drawPixmap(QPointF(x - side / 2, box.center().y() - side / 2), mark)

    def _draw_chosen(self, painter: QPainter) -> None:
        rows = len(self._comparison.matrix.cells)
        if not 1 <= self.step <= self._comparison.matrix.steps or not rows:
            return
        tokens = self._theme.tokens
        x, row = self.place_of(self.step), self.row_at(min(self.provider, rows - 1))
        painter.setPen(QPen(QColor(tokens.accent), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        half = max(3.0, self._width / self._comparison.matrix.steps / 2)
        bottom = self.row_at(rows - 1).bottom()
        for top in (scale(ABOVE) - 6.0, bottom):
            painter.drawLine(QPointF(x, top), QPointF(x, top + 6))
        painter.setPen(QPen(QColor(tokens.accent), 2 if self.hasFocus() else 1))
        painter.drawRect(QRectF(x - half, row.top() - 1, 2 * half, row.height() + 2))

    def _draw_scale(self, painter: QPainter) -> None:
        """The first step, and the last."""
        rows, steps = len(self._comparison.matrix.cells), self._comparison.matrix.steps
        top = self.row_at(rows).top() - GAP + 4
        line = QRectF(self._left, top, self._width, self.fontMetrics().height())
        painter.setPen(QColor(self._theme.tokens.muted))
        painter.drawText(line, int(Qt.AlignmentFlag.AlignLeft), self.tr("Step {0}").format(text.count(1)))
        if steps > 1:
            painter.drawText(line, int(Qt.AlignmentFlag.AlignRight), self.tr("Step {0}").format(text.count(steps)))

    # Choosing

    def choose(self, step: int, provider: int) -> None:
        """Choose a step and a provider."""
        matrix = self._comparison.matrix
        self.step = min(matrix.steps, max(1, step))
        self.provider = min(len(matrix.cells) - 1, max(0, provider))
        self.update()
        self.chosen.emit(self.step, self.provider)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Choose what is under the pointer; a parting within a few pixels wins, since one step is hard to hit."""
        if event.button() is not Qt.MouseButton.LeftButton or not self._comparison.matrix.steps:
            return
        x, row = event.position().x(), int((event.position().y() - scale(ABOVE)) // (self._row + GAP))
        step = self.step_at(x)
        near = [parting.step for parting in self._comparison.partings if abs(self.place_of(parting.step) - x) <= LEAST]
        self.choose(near[0] if near else step, row)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Arrows go by one step or one provider, page keys by a hundred steps, Home and End to the ends."""
        matrix, key = self._comparison.matrix, Qt.Key
        pressed = key(event.key())
        target = {
            key.Key_Left: self.step - 1,
            key.Key_Right: self.step + 1,
            key.Key_PageUp: self.step - JUMP,
            key.Key_PageDown: self.step + JUMP,
            key.Key_Home: 1,
            key.Key_End: matrix.steps,
            key.Key_N: matrix.next_apart(self.step, 1) if pressed is key.Key_N else None,
            key.Key_P: matrix.next_apart(self.step, -1) if pressed is key.Key_P else None,
        }
        down = {key.Key_Up: -1, key.Key_Down: 1}.get(pressed)
        if not matrix.steps or (pressed not in target and down is None):
            super().keyPressEvent(event)
            return
        step = target.get(pressed)
        self.choose(self.step if step is None else step, self.provider + (down or 0))

    def describe(self, step: int, provider: int) -> str:
        """What is known of a step of a provider, in words."""
        comparison = self._comparison
        name, result = comparison.members[provider].name, int(comparison.matrix.cells[provider, step])
        for ruling, look in self.rulings():
            if (ruling.provider, ruling.step) == (provider, step):
                return self.tr("{0}, step {1}: {2}.").format(name, text.count(step), look.word)
        if result == ABSENT:
            return self.tr("{0} has no step {1}.").format(name, text.count(step))
        if result == 0:
            return self.tr("{0}, step {1}: result A, that of the largest group.").format(name, text.count(step))
        return self.tr("{0}, step {1}: another result, {2}.").format(name, text.count(step), letter(result))

    def event(self, event: QEvent) -> bool:
        """Say in a tip what is known of what is under the pointer."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            number = int((event.pos().y() - scale(ABOVE)) // (self._row + GAP))
            if self._comparison.matrix.steps and 0 <= number < len(self._comparison.matrix.cells):
                said = self.describe(self.step_at(event.pos().x()), number)
                QToolTip.showText(event.globalPos(), plain(said), self)
            return True
        return super().event(event)
