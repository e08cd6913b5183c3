"""What a run holds of the shares of one step, as columns of numbers; the records are made of it."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.bundle.shares import HASH_BYTES, MAX_SHARES, SIGNATURE_BYTES, ShareRecord, SharesRoot
from counterfoil_core.commit.fingerprints import fingerprints_digest
from counterfoil_core.commit.merkle import MerkleTree

_HEAD = struct.Struct("<III")
_DTYPES = {
    "roots": "|u1",
    "numbers": "<f8",
    "log_ends": "<u8",
    "fingerprints": "<u8",
    "exponents": "<i4",
    "combined": "|u1",
}


@dataclass(frozen=True, eq=False)
class Additions:
    """What parties signed of what was added of their shares; no record commits to it."""

    seen: Digest  #: What they saw of the sum (:func:`counterfoil_core.arithmetic.linearhash.seen_of`).
    #: uint8 ``[W, tensors, 16]``: hashes of what each share added, zeros where nobody but the trainer answers for it.
    hashes: npt.NDArray[np.uint8]
    signatures: npt.NDArray[np.uint8]  #: uint8 ``[W, 64]``: what was signed of them, zeros where the hashes are.

    def to_bytes(self) -> bytes:
        """Return the bytes of an unfinished recording."""
        return self.seen.value + self.hashes.tobytes() + self.signatures.tobytes()

    @classmethod
    def of_bytes(cls, data: bytes, count: int, tensors: int) -> Additions:
        """Read what :meth:`to_bytes` gave of so many shares; raises ValueError where it is no such bytes."""
        ends = DIGEST_BYTES, DIGEST_BYTES + count * tensors * HASH_BYTES
        hashes = np.frombuffer(data[ends[0] : ends[1]], np.uint8).reshape(count, tensors, HASH_BYTES)
        signatures = np.frombuffer(data[ends[1] :], np.uint8).reshape(count, SIGNATURE_BYTES)
        return cls(Digest(data[: ends[0]]), hashes, signatures)


@dataclass(frozen=True, eq=False)
class StepShares:
    """What a run holds of the shares of one step; the update's part of the step is that of any step."""

    #: uint8 ``[W, 2, 32]``: the roots of what each share gives to be combined, and of its buffers.
    roots: npt.NDArray[np.uint8]
    numbers: npt.NDArray[np.float64]  #: float64 ``[W, 2]``: loss and count of each share.
    #: uint64 ``[W]``: where the log of each share ends within the step's; the update's follows.
    log_ends: npt.NDArray[np.uint64]
    fingerprints: npt.NDArray[np.uint64]  #: uint64 ``[W, places of the gradient program]``.
    #: int32 ``[tensors that are combined]``, by their names, sorted; none where nothing is added.
    exponents: npt.NDArray[np.int32]
    #: uint8 ``[tensors that are combined, 32]``: tensor digests of the sums; none where nothing is added.
    combined: npt.NDArray[np.uint8]
    #: uint8 ``[W, 64]``: the signature of the party that answers for each share, zeros where nobody but the trainer
    #: does; no rows where the order names no parties. No record commits to them.
    signatures: npt.NDArray[np.uint8] = field(default_factory=lambda: no_signatures())
    additions: Additions | None = None  #: What they signed of the sum; None where nothing is added, too.
    _logs: Sequence[Digest] = field(default=())

    @classmethod
    def of(
        cls,
        records: Sequence[ShareRecord],
        log_sizes: Sequence[int],
        fingerprints: Sequence[npt.NDArray[np.uint64]],
        exponents: Sequence[int],
        combined: Sequence[Digest],
        signatures: Sequence[bytes],
        additions: Additions | None,
    ) -> StepShares:
        """Put the shares of a step together, in their order; a share that no party signed has an empty signature."""
        signed = b"".join(each.ljust(SIGNATURE_BYTES, b"\0") for each in signatures) if any(signatures) else b""
        roots = b"".join(record.gradients.value + record.buffers.value for record in records)
        return cls(
            np.frombuffer(roots, np.uint8).reshape(len(records), 2, DIGEST_BYTES),
            np.array([(record.loss, record.count) for record in records], np.float64),
            np.cumsum(np.array(log_sizes, np.uint64), dtype=np.uint64),
            np.array(fingerprints, np.uint64).reshape(len(records), -1),
            np.array(exponents, np.int32),
            np.frombuffer(b"".join(digest.value for digest in combined), np.uint8).reshape(-1, DIGEST_BYTES),
            np.frombuffer(signed, np.uint8).reshape(-1, SIGNATURE_BYTES),
            additions,
            tuple(record.log for record in records),
        )

    def with_logs(self, logs: Sequence[Digest]) -> StepShares:
        """Return it with the digests of the shares' logs, which lie elsewhere."""
        return replace(self, _logs=tuple(logs))

    @property
    def _columns(self) -> tuple[Any, ...]:
        return self.roots, self.numbers, self.log_ends, self.fingerprints, self.exponents, self.combined

    def signature(self, share: int) -> bytes:
        """Return the signature on what a share gave; empty where there is none."""
        found = self.signatures[share].tobytes() if len(self.signatures) else b""
        return found if any(found) else b""

    def log_ranges(self) -> list[tuple[int, int]]:
        """Return where the log of each share lies within the step's, as start and end."""
        ends = [int(end) for end in self.log_ends]
        return list(zip([0, *ends[:-1]], ends, strict=True))

    @cached_property
    def records(self) -> tuple[ShareRecord, ...]:
        """The record of each share."""
        return tuple(
            ShareRecord(
                share,
                Digest(self.roots[share, 0].tobytes()),
                Digest(self.roots[share, 1].tobytes()),
                self._logs[share],
                fingerprints_digest(self.fingerprints[share]),
                float(self.numbers[share, 0]),
                float(self.numbers[share, 1]),
            )
            for share in range(len(self.roots))
        )

    @cached_property
    def tree(self) -> MerkleTree:
        """The tree over the shares' leaves."""
        return MerkleTree(record.leaf for record in self.records)

    @property
    def root(self) -> SharesRoot:
        """What the step's leaf commits to."""
        return self._root(self.tree)

    @property
    def results(self) -> SharesRoot:
        """The same over what the shares gave, without their logs: honest machines log different decisions."""
        return self._root(MerkleTree(record.result for record in self.records))

    def _root(self, tree: MerkleTree) -> SharesRoot:
        if not len(self.combined):
            return SharesRoot(tree.root, None, None)
        return SharesRoot(tree.root, exponents_digest(self.exponents), combined_root(self.combined))

    @property
    def signed(self) -> bytes:
        """The bytes of an unfinished recording that parties signed, to which no record commits."""
        return self.signatures.tobytes() + (b"" if self.additions is None else self.additions.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the bytes of an unfinished recording; :func:`read_shares` reads them."""
        count, places = self.fingerprints.shape
        columns = zip(_DTYPES.values(), self._columns, strict=True)
        parts = [np.ascontiguousarray(column, dtype).tobytes() for dtype, column in columns]
        return b"".join([_HEAD.pack(count, places, len(self.exponents)), *parts, self.signed])


def read_shares(data: bytes, log: bytes) -> StepShares:
    """Read what :meth:`StepShares.to_bytes` gave.

    Args:
        data: The bytes.
        log: The step's log, those of the shares one behind the other and the update's.

    Raises:
        ValueError: They are no such bytes.
    """
    if len(data) < _HEAD.size:
        raise ValueError("bytes of no shares")
    count, places, tensors = _HEAD.unpack_from(data)
    shapes = {
        "roots": (count, 2, DIGEST_BYTES), "numbers": (count, 2), "log_ends": (count,),
        "fingerprints": (count, places), "exponents": (tensors,), "combined": (tensors, DIGEST_BYTES),
    }  # fmt: skip
    if not 1 <= count <= MAX_SHARES:
        raise ValueError("bytes of no shares")
    at, columns = _HEAD.size, dict[str, npt.NDArray[Any]]()
    for name, dtype in _DTYPES.items():
        size = int(np.prod(shapes[name])) * np.dtype(dtype).itemsize
        if len(data) < at + size:
            raise ValueError("bytes of no shares")
        columns[name] = np.frombuffer(data[at : at + size], dtype).reshape(shapes[name])
        at += size
    signed, added = data[at : at + count * SIGNATURE_BYTES], data[at + count * SIGNATURE_BYTES :]
    found = StepShares(
        columns["roots"],
        columns["numbers"],
        columns["log_ends"],
        columns["fingerprints"],
        columns["exponents"],
        columns["combined"],
        np.frombuffer(signed, np.uint8).reshape(-1, SIGNATURE_BYTES),
        Additions.of_bytes(added, count, tensors) if added else None,
    )
    ends = [int(item) for item in found.log_ends]
    if ends != sorted(ends) or ends[-1] > len(log):
        raise ValueError("logs of shares that do not lie within the step's")
    return found.with_logs([Digest.of(log[first:last]) for first, last in found.log_ranges()])


def no_signatures() -> npt.NDArray[np.uint8]:
    """Return what there is of signatures where the order names no parties."""
    return np.zeros((0, SIGNATURE_BYTES), np.uint8)


def combined_root(digests: npt.NDArray[np.uint8]) -> Digest:
    """Return the state root over the sums of a step, from their tensor digests: uint8 ``[tensors, 32]``."""
    return MerkleTree(Digest(row.tobytes()) for row in digests).root


def exponents_digest(exponents: npt.NDArray[np.int32]) -> Digest:
    """Return the SHA-256 of the exponents of a step."""
    return Digest.of(np.ascontiguousarray(exponents, "<i4").tobytes())
