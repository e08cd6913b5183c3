"""The run was made for another order than the client's. Only the client's own file tells."""

from __future__ import annotations

import pytest

from counterfoil.signing.privatekeys import generate_key
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.keys import load_public_key
from counterfoil_core.statement.verdict import sign_verdict, verify_verdict
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from support.expectations import refused, verified
from support.jobs import audited, digits_order, record_job, sign_again


def order_of(path):
    with BundleReader.open(path) as reader:
        return reader.manifest.digest


@pytest.fixture
def other(tmp_path, trainer_key):
    return record_job(tmp_path, digits_order(learning_rate=0.2), trainer_key)


def test_another_order(other, digits_job):
    refused(other.run, digits_job.order, CheckNumber.ORDER, "the client's order is")


def test_control_the_order_that_it_was_made_for(other):
    verified(other.run, other.order)


def test_the_verdict_names_the_clients_order_and_the_runs(other, digits_job, trainer_key):
    """The order that stands as the client's is the client's, not the one that the trainer put into the file."""
    report = audited(other.run, digits_job.order).report
    said = verify_verdict(sign_verdict(report, trainer_key), trainer_key.public)
    assert (said.outcome, said.order_source) == (Outcome.REFUSED, "client")
    assert (said.order_digest, said.run_order) == (order_of(digits_job.order), order_of(other.order))


def test_a_file_that_is_no_bundle_was_asked_for_by_the_clients_order_too(digits_job, trainer_key, tmp_path):
    junk = tmp_path / "junk.cfoil"
    junk.write_bytes(b"junk")
    said = verify_verdict(sign_verdict(audited(junk, digits_job.order).report, trainer_key), trainer_key.public)
    assert (said.order_digest, said.order_source, said.run_order) == (order_of(digits_job.order), "client", None)


def test_the_verdict_names_the_key_that_was_given(digits_job, trainer_key, tmp_path):
    stranger = load_public_key(generate_key(tmp_path / "stranger.pem", None))
    for given, source in ((trainer_key.public, "given"), (None, "bundle"), (stranger, "given")):
        report = audited(digits_job.run, digits_job.order, trainer_key=given).report
        said = verify_verdict(sign_verdict(report, trainer_key), trainer_key.public)
        assert (said.given_key, said.trainer_key_source) == (given.key_id if given else "", source)
        assert (said.trainer_key == "") == (given is stranger), "a key that did not sign stands for nothing"


def test_without_the_clients_file_it_passes_with_a_warning(other):
    result = audited(other.run)
    assert result.report.outcome is Outcome.VERIFIED
    assert result.check(CheckNumber.ORDER).state is CheckState.WARNING
    assert result.report.order_source == "bundle"


def test_signed_for_another_order(copied_run, digits_job, trainer_key):
    sign_again(copied_run, trainer_key, order=Digest.of(b"another"))
    refused(copied_run, digits_job.order, CheckNumber.SIGNATURE, "signed a run of the order")
