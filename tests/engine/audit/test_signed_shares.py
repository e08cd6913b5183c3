"""Shares that parties answer for: each signs what its shares gave, and answers for it in a dispute."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

import counterfoil
from counterfoil.audit.values.accountprose import bound_by
from counterfoil.base.joberrors import RecordingError
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.linearhash import LinearHash
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import BundleError, DataError, SignatureError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.bundle.shares import ShareRecord, Shares
from counterfoil_core.bundle.stepparts import AddedTensor
from counterfoil_core.bundle.stepshares import read_shares
from counterfoil_core.signing.claims import Share
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.parties import SignedShares, share_statement
from counterfoil_core.signing.publickeys import key_id_of
from counterfoil_core.statement.verdict import sign_adjudication, sign_verdict, verify_signed, verify_verdict
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.outcome import Outcome
from support.bundles import change, opened_for_change
from support.capsules import adjudicated, evidence_of, save
from support.expectations import verified
from support.interrupted import go_on, stop_after
from support.jobs import Job, audited, record_job, record_run, replaced, sign_again
from support.shared import LIE, SHARES, STEPS, other_gradient, other_rows, other_sum, shared_order

ONE, OTHER = key_from_seed(b"\1" * 32), key_from_seed(b"\2" * 32)
"""One party answers for shares 1 and 3, the other for share 2, and nobody but the trainer for share 0."""
SIGNERS = (None, ONE.public, OTHER.public, ONE.public)
KEYS: dict[int, SigningKey] = {1: ONE, 2: OTHER, 3: ONE}
SIGNATURES = "/run/shares/signatures"
ROOT = Digest.of(b"another state")


@cache
def plain() -> OrderDraft:
    """An order that names no parties; under an exact profile, so that a share's log is one byte, and easily swapped."""
    return shared_order(precision=counterfoil.ExactPrecision(20))


@pytest.fixture(scope="module")
def job(trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Job:
    order = plain().signed_by_parties(SIGNERS)
    return record_job(tmp_path_factory.mktemp("parties"), order, trainer_key, share_keys=KEYS)


def copied(job: Job, tmp_path: Path) -> Path:
    return Path(shutil.copy(job.run, tmp_path / "run.cfoil"))


def refused(run: Path, job: Job) -> str:
    report = audited(run, job.order).report
    assert report.outcome is Outcome.REFUSED, report.reason
    return str(report.reason)


# Orders and recordings.


def test_an_order_names_the_parties_and_is_read_again(job: Job) -> None:
    with BundleReader.open(job.order) as reader:
        manifest = reader.manifest
    assert manifest.shares is not None
    assert manifest.shares.signers == (None, ONE.public.public, OTHER.public.public, ONE.public.public)
    assert OrderManifest.from_bytes(manifest.to_bytes()) == manifest


def test_an_order_without_parties_has_no_word_of_them() -> None:
    assert b"signers" not in plain().manifest.to_bytes()
    assert plain().signed_by_parties(()) is plain()


@pytest.mark.parametrize(
    ("signers", "sentence"),
    [
        ([], "there are none"),
        ([None] * SHARES, "one of its 4 shares"),
        ([ONE.public.public], "one of its 4 shares"),
        (["ab"] * SHARES, "64 hexadecimal digits"),
        ([1] * SHARES, "64 hexadecimal digits"),
    ],
)
def test_parties_in_no_form_are_refused(job: Job, signers: list[Any], sentence: str) -> None:
    with BundleReader.open(job.order) as reader:
        shares, programs = reader.manifest.shares, reader.manifest.programs
    assert shares is not None
    with pytest.raises(BundleError, match=sentence):
        Shares.from_json(shares.to_json() | {"signers": signers}, programs)


def test_a_job_names_a_party_or_none_for_each_of_its_shares(tmp_path: Path) -> None:
    public = tmp_path / "party.pub.pem"
    public.write_text(ONE.public.pem)
    named = shared_order(signers=(public, None, str(public), None)).manifest.shares
    assert named is not None
    assert named.signers == (ONE.public.public, None, ONE.public.public, None)
    undivided = replace(plain(), manifest=replace(plain().manifest, shares=None))
    for draft, count in ((plain(), "4"), (undivided, "no")):
        with pytest.raises(DataError, match=f"Parties are named for 3 shares, .* {count} shares"):
            draft.signed_by_parties([ONE.public] * 3)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({1: ONE, 2: OTHER}, "answers for share 3, and its key was not given"),
        ({1: ONE, 2: ONE, 3: ONE}, f"answers for share 2; the key that was given is {ONE.public.key_id}"),
        ({0: ONE, **KEYS}, "A key was given for share 0"),
        (None, "answers for share 1, and its key was not given"),
    ],
)
def test_without_the_keys_of_all_parties_no_recording_begins(
    job: Job, keys: Any, sentence: str, tmp_path: Path, trainer_key: SigningKey
) -> None:
    run = tmp_path / "run.cfoil"
    with pytest.raises(RecordingError, match=sentence):
        record_run(job.order, run, trainer_key, share_keys=keys)
    assert not list(tmp_path.iterdir())


