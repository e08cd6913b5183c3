"""A run that is open and was compared with what its trainer signed of it, to look into single steps of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import numpy as np
import numpy.typing as npt

from counterfoil.audit.values.closelook import LookProgress
from counterfoil.audit.values.difference import ComparedRun
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CommitmentError
from counterfoil_core.base.generators import relay
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import OrderManifest, StepRecord, run_tree
from counterfoil_core.bundle.stepshares import StepShares
from counterfoil_core.panel.referee import result_of
from counterfoil_core.parties.signatures import check_claim, need_run
from counterfoil_core.program.graph import Program
from counterfoil_core.replay.replayer import ReplayedStep, StepReplayer
from counterfoil_core.replay.sharedreplay import SharedReplayer, read_logs
from counterfoil_core.replay.shares import SharedLogs, State, share_claim
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.values.dispute import share_of
from counterfoil_core.values.events import Event


class SignedRun:
    """One open run, compared with what its trainer signed. Made by :meth:`opened`."""

    def __init__(self, reader: BundleReader, claim: RunClaim, records: Sequence[StepRecord]) -> None:
        self.reader = reader
        self.manifest: OrderManifest = reader.manifest
        self.records = records
        shares = [reader.shares(record.step) if record.step else None for record in self.records]
        self.results = [result_of(*pair) for pair in zip(self.records, shares, strict=True)]
        self.logs = [_logs(*pair) for pair in zip(self.records, shares, strict=True)]
        if run_tree(self.records).root != claim.run_root:
            raise CommitmentError(say("The steps of {0} are not those that its trainer signed.", reader.path.name))
        self.facts = ComparedRun(
            reader.path.name,
            reader.manifest.digest,
            claim.run_root,
            reader.extent.steps,
            tuple(claim.environment.items()),
        )

    @classmethod
    def opened(
        cls, reader: BundleReader, cancel: CancelToken | None
    ) -> Generator[tuple[str, int, int], None, SignedRun]:
        """Read a run; yields what is done, how much of it, and of how much.

        Raises:
            GivenFileError: It is an order that nobody has run.
            RefusedError: It is damaged, or not what its trainer signed.
            CancelledError: ``cancel`` was set.
        """
        need_run(reader)
        claim = check_claim(reader.claim(), reader.manifest, None, reader.extent.steps)
        what = say("Hashing {0}", reader.path.name)
        records = yield from relay(reader.rebuild_records(cancel), lambda report: (what, *report))
        return cls(reader, claim, records)

    def program(self, step: int) -> Program:
        """Return the program of a step; the gradient program where shares make it."""
        return Program.from_bytes(self.reader.program(self.manifest.programs.name(step)))

    def printed(self, step: int, part: str) -> npt.NDArray[np.uint64]:
        """Return the fingerprints of a step, or of a part of it."""
        share = share_of(part)
        if share is None:
            return self.reader.fingerprints(step)
        shares = self.reader.shares(step)
        assert shares is not None
        found: npt.NDArray[np.uint64] = shares.fingerprints[share]
        return found

    def state(self, step: int) -> dict[str, Array]:
        """Return the state that it stores after a step; 0 is the initial one."""
        return self.reader.checkpoint(step) if step else self.reader.initial_state()


def replay_up_to(
    replayer: StepReplayer, signed: SignedRun, begin: int, end: int, state: State
) -> Generator[LookProgress, None, State]:
    """Replay the steps behind ``begin`` up to ``end``, by the run's own logs; returns the state there."""
    for at in range(begin + 1, end + 1):
        where = LookProgress(say("Replaying step {0}", at), at - begin - 1, end - begin)
        yield where
        logs = read_logs(replayer.job, signed.records[at], signed.reader)
        replayed = yield from relay(replayer.replay(signed.records[at], state, logs), _same(where))
        state = replayed.result.state
    return state


def _same(where: LookProgress) -> Callable[[Event], LookProgress]:
    """Say where the replay is, at each sign of life: whoever waits can stop it."""
    return lambda _event: where


def observe_part(
    replayer: StepReplayer, signed: SignedRun, step: int, part: str, state: State, place: int | None
) -> Generator[Event, None, ReplayedStep]:
    """Replay a step, or a part of it, with a run's own log, and keep what happens at a place.

    Args:
        replayer: Replays the steps of the run's order.
        signed: The run.
        step: The step.
        part: A share, the update, or empty for a step that no shares make; as :attr:`Dispute.part`.
        state: The state before it.
        place: Number of the place; None keeps nothing.
    """
    claimed = signed.records[step]
    logs = read_logs(replayer.job, claimed, signed.reader)
    if isinstance(logs, SharedLogs):
        assert isinstance(replayer, SharedReplayer)
        share = share_of(part)
        if share is not None:
            claim = share_claim(step, logs.shares.records[share])
            return (yield from replayer.share(share).replay(claim, state, logs.of_shares[share], observe=place))
        combining, _ = yield from replayer.run_shares(step, state, logs, logs.shares.exponents.tolist())
        update = replayer.update(combining.together(), combining.buffers)
        return (yield from update.replay(claimed, state, logs.update, observe=place))
    return (yield from replayer.replay(claimed, state, logs, observe=place))


def _logs(record: StepRecord, shares: StepShares | None) -> tuple[Digest | None, ...]:
    """The digests of the logs of a step."""
    return record.log, *(() if shares is None else (share.log for share in shares.records))
