"""The engine on another machine: the window and the keys here, the files and the work there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import counterfoil
from counterfoil import (
    AuditFinished,
    AuditReport,
    AuditRequest,
    CancelToken,
    CounterfoilError,
    FileUse,
    FollowEnded,
    Ledger,
    Outcome,
)
from counterfoil.signing.privatekeys import generate_key, key_from_seed
from counterfoil.training.recordingfolder import recording_folder
from counterfoil.training.tamper import LabelFlip
from counterfoil_app.engine import elsewhere
from counterfoil_app.engine.elsewhere import Elsewhere, FarEngine
from counterfoil_app.engine.port import LedgerRequest
from counterfoil_app.engine.recordings import KnownFollow, RecordRequest, RunMade
from counterfoil_app.model.bench import Bench
from counterfoil_app.model.settings import Settings
from counterfoil_app.model.unlocked_keys import UnlockedKeys
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views import layouts
from counterfoil_app.views.far_files import FarFileDialog, FarFiles, Kind
from counterfoil_app.views.recording_forms import RecordForm
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.statement.verdict import sign_verdict
from support.fake_engine import FakeEngine
from support.job_fixtures import digits_job, once, trainer_key
from support.jobs import Job, record_run
from support.reports import verified_report
from support.ssh_server import SshServer, ssh_server
from support.trusted import store_of

__all__ = ["digits_job", "once", "trainer_key"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    with ssh_server(tmp_path_factory.mktemp("ssh") / "server") as found:
        yield found


@pytest.fixture
def far(server: SshServer) -> Iterator[FarEngine]:
    engine = FarEngine(server.place())
    yield engine
    engine.close()


def report_of(events: Iterator[object]) -> AuditReport:
    *_, last = events
    assert isinstance(last, AuditFinished)
    return last.report


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ssh://gpu", Elsewhere("gpu")),
        ("ssh://ada@gpu.example.org", Elsewhere("gpu.example.org", "ada")),
        ("ssh://ada@10.0.0.7:2222", Elsewhere("10.0.0.7", "ada", 2222)),
        ("ssh://[fe80::1]:22/", Elsewhere("fe80::1", "", 22)),
        ("ssh://gpu_1", Elsewhere("gpu_1")),
    ],
)
def test_a_machine_is_named(text: str, expected: Elsewhere) -> None:
    assert Elsewhere.read(text) == expected


def test_a_machine_without_ssh_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere.shutil, "which", lambda _name: None)
    with pytest.raises(CounterfoilError, match="no ssh"):
        FarEngine(Elsewhere("gpu")).version()


def test_verdicts_are_put_together_here(tmp_path: Path) -> None:
    """As every signed statement: no machine of this name exists, and none is asked."""
    auditor = key_from_seed(b"\1" * 32)
    (tmp_path / "good.json").write_bytes(sign_verdict(verified_report(), auditor, datetime(2026, 3, 1, tzinfo=UTC)))
    engine = FarEngine(Elsewhere("nowhere.invalid"))
    *_, found = engine.read_ledger(LedgerRequest(tmp_path, (auditor.public.public,)), CancelToken())
    engine.close()
    assert isinstance(found, Ledger)
    assert [trainer.key_id for trainer in found.trainers] == [verified_report().trainer_key]


def test_the_engine_there_needs_no_qt() -> None:
    program = (
        "import sys\n"
        "for name in ('PySide6', 'shiboken6', 'pyqtgraph'):\n"
        "    sys.modules[name] = None\n"
        "import counterfoil_app.engine.served, counterfoil_app.engine.broker, counterfoil_app.engine.child\n"
        "import counterfoil_app.engine.recorder, counterfoil.audit.boxed.work\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_run_there_is_audited_and_its_verdict_signed_here(
    far: FarEngine, digits_job: Job, trainer_key: SigningKey, tmp_path: Path
) -> None:
    assert far.version() == counterfoil.__version__
    assert far.devices()[0].name == "cpu"
    for path in (digits_job.run, digits_job.order):
        far.note_file(path)
    assert far.recognise(digits_job.run).kind is FileUse.RUN
    assert digits_job.run.name in far.list_folder(digits_job.run.parent).files
    request = AuditRequest(digits_job.run, digits_job.order, threads=1)
    report = report_of(far.audit(request, CancelToken()))
    assert report.outcome is Outcome.VERIFIED
    if sys.platform == "linux":
        assert "seccomp" in dict(report.environment)["sandbox"]
    statement = far.preview(report, datetime.now(UTC))
    with counterfoil.start_signer(
        tmp_path / "auditor.pem", "audit", counterfoil.Passphrase.given(None), about=digits_job.run.name, create=True
    ) as signer:
        (tmp_path / "v.json").write_bytes(signer.sign(statement))
    public = far.read_key(tmp_path / "auditor.pub.pem")
    reading = far.read_verdict(tmp_path / "v.json", store_of(public), digits_job.run, ())
    assert reading.verdict is not None
    assert reading.bundle_matches is None, "the run lies there"

    tampered = record_run(digits_job.order, tmp_path / "tampered.cfoil", trainer_key, tamper=LabelFlip(3))
    disputed = report_of(far.audit(AuditRequest(tampered, digits_job.order, threads=1), CancelToken()))
    assert disputed.outcome is Outcome.DISPUTED
    capsule = tmp_path / "dispute.cfoil"
    far.write_capsule(disputed, capsule)
    assert counterfoil.recognise(capsule).kind is FileUse.CAPSULE
    assert not list(tmp_path.glob(".*.part"))


def test_a_recording_there_is_signed_here_and_followed_there(far: FarEngine, digits_job: Job, tmp_path: Path) -> None:
    generate_key(tmp_path / "trainer.pem", None)
    run = tmp_path / "there.cfoil"
    with counterfoil.start_signer(tmp_path / "trainer.pem", "train", counterfoil.Passphrase.given(None)) as signer:
        asked = RecordRequest(digits_job.order, run, signer.public.public, threads=1)
        *_, made = far.record_run(asked, signer.sign, CancelToken())
    assert isinstance(made, RunMade)
    follow = KnownFollow(recording_folder(run), run, digits_job.order, threads=1, trainer=asked.public)
    assert far.has_begun(follow.folder, run)
    *_, ended = far.follow(follow, CancelToken())
    assert isinstance(ended, FollowEnded)
    assert ended.outcome is None
    assert report_of(far.audit_followed(follow, CancelToken())).outcome is Outcome.VERIFIED


def test_files_of_this_machine_are_told_from_those_of_that(far: FarEngine, digits_job: Job, tmp_path: Path) -> None:
    generate_key(tmp_path / "auditor.pem", None)
    assert far.recognise(tmp_path / "auditor.pub.pem").kind is FileUse.PUBLIC_KEY
    with pytest.raises(CounterfoilError, match="lies on this machine"):
        far.recognise(digits_job.run)
    with pytest.raises(CounterfoilError, match="no file"):
        far.recognise(tmp_path / "gone.cfoil")


def test_a_connection_that_ends_is_said_and_made_again(far: FarEngine, digits_job: Job) -> None:
    far.version()
    first = far.process_id
    assert first is not None
    os.kill(first, signal.SIGKILL)
    with pytest.raises(CounterfoilError, match=r"connection to the engine on .* ended"):
        far.outline(digits_job.run)
    assert far.outline(digits_job.run).order is not None
    assert far.process_id != first


@pytest.mark.parametrize(
    ("key", "known", "why"),
    [("stranger", "known", "Permission denied"), ("user", "nobody", "Host key verification failed")],
)
def test_who_is_not_let_in_is_told_why(server: SshServer, key: str, known: str, why: str) -> None:
    engine = FarEngine(server.place(key=key, known=known))
    with pytest.raises(CounterfoilError, match="ended") as caught:
        engine.version()
    assert "without a password" in caught.value.remedy
    assert why in caught.value.detail
    engine.close()


def test_another_version_there_is_refused(server: SshServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "__version__", "0.0.0")
    engine = FarEngine(server.place())
    with pytest.raises(CounterfoilError, match=r"there is Counterfoil .* and here 0\.0\.0"):
        engine.devices()
    assert engine.process_id is None
    engine.close()


# The window


def test_the_window_says_where_the_engine_is(window_of: Callable[[FakeEngine], MainWindow], bundle: Path) -> None:
    window = window_of(FakeEngine(place="ada@gpu"))
    assert window.windowTitle() == "Counterfoil on ada@gpu"
    window.open_bundle(Path("/srv/only/there.cfoil"))
    assert window.session.path == Path("/srv/only/there.cfoil")
    assert "there.cfoil" in window.windowTitle()


@pytest.fixture
def bench(qtbot: QtBot) -> Iterator[Bench]:
    found = Bench(FakeEngine(), keep=True)
    yield found
    found.shut_down()


def test_a_file_there_is_named_with_the_names_in_its_folder(bench: Bench, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "run.cfoil").touch()
    dialog = FarFileDialog(bench, "gpu", "Open a run", f"{tmp_path}/", Kind.FILE, None)
    qtbot.addWidget(dialog)
    assert dialog.windowTitle() == "Open a run \u2013 on gpu"
    assert not dialog.ok.isEnabled(), "a folder is no file"
    qtbot.waitUntil(lambda: [dialog.list.item(row).text() for row in range(dialog.list.count())] == ["../", "runs/"])
    dialog.list.itemActivated.emit(dialog.list.item(1))
    assert dialog.path.text() == f"{tmp_path}/runs/"
    qtbot.waitUntil(lambda: dialog.list.count() == 2 and dialog.list.item(1).text() == "run.cfoil")
    dialog.list.itemClicked.emit(dialog.list.item(1))
    assert dialog.ok.isEnabled()
    assert dialog.chosen() == tmp_path / "runs" / "run.cfoil"
    dialog.path.setText(f"{tmp_path}/none/")
    qtbot.waitUntil(lambda: "cannot be read" in dialog.hint.text())


def test_hostile_names_in_a_folder_are_shown_as_text(bench: Bench, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "a\u202eb\n.cfoil").touch()
    dialog = FarFileDialog(bench, "gpu", "Open a run", f"{tmp_path}/", Kind.FILE, None)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: dialog.list.count() == 2)
    shown = dialog.list.item(1).text()
    assert "\u202e" not in shown
    assert "\n" not in shown


def test_dialogs_name_files_there_and_keys_here(
    tmp_path: Path, qtbot: QtBot, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = FakeEngine(place="gpu")
    files = FarFiles(engine)
    monkeypatch.setattr(FarFileDialog, "exec", lambda dialog: (dialog.path.setText("/far/run.cfoil"), 1)[1])
    monkeypatch.setattr(layouts.QFileDialog, "getOpenFileName", lambda *_given: (str(tmp_path / "near.pem"), ""))
    layouts.ask_elsewhere(files)
    try:
        form = RecordForm((), "cpu", tmp_path, UnlockedKeys(settings))
        qtbot.addWidget(form)
        assert layouts.existing_file(form, "Open", tmp_path, "*") == Path("/far/run.cfoil")
        assert layouts.existing_file(form, "Key", tmp_path, "*", here=True) == tmp_path / "near.pem"
        assert engine.noted == [Path("/far/run.cfoil")]
        form.order.setText("/far/job.cfoil")
        form.run.setText("/far/run.cfoil")
        form.key.setText(str(tmp_path / "near.pem"))
        wanted = form.request().recording
        assert wanted is not None
        assert (wanted.request.order, wanted.private_key) == (Path("/far/job.cfoil"), tmp_path / "near.pem")
    finally:
        layouts.ask_elsewhere(None)
        files.shut_down()
