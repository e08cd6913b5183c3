"""Reads a dispute capsule: what it takes to replay one disputed step, with the proofs that it belongs to a signed run.

Reading checks form alone: whether the proofs hold is for :mod:`counterfoil_core.hearing.evidence`.
docs/bundle-format.md, section 13.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from counterfoil_core.base import canonical
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.dtypes import tensor_bytes
from counterfoil_core.base.errors import BundleError, ProofError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.sentence import say
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle import layout
from counterfoil_core.bundle.kind import CAPSULE
from counterfoil_core.bundle.schema import ArraySpec, OrderManifest, StepRecord
from counterfoil_core.bundle.steady import SteadyFile
from counterfoil_core.bundle.stepparts import About, AddedTensor, StepPart, UpdateInputs, read_records
from counterfoil_core.bundle.stepshares import Additions
from counterfoil_core.bundle.strictfile import CheckedFile
from counterfoil_core.commit.merkle import inclusion_proof_length
from counterfoil_core.commit.rowtree import RowProof
from counterfoil_core.commit.state import ChunkProof, chunk_count, chunk_length

ChunkProofs = tuple[ChunkProof, ...]
RowProofs = tuple[RowProof, ...]
NO_CHUNKS = Digest.of(b"")
"""The root of no leaves, which stands where no chunk is needed and a root would prove nothing."""


@dataclass(frozen=True)
class ProvenLeaf:
    """A step record, and the inclusion proof of its Merkle leaf in the run root, lowest sibling first."""

    record: StepRecord
    proof: tuple[Digest, ...]


@dataclass(frozen=True)
class OrderPart:
    """The rows of an order's arrays that some steps need, as proven chunks, or each proven by itself."""

    schedule: ChunkProofs  #: Chunks of the schedule.
    scalars: ChunkProofs  #: Chunks of the per-step scalars.
    data: Mapping[str, ChunkProofs]  #: Chunks of the data arrays that the program reads, by name.
    #: Of data arrays whose rows are leaves of a tree of their own, in place of chunks: these rows alone.
    rows: Mapping[str, RowProofs] = field(default_factory=dict)


@dataclass(frozen=True)
class CapsuleContents:
    """What a dispute capsule holds. The disputed step is the last of its leaves."""

    manifest: OrderManifest  #: The order's manifest.
    programs: Turns[bytes]  #: The canonical JSON of the programs whose turns the later steps are.
    signature: bytes | None  #: The DSSE envelope of the client who signed the order; None when nobody did.
    acceptance: bytes  #: The DSSE envelope by which the trainer accepted it.
    claim: bytes  #: The DSSE envelope that the trainer signed, as JSON bytes.
    #: The leaves from the last step before the disputed one whose state is committed, to the disputed one.
    leaves: tuple[ProvenLeaf, ...]
    state: Mapping[str, Array]  #: The state after the first of these steps, by tensor name.
    logs: tuple[bytes, ...]  #: The rounding log of each later step.
    fingerprints: tuple[npt.NDArray[np.uint64], ...]  #: uint64 ``[places]`` of each later step: its fingerprints.
    part: OrderPart  #: The rows of the order's arrays that the later steps need.
    #: The canonical JSON of the update programs of these steps, where shares make them.
    updates: Turns[bytes] | None = None
    #: The part of the disputed step that the capsule is about, where shares make it: then everything above is of that
    #: part alone, and a sum has no programs, no state, no logs, no fingerprints and no rows.
    shared: StepPart | None = None

    @property
    def agreed_step(self) -> int:
        """The step after which the state is taken."""
        return self.leaves[0].record.step

    @property
    def step(self) -> int:
        """The disputed step."""
        return self.leaves[-1].record.step


@dataclass(frozen=True)
class Subject:
    """What a dispute capsule is about, as it says itself."""

    agreed_step: int  #: The step after which its state is taken.
    step: int  #: The disputed step.
    #: Number of the share that it is about; None where it is about a whole step, or another part of one.
    share: int | None = None
    is_sum: bool = False  #: Whether it is about the combination of the shares.
    is_update: bool = False  #: Whether it is about the update.


