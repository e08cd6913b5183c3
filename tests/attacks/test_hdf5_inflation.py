"""Compressed zeros: 65 kB on disk become 4 GiB in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.hostile import hostile_bundle, refuse


@pytest.mark.parametrize("filters", [{"compression": 9}, {"compression": 9, "shuffle": True, "fletcher32": True}])
def test_a_bomb_is_refused(tmp_path: Path, filters: dict[str, object]) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file["run/log"]
        file.create_dataset("run/log", data=np.zeros(2**25, np.uint8), chunks=(2**20,), **filters)
    assert path.stat().st_size < 250_000
    refuse(path, "uses the HDF5 filter number [12]")


def test_data_that_shrink_honestly_are_refused_as_well(tmp_path: Path) -> None:
    """Nothing is inflated, so that nothing needs to be bounded: a bundle's data lie in the file as they are."""
    with hostile_bundle(tmp_path) as (path, file):
        log = file["run/log"][...]
        del file["run/log"]
        file.create_dataset("run/log", data=log, chunks=(4096,), compression=4)
    refuse(path, "uses the HDF5 filter number 1")
