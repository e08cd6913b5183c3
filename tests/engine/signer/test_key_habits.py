"""Standard input as the descriptor of a passphrase, and a private key that others can read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from counterfoil.cli import main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="descriptors and modes are of POSIX systems")


def run(folder: Path, *arguments: str, given: bytes, descriptor: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "COUNTERFOIL_PASSPHRASE_FD": descriptor, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-m", "counterfoil.cli", *arguments], input=given, cwd=folder, env=environment,
        capture_output=True, check=False,
    )  # fmt: skip


def test_a_passphrase_by_standard_input(tmp_path: Path) -> None:
    made = run(tmp_path, "keygen", "key.pem", given=b"secret", descriptor="0")
    assert made.returncode == 0, made.stderr
    assert b"ENCRYPTED" in (tmp_path / "key.pem").read_bytes()
    (tmp_path / "nothing.json").touch()
    reply = ("reply", "nothing.json", "--key", "key.pem", "--text", "no", "--out", "o.json")
    right = run(tmp_path, *reply, given=b"secret", descriptor="0")
    assert b"passphrase" not in right.stderr, right.stderr
    wrong = run(tmp_path, *reply, given=b"another", descriptor="0")
    assert b"passphrase of key.pem is wrong" in wrong.stderr


@pytest.mark.sampled(3)
@pytest.mark.parametrize("descriptor", ["1", "2", "-1", "77", "x", str(2**70)])
def test_what_is_no_descriptor_to_read_is_a_sentence(tmp_path: Path, descriptor: str) -> None:
    made = run(tmp_path, "keygen", "key.pem", given=b"secret", descriptor=descriptor)
    assert made.returncode == 4
    assert b"names no open file descriptor" in made.stderr
    assert b"bug" not in made.stderr


@pytest.mark.sampled(1)
@pytest.mark.parametrize("descriptor", ["0", "1", "2", "77"])
def test_a_command_without_a_key_says_what_it_says(tmp_path: Path, descriptor: str) -> None:
    """Standard input is closed there; what is opened next must not get its number, nor output be lost."""
    shown = run(tmp_path, "inspect", "nothing.cfoil", given=b"", descriptor=descriptor)
    assert b"There is no file nothing.cfoil" in shown.stdout + shown.stderr


def test_a_key_that_others_can_read_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = tmp_path / "key.pem"
    assert main(["keygen", str(key), "--no-passphrase"]) == 0
    (tmp_path / "nothing.json").touch()
    reply = ["reply", str(tmp_path / "nothing.json"), "--key", str(key), "--text", "no", "--out", str(tmp_path / "o")]
    main(reply)
    assert "WARNING" not in capsys.readouterr().err
    for mode in (0o640, 0o604):
        key.chmod(mode)
        main(reply)
        assert "Other users of this machine can read the private key" in " ".join(capsys.readouterr().err.split())
