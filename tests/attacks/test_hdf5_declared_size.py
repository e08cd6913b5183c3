"""A small file that declares data it does not hold: asking for them asks for terabytes of memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.hostile import hostile_bundle, refuse


@pytest.mark.parametrize("length", [41, 2**46])
def test_contiguous_data_that_are_not_there_are_refused(tmp_path: Path, length: int) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file["order/initial/fc.bias"]
        file.create_dataset("order/initial/fc.bias", (length,), np.float32)
    assert path.stat().st_size < 200_000
    refuse(path, "declares .* bytes of data and does not hold as many")


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
    refuse(path, "declares 4611686018427387904 bytes")
