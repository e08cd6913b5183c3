"""What the reader refuses: files that are no bundle, and bundles whose parts do not fit together."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import BundleError, CancelledError, CommitmentError, GivenFileError
from counterfoil_core.base.generators import finish
from counterfoil_core.bundle.reader import BundleReader
from support.bundles import (
    change,
    flip_bit,
    make_contents,
    opened_for_change,
    replace_manifest,
    write_bundle,
)
from support.jobs import Job


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_bundle(tmp_path / "run.cfoil", make_contents(steps=7, commit_every=2, checkpoint_every=4))


def refuse(path: Path, match: str) -> None:
    with pytest.raises(BundleError, match=match):
        BundleReader.open(path)


def not_given(path: Path, match: str) -> None:
    """Expect that whoever named it is told, without a word on what a bundle should be."""
    with pytest.raises(GivenFileError, match=match) as caught:
        BundleReader.open(path)
    assert caught.value.role == "file"


def test_control_the_untouched_bundle_opens(path: Path) -> None:
    with BundleReader.open(path) as reader:
        reader.check_order_contents()


# Files.


def test_no_file(tmp_path: Path) -> None:
    not_given(tmp_path / "none.cfoil", "There is no file")


def test_a_folder(tmp_path: Path) -> None:
    not_given(tmp_path, "is a folder")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    not_given(tmp_path / "pipe", "is a pipe")


def test_a_name_that_no_file_can_have() -> None:
    not_given(Path("a\0b"), "cannot be read")


@pytest.mark.parametrize("data", [b"", b"x", b"\x89HDF", b"PK\3\4" + bytes(100), b"\x89HDF\r\n\x1a\n"])
def test_other_files(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.cfoil").write_bytes(data)
    with pytest.raises(BundleError):
        BundleReader.open(tmp_path / "a.cfoil")


def test_another_format_version(path: Path) -> None:
    with opened_for_change(path) as file:
        file.attrs.modify("format", np.array(b"counterfoil-2", "S32"))
    refuse(path, "has format 2; this Counterfoil reads format 3")


@pytest.mark.parametrize("value", [b"", b"other", b"counterfoil", b"Counterfoil-1"])
def test_another_mark(path: Path, value: bytes) -> None:
    with opened_for_change(path) as file:
        file.attrs.modify("format", np.array(value, "S32"))
    refuse(path, "not a Counterfoil bundle")


# Parts.


@pytest.mark.parametrize(
    "name",
    [
        "order/manifest",
        "order/program",
        "order/schedule",
        "order/scalars",
        "order/data/x",
        "order/data",
        "run/claim",
        "run/state_roots",
        "run/losses",
        "run/log",
        "run/log_ends",
        "run/log_entries",
        "run/fingerprints",
        "run/checkpoints",
        "run/checkpoints/0000000004",
        "run/checkpoints/0000000007/fc.bias",
    ],
)
def test_a_missing_part(path: Path, name: str) -> None:
    with opened_for_change(path) as file:
        del file[name]
    refuse(path, "lacks|stores [01] checkpoints|initial state in the file is empty")


def test_without_its_initial_state_a_run_leaves_it_to_the_order_and_an_order_is_none(
    path: Path, digits_job: Job
) -> None:
    with opened_for_change(path) as file:
        del file["order/initial"]
    with BundleReader.open(path) as reader, pytest.raises(BundleError, match="they lie in its order"):
        reader.initial_state()
    order = path.with_name("order.cfoil")
    order.write_bytes(digits_job.order.read_bytes())
    with opened_for_change(order) as file:
        del file["order/initial"]
    refuse(order, "initial state in the file is empty")


@pytest.mark.parametrize(
    "name", ["extra", "order/extra", "order/data/z", "run/more", "run/checkpoints/0000000007/more"]
)
def test_an_unknown_dataset(path: Path, name: str) -> None:
    with opened_for_change(path) as file:
        file.create_dataset(name, data=np.zeros(3, np.uint8))
    refuse(path, f"holds /{name}")


@pytest.mark.parametrize("name", ["extra", "order/data/z", "order/initial/z", "run/checkpoints/0000000007/z"])
def test_an_unknown_group(path: Path, name: str) -> None:
    with opened_for_change(path) as file:
        file.create_group(name)
    with pytest.raises(BundleError):
        BundleReader.open(path)


def test_a_checkpoint_that_nobody_ordered(path: Path) -> None:
    with opened_for_change(path) as file:
        file.move("run/checkpoints/0000000004", "run/checkpoints/0000000005")
    refuse(path, "/run/checkpoints/0000000005")


@pytest.mark.parametrize(
    ("name", "dtype", "shape"),
    [
        ("order/program", "int64", (3,)),
        ("order/program", "uint8", (3, 1)),
        ("order/schedule", "int32", (7, 4)),
        ("order/schedule", "int64", (7, 5)),
        ("order/scalars", "float32", (7, 2)),
        ("order/data/y", "int64", (21,)),
        ("run/state_roots", "uint8", (5, 31)),
        ("run/state_roots", "uint8", (4, 32)),
        ("run/losses", "float32", (7,)),
        ("run/losses", "float64", (7, 1)),
        ("run/log_ends", "int64", (7,)),
        ("run/log_entries", "uint64", (7,)),
        ("run/fingerprints", "uint64", (6, 6)),
        ("run/fingerprints", "uint64", (42,)),
        ("run/checkpoints/0000000004/fc.bias", "float32", (41,)),
        ("run/checkpoints/0000000004/fc.bias", "int32", (40,)),
        ("run/checkpoints/0000000004/bn.num_batches_tracked", "int64", (1,)),
    ],
)
def test_a_part_of_another_dtype_or_shape(path: Path, name: str, dtype: str, shape: tuple[int, ...]) -> None:
    with opened_for_change(path) as file:
        del file[name]
        file.create_dataset(name, data=np.zeros(shape, dtype))
    refuse(path, f"/{name} has the dtype")


@pytest.mark.parametrize("dtype", ["float64", "uint64", "uint32"])
def test_a_state_of_a_dtype_that_no_state_has(path: Path, dtype: str) -> None:
    with opened_for_change(path) as file:
        del file["order/initial/fc.bias"]
        file.create_dataset("order/initial/fc.bias", data=np.zeros(40, dtype))
    refuse(path, "which no state has")


@pytest.mark.parametrize("dtype", ["float16", "int16", "<c8", ">f4", "S5", "(2,)f4", [("a", "f4")]])
def test_a_dtype_that_the_format_does_not_have(path: Path, dtype: object) -> None:
    with opened_for_change(path) as file:
        del file["order/initial/fc.bias"]
        file.create_dataset("order/initial/fc.bias", (40,), dtype)
    refuse(path, "data type that a bundle does not know")


def test_a_truth_value_of_two(tmp_path: Path) -> None:
    path = write_bundle(tmp_path / "a.cfoil", make_contents())
    with opened_for_change(path) as file:
        dataset = file["order/initial/mask"].id
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.full((3, 5), 2, np.uint8), dataset.get_type())
    with BundleReader.open(path) as reader, pytest.raises(BundleError, match="neither 0 nor 1"):
        reader.initial_state()


@pytest.mark.parametrize("ends", ["falling", "short", "long", "huge"])
def test_log_ends_that_do_not_cut_the_log(path: Path, ends: str) -> None:
    def edit(array: np.ndarray) -> np.ndarray:
        if ends == "falling":
            array[2] = array[3] + 1
        elif ends == "short":
            array[-1] -= 1
        elif ends == "long":
            array[-1] += 1
        else:
            array[-1] = 2**64 - 1
        return array

    change(path, "run/log_ends", edit)
    refuse(path, "does not cut")


def test_a_manifest_that_does_not_parse(path: Path) -> None:
    flip_bit(path, "order/manifest", 1, 0)
    refuse(path, "manifest")


def test_an_order_of_millions_of_checkpoints_is_refused_at_once(tmp_path: Path) -> None:
    """The manifest alone must not decide how much work opening is."""
    contents = make_contents(steps=5)
    path = write_bundle(tmp_path / "a.cfoil", contents)
    manifest = contents.manifest
    bigger = dataclasses.replace(
        manifest,
        steps=10_000_000,
        checkpoint_every=1,
        schedule=dataclasses.replace(manifest.schedule, shape=(10_000_000, 4)),
        scalars=dataclasses.replace(manifest.scalars, shape=(10_000_000, 2)),
    )
    with opened_for_change(path) as file:
        del file["order/manifest"]
        file.create_dataset("order/manifest", data=np.frombuffer(bigger.to_bytes(), np.uint8))
    refuse(path, "has 5 of 10000000 ordered steps, and its order does not let it stop early")


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [(8, "has 8 steps, and its order 7"), (0, "has 0 steps, and its order 7"), (6, "has 6 of 7 ordered steps")],
)
def test_a_run_of_another_length_than_ordered(path: Path, steps: int, sentence: str) -> None:
    with opened_for_change(path) as file:
        del file["run/losses"]
        file.create_dataset("run/losses", data=np.zeros(steps))
    refuse(path, sentence)


# Requests that the bundle cannot answer.


def test_steps_that_are_not_there(path: Path) -> None:
    with BundleReader.open(path) as reader:
        for step in (-1, 0, 8):
            with pytest.raises(BundleError):
                reader.log(step)
            with pytest.raises(BundleError):
                reader.fingerprints(step)
        for step in (-4, 0, 2, 8, 10**20):
            with pytest.raises(BundleError):
                reader.checkpoint(step)
        for step in (-1, 1, 3, 8):
            with pytest.raises(BundleError):
                reader.committed_root(step)
        with pytest.raises(BundleError):
            reader.data("../initial/fc.bias")


def test_a_closed_reader_says_so(path: Path) -> None:
    reader = BundleReader.open(path)
    reader.close()
    reader.close()
    with pytest.raises(BundleError):
        reader.program()
    with pytest.raises(BundleError):
        finish(reader.file.settle())


# Contents against commitments.


@pytest.mark.parametrize(
    ("dataset", "match"),
    [
        ("order/program", "program"),
        ("order/schedule", "schedule"),
        ("order/scalars", "per-step scalars"),
        ("order/data/x", "data array 'x'"),
        ("order/data/y", "data array 'y'"),
        ("order/initial/fc.weight", "initial state"),
        ("order/initial/bn.num_batches_tracked", "initial state"),
    ],
)
def test_one_flipped_bit_of_the_order_is_named(path: Path, dataset: str, match: str) -> None:
    flip_bit(path, dataset)
    with BundleReader.open(path) as reader, pytest.raises(CommitmentError, match=match):
        reader.check_order_contents()


@pytest.mark.parametrize("block", [1, 7, 64, 100, 2**20])
def test_data_are_hashed_in_pieces_of_any_size(path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr("counterfoil_core.bundle.strictfile.BLOCK_BYTES", block)
    with BundleReader.open(path) as reader:
        reader.check_order_contents()
    flip_bit(path, "order/data/x")
    with BundleReader.open(path) as reader, pytest.raises(CommitmentError, match="data array 'x'"):
        reader.check_order_contents()


class CancelledAfter(CancelToken):
    """Is cancelled after some looks."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def check(self) -> None:
        self.looks -= 1
        if self.looks < 0:
            self.cancel()
        super().check()


