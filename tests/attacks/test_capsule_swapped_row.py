"""The accuser puts other rows of the order into the capsule, each with a proof that holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterfoil.training.recipes.digits import order_digits
from counterfoil_core.bundle.capsule import CapsuleContents, OrderPart
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.state import ChunkProof, chunk_count, chunk_proofs, tensor_digest
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_resources.digits import load_digits
from support.capsules import DISPUTED, adjudicated, evidence_of, record_cheat, refused, save
from support.jobs import Job

Proofs = tuple[ChunkProof, ...]


@pytest.fixture(scope="module")
def wide_job(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Job:
    """A row of the schedule is 12,000 bytes, so that steps lie in different chunks."""
    images, labels = load_digits()
    draft = order_digits(images, labels, steps=3, batch_size=1500, width=2, checkpoint_every=3, seed=11)
    return record_cheat(tmp_path_factory.mktemp("wide"), draft, trainer_key, DISPUTED)


@pytest.fixture(scope="module")
def wide(wide_job: Job) -> CapsuleContents:
    return evidence_of(wide_job.run)


def other_part(contents: CapsuleContents, **parts: object) -> CapsuleContents:
    return replace(contents, part=OrderPart(**(vars(contents.part) | parts)))  # type: ignore[arg-type]


def test_control(wide: CapsuleContents, tmp_path: Path) -> None:
    assert adjudicated(save(wide, tmp_path / "a.cfoil")).outcome is AdjudicationOutcome.CONFIRMED


def test_the_schedule_of_another_step(wide: CapsuleContents, wide_job: Job, tmp_path: Path) -> None:
    with BundleReader.open(wide_job.order) as reader:
        other = chunk_proofs(reader.schedule(), [0])
    assert [proof.index for proof in wide.part.schedule] == [1, 2]
    for proofs in (other, (*other, wide.part.schedule[1]), (*other, *wide.part.schedule)):
        spoiled = save(other_part(wide, schedule=proofs), tmp_path / "a.cfoil")
        refused(spoiled, "does not prove that its rows of the schedule are those of the order")


def test_other_rows_of_the_data(sparse_evidence: CapsuleContents, tmp_path: Path) -> None:
    """Chunks with other rows, each with a proof that holds, in the place of the batch's, beside it, or twice."""
    spec = sparse_evidence.manifest.data["images"]
    images, _ = load_digits()
    assert chunk_count(spec.dtype, spec.shape) == 8
    assert tensor_digest("images", images) == spec.digest
    wanted = sparse_evidence.part.data["images"]
    others = tuple(proof for proof in chunk_proofs(images, range(8)) if proof not in wanted)
    assert len(wanted) + len(others) == 8
    assert adjudicated(save(sparse_evidence, tmp_path / "a.cfoil")).outcome is AdjudicationOutcome.CONFIRMED
    tricks: list[Proofs] = [
        (others[0], *wanted[1:]),
        tuple(sorted((others[0], *wanted), key=lambda proof: proof.index)),
        wanted[1:],
        (*wanted, wanted[-1]),
        wanted[::-1],
        chunk_proofs(images, range(8)),
    ]
    for proofs in tricks:
        spoiled = other_part(sparse_evidence, data={**sparse_evidence.part.data, "images": proofs})
        refused(save(spoiled, tmp_path / "a.cfoil"), "data array 'images' are those of the order")


def test_rows_that_a_proof_gives_out_as_others(sparse_evidence: CapsuleContents, tmp_path: Path) -> None:
    """A chunk and its proof under the number of the one that is wanted."""
    images, _ = load_digits()
    first, *rest = sparse_evidence.part.data["images"]
    other = next(proof for proof in chunk_proofs(images, range(7)) if proof not in (first, *rest))
    proofs = (replace(other, index=first.index), *rest)
    spoiled = other_part(sparse_evidence, data={**sparse_evidence.part.data, "images": proofs})
    refused(save(spoiled, tmp_path / "a.cfoil"), "data array 'images' are those of the order")


def test_a_row_of_the_accusers_own(evidence: CapsuleContents, tmp_path: Path) -> None:
    (chunk,) = evidence.part.data["labels"]
    labels = np.frombuffer(chunk.chunk, "<i8").copy()
    labels[7] = 9 - labels[7]
    proofs = (replace(chunk, chunk=labels.tobytes()),)
    spoiled = other_part(evidence, data={**evidence.part.data, "labels": proofs})
    refused(save(spoiled, tmp_path / "a.cfoil"), "data array 'labels'")


def test_an_array_too_few_or_under_another_name(evidence: CapsuleContents, tmp_path: Path) -> None:
    data = evidence.part.data
    refused(
        save(other_part(evidence, data={"images": data["images"]}), tmp_path / "a.cfoil"),
        "not those that its program reads",
    )
    swapped = {"images": data["labels"], "labels": data["labels"]}
    report = adjudicated(save(other_part(evidence, data=swapped), tmp_path / "b.cfoil"))
    assert report.outcome is AdjudicationOutcome.REFUSED
