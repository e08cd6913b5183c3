"""The report to print: what a signed verdict says, for people, with how to check it (PDF, A4)."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from PySide6.QtCore import QBuffer, QCoreApplication, QIODevice, QMarginsF, QRectF, QSizeF, Qt, QUrl
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QImage,
    QPageLayout,
    QPageSize,
    QPainter,
    QPalette,
    QPdfWriter,
    QTextDocument,
)

from counterfoil import AuditReport, BundleSummary, Dispute, Finding, Outcome, StepTable, __version__
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import translated
from counterfoil_app.looks.theme import LIGHT
from counterfoil_app.verdict import chart
from counterfoil_app.verdict.chart import Floats, Series

MARGIN_MILLIMETRES = 17.0
POINTS_PER_INCH = 72
TEXT_POINTS = 9.0
FOOTER_POINTS = 18.0
CHART_HEIGHT = 165.0
TENSORS = 12
"""Most differing tensors that the report lists."""
ELEMENTS = 6
"""Most exactly computed elements that the report lists."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("report", text)


@dataclass(frozen=True)
class Curves:
    """What the charts show, one value for each replayed step.

    Attributes:
        steps: Step numbers: float64 [n].
        trainer_loss: float64 [n].
        replay_loss: float64 [n]; not a number where the step could not be judged.
        corrections: float64 [n].
    """

    steps: Floats
    trainer_loss: Floats
    replay_loss: Floats
    corrections: Floats

    @classmethod
    def of(cls, steps: StepTable) -> Curves:
        """Take the curves out of the step table."""
        places = np.flatnonzero(steps.has_row)
        return cls(
            (places + 1).astype(np.float64),
            steps.column("trainer_loss")[places],
            np.where(steps.unjudged, math.nan, steps.replay_loss)[places],
            steps.column("corrections")[places].astype(np.float64),
        )


@dataclass(frozen=True)
class Contents:
    """What a report is made from.

    Attributes:
        report: What the replay found.
        summary: The overview of the bundle; None when it could not be read.
        curves: What the charts show.
        envelope: The signed verdict (DSSE, JSON).
        verdict_name: File name of the signed verdict.
    """

    report: AuditReport
    summary: BundleSummary | None
    curves: Curves
    envelope: bytes
    verdict_name: str

    @property
    def statement(self) -> dict[str, object]:
        """The signed statement."""
        found: dict[str, object] = json.loads(base64.b64decode(json.loads(self.envelope)["payload"]))
        return found

    @property
    def key_id(self) -> str:
        """The key that signed."""
        return str(json.loads(self.envelope)["signatures"][0]["keyid"])


