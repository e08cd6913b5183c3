"""Old superblocks and object headers, which have no checksums, and a user block in front of the file."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from counterfoil_core.base.errors import BundleError
from counterfoil_core.bundle.hdf5.format import check_start
from support.hostile import refuse


def test_an_old_superblock_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "old.cfoil", "w", libver=("earliest", "v108")) as file:
        file.attrs["format"] = np.array(b"counterfoil-3", "S32")
    refuse(tmp_path / "old.cfoil", "superblock of version 0")


def test_a_user_block_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.cfoil", "w", libver=("v110", "v110"), userblock_size=512) as file:
        file.attrs["format"] = np.array(b"counterfoil-3", "S32")
    refuse(tmp_path / "a.cfoil", "not an HDF5 file")


def test_an_old_object_header_in_a_new_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.cfoil"
    with h5py.File(tmp_path / "old.h5", "w", libver=("earliest", "v108")) as old:
        old.create_dataset("manifest", data=np.zeros(3, np.uint8))
        with h5py.File(path, "w", libver=("v110", "v110")) as file:
            file.attrs["format"] = np.array(b"counterfoil-3", "S32")
            file.create_group("order")
            h5py.h5o.copy(old.id, b"manifest", file["order"].id, b"manifest")
            version = h5py.h5o.get_info(file["order/manifest"].id).hdr.version
    if version >= 2:
        pytest.skip("this HDF5 rewrites object headers when it copies")
    refuse(path, "old object header")


@pytest.mark.parametrize("version", [0, 1, 4, 255])
def test_superblock_versions(version: int) -> None:
    with pytest.raises(BundleError, match=f"version {version}"):
        check_start(b"\x89HDF\r\n\x1a\n" + bytes([version, 8, 8, 0]), "bundle")
    for good in (2, 3):
        check_start(b"\x89HDF\r\n\x1a\n" + bytes([good, 8, 8, 0]), "bundle")
