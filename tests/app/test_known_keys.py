"""A key that arrives with what it signs is a proposal: a person confirms it once, and nobody certifies himself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot
from tests.app.conftest import MakeWindow
from tests.app.test_files_find_their_places import drop, made
from tests.app.test_nothing_misleads import idle

from counterfoil import BundleSummary, Role, key_id_of, pem_of
from counterfoil_app.engine.port import KnownRequest
from counterfoil_app.model.key_book import FILE_NAME, KeyBook
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict.export import Unsigned, now
from counterfoil_app.verdict.matter import matter_of
from counterfoil_app.views.checks import Door
from counterfoil_app.views.inquiry import DeliveryDialog
from counterfoil_app.views.keys import KeysDialog
from support.fake_engine import AUDITOR, KEY_ID, FakeEngine, digest
from support.message_boxes import click_in_box
from support.proposals import asked, confirm, decline, proposal
from support.waiting import reached

LEFT = Qt.MouseButton.LeftButton
DAY = "2026-11-22"


def shown(window: MainWindow, kind: type[QWidget]) -> QWidget:
    return next(each for each in window.findChildren(kind) if each.isVisible())


def package(folder: Path) -> list[Path]:
    """What a trainer sends who would like to be believed."""
    return made(folder, "run.cfoil", "job.cfoil", "run.verdict.json", "auditor.pub.pem", "model.safetensors")


def test_a_trainer_does_not_certify_himself_by_one_drop(window_of: MakeWindow, tmp_path: Path, qtbot: QtBot) -> None:
    engine = FakeEngine()
    engine.signer = engine.trainer_public
    window = window_of(engine)
    drop(window, qtbot, *package(tmp_path))
    qtbot.waitUntil(reached(window, Phase.READY))
    qtbot.waitUntil(lambda: bool(window.findChildren(DeliveryDialog)))
    dialog = window.findChildren(DeliveryDialog)[0]
    qtbot.waitUntil(lambda: not dialog.delivery.working)
    assert dialog.headline.text() == "Not compared"
    assert window.key_book.checking == ()
    # The question says what the key is, offers no, and lets nobody make an auditor of it.
    question = proposal(qtbot)
    key_id = key_id_of(engine.trainer_public)
    assert question.fingerprint.text().replace(" ", "").replace("\n", "") == key_id
    assert question.leave.isDefault()
    question.role.setCurrentIndex(question.role.findData(Role.AUDITOR))
    QTest.keyClicks(question.name, "Honest Ed")
    qtbot.mouseClick(question.compared, LEFT, pos=QPoint(8, question.compared.height() // 2))
    assert question.compared.isChecked()
    assert not question.trust.isEnabled()
    assert "A trainer cannot audit itself" in question.notice.text()
    assert question.notice.property("tone") == "bad"
    decline(qtbot)
    assert window.key_book.checking == ()
    # Whatever made it an auditor's key: what it says of its own run is red.
    window.key_book.remove(key_id)
    window.key_book.trust(engine.trainer_public, Role.AUDITOR, "Honest Ed", "", DAY)
    qtbot.waitUntil(lambda: dialog.headline.text() == "The trainer certified its own run")
    assert dialog.property("tone") == "bad"
    viewer = window.verdicts.read(tmp_path / "run.verdict.json")
    qtbot.waitUntil(lambda: viewer.headline.text() == "The trainer signed this about its own run")
    assert viewer.property("tone") == "bad"
    assert viewer.trust.lines[1].text() == "the auditor"


def test_control_an_auditors_key_is_confirmed_once_and_counts_from_then_on(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    files = package(tmp_path)
    drop(window, qtbot, *files)
    confirm(qtbot, "Ada")
    dialog = window.findChildren(DeliveryDialog)[0]
    qtbot.waitUntil(lambda: dialog.headline.text().startswith("DELIVERED"))
    known = window.key_book.find(KEY_ID)
    assert known is not None
    assert (known.name, known.role, known.source) == ("Ada", Role.AUDITOR, str(files[3]))
    drop(window, qtbot, files[3])
    idle(window, qtbot)
    assert asked() is None, "it is asked once"
    assert "Ada" in window.statusBar().currentMessage()


def test_enter_and_escape_trust_nobody(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    (key,) = made(tmp_path, "auditor.pub.pem")
    drop(window, qtbot, key)
    question = proposal(qtbot)
    qtbot.keyClick(question.name, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: asked() is None)
    assert window.key_book.keys == ()
    drop(window, qtbot, key)
    decline(qtbot)
    assert window.key_book.keys == ()


def test_several_keys_are_asked_about_one_after_the_other(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    drop(window, qtbot, *made(tmp_path, "auditor.pub.pem", "another.pub.pem"))
    confirm(qtbot, "Ada")
    confirm(qtbot, "Bob")
    assert {key.name for key in window.key_book.keys} == {"Ada", "Bob"}


def test_a_name_that_is_taken_is_said_in_the_question(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    window.key_book.trust(digest("x").hex, Role.AUDITOR, "Ada", "", DAY)
    drop(window, qtbot, *made(tmp_path, "auditor.pub.pem"))
    question = proposal(qtbot)
    QTest.keyClicks(question.name, "Ada")
    qtbot.mouseClick(question.compared, LEFT, pos=QPoint(8, question.compared.height() // 2))
    qtbot.mouseClick(question.trust, LEFT)
    assert "the name of another key" in question.notice.text()
    assert question.isVisible()
    decline(qtbot)


def test_a_key_file_that_is_exchanged_is_not_believed(window_of: MakeWindow, tmp_path: Path, qtbot: QtBot) -> None:
    """The file under the name that was trusted holds another key now, and a verdict signed with that."""
    engine = FakeEngine()
    window = window_of(engine)
    key, verdict = made(tmp_path, "auditor.pub.pem", "run.verdict.json")
    drop(window, qtbot, key)
    confirm(qtbot)
    viewer = window.verdicts.read(verdict)
    qtbot.waitUntil(lambda: viewer.checked)
    viewer.close()
    engine.signer = digest("forger").hex  # the fake engine reads it from the same file
    viewer = window.verdicts.read(verdict)
    idle(window, qtbot)
    assert not viewer.checked
    assert viewer.headline.text().startswith("Not checked")


# The list of keys


def listed(window: MainWindow) -> KeysDialog:
    window.commands["keys"].trigger()
    dialog = shown(window, KeysDialog)
    assert isinstance(dialog, KeysDialog)
    return dialog


def test_the_list_shows_renames_copies_saves_and_removes(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = window.key_book
    book.meet(digest("t").hex, digest("order").hex, "/data/run.cfoil", DAY)
    book.trust(AUDITOR, Role.AUDITOR, "Ada", "/keys/ada.pub.pem", DAY)
    dialog = listed(window)
    cells = [[dialog.model.index(row, column).data() for column in (0, 1, 3, 4)] for row in range(2)]
    assert cells == [
        ["a trainer", "no name yet", DAY, "/data/run.cfoil"],
        ["an auditor", "Ada", DAY, "/keys/ada.pub.pem"],
    ]
    dialog.choose(KEY_ID)
    qtbot.mouseClick(dialog.copy, LEFT)
    assert QGuiApplication.clipboard().text() == pem_of(AUDITOR)
    target = tmp_path / "saved.pub.pem"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    qtbot.mouseClick(dialog.save, LEFT)
    assert target.read_text() == pem_of(AUDITOR)
    assert not dialog.rename.isEnabled()
    dialog.name.selectAll()
    QTest.keyClicks(dialog.name, "Ada Lovelace")
    qtbot.mouseClick(dialog.rename, LEFT)
    assert book.find(KEY_ID).name == "Ada Lovelace"  # type: ignore[union-attr]
    assert dialog.chosen is not None
    assert dialog.chosen.key_id == KEY_ID, "what was chosen stays chosen"
    qtbot.mouseClick(dialog.remove, LEFT)
    click_in_box(dialog, "forget-question", "Remove")
    assert book.find(KEY_ID) is None
    assert KeyBook(tmp_path / "trust" / FILE_NAME).find(KEY_ID) is None


def test_a_key_is_added_from_the_list(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = listed(window)
    assert "No key is known yet" in dialog.sentence.text()
    assert not any(button.isEnabled() for button in (dialog.copy, dialog.save, dialog.remove, dialog.rename))
    (key,) = made(tmp_path, "auditor.pub.pem")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(key), ""))
    qtbot.mouseClick(dialog.add, LEFT)
    confirm(qtbot)
    assert dialog.model.rowCount() == 1


def test_a_verdict_is_checked_anew_when_its_key_is_removed(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    window.key_book.trust(AUDITOR, Role.AUDITOR, "Ada", "", DAY)
    (verdict,) = made(tmp_path, "run.verdict.json")
    viewer = window.verdicts.read(verdict)
    qtbot.waitUntil(lambda: viewer.checked)
    assert "Ada" in viewer.sentence.text()
    window.key_book.remove(KEY_ID)
    qtbot.waitUntil(lambda: not viewer.checked)
    assert viewer.page.isVisible()
    assert "VERIFIED" not in viewer.headline.text()


# What a conclusion rests on


def test_verified_is_green_only_with_the_clients_order_and_a_named_trainer(
    window: MainWindow, engine: FakeEngine, tmp_path: Path, qtbot: QtBot
) -> None:
    run, job = made(tmp_path, "run.cfoil", "job.cfoil")
    header = window.header

    def shown_trust() -> list[str]:
        return [door.accessibleName().split(": ")[1] for door in header.trust.doors.values()]

    drop(window, qtbot, run)
    qtbot.waitUntil(reached(window, Phase.READY))
    idle(window, qtbot)
    assert shown_trust() == ["not compared", "not named", "not tested"]
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    idle(window, qtbot)
    assert (header.outcome.text(), header.property("tone")) == ("VERIFIED", "warn")
    assert shown_trust() == ["not compared", "not named", "self-test passed"]
    assert "not compared with the client's own" in header.sentence.text()
    window.session.compare_with(job)
    qtbot.waitUntil(lambda: shown_trust()[0] == "the client's own")
    assert header.property("tone") == "warn", "nobody has said whose key it is"
    panel = window.run.trainer_key
    panel.name.setText("Trainwell")
    qtbot.keyClick(panel.name, Qt.Key.Key_Return)
    assert shown_trust() == ["the client's own", "Trainwell", "self-test passed"]
    qtbot.waitUntil(lambda: header.property("tone") == "ok")
    assert "it is open" not in header.sentence.text()
    # The verdict says so too, without another replay.
    assert window.session.report is not None
    assert window.session.report.given_key == engine.trainer_key
    assert len(engine.plans) == 1
    engine.key = "another"
    window.session.open(run, job)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    idle(window, qtbot)
    assert shown_trust() == ["the client's own", "CHANGED", "self-test passed"]
    assert header.property("tone") == "warn"


def test_a_named_trainers_key_goes_along_with_the_replay(
    window: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot
) -> None:
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    idle(window, qtbot)
    window.key_book.name(engine.trainer_key, "Trainwell")
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    request = engine.plans[-1]
    assert isinstance(request, KnownRequest)
    assert request.trainer == engine.trainer_public


# Who stands by the order


def consent(window: MainWindow) -> dict[str, str]:
    summary = window.session.summary
    assert summary is not None
    return {field.name: field.value for field in window.run._consent_fields(summary)}


def order_line(window: MainWindow) -> tuple[str, str]:
    door = window.header.trust.doors[Door.ORDER]
    return door.accessibleName().removeprefix("Order: "), door.property("tone")


def test_an_unsigned_order_is_called_unsigned(window: MainWindow, bundle: Path, qtbot: QtBot) -> None:
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    assert consent(window) == {
        "Client's signature": "unsigned",
        "Trainer's acceptance": "accepted by the trainer on 2026-11-20 16:00:00 UTC, as the trainer says",
    }
    assert order_line(window) == ("not compared", "warn")


def test_the_signature_of_a_known_client_makes_the_order_the_clients(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot
) -> None:
    engine = FakeEngine(client=digest("client").hex)
    window = window_of(engine)
    window.key_book.trust(engine.client, Role.CLIENT, "Grace", "", DAY)
    window.key_book.trust(engine.trainer_public, Role.TRAINER, "Trainwell", "", DAY)
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    idle(window, qtbot)
    assert order_line(window) == ("signed by the client", "ok")
    said = consent(window)
    assert said["Client's signature"].startswith("signed by Grace, a client, on 2026-11-19")
    assert said["Client's key"] == engine.client_key
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    idle(window, qtbot)
    request = engine.plans[-1]
    assert isinstance(request, KnownRequest)
    assert request.client == engine.client
    assert (window.header.outcome.text(), window.header.property("tone")) == ("VERIFIED", "ok")
    assert window.session.report is not None
    assert window.session.report.order_source == "signature"
    # What is signed says who signed the order, and that the trainer accepted it.
    fields = {
        field.name: field.value for field in matter_of(Unsigned.of(engine, window.session.report, now()).said).fields
    }
    assert fields["Client's signature"] == "signed with the client's key, which was given"
    assert fields["Trainer's acceptance"].startswith("accepted by the trainer")


def test_the_signature_of_an_unknown_key_makes_it_nobodys(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    """Also where that key is known, but as a trainer's or an auditor's."""
    engine = FakeEngine(client=digest("client").hex)
    window = window_of(engine)
    window.key_book.trust(engine.client, Role.AUDITOR, "Ada", "", DAY)
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    idle(window, qtbot)
    assert order_line(window) == ("signed by an unknown key", "warn")
    assert consent(window)["Client's signature"].startswith("signed by Ada, an auditor")
    window.key_book.remove(engine.client_key)
    qtbot.waitUntil(lambda: window.session.phase is Phase.READY)
    idle(window, qtbot)
    assert order_line(window) == ("signed by an unknown key", "warn")
    assert consent(window)["Client's signature"].startswith("signed with a key that you do not know")
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    assert engine.plans[-1].client == ""  # type: ignore[attr-defined]


def test_a_client_that_becomes_known_later_counts_without_another_replay(
    window_of: MakeWindow, bundle: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    engine = FakeEngine(client=digest("client.pub.pem").hex)
    window = window_of(engine)
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    idle(window, qtbot)
    # A key that signed the order of the open run is proposed as its client's.
    drop(window, qtbot, *made(tmp_path, "client.pub.pem"))
    question = proposal(qtbot)
    assert question.role.currentData() is Role.CLIENT
    decline(qtbot)
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    idle(window, qtbot)
    assert order_line(window) == ("signed by an unknown key", "warn")
    window.key_book.trust(engine.client, Role.CLIENT, "Grace", "", DAY)
    qtbot.waitUntil(lambda: order_line(window) == ("signed by the client", "ok"))
    assert window.session.report is not None
    assert (window.session.report.order_source, window.session.report.given_client_key) == (
        "signature",
        engine.client_key,
    )
    assert len(engine.plans) == 1


def test_a_client_that_becomes_known_before_the_replay_is_looked_at_anew(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot
) -> None:
    engine = FakeEngine(client=digest("client").hex)
    window = window_of(engine)
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    idle(window, qtbot)
    window.key_book.trust(engine.client, Role.CLIENT, "Grace", "", DAY)
    qtbot.waitUntil(lambda: order_line(window) == ("signed by the client", "ok"))
    assert window.session.order_source == "signature"
    window.key_book.remove(engine.client_key)
    qtbot.waitUntil(lambda: order_line(window) == ("signed by an unknown key", "warn"))
    assert window.session.order_source == "bundle"


def test_a_clients_own_file_that_another_key_signed_does_not_pass_after_the_replay(
    window_of: MakeWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    """It is opened anew, and check 2 says what is wrong, as it would have before the replay."""
    engine = SignedByTwo(client=digest("client").hex)
    window = window_of(engine)
    run, job = made(tmp_path, "run.cfoil", "job.cfoil")
    window.open_bundle(run)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    asked = []
    window.session.other_order.disconnect()
    window.session.other_order.connect(asked.append)
    window.session.compare_with(job)
    qtbot.waitUntil(lambda: asked == [job])
    assert window.session.report is not None
    assert window.session.report.order_source == "bundle"


class SignedByTwo(FakeEngine):
    """The client's own file is signed with another key than the order in the run."""

    def client_order(self, path: Path, audited: Path) -> BundleSummary:
        found = super().client_order(path, audited)
        return replace(found, order=replace(found.order, client_key=key_id_of(digest("somebody").hex)))
