"""Parties on the command line: an order names them, and the trainer signs with their keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterfoil.cli import main


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keys of a trainer and of a party, and an order of four shares, for two of which the party answers."""
    folder = tmp_path_factory.mktemp("desk")
    for name in ("trainer", "party"):
        assert main(["keygen", str(folder / f"{name}.pem"), "--no-passphrase"]) == 0
    signers = [f"--signers={share}={folder / 'party.pub.pem'}" for share in (1, 3)]
    assert main([*ordering(folder / "job.cfoil"), "--shares", "4", *signers, "--no-trial"]) == 0
    return folder


def ordering(out: Path) -> list[str]:
    own = ["--rows", "64", "--features", "5", "--steps", "2", "--batch-size", "16", "--precision", "exact-20"]
    return ["order", "logistic", "--out", str(out), *own]


def said(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    return " ".join((captured.out + captured.err).split())


def test_a_run_with_parties_is_recorded_and_audited(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job, run = str(desk / "job.cfoil"), str(desk / "run.cfoil")
    keys = [f"--share-key={share}={desk / 'party.pem'}" for share in (1, 3)]
    assert main(["train", job, "--out", run, "--key", str(desk / "trainer.pem"), *keys]) == 0
    assert main(["audit", run, "--order", job]) == 0
    assert "The parties signed the 4 shares that they answer for." in said(capsys)


def test_without_the_key_of_a_party_no_training_begins(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job, run = str(desk / "job.cfoil"), desk / "other.cfoil"
    key = f"--share-key=1={desk / 'party.pem'}"
    assert main(["train", job, "--out", str(run), "--key", str(desk / "trainer.pem"), key]) != 0
    shown = said(capsys)
    assert "answers for share 3, and its key was not given" in shown
    assert "--share-key 3=FILE" in shown
    assert not run.exists()
    assert not (desk / ".other.cfoil.recording").exists()


@pytest.mark.parametrize(
    ("signers", "sentence"),
    [
        (["party.pub.pem"], "--signers takes the number of a share"),
        (["x=party.pub.pem"], "--signers takes the number of a share"),
        (["1="], "--signers takes the number of a share"),
        (["1=party.pub.pem", "01=party.pub.pem"], "--signers is given twice for share 1"),
        (["4=party.pub.pem"], "--signers names share 4; the shares are 0 to 3"),
        (["1=party.pem"], "holds a private key; a public one is needed"),
    ],
)
def test_parties_that_cannot_be_named_are_a_sentence(
    desk: Path, signers: list[str], sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(desk)
    options = [f"--signers={signer}" for signer in signers]
    assert main([*ordering(desk / "wrong.cfoil"), "--shares", "4", *options]) != 0
    assert sentence in said(capsys)
    assert not (desk / "wrong.cfoil").exists()


def test_nothing_is_written_over_the_key_of_a_party(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    party = desk / "party.pem"
    before = party.read_bytes()
    arguments = ["--out", str(party), "--key", str(desk / "trainer.pem"), f"--share-key=1={party}", "--force"]
    assert main(["train", str(desk / "job.cfoil"), *arguments]) != 0
    assert "--out would be written over what --share-key names" in said(capsys)
    assert party.read_bytes() == before
