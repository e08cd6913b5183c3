"""All steps of the run in one strip: equal neighbours merged, whatever matters most kept visible."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QToolTip, QWidget

from counterfoil_app.looks import text, words
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.theme import Theme
from counterfoil_app.looks.tips import plain
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.session import Session
from counterfoil_app.model.step_data import StepState, Stretch, merge_equal, worst_per_place

MARGIN = 12
BAR_TOP = 9
BAR_HEIGHT = 34
LEAST_WIDTH = 2.0
"""Pixels of the narrowest stretch: one mismatch among a million steps is still seen."""
JUMP = 100
BAD = (StepState.MISMATCH, StepState.SUSPICIOUS)


class StepStrip(QAbstractSlider):
    """The steps from left to right; a click or the arrow keys select one, in all views.

    Screen readers know it as a slider, whose value is the chosen step.

    Matching steps are a plain bar, steps not replayed an outline, steps left out a dotted line, unjudged ones are
    hatched; mismatches reach above the bar and carry a notch, so that nothing rests on colour.
    """

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._theme = theme
        self.setAccessibleName(self.tr("All steps of the run"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        follow(self.update, session.bundle_changed, session.rows_changed, session.sample_chosen)
        follow(self.update, session.step_selected, session.dispute_changed, theme.changed)
        follow(self._tell, session.bundle_changed, session.rows_changed, session.step_selected)
        self.valueChanged.connect(self._choose)
        self._tell()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As wide as there is room, a bar and a line of text high."""
        return QSize(400, BAR_HEIGHT + self._legend_height)

    @property
    def _legend_height(self) -> int:
        return self.fontMetrics().height()

    def legend(self) -> list[tuple[StepState, str]]:
        """The states that occur, those that matter most first, and how many steps are in each, in words."""
        data = self._session.step_data
        counts = data.counts(1, data.count)
        return [
            (state, self.tr("{0}: {1}").format(words.step_state(state).word, text.count(counts[state])))
            for state in sorted(counts, reverse=True)
        ]

    @property
    def legend_width(self) -> int:
        """How far the legend reaches."""
        names = sum(self.fontMetrics().horizontalAdvance(said) + 4 * scale(10) + 6 for _state, said in self.legend())
        return MARGIN + names

    # Where a step lies

    @property
    def _width(self) -> int:
        return max(1, self.width() - 2 * MARGIN)

    def step_at(self, x: float) -> int:
        """The step that is drawn at a horizontal position."""
        count = self._session.step_data.count
        return min(count, max(1, int((x - MARGIN) * count / self._width) + 1))

    def place_of(self, step: int) -> float:
        """The horizontal middle of a step."""
        return MARGIN + (step - 0.5) * self._width / max(1, self._session.step_data.count)

    def stretches(self) -> list[tuple[QRectF, StepState]]:
        """What is drawn: a rectangle for each stretch of places in one state; at most one for each pixel."""
        data = self._session.step_data
        if not data.count:
            return []
        places = min(data.count, self._width)
        width = self._width / places
        return [
            (self._rectangle(item, width), item.state) for item in merge_equal(worst_per_place(data.states, places))
        ]

    def _rectangle(self, item: Stretch, width: float) -> QRectF:
        wide = max(LEAST_WIDTH, (item.last - item.first + 1) * width)
        return QRectF(MARGIN + (item.first - 1) * width, BAR_TOP, wide, BAR_HEIGHT - BAR_TOP - 9)

    # For screen readers

    def _tell(self) -> None:
        """Have the value of a slider, and say in words what it is."""
        data, step = self._session.step_data, self._session.selected_step
        self.blockSignals(True)
        self.setRange(min(1, data.count), data.count)
        self.setValue(step or 0)
        self.blockSignals(False)
        said = self.tr("Left and right arrow keys choose a step, Home and End the first and last")
        state = data.state(step) if step is not None and 1 <= step <= data.count else None
        if step is not None and state is not None:
            where = self.tr("Step {0} of {1}: {2}").format(
                text.count(step), text.count(data.count), words.step_state(state).word
            )
            said = f"{where}. {said}"
        self.setAccessibleDescription(said)

    def _choose(self, step: int) -> None:
        """A step that a screen reader set."""
        if self._session.step_data.count and step != self._session.selected_step:
            self._session.select_step(step)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Leave it to what scrolls."""
        event.ignore()

    # Drawing

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the stretches, the disputed step and the selected one."""
        painter = QPainter(self)
        tokens = self._theme.tokens
        painter.fillRect(self.rect(), QColor(tokens.background))
        stretches = self.stretches()
        for rectangle, state in stretches:
            if state not in BAD:
                self._draw_quiet(painter, rectangle, state)
        for rectangle, state in stretches:
            if state in BAD:
                self._draw_bad(painter, rectangle)
        self._draw_legend(painter)
        selected = self._session.selected_step
        if selected is not None:
            x = self.place_of(selected)
            painter.setPen(QPen(QColor(tokens.text), 1))
            painter.drawLine(int(x), BAR_TOP - 4, int(x), BAR_HEIGHT - 6)
            self._notch(painter, x, BAR_HEIGHT - 1.0, tokens.text, down=False)
        if self.hasFocus():
            painter.setPen(QPen(QColor(tokens.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.rect().adjusted(2, 2, -3, -3))
        painter.end()

    def _draw_bad(self, painter: QPainter, rectangle: QRectF) -> None:
        tall = rectangle.adjusted(0, -4, 0, 4)
        painter.fillRect(tall, QColor(self._theme.tokens.differs))
        self._notch(painter, tall.center().x(), tall.top() - 5, self._theme.tokens.differs, down=True)

    def _draw_legend(self, painter: QPainter) -> None:
        """Each state that occurs, as it is drawn above, with its name and number."""
        metrics, height, left = self.fontMetrics(), self._legend_height, float(MARGIN)
        side, top = scale(10), BAR_HEIGHT
        for state, said in self.legend():
            swatch = QRectF(left, top + (height - side) / 2, 2 * side, side)
            if state in BAD:
                painter.fillRect(swatch, QColor(self._theme.tokens.differs))
            else:
                self._draw_quiet(painter, swatch, state)
            painter.setPen(QColor(self._theme.tokens.muted))
            left += 2 * side + 6
            painter.drawText(QRectF(left, top, self.width(), height), int(Qt.AlignmentFlag.AlignVCenter), said)
            left += metrics.horizontalAdvance(said) + 2 * side

    def _draw_quiet(self, painter: QPainter, rectangle: QRectF, state: StepState) -> None:
        tokens = self._theme.tokens
        if state is StepState.MATCH:
            painter.fillRect(rectangle, QColor(tokens.same))
        elif state is StepState.WAITING:
            painter.fillRect(rectangle, QColor(tokens.surface))
            painter.setPen(QPen(QColor(tokens.control), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rectangle.adjusted(0.5, 0.5, -0.5, -0.5))
        elif state is StepState.UNJUDGED:
            painter.fillRect(rectangle, QColor(tokens.warn_tint))
            painter.fillRect(rectangle, QBrush(QColor(tokens.warn), Qt.BrushStyle.BDiagPattern))
        else:
            middle = rectangle.center().y()
            painter.setPen(QPen(QColor(tokens.control), 1, Qt.PenStyle.DotLine))
            painter.drawLine(int(rectangle.left()), int(middle), int(rectangle.right()), int(middle))

    def _notch(self, painter: QPainter, x: float, y: float, colour: str, *, down: bool) -> None:
        tip = 5.0 if down else -5.0
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colour))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawPolygon([QPointF(x - 4, y), QPointF(x + 4, y), QPointF(x, y + tip)])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    # Choosing

    def _nearest(self, x: float) -> int:
        """The step at a position; a mismatch within a few pixels wins, since one among many is hard to hit."""
        data = self._session.step_data
        step = self.step_at(x)
        reach = max(1, 3 * data.count // self._width)
        for candidate in (data.next_mismatch(step - 1, 1), data.next_mismatch(step + 1, -1)):
            if candidate is not None and abs(candidate - step) <= reach and data.count > self._width:
                return candidate
        return step

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Select the step under the pointer."""
        if self._session.step_data.count and event.button() is Qt.MouseButton.LeftButton:
            self._session.select_step(self._nearest(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Go on selecting while the button is held."""
        if self._session.step_data.count and event.buttons() & Qt.MouseButton.LeftButton:
            self._session.select_step(self._nearest(event.position().x()))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Arrows go by one step, page keys by a hundred, Home and End to the ends."""
        count, now = self._session.step_data.count, self._session.selected_step or 0
        key = Qt.Key
        target = {
            key.Key_Left: now - 1,
            key.Key_Right: now + 1,
            key.Key_PageUp: now - JUMP,
            key.Key_PageDown: now + JUMP,
            key.Key_Home: 1,
            key.Key_End: count,
        }.get(key(event.key()))
        if target is None or not count:
            super().keyPressEvent(event)
            return
        self._session.select_step(min(count, max(1, target)))

    def event(self, event: QEvent) -> bool:
        """Say under the pointer which step is there and how it stands."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            data = self._session.step_data
            step = self._nearest(event.pos().x()) if data.count else 0
            state = data.state(step)
            if state is not None:
                sentence = self.tr("Step {0}: {1}").format(text.count(step), words.step_state(state).word)
                QToolTip.showText(event.globalPos(), plain(sentence), self)
            return True
        return super().event(event)
