"""What a worker does: opens a run, and replays segments of it, each from the stored state before it."""

from __future__ import annotations

import platform
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import torch

from counterfoil_core.base.arrays import Array
from counterfoil_core.base.errors import CounterfoilError, LogError, NonFiniteError, ProgramError, RefusedError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.extent import Extent
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.commit.merkle import MerkleTree
from counterfoil_core.hearing.result import SegmentResult, StepResult
from counterfoil_core.judge.judgement import look_at_state
from counterfoil_core.judge.looks import SignedStep
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.replay.replayer import Ahead, StepReplayer
from counterfoil_core.replay.sharedreplay import read_logs
from counterfoil_core.replay.steering import Account, SteeringSites
from counterfoil_core.values.events import Event
from counterfoil_core.values.sampling import Segment
from counterfoil_core.values.workers import Place


def here(environment: tuple[tuple[str, str], ...]) -> Place:
    """Return the place that this machine is, set up to compute."""
    # The number of threads changes nothing of what comes out.
    return Place(platform.node(), tuple(pair for pair in environment if pair[0] != "threads"))


class Recorded(SignedStep, Protocol):
    """Where the steps lie that are replayed: a run's open file, or the folder of one that is still recorded.

    What is not what the record of its step commits to raises FileChangedError.
    """

    @property
    def extent(self) -> Extent:
        """The steps of the run."""

    def log_size(self, step: int, /) -> int:
        """Return the length in bytes of the log of a step."""

    def checkpoint(self, step: int, /) -> dict[str, Array]:
        """Return the stored state after a step; raises CommitmentError where it has not the state root of its step."""

    def stand_by(self, error: CounterfoilError, /) -> None:
        """Raise FileChangedError where what was found may not be held against what was opened."""


@dataclass(frozen=True)
class Opened:
    """A run that is open for the replay of its segments: checks 1 to 7 have passed."""

    reader: Recorded  #: Where its steps lie.
    records: Sequence[StepRecord]  #: The trainer's records of steps 0 to the last.
    tree: MerkleTree  #: The Merkle tree over their leaves.
    order: LoadedOrder  #: The order with all data.
    steps: StepReplayer  #: Replays single steps.


def replay_segment(opened: Opened, part: Segment) -> Generator[Event | StepResult, None, SegmentResult]:
    """Replay a segment from the stored state before it, up to the first step that does not come out right.

    Nobody is accused: there is no second look, and a step that differs ends it.

    Yields:
        What the replay of a step yields, and what each step gave.

    Raises:
        CancelledError: The replayer's token was cancelled.
        ObstacleError: This machine failed, or the file changed.
    """
    reader, order, records = opened.reader, opened.order, opened.records
    sites = SteeringSites.of(order)
    account = Account() if sites is None else sites.nothing
    done: list[StepResult] = []
    trouble = ""
    ahead: Ahead | None = None
    try:
        state = order.initial if part.first == 1 else _stored(reader, part.first - 1)
        if part.first > 1 and look_at_state(order, part.first - 1, state) is not None:
            raise RefusedError(say("The stored state of step {0} is one that no step leaves.", part.first - 1))
        for step in range(part.first, part.last + 1):
            begun = time.perf_counter()
            if ahead is not None:
                outcome = yield from ahead.finish()
            else:
                logs = read_logs(order, records[step], reader)
                outcome = yield from opened.steps.replay(records[step], state, logs)
            ahead = None
            if step < part.last:
                ahead = opened.steps.look_ahead(
                    outcome, records[step + 1], partial(read_logs, order, records[step + 1], reader)
                )
            seconds = time.perf_counter() - begun
            done.append(StepResult.of(step, outcome.leaf, outcome.result.loss, outcome.total, seconds))
            yield done[-1]
            if outcome.leaf != opened.tree.leaf(step):
                trouble = say("Step {0} came out different from the trainer's.", step)
                break
            if sites is not None:
                account += sites.account(step, outcome.counts)
            state = outcome.result.state
        else:
            # What is stored after the segment belongs to it: another one starts from there.
            _stored(reader, part.last)
    except (LogError, NonFiniteError, ProgramError, RefusedError) as error:
        trouble = error.sentence
    return SegmentResult(part.number, tuple(done), account.sums, str(trouble))


def _stored(reader: Recorded, step: int) -> dict[str, torch.Tensor]:
    """Return the stored state after a step, which has the state root of its record; raises CommitmentError."""
    return {name: torch.from_numpy(array) for name, array in reader.checkpoint(step).items()}
