"""A key that anybody can sign with: a point of small order, under which the same bytes are a signature of anything."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, strategies as st
from securesystemslib.signer import SSlibKey

from counterfoil.cli import main
from counterfoil_core.base import canonical
from counterfoil_core.base.errors import KeyFileError, SignatureError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.claims import RunClaim, TreeHead
from counterfoil_core.signing.envelope import open_statement
from counterfoil_core.signing.keys import D, L, P, PublicKey, is_prime_order_point, load_public_key
from counterfoil_core.signing.kinds import PAYLOAD_TYPE
from counterfoil_core.signing.statements import open_said, sign_said
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.outcome import CheckNumber, Outcome
from support import expectations
from support.capsules import refused, save
from support.heads import record_with_heads
from support.jobs import replace_bytes

SMALL = [
    bytes.fromhex(text)
    for text in (
        "0100000000000000000000000000000000000000000000000000000000000000",  # the neutral point
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",  # order 2
        "0000000000000000000000000000000000000000000000000000000000000000",  # order 4
        "0000000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",  # order 8
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        # The same points in other encodings: a coordinate of P or more, or a sign without an x.
        "0100000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    )
]
BASE = (4 * pow(5, -1, P) % P).to_bytes(32, "little")
ANYTHING = BASE + (1).to_bytes(32, "little")
"""R = B and S = 1: a signature of every message under the neutral point, since S B = R + k A for every k."""


def pem_of(raw: bytes) -> str:
    return (
        Ed25519PublicKey.from_public_bytes(raw).public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    )


def signed_by_nobody(envelope: bytes, raw: bytes = SMALL[0]) -> bytes:
    """The same statement under a key of small order, with a signature that takes no secret."""
    statement = json.loads(base64.b64decode(json.loads(envelope)["payload"]))
    statement["predicate"]["public_key"] = pem_of(raw)
    key_id = SSlibKey.from_crypto(Ed25519PublicKey.from_public_bytes(raw)).keyid
    signature = {"keyid": key_id, "sig": base64.b64encode(ANYTHING).decode()}
    payload = base64.b64encode(canonical.encode(statement)).decode()
    return canonical.encode({"payload": payload, "payloadType": PAYLOAD_TYPE, "signatures": [signature]})


@pytest.fixture
def forged_run(copied_run):
    with BundleReader.open(copied_run) as reader:
        claim = reader.claim()
    replace_bytes(copied_run, "/run/claim", signed_by_nobody(claim))
    return copied_run


def test_the_library_takes_the_signature_for_any_message():
    """What the attack rests on, and why it does not do to ask the library."""
    key = Ed25519PublicKey.from_public_bytes(SMALL[0])
    for message in (b"VERIFIED", b"DISPUTED", b""):
        key.verify(ANYTHING, message)


def test_an_honest_run_that_anybody_signed(forged_run, digits_job):
    expectations.refused(forged_run, digits_job.order, CheckNumber.SIGNATURE, "only its owner can sign with")


def test_control_the_run_that_its_trainer_signed(digits_job, trainer_key):
    expectations.verified(digits_job.run, digits_job.order, trainer_key=trainer_key.public)


def test_a_capsule_that_anybody_signed(evidence, tmp_path):
    forged = save(replace(evidence, claim=signed_by_nobody(evidence.claim)), tmp_path / "forged.cfoil")
    assert refused(forged, "only its owner can sign with").outcome is AdjudicationOutcome.REFUSED


def test_a_file_of_such_a_key_is_refused(tmp_path, digits_job, capsys):
    path = tmp_path / "anybody.pub.pem"
    path.write_text(pem_of(SMALL[0]))
    with pytest.raises(KeyFileError):
        load_public_key(path)
    (tmp_path / "verdict.json").write_text("{}")
    for command in (["audit", digits_job.run, "--trainer-key"], ["verify", tmp_path / "verdict.json", "--key"]):
        assert main([str(part) for part in (*command, path)]) == Outcome.ERROR.exit_code
        assert "only its owner can sign with" in " ".join(capsys.readouterr().err.split())


def test_tree_heads_that_anybody_signed(tmp_path, digits_job, trainer_key):
    run, heads = record_with_heads(digits_job.order, tmp_path, trainer_key)
    forged = signed_by_nobody(heads.read_bytes().splitlines()[0])
    with pytest.raises(SignatureError, match="does not hold"):
        open_said(TreeHead, forged, trainer_key.public)
    heads.write_bytes(forged + b"\n")
    expectations.refused(run, digits_job.order, CheckNumber.COMMITMENTS, "not a tree head of this trainer", heads=heads)


@pytest.mark.parametrize("raw", SMALL, ids=lambda raw: raw.hex()[:4] + raw.hex()[-4:])
def test_points_of_small_order_in_every_encoding(raw):
    assert not is_prime_order_point(raw)
    with pytest.raises(KeyFileError, match="small order, or not in its one encoding"):
        PublicKey.from_pem(pem_of(raw).encode())


def sum_of(one: bytes, other: bytes) -> bytes:
    """The sum of two points of the curve, written from the curve's own law (RFC 8032, section 5.1.4)."""

    def point(raw: bytes) -> tuple[int, int]:
        number = int.from_bytes(raw, "little")
        y = number % 2**255
        square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
        x = pow(square, (P + 3) // 8, P)
        x = x if x * x % P == square else x * pow(2, (P - 1) // 4, P) % P
        assert x * x % P == square
        return (x if x & 1 == number >> 255 else -x % P), y

    (a, b), (c, d) = point(one), point(other)
    x = (a * d + c * b) * pow(1 + D * a * c * b * d, -1, P) % P
    y = (b * d + a * c) * pow(1 - D * a * c * b * d, -1, P) % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


@given(seed=st.binary(min_size=32, max_size=32), small=st.sampled_from(SMALL[:8]))
def test_honest_keys_are_taken_and_their_sums_with_small_ones_are_not(seed, small):
    honest = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    assert is_prime_order_point(honest)
    mixed = sum_of(honest, small)
    assert is_prime_order_point(mixed) is (small == SMALL[0]) is (mixed == honest)
    number = int.from_bytes(honest, "little") ^ 1 << 255
    assert is_prime_order_point(number.to_bytes(32, "little")), "its negative is a key of its own"


@pytest.mark.parametrize("length", [0, 31, 33])
def test_what_has_another_length_is_no_key(length):
    assert not is_prime_order_point(BASE[:length].ljust(length, b"\0"))
    assert is_prime_order_point(BASE)


@pytest.mark.parametrize("what", ["S + L", "S with high bits", "R of small order", "R in another encoding", "cut off"])
def test_other_forms_of_a_signature_do_not_hold(what, digits_job, trainer_key):
    with BundleReader.open(digits_job.run) as reader:
        envelope = json.loads(sign_said(open_said(RunClaim, reader.claim()), trainer_key))
    open_statement(canonical.encode(envelope), trainer_key.public)
    signature = base64.b64decode(envelope["signatures"][0]["sig"])
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    forms = {
        "S + L": r + (s + L).to_bytes(32, "little"),
        "S with high bits": r + (s | 1 << 255).to_bytes(32, "little"),
        "R of small order": SMALL[0] + signature[32:],
        "R in another encoding": r[:31] + bytes([r[31] ^ 0x80]) + signature[32:],
        "cut off": signature[:63],
    }
    envelope["signatures"][0]["sig"] = base64.b64encode(forms[what]).decode()
    with pytest.raises(SignatureError, match="does not hold"):
        open_statement(canonical.encode(envelope), trainer_key.public)
