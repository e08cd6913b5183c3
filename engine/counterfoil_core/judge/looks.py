"""A closer look at a step that differs, whatever parts it has: the first part that differs is the one to be judged.

Of a step that shares make each share is judged by itself, from the state before the step; then the combination, in
integers; then the update, from what the shares gave. What a part before it leads to is the trainer's, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.interpreter import StepResult
from counterfoil_core.base.errors import LogError, NonFiniteError
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.bundle.shares import NO_EXPONENT, ShareRecord, SharesRoot, sum_bits
from counterfoil_core.bundle.stepparts import AddedTensor
from counterfoil_core.bundle.stepshares import exponents_digest
from counterfoil_core.commit.merkle import MerkleTree, leaf_hash
from counterfoil_core.commit.statedigest import digests_of, root_of
from counterfoil_core.judge import findings
from counterfoil_core.judge.judgement import (
    DisputedPart,
    Fingerprints,
    Judgement,
    SecondLook,
    look_at_end,
    no_result,
    second_look,
    unreadable,
)
from counterfoil_core.order.admission import combined_types
from counterfoil_core.order.sharerecord import share_record
from counterfoil_core.program.graph import Program
from counterfoil_core.replay.replayer import NoResult, ReplayedStep, StepEndedError, StepReplayer
from counterfoil_core.replay.sharedreplay import Combining, SharedReplayer, Signed, read_logs
from counterfoil_core.replay.shares import (
    AnyLogs,
    Logs,
    PartLogError,
    SharedLogs,
    State,
    UpdateJob,
    share_claim,
    share_name,
)
from counterfoil_core.values.dispute import COMBINE, UPDATE
from counterfoil_core.values.events import Event

_EXPONENTS = range(-148, 129)
"""What a tensor of float32 numbers that are not all zero can have; a trainer can sign others."""
_WITNESSED = 64
"""Elements of each tensor that are added up once more, in integers of any length."""


class SignedStep(Signed, Protocol):
    """Reads all that a trainer left of a step: a run."""

    def fingerprints(self, step: int, /) -> Fingerprints:
        """Return the fingerprints of a step; where it has shares, of its update."""


def judge(
    steps: StepReplayer, claimed: StepRecord, state: State, signed: SignedStep
) -> Generator[Event, None, Judgement]:
    """Replay a step, compare its leaf with the claimed one, and look closer where it differs.

    Args:
        steps: Replays the step.
        claimed: The trainer's record of it.
        state: The agreed state before it.
        signed: Reads what the trainer left of it.

    Raises:
        CancelledError: The replayer's token was cancelled.
        CommitmentError: The log is not the one that the record commits to.
        NonFiniteError: The step comes to no result, and it is not proven that it does on no conforming machine.
    """
    try:
        logs = read_logs(steps.job, claimed, signed)
    except LogError as error:
        return (yield from judge_unreadable(steps, claimed, state, error))
    fingerprints = signed.fingerprints(claimed.step)
    try:
        outcome = yield from steps.replay(claimed, state, logs)
    except StepEndedError as error:
        look = yield from look_closer(steps, claimed, state, logs, None, fingerprints)
        if not (look.accuses or look.reached):
            raise no_result(claimed.step, error, look) from error
        return Judgement(None, look)
    if outcome.leaf == leaf_hash(claimed.to_bytes()):
        return Judgement(outcome, None)
    return Judgement(outcome, (yield from look_closer(steps, claimed, state, logs, outcome, fingerprints)))


def look_closer(
    steps: StepReplayer,
    claimed: StepRecord,
    state: State,
    logs: AnyLogs,
    outcome: ReplayedStep | None,
    fingerprints: Fingerprints,
) -> Generator[Event, None, SecondLook]:
    """Look closer at a step whose leaf differs, or which came to no result.

    Args:
        steps: Replays the step.
        claimed: The trainer's record of it.
        state: The agreed state before it.
        logs: The trainer's log of it.
        outcome: The replay of it; None where it came to no result.
        fingerprints: uint64 ``[places]``: the trainer's fingerprints.

    Raises:
        CancelledError: The replayer's token was cancelled.
    """
    if isinstance(logs, SharedLogs):
        assert isinstance(steps, SharedReplayer)
        return (yield from _Parts(steps, claimed, state, logs, fingerprints).look())
    if outcome is None:
        return (yield from look_at_end(steps, claimed, state, logs, fingerprints))
    return (yield from second_look(steps, claimed, state, logs, outcome, fingerprints))


def judge_unreadable(
    steps: StepReplayer, claimed: StepRecord, state: State | None, error: LogError
) -> Generator[Event, None, Judgement]:
    """Judge a step of which a log cannot be read: there is nothing to replay it with.

    Of a step that shares make, the parts before that log are judged first. One of them that is wrong is another's lie,
    which a log of the trainer's choice must not hide; and a capsule about the update holds what the trainer signed as
    the combination, so it can be made only where the shares give that.

    Args:
        steps: Replays the step.
        claimed: The trainer's record of it.
        state: The agreed state before it; None where there is none.
        error: Why the log cannot be read.

    Raises:
        CancelledError: The replayer's token was cancelled.
    """
    look = unreadable(claimed.step, error)
    if not isinstance(error, PartLogError):
        return Judgement(None, look)
    assert isinstance(steps, SharedReplayer)
    share = len(error.read.of_shares)
    part = DisputedPart(share_name(share), about=share) if share < steps.count else DisputedPart(UPDATE)
    if state is not None:
        parts = _Parts(steps, claimed, state, error.read, np.zeros(0, np.uint64))
        found = yield from parts.before_update()
        if isinstance(found, SecondLook):
            if found.accuses:
                return Judgement(parts.as_whole(found), found)
        elif found is not None:
            part = replace(part, about=_update_of(found))
    return Judgement(None, replace(look, part=part))


def added_tensor(
    steps: SharedReplayer, claimed: StepRecord, state: State, logs: SharedLogs, name: str
) -> Generator[Event, None, AddedTensor | None]:
    """Replay the shares of a step once more, and keep what each gives of one tensor, as the trainer has it.

    Args:
        steps: Replays the step.
        claimed: The trainer's record of it, whose shares give what was signed.
        state: The agreed state before it.
        logs: The trainer's logs of it.
        name: The tensor.

    Returns:
        The tensor of all shares; None where a share gives something else this time.

    Raises:
        CancelledError: The replayer's token was cancelled.
    """
    described = combined_types(steps.whole.manifest, steps.whole.programs.of(claimed.step))[name]
    given = np.empty((steps.count, *described.shape), np.float32)
    digests: list[bytes] = []

    def take(share: int, outcome: ReplayedStep) -> None:
        combined = outcome.result.combined
        given[share] = combined[name].cpu().numpy()
        digests.append(b"".join(digest.value for digest in digests_of(combined).values()))

    if (yield from _Parts(steps, claimed, state, logs, np.zeros(0, np.uint64)).each_share(take)) is not None:
        return None
    signed = logs.shares
    shares = np.frombuffer(b"".join(digests), np.uint8).reshape(steps.count, *signed.combined.shape)
    return AddedTensor(name, given, signed.exponents, signed.combined, shares, signed.additions)


def with_share(
    outcome: ReplayedStep, whole: StepRecord, records: Sequence[ShareRecord], share: int, program: Program
) -> ReplayedStep:
    """Return what came out of a share as a whole step: the trainer's record with this one share put right.

    Args:
        outcome: What came out.
        whole: The trainer's record of the step.
        records: Those of its shares.
        share: The number of the share.
        program: Its program.
    """
    buffers = {name: outcome.result.state[name] for name in program.updates}
    own = share_record(share, outcome.result, buffers, records[share].log, outcome.fingerprints)
    root = MerkleTree((own if record.share == share else record).leaf for record in records).root
    assert whole.shares is not None
    return with_shares(outcome, whole, replace(whole.shares, root=root))


def with_shares(outcome: ReplayedStep, whole: StepRecord, shares: SharesRoot) -> ReplayedStep:
    """Return what came out as a whole step: the trainer's record with other shares."""
    assert whole.loss is not None
    result = replace(outcome.result, loss=whole.loss)
    return replace(outcome, result=result, without_root=replace(whole, shares=shares), root=None)


