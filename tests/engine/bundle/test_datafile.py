from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from counterfoil.bundle.writer import BundleWriter, write_data_file
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import (
    BundleError,
    CancelledError,
    CommitmentError,
    FileChangedError,
    GivenFileError,
    ProofError,
)
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.datafile import CheckedRows, DataFile
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import ArraySpec, OrderManifest
from counterfoil_core.commit.state import StreamedDigest, chunk_proofs, chunk_tree, tensor_digest
from support.bundles import flip_bit, make_contents, opened_for_change, write_bundle

Array = NDArray[Any]


def arrays() -> dict[str, Array]:
    """Rows shorter and longer than a chunk, a number for each row, and rows of nothing."""
    rng = np.random.default_rng(3)
    return {
        "short": rng.standard_normal((600, 21)).astype(np.float32),
        "long": rng.integers(0, 256, (7, 3, 9001)).astype(np.uint8),
        "labels": rng.integers(0, 10, 5000).astype(np.int64),
        "nothing": np.zeros((4, 0), np.int32),
    }


def manifest_of(data: dict[str, Array]) -> OrderManifest:
    specs = {
        name: ArraySpec(array.dtype.name, array.shape, tensor_digest(name, array), "d.cfdata")
        for name, array in data.items()
    }
    return replace(make_contents().manifest, data=specs)


def check(file: DataFile, manifest: OrderManifest, cancel: CancelToken | None = None) -> dict[str, CheckedRows]:
    checking = file.check(manifest, cancel)
    seen = []
    while True:
        try:
            seen.append(next(checking))
        except StopIteration as end:
            assert seen[0][0] == 0
            assert seen[-1][0] == seen[-1][1]
            assert [done for done, _ in seen] == sorted(done for done, _ in seen)
            found: dict[str, CheckedRows] = end.value
            return found


@pytest.fixture
def data_file(tmp_path: Path) -> Path:
    path = tmp_path / "d.cfdata"
    write_data_file(path, arrays())
    return path


