"""The adjudication: one disputed step, replayed from a capsule by somebody who trusts neither side.

The checks have the numbers and the meaning that they have in an audit. What the capsule holds is proven against the
order's digest and the trainer's signed run root before anything is computed; then every step of the capsule is judged
from the state that the run itself commits to.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import torch

from counterfoil_core.arithmetic.compute.devices import environment_after
from counterfoil_core.arithmetic.machine import Machine, OpenMachine, open_machine
from counterfoil_core.arithmetic.selftest import run_selftest
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import (
    CounterfoilError,
    DeviceError,
    FileChangedError,
    GivenFileError,
    LimitError,
    RefusedError,
)
from counterfoil_core.base.precision import is_exact
from counterfoil_core.base.sentence import say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.capsule import CapsuleContents, CapsuleReader
from counterfoil_core.bundle.steady import SteadyFile
from counterfoil_core.bundle.stepparts import AddedTensor, StepPart, UpdateInputs
from counterfoil_core.bundle.stepshares import StepShares
from counterfoil_core.hearing.conclusion import StepTally, conclude_adjudication, replay_checks
from counterfoil_core.hearing.evidence import CapsuleJob, load_job, place_of, prove_part, prove_run
from counterfoil_core.hearing.inspection import file_digest
from counterfoil_core.judge.judgement import Judgement, dispute_of, look_at_state
from counterfoil_core.judge.looks import judge
from counterfoil_core.judge.partjudgement import judge_share, judge_sum, judge_update
from counterfoil_core.parties.signatures import Keys, Parties, read_client_order
from counterfoil_core.program.limits import Limits
from counterfoil_core.replay.sharedreplay import step_replayer
from counterfoil_core.replay.shares import ShareJob, State, UpdateJob
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.signing.parties import party_ids
from counterfoil_core.statement.verdict import part_name
from counterfoil_core.values.adjudication import AdjudicationReport
from counterfoil_core.values.events import (
    AdjudicationEvent,
    AdjudicationFinished,
    AdjudicationStarted,
    CheckChanged,
    Event,
)
from counterfoil_core.values.outcome import Check, CheckNumber, CheckState

Result = TypeVar("Result")


def adjudicate(
    path: str | os.PathLike[str],
    *,
    order: str | os.PathLike[str] | None = None,
    trainer_key: PublicKey | None = None,
    client_key: PublicKey | None = None,
    device: str = "cpu",
    threads: int | None = None,
    cancel: CancelToken | None = None,
    limits: Limits | None = None,
    machines: OpenMachine = open_machine,
) -> Iterator[AdjudicationEvent]:
    """Check a dispute capsule, replay its steps, and say who is right.

    Whatever the capsule holds and whatever happens to the replay ends in a report, never in an exception of ours.

    Args:
        path: The capsule.
        order: The client's own order, to compare with.
        trainer_key: The trainer's public key, when it is known.
        client_key: The client's public key, when it is known: the order must be signed with it.
        device: ``cpu`` or ``cuda:0``.
        threads: Threads on the CPU; None for torch's choice.
        cancel: Looked at between operators.
        limits: How large the program may be; the default limits unless given.
        machines: Sets up the machine that computes.

    Yields:
        CheckChanged and OperatorDone, AdjudicationStarted before the replay, AdjudicationFinished.

    Raises:
        GivenFileError: There is no such capsule, or the client's order is none: nothing is concluded from that.
    """
    case = _Case(
        Path(path),
        given_key=trainer_key.key_id if trainer_key else "",
        given_client_key=client_key.key_id if client_key else "",
    )
    try:
        with obstacles_noticed():
            # A slip is said before a large file is read.
            case.given_order = read_client_order(order, path)
            yield from _hear(case, Keys(trainer_key, client_key), partial(machines, device, threads), cancel, limits)
    except GivenFileError:
        raise
    except CounterfoilError as error:
        case.error = error
        if isinstance(error, FileChangedError):
            case.capsule_digest = None
    yield AdjudicationFinished(case.report())


@dataclass
class _Case(Parties):
    """What is known so far; becomes the report."""

    path: Path
    given_key: str
    checks: dict[CheckNumber, Check] = field(default_factory=dict)
    capsule_digest: Digest | None = None
    contents: CapsuleContents | None = None
    environment: tuple[tuple[str, str], ...] = ()
    tally: StepTally = field(default_factory=StepTally)
    error: CounterfoilError | None = None

    def note(self, number: CheckNumber, state: CheckState, detail: str) -> CheckChanged:
        self.checks[number] = Check(number, state, detail)
        return CheckChanged(self.checks[number])

    def attempt(
        self, number: CheckNumber, check: Callable[[], Result], sentence: Callable[[Result], str]
    ) -> Generator[Event, None, Result]:
        """Run a check and note how it ends."""
        return (yield from self.follow(number, _at_once(check), sentence))

    def follow(
        self, number: CheckNumber, check: Generator[Event, None, Result], sentence: Callable[[Result], str]
    ) -> Generator[Event, None, Result]:
        """Run a check that says how far it is, and note how it ends."""
        try:
            result = yield from check
        except (RefusedError, DeviceError) as error:
            yield self.note(number, CheckState.FAILED, error.sentence)
            raise
        except LimitError as error:
            yield self.note(number, CheckState.SKIPPED, error.sentence)
            raise
        yield self.note(number, CheckState.PASSED, sentence(result))
        return result

    def report(self) -> AdjudicationReport:
        contents, claim, tally = self.contents, self.claim, self.tally
        manifest = contents.manifest if contents is not None else None
        held = manifest.digest if manifest is not None else None
        asked = self.client_order
        if contents is not None and contents.signature is not None and self.signed_order is None and asked == held:
            asked = None  # the client's signature is broken: check 2 ended before it could compare them
        step, part = (0, None) if contents is None else (contents.step, contents.shared)
        outcome, reason = conclude_adjudication(tally, step, self.error, "" if part is None else part_name(part))
        return AdjudicationReport(
            outcome=outcome,
            reason=reason,
            checks=tuple(self.checks.get(number, Check(number, CheckState.SKIPPED)) for number in CheckNumber),
            capsule_name=self.path.name,
            capsule_digest=self.capsule_digest,
            order_digest=held if asked is None else asked,
            order_source="client" if asked is not None else "bundle" if self.whose is None else self.whose.source,
            run_order=held,
            run_root=claim.run_root if claim is not None else None,
            trainer_key=self.trainer_key,
            given_key=self.given_key,
            title=manifest.title if manifest is not None else "",
            steps_ordered=manifest.steps if manifest is not None else 0,
            steps_recorded=claim.steps if claim is not None else manifest.steps if manifest is not None else 0,
            agreed_step=contents.agreed_step if contents is not None else 0,
            step=contents.step if contents is not None else 0,
            steps_replayed=tally.replayed,
            dispute=tally.dispute,
            corrections=tally.counts.corrections,
            contradictions=tally.counts.contradictions,
            omissions=tally.counts.omissions,
            seconds=tally.seconds,
            environment=environment_after(self.environment),
            trainer_environment=tuple(claim.environment.items()) if claim is not None else (),
            client_key=self.client_key,
            given_client_key=self.given_client_key,
            parties=party_ids(manifest) if manifest is not None and claim is not None else (),
            accepted_at=self.accepted_at,
            accepted_client="" if self.acceptance is None else self.acceptance.client_key or "",
        )


def _hear(
    case: _Case,
    known: Keys,
    machines: Callable[[], Machine],
    cancel: CancelToken | None,
    limits: Limits | None,
) -> Generator[AdjudicationEvent, None, None]:
    """Checks 1 to 10."""
    contents = yield from case.follow(
        CheckNumber.FORMAT, _read(case, cancel), lambda _: say("Every rule of the format is kept.")
    )
    case.contents = contents
    manifest = contents.manifest
    case.tally.exact = is_exact(manifest.precision)
    yield from _compare_order(case, contents, known)
    part = yield from case.attempt(
        CheckNumber.ORDER_CONTENTS,
        lambda: prove_part(contents),
        lambda found: (
            say(
                "Program, schedule, scalars and the batch rows of {0} data arrays are proven parts of the order.",
                len(found.data),
            )
            if contents.programs.parts
            else say("Of the order nothing but its manifest is needed: what shares give is added.")
        ),
    )
    job = yield from case.attempt(
        CheckNumber.PROGRAM,
        lambda: load_job(contents, part, limits, cancel),
        lambda found: say("All {0} operators are on the allow-list.", sum(len(p.nodes) for p in found.all_programs)),
    )
    envelopes = contents.claim, contents.acceptance
    yield from case.attempt(
        CheckNumber.SIGNATURE,
        lambda: case.check_run(manifest, envelopes, known.trainer, recorded=None),
        lambda found: found,
    )
    claim = case.claim
    assert claim is not None, "check 5 has passed"
    yield from case.attempt(
        CheckNumber.COMMITMENTS,
        lambda: prove_run(contents, claim),
        lambda _: _proven(contents, claim),
    )
    machine = machines()
    case.environment = machine.environment_of_a_judge
    if job.all_programs:
        machine.check_memory(job.all_programs, manifest.precision)
    yield from case.attempt(CheckNumber.SELF_TEST, lambda: run_selftest(machine, manifest.precision), str)
    yield AdjudicationStarted(job.first, contents.step)
    begun = time.perf_counter()
    try:
        if contents.shared is None:
            yield from _replay(case.tally, contents, job, machine, cancel)
        else:
            yield from _judge_part(case.tally, contents, contents.shared, job, machine, cancel)
    finally:
        case.tally.seconds = time.perf_counter() - begun
    for check in replay_checks(case.tally, manifest.steps, claim.steps):
        yield case.note(check.number, check.state, check.detail)


def _proven(contents: CapsuleContents, claim: RunClaim) -> str:
    """Say what check 6 has proven."""
    root, step = claim.run_root.short, contents.step
    if contents.shared is None:
        return say(
            "The state after step {0} and the records of the steps after it, up to step {1}, are proven parts "
            "of the run root {2}.",
            contents.agreed_step,
            step,
            root,
        )
    return say(
        "The record of step {0}, those of its {1} shares, and what the disputed part of the step starts from, are "
        "proven parts of the run root {2}.",
        step,
        len(contents.shared.records),
        root,
    )


def _at_once(check: Callable[[], Result]) -> Generator[Event, None, Result]:
    return check()
    yield


def _read(case: _Case, cancel: CancelToken | None) -> Generator[Event, None, CapsuleContents]:
    with SteadyFile.open(case.path) as file:
        # Before a byte is looked at, so that a report names what was judged, also when it is no capsule.
        case.capsule_digest = yield from file_digest(file, cancel)
        try:
            # All that is judged lies in memory from here on.
            return CapsuleReader(file).contents()
        finally:
            file.check_unchanged()


def _compare_order(case: _Case, contents: CapsuleContents, known: Keys) -> Generator[Event, None, None]:
    """Check 2, which ends in a warning where nothing is known of the client."""
    try:
        envelopes = contents.claim, contents.acceptance
        found = case.check_order(contents.manifest, contents.signature, envelopes, known.trainer)
    except RefusedError as error:
        yield case.note(CheckNumber.ORDER, CheckState.FAILED, error.sentence)
        raise
    yield case.note(CheckNumber.ORDER, found.state, found.detail)


def _replay(
    tally: StepTally,
    contents: CapsuleContents,
    job: CapsuleJob,
    machine: Machine,
    cancel: CancelToken | None,
) -> Generator[Event, None, None]:
    """Judge the capsule's steps in turn, to the first that accuses the trainer.

    Where rounding within the margin explains a difference, the steps after it start from the trainer's own state.
    """
    state = _tensors(contents.state)
    with step_replayer(job, machine, cancel=cancel) as steps:
        for leaf, log, fingerprints in zip(contents.leaves[1:], contents.logs, contents.fingerprints, strict=True):
            record = leaf.record
            signed = record.step == job.first and job.first > 1
            look = look_at_state(job, contents.agreed_step, state) if signed else None
            judgement = (
                (yield from judge(steps, record, state, _Signed(log, fingerprints)))
                if look is None
                else Judgement(None, look)
            )
            _count(tally, judgement)
            if judgement.look is not None:
                program = job.programs.of(record.step)
                dispute = dispute_of(program, record, leaf.proof, fingerprints, judgement.step, judgement.look)
                if tally.dispute is None or dispute.accuses:
                    tally.dispute = dispute
            if judgement.agreed is None:
                return
            state = judgement.agreed.result.state


def _judge_part(
    tally: StepTally,
    contents: CapsuleContents,
    shared: StepPart,
    job: CapsuleJob,
    machine: Machine,
    cancel: CancelToken | None,
) -> Generator[Event, None, None]:
    """Judge the part of a step that the capsule is about."""
    leaf, about = contents.leaves[-1], shared.about
    record = leaf.record
    program, nothing = None, np.zeros(0, np.uint64)
    if isinstance(about, AddedTensor):
        place = place_of(about)
        assert place is not None, "check 6 has passed"
        judgement = judge_sum(contents.manifest.digest, record, about, place)
    else:
        program = job.programs.of(record.step)
        judgement = yield from _replay_part(contents, shared, about, job, machine, cancel)
    _count(tally, judgement)
    if judgement.look is not None:
        dispute = dispute_of(program, record, leaf.proof, nothing, judgement.step, judgement.look)
        shares = contents.manifest.shares
        tally.dispute = dispute if shares is None else dispute.answered_for(shares.signers, judgement.look.share)


def _replay_part(
    contents: CapsuleContents,
    shared: StepPart,
    about: int | UpdateInputs,
    job: CapsuleJob,
    machine: Machine,
    cancel: CancelToken | None,
) -> Generator[Event, None, Judgement]:
    """Judge a share or an update."""
    record, state = contents.leaves[-1].record, _tensors(contents.state)
    look = look_at_state(job, contents.agreed_step, state) if job.first > 1 else None
    if look is not None:
        return Judgement(None, look)
    signed = _Signed(contents.logs[0], contents.fingerprints[0])
    if isinstance(about, int):
        with step_replayer(ShareJob(job, about), machine, cancel=cancel) as steps:
            return (yield from judge_share(steps, record, shared.records, state, signed))
    update = UpdateJob(job, _tensors(about.combined), _tensors(about.buffers))
    with step_replayer(update, machine, cancel=cancel) as steps:
        return (yield from judge_update(steps, record, state, signed))


def _tensors(arrays: Mapping[str, Array]) -> State:
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


@dataclass(frozen=True)
class _Signed:
    """What a capsule holds of what the trainer left of a step."""

    _log: bytes
    _fingerprints: npt.NDArray[np.uint64]

    def log(self, step: int) -> bytes:
        """Its rounding log."""
        return self._log

    def fingerprints(self, step: int) -> npt.NDArray[np.uint64]:
        """Its fingerprints."""
        return self._fingerprints

    def shares(self, step: int) -> StepShares | None:
        """It has none."""
        return None


def _count(tally: StepTally, judgement: Judgement) -> None:
    tally.replayed += 1
    if judgement.step is not None and judgement.right:
        tally.matching += 1
        tally.counts += judgement.counts