class CapsuleReader(CheckedFile):
    """An open dispute capsule; use it as a context manager, from one thread. Made by :meth:`open`."""

    KIND = CAPSULE
    manifest: OrderManifest  #: The order's manifest.

    def __init__(self, file: SteadyFile) -> None:
        """Check an open file; raises as :class:`CheckedFile`."""
        super().__init__(file)
        layout.check_manifest_part(self._inventory)
        self.manifest = OrderManifest.from_bytes(self._read(layout.MANIFEST).tobytes())
        layout.check_capsule_layout(self._inventory, self.manifest)

    def subject(self) -> Subject:
        """Say what the capsule is about; reads little, and checks no proof.

        Raises:
            BundleError: The file is damaged.
        """
        leaves = _read_leaves(self._read(layout.CAPSULE_LEAVES).tobytes())
        first, last = leaves[0].record.step, leaves[-1].record.step
        if self.manifest.shares is None:
            return Subject(first, last)
        is_sum, is_update = self._about()
        if is_sum or is_update:
            return Subject(first, last, None, is_sum, is_update)
        data = self._read(layout.CAPSULE_SHARES).tobytes()
        return Subject(first, last, read_records(data, self.manifest.shares, numbered=True)[1])

    def _about(self) -> tuple[bool, bool]:
        """Whether it is about a sum, and about an update."""
        groups = self._inventory.groups
        return layout.CAPSULE_TENSOR in groups, layout.CAPSULE_COMBINED in groups

    def contents(self) -> CapsuleContents:
        """Read everything; its size in memory is bounded by the size of the file.

        Raises:
            BundleError: The parts do not fit together, or the file is damaged.
        """
        leaves = _read_leaves(self._read(layout.CAPSULE_LEAVES).tobytes())
        first, last = leaves[0].record.step, leaves[-1].record.step
        if [leaf.record.step for leaf in leaves] != list(range(first, first + len(leaves))) or first == last:
            raise BundleError(say("The leaves of the capsule are not those of neighbouring steps, two or more."))
        manifest, shared = self.manifest, self._shared()
        if shared is not None and len(leaves) != 2:
            raise BundleError(
                say("A capsule about a part of a step holds the leaves of two steps, and this one has more.")
            )
        names = manifest.programs.names(first + 1, last) if shared is None or shared.replayed else ()
        if manifest.programs.several and names != tuple(sorted(layout.members(self._inventory, layout.PROGRAMS))):
            raise BundleError(say("The programs of the capsule are not those whose turns its steps are."))
        logs, fingerprints = self._followed(names, first, last) if names else ((), ())
        groups = {name: f"{layout.CAPSULE_DATA}/{name}" for name in manifest.data}
        held = {name: manifest.data[name] for name, group in groups.items() if group in self._inventory.groups}
        data = {name: self._chunks(groups[name], spec) for name, spec in held.items() if spec.rows is None}
        rows = {name: self._rows(groups[name], spec) for name, spec in held.items() if spec.rows is not None}
        return CapsuleContents(
            manifest=manifest,
            programs=self._programs(names, layout.program_path),
            signature=self._read(layout.SIGNATURE).tobytes() if layout.is_signed(self._inventory) else None,
            acceptance=self._read(layout.ACCEPTANCE).tobytes(),
            claim=self._read(layout.CLAIM).tobytes(),
            leaves=leaves,
            state=self._tensors(layout.CAPSULE_STATE),
            logs=logs,
            fingerprints=fingerprints,
            part=OrderPart(
                schedule=self._chunks(layout.CAPSULE_SCHEDULE, manifest.schedule),
                scalars=self._chunks(layout.CAPSULE_SCALARS, manifest.scalars),
                data=data,
                rows=rows,
            ),
            updates=None if manifest.shares is None else self._programs(names, layout.update_path),
            shared=shared,
        )

    def _programs(self, names: tuple[str, ...], path: Callable[[str], str]) -> Turns[bytes]:
        return Turns({name: self._read(path(name)).tobytes() for name in names}, self.manifest.programs.pattern)

    def _tensors(self, group: str) -> dict[str, Array]:
        """Read the tensors of a group; none where it is not there."""
        return {name: self._read(f"{group}/{name}") for name in layout.members(self._inventory, group)}

    def _followed(
        self, names: tuple[str, ...], first: int, last: int
    ) -> tuple[tuple[bytes, ...], tuple[npt.NDArray[np.uint64], ...]]:
        """Read the logs and the fingerprints of the steps behind ``first``, whose programs have these names."""
        turns, ends = self.manifest.programs, self._read(layout.CAPSULE_LOG_ENDS)
        rows = {n: self._read(layout.fingerprints_path(n, layout.CAPSULE_FINGERPRINTS)) for n in names}
        counts = {n: turns.count(n, last) - turns.count(n, first) for n in names}
        if counts != {name: len(found) for name, found in rows.items()} or len(ends) != last - first:
            raise BundleError(say("The capsule does not hold logs and fingerprints of {0} steps.", last - first))
        steps = {name: iter(found) for name, found in rows.items()}
        fingerprints = tuple(next(steps[turns.name(step)]) for step in range(first + 1, last + 1))
        return _cut(self._read(layout.CAPSULE_LOG).tobytes(), ends), fingerprints

    def _shared(self) -> StepPart | None:
        """Read which part of a step the capsule is about; None where the order's steps have none."""
        if self.manifest.shares is None:
            return None
        is_sum, is_update = self._about()
        data = self._read(layout.CAPSULE_SHARES).tobytes()
        records, share, signature = read_records(data, self.manifest.shares, numbered=not (is_sum or is_update))
        about: About = share
        if is_update:
            about = UpdateInputs(self._tensors(layout.CAPSULE_COMBINED), self._tensors(layout.CAPSULE_BUFFERS))
        if is_sum:
            ((name, given),) = self._tensors(layout.CAPSULE_TENSOR).items()
            about = AddedTensor(
                name,
                given,
                self._read(layout.CAPSULE_EXPONENTS),
                self._read(layout.CAPSULE_SUM_DIGESTS),
                self._read(layout.CAPSULE_SHARE_DIGESTS),
                self._additions() if self.manifest.shares.signers else None,
            )
        return StepPart(records, about, signature)

    def _additions(self) -> Additions:
        seen, hashes = self._read(layout.CAPSULE_SUM_SEEN), self._read(layout.CAPSULE_ADDED)
        return Additions(Digest(seen.tobytes()), hashes, self._read(layout.CAPSULE_SUM_SIGNATURES))

    def _chunks(self, group: str, spec: ArraySpec) -> ChunkProofs:
        """Read the proven chunks of an array; their sizes follow from their numbers and the array's shape.

        There are none where the group is not there: the layout was checked.
        """
        if group not in self._inventory.groups:
            return ()
        indices = self._read(f"{group}/{layout.CHUNK_INDICES}").tolist()
        chunks = self._read(f"{group}/{layout.CHUNK_BYTES}").tobytes()
        root = Digest(self._read(f"{group}/{layout.CHUNKS_ROOT}").tobytes())
        siblings = self._read(f"{group}/{layout.CHUNK_PROOFS}")
        count = chunk_count(spec.dtype, spec.shape)
        proofs = []
        byte, sibling = 0, 0
        for index in indices:
            try:
                height = inclusion_proof_length(index, count)
            except ProofError as error:
                raise BundleError(
                    say("{0} holds a chunk that its array does not have.", group), detail=str(error)
                ) from error
            length = chunk_length(index, spec.dtype, spec.shape)
            path = tuple(Digest(row.tobytes()) for row in siblings[sibling : sibling + height])
            proofs.append(ChunkProof(index, chunks[byte : byte + length], root, path))
            byte += length
            sibling += height
        if (byte, sibling) != (len(chunks), len(siblings)) or (not indices and root != NO_CHUNKS):
            raise BundleError(say("{0} does not hold the bytes and the proofs of the chunks that it names.", group))
        return tuple(proofs)

    def _rows(self, group: str, spec: ArraySpec) -> RowProofs:
        """Read proven rows of an array; how long they and their proofs are follows from the array's shape."""
        numbers = self._read(f"{group}/{layout.ROW_NUMBERS}").tolist()
        values = self._read(f"{group}/{layout.ROW_VALUES}").tobytes()
        salts = self._read(f"{group}/{layout.ROW_SALTS}")
        siblings = self._read(f"{group}/{layout.ROW_PROOFS}")
        width = tensor_bytes(spec.dtype, spec.shape[1:])
        if (len(values), len(salts)) != (len(numbers) * width, len(numbers)):
            raise BundleError(say("{0} does not hold the bytes and the salts of the rows that it names.", group))
        proofs, sibling = [], 0
        for place, row in enumerate(numbers):
            try:
                height = inclusion_proof_length(row, spec.shape[0])
            except ProofError as error:
                raise BundleError(
                    say("{0} holds a row that its array does not have.", group), detail=str(error)
                ) from error
            path = tuple(Digest(each.tobytes()) for each in siblings[sibling : sibling + height])
            value = values[place * width : (place + 1) * width]
            proofs.append(RowProof(row, value, salts[place].tobytes(), path))
            sibling += height
        if sibling != len(siblings):
            raise BundleError(say("{0} does not hold the proofs of the rows that it names.", group))
        return tuple(proofs)


def _read_leaves(data: bytes) -> tuple[ProvenLeaf, ...]:
    try:
        value = canonical.decode(data)
    except canonical.CanonicalError as error:
        raise BundleError(say("The leaves of the capsule are damaged."), detail=str(error)) from error
    if not isinstance(value, list) or not value:
        raise BundleError(say("The leaves of the capsule are not a list."))
    leaves = []
    for item in value:
        fields = Fields(item, say("leaf of the capsule"), BundleError)
        record = StepRecord.from_json(fields.take("record", dict))
        proof = tuple(fields.as_digest(text, say("inclusion proof of a leaf")) for text in fields.take("proof", list))
        fields.end()
        leaves.append(ProvenLeaf(record, proof))
    return tuple(leaves)


def _cut(data: bytes, ends: Array) -> tuple[bytes, ...]:
    stops = ends.tolist()
    starts = [0, *stops[:-1]]
    if any(stop < start for start, stop in zip(starts, stops, strict=True)) or stops[-1] != len(data):
        raise BundleError(say("{0} does not cut {1} into steps.", layout.CAPSULE_LOG_ENDS, layout.CAPSULE_LOG))
    return tuple(data[start:stop] for start, stop in zip(starts, stops, strict=True))