def make_pdf(contents: Contents) -> bytes:
    """Return the report as PDF; raises MemoryError when Qt cannot draw it."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setTitle(_tr("Audit report: {0}").format(contents.report.bundle_name))
    writer.setCreator(f"Counterfoil {__version__}")
    layout = QPageLayout(
        QPageSize(QPageSize.PageSizeId.A4),
        QPageLayout.Orientation.Portrait,
        QMarginsF(*[MARGIN_MILLIMETRES] * 4),
        QPageLayout.Unit.Millimeter,
    )
    writer.setPageLayout(layout)
    writer.setResolution(POINTS_PER_INCH * 10)
    area = layout.paintRect(QPageLayout.Unit.Point)
    document = make_document(contents, area.width(), area.height() - FOOTER_POINTS)
    painter = QPainter()
    if not painter.begin(writer):
        raise MemoryError("the report cannot be begun")
    painter.scale(writer.resolution() / POINTS_PER_INCH, writer.resolution() / POINTS_PER_INCH)
    for number in range(document.pageCount()):
        if number and not writer.newPage():
            painter.end()
            raise MemoryError("the report has no room for another page")
        _draw_page(painter, document, number, contents)
    if not painter.end():
        raise MemoryError("the report cannot be finished")
    return bytes(buffer.data().data())


def page_images(contents: Contents, dots_per_inch: int = 110) -> list[QImage]:
    """Draw the pages of the report as pictures, with the same layout as on paper but no margins."""
    size = QPageSize(QPageSize.PageSizeId.A4).sizePoints()
    margin = MARGIN_MILLIMETRES / 25.4 * POINTS_PER_INCH
    width, height = size.width() - 2 * margin, size.height() - 2 * margin
    document = make_document(contents, width, height - FOOTER_POINTS)
    pictures = []
    scale = dots_per_inch / POINTS_PER_INCH
    for number in range(document.pageCount()):
        image = QImage(round(width * scale), round(height * scale), QImage.Format.Format_RGB32)
        image.fill(QColor("#ffffff"))
        painter = QPainter(image)
        painter.scale(scale, scale)
        _draw_page(painter, document, number, contents)
        painter.end()
        pictures.append(image)
    return pictures


def _draw_page(painter: QPainter, document: QTextDocument, number: int, contents: Contents) -> None:
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
    font.setPixelSize(7)
    painter.setFont(font)
    painter.setPen(QColor(LIGHT.muted))
    line = QRectF(0, height + 6, width, FOOTER_POINTS - 6)
    page = _tr("Page {0} of {1}").format(number + 1, document.pageCount())
    about = _tr("{0}: {1}").format(contents.report.bundle_name, contents.report.headline)
    painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, about)
    painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom, page)
    painter.restore()


def _font() -> QFont:
    font = QFont()
    font.setPixelSize(round(TEXT_POINTS))  # the document is laid out in points, whatever the screen's resolution is
    return font


def make_document(contents: Contents, width: float, height: float) -> QTextDocument:
    """Lay the report out on pages of a size in points."""
    document = QTextDocument()
    document.setDocumentMargin(0)
    document.setDefaultFont(_font())
    document.setDefaultStyleSheet(_STYLE)
    pictures = charts(contents, width)
    for number, (_, image) in enumerate(pictures):
        document.addResource(QTextDocument.ResourceType.ImageResource.value, QUrl(f"chart:{number}"), image)
    document.setPageSize(QSizeF(width, height))
    document.setHtml(_html(contents, [name for name, _ in pictures], round(width)))
    return document


def charts(contents: Contents, width: float) -> list[tuple[str, QImage]]:
    """Draw the report's charts, each with its caption."""
    curves = contents.curves
    if not len(curves.steps):
        return []
    mark = float(contents.report.dispute.step) if contents.report.dispute is not None else None
    step = _tr("step")
    loss = [
        Series(_tr("trainer"), curves.steps, curves.trainer_loss, LIGHT.trainer),
        Series(_tr("replay"), curves.steps, curves.replay_loss, LIGHT.replay, dots=True),
    ]
    corrections = [Series("", curves.steps, curves.corrections, LIGHT.replay)]
    dashed = _tr(" The dashed line is the disputed step.") if mark is not None else ""
    return [
        (
            _tr("Loss of each replayed step: the line is the trainer's, the dots are the replay's.") + dashed,
            chart.draw(loss, width, CHART_HEIGHT, mark, step),
        ),
        (
            _tr("Corrections: logged roundings in which this machine took the trainer's direction.") + dashed,
            chart.draw(corrections, width, CHART_HEIGHT, mark, step),
        ),
    ]


_STYLE = f"""
h1 {{ font-size: 17px; margin: 0 0 2px 0; }}
h2 {{ font-size: 12px; margin: 14px 0 4px 0; }}
p {{ margin: 2px 0 4px 0; }}
td {{ padding: 2px 8px 2px 0; }}
.name, .muted {{ color: {LIGHT.muted}; }}
.hash {{ font-family: monospace; font-size: 7.5px; }}
.box {{ padding: 8px 12px; }}
.outcome {{ font-size: 20px; font-weight: bold; }}
"""


