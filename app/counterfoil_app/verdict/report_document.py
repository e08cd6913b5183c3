"""What the report says: a signed verdict for a board or a court, with how it was found and how to check it.

:mod:`report_pages` lays it out and prints it.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape

import numpy as np
from PySide6.QtGui import QImage

from counterfoil import (
    AdjudicationReport,
    AuditReport,
    BundleSummary,
    Digest,
    Dispute,
    Finding,
    OrderTrust,
    Outcome,
    StepTable,
    Trust,
    figures,
    joined_time,
)
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import LIGHT, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.verdict import chart, report_hearing
from counterfoil_app.verdict.chart import Floats, Series

EQUAL, UNEQUAL = "=", "\u2260"
TENSORS = 12
"""Most differing tensors that the report lists."""
ELEMENTS = 6
"""Most exactly computed elements that the report lists."""

_tr = texts("report")


@dataclass(frozen=True)
class Curves:
    """What the charts show, one value for each replayed step."""

    steps: Floats  #: Step numbers: float64 [n].
    trainer_loss: Floats  #: float64 [n].
    replay_loss: Floats  #: float64 [n]; not a number where the step could not be judged.
    corrections: Floats  #: float64 [n]; not a number but in matching steps, over which the verdict counts them.

    @classmethod
    def of(cls, steps: StepTable) -> Curves:
        """Take the curves out of the step table."""
        places = np.flatnonzero(steps.has_row)
        return cls(
            (places + 1).astype(np.float64),
            steps.column("trainer_loss")[places],
            np.where(steps.unjudged, math.nan, steps.replay_loss)[places],
            steps.counted("corrections")[places],
        )


@dataclass(frozen=True)
class Case:
    """What the head of a report says; empty where nothing was named."""

    number: str = ""  #: The case or file number.
    client: str = ""  #: Who ordered the training.
    trainer: str = ""  #: Who carried it out.
    auditor: str = ""  #: Who replayed it.


NO_CASE = Case()


@dataclass(frozen=True)
class Contents:
    """What a report is made from."""

    report: AuditReport | AdjudicationReport  #: What the replay found.
    summary: BundleSummary | None  #: The overview of the bundle; None when it could not be read.
    curves: Curves  #: What the charts show.
    envelope: bytes  #: The signed verdict (DSSE, JSON).
    verdict_name: str  #: File name of the signed verdict.
    case: Case = NO_CASE  #: Number and parties.
    order_name: str = ""  #: File name of the client's order; empty when none was given.
    order_file: Digest | None = None  #: SHA-256 of that file; None when it could not be read.
    #: What the outcome rests on, for who knows the auditor's keys; None where that is what the report says.
    trust: Trust | None = None

    @property
    def audit(self) -> AuditReport | None:
        """What an audit found; None where it is an adjudication."""
        return self.report if isinstance(self.report, AuditReport) else None

    @property
    def judged_file(self) -> str:
        """Name of the file that was judged."""
        return self.report.bundle_name if isinstance(self.report, AuditReport) else self.report.capsule_name

    @property
    def look(self) -> Look:
        """How the outcome is shown."""
        if isinstance(self.report, AuditReport):
            return replace(words.conclusion(self.report, self.rests_on), word=words.headline(self.report))
        return words.adjudication(self.report.outcome)

    @property
    def rests_on(self) -> Trust:
        """What the outcome rests on."""
        return self.report.trust if self.trust is None else self.trust

    @property
    def statement(self) -> dict[str, object]:
        """The signed statement."""
        found: dict[str, object] = json.loads(base64.b64decode(json.loads(self.envelope)["payload"]))
        return found

    @property
    def key_id(self) -> str:
        """The key that signed."""
        return str(json.loads(self.envelope)["signatures"][0]["keyid"])


@dataclass(frozen=True)
class Section:
    """A part of the report."""

    title: str  #: Its heading; empty for the first, which has a title of its own.
    body: str  #: What it says, as HTML.
    whole: bool = False  #: Whether it never goes over two pages.


@dataclass(frozen=True)
class Chart:
    """A picture of the report."""

    caption: str  #: What stands below it.
    said: str  #: What it shows, for who does not see it.
    image: QImage  #: The picture.


def charts(contents: Contents, width: float, height: float) -> list[Chart]:
    """Draw the report's charts."""
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
        Chart(
            _tr("Loss of each replayed step: the line is the trainer's, the dots are the replay's.") + dashed,
            " ".join(filter(None, (_said(_tr("Trainer's loss"), loss[0]), _said(_tr("Replay's loss"), loss[1])))),
            chart.draw(loss, width, height, mark, step, _tr("loss")),
        ),
        Chart(
            _tr("Corrections: logged roundings in which this machine took the trainer's direction.") + dashed,
            _said(_tr("Corrections"), corrections[0]),
            chart.draw(corrections, width, height, mark, step, _tr("corrections"), counts=True),
        ),
    ]


