"""The signatures about the order are exchanged, cut off, or made by somebody else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec import structs

from counterfoil.cli import main
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.claims import Acceptance, RunClaim, SignedOrder
from counterfoil_core.signing.envelope import sign_statement
from counterfoil_core.signing.kinds import ACCEPTANCE, ORDER, make_statement
from counterfoil_core.signing.statements import open_said, sign_said
from counterfoil_core.values.outcome import CheckNumber, Outcome
from support.expectations import refused, verified
from support.jobs import audited, put_bytes, sign_as_client

WHEN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def keys(tmp_path, trainer_key):
    made = {"trainer": trainer_key}
    for name in ("client", "stranger"):
        generate_key(tmp_path / f"{name}.pem", None)
        made[name] = load_private_key(tmp_path / f"{name}.pem", None)
    return made


@pytest.fixture
def signed(copied_run, keys):
    sign_as_client(copied_run, keys["client"], keys["trainer"])
    return copied_run


def order_of(run):
    with BundleReader.open(run) as reader:
        return reader.manifest.digest


def statement(kind, key, order, **fields):
    predicate = {"order": order.hex, "public_key": key.public.pem} | fields
    subjects = [{"name": "order", "digest": {"sha256": order.hex}}]
    return sign_statement(make_statement(subjects, kind, predicate), key)


def test_control(signed, digits_job, keys):
    order = order_of(signed)
    verified(signed, digits_job.order, client_key=keys["client"].public)
    # Made by hand as the page says, they are as good.
    put_bytes(signed, "/order/signature", statement(
        ORDER.predicate, keys["client"], order, signed_at="2026-01-01T00:00:00Z"
    ))  # fmt: skip
    put_bytes(signed, "/run/acceptance", statement(
        ACCEPTANCE.predicate, keys["trainer"], order,
        client_key=keys["client"].public.key_id, accepted_at="2026-01-01T00:00:00Z",
    ))  # fmt: skip
    verified(signed, digits_job.order, client_key=keys["client"].public)


def accepted(order, key, client=None):
    return sign_said(Acceptance.of(order, client), key)


def ordered(order, key):
    return sign_said(SignedOrder(order), key)


ACCEPTANCES = {
    "of another order": (lambda order, keys: accepted(Digest.of(b"another"), keys["trainer"]), "is about"),
    "by another key": (lambda order, keys: accepted(order, keys["stranger"]), "does not hold"),
    "of an unsigned order": (lambda order, keys: accepted(order, keys["trainer"]), "the order unsigned"),
    "of another client's": (
        lambda order, keys: accepted(
            order, keys["trainer"], open_said(SignedOrder, ordered(order, keys["stranger"]), order=order)
        ),
        "one of the two was exchanged",
    ),
    "the client's signature in its place": (lambda order, keys: ordered(order, keys["trainer"]), "is not the"),
    "a field more": (
        lambda order, keys: statement(
            ACCEPTANCE.predicate, keys["trainer"], order,
            client_key=None, accepted_at="2026-01-01T00:00:00Z", note="",
        ),
        "unknown field 'note'",
    ),
    "a field less": (
        lambda order, keys: statement(ACCEPTANCE.predicate, keys["trainer"], order, client_key=None), "is not a time"
    ),
    "no time": (
        lambda order, keys: statement(
            ACCEPTANCE.predicate, keys["trainer"], order,
            client_key=None, accepted_at="The client's notary saw it.",
        ),
        "accepted_at",
    ),
    "no key id": (
        lambda order, keys: statement(
            ACCEPTANCE.predicate, keys["trainer"], order, client_key="me", accepted_at="2026-01-01T00:00:00Z"
        ),
        "client_key",
    ),
    "junk": (lambda order, keys: b"junk", "malformed"),
}  # fmt: skip


@pytest.mark.parametrize("lie", ACCEPTANCES)
def test_an_acceptance_that_is_none(lie, signed, digits_job, keys):
    make, words = ACCEPTANCES[lie]
    put_bytes(signed, "/run/acceptance", make(order_of(signed), keys))
    refused(signed, digits_job.order, CheckNumber.SIGNATURE, words)


SIGNATURES = {
    "of another order": lambda order, keys: sign_said(SignedOrder(Digest.of(b"another")), keys["client"]),
    "an acceptance in its place": lambda order, keys: sign_said(Acceptance.of(order, None), keys["client"]),
    "named by another key": lambda order, keys: sign_statement(
        make_statement(
            [{"name": "order", "digest": {"sha256": order.hex}}],
            ORDER.predicate,
            {"order": order.hex, "signed_at": "2026-01-01T00:00:00Z", "public_key": keys["client"].public.pem},
        ),
        keys["stranger"],
    ),
    "another subject": lambda order, keys: sign_statement(
        make_statement(
            [{"name": "order", "digest": {"sha256": "ab" * 32}}],
            ORDER.predicate,
            {"order": order.hex, "signed_at": "2026-01-01T00:00:00Z", "public_key": keys["client"].public.pem},
        ),
        keys["client"],
    ),
    "a time of its own": lambda order, keys: statement(ORDER.predicate, keys["client"], order, signed_at="always"),
    "junk": lambda order, keys: b"{}",
}


@pytest.mark.parametrize("lie", SIGNATURES)
def test_a_signature_that_is_none(lie, signed, digits_job, keys):
    put_bytes(signed, "/order/signature", SIGNATURES[lie](order_of(signed), keys))
    refused(signed, digits_job.order, CheckNumber.ORDER, "nobody can rely on")


def test_the_clients_signature_cut_off_or_put_on(signed, digits_job, keys, tmp_path):
    put_bytes(signed, "/order/signature", None)
    refused(signed, digits_job.order, CheckNumber.SIGNATURE, "but the file holds it unsigned")
    put_bytes(signed, "/order/signature", sign_said(SignedOrder(order_of(signed)), keys["stranger"]))
    refused(signed, digits_job.order, CheckNumber.SIGNATURE, "one of the two was exchanged")


def test_no_acceptance_and_one_that_is_too_long(signed, digits_job, keys):
    long = canonical.encode({"payload": "A" * 20_000, "payloadType": "", "signatures": []})
    put_bytes(signed, "/run/acceptance", long)
    assert audited(signed, digits_job.order).report.outcome is Outcome.REFUSED
    put_bytes(signed, "/run/acceptance", None)
    report = audited(signed, digits_job.order).report
    assert (report.outcome, "lacks /run/acceptance" in report.reason) == (Outcome.REFUSED, True), report.reason


def test_one_beside_the_run_that_names_another_client_is_not_that_runs(signed, keys, tmp_path, capsys):
    path = tmp_path / "acceptance.json"
    for name, code in (("client", 0), ("stranger", 3), (None, 3)):
        client = None if name is None else keys[name].public.key_id
        path.write_bytes(sign_said(Acceptance(order_of(signed), client), keys["trainer"]))
        assert main(["verify", str(path), str(signed)]) == code, name
    assert "one of the two was exchanged afterwards" in " ".join(capsys.readouterr().err.split())


def test_a_claim_beside_the_run_that_counts_other_steps_is_not_that_runs(signed, keys, tmp_path):
    path = tmp_path / "claim.json"
    with BundleReader.open(signed) as reader:
        claim = open_said(RunClaim, reader.claim())
    for steps, code in ((claim.steps, 0), (claim.steps - 1, 3)):
        path.write_bytes(sign_said(structs.replace(claim, steps=steps), keys["trainer"]))
        assert main(["verify", str(path), str(signed)]) == code, steps
