"""Sealed capsules by the commands: made by an audit, handed over, and adjudicated by the judges alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from counterfoil.cli import main
from counterfoil.exports.handover import CAPSULE, README, SEALED, commands
from counterfoil.sealed.agefile import is_sealed
from counterfoil.signing.privatekeys import load_private_key
from counterfoil.training.recipes import digits
from counterfoil.training.recorder import record
from counterfoil.training.tamper import LabelFlip
from support.jobs import captured_once, replaced

pytest.importorskip("pyrage", reason="the extra sealing is not installed")
SMALL = ("--steps", "3", "--width", "4", "--batch-size", "8", "--checkpoint-every", "1")
CONFIRMED, ERROR = 1, 4


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A disputed run, its capsule as it is and sealed, and keys."""
    folder = tmp_path_factory.mktemp("job")
    with replaced(digits, "capture_step", captured_once("digits, sealed", {})):
        assert main(["order", "digits-cnn", "--out", str(folder / "job.cfoil"), *SMALL]) == 0
        for name in ("trainer.pem", "auditor.pem"):
            assert main(["keygen", str(folder / name), "--no-passphrase"]) == 0
        for name in ("judge.key", "second.key", "other.key"):
            assert main(["keygen", "--sealing", str(folder / name), "--no-passphrase"]) == 0
        trainer = load_private_key(folder / "trainer.pem", None)
        for _ in record(folder / "job.cfoil", folder / "run.cfoil", trainer, tamper=LabelFlip(step=2)):
            pass
        yield folder


def audit(job: Path, *more: str) -> int:
    return main(["audit", str(job / "run.cfoil"), "--order", str(job / "job.cfoil"), *more])


@pytest.fixture(scope="module")
def capsule(job: Path) -> Path:
    signed = ["--verdict", str(job / "v.json"), "--key", str(job / "auditor.pem")]
    assert audit(job, "--capsule", str(job / "c.cfoil"), *signed) == CONFIRMED
    return job / "c.cfoil"


@pytest.fixture(scope="module")
def sealed(job: Path) -> Path:
    seal_for = [each for name in ("judge.pub", "second.pub") for each in ("--seal-for", str(job / name))]
    assert audit(job, "--capsule", str(job / "c.cfoil.age"), *seal_for) == CONFIRMED
    return job / "c.cfoil.age"


