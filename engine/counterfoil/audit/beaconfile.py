"""A round of a public beacon, read from the file that was fetched of it."""

from __future__ import annotations

import os

from counterfoil_core.base import canonical
from counterfoil_core.base.canonical import CanonicalError
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say
from counterfoil_core.values.beacon import LAST_ROUND, QUICKNET, SIGNATURE_BYTES, Beacon

_MOST_BYTES = 10_000


_FORM = say("Give a round as the beacon publishes it: a JSON object with round and signature.")


def read_beacon(path: str | os.PathLike[str]) -> Beacon:
    """Read a round as drand publishes it, a JSON object with ``round``, ``signature`` and, if it likes, ``randomness``.

    Its signature is not checked here.

    Raises:
        DataError: It is none, or its randomness is not that of its signature.
    """
    data = read_input(path, say("a round of a beacon"), DataError, most=_MOST_BYTES)
    try:
        said = canonical.parse(data)
        beacon = Beacon(QUICKNET, said["round"], said["signature"])
        if not isinstance(beacon.round, int) or isinstance(beacon.round, bool) or not 1 <= beacon.round <= LAST_ROUND:
            raise ValueError("a round that cannot be")
        if len(bytes.fromhex(beacon.signature)) != SIGNATURE_BYTES or beacon.signature != beacon.signature.lower():
            raise ValueError("a signature of another length or form")
        randomness = said.get("randomness", beacon.nonce)
    except (CanonicalError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(
            say("{0} is no round of a public beacon.", os.fspath(path)), remedy=_FORM, detail=str(error)
        ) from error
    if randomness != beacon.nonce:
        raise DataError(say("The randomness in {0} is not that of its signature.", os.fspath(path)), remedy=_FORM)
    return beacon