def _said(name: str, series: Series) -> str:
    """A curve in a sentence; empty where there is nothing of it."""
    finite = np.flatnonzero(np.isfinite(series.y))
    if not len(finite):
        return ""
    first, last, values = finite[0], finite[-1], series.y[finite]
    return _tr("{0}: {1} at step {2}, {3} at step {4}; between {5} and {6}.").format(
        name,
        text.number(series.y[first]),
        text.count(int(series.x[first])),
        text.number(series.y[last]),
        text.count(int(series.x[last])),
        text.number(values.min()),
        text.number(values.max()),
    )


def sections(contents: Contents, pictures: Sequence[Chart], width: int, height: int) -> list[Section]:
    """The parts of the report, in their order.

    Args:
        contents: What it is made from.
        pictures: The charts, which the document knows as ``chart:0`` and so on.
        width: Width of the page in pixels.
        height: Height of a chart.
    """
    report = contents.report
    parts = [
        Section("", _head(contents, width), whole=True),
        Section(_tr("What was audited"), _table(_facts(contents), width)),
        Section(_tr("What the outcome means"), _paragraph(_meaning(report)), whole=True),
        Section(
            _tr("Method"), "".join(_paragraph(f"{number}. {line}") for number, line in _method(contents)), whole=True
        ),
        Section(_tr("Checks"), _checks(report, width)),
    ]
    if report.dispute is not None:
        parts += _dispute(report.dispute, width)
    for number, picture in enumerate(pictures):
        image = f'<img src="chart:{number}" width="{width}" height="{height}" alt="{escape(picture.said)}">'
        body = f"<p>{image}</p>{_paragraph(picture.caption, 'muted')}"
        parts.append(Section("" if number else _tr("The replay"), body, whole=True))
    parts += _environments(report, width)
    parts += [] if contents.audit is None else _places(contents.audit, width)
    parts.append(Section(_tr("Signature"), _table(_signature(contents), width) + _line(contents, width), whole=True))
    parts.append(Section(_tr("How to verify this report"), _how_to_verify(contents), whole=True))
    parts.append(Section(_tr("Glossary"), _table(_glossary(), width)))
    return parts


def join_sections(parts: Iterable[Section], new_pages: frozenset[int] = frozenset()) -> str:
    """The HTML of sections; those of some numbers begin a page."""
    pieces = []
    for number, part in enumerate(parts):
        style = ' style="page-break-before: always"' if number in new_pages else ""
        pieces.append((f"<h2{style}>{escape(part.title)}</h2>" if part.title else "") + part.body)
    return "".join(pieces)


class Html(str):
    """A text with mark-up; all others are escaped where they are put into the page."""

    __slots__ = ()


def _html(value: str) -> str:
    return value if isinstance(value, Html) else escape(value)


def _paragraph(value: str, kind: str = "") -> str:
    return f'<p class="{kind}">{_html(value)}</p>' if kind else f"<p>{_html(value)}</p>"


def _table(rows: Iterable[tuple[str, str]], width: int) -> str:
    """Names and values."""
    cells = "".join(
        f'<tr><th scope="row" align="left" width="{width * 24 // 100}" class="name">{escape(name)}</th>'
        f"<td>{_html(value)}</td></tr>"
        for name, value in rows
    )
    return f'<table width="{width}" cellspacing="0">{cells}</table>'


def _columns(head: Sequence[str], lines: Iterable[Sequence[str]], width: int) -> str:
    """A table of values under headings; the values are plain text."""
    titles = "".join(f'<th scope="col" align="left" class="name">{escape(title)}</th>' for title in head)
    rows = "".join(
        "<tr>" + "".join(f'<td class="hash">{escape(cell)}</td>' for cell in line) + "</tr>" for line in lines
    )
    return f'<table width="{width}" cellspacing="0"><tr>{titles}</tr>{rows}</table>'