def test_hashing_data_is_left_between_pieces(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterfoil_core.bundle.strictfile.BLOCK_BYTES", 1)
    counting = CancelledAfter(10**6)
    with BundleReader.open(path) as reader:
        reader.check_order_contents(counting)
        looks = 10**6 - counting.looks
        rows = sum(spec.shape[0] for spec in reader.manifest.data.values())
        assert looks > rows, "a look before each row, and before each tensor"
        for last in (0, rows - 1, looks - 1):
            with pytest.raises(CancelledError):
                reader.check_order_contents(CancelledAfter(last))


def test_a_data_root_of_other_data(tmp_path: Path) -> None:
    contents = replace_manifest(make_contents(run=False), data_root=make_contents().manifest.initial_root)
    with (
        BundleReader.open(write_bundle(tmp_path / "a.cfoil", contents)) as reader,
        pytest.raises(CommitmentError, match="data root"),
    ):
        reader.check_order_contents()


@pytest.mark.parametrize("row", [-1, 20])
def test_a_schedule_of_rows_that_the_data_do_not_have(tmp_path: Path, row: int) -> None:
    contents = make_contents(run=False, row=row)
    with (
        BundleReader.open(write_bundle(tmp_path / "a.cfoil", contents)) as reader,
        pytest.raises(BundleError, match="has 20 rows"),
    ):
        reader.check_order_contents()


@pytest.mark.parametrize("tensor", ["fc.weight", "bn.num_batches_tracked", "bytes"])
def test_one_flipped_bit_of_a_checkpoint_is_found(path: Path, tensor: str) -> None:
    flip_bit(path, f"run/checkpoints/0000000004/{tensor}")
    with BundleReader.open(path) as reader:
        with pytest.raises(CommitmentError, match="step 4"):
            reader.checkpoint(4)
        reader.checkpoint(7)


@pytest.mark.parametrize(
    ("dataset", "element", "step"),
    [
        ("run/log", 0, 1),
        ("run/losses", 4, 5),
        ("run/fingerprints", 6 * 2 + 3, 3),
        ("run/state_roots", 32 * 2 + 5, 4),
        ("run/state_roots", 32 * 4, 7),
        ("run/state_roots", 0, 0),
    ],
)
def test_one_flipped_bit_of_the_run_changes_its_step_alone(path: Path, dataset: str, element: int, step: int) -> None:
    with BundleReader.open(path) as reader:
        before = reader.step_records()
    flip_bit(path, dataset, element)
    with BundleReader.open(path) as reader:
        after = reader.step_records()
    assert [record.step for record, other in zip(before, after, strict=True) if record != other] == [step]
