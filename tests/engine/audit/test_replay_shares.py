"""Runs whose steps shares make: replayed on one device, and the part that lies is named."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterfoil
from counterfoil.audit.overview import inspect
from counterfoil.audit.values.delivery import DeliveryOutcome
from counterfoil_core.base.errors import BundleError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import OrderManifest, StepRecord
from counterfoil_core.bundle.shares import ShareRecord, SharesRoot
from counterfoil_core.bundle.stepshares import read_shares
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.statement.verdict import sign_verdict, verify_verdict
from counterfoil_core.values.dispute import Dispute, Right
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.sampling import SegmentRequest
from support.crews import Bent, crewed
from support.delivered import compared, delivered, exported
from support.expectations import run_root, verified
from support.interrupted import go_on, stop_after
from support.jobs import Job, audited, logged_as, put_bytes, record_job, record_run, set_row, sign_again
from support.resuming import request_of, same_end, whole
from support.shared import (
    LIE,
    SHARES,
    STEPS,
    other_draws,
    other_exponents,
    other_gradient,
    other_rows,
    other_sum,
    shared_order,
)

EXACT = counterfoil.ExactPrecision(20)


@pytest.fixture(scope="module", params=[None, EXACT], ids=["float64-24", "exact-20"])
def job(request: Any, trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Job:
    return record_job(tmp_path_factory.mktemp("shares"), shared_order(precision=request.param), trainer_key)


def dispute_of(run: Path, job: Job) -> Dispute:
    report = audited(run, job.order).report
    assert report.outcome is Outcome.DISPUTED, report.reason
    assert report.dispute is not None
    return report.dispute


# Records.


@pytest.mark.sampled(1)
def test_a_run_holds_a_record_for_each_share_under_the_leaf_of_its_step(job: Job) -> None:
    with BundleReader.open(job.run) as reader:
        records = reader.step_records()
        held = reader.shares(LIE)
        assert held is not None
        assert records[LIE].shares == held.root
        assert StepRecord.from_json(records[LIE].to_json()) == records[LIE]
        assert [record.share for record in held.records] == list(range(SHARES))
        assert [ShareRecord.from_json(record.to_json()) for record in held.records] == list(held.records)
        assert SharesRoot.from_json(held.root.to_json()) == held.root
        assert records[LIE].loss == pytest.approx(np.mean([record.loss for record in held.records]), rel=1e-6)
        again = read_shares(held.to_bytes(), reader.log(LIE))
        assert again.root == held.root
        manifest = reader.manifest
        assert OrderManifest.from_bytes(manifest.to_bytes()) == manifest


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cut", [0, 15, 16, 100, -1])
def test_bytes_of_shares_that_are_cut_are_none(job: Job, cut: int) -> None:
    with BundleReader.open(job.run) as reader:
        held = reader.shares(1)
        assert held is not None
        with pytest.raises(ValueError, match="shares"):
            read_shares(held.to_bytes()[:cut], reader.log(1))


def test_an_order_with_one_share_has_no_word_of_shares() -> None:
    assert shared_order(1).manifest == shared_order(None).manifest
    assert b"shares" not in shared_order(1).manifest.to_bytes().replace(b'"title":"shares"', b"")


# Honest runs.


@pytest.mark.sampled(1)
def test_an_honest_run_is_verified_whatever_hardware_replays_it(job: Job) -> None:
    verified(job.run, job.order)
    report = audited(job.run, job.order, perturbation="reversed+rewritten").report
    assert report.outcome is Outcome.VERIFIED, report.reason


def test_without_the_log_it_is_not(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    """The control: one bit of what a share gives, and nothing matches."""
    run = tmp_path / "run.cfoil"
    run.write_bytes(job.run.read_bytes())
    with BundleReader.open(run) as reader:
        held = reader.shares(LIE)
    assert held is not None
    roots = held.roots.copy()
    roots[2, 0, 0] ^= 1
    set_row(run, "/run/shares/roots", LIE - 1, roots)
    sign_again(run, trainer_key)
    found = dispute_of(run, job)
    assert (found.step, found.part) == (LIE, "share 2")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("stopped", [1, 3])
def test_a_recording_that_was_stopped_goes_on_to_the_same_root(
    job: Job, stopped: int, tmp_path: Path, trainer_key: SigningKey
) -> None:
    run = tmp_path / "run.cfoil"
    stop_after(stopped, job.order, run, trainer_key)
    go_on(job.order, run, trainer_key)
    assert run_root(run) == run_root(job.run)


@pytest.mark.sampled(1)
def test_workers_come_to_the_same(job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = whole(request_of(job))
    with crewed(monkeypatch, lambda workplace: Bent(workplace, 2)):
        same_end(whole(request_of(job)), alone, tmp_path)


# Lies.


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("lie", "around", "part", "operator"),
    [
        (other_rows(2), nullcontext, "share 2", ""),
        (other_draws, nullcontext, "share 1", "counterfoil.uniform (forward of 2)"),
        (other_gradient, nullcontext, "update", "aten"),
        (None, other_sum, "combine", ""),
    ],
    ids=["rows", "draws", "gradient", "sum"],
)
def test_a_lie_is_found_in_its_step_its_part_and_its_operator(
    job: Job,
    lie: Any,
    around: type[AbstractContextManager[None]],
    part: str,
    operator: str,
    tmp_path: Path,
    trainer_key: SigningKey,
) -> None:
    with around():
        run = record_run(job.order, tmp_path / "run.cfoil", trainer_key, tamper=lie)
    result = audited(run, job.order).report
    found = result.dispute
    assert found is not None
    assert result.outcome is Outcome.DISPUTED, result.reason
    assert (found.step, found.part, found.right) == (LIE, part, Right.REPLAY)
    assert ("" if found.operator is None else found.operator.where).startswith(operator)
    assert bool(found.operator) == bool(operator)
    assert found.share == (int(part[-1]) if part.startswith("share") else None)
    assert "What differs is" in result.reason
    assert part.split()[0].replace("combine", "combination") in result.reason
    verdict = verify_verdict(sign_verdict(result, trainer_key), trainer_key.public)
    assert verdict.predicate["dispute"]["part"] == part


def test_exponents_that_are_not_those_of_the_shares(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    with other_exponents():
        run = record_run(job.order, tmp_path / "run.cfoil", trainer_key)
    found = dispute_of(run, job)
    assert (found.step, found.part, found.parts) == (1, "combine", ("shares",))
    assert found.finding is not None
    assert "exponents" in found.finding.sentence


def test_a_log_of_a_share_that_nobody_can_read(tmp_path: Path, trainer_key: SigningKey) -> None:
    with logged_as(b"no log"):
        job = record_job(tmp_path, shared_order(), trainer_key)
    found = dispute_of(job.run, job)
    assert (found.step, found.part, found.right) == (1, "share 0", Right.UNREADABLE)


# Files that are not what they should be.


def test_fewer_shares_than_ordered_are_refused(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    run = tmp_path / "run.cfoil"
    run.write_bytes(job.run.read_bytes())
    put_bytes(run, "/run/shares/log_ends", None)
    report = audited(run, job.order).report
    assert report.outcome is Outcome.REFUSED
    assert "/run/shares/log_ends" in report.reason


def test_log_ends_that_do_not_lie_within_the_step_are_refused(
    job: Job, tmp_path: Path, trainer_key: SigningKey
) -> None:
    run = tmp_path / "run.cfoil"
    run.write_bytes(job.run.read_bytes())
    set_row(run, "/run/shares/log_ends", 0, np.full(SHARES, 2**40, np.uint64))
    with BundleReader.open(run) as reader, pytest.raises(BundleError, match="does not cut"):
        reader.step_records()


def test_the_steps_are_as_many_as_ordered(job: Job) -> None:
    with BundleReader.open(job.run) as reader:
        assert reader.extent.steps == STEPS


# Chosen shares.


def test_chosen_shares_of_chosen_steps_verify_nothing_and_say_so(job: Job) -> None:
    report = audited(job.run, job.order, shares=(1, 3), segments=SegmentRequest(numbers=(2, 3))).report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert report.reason.startswith("4 shares of the first steps of 2 of 3 segments were replayed")
    assert "If 1 or more of these 12 pairs" in report.reason
    assert "with a probability of 0.667" in report.reason
    assert "whole steps are replayed for that" in report.reason
    assert (report.steps_replayed, report.dispute) == (0, None)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("shares", "found"), [((2,), True), ((0, 2), True), ((0, 1, 3), False)])
def test_a_lie_in_a_chosen_share_is_disputed_and_one_in_another_is_not_seen(
    job: Job, shares: tuple[int, ...], found: bool, tmp_path: Path, trainer_key: SigningKey
) -> None:
    """Step 3 is the first of the second segment; the step as a whole is replayed where a share differs."""
    run = record_run(job.order, tmp_path / "run.cfoil", trainer_key, tamper=other_rows(2))
    report = audited(run, job.order, shares=shares).report
    assert report.outcome is (Outcome.DISPUTED if found else Outcome.INCONCLUSIVE), report.reason
    if found:
        assert report.dispute is not None
        assert (report.dispute.step, report.dispute.part) == (LIE, "share 2")
        sign_verdict(report, trainer_key)


@pytest.mark.parametrize("shares", [(SHARES,), (0, 0)])
def test_shares_that_a_step_does_not_have_are_refused(job: Job, shares: tuple[int, ...]) -> None:
    report = audited(job.run, job.order, shares=shares).report
    assert report.outcome is Outcome.ERROR
    assert "have the shares 0 to 3" in report.reason


# What is made of a run.


def test_its_weights_are_those_that_were_trained(job: Job, tmp_path: Path) -> None:
    tensors = exported(job.run, tmp_path / "export")
    report = compared(delivered(tmp_path / "weights", tensors), job.run)
    assert report.outcome is DeliveryOutcome.DELIVERED, report
    tensors["4.bias"] += 1
    assert compared(delivered(tmp_path / "other", tensors), job.run).outcome is not DeliveryOutcome.DELIVERED


def test_what_is_in_it_names_its_shares_and_the_program_of_its_update(job: Job) -> None:
    order = inspect(job.run).order
    assert (order.shares, order.shares_added) == (SHARES, True)
    assert [name for name, _ in order.programs] == ["", "update"]
    assert order.combining is not None
    assert order.combining.recording == order.combining.replay + 4 * SHARES * order.combining.replay // 8
