"""An engine that computes nothing: it answers by a made-up run, so that the window is tested by itself."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import torch

import counterfoil as cf
from counterfoil.audit.closelook import SAID, compare_sides, value_of
from counterfoil.audit.disputedrows import NOT_KNOWN
from counterfoil.audit.values.delivery import DeliveryProgress
from counterfoil.signing.comparedsteps import comparison_path
from counterfoil.talk.failure import Failure
from counterfoil.trust.validity import validity
from counterfoil_app.engine import recordings as rec
from counterfoil_app.engine.incoming import Incoming
from counterfoil_app.engine.port import Engine, FetchProgress, KnownRequest, ReadRevocations, VerdictReading
from counterfoil_app.engine.sample import SampleKind, SampleProgress, sample_files
from counterfoil_app.engine.search import search
from counterfoil_core.base import canonical
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.panel.panel import conclude_panel, judge_members
from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.signing.statements import read_said
from counterfoil_core.statement.model import AdjudicationStatement, VerdictStatement
from counterfoil_core.statement.write import adjudication_statement, verdict_statement
from counterfoil_core.values.account import accusation
from support.ledgers import ledger_of, nothing_counts, places_of, weights_of
from support.made_up_run import (
    AUDITOR,
    DEVICES,
    ESTIMATE,
    FACTS,
    HANDED,
    IMAGES,
    KEY_ID,
    KINDS,
    OPERATORS,
    RULES,
    SELF_TEST_SENTENCE,
    TENSORS,
    MadeUpRun,
    digest,
    envelope_of,
    written_order,
)  # fmt: skip
from support.reports import verified_report

__all__ = ["AUDITOR", "FACTS", "KEY_ID", "RULES", "TENSORS", "FakeEngine", "digest", "envelope_of"]
ASKED = {
    "comparisons": ("compare_providers", "asked"),
    "deliveries": ("verify_weights", "weights", "run", "verdict", "replay"),
    "differences": ("compare_bundles", "asked"),
    "facts_asked": ("run_facts check_rules", "asked"),
    "followed": ("follow", "request"),
    "handed_over": ("hand_over_run", "run", "heads", "public", "folder"),
    "hearings": ("adjudicate", "capsule", "order"),
    "ledgers": ("read_ledger", "asked"),
    "located": ("locate", "asked"),
    "looks": ("disputed_rows operator_look tensor_sides", "asked"),
    "measured": ("plan", "request", "bad_fraction"),
    "plans": ("audit", "request"),
    "recorded": ("record_run", "request"),
    "statements": ("read_verdict", "statements"),
}
"""What was asked, by a name for it: which questions, and which of their arguments."""
PACED = {
    "compare_bundles",
    "disputed_rows",
    "find",
    "locate",
    "operator_look",
    "read_ledger",
    "tensor_sides",
    "verify_weights",
}
"""Questions that wait at the gate before each value but the first."""


@dataclass
class FakeEngine(MadeUpRun, Engine):
    """Answers each question by its method ``on_`` of that name, which takes of the arguments what it has a use for."""

    gate: threading.Event = field(default_factory=threading.Event)  #: Replays wait here before every step.
    halt: int | None = None  #: The gate closes before this step.
    looking_gate: threading.Event = field(default_factory=threading.Event)  #: Waits here before it looks at a file.
    looking_halt: int | None = None  #: That gate closes before so manieth a file.
    crew: tuple[cf.WorkerState, ...] = ()  #: What workers do, if a replay is to have any.
    inspect_gate: threading.Event = field(default_factory=threading.Event)  #: Inspection waits here.
    #: Inspection waits here between its first summary and the whole one.
    checks_gate: threading.Event = field(default_factory=threading.Event)
    inspect_errors: dict[str, Exception] = field(default_factory=dict)  #: Raised by inspection, by file name.
    #: Raised where a file is read as the client's order, by file name.
    order_errors: dict[str, Exception] = field(default_factory=dict)
    audit_error: Exception | None = None  #: Raised in the middle of the replay.
    plan_error: Exception | None = None  #: Raised at the end of a measurement.
    #: What is kept of replays that were stopped, by device and chosen segments.
    progress: dict[tuple[str, cf.SegmentRequest], cf.Kept] = field(default_factory=dict)
    recording_begun: threading.Event = field(
        default_factory=threading.Event
    )  #: A recording lies where one is followed.
    record_gate: threading.Event = field(default_factory=threading.Event)  #: A recording waits here before every step.
    record_halt: int | None = None  #: That gate closes before this step.
    recorded_steps: int = 0  #: Steps that a recording has finished.
    place: str = ""  #: The machine that it is said to work on; empty for this one.
    facts_gate: threading.Event = field(default_factory=threading.Event)  #: Counting, and checking rules, wait here.
    facts_error: Exception | None = None  #: Raised there.
    order_failure: cf.CounterfoilError | None = None  #: Why no order is written.
    commands: list[tuple[tuple[str, ...], str | None]] = field(default_factory=list)  #: Jobs that were carried out.
    command_code: int = 0  #: How they end.
    orders: list[tuple[tuple[str, ...], Path | None]] = field(default_factory=list)  #: Arguments and folders of orders.
    noted: list[Path] = field(default_factory=list)  #: Paths that were named as those of its machine.
    closed: int = 0  #: How often it was.
    threads: set[str] = field(default_factory=set)  #: Those that asked.
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)  #: Questions, and their arguments by name.

    def __post_init__(self) -> None:
        self.open_gates()

    def open_gates(self) -> None:
        for gate in (
            self.gate,
            self.inspect_gate,
            self.checks_gate,
            self.recording_begun,
            self.record_gate,
            self.facts_gate,
            self.looking_gate,
        ):
            gate.set()

    def asked(self, name: str) -> list[Any]:
        """What :data:`ASKED` says of a name."""
        questions, *wanted = ASKED[name]
        told = [[given[each] for each in wanted] for question, given in self.calls if question in questions.split()]
        return [each[0] if len(each) == 1 else tuple(each) for each in told]

    def __getattr__(self, name: str) -> list[Any]:
        if name not in ASKED:
            raise AttributeError(name)
        return self.asked(name)

    def _carry_out(self, method: Any, /, *arguments: Any, **named: Any) -> Any:
        name = method.__name__
        given = dict(list(signature(method).bind(self, *arguments, **named).arguments.items())[1:])
        self.calls.append((name, given))
        self.threads.add(threading.current_thread().name)
        answer = getattr(self, f"on_{name}")
        brought = answer(**{each: given[each] for each in signature(answer).parameters})
        return self._paced(brought, given["cancel"]) if name in PACED else brought

    def _paced(self, values: Iterable[Any], cancel: cf.CancelToken) -> Iterator[Any]:
        for number, value in enumerate(values):
            if number:
                self._wait(self.gate, cancel)
            yield value

    def _wait(self, gate: threading.Event, cancel: cf.CancelToken) -> None:
        while not gate.wait(0.01):
            cancel.check()

    def _refuse(self, path: Path) -> None:
        if path.name in self.inspect_errors:
            raise self.inspect_errors[path.name]

    # What is no question

    def close(self) -> None:
        self.closed += 1

    @property
    def where(self) -> str:
        return self.place

    def note_file(self, path: Path) -> None:
        self.noted.append(path)

    def another(self) -> FakeEngine:
        return self

    def write_steps(self, steps: cf.StepTable, path: Path) -> None:
        path.write_text("".join(f"{row.step}\n" for row in steps.rows()))

    def order(
        self, arguments: Sequence[str], folder: Path | None, cancel: cf.CancelToken
    ) -> Iterator[cf.CommandProgress | cf.OrderWritten]:
        self.orders.append((tuple(arguments), folder))
        if self.order_failure is not None:
            raise self.order_failure
        for done in range(5):
            yield cf.CommandProgress("First step", "operators", done, 4)
            self._wait(self.gate, cancel)
            cancel.check()
        out = Path(arguments[list(arguments).index("--out") + 1])
        out.write_bytes(b"order")
        if "--script" in arguments and "--compare 0" not in " ".join(arguments):
            comparison_path(out).write_bytes(b"comparison")
        yield written_order(arguments)

    def run_command(
        self, arguments: tuple[str, ...], passphrase: str | None, cancel: cf.CancelToken
    ) -> Iterator[cf.CommandProgress | cf.CommandEnded]:
        self.commands.append((arguments, passphrase))
        if self.order_failure is not None:
            raise self.order_failure
        yield cf.CommandProgress("Weights", "tensors", 1, 4)
        self._wait(self.gate, cancel)
        cancel.check()
        for flag in ("--out", "--verdict", "--safetensors"):
            if flag in arguments and arguments[0] != "witness":
                Path(arguments[arguments.index(flag) + 1]).write_bytes(b"written")
        yield cf.CommandEnded(self.command_code, "Wrote it.\n")

    # Files

    def on_devices(self):
        return DEVICES

    def on_version(self):
        return "0"

    def on_examine(self, cancel):
        yield cf.MachineProgress(0, 1, say("versions and folders"))
        cancel.check()
        yield self.machine

    def on_outline(self, path):
        return next(self.on_inspect(path, None, (), cf.CancelToken()))

    def on_inspect(self, path, order, clients, cancel):
        assert self.inspect_gate.wait(30)
        self._refuse(path)
        whole = self.summary(path, order, self.client in clients)
        first = {cf.CheckNumber.FORMAT, cf.CheckNumber.ORDER, cf.CheckNumber.SIGNATURE}
        checks = tuple(c if c.number in first else cf.Check(c.number, cf.CheckState.PENDING) for c in whole.checks)
        yield replace(whole, checks=checks, order=replace(whole.order, operators=0), sentence="Still being read.")
        self._wait(self.checks_gate, cancel)
        yield whole

    def on_client_order(self, path):
        if path.name in self.order_errors:
            raise self.order_errors[path.name]
        held = self.summary(path, None)
        other = digest("other order") if path.name.startswith("other") else held.order.digest
        return replace(held, run=None, order=replace(held.order, digest=other))

    def on_incoming(self, paths, cancel):
        for number, path in enumerate(paths):
            if number == self.looking_halt:
                self.looking_gate.clear()
            self._wait(self.looking_gate, cancel)
            try:
                yield Incoming(path, self.recognised(path))
            except cf.CounterfoilError as error:
                yield Incoming(path, None, Failure.of(error))

    def recognised(self, path):
        if path.name in self.order_errors and not path.exists():
            raise self.order_errors[path.name]
        if path.is_dir() and not any(path.name.endswith(ending) for ending in KINDS):
            raise cf.GivenFileError(f"{path.name} is a folder.")
        kind = next((kind for ending, kind in KINDS.items() if path.name.endswith(ending)), cf.FileUse.RUN)
        held = kind in (cf.FileUse.RUN, cf.FileUse.ORDER, cf.FileUse.CAPSULE)
        other = digest("other order") if path.name.startswith("other") else digest("order")
        return cf.Recognised(path, kind, other if held else None)

    def on_find(self, place, wanted, cancel):
        return search(self, place, wanted, cancel)  # the real one, over what this engine says of files

    def on_fetch(self, target, cancel):
        yield FetchProgress(2**18, 2**20)
        self._wait(self.gate, cancel)
        target.write_bytes(b"fetched")
        yield target

    def on_list_folder(self, folder):
        return rec.list_folder(folder)

    def on_capsule_subject(self, capsule):
        self._refuse(capsule)
        return cf.CapsuleSubject("Digits", digest("order"), self.steps, 35, 38, self.part)

    def on_handed_out(self, capsule):
        self._refuse(capsule)
        return HANDED

    def on_preview_data(self, form, path):
        nothing = np.zeros((0, 1, 1, 1), np.uint8)
        if form == "hf":
            return cf.DataPreview("table", nothing, ("text",), (("one",), ("two",)), "", None)
        if path is not None and path.suffix == ".txt":
            return cf.DataPreview("text", nothing, (), (), path.read_text(), path.stat().st_size)
        if path is not None and not path.is_dir():
            raise cf.CounterfoilError(f"{path} cannot be looked at.", remedy="Choose another.")
        return IMAGES

    def on_write_capsule(self, report, path):
        if not path.parent.is_dir():
            raise cf.CounterfoilError(f"There is no folder {path.parent}.", remedy="Choose another.")
        path.write_text(f"step {report.dispute.step}")

    def on_release(self):
        pass

    def on_carry_capsule(self):
        yield b"a dispute capsule"

    # Audits

    def on_plan(self, request, bad_fraction, cancel):
        for done in range(3):
            self._wait(self.gate, cancel)
            yield cf.PlanProgress(done, 3)
        if self.plan_error is not None:
            raise self.plan_error
        total = self.steps // 5
        seconds = 2.0 if request.device == "cpu" else 0.25
        rows = (
            cf.PlanRow(0.5, total // 3, 5 * (total // 3), 5 * (total // 3) * seconds, 0.4),
            cf.PlanRow(0.99, total - 1, 5 * (total - 1), 5 * (total - 1) * seconds, 0.01),
            cf.PlanRow(1.0, total, self.steps, self.steps * seconds, 0.0),
        )
        bad = max(1, round(bad_fraction * total))
        yield cf.Plan(request.device, self.steps, total, bad_fraction, bad, seconds, 0.1, 3, rows, ESTIMATE)

    def on_kept(self, request):
        return self.progress.get((request.device, request.segments))

    def on_audit(self, request, cancel):
        place = request.device, request.segments
        found = self.progress.get(place) if request.resume else None
        checks = self.checks(request.order, isinstance(request, KnownRequest) and request.client == self.client)
        chosen = self.chosen(request)
        sample = self.sample(request, chosen)
        steps = self.steps_of(request)
        yield cf.AuditStarted(
            self.steps, tuple(TENSORS), request.device, tuple(checks.values()), planned_steps=len(steps), sample=sample
        )
        if self.failing:
            yield cf.AuditFinished(self.report(request, checks, 0, cf.Outcome.REFUSED))
            return
        yield cf.CheckChanged(cf.Check(cf.CheckNumber.SELF_TEST, cf.CheckState.RUNNING))
        checks[cf.CheckNumber.SELF_TEST] = cf.Check(cf.CheckNumber.SELF_TEST, cf.CheckState.PASSED, SELF_TEST_SENTENCE)
        yield cf.CheckChanged(checks[cf.CheckNumber.SELF_TEST])
        for number in (cf.CheckNumber.REPLAY, cf.CheckNumber.LOG, cf.CheckNumber.COVERAGE):
            checks[number] = cf.Check(number, cf.CheckState.RUNNING)
            yield cf.CheckChanged(checks[number])
        if request.workers is not None:
            yield cf.WorkersReported(self.crew)
        done = judged = 0
        for step in steps:
            if step == self.halt:
                self.gate.clear()
            while (found is None or step > found.step) and not self.gate.wait(0.01) and not cancel.cancelled:
                continue
            if cancel.cancelled:
                if done >= 5:
                    self.progress[place] = cf.Kept(
                        Path("progress"), done // 5, len(chosen), steps[done // 5 * 5 - 1], done // 5 * 5
                    )
                stopped = self.report(request, checks, judged, cf.Outcome.INCONCLUSIVE, sample)
                yield cf.AuditFinished(stopped, kept=self.progress.get(place))
                return
            if self.audit_error is not None and step > self.steps // 2:
                raise self.audit_error
            yield cf.OperatorDone(step, OPERATORS // 2, OPERATORS)
            yield cf.StepReplayed(self.row(step))
            done += 1
            judged += self.row(step).match is not cf.StepMatch.UNJUDGED
            if found is not None and step == found.step:
                yield cf.ProgressRestored(found, done)
            if step == self.disputed:
                # The step is replayed once more, and what differs is known at the checkpoint.
                yield cf.OperatorDone(step, OPERATORS, OPERATORS)
                yield cf.DisputeLocated(replace(self.dispute(step), compared_at=None, tensors=()))
            if step % 5 == 0:
                yield cf.DivergenceMeasured(step, self.divergence(step))
                if self.disputed is not None and self.disputed <= step < self.disputed + 5:
                    yield cf.DisputeLocated(self.dispute(self.disputed))
                    if step < self.steps:
                        yield cf.ResumedFromCheckpoint(step)
        outcome = cf.Outcome.DISPUTED if self.disputed is not None else cf.Outcome.VERIFIED
        self.progress.pop(place, None)
        yield cf.AuditFinished(self.report(request, checks, judged, outcome, sample))

    def on_adjudicate(self, capsule, order, cancel):
        checks = self.checks(order)
        yield from map(cf.CheckChanged, checks.values())
        yield cf.AdjudicationStarted(36, 38)
        for step in range(36, 39):
            self._wait(self.gate, cancel)
            yield cf.OperatorDone(step, OPERATORS, OPERATORS)
        yield cf.AdjudicationFinished(self.adjudication(capsule, order, checks))

    def on_verify_weights(self, weights, verdict, store, replay):
        for done in range(3):
            yield DeliveryProgress(say("Comparing {0}", "head.bias"), done, 3)
        if verdict is not None and self.signer not in store.auditors:
            raise cf.CounterfoilError(
                say("The verdict {0} was signed with a key that you have not confirmed.", verdict.name),
                remedy=say("Drop the auditor's public key on the window, and confirm it."),
            )
        yield self.delivery(weights, verdict, replay)

    # Recordings

    def on_has_begun(self):
        return self.recording_begun.is_set()

    def on_follow(self, request, cancel):
        yield cf.CheckChanged(cf.Check(cf.CheckNumber.SELF_TEST, cf.CheckState.RUNNING))
        yield cf.CheckChanged(cf.Check(cf.CheckNumber.SELF_TEST, cf.CheckState.PASSED, SELF_TEST_SENTENCE))
        yield cf.FollowStarted(
            self.steps, self.steps // 5, request.device, "Digits, small residual network", self.trainer_key,
            "2026-11-20T16:00:00Z",
        )  # fmt: skip
        replayed = 0
        for first in range(1, self.steps + 1, 5):
            for step in range(first, first + 5):
                if step == self.halt:
                    self.gate.clear()
                while not self.gate.wait(0.01):
                    if cancel.cancelled:
                        stopped = say("The work was cancelled; nothing was concluded.")
                        yield cf.FollowEnded(cf.Outcome.INCONCLUSIVE, stopped, step - 1, replayed)
                        return
                yield cf.StepSealed(step, self.loss(step))
            yield cf.FollowState(first + 4, replayed, first // 5 + 1 if request.replays else 0, first + 4, "")
            yield rec.RecordingSize(20_000 + 40_000 * (first + 4), (first + 4) // 10)
            for step in range(first, first + 5) if request.replays else ():
                row = self.row(step)
                match = row.match is cf.StepMatch.MATCH
                yield cf.StepFollowed(step, row.trainer_loss, row.replay_loss, match, row.seconds)
                if not match:
                    dispute = self.dispute(step)
                    yield cf.DisputeLocated(dispute)
                    reason = joined(accusation(dispute), say("A verdict takes the run: audit it when it is made."))
                    yield cf.FollowEnded(cf.Outcome.DISPUTED, reason, first + 4, replayed, dispute)
                    return
                replayed = step
            waiting = say("Waiting until step {0} is recorded.", first + 5)
            yield cf.FollowState(first + 4, replayed, 0 if not request.replays else first // 5 + 2, first + 9, waiting)
        yield cf.FollowEnded(None, say("The run was made; its audit concludes."), self.steps, replayed)

    def on_audit_followed(self, request, cancel):
        return self.audit(request.audit(Path("followed.part")), cancel)

    def on_record_run(self, request, cancel):
        yield rec.RecordingBegun(self.steps, request.device, self.client_key, request.public)
        if self.recorded_steps:
            yield rec.RecordingResumed(self.recorded_steps, self.recorded_steps // 5 * 5)
            yield rec.RecordingWork(say("Finished steps are computed again."), 1, 1)
        for step in range(self.recorded_steps + 1, self.steps + 1):
            if step == self.record_halt:
                self.record_gate.clear()
            while not self.record_gate.wait(0.01) and not cancel.cancelled:
                continue
            if cancel.cancelled:
                raise cf.CounterfoilError(say("The work was cancelled; nothing was concluded."))
            yield rec.InsideStep(step, 1, 2)
            yield rec.StepMade(step, self.steps, self.loss(step))
            self.recorded_steps = step
            yield rec.RecordingSize(20_000 + 40_000 * step, step // 10)
        yield rec.RecordingWork(say("The run is written."), self.steps, self.steps)
        yield rec.RunMade(request.run, digest("run"), self.steps, self.steps)

    def on_hand_over_run(self, folder):
        return folder

    def on_make_sample(self, folder, kind, cancel):
        self.disputed = self.steps // 2 if kind is SampleKind.TAMPERED else None
        for step in range(1, 4):
            yield SampleProgress(step, 3)
            self._wait(self.gate, cancel)
            cancel.check()
        files = sample_files(folder, kind)
        folder.mkdir(parents=True, exist_ok=True)
        files.order.touch()
        files.run.touch()

    # What is compared and counted

    def on_run_facts(self, cancel):
        yield cf.FactsProgress(say("Comparing the recorded steps with the signed run root"), 2, 4)
        yield self._counted(self.facts, cancel)

    def on_facts_as_json(self, facts):
        return cf.facts_as_json(facts)

    def on_check_rules(self, cancel):
        yield cf.FactsProgress(say("Counting"), 3, 4)
        yield self._counted(self.rules, cancel)

    def _counted(self, found, cancel):
        self._wait(self.facts_gate, cancel)
        if self.facts_error is not None:
            raise self.facts_error
        return found

    def on_compare_providers(self, asked, cancel):
        """Runs are honest but those whose names begin with "lying", from the middle on; "broken" ones take no part."""
        members = []
        for number, run in enumerate(asked.runs):
            members.append(self.member(run))
            yield cf.PanelAdmitted(number, members[-1])
        taking = [number for number, member in enumerate(members) if member.standing is not cf.Standing.REFUSED]
        lying = tuple(number for number in taking if asked.runs[number].name.startswith("lying"))
        honest = tuple(number for number in taking if number not in lying)
        step = self.steps // 2
        same, other = bytes(self.steps + 1), bytes(int(at >= step) for at in range(self.steps + 1))
        results = tuple(
            b"" if number not in taking else other if number in lying else same for number in range(len(members))
        )
        partings = (cf.Parting(honest, lying, step, (), step - 3),) if lying and honest else ()
        yield cf.PanelCompared(partings, 3 * len(partings), tuple(members), results)
        if partings and not asked.replay:
            return
        for at in range(step - 2, step + 1):
            if partings:
                self._wait(self.gate, cancel)
            yield cf.OperatorDone(at, OPERATORS, OPERATORS)
            if at < step:
                yield cf.StepJudged(at)
        rulings = tuple(self.ruling(number, step, wrong=number in lying) for number in taking)
        ruled = tuple(replace(parting, ruled_step=step, rulings=rulings) for parting in partings)
        yield from map(cf.PanelRuled, ruled)
        standings = judge_members(len(members), ruled)
        final = tuple(
            member if member.standing is cf.Standing.REFUSED else replace(member, standing=standings[number])
            for number, member in enumerate(members)
        )
        groups = tuple(group for group in (honest, lying) if group)
        outcome, reason = conclude_panel(final, groups, ruled)
        yield cf.PanelFinished(cf.PanelReport(outcome, reason, digest("order"), self.steps, final, groups, ruled))

    def on_compare_bundles(self, asked):
        """A run is equal to itself; one whose name begins with "other" is of another order."""
        yield cf.DifferenceProgress(say("Hashing {0}", asked.first.name), 1, 2)
        yield self.difference(asked)

    def on_read_ledger(self, asked):
        self._refuse(asked.folder)
        for done in range(1, 4):
            yield cf.LedgerProgress(done, 3)
        if asked.folder.name == "empty":
            yield cf.Ledger((), ())
        else:
            yield ledger_of(asked.policy, KEY_ID) if self.signer in asked.keys else nothing_counts()

    def on_locate(self, asked):
        for done in range(3):
            yield cf.LocateProgress(done, 3)
        if isinstance(asked.wanted, cf.Digest):
            yield places_of(asked.wanted)
        else:
            self._refuse(asked.wanted)
            yield weights_of(asked.wanted.name)

    def on_disputed_rows(self, asked):
        """Two images, whose labels were read as 9 - x, a text, and an array of which nothing is known."""
        yield cf.LookProgress(say("Looking for the rows that were read"), 0, 1)
        images = np.arange(2 * 64, dtype=np.float64).reshape(2, 64)
        labels, nothing = np.array([[3.0], [7.0]]), np.zeros((0, 0))
        said = say("Every value x was read as {0} - x.", 9)
        rows = (
            cf.RowsRead("images", cf.RowKind.IMAGE, (8, 8), True, "", images, images),
            cf.RowsRead("labels", cf.RowKind.NUMBERS, (), False, said, labels, 9 - labels),
            cf.RowsRead("texts", cf.RowKind.TEXT, (5,), True, "", images[:, :5], images[:, :5], ("hello", "world")),
            cf.RowsRead("weights", cf.RowKind.NUMBERS, (3,), False, NOT_KNOWN, images[:, :3], nothing),
        )
        yield cf.DisputedRows(asked.step, 32, (0, 1), (17, 4), rows)

    def on_operator_look(self, asked):
        yield cf.LookProgress(say("Replaying step {0}", asked.step), 0, 1)
        weights = torch.linspace(-1, 1, 320).reshape(10, 32)
        values = value_of("weight", weights), value_of("stride", [1, 1]), value_of("", weights.sum())
        yield cf.OperatorLook(asked.step, 55, self.operator().where, SAID, values)

    def on_tensor_sides(self, asked):
        yield cf.LookProgress(say("Replaying step {0}", asked.step), 0, 1)
        before = np.zeros(TENSORS[asked.tensor], np.float32)
        replay = np.linspace(-0.5, 0.5, before.size, dtype=np.float32).reshape(before.shape)
        trainer = replay.copy()
        trainer.reshape(-1)[:7] += np.float32(2.0**-12)
        yield compare_sides(asked.tensor, (asked.step - 5, asked.step), before, trainer, replay)

    # What is signed

    def on_preview(self, report, signed_at):
        made = adjudication_statement if isinstance(report, cf.AdjudicationReport) else verdict_statement
        return canonical.encode(statement_of(made(report, signed_at)))

    def on_read_key(self, path):
        """The auditor's key, or the trainer's, or another one, by the name of the file."""
        if path.name.startswith("list"):
            return cf.PublicKey.from_pem(path.read_bytes()).public
        if path.name.startswith("trainer"):
            return self.trainer_public
        return self.signer if path.name.startswith("auditor") else digest(path.name).hex

    def on_read_revocations(self, path, key):
        """Checked as the engine does; a list of one key for a file that is not there."""
        if not path.exists():
            gone = cf.Revocation(cf.key_id_of(key), "2026-01-01T00:00:00Z", cf.Cause.RETIRED, "")
            said = cf.RevocationList(1, (gone,), issued_at="2026-01-01T00:00:00Z", public_key=cf.pem_of(key))
            return ReadRevocations(b"{}", said)
        envelope, public = path.read_bytes(), cf.PublicKey.from_pem(cf.pem_of(key).encode())
        return ReadRevocations(envelope, cf.open_said(cf.RevocationList, envelope, public))

    def on_read_verdict(self, path, store, bundle):
        content = json.loads(path.read_bytes())
        key_id = cf.key_id_of(self.signer)
        if self.signer not in store.auditors:
            return VerdictReading((key_id,))
        if content.get("forged"):
            raise cf.CounterfoilError(say("The signature does not hold for the key {0}.", "abababababab"))
        if b"adjudication:v2" in (statement := base64.b64decode(content.get("payload", ""))):
            said = read_said(AdjudicationStatement, json.loads(statement))
            return VerdictReading((key_id,), cf.Adjudication(said, key_id), self.signer)
        report = replace(
            verified_report(), bundle_name="honest.cfoil", reason="All is well.", trainer_key=self.trainer_key
        )
        fields = statement_of(verdict_statement(report, datetime(2026, 11, 21, 12, tzinfo=UTC)))
        verdict = cf.Verdict(read_said(VerdictStatement, fields), key_id)
        matches = None if bundle is None else bundle.name == "honest.cfoil"
        at, trainer = verdict.signed_at, verdict.trainer_key
        found = validity(store, (key_id, at), trainer=(trainer, at), later=self.later)
        found = replace(found, why=(*found.why, *self.why_not))
        return VerdictReading((key_id,), verdict, self.signer, matches, found, counted=self.counted)
