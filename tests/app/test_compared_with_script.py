"""How far an order was compared with its script: in the overview and in the report, for who knows these keys."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from counterfoil import AuditFinished, AuditRequest, CancelToken, Role, key_id_of
from counterfoil.signing.comparedsteps import FoundComparison
from counterfoil.signing.kinds import Comparison
from counterfoil_app.looks import fonts
from counterfoil_app.looks.language import Translations
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.step_data import StepData
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict import report_pages
from counterfoil_app.verdict.report_document import Contents, Curves
from counterfoil_core.values.trust import MachineTrust, OrderTrust, TrainerTrust, Trust
from support.boxes import enclosure_of
from support.fake_engine import AUDITOR, FakeEngine, digest, envelope_of
from support.waiting import reached

MakeWindow = Callable[[FakeEngine], MainWindow]
CLIENT, DAY = "cd" * 32, "2026-11-21"


def compared(key: str = "", *ranges: tuple[int, int]) -> FoundComparison:
    said = Comparison(digest("order"), digest("script"), (), {}, "2.13.0", ranges or ((1, 40),), 60)
    return FoundComparison("honest.comparison.json", said, "", key, "2026-11-19T09:31:00Z" if key else "")


def shown(window: MainWindow) -> tuple[str, str]:
    """The line in the overview, and its colour; empty where there is none."""
    grid = window.run._order
    lines = [
        each for each in grid.findChildren(QLabel) if each.accessibleDescription() == "Script" and each.isVisible()
    ]
    if not lines:
        return "", ""
    (line,) = lines
    return line.text(), str(line.property("tone") or "")


def opened(window_of: MakeWindow, bundle: Path, qtbot: QtBot, engine: FakeEngine) -> MainWindow:
    window = window_of(engine)
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    return window


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("recipe", "found", "line", "tone"),
    [
        ("digits-cnn", None, "", ""),
        ("script", None, "Not compared with the script.", "warn"),
        ("script", compared(), "in steps 1 to 40 of 60 (the file's word: nobody has signed it).", "warn"),
        ("script", compared("", (1, 60)), "in all 60 steps (the file's word: nobody has signed it).", ""),
        ("custom", None, "Not compared with a script; whether it came from one it does not say.", ""),
        ("script", FoundComparison("x.json", None, "It is junk."), "x.json cannot be used. It is junk.", "warn"),
    ],
)
def test_the_overview_says_it_where_it_describes_the_order(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, recipe: str, found: FoundComparison | None, line: str, tone: str
) -> None:
    window = opened(window_of, bundle, qtbot, FakeEngine(recipe=recipe, comparison=found))
    words, colour = shown(window)
    assert words.endswith(line)
    assert bool(words) == bool(line)
    assert colour == tone


def test_it_counts_by_the_keys_that_the_user_knows(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    auditor = key_id_of(AUDITOR)
    window = opened(window_of, bundle, qtbot, FakeEngine(recipe="script", comparison=compared(auditor, (1, 60))))
    assert "the file's word" in shown(window)[0]
    window.key_book.trust(AUDITOR, Role.AUDITOR, "Ada", "", DAY)
    qtbot.waitUntil(lambda: "signed by a trusted auditor" in shown(window)[0])
    window.key_book.remove(auditor)
    qtbot.waitUntil(lambda: "the file's word" in shown(window)[0])


def test_the_clients_counts_and_the_trainers_never(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    engine = FakeEngine(recipe="script", client=CLIENT, comparison=compared(key_id_of(CLIENT), (1, 60)))
    window = opened(window_of, bundle, qtbot, engine)
    assert "signed with the key that signed the order" in shown(window)[0]
    window.key_book.trust(CLIENT, Role.CLIENT, "Nordbank", "", DAY)
    qtbot.waitUntil(lambda: "signed by the client" in shown(window)[0])
    engine = FakeEngine(recipe="script")
    engine.comparison = compared(engine.trainer_key, (1, 60))
    other = opened(window_of, bundle, qtbot, engine)
    assert "by the trainer, whose signature does not count" in shown(other)[0]
    assert shown(other)[1] == "warn"


def contents(engine: FakeEngine, order: OrderTrust = OrderTrust.NOT_COMPARED) -> Contents:
    plan = AuditRequest(Path("honest.cfoil"), None, "cpu")
    *_, last = engine.audit(plan, CancelToken())
    assert isinstance(last, AuditFinished)
    summary = engine.summary(plan.run, None)
    curves = Curves.of(StepData(summary).table)
    envelope = envelope_of(engine.preview(last.report, datetime(2026, 11, 21, tzinfo=UTC)))
    trust = Trust(order, TrainerTrust.NAMED, MachineTrust.TESTED)
    return Contents(last.report, summary, curves, envelope, "honest.verdict.json", trust=trust)


def printed(page: Contents) -> str:
    return report_pages.make_document(page, 664, 965).toPlainText()


def test_the_report_says_it_of_the_judged_order(qapp: QApplication) -> None:
    fonts.install_fonts()
    page = contents(FakeEngine(recipe="script", comparison=compared()))
    assert "Compared with the script in steps 1 to 40 of 60 (the file's word: nobody has signed it)." in printed(page)
    assert "Not compared with the script." in printed(contents(FakeEngine(recipe="script")))
    assert "with the script" not in printed(contents(FakeEngine()))
    other = replace(page, report=replace(page.report, order_digest=digest("x"), run_order=digest("x")))
    assert "with the script" not in printed(other), "it is about another order"


def test_the_report_names_who_signed_it(qapp: QApplication) -> None:
    fonts.install_fonts()
    by_client = FakeEngine(recipe="script", client=CLIENT, comparison=compared(key_id_of(CLIENT)))
    assert "(signed by the client)" in printed(contents(by_client, OrderTrust.SIGNED))
    assert "signed with the key that signed the order" in printed(contents(by_client, OrderTrust.UNKNOWN_SIGNER))
    assert "which was revoked" in printed(contents(by_client, OrderTrust.REVOKED))
    page = contents(FakeEngine(recipe="script"))
    assert page.summary is not None
    by_auditor = replace(page, summary=replace(page.summary, comparison=compared(page.key_id)))
    assert "signed by a trusted auditor" in printed(by_auditor), "the auditor who signs this report"


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    before, translations = QLocale(), Translations()
    translations.install("de")
    yield
    translations.remove()
    QLocale.setDefault(before)


def test_it_speaks_german(german: None) -> None:
    fonts.install_fonts()
    page = contents(FakeEngine(recipe="script", comparison=compared("", (1, 4), (7, 9), (60, 60))))
    assert (
        "Mit dem Skript verglichen in den Schritten 1 bis 4, 7 bis 9 und 60 von 60 (nur das Wort der Datei: Niemand "
        "hat sie unterschrieben)." in printed(page)
    )


def test_the_process_in_the_box_reads_it(tmp_path: Path) -> None:
    run, order = tmp_path / "run.cfoil", tmp_path / "job.cfoil"
    beside = tmp_path / "job.comparison.json"
    arguments = (run, order, (), CancelToken())
    assert str(beside) not in enclosure_of("inspect", arguments, "").reads
    beside.write_text("")
    for method, named in (("inspect", arguments), ("outline", (order,)), ("client_order", (order, run))):
        assert str(beside) in enclosure_of(method, named, "").reads
    assert str(beside) not in enclosure_of("preview_data", (order,), "").reads
    assert os.fspath(tmp_path / "run.comparison.json") not in enclosure_of("inspect", arguments, "").reads
