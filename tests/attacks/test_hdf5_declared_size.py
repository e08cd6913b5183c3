"""A small file that declares data it does not hold: asking for them asks for terabytes of memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterfoil.bundle.writer import write_data_file
from counterfoil_core.base.errors import BundleError, CommitmentError
from counterfoil_core.bundle.datafile import DataFile
from counterfoil_core.bundle.hdf5.format import MOST_ZEROS
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.state import tensor_digest
from support.bundles import opened_for_change
from support.hostile import hostile_bundle, refuse


@pytest.mark.parametrize("length", [41, 2**46])
def test_contiguous_data_that_are_not_there_are_refused(tmp_path: Path, length: int) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file["order/initial/fc.bias"]
        file.create_dataset("order/initial/fc.bias", (length,), np.float32)
    assert path.stat().st_size < 200_000
    sentence = {41: "fc.bias has the dtype float32 and the shape .40.", 2**46: "declares .* bytes of zeros"}[length]
    refuse(path, sentence)


@pytest.mark.parametrize("fill_time", ["never", "alloc"])
def test_data_that_are_not_there_are_zeros_in_one_form_only(tmp_path: Path, fill_time: str) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file["order/initial/slot"]
        file.create_dataset("order/initial/slot", (30, 50), np.float32, fill_time=fill_time)
    refuse(path, "declares 6000 bytes of data and does not hold as many")


@pytest.mark.parametrize("value", [-0.0, 1.0])
def test_left_out_data_of_another_value_than_zero_are_refused(tmp_path: Path, value: float) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file["order/initial/slot"]
        file.create_dataset("order/initial/slot", (30, 50), np.float32, fillvalue=value)
    refuse(path, "/order/initial/slot declares a fill value")


@pytest.mark.parametrize("group", ["order/initial", "run/checkpoints/0000000002"])
def test_a_tensor_that_is_left_out_and_was_not_zero_has_another_digest(tmp_path: Path, group: str) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file[f"{group}/fc.weight"]
        file.create_dataset(f"{group}/fc.weight", (40, 150), np.float32)
    with BundleReader.open(path) as reader:
        if group == "order/initial":
            with pytest.raises(CommitmentError, match="initial state"):
                reader.check_order_contents()
        else:
            with pytest.raises(CommitmentError, match="stored state of step 2"):
                reader.checkpoint(2)
            with pytest.raises(CommitmentError, match="stored state of step 2"):
                reader.verify_checkpoint(2)
            array, digest = reader.checkpoint_tensor(2, "fc.weight")
            assert digest == tensor_digest("fc.weight", np.zeros((40, 150), np.float32))
            assert not array.any()


@pytest.mark.parametrize("extra", [0, 1])
def test_zeros_that_are_left_out_are_bounded_by_the_file(tmp_path: Path, extra: int) -> None:
    """However many tensors they are cut into; one byte more than allowed is refused."""

    def write(rest: int) -> Path:
        path = tmp_path / f"{rest}.cfdata"
        write_data_file(path, {"a": np.ones(10_000, np.uint8)})
        with opened_for_change(path) as file:
            for number in range(9):
                file.create_dataset(f"data/zeros{number}", (1000,), np.uint8)
            file.create_dataset("data/rest", (rest,), np.uint8)
        return path

    # How long the data are that are left out does not change how long the file is.
    path = write(MOST_ZEROS * write(1).stat().st_size - 9000 + extra)
    if extra:
        with pytest.raises(BundleError, match="one of its size may leave out"):
            DataFile.open(path)
    else:
        with DataFile.open(path) as opened:
            assert not opened._read("/data/rest").any()


def test_chunked_data_that_are_not_there_are_refused(tmp_path: Path) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file["run/log"]
        file.create_dataset("run/log", (2**46,), np.uint8, chunks=(2**16,), maxshape=(None,))
    refuse(path, "/run/log keeps its data in chunks")


def test_one_missing_chunk_is_refused(tmp_path: Path) -> None:
    """HDF5 would read it as zeros."""
    with hostile_bundle(tmp_path) as (path, file):
        log = file["run/log"][...]
        del file["run/log"]
        file.create_dataset("run/log", data=log, chunks=(2**16,), maxshape=(None,))
        file["run/log"].resize((2**16 + 1,))
    refuse(path, "/run/log keeps its data in chunks")


def test_a_product_of_lengths_beyond_64_bits_is_refused(tmp_path: Path) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file["order/initial/fc.bias"]
        file.create_dataset("order/initial/fc.bias", (2**31, 2**31), np.uint8)
    refuse(path, "declares 46116860184273[0-9]* bytes")
