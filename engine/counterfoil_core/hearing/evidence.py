"""What a dispute capsule proves: gathered from an audit's open files, and checked by whoever opens the capsule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.interpreter import StepInputs
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CommitmentError, LogError, ProgramError, ProofError
from counterfoil_core.base.sentence import say
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.capsule import CapsuleContents, ChunkProofs, OrderPart, ProvenLeaf, RowProofs
from counterfoil_core.bundle.schema import ArraySpec, OrderManifest, StepRecord
from counterfoil_core.bundle.shares import ShareRecord, SharesRoot
from counterfoil_core.bundle.stepparts import AddedTensor, StepPart, UpdateInputs
from counterfoil_core.bundle.stepshares import combined_root, exponents_digest
from counterfoil_core.commit.fingerprints import fingerprints_digest
from counterfoil_core.commit.merkle import MerkleTree, leaf_hash, verify_inclusion
from counterfoil_core.commit.rows import ProvenRows
from counterfoil_core.commit.rowtree import SaltedRows
from counterfoil_core.commit.state import state_root, tensor_digest
from counterfoil_core.hearing.inspection import Inspection, check_beginning
from counterfoil_core.judge.judgement import look_at_state
from counterfoil_core.order.admission import combined_types, read_programs, share_rows
from counterfoil_core.order.executable import LoadedOrder, share_inputs, step_inputs, update_inputs
from counterfoil_core.program.graph import Program
from counterfoil_core.program.limits import Limits
from counterfoil_core.replay.shares import SharedJob, State, UpdateJob, share_claim
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.signing.parties import SignedShares


def gather(inspection: Inspection, order: LoadedOrder, step: int, state: State) -> CapsuleContents:
    """Gather what a dispute about a step rests on, and nothing else.

    Args:
        inspection: The audited run, checks 1 to 6 passed, still open.
        order: Its order with all data.
        step: The disputed step.
        state: The agreed state, the last before the step that is digested; kept by reference where it lies on the CPU.

    Raises:
        RefusedError: A file is no longer what it was when it was checked.
    """
    reader, tree = inspection.reader, inspection.tree
    assert tree is not None
    first = reader.extent.committed_before(step)
    later = range(first + 1, step + 1)
    programs = order.programs.take(order.programs.names(first + 1, step))
    return CapsuleContents(
        manifest=order.manifest,
        programs=programs.map(Program.to_bytes),
        signature=reader.order_signature(),
        acceptance=reader.acceptance(),
        claim=reader.claim(),
        leaves=tuple(
            ProvenLeaf(inspection.records[number], tree.inclusion_proof(number)) for number in (first, *later)
        ),
        state=_arrays(state),
        logs=tuple(reader.log(number) for number in later),
        fingerprints=tuple(reader.fingerprints(number) for number in later),
        part=order.part(
            later.start,
            step,
            with_data=needs_rows(replace(order, programs=programs), first, step, reader.log(step), state),
        ),
    )


def gather_part(
    inspection: Inspection, order: LoadedOrder, step: int, state: State, about: int | AddedTensor | UpdateJob
) -> CapsuleContents:
    """Gather what a dispute about one part of a step that shares make rests on, and nothing else.

    Args:
        inspection: The audited run, checks 1 to 6 passed, still open.
        order: Its order with all data.
        step: The disputed step.
        state: The agreed state before it; kept by reference where it lies on the CPU.
        about: The part: a share by its number, the sum of a tensor, or the update with what it takes.

    Raises:
        RefusedError: A file is no longer what it was when it was checked.
    """
    reader, tree = inspection.reader, inspection.tree
    shares = reader.shares(step)
    assert tree is not None
    assert shares is not None
    assert order.updates is not None
    names = () if isinstance(about, AddedTensor) else order.programs.names(step, step)
    contents = CapsuleContents(
        manifest=order.manifest,
        programs=order.programs.take(names).map(Program.to_bytes),
        signature=reader.order_signature(),
        acceptance=reader.acceptance(),
        claim=reader.claim(),
        leaves=tuple(
            ProvenLeaf(inspection.records[number], tree.inclusion_proof(number)) for number in (step - 1, step)
        ),
        state={},
        logs=(),
        fingerprints=(),
        part=OrderPart((), (), {}),
        updates=order.updates.take(names).map(Program.to_bytes),
    )
    if isinstance(about, AddedTensor):
        return replace(contents, shared=StepPart(shares.records, about))
    log = reader.log(step)
    contents = replace(contents, state=_arrays(state))
    if isinstance(about, UpdateJob):
        return replace(
            contents,
            logs=(log[int(shares.log_ends[-1]) :],),
            fingerprints=(reader.fingerprints(step),),
            part=order.update_part(step),
            shared=StepPart(shares.records, UpdateInputs(_arrays(about.combined), _arrays(about.buffers))),
        )
    first, last = shares.log_ranges()[about]
    known = replace(order, programs=order.programs.take(names), updates=order.updates.take(names))
    own = log[first:last]
    return replace(
        contents,
        logs=(own,),
        fingerprints=(shares.fingerprints[about],),
        part=order.part(step, step, about, with_data=needs_rows(known, step - 1, step, own, state)),
        shared=StepPart(shares.records, about, shares.signature(about)),
    )


def needs_rows(job: SharedJob, agreed: int, step: int, log: bytes, state: State) -> bool:
    """Say whether it takes the rows of a capsule's steps to see what is wrong with the last of them.

    None are needed where they start from a state that no step leaves, or where there is one step, whose log cannot be
    decoded. More steps are replayed up to it, as the ruling says.

    Args:
        job: What was ordered, with the programs that a capsule of the step holds, and no others.
        agreed: The step after which the state is taken.
        step: The step.
        log: Its rounding log, or that of the share that the capsule is about.
        state: The state after ``agreed``.
    """
    if agreed and look_at_state(job, agreed, state) is not None:
        return False
    if step > agreed + 1:
        return True
    try:
        arithmetic_of(job.manifest.precision).decode_log(job.programs.of(step), log)
    except LogError:
        return False
    return True


def _arrays(tensors: Mapping[str, Tensor]) -> dict[str, Array]:
    return {name: tensor.cpu().numpy() for name, tensor in tensors.items()}


@dataclass(frozen=True)
class ProvenPart:
    """The part of an order that a capsule holds, proven against the order's manifest."""

    schedule: npt.NDArray[np.int64]  #: int64 ``[steps, batch_size]`` of the capsule's steps.
    scalars: npt.NDArray[np.float64]  #: float64 ``[steps, scalars]`` of the same.
    data: Mapping[str, ProvenRows | SaltedRows]  #: The rows of the data arrays that the schedule names for them.


