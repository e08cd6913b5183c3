"""Private keys in hardware: a smart card, a token or a module that is reached through PKCS #11 (OASIS, version 2.40).

A key is named by a URI of RFC 7512, such as ``pkcs11:token=audit;object=auditor?module-path=/usr/lib/libykcs11.so``.
Keys on P-256 sign by securesystemslib's ``HSMSigner``; Ed25519 keys by CKM_EDDSA, which it does not know. Only the
signer's process loads the module of the hardware (:mod:`counterfoil.signer.server`). docs/keys.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_to_bytes

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from securesystemslib.exceptions import UnverifiedSignatureError
from securesystemslib.signer import (  # type: ignore[attr-defined]
    HSMSigner,
    SecretsHandler,
    Signature,
    Signer,
    SSlibKey,
)

from counterfoil.base.joberrors import SignerError
from counterfoil.signing.privatekeys import PrivateKey
from counterfoil_core.base.errors import CounterfoilError, KeyFileError
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.signing.publickeys import is_ed25519, is_in_hardware

MODULE_VARIABLE = "PYKCS11LIB"
"""Where the module lies, if the URI does not say it; the variable of securesystemslib's signer."""
MAX_URI = 4000
_PATH = ("token", "object", "id", "type")
_SECRETS = ("pin-value", "pin-source")
_EXAMPLE = "pkcs11:token=audit;object=auditor?module-path=/usr/lib/x86_64-linux-gnu/libykcs11.so"
_EDWARDS_POINT = 32
_CHALLENGE = b"counterfoil: does this key answer for its public half?\0"
_OCTET_STRING = 4


@dataclass(frozen=True)
class HardwareKey:
    """Where a key lies."""

    token: str  #: The token's label.
    label: str  #: The key's label; empty where only its id is named.
    key_id: bytes  #: The key's id (CKA_ID); empty where only its label is named.
    module: str  #: The shared library of the hardware.


def parse_uri(uri: str) -> HardwareKey:
    """Read a URI of a key in hardware (RFC 7512): token, and object or id; module-path behind a question mark.

    Raises:
        KeyFileError: It is none, names too little, something that is not looked at, or holds a PIN.
    """
    said, _, query = uri.removeprefix("pkcs11:").partition("?")
    try:
        if not is_in_hardware(uri) or len(uri) > MAX_URI:
            raise ValueError("it is none, or too long")
        path, more = _attributes(said, ";"), _attributes(query, "&")
        if any(name in (*path, *more) for name in _SECRETS):
            raise KeyFileError(
                say("A PIN in the name of a key can be read by whoever lists processes."),
                remedy=say("Leave it out: it is asked for, or given as a passphrase is."),
            )
        unknown = [name for name in path if name not in _PATH]
        unknown += [name for name in more if name != "module-path"]
        if unknown or path.get("type", b"private") != b"private":
            raise ValueError(f"it names {unknown or ['type']}")
        token, label = path.get("token", b"").decode(), path.get("object", b"").decode()
        module = more.get("module-path", b"").decode() or os.environ.get(MODULE_VARIABLE, "")
        if not token or not (label or path.get("id")):
            raise ValueError("it names no token, or no key")
    except ValueError as error:
        raise KeyFileError(
            say("This is not the name of a key in hardware (RFC 7512): {0}.", str(error)),
            remedy=say("Name the token, and the key by object or id, for instance: {0}", _EXAMPLE),
        ) from error
    if not module:
        raise KeyFileError(
            say("Nobody said which PKCS #11 module reaches the hardware."),
            remedy=say(
                "Name the file with module-path in the URI, or in the environment variable {0}.", MODULE_VARIABLE
            ),
        )
    return HardwareKey(token, label, path.get("id", b""), module)


