"""A soft link, whose path may cross an external link that only its last component shows."""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest

from support.hostile import hostile_bundle, refuse


@pytest.mark.parametrize("target", ["/order/initial/fc.weight", "/nowhere", "/order/initial/elsewhere/w"])
def test_a_soft_link_is_refused(tmp_path: Path, target: str) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file["order/initial/fc.bias"]
        file["order/initial/fc.bias"] = h5py.SoftLink(target)
    refuse(path, "is a link to somewhere else")


def test_a_soft_link_in_place_of_a_group_is_refused(tmp_path: Path) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        file.move("run/checkpoints/0000000002", "elsewhere")
        file["run/checkpoints/0000000002"] = h5py.SoftLink("/elsewhere")
    refuse(path, "is a link to somewhere else")
