"""Where two runs of one order part, and which of them is not what was ordered.

Two runs are compared by what their steps gave: state root, loss and fingerprints. Their rounding logs stay out of it,
since two honest machines log different decisions without getting other values. The first step in which they differ is
found by binary search over Merkle trees of these results (about log2 n comparisons) and replayed from the agreed state
before it, once with each provider's own log. A provider is right when the replay comes to the leaf that it signed.

Both can be right: then their hardware rounded some value differently within the margin, and from there on theirs are
different runs, of which each must be audited by itself.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import torch

from counterfoil.audit.events import DisputedOperator, Event, Finding
from counterfoil.audit.judgement import Judgement, judge
from counterfoil.audit.locate import first_differing_operator
from counterfoil.audit.steps import State, StepReplayer, decode_log, differing_parts
from counterfoil.bundle.reader import BundleReader
from counterfoil.bundle.schema import OrderManifest, StepRecord, run_tree
from counterfoil.commit.digest import Digest
from counterfoil.commit.merkle import MerkleComparison, MerkleTree, first_difference, leaf_hash
from counterfoil.errors import CommitmentError, LogError


class Blame(Enum):
    """Who is not what was ordered at the step in which two runs part."""

    FIRST = "first"
    SECOND = "second"
    BOTH = "both"
    NEITHER = "neither"
    """Each is right with its own log: rounding differed within the margin."""
    UNCLEAR = "unclear"
    """This machine cannot be relied on here; nobody is accused."""


@dataclass(frozen=True)
class Ruling:
    """What the replay of one step says of one provider.

    Attributes:
        provider: Number of the run among those compared, from 0.
        right: Whether the replay, with the provider's own log, comes to the leaf that it signed; also where rounding
            within the margin explains the whole difference.
        confirmed: Whether this machine can be relied on: a second replay gave its leaf again, and exact arithmetic does
            not show it to be off.
        trainer_leaf: The Merkle leaf hash that the provider signed.
        replay_leaf: The replay's; None when the provider's log is malformed, so that nothing could be replayed.
        parts: Which parts of the leaf differ: some of ``state``, ``loss`` and ``fingerprints``, or ``log`` when it is
            malformed; empty when right.
        operator: The first operator whose result differs; None when right, or when all fingerprints agree.
        corrections: Rounding decisions that this machine took from the provider's log.
        contradictions: Log entries that no honest trainer writes.
        finding: What exact arithmetic says; None where the leaves agree, or nothing was confirmed.
    """

    provider: int
    right: bool
    confirmed: bool
    trainer_leaf: Digest
    replay_leaf: Digest | None
    parts: tuple[str, ...]
    operator: DisputedOperator | None
    corrections: int
    contradictions: int
    finding: Finding | None = None


@dataclass(frozen=True)
class Parting:
    """The step in which two groups of runs part; the runs of a group agree in every step.

    Attributes:
        first: Numbers of the runs of one group, from 0.
        second: Those of the other.
        step: The first step in which their results differ; the ruling may lie before it (:attr:`ruled_step`).
        path: The comparisons of the binary search, from the root down.
        agreed_step: The step after which all store the same state, from which the replay starts. Whether what they
            agree on before it was ordered is not looked at.
        ruled_step: The step that was ruled on: ``step``, or an earlier one that all got wrong; 0 before the ruling.
        rulings: One for each run of both groups: with equal results their logs may still differ. Empty before the
            ruling.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    step: int
    path: tuple[MerkleComparison, ...]
    agreed_step: int
    ruled_step: int = 0
    rulings: tuple[Ruling, ...] = ()

    @property
    def steps(self) -> int:
        """Number of steps from the agreed state to the step in question."""
        return self.step - self.agreed_step

    @property
    def blame(self) -> Blame:
        """Which group is wrong; UNCLEAR before the ruling. A group is right if one of its runs is."""
        if not self.rulings or not all(ruling.confirmed for ruling in self.rulings):
            return Blame.UNCLEAR
        right = {ruling.provider for ruling in self.rulings if ruling.right}
        if right.intersection(self.first):
            return Blame.NEITHER if right.intersection(self.second) else Blame.SECOND
        return Blame.FIRST if right.intersection(self.second) else Blame.BOTH


@dataclass(frozen=True)
class StepJudged:
    """Progress of a ruling: the step was replayed for as many runs as it took."""

    step: int


