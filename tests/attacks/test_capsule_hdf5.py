"""The tricks of hostile HDF5 files, tried on a capsule: it is read as a bundle is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from counterfoil_core.base.errors import GivenFileError
from counterfoil_core.bundle.capsule import CapsuleContents
from support.capsules import adjudicated, hostile_capsule, refused


def replaced(file: Any, name: str, **settings: Any) -> None:
    del file[name]
    file.create_dataset(name, **settings)


TRICKS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda f: f.__setitem__("capsule/link", h5py.SoftLink("/order/manifest")), "is a link to somewhere else"),
    (lambda f: f.__setitem__("capsule/far", h5py.ExternalLink("/etc/hostname", "/x")), "is a link to somewhere else"),
    (lambda f: f.__setitem__("capsule/again", f["order/manifest"]), "second name for another object"),
    (lambda f: f["capsule/log"].attrs.__setitem__("a", 1), "has an attribute"),
    (lambda f: f.create_group("capsule/more"), "holds /capsule/more"),
    (lambda f: f.create_group("run/checkpoints"), "holds /run/checkpoints"),
    (lambda f: f.__setitem__("order/schedule", np.zeros((6, 8), np.int64)), "holds /order/schedule"),
    (lambda f: f.create_group("capsule/data/other"), "holds /capsule/data/other"),
    (lambda f: f.__delitem__("capsule/log"), "lacks /capsule/log"),
    (lambda f: f.__delitem__("capsule/data/images/proofs"), "lacks /capsule/data/images/proofs"),
    (lambda f: f.__delitem__("run/claim"), "lacks /run/claim"),
    (lambda f: replaced(f, "capsule/log", data=np.zeros(9, np.int64)), "should have uint8"),
    (lambda f: replaced(f, "capsule/leaves", shape=(10**9,), dtype="u1", chunks=(2**16,)), "keeps its data in chunks"),
    (
        lambda f: replaced(f, "capsule/state/head.bias", shape=(2**40,), dtype="<f4"),
        "bytes of zeros that it does not hold",
    ),
    (lambda f: replaced(f, "capsule/leaves", data=np.zeros(2**24 + 1, np.uint8)), "is longer than"),
    (lambda f: replaced(f, "capsule/fingerprints", data=np.zeros((1, 3), "S8")), "data type"),
    (
        lambda f: f.attrs.__setitem__("format", np.bytes_(b"counterfoil-capsule-2".ljust(32, b"\0"))),
        "has format 2; this Counterfoil reads format 3",
    ),
    (
        lambda f: f.attrs.__setitem__("format", np.bytes_(b"counterfoil-3".ljust(32, b"\0"))),
        "is a Counterfoil bundle, where a capsule is needed",
    ),
]


@pytest.mark.parametrize(("spoil", "sentence"), TRICKS, ids=[sentence for _, sentence in TRICKS])
def test_refused(evidence: CapsuleContents, tmp_path: Path, spoil: Callable[[Any], Any], sentence: str) -> None:
    with hostile_capsule(tmp_path, evidence) as (path, file):
        spoil(file)
    refused(path, sentence)


@pytest.mark.parametrize("content", [b"", b"all work and no play", b"\x89HDF\r\n\x1a\n" + bytes(600)])
def test_what_is_no_capsule(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "junk.cfoil"
    path.write_bytes(content)
    report = refused(path, "Nothing was concluded about the dispute")
    assert report.capsule_digest is not None
    assert report.order_digest is None


def test_a_file_cut_short(capsule: Path, tmp_path: Path) -> None:
    whole = capsule.read_bytes()
    for length in (100, 3000, len(whole) // 2, len(whole) - 1):
        path = tmp_path / "short.cfoil"
        path.write_bytes(whole[:length])
        refused(path, "Nothing was concluded")


def test_no_file_at_all(tmp_path: Path) -> None:
    """Whoever judges named it wrongly, and that says nothing of the accuser."""
    with pytest.raises(GivenFileError, match="There is no file"):
        adjudicated(tmp_path / "none.cfoil")
