"""Inclusion proofs that are too long or too short for the tree."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle import layout
from counterfoil_core.bundle.capsule import CapsuleContents
from support.capsules import refused, save
from support.jobs import replace_bytes

EXTRA = Digest.of(b"one more")


@pytest.mark.parametrize("change", ["longer", "shorter"])
def test_of_a_chunk(sparse_evidence: CapsuleContents, tmp_path: Path, change: str) -> None:
    """How long the proof of a chunk is follows from its number, so the file cannot say it."""
    first, *rest = sparse_evidence.part.data["images"]
    assert first.path
    path = (*first.path, EXTRA) if change == "longer" else first.path[:-1]
    part = replace(
        sparse_evidence.part, data={**sparse_evidence.part.data, "images": (replace(first, path=path), *rest)}
    )
    spoiled = save(replace(sparse_evidence, part=part), tmp_path / "a.cfoil")
    refused(spoiled, "/capsule/data/images does not hold the bytes and the proofs of the chunks that it names")


@pytest.mark.parametrize("value", [["0"] * 64, {}, None, 1, "0" * 63], ids=lambda value: type(value).__name__)
def test_of_something_that_is_no_digest(
    capsule: Path, evidence: CapsuleContents, tmp_path: Path, value: object
) -> None:
    spoiled = tmp_path / "a.cfoil"
    shutil.copyfile(capsule, spoiled)
    leaves = [{"record": leaf.record.to_json(), "proof": [value]} for leaf in evidence.leaves]
    replace_bytes(spoiled, f"/{layout.CAPSULE_LEAVES}", canonical.encode(leaves))
    refused(spoiled, "The inclusion proof of a leaf is not a SHA-256 digest")