def _hash(digest: Digest | str | None) -> str:
    """A digest or a fingerprint; says where there is none."""
    known = digest.hex if isinstance(digest, Digest) else digest
    return Html(f'<span class="hash">{escape(known)}</span>') if known else _tr("could not be read")


def _head(contents: Contents, width: int) -> str:
    """Title, case and parties, and the outcome."""
    case, tone = contents.case, contents.look.tone
    title, question = titles(contents)
    none = _tr("not named")
    parties = [
        (_tr("Case number"), case.number),
        (_tr("Client"), case.client),
        (_tr("Trainer"), case.trainer),
        (_tr("Auditor"), case.auditor),
    ]
    box = (
        f'<table role="presentation" width="{width}" cellspacing="0" style="margin-top: 14px">'
        f'<tr><td width="6" bgcolor="{LIGHT.tone(tone)}"></td>'
        f'<td class="box" bgcolor="{LIGHT.tint(tone)}"><span class="outcome" style="color: {LIGHT.tone(tone)}">'
        f"{escape(contents.look.word)}</span><br>{_in_words(contents)}</td></tr></table>"
        f"{_table([*_rests_on(contents), *_merkle_path(contents)], width)}"
    )
    return (
        f"<h1>{escape(title)}</h1>"
        f"{_paragraph(question, 'muted')}"
        f"{_table([(name, value or none) for name, value in parties], width)}{box}"
    )


def titles(contents: Contents) -> tuple[str, str]:
    """The title, and the question that the report answers."""
    if contents.audit is None:
        return report_hearing.titles()
    return _tr("Audit report"), _tr("Is the training that was ordered the training that happened?")


def _merkle_path(contents: Contents) -> list[tuple[str, str]]:
    """How the comparisons lead from the run root, which the trainer signed, down to the disputed step."""
    dispute = contents.report.dispute
    if dispute is None or not dispute.path:
        return []
    compared = [
        f"{text.leaves(each.first_leaf, each.last_leaf)} {EQUAL if each.equal else UNEQUAL}" for each in dispute.path
    ]
    leaf = _tr("leaf {0}").format(dispute.trainer_leaf.short)
    return [(_tr("Merkle path"), Html(f'<span class="hash">{escape(", ".join([*compared, leaf]))}</span>'))]


def _rests_on(contents: Contents) -> list[tuple[str, Html]]:
    """Whose order, whose key, which machine: each in words, with a sign and in its colour."""
    signs = {Tone.OK: "\u2713", Tone.WARN: "!", Tone.BAD: "\u2717", Tone.MUTED: "\u2013"}
    rows = []
    for line, look in words.trust(contents.rests_on, contents.case.trainer):
        said = f'<b style="color: {LIGHT.tone(look.tone)}">{signs[look.tone]} {escape(look.word)}</b>'
        rows.append((translate(line.title), Html(said)))
    return rows


def _facts(contents: Contents) -> list[tuple[str, str]]:
    """What was audited: names and values."""
    report, summary = contents.report, contents.summary
    if isinstance(report, AdjudicationReport):
        rows = report_hearing.facts(report)
        return [(name, value if isinstance(value, str) else _hash(value)) for name, value in rows]
    source = {
        "client": _tr("compared with the client's own order file"),
        "signature": _tr("signed with the client's key, which was given"),
        "bundle": _tr("taken from the bundle itself; not compared with the client's own file"),
    }[report.order_source]
    order, made = contents.order_name, []
    recorded = None if summary is None or summary.run is None else summary.run.recorded
    if summary is not None:
        made = [
            (_tr("Recipe"), f"{summary.order.recipe}; {summary.order.optimizer}"),
            *_script(contents, report, summary),
            (_tr("Precision"), words.precision(summary.order.precision)),
        ]
        for file in summary.order.sources:
            known = "" if file.revision is None else _tr(", revision {0}").format(file.revision)
            made.append((_tr("Made from"), Html(f"{escape(file.file + known)}<br>{_hash(file.digest)}")))
    times = []
    if report.begun_at and report.ended_at:
        times = [
            (_tr("Replay begun"), text.moment(report.begun_at)),
            (_tr("Replay ended"), text.moment(report.ended_at)),
        ]
    return [
        (_tr("Job"), report.title or _tr("could not be read")),
        (_tr("File of the run"), report.bundle_name),
        (_tr("its SHA-256"), _hash(report.bundle_digest)),
        (_tr("Order"), source),
        *([(_tr("File of the order"), order), (_tr("its SHA-256"), _hash(contents.order_file))] if order else []),
        (_tr("Order digest"), _hash(report.order_digest)),
        *_consent(report),
        (_tr("Run root"), _hash(report.run_root)),
        (_tr("Trainer's key"), _hash(report.trainer_key)),
        *made,
        *((translate(name), translate(said)) for name, said in figures(report, recorded)),
        *times,
        (_tr("Time of the replay"), translate(joined_time(text.duration(report.seconds), report))),
    ]


