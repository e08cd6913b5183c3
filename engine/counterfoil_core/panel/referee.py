"""Where two runs of one order part, and which of them is not what was ordered.

Two runs are compared by what their steps gave: state root, loss and fingerprints. Their rounding logs stay out of it,
since two honest machines log different decisions without getting other values. The first step in which they differ is
found by binary search over Merkle trees of these results (about log2 n comparisons) and replayed from the agreed state
before it, once with each provider's own log. A provider is right when the replay comes to the leaf that it signed.

Both can be right: then their hardware rounded some value differently, and from there on theirs are different runs. The
replay goes on with each of them until a step decides; a cheat must not get away because honest rounding came first.

Equal results are equal states only where the state is digested. In between they are equal fingerprints, which a
provider can arrange with values of its own (``docs/threat-model.md``, "Fingerprints"). So from one committed state to
the next each run is replayed from its own state, by its own log, and nobody answers for a state that another log gave.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from counterfoil_core.base.errors import CommitmentError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import OrderManifest, StepRecord, run_tree
from counterfoil_core.bundle.stepshares import StepShares
from counterfoil_core.commit.merkle import MerkleTree, first_difference, leaf_hash
from counterfoil_core.judge.judgement import parts_of
from counterfoil_core.judge.locate import first_differing_operator
from counterfoil_core.judge.looks import judge
from counterfoil_core.replay.replayer import StepReplayer
from counterfoil_core.replay.shares import State
from counterfoil_core.values.events import Event
from counterfoil_core.values.panel import Blame, Parting, Ruling, StepJudged


@dataclass(frozen=True)
class Provider:
    """A run whose signature and commitments hold (checks 1 to 6)."""

    reader: BundleReader  #: The open bundle.
    records: Sequence[StepRecord]  #: The records of steps 0 to the last.
    results: MerkleTree  #: Merkle tree over what the steps gave: the same records without the digests of the logs.


def result_of(record: StepRecord, shares: StepShares | None) -> StepRecord:
    """Return what a step gave: its record without the digests of its logs, also of those of its shares."""
    return replace(record, log=None, shares=None if shares is None else shares.results)


def result_tree(records: Sequence[StepRecord], reader: BundleReader) -> MerkleTree:
    """Return the Merkle tree over what the steps of a run gave."""
    return run_tree([result_of(record, reader.shares(record.step) if record.step else None) for record in records])


def find_parting(
    manifest: OrderManifest, providers: Mapping[int, Provider], first: tuple[int, ...], second: tuple[int, ...]
) -> Parting | None:
    """Find the first step in which two groups differ, by binary search; None when they agree in every step."""
    one, other = (providers[group[0]].results for group in (first, second))
    # By the order's rule one may end before the other. Then their losses differ before that, or it had ended both.
    least = min(one.size, other.size)
    step, path = first_difference(_beginning(one, least), _beginning(other, least))
    if step is None:
        return None
    return Parting(first, second, step, path, manifest.extent.checkpoint_before(step))


def _beginning(tree: MerkleTree, size: int) -> MerkleTree:
    return tree if tree.size == size else MerkleTree(tree.leaf(index) for index in range(size))


def rule(
    steps: StepReplayer, initial: State, providers: Mapping[int, Provider], parting: Parting
) -> Generator[Event | StepJudged, None, Parting]:
    """Replay from the agreed state until a step decides which runs are not what was ordered, or to the end.

    Raises:
        CancelledError: The replayer's token was cancelled.
        CommitmentError: No run stores the state that all commit to.
        NonFiniteError: A step leads to a value that does not fit float32.
    """
    extent = steps.job.manifest.extent
    members = {number: providers[number] for number in (*parting.first, *parting.second)}
    begin = parting.agreed_step
    state = _agreed_state(initial, members.values(), begin)
    lanes = {number: _Lane(_Judge(steps, number, member), begin, state) for number, member in members.items()}
    # Up to the step in which they part all signed the same results, so whoever comes to them shows them to be right.
    sides = [_Side(tuple(members), lanes)]
    for step in range(begin + 1, min(len(member.records) for member in members.values())):
        if step == parting.step:
            sides = [_Side(group, lanes) for group in (parting.first, parting.second)]
        for side in sides:
            yield from side.judge(step, every=step == parting.step)
        telling = tuple(lane.telling for _, lane in sorted(lanes.items()) if lane.telling is not None)
        parting = replace(parting, ruled_step=step, rulings=telling)
        if parting.blame in (Blame.FIRST, Blame.SECOND, Blame.BOTH):
            return parting
        yield StepJudged(step)
        if extent.is_committed(step):
            for side in sides:
                side.meet(step)
        if extent.is_checkpoint(step):
            for side in sides:
                side.resume(step, members)
    return parting


class _Lane:
    """One run, replayed from the last state that it is known to share with others, by its own log.

    Args:
        judge: Judges its steps.
        step: Where it stands.
        state: The state there.
    """

    def __init__(self, judge: _Judge, step: int, state: State) -> None:
        self._judge = judge
        self.step = step
        self.state: State | None = state
        """The state after ``step``; None when this machine cannot tell, or the run is not what was ordered."""
        self.telling: Ruling | None = None
        """What tells most of the run, once it was asked for."""
        self._last: Ruling | None = None

    def advance(self, step: int) -> Generator[Event, None, bool]:
        """Replay up to a step; returns whether all of them were right."""
        while self.state is not None and self.step < step:
            self.step += 1
            self._last, self.state = yield from self._judge.rule(self.step, self.state)
        return self.state is not None

    def tell(self) -> None:
        """Let the last ruling count, if it tells more than what was known."""
        if self._last is not None and (self.telling is None or _weight(self._last) > _weight(self.telling)):
            self.telling = self._last

    def start(self, step: int, state: State) -> None:
        """Go on from another step."""
        self.step, self.state = step, state


class _Side:
    """Runs that signed the same results in every step so far."""

    def __init__(self, group: tuple[int, ...], lanes: Mapping[int, _Lane]) -> None:
        self._lanes = {number: lanes[number] for number in group}

    def judge(self, step: int, *, every: bool) -> Generator[Event, None, None]:
        """Judge a step by each run's own log until one leads to what all of them signed, or by every log.

        The others stay where they are, and are replayed from there when they are needed.
        """
        right = False
        for lane in self._lanes.values():
            right |= yield from lane.advance(step)
            # All signed this result. That another one's log does not lead to it is for that one's own audit.
            if right and not every:
                return
        if every:
            self._share(step)
        for lane in self._lanes.values():
            lane.tell()

    def meet(self, step: int) -> None:
        """At a step whose state is digested, take the state of one that comes to it for all, who signed its digest."""
        state = next(
            (lane.state for lane in self._lanes.values() if lane.step == step and lane.state is not None), None
        )
        if state is not None:
            for lane in self._lanes.values():
                lane.start(step, state)

    def resume(self, step: int, members: Mapping[int, Provider]) -> None:
        """Go on from the state that the runs store after a step, if none has come to it here."""
        if any(lane.step == step and lane.state is not None for lane in self._lanes.values()):
            return
        state = _stored((members[number] for number in self._lanes), step)
        for lane in self._lanes.values():
            lane.start(step, state)

    def _share(self, step: int) -> None:
        """Keep one copy of states that are the same, bit for bit."""
        held: list[State] = []
        for lane in self._lanes.values():
            if lane.state is None:
                continue
            same = next((state for state in held if _equal(state, lane.state)), None)
            if same is None:
                held.append(lane.state)
            else:
                lane.start(step, same)


def _equal(one: State, other: State) -> bool:
    """Whether two states have the same bits."""

    def bits(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.reshape(-1).view(torch.uint8)

    return one is other or all(torch.equal(bits(tensor), bits(other[name])) for name, tensor in one.items())


def _weight(ruling: Ruling) -> int:
    """How much a ruling tells: most when its run is wrong, least when it is right."""
    return 2 if ruling.wrong else 0 if ruling.right else 1


class _Judge:
    """Judges the steps of one provider."""

    def __init__(self, steps: StepReplayer, number: int, provider: Provider) -> None:
        self._steps = steps
        self._number = number
        self._provider = provider
        self._omissions: list[int] = []

    def rule(self, step: int, state: State) -> Generator[Event, None, tuple[Ruling, State | None]]:
        """Rule on a step that starts from ``state``; returns the state after it too, if all agree on one."""
        reader, record = self._provider.reader, self._provider.records[step]
        theirs = reader.fingerprints(step)
        judged = yield from judge(self._steps, record, state, reader)
        if judged.look is not None and judged.look.omits:
            self._omissions.append(step)
        look = None if judged.look is None else judged.look.with_omissions(self._omissions)
        accuses = look is not None and look.accuses
        operator = None
        if look is not None and look.part is not None:
            part = look.part
            if part.program is not None and part.outcome is not None and part.fingerprints is not None:
                operator = first_differing_operator(part.program, part.fingerprints, part.outcome.fingerprints)
        elif look is not None and judged.step is not None:
            operator = first_differing_operator(self._steps.job.programs.of(step), theirs, judged.step.fingerprints)
        ruling = Ruling(
            provider=self._number,
            step=step,
            right=judged.agreed is not None and not accuses,
            confirmed=judged.agreed is not None or accuses,
            trainer_leaf=leaf_hash(record.to_bytes()),
            replay_leaf=None if judged.step is None else judged.step.leaf,
            parts=() if judged.look is None else parts_of(record, judged.step, judged.look),
            operator=operator,
            corrections=judged.counts.corrections,
            contradictions=judged.counts.contradictions,
            finding=None if look is None else look.finding,
            part="" if look is None or look.part is None else look.part.name,
        )
        agreed = judged.agreed
        return ruling, agreed.result.state if agreed is not None and ruling.right else None


def _agreed_state(initial: State, members: Iterable[Provider], step: int) -> State:
    """Return the state after ``step`` from the first run that stores it as all commit to it."""
    return initial if step == 0 else _stored(members, step)


def _stored(members: Iterable[Provider], step: int) -> State:
    refused: CommitmentError | None = None
    for member in members:
        try:
            return {name: torch.from_numpy(array) for name, array in member.reader.checkpoint(step).items()}
        except CommitmentError as error:
            refused = refused or error
    assert refused is not None
    raise refused
