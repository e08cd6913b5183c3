"""Our reader beside h5py: the same groups, datasets and bytes, in every file that Counterfoil writes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.extra import numpy as npst

from counterfoil.bundle.writer import write_data_file
from counterfoil_core.base.errors import BundleError
from counterfoil_core.bundle.datafile import DataFile
from counterfoil_core.bundle.hdf5.format import DatasetInfo
from counterfoil_core.bundle.hdf5.walk import Inventory
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.strictfile import CheckedFile
from support.bundles import make_contents, write_bundle
from support.hdf5_files import inventory_of, read_by_us, same_as_h5py

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.cfoil"))


@pytest.mark.parametrize("run", [True, False])
@pytest.mark.parametrize("steps", [1, 5, 40])
def test_bundles(tmp_path: Path, run: bool, steps: int) -> None:
    assert same_as_h5py(write_bundle(tmp_path / "a.cfoil", make_contents(steps=steps, run=run))) > 15


@pytest.mark.parametrize("path", GOLDEN, ids=[path.name for path in GOLDEN])
def test_golden_files(path: Path) -> None:
    assert same_as_h5py(path) > 15


ARRAYS = st.sampled_from(["float32", "int64", "int32", "uint8"]).flatmap(
    lambda dtype: npst.arrays(dtype, npst.array_shapes(min_dims=0, max_dims=6, min_side=0, max_side=4))
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ARRAYS, max_size=20))
def test_any_shapes_and_dtypes(tmp_path: Path, arrays: list[Any]) -> None:
    path = tmp_path / "a.cfdata"
    write_data_file(path, {f"a{number}": array for number, array in enumerate(arrays)})
    assert same_as_h5py(path) == 2 + len(arrays)


# A group keeps up to eight members in its header; then come a leaf, a tree of depth 1 and of depth 2, blocks of every
# size, and below 512 KiB of names an indirect block under the first.
@pytest.mark.sampled(3)
@pytest.mark.parametrize("count", [0, 1, 8, 9, 45, 46, 300, 1200, 6000])
def test_a_group_of_many_members(tmp_path: Path, count: int) -> None:
    path = tmp_path / "a.cfdata"
    names = [f"{'layer' * (number % 30)}.{number}" for number in range(count)]
    write_data_file(path, {name: np.full(number % 3, number, np.int32) for number, name in enumerate(names)})
    assert same_as_h5py(path) == 2 + count
    with DataFile.open(path) as file:
        for number, name in enumerate(names):
            np.testing.assert_array_equal(file._read(f"/data/{name}"), np.full(number % 3, number, np.int32))


def test_members_that_were_taken_away(tmp_path: Path) -> None:
    """What another program deletes leaves holes, which are no concern of ours."""
    path = tmp_path / "a.cfdata"
    write_data_file(path, {f"a{number}": np.arange(number) for number in range(200)})
    with h5py.File(path, "r+", libver=("v110", "v110")) as file:
        for number in range(0, 200, 3):
            del file[f"data/a{number}"]
    assert same_as_h5py(path) == 2 + 133


def test_h5dump_lists_the_tensors(tmp_path: Path) -> None:
    """The files stay ordinary HDF5."""
    program = shutil.which("h5dump")
    if program is None:
        pytest.skip("h5dump is not installed")
    path = write_bundle(tmp_path / "a.cfoil", make_contents())
    listed = subprocess.run([program, "-n", str(path)], capture_output=True, text=True, check=True).stdout
    found = {tuple(line.split()) for line in listed.splitlines()}  # versions set their columns differently
    for name, value in read_by_us(path.read_bytes()).items():
        assert ("group" if value is None else "dataset", name) in found


def test_rows(tmp_path: Path) -> None:
    rows = np.arange(60, dtype=np.int64).reshape(20, 3)
    path = tmp_path / "a.cfdata"
    write_data_file(path, {"rows": rows, "none": np.zeros((0, 3), np.uint8)})
    with DataFile.open(path) as file:
        for first, count in ((0, 20), (5, 1), (19, 1), (7, 0), (20, 0)):
            np.testing.assert_array_equal(file._read("/data/rows", first, count), rows[first : first + count])
        into = np.empty((2, 3), np.int64)
        assert file._read("/data/rows", 3, 2, into=into) is into
        np.testing.assert_array_equal(into, rows[3:5])
        assert file._read("/data/none").shape == (0, 3)
        for first, count in ((-1, 2), (19, 2), (21, 0), (0, 21), (0, -1), (2**63, 1)):
            with pytest.raises(BundleError, match="has 20 rows, and not those from"):
                file._read("/data/rows", first, count)
        with pytest.raises(BundleError, match="lacks /data/other"):
            file._read("/data/other")


def test_control_another_bit_is_another_content(tmp_path: Path) -> None:
    path = tmp_path / "a.cfdata"
    write_data_file(path, {"a": np.arange(5)})
    before = read_by_us(path.read_bytes())
    data = bytearray(path.read_bytes())
    data[inventory_of(bytes(data)).groups["/data"]["a"].offset] ^= 1
    assert read_by_us(bytes(data)) != before


def test_what_is_not_there_is_not_found() -> None:
    inventory = Inventory({"/": {}}, ())
    assert inventory.find("/order/manifest") is None
    assert inventory.find("") is None
    assert DatasetInfo("float32", (3, 0)).data_bytes == 0


def test_the_file_stays_open_for_reading_only(tmp_path: Path) -> None:
    path = write_bundle(tmp_path / "a.cfoil", make_contents())
    before = path.read_bytes()
    with BundleReader.open(path) as reader:
        assert isinstance(reader, CheckedFile)
        reader.check_order_contents()
        assert not reader.file._handle.writable()
    assert path.read_bytes() == before
    with pytest.raises(BundleError, match="failed"):
        reader.program()
