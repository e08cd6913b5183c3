"""Where a hash, weights or a row stand: found by what a stranger computes with hashlib, and not with a bit flipped."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from counterfoil.audit.values.located import Place, StepWeights
from counterfoil.base.digest import Digest
from counterfoil.base.errors import GivenFileError, RefusedError, SignatureError
from counterfoil.base.generators import finish
from counterfoil.bundle.reader import BundleReader
from counterfoil.cli import main
from counterfoil.delivery import locating
from counterfoil.delivery.locating import locate_rows
from counterfoil.delivery.rowuse import fields_of, open_row_use, sign_row_use
from counterfoil.signing.keys import SigningKey, key_from_seed
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.order import OrderDraft
from support.jobs import Job, record_job

KEY, OTHER = key_from_seed(b"\1" * 32), key_from_seed(b"\2" * 32)
SLOT = ":"


@pytest.fixture(scope="module")
def reader(digits_job: Job) -> BundleReader:
    return BundleReader.open(digits_job.run)


def locate_hash(run: Path, wanted: Digest) -> tuple[Place, ...]:
    return finish(locating.locate_hash(run, wanted))


def locate_weights(weights: Path, run: Path) -> tuple[StepWeights, ...]:
    return finish(locating.locate_weights(weights, run))


# Hashes


def test_roots_digests_and_chunks_are_found_where_they_stand(digits_job: Job, reader: BundleReader) -> None:
    run = digits_job.run
    step = reader.checkpoint_steps()[-1]
    name, array = max(reader.checkpoint(step).items(), key=lambda each: each[1].nbytes)
    # RFC 9162, section 2.1.1: the leaf hash is SHA-256 over a zero byte and the data.
    chunk = hashlib.sha256(b"\0" + array.tobytes()[: 16 * 1024]).digest()
    assert Place("chunk", step, f"{name}/0") in locate_hash(run, Digest(chunk))
    assert Place("state", step) in locate_hash(run, reader.committed_root(step))
    assert locate_hash(run, reader.manifest.digest) == (Place("order"),)
    data = reader.manifest.data["images"].digest
    assert Place("data", None, "images") in locate_hash(run, data)
    flipped = Digest(bytes([chunk[0] ^ 1]) + chunk[1:])
    assert locate_hash(run, flipped) == ()


def test_a_digested_step_that_is_not_stored_is_found_by_its_root(digits_job: Job, reader: BundleReader) -> None:
    stored = reader.checkpoint_steps()
    (step, *_) = [step for step in range(1, reader.extent.steps) if step not in stored]
    assert locate_hash(digits_job.run, reader.step_records()[step].state_root or Digest.of(b"")) == (
        Place("state", step),
    )


def test_how_far_it_is_goes_up_to_the_last_tensor(digits_job: Job, reader: BundleReader) -> None:
    said = list(locating.locate_hash(digits_job.run, Digest.of(b"nowhere")))
    states = len(reader.checkpoint_steps()) + reader.holds_initial
    assert {each.total for each in said} == {states * len(reader.state_layout())}
    assert [each.done for each in said] == sorted({each.done for each in said})
    assert said[0].done == 0
    assert said[-1].done < said[-1].total


def test_a_run_that_was_altered_is_not_looked_through(digits_job: Job, reader: BundleReader, tmp_path: Path) -> None:
    data = bytearray(digits_job.run.read_bytes())
    record = np.ascontiguousarray(reader.losses()).tobytes()
    data[bytes(data).index(record)] ^= 1
    (tmp_path / "run.cfoil").write_bytes(data)
    with pytest.raises(RefusedError):
        locate_hash(tmp_path / "run.cfoil", reader.manifest.digest)
    with pytest.raises(GivenFileError):
        locate_hash(digits_job.order, reader.manifest.digest)


# Weights


def test_weights_are_found_at_the_step_that_they_come_from(
    digits_job: Job, reader: BundleReader, tmp_path: Path
) -> None:
    steps = reader.checkpoint_steps()
    step = steps[len(steps) // 2]
    weights = {name: array for name, array in reader.checkpoint(step).items() if SLOT not in name}
    path = tmp_path / "model.safetensors"
    save_file(weights, path)
    held = [found.step for found in locate_weights(path, digits_job.run) if found.holds]
    assert held == [step]
    half = {name: array.astype(np.float16) if array.dtype == np.float32 else array for name, array in weights.items()}
    save_file(half, path)
    assert step in [found.step for found in locate_weights(path, digits_job.run) if found.holds]
    name = next(name for name, array in weights.items() if array.dtype == np.float32 and array.size)
    other = weights[name].copy()
    other.view(np.uint32).flat[0] ^= 1
    save_file({**weights, name: other}, path)
    found = locate_weights(path, digits_job.run)
    assert not any(each.holds for each in found)
    assert max(found, key=lambda each: each.same).step == step
    assert max(each.same for each in found) == len(weights) - 1


def test_a_part_of_the_weights_is_not_the_state(digits_job: Job, reader: BundleReader, tmp_path: Path) -> None:
    name, array = next((n, a) for n, a in reader.checkpoint(reader.extent.steps).items() if SLOT not in n)
    save_file({name: array}, tmp_path / "model.safetensors")
    found = locate_weights(tmp_path / "model.safetensors", digits_job.run)
    assert any(each.same == 1 for each in found)
    assert not any(each.holds for each in found)


# Rows


def test_a_row_is_found_with_every_step_that_reads_it(digits_job: Job, reader: BundleReader, tmp_path: Path) -> None:
    images, schedule = reader.data("images"), reader.schedule()
    row = int(schedule[1, 2])
    absent = images[row].copy()
    absent.flat[0] ^= 1
    assert not (images == absent).all(axis=(1, 2)).any()
    np.save(tmp_path / "rows.npy", np.stack([images[row], absent]))
    here, gone = locate_rows(tmp_path / "rows.npy", digits_job.run)
    same = {number for number, each in enumerate(images) if (each == images[row]).all()}
    assert set(here.places) == same
    reads = [step + 1 for step, rows in enumerate(schedule) for each in rows if int(each) in same]
    assert list(here.steps) == reads
    assert here.row.hex == hashlib.sha256(images[row].tobytes()).hexdigest()
    assert (gone.places, gone.steps) == ((), ())


@pytest.mark.parametrize("wrong", [np.zeros((8, 8), np.float32), np.zeros((9, 8), np.uint8), np.zeros((), np.uint8)])
def test_a_row_of_another_form_is_said_to_be_one(digits_job: Job, tmp_path: Path, wrong: np.ndarray) -> None:  # type: ignore[type-arg]
    np.save(tmp_path / "row.npy", wrong)
    with pytest.raises(GivenFileError, match="has rows of dtype"):
        locate_rows(tmp_path / "row.npy", digits_job.run)


def npy(shape: tuple[int, ...], dtype: str, data: bytes = b"") -> bytes:
    """A file with a header that says what is not there, or what no row is made of."""
    header = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"\x93NUMPY",
        b"PK\x03\x04",
        b"\x80\x04N.",
        npy((8, 8), "|O"),
        npy((2**40,), "|u1"),
        npy((64,), "|u1", b"\0"),
    ],
)
def test_what_is_no_file_of_rows_is_refused(digits_job: Job, tmp_path: Path, junk: bytes) -> None:
    (tmp_path / "row.npy").write_bytes(junk)
    with pytest.raises(GivenFileError, match=r"no \.npy file"):
        locate_rows(tmp_path / "row.npy", digits_job.run)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_absence_is_signed_without_a_row_and_openssl_checks_it(
    digits_job: Job, reader: BundleReader, tmp_path: Path
) -> None:
    absent = reader.data("images")[0].copy()
    absent.flat[0] ^= 1
    np.save(tmp_path / "row.npy", absent)
    uses = locate_rows(tmp_path / "row.npy", digits_job.run)
    envelope = sign_row_use(uses, KEY)
    assert open_row_use(envelope, KEY.public).uses == [fields_of(use) for use in uses]
    with pytest.raises(SignatureError):
        open_row_use(envelope, OTHER.public)
    payload = base64.b64decode(json.loads(envelope)["payload"])
    told = json.loads(payload)["predicate"]["rows"][0]
    assert (told["places"], told["steps"]) == ([], [])
    assert told["row"] == hashlib.sha256(absent.tobytes()).hexdigest()
    assert absent.tobytes() not in payload
    (tmp_path / "said.json").write_bytes(envelope)
    (tmp_path / "key.pem").write_text(KEY.public.pem)
    lines = """
        sed -n 's/.*"payload":"\\([^"]*\\)".*/\\1/p' said.json | openssl base64 -d -A > payload.json
        sed -n 's/.*"sig":"\\([^"]*\\)".*/\\1/p' said.json | openssl base64 -d -A > signature.bin
        printf 'DSSEv1 28 application/vnd.in-toto+json %d ' "$(wc -c < payload.json)" > signed.bin
        cat payload.json >> signed.bin
        openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in signed.bin -sigfile signature.bin
    """
    done = subprocess.run(["sh", "-c", lines], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "Signature Verified Successfully" in done.stdout


# The command


def test_the_command_says_where_or_nowhere(
    digits_job: Job, reader: BundleReader, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(digits_job.run)
    root = reader.committed_root(reader.extent.steps).hex
    assert main(["locate", root, run]) == 0
    assert f"state after step {reader.extent.steps}" in capsys.readouterr().out
    assert main(["locate", "0" * 64, run]) == 1
    assert "not found" in capsys.readouterr().out
    np.save(tmp_path / "row.npy", reader.data("images")[:1])
    assert main(["locate", str(tmp_path / "row.npy"), run, "--row", "--json"]) == 0
    (use,) = json.loads(capsys.readouterr().out)[run]
    assert 0 in use["places"]
    assert main(["keygen", str(tmp_path / "k.pem"), "--no-passphrase"]) == 0
    out = tmp_path / "said.json"
    signed = ["locate", str(tmp_path / "row.npy"), run, "--row", "--key", str(tmp_path / "k.pem"), "--out", str(out)]
    assert main(signed) == 0
    assert out.is_file()
    assert main(["locate", root, run, "--out", str(tmp_path / "x.json")]) == 4
    assert main(["locate", str(tmp_path / "gone.safetensors"), run]) != 0


def test_where_a_shorter_batch_is_filled_with_row_0_no_row_is_looked_for(
    tmp_path: Path, trainer_key: SigningKey
) -> None:
    rows = TensorDataset(torch.arange(28.0).reshape(7, 4), torch.arange(7) % 3)
    model = nn.Linear(4, 3)

    def loss_of(model: nn.Module, batch: Any) -> Tensor:
        return functional.cross_entropy(model(batch[0]), batch[1])

    def order(size: int) -> OrderDraft:
        rule = torch.optim.SGD(model.parameters(), 0.1)
        return order_custom(CustomJob("Rows", model, loss_of, rule, DataLoader(rows, size), 6))

    np.save(tmp_path / "row.npy", np.arange(28, dtype=np.float32).reshape(7, 4)[:1])
    for size in (3, 7):
        (tmp_path / str(size)).mkdir()
        run = record_job(tmp_path / str(size), order(size), trainer_key).run
        if size == 3:  # 3, 3 and 1
            with pytest.raises(GivenFileError, match="cuts batches"):
                locate_rows(tmp_path / "row.npy", run)
        else:
            (use,) = locate_rows(tmp_path / "row.npy", run)
            assert use.steps == (1, 2, 3, 4, 5, 6), "control: where every batch is whole it is found"