@dataclass(frozen=True)
class CapsuleJob:
    """What the steps of a capsule, or the part of one, are replayed from, everything checked."""

    manifest: OrderManifest  #: What was ordered.
    programs: Turns[Program]  #: The programs of its steps.
    first: int  #: The first step that can be replayed.
    part: ProvenPart  #: The rows that the steps need.
    updates: Turns[Program] | None = None  #: The update programs, where shares make the steps.

    @property
    def all_programs(self) -> tuple[Program, ...]:
        """Every program of the capsule, each once."""
        return (*self.programs.all, *(() if self.updates is None else self.updates.all))

    def inputs(self, step: int, state: State) -> StepInputs:
        """Return the inputs of one of the capsule's steps that starts from ``state``."""
        row = step - self.first
        return step_inputs(
            self.manifest, step, state, self.part.schedule[row], self.part.scalars[row], self._data(step)
        )

    def share_inputs(self, step: int, share: int, state: State) -> StepInputs:
        """Return the inputs of the share of the step that the capsule is about."""
        rows = self.part.schedule[0], self.part.scalars[0]
        return share_inputs(self.manifest, self.programs.of(step), step, share, state, *rows, self._data(step))

    def update_inputs(self, step: int, state: State, combined: Mapping[str, Tensor]) -> StepInputs:
        """Return the inputs of the update of the step that the capsule is about."""
        return update_inputs(self.manifest, self.programs.of(step), step, state, self.part.scalars[0], combined)

    def _data(self, step: int) -> dict[str, ProvenRows | SaltedRows]:
        return {name: self.part.data[name] for name in self.programs.of(step).batch_names}