def _html(contents: Contents, captions: Sequence[str], width: int) -> str:
    parts = [*_summary(contents, width), _heading(_tr("Checks"), new_page=True)]
    parts.append(_checks(contents.report, width))
    if contents.report.dispute is not None:
        parts += _dispute(contents.report.dispute, width)
    if captions:
        # Two charts fill half a page: after a dispute they would leave their heading behind.
        parts.append(_heading(_tr("The replay"), new_page=contents.report.dispute is not None))
        for number, caption in enumerate(captions):
            parts.append(f'<p><img src="chart:{number}" width="{width}" height="{CHART_HEIGHT:.0f}"></p>')
            parts.append(f'<p class="muted">{escape(caption)}</p>')
    parts += _environments(contents.report, width)
    parts += _how_to_verify(contents)
    return "".join(parts)


def _heading(title: str, *, new_page: bool = False) -> str:
    style = ' style="page-break-before: always"' if new_page else ""
    return f"<h2{style}>{escape(title)}</h2>"


def _table(rows: Iterable[tuple[str, str]], width: int) -> str:
    """Names and values; the values are HTML."""
    cells = "".join(
        f'<tr><td width="{width * 24 // 100}" class="name">{escape(name)}</td><td>{value}</td></tr>'
        for name, value in rows
    )
    return f'<table width="{width}" cellspacing="0">{cells}</table>'


def _columns(head: Sequence[str], lines: Iterable[Sequence[str]], width: int) -> str:
    """A table of values under headings; the values are plain text."""
    titles = "".join(f'<td class="name">{escape(title)}</td>' for title in head)
    rows = "".join(
        "<tr>" + "".join(f'<td class="hash">{escape(cell)}</td>' for cell in line) + "</tr>" for line in lines
    )
    return f'<table width="{width}" cellspacing="0"><tr>{titles}</tr>{rows}</table>'


def _hash(digest: str) -> str:
    return f'<span class="hash">{escape(digest)}</span>'


def _summary(contents: Contents, width: int) -> list[str]:
    report, summary = contents.report, contents.summary
    tone = words.outcome(report.outcome, report.sample).tone
    box = (
        f'<table width="{width}" cellspacing="0" cellpadding="9" style="margin-top: 8px; margin-bottom: 8px">'
        f'<tr><td width="5" bgcolor="{LIGHT.tone(tone)}"></td>'
        f'<td class="box" bgcolor="{LIGHT.tint(tone)}"><span class="outcome" style="color: {LIGHT.tone(tone)}">'
        f"{escape(report.headline)}</span><br>{escape(translated(report.reason))}</td></tr></table>"
    )
    source = {
        "client": _tr("compared with the client's own order file"),
        "bundle": _tr("taken from the bundle itself; not compared with the client's own file"),
    }[report.order_source]
    none = escape(_tr("could not be read"))
    facts = [
        (_tr("Bundle"), escape(report.bundle_name)),
        (_tr("SHA-256 of the file"), _hash(report.bundle_digest.hex) if report.bundle_digest else none),
        (_tr("Job"), escape(report.title) or none),
        (_tr("Order"), escape(source)),
        (_tr("Order digest"), _hash(report.order_digest.hex) if report.order_digest else none),
        (_tr("Run root"), _hash(report.run_root.hex) if report.run_root else none),
        (_tr("Trainer's key"), _hash(report.trainer_key) if report.trainer_key else none),
        (_tr("Steps"), escape(_steps(report))),
        (_tr("Time of the replay"), escape(text.duration(report.seconds))),
        (_tr("Rounding log"), escape(_log(report))),
    ]
    if summary is not None:
        facts.insert(3, (_tr("Recipe"), escape(f"{summary.order.recipe}; {summary.order.optimizer}")))
        facts.insert(4, (_tr("Precision"), escape(summary.order.precision)))
    predicate = contents.statement["predicate"]
    assert isinstance(predicate, dict)
    signature = [
        (_tr("Signed at"), escape(str(predicate["timeVerified"]))),
        (_tr("Auditor's key"), _hash(contents.key_id)),
        (_tr("Signed verdict"), escape(contents.verdict_name)),
    ]
    return [
        f"<h1>{escape(_tr('Audit report'))}</h1>",
        f'<p class="muted">{escape(_tr("Is the training that was ordered the training that happened?"))}</p>',
        box,
        _heading(_tr("What was audited")),
        _table(facts, width),
        _heading(_tr("What the outcome means")),
        f"<p>{escape(meaning(report))}</p>",
        _heading(_tr("Signature")),
        _table(signature, width),
        f'<p class="muted">{escape(_tr("This page is for reading. What counts is the signed verdict in the file named above: it can be checked by anybody who has the public key of the auditor."))}</p>',  # noqa: E501
    ]