def nothing_but(whole: StepRecord, shares: SharesRoot) -> ReplayedStep:
    """Return a step of which nothing came out but what the shares give together, as :func:`with_shares`."""
    nothing = ReplayedStep(StepResult({}, 0.0), whole, None, (), np.zeros(0, np.uint64), ())
    return with_shares(nothing, whole, shares)


def _update_of(steps: StepReplayer) -> UpdateJob:
    assert isinstance(steps.job, UpdateJob)
    return steps.job


@dataclass
class _Parts:
    """Looks at the parts of a step that shares make, one after the other, up to the first that differs."""

    steps: SharedReplayer
    claimed: StepRecord
    state: State
    logs: SharedLogs
    fingerprints: Fingerprints
    explained: SecondLook | None = None
    """What was found of a part that rounding explains as a whole, if there was one."""
    adders: dict[str, int] = field(default_factory=dict)
    """Of each tensor the first share of which its party signed that it added something else than it gives."""
    combined: ReplayedStep | None = None
    """What was signed with the combination put right, where that differs."""

    def look(self) -> Generator[Event, None, SecondLook]:
        """Look at each part; the step as the trainer has it where rounding explains every difference."""
        update = yield from self.before_update()
        assert update is not None, "all logs were read"
        if isinstance(update, SecondLook):
            return update
        about, logs = _update_of(update), self.logs.update
        found = yield from self._part(UPDATE, update, self.claimed, logs, self.fingerprints, about)
        if isinstance(found, SecondLook):
            return found
        if self.explained is None:  # no part differs, and the step did: this machine wavers
            return SecondLook(False, None)
        return replace(self.explained, reached=found)

    def before_update(self) -> Generator[Event, None, StepReplayer | SecondLook | None]:
        """Look at the shares and at their combination; the update's replayer where both are as the trainer has them.

        None where they are as far as their logs can be read, and that of a share cannot.
        """
        combining = self.steps.combining(self.claimed.step, self.logs.shares.exponents.tolist())
        witness, hashes = _Witness(self.steps.count), self.steps.signed_hashes(self.claimed, self.logs)

        def take(share: int, outcome: ReplayedStep) -> None:
            result = outcome.result
            combining.take(share, result.combined, self.steps.buffers_of(self.claimed.step, result.state))
            if combining.adding is None:
                return
            witness.take(result.combined, combining.adding.exponents)
            if hashes is not None:
                for name in hashes.others(share, result.combined, combining.adding.exponents):
                    self.adders.setdefault(name, share)

        found = yield from self.each_share(take)
        if found is not None or len(self.logs.of_shares) < self.steps.count:
            return found
        combined = self._combination(combining, witness)
        return combined if isinstance(combined, SecondLook) else self.steps.update(combined, combining.buffers)

    def as_whole(self, look: SecondLook) -> ReplayedStep | None:
        """Return what the trainer signed with the part that differs put right, as a step; None where it has no result.

        Args:
            look: What a closer look at a share, or at the combination, brought.
        """
        part = look.part
        assert part is not None
        if part.outcome is None or part.program is None or not isinstance(part.about, int):
            return self.combined
        return with_share(part.outcome, self.claimed, self.logs.shares.records, part.about, part.program)

    def each_share(self, take: Callable[[int, ReplayedStep], None]) -> Generator[Event, None, SecondLook | None]:
        """Replay every share and hand it on as the trainer has it; what a closer look at one brought, if it differs."""
        for share in range(len(self.logs.of_shares)):
            found = yield from self.share(share)
            if isinstance(found, SecondLook):
                return found
            take(share, found)
        return None

    def share(self, share: int) -> Generator[Event, None, ReplayedStep | SecondLook]:
        """Return a share as the trainer has it, or what a closer look at it brought."""
        theirs = self.logs.shares
        claim = share_claim(self.claimed.step, theirs.records[share])
        replayer, logs, printed = self.steps.share(share), self.logs.of_shares[share], theirs.fingerprints[share]
        return (yield from self._part(share_name(share), replayer, claim, logs, printed, share))

    def _part(
        self,
        name: str,
        replayer: StepReplayer,
        claim: StepRecord,
        logs: Logs,
        fingerprints: Fingerprints,
        about: int | UpdateJob,
    ) -> Generator[Event, None, ReplayedStep | SecondLook]:
        """Return a part as the trainer has it, or what a closer look at it brought."""
        try:
            outcome: ReplayedStep | None = yield from replayer.replay(claim, self.state, logs)
        except StepEndedError:
            outcome = None
        if outcome is not None and outcome.leaf == leaf_hash(claim.to_bytes()):
            return outcome
        look = yield from look_closer(replayer, claim, self.state, logs, outcome, fingerprints)
        program = replayer.job.programs.of(claim.step)
        look = replace(look, part=DisputedPart(name, program, claim, fingerprints, outcome, about))
        if look.reached is None:
            return look
        self.explained = self.explained or look
        return look.reached

    def _combination(self, combining: Combining, witness: _Witness) -> dict[str, Tensor] | SecondLook:
        """Return what the shares give together, or what is wrong with what the trainer made of it."""
        adding, signed, step = combining.adding, self.claimed.shares, self.claimed.step
        assert signed is not None
        if adding is None:
            return combining.together()
        if adding.other:
            part = self._combined(adding.other)
            if not witness.exponents_agree(adding.found.tolist()):
                return SecondLook(False, None, part=part)
            self.combined = nothing_but(self.claimed, replace(signed, exponents=exponents_digest(adding.found)))
            return SecondLook(True, findings.other_exponents(adding.other, step), part=part)
        try:
            together = combining.together()
        except NonFiniteError:
            part = self._combined([name for name in sorted(adding.totals) if adding.is_beyond(name)])
            end, name = NoResult(None, 0, np.zeros(0, np.uint64)), part.about
            assert isinstance(name, str)
            return SecondLook(True, findings.sum_without_result(name, step), end=end, part=part)
        digests, theirs = digests_of(together), self.logs.shares.combined
        names = [name for (name, own), row in zip(digests.items(), theirs, strict=True) if own.value != row.tobytes()]
        if not names:
            return together
        part = self._combined(names)
        if not witness.agrees(together):
            return SecondLook(False, None, part=part)
        self.combined = nothing_but(self.claimed, replace(signed, combined=root_of(together)))
        return SecondLook(True, findings.other_sum(names, step, self.steps.count), part=part)

    def _combined(self, names: Sequence[str]) -> DisputedPart:
        """Return the combination as the part that differs, in these tensors: about the first that a party answers for.

        Where nobody but the trainer answers for any, about the first of them.
        """
        name = next((name for name in names if name in self.adders), names[0])
        return DisputedPart(COMBINE, about=name, adder=self.adders.get(name))


