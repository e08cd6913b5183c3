"""Signed statements: in-toto Statement v1 in DSSE v1 envelopes.

A signature covers bytes. So a verifier checks the signature over the received bytes first, and only then parses
them and looks at what they say.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import Error as SecureSystemsError
from securesystemslib.signer import Signature  # type: ignore[attr-defined]

from counterfoil_core.base import canonical
from counterfoil_core.base.errors import BundleError, KeyFileError, SignatureError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.schema import RunClaim, TreeHead
from counterfoil_core.signing.intoto import (
    PAYLOAD_TYPE,
    RUN_PREDICATE,
    RUN_PREDICATES,
    SHORT_RUN_PREDICATE,
    STATEMENT_TYPE,
    TREE_HEAD_PREDICATE,
    make_subject,
)
from counterfoil_core.signing.keys import PublicKey, SigningKey

MOST_DETAIL = 300
"""Characters at most of what a stranger's envelope is said to be."""
MAX_CERTIFICATES = 8
"""Certificates that may lie beside a signature."""
MAX_CERTIFICATE_BYTES = 16 * 1024
"""Bytes at most of one of them, as PEM."""
_MALFORMED = (LookupError, ValueError, TypeError, AttributeError, RecursionError, SecureSystemsError)


def sign_statement(statement: dict[str, Any], key: SigningKey) -> bytes:
    """Sign the canonical JSON of a statement.

    Returns:
        The DSSE envelope as JSON bytes.

    Raises:
        CanonicalError: The statement has no canonical form, for instance because it holds a float.
        SignerError: The signer's process does not sign it.
    """
    return key.sign(canonical.encode(statement))


def wrap_statement(statement: dict[str, Any]) -> bytes:
    """Put a statement into an envelope that nobody signs: what it says is the word of whoever wrote the file.

    Raises:
        CanonicalError: The statement has no canonical form.
    """
    return canonical.encode(Envelope(canonical.encode(statement), PAYLOAD_TYPE, {}).to_dict())


def open_statement(envelope: bytes, key: PublicKey, *, certified: bool = False) -> dict[str, Any]:
    """Check the signature of an envelope, then read the statement in it.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The key that must have signed it.
        certified: Whether certificates may lie beside the signature, as :func:`attach_certificates` puts them there.
            They are not looked at.

    Raises:
        SignatureError: The envelope is malformed, not signed by this key, or holds no canonical in-toto statement.
    """
    return _open(_parse_envelope(envelope, certified=certified), key)


def attach_certificates(envelope: bytes, chain: Sequence[bytes]) -> bytes:
    """Put an X.509 chain beside the signature of an envelope, which covers it not: the leaf is about the key.

    The members are those of in-toto's Witness: ``certificate`` is the leaf, ``intermediates`` what issued it.

    Args:
        envelope: A DSSE envelope of ours.
        chain: Certificates, PEM, the leaf first; none leaves the envelope byte for byte as it is.
    """
    if not chain:
        return envelope
    value = canonical.parse(envelope)
    leaf, *others = (base64.b64encode(each).decode() for each in chain)
    value["signatures"][0] |= {"certificate": leaf} | ({"intermediates": others} if others else {})
    return canonical.encode(value)


def certificates_in(envelope: bytes) -> tuple[bytes, ...]:
    """Return the certificates beside the signature of an envelope, the leaf first, unverified; mostly there are none.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.

    Raises:
        SignatureError: It is malformed, or they are too many or too large.
    """
    return _parse(envelope, certified=True)[1]


def claimed_key_ids(envelope: bytes) -> tuple[str, ...]:
    """Return the ids of the keys that an envelope says it was signed with, ascending.

    Nothing is verified: the ids only tell which public key to look for.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.

    Raises:
        SignatureError: The envelope is malformed.
    """
    return tuple(sorted(_parse_envelope(envelope, certified=True).signatures))


def signature_in(envelope: bytes) -> bytes:
    """Return the signature of an envelope, unverified; raises SignatureError when the envelope is malformed."""
    (signature,) = _parse_envelope(envelope).signatures.values()
    return bytes.fromhex(signature.signature)


def is_signed_by(payload: bytes, signature: bytes, key: PublicKey) -> bool:
    """Whether a signature that lies beside its payload, in no envelope, is this key's.

    Args:
        payload: The canonical JSON of an in-toto statement.
        signature: What :func:`signature_in` gave.
        key: The key.
    """
    envelope = Envelope(payload, PAYLOAD_TYPE, {key.key_id: Signature(key.key_id, signature.hex())})
    try:
        envelope.verify([key.wrapped], 1)
    except _MALFORMED:
        return False
    return True


