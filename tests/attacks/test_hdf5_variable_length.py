"""Variable-length data: one object on the heap, named a million times, is a gigabyte in memory."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from support.hostile import hostile_bundle, refuse


@pytest.mark.parametrize(
    "dtype",
    [h5py.string_dtype(), h5py.string_dtype("ascii"), h5py.vlen_dtype(np.float32)],
    ids=["utf-8", "ascii", "f4"],
)
def test_variable_length_data_are_refused(tmp_path: Path, dtype: np.dtype) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file["order/program"]
        file.create_dataset("order/program", (3,), dtype)
    refuse(path, "data type that a bundle does not know")


def test_a_variable_length_mark_is_refused(tmp_path: Path) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file.attrs["format"]
        file.attrs["format"] = "counterfoil-3"
    refuse(path, "lacks the mark")