def judged(capfd: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Adjudicate, and return what was found without what differs from one time to the next."""
    capfd.readouterr()
    assert main(["adjudicate", *arguments, "--json"]) == CONFIRMED
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    del found["seconds"]
    return found


def test_a_sealed_capsule_is_adjudicated_as_the_same_that_is_not(
    job: Path, capsule: Path, sealed: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plain = judged(capfd, str(capsule), "--order", str(job / "job.cfoil"))
    for name in ("judge.key", "second.key"):
        assert judged(capfd, str(sealed), "--order", str(job / "job.cfoil"), "--identity", str(job / name)) == plain
    assert plain["capsule_name"] == "c.cfoil"


def test_nobody_else_adjudicates_it(job: Path, sealed: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["adjudicate", str(sealed), "--identity", str(job / "other.key")]) == ERROR
    assert "was not sealed for the key in other.key" in capfd.readouterr().err
    assert main(["adjudicate", str(sealed)]) == ERROR
    said = capfd.readouterr().err
    assert "is sealed for judges" in said
    assert "--identity judge.key" in said
    data = bytearray(sealed.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "bad.age").write_bytes(data)
    assert main(["adjudicate", str(tmp_path / "bad.age"), "--identity", str(job / "judge.key")]) == ERROR
    assert "is damaged: it is not what was sealed" in capfd.readouterr().err


def test_it_is_said_what_a_capsule_hands_out_and_of_a_sealed_one_nothing(
    job: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    assert audit(job, "--capsule", str(tmp_path / "c.cfoil")) == CONFIRMED
    said = capfd.readouterr().out
    assert "NOTE  Whoever gets the capsule can read in it 1,792 of 1,797 rows of images" in said.replace("\n", " ")
    assert "--seal-for" in said
    assert audit(job, "--capsule", str(tmp_path / "c.age"), "--seal-for", str(job / "judge.pub")) == CONFIRMED
    said = capfd.readouterr().out
    assert "sealed for one judge" in said
    assert "Whoever gets" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.age", "c.cfoil"]


def test_a_capsule_that_is_not_sealed_is_said_to_be_none(
    job: Path, capsule: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["adjudicate", str(capsule), "--identity", str(job / "judge.key")]) == CONFIRMED
    assert "is not sealed: whoever has it can read it" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["judge.key", "auditor.pub.pem", "none.pub"])
def test_a_wrong_key_is_said_before_anything_is_replayed(
    name: str, job: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert audit(job, "--capsule", str(tmp_path / "c.age"), "--seal-for", str(job / name)) == ERROR
    assert "Replay" not in capfd.readouterr().out
    assert not any(tmp_path.iterdir())


def test_there_must_be_a_capsule_to_seal(job: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert audit(job, "--seal-for", str(job / "judge.pub")) == ERROR
    assert "belongs to --capsule" in capfd.readouterr().err.replace("\n", " ")


@pytest.mark.slow
def test_the_passphrase_of_a_sealing_key_comes_from_the_environment(
    job: Path, capsule: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTERFOIL_PASSPHRASE", "old shoes")
    assert main(["keygen", "--sealing", str(tmp_path / "own.key")]) == 0
    assert b"AGE-SECRET-KEY" not in (tmp_path / "own.key").read_bytes()
    assert audit(job, "--capsule", str(tmp_path / "c.age"), "--seal-for", str(tmp_path / "own.pub")) == CONFIRMED
    own = ["adjudicate", str(tmp_path / "c.age"), "--identity", str(tmp_path / "own.key")]
    monkeypatch.setenv("COUNTERFOIL_PASSPHRASE", "old shoes")
    assert main(own) == CONFIRMED
    monkeypatch.setenv("COUNTERFOIL_PASSPHRASE", "new shoes")
    assert main(own) == ERROR
    # A script's passphrase is that of --key, where both are given.
    monkeypatch.setenv("COUNTERFOIL_PASSPHRASE", "old shoes")
    assert main(["keygen", str(tmp_path / "signs.pem")]) == 0
    monkeypatch.setenv("COUNTERFOIL_PASSPHRASE", "old shoes")
    signs = ["--verdict", str(tmp_path / "a.json"), "--key", str(tmp_path / "signs.pem")]
    other = ["adjudicate", str(job / "c.cfoil.age"), "--identity", str(job / "judge.key")]
    assert main([*other, *signs]) == CONFIRMED
    assert (tmp_path / "a.json").is_file()


def hand_over(job: Path, out: Path, *more: str) -> int:
    at = ["--key", str(job / "auditor.pub.pem"), "--out", str(out)]
    return main(["hand-over", str(job / "v.json"), *at, *more])


def test_a_folder_is_handed_over_with_the_capsule_sealed(
    job: Path, capsule: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert hand_over(job, out, "--capsule", str(capsule), "--seal-for", str(job / "judge.pub")) == 0
    assert is_sealed(out / SEALED)
    assert not (out / CAPSULE).exists()
    assert "Whoever gets" not in capfd.readouterr().out
    shown = commands((out / README).read_text())
    (mine,) = (line for line in shown if line.startswith("counterfoil adjudicate"))
    (theirs,) = (line for line in shown if line.startswith("age "))
    shutil.copy(job / "judge.key", out / "judge.key")
    where = os.getcwd()
    try:
        os.chdir(out)
        assert main(mine.split()[1:]) == CONFIRMED
    finally:
        os.chdir(where)
    if shutil.which("age") is not None:
        subprocess.run(theirs, shell=True, cwd=out, check=True)
        assert (out / CAPSULE).read_bytes() == capsule.read_bytes()


def test_handed_over_as_it_is_it_is_said_what_it_hands_out(
    job: Path, capsule: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert hand_over(job, tmp_path / "out", "--capsule", str(capsule)) == 0
    assert "Whoever gets the capsule can read in it" in capfd.readouterr().out


def test_one_that_was_sealed_before_goes_in_unread(
    job: Path, capsule: Path, sealed: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert hand_over(job, tmp_path / "out", "--capsule", str(sealed)) == 0
    assert "was not checked" in capfd.readouterr().out
    assert (tmp_path / "out" / SEALED).read_bytes() == sealed.read_bytes()
    twice = ["--capsule", str(sealed), "--seal-for", str(job / "judge.pub")]
    assert hand_over(job, tmp_path / "twice", *twice) == ERROR
    assert not (tmp_path / "twice").exists()