def payload_of(envelope: bytes) -> bytes:
    """Return the payload of an envelope without a look at its signature; raises SignatureError when it is malformed."""
    payload: bytes = _parse_envelope(envelope, certified=True).payload
    return payload


def open_claim(envelope: bytes, key: PublicKey | None = None) -> RunClaim:
    """Check the signature of a run's claim, then read it.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The trainer's key if the reader knows it. With None the key that the claim itself names is used: this
            shows that whoever holds that key signed the claim, and not who that is.

    Raises:
        SignatureError: The envelope is malformed, the signature does not hold, or the statement is no run's claim.
    """
    parsed = _parse_envelope(envelope)
    key = key or _named_key(parsed.payload, say("run's claim"))
    statement = _open(parsed, key)
    if statement["predicateType"] not in RUN_PREDICATES:
        raise SignatureError(say("What is signed is not the claim of a run."))
    try:
        claim = RunClaim.from_json(statement["predicate"])
    except BundleError as error:
        raise SignatureError(say("The signed claim of the run is malformed."), detail=str(error)) from error
    if statement["predicateType"] != run_predicate(claim):
        raise SignatureError(
            say("The signed claim of the run is malformed."), detail="steps_ordered does not belong to its type"
        )
    if claim.public_key != key.pem:
        raise SignatureError(say("The run's claim names another public key than the one that signed it."))
    if statement["subject"] != run_subjects(claim):
        raise SignatureError(say("The subjects of the run's claim are not the order and the run that it speaks of."))
    return claim


def run_predicate(claim: RunClaim) -> str:
    """Return the predicate type of a run's claim."""
    return RUN_PREDICATE if claim.steps_ordered is None else SHORT_RUN_PREDICATE


def open_named(envelope: bytes, kind: str, what: str, key: PublicKey | None = None) -> tuple[dict[str, Any], PublicKey]:
    """Check an envelope whose predicate names the key that signed it.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        kind: The predicate type that the statement must have.
        what: What it is, for the sentence of an error.
        key: The key that must have signed it. With None that is the key which the statement names: this shows that
            whoever holds that key signed it, and not who that is.

    Returns:
        The statement, whose predicate is a JSON object, and the key that signed it.

    Raises:
        SignatureError: The envelope is malformed, the signature does not hold, the statement is of another kind, or
            names another key than the one that signed it.
    """
    parsed = _parse_envelope(envelope)
    key = key or _named_key(parsed.payload, what)
    statement = _open(parsed, key)
    if statement["predicateType"] != kind or not isinstance(statement["predicate"], dict):
        raise SignatureError(say("What is signed is not the {0}.", what))
    if statement["predicate"].get("public_key") != key.pem:
        raise SignatureError(say("The {0} names another public key than the one that signed it.", what))
    return statement, key


def open_word(envelope: bytes, kind: str, what: str) -> tuple[dict[str, Any], PublicKey | None]:
    """Check an envelope that need not be signed; where it is, its predicate names the key.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        kind: The predicate type that the statement must have.
        what: What it is, for the sentence of an error.

    Returns:
        The statement, whose predicate is a JSON object, and the key that signed it; None where nobody did.

    Raises:
        SignatureError: The envelope is malformed, a signature does not hold, the statement is of another kind, or
            names another key than the one that signed it, or one although nobody did.
    """
    parsed, _ = _parse(envelope, certified=False, unsigned=True)
    if parsed.signatures:
        return open_named(envelope, kind, what)
    statement = _statement_in(parsed)
    if statement["predicateType"] != kind or not isinstance(statement["predicate"], dict):
        raise SignatureError(say("What the envelope holds is not the {0}.", what))
    if "public_key" in statement["predicate"]:
        raise SignatureError(say("The {0} names a key, and has no signature of it.", what))
    return statement, None


def open_tree_head(envelope: bytes, key: PublicKey) -> TreeHead:
    """Check the signature of a tree head, then read it.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The key that must have signed it.

    Raises:
        SignatureError: The envelope is malformed, the signature does not hold, or the statement is no tree head.
    """
    statement = open_statement(envelope, key)
    if statement["predicateType"] != TREE_HEAD_PREDICATE:
        raise SignatureError(say("What is signed is not a tree head."))
    try:
        head = TreeHead.from_json(statement["predicate"])
    except BundleError as error:
        raise SignatureError(say("The signed tree head is malformed."), detail=str(error)) from error
    if head.public_key != key.pem:
        raise SignatureError(say("The tree head names another public key than the one that signed it."))
    if statement["subject"] != head_subjects(head):
        raise SignatureError(say("The subjects of the tree head are not the order and the history that it speaks of."))
    return head


def head_subjects(head: TreeHead) -> list[dict[str, Any]]:
    """Return the subjects of a tree head: the order, and the root over the records so far."""
    return [make_subject("order", head.order), make_subject("history", head.root, "rfc9162Sha256")]


