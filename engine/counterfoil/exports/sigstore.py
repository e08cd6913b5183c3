"""A signed statement as a Sigstore bundle: a DSSE envelope, the key's hint, and time stamps. Nothing goes online.

https://docs.sigstore.dev/about/bundle/, version 0.3, signed with a key of one's own and not with a certificate, so
that there is no entry in a public log.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence

from counterfoil_core.base import canonical
from counterfoil_core.signing.keys import PublicKey

MEDIA_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"


def envelope_signature(envelope: bytes) -> bytes:
    """Return the signature in a DSSE envelope of ours: what a time stamp is over."""
    return base64.b64decode(canonical.parse(envelope)["signatures"][0]["sig"])


def sigstore_bundle(envelope: bytes, key: PublicKey, timestamps: Sequence[bytes] = ()) -> bytes:
    """Return a Sigstore bundle as JSON.

    Args:
        envelope: A DSSE envelope with one signature.
        key: The key that signed it. Its hint is the SHA-256 of its SubjectPublicKeyInfo, in base64.
        timestamps: RFC 3161 responses over the signature, DER.
    """
    dsse = canonical.parse(envelope)
    der = base64.b64decode("".join(key.pem.strip().splitlines()[1:-1]))
    material = {"publicKey": {"hint": base64.b64encode(hashlib.sha256(der).digest()).decode()}, "tlogEntries": []}
    if timestamps:
        material["timestampVerificationData"] = {
            "rfc3161Timestamps": [{"signedTimestamp": base64.b64encode(stamp).decode()} for stamp in timestamps]
        }
    bundle = {"mediaType": MEDIA_TYPE, "verificationMaterial": material, "dsseEnvelope": dsse}
    return json.dumps(bundle, indent=2).encode() + b"\n"