def _script(contents: Contents, report: AuditReport, summary: BundleSummary) -> list[tuple[str, str]]:
    """How far the order was compared with the script that it came from; of another order than the judged, nothing."""
    trust = contents.rests_on.order
    line = summary.compared(
        (contents.key_id,),
        client_known=trust is OrderTrust.SIGNED,
        revoked=lambda key_id, signed_at: trust is OrderTrust.REVOKED and key_id == report.client_key,
    )
    if line is None or summary.order.digest not in (report.order_digest, report.run_order):
        return []
    said = escape(translate(line.said))
    return [(_tr("Script"), Html(f'<b style="color: {LIGHT.tone(Tone.WARN)}">{said}</b>' if line.less else said))]


def _consent(report: AuditReport) -> list[tuple[str, str]]:
    """Who stands by the order: names and values; nothing where it could not be read."""
    if report.run_order is None:
        return []
    key_id = report.client_key
    if key_id and report.given_client_key != key_id:
        signature = _tr("signed with a key that only the files themselves name")
    else:
        signature = words.order_signature(key_id, given=True)
    accepted = words.order_acceptance(bool(report.accepted_at), report.accepted_at)
    return [
        (_tr("Client's signature"), Html(escape(signature) + (f"<br>{_hash(key_id)}" if key_id else ""))),
        (_tr("Trainer's acceptance"), accepted),
    ]


def _signature(contents: Contents) -> list[tuple[str, str]]:
    predicate = contents.statement["predicate"]
    assert isinstance(predicate, dict)
    return [
        (_tr("Signed at"), text.moment(str(predicate["timeVerified"]))),
        (_tr("Auditor's key"), _hash(contents.key_id)),
        (_tr("Signed verdict"), contents.verdict_name),
        (_tr("its SHA-256"), _hash(Digest.of(contents.envelope))),
    ]


def _line(contents: Contents, width: int) -> str:
    """A line to sign on paper."""
    by_hand = _tr("On paper, for who needs that; what can be checked is the digital signature above.")
    rule = f"border-top: 1px solid {LIGHT.text}"
    gap, part = width * 6 // 100, width * 47 // 100
    signer = _tr("Signature, {0}").format(contents.case.auditor) if contents.case.auditor else _tr("Signature")
    cells = (
        f'<td width="{part}" class="line" style="{rule}">{escape(_tr("Place and date"))}</td>'
        f'<td width="{gap}"></td><td width="{part}" class="line" style="{rule}">{escape(signer)}</td>'
    )
    table = (
        f'<table role="presentation" width="{width}" cellspacing="0" style="margin-top: 44px"><tr>{cells}</tr></table>'
    )
    return _paragraph(by_hand, "muted") + table


def _method(contents: Contents) -> list[tuple[int, str]]:
    """How it was found, in sentences with their numbers."""
    if contents.audit is None:
        return list(enumerate(report_hearing.method(), start=1))
    sentences = (
        _tr(
            "The order fixes the whole training: the model, the data and their sequence, the initial state, and "
            "every operation of a step with its rounding."
        ),
        _tr(
            "The trainer carried the order out and signed one hash, the run root, to which every state, every "
            "loss and every rounding decision of the run is bound."
        ),
        _tr(
            "The auditor first checked the file against the order and the trainer's signature, and then this "
            "machine with known answers."
        ),
        _tr(
            "Then the auditor carried the chosen steps out again, operation by operation, and compared each "
            "step's hash with the trainer's: equal hashes mean equal results, down to the last bit."
        ),
        _tr(
            "A step that came out different was carried out once more with every sum in another order, and what "
            "differs first in it was held against its definition, or computed exactly: the trainer is accused only of "
            "what no sound machine gives."
        ),
    )
    return list(enumerate(sentences, start=1))


