"""Fingerprints and log are copied from an honest run, or made up: no verdict rests on them, and both are found."""

from __future__ import annotations

import numpy as np

from counterfoil.training.tamper import LabelFlip
from counterfoil_core.bundle.reader import BundleReader
from support.bundles import flip_bit
from support.expectations import disputed, operator_of
from support.forgery import log_of, rewrite_log
from support.jobs import record_run, set_row, sign_again


def fingerprints(run, step):
    with BundleReader.open(run) as reader:
        return np.array(reader.fingerprints(step))


def test_copied_over_a_poisoned_step(tmp_path, digits_job, trainer_key):
    run = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, tamper=LabelFlip(3))
    assert (fingerprints(run, 3) != fingerprints(digits_job.run, 3)).any()
    set_row(run, "/run/fingerprints", 2, fingerprints(digits_job.run, 3))
    rewrite_log(run, 3, lambda sites, elements: log_of(digits_job.run, 3))
    sign_again(run, trainer_key)
    result = disputed(run, digits_job.order, 3, parts=("state", "loss"))
    assert operator_of(result) is None


def test_made_up(forge, digits_job):
    sites = len(fingerprints(digits_job.run, 1))
    run = forge(lambda run: flip_bit(run, "/run/fingerprints", sites + 2, 5))
    disputed(run, digits_job.order, 2, parts=("fingerprints",))
