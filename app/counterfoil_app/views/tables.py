"""Tables of records: one model for short ones, and what every table view has in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QFontMetricsF,
    QGuiApplication,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPixmap,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyleOptionFocusRect,
    QTableView,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from counterfoil_app.looks import icons
from counterfoil_app.looks.fonts import fixed_font, scale
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.tips import plain, set_tip
from counterfoil_app.looks.words import Look
from counterfoil_app.views.layouts import chosen_rows, keys_in

Record = TypeVar("Record")
AnyIndex = QModelIndex | QPersistentModelIndex
_ROLE = Qt.ItemDataRole
# Plain numbers: a cell is asked for each of its roles, and comparing members of an enumeration takes longest of all.
_TEXT, _ICON, _TIP = int(_ROLE.DisplayRole), int(_ROLE.DecorationRole), int(_ROLE.ToolTipRole)
_BACKGROUND, _FONT, _ALIGNMENT = int(_ROLE.BackgroundRole), int(_ROLE.FontRole), int(_ROLE.TextAlignmentRole)
_OF_THE_RECORD = frozenset((_TEXT, _ICON, _TIP, _BACKGROUND))
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter

LIST_ICON_PIXELS = 18
SHARP = 2.0
"""Pixels of a picture for each of a screen without enlargement: sharp on all."""
MARGIN = 3
"""Pixels beside the text of a cell."""
MOST_KEPT = 512
"""Lines whose contents are kept ready: more than any screen shows."""
MOST_LINES = 13
"""Lines of a table in a page that are seen at once; the rest is reached by scrolling in it."""


@dataclass(frozen=True)
class Column(Generic[Record]):
    """A column of a table of records."""

    title: str  #: Its heading.
    text: Callable[[Record], str]  #: The text of a record's cell.
    width: int = 12  #: Its first width in characters.
    numeric: bool = False  #: Whether it is aligned on the right.
    fixed: bool = False  #: Whether it is set in a font of fixed width.
    look: Callable[[Record], Look | None] | None = None  #: Icon and tone of a record's cell, if it has one.
    #: What the tool tip says, and what is copied, where it is more than the text.
    tip: Callable[[Record], str] | None = None


@dataclass(frozen=True)
class Line(Generic[Record]):
    """What a row shows, worked out once for all of its cells."""

    record: Record  #: The record.
    texts: tuple[str, ...]  #: The text of each cell.
    looks: tuple[Look | None, ...]  #: Icon and tone of each cell; None where it has none.
    bad: bool  #: Whether the whole row is marked.


class RecordTable(QAbstractTableModel, Generic[Record]):
    """A table of records; a record that is bad is marked on the whole row.

    What rows show is kept until the table says that it changed: a row that is painted is asked for some hundred things.
    """

    def __init__(self, columns: Sequence[Column[Record]], theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        self._lines: dict[int, Line[Record]] = {}
        # Connected before any view: no view is shown what was kept from before.
        for changed in (self.dataChanged, self.modelReset, self.rowsInserted, self.rowsRemoved, self.layoutChanged):
            changed.connect(self.forget_lines)
        self.theme = theme
        self._fixed_font = fixed_font()
        self.records: Sequence[Record] = ()
        theme.changed.connect(self._repaint)

    def show_records(self, records: Sequence[Record]) -> None:
        """Replace all records."""
        self.beginResetModel()
        self.records = records
        self.endResetModel()

    def record(self, row: int) -> Record | None:
        """The record of a row; None where there is none yet."""
        return self.records[row]

    def forget_lines(self) -> None:
        """Work out anew what rows show; to be called when records changed and no signal of the table says so yet."""
        self._lines.clear()

    def line(self, row: int) -> Line[Record] | None:
        """What a row shows; None where there is no record yet."""
        kept = self._lines.get(row)
        if kept is not None:
            return kept
        record = self.record(row)
        if record is None:
            return None
        looks = tuple(None if column.look is None else column.look(record) for column in self.columns)
        bad = any(look is not None and look.tone is Tone.BAD for look in looks)
        line = Line(record, tuple(column.text(record) for column in self.columns), looks, bad)
        if len(self._lines) >= MOST_KEPT:
            self._lines.clear()
        self._lines[row] = line
        return line

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's signature
        """Number of rows."""
        return 0 if parent.isValid() else len(self.records)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's signature
        """Number of columns."""
        return 0 if parent.isValid() else len(self.columns)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = _ROLE.DisplayRole
    ) -> object:
        """The headings, aligned like their columns."""
        if orientation is Qt.Orientation.Horizontal and role == _ROLE.DisplayRole:
            return self.columns[section].title
        if orientation is Qt.Orientation.Horizontal and role == _ROLE.TextAlignmentRole:
            return RIGHT if self.columns[section].numeric else LEFT
        return None

    def data(self, index: AnyIndex, role: int = _TEXT) -> object:
        """A cell's text, alignment, icon, background and tool tip."""
        if not index.isValid():
            return None
        column = self.columns[index.column()]
        if role == _ALIGNMENT:
            return RIGHT if column.numeric else LEFT
        if role == _FONT:
            return self.font_of(index.column())
        if role not in _OF_THE_RECORD or (role == _ICON and column.look is None):
            return None
        line = self.line(index.row())
        if line is None:
            return None
        if role == _TEXT:
            return line.texts[index.column()]
        if role == _TIP:
            tip = None if column.tip is None else column.tip(line.record)
            return None if tip is None else plain(tip)
        if role == _BACKGROUND:
            return QColor(self.theme.tokens.bad_tint) if line.bad else None
        return self.icon(line.looks[index.column()])

    def icon(self, look: Look | None) -> QPixmap | None:
        """The icon of a cell."""
        return None if look is None else icons.pixmap(look.icon, self.theme.tokens.tone(look.tone), scale(16), SHARP)

    def font_of(self, column: int) -> QFont | None:
        """The font of a column; None for that of the view."""
        return self._fixed_font if self.columns[column].fixed else None

    def _repaint(self) -> None:
        if self.rowCount():
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, self.columnCount() - 1))


