"""A real `counterfoil audit` is killed, as by a power cut, and another goes on where it was."""

from __future__ import annotations

import base64
import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from counterfoil.audit.hearings import run_audit
from counterfoil.cli import main
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import FileWriteError
from counterfoil_core.values.request import AuditRequest
from support.jobs import Job, digits_order, record_job

STEPS = 16

KEPT = "1 of 8 segments with 2 judged steps, the last of them step 2."


@pytest.fixture(scope="module")
def job(trainer_key, tmp_path_factory) -> Job:
    return record_job(tmp_path_factory.mktemp("long"), digits_order(steps=STEPS, checkpoint_every=2), trainer_key)


@pytest.fixture(scope="module")
def key(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("key") / "auditor.pem"
    assert main(["keygen", str(path), "--no-passphrase"]) == 0
    return path


def command(job: Job, folder: Path, key: Path, *more: str) -> list[str]:
    return [
        "audit", str(job.run), "--order", str(job.order), "--verdict", str(folder / "verdict.json"), "--key", str(key),
        "--csv", str(folder / "steps.csv"), "--threads", "1", "--progress", str(folder / "progress"), "--force", *more,
    ]  # fmt: skip


def started(arguments: list[str]) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "counterfoil.cli", *arguments], env=environment, stdout=subprocess.PIPE, text=True
    )


def statement(folder: Path) -> dict[str, Any]:
    """What was signed, without times."""
    envelope = json.loads((folder / "verdict.json").read_text())
    found: dict[str, Any] = json.loads(base64.b64decode(envelope["payload"]))
    del found["predicate"]["timeVerified"], found["predicate"]["seconds"]
    return found


def steps(folder: Path) -> list[str]:
    """The table of steps, without times."""
    names, *rows = [line.split(",") for line in (folder / "steps.csv").read_text().splitlines()]
    place = names.index("seconds")
    return [",".join(row[:place] + row[place + 1 :]) for row in rows]


def killed_while_it_runs(arguments: list[str], progress: Path) -> None:
    """Kill an audit right after it has kept something new."""
    before = progress.stat().st_mtime_ns if progress.exists() else 0
    process = started(arguments)
    until = time.monotonic() + 120
    while not progress.exists() or progress.stat().st_mtime_ns == before:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is of POSIX systems")
def test_kill_and_resume(job, key, tmp_path, capsys):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    whole.mkdir()
    cut.mkdir()
    assert main(command(job, whole, key)) == 0
    killed_while_it_runs(command(job, cut, key), cut / "progress")
    assert not (cut / "verdict.json").exists()
    # Without --resume one line says what could be gone on from, and nothing is lost by it.
    capsys.readouterr()
    with_progress = (cut / "progress").read_bytes()
    assert main(command(job, cut, key, "--resume")) == 0
    printed = capsys.readouterr().out
    assert f"Goes on from an earlier audit, which judged {KEPT}" in printed
    assert statement(cut) == statement(whole)
    assert steps(cut) == steps(whole)
    assert len(steps(cut)) == STEPS
    assert not (cut / "progress").exists()
    # The same again from what lay there: --resume looks at nothing else.
    (cut / "progress").write_bytes(with_progress)
    assert main(command(job, cut, key)) == 0
    assert f"An earlier audit of this run judged {KEPT}" in capsys.readouterr().out


