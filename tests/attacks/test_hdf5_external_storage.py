"""A dataset that keeps its data in another file, for instance /etc/passwd."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

from support.hostile import hostile_bundle, refuse


def test_external_storage_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret words")
    with hostile_bundle(tmp_path) as (path, file):
        del file["order/program"]
        file.create_dataset("order/program", (12,), np.uint8, external=[("secret", 0, 12)], efile_prefix=str(tmp_path))
    with h5py.File(path) as file:
        dataset = h5py.Dataset(file["order/program"].id)
        assert dataset.external, "control: the data lie elsewhere"
    refuse(path, "keeps its data in another file")