def open_hardware_key(uri: str, pin: str) -> PrivateKey:
    """Log in to hardware and find a key; to be called in the signer's process alone.

    Args:
        uri: Where it lies.
        pin: The user's PIN of the token.

    Raises:
        KeyFileError: There is no such module, token or key, the PIN is wrong, or the public key there is another one's.
        SignerError: The hardware fails, or the library that speaks with it is not installed.
    """
    place = parse_uri(uri)
    try:
        import pkcs11
    except ImportError as error:
        raise SignerError(
            say("Keys in hardware need the package python-pkcs11."),
            remedy=say("Install it: pip install 'counterfoil[hsm]'."),
            detail=str(error),
        ) from error
    os.environ[MODULE_VARIABLE] = place.module  # where securesystemslib's signer looks
    with _speaking(place):
        with _session(place, pin) as session:
            private = _one(session, place, pkcs11.ObjectClass.PRIVATE_KEY)
            found = bytes(private[pkcs11.Attribute.ID])
            public = _public(_one(session, place, pkcs11.ObjectClass.PUBLIC_KEY, found))
        if is_ed25519(public.public):
            return _answering(public, EddsaSigner(public.wrapped, place, found, pin), place)
        number = int.from_bytes(found, "big")
        # The library looks for the shortest bytes of a number.
        if found != number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big"):
            raise KeyFileError(
                say("The id of the key in hardware, {0}, begins with a zero.", found.hex()),
                remedy=say("Give the key an id without a leading zero."),
            )
        return _answering(public, _Ecdsa(number, public.wrapped, lambda _name: pin, place), place)


def _answering(public: PublicKey, signer: Signer, place: HardwareKey) -> PrivateKey:
    """Return a key that has signed a challenge.

    A token lets anybody exchange the public object, which needs no PIN, and nothing there ties it to the private one:
    statements would name a key that did not sign them. What is signed here is no payload of a DSSE envelope.

    Raises:
        KeyFileError: What it signs does not hold for its public key.
    """
    challenge = _CHALLENGE + os.urandom(32)
    try:
        public.wrapped.verify_signature(signer.sign(challenge), challenge)
    except UnverifiedSignatureError as error:
        raise KeyFileError(
            say("The public key on the token {0} is not that of the private one.", place.token),
            remedy=say("Do not sign with it: somebody exchanged it. Write the right one, or make a new pair of keys."),
        ) from error
    return PrivateKey(public, signer)


@dataclass
class EddsaSigner(Signer):
    """Signs with an Ed25519 key in hardware: CKM_EDDSA of PKCS #11 3.0, pure Ed25519 (RFC 8032, section 5.1.6)."""

    key: SSlibKey  #: The public key.
    place: HardwareKey  #: Where the private one lies.
    key_id: bytes  #: Its id there (CKA_ID).
    _pin: str = field(repr=False)

    @property
    def public_key(self) -> SSlibKey:
        """The public key."""
        return self.key

    @classmethod
    def from_priv_key_uri(
        cls, priv_key_uri: str, public_key: Any, secrets_handler: SecretsHandler | None = None
    ) -> EddsaSigner:
        """Not a way to open one; :func:`open_hardware_key` is."""
        raise NotImplementedError

    def sign(self, payload: bytes) -> Signature:
        """Sign bytes; raises SignerError where the hardware does not, KeyFileError where the token is gone."""
        import pkcs11

        with _speaking(self.place), _session(self.place, self._pin) as session:
            key = _one(session, self.place, pkcs11.ObjectClass.PRIVATE_KEY, self.key_id)
            signature = bytes(key.sign(payload, mechanism=pkcs11.Mechanism.EDDSA))
        return Signature(self.key.keyid, signature.hex())


class _Ecdsa(HSMSigner):
    """The library's signer, whose errors are ours."""

    def __init__(self, number: int, key: SSlibKey, pin_handler: SecretsHandler, place: HardwareKey) -> None:
        super().__init__(number, key, pin_handler, place.token)
        self._place = place

    def sign(self, payload: bytes) -> Signature:
        with _speaking(self._place):
            return super().sign(payload)