def meaning(report: AuditReport) -> str:
    """What an outcome means for the client, as a plain paragraph."""
    if report.outcome is Outcome.VERIFIED and report.sample is not None and not report.sample.whole:
        return _tr(
            "Every step that was replayed gave the trainer's own result, bit for bit. The other steps were not looked "
            "at. {0}"
        ).format(translated(report.sample.describe()))
    return {
        Outcome.VERIFIED: _tr(
            "Every ordered step was carried out again on another machine and gave the trainer's own result, bit for "
            "bit. The model that the trainer delivers in this run is the model that the order leads to."
        ),
        Outcome.DISPUTED: _tr(
            "A step was carried out again and did not give what the trainer signed. The trainer's signature binds the "
            "trainer to the claimed result of that very step, so the dispute can be settled by anybody who repeats "
            "this one step."
        ),
        Outcome.INCONCLUSIVE: _tr(
            "The replay did not come to an end, or this machine's own arithmetic was too inexact. Nothing follows for "
            "or against the trainer."
        ),
        Outcome.REFUSED: _tr(
            "The file is not an acceptable run of the order. Nothing was concluded about the training itself; ask the "
            "trainer for the run of this order."
        ),
        Outcome.ERROR: _tr("Counterfoil itself failed. Nothing follows for or against the trainer."),
    }[report.outcome]


def _steps(report: AuditReport) -> str:
    line = _tr("{0} ordered, {1} replayed").format(text.count(report.steps_ordered), text.count(report.steps_replayed))
    if report.mismatched_steps:
        line += ", " + _tr("{0} different").format(text.count(len(report.mismatched_steps)))
    return line


def _log(report: AuditReport) -> str:
    return _tr("{0} entries, {1}; {2} corrections, {3} contradictions, {4} omissions").format(
        text.count(report.log_entries),
        text.size(report.log_bytes),
        text.count(report.corrections),
        text.count(report.contradictions),
        text.count(report.omissions),
    )


def _checks(report: AuditReport, width: int) -> str:
    lines = []
    for check in report.checks:
        look = words.check_state(check.state)
        state = f'<b style="color: {LIGHT.tone(look.tone)}">{escape(look.word)}</b>'
        lines.append(
            f'<tr><td width="{width * 16 // 100}">{state}</td><td><b>{escape(words.check_title(check.number))}</b>'
            f'<br><span class="muted">{escape(translated(check.detail))}</span></td></tr>'
        )
    return f'<table width="{width}" cellspacing="0">{"".join(lines)}</table>'


