"""Two names for one object, and a group that holds itself."""

from __future__ import annotations

from pathlib import Path

from support.hostile import hostile_bundle, refuse


def test_a_dataset_with_two_names_is_refused(tmp_path: Path) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file["run/checkpoints/0000000002/fc.bias"]
        file["run/checkpoints/0000000002/fc.bias"] = file["order/initial/fc.bias"]
    refuse(path, "second name for another object")


def test_a_group_with_two_names_is_refused(tmp_path: Path) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file["run/checkpoints/0000000002"]
        file["run/checkpoints/0000000002"] = file["run/checkpoints/0000000004"]
    refuse(path, "second name for another object")


def test_a_group_that_holds_the_root_is_refused(tmp_path: Path) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        file["order/again"] = file["/"]
    refuse(path, "second name for another object")
