"""The report as a document: parties and case, files and hashes, method and glossary, and pages without orphans."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QLocale, QSizeF
from PySide6.QtGui import QFontInfo, QTextDocument
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from counterfoil import (
    AdjudicationFinished,
    AdjudicationOutcome,
    CancelToken,
    Digest,
    DisputedElement,
    Finding,
    Right,
)
from counterfoil.audit.values.summary import SourceSummary
from counterfoil_app.looks import fonts
from counterfoil_app.looks.language import Translations
from counterfoil_app.looks.theme import LIGHT
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.replayresult import VerdictMaterial
from counterfoil_app.model.settings import Settings
from counterfoil_app.model.step_data import StepData
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict import chart, export, report_pages, report_process
from counterfoil_app.verdict.export import SigningRequest
from counterfoil_app.verdict.report_document import Case, Contents, Curves
from counterfoil_app.verdict.signing_dialog import SigningDialog
from counterfoil_core.values.trust import MachineTrust, OrderTrust, TrainerTrust, Trust
from counterfoil_core.values.workers import Place, ReplayedAt
from support import pages
from support.fake_engine import FakeEngine, envelope_of
from support.pages import endless, text_of
from support.waiting import reached

MakeWindow = Callable[[FakeEngine], MainWindow]
CASE = Case("3 O 112/26", "Nordbank <b>AG</b>", "Modellwerk GmbH", "Ada Pruefer")
WIDTH, HEIGHT = 664, 965


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    before, translations = QLocale(), Translations()
    translations.install("de")
    yield
    translations.remove()
    QLocale.setDefault(before)


@pytest.fixture(autouse=True)
def installed_fonts(qapp: QApplication) -> None:
    fonts.install_fonts()


def contents(engine: FakeEngine, **changed: object) -> Contents:
    page = pages.contents(engine, **changed)
    return replace(page, case=CASE, order_name="digits.job", order_file=Digest.of(b"order"))


def document(page: Contents) -> QTextDocument:
    return report_pages.make_document(page, WIDTH, HEIGHT)


def test_it_names_case_parties_files_hashes_and_times(qapp: QApplication) -> None:
    page = contents(FakeEngine())
    text = text_of(page)
    assert page.report.bundle_digest is not None
    for needed in (
        "3 O 112/26", "Nordbank <b>AG</b>", "Modellwerk GmbH", "Ada Pruefer", "honest.cfoil",
        page.report.bundle_digest.hex, "digits.job", Digest.of(b"order").hex, "honest.verdict.json",
        Digest.of(page.envelope).hex, "2026-11-21 09:00:01 UTC", "2026-11-21 09:12:05 UTC",
    ):  # fmt: skip
        assert needed in text, needed
    unnamed = text_of(
        replace(page, case=Case(), order_name="", order_file=None, report=replace(page.report, begun_at=""))
    )
    assert unnamed.count("not named") == 5, "four parties, and the trainer's key"
    for absent in ("digits.job", "Replay begun", "Replay ended"):
        assert absent not in unnamed


def test_it_names_the_part_of_the_step_that_differs(qapp: QApplication) -> None:
    page = contents(FakeEngine(disputed=37, shares=8, part="share 5"))
    assert "share 5" in text_of(page)
    assert "Part of the step" not in text_of(contents(FakeEngine(disputed=37)))


def test_it_names_the_files_that_the_order_was_made_from(qapp: QApplication) -> None:
    page = contents(FakeEngine())
    assert page.summary is not None
    assert "Made from" not in text_of(page)
    files = (
        SourceSummary("data", "<b>rows</b>.jsonl", 12, Digest.of(b"rows")),
        SourceSummary("model", "model.safetensors", 7, Digest.of(b"weights"), "607a30d783df"),
    )
    named = replace(page, summary=replace(page.summary, order=replace(page.summary.order, sources=files)))
    text = text_of(named)
    for needed in ("<b>rows</b>.jsonl", "model.safetensors, revision 607a30d783df", *(f.digest.hex for f in files)):
        assert needed in text, needed


def test_the_method_has_five_sentences_and_words_are_explained(qapp: QApplication) -> None:
    text = text_of(contents(FakeEngine()))
    method = text[text.index("\nMethod\n") : text.index("\nChecks\n")].splitlines()[2:]
    assert [line[:3] for line in method] == ["1. ", "2. ", "3. ", "4. ", "5. "]
    assert all(line.endswith(".") for line in method)
    glossary = text[text.index("\nGlossary\n") :]
    for word in ("Order", "Run, bundle", "Step", "Leaf", "Run root", "Rounding log", "Fingerprint", "Verdict"):
        assert f"\n{word}\n" in glossary


def test_it_is_set_in_the_windows_font(qapp: QApplication) -> None:
    made = document(contents(FakeEngine()))
    assert QFontInfo(made.defaultFont()).family() == fonts.TEXT
    block = made.begin()
    while not block.text().startswith("1. The order"):
        block = block.next()
    line = block.layout().lineAt(0)
    assert line.height() == pytest.approx(20, abs=0.5)


def many(engine: FakeEngine) -> Iterator[Contents]:
    """Reports of several lengths."""
    element = DisputedElement((3, 4), "0.75000002980232238769", 0.75, 0.75, 0.7500001, 0.7500002, 2.0**-24, 0.03, 7.0)
    finding = Finding(Right.REPLAY, "The values were computed exactly.", (element,) * 9, 17, 1000, 2.0**-44, 2.0**-46)
    for lines in (0, 8):
        machine = tuple((f"library {number}", "1.2.3") for number in range(lines))
        page = contents(engine, environment=machine, trainer_environment=machine)
        yield page
        if page.report.dispute is not None:
            dispute = replace(page.report.dispute, finding=finding)
            yield replace(page, report=replace(page.report, dispute=dispute))
        yield replace(page, curves=Curves.of(StepData().table))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("language", "disputed"),
    [("", None), ("", 37), pytest.param("german", 37, marks=pytest.mark.slow)],
)
def test_no_page_has_only_a_few_lines_and_none_but_the_last_is_half_empty(
    language: str, disputed: int | None, request: pytest.FixtureRequest
) -> None:
    if language:
        request.getfixturevalue(language)
    for page in many(FakeEngine(disputed=disputed)):
        filled = report_pages.pages_filled(document(page))
        assert min(filled) >= report_pages.LEAST_ON_A_PAGE, filled
        assert language or min(filled[:-1], default=1.0) >= 0.5, filled


def test_few_lines_are_noticed(qapp: QApplication) -> None:
    """The control of the tests above."""
    made = QTextDocument()
    made.setPlainText("line\n" * 60)
    made.setPageSize(QSizeF(500, made.size().height() * 58 / 60))
    assert made.pageCount() == 2
    assert report_pages.pages_filled(made)[1] < report_pages.LEAST_ON_A_PAGE


@pytest.mark.parametrize(
    ("heights", "whole", "starts"),
    [
        ([400, 400, 300], [True, True, True], {2}),
        ([400, 900], [True, False], set()),
        ([800, 900], [True, False], {1}),
        ([2500], [True], set()),
        ([400, 500, 300], [False, False, False], {2}),
        ([400, 560, 300], [False, False, False], set()),  # goes over by itself: a break would leave an empty page
    ],
)
def test_sections_begin_pages(heights: list[float], whole: list[bool], starts: set[int]) -> None:
    assert report_pages.page_starts(heights, whole, 1000) == starts
    assert report_pages.page_starts([100] * 5, [True] * 5, 1000, 2) == {3}


@pytest.mark.usefixtures("german")
def test_a_count_of_nothing_has_no_fractions_beside_its_axis(qapp: QApplication) -> None:
    steps = np.arange(1.0, 61.0)
    for values, counts in ((np.zeros(60), True), (np.full(60, 3.0), True), (np.zeros(60), False)):
        canvas = pg.GraphicsLayoutWidget()
        plot = chart._make_plot(canvas, "step", "corrections")
        chart._set_range(plot, [(chart.Series("", steps, values, "#000000"), np.isfinite(values))], counts)
        low, high = plot.getViewBox().viewRange()[1]
        marked = [value for _, found in plot.getAxis("left").tickValues(low, high, 600) for value in found]
        assert all(value == round(value) for value in marked) is counts, marked
        assert not counts or {0.0, 1.0} <= set(marked)


def test_no_word_is_split(qapp: QApplication) -> None:
    made = document(contents(FakeEngine(disputed=37), title="Ein_sehr_langer_Name_ohne_Leerzeichen_" * 2))
    block, lines = made.begin(), 0
    while block.isValid():
        text = block.text()
        for number in range(1, block.layout().lineCount()):
            start = block.layout().lineAt(number).textStart()
            lines += 1
            assert text[start - 1] in " -\u2013/\u2028" or text[start] == " ", text[start - 12 : start + 12]
        block = block.next()
    assert lines > 10


def test_it_is_pdf_a_with_its_fonts(qapp: QApplication) -> None:
    printed = report_pages.make_pdf(contents(FakeEngine(disputed=37)))
    assert b"pdfaid:part" in printed
    assert b"pdfaid:conformance" in printed
    assert b"/OutputIntents" in printed
    for name in (b"CounterfoilText", b"CounterfoilMono"):
        assert name in printed
    assert b"/FontFile2" in printed, "the glyphs are in the file"


def test_it_says_that_it_is_pdf_a_1b(qapp: QApplication) -> None:
    printed = report_pages.make_pdf(contents(FakeEngine(disputed=37)))
    packet = printed[printed.index(b"<?xpacket begin") : printed.index(b"<?xpacket end")].decode("utf-8")
    assert re.search(r"pdfaid:part(>|=[\"'])1\b", packet), "in the metadata (XMP), as ISO 19005-1 asks"
    assert re.search(r"pdfaid:conformance(>|=[\"'])B\b", packet)
    assert printed.startswith(b"%PDF-1.4")
    assert b"/Encrypt" not in printed
    assert b"/JavaScript" not in printed


def test_there_is_a_line_to_sign(qapp: QApplication) -> None:
    text = text_of(contents(FakeEngine()))
    assert "Place and date" in text
    assert "Signature, Ada Pruefer" in text
    unnamed = text_of(replace(contents(FakeEngine()), case=Case()))
    assert "Signature, " not in unnamed


# Of an adjudication


def hearing(outcome: AdjudicationOutcome) -> Contents:
    engine = FakeEngine()
    events = list(engine.adjudicate(Path("found.capsule.cfoil"), None, "cpu", None, CancelToken()))
    assert isinstance(events[-1], AdjudicationFinished)
    report = replace(events[-1].report, outcome=outcome)
    envelope = envelope_of(engine.preview(report, datetime(2026, 11, 21, tzinfo=UTC)))
    return Contents(report, None, Curves.of(StepData().table), envelope, "found.adjudication.json", CASE)


@pytest.mark.parametrize("outcome", list(AdjudicationOutcome))
def test_an_adjudication_has_a_report_too(qapp: QApplication, outcome: AdjudicationOutcome) -> None:
    page = hearing(outcome)
    text = text_of(page)
    assert page.report.run_root is not None
    for needed in (
        "Adjudication report", outcome.value, "found.capsule.cfoil", page.report.run_root.hex, "3 O 112/26",
        "found.adjudication.json", Digest.of(page.envelope).hex, "Place and date", "1. A dispute capsule",
        "counterfoil verify found.adjudication.json found.capsule.cfoil --key auditor.pub.pem",
    ):  # fmt: skip
        assert needed in text, needed
    assert "Is the training that was ordered" not in text
    assert b"pdfaid:part" in report_pages.make_pdf(page)
    seen = Seen(report_process.make_html(page, "en").decode("utf-8"))
    assert outcome.value in seen.text
    assert seen.of("img") == []
    meant = {AdjudicationOutcome.CONFIRMED: "is not what was ordered", AdjudicationOutcome.REJECTED: "is wrong"}
    assert meant.get(outcome, "Nothing follows") in text


# The same report for a browser


class Seen(HTMLParser):
    """What a screen reader goes by: headings in their order, what tables are headed with, and texts of pictures."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.headings: list[int] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.tables: list[dict[str, int]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        assert self._open == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        self.attributes.append((tag, found))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "table":
            self.tables.append({"th": 0, "td": 0, "presentation": int(found.get("role") == "presentation")})
        if tag in ("th", "td"):
            self.tables[-1][tag] += 1
        if tag not in ("meta", "br", "img"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.attributes if name == tag]


