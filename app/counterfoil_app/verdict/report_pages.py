"""Lays the report out on pages of A4 and prints it (PDF/A-1b): 13 pixels on a line of 20, of which an inch has 96."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QRectF, QSizeF, Qt, QUrl
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QImage,
    QPagedPaintDevice,
    QPageLayout,
    QPageSize,
    QPainter,
    QPalette,
    QPdfWriter,
    QTextDocument,
    QTextOption,
)

from counterfoil import __version__
from counterfoil_app.looks.fonts import MONO, TEXT, TEXT_PIXELS
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import LIGHT
from counterfoil_app.verdict.report_document import Chart, Contents, Section, charts, join_sections, sections, titles

MARGIN_MILLIMETRES = 17.0
DOTS_PER_INCH = 96
FOOTER_PIXELS = 28.0
CHART_HEIGHTS = (220, 190, 165, 260)
"""Heights of a chart that are tried, so that no page has only a few lines."""
LAST_SECTIONS = (0, 1, 2, 3)
"""How many sections at the end are put on a page of their own, tried for the same reason."""
LEAST_ON_A_PAGE = 0.2
"""Share of each page that is filled, if one of the heights can bring that about."""
WELL_FILLED, HALF = 0.7, 0.5
"""Share of each page but the last, and of the last, with which nobody looks further."""
LEAST_BEGUN = (0.3, 0.12)
"""Share of a page that must be left for a section that goes over two, tried for the same reason."""
HEADING_GAP = 20
LINE_PIXELS = 20
_STYLE = f"""
h1 {{ font-size: 24px; margin: 0 0 2px 0; }}
h2 {{ font-size: 15px; margin: {HEADING_GAP}px 0 4px 0; }}
p {{ margin: 2px 0 6px 0; }}
td {{ padding: 1px 10px 1px 0; }}
th {{ padding: 1px 10px 1px 0; font-weight: normal; }}
.name, .muted {{ color: {LIGHT.muted}; }}
.hash {{ font-family: '{MONO}'; font-size: 11px; }}
.box {{ padding: 12px 16px; }}
.outcome {{ font-size: 26px; font-weight: bold; }}
"""

_tr = texts("report")


def make_pdf(contents: Contents) -> bytes:
    """Return the report as PDF; raises MemoryError when Qt cannot draw it."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setPdfVersion(QPagedPaintDevice.PdfVersion.PdfVersion_A1b)
    writer.setTitle(_tr("{0}: {1}").format(titles(contents)[0], contents.judged_file))
    writer.setCreator(f"Counterfoil {__version__}")
    layout = QPageLayout(
        QPageSize(QPageSize.PageSizeId.A4),
        QPageLayout.Orientation.Portrait,
        QMarginsF(*[MARGIN_MILLIMETRES] * 4),
        QPageLayout.Unit.Millimeter,
    )
    writer.setPageLayout(layout)
    writer.setResolution(DOTS_PER_INCH * 10)
    area = layout.paintRectPixels(DOTS_PER_INCH)
    document = make_document(contents, area.width(), area.height() - FOOTER_PIXELS)
    painter = QPainter()
    if not painter.begin(writer):
        raise MemoryError("the report cannot be begun")
    painter.scale(writer.resolution() / DOTS_PER_INCH, writer.resolution() / DOTS_PER_INCH)
    for number in range(document.pageCount()):
        if number and not writer.newPage():
            painter.end()
            raise MemoryError("the report has no room for another page")
        draw_page(painter, document, number, contents)
    if not painter.end():
        raise MemoryError("the report cannot be finished")
    return bytes(buffer.data().data())


def draw_page(painter: QPainter, document: QTextDocument, number: int, contents: Contents) -> None:
    """Draw one page of the report, with its footer."""
    width, height = document.pageSize().width(), document.pageSize().height()
    painter.save()
    painter.translate(0, -number * height)
    context = QAbstractTextDocumentLayout.PaintContext()
    context.clip = QRectF(0, number * height, width, height)
    context.palette.setColor(QPalette.ColorRole.Text, QColor(LIGHT.text))
    painter.setClipRect(context.clip)
    document.documentLayout().draw(painter, context)
    painter.restore()
    painter.save()
    font = _font()
    font.setPixelSize(10)
    painter.setFont(font)
    painter.setPen(QColor(LIGHT.muted))
    line = QRectF(0, height + 8, width, FOOTER_PIXELS - 8)
    page = _tr("Page {0} of {1}").format(number + 1, document.pageCount())
    about = _tr("{0}: {1}").format(contents.judged_file, contents.look.word)
    if contents.case.number:
        about = f"{contents.case.number}  \u00b7  {about}"
    painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, about)
    painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom, page)
    painter.restore()


