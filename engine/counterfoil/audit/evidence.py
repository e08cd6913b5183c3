"""What a dispute capsule proves: gathered from an audit's open files, and checked by whoever opens the capsule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor

from counterfoil.arithmetic.compute.interpreter import StepInputs
from counterfoil.audit.inspection import Inspection, check_beginning
from counterfoil.audit.step.shares import State
from counterfoil.base.cancel import CancelToken
from counterfoil.base.digest import Digest
from counterfoil.base.errors import CommitmentError, ProgramError, ProofError
from counterfoil.base.sentence import say
from counterfoil.base.turns import Turns
from counterfoil.bundle.capsule import CapsuleContents, ChunkProofs, ProvenLeaf
from counterfoil.bundle.schema import ArraySpec, OrderManifest, RunClaim
from counterfoil.commit.fingerprints import fingerprints_digest
from counterfoil.commit.merkle import leaf_hash, verify_inclusion
from counterfoil.commit.rows import ProvenRows
from counterfoil.commit.state import state_root
from counterfoil.program.graph import Program
from counterfoil.program.limits import Limits
from counterfoil.training.loaded import LoadedOrder, read_programs, step_inputs


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
    return CapsuleContents(
        manifest=order.manifest,
        programs=order.programs.take(order.programs.names(first + 1, step)).map(Program.to_bytes),
        signature=reader.order_signature(),
        acceptance=reader.acceptance(),
        claim=reader.claim(),
        leaves=tuple(
            ProvenLeaf(inspection.records[number], tree.inclusion_proof(number)) for number in (first, *later)
        ),
        state={name: tensor.cpu().numpy() for name, tensor in state.items()},
        logs=tuple(reader.log(number) for number in later),
        fingerprints=tuple(reader.fingerprints(number) for number in later),
        part=order.part(later.start, step),
    )


@dataclass(frozen=True)
class ProvenPart:
    """The part of an order that a capsule holds, proven against the order's manifest.

    Attributes:
        schedule: int64 ``[steps, batch_size]`` of the capsule's steps.
        scalars: float64 ``[steps, scalars]`` of the same.
        data: The rows of the data arrays that the schedule names for them.
    """

    schedule: npt.NDArray[np.int64]
    scalars: npt.NDArray[np.float64]
    data: Mapping[str, ProvenRows]


@dataclass(frozen=True)
class CapsuleJob:
    """What the steps of a capsule are replayed from, everything checked.

    Attributes:
        manifest: What was ordered.
        programs: The programs of its steps.
        first: The first step that can be replayed.
        part: The rows that the steps need.
    """

    manifest: OrderManifest
    programs: Turns[Program]
    first: int
    part: ProvenPart

    def inputs(self, step: int, state: Mapping[str, Tensor]) -> StepInputs:
        """Return the inputs of one of the capsule's steps that starts from ``state``."""
        row = step - self.first
        part, program = self.part, self.programs.of(step)
        data = {name: part.data[name] for name in program.batch_names}
        return step_inputs(self.manifest, step, state, part.schedule[row], part.scalars[row], data)


def prove_part(contents: CapsuleContents) -> ProvenPart:
    """Check programs, schedule, scalars and data rows against the order's manifest (check 3).

    Raises:
        CommitmentError: One of them does not belong to the order; the sentence names it.
    """
    manifest, part = contents.manifest, contents.part
    for name, program in contents.programs.parts.items():
        if Digest.of(program) != manifest.programs.parts[name]:
            raise CommitmentError(say("The program in the capsule is not the one that the order commits to."))
    steps = np.arange(contents.agreed_step, contents.step)
    schedule = _prove("schedule", say("the schedule"), manifest.schedule, steps, part.schedule)[steps]
    scalars = _prove("scalars", say("the per-step scalars"), manifest.scalars, steps, part.scalars)[steps]
    data = {
        name: _prove(name, say("the data array {0}", repr(name)), manifest.data[name], schedule, proofs)
        for name, proofs in part.data.items()
    }
    return ProvenPart(schedule, scalars, data)


def _prove(name: str, what: str, spec: ArraySpec, rows: npt.NDArray[np.int64], proofs: ChunkProofs) -> ProvenRows:
    try:
        return ProvenRows(name, spec.dtype, spec.shape, spec.digest, rows, proofs)
    except ProofError as error:
        raise CommitmentError(
            say("The capsule does not prove that its rows of {0} are those of the order.", what),
            detail=error.sentence,
        ) from error


def load_job(
    contents: CapsuleContents, part: ProvenPart, limits: Limits | None = None, cancel: CancelToken | None = None
) -> CapsuleJob:
    """Check that the programs are supported and fit what the capsule holds (check 4).

    Raises:
        ProgramError: One is malformed, unsupported, or does not fit.
        LimitError: One is larger than the limits.
        CancelledError: ``cancel`` was set.
    """
    manifest = contents.manifest
    programs, _ = read_programs(manifest, contents.programs, contents.state, limits, cancel)
    if {name for program in programs.all for name in program.batch_names} != part.data.keys():
        raise ProgramError(say("The capsule's data arrays are not those that its program reads."))
    first = contents.agreed_step + 1
    for step, fingerprints in enumerate(contents.fingerprints, first):
        if len(fingerprints) != len(programs.of(step).places):
            raise ProgramError(say("The capsule's fingerprints are not those of its program."))
    return CapsuleJob(manifest, programs, first, part)


def prove_leaves(contents: CapsuleContents, claim: RunClaim) -> None:
    """Check every leaf against the signed run root, and state, logs and fingerprints against the leaves (check 6).

    Raises:
        CommitmentError: A proof does not hold, or a part is not what its leaf commits to.
    """
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
    if state_root(contents.state) != contents.leaves[0].record.state_root:
        raise CommitmentError(
            say("The state in the capsule is not the one that the run commits to after step {0}.", first)
        )
    for leaf, log, fingerprints in zip(contents.leaves[1:], contents.logs, contents.fingerprints, strict=True):
        record = leaf.record
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
