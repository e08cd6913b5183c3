"""Signing a verdict with its preview, the report to print, remembered passphrases, and reading a verdict."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from counterfoil import (
    AuditReport,
    AuditRequest,
    CounterfoilError,
    DisputedElement,
    Finding,
    Outcome,
    Right,
    Role,
    SegmentRequest,
    SignerProcess,
    StepTable,
    difference_of,
    generate_key,
    start_signer,
)
from counterfoil_app.looks import words
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.theme import LIGHT
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.replayresult import VerdictMaterial
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict import chart, export, passphrases, report_document, report_pages
from counterfoil_app.verdict.chart import Series
from counterfoil_app.verdict.export import SigningRequest, Unsigned, now
from counterfoil_app.verdict.report_document import Contents, Curves
from counterfoil_app.verdict.report_process import print_report
from counterfoil_app.verdict.signing_dialog import SigningDialog
from counterfoil_app.verdict.viewer import VerdictViewer
from counterfoil_app.views.axes import NumberAxis, StepAxis
from support.fake_engine import AUDITOR, KEY_ID, FakeEngine, digest
from support.pages import contents, page_images, text_of
from support.proposals import confirm
from support.waiting import reached

LEFT = Qt.MouseButton.LeftButton
MakeWindow = Callable[[FakeEngine], MainWindow]


def concluded(window: MainWindow, qtbot: QtBot) -> AuditReport:
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    assert window.session.report is not None
    return window.session.report


def signing(window: MainWindow, qtbot: QtBot) -> SigningDialog:
    window.commands["verdict"].trigger()
    dialog = next(each for each in window.findChildren(SigningDialog) if each.isVisible())
    qtbot.waitUntil(lambda: not window.session.busy)
    return dialog


def texts(widget: object) -> str:
    from PySide6.QtWidgets import QLabel

    return "\n".join(label.toolTip() or label.text() for label in widget.findChildren(QLabel))  # type: ignore[attr-defined]


# Signing


def test_what_is_previewed_is_what_is_signed(opened: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    report = concluded(opened, qtbot)
    dialog = signing(opened, qtbot)
    previewed = json.loads(dialog.statement.toPlainText())
    assert report.bundle_digest is not None
    assert report.bundle_digest.hex in texts(dialog)
    dialog.key.setText(str(tmp_path / "keys" / "new.pem"))
    dialog.table.setChecked(True)
    with qtbot.waitSignal(opened.session.exports.finished):
        qtbot.mouseClick(dialog.ok, LEFT)
    page = Contents(report, None, Curves.of(StepTable()), (tmp_path / "honest.verdict.json").read_bytes(), "")
    assert page.statement == previewed
    assert (tmp_path / "honest.report.pdf").read_bytes().startswith(b"%PDF-")
    assert len((tmp_path / "honest.steps.csv").read_text().splitlines()) == 60


def test_a_verdict_that_cannot_be_made_is_not_offered(
    opened: MainWindow, engine: FakeEngine, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    concluded(opened, qtbot)

    def refuse(_report: AuditReport, _time: datetime) -> bytes:
        raise CounterfoilError("There is no verdict to sign.", remedy="Look at the reason.")

    monkeypatch.setattr(engine, "preview", refuse)
    dialog = signing(opened, qtbot)
    assert not dialog.ok.isEnabled()
    assert dialog.hint.text() == "There is no verdict to sign. Look at the reason."


def test_what_is_shown_is_read_out_of_the_bytes_that_are_signed(
    opened: MainWindow, engine: FakeEngine, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that was taken over shows one reason, and would have another one signed."""
    report, preview = concluded(opened, qtbot), engine.preview
    monkeypatch.setattr(engine, "preview", lambda it, when: preview(replace(it, reason="Nothing was looked at."), when))
    dialog = signing(opened, qtbot)
    assert "Nothing was looked at." in dialog.what.text()
    assert "Nothing was looked at." in texts(dialog._said)
    assert report.reason not in dialog.what.text()
    dialog.reject()


