from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, SECP384R1, generate_private_key as generate_ec_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_public_key,
)
from hypothesis import given, strategies as st
from msgspec import structs
from securesystemslib.dsse import Envelope

from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import FileWriteError, KeyFileError, SignatureError
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.signing.envelope import open_statement, sign_statement
from counterfoil_core.signing.keys import PublicKey, SigningKey, load_public_key
from counterfoil_core.signing.kinds import PAYLOAD_TYPE, RUN, STATEMENT_TYPE, VERDICT, make_statement
from counterfoil_core.signing.publickeys import key_id_of, pem_of
from counterfoil_core.signing.statements import open_said, sign_said


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    path = tmp_path_factory.mktemp("keys") / "trainer.pem"
    generate_key(path, None)
    return load_private_key(path, None)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    path = tmp_path_factory.mktemp("keys") / "other.pem"
    generate_key(path, None)
    return load_private_key(path, None)


@pytest.fixture(scope="module")
def claim(key: SigningKey) -> RunClaim:
    return RunClaim(
        order=Digest.of(b"order"),
        run_root=Digest.of(b"run"),
        steps=7,
        environment={"device": "cpu", "torch": "2.13"},
        signed_at="2026-01-01T00:00:00Z",
        public_key=key.public.pem,
    )


def payload_of(envelope: bytes) -> bytes:
    return base64.b64decode(json.loads(envelope)["payload"])


