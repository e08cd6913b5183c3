"""A signed verdict is read in the window's language: outcomes as they are signed, sentences by their templates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from counterfoil import AdjudicationOutcome, Outcome, Verdict, key_id_of
from counterfoil.talk.messages import decode, encode
from counterfoil_app.engine.port import VerdictReading
from counterfoil_app.engine.strangers import plain
from counterfoil_app.looks import words
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.language import Translations
from counterfoil_app.looks.theme import Theme
from counterfoil_app.main import application
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.model.settings import ThemeChoice
from counterfoil_app.verdict.viewer import VerdictViewer
from counterfoil_core.base.sentence import Sentence, say
from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.signing.statements import read_said
from counterfoil_core.statement.model import VerdictStatement
from counterfoil_core.statement.write import verdict_statement
from counterfoil_core.values.sampling import Sample, Selection
from support.reports import verified_report

AUDITOR = "ab" * 32
KNOWN = say("Only {0} of the {1} chosen steps could be judged.", 1234, 5000)
UNKNOWN = say("A later version found {0:,} things: {1}.", 1234, say("only {0} of them matter", 0.5))


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    before, translations = QLocale(), Translations()
    translations.install("de")
    yield
    translations.remove()
    QLocale.setDefault(before)


def read(reason: str) -> VerdictReading:
    """As the window gets it: out of the bytes of the engine's process, made plain."""
    fields = statement_of(
        verdict_statement(replace(verified_report(), reason=reason), datetime(2026, 11, 21, tzinfo=UTC))
    )
    verdict = Verdict(read_said(VerdictStatement, fields), key_id_of(AUDITOR))
    reading: VerdictReading = decode(encode(VerdictReading((verdict.key_id,), verdict, AUDITOR)), VerdictReading)
    return plain(reading)


def shown(qtbot: QtBot, reading: VerdictReading, tmp_path: Path) -> str:
    theme = Theme(application(), ThemeChoice.LIGHT)
    viewer = VerdictViewer(tmp_path / "v.json", KeyBook(tmp_path / "keys.json"), theme)
    qtbot.addWidget(viewer)
    viewer.show_reading(reading)
    return viewer.sentence.text()


@pytest.mark.usefixtures("german")
def test_a_signed_sentence_is_read_in_german_with_german_numbers(qtbot: QtBot, tmp_path: Path) -> None:
    reading = read(KNOWN)
    assert isinstance(reading.verdict, Verdict)
    assert isinstance(reading.verdict.reason, Sentence)
    said = shown(qtbot, reading, tmp_path)
    assert "Only" not in said
    assert "1.234" in said
    assert "5.000" in said


@pytest.mark.usefixtures("german")
def test_a_template_that_nobody_knows_is_shown_as_it_was_signed(qtbot: QtBot, tmp_path: Path) -> None:
    assert "A later version found 1,234 things: only 0.5 of them matter." in shown(qtbot, read(UNKNOWN), tmp_path)


@pytest.mark.usefixtures("german")
def test_a_sentence_without_parts_is_shown_as_it_was_signed(qtbot: QtBot, tmp_path: Path) -> None:
    assert str(KNOWN) in shown(qtbot, read(str(KNOWN)), tmp_path)


def test_in_english_it_is_what_was_signed(qtbot: QtBot, tmp_path: Path) -> None:
    assert str(KNOWN) in shown(qtbot, read(KNOWN), tmp_path).replace(",", "")


@pytest.mark.usefixtures("german")
def test_what_a_sentence_quotes_does_no_harm(qtbot: QtBot, tmp_path: Path) -> None:
    said = shown(qtbot, read(say("Only {0} of the {1} chosen steps could be judged.", "<b>x</b>\n\u202e", 2)), tmp_path)
    assert "<b>x</b>" in said, "plain text"
    assert "\n" not in said
    assert "\u202e" not in said


def test_outcomes_stay_as_they_are_signed_with_their_meaning_in_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    assert words.as_signed("DISPUTED") == "DISPUTED", "in English the word is the meaning"
    german = {"disputed": "bestritten", "verified": "bestätigt", "{0} for {1} of {2} segments": "{0} für {1} von {2}"}
    monkeypatch.setattr(words, "_tr", lambda text: german.get(text, text))
    assert words.as_signed("DISPUTED") == "DISPUTED (bestritten)"
    assert words.outcome(Outcome.DISPUTED).word == "DISPUTED (bestritten)"
    sample = Sample(12, ((1, 3),), Selection.LISTED)
    assert words.outcome(Outcome.VERIFIED, sample).word == "VERIFIED (bestätigt) für 3 von 12"
    assert words.adjudication(AdjudicationOutcome.REFUSED).word == "REFUSED"
    part = replace(verified_report(), sample=sample)
    assert part.headline == "VERIFIED for 3 of 12 segments", "as it is signed"
    assert words.headline(part) == "VERIFIED (bestätigt) for 3 of 12 segments"


def test_numbers_of_probabilities_are_those_of_the_language(german: None) -> None:
    sample = Sample(1000, ((1, 3),), Selection.RANDOM, "ab" * 32, 4)
    assert "0.9" in sample.describe()
    assert "0,9" in translate(sample.describe())
    assert "0.9" not in translate(sample.describe())