def _glossary() -> list[tuple[str, str]]:
    """The words of the report and what they mean."""
    return [
        (_tr("Order"), _tr("what the client wants trained, as a file that leaves nothing open")),
        (_tr("Run, bundle"), _tr("the file in which the trainer hands over what the training gave")),
        (_tr("Step"), _tr("one small change of the model, made from one portion of the data")),
        (_tr("State"), _tr("all numbers of the model and its optimizer after a step")),
        (_tr("SHA-256, hash, digest"), _tr("64 digits that name a content: another content has others")),
        (_tr("Leaf"), _tr("the hash of all that a step gave")),
        (_tr("Run root"), _tr("one hash over the leaves of all steps, in a Merkle tree; the trainer signed it")),
        (_tr("Rounding log"), _tr("the trainer's note of those roundings in which sound machines may differ")),
        (_tr("Fingerprint"), _tr("a short check value of what one operation of a step gave")),
        (_tr("Verdict"), _tr("what the auditor found, as a signed file; this report is made from it")),
    ]


def _in_words(contents: Contents) -> str:
    """Why, as it is signed: the finding first, and then what it rests on, what follows from it, and what is open."""
    report, dispute = contents.report, contents.report.dispute
    reason, caveat = translate(report.reason), words.caveat(report.outcome, contents.rests_on)
    if dispute is None:
        return escape(reason) + (f"<br><b>{escape(caveat)}</b>" if caveat else "")
    earlier, found = (
        None if contents.audit is None else contents.audit.earlier_mismatches,
        words.dispute_difference(dispute),
    )
    more = f"{reason.removeprefix(found).strip()} {words.dispute_consequence(dispute, earlier)}"
    return f"<b>{escape(found)}</b><br>{escape(more)}"


def _meaning(report: AuditReport | AdjudicationReport) -> str:
    return meaning(report) if isinstance(report, AuditReport) else report_hearing.meaning(report.outcome)


