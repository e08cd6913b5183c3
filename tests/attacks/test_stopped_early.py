"""A run ends before its last ordered step where the order's rule does not end it, or goes on where it does.

The losses that decide are signed in the leaves: whoever changes them to end elsewhere is disputed at their step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.outcome import CheckNumber, Outcome
from counterfoil_core.values.sampling import SegmentRequest
from support.bundles import change
from support.expectations import disputed, refused, run_root, verified
from support.jobs import Job, audited, put_bytes, record_job, record_run, sign_again
from support.stopping import ENDS, ORDERED, ending_at, stopping_order


@pytest.fixture(scope="module")
def honest(trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """The run that the order's rule ends; it is verified. A trainer who chooses the same end has the same run."""
    folder = tmp_path_factory.mktemp("stopped")
    job = record_job(folder, stopping_order(), trainer_key)
    with ending_at(ENDS):
        assert run_root(record_run(job.order, folder / "control.cfoil", trainer_key)) == run_root(job.run)
    assert verified(job.run, job.order).headline == f"VERIFIED for {ENDS} of {ORDERED} ordered steps"
    return job


@pytest.fixture
def ended(honest: Job, tmp_path: Path, trainer_key: SigningKey) -> Callable[[int | None], Path]:
    """Record a run that ends after a step of its trainer's choice."""

    def record(step: int | None) -> Path:
        with ending_at(step):
            return record_run(honest.order, tmp_path / f"{step}.cfoil", trainer_key)

    return record


def edit_loss(run: Path, key: SigningKey, step: int, loss: float) -> Path:
    change(run, "/run/losses", lambda losses: np.where(np.arange(len(losses)) == step - 1, loss, losses))
    sign_again(run, key)
    return run


@pytest.mark.parametrize("step", [1, ENDS - 1])
def test_stopped_too_early(ended, honest, step):
    words = f"has {step} of {ORDERED} ordered steps. By the losses that the trainer signed, the order's rule to stop "
    refused(ended(step), honest.order, CheckNumber.COMMITMENTS, f"{words}early does not fire after step {step}")


@pytest.mark.parametrize("step", [ENDS + 1, None])
def test_stopped_too_late_or_not_at_all(ended, honest, step):
    words = f"has {step or ORDERED} of {ORDERED} ordered steps. By the losses that the trainer signed, the order's rule"
    refused(ended(step), honest.order, CheckNumber.COMMITMENTS, f"{words} to stop early fires after step {ENDS}")


def test_stopped_without_a_rule(honest, tmp_path):
    run = Path(tmp_path / "run.cfoil")
    run.write_bytes(honest.run.read_bytes())
    with BundleReader.open(run) as reader:
        strict = replace(reader.manifest, may_stop_early=None)
    put_bytes(run, "/order/manifest", strict.to_bytes())
    refused(run, honest.order, CheckNumber.FORMAT, f"{ENDS} of {ORDERED} ordered steps, and its order does not let it")


def test_a_rule_that_the_client_did_not_order(honest, tmp_path):
    order = tmp_path / "strict.cfoil"
    draft = stopping_order()
    replace(draft, manifest=replace(draft.manifest, may_stop_early=None)).write(order, trial=False)
    refused(honest.run, order, CheckNumber.ORDER, "the client's order is")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ({"steps_ordered": None}, f"signed {ENDS} steps, but the order has {ORDERED}"),
        ({"steps": ORDERED, "steps_ordered": None}, f"signed {ORDERED} steps, but the file holds {ENDS}"),
        ({"steps": ENDS - 1}, f"signed {ENDS - 1} steps, but the file holds {ENDS}"),
        ({"steps_ordered": ORDERED - 1}, f"signed {ORDERED - 1} steps, but the order has {ORDERED}"),
    ],
)
def test_signed_for_other_steps_than_the_file_holds(honest, tmp_path, trainer_key, claim, words):
    run = tmp_path / "run.cfoil"
    run.write_bytes(honest.run.read_bytes())
    sign_again(run, trainer_key)
    verified(run, honest.order)
    sign_again(run, trainer_key, **claim)
    refused(run, honest.order, CheckNumber.SIGNATURE, words)


def test_a_loss_that_ends_the_run_earlier(ended, honest, trainer_key):
    run = edit_loss(ended(5), trainer_key, 5, 2.5)
    result = disputed(run, honest.order, 5, parts=("loss",))
    assert f"The run has 5 of {ORDERED} ordered steps." in result.report.reason


def test_a_loss_that_lets_the_run_go_on(ended, honest, trainer_key):
    run = edit_loss(ended(8), trainer_key, 6, 2.0)
    result = disputed(run, honest.order, 6, parts=("loss",))
    assert f"The run has 8 of {ORDERED} ordered steps." in result.report.reason


def test_a_sample_without_the_doctored_loss_says_whose_word_it_took(ended, honest, trainer_key):
    run = edit_loss(ended(5), trainer_key, 5, 2.5)
    report = audited(run, honest.order, segments=SegmentRequest(numbers=(1,))).report
    assert report.outcome is Outcome.VERIFIED
    assert report.headline == f"VERIFIED for 1 of 2 segments, 5 of {ORDERED} ordered steps"
    assert "those of steps that were not replayed are the trainer's word, and one of them is enough" in report.reason
