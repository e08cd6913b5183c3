"""Envelopes: in-toto Statement v1 in DSSE v1, signed and checked as bytes."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import Error as SecureSystemsError
from securesystemslib.signer import Signature  # type: ignore[attr-defined]

from counterfoil_core.base import canonical
from counterfoil_core.base.errors import KeyFileError, SignatureError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.keys import PublicKey, SigningKey
from counterfoil_core.signing.kinds import PAYLOAD_TYPE, STATEMENT_TYPE, Kind

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


def open_statement(envelope: bytes, key: PublicKey | None = None, kind: Kind | None = None) -> dict[str, Any]:
    """Check the signature of an envelope, then read the statement in it, whose predicate is for the caller to look at.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The key that must have signed it; with None the one that the statement names.
        kind: What the statement should be: whether certificates may lie beside the signature, which are not looked at,
            whether one is needed, and whether the predicate must name the key.

    Raises:
        SignatureError: The envelope is malformed, not signed by this key, holds no canonical in-toto statement, or one
            that names another key than the one that signed it.
    """
    what = say("statement") if kind is None else kind.what
    certified, unsigned = (False, False) if kind is None else (kind.certified, not kind.needs_signature)
    parsed, _ = _parse(envelope, certified=certified, unsigned=unsigned)
    if not parsed.signatures:
        statement = _statement_in(parsed)
        if _names(statement) is not None:
            raise SignatureError(say("The {0} names a key, and has no signature of it.", what))
        return statement
    key = key or _named_key(parsed.payload, what)
    try:
        parsed.verify([key.wrapped], 1)
    except _MALFORMED as error:
        raise SignatureError(
            say("The signature does not hold for the key {0}.", key.key_id[:12]), detail=repr(error)
        ) from error
    statement = _statement_in(parsed)
    named = kind is not None and kind.names_key and statement["predicateType"] in kind.predicates
    if named and _names(statement) != key.pem:
        raise SignatureError(say("The {0} names another public key than the one that signed it.", what))
    return statement


def _names(statement: dict[str, Any]) -> Any:
    predicate = statement["predicate"]
    return predicate.get("public_key") if isinstance(predicate, dict) else None


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


def unsigned_payload(data: bytes) -> bytes:
    """Return the payload of an envelope that nobody signed, or what is no envelope as it is; raises SignatureError."""
    try:
        if "payload" not in canonical.parse(data):
            return data
    except (canonical.CanonicalError, TypeError) as error:
        raise SignatureError(say("The signed payload is not canonical JSON."), detail=str(error)) from error
    parsed, _ = _parse(data, certified=False, unsigned=True)
    if parsed.signatures:
        raise SignatureError(say("It is signed already."))
    payload: bytes = parsed.payload
    return payload


def payload_of(envelope: bytes) -> bytes:
    """Return the payload of an envelope without a look at its signature; raises SignatureError when it is malformed."""
    payload: bytes = _parse(envelope, certified=True, unsigned=True)[0].payload
    return payload


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
