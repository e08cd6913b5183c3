"""Whole jobs of the command line in the window: what is asked, what is carried out, and what is said at the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLineEdit
from pytestqt.qtbot import QtBot

from counterfoil import FileUse, OrderError, command_form
from counterfoil_app.looks import job_words
from counterfoil_app.model.jobs import JOBS
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.job_dialog import JobDialog
from counterfoil_core.base.sentence import say
from support.fake_engine import FakeEngine
from support.message_boxes import click_in_box
from support.waiting import reached

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture(autouse=True)
def closed(window: MainWindow) -> Iterator[None]:
    yield
    window.jobs.close()


def open_job(window: MainWindow, name: str) -> JobDialog:
    window.commands[name].trigger()
    return window.findChildren(JobDialog)[-1]


def type_in(dialog: JobDialog, **values: object) -> None:
    assert dialog.fields is not None
    for name, value in values.items():
        line = dialog.fields.controls[name]
        assert isinstance(line, QLineEdit)
        line.clear()
        QTest.keyClicks(line, str(value))


def test_every_option_that_is_asked_is_one_of_its_command_and_has_a_name() -> None:
    for job in JOBS:
        for command, asked in job.commands.items():
            form = command_form(tuple(command.split()))
            for name in asked.split():
                assert form.option(name) is not None, (command, name)
                assert job_words.option(name) != name, (command, name)
            assert job_words.about(form)
            left_out = [one.name for one in form.options if one.required and one.name not in asked.split()]
            assert left_out == [], command
        assert set(job.endings) <= set(job.commands)
        assert job.name in job_words.titles()


def test_an_order_is_signed_in_its_place(window: MainWindow, engine: FakeEngine, tmp_path: Path, qtbot: QtBot) -> None:
    order, key = tmp_path / "job.cfoil", tmp_path / "client.pem"
    for path in (order, key):
        path.touch()
    dialog = open_job(window, "sign_order")
    assert not dialog.start.isEnabled()
    assert "Needed: Order." in dialog.sentence.text()
    assert not dialog.passphrase.isVisible()
    type_in(dialog, order=order, key=key)
    QTest.keyClicks(dialog.passphrase, "secret words")
    assert dialog.passphrase.echoMode() is QLineEdit.EchoMode.Password
    qtbot.mouseClick(dialog.start, LEFT)
    qtbot.waitUntil(lambda: dialog.run.result is not None)
    assert engine.commands == [(("sign-order", str(order), "--key", str(key)), "secret words")]
    assert dialog.headline.text() == "Done"
    assert dialog.said.toPlainText() == "Wrote it."
    assert dialog.passphrase.text() == ""
    assert "secret words" not in window.shell.journal.text


def test_what_is_open_is_filled_in_and_what_is_written_has_a_name(
    window: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot
) -> None:
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    dialog = open_job(window, "export")
    assert dialog.plan.value("run") == str(bundle)
    dialog.what.setCurrentIndex(dialog.what.findData("export csv"))
    target = bundle.with_name(f"{bundle.stem}.curves.csv")
    assert dialog.plan.value("out") == str(target)
    qtbot.mouseClick(dialog.start, LEFT)
    qtbot.waitUntil(lambda: dialog.run.result is not None)
    assert engine.commands[-1] == (("export", "csv", str(bundle), "--out", str(target)), None)
    assert str(target) in dialog.sentence.text()
    qtbot.waitUntil(dialog.choose.isEnabled)
    qtbot.mouseClick(dialog.start, LEFT)  # it is there now: asked before it is replaced
    click_in_box(dialog, "replace-question", "Replace")
    qtbot.waitUntil(lambda: len(engine.commands) == 2)
    assert engine.commands[-1][0][-1] == "--force"
    qtbot.waitUntil(lambda: not dialog.run.working)


def test_several_files_are_chosen(
    window: MainWindow, engine: FakeEngine, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [tmp_path / "a b.part", tmp_path / "c.part"]
    run, key = tmp_path / "run.cfoil", tmp_path / "auditor.pem"
    for path in (*parts, run, key):
        path.touch()
    dialog = open_job(window, "merge")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_args: ([str(part) for part in parts], ""))
    assert dialog.fields is not None
    dialog.fields.findChildren(type(dialog.start))[0].click()
    type_in(dialog, run=run, key=key)
    engine.command_code = 1
    qtbot.mouseClick(dialog.start, LEFT)
    qtbot.waitUntil(lambda: dialog.run.result is not None)
    arguments = engine.commands[-1][0]
    assert arguments[:3] == ("merge", *map(str, parts))
    assert arguments[arguments.index("--verdict") + 1] == str(tmp_path / "a b.verdict.json")
    assert dialog.headline.text() == "DISPUTED"


def test_an_error_is_told_where_it_belongs_and_the_job_can_be_stopped(
    window: MainWindow, engine: FakeEngine, tmp_path: Path, qtbot: QtBot
) -> None:
    verdict, key = tmp_path / "v.json", tmp_path / "a.pem"
    for path in (verdict, key):
        path.touch()
    dialog = open_job(window, "withdraw")
    type_in(dialog, verdict=verdict, reason="wrong run", key=key)
    assert dialog.plan.value("out") == str(tmp_path / "v.withdrawal.json")
    engine.order_failure = OrderError(say("Another key signed it."), remedy=say("Give that."), option="key")
    qtbot.mouseClick(dialog.start, LEFT)
    qtbot.waitUntil(lambda: dialog.run.failure is not None)
    assert dialog.headline.text() == "Not done"
    assert "Another key signed it." in dialog.sentence.text()
    assert "Give that." in dialog.sentence.text()
    engine.order_failure = None
    engine.gate.clear()
    qtbot.mouseClick(dialog.start, LEFT)
    qtbot.waitUntil(lambda: dialog.run.progress is not None)
    assert not dialog.start.isEnabled()
    qtbot.mouseClick(dialog.stop, LEFT)
    assert not dialog.run.working
    engine.gate.set()
    assert not (tmp_path / "v.withdrawal.json").exists()
    dialog.close()


def test_the_key_is_remembered_and_the_trusted_are_named(
    window: MainWindow, engine: FakeEngine, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    log, key = tmp_path / "witness.jsonl", tmp_path / "trainer.pem"
    for path in (log, key):
        path.touch()
    settings.trust_folder.mkdir(parents=True, exist_ok=True)
    window.jobs.read(FileUse.WITNESS, log)
    dialog = window.findChildren(JobDialog)[-1]
    type_in(dialog, runs=log, key=key)
    qtbot.mouseClick(dialog.start, LEFT)
    qtbot.waitUntil(lambda: dialog.run.result is not None)
    assert engine.commands[-1] == (
        ("witness", "check", str(log), str(log), "--key", str(key), "--trust", str(settings.trust_folder)),
        None,
    )
    reply = open_job(window, "reply")
    type_in(reply, verdict=log, text="no", key=key)
    qtbot.mouseClick(reply.start, LEFT)
    qtbot.waitUntil(lambda: reply.run.result is not None)
    assert open_job(window, "reply").plan.value("key") == str(key)


def test_any_other_statement_is_opened_to_be_verified(window: MainWindow, tmp_path: Path) -> None:
    window.jobs.read(FileUse.SIGNED, tmp_path / "facts.json")
    dialog = window.findChildren(JobDialog)[-1]
    assert dialog.plan.command == "verify"
    assert dialog.plan.value("file") == str(tmp_path / "facts.json")
