"""The replay of a step that shares make: share by share, with one accumulator, by the exponents that were recorded.

The exponents are hints: they are checked when every share is added, and where they are others than those of the shares
the step is replayed once more with its own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from torch import Tensor

from counterfoil_core.arithmetic.combination import ExactSum, side_by_side
from counterfoil_core.arithmetic.compute.operation import Compute
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.linearhash import SignedHashes
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.base.generators import relay
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.bundle.shares import ShareRecord, SharesRoot
from counterfoil_core.bundle.stepshares import StepShares, exponents_digest
from counterfoil_core.commit.merkle import MerkleTree, leaf_hash
from counterfoil_core.commit.statedigest import root_of
from counterfoil_core.kernels.result import Counts, add_counts
from counterfoil_core.order.sharerecord import share_record
from counterfoil_core.replay.replayer import (
    Digests,
    Job,
    NoResult,
    ReplayedStep,
    StepEndedError,
    StepReplayer,
    read_log,
)
from counterfoil_core.replay.shares import (
    AnyLogs,
    SharedJob,
    SharedLogs,
    ShareJob,
    State,
    UpdateJob,
    read_shared_logs,
    share_claim,
)
from counterfoil_core.values.events import Event, OperatorDone

Replaying = Generator[Event, None, ReplayedStep]


@dataclass
class Combining:
    """What the shares of a step gave so far, combined as the order says."""

    adding: ExactSum | None  #: The exact sum; None where they are handed on side by side.
    kept: list[Mapping[str, Tensor]]  #: What each gave, where they are.
    buffers: dict[str, Tensor]  #: The state tensors that share 0 changed.

    def take(self, share: int, given: Mapping[str, Tensor], buffers: Mapping[str, Tensor]) -> None:
        """Take what a share gave."""
        if share == 0:
            self.buffers = dict(buffers)
        if self.adding is None:
            self.kept.append(given)
        else:
            self.adding.add(given)

    @property
    def other(self) -> tuple[str, ...]:
        """The names of what has other exponents than those that were given."""
        return () if self.adding is None else self.adding.other

    def together(self) -> dict[str, Tensor]:
        """Return what the update takes; raises NonFiniteError where a sum is beyond float32's range."""
        return side_by_side(self.kept) if self.adding is None else self.adding.result()


