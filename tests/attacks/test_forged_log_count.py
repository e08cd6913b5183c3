"""The number of entries in each step's log, which stands beside the log and is bound by nothing that was signed."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil.training.tamper import LabelFlip
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from support.exact_jobs import plain_order
from support.expectations import disputed, verified
from support.jobs import audited, record_job, record_run, set_row


def _add(run, step, more=1):
    with BundleReader.open(run) as reader:
        entries = int(reader.log_entries()[step - 1])
    set_row(run, "/run/log_entries", step - 1, np.uint32(entries + more))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("more", [1, -1, 2**31])
def test_another_number_than_the_log_has(forge, digits_job, more):
    run = forge(lambda run: _add(run, 4, more))
    verified(digits_job.run, digits_job.order)
    report = audited(run, digits_job.order).report
    assert report.outcome is Outcome.REFUSED
    assert "rounding log of step 4" in report.reason
    assert "Nobody signed that number" in report.reason
    assert report.checks[CheckNumber.LOG - 1].state is CheckState.FAILED
    assert report.dispute is None


def test_it_shields_no_fraud(digits_job, tmp_path, trainer_key):
    run = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, tamper=LabelFlip(5))
    _add(run, 2)
    disputed(run, digits_job.order, 5)


def test_entries_of_a_log_that_an_exact_profile_does_not_have(tmp_path, trainer_key):
    job = record_job(tmp_path, plain_order(steps=3), trainer_key)
    verified(job.run, job.order)
    set_row(job.run, "/run/log_entries", 1, np.uint32(7))
    assert audited(job.run, job.order).report.outcome is Outcome.REFUSED
