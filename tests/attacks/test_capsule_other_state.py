"""The accuser starts the step from another state than the one that the run commits to before it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterfoil_core.bundle.capsule import CapsuleContents
from support.capsules import crafted, refused, save
from support.jobs import Job


@pytest.mark.parametrize("step", [3, 5])
def test_a_state_of_another_step_of_the_same_run(digits_job: Job, tmp_path: Path, step: int) -> None:
    honest, other = crafted(digits_job.run, 4), crafted(digits_job.run, step)
    mixed = replace(honest, state=other.state)
    refused(save(mixed, tmp_path / "a.cfoil"), "is not the one that the run commits to after step 3")


def test_a_state_with_its_own_leaf(digits_job: Job, tmp_path: Path) -> None:
    """The leaf is a true one of the run, but not the one right before the disputed step."""
    honest, other = crafted(digits_job.run, 4), crafted(digits_job.run, 3)
    mixed = replace(honest, state=other.state, leaves=(other.leaves[0], honest.leaves[1]))
    refused(save(mixed, tmp_path / "a.cfoil"), "not those of neighbouring steps")


def test_a_longer_way_than_needed(digits_job: Job, tmp_path: Path) -> None:
    """Every state is committed, so a dispute about step 4 starts from step 3, and not from step 2."""
    honest, before = crafted(digits_job.run, 4), crafted(digits_job.run, 3)
    longer = replace(
        honest,
        state=before.state,
        leaves=(*before.leaves, honest.leaves[1]),
        logs=before.logs + honest.logs,
        fingerprints=before.fingerprints + honest.fingerprints,
    )
    refused(save(longer, tmp_path / "a.cfoil"), "starts from")


def test_one_ulp(evidence: CapsuleContents, tmp_path: Path) -> None:
    name = "head.bias"
    state = {**evidence.state, name: np.nextafter(evidence.state[name], np.float32(np.inf))}
    refused(save(replace(evidence, state=state), tmp_path / "a.cfoil"), "is not the one that the run commits to")


def test_a_tensor_under_another_name(evidence: CapsuleContents, tmp_path: Path) -> None:
    state = {name.replace("head.bias", "head.bias2"): array for name, array in evidence.state.items()}
    refused(save(replace(evidence, state=state), tmp_path / "a.cfoil"), "state tensors are not those")
