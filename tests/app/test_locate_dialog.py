"""Which step of a run holds a hash or weights, in the window; and that dropped weights are still compared first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from pytestqt.qtbot import QtBot
from safetensors.numpy import save_file

from counterfoil import CounterfoilError, FileUse, Place
from counterfoil_app.engine.process import ProcessEngine
from counterfoil_app.looks.lookup_words import place_said
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.inquiry import DeliveryDialog
from counterfoil_app.views.locate_dialog import LocateDialog
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.reader import BundleReader
from support.fake_engine import FakeEngine
from support.job_fixtures import digits_job, once, trainer_key
from support.jobs import Job
from support.ledgers import root
from support.waiting import reached

__all__ = ["digits_job", "once", "trainer_key"]


@pytest.fixture
def dialog(opened: MainWindow) -> LocateDialog:
    opened.commands["locate"].trigger()
    (found,) = opened.findChildren(LocateDialog)
    return found


def cells(dialog: LocateDialog) -> list[list[str]]:
    model = dialog.model
    return [[model.index(row, place).data() for place in range(3)] for row in range(model.rowCount())]


def find(dialog: LocateDialog, qtbot: QtBot, typed: str) -> None:
    dialog.hash.setText(typed)
    qtbot.keyClick(dialog.hash, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not dialog.locating.working)


def drop(dialog: LocateDialog, qtbot: QtBot, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    actions, buttons, keys = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    dialog.dropEvent(QDropEvent(QPointF(5, 5), actions, data, buttons, keys))
    qtbot.waitUntil(lambda: not dialog.locating.working)


def test_without_a_run_there_is_nothing_to_look_through(window: MainWindow) -> None:
    assert not window.commands["locate"].isEnabled()


def test_it_begins_with_what_to_do(dialog: LocateDialog, engine: FakeEngine, bundle: Path) -> None:
    assert dialog.headline.text() == "Which step holds it?"
    assert bundle.name in dialog.windowTitle()
    assert not dialog.start.isEnabled()
    assert not dialog.table.isVisible()
    assert engine.located == []


def test_a_hash_that_is_pasted_is_found(dialog: LocateDialog, engine: FakeEngine, bundle: Path, qtbot: QtBot) -> None:
    find(dialog, qtbot, f"  {root('state').hex.upper()}\n")
    assert (engine.located[-1].run, engine.located[-1].wanted) == (bundle, root("state"))
    assert dialog.headline.text() == "Found in this run"
    assert dialog.sentence.text() == "It is the whole state, after step 37."
    assert cells(dialog) == [["37", "here", "the whole state"]]
    find(dialog, qtbot, root("chunk").hex)
    assert (
        dialog.sentence.text()
        == "It is chunk 3 of the tensor head.weight, after step 0. It stands at further places: 3."
    )
    assert [line[0] for line in cells(dialog)] == ["0", "20", "40", "60"]
    find(dialog, qtbot, root("run").hex)
    assert cells(dialog) == [["", "here", "the run root"]]


def test_a_hash_that_is_nowhere_is_said_to_be(dialog: LocateDialog, qtbot: QtBot) -> None:
    find(dialog, qtbot, root("state").hex)
    find(dialog, qtbot, root("elsewhere").hex)
    assert dialog.headline.text() == "Not in this run"
    assert "digested and not stored" in dialog.top.limits.text()
    assert cells(dialog) == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize("typed", ["", "ab", "g" * 64, "a" * 63, "a" * 65])
def test_what_is_no_hash_is_not_looked_for(dialog: LocateDialog, engine: FakeEngine, qtbot: QtBot, typed: str) -> None:
    find(dialog, qtbot, typed)
    assert not dialog.start.isEnabled()
    assert engine.located == []


def test_weights_that_are_dropped_are_found(dialog: LocateDialog, engine: FakeEngine, qtbot: QtBot) -> None:
    drop(dialog, qtbot, Path("/w/model.safetensors"))
    assert engine.located[-1].wanted == Path("/w/model.safetensors")
    assert dialog.headline.text() == "The weights after step 40"
    assert [line[:2] for line in cells(dialog)] == [
        ["0", "another state"], ["20", "another state"], ["40", "here"], ["60", "another state"],
    ]  # fmt: skip
    assert dialog.table.currentIndex().row() == 2


def test_weights_of_no_step_show_the_nearest(dialog: LocateDialog, qtbot: QtBot) -> None:
    drop(dialog, qtbot, Path("/w/other.safetensors"))
    assert dialog.headline.text() == "Not in this run"
    said = "Nearest is step 20: 4 of 5 tensors are the same; missing in the file: 1."
    assert said in dialog.sentence.text()
    assert dialog.table.currentIndex().row() == 1
    assert all(line[1] == "another state" for line in cells(dialog))


def test_a_file_that_holds_no_weights_is_said_to(dialog: LocateDialog, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.inspect_errors["notes.txt"] = CounterfoilError(say("{0} holds no weights.", "notes.txt"))
    drop(dialog, qtbot, Path("/w/notes.txt"))
    assert dialog.headline.text() == "Not looked for"
    assert "holds no weights" in dialog.sentence.text()


def test_it_says_how_far_it_is_and_can_be_stopped(dialog: LocateDialog, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.gate.clear()
    dialog.locating.look_for(root("state"))
    qtbot.waitUntil(lambda: dialog.progress.maximum() == 1000)
    assert dialog.progress.isVisible()
    dialog.stop.click()
    assert not dialog.locating.working
    assert dialog.sentence.text() == "The search was stopped."
    engine.gate.set()
    find(dialog, qtbot, root("state").hex)
    assert cells(dialog) == [["37", "here", "the whole state"]]


def test_weights_dropped_on_the_window_are_compared_and_their_step_is_offered(
    opened: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot
) -> None:
    weights = Path("/w/model.safetensors")
    assert engine.recognise(weights).kind is FileUse.WEIGHTS
    opened.open_files([weights])
    qtbot.waitUntil(lambda: bool(opened.findChildren(DeliveryDialog)))
    (delivery,) = opened.findChildren(DeliveryDialog)
    qtbot.waitUntil(lambda: not delivery.delivery.working)
    assert delivery.delivery.found is not None, "they are compared with the final state, as ever"
    assert engine.located == [], "nothing else is done unasked"
    delivery.steps.click()
    (found,) = delivery.findChildren(LocateDialog)
    qtbot.waitUntil(lambda: found.locating.found is not None)
    assert (engine.located[-1].run, engine.located[-1].wanted) == (bundle, weights)
    assert found.headline.text() == "The weights after step 40"


@pytest.mark.slow
def test_a_real_run_is_looked_through(window_of: Any, digits_job: Job, tmp_path: Path, qtbot: QtBot) -> None:
    with BundleReader.open(digits_job.run) as reader:
        steps = reader.checkpoint_steps()
        step = steps[len(steps) // 2]
        state, digest = reader.checkpoint(step), reader.committed_root(step)
    path = tmp_path / "model.safetensors"
    save_file({name: array for name, array in state.items() if ":" not in name}, path)
    window = window_of(ProcessEngine())
    window.open_bundle(digits_job.run)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["locate"].trigger()
    (dialog,) = window.findChildren(LocateDialog)
    find(dialog, qtbot, digest.hex)
    assert [str(step), "here", "the whole state"] in cells(dialog)
    drop(dialog, qtbot, path)
    assert dialog.headline.text() == f"The weights after step {step}"
    assert [line[0] for line in cells(dialog) if line[1] == "here"] == [str(step)]
    changed = bytearray(path.read_bytes())
    changed[-1] ^= 1
    path.write_bytes(changed)
    drop(dialog, qtbot, path)
    assert dialog.headline.text() == "Not in this run"
    assert f"Nearest is step {step}" in dialog.sentence.text()


def test_a_file_that_the_order_names_is_told_from_an_array() -> None:
    assert place_said(Place("source file", None, "model/model.safetensors")).endswith("source: model/model.safetensors")
    assert "array" in place_said(Place("data", None, "images"))