def _dispute(dispute: Dispute, width: int) -> list[str]:
    operator = dispute.operator
    facts = [
        (_tr("First different step"), escape(text.count(dispute.step))),
        (_tr("What differs"), escape(", ".join(words.part(part) for part in dispute.parts))),
        (_tr("Trainer's leaf"), _hash(dispute.trainer_leaf.hex)),
        (_tr("Replay's leaf"), _hash(dispute.replay_leaf.hex) if dispute.replay_leaf else _tr("not replayed")),
        (_tr("Found by"), escape(_tr("{0} comparisons in the Merkle tree").format(text.count(len(dispute.path))))),
        (_tr("Trainer's loss"), escape(f"{text.number(dispute.trainer_loss)} ({float(dispute.trainer_loss).hex()})")),
        (_tr("Replay's loss"), escape(f"{text.number(dispute.replay_loss)} ({float(dispute.replay_loss).hex()})")),
    ]
    if dispute.inputs:
        facts.insert(2, (_tr("Rows that were not ordered"), escape(", ".join(dispute.inputs))))
    if operator is not None:
        place = _tr("{0}, number {1} of {2}").format(operator.where, operator.number, operator.total)
        facts.insert(2, (_tr("First different operator"), escape(place)))
    parts = [_heading(_tr("Dispute")), _table(facts, width), f"<p>{escape(words.dispute_meaning(dispute))}</p>"]
    if dispute.tensors:
        parts.append(
            f"<p>{escape(_tr('State tensors that differ at step {0}, largest difference first:').format(dispute.compared_at))}</p>"  # noqa: E501
        )
        head = (_tr("tensor"), _tr("largest difference"), _tr("ulps"), _tr("elements"), _tr("trainer"), _tr("replay"))
        lines = (
            (
                item.name,
                text.number(item.max_abs),
                text.count(item.max_ulps),
                text.count(item.differing),
                text.number(item.trainer),
                text.number(item.replay),
            )
            for item in dispute.tensors[:TENSORS]
        )
        parts.append(_columns(head, lines, width))
        if len(dispute.tensors) > TENSORS:
            more = _tr("and {0} more").format(text.count(len(dispute.tensors) - TENSORS))
            parts.append(f'<p class="muted">{escape(more)}</p>')
    if dispute.finding is not None:
        parts += _finding(dispute.finding, width)
    return parts


def _finding(finding: Finding, width: int) -> list[str]:
    """What is proven, with the elements that say most."""
    parts = [_heading(_tr("Finding")), f"<p>{escape(translated(finding.sentence))}</p>"]
    if finding.elements:
        head: tuple[str, ...] = (_tr("element"), _tr("exact value"), _tr("replay"), _tr("trainer"))
        head += () if finding.defined else (_tr("error, in bounds"),)
        lines = (
            (
                text.index(item.index),
                item.exact,
                repr(item.replay),
                _tr("not known") if item.trainer is None else repr(item.trainer),
                *(() if finding.defined else (f"{item.error:.2g}",)),
            )
            for item in finding.elements[:ELEMENTS]
        )
        parts.append(f"<p>{escape(words.finding_extent(finding))}</p>")
        parts.append(_columns(head, lines, width))
    return parts


def _environments(report: AuditReport, width: int) -> list[str]:
    parts = []
    for title, pairs in (
        (_tr("The auditor's machine"), report.environment),
        (_tr("The trainer's machine, as the trainer signed it"), report.trainer_environment),
    ):
        if pairs:
            parts += [_heading(title), _table([(name, escape(value)) for name, value in pairs], width)]
    return parts


def _how_to_verify(contents: Contents) -> list[str]:
    command = f"counterfoil verify {contents.verdict_name} --key auditor.pub.pem --bundle {contents.report.bundle_name}"
    lines = [
        _tr("You need the signed verdict, the bundle, and the auditor's public key from a source that you trust."),
        _tr("With Counterfoil: File, Open a verdict, or on the command line:"),
    ]
    other = _tr(
        "Without Counterfoil: the verdict is a DSSE envelope with an Ed25519 signature around an in-toto statement; "
        "OpenSSL 3 can check it, as the page on the verdict in Counterfoil's documentation shows."
    )
    return [
        _heading(_tr("How to verify this report")),
        *(f"<p>{escape(line)}</p>" for line in lines),
        f'<p class="hash">{escape(command)}</p>',
        f"<p>{escape(other)}</p>",
    ]