def prove_part(contents: CapsuleContents) -> ProvenPart:
    """Check programs, schedule, scalars and data rows against the order's manifest (check 3).

    Raises:
        CommitmentError: One of them does not belong to the order; the sentence names it.
    """
    manifest, part = contents.manifest, contents.part
    ordered = [(contents.programs, manifest.programs)]
    if contents.updates is not None and manifest.shares is not None:
        ordered.append((contents.updates, manifest.shares.updates))
    for programs, digests in ordered:
        for name, program in programs.parts.items():
            if Digest.of(program) != digests.parts[name]:
                raise CommitmentError(say("The program in the capsule is not the one that the order commits to."))
    about = None if contents.shared is None else contents.shared.about
    nothing = ProvenPart(np.zeros((0, 0), np.int64), np.zeros((0, 0)), {})
    if isinstance(about, AddedTensor):
        return nothing
    steps = np.arange(contents.agreed_step, contents.step)
    scalars = _prove("scalars", say("the per-step scalars"), manifest.scalars, steps, part.scalars)[steps]
    if isinstance(about, UpdateInputs):
        return replace(nothing, scalars=scalars)
    schedule = _prove("schedule", say("the schedule"), manifest.schedule, steps, part.schedule)[steps]
    rows = schedule if about is None else schedule[:, share_rows(manifest, about)]
    chunked: dict[str, ProvenRows | SaltedRows] = {
        name: _prove(name, say("the data array {0}", repr(name)), manifest.data[name], rows, proofs)
        for name, proofs in part.data.items()
    }
    single = {name: _prove_rows(name, manifest.data[name], rows, proofs) for name, proofs in part.rows.items()}
    return ProvenPart(schedule, scalars, chunked | single)


def _prove(name: str, what: str, spec: ArraySpec, rows: npt.NDArray[np.int64], proofs: ChunkProofs) -> ProvenRows:
    try:
        return ProvenRows(name, spec.dtype, spec.shape, spec.digest, rows, proofs)
    except ProofError as error:
        raise _not_proven(what, error) from error


def _prove_rows(name: str, spec: ArraySpec, rows: npt.NDArray[np.int64], proofs: RowProofs) -> SaltedRows:
    assert spec.rows is not None, "the capsule's layout follows from the manifest"
    try:
        return SaltedRows(name, spec.dtype, spec.shape, spec.rows, rows, proofs)
    except ProofError as error:
        raise _not_proven(say("the data array {0}", repr(name)), error) from error


def _not_proven(what: str, error: ProofError) -> CommitmentError:
    return CommitmentError(
        say("The capsule does not prove that its rows of {0} are those of the order.", what), detail=error.sentence
    )


