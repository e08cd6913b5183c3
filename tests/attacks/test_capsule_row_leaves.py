"""Of an order whose rows are leaves: the accuser puts other rows into the capsule, or its client another tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterfoil_core.base.errors import CommitmentError
from counterfoil_core.bundle.capsule import CapsuleContents, OrderPart
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.rowtree import ROW_KEY_BYTES, RowProof, row_proofs, row_root
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.adjudication import AdjudicationOutcome
from support.bundles import opened_for_change
from support.capsules import DISPUTED, adjudicated, crafted, evidence_of, hostile_capsule, record_cheat, refused, save
from support.jobs import Job, audited, digits_order, record_job

STEP, ROWS = DISPUTED, 200
KEY = bytes(range(ROW_KEY_BYTES))


@pytest.fixture(scope="module")
def cheat(trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Job:
    return record_cheat(tmp_path_factory.mktemp("leaves"), digits_order().with_row_leaves(KEY), trainer_key)


@pytest.fixture(scope="module")
def evidence(cheat: Job) -> CapsuleContents:
    return evidence_of(cheat.run)


@pytest.fixture(scope="module", params=[True, False], ids=["row leaves", "chunks"])
def honest(request: pytest.FixtureRequest, trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Job:
    draft = digits_order(commit_every=1)
    draft = draft.with_row_leaves() if request.param else draft
    return record_job(tmp_path_factory.mktemp("honest"), draft, trainer_key)


def other_rows(contents: CapsuleContents, name: str, proofs: tuple[RowProof, ...]) -> CapsuleContents:
    return replace(contents, part=replace(contents.part, rows={**contents.part.rows, name: proofs}))


def test_control(evidence: CapsuleContents, tmp_path: Path) -> None:
    assert adjudicated(save(evidence, tmp_path / "a.cfoil")).outcome is AdjudicationOutcome.CONFIRMED


Spoil = Callable[[tuple[RowProof, ...], tuple[RowProof, ...]], tuple[RowProof, ...]]
SPOILED: dict[str, Spoil] = {
    "another row of the order": lambda own, other: (other[0], *own[1:]),
    "another row under the number of one": lambda own, other: (replace(other[0], row=own[0].row), *own[1:]),
    "a row too many": lambda own, other: tuple(sorted((*own, other[0]), key=lambda proof: proof.row)),
    "a row too few": lambda own, other: own[1:],
    "a row twice": lambda own, other: (*own, own[-1]),
    "another order of the rows": lambda own, other: own[::-1],
    "a value of one's own": lambda own, other: (replace(own[0], value=bytes(8)[:-1] + b"\7"), *own[1:]),
    "another salt": lambda own, other: (replace(own[0], salt=own[1].salt), *own[1:]),
    "another sibling": lambda own, other: (replace(own[0], path=(own[1].path[0], *own[0].path[1:])), *own[1:]),
}  # fmt: skip


@pytest.mark.parametrize("what", SPOILED)
def test_a_row_whose_proof_fails_is_refused(what: str, cheat: Job, evidence: CapsuleContents, tmp_path: Path) -> None:
    own = evidence.part.rows["labels"]
    with h5py.File(cheat.order, "r") as file:
        labels = file["order/data/labels"][:]
    others = row_proofs(KEY, "labels", labels, np.setdiff1d(np.arange(ROWS), [proof.row for proof in own]))
    spoiled = SPOILED[what](own, others)
    assert spoiled != own
    path = tmp_path / "a.cfoil"
    refused(save(other_rows(evidence, "labels", spoiled), path), "data array 'labels' are those of the order")


def test_a_proof_of_another_length_is_refused(evidence: CapsuleContents, tmp_path: Path) -> None:
    first, *rest = evidence.part.rows["images"]
    for path in (first.path[:-1], (*first.path, first.path[0])):
        spoiled = other_rows(evidence, "images", (replace(first, path=path), *rest))
        assert adjudicated(save(spoiled, tmp_path / "a.cfoil")).outcome is AdjudicationOutcome.REFUSED


@pytest.mark.parametrize("name", ["values", "salts", "proofs", "rows"])
def test_a_dataset_that_is_too_short_is_refused(name: str, evidence: CapsuleContents, tmp_path: Path) -> None:
    with hostile_capsule(tmp_path, evidence) as (path, file):
        group = file["capsule/data/labels"]
        held = group[name][:]
        del group[name]
        group.create_dataset(name, data=held[:-1])
    refused(path, "/capsule/data/labels does not hold")


def test_a_row_that_the_array_does_not_have_is_refused(evidence: CapsuleContents, tmp_path: Path) -> None:
    for row in (-1, ROWS, 2**62):
        first, *rest = evidence.part.rows["labels"]
        spoiled = other_rows(evidence, "labels", (replace(first, row=row), *rest))
        refused(save(spoiled, tmp_path / "a.cfoil"), "holds a row that its array does not have")


def test_chunks_in_the_place_of_rows_are_refused(
    evidence: CapsuleContents, trainer_key: SigningKey, tmp_path: Path
) -> None:
    chunked = record_cheat(tmp_path, digits_order(), trainer_key)
    chunks = evidence_of(chunked.run).part
    mixed = OrderPart(chunks.schedule, chunks.scalars, chunks.data, {})
    refused(save(replace(evidence, part=mixed), tmp_path / "a.cfoil"), "do not know")


@pytest.mark.parametrize("lie", ["row root", "key"])
def test_an_order_whose_row_tree_is_of_other_rows_is_refused_by_trainer_and_auditor(
    lie: str, cheat: Job, trainer_key: SigningKey, tmp_path: Path
) -> None:
    """Otherwise its client could put other rows into a capsule than its trainer was given."""
    draft = digits_order().with_row_leaves(KEY)
    if lie == "row root":
        images = draft.data["images"].copy()
        images[5] += 1
        data = dict(draft.manifest.data)
        data["images"] = replace(data["images"], rows=row_root(KEY, "images", images))
        draft = replace(draft, manifest=replace(draft.manifest, data=data))
        draft.write(tmp_path / "job.cfoil", trial=False)
    else:
        draft.write(tmp_path / "job.cfoil", trial=False)
        with opened_for_change(tmp_path / "job.cfoil") as file:
            file["order/row_key"][0] ^= 1
    with BundleReader.open(tmp_path / "job.cfoil") as reader, pytest.raises(CommitmentError, match="row tree"):
        reader.check_order_contents()
    with pytest.raises(CommitmentError, match="row tree"):
        record_job(tmp_path, replace(draft, row_key=bytes(ROW_KEY_BYTES)) if lie == "key" else draft, trainer_key)


def test_an_audit_refuses_a_run_with_another_key(cheat: Job, tmp_path: Path) -> None:
    path = tmp_path / "run.cfoil"
    path.write_bytes(cheat.run.read_bytes())
    with opened_for_change(path) as file:
        file["order/row_key"][3] ^= 1
    assert "row tree of the data array" in audited(path).report.reason


def test_a_capsule_without_rows_about_a_log_that_can_be_decoded_is_refused(honest: Job, tmp_path: Path) -> None:
    contents = crafted(honest.run, STEP)
    empty = replace(contents, part=replace(contents.part, data={}, rows={}))
    refused(save(empty, tmp_path / "a.cfoil"), "not those that its program reads")
    names = {name: value for name, value in contents.part.data.items() if name == "labels"}
    rows = {name: value for name, value in contents.part.rows.items() if name == "labels"}
    part = replace(contents, part=replace(contents.part, data=names, rows=rows))
    refused(save(part, tmp_path / "a.cfoil"), "not those that its program reads")
