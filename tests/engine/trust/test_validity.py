"""Which statements count for a reader: the keys of parties, and replies with a key that somebody else has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from counterfoil import TrustStore
from counterfoil.signing.kinds import Cause, Reply, Revocation, RevocationList, Withdrawal
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.trust.afterwards import verdict_digest
from counterfoil.trust.validity import validity, validity_of
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.statements import open_said, sign_said
from counterfoil_core.statement.verdict import sign_verdict, verify_signed
from support.reports import verified_report
from support.trusted import store_of

LIST, TRAINER, PARTY, PARTNER, AUDITOR = (key_from_seed(bytes([number] * 32)) for number in range(1, 6))
PARTIES = tuple(sorted(key.public.key_id for key in (PARTY, PARTNER)))
SIGNED = "2026-03-01T00:00:00Z"


def listed(*gone: Revocation) -> TrustStore:
    said = open_said(RevocationList, sign_said(RevocationList.of_keys(gone, 1), LIST), LIST.public)
    return store_of(lists=[said])


def revoked(key: SigningKey, since: str, cause: Cause = Cause.RETIRED) -> Revocation:
    return Revocation(key.public.key_id, since, cause, "why")


@pytest.mark.parametrize(
    ("since", "cause", "counts"),
    [
        ("2099-01-01T00:00:00Z", Cause.COMPROMISED, False),
        ("2026-02-01T00:00:00Z", Cause.RETIRED, False),
        ("2026-04-01T00:00:00Z", Cause.RETIRED, True),
    ],
    ids=["compromised", "retired before the run was signed", "retired since"],
)
def test_what_a_party_signed_counts_as_long_as_its_key_does(since: str, cause: Cause, counts: bool) -> None:
    trainer = TRAINER.public.key_id, SIGNED
    found = validity(listed(revoked(PARTY, since, cause)), ("", ""), trainer=trainer, parties=PARTIES)
    assert (found.counts, found.gone) == (counts, () if counts else ("party",))
    assert [role for role, _ in found.revoked] == ["party"]
    assert counts == (not any("answers for shares" in each for each in found.why))


def test_each_party_is_named_and_their_role_once() -> None:
    store = listed(*(revoked(key, "2020-01-01T00:00:00Z", Cause.COMPROMISED) for key in (PARTY, PARTNER)))
    found = validity(store, ("", ""), trainer=(TRAINER.public.key_id, SIGNED), parties=PARTIES)
    assert (found.gone, len(found.why), len(found.revoked)) == (("party",), 2, 2)


def test_a_reply_with_a_stolen_key_is_nobodys_and_a_withdrawal_still_takes_away() -> None:
    envelope = sign_verdict(replace(verified_report(), trainer_key=TRAINER.public.key_id), AUDITOR)
    verdict, digest = verify_signed(envelope, AUDITOR.public), verdict_digest(envelope)
    beside = [
        ("reply.json", sign_said(Reply(digest, "No."), TRAINER)),
        ("withdrawal.json", sign_said(Withdrawal(digest, "Wrong.", None), AUDITOR)),
    ]
    known = validity_of(TrustStore(), verdict, digest, beside).later
    assert (len(known.replies), len(known.withdrawals), known.ignored) == (1, 1, ())
    gone = [revoked(key, SIGNED, Cause.COMPROMISED) for key in (TRAINER, AUDITOR)]
    told = validity_of(listed(*gone), verdict, digest, beside).later
    assert (len(told.replies), len(told.withdrawals)) == (0, 1)
    assert any("its key was revoked" in each for each in told.ignored)
