"""The window shows the texts of a stranger's file as visible characters of one line, wherever they turn up."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from PySide6 import QtGui
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QAction, QTextDocument
from PySide6.QtWidgets import QAbstractItemView, QLabel, QLineEdit, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

import counterfoil_app
from counterfoil import (
    AuditReport,
    BundleSummary,
    CapsuleSubject,
    CounterfoilError,
    Dispute,
    Event,
    PanelEvent,
    Role,
    StepTable,
    Verdict,
    one_line,
)
from counterfoil_app.engine import strangers
from counterfoil_app.engine.port import VerdictReading
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks.tips import copy_tip, set_tip
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict import report_pages
from counterfoil_app.verdict.report_document import Contents, Curves
from counterfoil_app.verdict.signing_dialog import SigningDialog
from counterfoil_app.views.dialogs import show_failure
from counterfoil_core.base.timestamps import read_timestamp
from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.signing.statements import read_said
from counterfoil_core.statement.model import VerdictStatement
from counterfoil_core.statement.write import verdict_statement
from support.fake_engine import AUDITOR, FakeEngine, envelope_of
from support.ledgers import root
from support.reports import disputed_report
from support.waiting import reached

MARKUP = "<h1><font color=green>VERIFIED<img src=x>"
BAD = f"\x1b[31m\x9b\u202e\u2066\u2028\x85\u200b\U000e0041{MARKUP}"
HIDDEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)


def spoiled(value: Any) -> Any:
    """The same value, with every text in it spoiled."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return value + BAD
    if isinstance(value, tuple):
        return tuple(spoiled(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type) and type(value).__name__ != "Digest":
        return replace(value, **{field.name: spoiled(getattr(value, field.name)) for field in fields(value)})
    return value


class Hostile(FakeEngine):
    """A made-up run of a hostile trainer's."""

    def summary(self, path: Path, order: Path | None, client_known: bool = False) -> BundleSummary:
        return spoiled(super().summary(path, order, client_known))

    def dispute(self, step: int) -> Dispute:
        dispute = super().dispute(step)
        # What differs is named by the engine, and operators by its allow-list; where they stand is the order's.
        assert dispute.operator is not None
        near = tuple(replace(each, module=each.module + BAD) for each in dispute.operator.neighbours)
        operator = replace(dispute.operator, module=f"head{BAD}", neighbours=near)
        assert dispute.finding is not None
        return replace(dispute, operator=operator, finding=spoiled(dispute.finding))

    def compare_providers(self, *arguments: Any) -> Iterator[PanelEvent]:
        yield from map(spoiled, super().compare_providers(*arguments))

    def compare_bundles(self, *arguments: Any) -> Iterator[Any]:
        yield from map(spoiled, super().compare_bundles(*arguments))

    def read_ledger(self, *arguments: Any) -> Iterator[Any]:
        yield from map(spoiled, super().read_ledger(*arguments))

    def locate(self, *arguments: Any) -> Iterator[Any]:
        yield from map(spoiled, super().locate(*arguments))

    def disputed_rows(self, *arguments: Any) -> Iterator[Any]:
        yield from map(spoiled, super().disputed_rows(*arguments))

    def capsule_subject(self, capsule: Path) -> CapsuleSubject:
        return spoiled(super().capsule_subject(capsule))

    def audit(self, *arguments: Any) -> Iterator[Event]:
        for event in super().audit(*arguments):
            if hasattr(event, "report"):
                report = event.report
                checks = tuple(replace(check, detail=check.detail + BAD) for check in report.checks)
                environment = (("device", f"cuda{BAD}"), (f"x{BAD}", "y"))
                event = replace(
                    event,
                    report=replace(
                        report, checks=checks, title=report.title + BAD, reason=report.reason + BAD,
                        bundle_name=report.bundle_name + BAD, environment=environment, trainer_environment=environment,
                    ),
                )  # fmt: skip
            yield event


def texts(window: QWidget) -> Iterator[tuple[object, str]]:
    """Everything that a window says, in widgets, tool tips, models and actions."""
    for widget in [window, *window.findChildren(QWidget)]:
        for text in (widget.toolTip(), widget.accessibleName(), widget.accessibleDescription(), widget.windowTitle()):
            yield widget, text
        if isinstance(widget, (QLabel, QLineEdit)) or (hasattr(widget, "setText") and hasattr(widget, "text")):
            yield widget, widget.text()  # type: ignore[attr-defined]
        if isinstance(widget, QPlainTextEdit):
            yield widget, widget.toPlainText()
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            model, root = widget.model(), QModelIndex()
            for row in range(min(model.rowCount(root), 200)):
                for column in range(model.columnCount(root)):
                    for role in ROLES:
                        yield widget, str(model.index(row, column, root).data(role) or "")
    for action in window.findChildren(QAction):
        yield action, f"{action.text()}{action.toolTip()}"


def markup(window: QWidget) -> Iterator[tuple[object, str]]:
    """What Qt takes for markup, if it looks like it: tool tips everywhere, and labels that nobody told otherwise."""
    for widget in [window, *window.findChildren(QWidget)]:
        yield widget, widget.toolTip()
        if isinstance(widget, QLabel) and widget.textFormat() is not Qt.TextFormat.PlainText:
            yield widget, widget.text()
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            model, root = widget.model(), QModelIndex()
            for row in range(min(model.rowCount(root), 200)):
                for column in range(model.columnCount(root)):
                    yield widget, str(model.index(row, column, root).data(Qt.ItemDataRole.ToolTipRole) or "")
    for action in window.findChildren(QAction):
        yield action, action.toolTip()


def assert_harmless(window: QWidget) -> int:
    said = 0
    for source, text in markup(window):
        if "font" in text and QtGui.Qt.mightBeRichText(text):
            document = QTextDocument()
            document.setHtml(text)
            assert "<font color=green>VERIFIED" in document.toPlainText(), (source, text)
    for source, text in texts(window):
        # Our own texts may have several lines, in tool tips and labels.
        found = {character for character in text if unicodedata.category(character) in HIDDEN} - {"\n"}
        assert not found, (source, ascii(text))
        said += "\\u202e" in text
    return said


MakeWindow = Callable[[FakeEngine], MainWindow]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("disputed", [None, 37])
def test_everything_that_the_window_shows(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, disputed: int | None
) -> None:
    engine = Hostile(disputed=disputed)
    window = window_of(engine)
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    assert assert_harmless(window) >= 3, "the overview shows it"
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=20_000)
    qtbot.waitUntil(lambda: not window.session.drawing.waiting)
    assert assert_harmless(window) >= 5
    window.commands["verdict"].trigger()
    dialog = window.findChild(SigningDialog)
    assert dialog is not None
    qtbot.waitUntil(lambda: bool(dialog.statement.toPlainText()))
    assert assert_harmless(dialog) >= 5
    report = window.session.report
    assert report is not None
    assert report.title.endswith(BAD), "what is signed is what the engine found, unchanged"
    statement = dialog.request().statement
    assert statement is not None
    assert statement.payload == engine.preview(report, read_timestamp(statement.said.signed_at))
    dialog.reject()


