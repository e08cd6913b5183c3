"""The replay of one step: executes what was ordered, follows the trainer's log, and gives the Merkle leaf."""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from counterfoil_core.arithmetic.compute.interpreter import StepInputs, StepResult
from counterfoil_core.arithmetic.compute.operation import Compute, Operation
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, Unfit, Watched, step_key
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.grid.neighbours import Values
from counterfoil_core.arithmetic.grid.replayrounder import Observation
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError, FileChangedError, NonFiniteError
from counterfoil_core.base.generators import relay
from counterfoil_core.base.sentence import say
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.schema import OrderManifest, StepRecord
from counterfoil_core.commit.fingerprints import fingerprints_digest
from counterfoil_core.commit.merkle import leaf_hash
from counterfoil_core.commit.state import state_root
from counterfoil_core.commit.statedigest import root_on_device
from counterfoil_core.kernels.result import Counts, add_counts
from counterfoil_core.program.graph import Program
from counterfoil_core.replay.shares import AnyLogs, Logs, SharedLogs, ShareJob, State, UpdateJob
from counterfoil_core.values.events import Event, OperatorDone

Arrays = dict[str, npt.NDArray[Any]]
LEAST_BEHIND = 2**20
"""Bytes of state from which on it is hashed beside the next step; less is hashed before a thread would wake."""
_CONFIRMATION = "reversed+rewritten"
"""Every operator by another algorithm, and every reduction in another order."""


class Job(Protocol):
    """What steps are replayed from: an order, or the part of one that a capsule holds."""

    @property
    def manifest(self) -> OrderManifest:
        """What was ordered."""

    @property
    def programs(self) -> Turns[Program]:
        """The programs of the steps, checked."""

    def inputs(self, step: int, state: State, /) -> StepInputs:
        """Return the inputs of a step, from 1, that starts from ``state``."""


@dataclass(frozen=True)
class ReplayedStep:
    """What the replay of one step gave."""

    result: StepResult  #: The new state and the loss.
    #: The record of the Merkle leaf that the trainer should have committed to, but for the state root; the digest of
    #: the log is the trainer's own.
    without_root: StepRecord
    root: Future[Digest] | None  #: The state root, which may still be made; None where none is needed.
    counts: tuple[Counts, ...]  #: What following the log showed, for each rounding site.
    fingerprints: npt.NDArray[np.uint64]  #: uint64 ``[places]``.
    own_log: Logs  #: The own log of each site, if it was kept.
    observation: Observation | None = None  #: What happened at the place that was observed, if it is a rounding site.
    watched: Watched | None = None  #: What happened there, if it is none.

    @property
    def arrays(self) -> Arrays:
        """The new state in the CPU's memory, at steps whose state is digested; else empty."""
        return {} if self.root is None else _arrays(self.result.state)

    @property
    def settled(self) -> bool:
        """Whether the record is known without waiting for the state root."""
        return self.root is None or self.root.done()

    @cached_property
    def record(self) -> StepRecord:
        """The whole record."""
        return self.without_root if self.root is None else replace(self.without_root, state_root=self.root.result())

    @property
    def leaf(self) -> Digest:
        """The Merkle leaf hash."""
        return leaf_hash(self.record.to_bytes())

    @property
    def total(self) -> Counts:
        """What following the log showed, over all rounding sites."""
        return add_counts(self.counts)


@dataclass(frozen=True)
class NoResult:
    """Where a step ended without a result, and what is known of it up to there."""

    #: Index of the operator at which it ended; None where it was at none, or where its state fits no step.
    node: int | None
    known: int  #: How many places, from the first, were computed before that.
    fingerprints: npt.NDArray[np.uint64]  #: uint64 ``[places]``; the first ``known`` are those of the step.
    own_log: Logs = ()  #: The own log of the sites so far, if it was kept.
    unfit: Unfit | None = None  #: The output that fits no step; None where it was something else.
    #: What happened at the place that was observed, if it is a rounding site and was reached.
    observation: Observation | None = None
    watched: Watched | None = None  #: What happened there, if it is none and was reached.


class StepEndedError(NonFiniteError):
    """A step leads to a value that does not fit float32, so that it has no result.

    Args:
        error: What was wrong.
        end: Where it ended.
    """

    def __init__(self, error: NonFiniteError, end: NoResult) -> None:
        super().__init__(error.sentence, remedy=error.remedy, detail=error.detail)
        self.end = end


