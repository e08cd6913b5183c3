"""A virtual dataset, put together from other files; a missing one reads as zeros without an error."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from support.hostile import hostile_bundle, refuse


@pytest.mark.parametrize("exists", [True, False])
def test_a_virtual_dataset_is_refused(tmp_path: Path, exists: bool) -> None:
    if exists:
        with h5py.File(tmp_path / "secret.h5", "w") as secret:
            secret["w"] = np.full((40,), 7, np.float32)
    with hostile_bundle(tmp_path) as (path, file):
        del file["order/initial/fc.bias"]
        layout = h5py.VirtualLayout((40,), np.float32)
        layout[:] = h5py.VirtualSource(str(tmp_path / "secret.h5"), "w", (40,))
        file.create_virtual_dataset("order/initial/fc.bias", layout)
    with h5py.File(path) as file:
        assert file["order/initial/fc.bias"][0] == (7 if exists else 0), "control: the trick works"
    refuse(path, "put together from other datasets")
