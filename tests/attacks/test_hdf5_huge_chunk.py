"""One chunk of gigabytes: reading a single element of it inflates it all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.hostile import hostile_bundle, refuse


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [({"compression": 9}, "uses the HDF5 filter number 1"), ({}, "keeps its data in chunks")],
    ids=["deflate", "plain"],
)
def test_a_huge_chunk_is_refused(tmp_path: Path, settings: dict[str, int], sentence: str) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file["run/log"]
        file.create_dataset("run/log", (2**31,), np.uint8, chunks=(2**31,), maxshape=(None,), **settings)
    refuse(path, sentence)
