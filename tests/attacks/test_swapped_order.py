"""The run was made for another order than the client's. Only the client's own file tells."""

from __future__ import annotations

import pytest

from counterfoil.audit.values.outcome import CheckNumber, CheckState, Outcome
from counterfoil.commit.digest import Digest
from support.expectations import refused, verified
from support.jobs import audited, digits_order, record_job, sign_again


@pytest.fixture
def other(tmp_path, trainer_key):
    return record_job(tmp_path, digits_order(learning_rate=0.2), trainer_key)


def test_another_order(other, digits_job):
    refused(other.run, digits_job.order, CheckNumber.ORDER, "the client's order is")


def test_control_the_order_that_it_was_made_for(other):
    verified(other.run, other.order)


def test_without_the_clients_file_it_passes_with_a_warning(other):
    result = audited(other.run)
    assert result.report.outcome is Outcome.VERIFIED
    assert result.check(CheckNumber.ORDER).state is CheckState.WARNING
    assert result.report.order_source == "bundle"


def test_signed_for_another_order(copied_run, digits_job, trainer_key):
    sign_again(copied_run, trainer_key, order=Digest.of(b"another"))
    refused(copied_run, digits_job.order, CheckNumber.SIGNATURE, "signed a run of the order")
