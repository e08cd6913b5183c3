"""The whole job with the real engine: a recorded run, replayed in the window, its verdict checked by the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

import counterfoil
from counterfoil import AdjudicationOutcome, CheckNumber, CheckState, LabelFlip, Outcome
from counterfoil.exports.handover import AUDITOR, CAPSULE, HTML, PDF, README, SUMS, VERDICT
from counterfoil_app.engine import sample
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.process import ProcessEngine
from counterfoil_app.model.history import kept_capsule
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict.handover_dialog import HandOverDialog
from counterfoil_app.verdict.signing_dialog import SigningDialog
from counterfoil_app.views.inquiry import CapsuleDialog
from counterfoil_core.statement.verdict import check_capsule_file
from counterfoil_resources.digits import load_digits
from support.waiting import reached

STEPS = 10
TAMPERED = 3
MakeWindow = Callable[[Engine], MainWindow]
LEFT = Qt.MouseButton.LeftButton


class SharedEngine(ProcessEngine):
    """Its process serves one window after the other, as it serves one bundle after the other."""

    def close(self) -> None:
        """A window lets go of it: the next one takes it over."""

    def end(self) -> None:
        super().close()


@pytest.fixture(scope="module")
def real_engine() -> Iterator[SharedEngine]:
    engine = SharedEngine()
    yield engine
    engine.end()
    assert engine.process_id is None


@dataclass(frozen=True)
class Job:
    order: Path
    honest: Path
    tampered: Path


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    folder = tmp_path_factory.mktemp("job")
    files = Job(folder / "job.cfoil", folder / "honest.cfoil", folder / "tampered.cfoil")
    images, labels = load_digits()
    draft = counterfoil.order_digits(
        images[:200], labels[:200], steps=STEPS, batch_size=16, width=8, checkpoint_every=2, seed=11
    )
    draft.write(files.order)
    counterfoil.generate_key(folder / "trainer.pem", None)
    key = counterfoil.load_private_key(folder / "trainer.pem", None)
    for path, tamper in ((files.honest, None), (files.tampered, LabelFlip(step=TAMPERED))):
        for _ in counterfoil.record(files.order, path, key, tamper=tamper):
            pass
    return files


def replay(window: MainWindow, run: Path, order: Path | None, qtbot: QtBot) -> None:
    window.open_bundle(run, order)
    qtbot.waitUntil(reached(window, Phase.READY), timeout=30_000)
    seen: list[float] = []
    window.session.progress_changed.connect(lambda: seen.append(window.session.progress.done))
    window.header.primary.click()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=120_000)
    assert any(0 < done < STEPS for done in seen), f"no progress was seen: {seen}"


def sign(window: MainWindow, folder: Path, qtbot: QtBot) -> counterfoil.Verdict:
    """Create a key with a passphrase, sign, and let the library check the verdict."""
    assert window.session.report is not None
    accuses = window.session.report.outcome is Outcome.DISPUTED
    window.commands["hand_over" if accuses else "verdict"].trigger()
    dialog = window.findChild(SigningDialog)
    assert dialog is not None
    dialog.create_new.setChecked(True)
    dialog.key.setText(str(folder / "keys" / "auditor.pem"))
    dialog.passphrase.setText("a long secret")
    dialog.repeat.setText("a long secret")
    dialog.target.setText(str(folder / "out.verdict.json"))
    qtbot.waitUntil(dialog.ok.isEnabled, timeout=30_000)  # what is signed is there, and shown
    with qtbot.waitSignal(window.session.exports.finished, timeout=30_000):
        qtbot.mouseClick(dialog.ok, LEFT)
    key = counterfoil.load_public_key(folder / "keys" / "auditor.pub.pem")
    return counterfoil.verify_verdict((folder / "out.verdict.json").read_bytes(), key)


def hand_over(window: MainWindow, folder: Path, verdict: counterfoil.Verdict, qtbot: QtBot) -> None:
    """What follows the signature of what accuses: a folder whose capsule and reports are of this very verdict."""
    dialog = window.findChild(HandOverDialog)
    assert dialog is not None, "it is asked at once where the folder goes"
    dialog.target.setText(str(folder))
    dialog.judges.open.setChecked(True)
    qtbot.waitUntil(dialog.ok.isEnabled, timeout=30_000)
    with qtbot.waitSignal(window.verdicts.handed_over, timeout=60_000):
        qtbot.mouseClick(dialog.ok, LEFT)
    names = {path.name for path in folder.iterdir()}
    assert names == {VERDICT, AUDITOR, CAPSULE, PDF, HTML, README, SUMS}
    envelope = (folder / VERDICT).read_bytes()
    assert counterfoil.verify_verdict(envelope, counterfoil.load_public_key(folder / AUDITOR)) == verdict
    check_capsule_file(verdict, folder / CAPSULE)
    assert counterfoil.Digest.of(envelope).hex in (folder / HTML).read_text()
    assert window.session.handed_over == folder
    assert window.header.primary.shown is window.commands["open"]


def test_honest_run(window_of: MakeWindow, real_engine: SharedEngine, job: Job, qtbot: QtBot, tmp_path: Path) -> None:
    window = window_of(real_engine)
    replay(window, job.honest, job.order, qtbot)
    assert window.header.outcome.text() == "VERIFIED"
    assert {check.state for check in window.session.checks.values()} == {CheckState.PASSED}
    assert [window.steps.model.index(row, 1).data() for row in range(STEPS)] == ["match"] * STEPS
    assert len(window.session.divergence) == STEPS // 2
    assert window.session.divergence.differing() == 0
    verdict = sign(window, tmp_path, qtbot)
    assert verdict.outcome is Outcome.VERIFIED
    counterfoil.check_bundle_file(verdict, job.honest)


def test_tampered_run(window_of: MakeWindow, real_engine: SharedEngine, job: Job, qtbot: QtBot, tmp_path: Path) -> None:
    window = window_of(real_engine)
    replay(window, job.tampered, job.order, qtbot)
    assert window.header.outcome.text() == "DISPUTED"
    column = [window.steps.model.index(row, 1).data() for row in range(STEPS)]
    assert column == ["match"] * 2 + ["mismatch", "unjudged"] + ["match"] * 6
    assert window.session.dispute is not None
    assert window.session.dispute.step == TAMPERED
    assert f"Step {TAMPERED}" in window.dispute.headline.text()
    assert window.dispute.model.rowCount() > 0
    assert window.merkle.model.rowCount() > 0
    assert window.header.primary.shown is window.commands["hand_over"]
    verdict = sign(window, tmp_path, qtbot)
    assert verdict.outcome is Outcome.DISPUTED
    hand_over(window, tmp_path / "given", verdict, qtbot)
    capsule = tmp_path / "dispute.cfoil"
    with qtbot.waitSignal(window.session.exports.finished, timeout=30_000):
        window.session.exports.capsule(window.session.report, capsule, kept_capsule(window.session.result_file))
    # The window that wrote it adjudicates it, with the order that it finds by its digest.
    window.open_files([capsule])
    qtbot.waitUntil(lambda: window.findChild(CapsuleDialog) is not None)
    dialog = window.findChild(CapsuleDialog)
    assert dialog is not None
    assert dialog.hearing.order == job.order
    qtbot.mouseClick(dialog.start, LEFT)
    qtbot.waitUntil(lambda: not dialog.hearing.working)
    report = dialog.hearing.report
    assert report is not None
    assert (report.outcome, report.step, report.order_source) == (AdjudicationOutcome.CONFIRMED, TAMPERED, "client")
    assert "CONFIRMED" in dialog.headline.text()


@pytest.mark.slow
def test_run_of_another_order_is_refused(
    window_of: MakeWindow, real_engine: SharedEngine, job: Job, qtbot: QtBot, tmp_path: Path
) -> None:
    images, labels = load_digits()
    other = tmp_path / "other.cfoil"
    counterfoil.order_digits(images[:200], labels[:200], steps=STEPS, batch_size=16, width=8, seed=12).write(other)
    window = window_of(real_engine)
    window.open_bundle(job.honest, other)
    qtbot.waitUntil(reached(window, Phase.READY, Phase.UNREADABLE), timeout=30_000)
    assert window.session.checks[CheckNumber.ORDER].state is CheckState.FAILED
    qtbot.waitUntil(lambda: window.session.checks[CheckNumber.ORDER_CONTENTS].state is CheckState.SKIPPED)
    assert window.header.primary.shown is window.commands["compare"]
    assert not window.commands["replay"].isEnabled()
    window.commands["conclude"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=30_000)
    assert window.header.outcome.text() == "REFUSED"
    assert sign(window, tmp_path, qtbot).outcome is Outcome.REFUSED


def test_junk_is_refused_and_can_be_signed(
    window_of: MakeWindow, real_engine: SharedEngine, qtbot: QtBot, tmp_path: Path
) -> None:
    junk = tmp_path / "junk.cfoil"
    junk.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(range(256)) * 8)
    window = window_of(real_engine)
    window.open_bundle(junk)
    qtbot.waitUntil(reached(window, Phase.UNREADABLE), timeout=30_000)
    assert window.header.outcome.text() == "REFUSED"
    window.commands["conclude"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=30_000)
    assert window.header.outcome.text() == "REFUSED"
    assert window.session.checks[CheckNumber.FORMAT].state is CheckState.FAILED


def test_stopping_is_inconclusive(window_of: MakeWindow, real_engine: SharedEngine, job: Job, qtbot: QtBot) -> None:
    window = window_of(real_engine)
    window.open_bundle(job.honest, job.order)
    qtbot.waitUntil(reached(window, Phase.READY), timeout=30_000)
    window.commands["replay"].trigger()
    window.commands["pause"].trigger()
    window.commands["stop"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=60_000)
    assert window.header.outcome.text() == "INCONCLUSIVE"


@pytest.mark.slow
def test_sample_is_disputed_where_it_was_tampered(
    window_of: MakeWindow, real_engine: SharedEngine, qtbot: QtBot
) -> None:
    window = window_of(real_engine)
    seen: list[tuple[int, int]] = []
    window.shell.samples.progress_changed.connect(lambda done, total: seen.append((done, total)))
    qtbot.mouseClick(window.home.samples[1], LEFT)
    qtbot.waitUntil(reached(window, Phase.READY), timeout=120_000)
    assert window.session.checks[CheckNumber.ORDER].state is CheckState.PASSED
    assert any(0 < done < sample.STEPS == total for done, total in seen), seen
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=120_000)
    assert window.session.report is not None
    assert window.session.report.outcome is Outcome.DISPUTED
    assert window.session.dispute is not None
    assert window.session.dispute.step == sample.TAMPERED_STEP
