"""Data that are stored once and declared many times: a small file that reads as a huge one."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

from support.bundles import make_contents, write_bundle
from support.hostile import patch_header, refuse


def place_of(path: Path, name: str) -> tuple[int, int]:
    """Return where the object header and the data of a contiguous dataset lie."""
    with h5py.File(path) as file:
        dataset = file[name].id
        return h5py.h5o.get_info(dataset).addr, dataset.get_offset()


def test_two_datasets_in_one_place_are_refused(tmp_path: Path) -> None:
    path = write_bundle(tmp_path / "run.cfoil", make_contents())
    one, other = "run/checkpoints/0000000002/fc.weight", "run/checkpoints/0000000004/fc.weight"
    header, offset = place_of(path, one)
    _, target = place_of(path, other)
    patch_header(path, header, offset.to_bytes(8, "little"), target.to_bytes(8, "little"))
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file[one][()], file[other][()], "control: the trick works")
    refuse(path, "share the same place")


def test_data_beyond_the_end_of_the_file_are_refused(tmp_path: Path) -> None:
    path = write_bundle(tmp_path / "run.cfoil", make_contents())
    header, offset = place_of(path, "order/initial/fc.weight")
    end = path.stat().st_size
    patch_header(path, header, offset.to_bytes(8, "little"), (end - 100).to_bytes(8, "little"))
    refuse(path, "outside the file|share the same place|damaged")


def test_control_a_patch_that_changes_nothing_opens(tmp_path: Path) -> None:
    from counterfoil_core.bundle.reader import BundleReader

    path = write_bundle(tmp_path / "run.cfoil", make_contents())
    header, offset = place_of(path, "order/initial/fc.weight")
    patch_header(path, header, offset.to_bytes(8, "little"), offset.to_bytes(8, "little"))
    BundleReader.open(path).close()
