"""A dispute capsule that is saved or handed over sealed, and one that is opened: what is asked, and what is left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from counterfoil.sealed.recipients import read_recipients
from counterfoil.sealed.seal import seal_file
from counterfoil.sealed.unseal import make_sealing_key, open_sealed
from counterfoil.signer.client import Passphrase
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.identity import IdentityDialog
from counterfoil_app.views.inquiry import CapsuleDialog
from counterfoil_app.views.judges import SealDialog
from support.fake_engine import FakeEngine
from support.waiting import reached

pytest.importorskip("pyrage", reason="the extra sealing is not installed")
MakeWindow = Callable[[FakeEngine], MainWindow]
LEFT = Qt.MouseButton.LeftButton
NO_PASSPHRASE = Passphrase.given(None)


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where what is opened lies."""
    (tmp_path / "runtime").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    return tmp_path / "runtime"


@pytest.fixture
def judge(tmp_path: Path) -> Path:
    make_sealing_key(tmp_path / "judge.key", NO_PASSPHRASE)
    return tmp_path / "judge.key"


def disputed(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> MainWindow:
    window: MainWindow = window_of(FakeEngine(disputed=37))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=20_000)
    qtbot.waitUntil(lambda: not window.session.busy)
    return window


def asked(window: MainWindow, qtbot: QtBot) -> SealDialog:
    window.commands["capsule"].trigger()
    qtbot.waitUntil(lambda: window.findChild(SealDialog) is not None)
    dialog = window.findChild(SealDialog)
    assert dialog is not None
    return dialog


def save_to(target: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    proposals: list[tuple[str, str]] = []

    def choose(_parent: object, _title: str, proposal: str, kinds: str) -> tuple[str, str]:
        proposals.append((Path(proposal).name, kinds))
        return str(target), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    return proposals


def test_before_a_capsule_is_saved_it_is_said_what_it_hands_out(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = disputed(window_of, bundle, qtbot)
    proposals = save_to(tmp_path / "c.cfoil", monkeypatch)
    dialog = asked(window, qtbot)
    qtbot.waitUntil(lambda: "1,792 of 1,797 rows of images" in dialog.judges.notice.text())
    assert "52 tensors of the model" in dialog.judges.notice.text()
    assert dialog.judges.notice.property("tone") == "warn"
    assert dialog.judges.judges == ()
    assert not dialog.ok.isEnabled(), "who may read it is asked first"
    assert not dialog.judges.leave_out.isVisible(), "it is the capsule that is saved"
    dialog.judges.open.setChecked(True)
    with qtbot.waitSignal(window.session.exports.finished):
        dialog.ok.click()
    assert proposals == [("honest-dispute.cfoil", "Dispute capsules (*.cfoil)")]
    assert (tmp_path / "c.cfoil").read_text() == "step 37"


def test_a_capsule_is_saved_for_judges_alone(
    window_of: MakeWindow,
    bundle: Path,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    judge: Path,
    runtime: Path,
) -> None:
    window = disputed(window_of, bundle, qtbot)
    proposals = save_to(tmp_path / "c.cfoil.age", monkeypatch)
    dialog = asked(window, qtbot)
    dialog.judges.seal.setChecked(True)
    assert not dialog.ok.isEnabled()
    assert "Add the public sealing key" in dialog.hint.text()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "judge.pub"), ""))
    for _ in range(2):  # once is enough
        dialog.judges.add.click()
    assert dialog.judges.judges == (tmp_path / "judge.pub",)
    assert "Only these judges" in dialog.judges.notice.text()
    with qtbot.waitSignal(window.session.exports.finished):
        dialog.ok.click()
    assert proposals == [("honest-dispute.cfoil.age", "Sealed capsules (*.age)")]
    assert not any(runtime.iterdir())
    with open_sealed(tmp_path / "c.cfoil.age", judge, NO_PASSPHRASE) as plain:
        assert plain.read_text() == "step 37"


def test_a_key_that_is_taken_off_the_list_opens_nothing(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path, judge: Path
) -> None:
    dialog = asked(disputed(window_of, bundle, qtbot), qtbot)
    dialog.judges.use(tmp_path / "judge.pub")
    assert dialog.ok.isEnabled()
    dialog.judges.list.setCurrentRow(0)
    dialog.judges.remove.click()
    assert dialog.judges.judges == ()
    assert not dialog.ok.isEnabled()


def test_what_is_no_public_key_is_said(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judge: Path
) -> None:
    window = disputed(window_of, bundle, qtbot)
    save_to(tmp_path / "c.cfoil.age", monkeypatch)
    dialog = asked(window, qtbot)
    dialog.judges.use(judge)
    with qtbot.waitSignal(window.session.failed) as caught:
        dialog.ok.click()
    assert "judge.key is a private sealing key" in caught.args[0].sentence
    assert not (tmp_path / "c.cfoil.age").exists()


def sealed_for(judge: Path, folder: Path) -> Path:
    (folder / "dispute.capsule.cfoil").write_text("{}")
    sealed = folder / "dispute.capsule.cfoil.age"
    seal_file(folder / "dispute.capsule.cfoil", sealed, read_recipients([judge.with_suffix(".pub")]))
    return sealed


def test_a_sealed_capsule_is_opened_as_long_as_its_window_is(
    window_of: MakeWindow, qtbot: QtBot, tmp_path: Path, judge: Path, runtime: Path
) -> None:
    engine = FakeEngine()
    window = window_of(engine)
    window.dropping.place([sealed_for(judge, tmp_path)])
    qtbot.waitUntil(lambda: window.findChild(IdentityDialog) is not None)
    dialog = window.findChild(IdentityDialog)
    assert dialog is not None
    assert not dialog.ok.isEnabled()
    make_sealing_key(tmp_path / "other.key", NO_PASSPHRASE)
    dialog.key.setText(str(tmp_path / "other.key"))
    dialog.ok.click()
    qtbot.waitUntil(lambda: "was not sealed for the key in other.key" in dialog.hint.text(), timeout=20_000)
    assert not any(runtime.iterdir())
    dialog.key.setText(str(judge))
    dialog.ok.click()
    qtbot.waitUntil(lambda: window.findChild(CapsuleDialog) is not None, timeout=20_000)
    shown = window.findChild(CapsuleDialog)
    assert shown is not None
    assert shown.hearing.path.is_relative_to(runtime)
    assert shown.hearing.path.read_text() == "{}"
    assert shown.hearing.filed == tmp_path / "dispute.capsule.cfoil.age"
    qtbot.mouseClick(shown.start, LEFT)
    qtbot.waitUntil(lambda: shown.hearing.report is not None)
    assert engine.hearings == [(shown.hearing.path, None)]
    shown.close()
    qtbot.waitUntil(lambda: not any(runtime.iterdir()))
