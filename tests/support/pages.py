"""What a report is printed from, without a window."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from PySide6.QtGui import QColor, QImage, QPageSize, QPainter, QTextDocument

from counterfoil import AuditFinished, AuditRequest, CancelToken, StepReplayed
from counterfoil_app.model.step_data import StepData
from counterfoil_app.verdict import report_pages
from counterfoil_app.verdict.report_document import Contents, Curves
from support.fake_engine import FakeEngine, envelope_of


def contents(engine: FakeEngine, plan: AuditRequest | None = None, **changed: Any) -> Contents:
    """Return what the report of a replay is made from, with these fields of what was found changed."""
    plan = plan or AuditRequest(Path("honest.cfoil"), None, "cpu")
    events = list(engine.audit(plan, CancelToken()))
    assert isinstance(events[-1], AuditFinished)
    summary = engine.summary(plan.run, None)
    steps = StepData(summary)
    steps.add(event.row for event in events if isinstance(event, StepReplayed))
    report = replace(events[-1].report, **changed)
    envelope = envelope_of(engine.preview(report, datetime(2026, 11, 21, tzinfo=UTC)))
    return Contents(report, summary, Curves.of(steps.table), envelope, "honest.verdict.json")


def endless(contents: Contents) -> QTextDocument:
    """The report on one endless page: nothing is tried to fill pages well."""
    return report_pages.make_document(contents, 664, 100_000)


def text_of(contents: Contents) -> str:
    """What the report says."""
    return endless(contents).toPlainText()


def page_images(contents: Contents, dots_per_inch: int = 110) -> list[QImage]:
    """Draw the pages of the report as pictures, with the same layout as on paper but no margins."""
    size = QPageSize(QPageSize.PageSizeId.A4).sizePixels(report_pages.DOTS_PER_INCH)
    margin = round(2 * report_pages.MARGIN_MILLIMETRES / 25.4 * report_pages.DOTS_PER_INCH)
    width, height = size.width() - margin, size.height() - margin
    document = report_pages.make_document(contents, width, height - report_pages.FOOTER_PIXELS)
    pictures = []
    scale = dots_per_inch / report_pages.DOTS_PER_INCH
    for number in range(document.pageCount()):
        image = QImage(round(width * scale), round(height * scale), QImage.Format.Format_RGB32)
        image.fill(QColor("#ffffff"))
        painter = QPainter(image)
        painter.scale(scale, scale)
        report_pages.draw_page(painter, document, number, contents)
        painter.end()
        pictures.append(image)
    return pictures
