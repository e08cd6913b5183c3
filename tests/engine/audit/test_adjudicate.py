from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterfoil.audit.hearings import adjudicate
from counterfoil.training.order import OrderDraft
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.arithmetic.compute.operation import Compute, Operation, native
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CounterfoilError, DeviceError, NonFiniteError, ObstacleError
from counterfoil_core.commit.merkle import verify_inclusion
from counterfoil_core.hearing.conclusion import StepTally, conclude_adjudication
from counterfoil_core.kernels.result import Counts
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.outcome import CheckNumber, CheckState
from counterfoil_core.values.sampling import SegmentRequest
from support.bent_recorder import bent, nearest_midpoint, rounding_site
from support.bundles import same_state
from support.capsules import DISPUTED, adjudicated, crafted, evidence_of, read, record_cheat, save
from support.jobs import Job, audited, digits_order, record_job, record_run, recorded_by
from support.precisions import CALIBRATED, PROVEN


@pytest.fixture(scope="module")
def cheat(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Job:
    return record_cheat(tmp_path_factory.mktemp("cheat"), digits_order(), trainer_key)


@pytest.fixture(scope="module")
def capsule(cheat: Job, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(evidence_of(cheat.run, cheat.order), tmp_path_factory.mktemp("capsule") / "dispute.cfoil")


def test_a_confirmed_dispute_becomes_a_capsule_that_anybody_can_confirm(cheat: Job, capsule: Path) -> None:
    audit = audited(cheat.run, cheat.order).report
    report = adjudicated(capsule, order=cheat.order)
    assert report.outcome is AdjudicationOutcome.CONFIRMED, report.reason
    assert audit.dispute is not None
    assert report.dispute is not None
    assert (report.agreed_step, report.step, report.steps_replayed) == (DISPUTED - 1, DISPUTED, 1)
    # A capsule holds one step: no tree to descend, and no stored state to compare with.
    compared = {"compared_at": None, "tensors": (), "trainer_state": None, "replay_state": None}
    assert report.dispute == replace(audit.dispute, path=(), **compared)
    assert (report.run_root, report.order_digest, report.order_source) == (audit.run_root, audit.order_digest, "client")
    assert report.run_root is not None
    verify_inclusion(report.dispute.trainer_leaf, DISPUTED, 7, report.dispute.inclusion_proof, report.run_root)
    states = {check.number: check.state for check in report.checks}
    assert states == dict.fromkeys(CheckNumber, CheckState.PASSED) | {
        CheckNumber.REPLAY: CheckState.FAILED,
        CheckNumber.LOG: CheckState.SKIPPED,
        CheckNumber.COVERAGE: CheckState.WARNING,
    }


def test_without_the_clients_order_a_warning_says_so(capsule: Path) -> None:
    report = adjudicated(capsule)
    assert report.outcome is AdjudicationOutcome.CONFIRMED
    assert report.order_source == "bundle"
    assert report.checks[1].state is CheckState.WARNING


def test_a_capsule_holds_the_step_and_nothing_else(cheat: Job, capsule: Path) -> None:
    contents = read(capsule)
    assert [leaf.record.step for leaf in contents.leaves] == [DISPUTED - 1, DISPUTED]
    assert len(contents.logs) == len(contents.fingerprints) == 1
    whole = {name: spec.shape[0] for name, spec in contents.manifest.data.items()}
    assert whole == {"images": 200, "labels": 200}
    assert len(contents.part.schedule) == len(contents.part.scalars) == 1
    indices = [proof.index for proof in contents.part.data["images"]]
    assert len(set(indices)) == len(indices) <= contents.manifest.batch_size
    assert capsule.stat().st_size < cheat.run.stat().st_size


def test_writing_and_reading_gives_the_same_contents(cheat: Job, tmp_path: Path) -> None:
    contents = evidence_of(cheat.run)
    found = read(save(contents, tmp_path / "a.cfoil"))
    assert same_state(found.state, contents.state)
    np.testing.assert_array_equal(found.fingerprints, contents.fingerprints)
    for name in ("manifest", "programs", "claim", "leaves", "logs", "part"):
        assert getattr(found, name) == getattr(contents, name), name
    again = save(contents, tmp_path / "b.cfoil")
    assert again.read_bytes() == (tmp_path / "a.cfoil").read_bytes(), "the same contents give the same file"


def test_an_honest_step_is_rejected(digits_job: Job, tmp_path: Path) -> None:
    for step in (1, 4, 6):
        report = adjudicated(save(crafted(digits_job.run, step), tmp_path / "crafted.cfoil"), order=digits_job.order)
        assert report.outcome is AdjudicationOutcome.REJECTED, report.reason
        assert (report.step, report.dispute) == (step, None)
        assert f"The trainer's step {step} is right" in report.reason
        assert report.checks[CheckNumber.REPLAY - 1].state is CheckState.PASSED


def test_there_is_no_evidence_without_a_confirmed_dispute(digits_job: Job) -> None:
    finished = audited(digits_job.run).events[-1]
    assert finished.evidence is None  # type: ignore[union-attr]


def test_a_dispute_between_committed_states_starts_from_the_last_one(tmp_path: Path, trainer_key: SigningKey) -> None:
    """commit_every 3: the state after step 3 is committed, the labels of step 5 are flipped."""
    draft = digits_order(commit_every=3, checkpoint_every=6)
    cheat = record_cheat(tmp_path, draft, trainer_key, step=5)
    contents = evidence_of(cheat.run)
    assert (contents.agreed_step, contents.step, len(contents.logs)) == (3, 5, 2)
    report = adjudicated(save(contents, tmp_path / "dispute.cfoil"))
    assert report.outcome is AdjudicationOutcome.CONFIRMED
    assert (report.steps_replayed, report.agreed_step, report.step) == (2, 3, 5)
    assert report.dispute is not None
    assert report.dispute.step == 5
    assert "fingerprints" in report.dispute.parts

    later = adjudicated(save(crafted(cheat.run, 6), tmp_path / "later.cfoil"))
    assert later.outcome is AdjudicationOutcome.CONFIRMED
    assert (later.step, later.steps_replayed) == (6, 2)
    assert later.dispute is not None
    assert later.dispute.step == 5
    assert "already the earlier step 5 is wrong" in later.reason


def test_the_first_step_starts_from_the_ordered_initial_state(tmp_path: Path, trainer_key: SigningKey) -> None:
    cheat = record_cheat(tmp_path, digits_order(), trainer_key, step=1)
    report = adjudicated(save(evidence_of(cheat.run), tmp_path / "dispute.cfoil"))
    assert report.outcome is AdjudicationOutcome.CONFIRMED
    assert (report.agreed_step, report.step) == (0, 1)


def test_a_dispute_in_a_sample_starts_from_the_trainers_checkpoint(cheat: Job, tmp_path: Path) -> None:
    """Segment 2 holds the steps 3 and 4; the state after step 2 was never computed here."""
    sampled = evidence_of(cheat.run, segments=SegmentRequest(numbers=(2,)))
    whole = evidence_of(cheat.run)
    paths = [save(contents, tmp_path / f"{place}.cfoil") for place, contents in enumerate((sampled, whole))]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_data_in_a_data_file_is_proven_from_the_hashes_that_are_known(tmp_path: Path, trainer_key: SigningKey) -> None:
    order, data, run = tmp_path / "job.cfoil", tmp_path / "big.cfdata", tmp_path / "run.cfoil"
    digits_order().write(order, external_data=data)
    record_run(order, run, trainer_key, data=data, tamper=LabelFlip(DISPUTED))
    report = adjudicated(save(evidence_of(run, order, data=data), tmp_path / "dispute.cfoil"), order=order)
    assert report.outcome is AdjudicationOutcome.CONFIRMED, report.reason


def test_a_machine_whose_arithmetic_is_off_accuses_nobody(
    digits_job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its convolutions are off by 1e-6, and by another amount when sums run in another order."""

    def off(by: float) -> Compute:
        def compute(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
            result = native(operation, args, kwargs)
            return result * (1 + by) if operation.node.operator == "aten.convolution.default" else result

        return compute

    path = save(crafted(digits_job.run, 2), tmp_path / "crafted.cfoil")
    monkeypatch.setattr("counterfoil_core.arithmetic.machine.perturb", lambda name: off(1e-7))
    monkeypatch.setattr("counterfoil_core.arithmetic.machine.native", off(1e-6))
    report = adjudicated(path)
    assert report.outcome is AdjudicationOutcome.INCONCLUSIVE, report.reason
    assert "Nobody is accused" in report.reason


@pytest.mark.slow
def test_a_machine_that_is_always_off_in_the_same_way_accuses_nobody(
    digits_job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its second replay confirms the first; exact arithmetic tells."""

    def off(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = native(operation, args, kwargs)
        return result * (1 + 1e-6) if operation.node.operator == "aten.convolution.default" else result

    path = save(crafted(digits_job.run, 2), tmp_path / "crafted.cfoil")
    monkeypatch.setattr("counterfoil_core.arithmetic.machine.perturb", lambda name: off)
    monkeypatch.setattr("counterfoil_core.arithmetic.machine.native", off)
    report = adjudicated(path)
    assert report.outcome is AdjudicationOutcome.INCONCLUSIVE, report.reason
    assert report.dispute is not None
    assert report.dispute.confirmed
    assert not report.dispute.accuses


def bent_job(folder: Path, draft: OrderDraft, key: SigningKey, step: int | range, **settings: Any) -> Job:
    """A run in which one value of a convolution was rounded to the other side, within the bound, and not logged."""
    site = rounding_site(draft.program, "convolution")
    with recorded_by(bent("Within", step=step, site=site, choose=nearest_midpoint)):
        return record_job(folder, draft, key, **settings)


def test_rounding_within_the_margin_accuses_nobody(tmp_path: Path, trainer_key: SigningKey) -> None:
    job = bent_job(tmp_path, digits_order(precision=CALIBRATED), trainer_key, 3)
    finished = audited(job.run).events[-1]
    assert finished.evidence is None, "nobody is accused, so there is nothing to hand on"  # type: ignore[union-attr]
    report = adjudicated(save(crafted(job.run, 3), tmp_path / "crafted.cfoil"))
    assert report.outcome is AdjudicationOutcome.INCONCLUSIVE
    assert "The calibrated margin was too small" in report.reason


def test_a_margin_case_on_the_way_does_not_hide_the_disputed_step(tmp_path: Path, trainer_key: SigningKey) -> None:
    """commit_every 3: rounding explains step 4, and the labels of step 5 were flipped."""
    draft = digits_order(commit_every=3, checkpoint_every=6, precision=CALIBRATED)
    job = bent_job(tmp_path, draft, trainer_key, 4, tamper=LabelFlip(5))
    contents = evidence_of(job.run)
    assert (contents.agreed_step, contents.step) == (3, 5)
    report = adjudicated(save(contents, tmp_path / "dispute.cfoil"))
    assert report.outcome is AdjudicationOutcome.CONFIRMED, report.reason
    assert report.steps_replayed == 2
    assert report.dispute is not None
    assert report.dispute.step == 5
    assert report.checks[CheckNumber.REPLAY - 1].detail == "0 of 2 judged steps match; step 5 does not."


@pytest.mark.slow
def test_decisions_left_out_of_the_log_in_step_after_step_are_no_matter_for_a_capsule(
    tmp_path: Path, trainer_key: SigningKey
) -> None:
    """No single step shows them; each of them alone accuses nobody."""
    job = bent_job(tmp_path, digits_order(precision=PROVEN), trainer_key, range(2, 7))
    finished = audited(job.run).events[-1]
    assert finished.report.dispute.accuses  # type: ignore[union-attr]
    assert finished.evidence is None  # type: ignore[union-attr]
    report = adjudicated(save(crafted(job.run, 2), tmp_path / "crafted.cfoil"))
    assert report.outcome is AdjudicationOutcome.INCONCLUSIVE
    assert "left that out of its log" in report.reason


def test_stopping_concludes_nothing(capsule: Path) -> None:
    token = CancelToken()
    token.cancel()
    *_, finished = adjudicate(capsule, threads=1, cancel=token)
    assert finished.report.outcome is AdjudicationOutcome.INCONCLUSIVE  # type: ignore[union-attr]


def test_no_such_device_is_an_error(capsule: Path) -> None:
    report = adjudicated(capsule, device="cuda:99")
    assert report.outcome is AdjudicationOutcome.ERROR


def test_a_log_with_omissions_is_not_called_right() -> None:
    clean = conclude_adjudication(StepTally(replayed=1), 4, None)
    assert clean[0] is AdjudicationOutcome.REJECTED
    assert (
        conclude_adjudication(StepTally(replayed=1, counts=Counts(omissions=1)), 4, None)[0]
        is AdjudicationOutcome.INCONCLUSIVE
    )
    assert conclude_adjudication(StepTally(replayed=1, counts=Counts(contradictions=1)), 4, None)[0] is (
        AdjudicationOutcome.INCONCLUSIVE
    )


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ObstacleError("The memory is full.", remedy="Close other programs."), AdjudicationOutcome.INCONCLUSIVE),
        (NonFiniteError("A value is infinite.", remedy="Ask the trainer."), AdjudicationOutcome.INCONCLUSIVE),
        (DeviceError("There is no such device.", remedy="Choose another one."), AdjudicationOutcome.ERROR),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_ended_an_adjudication_is_said_with_its_remedy(
    error: CounterfoilError, outcome: AdjudicationOutcome
) -> None:
    assert conclude_adjudication(StepTally(), 4, error) == (outcome, f"{error.sentence} {error.remedy}")


@pytest.mark.gpu
def test_a_gpu_gathers_and_judges_the_same(cheat: Job, capsule: Path, tmp_path: Path) -> None:
    gathered = save(evidence_of(cheat.run, device="cuda:0"), tmp_path / "gpu.cfoil")
    assert gathered.read_bytes() == capsule.read_bytes()
    on_gpu, on_cpu = adjudicated(capsule, device="cuda:0"), adjudicated(capsule)
    assert on_gpu.outcome is AdjudicationOutcome.CONFIRMED
    assert on_gpu.dispute is not None
    assert on_cpu.dispute is not None
    assert on_gpu.dispute.replay_leaf == on_cpu.dispute.replay_leaf
