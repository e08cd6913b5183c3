"""One file that says two things: an envelope with more in it than a verdict, of which another reader sees the other."""

from __future__ import annotations

import base64
import json

import pytest

from counterfoil.cli import main
from counterfoil_core.base import canonical
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.statement.verdict import sign_verdict, verify_signed
from counterfoil_core.values.outcome import CheckNumber, Outcome
from support import expectations
from support.jobs import replace_bytes
from support.reports import disputed_report, verified_report


@pytest.fixture
def verdict(trainer_key):
    return json.loads(sign_verdict(verified_report(), trainer_key))


@pytest.fixture
def dispute(trainer_key):
    return json.loads(sign_verdict(disputed_report(), trainer_key))


def other_text(payload: str) -> str:
    """Base64 that many readers decode to the same bytes, and that others refuse."""
    return payload[:8] + "\n" + payload[8:]


FORMS = {
    "another payload beside it": lambda v, d: v | {"Payload": d["payload"]},
    "another envelope in it": lambda v, d: v | {"dispute": d},
    "a field of the signature": lambda v, d: v | {"signatures": [v["signatures"][0] | {"payload": d["payload"]}]},
    "the other's signature too": lambda v, d: v | {"signatures": [*v["signatures"], *d["signatures"]]},
    "another signer's too": lambda v, d: v | {"signatures": [*v["signatures"], {"keyid": "ab" * 32, "sig": "AA=="}]},
    "no signature": lambda v, d: v | {"signatures": []},
    "no type": lambda v, d: {"payload": v["payload"], "signatures": v["signatures"]},
    "base64 with a line end": lambda v, d: v | {"payload": other_text(v["payload"])},
    "base64 with bits that count for nothing": lambda v, d: v | {"signatures": [loose(v["signatures"][0])]},
    "a payload that is no text": lambda v, d: v | {"payload": [v["payload"]]},
}


def loose(signature: dict[str, str]) -> dict[str, str]:
    """The last character of 64 bytes in base64 has four bits that count for nothing."""
    text = signature["sig"]
    assert text.endswith("==")
    assert text[-3] in "AQgw"
    return signature | {"sig": text[:-3] + chr(ord(text[-3]) + 1) + "=="}


@pytest.mark.parametrize("what", FORMS)
def test_an_envelope_that_says_more_than_one_thing(what, verdict, dispute, trainer_key, tmp_path):
    envelope = json.dumps(FORMS[what](verdict, dispute)).encode()
    with pytest.raises(SignatureError, match="envelope is malformed"):
        verify_signed(envelope, trainer_key.public)
    (tmp_path / "verdict.json").write_bytes(envelope)
    (tmp_path / "key.pub.pem").write_text(trainer_key.public.pem)
    command = ["verify", str(tmp_path / "verdict.json"), "--key", str(tmp_path / "key.pub.pem")]
    assert main(command) == Outcome.REFUSED.exit_code


def test_a_member_twice(verdict, dispute, trainer_key):
    """Readers take the first or the last of two members of one name."""
    both = canonical.encode(dispute)[:-1] + b"," + canonical.encode(verdict)[1:]
    assert json.loads(both) == verdict
    with pytest.raises(SignatureError, match="envelope is malformed"):
        verify_signed(both, trainer_key.public)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32-le", "utf-8-sig"])
def test_another_encoding_of_the_text(encoding, verdict, trainer_key):
    with pytest.raises(SignatureError, match="envelope is malformed"):
        verify_signed(json.dumps(verdict).encode(encoding), trainer_key.public)


def test_control_the_same_envelope_as_other_tools_write_it(verdict, dispute, trainer_key):
    for envelope in (json.dumps(verdict, indent=4), json.dumps(dict(reversed(verdict.items())))):
        assert verify_signed(envelope.encode(), trainer_key.public).outcome is Outcome.VERIFIED
    assert verify_signed(json.dumps(dispute).encode(), trainer_key.public).outcome is Outcome.DISPUTED


def test_the_claim_of_a_run(copied_run, digits_job):
    with BundleReader.open(copied_run) as reader:
        claim = json.loads(reader.claim())
    replace_bytes(copied_run, "/run/claim", canonical.encode(claim | {"note": "The client's notary saw it."}))
    expectations.refused(copied_run, digits_job.order, CheckNumber.SIGNATURE, "The signature's envelope is malformed.")
    base64.b64decode(claim["payload"], validate=True)
    replace_bytes(copied_run, "/run/claim", json.dumps(claim, indent=1).encode())
    expectations.verified(copied_run, digits_job.order)
