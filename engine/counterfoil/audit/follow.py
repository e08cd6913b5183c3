"""Follows a recording: replays each segment as soon as its trainer has sealed it, and stops at the first lie.

What came out right is what a worker of an audit would have found (:mod:`counterfoil_core.hearing.work`), and lies in a
part file in the end. The audit of the finished run takes it over as that of any worker: where it is, in every step,
what the trainer has signed. So the verdict is that of an audit, and rests on nothing that lay in the folder.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path

from counterfoil.audit.hearings import run_audit
from counterfoil.audit.judgemachine import open_judge
from counterfoil.audit.parts.partfile import Part, write_part
from counterfoil.audit.recordingwait import wait_for_recording
from counterfoil.audit.values.follow import (
    FollowEnded,
    FollowEvent,
    FollowRequest,
    FollowStarted,
    FollowState,
    HeadsChecked,
    RecordingWentBack,
    StepFollowed,
    StepSealed,
)
from counterfoil.training.orderfile import prepare_order
from counterfoil.training.recordingview import GrowingRecording
from counterfoil_core.arithmetic.machine import Machine, OpenMachine
from counterfoil_core.arithmetic.selftest import run_selftest
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.base.errors import (
    CancelledError,
    CounterfoilError,
    DeviceError,
    FileChangedError,
    GivenFileError,
    ObstacleError,
)
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.hearing.conclusion import Coverage, conclude
from counterfoil_core.hearing.knowledge import Ledger
from counterfoil_core.hearing.result import Identity, SegmentResult, StepResult
from counterfoil_core.hearing.segments import SegmentReplay
from counterfoil_core.hearing.work import Opened, here, replay_segment
from counterfoil_core.order.executable import LoadedOrder, with_data_file
from counterfoil_core.parties.signatures import read_client_order
from counterfoil_core.parties.treeheads import MAX_FILE_BYTES, check_tree_head, open_tree_heads
from counterfoil_core.replay.replayer import StepReplayer
from counterfoil_core.replay.sharedreplay import step_replayer
from counterfoil_core.signing.claims import TreeHead
from counterfoil_core.values.dispute import Dispute
from counterfoil_core.values.events import CheckChanged, DisputeLocated, Event, OperatorDone
from counterfoil_core.values.outcome import Check, CheckNumber, CheckState
from counterfoil_core.values.sampling import Segment, segment, segment_count
from counterfoil_core.values.steptable import Recorded, StepTable, Tally

GONE_SECONDS = 5.0
"""For how long neither recording nor run lies there before that is taken for the end: a run gets its name first."""
LOOK_SECONDS = 1.0
"""How often a recording is looked at in the middle of a segment's replay."""


def follow(
    request: FollowRequest, part: Path, cancel: CancelToken | None = None, machines: OpenMachine = open_judge
) -> Iterator[FollowEvent]:
    """Replay a recording while it is made, until its run lies there, or a step is not what was ordered.

    Args:
        request: What to follow.
        part: Where it goes what came out right, when the run lies there: :meth:`FollowRequest.audit` concludes with it.
        cancel: Stops it.
        machines: Sets up the machine that computes.

    Yields:
        What happens; the last is FollowEnded.

    Raises:
        GivenFileError: The client's order, the data file or that of the tree heads is not there, or is none.
    """
    yield from _Following(request, part, cancel or CancelToken(), machines).events()


def follow_run(
    request: FollowRequest, part: Path, cancel: CancelToken | None = None, machines: OpenMachine = open_judge
) -> Iterator[FollowEvent | Event]:
    """Follow a recording as :func:`follow` does, and audit its run, if it comes to one, as :func:`run_audit` does."""
    cancel = cancel or CancelToken()
    for event in follow(request, part, cancel, machines):
        yield event
        if isinstance(event, FollowEnded) and event.outcome is None and request.replays:
            yield from run_audit(request.audit(part), cancel, machines=machines)


