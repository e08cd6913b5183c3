"""The drawing of the Merkle search: one row for each level, and below the leaf what it commits to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QGraphicsItem, QGraphicsScene, QGraphicsView, QStyleOptionGraphicsItem, QWidget

from counterfoil_app.looks import icons
from counterfoil_app.looks.fonts import fixed_font, scale
from counterfoil_app.looks.theme import Theme
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.looks.words import Look

NODE_CHARACTERS, NOTE_CHARACTERS = 35, 29
"""Widths of a box and of a note in average characters, so that larger text finds room."""
NODE_GAP, ROW_GAP, PADDING = 18.0, 26.0, 8.0
SMALLEST_ZOOM, LARGEST_ZOOM = 0.3, 3.0
SMALLEST_FIT = 0.75
"""By itself the drawing shrinks to the width of the view only so far that it can still be read."""


@dataclass(frozen=True)
class Box:
    """What a node of the drawing says."""

    key: str  #: Names the node to whoever listens.
    title: str  #: The first line.
    look: Look  #: Word, icon and tone of the result.
    lines: tuple[str, ...] = ()  #: Further lines, in a font of fixed width.
    badge: str = ""  #: A short text before the title, for instance the number of the comparison.
    quiet: bool = False  #: Drawn faintly: it was not looked at.
    wide: bool = False  #: As wide as two boxes side by side.


@dataclass(frozen=True)
class TreeRow:
    """One row of the drawing."""

    boxes: tuple[Box, ...]  #: One box in the middle, or one on the left and one on the right.
    taken: int  #: Position of the box from which the next row hangs.
    note: str  #: What happened here, in words.


def node_width(font: QFont) -> float:
    """Width of a box."""
    return NODE_CHARACTERS * QFontMetricsF(font).averageCharWidth()


class BoxItem(QGraphicsItem):
    """A drawn box; it can be selected, and the selected step's box carries a mark."""

    def __init__(self, box: Box, theme: Theme, font: QFont) -> None:
        super().__init__()
        self.box = box
        node = node_width(font)
        self.width = 2 * node + NODE_GAP if box.wide else node
        self.marked = False
        self._theme = theme
        self._font = font
        self._bold = QFont(font)
        self._bold.setBold(True)
        self._fixed = fixed_font()
        self._fixed.setPointSizeF(font.pointSizeF() * 0.92)
        self._line = QFontMetricsF(self._bold).height()
        self._fixed_line = QFontMetricsF(self._fixed).height()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        set_tip(self, "\n".join((box.title, box.look.word)))

    @property
    def middle(self) -> float:
        """The horizontal middle."""
        return self.width / 2

    @property
    def height(self) -> float:
        """Height of the box."""
        return 2 * PADDING + 2 * self._line + len(self.box.lines) * self._fixed_line

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """The box with room for its mark."""
        return QRectF(-14, -2, self.width + 16, self.height + 4)

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draw the box."""
        tokens, box = self._theme.tokens, self.box
        frame = QRectF(0, 0, self.width, self.height)
        colour = QColor(tokens.control if box.quiet else tokens.tone(box.look.tone))
        style = Qt.PenStyle.DashLine if box.quiet else Qt.PenStyle.SolidLine
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colour, 1.0, style))
        painter.setBrush(QColor(tokens.surface if box.quiet else tokens.tint(box.look.tone)))
        painter.drawRoundedRect(frame, 5, 5)
        if self.isSelected():
            painter.setPen(QPen(QColor(tokens.accent), 2.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(frame.adjusted(-1, -1, 1, 1), 6, 6)
        if self.marked:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.text))
            middle = self.height / 2
            painter.drawPolygon([QPointF(-13, middle - 7), QPointF(-13, middle + 7), QPointF(-3, middle)])
        self._write(painter)

    def _write(self, painter: QPainter) -> None:
        tokens, box = self._theme.tokens, self.box
        left, width, y = PADDING + 2, self.width - 2 * PADDING - 4, PADDING
        painter.setFont(self._bold)
        painter.setPen(QColor(tokens.muted if box.quiet else tokens.text))
        metrics = QFontMetricsF(self._bold)
        badge = metrics.horizontalAdvance(box.badge) + 8 if box.badge else 0.0
        title = metrics.elidedText(box.title, Qt.TextElideMode.ElideMiddle, width - badge)
        painter.drawText(QRectF(left, y, width, self._line), Qt.AlignmentFlag.AlignVCenter, title)
        painter.setPen(QColor(tokens.muted))
        painter.drawText(QRectF(left, y, width, self._line), int(RIGHT), box.badge)
        y += self._line
        tone, mark = tokens.muted if box.quiet else tokens.tone(box.look.tone), scale(14) + 6
        painter.drawPixmap(
            QPointF(left, y + (self._line - scale(14)) / 2), icons.pixmap(box.look.icon, tone, scale(14), 2.0)
        )
        painter.setFont(self._font)
        painter.setPen(QColor(tone))
        painter.drawText(QRectF(left + mark, y, width - mark, self._line), Qt.AlignmentFlag.AlignVCenter, box.look.word)
        y += self._line
        painter.setFont(self._fixed)
        painter.setPen(QColor(tokens.text))
        fixed = QFontMetricsF(self._fixed)
        for line in box.lines:
            shown = fixed.elidedText(line, Qt.TextElideMode.ElideRight, width)
            painter.drawText(QRectF(left, y, width, self._fixed_line), Qt.AlignmentFlag.AlignVCenter, shown)
            y += self._fixed_line


RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class TreeScene(QGraphicsView):
    """Shows rows of boxes; the arrow keys go from box to box, Ctrl and the wheel zoom."""

    chosen = Signal(str)
    """The key of the box that was selected."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: tuple[TreeRow, ...] = ()
        self._items: list[BoxItem] = []
        self._zoomed = False
        self.setAccessibleName(name)
        self.setScene(QGraphicsScene(self))
        self.setFrameShape(QGraphicsView.Shape.NoFrame)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.setDragMode(QGraphicsView.DragMode.ScrollHandDrag)
        self.scene().selectionChanged.connect(self._announce)
        theme.changed.connect(self._redraw)

    @property
    def boxes(self) -> list[BoxItem]:
        """The drawn boxes from top to bottom, left to right."""
        return list(self._items)

    def show_rows(self, rows: Sequence[TreeRow]) -> None:
        """Draw other rows; a box that is selected and is still there stays selected."""
        if tuple(rows) == self._rows:
            return
        self._rows = tuple(rows)
        self._redraw()
        self._go_to_top()

    def _go_to_top(self) -> None:
        for bar in (self.verticalScrollBar(), self.horizontalScrollBar()):
            bar.setValue(bar.minimum())

    def select(self, key: str) -> None:
        """Select a box by its key and bring it into view."""
        for item in self._items:
            if item.box.key == key and not item.isSelected():
                self.scene().clearSelection()
                item.setSelected(True)
                self.ensureVisible(item, 20, 20)

    def mark(self, keys: set[str]) -> None:
        """Put the mark of the selected step on boxes."""
        for item in self._items:
            if item.marked is not (item.box.key in keys):
                item.marked = not item.marked
                item.update()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Fit the width, until somebody zooms."""
        super().resizeEvent(event)
        self._fit_width()

    def _fit_width(self) -> None:
        if not self._zoomed and self._items:
            # With room for a scroll bar whether there is one or not: the fit decides that, and would never end.
            room = self.width() - self.verticalScrollBar().sizeHint().width()
            wanted = room / self.scene().sceneRect().width()
            factor = min(1.0, max(SMALLEST_FIT, wanted))
            if factor != self.transform().m11():
                self.resetTransform()
                self.scale(factor, factor)
                self._go_to_top()

    @property
    def _note_width(self) -> float:
        return NOTE_CHARACTERS * QFontMetricsF(self.font()).averageCharWidth()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the size of the text."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._redraw()

    def fit(self) -> None:
        """Make everything visible."""
        self._zoomed = True
        self.fitInView(self.scene().sceneRect(), Qt.AspectRatioMode.KeepAspectRatio)
        if self.transform().m11() > 1:
            self.resetTransform()

    def _redraw(self) -> None:
        selected = {item.box.key for item in self._items if item.isSelected()}
        marked = {item.box.key for item in self._items if item.marked}
        scene = self.scene()
        scene.blockSignals(True)
        scene.clear()
        self._items = []
        self.setBackgroundBrush(QColor(self._theme.tokens.surface))
        y, above = 16.0, None
        for row in self._rows:
            items = [BoxItem(box, self._theme, self.font()) for box in row.boxes]
            height = max(item.height for item in items)
            for place, item in enumerate(items):
                item.setPos(-item.middle if len(items) == 1 else self._x(item, place), y)
                scene.addItem(item)
                if above is not None:
                    self._connect(above, item, taken=place == row.taken)
            self._note(row.note, y, height)
            above = items[row.taken]
            self._items.extend(items)
            y += height + ROW_GAP
        half = node_width(self.font()) + NODE_GAP / 2
        scene.setSceneRect(-half - 16, 0, 2 * half + self._note_width + 36, y)
        for item in self._items:
            item.marked = item.box.key in marked
            item.setSelected(item.box.key in selected)
        scene.blockSignals(False)
        self._fit_width()

    def _x(self, item: BoxItem, place: int) -> float:
        return -item.width - NODE_GAP / 2 if place == 0 else NODE_GAP / 2

    def _connect(self, above: BoxItem, below: BoxItem, *, taken: bool) -> None:
        tokens = self._theme.tokens
        start = above.pos() + QPointF(above.middle, above.height)
        end = below.pos() + QPointF(below.middle, 0)
        middle = (start.y() + end.y()) / 2
        pen = QPen(QColor(tokens.text if taken else tokens.control), 2.0 if taken else 1.0)
        corners = [start, QPointF(start.x(), middle), QPointF(end.x(), middle), end]
        for one, other in pairwise(corners):
            line = self.scene().addLine(one.x(), one.y(), other.x(), other.y(), pen)
            line.setZValue(0 if taken else -1)

    def _note(self, note: str, y: float, height: float) -> None:
        item = self.scene().addText("")
        item.setPlainText(note)
        item.setFont(self.font())
        item.setDefaultTextColor(QColor(self._theme.tokens.muted))
        item.setTextWidth(self._note_width)
        item.setPos(
            node_width(self.font()) + NODE_GAP / 2 + 10,
            y + max(0.0, (min(height, 80.0) - item.boundingRect().height()) / 2),
        )

    def _announce(self) -> None:
        chosen = next((item.box.key for item in self._items if item.isSelected()), None)
        if chosen is not None:
            self.chosen.emit(chosen)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Arrows go from box to box."""
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Left: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_Right: 1}
        direction = steps.get(Qt.Key(event.key()))
        if direction is None or not self._items:
            super().keyPressEvent(event)
            return
        now = next((place for place, item in enumerate(self._items) if item.isSelected()), -direction)
        target = min(len(self._items) - 1, max(0, now + direction))
        self.select(self._items[target].box.key)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Zoom with Ctrl, else scroll."""
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)
            return
        factor = 1.15 ** (event.angleDelta().y() / 120)
        if SMALLEST_ZOOM <= self.transform().m11() * factor <= LARGEST_ZOOM:
            self._zoomed = True
            self.scale(factor, factor)
