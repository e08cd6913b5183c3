"""Whoever takes over the process that reads a stranger's file finds neither private key nor passphrase there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from counterfoil.base.descendants import children
from counterfoil.cli import main
from counterfoil.signing.privatekeys import generate_key
from counterfoil.talk.programs import DESCRIPTOR_VARIABLE, PASSPHRASE_VARIABLE
from counterfoil_core.signing.keys import load_public_key
from counterfoil_core.statement.verdict import verify_verdict
from counterfoil_core.values.outcome import Outcome
from support.memory import holds

pytestmark = [
    pytest.mark.own_process,
    pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of processes as Linux shows it"),
]

# Put together here, so that the text is in no source that a process could have read.
PASSPHRASE = "-".join(["a", "rare", "and", "long", "passphrase", str(7**9)])


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "auditor.pem"
    generate_key(path, PASSPHRASE)
    return path


@pytest.fixture(scope="module")
def seed(key: Path) -> bytes:
    loaded = load_pem_private_key(key.read_bytes(), PASSPHRASE.encode())
    assert isinstance(loaded, Ed25519PrivateKey)
    return loaded.private_bytes_raw()


@contextmanager
def stopped(process: subprocess.Popen[str]) -> Iterator[None]:
    os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process.pid, signal.SIGCONT)


def audit(run: Path, key: Path, verdict: Path, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "counterfoil.cli", "audit", str(run), "--verdict", str(verdict), "--key", str(key)]
    command += ["--threads", "1"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})


def first_step(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("Replay: step"):
            return
    raise AssertionError("the replay made no step")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    order, run = str(folder / "job.cfoil"), str(folder / "run.cfoil")
    assert main(["order", "digits-cnn", "--out", order, "--steps", "30", "--width", "8", "--no-trial"]) == 0
    assert main(["keygen", str(folder / "trainer.pem"), "--no-passphrase"]) == 0
    assert main(["train", order, "--out", run, "--key", str(folder / "trainer.pem"), "--threads", "1"]) == 0
    return Path(run)


def test_while_a_run_is_replayed(run: Path, key: Path, seed: bytes, tmp_path: Path) -> None:
    verdict = tmp_path / "verdict.json"
    process = audit(run, key, verdict, **{PASSPHRASE_VARIABLE: PASSPHRASE})
    first_step(process)
    with stopped(process):
        assert holds(process.pid, run.name.encode()), "the control: the process holds what it was told"
        assert not holds(process.pid, seed)
        assert not holds(process.pid, PASSPHRASE.encode())
        environment = Path(f"/proc/{process.pid}/environ").read_bytes()
        assert PASSPHRASE.encode() not in environment
        (signer,) = children(process.pid)
        if os.getuid() == 0:
            assert holds(signer, seed), "the control: the signer holds the key"
        else:
            with pytest.raises(PermissionError):
                holds(signer, seed)
    process.communicate(timeout=300)
    assert process.returncode == 0
    public = load_public_key(key.with_name("auditor.pub.pem"))
    assert verify_verdict(verdict.read_bytes(), public).outcome is Outcome.VERIFIED
    assert not Path(f"/proc/{signer}").exists()


def test_control_a_key_in_the_same_process_is_found(key: Path, seed: bytes) -> None:
    code = (
        "import sys; from counterfoil.signing.privatekeys import load_private_key\n"
        "key = load_private_key(sys.argv[1], sys.stdin.readline()[:-1])\n"
        "print('loaded', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(key)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(PASSPHRASE + "\n")
    process.stdin.flush()
    assert process.stdout.readline() == "loaded\n"
    with stopped(process):
        assert holds(process.pid, seed)
    process.communicate(timeout=60)


def test_a_wrong_passphrase_is_found_before_the_file_is_opened(key: Path, tmp_path: Path) -> None:
    """There is no such file, which nobody has found out when the command ends."""
    started = time.monotonic()
    process = audit(tmp_path / "none.cfoil", key, tmp_path / "v.json", **{PASSPHRASE_VARIABLE: "wrong"})
    out, _ = process.communicate(timeout=120)
    assert process.returncode == Outcome.ERROR.exit_code, "with the right one it is REFUSED: there is no such file"
    assert time.monotonic() - started < 60
    assert "none.cfoil" not in out


@pytest.mark.slow
def test_a_killed_signer_costs_nothing(run: Path, key: Path, tmp_path: Path) -> None:
    verdict = tmp_path / "verdict.json"
    process = audit(run, key, verdict, **{PASSPHRASE_VARIABLE: PASSPHRASE})
    first_step(process)
    (signer,) = children(process.pid)
    os.kill(signer, signal.SIGKILL)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == Outcome.ERROR.exit_code
    assert "VERIFIED" in out, "what was found is shown all the same"
    assert not verdict.exists()
    kept = tmp_path / "verdict.json.unsigned"
    reading, writing = os.pipe()
    os.write(writing, PASSPHRASE.encode())
    os.close(writing)
    command = [sys.executable, "-m", "counterfoil.cli", "sign", str(kept), "--key", str(key), "--out", str(verdict)]
    environment = {**os.environ, DESCRIPTOR_VARIABLE: str(reading)}
    subprocess.run(command, env=environment, pass_fds=(reading,), check=True, stdout=subprocess.DEVNULL)
    public = load_public_key(key.with_name("auditor.pub.pem"))
    assert verify_verdict(verdict.read_bytes(), public).outcome is Outcome.VERIFIED
