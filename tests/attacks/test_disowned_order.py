"""A client dislikes what was found, and gives the auditor another order than the one that it signed."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from counterfoil.audit.overview import inspect
from counterfoil.audit.values.comparedorders import with_client_key, with_client_order
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil_core.base.errors import GivenFileError, OrderMismatchError, SignatureError
from counterfoil_core.statement.verdict import sign_verdict, verify_verdict
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from support.expectations import disputed, refused, verified
from support.jobs import audited, digits_order, sign_as_client


@pytest.fixture
def client(tmp_path):
    generate_key(tmp_path / "client.pem", None)
    return load_private_key(tmp_path / "client.pem", None)


@pytest.fixture
def signed(copied_run, client, trainer_key):
    """An honest run of an order that its client signed."""
    sign_as_client(copied_run, client, trainer_key)
    return copied_run


@pytest.fixture
def another(tmp_path):
    digits_order(learning_rate=0.3).write(tmp_path / "another.cfoil", trial=False)
    return tmp_path / "another.cfoil"


def test_control_the_order_that_was_signed(signed, digits_job, client, trainer_key):
    known = verified(signed, digits_job.order, client_key=client.public)
    assert (known.client_key, known.given_client_key) == (client.public.key_id, client.public.key_id)
    alone = audited(signed, client_key=client.public).report
    assert (alone.outcome, alone.order_source) == (Outcome.VERIFIED, "signature")
    said = verify_verdict(sign_verdict(alone, client), client.public)
    assert (said.client_key, said.given_client_key, said.accepted) == (client.public.key_id, client.public.key_id, True)
    assert said.trainer_key == trainer_key.public.key_id


def test_control_a_clients_key_that_comes_later_gives_the_report_of_one_that_came_first(signed, digits_job, client):
    """So that a run need not be replayed again when the client's key turns up."""
    for order in (None, digits_job.order):
        before = audited(signed, order).report
        first = audited(signed, order, client_key=client.public).report
        assert before.checks != first.checks
        assert replace(with_client_key(before), seconds=0.0) == replace(first, seconds=0.0)
    with pytest.raises(OrderMismatchError, match="unsigned"):
        with_client_key(audited(digits_job.run).report)


def test_a_clients_own_file_that_another_key_signed_is_noticed_afterwards_too(signed, trainer_key):
    report = audited(signed).report
    with pytest.raises(SignatureError, match="not with the client's key"):
        with_client_order(report, report.run_order, trainer_key.public.key_id)


def test_control_an_unsigned_order_is_called_unsigned(digits_job, trainer_key):
    report = verified(digits_job.run, digits_job.order)
    assert (report.client_key, bool(report.accepted_at)) == ("", True)
    assert "unsigned" in report.checks[CheckNumber.ORDER - 1].detail
    assert "unsigned" in report.checks[CheckNumber.SIGNATURE - 1].detail
    said = verify_verdict(sign_verdict(report, trainer_key), trainer_key.public)
    assert (said.client_key, said.accepted) == ("", True)


def test_with_the_clients_key_no_verdict_is_made(signed, another, client):
    for look in (
        lambda: audited(signed, another, client_key=client.public),
        lambda: inspect(signed, another, client_key=client.public),
    ):
        with pytest.raises(GivenFileError, match="neither side can disown it") as caught:
            look()
        assert caught.value.role == "order"


def test_an_order_that_the_same_key_signed_is_another_one_all_the_same(signed, another, client, tmp_path):
    """Neither a disowned order nor an older one of the same client's becomes the one that was asked for."""
    sign_as_client(another, client)
    with pytest.raises(GivenFileError, match="neither side can disown it"):
        audited(signed, another)


def test_without_the_key_the_refusal_names_both_sides(signed, another, client, trainer_key):
    sentence = f"signed by the key {client.public.key_id[:12]} as its client. The key {trainer_key.public.key_id[:12]}"
    refused(signed, another, CheckNumber.ORDER, sentence)
    report = audited(signed, another).report
    assert "Nothing was concluded" in report.reason
    said = verify_verdict(sign_verdict(report, client), client.public)
    assert (said.client_key, said.trainer_key) == (client.public.key_id, trainer_key.public.key_id)


def test_a_cheat_is_disputed_by_the_order_that_was_signed(cheat_job, client, trainer_key, tmp_path):
    run = shutil.copy(cheat_job.run, tmp_path / "cheat.cfoil")
    sign_as_client(run, client, trainer_key)
    found = disputed(run, cheat_job.order, audited(run).report.dispute.step, only=False, client_key=client.public)
    assert found.check(CheckNumber.ORDER).state is CheckState.PASSED


def test_another_clients_key(signed, digits_job, trainer_key, client, tmp_path):
    generate_key(tmp_path / "stranger.pem", None)
    stranger = load_private_key(tmp_path / "stranger.pem", None)
    words = "and not with the client's key"
    refused(signed, digits_job.order, CheckNumber.ORDER, words, client_key=stranger.public)
    refused(digits_job.run, digits_job.order, CheckNumber.ORDER, "is unsigned", client_key=stranger.public)
    # Whoever has the file can sign it again; the auditor who knows the client's key notices.
    sign_as_client(signed, stranger, trainer_key)
    refused(signed, None, CheckNumber.ORDER, words, client_key=client.public)