@dataclass
class _Witness:
    """Adds up some elements of each tensor once more, with Python's fractions, and finds exponents another way."""

    count: int  #: Number of the shares.
    _exponents: dict[str, int] = field(default_factory=dict)
    _sums: dict[str, list[int]] = field(default_factory=dict)
    _units: dict[str, Fraction] = field(default_factory=dict)

    def take(self, given: dict[str, Tensor], exponents: object) -> None:
        """Take what a share gives; ``exponents`` are those that the trainer recorded, by name."""
        assert isinstance(exponents, dict)
        for name, tensor in given.items():
            flat = tensor.detach().reshape(-1).double().cpu().numpy()
            largest = float(np.abs(flat).max()) if flat.size else 0.0
            # frexp gives m in [1/2, 1) with m 2^e: 2^e is above it, and no smaller power of two is.
            own = int(np.frexp(largest)[1]) if largest else NO_EXPONENT
            self._exponents[name] = max(self._exponents.get(name, NO_EXPONENT), own)
            exponent = exponents.get(name, NO_EXPONENT)
            if exponent not in _EXPONENTS:
                continue
            unit = self._units[name] = Fraction(2) ** (exponent - sum_bits(self.count))
            chosen = flat[_places(flat.size)]
            integers = [round(Fraction(float(value)) / unit) for value in chosen]
            before = self._sums.get(name, [0] * len(integers))
            self._sums[name] = [one + other for one, other in zip(before, integers, strict=True)]

    def exponents_agree(self, found: list[int]) -> bool:
        """Whether the exponents are those that were found another way, by the names of the tensors, sorted."""
        return found == [self._exponents[name] for name in sorted(self._exponents)]

    def agrees(self, together: dict[str, Tensor]) -> bool:
        """Whether the sums are, at these elements, the float32 numbers nearest to the exact ones."""
        for name, sums in self._sums.items():
            flat = together[name].detach().reshape(-1).cpu()
            own = flat[torch.from_numpy(_places(flat.numel()))].tolist()
            if own != [_nearest(self._units[name] * total) for total in sums]:
                return False
        return True


def _places(size: int) -> npt.NDArray[np.int64]:
    return np.unique(np.linspace(0, max(size - 1, 0), min(size, _WITNESSED)).astype(np.int64))


def _nearest(value: Fraction) -> float:
    """Return the float32 number nearest to a rational one, ties to even."""
    if value == 0:
        return 0.0
    exponent = max(value.numerator.bit_length() - value.denominator.bit_length(), -125)
    exponent -= abs(value) < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, -126) - 23)
    return float(round(value / unit) * unit)
