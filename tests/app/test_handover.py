"""Handing over what was found: signed first, then written for others; nothing is promised that is not there."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from counterfoil import Role, load_public_key
from counterfoil.exports.handover import AUDITOR, CAPSULE, HTML, PDF, README, SEALED, SUMS, VERDICT, commands
from counterfoil.sealed.unseal import make_sealing_key, open_sealed
from counterfoil.signer.client import Passphrase
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict.handover_dialog import HandOverDialog
from counterfoil_app.verdict.report_document import Case, Contents
from counterfoil_app.verdict.signing_dialog import SigningDialog
from counterfoil_app.views.parts import FieldGrid
from support.fake_engine import FakeEngine
from support.waiting import reached
from support.x_server import run_session, served

SESSION = Path(__file__).resolve().parents[1] / "support" / "x_handover.py"

LAYOUT_LEVELS = 8

MakeWindow = Callable[[FakeEngine], MainWindow]


def concluded(window: MainWindow, bundle: Path, qtbot: QtBot) -> None:
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    qtbot.waitUntil(lambda: not window.session.busy)


def sign(window: MainWindow, engine: FakeEngine, folder: Path, qtbot: QtBot) -> None:
    """Sign in the dialog that is open, after which the engine knows the key."""
    dialog = window.findChild(SigningDialog)
    assert dialog is not None
    qtbot.waitUntil(lambda: not window.session.busy)
    dialog.create_new.setChecked(True)
    dialog.key.setText(str(folder / "keys" / "auditor.pem"))
    dialog.target.setText(str(folder / "new.verdict.json"))
    dialog.case.number.setText("3 O 112/26")
    with qtbot.waitSignal(window.session.exports.finished):
        dialog.ok.click()
    engine.signer = load_public_key(folder / "keys" / "auditor.pub.pem").public


def asked(window: MainWindow, qtbot: QtBot) -> HandOverDialog:
    qtbot.waitUntil(lambda: window.findChild(HandOverDialog) is not None)
    dialog = window.findChild(HandOverDialog)
    assert dialog is not None
    return dialog


def signed_and_asked(
    window: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot, folder: Path
) -> HandOverDialog:
    """A replay that is to be handed over: signed first, and then it is asked where."""
    concluded(window, bundle, qtbot)
    window.commands["hand_over"].trigger()
    sign(window, engine, folder, qtbot)
    return asked(window, qtbot)


def test_a_dispute_is_signed_and_handed_over_in_one_go(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path, printed: list[Contents]
) -> None:
    engine = FakeEngine(disputed=37)
    window = window_of(engine)
    concluded(window, bundle, qtbot)
    assert window.header.primary.shown is window.commands["hand_over"], "not: open another run"
    window.header.primary.click()
    sign(window, engine, tmp_path, qtbot)
    dialog = asked(window, qtbot)
    assert dialog.chosen == bundle.with_name("honest-handover")
    qtbot.waitUntil(lambda: "1,792 of 1,797 rows of images" in dialog.judges.notice.text())
    assert not dialog.ok.isEnabled(), "who may read it is asked first"
    assert "Say who may read the capsule" in dialog.hint.text()
    assert dialog.judges.mapTo(dialog, QPoint(0, 0)).y() < dialog.target.mapTo(dialog, QPoint(0, 0)).y()
    dialog.judges.open.setChecked(True)
    with qtbot.waitSignal(window.verdicts.handed_over):
        dialog.ok.click()
    folder = bundle.with_name("honest-handover")
    assert {path.name for path in folder.iterdir()} == {VERDICT, AUDITOR, CAPSULE, PDF, HTML, README, SUMS}
    assert (folder / VERDICT).read_bytes() == (tmp_path / "new.verdict.json").read_bytes()
    assert [page.case for page in printed[-2:]] == [Case("3 O 112/26")] * 2, "what was named when it was signed"
    assert window.session.handed_over == folder
    assert str(folder) in window.header.sentence.text()
    assert window.header.primary.shown is window.commands["open"]


def test_the_capsule_is_handed_over_sealed_for_judges(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    pytest.importorskip("pyrage", reason="the extra sealing is not installed")
    make_sealing_key(tmp_path / "judge.key", Passphrase.given(None))
    engine = FakeEngine(disputed=37)
    window = window_of(engine)
    dialog = signed_and_asked(window, engine, bundle, qtbot, tmp_path)
    qtbot.waitUntil(lambda: "1,792 of 1,797 rows of images" in dialog.judges.notice.text())
    dialog.judges.seal.setChecked(True)
    assert not dialog.ok.isEnabled(), "for whom is missing"
    dialog.judges.use(tmp_path / "judge.pub")
    with qtbot.waitSignal(window.verdicts.handed_over):
        dialog.ok.click()
    folder = bundle.with_name("honest-handover")
    assert not (folder / CAPSULE).exists()
    assert "--identity judge.key" in (folder / README).read_text()
    with open_sealed(folder / SEALED, tmp_path / "judge.key", Passphrase.given(None)) as plain:
        assert plain.read_text() == "step 37"


def test_nothing_moves_for_an_answer_nor_for_what_was_written(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    engine = FakeEngine(disputed=37)
    window = window_of(engine)
    concluded(window, bundle, qtbot)
    header = window.header.height()
    window.commands["hand_over"].trigger()
    sign(window, engine, tmp_path, qtbot)
    dialog = asked(window, qtbot)
    qtbot.waitUntil(lambda: "1,792 of 1,797 rows of images" in dialog.judges.notice.text())
    judges = dialog.judges
    watched = (judges.seal, judges.open, judges.leave_out, dialog.target, dialog.ok)

    def places() -> list[QPoint]:
        for _ in range(LAYOUT_LEVELS):  # what a wrapped text needs goes up one part at a time
            QApplication.processEvents()
        return [part.mapTo(dialog, QPoint(0, 0)) for part in watched]

    before = places()
    for answer in (judges.seal, judges.leave_out, judges.open):
        answer.setChecked(True)
        assert places() == before
    with qtbot.waitSignal(window.verdicts.handed_over):
        dialog.ok.click()
    QApplication.processEvents()
    assert window.header.height() == header
    assert window.read.isVisible(), "the report in the folder can be opened"


def test_the_capsule_may_stay_at_home(window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path) -> None:
    engine = FakeEngine(disputed=37)
    dialog = signed_and_asked(window := window_of(engine), engine, bundle, qtbot, tmp_path)
    dialog.judges.leave_out.setChecked(True)
    assert "your word" in dialog.judges.notice.text()
    with qtbot.waitSignal(window.verdicts.handed_over):
        dialog.ok.click()
    folder = bundle.with_name("honest-handover")
    assert {path.name for path in folder.iterdir()} == {VERDICT, AUDITOR, PDF, HTML, README, SUMS}


def test_what_is_verified_is_signed_and_then_handed_over_without_a_capsule(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    engine = FakeEngine()
    window = window_of(engine)
    concluded(window, bundle, qtbot)
    assert window.header.primary.shown is window.commands["name_trainer"]
    window.commands["verdict"].trigger()
    sign(window, engine, tmp_path, qtbot)
    assert window.findChild(HandOverDialog) is None, "only the verdict was asked for"
    assert window.header.primary.shown is window.commands["hand_over"]
    window.header.primary.click()
    dialog = asked(window, qtbot)
    grid = dialog.findChild(FieldGrid)
    assert grid is not None
    dialog.packed.setChecked(True)
    assert dialog.chosen.name == "honest-handover.zip"
    with qtbot.waitSignal(window.verdicts.handed_over):
        dialog.ok.click()
    with zipfile.ZipFile(bundle.with_name("honest-handover.zip")) as packed:
        names = {Path(name).name for name in packed.namelist()}
    assert names == {VERDICT, AUDITOR, PDF, HTML, README, SUMS}


def test_what_cannot_be_written_is_said_and_can_be_tried_again(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    engine = FakeEngine(disputed=37)
    window = window_of(engine)
    dialog = signed_and_asked(window, engine, bundle, qtbot, tmp_path)
    dialog.judges.open.setChecked(True)
    dialog.target.setText(str(bundle))
    assert "already" in dialog.hint.text()
    assert not dialog.ok.isEnabled()
    dialog.target.setText(str(tmp_path / "no" / "such"))
    qtbot.waitUntil(dialog.ok.isEnabled)
    dialog.ok.click()
    qtbot.waitUntil(lambda: "no such folder" in dialog.hint.text())
    dialog.target.setText(str(tmp_path / "given"))
    with qtbot.waitSignal(window.verdicts.handed_over):
        dialog.ok.click()
    assert (tmp_path / "given" / README).is_file()


def test_a_key_that_is_not_known_hands_nothing_over(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    engine = FakeEngine(disputed=37)
    window = window_of(engine)
    dialog = signed_and_asked(window, engine, bundle, qtbot, tmp_path)
    engine.signer = "cd" * 32
    dialog.judges.open.setChecked(True)
    qtbot.waitUntil(dialog.ok.isEnabled)
    dialog.ok.click()
    qtbot.waitUntil(lambda: "you have not confirmed" in dialog.hint.text())
    assert not dialog.chosen.exists()
    assert Role.MINE in {key.role for key in window.key_book.keys}


def test_another_result_is_handed_over_by_itself(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    engine = FakeEngine(disputed=37)
    window = window_of(engine)
    dialog = signed_and_asked(window, engine, bundle, qtbot, tmp_path)
    dialog.judges.open.setChecked(True)
    qtbot.waitUntil(dialog.ok.isEnabled)
    window.session.replay()
    dialog.ok.click()
    qtbot.waitUntil(lambda: not isValid(dialog))
    assert not bundle.with_name("honest-handover").exists(), "what was shown is handed over, or nothing"
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    assert window.session.handed_over is None


@pytest.mark.slow
@pytest.mark.xvfb
def test_a_tampered_sample_is_handed_over_by_keys_and_mouse_and_a_stranger_checks_it(tmp_path: Path) -> None:
    with served() as display:
        done = run_session(SESSION, display, tmp_path, 580)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    folder = Path(done.stdout.splitlines()[-1])
    assert {path.name for path in folder.iterdir()} == {VERDICT, AUDITOR, CAPSULE, PDF, HTML, README, SUMS}
    for line in commands((folder / README).read_text()):
        ours = line.startswith("counterfoil ")
        if not ours and shutil.which("openssl") is None:
            continue
        if ours:
            line = f"{shlex.quote(sys.executable)} -P -m {line}"
        ran = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False)
        assert ran.returncode == (1 if ours else 0), f"{line}: {ran.stdout}{ran.stderr}"
        if ours:
            assert "DISPUTED" in ran.stdout or "CONFIRMED" in ran.stdout, ran.stdout