class StepReplayer:
    """Replays single steps of a job on one device.

    Args:
        job: What was ordered.
        machine: Where to compute.
        kernels: Its rounding kernels.
        digests: Makes the digests of states.
        compute: How operators are computed: as the machine does, or imitating other hardware.
        cancel: Looked at between operators.
    """

    def __init__(
        self,
        job: Job,
        machine: Machine,
        kernels: Kernels,
        digests: Digests,
        *,
        compute: Compute,
        cancel: CancelToken | None = None,
    ) -> None:
        self.job = job
        self._machine = machine
        self._kernels = kernels
        self._digests = digests
        self._compute = compute
        self._cancel = cancel
        precision = job.manifest.precision
        self._arithmetic = arithmetic_of(precision)
        self._own_margins = job.programs.map(self._arithmetic.own_margins)
        self._idle: Turns[list[Any]] = job.programs.map(lambda _: [])
        self._interpreters = job.programs.map(lambda program: machine.interpreter(program, precision))

    def of(self, job: Job) -> Self:
        """Return a replayer of another job with the same programs, which uses what this one has made ready."""
        other = copy.copy(self)
        other.job = job
        return other

    def _root(self, step: int, result: StepResult) -> Future[Digest]:
        """Begin the root of what a step, or a part of one, leaves."""
        if not isinstance(self.job, ShareJob):
            return self._digests.of(result.state)
        root: Future[Digest] = Future()
        root.set_result(self.job.root(step, result))
        return root

    def replay(
        self,
        claimed: StepRecord,
        state: State,
        logs: AnyLogs,
        *,
        compute: Compute | None = None,
        keep_log: bool = False,
        own_log: bool = False,
        observe: int | None = None,
        forced: Mapping[int, Values] | None = None,
    ) -> Generator[Event, None, ReplayedStep]:
        """Replay a step.

        Args:
            claimed: The trainer's record of the step: says which step, and gives the digest of its log.
            state: The agreed state before the step, as stored.
            logs: The log to follow, one part for each rounding site.
            compute: Instead of the replayer's own.
            keep_log: Keep the own log, so that another replay can follow it.
            own_log: ``logs`` is such a log.
            observe: Keep what happens at the place of this number.
            forced: Values to take at rounding sites, by number, whatever the own ones are.

        Yields:
            OperatorDone now and then.

        Raises:
            CancelledError: The token was cancelled.
            StepEndedError: The step leads to a value that does not fit float32.
            ProgramError: An operator rejects its arguments.
        """
        assert not isinstance(logs, SharedLogs), "each part of a step is replayed by itself"
        job, step = self.job, claimed.step
        program = job.programs.of(step)
        is_plain = not keep_log and not own_log and observe is None
        # What nobody uses any more begins anew: a rounder remembers grids, and has its memory.
        idle = self._idle.of(step)
        rounder = (
            idle.pop()
            if is_plain and idle
            else self._arithmetic.replayer(
                program,
                self._kernels,
                keep_log=keep_log,
                observe=observe,
                own_margins=self._own_margins.of(step) if keep_log or own_log else None,
            )
        )
        rounder.follow(step_key(job.manifest.digest, step), logs, forced)
        execution = self._interpreters.of(step).execute(
            job.inputs(step, state), rounder=rounder, compute=compute or self._compute, cancel=self._cancel
        )
        total = len(program.nodes)
        try:
            result = yield from relay(execution, lambda done: OperatorDone(step, done, total))
        except NonFiniteError as error:
            raise StepEndedError(error, _end(program, rounder)) from error
        if isinstance(job, UpdateJob):
            result = replace(result, state={**result.state, **job.buffers})
        needed = claimed.state_root is not None
        record = StepRecord(
            step=step,
            state_root=None,
            log=claimed.log,
            fingerprints=fingerprints_digest(rounder.fingerprints),
            loss=result.loss,
            shares=claimed.shares,
        )
        outcome = ReplayedStep(
            result=result,
            without_root=record,
            root=self._root(step, result) if needed else None,
            counts=tuple(rounder.counts),
            fingerprints=rounder.fingerprints,
            own_log=tuple(rounder.own_logs),
            observation=rounder.observation,
            watched=rounder.watched,
        )
        if is_plain:
            idle.append(rounder)
        return outcome

    def look_ahead(self, outcome: ReplayedStep, claimed: StepRecord, logs: Callable[[], AnyLogs]) -> Ahead | None:
        """Replay on behind a step whose new state is still being digested, until it is.

        Args:
            outcome: What the step gave.
            claimed: The trainer's record of the next one.
            logs: Reads its log.

        Returns:
            What was begun, to be finished if the step turns out right; None if there was nothing to wait for, or if it
            came to an error, which is found again in its turn.
        """
        if outcome.settled:
            return None
        try:
            ahead = Ahead(self.replay(claimed, outcome.result.state, logs()))
            ahead.go_on(lambda: outcome.settled)
        except (CounterfoilError, MemoryError):
            return None
        return ahead

    def confirm(
        self, claimed: StepRecord, state: State, logs: Sequence[SiteLog], outcome: ReplayedStep
    ) -> Generator[Event, None, bool]:
        """Return whether this machine gives the same leaf again by other algorithms, in another order of summation.

        The trainer's log belongs to other values, so it cannot carry the second replay: the first one writes a log of
        its own, with margins that are proven where they can be. If even that does not carry it, this machine's
        arithmetic lies outside of them.
        """
        again = yield from self.replay(claimed, state, logs, keep_log=True)
        otherwise = self._machine.compute(self.job.manifest.precision, _CONFIRMATION)
        other = yield from self.replay(claimed, state, again.own_log, own_log=True, compute=otherwise)
        return again.leaf == outcome.leaf == other.leaf

    def end(
        self, claimed: StepRecord, state: State, logs: Sequence[SiteLog]
    ) -> Generator[Event, None, NoResult | None]:
        """Return where a step ends without a result, if it ends there by other algorithms too, as in :meth:`confirm`.

        None where it does not: this machine does not give its own values again.
        """
        compute = self._compute

        def in_turn(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
            # Operators that are computed together are not in the order of the program.
            return compute(operation, args, kwargs)

        first = yield from replay_result(self.replay(claimed, state, logs, keep_log=True, compute=in_turn))
        if not isinstance(first, NoResult):
            return None
        otherwise = self._machine.compute(self.job.manifest.precision, _CONFIRMATION)
        own = (*first.own_log, *logs[len(first.own_log) :])
        other = yield from replay_result(self.replay(claimed, state, own, own_log=True, compute=otherwise))
        if not isinstance(other, NoResult) or (first.node, first.known) != (other.node, other.known):
            return None
        same = np.array_equal(first.fingerprints[: first.known], other.fingerprints[: other.known])
        return first if same else None


def replay_result(
    replaying: Generator[Event, None, ReplayedStep],
) -> Generator[Event, None, ReplayedStep | NoResult]:
    """Return what a replay of a step comes to, be it no result."""
    try:
        return (yield from replaying)
    except StepEndedError as error:
        return error.end


def differing_places(trainer: npt.NDArray[np.uint64], replay: ReplayedStep | NoResult) -> npt.NDArray[np.int64]:
    """Return the places whose fingerprints differ, of those that the replay came to: int64, ascending."""
    known = replay.known if isinstance(replay, NoResult) else len(replay.fingerprints)
    return np.flatnonzero(trainer[:known] != replay.fingerprints[:known]).astype(np.int64)


def _end(program: Program, rounder: Any) -> NoResult:
    unfit: Unfit | None = rounder.unfit
    node = None if unfit is None else next(n for n, node in enumerate(program.nodes) if node is unfit.node)
    before = (place.node is None or (node is not None and place.node < node) for place in program.places)
    return NoResult(
        node=node,
        known=sum(before),
        fingerprints=rounder.fingerprints,
        own_log=tuple(rounder.own_logs),
        unfit=unfit,
        observation=rounder.observation,
        watched=rounder.watched,
    )


class Ahead:
    """The replay of a step that may not be wanted.

    Args:
        replaying: It.
    """

    def __init__(self, replaying: Generator[Event, None, ReplayedStep]) -> None:
        self._replaying = replaying
        self._outcome: ReplayedStep | None = None

    def go_on(self, enough: Callable[[], bool]) -> None:
        """Replay until it is enough, or done; raises as the replay."""
        while self._outcome is None and not enough():
            try:
                next(self._replaying)
            except StopIteration as end:
                self._outcome = end.value

    def finish(self) -> Generator[Event, None, ReplayedStep]:
        """Replay to the end; raises as the replay."""
        if self._outcome is None:
            self._outcome = yield from self._replaying
        return self._outcome


class Digests:
    """Digests states in a thread of its own, one at a time; use it as a context manager."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="digests")
        self._last: Future[Digest] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()

    def of(self, state: State) -> Future[Digest]:
        """Begin the state root of a state, which nobody may change until it is there.

        Of a small one it is there, and of one that its device has hashed.
        """
        found = root_on_device(state)
        arrays = {} if found is not None else _arrays(state)
        if sum(array.nbytes for array in arrays.values()) < LEAST_BEHIND:
            root: Future[Digest] = Future()
            root.set_result(state_root(arrays) if found is None else found)
            return root
        if self._last is not None:
            wait([self._last])  # no more than one state is held for it
        self._last = self._thread.submit(state_root, arrays)
        return self._last


def _arrays(state: State) -> Arrays:
    return {name: tensor.cpu().numpy() for name, tensor in state.items()}


def read_log(job: Job, claimed: StepRecord, log: bytes) -> Logs:
    """Read the trainer's log of a step.

    Raises:
        FileChangedError: It is not the one that the step's record commits to.
        LogError: It is, and cannot be decoded: the trainer signed it.
    """
    if Digest.of(log) != claimed.log:
        raise FileChangedError(
            say("The rounding log of step {0} is no longer the one that was checked.", claimed.step),
            remedy=say("Audit a copy of the file that nobody else can write to."),
        )
    return arithmetic_of(job.manifest.precision).decode_log(job.programs.of(claimed.step), log)


def differing_parts(trainer: StepRecord, replay: StepRecord) -> tuple[str, ...]:
    """Return which parts of two Merkle leaves differ: some of ``shares``, ``state``, ``loss`` and ``fingerprints``."""
    pairs: tuple[tuple[str, Any, Any], ...] = (
        ("shares", trainer.shares, replay.shares),
        ("state", trainer.state_root, replay.state_root),
        ("loss", _loss_bits(trainer.loss), _loss_bits(replay.loss)),
        ("fingerprints", trainer.fingerprints, replay.fingerprints),
    )
    return tuple(name for name, theirs, ours in pairs if theirs != ours)


def _loss_bits(loss: float | None) -> bytes | None:
    return None if loss is None else np.float64(loss).tobytes()
