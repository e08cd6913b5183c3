"""The accuser mixes a leaf, a log, fingerprints or a claim of another run of the same order into a capsule."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from counterfoil_core.bundle.capsule import CapsuleContents
from counterfoil_core.values.adjudication import AdjudicationOutcome
from support.capsules import DISPUTED, adjudicated, crafted, refused, save
from support.jobs import Job


@pytest.fixture(scope="module")
def honest(digits_job: Job) -> CapsuleContents:
    return crafted(digits_job.run, DISPUTED)


def test_controls(evidence: CapsuleContents, honest: CapsuleContents, tmp_path: Path) -> None:
    assert adjudicated(save(evidence, tmp_path / "a.cfoil")).outcome is AdjudicationOutcome.CONFIRMED
    assert adjudicated(save(honest, tmp_path / "b.cfoil")).outcome is AdjudicationOutcome.REJECTED


def test_to_accuse_an_honest_run_with_a_leaf_of_a_dishonest_one(
    evidence: CapsuleContents, honest: CapsuleContents, tmp_path: Path
) -> None:
    mixed = replace(honest, leaves=(honest.leaves[0], evidence.leaves[1]))
    refused(save(mixed, tmp_path / "a.cfoil"), f"leaf of step {DISPUTED} belongs to the signed run")


def test_with_the_proof_of_the_honest_leaf(evidence: CapsuleContents, honest: CapsuleContents, tmp_path: Path) -> None:
    leaf = replace(evidence.leaves[1], proof=honest.leaves[1].proof)
    refused(
        save(replace(honest, leaves=(honest.leaves[0], leaf)), tmp_path / "a.cfoil"),
        f"leaf of step {DISPUTED} belongs to the signed run",
    )


def test_the_claim_of_another_run(evidence: CapsuleContents, honest: CapsuleContents, tmp_path: Path) -> None:
    mixed = replace(evidence, claim=honest.claim)
    refused(save(mixed, tmp_path / "a.cfoil"), f"leaf of step {DISPUTED - 1} belongs to the signed run")


@pytest.mark.parametrize("part", ["logs", "fingerprints"])
def test_log_or_fingerprints_of_another_run(
    evidence: CapsuleContents, honest: CapsuleContents, tmp_path: Path, part: str
) -> None:
    """An honest leaf with another run's log would come out different: the log belongs to the leaf."""
    mixed = replace(honest, **{part: getattr(evidence, part)})
    refused(save(mixed, tmp_path / "a.cfoil"), f"{part.removesuffix('s')}")
