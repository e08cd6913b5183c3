"""Known keys of trainers: trust on first use, a changed key is pointed out, a damaged file is left alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from counterfoil import CheckNumber, CounterfoilError
from counterfoil_app.model.address_book import FILE_NAME, AddressBook, Standing, open_address_book
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from support.fake_engine import FakeEngine, digest
from support.message_boxes import click_in_box
from support.waiting import reached

MakeWindow = Callable[[FakeEngine], MainWindow]
ONE, OTHER = digest("one").hex, digest("other").hex
ORDER, SECOND = digest("order").hex, digest("second order").hex
DAY, LATER = "2026-11-20", "2026-11-21"


@pytest.fixture
def book(tmp_path: Path) -> AddressBook:
    return AddressBook(tmp_path / "config" / FILE_NAME)


def again(tmp_path: Path) -> AddressBook:
    return AddressBook(tmp_path / "config" / FILE_NAME)


def test_first_use_is_remembered(book: AddressBook, tmp_path: Path) -> None:
    assert book.meet(ONE, ORDER, DAY).standing is Standing.NEW
    meeting = again(tmp_path).meet(ONE, ORDER, LATER)
    assert meeting.standing is Standing.MET
    assert meeting.key is not None
    assert meeting.key.since == DAY


def test_names_are_kept_and_belong_to_one_key(book: AddressBook, tmp_path: Path) -> None:
    book.meet(ONE, ORDER, DAY)
    book.meet(OTHER, SECOND, DAY)
    book.name(ONE, "  Alice   Example ")
    meeting = again(tmp_path).look_up(ONE, ORDER)
    assert meeting.standing is Standing.KNOWN
    assert meeting.key is not None
    assert meeting.key.name == "Alice Example"
    with pytest.raises(CounterfoilError, match="another key"):
        book.name(OTHER, "Alice Example")
    assert book.look_up(OTHER, SECOND).standing is Standing.MET
    book.name(ONE, "")
    assert again(tmp_path).look_up(ONE, ORDER).standing is Standing.MET
    for wrong in ("x" * 81, "a\x00b"):
        with pytest.raises(CounterfoilError, match="printable"):
            book.name(ONE, wrong)


def test_a_changed_key_is_pointed_out_until_it_is_accepted(book: AddressBook, tmp_path: Path) -> None:
    book.meet(ONE, ORDER, DAY)
    for _ in range(2):
        meeting = book.meet(OTHER, ORDER, LATER)
        assert meeting.standing is Standing.CHANGED, "looking at it does not make it known"
        assert [key.key_id for key in meeting.before] == [ONE]
    assert again(tmp_path).look_up(OTHER, ORDER).standing is Standing.CHANGED
    book.accept(OTHER, ORDER, LATER)
    assert again(tmp_path).look_up(OTHER, ORDER).standing is Standing.MET
    assert book.look_up(ONE, ORDER).standing is Standing.MET


def test_a_known_key_may_sign_runs_of_other_orders(book: AddressBook) -> None:
    book.meet(ONE, ORDER, DAY)
    book.name(ONE, "Alice")
    assert book.meet(ONE, SECOND, LATER).standing is Standing.KNOWN
    assert book.meet(OTHER, SECOND, LATER).standing is Standing.CHANGED


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"format": 2, "keys": []}',
        b'{"format": 1, "keys": [{"key": "short", "name": "", "since": "", "orders": []}]}',
        b'{"format": 1, "keys": [{"key": 5}]}',
        json.dumps({"format": 1, "keys": [{"key": ONE, "name": "a\nb", "since": "", "orders": []}]}).encode(),
        b"[" * 100_000,
    ],
)
def test_a_damaged_book_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(content)
    with pytest.raises(CounterfoilError, match="damaged"):
        AddressBook(path)
    found, problem = open_address_book(tmp_path)
    assert found is None
    assert "damaged" in problem
    assert path.read_bytes() == content


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CounterfoilError, match=r"cannot be (made|read)"):
        AddressBook(tmp_path / "file" / FILE_NAME).meet(ONE, ORDER, DAY)


def opened(window: MainWindow, path: Path, qtbot: QtBot) -> None:
    window.open_bundle(path)
    qtbot.waitUntil(reached(window, Phase.READY))


def test_the_window_remembers_names_and_flags_a_change(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    engine = FakeEngine()
    window = window_of(engine)
    panel = window.overview.trainer_key
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
    assert not panel.keep.isVisible()
    panel.accept.click()
    assert "without a name" in panel.sentence.text()
    panel.name.setText("Alice")
    with qtbot.waitSignal(panel.failed) as caught:
        panel.keep.click()
    assert "another key" in caught.args[0].sentence
    book = json.loads((tmp_path / FILE_NAME).read_text())
    assert [item["name"] for item in book["keys"]] == ["Alice", ""]


def test_a_signature_that_does_not_hold_is_not_remembered(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    window = window_of(FakeEngine(failing=(CheckNumber.SIGNATURE,)))
    opened(window, bundle, qtbot)
    assert "no valid signature" in window.overview.trainer_key.sentence.text()
    assert not (tmp_path / FILE_NAME).exists()