_KILLED_BEHIND_THE_NAME = """
import os, signal, sys
from pathlib import Path
from counterfoil.base import wholefiles
placed = wholefiles.put_in_place
def put_in_place(part, path, **settings):
    placed(part, path, **settings)
    if path.name == sys.argv[1]:
        os.kill(os.getpid(), signal.SIGKILL)
wholefiles.put_in_place = put_in_place
from counterfoil.cli import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is of POSIX systems")
@pytest.mark.parametrize("name", ["verdict.json", pytest.param("steps.csv", marks=pytest.mark.slow)])
def test_an_audit_that_is_killed_right_behind_a_files_name_goes_on(job, key, tmp_path, name, capsys):
    """What it wrote is known to be its own; another file in its place is not replaced."""
    arguments = [each for each in command(job, tmp_path, key) if each != "--force"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED_BEHIND_THE_NAME, name, *arguments],
        env=environment, capture_output=True, check=False,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    written = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(b"of the user's own")
    assert main([*arguments, "--resume"]) == 4
    assert "exists already" in capsys.readouterr().err
    (tmp_path / name).write_bytes(written)
    assert main([*arguments, "--resume"]) == 0
    assert statement(tmp_path)["predicate"]["result"] == "VERIFIED"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_verdict_is_written_though_there_is_no_room_for_what_is_printed(job, key, tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    arguments = [sys.executable, "-m", "counterfoil.cli", *command(job, tmp_path, key)]
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(arguments, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 4
    assert "What the command prints could not be written: No space left on device." in ended.stderr
    assert "bug" not in ended.stderr
    assert statement(tmp_path)["predicate"]["result"] == "VERIFIED"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals are of POSIX systems")
def test_an_interrupted_audit_says_how_to_go_on(job, key, tmp_path, capsys):
    process = started(command(job, tmp_path, key))
    while not (tmp_path / "progress").exists():
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate()
    assert process.returncode == 2, printed
    assert "Kept: " in printed
    assert "The same command with --resume goes on from there." in printed
    assert main(command(job, tmp_path, key, "--resume")) == 0
    assert "VERIFIED" in capsys.readouterr().out


def test_resume_without_progress_begins(job, key, tmp_path, capsys):
    assert main(command(job, tmp_path, key, "--resume")) == 0
    assert "Nothing was kept of an audit of this run: it begins from the start." in capsys.readouterr().out
    assert not (tmp_path / "progress").exists()


def stopped(job: Job, folder: Path, key: Path) -> None:
    """An audit that Ctrl-C ended: its verdict is INCONCLUSIVE, and some of its progress is kept."""
    process = started([word for word in command(job, folder, key) if word != "--force"])
    while not (folder / "progress").exists():
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate()
    assert process.returncode == 2, printed
    assert statement(folder)["predicate"]["result"] == "INCONCLUSIVE"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals are of POSIX systems")
def test_a_continuation_replaces_what_the_interrupted_audit_wrote(job, key, tmp_path, capsys):
    again = [word for word in command(job, tmp_path, key) if word != "--force"]
    stopped(job, tmp_path, key)
    assert main(again) == 4, "another audit is no continuation"
    assert main([*again, "--resume"]) == 0
    assert statement(tmp_path)["predicate"]["result"] == "VERIFIED"
    assert main([*again, "--resume"]) == 4, "what is done is the user's"
    assert "exists already" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals are of POSIX systems")
@pytest.mark.parametrize("name", ["verdict.json", pytest.param("steps.csv", marks=pytest.mark.slow)])
def test_a_continuation_replaces_nothing_else(job, key, tmp_path, name, capsys):
    again = [word for word in command(job, tmp_path, key) if word != "--force"]
    stopped(job, tmp_path, key)
    (tmp_path / name).write_text("mine")
    assert main([*again, "--resume"]) == 4
    assert f"{name} exists already" in capsys.readouterr().err
    assert (tmp_path / name).read_text() == "mine"
    (tmp_path / name).unlink()
    assert main([*again, "--resume"]) == 0


def test_what_lies_there_although_its_writing_failed_is_the_audits_own(job, key, tmp_path, capsys, monkeypatch):
    again = [word for word in command(job, tmp_path, key) if word != "--force"]

    def failing(_: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("counterfoil.base.wholefiles.sync_folder", failing)
        assert main(again) == 4
    assert "The table of steps cannot be written to" in capsys.readouterr().err
    assert (tmp_path / "steps.csv").exists()
    assert main([*again, "--resume"]) == 0


def test_a_run_that_lies_there_although_its_writing_failed_is_the_trainings_own(
    job, key, tmp_path, capsys, monkeypatch
):
    run = tmp_path / "run.cfoil"
    train = ["train", str(job.order), "--out", str(run), "--key", str(key), "--threads", "1"]

    def failing(folder: Path) -> None:
        if folder == tmp_path and run.exists():
            raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("counterfoil.base.wholefiles.sync_folder", failing)
        assert main(train) == 4
    assert "--resume goes on from there" in capsys.readouterr().err
    before = run.read_bytes()
    run.write_bytes(b"mine")
    assert main([*train, "--resume"]) == 4, "what anybody changed since is not the training's"
    assert run.read_bytes() == b"mine"
    run.write_bytes(before)
    assert main([*train, "--resume"]) == 0
    assert main([*train, "--resume"]) == 4, "what is done is the user's"


def test_a_capsule_that_memory_was_lacking_for_is_not_said_to_be_needless(
    cheat_job, key, tmp_path, capsys, monkeypatch
):
    capsule = tmp_path / "dispute.cfoil"
    audit = [
        "audit", str(cheat_job.run), "--order", str(cheat_job.order), "--capsule", str(capsule), "--threads", "1",
        "--progress", str(tmp_path / "progress"),
    ]  # fmt: skip

    def failing(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("counterfoil_core.hearing.segments.gather", failing)
        assert main(audit) == 4
    said = capsys.readouterr()
    assert "The capsule was not written" in said.err
    assert "no single step" not in said.out
    assert main([*audit, "--resume"]) == 1
    assert capsule.exists()


def test_what_cannot_be_written_costs_nothing_else(job, key, tmp_path, capsys, monkeypatch):
    again = [word for word in command(job, tmp_path, key) if word != "--force"]

    def full(*_: object) -> None:
        raise FileWriteError("The table of steps cannot be written.")

    with monkeypatch.context() as patch:
        patch.setattr("counterfoil.audit.table.write_steps_csv", full)
        assert main(again) == 4
    said = capsys.readouterr()
    assert "The table of steps cannot be written." in said.err
    assert "the same command with --resume writes what is missing" in said.out
    assert statement(tmp_path)["predicate"]["result"] == "VERIFIED"
    assert (tmp_path / "progress").exists()
    before = (tmp_path / "verdict.json").read_bytes()
    assert main([*again, "--resume"]) == 0
    said = capsys.readouterr()
    assert "Goes on from an earlier audit, which judged 8 of 8 segments" in said.out
    assert len(steps(tmp_path)) == STEPS
    assert (tmp_path / "verdict.json").read_bytes() != before
    assert not (tmp_path / "progress").exists()


def test_an_audit_that_judged_nothing_says_so(job):
    token = CancelToken()
    token.cancel()
    *_, last = run_audit(AuditRequest(job.run, job.order, threads=1), token)
    assert last.report.reason == "The audit was stopped before any step was judged."
