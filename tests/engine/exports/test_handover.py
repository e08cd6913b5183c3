"""What is handed over: a stranger checks each file by the commands of the README, and one flipped byte shows."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from counterfoil.base.joberrors import TargetExistsError
from counterfoil.cli import main
from counterfoil.exports.handover import (
    AUDITOR,
    CAPSULE,
    HTML,
    PDF,
    README,
    SUMS,
    VERDICT,
    HandOver,
    commands,
    readme,
    write_hand_over,
)
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil.training.recipes import digits
from counterfoil.training.recorder import record
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.base.errors import DataError, SignatureError
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.statement.verdict import check_capsule_file, sign_verdict, verify_verdict
from support.jobs import captured_once, replaced
from support.reports import disputed_report, verified_report

SMALL = ("--steps", "3", "--width", "4", "--batch-size", "8", "--checkpoint-every", "1")
without_openssl = shutil.which("openssl") is None


@pytest.fixture(scope="module")
def handed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A disputed run's verdict and capsule, made by commands, and handed over by one."""
    folder = tmp_path_factory.mktemp("job")
    at = {name: str(folder / name) for name in ("job.cfoil", "run.cfoil", "v.json", "c.cfoil", "out")}
    with replaced(digits, "capture_step", captured_once("digits, by command", {})):
        assert main(["order", "digits-cnn", "--out", at["job.cfoil"], *SMALL]) == 0
        for name in ("trainer.pem", "auditor.pem", "other.pem"):
            assert main(["keygen", str(folder / name), "--no-passphrase"]) == 0
        trainer = load_private_key(folder / "trainer.pem", None)
        for _ in record(folder / "job.cfoil", folder / "run.cfoil", trainer, tamper=LabelFlip(step=2)):
            pass
        signed = ["--verdict", at["v.json"], "--key", str(folder / "auditor.pem"), "--capsule", at["c.cfoil"]]
        assert main(["audit", at["run.cfoil"], *signed]) == 1
        (folder / "found.pdf").write_bytes(b"%PDF-1.4 report")
        digest = subprocess.run(["sha256sum", at["v.json"]], capture_output=True, text=True, check=True).stdout[:64]
        (folder / "found.html").write_text(f"<p>{digest}</p>")
        give = ["hand-over", at["v.json"], "--key", str(folder / "auditor.pub.pem"), "--out", at["out"]]
        reports = [each for name in ("found.pdf", "found.html") for each in ("--report", str(folder / name))]
        assert main([*give, "--capsule", at["c.cfoil"], *reports]) == 0
        yield folder


@pytest.fixture
def copy(handed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(handed / "out", tmp_path / "out"))


def flip(path: Path) -> None:
    """Change one bit in the middle of a file; of a statement or a key, in what is signed."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def openssl_lines(folder: Path) -> str:
    shown = commands((folder / README).read_text())
    return "set -e\n" + "\n".join(line for line in shown if not line.startswith("counterfoil ")) + "\n"


def shell(folder: Path, lines: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", lines], cwd=folder, capture_output=True, text=True, check=False)


def by_counterfoil(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The exit codes of the README's commands for Counterfoil."""
    monkeypatch.chdir(folder)
    shown = commands((folder / README).read_text())
    return [main(shlex.split(line)[1:]) for line in shown if line.startswith("counterfoil ")]


def test_the_folder_has_what_belongs_together(handed: Path) -> None:
    assert sorted(os.listdir(handed / "out")) == sorted([README, SUMS, AUDITOR, CAPSULE, HTML, PDF, VERDICT])
    assert (handed / "out" / VERDICT).read_bytes() == (handed / "v.json").read_bytes()
    assert (handed / "out" / CAPSULE).read_bytes() == (handed / "c.cfoil").read_bytes()
    assert (handed / "out" / AUDITOR).read_bytes() == (handed / "auditor.pub.pem").read_bytes()
    text = (handed / "out" / README).read_text()
    for needed in ("DISPUTED", "run.cfoil", "openssl", "counterfoil adjudicate", *os.listdir(handed / "out")):
        assert needed in text, needed


@pytest.mark.skipif(without_openssl, reason="openssl is not installed")
def test_a_stranger_checks_it_with_openssl_alone(copy: Path) -> None:
    done = shell(copy, openssl_lines(copy))
    assert done.returncode == 0, done.stderr
    assert "Signature Verified Successfully" in done.stdout
    (key_line,) = [line for line in done.stdout.splitlines() if line.endswith("*stdin")]
    assert " ".join(key_line[at : at + 4] for at in range(0, 64, 4)) in (copy / README).read_text()


@pytest.mark.skipif(without_openssl, reason="openssl is not installed")
@pytest.mark.parametrize("name", [README, AUDITOR, CAPSULE, HTML, PDF, VERDICT])
def test_one_flipped_byte_of_any_file_is_refused_by_openssl(copy: Path, name: str) -> None:
    lines = openssl_lines(copy)
    flip(copy / name)
    assert shell(copy, lines).returncode != 0


