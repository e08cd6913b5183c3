"""The fingerprint of a tensor without elements, of zeros, or of tiny numbers is forged: no exact value is near it."""

from __future__ import annotations

import shutil

import pytest

from counterfoil.training.orderfile import load_order
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.kernels.grid import ZERO_SCALE
from counterfoil_core.values.dispute import Right
from support.bundles import flip_bit
from support.dead_model import dead
from support.expectations import disputed, verified
from support.forgery import log_of
from support.jobs import record_job, sign_again

STEP = 3
NOTHING = {
    "no elements": lambda elements, exponent: elements == 0,
    "zeros": lambda elements, exponent: elements > 1 and exponent == ZERO_SCALE,
    "tiny numbers": lambda elements, exponent: elements > 1 and ZERO_SCALE < exponent < -1030,
}


@pytest.fixture(scope="module")
def dead_job(tmp_path_factory, trainer_key):
    return record_job(tmp_path_factory.mktemp("dead"), dead(), trainer_key)


def test_control_nothing_forged(tmp_path, dead_job, trainer_key):
    run = shutil.copy(dead_job.run, tmp_path / "run.cfoil")
    sign_again(run, trainer_key)
    verified(run, dead_job.order)


@pytest.mark.parametrize("nothing", NOTHING)
def test_the_audit_ends_in_a_dispute_that_names_the_operator(tmp_path, dead_job, trainer_key, nothing):
    with BundleReader.open(dead_job.run) as reader:
        program = load_order(reader).program
    logs = log_of(dead_job.run, STEP)
    site = next(i for i, s in enumerate(program.sites) if NOTHING[nothing](s.elements, logs[i].exponent))
    run = shutil.copy(dead_job.run, tmp_path / "run.cfoil")
    flip_bit(run, "/run/fingerprints", (STEP - 1) * len(program.places) + program.site_places[site], 5)
    sign_again(run, trainer_key)
    result = disputed(run, dead_job.order, STEP, parts=("fingerprints",))
    dispute = result.report.dispute
    assert dispute.operator.number == program.sites[site].node + 1
    assert dispute.finding.right is Right.REPLAY