def meaning(report: AuditReport) -> str:
    """What an outcome means for the client, as a plain paragraph."""
    if report.outcome is Outcome.VERIFIED and report.sample is not None and not report.sample.whole:
        return _tr(
            "Every step that was replayed gave the trainer's own result, bit for bit. The other steps were not looked "
            "at. {0}"
        ).format(translate(report.sample.describe()))
    return {
        Outcome.VERIFIED: _tr(
            "Every ordered step was carried out again {0} and gave the trainer's own result, bit for bit. The model "
            "that the trainer delivers in this run is the model that the order leads to."
        ).format(_where(report)),
        Outcome.DISPUTED: "" if report.dispute is None else words.dispute_bound(report.dispute),
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


def _where(report: AuditReport) -> str:
    """On what machine it was carried out again, as far as the environments that both sides named tell."""
    ours, theirs = dict(report.environment), dict(report.trainer_environment)
    both = ours.keys() & theirs.keys()
    return (
        _tr("on another machine") if any(ours[name] != theirs[name] for name in both) else _tr("on a machine like it")
    )


def _checks(report: AuditReport | AdjudicationReport, width: int) -> str:
    lines = []
    for check in report.checks:
        look = words.check(check)
        state = f'<b style="color: {LIGHT.tone(look.tone)}">{escape(look.word)}</b>'
        lines.append(
            f'<tr><th scope="row" align="left" width="{width * 16 // 100}" class="state">{state}</th>'
            f"<td><b>{escape(words.check_title(check.number))}</b>"
            f'<br><span class="muted">{escape(translate(check.detail))}</span></td></tr>'
        )
    return f'<table width="{width}" cellspacing="0">{"".join(lines)}</table>'


def _dispute(dispute: Dispute, width: int) -> list[Section]:
    operator = dispute.operator
    facts = [
        (_tr("Disputed step"), text.count(dispute.step)),
        (_tr("What differs"), ", ".join(words.part(part) for part in dispute.parts)),
        (_tr("Trainer's leaf"), _hash(dispute.trainer_leaf)),
        (_tr("Replay's leaf"), _hash(dispute.replay_leaf) if dispute.replay_leaf else words.no_leaf(dispute)),
        (_tr("Found by"), _tr("{0} comparisons in the Merkle tree").format(text.count(len(dispute.path)))),
        (_tr("Trainer's loss"), f"{text.number(dispute.trainer_loss)} ({float(dispute.trainer_loss).hex()})"),
        (_tr("Replay's loss"), f"{text.number(dispute.replay_loss)} ({float(dispute.replay_loss).hex()})"),
    ]
    if dispute.part:
        facts.insert(1, (_tr("Part of the step"), words.step_part(dispute.part)))
    if dispute.signer:
        facts.insert(2, (_tr("Signed by the party"), _hash(dispute.signer)))
    if dispute.inputs:
        facts.insert(2, (_tr("What the step read"), words.rows(dispute.inputs)))
    if operator is not None:
        place = _tr("{0}, number {1} of {2}").format(operator.where, operator.number, operator.total)
        facts.insert(2, (_tr("First different operator"), place))
    parts = [Section(_tr("Dispute"), _paragraph(words.dispute_meaning(dispute)) + _table(facts, width))]
    if dispute.tensors:
        title = _tr("State tensors that differ at step {0}, largest difference first").format(dispute.compared_at)
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
        body = _columns(head, lines, width)
        if len(dispute.tensors) > TENSORS:
            more = _tr("and {0} more").format(text.count(len(dispute.tensors) - TENSORS))
            body += _paragraph(more, "muted")
        parts.append(Section(title, body, whole=True))
    if dispute.finding is not None:
        parts.append(_finding(dispute.finding, width))
    return parts


def _finding(finding: Finding, width: int) -> Section:
    """What is proven, with the elements that say most."""
    body = _paragraph(translate(finding.sentence))
    if finding.elements:
        head = (_tr("element"), _tr("exact value"), _tr("replay"), _tr("trainer"), _tr("error, in bounds"))
        lines = (
            (
                text.index(item.index),
                text.digits(item.exact),
                text.digits(repr(item.replay)),
                _tr("not known") if item.trainer is None else text.digits(repr(item.trainer)),
                text.digits(f"{item.error:.2g}"),
            )
            for item in finding.elements[:ELEMENTS]
        )
        body += _paragraph(words.finding_extent(finding)) + _columns(head, lines, width)
    return Section(_tr("Finding"), body, whole=True)


def _environments(report: AuditReport | AdjudicationReport, width: int) -> list[Section]:
    return [
        Section(title, _table([(words.environment(name), value) for name, value in pairs], width), whole=True)
        for title, pairs in (
            (_tr("The auditor's machine"), report.environment),
            (_tr("The trainer's machine, as the trainer signed it"), report.trainer_environment),
        )
        if pairs
    ]


def _places(report: AuditReport, width: int) -> list[Section]:
    """Where the segments were replayed, if not in one place."""
    if not report.replayed_at:
        return []
    rows = [
        (
            f"{at.place.machine}, {at.place.device}" + (_tr(", as a part file says") if at.by.value == "part" else ""),
            ", ".join(str(first) if first == last else f"{first}\u2013{last}" for first, last in at.segments),
        )
        for at in report.replayed_at
    ]
    return [Section(_tr("Where the segments were replayed"), _table(rows, width), whole=True)]


def _how_to_verify(contents: Contents) -> str:
    command = f"counterfoil verify {contents.verdict_name} {contents.judged_file} --key auditor.pub.pem"
    lines = [
        _tr("You need the signed verdict, the bundle, and the auditor's public key from a source that you trust."),
        _tr("With Counterfoil: File, Open, or on the command line:"),
    ]
    other = _tr(
        "Without Counterfoil: the verdict is a DSSE envelope with an Ed25519 signature around an in-toto statement; "
        "OpenSSL 3 can check it, as the page on the verdict in Counterfoil's documentation shows."
    )
    reading = _tr(
        "This document is for reading. What counts is the signed verdict in the file named above: it can be checked by "
        "anybody who has the public key of the auditor."
    )
    return "".join(map(_paragraph, (reading, *lines))) + _paragraph(command, "hash") + _paragraph(other)
