"""Checks rounds of a public randomness beacon offline: their signature, and their time.

The signature is BLS over BLS12-381 with signatures in G1 and the key in G2, of SHA-256 of the round's number as 8
bytes, big-endian, hashed to the curve as RFC 9380 says (BLS12381G1_XMD:SHA-256_SSWU_RO_). It is checked by py_ecc,
which comes with ``pip install counterfoil[beacon]``.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from datetime import UTC, datetime
from typing import Any

from counterfoil_core.base.errors import DataError
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import read_timestamp, timestamp
from counterfoil_core.values.beacon import CHAINS, Beacon

_DOMAIN = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"


def can_check() -> bool:
    """Whether signatures of beacons can be checked on this machine."""
    return importlib.util.find_spec("py_ecc") is not None


def check_beacon(beacon: Beacon, signed_at: str, now: datetime | None = None) -> None:
    """Check that a round is a chain's own, and was not known when a run was signed.

    Args:
        beacon: The round.
        signed_at: When the run was signed, as its trainer says.
        now: The time of this machine; that of its clock unless given.

    Raises:
        DataError: It is not, or nothing can be said.
    """
    remedy = say("Give a round that was published after you received the run.")
    due = timestamp(beacon.published)
    try:
        signed = read_timestamp(signed_at)
    except ValueError as error:
        raise DataError(
            say("The run does not say when it was signed, so that nobody knows whether the beacon's round came later."),
            remedy=say("Leave the beacon out."),
        ) from error
    if beacon.published <= signed:
        raise DataError(
            say(
                "Round {0} of the beacon was published at {1}, and the run was signed at {2}, as its trainer says: the "
                "trainer could know the sample.",
                beacon.round,
                due,
                signed_at,
            ),
            remedy=remedy,
        )
    if beacon.published > (now or datetime.now(UTC)):
        raise DataError(
            say("Round {0} of the beacon is published at {1}, which has not come yet.", beacon.round, due),
            remedy=say("Set this machine's clock right."),
        )
    if not can_check():
        raise DataError(
            say("The signature of a beacon's round cannot be checked: a library is not installed."),
            remedy=say("Install it: pip install counterfoil[beacon]"),
        )
    if not signature_holds(beacon):
        raise DataError(
            say("The signature of round {0} does not hold: it is not the beacon's.", beacon.round), remedy=remedy
        )


def signature_holds(beacon: Beacon) -> bool:
    """Whether the signature of a round is its chain's; raises ImportError without the library."""
    curve, compression, hashing, groups = _py_ecc()
    key = CHAINS[beacon.chain].public_key
    half = len(key) // 2
    try:
        signature = compression.decompress_G1(int.from_bytes(bytes.fromhex(beacon.signature), "big"))
        public = compression.decompress_G2((int.from_bytes(key[:half], "big"), int.from_bytes(key[half:], "big")))
    except ValueError:
        return False
    # A point of small order pairs to one with anything.
    if curve.is_inf(signature) or not groups.subgroup_check(signature) or not groups.subgroup_check(public):
        return False
    message = hashlib.sha256(beacon.round.to_bytes(8, "big")).digest()
    hashed = hashing.hash_to_G1(message, _DOMAIN, hashlib.sha256)
    product = curve.pairing(curve.G2, signature, final_exponentiate=False) * curve.pairing(
        public, curve.neg(hashed), final_exponentiate=False
    )
    return bool(curve.final_exponentiate(product) == curve.FQ12.one())


def _py_ecc() -> tuple[Any, Any, Any, Any]:
    # It lets Python recurse a hundred thousand deep, which a hostile file could use to end the process.
    limit = sys.getrecursionlimit()
    try:
        names = ("optimized_bls12_381", "bls.point_compression", "bls.hash_to_curve", "bls.g2_primitives")
        curve, compression, hashing, groups = (importlib.import_module(f"py_ecc.{name}") for name in names)
    finally:
        sys.setrecursionlimit(limit)
    return curve, compression, hashing, groups