def pae(payload_type: str, payload: bytes) -> bytes:
    """DSSE v1, pre-authentication encoding."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign_bytes(payload: bytes, key: SigningKey, payload_type: str = PAYLOAD_TYPE) -> bytes:
    """Sign any bytes at all, as a careless or hostile signer could."""
    envelope = Envelope(payload, payload_type, {})
    envelope.sign(key._signer)
    return json.dumps(envelope.to_dict()).encode()


# Keys.


def test_key_files(tmp_path: Path) -> None:
    private = tmp_path / "auditor.pem"
    public = generate_key(private, "correct horse")
    assert public == tmp_path / "auditor.pub.pem"
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert private.read_bytes().startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----")
    key = load_private_key(private, "correct horse")
    assert load_public_key(public) == key.public
    assert key.public.pem == public.read_text()
    assert PublicKey.from_pem(key.public.pem.encode()) == key.public


def test_key_without_passphrase(tmp_path: Path) -> None:
    private = tmp_path / "auditor.pem"
    public = generate_key(private, None)
    assert private.read_bytes().startswith(b"-----BEGIN PRIVATE KEY-----")
    assert load_private_key(private, None).public == load_private_key(private, "").public == load_public_key(public)


def test_key_id_is_the_hash_of_the_key(key: SigningKey) -> None:
    raw = load_pem_public_key(key.public.pem.encode())
    assert isinstance(raw, Ed25519PublicKey)
    value = {
        "keytype": "ed25519",
        "scheme": "ed25519",
        "keyval": {"public": raw.public_bytes(Encoding.Raw, PublicFormat.Raw).hex()},
    }
    assert key.public.key_id == hashlib.sha256(canonical.encode(value)).hexdigest()


@pytest.mark.parametrize("taken", ["auditor.pem", "auditor.pub.pem"])
def test_a_key_file_is_never_overwritten(tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).write_text("mine")
    with pytest.raises(KeyFileError, match="never overwritten"):
        generate_key(tmp_path / "auditor.pem", None)
    assert [path.name for path in tmp_path.iterdir()] == [taken]
    assert (tmp_path / taken).read_text() == "mine"


def test_a_key_in_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileWriteError, match="cannot be written"):
        generate_key(tmp_path / "none" / "auditor.pem", None)


def test_an_empty_passphrase_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="empty passphrase"):
        generate_key(tmp_path / "auditor.pem", "")
    assert not list(tmp_path.iterdir())


def test_passphrases_that_do_not_fit(tmp_path: Path) -> None:
    generate_key(tmp_path / "a.pem", "right")
    generate_key(tmp_path / "b.pem", None)
    with pytest.raises(KeyFileError, match="wrong"):
        load_private_key(tmp_path / "a.pem", "left")
    with pytest.raises(KeyFileError, match="needs its passphrase"):
        load_private_key(tmp_path / "a.pem", None)
    with pytest.raises(KeyFileError, match="has no passphrase"):
        load_private_key(tmp_path / "b.pem", "right")


def test_a_public_key_on_p256_is_taken_and_a_private_one_in_a_file_is_not(tmp_path: Path) -> None:
    ec = generate_ec_key(SECP256R1())
    (tmp_path / "ec.pem").write_bytes(ec.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    pem = ec.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "ec.pub.pem").write_bytes(pem)
    key = load_public_key(tmp_path / "ec.pub.pem")
    assert (key.key_id, key.pem, pem) == (key_id_of(key.public), pem_of(key.public), key.pem.encode())
    with pytest.raises(KeyFileError, match="not an Ed25519 key"):
        load_private_key(tmp_path / "ec.pem", None)


def test_files_that_are_no_key_of_ours(tmp_path: Path) -> None:
    ec = generate_ec_key(SECP384R1())
    (tmp_path / "ec.pem").write_bytes(ec.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (tmp_path / "ec.pub.pem").write_bytes(ec.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    (tmp_path / "junk.pem").write_bytes(b"\0\xff junk")
    public = generate_key(tmp_path / "good.pem", None)
    for name in ("ec.pem", "junk.pem", "none.pem", ".", public.name):
        with pytest.raises(KeyFileError):
            load_private_key(tmp_path / name, None)
    for name in ("ec.pub.pem", "junk.pem", "none.pem", ".", "good.pem"):
        with pytest.raises(KeyFileError):
            load_public_key(tmp_path / name)
    with pytest.raises(KeyFileError, match=r"Use good\.pub\.pem"):
        load_public_key(tmp_path / "good.pem")


@given(junk=st.binary(max_size=200))
def test_junk_in_a_key_file_gives_our_error(tmp_path_factory: pytest.TempPathFactory, junk: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "junk.pem"
    for data in (junk, b"-----BEGIN PRIVATE KEY-----\n" + base64.b64encode(junk) + b"\n-----END PRIVATE KEY-----\n"):
        path.write_bytes(data)
        for passphrase in (None, "x"):
            with pytest.raises(KeyFileError):
                load_private_key(path, passphrase)
        with pytest.raises(KeyFileError):
            load_public_key(path)


# Statements.


def test_a_statement_round_trips(key: SigningKey) -> None:
    statement = make_statement([{"name": "x", "digest": {"sha256": "00"}}], VERDICT.predicate, {"result": "VERIFIED"})
    envelope = sign_statement(statement, key)
    assert open_statement(envelope, key.public) == statement
    assert payload_of(envelope) == canonical.encode(statement)
    assert json.loads(envelope)["payloadType"] == "application/vnd.in-toto+json"


def test_the_signature_holds_for_bare_ed25519(key: SigningKey, claim: RunClaim) -> None:
    envelope = json.loads(sign_said(claim, key))
    bare = load_pem_public_key(key.public.pem.encode())
    assert isinstance(bare, Ed25519PublicKey)
    (signature,) = envelope["signatures"]
    bare.verify(base64.b64decode(signature["sig"]), pae(envelope["payloadType"], base64.b64decode(envelope["payload"])))


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
@pytest.mark.parametrize("spoil", [False, True])
def test_the_signature_holds_for_openssl(key: SigningKey, claim: RunClaim, tmp_path: Path, spoil: bool) -> None:
    envelope = json.loads(sign_said(claim, key))
    message = bytearray(pae(envelope["payloadType"], base64.b64decode(envelope["payload"])))
    message[-1] ^= spoil
    (tmp_path / "message").write_bytes(message)
    (tmp_path / "signature").write_bytes(base64.b64decode(envelope["signatures"][0]["sig"]))
    (tmp_path / "key.pem").write_text(key.public.pem)
    command = "openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in message -sigfile signature"
    done = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode == 0) is not spoil


def test_another_key_does_not_open_a_statement(key: SigningKey, other: SigningKey, claim: RunClaim) -> None:
    envelope = sign_said(claim, key)
    with pytest.raises(SignatureError, match="does not hold"):
        open_statement(envelope, other.public)


def test_the_key_id_alone_does_not_make_a_signature(key: SigningKey, other: SigningKey, claim: RunClaim) -> None:
    """A signature by another key that bears the right key id."""
    envelope = json.loads(sign_bytes(canonical.encode({}), other))
    envelope["signatures"][0]["keyid"] = key.public.key_id
    with pytest.raises(SignatureError, match="does not hold"):
        open_statement(json.dumps(envelope).encode(), key.public)


def test_the_payload_type_is_signed(key: SigningKey, claim: RunClaim) -> None:
    envelope = json.loads(sign_said(claim, key))
    envelope["payloadType"] = "text/plain"
    with pytest.raises(SignatureError, match="does not hold"):
        open_said(RunClaim, json.dumps(envelope).encode(), key.public)


STATEMENT: dict[str, Any] = {
    "_type": STATEMENT_TYPE,
    "subject": [],
    "predicateType": VERDICT.predicate,
    "predicate": {},
}


@pytest.mark.parametrize(
    ("payload", "payload_type"),
    [
        (b"not json", PAYLOAD_TYPE),
        (b"[]", PAYLOAD_TYPE),
        (json.dumps(STATEMENT).encode(), PAYLOAD_TYPE),
        (canonical.encode(STATEMENT), "application/json"),
        (canonical.encode({**STATEMENT, "_type": "https://in-toto.io/Statement/v0.1"}), PAYLOAD_TYPE),
        (canonical.encode({**STATEMENT, "extra": 1}), PAYLOAD_TYPE),
        (canonical.encode({name: STATEMENT[name] for name in ("_type", "subject", "predicate")}), PAYLOAD_TYPE),
    ],
    ids=["no json", "no object", "not canonical", "payload type", "statement type", "extra field", "missing field"],
)
def test_signed_payloads_that_are_no_statement(key: SigningKey, payload: bytes, payload_type: str) -> None:
    with pytest.raises(SignatureError):
        open_statement(sign_bytes(payload, key, payload_type), key.public)


def test_the_control_statement_opens(key: SigningKey) -> None:
    assert open_statement(sign_bytes(canonical.encode(STATEMENT), key), key.public) == STATEMENT


# Claims.


def test_a_claim_round_trips(key: SigningKey, claim: RunClaim) -> None:
    envelope = sign_said(claim, key)
    assert open_said(RunClaim, envelope) == claim
    assert open_said(RunClaim, envelope, key.public) == claim
    statement = json.loads(payload_of(envelope))
    assert statement["predicateType"] == RUN.predicate == "urn:counterfoil:run:v1"
    assert statement["subject"] == [
        {"name": "order", "digest": {"sha256": claim.order.hex}},
        {"name": "run", "digest": {"rfc9162Sha256": claim.run_root.hex}},
    ]


def test_a_claim_for_another_key_is_not_signed(other: SigningKey, claim: RunClaim) -> None:
    with pytest.raises(SignatureError, match="another public key"):
        sign_said(claim, other)


def test_a_claim_signed_by_a_key_that_it_does_not_name(key: SigningKey, other: SigningKey, claim: RunClaim) -> None:
    statement = json.loads(payload_of(sign_said(claim, key)))
    envelope = sign_bytes(canonical.encode(statement), other)
    with pytest.raises(SignatureError, match="does not hold"):
        open_said(RunClaim, envelope)
    with pytest.raises(SignatureError, match="another public key"):
        open_said(RunClaim, envelope, other.public)


def test_a_claim_of_an_unknown_trainer_does_not_pass_for_a_known_one(
    key: SigningKey, other: SigningKey, claim: RunClaim
) -> None:
    forged = sign_said(structs.replace(claim, public_key=other.public.pem), other)
    assert open_said(RunClaim, forged).public_key == other.public.pem
    with pytest.raises(SignatureError, match="does not hold"):
        open_said(RunClaim, forged, key.public)


@pytest.mark.parametrize("what", ["subject", "predicateType", "steps", "order", "extra", "pem"])
def test_claims_that_are_signed_but_malformed(key: SigningKey, claim: RunClaim, what: str) -> None:
    statement = json.loads(payload_of(sign_said(claim, key)))
    if what == "subject":
        statement["subject"][1]["digest"]["rfc9162Sha256"] = Digest.of(b"another run").hex
    elif what == "predicateType":
        statement["predicateType"] = VERDICT.predicate
    elif what == "steps":
        statement["predicate"]["steps"] = "7"
    elif what == "order":
        statement["predicate"]["order"] = "00"
    elif what == "extra":
        statement["predicate"]["more"] = 1
    else:
        statement["predicate"]["public_key"] = "text in front\n" + claim.public_key
    envelope = sign_bytes(canonical.encode(statement), key)
    for trusted in (None, key.public):
        with pytest.raises(SignatureError):
            open_said(RunClaim, envelope, trusted)


@given(data=st.data())
def test_any_flipped_bit_of_the_payload_breaks_the_signature(
    key: SigningKey, claim: RunClaim, data: st.DataObject
) -> None:
    envelope = json.loads(sign_said(claim, key))
    payload = bytearray(base64.b64decode(envelope["payload"]))
    bit = data.draw(st.integers(0, 8 * len(payload) - 1))
    payload[bit // 8] ^= 1 << bit % 8
    envelope["payload"] = base64.b64encode(payload).decode()
    for trusted in (None, key.public):
        with pytest.raises(SignatureError):
            open_said(RunClaim, json.dumps(envelope).encode(), trusted)


@given(data=st.data())
def test_any_flipped_bit_of_the_signature_breaks_it(key: SigningKey, claim: RunClaim, data: st.DataObject) -> None:
    envelope = json.loads(sign_said(claim, key))
    signature = bytearray(base64.b64decode(envelope["signatures"][0]["sig"]))
    bit = data.draw(st.integers(0, 8 * len(signature) - 1))
    signature[bit // 8] ^= 1 << bit % 8
    envelope["signatures"][0]["sig"] = base64.b64encode(signature).decode()
    with pytest.raises(SignatureError):
        open_said(RunClaim, json.dumps(envelope).encode())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(junk=st.binary(max_size=100))
def test_junk_bytes_give_our_error(key: SigningKey, junk: bytes) -> None:
    for trusted in (None, key.public):
        with pytest.raises(SignatureError):
            open_said(RunClaim, junk, trusted)
    with pytest.raises(SignatureError):
        open_statement(junk, key.public)


@given(data=st.data())
def test_junk_in_any_place_of_an_envelope_gives_our_error(
    key: SigningKey, claim: RunClaim, data: st.DataObject
) -> None:
    envelope = json.loads(sign_said(claim, key))
    signature = envelope["signatures"][0]
    place, name = data.draw(
        st.sampled_from(
            [
                (envelope, "payload"),
                (envelope, "payloadType"),
                (envelope, "signatures"),
                (signature, "sig"),
                (signature, "keyid"),
            ]
        )
    )
    if data.draw(st.booleans()):
        del place[name]
    else:
        place[name] = data.draw(JSON)
    for trusted in (None, key.public):
        with pytest.raises(SignatureError):
            open_said(RunClaim, json.dumps(envelope).encode(), trusted)


@given(payload=JSON)
def test_junk_that_is_signed_gives_our_error(key: SigningKey, payload: object) -> None:
    envelope = sign_bytes(json.dumps(payload).encode(), key)
    for trusted in (None, key.public):
        with pytest.raises(SignatureError):
            open_said(RunClaim, envelope, trusted)


def test_deeply_nested_junk_gives_our_error(key: SigningKey) -> None:
    for junk in (b"[" * 200_000, b'{"payload":' * 200_000, sign_bytes(b"[" * 200_000, key)):
        with pytest.raises(SignatureError):
            open_said(RunClaim, junk)


def test_a_private_key_does_not_show_in_a_repr(key: SigningKey) -> None:
    assert "CryptoSigner" not in repr(key)


def test_control_a_key_made_elsewhere_works(tmp_path: Path, claim: RunClaim) -> None:
    """A PKCS #8 file as openssl writes it."""
    path = tmp_path / "elsewhere.pem"
    bare = Ed25519PrivateKey.generate()
    path.write_bytes(bare.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    os.chmod(path, 0o600)
    key = load_private_key(path, None)
    mine = structs.replace(claim, public_key=key.public.pem)
    assert open_said(RunClaim, sign_said(mine, key), key.public) == mine
