"""Writes dispute capsules."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np

from counterfoil.bundle.filewriter import FileWriter, held_bytes
from counterfoil_core.base import canonical
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.digest import DIGEST_BYTES
from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle import layout
from counterfoil_core.bundle.capsule import NO_CHUNKS, CapsuleContents
from counterfoil_core.bundle.kind import CAPSULE
from counterfoil_core.bundle.schema import check_name
from counterfoil_core.bundle.stepparts import AddedTensor, UpdateInputs
from counterfoil_core.commit.rowtree import RowProof
from counterfoil_core.commit.state import ChunkProof


class _CapsuleWriter(FileWriter):
    """A capsule being written."""

    KIND = CAPSULE

    def write(self, contents: CapsuleContents) -> None:
        turns, shared = contents.manifest.programs, contents.shared
        for group in _groups(contents):
            self._group(group)
        leaves = [
            {"record": leaf.record.to_json(), "proof": [digest.hex for digest in leaf.proof]}
            for leaf in contents.leaves
        ]
        encoded = canonical.encode(leaves)
        if len(encoded) > layout.MAX_LEAVES_BYTES:
            raise BundleError(
                say(
                    "All {0} steps since the last committed state are needed: too many for a capsule.", len(leaves) - 1
                ),
                remedy=say("Give the whole run to the one who is to judge it."),
            )
        self._check_room(sum(map(held_bytes, _states(contents))) + sum(map(len, contents.logs)))
        self._bytes(layout.MANIFEST, contents.manifest.to_bytes())
        for name, program in contents.programs.parts.items():
            self._bytes(layout.program_path(name), program)
        if contents.updates is not None:
            for name, program in contents.updates.parts.items():
                self._bytes(layout.update_path(name), program)
        if contents.signature is not None:
            self._bytes(layout.SIGNATURE, contents.signature)
        self._bytes(layout.ACCEPTANCE, contents.acceptance)
        self._bytes(layout.CLAIM, contents.claim)
        self._bytes(layout.CAPSULE_LEAVES, encoded)
        if shared is not None:
            self._bytes(layout.CAPSULE_SHARES, shared.to_bytes())
            if isinstance(shared.about, AddedTensor):
                self._sum(shared.about)
                return
            if isinstance(shared.about, UpdateInputs):
                self._tensors(layout.CAPSULE_COMBINED, shared.about.combined)
                self._tensors(layout.CAPSULE_BUFFERS, shared.about.buffers)
        self._tensors(layout.CAPSULE_STATE, contents.state)
        self._bytes(layout.CAPSULE_LOG, b"".join(contents.logs))
        ends = np.cumsum([len(log) for log in contents.logs], dtype=np.uint64)
        self._array(layout.CAPSULE_LOG_ENDS, ends, "uint64", ends.shape)
        first = contents.agreed_step + 1 if turns.several else 1
        for name in contents.programs.parts:
            rows = [row for step, row in enumerate(contents.fingerprints, first) if turns.name(step) == name]
            fingerprints = np.stack(rows)
            path = layout.fingerprints_path(name, layout.CAPSULE_FINGERPRINTS)
            self._array(path, fingerprints, "uint64", fingerprints.shape)
        if not _is_update(contents):
            self._chunks(layout.CAPSULE_SCHEDULE, contents.part.schedule)
        self._chunks(layout.CAPSULE_SCALARS, contents.part.scalars)
        for name, proofs in contents.part.data.items():
            group = f"{layout.CAPSULE_DATA}/{check_name(name)}"
            self._group(group)
            self._chunks(group, proofs)
        for name, single in contents.part.rows.items():
            group = f"{layout.CAPSULE_DATA}/{check_name(name)}"
            self._group(group)
            self._proven_rows(group, single)

    def _sum(self, added: AddedTensor) -> None:
        self._array(layout.CAPSULE_EXPONENTS, added.exponents, "int32", added.exponents.shape)
        self._array(layout.CAPSULE_SUM_DIGESTS, added.combined, "uint8", added.combined.shape)
        self._array(layout.CAPSULE_SHARE_DIGESTS, added.shares, "uint8", added.shares.shape)
        self._tensors(layout.CAPSULE_TENSOR, {added.name: added.given})
        if (signed := added.additions) is not None:
            self._bytes(layout.CAPSULE_SUM_SEEN, signed.seen.value)
            self._array(layout.CAPSULE_ADDED, signed.hashes, "uint8", signed.hashes.shape)
            self._array(layout.CAPSULE_SUM_SIGNATURES, signed.signatures, "uint8", signed.signatures.shape)

    def _chunks(self, group: str, proofs: Sequence[ChunkProof]) -> None:
        indices = np.array([proof.index for proof in proofs], np.int64)
        siblings = b"".join(digest.value for proof in proofs for digest in proof.path)
        root = proofs[0].chunks_root if proofs else NO_CHUNKS
        self._array(f"{group}/{layout.CHUNK_INDICES}", indices, "int64", indices.shape)
        self._bytes(f"{group}/{layout.CHUNK_BYTES}", b"".join(proof.chunk for proof in proofs))
        self._bytes(f"{group}/{layout.CHUNKS_ROOT}", root.value)
        rows = np.frombuffer(siblings, np.uint8).reshape(-1, DIGEST_BYTES)
        self._array(f"{group}/{layout.CHUNK_PROOFS}", rows, "uint8", rows.shape)

    def _proven_rows(self, group: str, proofs: Sequence[RowProof]) -> None:
        numbers = np.array([proof.row for proof in proofs], np.int64)
        self._array(f"{group}/{layout.ROW_NUMBERS}", numbers, "int64", numbers.shape)
        self._bytes(f"{group}/{layout.ROW_VALUES}", b"".join(proof.value for proof in proofs))
        salts = b"".join(proof.salt for proof in proofs)
        siblings = b"".join(digest.value for proof in proofs for digest in proof.path)
        for name, data in ((layout.ROW_SALTS, salts), (layout.ROW_PROOFS, siblings)):
            rows = np.frombuffer(data, np.uint8).reshape(-1, DIGEST_BYTES)
            self._array(f"{group}/{name}", rows, "uint8", rows.shape)

    def _check_complete(self) -> None:
        """A capsule is complete once it is written."""


def _is_update(contents: CapsuleContents) -> bool:
    return contents.shared is not None and isinstance(contents.shared.about, UpdateInputs)


def _states(contents: CapsuleContents) -> tuple[Mapping[str, Array], ...]:
    """Return the sets of tensors that a capsule holds."""
    about = None if contents.shared is None else contents.shared.about
    if isinstance(about, AddedTensor):
        return ({about.name: about.given},)
    return (contents.state, about.combined, about.buffers) if isinstance(about, UpdateInputs) else (contents.state,)


def _groups(contents: CapsuleContents) -> tuple[str, ...]:
    """Return the groups of a capsule, but for those of its data arrays."""
    always = layout.ORDER, layout.RUN, layout.CAPSULE
    if contents.shared is not None and not contents.shared.replayed:
        return (*always, layout.CAPSULE_SUMS, layout.CAPSULE_TENSOR)
    updates = (layout.UPDATES,) if contents.updates is not None else ()
    several = (layout.PROGRAMS, *updates, layout.CAPSULE_FINGERPRINTS) if contents.manifest.programs.several else ()
    if _is_update(contents):
        own = layout.CAPSULE_COMBINED, layout.CAPSULE_BUFFERS, layout.CAPSULE_STATE, layout.CAPSULE_SCALARS
    else:
        own = layout.CAPSULE_STATE, layout.CAPSULE_SCHEDULE, layout.CAPSULE_SCALARS, layout.CAPSULE_DATA
    return (*always, *own, *several)


def write_capsule(contents: CapsuleContents, path: str | os.PathLike[str]) -> None:
    """Write a dispute capsule.

    Args:
        contents: The evidence that an audit ended with (:class:`counterfoil.AuditFinished`).
        path: Where it goes; a file that lies there stays until the new one is complete.

    Raises:
        FileWriteError: It cannot be written.
        BundleError: So many steps lie between two committed states that a capsule cannot hold them.
    """
    with _CapsuleWriter.create(path) as writer:
        writer.write(contents)
