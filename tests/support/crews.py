"""Workers of an audit that all live in this process: they speak in any order, die when they are told to, and lie."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from counterfoil.audit import outside
from counterfoil.audit.parts.crew import Crew
from counterfoil.audit.parts.helpers import Helpers, task_of
from counterfoil.audit.parts.partfile import Died, Message, Ready, SegmentDone, StepDone
from counterfoil.audit.parts.workplace import Workplace, open_workplace
from counterfoil.training.orderfile import load_order
from counterfoil_core.arithmetic.grid.log import decode
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.generators import finish
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import run_tree
from counterfoil_core.hearing.result import Identity, SegmentResult, StepResult
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.workers import Place

Lie = Callable[[int, SegmentResult], SegmentResult]
"""Makes what a worker says of what it found."""


def honest(worker: int, result: SegmentResult) -> SegmentResult:
    return result


class Bent:
    """An executor.

    Args:
        workplace: Where all workers replay.
        count: How many workers.
        seed: Of the order in which they answer.
        deaths: Segments, and how many workers each of them kills.
        lie: What they say.
        away: Whether each is on a machine of its own.
    """

    def __init__(
        self,
        workplace: Workplace,
        count: int = 2,
        seed: int = 0,
        deaths: dict[int, int] | None = None,
        lie: Lie = honest,
        away: bool = False,
    ) -> None:
        self.count = count
        self._workplace = workplace
        self._random = random.Random(seed)
        self._deaths = dict(deaths or {})
        self._lie = lie
        self._away = away
        self._said: deque[Message] = deque()
        self._given: list[tuple[int, int]] = []
        self.replayed: list[tuple[int, int]] = []
        self.starts = 0

    def start(self, worker: int) -> None:
        self.starts += 1
        place = self._workplace.place
        if self._away:
            place = Place(f"machine-{worker}", place.environment)
        self._said.append(Ready(worker, self._workplace.identity, place))

    def give(self, worker: int, number: int) -> None:
        self._given.append((worker, number))

    def wait(self, seconds: float) -> list[Message]:
        if not self._said and self._given:
            # Any of those that are at work is done first.
            worker, number = self._given.pop(self._random.randrange(len(self._given)))
            if self._deaths.get(number, 0) > 0:
                self._deaths[number] -= 1
                self._said.append(Died(worker, "SIGKILL"))
            else:
                self.replayed.append((worker, number))
                result = finish(self._workplace.replay(number))
                self._said.extend(StepDone(worker, step.step) for step in result.steps)
                self._said.append(SegmentDone(worker, self._lie(worker, result)))
        said, self._said = list(self._said), deque()
        return said

    def close(self) -> None:
        self._given.clear()


def flattered(run: Path, numbers: Iterable[int], steps: int = 2) -> tuple[SegmentResult, ...]:
    """What somebody says who replays nothing and knows the run: every segment, of so many steps, came out right."""
    with BundleReader.open(run) as reader:
        records = tuple(reader.step_records())
        program = load_order(reader).program
        sizes = [site.elements for site in program.sites]
        logs = {number: decode(reader.log(number), sizes) for number in range(1, len(records))}
    tree, lies = run_tree(records), []
    for number in numbers:
        said = range((number - 1) * steps + 1, number * steps + 1)
        entries = {step: [len(site.indices) for site in logs[step]] for step in said}
        told = tuple(
            StepResult(step, tree.leaf(step).value, records[step].loss or 0.0, (sum(entries[step]), *(0,) * 7), 0.0)
            for step in said
        )
        account = tuple((sum(entries[step][site] for step in said), *(0,) * 5) for site in range(len(sizes)))
        lies.append(SegmentResult(number, told, account))
    return tuple(lies)


@contextmanager
def crewed(monkeypatch: pytest.MonkeyPatch, make: Callable[[Workplace], Bent]) -> Iterator[list[Bent]]:
    """Let every audit in the block have workers; gives those that were made."""
    made: list[Bent] = []

    @contextmanager
    def opened(
        request: AuditRequest,
        numbers: Sequence[int],
        identity: Identity,
        cancel: CancelToken | None,
        _executors: object,
        _patience: float,
    ) -> Iterator[Helpers | None]:
        with ExitStack() as stack:
            bent = make(stack.enter_context(open_workplace(task_of(request, request.device, 1))))
            made.append(bent)
            yield Crew(bent, numbers, identity, cancel)

    with monkeypatch.context() as patch:
        patch.setattr(outside, "open_helpers", opened)
        yield made
