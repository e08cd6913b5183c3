"""A run of fewer steps than ordered is presented as the whole."""

from __future__ import annotations

import pytest

from counterfoil_core.values.outcome import CheckNumber, Outcome
from support.bundles import opened_for_change
from support.expectations import refused, verified
from support.jobs import audited, digits_order, record_job, sign_again


def test_signed_for_fewer_steps(copied_run, digits_job, trainer_key):
    sign_again(copied_run, trainer_key, steps=5)
    refused(copied_run, digits_job.order, CheckNumber.SIGNATURE, "signed 5 steps, but the order has 6")


@pytest.mark.parametrize("dataset", ["losses", "state_roots", "fingerprints", "log_ends"])
def test_rows_are_missing(copied_run, digits_job, dataset):
    with opened_for_change(copied_run) as file:
        rows = file["run"][dataset][:-1]
        del file["run"][dataset]
        file["run"].create_dataset(dataset, data=rows)
    report = audited(copied_run, digits_job.order).report
    assert report.outcome is Outcome.REFUSED
    assert report.steps_replayed == 0


def test_the_last_checkpoint_is_missing(copied_run, digits_job):
    with opened_for_change(copied_run) as file:
        del file["run/checkpoints/0000000006"]
    assert audited(copied_run, digits_job.order).report.outcome is Outcome.REFUSED


def test_a_shorter_order_of_the_trainers_own(tmp_path, digits_job, trainer_key):
    shorter = record_job(tmp_path, digits_order(steps=5), trainer_key)
    verified(shorter.run, shorter.order)
    refused(shorter.run, digits_job.order, CheckNumber.ORDER, "the client's order is")


def test_control_the_whole_run(copied_run, digits_job, trainer_key):
    sign_again(copied_run, trainer_key, steps=6)
    verified(copied_run, digits_job.order)