def test_every_share_of_a_party_is_signed_and_no_other(job: Job) -> None:
    with BundleReader.open(job.run) as reader:
        order = reader.manifest.digest
        for step in range(1, STEPS + 1):
            held = reader.shares(step)
            assert held is not None
            assert [bool(held.signature(share)) for share in range(SHARES)] == [False, True, True, True]
            again = read_shares(held.to_bytes(), reader.log(step))
            assert (again.signatures == held.signatures).all()
    said = {
        share_statement(*about, held.records[1]) for about in ((order, 1, order), (order, 2, order), (order, 1, ROOT))
    }
    assert len(said) == 3


def test_a_signature_is_what_the_page_says_of_it(job: Job) -> None:
    """Built from docs/bundle-format.md alone, and checked by nothing of ours."""
    with BundleReader.open(job.run) as reader:
        order, held = reader.manifest.digest, reader.shares(LIE)
        before = reader.step_records()[LIE - 1].state_root
    assert held is not None
    assert before is not None
    subject = [{"digest": {"sha256": order.hex}, "name": "order"}]
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "predicate": {"record": held.records[2].to_json(), "state": before.hex, "step": LIE},
        "predicateType": "urn:counterfoil:share:v2",
        "subject": subject,
    }
    payload = json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()
    message = b"DSSEv1 28 application/vnd.in-toto+json %d %s" % (len(payload), payload)
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(OTHER.public.public))
    key.verify(held.signature(2), message)
    with pytest.raises(InvalidSignature):
        key.verify(held.signature(2), message.replace(b'"step":3', b'"step":4'))


