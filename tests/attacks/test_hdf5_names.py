"""Names of objects that are paths, control characters, or not text at all."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from support.hostile import hostile_bundle, refuse


@pytest.mark.parametrize(
    "name", [b"..", b"a b", b"a\nb", b"\xff\xfe", "\u202e".encode(), b"x" * 201, b"-\x1b[2J", b"%s%n"]
)
def test_a_hostile_name_is_refused(tmp_path: Path, name: bytes) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        space = h5py.h5s.create_simple((3,))
        dataset = h5py.h5d.create(file["order/initial"].id, name, h5py.h5t.IEEE_F32LE, space)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.zeros(3, np.float32))
    refuse(path, "is not allowed in a bundle")
