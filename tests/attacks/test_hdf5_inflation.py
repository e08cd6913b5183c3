"""Compressed zeros: 65 kB on disk become 4 GiB in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterfoil.bundle.reader import BundleReader
from support.bundles import make_contents
from support.hostile import hostile_bundle, refuse


@pytest.mark.parametrize("filters", [{"compression": 9}, {"compression": 9, "shuffle": True, "fletcher32": True}])
def test_a_bomb_is_refused(tmp_path: Path, filters: dict[str, object]) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file["run/log"]
        file.create_dataset("run/log", data=np.zeros(2**25, np.uint8), chunks=(2**20,), **filters)
    assert path.stat().st_size < 250_000
    refuse(path, "more than 16 times what it holds")


def test_control_an_honest_compressed_log_is_read(tmp_path: Path) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        log = file["run/log"][...]
        del file["run/log"]
        file.create_dataset("run/log", data=log, chunks=(4096,), compression=4, shuffle=True, fletcher32=True)
    with BundleReader.open(path) as reader:
        assert reader.step_records() == make_contents().records()
