"""The signed run root is another one than the recorded steps have."""

from __future__ import annotations

from counterfoil_core.base.digest import Digest
from counterfoil_core.values.outcome import CheckNumber
from support.expectations import refused, run_root, verified
from support.jobs import digits_order, record_job, sign_again

SENTENCE = "damaged or altered after it was signed"


def test_a_root_of_nothing(copied_run, digits_job, trainer_key):
    sign_again(copied_run, trainer_key, run_root=Digest.of(b"another"))
    refused(copied_run, digits_job.order, CheckNumber.COMMITMENTS, SENTENCE)


def test_the_root_of_another_run(copied_run, tmp_path_factory, digits_job, trainer_key):
    other = record_job(tmp_path_factory.mktemp("other"), digits_order(seed=12), trainer_key).run
    sign_again(copied_run, trainer_key, run_root=run_root(other))
    refused(copied_run, digits_job.order, CheckNumber.COMMITMENTS, SENTENCE)


def test_control_the_right_root(copied_run, digits_job, trainer_key):
    sign_again(copied_run, trainer_key, run_root=run_root(digits_job.run))
    verified(copied_run, digits_job.order)
