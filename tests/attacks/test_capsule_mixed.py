"""A capsule whose parts do not belong together, or are of somebody else: a table of what is mixed and the sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.capsule import CapsuleContents
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.outcome import CheckNumber, CheckState
from support.capsules import DISPUTED, adjudicated, crafted, refused, save
from support.jobs import Job, digits_order


@pytest.fixture(scope="module")
def at(digits_job: Job) -> Callable[[int], CapsuleContents]:
    """What an accuser would gather about a step of an honest run of the same order."""
    made: dict[int, CapsuleContents] = {}
    return lambda step: made.get(step) or made.setdefault(step, crafted(digits_job.run, step))


Mix = Callable[[CapsuleContents, Callable[[int], CapsuleContents]], CapsuleContents]
COMMITTED, BELONGS = "is not the one that the run commits to", "belongs to the signed run"


def renamed(state: Mapping[str, Any]) -> dict[str, Any]:
    return {name.replace("head.bias", "head.bias2"): array for name, array in state.items()}


def proof(which: int, change: Callable[[tuple[Digest, ...]], tuple[Digest, ...]]) -> Mix:
    """Another inclusion proof of one of the two leaves."""

    def mix(evidence: CapsuleContents, _: Any) -> CapsuleContents:
        leaves = list(evidence.leaves)
        leaves[which] = replace(leaves[which], proof=change(leaves[which].proof))
        return replace(evidence, leaves=tuple(leaves))

    return mix


def longer_way(_: CapsuleContents, at: Callable[[int], CapsuleContents]) -> CapsuleContents:
    """Every state is committed, so a dispute about step 4 starts from step 3, and not from step 2."""
    it, before = at(4), at(3)
    logs, prints = before.logs + it.logs, before.fingerprints + it.fingerprints
    leaves = (*before.leaves, it.leaves[1])
    return replace(it, state=before.state, leaves=leaves, logs=logs, fingerprints=prints)


PROOFS: Mapping[str, Callable[[tuple[Digest, ...]], tuple[Digest, ...]]] = {
    "longer": lambda it: (*it, Digest.of(b"one more")),
    "shorter": lambda it: it[:-1],
    "empty": lambda it: (),
    "reversed": lambda it: it[::-1],
}
MIXES: Mapping[str, tuple[Mix, str]] = {
    # Another seed would give other values in the step; but the trainer's signature names the order.
    "manifest": (lambda it, at: replace(it, manifest=replace(it.manifest, seed=12)), "signed a run of the order"),
    "program": (
        lambda it, at: replace(it, programs=Turns.alone(digits_order(width=5).program.to_bytes())),
        "is not the one that the order commits to",
    ),
    "state of the step": (lambda it, at: replace(at(4), state=at(3).state), f"{COMMITTED} after step 3"),
    "state of the next step": (lambda it, at: replace(at(4), state=at(5).state), f"{COMMITTED} after step 3"),
    # The leaf is a true one of the run, but not the one right before the disputed step.
    "state with its own leaf": (
        lambda it, at: replace(at(4), state=at(3).state, leaves=(at(3).leaves[0], at(4).leaves[1])),
        "not those of neighbouring steps",
    ),
    "a longer way": (longer_way, "starts from"),
    "one ulp": (
        lambda it, at: replace(
            it, state={**it.state, "head.bias": np.nextafter(it.state["head.bias"], np.float32(np.inf))}
        ),
        COMMITTED,
    ),
    "a name": (lambda it, at: replace(it, state=renamed(it.state)), "state tensors are not those"),
    # To accuse an honest run with what a dishonest one of the same order has.
    "leaf": (
        lambda it, at: replace(at(DISPUTED), leaves=(at(DISPUTED).leaves[0], it.leaves[1])),
        f"leaf of step {DISPUTED} {BELONGS}",
    ),
    "leaf with the honest proof": (
        lambda it, at: replace(
            at(DISPUTED),
            leaves=(at(DISPUTED).leaves[0], replace(it.leaves[1], proof=at(DISPUTED).leaves[1].proof)),
        ),
        f"leaf of step {DISPUTED} {BELONGS}",
    ),
    "claim": (lambda it, at: replace(it, claim=at(DISPUTED).claim), f"leaf of step {DISPUTED - 1} {BELONGS}"),
    # An honest leaf with another run's log would come out different: the log belongs to the leaf.
    "log": (lambda it, at: replace(at(DISPUTED), logs=it.logs), "log"),
    "fingerprints": (lambda it, at: replace(at(DISPUTED), fingerprints=it.fingerprints), "fingerprint"),
    **{
        f"{name} proof of leaf {which}": (proof(which, change), BELONGS)
        for which in (0, 1)
        for name, change in PROOFS.items()
    },
}


@pytest.mark.parametrize("name", MIXES)
def test_it_is_refused(
    name: str, evidence: CapsuleContents, at: Callable[[int], CapsuleContents], tmp_path: Path
) -> None:
    mix, sentence = MIXES[name]
    refused(save(mix(evidence, at), tmp_path / "a.cfoil"), sentence)


def test_controls(evidence: CapsuleContents, at: Callable[[int], CapsuleContents], tmp_path: Path) -> None:
    assert adjudicated(save(evidence, tmp_path / "a.cfoil")).outcome is AdjudicationOutcome.CONFIRMED
    assert adjudicated(save(at(DISPUTED), tmp_path / "b.cfoil")).outcome is AdjudicationOutcome.REJECTED


def test_the_clients_own_order_is_another(capsule: Path, evidence: CapsuleContents, tmp_path: Path) -> None:
    digits_order(seed=12).write(tmp_path / "other.cfoil")
    report = refused(capsule, "the client's order is", order=tmp_path / "other.cfoil")
    assert report.order_source == "client"
    with BundleReader.open(tmp_path / "other.cfoil") as order:
        assert (report.order_digest, report.run_order) == (order.manifest.digest, evidence.manifest.digest)
    assert report.checks[CheckNumber.ORDER - 1].state is CheckState.FAILED
