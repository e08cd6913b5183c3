"""Recording a run, and following one: each with an engine of its own, beside whatever the session does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from counterfoil import (
    BundleSummary,
    CancelToken,
    Event,
    FollowEnded,
    FollowStarted,
    FollowState,
    HeadsChecked,
    Outcome,
    Passphrase,
    RecordingWentBack,
    StepFollowed,
    StepSealed,
    start_signer,
)
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.recordings import (
    FollowingEvent,
    InsideStep,
    KnownFollow,
    RecordingBegun,
    RecordingEvent,
    RecordingResumed,
    RecordingSize,
    RecordingWork,
    RecordRequest,
    RunMade,
    StepMade,
)
from counterfoil_app.engine.snapshot import Gathered, ReplaySink
from counterfoil_app.engine.strangers import plain
from counterfoil_app.engine.worker import JobResult
from counterfoil_app.model.bench import Bench
from counterfoil_app.model.inquiry import Inquiry, Seen
from counterfoil_app.model.key_book import KeyBook, make_key_folder
from counterfoil_app.model.open_bundle import OpenBundle, Phase
from counterfoil_app.model.recordingcurves import Floats, GrowingCurve
from counterfoil_app.model.replayresult import Finished
from counterfoil_core.base.sentence import say

EVENTS_PER_LOOK = 2_000
WAIT_SECONDS = 0.5
"""How often it is looked whether a recording has begun."""


class Doing(Enum):
    """Where a recording or a following stands."""

    NOTHING = "nothing"
    STARTING = "starting"
    WORKING = "working"
    PAUSED = "paused"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"
    DONE = "done"


class Going(Inquiry[Seen]):
    """An inquiry that says much, can wait, and is stopped in order: what it has come to stays.

    Args:
        engine: The session's engine, beside which it works.

    Attributes:
        doing: Where it stands.
    """

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        self.bench = Bench(engine)
        super().__init__(self.bench.ask, parent)
        self.bench.setParent(self)

    def pause(self) -> None:
        """Let it wait at its next look."""
        if self._token is not None and self.doing is Doing.WORKING:
            self._token.pause()
            self._set(Doing.PAUSED)

    def go_on(self) -> None:
        """Let it go on."""
        if self._token is not None and self.doing is Doing.PAUSED:
            self._token.resume()
            self._set(Doing.WORKING)

    def stop(self) -> None:
        """Stop it; it says so when it has."""
        if self._token is not None and self.doing is not Doing.STOPPING:
            self._token.cancel()
            self._set(Doing.STOPPING)

    def shut_down(self) -> None:
        """Stop it, and wait until its engine is let go of."""
        self._leave()
        self.bench.shut_down()

    def _set(self, doing: Doing) -> None:
        self.doing = doing
        self.changed.emit()

    def _forget(self) -> None:
        super()._forget()
        self.doing = Doing.NOTHING
        self._gathered: Gathered[Seen] = Gathered()
        self._result: JobResult | None = None

    def start(self) -> None:
        """Begin anew, unless it is under way."""
        super().start()
        if self.doing is Doing.NOTHING:
            self._set(Doing.STARTING)

    def _look(self) -> None:
        taken = self._gathered.take(EVENTS_PER_LOOK)
        for event in taken:
            self._show(event)
        if taken:
            self.changed.emit()
        if self._result is not None and self._gathered.drained:
            result, stopped, self._result = self._result, self.doing is Doing.STOPPING, None
            self._token = None
            self._timer.stop()
            self.failure = None if stopped else result.failure
            failed = Doing.STOPPED if stopped else Doing.FAILED
            self.doing = failed if result.failure is not None else Doing.DONE
            self._answer(result.value)
            self.changed.emit()

    def _ended(self, token: CancelToken, result: JobResult) -> None:
        if token is self._token:
            self._result = result  # what came before is taken first
            self._look()

    def _working(self) -> None:
        if self.doing is Doing.STARTING:
            self.doing = Doing.WORKING


@dataclass(frozen=True)
class Recording:
    """What the user asks to be recorded."""

    request: RecordRequest  #: What goes to the recorder, without the key.
    private_key: Path  #: The trainer's private key file.
    passphrase: str | None = field(default=None, repr=False)  #: Its passphrase; None where it has none.
    create: bool = False  #: The key is made first.


class Recorder(Going[RecordingEvent]):
    """Records a run in a process of its own.

    Attributes:
        asked: What was asked for last; its passphrase is forgotten as soon as the signer has it.
        begun: What the recorder said when it accepted the order.
        losses: The loss of each step.
        inside: How far the current step is, 0 to 1.
        work: What it does beside new steps; None while it makes them.
        size: How much lies in the folder.
        ordered: Number of steps that the run will have, as far as is known.
        made: The run, once it is made.
    """

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        self.asked: Recording | None = None
        super().__init__(engine, parent)

    def record(self, asked: Recording) -> None:
        """Record, or go on with what lies there."""
        if not self.working:
            self.asked = replace(asked, passphrase=None)
            self._signing = asked
            self.start()

    def _forget(self) -> None:
        super()._forget()
        self.begun: RecordingBegun | None = None
        self.losses = GrowingCurve()
        self.inside = 0.0
        self.work: RecordingWork | None = None
        self.size = RecordingSize(0, 0)
        self.ordered = 0
        self.made: RunMade | None = None

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        asked, self._signing = self._signing, replace(self._signing, passphrase=None)
        return partial(_record, asked, token, self._gathered)

    def _show(self, seen: RecordingEvent) -> None:
        self._working()
        match seen:
            case RecordingBegun():
                self.begun, self.ordered = plain(seen), seen.steps
            case RecordingWork():
                self.work = plain(seen)
            case RecordingResumed():
                self.losses.go_back(seen.steps)
            case InsideStep():
                self.work, self.inside = None, min(1.0, seen.done / max(1, seen.total))
            case StepMade():
                self.work, self.inside, self.ordered = None, 0.0, seen.steps
                self.losses.put(seen.step, seen.loss)
            case RecordingSize():
                self.size = seen
            case RunMade():
                self.made = plain(seen)

    def go_on(self) -> None:
        """Let it go on; its speed is measured anew."""
        self.losses.wait()
        super().go_on()


def _record(asked: Recording, token: CancelToken, gathered: Gathered[RecordingEvent], engine: Engine) -> None:
    """In the worker thread. The key is opened first: a passphrase that is wrong is found before anything begins."""
    if asked.create:
        make_key_folder(asked.private_key.parent)
    with start_signer(asked.private_key, "train", Passphrase.given(asked.passphrase), create=asked.create) as signer:
        request = replace(asked.request, public=signer.public.public, resume=True)
        gathered.put_all(engine.record_run(request, signer.sign, token))


class FollowedRun(OpenBundle):
    """The run that a recording has come to, and its audit, for the window to show as any other."""

    def __init__(self, run: Path, order: Path, keys: KeyBook | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path, self.order, self.keys = run, order, keys
        self._sink = ReplaySink()

    def show(self, seen: BundleSummary | Event) -> None:
        """Take over what the engine said of it."""
        if isinstance(seen, BundleSummary):
            self._take_summary(plain(seen))
            return
        self._sink.publish(seen)
        self._absorb(self._sink.take(EVENTS_PER_LOOK))
        if self.report is not None:
            self._take_report()
            self._set_phase(Phase.CONCLUDED)

    @property
    def finished(self) -> Finished | None:
        """What the audit left; None before it has come to its end."""
        return self.keep() if self.phase is Phase.CONCLUDED else None


Followed = FollowingEvent | BundleSummary | Event


class Follower(Going[Followed]):
    """Follows a recording in a process of its own, and audits the run that it comes to.

    Args:
        engine: The session's engine, beside which it works.
        keys: The known keys.

    Attributes:
        request: What is followed.
        started: What the recording turned out to be.
        state: Where following stands.
        sealed: The loss of each step that the trainer has recorded.
        replayed: The loss of each step that was replayed.
        mismatch: The step that came out otherwise; None while there is none.
        heads: The tree heads that were checked.
        size: How much lies in the folder.
        ended: How following ended.
        run: The run, and its audit; None before it is made.
    """

    def __init__(self, engine: Engine, keys: KeyBook, parent: QObject | None = None) -> None:
        self.request: KnownFollow | None = None
        self._keys = keys
        super().__init__(engine, parent)

    def follow(self, request: KnownFollow) -> None:
        """Follow a recording; the key of a client that is known counts as given."""
        if not self.working:
            self.request, self._clients = request, self._keys.clients
            self.start()

    @property
    def behind(self) -> int:
        """How many recorded steps are still to be replayed."""
        return max(0, self.sealed.last - self.replayed.last)

    @property
    def seconds_behind(self) -> float | None:
        """How long these take at the speed of the replay; None while that is not known."""
        return 0.0 if not self.behind else self.replayed.seconds_to(self.sealed.last)

    @property
    def judged(self) -> int:
        """How many steps were replayed, by now those of the audit too."""
        done = 0 if self.run is None else self.run.steps.done
        return max(done, self.replayed.last)

    @property
    def replay_losses(self) -> Floats:
        """The losses of the replay by step, from step 1."""
        if self.run is not None and self.run.steps.done:
            return self.run.step_data.replay_loss
        return self.replayed.values

    @property
    def outcome(self) -> Outcome | None:
        """What it has come to: that of the audit, or what following itself has found."""
        if self.run is not None and self.run.report is not None:
            return self.run.report.outcome
        return None if self.ended is None else self.ended.outcome

    @property
    def reason(self) -> str:
        """Why, as sentences; empty before that."""
        if self.run is not None and self.run.report is not None:
            return plain(self.run.report.reason)
        return "" if self.ended is None else self.ended.reason

    @property
    def steps(self) -> int:
        """Number of ordered steps; 0 while it is not known."""
        return 0 if self.started is None else self.started.steps

    def _forget(self) -> None:
        super()._forget()
        self.started: FollowStarted | None = None
        self.state: FollowState | None = None
        self.sealed, self.replayed = GrowingCurve(), GrowingCurve()
        self.mismatch: int | None = None
        self.heads = HeadsChecked(0, 0)
        self.size = RecordingSize(0, 0)
        self.ended: FollowEnded | None = None
        self.run: FollowedRun | None = None

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        assert self.request is not None
        return lambda engine: self._gathered.put_all(follow_run(engine, self.request, self._clients, token))  # type: ignore[arg-type]

    def _show(self, seen: Followed) -> None:
        self._working()
        if self.run is not None:
            self.run.show(seen)  # type: ignore[arg-type]  # what comes behind the end of following
            return
        match seen:
            case FollowStarted():
                self.started = plain(seen)
            case StepSealed():
                self.sealed.put(seen.step, seen.loss)
            case StepFollowed():
                self.replayed.put(seen.step, seen.replay_loss)
                if not seen.match:
                    self.mismatch = seen.step
            case RecordingWentBack():
                self.sealed.go_back(seen.step)
            case HeadsChecked():
                self.heads = seen
            case FollowState():
                self.state = plain(seen)
            case RecordingSize():
                self.size = seen
            case FollowEnded():
                self.ended = plain(seen)
                if seen.outcome is None and self.request is not None and self.request.replays:
                    self.run = FollowedRun(self.request.run, self.request.order, self._keys, self)


def follow_run(
    engine: Engine, request: KnownFollow, clients: tuple[str, ...], cancel: CancelToken
) -> Iterator[Followed]:
    """Wait until a recording begins, follow it, and audit the run that it comes to.

    Args:
        engine: Does it.
        request: What to follow.
        clients: The public keys of clients that are known: one that signed the order counts as given.
        cancel: Stops it.

    Yields:
        What :meth:`Engine.follow` does; where the run was made, and is to be replayed, its summaries and its audit.
    """
    while not engine.has_begun(request.folder, request.run):
        yield FollowState(0, 0, 1, 0, say("Waiting until the recording begins."))
        cancel.wait(WAIT_SECONDS)
    ended = None
    for event in engine.follow(request, cancel):
        yield event
        if isinstance(event, FollowEnded):
            ended = event
    if ended is not None and ended.outcome is None and request.replays:
        yield from engine.inspect(request.run, request.order, clients, cancel)
        yield from engine.audit_followed(request, cancel)
