"""Known keys: by content, with one role, trust on first use, a changed key pointed out, a damaged file left alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from counterfoil import CheckNumber, CounterfoilError, PublicKey, Role, key_id_of, pem_of
from counterfoil.signing.privatekeys import generate_key
from counterfoil.trust.keyfile import MAX_KEYS
from counterfoil_app.model.key_book import FILE_NAME, KeyBook, Standing
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_core.signing.keys import load_public_key
from support.fake_engine import FakeEngine, digest
from support.message_boxes import click_in_box
from support.waiting import reached

MakeWindow = Callable[[FakeEngine], MainWindow]
ONE, OTHER = digest("one").hex, digest("other").hex
ONE_ID, OTHER_ID = key_id_of(ONE), key_id_of(OTHER)
ORDER, SECOND = digest("order").hex, digest("second order").hex
DAY, LATER = "2026-11-20", "2026-11-21"
RUN = "/data/run.cfoil"


def open_book(tmp_path: Path) -> KeyBook:
    return KeyBook(tmp_path / "config" / FILE_NAME)


@pytest.fixture
def book(tmp_path: Path) -> KeyBook:
    return open_book(tmp_path)


def test_a_key_is_its_bytes(tmp_path: Path) -> None:
    """Id and PEM text follow from the content as the library that signs has them."""
    generate_key(tmp_path / "a.pem", None)
    key = load_public_key(tmp_path / "a.pub.pem")
    assert key_id_of(key.public) == key.key_id
    assert pem_of(key.public) == key.pem == (tmp_path / "a.pub.pem").read_text()
    assert PublicKey.from_pem(pem_of(key.public).encode()) == key


def test_a_key_on_p256_is_kept_too(book: KeyBook, tmp_path: Path) -> None:
    pem = generate_private_key(SECP256R1()).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    key = PublicKey.from_pem(pem)
    book.trust(key.public, Role.AUDITOR, "Bob", RUN, DAY)
    kept = open_book(tmp_path).find(key.key_id)
    assert kept is not None
    assert kept.public == key.public
    path = tmp_path / "config" / FILE_NAME
    path.write_text(path.read_text().replace(key.public, f"05{key.public[2:]}"))
    assert "damaged" in open_book(tmp_path).problem


def test_first_use_is_remembered(book: KeyBook, tmp_path: Path) -> None:
    assert book.meet(ONE, ORDER, RUN, DAY).standing is Standing.NEW
    meeting = open_book(tmp_path).meet(ONE, ORDER, RUN, LATER)
    assert meeting.standing is Standing.MET
    assert meeting.key is not None
    assert (meeting.key.since, meeting.key.source, meeting.key.role) == (DAY, RUN, Role.TRAINER)


def test_names_are_kept_and_belong_to_one_key(book: KeyBook, tmp_path: Path) -> None:
    book.meet(ONE, ORDER, RUN, DAY)
    book.meet(OTHER, SECOND, RUN, DAY)
    book.name(ONE_ID, "  Alice   Example ")
    meeting = open_book(tmp_path).look_up(ONE_ID, ORDER)
    assert meeting.standing is Standing.KNOWN
    assert meeting.key is not None
    assert meeting.key.name == "Alice Example"
    with pytest.raises(CounterfoilError, match="another key"):
        book.name(OTHER_ID, "Alice Example")
    assert book.look_up(OTHER_ID, SECOND).standing is Standing.MET
    book.name(ONE_ID, "")
    assert open_book(tmp_path).look_up(ONE_ID, ORDER).standing is Standing.MET
    for wrong in ("x" * 81, "a\x00b"):
        with pytest.raises(CounterfoilError, match="printable"):
            book.name(ONE_ID, wrong)


def test_a_changed_key_is_pointed_out_until_it_is_accepted(book: KeyBook, tmp_path: Path) -> None:
    book.meet(ONE, ORDER, RUN, DAY)
    for _ in range(2):
        meeting = book.meet(OTHER, ORDER, RUN, LATER)
        assert meeting.standing is Standing.CHANGED, "looking at it does not make it known"
        assert [key.public for key in meeting.before] == [ONE]
    assert open_book(tmp_path).look_up(OTHER_ID, ORDER).standing is Standing.CHANGED
    book.accept(OTHER, ORDER, RUN, LATER)
    assert open_book(tmp_path).look_up(OTHER_ID, ORDER).standing is Standing.MET
    assert book.look_up(ONE_ID, ORDER).standing is Standing.MET


def test_a_known_key_may_sign_runs_of_other_orders(book: KeyBook) -> None:
    book.meet(ONE, ORDER, RUN, DAY)
    book.name(ONE_ID, "Alice")
    assert book.meet(ONE, SECOND, RUN, LATER).standing is Standing.KNOWN
    assert book.meet(OTHER, SECOND, RUN, LATER).standing is Standing.CHANGED


def test_a_key_has_one_role(book: KeyBook, tmp_path: Path) -> None:
    """An auditor's key names no trainer, and a trainer's checks no verdict."""
    book.trust(ONE, Role.AUDITOR, "Ada", "/keys/ada.pub.pem", DAY)
    assert book.checking == (ONE,)
    assert book.meet(ONE, ORDER, RUN, DAY).standing is Standing.NO_TRAINER
    with pytest.raises(CounterfoilError, match="another kind"):
        book.accept(ONE, ORDER, RUN, DAY)
    book.meet(OTHER, ORDER, RUN, DAY)
    with pytest.raises(CounterfoilError, match="another kind"):
        book.trust(OTHER, Role.AUDITOR, "Bob", "/keys/bob.pub.pem", DAY)
    assert book.checking == (ONE,)
    with pytest.raises(CounterfoilError, match="has a name"):
        book.name(ONE_ID, " ")
    book.remove(ONE_ID)
    assert open_book(tmp_path).checking == ()


def entry(**fields: object) -> dict[str, object]:
    return {"public": ONE, "role": "trainer", "name": "", "source": RUN, "since": DAY, "orders": []} | fields


def held(*keys: object, **fields: object) -> bytes:
    return json.dumps({"format": 1, "keys": keys} | fields).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        held(format=2),
        held(more=1),
        held(entry(public="short")),
        held(entry(public=ONE.upper())),
        held(entry(public=5)),
        held(entry(role="judge")),
        held(entry(more=1)),
        held(entry(name="a\nb")),
        held(entry(name="x" * 81)),
        held(entry(source="\u202e")),
        held(entry(since="yesterday")),
        held(entry(orders=["x"])),
        held(entry(role="auditor")),
        held(entry(role="auditor", name="Ada", orders=[ORDER])),
        held(entry(), entry()),
        held(entry(name="Ada"), entry(public=OTHER, name="Ada")),
        held(*(entry(public=digest(str(number)).hex) for number in range(MAX_KEYS + 1))),
    ],
)
def test_a_damaged_book_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(content)
    book = KeyBook(path)
    assert "damaged" in book.problem
    assert book.keys == ()
    with pytest.raises(CounterfoilError, match="damaged"):
        book.trust(ONE, Role.AUDITOR, "Ada", "", DAY)
    assert path.read_bytes() == content


def test_control_an_entry_as_it_is_written_is_read(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(held(entry(name="Ada", role="auditor"), entry(public=OTHER, orders=[ORDER])))
    book = KeyBook(tmp_path / FILE_NAME)
    assert book.problem == ""
    assert [(key.public, key.role) for key in book.keys] == [(OTHER, Role.TRAINER), (ONE, Role.AUDITOR)]


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    book = KeyBook(tmp_path / "file" / FILE_NAME)
    with pytest.raises(CounterfoilError, match=r"cannot be (made|read)"):
        book.meet(ONE, ORDER, RUN, DAY)


def opened(window: MainWindow, path: Path, qtbot: QtBot) -> None:
    window.open_bundle(path)
    qtbot.waitUntil(reached(window, Phase.READY))


def test_the_window_remembers_names_and_flags_a_change(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    engine = FakeEngine()
    window = window_of(engine)
    panel = window.run.trainer_key
    opened(window, bundle, qtbot)
    assert "first time" in panel.sentence.text()
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    assert "first time" in panel.sentence.text(), "a replay of the same bundle is not a second meeting"
    panel.name.setText("Alice")
    qtbot.keyClick(panel.name, Qt.Key.Key_Return)
    assert "Signed by Alice" in panel.sentence.text()
    assert panel.sentence.property("tone") == "ok"

    engine.key = "another key"
    window.open_bundle(bundle)
    click_in_box(window, "unsigned-question", "Open without signing")
    qtbot.waitUntil(reached(window, Phase.READY))
    assert "The key changed" in panel.sentence.text()
    assert "Alice" in panel.sentence.text()
    assert panel.sentence.property("tone") == "bad"
    assert (panel.keep.isEnabled(), panel.accept.isEnabled()) == (False, True)
    panel.accept.click()
    assert "without a name" in panel.sentence.text()
    panel.name.setText("Alice")
    with qtbot.waitSignal(panel.failed) as caught:
        panel.keep.click()
    assert "another key" in caught.args[0].sentence
    book = json.loads((tmp_path / "trust" / FILE_NAME).read_text())
    assert [item["name"] for item in book["keys"]] == ["Alice", ""]


def test_a_signature_that_does_not_hold_is_not_remembered(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    window = window_of(FakeEngine(failing=(CheckNumber.SIGNATURE,)))
    opened(window, bundle, qtbot)
    assert "no valid signature" in window.run.trainer_key.sentence.text()
    assert not (tmp_path / FILE_NAME).exists()
