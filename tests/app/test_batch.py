"""A finished queue is signed in one go: one list, one passphrase, and a verdict of its own for each result."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from counterfoil import AuditReport, Outcome, claimed_key_ids, generate_key, load_public_key
from counterfoil_app.engine.worker import Failure
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict import export
from counterfoil_app.verdict.batch import BatchDialog
from counterfoil_app.verdict.report_document import Contents
from support.fake_engine import FakeEngine

MakeWindow = Callable[[FakeEngine], MainWindow]
NAMES = ("one", "two", "three")


@pytest.fixture
def key(tmp_path: Path, settings: Settings) -> Path:
    path = tmp_path / "auditor.pem"
    generate_key(path, "secret")
    settings.key_file = path
    return path


@pytest.fixture
def window(window_of: MakeWindow, tmp_path: Path, qtbot: QtBot) -> MainWindow:
    """Its queue has replayed three runs; the second is disputed."""
    engine = FakeEngine()
    made = window_of(engine)
    made.queue.changed.connect(
        lambda: setattr(engine, "disputed", 37 if made.session.path == tmp_path / "two.cfoil" else None)
    )
    paths = [tmp_path / f"{name}.cfoil" for name in NAMES]
    for path in paths:
        path.write_bytes(b"")
    with qtbot.waitSignal(made.queue.finished, timeout=30_000):
        made.open_files(paths)
    qtbot.waitUntil(lambda: not made.session.busy)
    return made


def asked(window: MainWindow, qtbot: QtBot) -> BatchDialog:
    window.commands["sign_queue"].trigger()
    qtbot.waitUntil(lambda: any(dialog.isVisible() for dialog in window.findChildren(BatchDialog)))
    return next(dialog for dialog in window.findChildren(BatchDialog) if dialog.isVisible())


def said(path: Path) -> dict[str, str]:
    import base64

    statement = json.loads(base64.b64decode(json.loads(path.read_bytes())["payload"]))
    return {"file": statement["subject"][0]["name"], "result": statement["predicate"]["result"]}


def test_each_result_gets_a_verdict_of_its_own(
    window: MainWindow, key: Path, tmp_path: Path, qtbot: QtBot, printed: list[Contents]
) -> None:
    dialog = asked(window, qtbot)
    assert [dialog.table.item(row, 0).text() for row in range(3)] == [f"{name}.cfoil" for name in NAMES]
    outcomes = [dialog.table.item(row, 1).text() for row in range(3)]
    assert outcomes == ["VERIFIED", "DISPUTED", "VERIFIED"], "what is signed is seen"
    assert "60 ordered" in dialog.table.item(0, 2).text()
    assert dialog.ok.text() == "Sign 3"
    qtbot.keyClicks(dialog.passphrase, "secret")
    qtbot.mouseClick(dialog.ok, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not isValid(dialog))
    files = [tmp_path / f"{name}.verdict.json" for name in NAMES]
    assert [said(path) for path in files] == [
        {"file": f"{name}.cfoil", "result": result} for name, result in zip(NAMES, outcomes, strict=True)
    ]
    key_id = load_public_key(tmp_path / "auditor.pub.pem").key_id
    assert {claimed_key_ids(path.read_bytes()) for path in files} == {(key_id,)}
    assert [page.verdict_name for page in printed] == [path.name for path in files]
    assert all((tmp_path / f"{name}.report.pdf").is_file() for name in NAMES)
    assert window.queue.unsigned == ()
    assert not window.commands["sign_queue"].isEnabled()
    assert window.session.verdict_file == files[-1], "the one that is open knows of it"
    qtbot.waitUntil(lambda: not window.session.busy)
    window.history.refresh()
    qtbot.waitUntil(lambda: not window.session.busy)
    assert {past.verdict for past in window.history.pasts} == set(files)


def test_what_is_not_ticked_is_not_signed(window: MainWindow, key: Path, tmp_path: Path, qtbot: QtBot) -> None:
    dialog = asked(window, qtbot)
    dialog.table.item(1, 0).setCheckState(Qt.CheckState.Unchecked)
    assert dialog.ok.text() == "Sign 2"
    dialog.passphrase.setText("secret")
    dialog.ok.click()
    qtbot.waitUntil(lambda: not isValid(dialog))
    assert not (tmp_path / "two.verdict.json").exists()
    assert [one.path.name for one in window.queue.unsigned] == ["two.cfoil"]
    dialog = asked(window, qtbot)
    assert [dialog.table.item(row, 0).text() for row in range(dialog.table.rowCount())] == ["two.cfoil"]


def test_what_is_listed_is_what_the_statements_say(
    window: MainWindow, key: Path, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that was taken over would have something else signed than the list shows."""
    engine, preview = window.session._engine, FakeEngine.preview

    def other(report: AuditReport, when: datetime) -> bytes:
        return preview(engine, replace(report, outcome=Outcome.VERIFIED), when)

    monkeypatch.setattr(engine, "preview", other)
    failures: list[Failure] = []
    window.session.failed.connect(failures.append)
    window.commands["sign_queue"].trigger()
    qtbot.waitUntil(lambda: bool(failures))
    assert "does not say what it had shown" in failures[0].sentence
    assert not window.findChildren(BatchDialog)


def test_a_wrong_passphrase_signs_nothing_and_can_be_typed_again(
    window: MainWindow, key: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    dialog = asked(window, qtbot)
    dialog.passphrase.setText("wrong")
    dialog.ok.click()
    qtbot.waitUntil(lambda: "passphrase" in dialog.hint.text())
    assert list(tmp_path.glob("*.verdict.json")) == []
    assert dialog.isVisible()
    dialog.passphrase.setText("secret")
    dialog.ok.click()
    qtbot.waitUntil(lambda: not isValid(dialog))
    assert len(list(tmp_path.glob("*.verdict.json"))) == 3


def test_one_that_cannot_be_written_keeps_those_before_it(
    window: MainWindow, key: Path, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from counterfoil import CounterfoilError

    def fails(page: Contents) -> bytes:
        if page.report.bundle_name == "two.cfoil":
            raise CounterfoilError("No printer.")
        return b"%PDF-"

    monkeypatch.setattr(export, "print_report", fails)
    dialog = asked(window, qtbot)
    dialog.passphrase.setText("secret")
    dialog.ok.click()
    qtbot.waitUntil(lambda: "No printer." in dialog.hint.text())
    assert [dialog.table.item(row, 0).text() for row in range(dialog.table.rowCount())] == ["two.cfoil", "three.cfoil"]
    assert (tmp_path / "one.verdict.json").is_file()
    assert [one.path.name for one in window.queue.unsigned] == ["two.cfoil", "three.cfoil"]
    dialog.printed.setChecked(False)
    dialog.ok.click()
    qtbot.waitUntil(lambda: not isValid(dialog))
    assert window.queue.unsigned == ()


def test_without_a_key_it_says_where_one_comes_from(window: MainWindow, settings: Settings, qtbot: QtBot) -> None:
    settings.key_file = None
    dialog = asked(window, qtbot)
    assert not dialog.ok.isEnabled()
    assert "A new one is made when you sign a single verdict." in dialog.hint.text()


def test_nothing_is_offered_while_nothing_was_found(window_of: MakeWindow) -> None:
    assert not window_of(FakeEngine()).commands["sign_queue"].isEnabled()
