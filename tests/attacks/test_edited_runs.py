"""Runs that are edited and signed again: a table of edit, step or check, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.events import DisputeLocated, ResumedFromCheckpoint, StepReplayed
from counterfoil_core.values.outcome import CheckNumber, Outcome
from counterfoil_core.values.steptable import StepMatch
from support.bundles import change, flip_bit
from support.expectations import disputed, operator_of, refused, tensors_of
from support.forgery import checkpoint, forge_checkpoint, rewrite_log, set_state_root
from support.jobs import audited, digits_order, replace_bytes, set_row

ROOTS, JUNK = "/run/state_roots", np.arange(32)
CONTENTS, COMMITMENTS = CheckNumber.ORDER_CONTENTS, CheckNumber.COMMITMENTS
Edit = Callable[[Path], Any]


def another_program(run: Path) -> None:
    with BundleReader.open(run) as reader:
        program = reader.program()
    assert b"aten.relu.default" in program
    replace_bytes(run, "/order/program", program.replace(b"aten.relu.default", b"aten.abs.default", 1))


REFUSED: Mapping[str, tuple[Edit, CheckNumber, str]] = {
    "labels": (lambda run: change(run, "/order/data/labels", lambda a: (a + 1) % 10), CONTENTS, "array 'labels'"),
    "images": (lambda run: change(run, "/order/data/images", lambda a: 16 - a), CONTENTS, "array 'images'"),
    "learning rates": (lambda run: change(run, "/order/scalars", lambda a: a * 2), CONTENTS, "per-step scalars"),
    "program": (another_program, CONTENTS, "program"),
    "initial state": (lambda run: flip_bit(run, "/order/initial/stem.weight", 2, 20), CONTENTS, "initial state"),
    "first leaf": (
        lambda run: set_state_root(run, 0, digits_order(seed=12).initial), COMMITMENTS,
        "another state before its first step",
    ),
    "junk in the first leaf": (
        lambda run: set_row(run, ROOTS, 0, JUNK), COMMITMENTS, "another state before its first step"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str, forge: Any, digits_job: Any) -> None:
    edit, check, sentence = REFUSED[name]
    refused(forge(edit), digits_job.order, check, sentence)


@pytest.mark.parametrize("step", [1, 4])
def test_half_the_loss(forge, digits_job, step):
    half = np.where(np.arange(6) == step - 1, 0.5, 1.0)
    run = forge(lambda run: change(run, "/run/losses", lambda losses: losses * half))
    result = disputed(run, digits_job.order, step, parts=("loss",))
    assert result.report.dispute.trainer_loss == result.report.dispute.replay_loss / 2
    # The state agrees, so nothing has to be made up for.
    assert not result.of(ResumedFromCheckpoint)
    assert all(e.row.match is StepMatch.MATCH for e in result.of(StepReplayed) if e.row.step != step)


def between(first, last, share):
    return {
        name: (first[name] + share * (last[name] - first[name])).astype(first[name].dtype)
        if first[name].dtype == np.float32
        else first[name]
        for name in first
    }


def interpolated(run: Path) -> None:
    first, last = checkpoint(run, 2), checkpoint(run, 6)
    set_state_root(run, 3, between(first, last, 0.25))
    forge_checkpoint(run, 4, between(first, last, 0.5))
    set_state_root(run, 5, between(first, last, 0.75))


def without_momentum(run: Path) -> None:
    state = checkpoint(run, 4)
    forge_checkpoint(run, 4, state | {"momentum:head.bias": np.zeros_like(state["momentum:head.bias"])})


def bit_of_a_weight(step: int) -> Edit:
    def edit(run: Path) -> None:
        flip_bit(run, f"/run/checkpoints/{step:010d}/head.weight", 9, 22)
        set_state_root(run, step, checkpoint(run, step))

    return edit


def junk_roots(*steps: int) -> Edit:
    def edit(run: Path) -> None:
        for step in steps:
            set_row(run, ROOTS, step, JUNK)

    return edit


@dataclass
class State:
    """An edit of states or of their roots, and all steps that are found."""

    edit: Edit
    found: tuple[int, ...]
    among: tuple[str, ...] = ()
    damaged: bool = False


# The replay goes on from the changed checkpoint, so the next step does not follow from it either. At the checkpoint
# behind a junk root the states turn out equal: the root was a lie, the training was not.
STATES: Mapping[str, State] = {
    "interpolated": State(interpolated, (3, 5), ("stem.weight", "momentum:head.weight")),
    "slot of a checkpoint": State(without_momentum, (4, 5), ("momentum:head.bias",)),
    "weight of a checkpoint": State(bit_of_a_weight(2), (2, 3), ("head.weight",)),
    "weight of the last checkpoint": State(bit_of_a_weight(6), (6,), ("head.weight",)),
    "root of step 1": State(junk_roots(1), (1,)),
    "root of step 3": State(junk_roots(3), (3,)),
    "root of step 5": State(junk_roots(5), (5,)),
    "root of a checkpoint": State(junk_roots(4), (4,), damaged=True),
    "two roots": State(junk_roots(1, 5), (1, 5)),
}


@pytest.mark.parametrize("name", STATES)
def test_a_state_is_disputed(name: str, forge: Any, digits_job: Any) -> None:
    row = STATES[name]
    step = row.found[0]
    result = disputed(forge(row.edit), digits_job.order, step, parts=("state",), only=False, damaged=row.damaged)
    assert operator_of(result) is None
    dispute = result.report.dispute
    assert result.report.mismatched_steps[: len(row.found)] == row.found
    assert {event.dispute.step for event in result.of(DisputeLocated)} == {step}
    assert set(row.among) <= tensors_of(result)
    if name.startswith("weight"):
        (tensor,) = dispute.tensors
        assert dispute.compared_at == step
        assert (tensor.differing, np.ravel_multi_index(tensor.index, tensor.shape)) == (1, 9)
        assert tensor.max_ulps == 2**22
        assert tensor.max_abs == abs(tensor.trainer - tensor.replay) > 0
        assert step == 6 or result.of(ResumedFromCheckpoint)[0].step == step
    elif name.startswith("root of step"):
        assert (dispute.compared_at, dispute.tensors) == (step + 1, ())
        assert result.report.mismatched_steps == row.found


def test_one_direction_of_a_log(forge, digits_job):
    """The trainer claims to have rounded one element another way than its state shows."""

    def flip(sites, elements):
        number = next(i for i, site in enumerate(sites) if len(site.indices))
        ups = sites[number].ups.copy()
        ups[0] = not ups[0]
        sites[number] = SiteLog(sites[number].exponent, sites[number].indices, ups)
        return sites

    report = audited(forge(lambda run: rewrite_log(run, 3, flip)), digits_job.order).report
    assert report.outcome is Outcome.DISPUTED
    assert report.dispute.step == 3
    assert "fingerprints" in report.dispute.parts
