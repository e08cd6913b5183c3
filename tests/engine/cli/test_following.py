"""``counterfoil follow`` beside a recorder that runs in a thread of its own."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from counterfoil.cli import main
from counterfoil.training.recordingevents import StepRecorded
from counterfoil.training.recordingfolder import recording_folder
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.signing.keys import SigningKey
from support.besides import recorder
from support.jobs import Job


@contextmanager
def recording(order: Path, run: Path, key: SigningKey, pause: float = 0.2, **settings: Any) -> Iterator[None]:
    """Record in a thread, with a pause behind each step, until the block is left."""
    enough = threading.Event()

    def work() -> None:
        for event in recorder(order, run, key, **settings):
            if enough.is_set():
                return
            if isinstance(event, StepRecorded):
                enough.wait(pause)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join()


def test_a_run_is_followed_to_a_signed_verdict(
    digits_job: Job, trainer_key: SigningKey, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, key, verdict = tmp_path / "run.cfoil", tmp_path / "auditor.pem", tmp_path / "verdict.json"
    assert main(["keygen", str(key), "--no-passphrase"]) == 0
    given = [str(recording_folder(run)), "--order", str(digits_job.order), "--threads", "1"]
    wanted = ["--verdict", str(verdict), "--key", str(key), "--csv", str(tmp_path / "steps.csv")]
    with recording(digits_job.order, run, trainer_key, pause=0.5):
        assert main(["follow", *given, *wanted]) == 0
        said = " ".join(capsys.readouterr().out.split())
    assert f"Following a recording by the key {trainer_key.public.key_id}" in said
    # On a busy machine the run may be done before its last steps were followed; the audit judges these.
    assert re.search(r"Followed to the end: [1-6] steps match\. The run is audited now\.", said)
    assert "VERIFIED All 6 steps were replayed" in said
    assert re.search(r"loss (\d\.\d{4}), the trainer's \1", said)
    assert main(["verify", str(verdict), "--key", str(tmp_path / "auditor.pub.pem"), str(run)]) == 0
    assert len((tmp_path / "steps.csv").read_text().splitlines()) == 7
    assert main(["audit", str(run), "--order", str(digits_job.order), "--threads", "1", "--json"]) == 0


def test_a_lie_is_said_while_the_recorder_runs_and_signed_by_nobody(
    digits_job: Job, trainer_key: SigningKey, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run.cfoil"
    given = [str(run), "--order", str(digits_job.order), "--threads", "1"]
    # The last steps are long in coming.
    with recording(digits_job.order, run, trainer_key, tamper=LabelFlip(1), pause=2.0):
        assert main(["follow", *given, "--unsigned", str(tmp_path / "verdict.json"), "--json"]) == 1
        assert not run.exists()
    said = json.loads(capsys.readouterr().out)
    assert said["outcome"] == "DISPUTED"
    assert said["dispute"]["step"] == 1
    assert said["matching"] == 0
    assert "A verdict takes the run" in said["reason"]
    assert not (tmp_path / "verdict.json").exists()


def test_a_recording_of_another_order_ends_with_a_sentence_and_its_exit_code(
    digits_job: Job, gpt2_job: Job, trainer_key: SigningKey, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run.cfoil"
    with recording(digits_job.order, run, trainer_key, pause=5.0):
        assert main(["follow", str(run), "--order", str(gpt2_job.order), "--threads", "1"]) == 3
    assert "REFUSED  The recording in " in capsys.readouterr().out


def test_a_recording_that_never_begins_is_given_up(
    digits_job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(tmp_path / "run.cfoil"), "--order", str(digits_job.order)]
    assert main(["follow", *given, "--patience", "1"]) == 2
    assert "No recording was begun" in " ".join(capsys.readouterr().err.split())


def test_nothing_is_written_over_what_is_read(digits_job: Job, tmp_path: Path) -> None:
    run = tmp_path / "run.cfoil"
    given = [str(run), "--order", str(digits_job.order)]
    assert main(["follow", *given, "--csv", str(digits_job.order)]) == 4
    assert main(["follow", *given, "--verdict", str(tmp_path / "verdict.json")]) == 4
