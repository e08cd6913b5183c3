"""A list of revoked keys in the window: taken in by the user's word, kept, checked again, and said of each key."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot
from tests.app.conftest import MakeWindow
from tests.app.test_files_find_their_places import drop, made

from counterfoil import Cause, Level, OrderTrust, Revocation, Role, TrainerTrust, TrustFolder, key_id_of
from counterfoil.signing.kinds import RevocationList
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil_app.engine.port import ReadRevocations
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict.viewer import VerdictViewer
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.statements import sign_said
from support.fake_engine import AUDITOR, KEY_ID, FakeEngine
from support.message_boxes import click_in_box
from support.waiting import reached

LIST, OTHER = (key_from_seed(bytes([number] * 32)) for number in (1, 2))
DAY, EARLY, LATE = "2026-11-22", "2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"


def files(
    folder: Path,
    *keys: str,
    number: int = 1,
    since: str = EARLY,
    cause: Cause = Cause.COMPROMISED,
    by: SigningKey = LIST,
) -> tuple[Path, Path]:
    """A signed list of revoked keys, and the public key of whoever signed it."""
    found = [Revocation(key_id, since, cause, "laptop\nstolen") for key_id in keys]
    path, key = folder / f"revoked-{number}.json", folder / "list.pub.pem"
    path.write_bytes(sign_said(RevocationList.of_keys(found, number), by))
    key.write_text(LIST.public.pem)
    return path, key


def box(window: MainWindow) -> QMessageBox | None:
    shown = (each for each in window.findChildren(QMessageBox, "revoked-question") if each.isVisible())
    return next(shown, None)


def take(window: MainWindow, qtbot: QtBot, path: Path, key: Path) -> str:
    """Take a list in as a user does, and return what was asked."""
    window.keys.take_list(path, key)
    qtbot.waitUntil(lambda: box(window) is not None)
    question = box(window)
    assert question is not None
    said = f"{question.text()} {question.informativeText()}"
    click_in_box(window, "revoked-question", "Take it in")
    return said


def opened(window: MainWindow, qtbot: QtBot, folder: Path) -> None:
    drop(window, qtbot, *made(folder, "run.cfoil"))
    qtbot.waitUntil(reached(window, Phase.READY))


def viewer_of(window: MainWindow, qtbot: QtBot, folder: Path) -> VerdictViewer:
    window.key_book.trust(AUDITOR, Role.AUDITOR, "Ada", "", DAY)
    (path,) = made(folder, "run.verdict.json")
    viewer = window.verdicts.read(path)
    qtbot.waitUntil(lambda: viewer.checked)
    return viewer


def test_a_list_is_taken_in_by_the_users_word_and_marks_its_keys(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    window.key_book.trust(AUDITOR, Role.AUDITOR, "Ada", "", DAY)
    window.key_book.trust("cd" * 32, Role.CLIENT, "Carl", "", DAY)
    dialog = window.keys.show()
    assert dialog.revoked.text() == "No list of revoked keys is known."
    said = take(window, qtbot, *files(tmp_path, KEY_ID))
    assert all(part in said.replace(" ", "") for part in ("Takeinlist1", "Keysinit:1", LIST.public.key_id))
    assert "List 1 of revoked keys" in dialog.revoked.text()
    looks = {key.name: dialog._look(key).word for key in dialog.model.records}
    assert looks == {"Ada": "revoked", "Carl": "known"}
    dialog.choose(KEY_ID)
    (said,) = (field.value for field in dialog.facts._shown if field.name == "Does not count")
    assert said.startswith(
        "Revoked from 2020-01-01 00:00:00 UTC on (somebody else has it, or may have it): \u201claptop"
    )
    assert "\n" not in said, "a text of somebody else's stays in its line"


def test_what_is_refused_is_not_taken_in(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    failures: list[object] = []
    window.keys.failed.connect(failures.append)
    path, key = files(tmp_path, KEY_ID, by=OTHER)
    window.keys.take_list(path, key)
    qtbot.waitUntil(lambda: len(failures) == 1)
    assert window.key_book.revoked.lists == (), "a list by another key"
    path, key = files(tmp_path, KEY_ID)
    path.write_bytes(path.read_bytes().replace(b'"payload":"e', b'"payload":"f'))
    window.keys.take_list(path, key)
    qtbot.waitUntil(lambda: len(failures) == 2)
    assert window.key_book.revoked.lists == (), "a list that was changed"


def test_an_older_list_of_the_same_signer_is_not_taken_in(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    failures: list[object] = []
    window.keys.failed.connect(failures.append)
    take(window, qtbot, *files(tmp_path, KEY_ID, number=2))
    take(window, qtbot, *files(tmp_path, key_id_of("cd" * 32), number=1))
    assert len(failures) == 1
    assert window.key_book.revoked.of(KEY_ID) is not None


def test_it_is_kept_and_checked_again_and_a_changed_one_does_not_count(
    window_of: MakeWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    window = window_of(FakeEngine())
    take(window, qtbot, *files(tmp_path, KEY_ID))
    (note,) = window.key_book.revoked.notes()
    kept = window.key_book.revoked.path_of(note)
    again = window_of(FakeEngine())
    qtbot.waitUntil(lambda: again.key_book.revoked.of(KEY_ID) is not None)
    content = kept.read_bytes()
    # Another's list in its place, and none at all.
    kept.write_bytes(
        sign_said(RevocationList.of_keys([Revocation(key_id_of("cd" * 32), EARLY, Cause.RETIRED, "x")], 9), OTHER)
    )
    third = window_of(FakeEngine())
    qtbot.waitUntil(lambda: third.key_book.revoked.problem != "")
    assert third.key_book.revoked.lists == ()
    kept.write_bytes(content)
    fourth = window_of(FakeEngine())
    qtbot.waitUntil(lambda: fourth.key_book.revoked.of(KEY_ID) is not None)
    assert fourth.key_book.revoked.problem == ""


def test_the_command_line_reads_what_the_window_took_in(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    window.key_book.trust(AUDITOR, Role.AUDITOR, "Ada", "", DAY)
    take(window, qtbot, *files(tmp_path, KEY_ID))
    store = TrustFolder(window.settings.trust_folder).store()
    assert store.name_of(KEY_ID) == "Ada"
    assert store.covers(KEY_ID, LATE)
    assert store.digest is not None


def test_a_run_of_a_revoked_trainer_is_not_trusted(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    opened(window, qtbot, tmp_path)
    session, panel = window.session, window.run.trainer_key
    window.key_book.name(session.trainer_key, "Tess")
    trust = session.trust
    assert trust is not None
    assert trust.trainer is TrainerTrust.NAMED, "control"
    take(window, qtbot, *files(tmp_path, session.trainer_key))
    trust = session.trust
    assert trust is not None
    assert (trust.trainer, trust.level) == (TrainerTrust.REVOKED, Level.OPEN)
    assert panel.sentence.text().startswith("The key that signed this run does not count. Revoked from 2020-01-01")
    assert panel.sentence.property("tone") == "bad"


@pytest.mark.parametrize(("since", "standing"), [(EARLY, TrainerTrust.REVOKED), (LATE, TrainerTrust.NAMED)])
def test_of_a_retired_trainer_counts_what_was_signed_before(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, since: str, standing: TrainerTrust
) -> None:
    opened(window, qtbot, tmp_path)
    window.key_book.name(window.session.trainer_key, "Tess")
    take(window, qtbot, *files(tmp_path, window.session.trainer_key, since=since, cause=Cause.RETIRED))
    trust = window.session.trust
    assert trust is not None
    assert trust.trainer is standing
    before = "signed before, as its trainer says" in window.run.trainer_key.sentence.text()
    assert before == (since == LATE)


def test_an_order_of_a_revoked_client_is_not_the_clients_by_its_signature(
    window_of: MakeWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    engine = FakeEngine()
    engine.client = "cd" * 32
    window = window_of(engine)
    window.key_book.trust(engine.client, Role.CLIENT, "Carl", "", DAY)
    opened(window, qtbot, tmp_path)
    qtbot.waitUntil(lambda: window.session.trust is not None and window.session.trust.order is OrderTrust.SIGNED)
    take(window, qtbot, *files(tmp_path, key_id_of(engine.client)))
    trust = window.session.trust
    assert trust is not None
    assert trust.order is OrderTrust.REVOKED


def test_a_verdict_of_a_revoked_auditor_no_longer_counts(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    viewer = viewer_of(window, qtbot, tmp_path)
    assert viewer.headline.text().startswith("The signature holds"), "control"
    take(window, qtbot, *files(tmp_path, KEY_ID))
    qtbot.waitUntil(lambda: viewer.headline.text().startswith("This verdict no longer counts"))
    assert viewer.property("tone") == "bad"
    assert "laptop" in viewer.sentence.text()
    assert window.key_book.counting == ()
    assert window.key_book.checking == (AUDITOR,)


def test_a_verdict_that_a_retired_auditor_signed_before_counts_and_says_so(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    viewer = viewer_of(window, qtbot, tmp_path)
    take(window, qtbot, *files(tmp_path, KEY_ID, since=LATE, cause=Cause.RETIRED))
    qtbot.waitUntil(lambda: "signed before, as its auditor says" in viewer.sentence.text())
    assert viewer.headline.text().startswith("The signature holds")
    assert window.key_book.counting == (AUDITOR,)


def test_a_list_is_read_through_the_engine(tmp_path: Path) -> None:
    path, _ = files(tmp_path, KEY_ID)
    read = FakeEngine().read_revocations(path, LIST.public.public)
    assert isinstance(read, ReadRevocations)
    assert read.envelope == path.read_bytes()
