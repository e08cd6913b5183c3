"""Audits whose replay runs in a box: they come out as those at home, and whoever takes it over gets nothing kept."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from counterfoil.audit import progressfile
from counterfoil.audit.boxed import session, start, tasks
from counterfoil.audit.boxed.answers import QUESTIONS, Answers, take
from counterfoil.audit.boxed.questions import Asking
from counterfoil.audit.boxed.session import AtHome, InBox, open_session
from counterfoil.audit.boxed.tasks import TASKS
from counterfoil.audit.boxed.words import ReplayWords
from counterfoil.audit.values.follow import FollowEnded, FollowState, StepFollowed
from counterfoil.cli import main
from counterfoil.sandbox.box import SWITCH
from counterfoil.talk import process
from counterfoil.talk.failure import Failure
from counterfoil.talk.messages import FormError, decode, encode
from counterfoil.talk.port import Call, Port
from counterfoil.talk.table import REPLAY
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import (
    CancelledError,
    CounterfoilError,
    FileWriteError,
    GivenFileError,
    ProgressError,
    WorkerError,
)
from counterfoil_core.base.generators import finish
from counterfoil_core.program.limits import Limits
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values import events
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.events import AdjudicationFinished
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.sampling import SegmentRequest
from counterfoil_core.values.workers import LocalWorkers, PartFiles
from support.besides import recorder, request_of as follow_request, step_of
from support.boxes import closed
from support.jobs import Job
from support.resuming import ended, progress_of, request_of, rows_of, same_end, timeless, whole

__all__ = ["closed"]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are boxes on Linux only")


def audited(request: AuditRequest, stop_after: int = -1, capsule: Path | None = None) -> list[events.Event]:
    """Audit in a box, and stop after so many steps."""
    token, said, seen = CancelToken(), [], 0
    with open_session() as box:
        assert isinstance(box, InBox)
        for event in box.audit(request, token, capsule=capsule is not None):
            said.append(event)
            seen = 0 if isinstance(event, events.ProgressRestored) else seen + isinstance(event, events.StepReplayed)
            if seen == stop_after:
                token.cancel()
        if capsule is not None and box.has_capsule:
            box.write_capsule(capsule)
    return said


def without_box(report: events.AuditReport) -> events.AuditReport:
    return replace(report, environment=tuple(pair for pair in report.environment if pair[0] != "sandbox"))


def alike(one: list[events.Event], other: list[events.Event]) -> None:
    assert timeless(without_box(ended(one).report)) == timeless(without_box(ended(other).report))
    assert repr(rows_of(one)) == repr(rows_of(other))
    steps = [ended(each).steps for each in (one, other)]
    assert steps[0] is not None
    assert steps[1] is not None
    assert steps[0].tally() == steps[1].tally()


def test_an_audit_in_a_box_comes_out_as_one_at_home(digits_job: Job) -> None:
    request = request_of(digits_job)
    boxed = audited(request)
    alike(boxed, whole(request))
    assert ended(boxed).report.outcome is Outcome.VERIFIED
    words = dict(ended(boxed).report.environment)["sandbox"]
    assert "seccomp" in words or words.startswith("none")


def test_a_dispute_and_its_capsule_come_out_of_the_box(cheat_job: Job, tmp_path: Path) -> None:
    request = request_of(cheat_job)
    boxed = audited(request, capsule=tmp_path / "boxed.cfoil")
    assert ended(boxed).report.outcome is Outcome.DISPUTED
    home, token = AtHome(), CancelToken()
    alike(boxed, list(home.audit(request, token)))
    home.write_capsule(tmp_path / "home.cfoil")
    assert (tmp_path / "boxed.cfoil").read_bytes() == (tmp_path / "home.cfoil").read_bytes()
    with open_session() as box:
        *_, finished = box.do(
            tasks.adjudicate, token, tmp_path / "boxed.cfoil", order=cheat_job.order, trainer_key="", client_key="",
            device="cpu", threads=1, limits=Limits(),
        )  # fmt: skip
    assert isinstance(finished, AdjudicationFinished)
    assert finished.report.outcome is AdjudicationOutcome.CONFIRMED


@pytest.mark.slow
def test_a_recording_is_followed_in_a_box_as_at_home(digits_job: Job, trainer_key: SigningKey, tmp_path: Path) -> None:
    run, part, token, said = tmp_path / "run.cfoil", tmp_path / "part", CancelToken(), []
    recording = recorder(digits_job.order, run, trainer_key)
    made = int(step_of(recording))
    request = follow_request(digits_job.order, run, trainer_key=trainer_key.public, patience=60.0)
    with open_session() as box:
        assert isinstance(box, InBox)
        for event in box.follow(request, part, token):
            said.append(event)
            # The process in the box goes on beside this one: what it says of steps before may come late.
            if isinstance(event, FollowState) and event.waiting and event.sealed == made:
                made += step_of(recording)
    assert isinstance(said[-1], FollowEnded)
    assert (said[-1].outcome, said[-1].matching) == (None, 6)
    assert [event.step for event in said if isinstance(event, StepFollowed)] == [1, 2, 3, 4, 5, 6]
    found = audited(request.audit(part))
    alike(found, whole(replace(request.audit(part), workers=None)))
    assert ended(found).report.outcome is Outcome.VERIFIED


@pytest.mark.slow
def test_what_was_judged_in_a_box_is_gone_on_with(
    cheat_job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "LOOK_SECONDS", 0.001)  # two steps may take less than the usual
    place = tmp_path / "progress"
    request = request_of(cheat_job, place, retain=True)
    stopped = ended(audited(request, stop_after=4))
    assert stopped.report.outcome in (Outcome.INCONCLUSIVE, Outcome.DISPUTED)
    assert stopped.interrupted
    assert stopped.kept is not None
    assert stopped.kept.path == place
    resumed = audited(replace(request, resume=True))
    assert any(isinstance(event, events.ProgressRestored) for event in resumed)
    assert set(ended(resumed).leftover) == {place, progressfile.capsule_of(place)}
    alike(resumed, whole(replace(request, progress=None, retain=False)))
    # And what a box kept is as good at home.
    same_end(whole(replace(request, resume=True)), whole(replace(request, progress=None)), tmp_path)


@pytest.mark.slow
def test_a_nonce_is_drawn_outside_and_kept(digits_job: Job, tmp_path: Path) -> None:
    place = tmp_path / "state"
    place.mkdir()
    request = request_of(digits_job, place, segments=SegmentRequest(count=1))
    samples = []
    for _ in range(2):
        started = next(event for event in audited(request, stop_after=1) if isinstance(event, events.AuditStarted))
        samples.append(started.sample)
        assert started.drawn_before == (len(samples) == 2)
    assert samples[0] == samples[1]
    assert [path.suffix for path in place.glob("*.nonce")] == [".nonce"]


@pytest.mark.slow
def test_workers_replay_for_an_audit_in_a_box(digits_job: Job) -> None:
    request = request_of(digits_job, workers=LocalWorkers(2), recheck=0)
    said = audited(request)
    assert ended(said).report.outcome is Outcome.VERIFIED
    states = [event for event in said if isinstance(event, events.WorkersReported)][-1].workers
    assert sum(state.segments for state in states) > 0
    assert not any(state.trouble for state in states)


@pytest.mark.slow
def test_parts_are_made_and_merged_in_boxes(digits_job: Job, tmp_path: Path) -> None:
    part = tmp_path / "all.part"
    with open_session() as box:
        made = finish(box.part(request_of(digits_job), part, CancelToken()))
    assert len(made.segments) > 1
    assert not any(each.trouble for each in made.segments)
    merged = audited(request_of(digits_job, workers=PartFiles((part,)), recheck=0))
    alike(merged, whole(request_of(digits_job, workers=PartFiles((part,)), recheck=0)))


def test_runs_are_compared_in_a_box(digits_job: Job, cheat_job: Job, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [str(digits_job.run), str(cheat_job.run)]
    assert main(["referee", *runs, "--order", str(digits_job.order), "--threads", "1"]) == 1
    assert "EXPOSED" in capsys.readouterr().out


def test_a_plan_is_measured_in_a_box(digits_job: Job, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(digits_job.run), "--threads", "1"]) == 0
    assert "whole run" in capsys.readouterr().out


@pytest.mark.slow
def test_a_command_signs_what_came_out_of_a_box(
    digits_job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["keygen", str(tmp_path / "auditor.pem"), "--no-passphrase"]) == 0
    verdict, table = tmp_path / "verdict.json", tmp_path / "steps.csv"
    command = ["audit", str(digits_job.run), "--order", str(digits_job.order), "--threads", "1"]
    options = ["--verdict", str(verdict), "--key", str(tmp_path / "auditor.pem"), "--csv", str(table)]
    assert main([*command, *options]) == 0
    assert main(["verify", str(verdict), "--key", str(tmp_path / "auditor.pub.pem"), "--json"]) == 0
    shown = capsys.readouterr().out
    assert '"sandbox": "landlock-v' in shown or '"sandbox": "' in shown
    assert table.read_text().count("match") > 1


@pytest.mark.slow
def test_a_file_that_is_not_there_is_the_givers_slip(tmp_path: Path) -> None:
    with pytest.raises(GivenFileError, match="no file"):
        audited(AuditRequest(tmp_path / "gone.cfoil"))


def test_work_is_stopped_before_it_begins(digits_job: Job) -> None:
    token = CancelToken()
    token.cancel()
    with open_session() as box, pytest.raises(CancelledError):
        list(box.audit(request_of(digits_job), token))


def test_a_process_that_dies_concludes_nothing(digits_job: Job) -> None:
    with open_session() as box:
        assert isinstance(box, InBox)
        said = box.audit(request_of(digits_job), CancelToken())
        while not isinstance(next(said), events.AuditStarted):
            pass
        box._process.kill()
        with pytest.raises(WorkerError, match="SIGKILL"):
            list(said)


def test_cuda_and_the_switch_leave_work_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "CUDA" in start.why_open("cuda:0")
    assert start.why_open("cpu") == ""
    monkeypatch.setenv(SWITCH, "off")
    with open_session() as here:
        assert isinstance(here, AtHome)


# Whoever has taken over the process in the box.


SAYS = """
import sys
from counterfoil.talk.port import *
from counterfoil_core.values import events
from counterfoil.talk.frames import write_frame
from counterfoil.talk import process
from counterfoil.talk.failure import Failure
from counterfoil.talk.messages import encode
def say(message): write_frame(sys.stdout.buffer, encode([message]))
{}
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "says",
    [
        "write_frame(sys.stdout.buffer, b'nonsense')",
        "write_frame(sys.stdout.buffer, b'ccounterfoil_core.values.outcome\\nOutcome\\n(VDISPUTED\\ntR.')",
        "say(Item(1, 'Sentence'))",
        "say(Item(1, {'is': 'AuditReport'}))",
        "say(Item(1, {'is': 'OperatorDone', 'step': 'x', 'done': 1, 'total': 1}))",
        "say(Item(1, {'is': 'OperatorDone', 'step': 1, 'done': 1, 'total': 1, 'more': 1}))",
        "say(Item(1, {'is': 'CheckChanged', 'check': {'number': 8, 'state': 'PASSED', 'detail': ''}}))",
        "say(Item(1, events.AuditStarted(10**15, (), 'cpu', ())))",
        "say(Call(1, 'answer', ()))",
        "say(Call(1, '__init__', ('/',)))",
        "say(Call(1, 'open_workers', ('all',)))",
        "say(Call(1, 'keep', (b'', b'')))",
        "sys.stdout.buffer.write(b'\\xff' * 8); sys.stdout.buffer.flush()",
    ],
)
def test_nonsense_out_of_the_box_is_refused(says: str, digits_job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    def started() -> process.Process:
        command = [sys.executable, "-c", textwrap.dedent(SAYS).format(says) + "\nsys.stdin.read()"]
        return process.Process(REPLAY, ReplayWords(), process.Start(command))

    monkeypatch.setattr(session, "replay_process", started)
    with open_session() as box, pytest.raises(CounterfoilError, match="may not say"):
        list(box.audit(request_of(digits_job), CancelToken()))


@pytest.fixture
def progress(digits_job: Job, tmp_path: Path) -> progressfile.KeptAudit:
    found = progressfile.load(progress_of(digits_job, tmp_path / "real"))
    assert found is not None
    return found


@pytest.fixture
def answers(digits_job: Job, tmp_path: Path) -> Answers:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return Answers(scratch, request_of(digits_job, tmp_path / "kept"))


def asking(answers: Answers) -> Asking:
    """What a process in a box asks with, whose bytes come to these answers."""

    class Line:
        def ask(self, port: Port[Any], question: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
            asked = decode(encode(port.call(question, arguments, named)), Call)
            try:
                found = process.answer(asked, [(port, answers)])
            except (CounterfoilError, OSError) as error:
                raise Failure.of(error).error from error
            return decode(encode(found), port.form(asked.name).brings)

    return Asking(Line(), Path())


def test_progress_of_the_audited_file_is_kept(
    answers: Answers, progress: progressfile.KeptAudit, tmp_path: Path
) -> None:
    ask = asking(answers).ask
    assert ask(Answers.fitting, progress.basis, True) is None
    ask(Answers.keep, progressfile.body_of(progress))
    assert progressfile.load(tmp_path / "kept") == progress
    assert ask(Answers.earlier, progress.basis) == progressfile.body_of(progress)


@pytest.mark.parametrize("other", ["file", "order", "run_root"])
def test_progress_of_another_file_is_not(
    other: str, answers: Answers, progress: progressfile.KeptAudit, tmp_path: Path
) -> None:
    forged = replace(progress.basis, **{other: Digest.of(b"another")})
    ask = asking(answers).ask
    ask(Answers.fitting, forged if other == "file" else progress.basis, True)
    with pytest.raises(ProgressError, match="not progress of the file"):
        ask(Answers.keep, progressfile.body_of(msgspec.structs.replace(progress, basis=forged)))
    assert not (tmp_path / "kept").exists()


def test_progress_is_asked_for_of_one_audit_alone(answers: Answers, progress: progressfile.KeptAudit) -> None:
    ask = asking(answers).ask
    ask(Answers.fitting, progress.basis, True)
    with pytest.raises(CounterfoilError, match="not given"):
        ask(Answers.earlier, replace(progress.basis, run_root=Digest.of(b"another")))


def test_progress_that_is_none_is_not_kept(answers: Answers, progress: progressfile.KeptAudit, tmp_path: Path) -> None:
    ask = asking(answers).ask
    ask(Answers.fitting, progress.basis, True)
    with pytest.raises(ProgressError):
        ask(Answers.keep, b"\x80")
    with pytest.raises(CounterfoilError):  # names a capsule that does not lie there
        ask(Answers.keep, progressfile.body_of(msgspec.structs.replace(progress, capsule=bytes(32))))
    assert not (tmp_path / "kept").exists()


def test_a_capsule_is_copied_only_as_the_file_that_it_is(
    answers: Answers, progress: progressfile.KeptAudit, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a secret")
    named = msgspec.structs.replace(progress, capsule=Digest.of(b"a secret").value)
    ask = asking(answers).ask
    ask(Answers.fitting, progress.basis, True)
    link = tmp_path / "scratch" / "kept.cfoil"
    link.symlink_to(secret)
    with pytest.raises(CounterfoilError):
        ask(Answers.keep, progressfile.body_of(named))
    with pytest.raises(FileWriteError):
        take(tmp_path / "scratch", "kept.cfoil", tmp_path / "out", "the capsule")
    link.unlink()
    os.mkfifo(link)
    with pytest.raises(FileWriteError):
        take(tmp_path / "scratch", "kept.cfoil", tmp_path / "out", "the capsule")
    link.unlink()
    link.write_text("something else")
    with pytest.raises(ProgressError):
        ask(Answers.keep, progressfile.body_of(named))
    assert not (tmp_path / "out").exists()
    assert not progressfile.capsule_of(tmp_path / "kept").exists()


def test_nothing_is_done_that_was_not_asked_for(answers: Answers, digits_job: Job, tmp_path: Path) -> None:
    ask, none = asking(answers).ask, Digest.of(b"")
    with pytest.raises((CounterfoilError, AssertionError)):
        ask(Answers.open_workers, 1)
    with pytest.raises(CounterfoilError, match="not given"):
        ask(Answers.start_worker, 1)
    for question in (Answers.find_nonce, Answers.draw_nonce):
        with pytest.raises(CounterfoilError, match="not given"):
            ask(question, none, none)
    with pytest.raises(CounterfoilError, match="not given"):
        ask(Answers.place)
    with pytest.raises(CounterfoilError, match="not given"):
        asking(Answers(tmp_path / "scratch")).ask(Answers.open_workers, 1)


def test_nothing_is_called_that_is_no_question() -> None:
    for name in ("answer", "_keep", "__init__", "leftover", ""):
        with pytest.raises(FormError, match="not to be called"):
            QUESTIONS.read(decode(encode(Call(1, name, ())), Call))
    for arguments in ((), ("one",), (1, 2)):
        with pytest.raises(FormError):
            QUESTIONS.read(decode(encode(Call(1, "open_workers", arguments)), Call))


def test_errors_keep_their_class_and_role() -> None:
    error = GivenFileError("There is none.", role="order", remedy="Look.", detail="d")
    again = Failure.of(error).error
    assert type(again) is GivenFileError
    assert (again.sentence, again.remedy, again.detail, again.role) == ("There is none.", "Look.", "d", "order")


def test_every_event_is_brought() -> None:
    assert set(events.Event.__args__) <= set(get_args(TASKS.form("audit").brings))
    for task in (tasks.audit, tasks.part, tasks.adjudicate, tasks.signers):
        with pytest.raises(FormError):  # and not the TypeError of a type that no message has
            decode(b"\xc1", TASKS.form(task.__name__).brings)