@contextmanager
def _session(place: HardwareKey, pin: str) -> Iterator[Any]:
    import pkcs11

    token = pkcs11.lib(place.module).get_token(token_label=place.token)
    with token.open(user_pin=pin or None) as session:
        yield session


def _one(session: Any, place: HardwareKey, kind: Any, key_id: bytes = b"") -> Any:
    import pkcs11

    wanted: dict[Any, Any] = {pkcs11.Attribute.CLASS: kind}
    if key_id or place.key_id:
        wanted[pkcs11.Attribute.ID] = key_id or place.key_id
    if place.label and not key_id:
        wanted[pkcs11.Attribute.LABEL] = place.label
    found = list(session.get_objects(wanted))  # to its end: a search that is open lets nothing be signed
    if len(found) != 1:
        raise KeyFileError(
            say("On the token {0} there are {1} such keys, and there must be one.", place.token, len(found)),
            remedy=say("List them with 'pkcs11-tool --list-objects', and name one by object or id."),
        )
    return found[0]


def _public(key: Any) -> PublicKey:
    """Read a public key out of hardware: its point, a DER octet string (or, of some tokens, the bare point)."""
    import pkcs11

    point = bytes(key[pkcs11.Attribute.EC_POINT])
    if len(point) > 2 and point[0] == _OCTET_STRING and point[1] == len(point) - 2:
        point = point[2:]
    try:
        if key.key_type == pkcs11.KeyType.EC_EDWARDS and len(point) == _EDWARDS_POINT:
            return PublicKey.of(Ed25519PublicKey.from_public_bytes(point))
        if key.key_type == pkcs11.KeyType.EC:
            return PublicKey.of(EllipticCurvePublicKey.from_encoded_point(SECP256R1(), point))
    except ValueError as error:
        raise _other_kind() from error
    raise _other_kind()


def _other_kind() -> KeyFileError:
    return KeyFileError(
        say("The key in hardware is neither an Ed25519 key nor an ECDSA key on the curve P-256."),
        remedy=say("Make one of these on the token."),
    )


@contextmanager
def _speaking(place: HardwareKey) -> Iterator[None]:
    """Say in our sentences what the library says of hardware."""
    from pkcs11 import exceptions

    try:
        yield
    except CounterfoilError:
        raise
    except (exceptions.PinIncorrect, exceptions.PinInvalid, exceptions.PinLenRange) as error:
        raise KeyFileError(
            say("The PIN of the token {0} is wrong.", place.token),
            remedy=say("Try again with care: a token locks itself after a few wrong ones."),
        ) from error
    except exceptions.PinLocked as error:
        raise KeyFileError(
            say("The PIN of the token {0} is locked after wrong ones.", place.token),
            remedy=say("Unlock it with the tool of its maker; that takes the security officer's PIN, or the PUK."),
        ) from error
    except exceptions.UserNotLoggedIn as error:
        raise KeyFileError(
            say("The token {0} needs its PIN.", place.token), remedy=say("Give it as a passphrase is given.")
        ) from error
    except (exceptions.NoSuchToken, exceptions.TokenNotPresent, exceptions.MultipleTokensReturned) as error:
        raise KeyFileError(
            say("There is not just one token called {0}.", place.token),
            remedy=say("Plug it in; 'pkcs11-tool --list-slots' shows what is there."),
        ) from error
    except Exception as error:  # the library, and the module, raise errors of several kinds
        raise SignerError(
            say("The hardware of the token {0} does not do it.", place.token),
            remedy=say("Check that the module {0} is that of the hardware, and that it is plugged in.", place.module),
            detail=f"{type(error).__name__}: {error}",
        ) from error


def _attributes(text: str, between: str) -> dict[str, bytes]:
    """Read the attributes of a URI; raises ValueError for what is none, or stands twice."""
    found: dict[str, bytes] = {}
    for part in text.split(between) if text else []:
        name, equals, value = part.partition("=")
        if not equals or name in found:
            raise ValueError(f"{name!r} stands twice, or has no value")
        found[name] = unquote_to_bytes(value)
    return found
