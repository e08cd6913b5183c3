"""More objects than any bundle has: listing them takes time and memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterfoil_core.bundle.hdf5 import walk
from counterfoil_core.bundle.reader import BundleReader
from support.hostile import hostile_bundle, refuse


@pytest.mark.parametrize("allowed", [False, True])
def test_too_many_objects_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: bool) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        count = 1
        for group in ("/", "order", "order/data", "order/initial", "run", "run/checkpoints"):
            count += len(file[group])
        count += sum(len(group) for group in file["run/checkpoints"].values())
    limits = walk.StructureLimits(objects=count if allowed else count - 1)
    monkeypatch.setattr("counterfoil_core.bundle.hdf5.walk.StructureLimits", lambda: limits)
    if allowed:
        BundleReader.open(path).close()
    else:
        refuse(path, f"holds more than {count - 1} objects")


def test_two_hundred_thousand_is_the_limit() -> None:
    assert walk.StructureLimits().objects == 200_000
