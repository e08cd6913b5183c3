"""Committed types: objects of their own, which datasets share."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

from support.hostile import hostile_bundle, refuse


def test_a_committed_type_is_refused(tmp_path: Path) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        file["order/kind"] = np.dtype(np.float32)
    refuse(path, "/order/kind is neither a group nor a dataset")


def test_a_dataset_of_a_committed_type_is_refused(tmp_path: Path) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        kind = h5py.h5t.IEEE_F32LE.copy()
        kind.commit(file.id, b"kind")
        del file["order/initial/fc.bias"]
        space = h5py.h5s.create_simple((40,))
        h5py.h5d.create(file.id, b"order/initial/fc.bias", kind, space)
        del file["kind"]
    refuse(path, "data type that a bundle does not know")
