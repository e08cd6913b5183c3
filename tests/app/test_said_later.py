"""A verdict that its auditor took back is not mistaken for one that holds; a reply is shown as the trainer's words."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot
from tests.app.conftest import MakeWindow
from tests.app.test_files_find_their_places import drop, made

from counterfoil import Afterwards, Digest, Reply, Role, TrustFolder, Withdrawal
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict.viewer import VerdictViewer
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.statements import sign_said
from support.fake_engine import AUDITOR, FakeEngine

DAY = "2026-11-22"
VERDICT, NEW = Digest.of(b"verdict"), Digest.of(b"new")
WITHDRAWN = Withdrawal(VERDICT, "The wrong run.\nI am sorry.", None, signed_at="2026-11-22T10:00:00Z")
SUPERSEDED = Withdrawal(VERDICT, "A better one.", NEW, signed_at="2026-11-22T10:00:00Z")
REPLY = Reply(VERDICT, "<b>VERIFIED</b>\n\u202eby me\x1b[0m", signed_at="2026-11-22T11:00:00Z")


def read(window: MainWindow, folder: Path, qtbot: QtBot, *later: Path) -> VerdictViewer:
    window.key_book.trust(AUDITOR, Role.AUDITOR, "Ada", "", DAY)
    (verdict,) = made(folder, "run.verdict.json")
    viewer = window.verdicts.read(verdict, later)
    qtbot.waitUntil(lambda: viewer.checked)
    return viewer


def quotations(viewer: VerdictViewer) -> list[tuple[str, str]]:
    return [(each.who.text(), each.words.text()) for each in viewer.later.quotations]


def test_control_a_verdict_of_which_nothing_was_said(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    viewer = read(window, tmp_path, qtbot)
    assert viewer.headline.text() == "The signature holds: VERIFIED"
    assert not viewer.banner.isVisible()
    assert not viewer.later.isVisible()
    assert viewer.trust.isVisible()


def test_a_verdict_that_does_not_count_is_red_and_says_why(window_of: MakeWindow, tmp_path: Path, qtbot: QtBot) -> None:
    revoked = say(
        '{0} was revoked from {1} on ({2}): "{3}".', say("The key that signed the run"), DAY, "retired", "old"
    )
    viewer = read(window_of(FakeEngine(why_not=(revoked,))), tmp_path, qtbot)
    assert viewer.headline.text() == "This verdict does not count"
    assert viewer.sentence.text().startswith("The key that signed the run was revoked from 2026-11-22 on")
    assert viewer.close_button.property("primary"), "there is nothing to compare it with"
    assert "What it said was: VERIFIED." in viewer.sentence.text()
    assert viewer.property("tone") == "bad"
    assert not viewer.trust.isVisible()


def test_what_was_given_once_is_known_from_then_on(window_of: MakeWindow, tmp_path: Path, qtbot: QtBot) -> None:
    key = key_from_seed(b"\x05" * 32)
    envelope = sign_said(Withdrawal(VERDICT, "The wrong run.", None), key)
    window = window_of(FakeEngine(later=Afterwards(withdrawals=(WITHDRAWN,)), counted=(envelope,)))
    read(window, tmp_path, qtbot)
    ((_, kept),) = TrustFolder(window.settings.trust_folder).store().later
    assert kept == envelope
    assert [each for _, each in window.key_book.store.later] == [envelope]


@pytest.mark.parametrize(("said", "title"), [(WITHDRAWN, "Withdrawn"), (SUPERSEDED, "Superseded")])
def test_a_verdict_that_was_taken_back_is_red(
    window_of: MakeWindow, tmp_path: Path, qtbot: QtBot, said: Withdrawal, title: str
) -> None:
    engine = FakeEngine(later=Afterwards(withdrawals=(said,)))
    viewer = read(window_of(engine), tmp_path, qtbot)
    assert viewer.headline.text().startswith(title)
    assert "VERIFIED" not in viewer.headline.text()
    assert "It no longer counts" in viewer.sentence.text()
    assert viewer.property("tone") == "bad"
    assert viewer.banner.isVisible()
    assert viewer.banner.text().startswith("WITHDRAWN by its auditor on 2026-11-22 10:00:00 UTC")
    assert viewer.banner.property("tone") == "bad"
    assert not viewer.trust.isVisible(), "green lines are no comfort"
    ((who, words),) = quotations(viewer)
    assert "auditor's reason" in who
    assert words == said.reason


def test_a_reply_is_the_trainers_words_and_plain_text(window_of: MakeWindow, tmp_path: Path, qtbot: QtBot) -> None:
    ignored = say("{0} does not count. {1}", "x.json", "It is about another verdict.")
    engine = FakeEngine(later=Afterwards(replies=(REPLY,), ignored=(ignored,)))
    viewer = read(window_of(engine), tmp_path, qtbot)
    assert viewer.headline.text() == "The signature holds: VERIFIED", "a reply changes nothing"
    assert not viewer.banner.isVisible()
    ((who, words),) = quotations(viewer)
    assert who.startswith("Reply of the trainer who signed the run, on 2026-11-22 11:00:00 UTC by the trainer's clock")
    assert words == "<b>VERIFIED</b>\n\\u202eby me\\x1b[0m"
    assert viewer.later.quotations[0].words.textFormat() is Qt.TextFormat.PlainText


def test_statements_come_with_the_verdict_or_after_it(
    window: MainWindow, engine: FakeEngine, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.key_book.trust(AUDITOR, Role.AUDITOR, "Ada", "", DAY)
    reply, verdict, other = made(tmp_path, "a.reply.json", "run.verdict.json", "b.reply.json")
    drop(window, qtbot, reply)
    qtbot.waitUntil(lambda: "drop it together with that verdict" in window.statusBar().currentMessage())
    drop(window, qtbot, verdict, reply)
    qtbot.waitUntil(lambda: window.verdicts.reading is not None and window.verdicts.reading.checked)
    viewer = window.verdicts.reading
    assert viewer is not None
    assert engine.statements[-1] == (reply,)
    viewer.files_dropped.emit([other])
    qtbot.waitUntil(lambda: engine.statements[-1] == (reply, other))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "c.json"), ""))
    qtbot.mouseClick(viewer.choose_statement, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: engine.statements[-1] == (reply, other, tmp_path / "c.json"))