def _font() -> QFont:
    font = QFont(TEXT)
    font.setPixelSize(TEXT_PIXELS)  # the document is laid out in pixels of paper, whatever the screen's are
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


def make_document(contents: Contents, width: float, height: float) -> QTextDocument:
    """Lay the report out on pages of a size in pixels, none of which has only a few lines."""
    tried = []
    for chart_height in CHART_HEIGHTS:
        drawn = charts(contents, width, chart_height)
        for last, begun in product(LAST_SECTIONS, LEAST_BEGUN):
            document = _laid_out(contents, drawn, width, height, chart_height, last, begun)
            filled = pages_filled(document)
            if len(filled) == 1 or (min(filled[:-1]) >= WELL_FILLED and filled[-1] >= HALF):
                return document
            # A last page may end early; one in the middle looks as if something were missing.
            tried.append((min(filled) >= LEAST_ON_A_PAGE, -len(filled), min(filled[:-1]), document))
    return max(tried, key=lambda each: each[:3])[-1]


def pages_filled(document: QTextDocument) -> list[float]:
    """How far down each page is written on, as a share of its height."""
    height, layout = document.pageSize().height(), document.documentLayout()
    result = [0.0] * document.pageCount()
    block = document.begin()
    while block.isValid():
        where = layout.blockBoundingRect(block)
        lines = block.layout()
        for number in range(lines.lineCount()):
            line = lines.lineAt(number)
            bottom = where.top() + line.y() + line.height()
            page = min(int((where.top() + line.y()) / height), len(result) - 1)
            result[page] = max(result[page], bottom / height - page)
        block = block.next()
    return result


def _laid_out(
    contents: Contents,
    pictures: Sequence[Chart],
    width: float,
    height: float,
    chart_height: int,
    last: int,
    begun: float,
) -> QTextDocument:
    parts = sections(contents, pictures, round(width), chart_height)
    images = [picture.image for picture in pictures]
    heights = [_written([part], images, width).size().height() for part in parts]
    starts = page_starts(heights, [part.whole for part in parts], height, last, begun)
    document = _written(parts, images, width, starts)
    document.setPageSize(QSizeF(width, height))
    return document


def page_starts(
    heights: Sequence[float], whole: Sequence[bool], room: float, last: int = 0, begun: float = LEAST_BEGUN[0]
) -> frozenset[int]:
    """Return which sections begin a page.

    Args:
        heights: Height of each section, with its heading.
        whole: Whether it must not go over two pages.
        room: Height of a page.
        last: How many sections at the end begin a page of their own, whatever room there is before them.
        begun: Share of a page that must be left for a section that goes over two.
    """
    starts, used = set(), 0.0
    for number, (height, kept) in enumerate(zip(heights, whole, strict=True)):
        left = room - used - (HEADING_GAP if used else 0)
        fits = height <= left
        by_itself = used > 0 and number == len(heights) - last
        if by_itself or (not fits and used and ((kept and height <= room) or left < begun * room)):
            starts.add(number)
            used = 0.0
        used = (used + (HEADING_GAP if used else 0) + height) % room
        if used < LINE_PIXELS or used + HEADING_GAP > room - LINE_PIXELS:
            # The next section goes to the next page by itself; a break before it would leave an empty one.
            used = 0.0
    return frozenset(starts)


def _written(
    parts: Sequence[Section], images: Sequence[QImage], width: float, new_pages: frozenset[int] = frozenset()
) -> QTextDocument:
    document = QTextDocument()
    document.setDocumentMargin(0)
    document.setUseDesignMetrics(True)
    document.setDefaultFont(_font())
    document.setDefaultStyleSheet(_STYLE)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WordWrap)  # words are never split
    document.setDefaultTextOption(option)
    for number, image in enumerate(images):
        document.addResource(QTextDocument.ResourceType.ImageResource.value, QUrl(f"chart:{number}"), image)
    document.setTextWidth(width)
    document.setHtml(join_sections(parts, new_pages))
    return document
