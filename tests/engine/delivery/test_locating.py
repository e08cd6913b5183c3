"""Where a hash, weights or a row stand: found by what a stranger computes with hashlib, and not with a bit flipped."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from msgspec import structs
from safetensors.numpy import save_file
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from counterfoil.audit.values.location import Place, StepWeights
from counterfoil.cli import main
from counterfoil.delivery import location
from counterfoil.delivery.location import RowUse, locate_rows
from counterfoil.delivery.rowproof import prove_rows, read_proofs, verify_row, write_proofs
from counterfoil.delivery.rowuse import rows_statement, uses_of
from counterfoil.program.rowreads import positions_read
from counterfoil.signing.kinds import RowsStatement
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import GivenFileError, ProofError, RefusedError, SignatureError
from counterfoil_core.base.generators import finish
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.sources import Source, SourceFile
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.graph import Input, Program
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.statements import open_said, sign_said
from support.jobs import Job, digits_order, record_job

KEY, OTHER = key_from_seed(b"\1" * 32), key_from_seed(b"\2" * 32)
SLOT = ":"


@pytest.fixture(scope="module")
def reader(digits_job: Job) -> BundleReader:
    return BundleReader.open(digits_job.run)


def locate_hash(run: Path, wanted: Digest) -> tuple[Place, ...]:
    return finish(location.locate_hash(run, wanted))


def locate_weights(weights: Path, run: Path) -> tuple[StepWeights, ...]:
    return finish(location.locate_weights(weights, run))


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
    said = list(location.locate_hash(digits_job.run, Digest.of(b"nowhere")))
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
    envelope = sign_said(rows_statement(uses), KEY)
    assert uses_of(open_said(RowsStatement, envelope, KEY.public)) == uses
    with pytest.raises(SignatureError):
        open_said(RowsStatement, envelope, OTHER.public)
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


def recorded(
    folder: Path, key: SigningKey, size: int, *, shape: tuple[int, int] = (7, 4), outside: bool = False, **settings: Any
) -> Path:
    """A run on rows of ascending numbers, in batches of a size, the last of which may be shorter."""
    folder.mkdir()
    rows, width = shape
    data = TensorDataset(torch.arange(float(rows * width)).reshape(shape) / 1024, torch.arange(rows) % 3)
    model = nn.Linear(width, 3)

    def loss_of(model: nn.Module, batch: Any) -> Tensor:
        return functional.cross_entropy(model(batch[0]), batch[1])

    rule = torch.optim.SGD(model.parameters(), 0.1)
    draft = order_custom(CustomJob("Rows", model, loss_of, rule, DataLoader(data, size), 6, **settings))
    if not outside:
        return record_job(folder, draft, key).run
    draft.write(folder / "order.cfoil", external_data=folder / "rows.cfdata")
    order, run, outer = (str(folder / name) for name in ("order.cfoil", "run.cfoil", "rows.cfdata"))
    assert main(["keygen", str(folder / "k.pem"), "--no-passphrase"]) == 0
    assert main(["train", order, "--key", str(folder / "k.pem"), "--out", run, "--data", outer]) == 0
    return folder / "run.cfoil"


def npy_row(folder: Path, number: int, width: int = 4) -> Path:
    """One of those rows, as numpy.save writes it."""
    np.save(folder / f"{number}.npy", np.arange(number * width, (number + 1) * width, dtype=np.float32) / 1024)
    return folder / f"{number}.npy"


def test_what_fills_a_shorter_batch_is_told_apart_from_what_is_read(tmp_path: Path, trainer_key: SigningKey) -> None:
    short = recorded(tmp_path / "short", trainer_key, 3)  # 3, 3 and 1
    (first,) = locate_rows(npy_row(tmp_path, 0), short)
    assert (first.steps, first.filled) == ((1, 4), (3, 3, 6, 6)), "row 0 is read once an epoch, and fills two places"
    (last,) = locate_rows(npy_row(tmp_path, 6), short)
    assert (last.steps, last.filled) == ((3, 6), ())
    whole = recorded(tmp_path / "whole", trainer_key, 7)
    (first,) = locate_rows(npy_row(tmp_path, 0), whole)
    assert (first.steps, first.filled) == ((1, 2, 3, 4, 5, 6), ()), "control: where every batch is whole nothing fills"


def test_in_a_step_of_several_batches_filling_is_told_apart_too(tmp_path: Path, trainer_key: SigningKey) -> None:
    run = recorded(tmp_path / "two", trainer_key, 3, accumulate=2, last="keep")
    schedule = BundleReader.open(run).schedule()
    assert schedule.shape[1] == 6
    (first,) = locate_rows(npy_row(tmp_path, 0), run)
    # Two batches a step, 3 and 3 rows, then the epoch's last one alone, of 1 row.
    assert first.steps == (1, 3, 5)
    assert len(first.steps) + len(first.filled) == int((schedule == 0).sum())
    assert set(first.filled) == {2, 4, 6}


@pytest.mark.parametrize(
    ("operators", "read"),
    [
        ([("aten.slice.Tensor", (0, 0, 2), (2, 2)), ("aten.mul.Tensor", (2.0,), (2, 2))], [1, 1, 0, 0]),
        ([("aten.slice.Tensor", (0, 1, 9), (3, 2)), ("aten.slice.Tensor", (0, 1, 2), (1, 2)),
          ("aten.mul.Tensor", (2.0,), (1, 2))], [0, 0, 1, 0]),
        ([("aten.slice.Tensor", (1, 0, 1), (4, 1)), ("aten.mul.Tensor", (2.0,), (4, 1))], [1, 1, 1, 1]),
        ([("aten.select.int", (-2, 3), (2,))], [0, 0, 0, 1]),
        ([("aten.mul.Tensor", (2.0,), (4, 2))], [1, 1, 1, 1]),
        ([("aten.index_select.default", (0, Value(1)), (2, 2))], None),
        ([("aten.narrow.default", (-2, 0, 2), (2, 2))], None),
    ],
)  # fmt: skip
def test_which_rows_a_program_reads(operators: list[Any], read: list[int] | None) -> None:
    kind = TensorType("float32", (4, 2))
    inputs = (Input("rows", "batch", kind), Input("w", "state", TensorType("int64", (2,))))
    nodes = []
    for number, (name, more, shape) in enumerate(operators):
        before = 0 if not number else number + 1
        nodes.append(Node(name, (Value(before), *more), (), (TensorType("float32", shape),), number + 2, "", "forward"))
    found = positions_read(Program(inputs, tuple(nodes), {}, Value(len(nodes) + 1)))
    assert (None if found is None else found["rows"].tolist()) == (None if read is None else list(map(bool, read)))


def test_a_program_may_slice_what_it_sliced_any_number_of_times() -> None:
    count, kind = 20_000, TensorType("float32", (4, 2))
    nodes = [
        Node("aten.slice.Tensor", (Value(number), 0, 0, 4), (), (kind,), number + 1, "", "forward")
        for number in range(count)
    ]
    found = positions_read(Program((Input("rows", "batch", kind),), tuple(nodes), {}, Value(count)))
    assert found is not None
    assert found["rows"].all()


def test_rows_in_a_data_file_are_found_with_the_file_and_not_with_another(
    tmp_path: Path, trainer_key: SigningKey, capsys: pytest.CaptureFixture[str]
) -> None:
    run = recorded(tmp_path / "outside", trainer_key, 7, outside=True)
    row, data = npy_row(tmp_path, 5), tmp_path / "outside" / "rows.cfdata"
    (use,) = locate_rows(row, run, data=data)
    (control,) = locate_rows(row, recorded(tmp_path / "inside", trainer_key, 7))
    assert (use.places, use.steps) == (control.places, control.steps) == ((5,), (1, 2, 3, 4, 5, 6))
    with pytest.raises(GivenFileError, match="none was given"):
        locate_rows(row, run)
    changed = bytearray(data.read_bytes())
    changed[bytes(changed).index(np.load(row).tobytes())] ^= 1
    (tmp_path / "other.cfdata").write_bytes(changed)
    with pytest.raises(GivenFileError, match="differs from what the order commits to"):
        locate_rows(row, run, data=tmp_path / "other.cfdata")
    (proof,) = prove_rows([use], run, neighbours=True, data=data)
    verify_row(proof, np.load(row).tobytes(), use.data_root)
    assert main(["locate", str(row), str(run), "--row", "--data", str(data)]) == 0
    assert "read 6 times" in capsys.readouterr().out


def test_the_hash_of_a_file_that_the_order_names_is_found_and_no_other(tmp_path: Path, trainer_key: SigningKey) -> None:
    name, digest = "model.safetensors", Digest.of(b"weights")
    (tmp_path / "job").mkdir()
    draft = digits_order()
    named = replace(draft.manifest, sources={"model": Source({name: SourceFile(7, digest)})})
    run = record_job(tmp_path / "job", replace(draft, manifest=named), trainer_key).run
    assert locate_hash(run, digest) == (Place("source file", None, f"model/{name}"),)
    assert locate_hash(run, Digest.of(b"other weights")) == ()


# Proofs, by what docs/locate.md says and hashlib


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def climb(leaf: bytes, index: int, size: int, path: list[str]) -> bytes:
    """RFC 9162, section 2.1.3.2."""
    at, last, found = index, size - 1, leaf
    for sibling in map(bytes.fromhex, path):
        if at % 2 or at == last:
            found = sha(b"\1", sibling, found)
            while at % 2 == 0 and at:
                at, last = at // 2, last // 2
        else:
            found = sha(b"\1", found, sibling)
        at, last = at // 2, last // 2
    return found


def proven_root(proof: dict[str, Any], row: bytes) -> bytes:
    """The root to which a proof leads."""
    whole = base64.b64decode(proof["before"]) + row + base64.b64decode(proof["after"])
    total = len(row) * proof["shape"][0]
    first = proof["place"] * len(row) // 16384
    for number, path in enumerate(proof["paths"]):
        leaf = sha(b"\0", whole[number * 16384 : (number + 1) * 16384])
        assert climb(leaf, first + number, -(-total // 16384), path).hex() == proof["chunks"]
    described = {"chunks": proof["chunks"], "dtype": proof["dtype"], "name": proof["array"], "shape": proof["shape"]}
    digest = sha(b"\0", json.dumps(described, separators=(",", ":"), sort_keys=True).encode())
    assert digest.hex() == proof["digest"]
    return climb(digest, proof["index"], proof["arrays"], proof["array_path"])


def test_a_proof_leads_to_the_root_by_hashlib_alone_and_not_with_another_row(
    tmp_path: Path, trainer_key: SigningKey
) -> None:
    run = recorded(tmp_path / "run", trainer_key, 100, shape=(400, 40))
    root = BundleReader.open(run).manifest.data_root
    for place, chunks in ((3, 1), (102, 2), (250, 1), (399, 1)):  # of 160 bytes each; the last chunk is shorter
        path = npy_row(tmp_path, place, 40)
        row = np.load(path).tobytes()
        uses = locate_rows(path, run)
        with pytest.raises(GivenFileError, match="bytes of other rows"):
            prove_rows(uses, run)
        proofs = prove_rows(uses, run, neighbours=True)
        written = write_proofs(proofs)
        assert read_proofs(written) == proofs
        (proof,) = proofs
        assert (proof.place, len(proof.paths)) == (place, chunks)
        assert row not in proof.before + proof.after
        assert proven_root(json.loads(written)["proofs"][0], row) == root.value
        verify_row(proof, row, root)
        flipped = bytes([row[0] ^ 1]) + row[1:]
        with pytest.raises(ProofError, match="another row"):
            verify_row(proof, flipped, root)
        for wrong in (
            replace(proof, place=place ^ 1),
            replace(proof, before=proof.before[:-1] + b"?"),
            replace(proof, after=b"\0" + proof.after),
            replace(proof, paths=proof.paths[:-1]),
            replace(proof, paths=tuple(each[1:] for each in proof.paths)),
            replace(proof, array="other"),
            replace(proof, index=proof.index ^ 1),
        ):
            with pytest.raises(ProofError):
                verify_row(wrong, row, root)
        with pytest.raises(ProofError):
            verify_row(replace(proof, row=Digest.of(flipped)), flipped, root)
        with pytest.raises(ProofError):
            verify_row(proof, row, Digest.of(b"another order's data"))


def test_of_a_row_of_whole_chunks_the_proof_shows_no_other(tmp_path: Path, trainer_key: SigningKey) -> None:
    run = recorded(tmp_path / "run", trainer_key, 5, shape=(5, 8192))  # two chunks each
    path = npy_row(tmp_path, 2, 8192)
    uses = locate_rows(path, run)
    (proof,) = prove_rows(uses, run)
    assert (proof.before, proof.after, len(proof.paths)) == (b"", b"", 2)
    verify_row(proof, np.load(path).tobytes(), uses[0].data_root)
    assert (
        proven_root(json.loads(write_proofs([proof]))["proofs"][0], np.load(path).tobytes()) == uses[0].data_root.value
    )
    with pytest.raises(ProofError):
        verify_row(replace(proof, place=1), np.load(path).tobytes(), uses[0].data_root)


@pytest.mark.parametrize(
    "change",
    [
        {"shape": []}, {"shape": [0, 8, 8]}, {"shape": [2**48, 8, 8]}, {"place": -1}, {"place": 10**9},
        {"dtype": "object"},
        {"paths": [7]}, {"paths": [["x"]]}, {"before": "?"}, {"after": "A" * 40_000}, {"more": 1}, {"arrays": 0},
    ],
)  # fmt: skip
def test_a_proof_of_a_stranger_is_read_strictly(
    digits_job: Job, reader: BundleReader, tmp_path: Path, change: dict[str, Any]
) -> None:
    np.save(tmp_path / "row.npy", reader.data("images")[3])
    uses = locate_rows(tmp_path / "row.npy", digits_job.run)
    said = json.loads(write_proofs(prove_rows(uses, digits_job.run, neighbours=True)))
    said["proofs"][0] |= change
    with pytest.raises(ProofError):
        read_proofs(canonical.encode(said))


# Whether a statement is so


def test_a_statement_that_says_otherwise_than_the_run_is_not_so(
    digits_job: Job, reader: BundleReader, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, row = str(digits_job.run), tmp_path / "row.npy"
    np.save(row, reader.data("images")[int(reader.schedule()[1, 2])])
    (use,) = locate_rows(row, digits_job.run)
    assert use.steps
    (tmp_path / "key.pem").write_text(KEY.public.pem)
    (tmp_path / "other.pem").write_text(OTHER.public.pem)

    def said(uses: list[RowUse], *more: str, key: str = "key.pem") -> int:
        (tmp_path / "said.json").write_bytes(sign_said(rows_statement(uses), KEY))
        capsys.readouterr()
        return main(["verify", str(tmp_path / "said.json"), *more, "--key", str(tmp_path / key)])

    (tmp_path / "proof.json").write_bytes(write_proofs(prove_rows([use], digits_job.run, neighbours=True)))
    proof = ["--row", str(row), "--proof", str(tmp_path / "proof.json")]
    assert said([use], run, *proof) == 0
    out = capsys.readouterr().out
    assert "The run shows the same." in out
    assert "place(s) is proven" in out
    assert said([use], key="other.pem") == 3
    for lie in (
        replace(use, steps=use.steps[1:]),
        replace(use, steps=(), places=()),
        replace(use, filled=(1,)),
        replace(use, data_root=Digest.of(b"")),
    ):
        assert said([lie]) == 0, "control: the signature holds, and without the run no more is known"
        assert "the word of whoever signed" in capsys.readouterr().out
        assert said([lie], run) == 3
        assert "NOT SO" in capsys.readouterr().out
    assert said([replace(use, steps=()), use], run) == 3, "a row that is named twice is not so once"
    for other_run in ({"run_root": Digest.of(b"")}, {"order": Digest.of(b"")}, {"trainer_key": "ab" * 32}):
        assert said([replace(use, about=structs.replace(use.about, **other_run))], run) == 3
        assert "another run" in capsys.readouterr().out
    assert said([replace(use, data_root=Digest.of(b""))], *proof) == 3, "the proof leads to another root"
    assert said([replace(use, places=(*use.places, 9))], *proof) == 3, "a place that is not proven"
    other = reader.data("images")[0].copy()
    other.flat[0] ^= 1
    np.save(row, other)
    assert said([use], "--row", str(row)) == 3
    assert "NOT SO" in capsys.readouterr().out


def test_the_command_writes_a_proof_that_holds_no_more_than_is_allowed(
    digits_job: Job, reader: BundleReader, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, row, proof = str(digits_job.run), tmp_path / "row.npy", tmp_path / "proof.json"
    held = reader.data("images")[3]
    np.save(row, held)
    ask = ["locate", str(row), run, "--row", "--proof", str(proof)]
    assert main(ask) == 4
    assert not proof.exists()
    assert main([*ask, "--neighbours"]) == 0
    assert base64.b64encode(held.tobytes()).strip(b"=") not in proof.read_bytes()
    proof.unlink()
    held = held.copy()
    held.flat[0] ^= 1
    np.save(row, held)
    assert main([*ask, "--neighbours"]) == 1
    assert "of an absence there is none" in capsys.readouterr().out
    assert not proof.exists()
    assert main(["locate", "0" * 64, run]) == 1
    assert "give the file itself" in capsys.readouterr().out