@dataclass(frozen=True)
class Provider:
    """A run whose signature and commitments hold (checks 1 to 6).

    Attributes:
        reader: The open bundle.
        records: The records of steps 0 to the last.
        results: Merkle tree over the same records without the digests of the logs.
    """

    reader: BundleReader
    records: Sequence[StepRecord]
    results: MerkleTree


def result_tree(records: Sequence[StepRecord]) -> MerkleTree:
    """Return the Merkle tree over what the steps gave: their records without the digest of the log."""
    return run_tree([replace(record, log=None) for record in records])


def find_parting(
    manifest: OrderManifest, providers: Mapping[int, Provider], first: tuple[int, ...], second: tuple[int, ...]
) -> Parting | None:
    """Find the first step in which two groups differ, by binary search; None when they agree in every step.

    Raises:
        ProofError: They have different numbers of steps.
    """
    step, path = first_difference(providers[first[0]].results, providers[second[0]].results)
    if step is None:
        return None
    agreed = (step - 1) // manifest.checkpoint_every * manifest.checkpoint_every
    return Parting(first, second, step, path, agreed)


def rule(
    steps: StepReplayer, initial: State, providers: Mapping[int, Provider], parting: Parting
) -> Generator[Event | StepJudged, None, Parting]:
    """Replay from the agreed state, and say which runs are not what was ordered.

    Raises:
        CancelledError: The replayer's token was cancelled.
        CommitmentError: No run stores the state that all commit to.
        NonFiniteError: A step leads to a value that does not fit float32.
    """
    members = {number: providers[number] for number in (*parting.first, *parting.second)}
    state = _agreed_state(initial, members.values(), parting.agreed_step)
    for step in range(parting.agreed_step + 1, parting.step):
        judged: dict[int, Judgement | None] = {}
        for number, member in members.items():
            judgement = judged[number] = yield from _judge(steps, member, step, state)
            if judgement is not None and judgement.agreed is not None:
                # All signed this result. That another one's log does not lead to it is for that one's own audit.
                state = judgement.agreed.result.state
                break
        else:
            return _ruled(steps, members, parting, step, judged)
        yield StepJudged(step)
    judged = {}
    for number, member in members.items():
        judged[number] = yield from _judge(steps, member, parting.step, state)
    return _ruled(steps, members, parting, parting.step, judged)


def _agreed_state(initial: State, members: Iterable[Provider], step: int) -> State:
    """Return the state after ``step`` from the first run that stores it as all commit to it."""
    if step == 0:
        return initial
    refused: CommitmentError | None = None
    for member in members:
        stored = member.reader.checkpoint(step)
        try:
            member.reader.check_checkpoint(step, stored)
        except CommitmentError as error:
            refused = refused or error
            continue
        return {name: torch.from_numpy(array) for name, array in stored.items()}
    assert refused is not None
    raise refused


def _judge(
    steps: StepReplayer, provider: Provider, step: int, state: State
) -> Generator[Event, None, Judgement | None]:
    """Judge a step of a provider; None when its log is malformed."""
    try:
        log = decode_log(steps.job.program, step, provider.reader.log(step))
    except LogError:
        return None
    return (yield from judge(steps, provider.records[step], state, log, provider.reader.fingerprints(step)))


def _ruled(
    steps: StepReplayer,
    members: Mapping[int, Provider],
    parting: Parting,
    step: int,
    judged: Mapping[int, Judgement | None],
) -> Parting:
    rulings = []
    for number, judgement in judged.items():
        record = members[number].records[step]
        if judgement is None:
            leaf = leaf_hash(record.to_bytes())
            rulings.append(Ruling(number, False, True, leaf, None, ("log",), None, 0, 0))
        else:
            rulings.append(_ruling(steps, number, members[number], judgement))
    return replace(parting, ruled_step=step, rulings=tuple(rulings))


def _ruling(steps: StepReplayer, number: int, provider: Provider, judgement: Judgement) -> Ruling:
    replayed = judgement.step
    step = replayed.record.step
    claimed = provider.records[step]
    operator = None
    if not judgement.right:
        theirs = provider.reader.fingerprints(step)
        operator = first_differing_operator(steps.job.program, theirs, replayed.fingerprints)
    return Ruling(
        provider=number,
        right=judgement.agreed is not None,
        confirmed=judgement.agreed is not None or judgement.accuses,
        trainer_leaf=leaf_hash(claimed.to_bytes()),
        replay_leaf=replayed.leaf,
        parts=differing_parts(claimed, replayed.record),
        operator=operator,
        corrections=judgement.corrections,
        contradictions=judgement.contradictions,
        finding=None if judgement.look is None else judgement.look.finding,
    )
