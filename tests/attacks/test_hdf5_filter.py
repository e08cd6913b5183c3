"""Filters that are not on the list: libhdf5 looks for a plugin on the disk and may load it."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from support.hostile import hostile_bundle, refuse


def create(file: h5py.File, *codes: int) -> None:
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((1024,))
    for code in codes:
        properties.set_filter(code, h5py.h5z.FLAG_OPTIONAL, ())
    del file["run/log"]
    space = h5py.h5s.create_simple((1024,))
    dataset = h5py.h5d.create(file.id, b"run/log", h5py.h5t.STD_U8LE, space, properties)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.zeros(1024, np.uint8))


@pytest.mark.parametrize("code", [307, 32001, 32015, 40000])
def test_an_unknown_filter_is_refused(tmp_path: Path, code: int) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        create(file, code)
    refuse(path, f"uses the HDF5 filter number {code}")


def test_a_known_filter_that_the_format_does_not_allow_is_refused(tmp_path: Path) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file["run/log"]
        file.create_dataset("run/log", data=np.zeros(1024, np.uint8), chunks=(1024,), scaleoffset=0)
    refuse(path, "uses the HDF5 filter number 6")


def test_a_filter_that_is_used_twice_is_refused(tmp_path: Path) -> None:
    """Deflate within deflate reaches a million to one."""
    with hostile_bundle(tmp_path) as (path, file):
        create(file, 3, 3)
    refuse(path, "uses the HDF5 filter number 3")
