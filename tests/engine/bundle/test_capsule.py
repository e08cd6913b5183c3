"""The form of a capsule; whether what it says is proven, tests/engine/audit/test_adjudicate.py and the attacks test."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterfoil.bundle.capsulewriter import write_capsule
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import BundleError, FileWriteError
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle import layout
from counterfoil_core.bundle.capsule import CapsuleContents, CapsuleReader, OrderPart, ProvenLeaf
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.commit.state import ChunkProof, chunk_proofs
from support.bundles import change, make_contents, same_state
from support.hdf5_files import same_as_h5py

NOTHING: tuple[ChunkProof, ...] = ()


def contents(later: int = 1) -> CapsuleContents:
    """A capsule of random arrays whose proofs prove nothing, from step 2 on."""
    source = make_contents(steps=5)
    records = source.records()[2 : 3 + later]
    steps = source.steps[2 : 2 + later]
    return CapsuleContents(
        manifest=source.manifest,
        programs=Turns.alone(source.program),
        signature=b"{}" if later > 1 else None,
        acceptance=b"{}",
        claim=b"{}",
        leaves=tuple(ProvenLeaf(record, (Digest.of(b"a"), Digest.of(b"b"))) for record in records),
        state=source.steps[1].state,
        logs=tuple(step.log for step in steps),
        fingerprints=tuple(step.fingerprints for step in steps),
        part=OrderPart(
            schedule=chunk_proofs(source.schedule, [0]),
            scalars=chunk_proofs(source.scalars, [0]),
            data={"x": chunk_proofs(source.data["x"], [0])},
        ),
    )


def read(path: Path) -> CapsuleContents:
    with CapsuleReader.open(path) as reader:
        return reader.contents()


@pytest.mark.parametrize("later", [1, 2, 3])
def test_what_was_written_comes_back(tmp_path: Path, later: int) -> None:
    written = contents(later)
    write_capsule(written, tmp_path / "a.cfoil")
    assert same_as_h5py(tmp_path / "a.cfoil") > 15
    found = read(tmp_path / "a.cfoil")
    assert (found.agreed_step, found.step) == (2, 2 + later)
    assert same_state(found.state, written.state)
    np.testing.assert_array_equal(found.fingerprints, written.fingerprints)
    for name in ("manifest", "programs", "claim", "leaves", "logs", "part"):
        assert getattr(found, name) == getattr(written, name), name


def test_an_array_of_which_nothing_is_needed(tmp_path: Path) -> None:
    written = contents()
    written = replace(written, part=replace(written.part, scalars=NOTHING))
    write_capsule(written, tmp_path / "a.cfoil")
    assert read(tmp_path / "a.cfoil").part.scalars == ()
    change(tmp_path / "a.cfoil", "/capsule/scalars/root", lambda root: root ^ 1)
    with pytest.raises(BundleError, match="/capsule/scalars"):
        read(tmp_path / "a.cfoil")


@pytest.mark.parametrize("which", [(), (0,), (0, 0), (1, 0), (0, 2)])
def test_leaves_are_of_neighbouring_steps(tmp_path: Path, which: tuple[int, ...]) -> None:
    written = contents(2)
    write_capsule(replace(written, leaves=tuple(written.leaves[index] for index in which)), tmp_path / "a.cfoil")
    with pytest.raises(BundleError, match=r"neighbouring steps|not a list"):
        read(tmp_path / "a.cfoil")


def test_too_many_steps_for_a_capsule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MAX_LEAVES_BYTES", 1000)
    with pytest.raises(BundleError, match="All 3 steps since the last committed state are needed"):
        write_capsule(contents(3), tmp_path / "a.cfoil")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileWriteError):
        write_capsule(contents(), tmp_path / "none" / "a.cfoil")


RECORD = StepRecord(3, None, Digest.of(b"log"), Digest.of(b"fingerprints"), 0.1)


@pytest.mark.parametrize(
    "record", [RECORD, StepRecord(0, Digest.of(b"s"), None, None, None), replace(RECORD, loss=float("-inf"))]
)
def test_a_step_record_comes_back(record: StepRecord) -> None:
    assert StepRecord.from_json(record.to_json()) == record


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("step", -1),
        ("step", True),
        ("step", 2**40),
        ("state_root", "00"),
        ("log", 7),
        ("fingerprints", "G" * 64),
        ("loss", "0.1"),
        ("loss", "0x1p0"),
        ("loss", "-nan"),
        ("loss", "0x1p999999999"),
        ("loss", 0.1),
        ("more", None),
    ],
)
def test_a_step_record_has_one_spelling(field: str, value: object) -> None:
    with pytest.raises(BundleError):
        StepRecord.from_json(RECORD.to_json() | {field: value})
