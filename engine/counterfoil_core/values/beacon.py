"""Rounds of a public randomness beacon (drand), and what follows from one: when it was published, and its randomness.

A chain of drand publishes a round every few seconds: a BLS signature of its number, which nobody knew before enough of
its members signed it, and which anybody can check with the chain's public key
(:mod:`counterfoil_core.parties.beacons`).
Source: drand's protocol specification, scheme ``bls-unchained-g1-rfc9380``. Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

SIGNATURE_BYTES = 48
LAST_ROUND = 2**36
"""Of a round every three seconds the one in six thousand years; a larger number is nonsense."""


@dataclass(frozen=True)
class Chain:
    """A chain of rounds, signed with one key."""

    name: str  #: As its makers call it.
    public_key: bytes  #: A point of G2 of BLS12-381, compressed: 96 bytes.
    genesis: int  #: When round 1 was published, seconds since 1970 in UTC.
    period: int  #: Seconds from one round to the next.


QUICKNET = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"
"""The hash by which the chain ``quicknet`` of the League of Entropy is known."""
CHAINS: Mapping[str, Chain] = {
    QUICKNET: Chain(
        "quicknet",
        bytes.fromhex(
            "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
            "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
        ),
        genesis=1692803367,
        period=3,
    )
}
"""The chains whose rounds are accepted, by their hash, with the constants that their makers publish."""


@dataclass(frozen=True)
class Beacon:
    """A round of a chain."""

    chain: str  #: The chain's hash, one of :data:`CHAINS`.
    round: int  #: Its number, from 1.
    signature: str  #: The signature, 96 hexadecimal digits.

    @property
    def name(self) -> str:
        """What its chain is called."""
        return CHAINS[self.chain].name

    @property
    def nonce(self) -> str:
        """The randomness of the round, SHA-256 of its signature, as hexadecimal digits."""
        return hashlib.sha256(bytes.fromhex(self.signature)).hexdigest()

    @property
    def published(self) -> datetime:
        """When the round was due; nobody knew it before, as long as fewer members than it takes work together."""
        chain = CHAINS[self.chain]
        return datetime.fromtimestamp(chain.genesis, UTC) + timedelta(seconds=(self.round - 1) * chain.period)