def load_job(
    contents: CapsuleContents, part: ProvenPart, limits: Limits | None = None, cancel: CancelToken | None = None
) -> CapsuleJob:
    """Check that the programs are supported and fit what the capsule holds (check 4).

    Raises:
        ProgramError: One is malformed, unsupported, or does not fit.
        LimitError: One is larger than the limits.
        CancelledError: ``cancel`` was set.
    """
    manifest, first = contents.manifest, contents.agreed_step + 1
    if contents.shared is not None and not contents.shared.replayed:
        return CapsuleJob(manifest, Turns({}, manifest.programs.pattern), first, part)
    given = contents.programs, contents.state, limits, cancel, contents.updates
    programs, updates = read_programs(manifest, *given)
    about = None if contents.shared is None else contents.shared.about
    followed = programs
    if isinstance(about, UpdateInputs):
        assert updates is not None
        followed = updates
        _check_update_inputs(manifest, programs.of(first), contents.state, about)
    job = CapsuleJob(manifest, programs, first, part, updates)
    if {name for program in followed.all for name in program.batch_names} != part.data.keys():
        state = {name: torch.from_numpy(array) for name, array in contents.state.items()}
        if part.data or needs_rows(job, contents.agreed_step, contents.step, contents.logs[-1], state):
            raise ProgramError(say("The capsule's data arrays are not those that its program reads."))
    for step, fingerprints in enumerate(contents.fingerprints, first):
        if len(fingerprints) != len(followed.of(step).places):
            raise ProgramError(say("The capsule's fingerprints are not those of its program."))
    return job


def _check_update_inputs(
    manifest: OrderManifest, program: Program, state: Mapping[str, Array], given: UpdateInputs
) -> None:
    """Check that what the update takes is what the shares give and change; raises ProgramError."""
    types = {name: (found.dtype, found.shape) for name, found in combined_types(manifest, program).items()}
    changed = {name: (state[name].dtype.name, state[name].shape) for name in program.updates}
    found, buffers = (
        {name: (array.dtype.name, array.shape) for name, array in tensors.items()}
        for tensors in (given.combined, given.buffers)
    )
    if (found, buffers) != (types, changed):
        raise ProgramError(say("The capsule does not hold what the shares of its step give, or what share 0 changes."))


def prove_run(contents: CapsuleContents, claim: RunClaim) -> None:
    """Check every leaf against the signed run root, and what was signed of the steps against the leaves (check 6).

    Raises:
        CommitmentError: A proof does not hold, or a part is not what its leaf commits to.
        SignatureError: The party that answers for the share did not sign what the capsule is about.
    """
    _prove_leaves(contents, claim)
    if contents.shared is not None:
        _prove_shares(contents.shared, contents.leaves[-1].record)
        _prove_signed(contents.shared, contents)
    if contents.shared is None or contents.shared.replayed:
        _prove_replayed(contents)


def _prove_leaves(contents: CapsuleContents, claim: RunClaim) -> None:
    manifest, first = contents.manifest, contents.agreed_step
    extent = manifest.extent_of(claim.steps)
    if contents.step > extent.steps or first != extent.committed_before(contents.step):
        raise CommitmentError(
            say(
                "A dispute about step {0} starts from the last state before it that the run commits to, and the "
                "capsule's starts from step {1}.",
                contents.step,
                first,
            )
        )
    for leaf in contents.leaves:
        record = leaf.record
        try:
            verify_inclusion(leaf_hash(record.to_bytes()), record.step, extent.steps + 1, leaf.proof, claim.run_root)
        except ProofError as error:
            raise CommitmentError(
                say("The capsule does not prove that its leaf of step {0} belongs to the signed run.", record.step),
                detail=error.sentence,
            ) from error
        if (record.state_root is not None) != extent.is_committed(record.step):
            raise CommitmentError(
                say("The leaf of step {0} commits to a state where the order asks for none.", record.step)
            )
    if first == 0:
        check_beginning(contents.leaves[0].record, manifest)


def _prove_replayed(contents: CapsuleContents) -> None:
    """State, logs and fingerprints are those that the leaves commit to."""
    first = contents.agreed_step
    if state_root(contents.state) != contents.leaves[0].record.state_root:
        raise CommitmentError(
            say("The state in the capsule is not the one that the run commits to after step {0}.", first)
        )
    for record, log, fingerprints in zip(claims_of(contents), contents.logs, contents.fingerprints, strict=True):
        if Digest.of(log) != record.log:
            raise CommitmentError(
                say("The capsule's log of step {0} is not the one that the run commits to.", record.step)
            )
        if fingerprints_digest(fingerprints) != record.fingerprints or record.loss is None:
            raise CommitmentError(
                say(
                    "The capsule's fingerprints or loss of step {0} are not those that the run commits to.", record.step
                )
            )