def test_the_html_report_can_be_heard(qapp: QApplication) -> None:
    for engine in (FakeEngine(), FakeEngine(disputed=37)):
        seen = Seen(report_process.make_html(contents(engine), "en").decode("utf-8"))
        assert [each.get("lang") for each in seen.of("html")] == ["en"]
        assert seen.tags.count("title") == seen.tags.count("main") == seen.tags.count("h1") == 1
        assert seen.headings[0] == 1
        assert all(later - before <= 1 for before, later in itertools.pairwise(seen.headings)), "no level is left out"
        assert len(seen.headings) > 8
        for table in seen.tables:
            assert table["presentation"] or table["th"], table
        assert all(each.get("scope") in ("row", "col") for each in seen.of("th"))
        pictures = seen.of("img")
        assert len(pictures) == 2
        for picture in pictures:
            assert str(picture["src"]).startswith("data:image/png;base64,")
            assert "at step 1" in str(picture["alt"])
            assert "at step 60" in str(picture["alt"])


def test_the_html_report_is_one_file_that_runs_and_fetches_nothing(qapp: QApplication) -> None:
    page = contents(FakeEngine(disputed=37), title="<script>alert(1)</script>", bundle_name='"><img src=x>.cfoil')
    html = report_process.make_html(page, "en").decode("utf-8")
    seen = Seen(html)
    assert not {"script", "link", "iframe", "object", "form"} & set(seen.tags)
    assert all(str(each["src"]).startswith("data:") for each in seen.of("img")), "a stranger's mark-up is text"
    assert "<script>alert(1)</script>" in seen.text
    assert not re.search(r"https?://", html.split("<body>")[0])
    (policy,) = [each["content"] for each in seen.of("meta") if each.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_both_reports_say_the_same(qapp: QApplication) -> None:
    page = contents(FakeEngine(disputed=37))
    paper = text_of(page)
    seen = Seen(report_process.make_html(page, "en").decode("utf-8")).text
    squeezed = re.sub(r"\s+", "", seen)
    lines = [re.sub(r"\s+", "", line) for line in paper.splitlines() if line.strip() and "\ufffc" not in line]
    assert len(lines) > 80
    assert [line for line in lines if line not in squeezed] == []


@pytest.mark.usefixtures("german")
def test_the_html_report_is_in_the_language_that_it_names(qapp: QApplication) -> None:
    html = report_process.make_html(contents(FakeEngine()), "de").decode("utf-8")
    assert '<html lang="de">' in html
    assert "Prüfbericht" in html


# From the dialog to the page


def test_what_the_auditor_names_reaches_the_page(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, settings: Settings, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    printed: list[Contents] = []
    monkeypatch.setattr(export, "print_report", lambda page: printed.append(page) or b"%PDF-")
    order = tmp_path / "digits.job"
    order.write_bytes(b"order")
    window = window_of(FakeEngine())
    window.open_bundle(bundle, order)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    window.commands["verdict"].trigger()
    dialog = window.findChild(SigningDialog)
    assert dialog is not None
    qtbot.waitUntil(lambda: not window.session.busy)
    dialog.create_new.setChecked(True)
    dialog.key.setText(str(tmp_path / "keys" / "auditor.pem"))
    dialog.target.setText(str(tmp_path / "new.verdict.json"))
    qtbot.keyClicks(dialog.case.number, " 3 O 112/26 ")
    qtbot.keyClicks(dialog.case.auditor, "Ada Pruefer")
    with qtbot.waitSignal(window.session.exports.finished):
        dialog.ok.click()
    (page,) = printed
    assert page.case == Case("3 O 112/26", auditor="Ada Pruefer")
    assert (page.order_name, page.order_file) == ("digits.job", Digest.of(b"order"))
    assert (page.report.begun_at, page.report.ended_at) == ("2026-11-21T09:00:01Z", "2026-11-21T09:12:05Z")
    assert settings.auditor_name == "Ada Pruefer", "the auditor is named once"
    window.commands["verdict"].trigger()
    again = window.findChildren(SigningDialog)[-1]
    assert again.case.auditor.text() == "Ada Pruefer"
    assert again.case.number.text() == "3 O 112/26", "remembered with the case"
    again.reject()
    qtbot.waitUntil(lambda: not window.session.busy)


def test_an_order_that_is_gone_has_no_hash(qapp: QApplication, tmp_path: Path) -> None:
    engine = FakeEngine()
    made = contents(engine)
    material = VerdictMaterial(made.report, made.summary, StepData().table, tmp_path / "gone.job")
    request = SigningRequest(tmp_path / "a.pem", None, True, tmp_path / "v.json")
    page = export.contents_of(material, made.envelope, request.target, request.case)
    assert (page.order_name, page.order_file) == ("gone.job", None)
    text = text_of(page)
    assert "gone.job\nits SHA-256\ncould not be read" in text


def test_the_report_says_where_segments_were_replayed() -> None:
    page = contents(FakeEngine())
    assert "Where the segments were replayed" not in text_of(page)
    places = (Place("node-1", (("device", "cuda:0"),)), Place("<node-2>", (("device", "cpu"),)))
    replayed_at = (ReplayedAt(places[0], ((1, 2), (4, 4))), ReplayedAt(places[1], ((3, 3),)))
    shared = text_of(replace(page, report=replace(page.report, replayed_at=replayed_at)))
    assert "Where the segments were replayed" in shared
    for words in ("node-1, cuda:0", "1\u20132, 4", "<node-2>, cpu"):
        assert words in shared


def test_the_printed_report_is_green_only_where_nothing_is_open(qapp: QApplication) -> None:
    page = contents(FakeEngine())
    whole = Trust(OrderTrust.CLIENT, TrainerTrust.NAMED, MachineTrust.TESTED)
    unnamed = replace(whole, trainer=TrainerTrust.NOT_NAMED)
    said = {trust: endless(replace(page, trust=trust)) for trust in (whole, unnamed)}
    assert LIGHT.ok_tint in said[whole].toHtml()
    assert LIGHT.ok_tint not in said[unnamed].toHtml()
    assert LIGHT.warn_tint in said[unnamed].toHtml()
    assert "it is open who trained" in said[unnamed].toPlainText()
    assert "it is open" not in said[whole].toPlainText()
    assert "! not named" in said[unnamed].toPlainText()
