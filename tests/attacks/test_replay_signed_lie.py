"""The trainer changes a recorded run and signs it again: everything is consistent, and replay finds the step."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from counterfoil.audit.events import DisputeLocated, ResumedFromCheckpoint, StepMatch, StepReplayed
from counterfoil.audit.outcome import CheckNumber, CheckState, Outcome
from counterfoil.bundle.reader import BundleReader
from counterfoil.commit.merkle import verify_inclusion
from counterfoil.commit.state import state_root
from counterfoil.rounding.log import SiteLog, decode, encode
from counterfoil.training.order import load_order
from support.bundles import change, flip_bit
from support.jobs import audited, replace_bytes, set_row, sign_again


@pytest.fixture
def run(tmp_path: Path, digits_job) -> Path:
    return Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))


def disputed(run: Path, order: Path, step: int, parts: tuple[str, ...]):
    result = audited(run, order)
    report = result.report
    assert report.outcome is Outcome.DISPUTED, report.reason
    assert report.dispute is not None
    assert report.dispute.confirmed
    assert report.dispute.step == step
    assert report.dispute.parts == parts
    assert result.check(CheckNumber.COMMITMENTS).state is CheckState.PASSED
    assert result.check(CheckNumber.REPLAY).state is CheckState.FAILED
    dispute = report.dispute
    verify_inclusion(dispute.trainer_leaf, step, 7, dispute.inclusion_proof, report.run_root)
    return result


def test_control_signing_again_changes_nothing(run, digits_job, trainer_key):
    sign_again(run, trainer_key)
    assert audited(run, digits_job.order).report.outcome is Outcome.VERIFIED


@pytest.mark.parametrize("step", [1, 3, 5])
def test_a_state_root_between_checkpoints(run, digits_job, trainer_key, step):
    set_row(run, "/run/state_roots", step, np.arange(32))
    sign_again(run, trainer_key)
    result = disputed(run, digits_job.order, step, ("state",))
    # At the next checkpoint the states turn out equal: the root was a lie, the training was not.
    assert result.report.dispute.compared_at == step + 1
    assert result.report.dispute.tensors == ()
    assert result.report.mismatched_steps == (step,)


def test_a_state_root_at_a_checkpoint(run, digits_job, trainer_key):
    set_row(run, "/run/state_roots", 4, np.arange(32))
    sign_again(run, trainer_key)
    disputed(run, digits_job.order, 4, ("state",))


@pytest.mark.parametrize("step", [2, 6])
def test_a_weight_of_a_checkpoint_with_its_root(run, digits_job, trainer_key, step):
    flip_bit(run, f"/run/checkpoints/{step:010d}/head.weight", 9, 22)
    with BundleReader.open(run) as reader:
        root = state_root(reader.checkpoint(step))
    set_row(run, "/run/state_roots", step, np.frombuffer(root.value, np.uint8))
    sign_again(run, trainer_key)
    result = disputed(run, digits_job.order, step, ("state",))
    dispute = result.report.dispute
    assert dispute.compared_at == step
    (tensor,) = dispute.tensors
    assert (tensor.name, tensor.differing) == ("head.weight", 1)
    assert np.ravel_multi_index(tensor.index, tensor.shape) == 9
    assert tensor.max_ulps == 2**22
    assert tensor.max_abs == abs(tensor.trainer - tensor.replay) > 0
    # The replay goes on from the changed checkpoint, so the next step differs from what the trainer computed.
    if step == 2:
        assert result.report.mismatched_steps[:2] == (2, 3)
        assert result.of(ResumedFromCheckpoint)[0].step == 2


@pytest.mark.parametrize("step", [1, 4])
def test_a_loss(run, digits_job, trainer_key, step):
    change(run, "/run/losses", lambda losses: losses * np.where(np.arange(6) == step - 1, 0.5, 1.0))
    sign_again(run, trainer_key)
    result = disputed(run, digits_job.order, step, ("loss",))
    assert result.report.mismatched_steps == (step,)
    assert result.report.dispute.trainer_loss == result.report.dispute.replay_loss / 2
    # The state agrees, so nothing has to be made up for.
    assert not result.of(ResumedFromCheckpoint)
    assert all(e.row.match is StepMatch.MATCH for e in result.of(StepReplayed) if e.row.step != step)


def test_a_fingerprint(run, digits_job, trainer_key):
    flip_bit(run, "/run/fingerprints", 70, 5)
    sign_again(run, trainer_key)
    with BundleReader.open(run) as reader:
        step = 70 // len(reader.fingerprints(1)) + 1
    disputed(run, digits_job.order, step, ("fingerprints",))


def rewrite_log(run: Path, step: int, edit) -> None:
    """Replace the log of one step; all others stay."""
    with BundleReader.open(run) as reader:
        elements = [site.elements for site in load_order(reader).program.sites]
        logs = [reader.log(number) for number in range(1, reader.manifest.steps + 1)]
    logs[step - 1] = encode(edit(list(decode(logs[step - 1], elements)), elements))
    replace_bytes(run, "/run/log", b"".join(logs))
    change(run, "/run/log_ends", lambda ends: np.cumsum([len(log) for log in logs]).astype(ends.dtype))


def test_a_direction_of_the_log(run, digits_job, trainer_key):
    """The trainer claims to have rounded another way than the state shows."""

    def flip(sites, elements):
        number = next(i for i, site in enumerate(sites) if len(site.indices))
        ups = sites[number].ups.copy()
        ups[0] = not ups[0]
        sites[number] = SiteLog(sites[number].exponent, sites[number].indices, ups)
        return sites

    rewrite_log(run, 3, flip)
    sign_again(run, trainer_key)
    result = audited(run, digits_job.order)
    assert result.report.outcome is Outcome.DISPUTED
    assert result.report.dispute.step == 3
    assert "fingerprints" in result.report.dispute.parts


def test_an_entry_far_from_any_midpoint_is_a_contradiction(run, digits_job, trainer_key):
    """It changes no value, so every step matches; but no honest trainer writes it."""

    def add(sites, elements):
        number = next(i for i, site in enumerate(sites) if not len(site.indices) and elements[i] > 50)
        sites[number] = SiteLog(sites[number].exponent, np.array([7, 20]), np.array([True, False]))
        return sites

    rewrite_log(run, 5, add)
    sign_again(run, trainer_key)
    result = audited(run, digits_job.order)
    assert result.report.outcome is Outcome.INCONCLUSIVE
    assert result.report.contradictions == 2
    assert result.report.mismatched_steps == ()
    assert result.check(CheckNumber.LOG).state is CheckState.FAILED
    assert "log was altered" in result.report.reason


def test_entries_left_out_are_omissions(run, digits_job, trainer_key):
    def clear(sites, elements):
        return [SiteLog(site.exponent, site.indices[:0], site.ups[:0]) for site in sites]

    rewrite_log(run, 5, clear)
    sign_again(run, trainer_key)
    result = audited(run, digits_job.order)
    assert result.report.outcome is Outcome.INCONCLUSIVE
    assert result.report.omissions > 0
    assert result.report.mismatched_steps == ()


@pytest.mark.parametrize("by", [1, 2, -2])
def test_a_scale_exponent_that_is_off(run, digits_job, trainer_key, by):
    """Off by one it is used, and gives another grid; off by more it is a contradiction and not used."""

    def shift(sites, elements):
        number = next(i for i, site in enumerate(sites) if elements[i] > 50)
        sites[number] = SiteLog(sites[number].exponent + by, sites[number].indices, sites[number].ups)
        return sites

    rewrite_log(run, 2, shift)
    sign_again(run, trainer_key)
    result = audited(run, digits_job.order)
    assert result.report.outcome is not Outcome.VERIFIED
    if abs(by) > 1:
        assert result.report.contradictions == 1


def test_a_log_that_cannot_be_read_is_refused(run, digits_job, trainer_key):
    """Without the log the step cannot be replayed: nobody is accused."""
    change(run, "/run/log", lambda log: np.where(np.arange(len(log)) == 0, 99, log))
    sign_again(run, trainer_key)
    result = audited(run, digits_job.order)
    assert result.report.outcome is Outcome.REFUSED
    assert "rounding log of step 1" in result.report.reason


def test_a_second_lie_is_found_too(run, digits_job, trainer_key):
    for step in (1, 5):
        set_row(run, "/run/state_roots", step, np.arange(32))
    sign_again(run, trainer_key)
    result = disputed(run, digits_job.order, 1, ("state",))
    assert result.report.mismatched_steps == (1, 5)
    assert {event.dispute.step for event in result.of(DisputeLocated)} == {1}
