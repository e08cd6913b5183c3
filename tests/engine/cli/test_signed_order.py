"""An order on its way: signed by its client, accepted by its trainer, known by the client's key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from counterfoil.base.joberrors import RecordingError
from counterfoil.cli import main
from counterfoil.signing.privatekeys import load_private_key
from counterfoil.training.calibration import calibrate
from counterfoil.training.order import sign_order_file
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.claims import SignedOrder
from counterfoil_core.signing.statements import open_said
from support.interrupted import go_on, stop_after
from support.jobs import digits_order


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """Keys of a client, another one and a trainer, and an unsigned order."""
    for name in ("client", "other", "trainer"):
        assert main(["keygen", str(tmp_path / f"{name}.pem"), "--no-passphrase"]) == 0
    draft = digits_order(steps=4, width=2, batch_size=4, checkpoint_every=2)
    draft.write(tmp_path / "job.cfoil", trial=False)
    return tmp_path


def signer_of(path: Path) -> str | None:
    with BundleReader.open(path) as reader:
        signature = reader.order_signature()
        return None if signature is None else open_said(SignedOrder, signature, order=reader.manifest.digest).key_id


def key_id(desk: Path, name: str) -> str:
    return load_private_key(desk / f"{name}.pem", None).public.key_id


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def test_an_order_is_signed_when_it_is_written(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ("--steps", "1", "--width", "2", "--batch-size", "4", "--checkpoint-every", "1", "--no-trial")
    code, said = run(
        capsys, "order", "digits-cnn", "--out", desk / "new.cfoil", "--key", desk / "client.pem", *small
    )  # fmt: skip
    assert (code, "Signed as its client with the key" in said) == (0, True)
    assert signer_of(desk / "new.cfoil") == key_id(desk, "client")
    code, said = run(capsys, "order", "digits-cnn", "--out", desk / "plain.cfoil", *small)
    assert (code, "The order is unsigned" in said) == (0, True)
    assert signer_of(desk / "plain.cfoil") is None
    with BundleReader.open(desk / "new.cfoil") as signed, BundleReader.open(desk / "plain.cfoil") as plain:
        assert signed.manifest.digest == plain.manifest.digest


def test_from_order_to_verdict(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job, out = desk / "job.cfoil", desk / "run.cfoil"
    assert run(capsys, "sign-order", job, "--key", desk / "client.pem")[0] == 0
    code, said = run(capsys, "train", job, "--out", out, "--key", desk / "trainer.pem")
    assert (code, f"signed with the client's key {key_id(desk, 'client')}" in said) == (0, True)
    assert signer_of(out) == key_id(desk, "client")
    code, said = run(capsys, "inspect", out, "--client-key", desk / "client.pub.pem", "--json")
    summary = json.loads(said)
    assert (code, summary["order_source"]) == (0, "signature")
    assert summary["order"]["client_key"] == summary["given_client_key"] == key_id(desk, "client")
    assert summary["run"]["accepted_at"]
    code, said = run(capsys, "audit", out, "--client-key", desk / "client.pub.pem")
    assert (code, "client's key" in said) == (0, True)
    code, said = run(capsys, "audit", out, "--client-key", desk / "other.pub.pem")
    assert (code, "not with the client's key" in said) == (3, True)
    capsys.readouterr()


def test_a_signature_is_put_on_once(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job, signed = desk / "job.cfoil", desk / "signed.cfoil"
    before = job.read_bytes()
    assert run(capsys, "sign-order", job, "--key", desk / "client.pem", "--out", signed)[0] == 0
    assert job.read_bytes() == before
    code, said = run(capsys, "sign-order", signed, "--key", desk / "other.pem")
    assert (code, "signed already" in said, signer_of(signed)) == (4, True, key_id(desk, "client"))
    assert run(capsys, "sign-order", signed, "--key", desk / "other.pem", "--force")[0] == 0
    assert signer_of(signed) == key_id(desk, "other")


def test_a_changed_order_is_unsigned(desk: Path) -> None:
    """The signature is about one order, and is not carried over to one that is made of it."""
    job, made = desk / "job.cfoil", desk / "calibrated.cfoil"
    sign_order_file(job, job, load_private_key(desk / "client.pem", None))
    for _ in calibrate(job, made, steps=1):
        pass
    assert (signer_of(job), signer_of(made)) == (key_id(desk, "client"), None)


def test_a_recording_goes_on_with_the_order_it_was_begun_with(desk: Path) -> None:
    job, out, key = desk / "job.cfoil", desk / "run.cfoil", load_private_key(desk / "trainer.pem", None)
    sign_order_file(job, desk / "signed.cfoil", load_private_key(desk / "client.pem", None))
    accepted = (stop_after(2, desk / "signed.cfoil", out, key) / "acceptance.json").read_bytes()
    with pytest.raises(RecordingError, match="begun with an order that another client had signed, or nobody"):
        go_on(job, out, key)
    go_on(desk / "signed.cfoil", out, key)
    with BundleReader.open(out) as reader:
        assert reader.acceptance() == accepted
