"""A run that a worker has opened for the replay of its segments."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from counterfoil.audit.judgemachine import open_judge
from counterfoil.audit.parts.task import Task
from counterfoil_core.arithmetic.selftest import run_selftest
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import RefusedError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.sentence import say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.steady import SteadyFile
from counterfoil_core.hearing.inspection import Inspection, make_checks
from counterfoil_core.hearing.result import Identity, SegmentResult, StepResult
from counterfoil_core.hearing.work import Opened, here, replay_segment
from counterfoil_core.order.executable import LoadedOrder, with_data_file
from counterfoil_core.replay.sharedreplay import step_replayer
from counterfoil_core.values.sampling import segment
from counterfoil_core.values.workers import Place


class Workplace:
    """A run, opened by a worker; made by :func:`open_workplace`.

    Attributes:
        identity: What it opened.
        place: Where it is.
    """

    def __init__(self, opened: Opened, identity: Identity, place: Place) -> None:
        self._opened = opened
        self.identity = identity
        self.place = place

    @property
    def opened(self) -> Opened:
        """The run."""
        return self._opened

    def replay(self, number: int) -> Generator[int, None, SegmentResult]:
        """Replay a segment, as :func:`replay_segment`; yields the number of each step that is done."""
        with obstacles_noticed():
            replaying = replay_segment(self._opened, segment(self._opened.reader.extent, number))
            while True:
                try:
                    event = next(replaying)
                except StopIteration as end:
                    result: SegmentResult = end.value
                    return result
                if isinstance(event, StepResult):
                    yield event.step


@contextmanager
def open_workplace(task: Task, cancel: CancelToken | None = None) -> Iterator[Workplace]:
    """Open a run for the replay of its segments: hash the file, make checks 1 to 7.

    Raises:
        RefusedError: The run cannot be audited, as the audit itself will find.
        GivenFileError: This machine has no such file, or another data file.
        DeviceError: It has no such device, or does not compute as it should.
        ObstacleError: It has too little memory, its disk fails, or the program is larger than the limits.
        CancelledError: ``cancel`` was set.
    """
    with ExitStack() as stack:
        stack.enter_context(obstacles_noticed())
        file = stack.enter_context(SteadyFile.open(Path(task.run)))
        digest = finish(file.settle(cancel))
        inspection = Inspection(BundleReader(file))
        order_path = None if inspection.reader.holds_initial else task.order
        make_checks(inspection, order_path, cancel=cancel, limits=task.limits)
        if inspection.failure is not None:
            raise inspection.failure
        if inspection.order is None or inspection.claim is None or inspection.tree is None:
            raise RefusedError(say("The file is an order that nobody has run."))
        machine = open_judge(task.device, task.threads)
        precision = inspection.order.manifest.precision
        machine.check_memory(inspection.order.all_programs, precision, inspection.order.combining_bytes()[1])
        order = with_data_file(LoadedOrder.of(inspection.order), task.data, stack, cancel)
        run_selftest(machine, precision)
        steps = stack.enter_context(step_replayer(order, machine, cancel=cancel))
        opened = Opened(inspection.reader, inspection.records, inspection.tree, order, steps)
        identity = Identity(digest, order.manifest.digest, inspection.claim.run_root)
        yield Workplace(opened, identity, here(machine.environment_of_a_judge))