def run_subjects(claim: RunClaim) -> list[dict[str, Any]]:
    """Return the subjects of a run: the order, and the run root."""
    # A run root is no SHA-256 of a file, so it stands under an algorithm name of its own.
    return [make_subject("order", claim.order), make_subject("run", claim.run_root, "rfc9162Sha256")]


def _parse_envelope(envelope: bytes, *, certified: bool = False) -> Envelope:
    return _parse(envelope, certified=certified)[0]


def _parse(envelope: bytes, *, certified: bool, unsigned: bool = False) -> tuple[Envelope, tuple[bytes, ...]]:
    """Read an envelope that says one thing to every reader: these members and no others, and one signature.

    With ``unsigned`` it may have none.
    """
    try:
        fields = Fields(canonical.parse(envelope), say("envelope"), SignatureError)
        payload, payload_type = _binary(fields.take("payload", str)), fields.take("payloadType", str)
        signatures = fields.take("signatures", list)
        fields.end()
        if unsigned and not signatures:
            return Envelope(payload, payload_type, {}), ()
        if len(signatures) != 1:
            raise SignatureError(say("The envelope has {0} signatures; it must have one.", len(signatures)))
        fields = Fields(signatures[0], say("envelope's signature"), SignatureError)
        key_id, signature = fields.take("keyid", str), _binary(fields.take("sig", str))
        chain = _take_certificates(fields) if certified else ()
        fields.end()
        return Envelope(payload, payload_type, {key_id: Signature(key_id, signature.hex())}), chain
    except (*_MALFORMED, canonical.CanonicalError, SignatureError) as error:
        # What is wrong with it may be a text of a stranger's, of any length: it stands in no sentence.
        raise SignatureError(say("The signature's envelope is malformed."), detail=str(error)[:MOST_DETAIL]) from error


def _take_certificates(fields: Fields) -> tuple[bytes, ...]:
    if not fields.has("certificate"):
        return ()
    texts = [fields.take("certificate", str)]
    if fields.has("intermediates"):
        others = fields.take("intermediates", list)
        if not 0 < len(others) < MAX_CERTIFICATES:
            raise ValueError("too many certificates, or a list of none")
        texts += others
    most = (MAX_CERTIFICATE_BYTES + 2) // 3 * 4  # base64
    if any(len(text) > most for text in texts):
        raise ValueError("a certificate is too large")
    return tuple(_binary(text) for text in texts)


def _binary(text: str) -> bytes:
    """Decode base64 (RFC 4648, section 4) that everybody decodes alike; raises ValueError."""
    data = base64.b64decode(text, validate=True)
    if base64.b64encode(data).decode() != text:
        raise ValueError("base64 that is not in its one form")
    return data


def _open(envelope: Envelope, key: PublicKey) -> dict[str, Any]:
    try:
        envelope.verify([key.wrapped], 1)
    except _MALFORMED as error:
        raise SignatureError(
            say("The signature does not hold for the key {0}.", key.key_id[:12]), detail=repr(error)
        ) from error
    return _statement_in(envelope)


def _statement_in(envelope: Envelope) -> dict[str, Any]:
    if envelope.payload_type != PAYLOAD_TYPE:
        raise SignatureError(
            say("The signed payload is not of the type {0}.", PAYLOAD_TYPE), detail=envelope.payload_type[:MOST_DETAIL]
        )
    return parse_statement(envelope.payload)


def parse_statement(payload: bytes) -> dict[str, Any]:
    """Read the canonical JSON of an in-toto statement; its predicate is for the caller to look at.

    Raises:
        SignatureError: It is none.
    """
    try:
        statement = canonical.decode(payload)
    except canonical.CanonicalError as error:
        raise SignatureError(say("The signed payload is not canonical JSON."), detail=str(error)) from error
    if not isinstance(statement, dict) or statement.keys() != {"_type", "subject", "predicateType", "predicate"}:
        raise SignatureError(say("The signed payload is not an in-toto statement."))
    if statement["_type"] != STATEMENT_TYPE:
        raise SignatureError(say("The signed payload is not an in-toto statement of version 1."))
    return statement


def _named_key(payload: bytes, what: str) -> PublicKey:
    """Read the public key out of a payload that nobody has verified yet."""
    try:
        pem = canonical.parse(payload)["predicate"]["public_key"]
        return PublicKey.from_pem(pem.encode())
    except KeyFileError as error:
        raise SignatureError(
            say("The {0} names no public key that Counterfoil takes. {1}", what, error.sentence), detail=error.detail
        ) from error
    except (*_MALFORMED, canonical.CanonicalError) as error:
        raise SignatureError(
            say("The {0} names no public key that Counterfoil takes.", what), detail=repr(error)
        ) from error
