"""References to objects and regions, which libraries follow."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from support.hostile import hostile_bundle, refuse


@pytest.mark.parametrize("dtype", [h5py.ref_dtype, h5py.regionref_dtype], ids=["object", "region"])
def test_references_are_refused(tmp_path: Path, dtype: np.dtype) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file["order/program"]
        file.create_dataset("order/program", (3,), dtype)
    refuse(path, "data type that a bundle does not know")
