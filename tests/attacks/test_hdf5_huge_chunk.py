"""One chunk of gigabytes: reading a single element of it inflates it all."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from support.hostile import hostile_bundle, refuse


def test_a_huge_chunk_is_refused(tmp_path: Path) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file["run/log"]
        file.create_dataset("run/log", (2**31,), np.uint8, chunks=(2**31,), maxshape=(None,), compression=9)
    refuse(path, "has chunks of 2147483648 bytes")
