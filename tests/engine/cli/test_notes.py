"""Notes about an order's data by the commands: who signs, of which data, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterfoil.cli import main
from counterfoil.signing.privatekeys import load_private_key
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.claims import SignedOrder
from counterfoil_core.signing.statements import sign_said
from support.bundles import opened_for_change
from support.jobs import Job, digits_order

WORDS = "Sampled by the policy of round 3.\n[bold]REFUSED[/] Rewards: exact match."


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """Keys of a sampler and of somebody else, and a file of weights."""
    for name in ("sampler", "other"):
        assert main(["keygen", str(tmp_path / f"{name}.pem"), "--no-passphrase"]) == 0
    (tmp_path / "w.safetensors").write_bytes(b"weights")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def test_a_note_holds_for_every_bundle_of_the_same_data(
    digits_job: Job, desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note, key, weights = desk / "note.json", desk / "sampler.pem", desk / "w.safetensors"
    with BundleReader.open(digits_job.order) as reader:
        root = reader.manifest.data_root.hex
    code, said = run(
        capsys, "note", digits_job.order, "--says", WORDS, "--weights", weights, "--key", key, "--out", note
    )
    assert (code, f"Data root {root}" in said) == (0, True), said
    # Another order of the same data, and a run.
    digits_order(seed=3).write(desk / "other.cfoil", trial=False)
    for bundle in (digits_job.order, digits_job.run, desk / "other.cfoil"):
        code, said = run(capsys, "verify", note, bundle, "--key", desk / "sampler.pub.pem", "--weights", weights)
        assert code == 0, said
        assert "and names these weights. Whether it is true it does not prove." in said
    quoted = [line for line in said.splitlines() if line.startswith("  | ")]
    assert quoted == [f"  | {line}" for line in WORDS.splitlines()]


def test_what_a_note_does_not_hold_for(
    digits_job: Job, gpt2_job: Job, desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sampler = load_private_key(desk / "sampler.pem", None)
    (desk / "order.json").write_bytes(sign_said(SignedOrder(Digest.of(b"order")), sampler))
    note, key = desk / "note.json", desk / "sampler.pub.pem"
    assert run(capsys, "note", digits_job.order, "--says", "x", "--key", desk / "sampler.pem", "--out", note)[0] == 0
    assert run(capsys, "verify", note, digits_job.order, "--key", key)[0] == 0

    def refused(*arguments: object) -> str:
        code, said = run(capsys, "verify", *arguments)
        assert code == 3, said
        return said

    assert "does not hold" in refused(note, digits_job.order, "--key", desk / "other.pub.pem")
    assert "names no weights" in refused(note, digits_job.order, "--key", key, "--weights", desk / "w.safetensors")
    assert "about other data" in refused(note, gpt2_job.order, "--key", key)
    assert "is another one" in refused(desk / "order.json", digits_job.order, "--key", key)
    assert run(capsys, "note", digits_job.order, "--says", "x", "--key", desk / "sampler.pem", "--out", note)[0] == 4
    assert run(capsys, "verify", note, desk / "no.cfoil", "--key", key)[0] == 4


def test_data_that_are_not_the_orders_are_not_signed(
    digits_job: Job, desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = desk / "changed.cfoil"
    changed.write_bytes(digits_job.order.read_bytes())
    with opened_for_change(changed) as file:
        file["/order/data/images"][0] = 0
    code, said = run(capsys, "note", changed, "--says", "x", "--key", desk / "sampler.pem", "--out", desk / "note.json")
    assert (code, (desk / "note.json").exists()) == (3, False), said


def test_data_that_lie_in_a_file_of_their_own(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    order, data, note = desk / "big.cfoil", desk / "big.cfdata", desk / "note.json"
    digits_order().write(order, external_data=data, trial=False)
    command = ("note", order, "--says", "x", "--key", desk / "sampler.pem", "--out", note)
    code, said = run(capsys, *command)
    assert (code, "--data" in said) == (4, True), said
    assert run(capsys, *command, "--data", data)[0] == 0
    assert run(capsys, "verify", note, order, "--key", desk / "sampler.pub.pem")[0] == 0
    changed = bytearray(data.read_bytes())
    changed[-1] ^= 1
    data.write_bytes(changed)
    assert run(capsys, *command, "--data", data, "--force")[0] == 4
