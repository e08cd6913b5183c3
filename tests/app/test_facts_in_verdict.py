"""The viewer shows the facts that a verdict states, and none of one that states none."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from counterfoil import RunFacts, Verdict, key_id_of
from counterfoil.talk.messages import decode, encode
from counterfoil_app.engine.port import VerdictReading
from counterfoil_app.engine.strangers import plain
from counterfoil_app.looks.theme import Theme
from counterfoil_app.main import application
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.model.settings import ThemeChoice
from counterfoil_app.verdict.viewer import VerdictViewer
from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.signing.statements import read_said
from counterfoil_core.statement.model import VerdictStatement
from counterfoil_core.statement.write import verdict_statement
from support.reports import run_facts, verified_report

AUDITOR = "ab" * 32


def shown(qtbot: QtBot, facts: RunFacts | None, tmp_path: Path) -> list[str]:
    """The texts of the viewer, in order, of a verdict as the window gets it."""
    fields = statement_of(
        verdict_statement(replace(verified_report(), facts=facts), datetime(2026, 11, 21, tzinfo=UTC))
    )
    verdict = Verdict(read_said(VerdictStatement, fields), key_id_of(AUDITOR))
    reading: VerdictReading = decode(encode(VerdictReading((verdict.key_id,), verdict, AUDITOR)), VerdictReading)
    viewer = VerdictViewer(
        tmp_path / "v.json", KeyBook(tmp_path / "keys.json"), Theme(application(), ThemeChoice.LIGHT)
    )
    qtbot.addWidget(viewer)
    viewer.show_reading(plain(reading))
    return [each.text() for each in viewer.page.findChildren(QLabel)]


def test_the_facts_of_a_verdict_are_shown(qtbot: QtBot, tmp_path: Path) -> None:
    texts = shown(qtbot, run_facts(), tmp_path)

    def beside(name: str) -> str:
        return texts[texts.index(name) + 1]

    assert beside("Operations") == "1,000,000,000,000,000,000,000,022"
    assert beside("Parameters") == "1,000,000,000,000,000,000,000"
    assert beside("Data: images") == "470 rows read, 99 of them different"
    assert beside("Tokens looked up") == "470"
    assert beside("Duration") == "1 h 00 min, as the trainer says"


def test_control_a_verdict_without_facts_shows_none(qtbot: QtBot, tmp_path: Path) -> None:
    texts = shown(qtbot, None, tmp_path)
    assert "Run root" in texts
    assert not {"Operations", "Parameters", "Tokens looked up", "Duration"} & set(texts)


def test_a_strangers_name_in_facts_is_plain(qtbot: QtBot, tmp_path: Path) -> None:
    facts = run_facts()
    strange = replace(facts, data=(replace(facts.data[0], name="<b>x\u202e"), facts.data[1]))
    texts = shown(qtbot, strange, tmp_path)
    assert "Data: <b>x\\u202e" in texts