class Advances(dict[str, float]):
    """How far each character of a font reaches: summed up they say how wide a text is, without shaping it."""

    def __init__(self, font: QFont) -> None:
        super().__init__()
        self.metrics = QFontMetricsF(font)

    def __missing__(self, character: str) -> float:
        self[character] = wide = self.metrics.horizontalAdvance(character)
        return wide

    def of(self, text: str) -> float:
        """How wide a text is."""
        return sum(map(self.__getitem__, text))


class RecordView(QTableView):
    """A view of a table of records, which it draws itself, column by column; a bad line that is chosen still looks bad.

    Qt would dress, ask and lay out each cell for itself, which is more than half of what a page of steps takes.
    """

    def __init__(self, model: RecordTable[Any], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._records = model
        self._advances: dict[str, Advances] = {}
        self.setModel(model)
        self.setWordWrap(False)
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        vertical = self.verticalHeader()
        vertical.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        vertical.setDefaultSectionSize(self.fontMetrics().height() + 4)
        vertical.hide()
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def setSelectionModel(self, chosen: QItemSelectionModel) -> None:  # noqa: N802 - Qt's name
        """Choose rows by a model; the headings have one of their own, or they were drawn anew with each choice."""
        super().setSelectionModel(chosen)
        self.horizontalHeader().setSelectionModel(QItemSelectionModel(chosen.model(), self))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw what of the rows and columns lies in the region."""
        region, model = event.rect(), self._records
        painter, tokens = QPainter(self.viewport()), model.theme.tokens
        painter.fillRect(region, QColor(tokens.surface))
        first, last = self.rowAt(region.top()), self.rowAt(region.bottom())
        if first < 0:
            return
        rows = range(first, (last if last >= 0 else model.rowCount() - 1) + 1)
        high = self.verticalHeader().defaultSectionSize()
        placed = [(self.rowViewportPosition(row), line) for row in rows if (line := model.line(row)) is not None]
        for row in rows:
            line, chosen = model.line(row), self.selectionModel().isRowSelected(row)
            bad = line is not None and line.bad
            colour = (tokens.bad_selected if bad else tokens.selection) if chosen else tokens.bad_tint if bad else ""
            if colour or row % 2:
                top = self.rowViewportPosition(row)
                painter.fillRect(region.left(), top, region.width(), high, QColor(colour or tokens.stripe))
        painter.setPen(QColor(tokens.text if self.isEnabled() else tokens.muted))
        for column in range(model.columnCount()):
            left, wide = self.columnViewportPosition(column), self.columnWidth(column)
            if wide and left <= region.right() and left + wide > region.left():
                self._draw_column(painter, column, QRect(left, 0, wide, high), placed)
        if self.hasFocus() and self.currentIndex().isValid():
            frame = QStyleOptionFocusRect()
            frame.initFrom(self)
            frame.state |= QStyle.StateFlag.State_KeyboardFocusChange  # else only some keys would show it
            frame.rect = self.visualRect(self.currentIndex())
            self.style().drawPrimitive(QStyle.PrimitiveElement.PE_FrameFocusRect, frame, painter, self)

    def _draw_column(
        self, painter: QPainter, column: int, cell: QRect, placed: Sequence[tuple[int, Line[Any]]]
    ) -> None:
        """Draw the icons and texts of a column; what is longer than it is wide ends in an ellipsis."""
        model = self._records
        font, numeric = model.font_of(column) or self.font(), model.columns[column].numeric
        if (key := font.key()) not in self._advances:
            self._advances[key] = Advances(font)
        advances = self._advances[key]
        left, end = cell.left() + MARGIN, cell.right() + 1 - MARGIN
        down = round((cell.height() - advances.metrics.height()) / 2 + advances.metrics.ascent())
        painter.setFont(font)
        for top, line in placed:
            text, begin = line.texts[column], left
            if (icon := model.icon(line.looks[column])) is not None:
                size = icon.deviceIndependentSize().toSize()
                painter.drawPixmap(left, top + (cell.height() - size.height()) // 2, icon)
                begin += size.width() + 2 * MARGIN
            wide = advances.of(text)
            if wide > end - begin + 1:  # whole pixels of a column are no reason to shorten
                text = advances.metrics.elidedText(text, Qt.TextElideMode.ElideRight, end - begin)
                wide = advances.of(text)
            if text:
                painter.drawText(QPointF(max(begin, end - wide) if numeric else begin, top + down), text)


def table_view(model: RecordTable[Record], name: str, parent: QWidget | None = None) -> RecordView:
    """A view for a model: rows of one height, nothing measured per row, Ctrl+C copies a cell or the chosen lines."""
    view = RecordView(model, parent)
    view.setAccessibleName(name)
    view.setTabKeyNavigation(False)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    metrics = view.fontMetrics()
    heavy = view.font()
    heavy.setBold(True)
    bold = QFontMetrics(heavy)
    horizontal = view.horizontalHeader()
    horizontal.setHighlightSections(False)
    for position, column in enumerate(model.columns):
        heading = int(bold.horizontalAdvance(column.title)) + 16
        view.setColumnWidth(position, max(heading, metrics.averageCharWidth() * column.width + 16))
    horizontal.setStretchLastSection(not model.columns[-1].numeric)  # far from its neighbours a number is not read
    keys_in(view, QKeySequence.StandardKey.Copy, lambda: _copy(view))
    return view


def item_table(titles: Sequence[str], name: str, icons_pixels: int = 0) -> QTableWidget:
    """A table of items, one line of which is chosen at a time, for a list that is short and has no columns to sort."""
    view = QTableWidget(0, len(titles))
    view.setAccessibleName(name)
    view.setTabKeyNavigation(False)  # else Tab goes from cell to cell, and never out
    view.setHorizontalHeaderLabels(list(titles))
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setShowGrid(False)
    view.verticalHeader().hide()
    if icons_pixels:
        view.setIconSize(QSize(scale(icons_pixels), scale(icons_pixels)))
    return view


def record_list(
    titles: Sequence[str], name: str, choose: Callable[[], None], remove: Callable[[], None]
) -> QTableWidget:
    """A table of outcomes: double click or Enter chooses one, Delete removes it."""
    view = item_table(titles, name, LIST_ICON_PIXELS)
    view.setTabKeyNavigation(False)
    view.horizontalHeader().setDefaultAlignment(LEFT)
    view.itemDoubleClicked.connect(lambda _item: choose())
    keys_in(view, Qt.Key.Key_Return, choose)
    keys_in(view, Qt.Key.Key_Delete, remove)
    return view


def item(text: str, tip: str) -> QTableWidgetItem:
    """A cell of a table of items, with its tool tip."""
    result = QTableWidgetItem(text)
    set_tip(result, tip)
    return result


def outcome_item(look: Look, theme: Theme, text: str, tip: str) -> QTableWidgetItem:
    """A cell with an outcome, in its colour."""
    result = item(text, tip)
    colour = theme.tokens.tone(look.tone)
    result.setIcon(icons.icon(look.icon, colour, colour))
    result.setForeground(QColor(colour))
    return result


class FrozenColumn(RecordView):
    """The first column of a table once more, above it: it stays in view while the others are scrolled sideways."""

    def __init__(self, table: RecordView) -> None:
        super().__init__(table._records, table)
        self._table = table
        self.setSelectionModel(table.selectionModel())
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFocusProxy(table)
        self.setObjectName("frozen")
        self.setAccessibleName(table.accessibleName())
        self.setSelectionMode(table.selectionMode())
        for bars in (self.setHorizontalScrollBarPolicy, self.setVerticalScrollBarPolicy):
            bars(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for column in range(1, table.model().columnCount()):
            self.setColumnHidden(column, True)
        theirs, ours = table.horizontalHeader(), self.horizontalHeader()
        ours.setHighlightSections(False)
        ours.setSectionsClickable(True)
        ours.sectionClicked.connect(self._sort)
        ours.sectionResized.connect(lambda column, _old, new: table.setColumnWidth(column, new))
        theirs.sectionResized.connect(self._place)
        theirs.sortIndicatorChanged.connect(self._show_order)
        table.verticalScrollBar().valueChanged.connect(self.verticalScrollBar().setValue)
        self.verticalScrollBar().valueChanged.connect(table.verticalScrollBar().setValue)
        self.customContextMenuRequested.connect(table.customContextMenuRequested)
        self.activated.connect(table.activated)
        table.viewport().installEventFilter(self)
        self._place()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Be as high as the table's viewport."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show):
            self._place()
        return False

    def _place(self) -> None:
        self.setColumnWidth(0, self._table.columnWidth(0))
        header = self._table.horizontalHeader().height()
        height = header + self._table.viewport().height()
        self.setGeometry(0, 0, self._table.columnWidth(0), height)
        self.horizontalHeader().setFixedHeight(header)

    def _show_order(self, column: int, order: Qt.SortOrder) -> None:
        self.horizontalHeader().setSortIndicator(column, order)
        self.horizontalHeader().setSortIndicatorShown(column == 0)

    def _sort(self, column: int) -> None:
        header = self._table.horizontalHeader()
        again = header.sortIndicatorSection() == column and header.sortIndicatorOrder() is Qt.SortOrder.AscendingOrder
        header.setSortIndicator(column, Qt.SortOrder.DescendingOrder if again else Qt.SortOrder.AscendingOrder)


def fit_height(view: QTableView) -> None:
    """Make a table in a page as high as its lines, up to a limit: the page scrolls, not each short table."""
    lines = min(MOST_LINES, max(1, view.model().rowCount()))
    bar = view.horizontalScrollBar().sizeHint().height()
    header = view.horizontalHeader().sizeHint().height()
    view.setFixedHeight(header + lines * view.verticalHeader().defaultSectionSize() + bar + 2)


def copy_rows(view: QTableView) -> None:
    """Copy the chosen lines with their headings, as a spreadsheet takes them; shortened values are copied whole."""
    rows = chosen_rows(view)
    model, columns = view.model(), range(view.model().columnCount())
    lines = [[str(model.headerData(column, Qt.Orientation.Horizontal)) for column in columns]]
    lines += [[_whole(model.index(row, column)) for column in columns] for row in rows]
    if rows:
        QGuiApplication.clipboard().setText("\n".join("\t".join(line) for line in lines))


def _copy(view: QTableView) -> None:
    """Copy the current cell, or all chosen lines where there are several."""
    if len(view.selectionModel().selectedRows()) > 1:
        copy_rows(view)
    elif value := _whole(view.currentIndex()):
        QGuiApplication.clipboard().setText(value)


def _whole(index: QModelIndex) -> str:
    value = index.data(_TIP) or index.data(_TEXT)
    return "" if value is None else str(value).replace("\t", " ")