def test_runs_that_are_compared_rows_and_capsules(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window = window_of(Hostile(disputed=8))
    providers = window.comparing.compare_providers()
    providers.comparison.add([Path(f"/runs/{name}.cfoil") for name in ("honest", "lying", "broken")])
    for _ in range(2):  # compared, then replayed
        providers.start.click()
        qtbot.waitUntil(lambda: not providers.comparison.working)
        assert assert_harmless(providers) >= 3
    for provider in range(3):
        providers.matrix.choose(30, provider)
        assert assert_harmless(providers)
    providers.close()
    bundles = window.comparing.compare_bundles()
    bundles.difference.choose(Path("/runs/one.cfoil"), Path("/runs/other.cfoil"))
    qtbot.waitUntil(lambda: not bundles.difference.working)
    for place in range(bundles.depths.count()):
        bundles.depths.setCurrentIndex(place)
        assert assert_harmless(bundles)
    bundles.close()
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    look = window.dispute.look
    qtbot.waitUntil(lambda: look.isVisibleTo(window.dispute))
    look.rows.button.click()
    qtbot.waitUntil(lambda: look.rows_look.found is not None)
    assert assert_harmless(look) >= 3
    window.open_capsule(Path("/runs/dispute.capsule.cfoil"))
    qtbot.waitUntil(lambda: not window.session.busy)
    assert assert_harmless(window)


def test_verdicts_of_a_folder_and_what_stands_in_a_run(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window = window_of(Hostile())
    window.key_book.trust(AUDITOR, Role.AUDITOR, "Ada", "a test", "2026-03-01")
    ledger = window.lookups.show_ledger()
    ledger.reading.choose(Path("/verdicts") / BAD.replace(chr(0x85), ""))
    qtbot.waitUntil(lambda: ledger.reading.found is not None)
    for place in range(ledger.trainers.rowCount()):
        ledger.trainer_table.selectRow(place)
        assert assert_harmless(ledger) >= 5
    ledger.close()
    located = window.lookups.locate(bundle)
    located.locating.look_for(root("chunk"))
    qtbot.waitUntil(lambda: located.locating.found is not None)
    assert assert_harmless(located) >= 4
    located.locating.look_for(Path("/w") / f"{BAD.replace(chr(0x85), '')}.safetensors")
    qtbot.waitUntil(lambda: located.locating.found is not None)
    assert assert_harmless(located)


def test_a_file_name_and_a_failure(window: MainWindow, engine: FakeEngine, tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / f"run{BAD.replace(chr(0x85), '')}.cfoil"
    path.write_bytes(b"")
    engine.inspect_errors[path.name] = CounterfoilError(f"It is {BAD}.", remedy=f"Do {BAD}.", detail=f"a\n  b {BAD}")
    window.open_bundle(path)
    qtbot.waitUntil(reached(window, Phase.UNREADABLE))
    assert assert_harmless(window) >= 2
    failure = window.session.failure
    assert failure is not None
    assert failure.detail == f"a\n  b {one_line(BAD)}"


def test_a_failure_from_the_engines_process() -> None:
    try:
        raise ValueError(f"on\npurpose{BAD}")
    except ValueError as error:
        failure = Failure.of(error)
    assert "on\\x0apurpose\\x1b" in failure.sentence
    assert not {unicodedata.category(character) for character in failure.detail} & (HIDDEN - {"Cc"})
    assert "\n    raise ValueError" in failure.detail, "a traceback keeps its shape"


def test_the_report_to_print(qapp: object) -> None:
    engine = Hostile(disputed=37)
    from counterfoil import AuditFinished, AuditRequest, CancelToken

    *_, last = engine.audit(AuditRequest(Path("honest.cfoil"), None, "cpu"), CancelToken())
    assert isinstance(last, AuditFinished)
    envelope = envelope_of(engine.preview(last.report, datetime(2026, 11, 21, tzinfo=UTC)))
    summary = engine.summary(Path("honest.cfoil"), None)
    page = Contents(
        strangers.plain(last.report), strangers.plain(summary), Curves.of(StepTable()), envelope, "honest.verdict.json"
    )
    text = report_pages.make_document(page, 500, 700).toPlainText()
    assert "\\u202e" in text
    # Qt writes the ends of its own lines and blocks so.
    found = {character for character in text if unicodedata.category(character) in HIDDEN} - set("\n\u2028\u2029\ufffc")
    assert not found, [hex(ord(character)) for character in found]


def test_names_offered_for_new_files() -> None:
    assert strangers.beside(Path("a/run.cfoil"), ".verdict.json") == Path("a/run.verdict.json")
    assert strangers.beside(Path(f"run{BAD}x\u00e9.cfoil"), ".csv").name == f"run_[31m_______{MARKUP}x\u00e9.csv"


def test_plain_values_stay_themselves() -> None:
    summary = FakeEngine().summary(Path("honest.cfoil"), None)
    assert strangers.plain(summary) is summary
    assert strangers.plain(None) is None
    cleaned = strangers.plain(spoiled(summary))
    assert cleaned.order.title == one_line(summary.order.title + BAD)
    assert cleaned.run.recorded == summary.run.recorded


def read_verdict(report: AuditReport) -> Verdict:
    statement = statement_of(verdict_statement(report, datetime(2026, 1, 31, tzinfo=UTC)))
    return Verdict(read_said(VerdictStatement, statement), "ab" * 32)


def test_a_verdict_that_was_read() -> None:
    honest = disputed_report()
    assert honest.dispute is not None
    assert honest.dispute.operator is not None
    report = replace(
        honest,
        title=f"Digits{BAD}",
        bundle_name=f"run{BAD}.cfoil",
        checks=tuple(replace(check, detail=check.detail + BAD) for check in honest.checks),
        environment=((f"device{BAD}", f"cpu{BAD}"),),
        dispute=replace(honest.dispute, operator=replace(honest.dispute.operator, module=f"conv1{BAD}")),
    )
    verdict = read_verdict(report)
    cleaned = strangers.plain(VerdictReading(("ab" * 32,), verdict)).verdict
    assert cleaned is not None
    assert cleaned.title == one_line(f"Digits{BAD}")

    def hidden(value: Verdict) -> set[str]:
        text = json.dumps(value.predicate, ensure_ascii=False)
        return {unicodedata.category(character) for character in value.bundle_name + text} & HIDDEN

    assert hidden(verdict), "the control: it was spoiled"
    assert not hidden(cleaned)
    assert (cleaned.bundle_digest, cleaned.states) == (verdict.bundle_digest, verdict.states)
    unspoiled = read_verdict(honest)
    assert strangers.plain(unspoiled) is unspoiled


@pytest.mark.parametrize(
    "text", ["run<h1>x", "<img src=http://x/y.png>", "a &amp; b <br/>", "plain", "a < b", "two\nlines"]
)
def test_a_tip_says_what_it_was_given(qapp: object, text: str) -> None:
    label = QLabel()
    set_tip(label, text)
    document = QTextDocument()
    (document.setHtml if QtGui.Qt.mightBeRichText(label.toolTip()) else document.setPlainText)(label.toolTip())
    assert document.toPlainText() == text
    copied = QLabel()
    copy_tip(copied, label)
    assert copied.toolTip() == label.toolTip()


def test_tips_are_set_in_one_place() -> None:
    root = Path(counterfoil_app.__file__).parent
    for path in root.rglob("*.py"):
        if path.name != "tips.py":
            assert ".setToolTip(" not in path.read_text(), path


def test_a_failure_is_no_markup(window: MainWindow, qtbot: QtBot) -> None:
    box = show_failure(window, Failure.of(CounterfoilError(f"It is {BAD}.", remedy=f"Do {BAD}.")))
    assert assert_harmless(box)
    assert box.textFormat() is Qt.TextFormat.PlainText
    box.close()
