"""The name in the certificate beside a verdict's signature: the window shows it as a claim, and never as a fact."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from counterfoil.signing.privatekeys import key_from_seed
from counterfoil_app.engine.port import Engine, VerdictReading
from counterfoil_app.engine.strangers import plain
from counterfoil_app.looks.theme import Theme
from counterfoil_app.main import application
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.model.settings import ThemeChoice
from counterfoil_app.verdict.viewer import VerdictViewer
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.signing.envelope import attach_certificates
from counterfoil_core.statement.verdict import sign_verdict
from support.certificates import Firm
from support.reports import verified_report
from support.trusted import store_of

AUDITOR, OTHER = (key_from_seed(bytes([number] * 32)) for number in (1, 2))


def read(path: Path, chain: list[bytes]) -> VerdictReading:
    path.write_bytes(attach_certificates(sign_verdict(verified_report(), AUDITOR), chain))
    return plain(Engine().read_verdict(path, store_of(AUDITOR.public.public), None, []))


def shown(qtbot: QtBot, reading: VerdictReading, path: Path) -> list[str]:
    theme = Theme(application(), ThemeChoice.LIGHT)
    viewer = VerdictViewer(path, KeyBook(path.with_name("keys.json")), theme)
    qtbot.addWidget(viewer)
    viewer.show_reading(reading)
    return [label.text() for label in viewer.findChildren(QLabel)]


def test_the_name_is_shown_as_a_claim_and_only_where_there_is_one(qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "v.json"
    reading = read(path, Firm().chain(AUDITOR.public.pem))
    assert reading.claimed_name == "CN=Ada Auditor"
    said = shown(qtbot, reading, path)
    assert "Claimed name" in said
    assert any(text.startswith("CN=Ada Auditor. The window checks no certificate") for text in said)
    assert "Ada" not in "".join(text for text in said if "checks no certificate" not in text)
    bare = read(path, [])
    assert bare.claimed_name == ""
    assert "Claimed name" not in shown(qtbot, bare, path)


def test_a_certificate_of_another_key_makes_no_claim(tmp_path: Path) -> None:
    for chain in (Firm().chain(OTHER.public.pem), [b"junk"]):
        with pytest.raises(CounterfoilError, match=r"another key|malformed"):
            read(tmp_path / "v.json", chain)
