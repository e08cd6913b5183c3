"""Attributes: nothing reads them, so nothing commits to them, and they can be of any type."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from support.hostile import hostile_bundle, refuse


@pytest.mark.parametrize("name", ["order", "order/program", "run/checkpoints/0000000002/fc.bias"])
def test_an_attribute_below_the_root_is_refused(tmp_path: Path, name: str) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        file[name].attrs["note"] = np.int64(1)
    refuse(path, f"/{name} has an attribute")


def test_a_second_attribute_of_the_root_is_refused(tmp_path: Path) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        file.attrs["note"] = np.int64(1)
    refuse(path, "lacks the mark")


@pytest.mark.parametrize(
    "value",
    [
        np.int64(1),
        np.array([b"counterfoil-3"], "S32"),
        np.array(b"counterfoil-3", "S31"),
        h5py.Empty("S32"),
        np.zeros(20, "S32"),
    ],
    ids=["integer", "array", "length", "null", "many"],
)
def test_a_mark_of_another_type_is_refused(tmp_path: Path, value: object) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file.attrs["format"]
        file.attrs["format"] = value
    refuse(path, "lacks the mark")


def test_a_large_mark_is_refused(tmp_path: Path) -> None:
    """A block of an object header never needs to be long."""
    with hostile_bundle(tmp_path) as (path, file):
        del file.attrs["format"]
        file.attrs["format"] = np.zeros(1000, "S32")
    refuse(path, "block of 32056 bytes, which no bundle has")