@pytest.mark.parametrize("block", [1, 20_000, 8 * 2**20])
def test_rows_come_back_in_the_order_asked_for(data_file: Path, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterfoil_core.bundle.datafile.BLOCK_BYTES", block)
    data = arrays()
    rng = np.random.default_rng(0)
    with DataFile.open(data_file) as file:
        found = check(file, manifest_of(data))
        assert found.keys() == data.keys()
        for name, array in data.items():
            assert len(found[name]) == len(array)
            for rows in (rng.integers(0, len(array), 40), np.arange(len(array))[::-1], np.zeros(0, np.int64)):
                taken = found[name][rows]
                assert taken.dtype == array.dtype
                np.testing.assert_array_equal(taken, array[rows])


@given(data=st.binary(max_size=70_000), cuts=st.lists(st.integers(0, 70_000), max_size=8))
@settings(max_examples=60)
def test_the_digest_of_pieces_is_that_of_the_whole(data: bytes, cuts: list[int]) -> None:
    array = np.frombuffer(data, np.uint8)
    digest = StreamedDigest("x", "uint8", array.shape)
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    for first, last in itertools.pairwise(places):
        digest.add(memoryview(data)[first:last])
    found, leaves = digest.finish()
    assert found == tensor_digest("x", array)
    tree = chunk_tree(array)
    assert leaves == b"".join(tree.leaf(index).value for index in range(tree.size))


@pytest.mark.parametrize("name", ["short", "long", "labels"])
def test_one_bit_is_enough_to_be_refused(data_file: Path, name: str) -> None:
    flip_bit(data_file, f"/data/{name}", element=len(arrays()[name]) // 2, bit=3)
    with DataFile.open(data_file) as file, pytest.raises(CommitmentError, match=f"{name!r} in .* differs"):
        check(file, manifest_of(arrays()))


@pytest.mark.parametrize("name", ["short", "long", "labels"])
def test_a_file_that_changes_while_in_use_is_noticed_where_it_is_read(data_file: Path, name: str) -> None:
    data = arrays()
    with opened_for_change(data_file) as file:
        last = file["data"][name].id.get_offset() + data[name].nbytes - 1
    with DataFile.open(data_file) as file:
        found = check(file, manifest_of(data))
        with data_file.open("rb+") as raw:
            raw.seek(last)
            raw.write(bytes([data[name].view(np.uint8).reshape(-1)[-1] ^ 1]))
        np.testing.assert_array_equal(found[name][np.array([0])], data[name][:1])
        with pytest.raises(FileChangedError, match="changed while it was read"):
            found[name][np.array([0, len(data[name]) - 1])]


@pytest.mark.parametrize("name", ["short", "long", "labels"])
def test_chunks_are_proven_without_hashing_the_file_again(data_file: Path, name: str) -> None:
    array = arrays()[name]
    chunks = range(chunk_tree(array).size)
    with opened_for_change(data_file) as file:
        last = file["data"][name].id.get_offset() + array.nbytes - 1
    with DataFile.open(data_file) as file:
        rows = check(file, manifest_of(arrays()))[name]
        assert rows.chunk_proofs(chunks) == chunk_proofs(array, chunks)
        assert rows.chunk_proofs(chunks[::-2]) == chunk_proofs(array, chunks[::-2])
        with pytest.raises(ProofError):
            rows.chunk_proofs([len(chunks)])
        with data_file.open("rb+") as raw:
            raw.seek(last)
            raw.write(bytes([array.view(np.uint8).reshape(-1)[-1] ^ 1]))
        assert rows.chunk_proofs(chunks[:1]) == chunk_proofs(array, chunks[:1]), "only what is asked for is read"
        with pytest.raises(FileChangedError, match="changed while it was read"):
            rows.chunk_proofs(chunks)


def test_an_array_is_missing_or_of_another_kind(data_file: Path, tmp_path: Path) -> None:
    data = arrays()
    other = tmp_path / "other.cfdata"
    for changed, sentence in (
        ({name: array for name, array in data.items() if name != "labels"}, "lacks the array 'labels'"),
        (data | {"labels": data["labels"].astype(np.int32)}, r"'labels' in .* is int32 of shape \[5000\]; the order"),
        (data | {"labels": data["labels"][:-1]}, r"is int64 of shape \[4999\]"),
        (data | {"labels": data["labels"].reshape(50, 100)}, r"is int64 of shape \[50, 100\]"),
    ):
        write_data_file(other, changed)
        with DataFile.open(other) as file, pytest.raises(BundleError, match=sentence):
            check(file, manifest_of(data))
    write_data_file(other, data | {"more": data["labels"]})
    with DataFile.open(other) as file:
        assert "more" not in check(file, manifest_of(data)), "arrays that the order does not name are left alone"


def test_the_check_can_be_stopped(data_file: Path) -> None:
    token = CancelToken()
    with DataFile.open(data_file) as file:
        checking = file.check(manifest_of(arrays()), token)
        next(checking)
        token.cancel()
        with pytest.raises(CancelledError):
            next(checking)


def test_the_two_kinds_of_file_are_told_apart(data_file: Path, tmp_path: Path) -> None:
    bundle = write_bundle(tmp_path / "job.cfoil", make_contents(run=False))
    with pytest.raises(BundleError, match=r"job\.cfoil cannot be used\. The file is a Counterfoil bundle"):
        DataFile.open(bundle)
    with pytest.raises(BundleError, match="The file is a Counterfoil data file, where a bundle is needed"):
        BundleReader.open(data_file)


def test_hostile_files_are_refused(data_file: Path, tmp_path: Path) -> None:
    import h5py

    for content in (b"", b"all work and no play", data_file.read_bytes()[:3000]):
        junk = tmp_path / "junk.cfdata"
        junk.write_bytes(content)
        with pytest.raises(BundleError, match=r"The data file .*junk\.cfdata cannot be used\."):
            DataFile.open(junk)
    with pytest.raises(GivenFileError, match="There is no file"):
        DataFile.open(tmp_path / "none.cfdata")
    with pytest.raises(GivenFileError, match="is a folder"):
        DataFile.open(tmp_path)
    for spoil, sentence in (
        (lambda file: file.__setitem__("data/link", h5py.SoftLink("/data/labels")), "is a link to somewhere else"),
        (lambda file: file.__setitem__("data/far", h5py.ExternalLink("/etc/hostname", "/x")), "is a link"),
        (lambda file: file.create_group("order"), "holds /order"),
        (lambda file: file.create_group("data/deeper"), "holds /data/deeper"),
        (lambda file: file["data/labels"].attrs.__setitem__("a", 1), "has an attribute"),
        (lambda file: file.create_dataset("data/bomb", (10**9,), "u1", chunks=(2**16,)), "keeps its data in chunks"),
        (lambda file: file.__delitem__("data"), "lacks /data"),
        (lambda file: file.attrs.__setitem__("format", np.bytes_(b"counterfoil-data-2".ljust(32, b"\0"))), "format 2"),
    ):
        write_data_file(data_file, arrays())
        with opened_for_change(data_file) as file:
            spoil(file)  # type: ignore[no-untyped-call]
        with pytest.raises(BundleError, match=sentence):
            DataFile.open(data_file)


def test_what_cannot_be_data_is_not_written(tmp_path: Path) -> None:
    target = tmp_path / "d.cfdata"
    for bad in ({"x": np.zeros(3)}, {"../x": np.zeros(3, np.float32)}):
        with pytest.raises(BundleError):
            write_data_file(target, bad)
    assert list(tmp_path.iterdir()) == []


def test_an_order_with_its_data_outside_holds_none_of_it(tmp_path: Path) -> None:
    contents = make_contents(run=False)
    inside = contents.manifest.to_bytes()
    assert b'"file"' not in inside, "orders without a data file keep their bytes"
    specs = {name: replace(spec, file="d.cfdata") for name, spec in contents.manifest.data.items()}
    manifest = replace(contents.manifest, data=specs)
    assert OrderManifest.from_bytes(manifest.to_bytes()) == manifest
    assert manifest.digest != contents.manifest.digest
    path = tmp_path / "job.cfoil"
    with BundleWriter.create(path) as writer:
        programs = Turns.alone(contents.program)
        writer.write_order(manifest, programs, contents.schedule, contents.scalars, {}, contents.initial)
    with BundleReader.open(path) as reader:
        reader.check_order_contents()
        with pytest.raises(BundleError, match="lacks /order/data/x"):
            reader.data("x")
    with BundleWriter.create(tmp_path / "both.cfoil") as writer:
        with pytest.raises(BundleError, match="not those"):
            writer.write_order(manifest, programs, contents.schedule, contents.scalars, contents.data, contents.initial)
        writer.abort()
    with opened_for_change(path) as file:
        file["order/data"]["x"] = np.zeros(3, np.float32)
    with pytest.raises(BundleError, match="holds /order/data/x"):
        BundleReader.open(path)


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\\b", "C:x", "line\nbreak", "x" * 201, 7, None])
def test_a_data_file_has_a_plain_name(name: Any) -> None:
    contents = make_contents(run=False)
    spec = contents.manifest.data["x"].to_json() | {"file": name}
    with pytest.raises(BundleError, match="cannot be called"):
        ArraySpec.from_json(spec, "data array 'x'", ("float32",), is_data=True)
    with pytest.raises(BundleError, match="unknown field 'file'"):
        ArraySpec.from_json(spec, "schedule", ("float32",))


def test_a_root_over_other_digests_is_refused(tmp_path: Path) -> None:
    """An order whose array digest was exchanged, with its data root kept."""
    contents = make_contents(run=False)
    specs = {name: replace(spec, file="d.cfdata") for name, spec in contents.manifest.data.items()}
    specs["x"] = replace(specs["x"], digest=specs["y"].digest)
    manifest = replace(contents.manifest, data=specs)
    with BundleWriter.create(tmp_path / "job.cfoil") as writer:
        programs = Turns.alone(contents.program)
        writer.write_order(manifest, programs, contents.schedule, contents.scalars, {}, contents.initial)
    with (
        BundleReader.open(tmp_path / "job.cfoil") as reader,
        pytest.raises(CommitmentError, match="data root"),
    ):
        reader.check_order_contents()


def test_a_data_file_made_by_h5py_alone(tmp_path: Path) -> None:
    """As docs/bundle-format.md says that it can be made."""
    import h5py

    data = {"labels": np.arange(12).reshape(4, 3), "x": np.ones(5, np.float32), "y": np.zeros(3, np.uint8)}
    with h5py.File(tmp_path / "d.cfdata", "w", libver=("v110", "v110")) as file:
        file.attrs["format"] = np.array(b"counterfoil-data-1", "S32")
        group = file.create_group("data")
        for name, array in data.items():
            group.create_dataset(name, data=array)
    with DataFile.open(tmp_path / "d.cfdata") as opened:
        rows = check(opened, manifest_of(data))
        for name, array in data.items():
            np.testing.assert_array_equal(rows[name][np.arange(len(array))], array)


@pytest.mark.parametrize("settings", [{}, {"chunks": (1000,)}, {"compression": "gzip", "shuffle": True}])
def test_a_data_file_of_other_tools(tmp_path: Path, settings: dict[str, object]) -> None:
    """Whoever makes a data file with h5py alone can; the data must lie in one piece, as they are."""
    data = {"labels": np.random.default_rng(1).integers(0, 1000, 5000)}
    path = tmp_path / "d.cfdata"
    write_data_file(path, data)
    with opened_for_change(path) as file:
        del file["data/labels"]
        file["data"].create_dataset("labels", data=data["labels"], **settings)
    if settings:
        with pytest.raises(BundleError, match=r"keeps its data in chunks|uses the HDF5 filter number"):
            DataFile.open(path)
        return
    with DataFile.open(path) as file:
        rows = check(file, manifest_of(data))["labels"]
        picked = np.array([4999, 0, 700])
        np.testing.assert_array_equal(rows[picked], data["labels"][picked])
