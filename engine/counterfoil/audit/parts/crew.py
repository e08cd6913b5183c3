"""The workers of an audit, as the audit sees them: it asks for a segment, and gets what somebody found in it."""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace

from counterfoil.audit.parts.executor import Executor
from counterfoil.audit.parts.partfile import (
    Died,
    Message,
    Part,
    Ready,
    SegmentDone,
    StepDone,
    Unable,
    differences,
    place_fault,
)
from counterfoil.base.joberrors import PartError
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import WorkerError
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.hearing.result import Found, Identity, Missing
from counterfoil_core.values.events import WorkersReported
from counterfoil_core.values.workers import Place, ReplayedBy, WorkerState

# Which worker replays which segment: pure, without clocks, processes or files.

MOST_DEATHS = 2
"""A segment that so many workers died of is given up: it would end the next one too."""


class Schedule:
    """Hands out segments, lowest first; those of a worker that is gone go to others.

    Args:
        numbers: The segments.
    """

    def __init__(self, numbers: Iterable[int]) -> None:
        self._waiting = sorted(numbers)
        self._at: dict[int, int] = {}
        self._deaths: Counter[int] = Counter()
        self._in_a_row: Counter[int] = Counter()
        self._given_up: set[int] = set()

    @property
    def waiting(self) -> bool:
        """Whether there are segments that nobody has."""
        return bool(self._waiting)

    @property
    def given_up(self) -> frozenset[int]:
        """Segments that ended every worker that they were given to."""
        return frozenset(self._given_up)

    def at(self, worker: int) -> int | None:
        """Return the segment that a worker has; None when it has none."""
        return self._at.get(worker)

    def next(self, worker: int) -> int | None:
        """Give a worker that has none the next segment; None when there is none."""
        if worker in self._at or not self._waiting:
            return None
        self._at[worker] = heapq.heappop(self._waiting)
        return self._at[worker]

    def done(self, worker: int, number: int) -> bool:
        """Note that a worker is done with its segment; returns False when that was not its segment."""
        if self._at.get(worker) != number:
            return False
        del self._at[worker]
        self._in_a_row[worker] = 0
        return True

    def unable(self, worker: int) -> None:
        """Note that a worker can do no more, through no fault of its segment, which goes to another."""
        number = self._at.pop(worker, None)
        if number is not None:
            heapq.heappush(self._waiting, number)

    def died(self, worker: int) -> bool:
        """Note that a worker died; returns whether it is worth another start.

        It is not where it died without a segment for the second time, or has died again and again and done nothing in
        between.
        """
        number = self._at.pop(worker, None)
        self._in_a_row[worker] += 1
        if number is None:
            return self._in_a_row[worker] < MOST_DEATHS
        self._deaths[number] += 1
        if self._deaths[number] >= MOST_DEATHS:
            self._given_up.add(number)
        else:
            heapq.heappush(self._waiting, number)
        return self._in_a_row[worker] <= MOST_DEATHS


LOOK_SECONDS = 0.1
"""How often an audit that waits for its workers looks whether it is stopped."""
REPORT_SECONDS = 0.25
"""How often it says what they do."""
PATIENCE = 600.0
"""Seconds without a word of a worker that starts, or replays a step that takes less time, before it is ended."""
LEAST_PATIENCE = 60.0
LONGER = 30
"""How often the longest time between two words of any worker, once there was one, before a worker is ended."""
_LOOKED_AWAY = 5.0
"""Seconds after which this process was stopped itself, or busy: then nobody's silence is known."""


_SLOWEST = 1e7
"""Operations a second that any machine does, with rounding, log and a second replay."""


def patience_for(flops: float) -> float:
    """Return the seconds that a step of so many floating-point operations can take at the most."""
    return max(PATIENCE, flops / _SLOWEST)