class _Following:
    """One recording; its methods come in the order in which it goes: open, begin, look, replay, conclude."""

    _recording: GrowingRecording
    _steps: StepReplayer
    _machine: Machine

    def __init__(self, request: FollowRequest, part: Path, cancel: CancelToken, machines: OpenMachine) -> None:
        self._request = request
        self._part = part
        self._cancel = cancel
        self._machines = machines
        self._heads: _Heads | None = None
        self._segments: list[SegmentResult] = []
        """What came out right."""
        self._number = 1
        """The next segment."""
        self._matching = 0
        self._ordered = self._sealed = 0
        self._lie: Dispute | None = None
        self._gone_since = self._quiet_since = 0.0
        self._pulse: tuple[int, ...] = ()

    def events(self) -> Iterator[FollowEvent]:
        """Follow; see :func:`follow`."""
        error: CounterfoilError | None = None
        try:
            with ExitStack() as stack, obstacles_noticed():
                yield from self._follow(stack)
                if self._lie is None and self._request.replays:
                    self._write()
        except GivenFileError:
            raise
        except CounterfoilError as found:
            error = found
        yield self._ended(error)

    def _follow(self, stack: ExitStack) -> Iterator[FollowEvent]:
        request = self._request
        order = self._open(stack)
        if request.replays:
            yield from self._self_test(order)
        self._recording = GrowingRecording(request.folder, order)
        while True:
            yield from wait_for_recording(request, self._cancel)
            if self._recording.begin(request.trainer_key):
                break
            if not self._recording.present and request.run.is_file():
                return
            self._cancel.wait(request.poll)
        self._heads = None if request.heads is None else _Heads(request.heads, self._recording)
        if request.replays:
            self._steps = stack.enter_context(step_replayer(order, self._machine, cancel=self._cancel))
        manifest, recording = order.manifest, self._recording
        yield FollowStarted(
            manifest.steps,
            segment_count(manifest.extent),
            request.device,
            manifest.title,
            recording.key.key_id,
            recording.acceptance.accepted_at,
        )
        yield from self._go(order)

    def _open(self, stack: ExitStack) -> LoadedOrder:
        """Return the client's order, and set up the machine that can replay it."""
        request = self._request
        read_client_order(request.order)
        if request.heads is not None and not request.heads.is_file():
            raise GivenFileError(
                say("There is no file {0}.", request.heads),
                role="heads",
                remedy=say("Make an empty one: the tree heads are read as they come."),
            )
        with BundleReader.open(request.order) as reader:
            order = prepare_order(
                reader.manifest, reader.check_order_contents(self._cancel), request.limits, self._cancel
            )
        self._ordered = order.manifest.steps
        if not request.replays:
            return order
        self._machine = self._machines(request.device, request.threads)
        self._machine.check_memory(order.programs.all, order.manifest.precision)
        return with_data_file(order, request.data, stack, self._cancel)

    def _self_test(self, order: LoadedOrder) -> Iterator[CheckChanged]:
        """Check 7."""
        number = CheckNumber.SELF_TEST
        yield CheckChanged(Check(number, CheckState.RUNNING))
        try:
            sentence = run_selftest(self._machine, order.manifest.precision)
        except DeviceError as error:
            yield CheckChanged(Check(number, CheckState.FAILED, error.sentence))
            raise
        yield CheckChanged(Check(number, CheckState.PASSED, sentence))

    def _go(self, order: LoadedOrder) -> Iterator[FollowEvent]:
        """Replay each segment as it is sealed, until there is a lie, or the run."""
        recording = self._recording
        opened = (
            Opened(recording, recording.records, recording.tree, order, self._steps) if self._request.replays else None
        )
        self._quiet_since = time.monotonic()
        while True:
            yield from self._look()
            part = self._next
            if opened is not None and part is not None and self._is_whole(part):
                yield self._state("")
                yield from self._replay(opened, part)
                self._quiet_since = time.monotonic()
                if self._lie is not None:
                    return
                continue
            if self._over:
                return
            self._check_alive()
            yield self._state(self._awaited(part))
            self._cancel.wait(self._request.poll)

    def _look(self) -> Iterator[FollowEvent]:
        """See what was recorded and published since."""
        recording, before = self._recording, self._sealed
        # Heads first: what one speaks of was sealed before it was published.
        if self._heads is not None:
            self._heads.read()
        for record in recording.look(self._cancel):
            yield StepSealed(record.step, float("nan") if record.loss is None else record.loss)
        self._sealed = recording.sealed
        if recording.sealed < before:
            yield RecordingWentBack(recording.sealed)
        if self._heads is not None and self._heads.check():
            yield HeadsChecked(self._heads.checked, self._heads.step)

    @property
    def _next(self) -> Segment | None:
        """The segment that is to be replayed next; None where all are, and where nothing is replayed."""
        extent = self._recording.extent
        if not self._request.replays:
            return None
        return segment(extent, self._number) if self._number <= segment_count(extent) else None

    def _is_whole(self, part: Segment) -> bool:
        return part.last <= self._recording.sealed and self._recording.stored(part.last)

    def _replay(self, opened: Opened, part: Segment) -> Iterator[FollowEvent]:
        """Replay a segment, and look closer where it does not come out right."""
        try:
            found = yield from self._attended(opened, part)
            if found.trouble:
                yield from self._closer(opened, part)
            else:
                self._segments.append(found)
                self._recording.forget(part.last)
        except FileChangedError:
            # The folder is removed when the run is made: the rest is replayed from that.
            if self._recording.present and not self._over:
                raise
        self._number += 1

    def _attended(self, opened: Opened, part: Segment) -> Generator[FollowEvent, None, SegmentResult]:
        """Replay a segment, and look at the recording now and then."""
        looked = time.monotonic()
        replaying = replay_segment(opened, part)
        while True:
            try:
                event = next(replaying)
            except StopIteration as end:
                result: SegmentResult = end.value
                return result
            if isinstance(event, StepResult):
                yield self._followed(event)
            elif isinstance(event, OperatorDone):
                yield event
            if time.monotonic() - looked > LOOK_SECONDS:
                yield from self._look()
                yield self._state("")
                looked = time.monotonic()

    def _followed(self, result: StepResult) -> StepFollowed:
        loss = self._recording.records[result.step].loss
        match = result.leaf == self._recording.tree.leaf(result.step).value
        self._matching += match
        trainer_loss = float("nan") if loss is None else loss
        return StepFollowed(result.step, trainer_loss, result.loss, match, result.seconds)

    def _closer(self, opened: Opened, part: Segment) -> Iterator[FollowEvent]:
        """Replay a segment as an audit does, which looks closer at a step that differs before it accuses."""
        nothing = [0] * self._recording.extent.steps
        ledger = Ledger()
        ledger.learn(steps=StepTable(Recorded.of(nothing, nothing, nothing)))
        for event in SegmentReplay(None, opened, ledger).replay(part):
            if isinstance(event, (OperatorDone, DisputeLocated)):
                yield event
        if ledger.known.judged.is_settled:
            self._lie = ledger.known.judged.dispute

    # How it ends

    @property
    def _over(self) -> bool:
        """Whether the run lies there that was made of the recording."""
        recording = self._recording
        try:
            made = self._request.run.stat().st_mtime_ns > recording.begun_ns
        except OSError:
            return False
        return made and (not recording.present or recording.sealed == recording.extent.steps)

    def _check_alive(self) -> None:
        """Raise ObstacleError where the recording is gone, or nothing comes any more."""
        now, pulse = time.monotonic(), self._recording.pulse
        if self._recording.present:
            self._gone_since = now
        elif now - self._gone_since > GONE_SECONDS:
            raise ObstacleError(
                say("The recording in {0} is gone, and no run of it lies beside it.", self._request.folder),
                remedy=say("Ask the trainer what became of it."),
            )
        if pulse != self._pulse:
            self._pulse, self._quiet_since = pulse, now
        patience = self._request.patience
        if patience is not None and now - self._quiet_since > patience:
            raise ObstacleError(
                say(
                    "Nothing came to the recording in {0} for {1:.0f} seconds: its recorder seems to have ended after "
                    "step {2}.",
                    self._request.folder,
                    patience,
                    self._sealed,
                ),
                remedy=say("Follow it again when the trainer goes on with it."),
            )

    def _awaited(self, part: Segment | None) -> str:
        recording = self._recording
        if recording.sealed < (recording.extent.steps if part is None else part.last):
            return say("Waiting until step {0} is recorded.", recording.sealed + 1)
        if part is None:
            return say("Waiting until the run is made of the recording.")
        return say("Waiting until the state after step {0} is stored.", part.last)

    def _state(self, waiting: str) -> FollowState:
        part = self._next
        number, last = (0, 0) if part is None else (part.number, part.last)
        return FollowState(self._sealed, self._matching, number, last, waiting)

    def _write(self) -> None:
        """Write what came out right, for the audit of the run, whose file and root nobody knew before."""
        unknown = Digest(bytes(DIGEST_BYTES))
        identity = Identity(unknown, self._recording.order.manifest.digest, unknown)
        write_part(Part(identity, here(self._machine.environment_of_a_judge), tuple(self._segments)), self._part)

    def _ended(self, error: CounterfoilError | None) -> FollowEnded:
        if error is None and self._lie is None:
            made = say("The run was made; its audit concludes.") if self._request.replays else say("The run was made.")
            return FollowEnded(None, made, self._sealed, self._matching)
        mismatched = () if self._lie is None else (self._lie.step,)
        stopped = isinstance(error, CancelledError)
        outcome, reason, _ = conclude(
            Tally(judged=self._matching + len(mismatched), mismatched=mismatched),
            dispute=self._lie,
            coverage=Coverage(self._ordered, self._ordered, self._ordered),
            error=None if stopped else error,
            cancelled=stopped,
        )
        return FollowEnded(outcome, joined(reason, self._binding()), self._sealed, self._matching, self._lie)

    def _binding(self) -> str:
        """What binds the trainer to the step that accuses it; empty where none does."""
        if self._lie is None:
            return ""
        if self._heads is not None and self._heads.step >= self._lie.step:
            signed = say("The trainer signed a tree head over this step, and cannot take it back.")
        else:
            signed = say("The trainer has not signed this step yet; it stands in its recording.")
        return joined(signed, say("A verdict takes the run: audit it when it is made."))