@pytest.mark.parametrize("other", [{"outcome": Outcome.DISPUTED}, {"trainer_key": digest("other").hex}])
def test_a_statement_of_another_outcome_or_run_is_not_signed(
    opened: MainWindow, engine: FakeEngine, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, other: dict[str, Any]
) -> None:
    """The window and the report to print show what the engine found: DISPUTED there, and VERIFIED signed."""
    concluded(opened, qtbot)
    preview = engine.preview
    monkeypatch.setattr(engine, "preview", lambda it, when: preview(replace(it, **other), when))
    dialog = signing(opened, qtbot)
    assert not dialog.ok.isEnabled()
    assert "does not say what it had shown" in dialog.hint.text()
    assert dialog.statement.toPlainText() == ""


def test_nothing_is_signed_after_another_bundle_was_opened(
    opened: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    concluded(opened, qtbot)
    dialog = signing(opened, qtbot)
    dialog.key.setText(str(tmp_path / "keys" / "new.pem"))
    opened.session.open(bundle.with_name("other.cfoil"))
    qtbot.waitUntil(reached(opened, Phase.READY))
    qtbot.mouseClick(dialog.ok, LEFT)
    assert not dialog.isVisible()
    qtbot.waitUntil(lambda: not opened.session.busy)
    assert not list(tmp_path.glob("*.verdict.json"))
    assert not (tmp_path / "keys" / "new.pem").exists()


def test_a_signer_that_dies_costs_nothing(
    opened: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying(*arguments: Any, **named: Any) -> SignerProcess:
        signer = start_signer(*arguments, **named)
        signer._process.kill()
        signer._process.wait()
        return signer

    report = concluded(opened, qtbot)
    generate_key(tmp_path / "auditor.pem", None)
    monkeypatch.setattr(export, "start_signer", dying)
    dialog = signing(opened, qtbot)
    dialog.use_existing.setChecked(True)
    dialog.key.setText(str(tmp_path / "auditor.pem"))
    qtbot.mouseClick(dialog.ok, LEFT)
    qtbot.waitUntil(lambda: "ended before it had signed" in dialog.hint.text())
    assert opened.session.report is report
    assert opened.session.verdict_file is None
    monkeypatch.undo()
    with qtbot.waitSignal(opened.session.exports.finished):
        qtbot.mouseClick(dialog.ok, LEFT)
    assert opened.session.verdict_file is not None


def test_an_answer_for_a_closed_dialog_is_dropped(opened: MainWindow, qtbot: QtBot) -> None:
    concluded(opened, qtbot)
    opened.commands["verdict"].trigger()
    dialog = opened.findChild(SigningDialog)
    assert dialog is not None
    dialog.reject()
    qtbot.waitUntil(lambda: not opened.session.busy)
    assert opened.findChild(SigningDialog) is None


# Passphrases


class Ring:
    """A key ring that forgets with the test."""

    priority = 5

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False
        self.errors = SimpleNamespace(KeyringError=KeyError)

    def get_keyring(self) -> Ring:
        return self

    def get_password(self, service: str, name: str) -> str | None:
        if self.locked:
            raise KeyError("locked")
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, value: str) -> None:
        if self.locked:
            raise KeyError("locked")
        self.kept[service, name] = value


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> Ring:
    ring = Ring()
    monkeypatch.setitem(sys.modules, "keyring", ring)
    return ring


def test_without_the_package_nothing_is_remembered(
    opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    concluded(opened, qtbot)
    dialog = signing(opened, qtbot)
    dialog.passphrase.setText("secret")
    assert not dialog.remember.isEnabled()
    assert "'keyring' is not installed" in texts(dialog)
    assert passphrases.recall_passphrase(Path("auditor.pem")) is None


def test_a_system_without_key_ring_says_so(ring: Ring) -> None:
    assert passphrases.unavailable() == ""
    ring.priority = 0
    assert "no key ring" in passphrases.unavailable()


def test_a_passphrase_is_remembered_if_wanted(
    opened: MainWindow, ring: Ring, settings: Settings, qtbot: QtBot, tmp_path: Path
) -> None:
    concluded(opened, qtbot)
    for wanted in (False, True):
        dialog = signing(opened, qtbot)
        key = tmp_path / "keys" / f"{wanted}.pem"
        dialog.create_new.setChecked(True)
        dialog.key.setText(str(key))
        dialog.passphrase.setText("secret")
        dialog.repeat.setText("secret")
        dialog.remember.setChecked(wanted)
        with qtbot.waitSignal(opened.session.exports.finished):
            qtbot.mouseClick(dialog.ok, LEFT)
        assert passphrases.recall_passphrase(key) == ("secret" if wanted else None)
    assert settings.key_file == key
    dialog = signing(opened, qtbot)
    assert dialog.passphrase.text() == "secret"
    assert dialog.remember.isChecked()


def test_a_locked_key_ring_is_told_after_signing(ring: Ring) -> None:
    ring.locked = True
    assert passphrases.recall_passphrase(Path("auditor.pem")) is None
    with pytest.raises(CounterfoilError, match="The verdict is signed, but"):
        passphrases.remember(Path("auditor.pem"), "secret")


# The report to print


def test_the_report_says_everything(qapp: object) -> None:
    page = contents(FakeEngine(disputed=37))
    text = text_of(page)
    report = page.report
    assert report.dispute is not None
    assert report.bundle_digest is not None
    first = difference_of(report.dispute)
    assert report.reason.startswith(first), "what is signed begins with what differs"
    assert text.index(first) < text.index("Merkle path") < text.index("What was audited"), "on the first page"
    for needed in (
        "DISPUTED", first, report.reason.removeprefix(first).strip(), "step 37 \u2260", KEY_ID, "2026-11-21",
        report.bundle_digest.hex, report.dispute.trainer_leaf.hex,
        report.dispute.replay_leaf.hex, *(translate(check.detail) for check in report.checks), "counterfoil verify",
        "blocks.0.bn1.running_mean", float(report.dispute.replay_loss).hex(),
    ):  # fmt: skip
        assert needed in text, needed
    assert "Dispute" not in text_of(contents(FakeEngine()))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("right", list(Right))
def test_the_report_says_what_is_proven(qapp: object, right: Right) -> None:
    page = contents(FakeEngine(disputed=37))
    assert page.report.dispute is not None
    element = DisputedElement((3, 4), "0.75000002980232238769", 0.75, 0.75, 0.7500001, 0.7500002, 2.0**-24, 0.03, 7.0)
    finding = Finding(right, "The values were computed exactly.", (element,) * 9, 17, 1000, 2.0**-44, 2.0**-46)
    unreplayed = {Right.UNREADABLE: ("log",), Right.NO_RESULT: ("result",)}
    fields = {"replay_leaf": None, "parts": unreplayed[right]} if right in unreplayed else {}
    dispute = replace(page.report.dispute, finding=finding, **fields)
    text = text_of(replace(page, report=replace(page.report, dispute=dispute)))
    for needed in (finding.sentence, words.finding_extent(finding), element.exact, "0.7500001", "0.7500002", "0.03"):
        assert needed in text, needed
    assert text.count(element.exact) == report_document.ELEMENTS
    meanings = {
        Right.REPLAY: "what the trainer signed as the result of this step is not what was ordered",
        Right.UNREADABLE: "signed a rounding log for step 37 that cannot be read",
        Right.OMISSIONS: "In several steps, the last of them step 37",
    }
    for told, meaning in meanings.items():
        assert (meaning in text) is (told is right), told
    assert ("The trainer is not accused" in text) is not dispute.accuses
    assert ("not replayed" in text) is (right is Right.UNREADABLE)


def test_the_report_is_printed_in_the_language_of_the_window(qapp: object, tmp_path: Path) -> None:
    page = contents(FakeEngine())
    before = QLocale()
    for language in ("en", "de"):
        QLocale.setDefault(QLocale(language))
        (tmp_path / f"{language}.pdf").write_bytes(print_report(page))
    QLocale.setDefault(before)
    german, english = "Prüfbericht".encode("utf-16-be"), "Audit report".encode("utf-16-be")
    assert german in (tmp_path / "de.pdf").read_bytes()
    assert english not in (tmp_path / "de.pdf").read_bytes()
    assert english in (tmp_path / "en.pdf").read_bytes()


def test_a_sampled_run_is_not_printed_as_verified_whole(qapp: object) -> None:
    page = contents(FakeEngine(), AuditRequest(Path("honest.cfoil"), None, "cpu", segments=SegmentRequest(count=4)))
    text = text_of(page)
    assert "VERIFIED for 4 of 12 segments" in text
    assert "The other steps were not looked at" in text
    assert "Every ordered step was carried out again" not in text
    assert "Every ordered step was carried out again" in text_of(contents(FakeEngine()))


def test_names_from_the_file_are_never_markup_on_paper(qapp: object) -> None:
    page = contents(FakeEngine())
    hostile = replace(page, report=replace(page.report, bundle_name="<h1>VERIFIED</h1>.cfoil", title="a & <b>b</b>"))
    text = text_of(hostile)
    assert "<h1>VERIFIED</h1>.cfoil" in text
    assert "a & <b>b</b>" in text


@pytest.mark.qt_log_ignore("QPainter::begin")
def test_pages_are_drawn_whole(qapp: object, tmp_path: Path) -> None:
    page = contents(FakeEngine(disputed=37))
    pictures = page_images(page)
    assert len(pictures) == 4
    first = pictures[0]
    tint = QColor(LIGHT.bad_tint)
    assert any(first.pixelColor(first.width() // 2, y).rgb() == tint.rgb() for y in range(first.height() // 4)), (
        "the outcome stands at the top of the first page, in its colour"
    )
    printed = report_pages.make_pdf(page)
    assert printed.startswith(b"%PDF-")
    assert printed.count(b"/Type /Page\n") == len(pictures)


def test_a_refused_file_has_a_report_too(qapp: object) -> None:
    page = contents(FakeEngine())
    report = replace(
        page.report, run_root=None, order_digest=None, trainer_key="", title="", sample=None, mismatched_steps=()
    )
    assert "could not be read" in text_of(replace(page, report=report, summary=None, curves=Curves.of(StepTable())))


def test_a_report_that_cannot_be_made_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = FakeEngine()
    material = VerdictMaterial(contents(engine).report, None, StepTable())
    request = SigningRequest(
        tmp_path / "a.pem", None, True, tmp_path / "v.json", report=tmp_path / "r.pdf", replace=True,
        statement=Unsigned.of(engine, material.report, now()),
    )  # fmt: skip
    (tmp_path / "r.pdf").write_bytes(b"old")

    def fail(_page: object) -> bytes:
        raise CounterfoilError("The report could not be printed.")

    monkeypatch.setattr(export, "print_report", fail)
    with pytest.raises(CounterfoilError, match="could not be printed"):
        export.export_verdict(engine, material, request)
    assert (tmp_path / "r.pdf").read_bytes() == b"old"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


# Charts


@pytest.mark.parametrize("count", [1, 2, 60, 5_000, 100_000])
@pytest.mark.parametrize("place", [0.0, 0.001, 0.5, 0.99, 0.999, 1.0])
def test_no_spike_is_lost(qapp: object, count: int, place: float) -> None:
    step = 1 + round(place * (count - 1))
    x, y = np.arange(1.0, count + 1), np.zeros(count)
    y[step - 1] = 9.0
    plot = shown_plot(count)
    at, seen = chart.add_curve(plot, x, y, pen="r").getData()
    assert seen.max() == 9.0
    assert abs(at[seen.argmax()] - step) <= max(1, count / PLOT_WIDTH)
    assert len(at) <= max(1.02 * count, 20 * PLOT_WIDTH), "what is drawn depends on the pixels, not on the steps"


def test_the_last_step_needs_its_repetition(qapp: object) -> None:
    """The control: given as it is, pyqtgraph loses the spike of the last step."""
    y = np.zeros(100_000)
    y[-1] = 9.0
    plot = shown_plot(len(y))
    curve = pg.PlotDataItem(np.arange(1.0, len(y) + 1), y, pen="r")
    plot.addItem(curve)
    curve.setDownsampling(auto=True, method="peak")
    curve.setClipToView(True)
    assert curve.getData()[1].max() == 0


PLOT_WIDTH = 700


def shown_plot(count: int) -> pg.PlotItem:
    canvas = pg.GraphicsLayoutWidget()
    canvas.resize(PLOT_WIDTH + 60, 200)
    plot = canvas.addPlot()
    plot.canvas = canvas  # lives as long
    plot.setXRange(0.5, count + 0.5, padding=0)
    canvas.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    canvas.show()
    return plot


def test_a_curve_goes_from_gap_to_gap() -> None:
    steps = np.array([1.0, 2, 3, 10, 11, 500])
    assert [steps[part].tolist() for part in chart.stretches(steps)] == [[1, 2, 3], [10, 11], [500]]
    every_other = np.arange(1.0, 100_000, 2)
    every_other[30_000:] += 5_000
    parts = chart.stretches(every_other)
    assert len(parts) == chart.MOST_GAPS + 1, "a picture is drawn in bounded time"
    assert 30_000 in [part.start for part in parts], "the widest gap stays open"
    assert sum(part.stop - part.start for part in parts) == len(every_other)


@pytest.mark.parametrize(("language", "text"), [("en", "100,000"), ("de", "100.000")])
def test_numbers_along_the_axes(qapp: object, language: str, text: str) -> None:
    before = QLocale()
    QLocale.setDefault(QLocale(language))
    try:
        assert StepAxis().tickStrings([0.0, 5e4, 1e5], 1, 5e4)[-1] == text
        assert StepAxis().tickStrings([1.0, 1.5], 1, 0.5) == ["", ""], "there is nothing between two steps"
    finally:
        QLocale.setDefault(before)
    assert NumberAxis().tickStrings([-1e-17, 0.1, 0.30000000000000004, 2e6], 1, 0.1) == ["0", "0.1", "0.3", "2e+06"]


def test_the_curve_has_its_spike_and_gaps_stay_open(qapp: object) -> None:
    x = np.arange(100.0)
    y = np.zeros(100)
    y[50] = 10.0
    y[20:40] = np.nan
    image = chart.draw([Series("", x, y, "#ff0000")], 400, 200, None, "step")

    def red(column: float) -> list[int]:
        left, _, right, _ = chart.MARGINS
        at = round((left + (400 - left - right) * column / 99) * chart.SCALE)
        return [
            row
            for row in range(image.height())
            if image.pixelColor(at, row).red() > 200 and image.pixelColor(at, row).green() < 80
        ]

    assert min(red(50)) < image.height() / 5, "the spike is as high as the picture"
    assert min(red(47)) > image.height() / 2
    assert 0 < len(red(70)) < 10
    assert red(30) == []
    empty = chart.draw([Series("", x, np.full(100, np.nan), "#ff0000")], 40, 20, None, "step")
    assert empty.pixelColor(20, 10).name() == "#ffffff"


# Reading


@pytest.fixture
def verdict_file(tmp_path: Path) -> Path:
    path = tmp_path / "honest.verdict.json"
    path.write_text("{}")
    return path


def reading(window: MainWindow, path: Path, qtbot: QtBot) -> VerdictViewer:
    viewer = window.verdicts.read(path)
    qtbot.waitUntil(lambda: not window.session.busy)
    return viewer


def test_a_verdict_is_read_with_a_chosen_key_and_bundle(
    window: MainWindow, verdict_file: Path, bundle: Path, qtbot: QtBot
) -> None:
    viewer = reading(window, verdict_file, qtbot)
    assert "Not checked" in viewer.headline.text()
    assert "VERIFIED" not in texts(viewer)
    key = verdict_file.with_name("auditor.pub.pem")
    key.write_text("public")
    viewer.key_chosen.emit(key)
    qtbot.waitUntil(lambda: not window.session.busy)
    confirm(qtbot)
    qtbot.waitUntil(lambda: viewer.headline.text() == "The signature holds: VERIFIED")
    # It is kept by its content: what lies under its name now is read no more.
    key.unlink()
    assert viewer.about_bundle.property("tone") == "info"
    for path, tone, said in (
        (bundle, "ok", "this very file"),
        (bundle.with_name("other.cfoil"), "bad", "another file"),
    ):
        viewer.bundle_chosen.emit(path)
        qtbot.waitUntil(lambda: not window.session.busy)
        assert viewer.about_bundle.property("tone") == tone
        assert said in viewer.about_bundle.text()
    viewer.close()
    # The key is known from now on.
    assert "holds" in reading(window, verdict_file, qtbot).headline.text()


def test_a_forged_verdict_does_not_count(window: MainWindow, verdict_file: Path, qtbot: QtBot) -> None:
    window.key_book.trust(AUDITOR, Role.AUDITOR, "Ada", "", "2026-11-22")
    verdict_file.write_text('{"forged": true}')
    viewer = reading(window, verdict_file, qtbot)
    assert viewer.headline.text() == "This verdict does not count"
    assert "does not hold" in viewer.sentence.text()
    assert viewer.page.isHidden()


def test_a_dropped_verdict_is_read(window: MainWindow, verdict_file: Path, qtbot: QtBot) -> None:
    window.open_files([verdict_file])
    qtbot.waitUntil(lambda: not window.session.busy)
    assert window.findChild(VerdictViewer) is not None
    assert window.session.phase is Phase.EMPTY