@pytest.mark.skipif(without_openssl, reason="openssl is not installed")
@pytest.mark.parametrize("name", [AUDITOR, VERDICT, HTML])
def test_new_digests_hide_no_flipped_byte_of_what_is_signed(copy: Path, name: str) -> None:
    lines = openssl_lines(copy)
    flip(copy / name)
    again = shell(copy, f"openssl dgst -sha256 -r $(cut -c 67- {SUMS}) > new; mv new {SUMS}")
    assert again.returncode == 0, again.stderr
    assert shell(copy, lines).returncode != 0


def test_a_stranger_checks_it_with_counterfoil(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert by_counterfoil(copy, monkeypatch) == [1, 1], "DISPUTED, and CONFIRMED"


@pytest.mark.parametrize(("name", "command"), [(VERDICT, 0), (AUDITOR, 0), (CAPSULE, 1)])
def test_one_flipped_byte_is_refused_by_counterfoil(
    copy: Path, name: str, command: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    flip(copy / name)
    found = by_counterfoil(copy, monkeypatch)
    assert found[command] in (3, 4)
    assert found[1 - command] == 1, "the control: the other file is as it was"


def test_a_zip_holds_the_same_folder(handed: Path, tmp_path: Path) -> None:
    out = tmp_path / "given.zip"
    give = ["hand-over", str(handed / "v.json"), "--key", str(handed / "auditor.pub.pem"), "--out", str(out)]
    assert main([*give, "--capsule", str(handed / "c.cfoil")]) == 0
    with zipfile.ZipFile(out) as packed:
        assert packed.testzip() is None
        assert packed.read(f"given/{VERDICT}") == (handed / "v.json").read_bytes()
        assert len(packed.namelist()) == 5


def test_what_does_not_belong_together_is_refused(
    handed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict, out = str(handed / "v.json"), str(tmp_path / "out")
    right = ["--key", str(handed / "auditor.pub.pem")]
    assert main(["hand-over", verdict, "--key", str(handed / "other.pub.pem"), "--out", out]) == 3
    assert main(["hand-over", verdict, *right, "--out", out, "--capsule", str(handed / "run.cfoil")]) == 3
    assert main(["hand-over", verdict, *right, "--out", out, "--report", str(handed / "v.json")]) == 4
    assert "is no report" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main(["hand-over", verdict, *right, "--out", str(handed / "out")]) == 4, "there is one already"


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    path = tmp_path_factory.mktemp("keys") / "auditor.pem"
    generate_key(path, None)
    return load_private_key(path, None)


def test_the_capsule_of_another_run_is_refused(handed: Path, key: SigningKey) -> None:
    said = verify_verdict(sign_verdict(disputed_report(), key), key.public)
    with pytest.raises(SignatureError, match="is about something else"):
        check_capsule_file(said, handed / "c.cfoil")


def test_another_key_and_the_trainers_own_are_refused(key: SigningKey, tmp_path: Path) -> None:
    envelope = sign_verdict(verified_report(), key)
    said = verify_verdict(envelope, key.public)
    with pytest.raises(SignatureError, match="not the one that signed"):
        write_hand_over(tmp_path / "a", HandOver(said, envelope, "00" * 32))
    own = sign_verdict(replace(verified_report(), trainer_key=key.public.key_id, given_key=key.public.key_id), key)
    with pytest.raises(SignatureError, match="is no audit"):
        write_hand_over(tmp_path / "a", HandOver(verify_verdict(own, key.public), own, key.public.public))
    with pytest.raises(DataError, match="is called"):
        write_hand_over(tmp_path / "a", HandOver(said, envelope, key.public.public, None, {"run.exe": b""}))
    assert not (tmp_path / "a").exists()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_bytes(b"")
    with pytest.raises(TargetExistsError):
        write_hand_over(tmp_path / "full", HandOver(said, envelope, key.public.public))


def test_the_readme_says_only_what_is_there(key: SigningKey) -> None:
    envelope = sign_verdict(verified_report(), key)
    text = readme(HandOver(verify_verdict(envelope, key.public), envelope, key.public.public))
    assert "VERIFIED" in text
    for absent in (CAPSULE, HTML, PDF, "adjudicate"):
        assert absent not in text
    hostile = sign_verdict(replace(verified_report(), title="job\n    rm -rf /", bundle_name="a b;$(x).cfoil"), key)
    text = readme(HandOver(verify_verdict(hostile, key.public), hostile, key.public.public))
    assert not [line for line in commands(text) if "rm -rf" in line], "a stranger's words are no command"
    assert "openssl dgst -sha256 'a b;$(x).cfoil'" in text


def test_the_readme_can_be_said_in_another_language(key: SigningKey) -> None:
    envelope = sign_verdict(verified_report(), key)
    given = HandOver(verify_verdict(envelope, key.public), envelope, key.public.public)
    assert commands(readme(given, str.upper)) == commands(readme(given)), "commands are no words"