def test_a_recording_that_was_stopped_keeps_what_was_signed(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    run = tmp_path / "run.cfoil"
    stop_after(3, job.order, run, trainer_key, share_keys=KEYS)
    go_on(job.order, run, trainer_key, share_keys=KEYS)
    verified(run, job.order)
    with BundleReader.open(run) as reader, BundleReader.open(job.run) as whole:
        for step in range(1, STEPS + 1):
            found, wanted = reader.shares(step), whole.shares(step)
            assert found is not None
            assert wanted is not None
            assert (found.signatures == wanted.signatures).all()


# Audits.


def test_an_honest_run_is_verified_and_says_how_many_shares_are_signed(job: Job) -> None:
    verified(job.run, job.order)
    details = [check.detail for check in audited(job.run, job.order).report.checks]
    assert any(f"The parties signed the {3 * STEPS} shares" in detail for detail in details)


def test_a_party_that_lies_is_named(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    run = record_run(job.order, tmp_path / "run.cfoil", trainer_key, share_keys=KEYS, tamper=other_rows(2))
    report = audited(run, job.order).report
    found = report.dispute
    assert report.outcome is Outcome.DISPUTED, report.reason
    assert found is not None
    assert (found.step, found.share, found.signer) == (LIE, 2, OTHER.public.key_id)
    assert found.signer == key_id_of(OTHER.public.public)
    named = f"The party with the key {OTHER.public.key_id} signed what share 2 gave. It answers for that"
    assert named in report.reason
    assert named in bound_by(found)
    verdict = verify_verdict(sign_verdict(report, trainer_key), trainer_key.public)
    assert verdict.predicate["dispute"]["signer"] == OTHER.public.key_id


def test_a_capsule_about_a_share_names_its_party_and_holds_what_it_signed(
    job: Job, tmp_path: Path, trainer_key: SigningKey
) -> None:
    run = record_run(job.order, tmp_path / "run.cfoil", trainer_key, share_keys=KEYS, tamper=other_rows(2))
    contents = evidence_of(run, job.order)
    assert contents.shared is not None
    found = adjudicated(save(contents, tmp_path / "dispute.cfcapsule"))
    assert found.outcome is AdjudicationOutcome.CONFIRMED, found.reason
    assert found.dispute is not None
    assert found.dispute.signer == OTHER.public.key_id
    assert f"The party with the key {OTHER.public.key_id} signed what share 2 gave." in found.reason
    said = verify_signed(sign_adjudication(found, trainer_key), trainer_key.public)
    assert said.predicate["dispute"]["signer"] == OTHER.public.key_id
    bent = bytes([contents.shared.signature[0] ^ 1, *contents.shared.signature[1:]])
    for number, signature in enumerate((bent, b"")):
        other = replace(contents, shared=replace(contents.shared, signature=signature))
        again = adjudicated(save(other, tmp_path / f"other-{number}.cfcapsule"))
        assert again.outcome is AdjudicationOutcome.REFUSED
        assert again.dispute is None


@pytest.mark.parametrize(("lie", "part"), [(other_rows(0), "share 0"), (other_gradient, "update")])
def test_the_trainer_answers_for_what_no_party_signed(
    job: Job, lie: Any, part: str, tmp_path: Path, trainer_key: SigningKey
) -> None:
    run = record_run(job.order, tmp_path / "run.cfoil", trainer_key, share_keys=KEYS, tamper=lie)
    report = audited(run, job.order).report
    assert report.dispute is not None
    assert (report.dispute.part, report.dispute.signer) == (part, "")
    assert "The party with the key" not in report.reason
    verdict = verify_verdict(sign_verdict(report, trainer_key), trainer_key.public)
    assert "signer" not in verdict.predicate["dispute"]


def test_a_verdict_that_names_a_party_for_an_update_is_refused(
    job: Job, tmp_path: Path, trainer_key: SigningKey
) -> None:
    run = record_run(job.order, tmp_path / "run.cfoil", trainer_key, share_keys=KEYS, tamper=other_gradient)
    report = audited(run, job.order).report
    assert report.dispute is not None
    wrong = replace(report, dispute=replace(report.dispute, signer=ONE.public.key_id))
    with pytest.raises(SignatureError, match="names a party that answers for a share"):
        verify_verdict(sign_verdict(wrong, trainer_key), trainer_key.public)


# What parties add.


def hashes_of_another(share: int) -> Any:
    """The party of a share hashes other integers at step LIE, as one would who has added them."""
    honest = LinearHash.of_shares

    def of_shares(own: LinearHash, number: int, given: Any, exponents: Any) -> bytes:
        lies = {name: -each if number == share else each for name, each in given.items()}
        return honest(own, number, lies, exponents)

    return replaced(LinearHash, "of_shares", of_shares)


def recorded_with_another_sum(job: Job, run: Path, key: SigningKey, share: int | None) -> Path:
    with other_sum(), hashes_of_another(-1 if share is None else share):
        return record_run(job.order, run, key, share_keys=KEYS)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("share", "signer"), [(2, OTHER.public.key_id), (3, ONE.public.key_id), (0, ""), (None, "")])
def test_who_signed_another_addition_answers_for_the_sum(
    job: Job, share: int | None, signer: str, tmp_path: Path, trainer_key: SigningKey
) -> None:
    """And in the last two cases nobody did: of share 0 no party answers for anything."""
    run = recorded_with_another_sum(job, tmp_path / "run.cfoil", trainer_key, share)
    report = audited(run, job.order).report
    assert report.outcome is Outcome.DISPUTED, report.reason
    assert report.dispute is not None
    assert (report.dispute.step, report.dispute.part, report.dispute.signer) == (LIE, "combine", signer)
    said = (
        f"The party with the key {signer} signed that it added something else than its share gave. It answers for that"
    )
    assert (said in report.reason) == bool(signer)
    assert (said in bound_by(report.dispute)) == bool(signer)
    verdict = verify_verdict(sign_verdict(report, trainer_key), trainer_key.public)
    assert verdict.predicate["dispute"].get("signer", "") == signer
    found = adjudicated(save(evidence_of(run, job.order), tmp_path / "dispute.cfcapsule"))
    assert found.outcome is AdjudicationOutcome.CONFIRMED, found.reason
    assert found.dispute is not None
    assert (found.dispute.part, found.dispute.signer) == ("combine", signer)
    assert (said in found.reason) == bool(signer)


def test_chosen_shares_show_it_too(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    run = recorded_with_another_sum(job, tmp_path / "run.cfoil", trainer_key, 2)
    chosen = audited(run, job.order, shares=(2,)).report
    assert chosen.dispute is not None
    assert (chosen.dispute.step, chosen.dispute.signer) == (LIE, OTHER.public.key_id)
    assert audited(run, job.order, shares=(1,)).report.dispute is None


def test_a_capsule_of_a_sum_holds_what_parties_signed_of_it(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    run = recorded_with_another_sum(job, tmp_path / "run.cfoil", trainer_key, 2)
    contents = evidence_of(run, job.order)
    assert contents.shared is not None
    added = contents.shared.about
    assert isinstance(added, AddedTensor)
    assert added.additions is not None
    hashes = added.additions.hashes.copy()
    hashes[1, 0, 0] ^= 1
    seen = replace(added.additions, seen=ROOT)
    for number, other in enumerate((replace(added.additions, hashes=hashes), seen)):
        shared = replace(contents.shared, about=replace(added, additions=other))
        again = adjudicated(save(replace(contents, shared=shared), tmp_path / f"other-{number}.cfcapsule"))
        assert again.outcome is AdjudicationOutcome.REFUSED
        assert "is not what its party signed" in again.reason


@pytest.mark.parametrize(
    ("path", "share"), [("added", 2), ("added", 0), ("sum_signatures", 1), ("sum_signatures", 0), ("sums", 1)]
)
def test_a_sum_that_is_not_what_was_signed_is_refused(job: Job, path: str, share: int, tmp_path: Path) -> None:
    run = copied(job, tmp_path)

    def edit(column: Any) -> Any:
        row = column[LIE - 1] if path == "sums" else column[LIE - 1, share]
        row.reshape(-1)[3] ^= 1
        return column

    change(run, f"/run/shares/{path}", edit)
    assert f"What was added of share {share} of step {LIE} is not what its party signed" in refused(run, job)


def test_orders_that_add_nothing_and_orders_of_nobody_have_no_sums_that_are_signed(
    tmp_path: Path, trainer_key: SigningKey
) -> None:
    stacked = shared_order(aggregate="median").signed_by_parties(SIGNERS)
    for name in ("stacked", "nobody"):
        (tmp_path / name).mkdir()
    runs = [
        record_job(tmp_path / name, order, trainer_key, share_keys=keys).run
        for name, order, keys in (("stacked", stacked, KEYS), ("nobody", plain(), None))
    ]
    for run in runs:
        with BundleReader.open(run) as reader:
            held = reader.shares(1)
            assert held is not None
            assert held.additions is None


# Runs that a trainer puts together of what parties did not sign.


def forged(signatures: Any) -> None:
    signatures[LIE - 1, 2, 5] ^= 1


def of_another_step(signatures: Any) -> None:
    signatures[LIE - 1, 2] = signatures[LIE, 2]


def of_the_same_party(signatures: Any) -> None:
    signatures[LIE - 1, 1] = signatures[LIE - 1, 3]


def missing(signatures: Any) -> None:
    signatures[LIE - 1, 2] = 0


def too_many(signatures: Any) -> None:
    signatures[LIE - 1, 0, 0] = 1


@pytest.mark.parametrize(
    ("how", "share", "sentence"),
    [
        (forged, 2, f"its signature is not that of the party with the key {OTHER.public.key_id}"),
        (of_another_step, 2, "its signature is not that of the party"),
        (of_the_same_party, 1, f"its signature is not that of the party with the key {ONE.public.key_id}"),
        (missing, 2, f"the party with the key {OTHER.public.key_id} answers for it, and did not sign it"),
        (too_many, 0, "no party answers for it, and it is signed"),
    ],
)
def test_a_signature_that_does_not_hold_is_refused(
    job: Job, how: Any, share: int, sentence: str, tmp_path: Path
) -> None:
    run = copied(job, tmp_path)

    def edit(signatures: Any) -> Any:
        how(signatures)
        return signatures

    change(run, SIGNATURES, edit)
    assert f"Share {share} of step {LIE} is not what its party signed: {sentence}" in refused(run, job)


def test_a_trainer_that_swaps_the_shares_of_two_parties_is_refused(
    job: Job, tmp_path: Path, trainer_key: SigningKey
) -> None:
    run = copied(job, tmp_path)
    with opened_for_change(run) as file:
        for column in file["/run/shares"].values():
            if column.shape[:2] == (STEPS, SHARES):
                column[LIE - 1] = column[LIE - 1][[0, 2, 1, 3]]
    sign_again(run, trainer_key)
    assert f"Share 1 of step {LIE} is not what its party signed" in refused(run, job)


def test_a_trainer_that_changes_what_a_party_gave_is_refused(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    """The control: where the order names no parties, the same change is a dispute in which the trainer is blamed."""
    unsigned = record_job(tmp_path, plain(), trainer_key)
    runs = unsigned.run, Path(shutil.copy(job.run, tmp_path / "signed.cfoil"))

    def edit(roots: Any) -> Any:
        roots[LIE - 1, 2, 0, 0] ^= 1
        return roots

    for run in runs:
        change(run, "/run/shares/roots", edit)
        sign_again(run, trainer_key)
    assert f"Share 2 of step {LIE} is not what its party signed" in refused(runs[1], job)
    report = audited(runs[0], unsigned.order).report
    assert report.outcome is Outcome.DISPUTED
    assert report.dispute is not None
    assert (report.dispute.part, report.dispute.signer) == ("share 2", "")


def framed(tmp_path: Path, trainer_key: SigningKey) -> tuple[Path, Path]:
    """An order, and an honest run of it but for a record that a party signed of a recording that was discarded.

    There the trainer had led the party to compute step LIE + 1 from another state: its record is honest, and no record
    of this run's step.
    """
    job = record_job(tmp_path, plain().signed_by_parties(SIGNERS), trainer_key, share_keys=KEYS)
    discarded = record_run(job.order, tmp_path / "discarded.cfoil", trainer_key, share_keys=KEYS, tamper=other_gradient)
    with opened_for_change(job.run) as run, opened_for_change(discarded) as other:
        for name, column in run["/run/shares"].items():
            if column.shape[:2] == (STEPS, SHARES):
                column[LIE, 2] = other["/run/shares"][name][LIE, 2]
    sign_again(job.run, trainer_key)
    return job.run, job.order


def test_a_party_is_not_framed_by_its_record_of_a_discarded_recording(tmp_path: Path, trainer_key: SigningKey) -> None:
    run, order = framed(tmp_path, trainer_key)
    report = audited(run, order).report
    assert report.outcome is Outcome.REFUSED, report.reason
    assert f"Share 2 of step {LIE + 1} is not what its party signed" in report.reason
    assert "from the state before this step" in report.reason


def test_control_without_the_state_in_what_is_signed_it_would_be(
    tmp_path: Path, trainer_key: SigningKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = Share.of

    def stateless(order: Digest, step: int, before: Digest, record: ShareRecord) -> Share:
        return of(order, step, ROOT, record)

    monkeypatch.setattr(Share, "of", stateless)
    monkeypatch.setattr(SignedShares, "look_at_sum", lambda *_: None)
    run, order = framed(tmp_path, trainer_key)
    found = audited(run, order).report.dispute
    assert found is not None
    assert (found.step, found.share, found.signer) == (LIE + 1, 2, OTHER.public.key_id)


def test_a_run_without_signatures_is_refused(job: Job, tmp_path: Path) -> None:
    run = copied(job, tmp_path)
    with opened_for_change(run) as file:
        del file[SIGNATURES]
    assert SIGNATURES in refused(run, job)


def test_a_key_that_anybody_can_sign_with_is_no_partys(tmp_path: Path, trainer_key: SigningKey) -> None:
    draft, shares = plain(), plain().manifest.shares
    assert shares is not None
    weak = replace(shares, signers=(None, None, "01" + "00" * 31, None))
    order = tmp_path / "job.cfoil"
    replace(draft, manifest=replace(draft.manifest, shares=weak)).write(order, trial=False)
    with pytest.raises(BundleError, match="key for share 2 is no Ed25519 public key"):
        record_run(order, tmp_path / "run.cfoil", trainer_key, share_keys={2: OTHER})


def test_signatures_have_their_place_in_the_room_that_a_run_takes(job: Job) -> None:
    with BundleReader.open(job.run) as reader:
        shares = reader.shares(1)
        assert shares is not None
        assert shares.signatures.shape == (SHARES, 64)
        assert np.array_equal(shares.signatures[0], np.zeros(64, np.uint8))