class SharedReplayer(StepReplayer):
    """Replays single steps that shares make, on one device.

    Args:
        job: What was ordered.
        machine: Where to compute.
        kernels: Its rounding kernels.
        digests: Makes the digests of states.
        compute: How operators are computed.
        cancel: Looked at between operators.
    """

    def __init__(
        self,
        job: SharedJob,
        machine: Machine,
        kernels: Kernels,
        digests: Digests,
        *,
        compute: Compute,
        cancel: CancelToken | None = None,
    ) -> None:
        self.job = self.whole = job
        self._share = StepReplayer(ShareJob(job, 0), machine, kernels, digests, compute=compute, cancel=cancel)
        self._update = StepReplayer(UpdateJob(job), machine, kernels, digests, compute=compute, cancel=cancel)
        shares = job.manifest.shares
        assert shares is not None
        self.count, self._sums = shares.count, shares.sums

    def share(self, number: int) -> StepReplayer:
        """Return the replayer of a share."""
        return self._share.of(ShareJob(self.whole, number))

    def update(self, combined: Mapping[str, Tensor], buffers: Mapping[str, Tensor]) -> StepReplayer:
        """Return the replayer of the update that takes what the shares gave."""
        return self._update.of(UpdateJob(self.whole, combined, buffers))

    def combining(self, step: int, exponents: Sequence[int]) -> Combining:
        """Return what the shares of a step are to be given to, with the exponents of their sum."""
        if not self._sums:
            return Combining(None, [], {})
        named = dict(zip(self.combined_names(step), exponents, strict=True))
        return Combining(ExactSum(named, self.count), [], {})

    def buffers_of(self, step: int, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the state tensors that a share changes, out of the state after it."""
        return {name: state[name] for name in self.whole.programs.of(step).updates}

    def replay(
        self, claimed: StepRecord, state: State, logs: AnyLogs, **_: Any
    ) -> Generator[Event, None, ReplayedStep]:
        """Replay a step, plainly; see :meth:`StepReplayer.replay`. What looks closer looks at its parts."""
        assert isinstance(logs, SharedLogs)
        exponents = logs.shares.exponents.tolist()
        combining, done = yield from self.run_shares(claimed.step, state, logs, exponents)
        if combining.other:
            assert combining.adding is not None
            exponents = combining.adding.found.tolist()
            combining, done = yield from self.run_shares(claimed.step, state, logs, exponents)
        try:
            together = combining.together()
        except NonFiniteError as error:
            raise StepEndedError(error, NoResult(None, 0, np.zeros(0, np.uint64))) from error
        replaying = self.update(together, combining.buffers).replay(claimed, state, logs.update)
        ending: Replaying = relay(replaying, self._moved(self.count))
        outcome = yield from ending
        root = MerkleTree(record.leaf for record, _ in done).root
        own = SharesRoot(root, None, None)
        if self._sums:
            own = SharesRoot(root, exponents_digest(np.array(exponents, np.int32)), root_of(together))
        of_shares = tuple(add_counts(counts) for counts in zip(*(counts for _, counts in done), strict=True))
        return replace(
            outcome,
            without_root=replace(outcome.without_root, shares=own),
            counts=(*of_shares, *outcome.counts),
        )

    def shares_match(
        self, claimed: StepRecord, state: State, logs: SharedLogs, shares: Sequence[int]
    ) -> Generator[Event, None, bool]:
        """Replay some shares of a step, each by itself; return whether each has the leaf that the trainer signed.

        And whether each gives what the party that answers for it signed that it added.

        Args:
            claimed: The trainer's record of the step.
            state: The agreed state before it.
            logs: What the trainer left of it.
            shares: Numbers of the shares.

        Raises:
            CancelledError: The token was cancelled.
            ProgramError: An operator rejects its arguments.
        """
        hashes, exponents = self.signed_hashes(claimed, logs), logs.shares.exponents.tolist()
        named = dict(zip(self.combined_names(claimed.step), exponents, strict=bool(exponents)))
        for share in shares:
            claim = share_claim(claimed.step, logs.shares.records[share])
            try:
                outcome = yield from self.share(share).replay(claim, state, logs.of_shares[share])
            except StepEndedError:
                return False
            if outcome.leaf != leaf_hash(claim.to_bytes()):
                return False
            if hashes is not None and hashes.others(share, outcome.result.combined, named):
                return False
        return True

    def combined_names(self, step: int) -> list[str]:
        """Return the names of what the shares of a step give, sorted."""
        return sorted(self.whole.programs.of(step).combined)

    def signed_hashes(self, claimed: StepRecord, logs: SharedLogs) -> SignedHashes | None:
        """Return what parties signed of what they added in a step; None where none did."""
        additions = logs.shares.additions
        if additions is None:
            return None
        assert claimed.shares is not None
        order, names = self.whole.manifest.digest, self.combined_names(claimed.step)
        return SignedHashes(order, claimed.step, claimed.shares, additions, names)

    def run_shares(
        self, step: int, state: State, logs: SharedLogs, exponents: Sequence[int]
    ) -> Generator[Event, None, tuple[Combining, list[tuple[ShareRecord, tuple[Counts, ...]]]]]:
        """Replay the shares of a step; nothing of one is kept but its record and what its log showed."""
        combining = self.combining(step, exponents)
        done = []
        for share, record in enumerate(logs.shares.records):
            replaying = self.share(share).replay(share_claim(step, record), state, logs.of_shares[share])
            moving: Replaying = relay(replaying, self._moved(share))
            outcome = yield from moving
            buffers = self.buffers_of(step, outcome.result.state)
            own = share_record(share, outcome.result, buffers, record.log, outcome.fingerprints)
            done.append((own, outcome.counts))
            combining.take(share, outcome.result.combined, buffers)
        return combining, done

    def _moved(self, before: int) -> Callable[[Event], Event]:
        """Return what says of the progress of a part, behind so many shares, how far the whole step is."""

        def moved(event: Event) -> Event:
            if not isinstance(event, OperatorDone):
                return event
            assert self.whole.updates is not None
            one, last = (len(turns.of(event.step).nodes) for turns in (self.whole.programs, self.whole.updates))
            return OperatorDone(event.step, before * one + event.done, self.count * one + last)

        return moved


@contextmanager
def step_replayer(
    job: Job,
    machine: Machine,
    *,
    cancel: CancelToken | None = None,
) -> Iterator[StepReplayer]:
    """Provide a replayer with kernels of its own, whose threads end with the block."""
    compute = machine.compute(job.manifest.precision)
    with machine.kernels() as kernels, Digests() as digests:
        if job.manifest.shares is None or isinstance(job, ShareJob | UpdateJob):
            yield StepReplayer(job, machine, kernels, digests, compute=compute, cancel=cancel)
        else:
            assert isinstance(job, SharedJob)
            yield SharedReplayer(job, machine, kernels, digests, compute=compute, cancel=cancel)


def entries_of(logs: AnyLogs) -> tuple[int, ...]:
    """Return how many decisions the logs of a step hold for each rounding site of its programs, of all shares."""
    if not isinstance(logs, SharedLogs):
        return tuple(len(log.indices) for log in logs)
    shares = zip(*([len(log.indices) for log in share] for share in logs.of_shares), strict=True)
    return (*map(sum, shares), *(len(log.indices) for log in logs.update))


class Signed(Protocol):
    """Reads what a trainer left of a step: a run."""

    def log(self, step: int, /) -> bytes:
        """Return the rounding log of a step."""

    def shares(self, step: int, /) -> StepShares | None:
        """Return what is held of the shares of a step; None where it has none."""


def read_logs(job: Job, claimed: StepRecord, signed: Signed) -> AnyLogs:
    """Read the trainer's log of a step, or those of its parts.

    Raises:
        FileChangedError: It is not the one that the step's record commits to.
        LogError: It is, and cannot be decoded: the trainer signed it.
    """
    log, shares = signed.log(claimed.step), signed.shares(claimed.step)
    if shares is None:
        return read_log(job, claimed, log)
    assert isinstance(job, SharedJob)
    return read_shared_logs(job, claimed, log, shares)
