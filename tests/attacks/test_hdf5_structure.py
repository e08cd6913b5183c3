"""A file of HDF5 that holds what no bundle has: it is refused when it is opened, before any of its data are read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from counterfoil_core.bundle.hdf5 import walk
from counterfoil_core.bundle.reader import BundleReader
from support.hostile import hostile_bundle, refuse

BIAS, LOG, PROGRAM = "order/initial/fc.bias", "run/log", "order/program"
SECOND, FOURTH = "run/checkpoints/0000000002", "run/checkpoints/0000000004"
Lie = Callable[[Any, Path], Any]


def put(place: str, *shape: Any, **settings: Any) -> Lie:
    """Another dataset in a place."""

    def lie(file: Any, _: Path) -> None:
        del file[place]
        file.create_dataset(place, *shape, **settings)

    return lie


def link(place: str, target: Callable[[Any], Any]) -> Lie:
    """A link, a type or another name in a place."""

    def lie(file: Any, _: Path) -> None:
        if place in file:
            del file[place]
        file[place] = target(file)

    return lie


def mark(value: object, name: str = "format", place: str = "/") -> Lie:
    return lambda file, _: file[place].attrs.__setitem__(name, value)


def replaced_mark(value: object) -> Lie:
    def lie(file: Any, _: Path) -> None:
        del file.attrs["format"]
        file.attrs["format"] = value

    return lie


def nested(depth: int) -> Lie:
    def lie(file: Any, _: Path) -> None:
        group = file["order/initial"]
        for _number in range(depth):
            group = group.create_group("g")

    return lie


def named(name: bytes) -> Lie:
    def lie(file: Any, _: Path) -> None:
        dataset = h5py.h5d.create(file["order/initial"].id, name, h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((3,)))
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.zeros(3, np.float32))

    return lie


def filtered(*codes: int) -> Lie:
    def lie(file: Any, _: Path) -> None:
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_chunk((1024,))
        for code in codes:
            properties.set_filter(code, h5py.h5z.FLAG_OPTIONAL, ())
        del file[LOG]
        space = h5py.h5s.create_simple((1024,))
        dataset = h5py.h5d.create(file.id, b"run/log", h5py.h5t.STD_U8LE, space, properties)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.zeros(1024, np.uint8))

    return lie


def committed(file: Any, _: Path) -> None:
    kind = h5py.h5t.IEEE_F32LE.copy()
    kind.commit(file.id, b"kind")
    del file[BIAS]
    h5py.h5d.create(file.id, BIAS.encode(), kind, h5py.h5s.create_simple((40,)))
    del file["kind"]


def moved(file: Any, _: Path) -> None:
    file.move(SECOND, "elsewhere")
    file[SECOND] = h5py.SoftLink("/elsewhere")


def shrunk(file: Any, folder: Path) -> None:
    """Honestly: nothing is inflated, so that nothing needs to be bounded, and data lie in the file as they are."""
    put(LOG, data=file[LOG][...], chunks=(4096,), compression=4)(file, folder)


def one_chunk_missing(file: Any, folder: Path) -> None:
    """HDF5 would read it as zeros."""
    put(LOG, data=file[LOG][...], chunks=(2**16,), maxshape=(None,))(file, folder)
    file[LOG].resize((2**16 + 1,))


SLOT, BYTES = "order/initial/slot", np.uint8
NAMES = (b"..", b"a b", b"a\nb", b"\xff\xfe", "\u202e".encode(), b"x" * 201, b"-\x1b[2J", b"%s%n")
TYPES = (h5py.ref_dtype, h5py.regionref_dtype, h5py.string_dtype(), h5py.string_dtype("ascii"), h5py.vlen_dtype("f4"))
MARKS = (
    np.int64(1), np.array([b"counterfoil-3"], "S32"), np.array(b"counterfoil-3", "S31"), h5py.Empty("S32"),
    np.zeros(20, "S32"), "counterfoil-3",
)  # fmt: skip
BOMB = partial(put, LOG, data=np.zeros(2**25, BYTES), chunks=(2**20,), compression=9)
HUGE = partial(put, LOG, (2**31,), BYTES, chunks=(2**31,), maxshape=(None,))
LIES: tuple[tuple[str, Lie, str], ...] = (
    *((f"{depth} groups within each other", nested(depth), "nested more than 8 deep") for depth in (7, 3000)),
    *((f"a name {name!r}"[:40], named(name), "is not allowed in a bundle") for name in NAMES),
    *((f"type {number}", put(PROGRAM, (3,), dtype), "data type that a bundle does not know")
      for number, dtype in enumerate(TYPES)),
    *((f"mark {number}", replaced_mark(value), "lacks the mark") for number, value in enumerate(MARKS)),
    ("a large mark", replaced_mark(np.zeros(1000, "S32")), "block of 32056 bytes, which no bundle has"),
    ("a second attribute", mark(np.int64(1), "note"), "lacks the mark"),
    *((f"an attribute of {place}", mark(np.int64(1), "note", place), f"/{place} has an attribute")
      for place in ("order", PROGRAM, f"{SECOND}/fc.bias")),
    *((f"a soft link to {target}", link(BIAS, lambda _, target=target: h5py.SoftLink(target)), "link to somewhere else")
      for target in ("/order/initial/fc.weight", "/nowhere", "/order/initial/elsewhere/w")),
    ("a soft link in the place of a group", moved, "is a link to somewhere else"),
    ("a dataset with two names", link(f"{SECOND}/fc.bias", lambda file: file[BIAS]), "second name for another object"),
    ("a group with two names", link(SECOND, lambda file: file[FOURTH]), "second name for another object"),
    ("the root within a group", link("order/again", lambda file: file["/"]), "second name for another object"),
    ("a committed type", link("order/kind", lambda _: np.dtype(np.float32)), "is neither a group nor a dataset"),
    ("a dataset of a committed type", committed, "data type that a bundle does not know"),
    ("a bomb", BOMB(), "uses the HDF5 filter number 1"),
    ("a bomb behind others", BOMB(shuffle=True, fletcher32=True), "uses the HDF5 filter number [12]"),
    ("data that shrink honestly", shrunk, "uses the HDF5 filter number 1"),
    ("a huge chunk", HUGE(), "keeps its data in chunks"),
    ("a huge chunk that is deflated", HUGE(compression=9), "uses the HDF5 filter number 1"),
    *((f"filter {code}", filtered(code), f"uses the HDF5 filter number {code}") for code in (307, 32001, 32015, 40000)),
    ("a known filter", put(LOG, data=np.zeros(1024, BYTES), chunks=(1024,), scaleoffset=0), "HDF5 filter number 6"),
    # Deflate within deflate reaches a million to one.
    ("a filter twice", filtered(3, 3), "uses the HDF5 filter number 3"),
    ("one element too many", put(BIAS, (41,), np.float32), "fc.bias has the dtype float32 and the shape .40."),
    ("2^46 elements", put(BIAS, (2**46,), np.float32), "declares .* bytes of zeros"),
    ("more than 64 bits of elements", put(BIAS, (2**31, 2**31), BYTES), "declares 46116860184273[0-9]* bytes"),
    *((f"zeros in another form, {when}", put(SLOT, (30, 50), np.float32, fill_time=when),
       "declares 6000 bytes of data and does not hold as many") for when in ("never", "alloc")),
    *((f"left-out data of {value}", put(SLOT, (30, 50), np.float32, fillvalue=value), "slot declares a fill value")
      for value in (-0.0, 1.0)),
    ("chunks that are not there", put(LOG, (2**46,), BYTES, chunks=(2**16,), maxshape=(None,)), "its data in chunks"),
    ("one missing chunk", one_chunk_missing, "/run/log keeps its data in chunks"),
)  # fmt: skip


@pytest.mark.parametrize(("lie", "sentence"), [row[1:] for row in LIES], ids=[row[0] for row in LIES])
def test_it_is_refused(lie: Lie, sentence: str, tmp_path: Path) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        lie(file, tmp_path)
    assert path.stat().st_size < 600_000
    refuse(path, sentence)


def elsewhere(file: Any, folder: Path) -> None:
    with h5py.File(folder / "secret.h5", "w") as secret:
        secret["w"] = np.full((40,), 7, np.float32)
    link(BIAS, lambda _: h5py.ExternalLink("secret.h5", "/w"))(file, folder)


def virtual(file: Any, folder: Path) -> None:
    with h5py.File(folder / "secret.h5", "w") as secret:
        secret["w"] = np.full((40,), 7, np.float32)
    nowhere(file, folder)


def nowhere(file: Any, folder: Path) -> None:
    layout = h5py.VirtualLayout((40,), np.float32)
    layout[:] = h5py.VirtualSource(str(folder / "secret.h5"), "w", (40,))
    del file[BIAS]
    file.create_virtual_dataset(BIAS, layout)


@pytest.mark.parametrize(
    ("lie", "read", "sentence"),
    [
        (elsewhere, 7, "is a link to somewhere else"),
        (virtual, 7, "put together from other datasets"),
        (nowhere, 0, "put together from other datasets"),
    ],
    ids=["external link", "virtual dataset", "virtual dataset of nothing"],
)
def test_data_of_another_file_are_refused(lie: Lie, read: float, sentence: str, tmp_path: Path) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        lie(file, tmp_path)
    with h5py.File(path) as file:
        assert file[BIAS][0] == read, "control: the trick works"
    refuse(path, sentence)


def test_external_storage_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret words")
    with hostile_bundle(tmp_path) as (path, file):
        put(PROGRAM, (12,), BYTES, external=[("secret", 0, 12)], efile_prefix=str(tmp_path))(file, tmp_path)
    with h5py.File(path) as file:
        assert h5py.Dataset(file[PROGRAM].id).external, "control: the data lie elsewhere"
    refuse(path, "keeps its data in another file")


@pytest.mark.parametrize("allowed", [False, True])
def test_too_many_objects_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: bool) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        count = 1
        for group in ("/", "order", "order/data", "order/initial", "run", "run/checkpoints"):
            count += len(file[group])
        count += sum(len(group) for group in file["run/checkpoints"].values())
    assert walk.StructureLimits().objects == 200_000
    limits = walk.StructureLimits(objects=count if allowed else count - 1)
    monkeypatch.setattr("counterfoil_core.bundle.hdf5.walk.StructureLimits", lambda: limits)
    if allowed:
        BundleReader.open(path).close()
    else:
        refuse(path, f"holds more than {count - 1} objects")
