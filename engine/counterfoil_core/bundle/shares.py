"""Steps that several shares make: what an order says of them, and what a run commits to for each.

A step of such an order has W + 2 parts: the gradient program on the rows of each share, the combination of what these
give, and the update program. Each part can be judged by itself, from what is committed before it.
docs/bundle-format.md, section 18, says where all of it lies; docs/numerics.md, "Shares", what is computed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.sentence import say
from counterfoil_core.base.turns import ALONE, Turns
from counterfoil_core.commit.merkle import leaf_hash

MAX_SHARES = 1024
"""Shares of a step."""
SUM, STACK = "sum", "stack"
"""How the shares are combined: added exactly, or handed to the update program side by side."""
COUNT = "count"
"""Name of the combined value that says of how many numbers the loss of a share is the sum, where there is one."""
LOSS = "loss"
"""Name of the combined value that is the loss of a share."""
SIGNATURE_BYTES = 64
"""Of a party's signature on what a share gave (Ed25519)."""
HASH_BYTES = 16
"""Of a hash of what was added of one tensor of a share (:mod:`counterfoil_core.arithmetic.linearhash`)."""
_KEY = re.compile(r"[0-9a-f]{64}")
NO_EXPONENT = -(2**31)
"""In the place of the exponent of a tensor whose elements are zero in every share."""


def sum_bits(count: int) -> int:
    """Return b, with which so many shares are added exactly: min(52, 62 - ceil(log2 W))."""
    return min(52, 62 - (count - 1).bit_length())


@dataclass(frozen=True)
class Shares:
    """What an order says of the shares of its steps."""

    count: int  #: W, the number of shares; it divides the rows of a step.
    rule: str  #: ``sum`` or ``stack``.
    #: SHA-256 of each update program's canonical JSON; they take turns with the gradient programs.
    updates: Turns[Digest]
    #: Of each share the Ed25519 public key of the party that answers for it, 64 hexadecimal digits, or None; empty
    #: where nobody but the trainer answers for any.
    signers: tuple[str | None, ...] = ()

    def __post_init__(self) -> None:
        if self.signers and (len(self.signers) != self.count or not any(self.signers)):
            raise BundleError(
                say("The order must name a party for one of its {0} shares at least, or none for each.", self.count)
            )

    @property
    def sums(self) -> bool:
        """Whether the shares are added exactly."""
        return self.rule == SUM

    @property
    def bits(self) -> int:
        """How many bits of each share the exact sum keeps."""
        return sum_bits(self.count)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        updates = {name: digest.hex for name, digest in self.updates.parts.items()}
        combine = {"rule": SUM, "bits": self.bits} if self.sums else {"rule": self.rule}
        named = {"updates": updates} if self.updates.several else {"update": updates[ALONE]}
        signers = {"signers": list(self.signers)} if self.signers else {}
        return {"count": self.count, "combine": combine, **named, **signers}

    @classmethod
    def from_json(cls, value: Any, programs: Turns[Digest]) -> Shares:
        """Read the JSON form.

        Args:
            value: What the manifest has there.
            programs: The gradient programs of the order.

        Raises:
            BundleError: It is no such form, or does not go with the programs.
        """
        fields = Fields(value, say("order's shares"), BundleError)
        count = fields.integer("count", 1, MAX_SHARES)
        combine = Fields(fields.take("combine", dict), say("combination of the order's shares"), BundleError)
        rule = combine.take("rule", str)
        if rule not in (SUM, STACK):
            raise BundleError(say("The order combines its shares in a way that this Counterfoil does not know."))
        if rule == SUM:
            combine.integer("bits", sum_bits(count), sum_bits(count))
        combine.end()
        if programs.several:
            listed = fields.take("updates", dict)
            what = say("digest of an update program")
            parts = {name: fields.as_digest(text, what) for name, text in sorted(listed.items())}
            if parts.keys() != programs.parts.keys():
                raise BundleError(say("The update programs of the order are not those of its gradient programs."))
            updates = Turns(parts, programs.pattern)
        else:
            updates = Turns.alone(fields.digest("update"))
        signers = _signers(fields.take("signers", list)) if fields.has("signers") else ()
        fields.end()
        return cls(count, rule, updates, signers)


def _signers(listed: list[Any]) -> tuple[str | None, ...]:
    """Read the keys of the parties, of which there are as many as shares: an empty list is none of an order."""
    for key in listed:
        if key is not None and not (isinstance(key, str) and _KEY.fullmatch(key)):
            raise BundleError(say("The key of a party that answers for a share is not 64 hexadecimal digits."))
    if not listed:
        raise BundleError(say("The order lists parties that answer for shares, and there are none."))
    return tuple(listed)


@dataclass(frozen=True)
class ShareRecord:
    """What the leaf of one share commits to."""

    share: int  #: Its number, from 0.
    gradients: Digest  #: State root over what it gives to be combined.
    buffers: Digest  #: State root over the state tensors that its gradient program changes.
    log: Digest  #: SHA-256 of the share's log.
    fingerprints: Digest  #: SHA-256 of its fingerprints.
    loss: float  #: Its loss.
    count: float  #: Of how many numbers the loss is the sum; 1 where it is not weighed by a count.

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "share": self.share,
            "gradients": self.gradients.hex,
            "buffers": self.buffers.hex,
            "log": self.log.hex,
            "fingerprints": self.fingerprints.hex,
            "loss": canonical.float_text(self.loss),
            "count": canonical.float_text(self.count),
        }

    def to_bytes(self) -> bytes:
        """Return the canonical JSON that is the data of the share's RFC 9162 leaf."""
        return canonical.encode(self.to_json())

    @property
    def leaf(self) -> Digest:
        """The Merkle leaf hash."""
        return leaf_hash(self.to_bytes())

    @property
    def result(self) -> Digest:
        """The same of what the share gave, without its log."""
        return replace(self, log=Digest.of(b"")).leaf

    @classmethod
    def from_json(cls, value: Any) -> ShareRecord:
        """Read the JSON form; raises BundleError."""
        fields = Fields(value, say("record of a share"), BundleError)
        share = fields.integer("share", 0, MAX_SHARES - 1)
        gradients, buffers, log, fingerprints = map(fields.digest, ("gradients", "buffers", "log", "fingerprints"))
        numbers = [fields.take("loss", str), fields.take("count", str)]
        fields.end()
        try:
            loss, count = map(float.fromhex, numbers)
        except (ValueError, OverflowError) as error:
            raise BundleError(say("The loss or the count of a share is not a number.")) from error
        result = cls(share, gradients, buffers, log, fingerprints, loss, count)
        if result.to_json() != value:
            raise BundleError(say("The loss or the count of a share is not in canonical form."))
        return result


@dataclass(frozen=True)
class SharesRoot:
    """What a step's Merkle leaf commits to beside what every step has."""

    root: Digest  #: Merkle root over the leaves of the shares (RFC 9162).
    #: SHA-256 of the exponents of the exact sum, little-endian int32; None where nothing is added.
    exponents: Digest | None
    combined: Digest | None  #: State root over what was combined; None where nothing is added.

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        sums = (
            {"exponents": self.exponents.hex, "combined": self.combined.hex} if self.exponents and self.combined else {}
        )
        return {"root": self.root.hex, **sums}

    @classmethod
    def from_json(cls, value: Any) -> SharesRoot:
        """Read the JSON form; raises BundleError."""
        fields = Fields(value, say("shares of a step record"), BundleError)
        root = fields.digest("root")
        sums = fields.has("exponents")
        result = cls(root, fields.digest("exponents") if sums else None, fields.digest("combined") if sums else None)
        fields.end()
        return result
