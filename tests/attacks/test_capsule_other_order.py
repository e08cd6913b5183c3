"""The order of another client, or a changed one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.capsule import CapsuleContents
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.outcome import CheckNumber, CheckState
from support.capsules import refused, save
from support.jobs import digits_order


def test_the_clients_own_order_is_another(capsule: Path, evidence: CapsuleContents, tmp_path: Path) -> None:
    digits_order(seed=12).write(tmp_path / "other.cfoil")
    report = refused(capsule, "the client's order is", order=tmp_path / "other.cfoil")
    assert report.order_source == "client"
    with BundleReader.open(tmp_path / "other.cfoil") as order:
        assert (report.order_digest, report.run_order) == (order.manifest.digest, evidence.manifest.digest)
    assert report.checks[CheckNumber.ORDER - 1].state is CheckState.FAILED


def test_a_manifest_that_the_trainer_never_saw(evidence: CapsuleContents, tmp_path: Path) -> None:
    """Another seed would give other values in the step; but the trainer's signature names the order."""
    other = replace(evidence.manifest, seed=12)
    refused(save(replace(evidence, manifest=other), tmp_path / "a.cfoil"), "signed a run of the order")


def test_another_program(evidence: CapsuleContents, tmp_path: Path) -> None:
    program = digits_order(width=5).program.to_bytes()
    refused(
        save(replace(evidence, programs=Turns.alone(program)), tmp_path / "a.cfoil"),
        "is not the one that the order commits to",
    )