class _Heads:
    """Tree heads that come in while a recording is followed.

    Args:
        path: The file that they are added to.
        recording: The recording whose history they are about.

    Attributes:
        checked: How many were checked.
        step: The last step that one of them covers; 0 while none does.
    """

    def __init__(self, path: Path, recording: GrowingRecording) -> None:
        self.checked = self.step = 0
        self._path = path
        self._recording = recording
        self._size = 0
        self._lines = 0
        self._open: list[TreeHead] = []
        """Those over steps that are not there yet."""

    def read(self) -> None:
        """Read what was added since; raises SignatureError where a line is no tree head of the trainer's."""
        try:
            if self._path.stat().st_size == self._size:
                return
            data = read_input(self._path, say("the tree heads"), GivenFileError, most=MAX_FILE_BYTES)
        except (OSError, GivenFileError):
            return  # it is being replaced; the audit of the run reads all of it
        # The last line is torn while it is written.
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < self._size:
            self._size = self._lines = 0
        added = whole[self._size :]
        self._open += open_tree_heads(added, self._path.name, self._recording.key, self._lines + 1)
        self._size, self._lines = len(whole), self._lines + added.count(b"\n")

    def check(self) -> bool:
        """Check the history against those that it covers by now; returns whether there were any.

        Raises:
            CommitmentError: One is of another order, or over another history.
        """
        recording = self._recording
        covered = [head for head in self._open if head.size <= recording.tree.size]
        for head in covered:
            check_tree_head(head, recording.order.manifest.digest, recording.tree)
            self.step = max(self.step, head.size - 1)
        self._open = [head for head in self._open if head.size > recording.tree.size]
        self.checked += len(covered)
        return bool(covered)
