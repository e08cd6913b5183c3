"""What a client asks a model, and the luck of its answer, which neither side chooses."""

from __future__ import annotations

import secrets
from typing import Annotated

import msgspec
from msgspec import Meta

from counterfoil.signing.kinds import Sampling, TokenCount
from counterfoil_core.base import canonical
from counterfoil_core.base.canonical import CanonicalError
from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.base.errors import DataError, SignatureError
from counterfoil_core.signing.kinds import DigestText, Fields, json_of

MOST_BYTES = 2**24
"""Bytes of a question's file."""
_REMEDY = "Write one with 'counterfoil ask'."


class Question(Fields, frozen=True, tag_field="format", tag="counterfoil-question-1"):
    """What a client asks a model."""

    prompt: Annotated[str, Meta(min_length=1, max_length=2**22)]  #: The text.
    most: TokenCount  #: How many tokens are asked for at most.
    sampling: Sampling | None  #: How tokens are drawn; null where the most probable one is taken.
    nonce: DigestText  #: The client's 32 random bytes.
    commitment: DigestText | None  #: SHA-256 of the provider's nonce; null where nothing is drawn.

    def check(self) -> None:
        """Raise DataError where a number is out of its range, or nothing binds the provider to its nonce."""
        try:
            if self.sampling is not None:
                self.sampling.check()
        except SignatureError as error:
            raise DataError(error.sentence) from error
        if (self.sampling is None) != (self.commitment is None):
            raise DataError(
                "A question whose answer is drawn names the provider's commitment, and no other does.",
                remedy="Ask the provider for the 64 digits that 'counterfoil answer-nonce' prints.",
            )

    def to_bytes(self) -> bytes:
        """Return the canonical JSON."""
        return canonical.encode(json_of(self))

    @property
    def digest(self) -> Digest:
        """The SHA-256 of the canonical JSON."""
        return Digest.of(self.to_bytes())

    @classmethod
    def read(cls, data: bytes) -> Question:
        """Read what :meth:`to_bytes` returns, or somebody made of it; raises DataError."""
        try:
            question = msgspec.convert(canonical.parse(data), cls)
        except (CanonicalError, msgspec.ValidationError) as error:
            raise DataError("The file holds no question.", remedy=_REMEDY, detail=str(error)) from error
        question.check()
        return question


def new_nonce() -> str:
    """Draw 32 random bytes, as hexadecimal digits."""
    return secrets.token_hex(DIGEST_BYTES)


def commitment_of(nonce: str) -> str:
    """Return what binds a provider to a nonce: the SHA-256 of its bytes, as hexadecimal digits."""
    return Digest.of(bytes.fromhex(nonce)).hex


def seed_of(model_root: Digest, question: Digest, client_nonce: str, provider_nonce: str) -> int:
    """Return the seed of an answer's draws, 0 to 2^64 - 1. Pure.

    The client's nonce is chosen after the provider is bound to its own, and without knowing it.
    """
    given = {
        "client_nonce": client_nonce,
        "model_root": model_root.hex,
        "provider_nonce": provider_nonce,
        "question": question.hex,
    }
    return int.from_bytes(Digest.of(canonical.encode(given)).value[:8], "little")