class Crew:
    """Workers that replay the segments of an audit, in whatever order; they are started at once.

    Args:
        executor: Runs them.
        numbers: The segments.
        identity: What they must have opened.
        cancel: Looked at while the audit waits for them.
        clock: Monotonic seconds.
        by: What the workers are.
        patience: Seconds that a step can take at the most, before anything is known of these machines.

    Raises:
        WorkerError: None can be started.
    """

    def __init__(
        self,
        executor: Executor,
        numbers: Sequence[int],
        identity: Identity,
        cancel: CancelToken | None = None,
        clock: Callable[[], float] = time.monotonic,
        by: ReplayedBy = ReplayedBy.PROCESS,
        patience: float = PATIENCE,
    ) -> None:
        self._by = by
        self._executor = executor
        self._schedule = Schedule(numbers)
        self._identity = identity
        self._cancel = cancel
        self._clock = clock
        self._found: dict[int, Found] = {}
        self._places: dict[int, Place] = {}
        """Workers that are ready, and where."""
        self._since: dict[int, float] = {}
        self._states = {worker: WorkerState(worker) for worker in range(1, executor.count + 1)}
        self._due = float("-inf")
        self._patience = patience
        self._longest = 0.0
        """Seconds between two words of a worker at work."""
        self._looked = clock()
        self._heard = dict.fromkeys(self._states, self._looked)
        """When each worker last said something, or was asked."""
        for worker in self._states:
            executor.start(worker)

    def offered(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Return those of some segments that somebody else replays: all."""
        return tuple(numbers)

    def result(self, number: int) -> Generator[WorkersReported, None, Found | Missing]:
        """Wait for a segment.

        Yields:
            What the workers do, now and then.

        Returns:
            What a worker found, or why nobody could replay it.

        Raises:
            WorkerError: No worker is left.
            CancelledError: The token was cancelled.
        """
        while number not in self._found:
            if number in self._schedule.given_up:
                why = say(
                    "Segment {0} ended {1} workers, each in the middle of its replay, so it was not replayed.",
                    number,
                    MOST_DEATHS,
                )
                return Missing(why, left_out=True)
            if not self._alive:
                raise self._nobody()
            if self._cancel is not None:
                self._cancel.check()
            yield from self.pump(LOOK_SECONDS)
        return self._found.pop(number)

    def pump(self, seconds: float = 0.0) -> Iterator[WorkersReported]:
        """Hear what the workers say and give them segments; yields what they do, now and then."""
        for message in self._executor.wait(seconds):
            self._hear(message)
        self._end_silent()
        # Whoever is asked to wait lets the workers finish what they have.
        if self._cancel is None or not self._cancel.paused:
            for worker in sorted(self._places):
                number = self._schedule.next(worker)
                if number is not None:
                    self._note(worker, segment=number)
                    self._heard[worker] = self._clock()
                    self._executor.give(worker, number)
        if self._clock() >= self._due:
            self._due = self._clock() + REPORT_SECONDS
            yield from self.report()

    def report(self) -> Iterator[WorkersReported]:
        """Say what the workers do."""
        now = self._clock()
        for worker, since in self._since.items():
            if worker in self._places:
                self._note(worker, seconds=now - since)
        yield WorkersReported(tuple(self._states.values()))

    @property
    def _alive(self) -> bool:
        return any(not state.trouble for state in self._states.values())

    def _hear(self, message: Message) -> None:
        worker = message.worker
        if worker not in self._states or self._states[worker].trouble:  # nobody, or one that is not asked any more
            return
        match message:
            case Ready(identity=identity, place=place):
                if identity != self._identity:
                    other = differences(identity, self._identity)
                    self._lose(worker, say("It has something else. What differs: {0}.", other))
                    return
                fault = say("It answered what it was not asked.") if worker in self._places else place_fault(place)
                if fault:
                    self._lose(worker, fault)
                    return
                self._places[worker] = place
                self._since[worker] = self._clock()
                self._note(worker, machine=place.machine, device=place.device)
            case StepDone():
                self._longest = max(self._longest, self._clock() - self._heard[worker])
                self._note(worker, steps=self._states[worker].steps + 1)
            case SegmentDone(result=result):
                if worker not in self._places or not self._schedule.done(worker, result.number):
                    self._lose(worker, say("It answered what it was not asked."))
                    return
                self._found[result.number] = Found(result, self._places[worker], self._by)
                self._note(worker, segment=None, segments=self._states[worker].segments + 1)
            case Unable(reason=reason):
                self._lose(worker, reason)
            case Died(how=how):
                self._restart(worker, say("It ended by itself: {0}.", how))
        self._heard[worker] = self._clock()

    def _end_silent(self) -> None:
        """End workers that hang, or were stopped: their segments go to others.

        Actors of a cluster say nothing while they replay, and wait for room before they start.
        """
        if self._by is not ReplayedBy.PROCESS:
            return
        now = self._clock()
        if now - self._looked > _LOOKED_AWAY:
            self._heard = dict.fromkeys(self._heard, now)
        self._looked = now
        most = max(LEAST_PATIENCE, LONGER * self._longest) if self._longest else self._patience
        for worker, state in self._states.items():
            waited_for = state.segment is not None or worker not in self._places
            limit = most if worker in self._places else max(PATIENCE, most)
            if not state.trouble and waited_for and now - self._heard[worker] > limit:
                self._restart(worker, say("It said nothing for {0:.0f} seconds, and was ended.", limit))
                self._heard[worker] = now

    def _restart(self, worker: int, why: str) -> None:
        """Start a worker again that is gone, or has to go, unless that has no sense."""
        self._places.pop(worker, None)
        again = self._schedule.died(worker)
        self._note(worker, segment=None)
        if again:
            self._executor.start(worker)
        else:
            self._note(worker, trouble=why)

    def _lose(self, worker: int, why: str) -> None:
        self._schedule.unable(worker)
        self._places.pop(worker, None)
        self._note(worker, segment=None, trouble=why)

    def _note(self, worker: int, **changed: object) -> None:
        self._states[worker] = replace(self._states[worker], **changed)  # type: ignore[arg-type]

    def _nobody(self) -> WorkerError:
        reasons = dict.fromkeys(state.trouble for state in self._states.values())
        return WorkerError(
            say("No worker is left. {0}", joined(*reasons)),
            remedy=say("Go on with --resume, with other workers or without."),
        )


class Parts:
    """What lies in part files, in the place of workers.

    Args:
        parts: The parts, by the name of their file.
        identity: What they must be parts of.
        by: Who made them.

    Raises:
        PartError: One is a part of another audit, or says what cannot be of the machine that made it.
    """

    def __init__(self, parts: Sequence[tuple[str, Part]], identity: Identity, by: ReplayedBy = ReplayedBy.PART) -> None:
        self._by = by
        self._found: dict[int, list[Found]] = {}
        for name, part in parts:
            if part.identity != identity:
                raise PartError(
                    say(
                        "{0} is a part of another audit. What differs: {1}.",
                        name,
                        differences(part.identity, identity),
                    ),
                    remedy=say("Leave it out, or give the run that it was made of."),
                )
            fault = place_fault(part.place)
            if fault:
                raise PartError(say("{0} cannot be used. {1}", name, fault), remedy=say("Leave it out."))
            for result in part.segments:
                self._found.setdefault(result.number, []).append(Found(result, part.place, by))

    def offered(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Return those of some segments that are in a part, and of which all parts say the same."""
        return tuple(number for number in numbers if isinstance(self._of(number), Found))

    def result(self, number: int) -> Generator[WorkersReported, None, Found | Missing]:
        """Return what was found in a segment, if the parts agree on it."""
        return self._of(number)
        yield  # a generator, as that of workers is

    def _of(self, number: int) -> Found | Missing:
        found = self._found.get(number, [])
        if not found and self._by is ReplayedBy.AUDIT:
            return Missing("")
        if not found:
            return Missing(say("Segment {0} is in none of the parts, so it is replayed here.", number))
        first, *others = found
        # Which of them is right nobody knows before it was replayed here; so no order of the parts is better.
        if not all(first.result.same_as(other.result) for other in others):
            return Missing(say("The parts disagree on segment {0}, so it is replayed here.", number))
        return first

    def pump(self, seconds: float = 0.0) -> Iterator[WorkersReported]:
        """Do nothing: nobody is at work."""
        return iter(())

    def report(self) -> Iterator[WorkersReported]:
        """Say nothing."""
        return iter(())
