"""What a client's code orders is the same in another process, under another hash seed; else it is refused."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from counterfoil.cli import main
from counterfoil.talk.programs import hashing_otherwise
from counterfoil.training.jobnames import load_job
from counterfoil.training.secondlook import SecondLook, Source, begin, programs_of

JOB = """
import os
import torch
from torch import nn

from counterfoil import CustomJob, Sgd

NAMES = ORDER


def objective(model, batch):
    # Each name has a weight of its own, so that the order of the sums is another program.
    return sum((model(batch["x"]) * (1 + len(name))).square().mean() for name in NAMES)


def make_job():
    torch.manual_seed(0)
    assert CHECK
    return CustomJob("T", nn.Linear(3, 2), objective, Sgd(), {"x": torch.ones(8, 3)}, 2, 4, learning_rate=0.1)
"""
NAMES = {"a" * length for length in range(1, 12)}


def written(folder: Path, name: str, order: str, check: str = "True") -> str:
    (folder / f"{name}.py").write_text(JOB.replace("ORDER", order).replace("CHECK", check))
    return f"{name}:make_job"


def compared(reference: str) -> str:
    draft = load_job(reference).draft()
    look = begin(Source(reference))
    assert look is not None
    try:
        return look.compare(draft)
    finally:
        look.close()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.own_process
def test_a_step_that_goes_through_a_set_of_names_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["order", "--from", written(tmp_path, "job_of_a_set", repr(NAMES)), "--out", "job.cfoil"]
    assert main(command) == 3
    told = " ".join(capsys.readouterr().err.split())
    assert "another program in another process, under another hash seed: it begins to differ at aten." in told
    assert "sorted(names)" in told
    assert not Path("job.cfoil").exists()
    # Control: it is the second look alone that refuses it.
    assert load_job(command[2]).draft().manifest.steps


def test_what_fails_the_second_time_is_told(tmp_path: Path) -> None:
    reference = written(tmp_path, "job_that_fails", "['a']", "'PYTHONHASHSEED' not in os.environ")
    if "PYTHONHASHSEED" in os.environ:
        pytest.skip("the tests themselves run under a hash seed")
    assert "came to nothing: job_that_fails:make_job failed: AssertionError" in compared(reference)


def test_a_process_that_is_killed_is_told(tmp_path: Path) -> None:
    reference = written(tmp_path, "job_that_is_killed", "['a']")
    look = SecondLook(Source(reference))
    look._process.kill()
    assert "the process ended with the exit code" in look.compare(load_job(reference).draft())
    look.close()


def test_the_hashes_are_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    command, hashing = hashing_otherwise("counterfoil.training.secondlook")
    assert hashing == {"PYTHONHASHSEED": "2"}
    assert "-E" not in command
    monkeypatch.delenv("PYTHONHASHSEED")
    assert hashing_otherwise("counterfoil.training.secondlook")[1] == {"PYTHONHASHSEED": "1"}


def test_what_is_told_of_a_job_is_its_programs(tmp_path: Path) -> None:
    reference = written(tmp_path, "job_of_one_program", "['a', 'bb']")
    found = programs_of(None, Source(reference), tuple(sys.path))
    assert found == tuple(program.to_bytes() for program in load_job(reference).draft().all_programs)