def claims_of(contents: CapsuleContents) -> tuple[StepRecord, ...]:
    """Return what the trainer signed of what a capsule has replayed: of each step, or of a share of one."""
    shared = contents.shared
    if shared is None or not isinstance(shared.about, int):
        return tuple(leaf.record for leaf in contents.leaves[1:])
    return (share_claim(contents.step, shared.records[shared.about]),)


def _prove_shares(shared: StepPart, whole: StepRecord) -> None:
    """What a capsule about a part of a step holds of the shares is what the record of the step commits to."""
    signed = whole.shares
    if signed is None or MerkleTree(record.leaf for record in shared.records).root != signed.root:
        raise CommitmentError(
            say("The records of the shares in the capsule are not those of step {0} of the signed run.", whole.step)
        )
    if isinstance(shared.about, UpdateInputs):
        _prove_update(shared.about, shared.records, signed)
    elif isinstance(shared.about, AddedTensor):
        _prove_sum(shared.about, shared.records, signed)


def _prove_signed(shared: StepPart, contents: CapsuleContents) -> None:
    """The parties that answer for what a capsule is about signed it: the record of a share, or what was added.

    From the state before it, to which the trainer's record commits.

    Raises:
        SignatureError: They did not.
    """
    before, whole = contents.leaves[0].record.state_root, contents.leaves[-1].record.shares
    assert before is not None, "the state before a step of shares is committed to"
    assert whole is not None
    signed = SignedShares(contents.manifest)
    if isinstance(shared.about, int):
        signed.look_at(contents.step, before, shared.records[shared.about], shared.signature)
    elif isinstance(shared.about, AddedTensor) and shared.about.additions is not None:
        signed.look_at_sum(contents.step, before, whole, shared.about.additions)
    signed.check()


def _prove_update(given: UpdateInputs, records: Sequence[ShareRecord], signed: SharesRoot) -> None:
    """What the update takes is what was signed: as sums, or share by share where they lie side by side."""
    if signed.combined is not None:
        same = state_root(given.combined) == signed.combined
    else:
        same = all(
            state_root({name: array[record.share] for name, array in given.combined.items()}) == record.gradients
            for record in records
        )
    if not same:
        raise CommitmentError(say("The combination of the shares in the capsule is not the one that was signed."))
    if state_root(given.buffers) != records[0].buffers:
        raise CommitmentError(say("The tensors in the capsule that share 0 changed are not those that were signed."))


def _prove_sum(added: AddedTensor, records: Sequence[ShareRecord], signed: SharesRoot) -> None:
    """The exponents, the sums, and what each share gives of the tensor, are what was signed."""
    if (exponents_digest(added.exponents), combined_root(added.combined)) != (signed.exponents, signed.combined):
        raise CommitmentError(say("The exponents or the sums in the capsule are not those that were signed."))
    if any(combined_root(added.shares[record.share]) != record.gradients for record in records):
        raise CommitmentError(say("The digests of what the shares give in the capsule are not those that were signed."))
    place = place_of(added)
    for share, given in enumerate(added.given):
        if place is None or tensor_digest(added.name, given).value != added.shares[share, place].tobytes():
            raise CommitmentError(
                say("The capsule's tensor {0} of share {1} is not the one that was signed.", repr(added.name), share)
            )


def place_of(added: AddedTensor) -> int | None:
    """Return the place of a tensor among all that are added, by the digest of share 0; None where it has none."""
    digest = tensor_digest(added.name, added.given[0]).value
    found = [place for place, row in enumerate(added.shares[0]) if row.tobytes() == digest]
    lengths = {len(added.exponents), len(added.combined), len(added.shares[0])}
    if added.additions is not None:
        lengths.add(added.additions.hashes.shape[1])
    return found[0] if found and len(lengths) == 1 else None
