"""What a dispute capsule holds of one part of a step that shares make: a share, their sum of one tensor, or the update.

docs/bundle-format.md, section 13.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from counterfoil_core.base import canonical
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.shares import SIGNATURE_BYTES, ShareRecord, Shares
from counterfoil_core.bundle.stepshares import Additions

_SIGNATURE = re.compile(rf"[0-9a-f]{{{2 * SIGNATURE_BYTES}}}")


@dataclass(frozen=True, eq=False)
class AddedTensor:
    """One tensor that every share gives, and what the trainer signed of all tensors that are added."""

    name: str  #: Its name.
    given: npt.NDArray[np.float32]  #: float32 ``[W, ...]``: what each share gives of it.
    #: int32 ``[tensors]``: the exponents of the sums, by the names of the tensors, sorted.
    exponents: npt.NDArray[np.int32]
    combined: npt.NDArray[np.uint8]  #: uint8 ``[tensors, 32]``: tensor digests of the sums.
    shares: npt.NDArray[np.uint8]  #: uint8 ``[W, tensors, 32]``: tensor digests of what each share gives.
    additions: Additions | None = None  #: What parties signed of all sums, where the order names some.


@dataclass(frozen=True, eq=False)
class UpdateInputs:
    """What the update of a step takes beside the state before the step."""

    combined: Mapping[str, Array]  #: What the shares gave, combined as the order says, by name.
    buffers: Mapping[str, Array]  #: The state tensors that share 0 changed, as they are after it.


About = int | AddedTensor | UpdateInputs
"""What a capsule is about: a share by its number, the sum of a tensor, or the update."""


@dataclass(frozen=True, eq=False)
class StepPart:
    """The part of a step that a capsule is about."""

    records: tuple[ShareRecord, ...]  #: The records of all shares of the step.
    about: About  #: Which part it is, with what that part needs.
    #: Of a share, what the party that answers for it signed; empty where nobody but the trainer does.
    signature: bytes = b""

    @property
    def replayed(self) -> bool:
        """Whether a program is to be executed: of a sum there is nothing but numbers to add."""
        return not isinstance(self.about, AddedTensor)

    def to_bytes(self) -> bytes:
        """Return the canonical JSON of the records, and of number and signature of the share where it is about one."""
        records: dict[str, Any] = {"records": [record.to_json() for record in self.records]}
        about = {"share": self.about} if isinstance(self.about, int) else {}
        return canonical.encode(records | about | ({"signature": self.signature.hex()} if self.signature else {}))


def read_records(data: bytes, shares: Shares, *, numbered: bool) -> tuple[tuple[ShareRecord, ...], int, bytes]:
    """Read what :meth:`StepPart.to_bytes` gave.

    Args:
        data: The bytes.
        shares: What the order says of its shares.
        numbered: Whether the capsule is about a share.

    Returns:
        The records, the number of the share, and the signature of its party; 0 and nothing where it is about none.

    Raises:
        BundleError: They are no such bytes, or not those of the order's shares.
    """
    try:
        value = canonical.decode(data)
    except canonical.CanonicalError as error:
        raise BundleError(say("The records of the shares in the capsule are damaged."), detail=str(error)) from error
    fields = Fields(value, say("shares of the capsule"), BundleError)
    records = tuple(map(ShareRecord.from_json, fields.take("records", list)))
    share = fields.integer("share", 0, shares.count - 1) if numbered else 0
    signed = numbered and any(shares.signers) and shares.signers[share] is not None
    signature = fields.take("signature", str) if signed else ""
    fields.end()
    if signed and not _SIGNATURE.fullmatch(signature):
        raise BundleError(say("The signature of share {0} in the capsule is not 64 bytes.", share))
    if [record.share for record in records] != list(range(shares.count)):
        raise BundleError(say("The capsule does not hold the records of the {0} shares of its step.", shares.count))
    return records, share, bytes.fromhex(signature)
