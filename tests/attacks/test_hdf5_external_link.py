"""A link to an object of another file, which HDF5 follows without a word."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

from support.hostile import hostile_bundle, refuse


def test_an_external_link_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "secret.h5", "w") as secret:
        secret["w"] = np.full((40,), 7, np.float32)
    with hostile_bundle(tmp_path) as (path, file):
        del file["order/initial/fc.bias"]
        file["order/initial/fc.bias"] = h5py.ExternalLink("secret.h5", "/w")
    with h5py.File(path) as file:
        assert file["order/initial/fc.bias"][0] == 7, "control: the trick works"
    refuse(path, "is a link to somewhere else")
