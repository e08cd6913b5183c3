"""A recording that is replayed while it is made: stopped at the first lie, and else with the verdict of an audit."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.audit import follow
from counterfoil.audit.hearings import run_audit
from counterfoil.audit.parts.partfile import read_part
from counterfoil.audit.recordingwait import wait_for_recording
from counterfoil.audit.values.follow import (
    FollowEnded,
    FollowRequest,
    FollowStarted,
    FollowState,
    HeadsChecked,
    RecordingWentBack,
    StepFollowed,
    StepSealed,
)
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.order import OrderDraft
from counterfoil.training.recordingfolder import recording_folder
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import GivenFileError, ObstacleError
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.replay.replayer import StepReplayer
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values import events
from counterfoil_core.values.outcome import Outcome
from support.besides import Events, audit_of, ending, follow_beside, killed_after, recorder, request_of, step_of
from support.heads import heads_of, write_heads
from support.jobs import Job, audited, digits_order, draw, record_run
from support.resuming import timeless
from support.stopping import ENDS, stopping_order

STEPS, LIE = 6, 3


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tmp_path / "run.cfoil"


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return tmp_path / "followed.part"


@pytest.fixture(scope="module")
def cheat(digits_job: Job, trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("cheat") / "run.cfoil"
    return record_run(digits_job.order, run, trainer_key, tamper=LabelFlip(LIE))


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The steps that were computed, in their order, by whomever."""
    steps: list[int] = []

    def counted(self: StepReplayer, claimed: StepRecord, *given: Any, **named: Any) -> Any:
        steps.append(claimed.step)
        return replay(self, claimed, *given, **named)

    replay = StepReplayer.replay
    monkeypatch.setattr(StepReplayer, "replay", counted)
    return steps


def concludes_as_an_audit(found: Events, request: FollowRequest) -> None:
    """The report says, times apart, what that of an audit says which begins now."""
    assert ending(found).outcome is None, ending(found).reason
    alone = audited(request.run, request.order, trainer_key=request.trainer_key, heads=request.heads)
    assert timeless(audit_of(found).report) == timeless(alone.report)


def test_each_segment_is_replayed_when_it_is_sealed_and_the_verdict_is_that_of_an_audit(
    digits_job: Job, trainer_key: SigningKey, run: Path, part: Path, computed: list[int]
) -> None:
    request = request_of(digits_job.order, run, trainer_key=trainer_key.public)
    found = follow_beside(request, part, recorder(digits_job.order, run, trainer_key))
    assert computed == [1, 2, 3, 4, 5, 6]
    concludes_as_an_audit(found, request)
    assert audit_of(found).report.outcome is Outcome.VERIFIED
    steps = [event.step for event in found if isinstance(event, (StepSealed, StepFollowed))]
    assert steps == [1, 2, 1, 2, 3, 4, 3, 4, 5, 6, 5, 6]
    (started,) = [event for event in found if isinstance(event, FollowStarted)]
    assert (started.steps, started.segments, started.trainer_key) == (STEPS, 3, trainer_key.public.key_id)
    followed = [event for event in found if isinstance(event, StepFollowed)]
    assert all(event.match and event.trainer_loss == event.replay_loss for event in followed)
    states = [event for event in found if isinstance(event, FollowState)]
    assert {event.behind for event in states} == {0, 1, 2}
    assert [event.segment for event in states if not event.waiting] == [1, 2, 3]


def test_a_lie_ends_it_while_the_recorder_runs(
    digits_job: Job, trainer_key: SigningKey, cheat: Path, run: Path, part: Path
) -> None:
    lying = recorder(digits_job.order, run, trainer_key, tamper=LabelFlip(LIE))
    found = follow_beside(request_of(digits_job.order, run), part, lying)
    ended = ending(found)
    assert not run.exists()
    assert step_of(lying), "the recorder has more steps to make"
    assert (ended.outcome, ended.sealed, ended.matching) == (Outcome.DISPUTED, 4, 2)
    judged = audited(cheat, digits_job.order).report
    assert judged.dispute is not None
    assert ended.dispute is not None
    # The way from the run root, and its proof, are those of a tree that has more leaves by then.
    path, proof = judged.dispute.path, judged.dispute.inclusion_proof
    assert replace(ended.dispute, path=path, inclusion_proof=proof) == judged.dispute
    assert ended.reason.startswith(judged.reason)
    assert "has not signed this step yet" in ended.reason
    last = [event for event in found if isinstance(event, StepFollowed)][-1]
    assert (last.step, last.match) == (LIE, False)
    assert last.trainer_loss != last.replay_loss
    assert not part.exists()


def test_a_lie_of_a_share_is_named(trainer_key: SigningKey, tmp_path: Path, part: Path) -> None:
    job = Job(tmp_path / "job.cfoil", tmp_path / "run.cfoil")
    shared_order().write(job.order, trial=False)
    lie = LabelFlip(LIE, array="y", classes=3, share=1)
    ended = ending(
        follow_beside(request_of(job.order, job.run), part, recorder(job.order, job.run, trainer_key, tamper=lie))
    )
    judged = audited(record_run(job.order, tmp_path / "whole.cfoil", trainer_key, tamper=lie), job.order).report
    assert ended.outcome is judged.outcome is Outcome.DISPUTED
    assert ended.dispute is not None
    assert judged.dispute is not None
    assert (ended.dispute.step, ended.dispute.part) == (judged.dispute.step, judged.dispute.part)
    assert ended.dispute.part
    assert ended.dispute.finding == judged.dispute.finding


def test_a_tree_head_over_the_lie_is_said(digits_job: Job, trainer_key: SigningKey, run: Path, part: Path) -> None:
    heads = run.with_suffix(".jsonl")
    lying = recorder(digits_job.order, run, trainer_key, tamper=LabelFlip(LIE))
    step_of(lying)
    step_of(lying)
    found = follow_beside(request_of(digits_job.order, run, heads=heads), part, lying)
    assert ending(found).outcome is Outcome.DISPUTED
    assert "signed a tree head over this step" in ending(found).reason
    assert [event.step for event in found if isinstance(event, HeadsChecked)] == [2, 4]


def shared_order() -> OrderDraft:
    """A step is made by two shares."""
    torch.manual_seed(4)
    model = nn.Linear(5, 3)
    data = {"x": draw((32, 5), 7), "y": np.arange(32) % 3}

    def objective(model: nn.Module, batch: Any) -> Tensor:
        return functional.cross_entropy(model(batch["x"]), batch["y"])

    rule = torch.optim.SGD(model.parameters(), 0.5)
    job = CustomJob("Shares", model, objective, rule, data, 4, batch_size=8, checkpoint_every=2, shares=2)
    return order_custom(job)


ORDERS = {
    "an exact profile": lambda: digits_order(steps=4, precision=ExactPrecision(20)),
    "a run that ends early": stopping_order,
    "shares": shared_order,
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("which", ORDERS)
def test_all_kinds_of_orders_are_followed(
    trainer_key: SigningKey, tmp_path: Path, part: Path, computed: list[int], which: str
) -> None:
    draft, job = ORDERS[which](), Job(tmp_path / "job.cfoil", tmp_path / "run.cfoil")
    draft.write(job.order, trial=False)
    request = request_of(job.order, job.run)
    found = follow_beside(request, part, recorder(job.order, job.run, trainer_key))
    assert audit_of(found).report.outcome is Outcome.VERIFIED, audit_of(found).report.reason
    steps = audit_of(found).report.steps_recorded
    assert steps == (ENDS if draft.manifest.may_stop_early else draft.manifest.steps)
    assert ending(found).matching == steps
    assert [event.step for event in found if isinstance(event, StepFollowed)] == [*range(1, steps + 1)]
    parts = 3 if draft.manifest.shares else 1  # two shares and the update
    assert computed == [step for step in range(1, steps + 1) for _ in range(parts)]
    concludes_as_an_audit(found, request)


def test_a_recorder_that_was_killed_is_said(digits_job: Job, trainer_key: SigningKey, run: Path, part: Path) -> None:
    killed = killed_after(3, recorder(digits_job.order, run, trainer_key))
    ended = ending(follow_beside(request_of(digits_job.order, run), part, killed))
    assert (ended.outcome, ended.sealed, ended.matching) == (Outcome.INCONCLUSIVE, 3, 2)
    assert "seems to have ended after step 3" in ended.reason


def test_a_recorder_that_goes_on_is_followed_on(
    digits_job: Job, trainer_key: SigningKey, run: Path, part: Path, computed: list[int]
) -> None:
    killed = killed_after(3, recorder(digits_job.order, run, trainer_key))
    resumed = recorder(digits_job.order, run, trainer_key, resume=True)
    request = request_of(digits_job.order, run)
    found = follow_beside(request, part, killed, resumed)
    assert computed == [1, 2, 3, 4, 5, 6]
    concludes_as_an_audit(found, request)
    assert not [event for event in found if isinstance(event, RecordingWentBack)]


def losing(step: int, run: Path, recording: Iterator[object]) -> Iterator[object]:
    """A recorder that is let go of after a step; then the machine loses most of its steps."""
    yield from killed_after(step, recording)  # type: ignore[arg-type]
    steps = recording_folder(run) / "steps-00000001"
    with steps.open("r+b") as file:
        file.truncate(steps.stat().st_size // 3)


def test_steps_that_were_lost_and_come_again_are_not_replayed_again(
    digits_job: Job, trainer_key: SigningKey, run: Path, part: Path, computed: list[int]
) -> None:
    lost = losing(5, run, recorder(digits_job.order, run, trainer_key))
    resumed = recorder(digits_job.order, run, trainer_key, resume=True)
    request = request_of(digits_job.order, run)
    found = follow_beside(request, part, lost, resumed)  # type: ignore[arg-type]
    assert computed == [1, 2, 3, 4, 5, 6]
    concludes_as_an_audit(found, request)
    assert [event.step for event in found if isinstance(event, RecordingWentBack)] == [2]
    assert [event.step for event in found if isinstance(event, StepFollowed)] == [1, 2, 3, 4, 5, 6]


def test_lost_steps_that_come_otherwise_end_it(digits_job: Job, trainer_key: SigningKey, run: Path, part: Path) -> None:
    lost = losing(5, run, recorder(digits_job.order, run, trainer_key, heads=None))
    resumed = recorder(digits_job.order, run, trainer_key, heads=None, resume=True, tamper=LabelFlip(4))
    ended = ending(follow_beside(request_of(digits_job.order, run), part, lost, resumed))  # type: ignore[arg-type]
    assert ended.outcome is Outcome.INCONCLUSIVE
    assert "came to another step 4 than the one that was followed" in ended.reason


def test_a_recording_that_is_begun_anew_ends_it(
    digits_job: Job, trainer_key: SigningKey, run: Path, part: Path
) -> None:
    killed = killed_after(3, recorder(digits_job.order, run, trainer_key, heads=None))
    fresh = recorder(digits_job.order, run, trainer_key, heads=None, fresh=True)
    ended = ending(follow_beside(request_of(digits_job.order, run), part, killed, fresh))
    assert ended.outcome is Outcome.INCONCLUSIVE
    assert "was begun anew while it was followed" in ended.reason


def test_a_recording_that_disappears_ends_it(
    digits_job: Job, trainer_key: SigningKey, run: Path, part: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "GONE_SECONDS", 0.05)
    killed = killed_after(3, recorder(digits_job.order, run, trainer_key))

    def removed() -> Iterator[object]:
        yield from killed
        recording_folder(run).rename(run.with_name("elsewhere"))

    found = follow_beside(request_of(digits_job.order, run, patience=None), part, removed())  # type: ignore[arg-type]
    assert ending(found).outcome is Outcome.INCONCLUSIVE
    assert "is gone, and no run of it lies beside it" in ending(found).reason


def test_a_recording_of_another_order_is_refused(
    digits_job: Job, trainer_key: SigningKey, tmp_path: Path, run: Path, part: Path
) -> None:
    other = tmp_path / "other.cfoil"
    digits_order(seed=12).write(other, trial=False)
    recording = recorder(digits_job.order, run, trainer_key)
    step_of(recording)
    ended = ending(follow_beside(request_of(other, run), part, recording))
    assert ended.outcome is Outcome.REFUSED
    assert "is of another order than the client's" in ended.reason


def test_a_recording_by_another_key_is_refused(
    digits_job: Job, trainer_key: SigningKey, tmp_path: Path, run: Path, part: Path
) -> None:
    known = _key(tmp_path / "known.pem")
    recording = recorder(digits_job.order, run, trainer_key)
    step_of(recording)
    ended = ending(follow_beside(request_of(digits_job.order, run, trainer_key=known.public), part, recording))
    assert ended.outcome is Outcome.REFUSED
    assert "not with the trainer's" in ended.reason


def _key(path: Path) -> SigningKey:
    generate_key(path, None)
    return load_private_key(path, None)


@pytest.mark.parametrize("which", ["history", "order", "key"])
def test_tree_heads_that_do_not_fit_are_refused_as_an_audit_refuses_them(
    digits_job: Job, trainer_key: SigningKey, cheat: Path, tmp_path: Path, run: Path, part: Path, which: str
) -> None:
    source, heads = tmp_path / "source.jsonl", tmp_path / "lying.jsonl"
    record_run(
        digits_job.order, tmp_path / "source.cfoil", trainer_key, heads=source, heads_every=2,
        tamper=LabelFlip(1) if which == "history" else None,
    )  # fmt: skip
    told = heads_of(source, trainer_key.public)
    changes = {"order": Digest(bytes(32))} if which == "order" else {}
    write_heads(heads, told, _key(tmp_path / "other.pem") if which == "key" else trainer_key, **changes)
    request = request_of(digits_job.order, run, heads=heads)
    found = follow_beside(request, part, recorder(digits_job.order, run, trainer_key))
    ended = ending(found)
    assert ended.outcome is Outcome.REFUSED
    assert not run.exists()
    judged = audited(digits_job.run, digits_job.order, heads=heads).report
    assert judged.outcome is Outcome.REFUSED
    assert ended.reason == judged.reason


def test_tree_heads_are_read_as_they_come(digits_job: Job, trainer_key: SigningKey, run: Path, part: Path) -> None:
    recording = recorder(digits_job.order, run, trainer_key)
    step_of(recording)
    step_of(recording)
    request = request_of(digits_job.order, run, heads=run.with_suffix(".jsonl"))
    found = follow_beside(request, part, recording)
    checked = [(event.heads, event.step) for event in found if isinstance(event, HeadsChecked)]
    assert checked == [(1, 2), (2, 4), (3, 6)]
    concludes_as_an_audit(found, request)


def test_a_recording_can_be_watched_without_a_replay(
    digits_job: Job, trainer_key: SigningKey, run: Path, part: Path, computed: list[int]
) -> None:
    lying = recorder(digits_job.order, run, trainer_key, tamper=LabelFlip(LIE))
    step_of(lying)
    step_of(lying)
    request = request_of(digits_job.order, run, heads=run.with_suffix(".jsonl"), replays=False)
    found = follow_beside(request, part, lying)
    assert computed == []
    assert [event.step for event in found if isinstance(event, StepSealed)] == list(range(1, STEPS + 1))
    assert [event.step for event in found if isinstance(event, HeadsChecked)][-1] == STEPS
    states = [event for event in found if isinstance(event, FollowState)]
    assert {(event.replayed, event.segment) for event in states} == {(0, 0)}
    assert (ending(found).outcome, ending(found).reason) == (None, "The run was made.")
    assert found[-1] is ending(found), "nothing is audited"
    assert not part.exists()


def test_a_torn_tree_head_and_one_ahead_of_the_steps_are_waited_for(
    digits_job: Job, trainer_key: SigningKey, tmp_path: Path, run: Path, part: Path
) -> None:
    source, heads = tmp_path / "source.jsonl", tmp_path / "heads.jsonl"
    record_run(digits_job.order, tmp_path / "source.cfoil", trainer_key, heads=source, heads_every=2)
    heads.write_bytes(source.read_bytes()[:-40])
    recording = recorder(digits_job.order, run, trainer_key)
    found = follow_beside(request_of(digits_job.order, run, heads=heads), part, killed_after(5, recording))
    assert [event.heads for event in found if isinstance(event, HeadsChecked)] == [1, 2]
    assert "seems to have ended" in ending(found).reason


def test_no_file_of_tree_heads_is_a_slip(digits_job: Job, tmp_path: Path, run: Path, part: Path) -> None:
    with pytest.raises(GivenFileError, match="There is no file"):
        list(follow.follow(request_of(digits_job.order, run, heads=tmp_path / "none.jsonl"), part))


def test_no_order_is_a_slip(tmp_path: Path, run: Path, part: Path) -> None:
    with pytest.raises(GivenFileError, match="There is no file"):
        list(follow.follow(request_of(tmp_path / "none.cfoil", run), part))


def test_what_is_left_when_the_run_is_made_is_replayed_from_it(
    digits_job: Job, trainer_key: SigningKey, run: Path, part: Path, computed: list[int]
) -> None:
    recording = recorder(digits_job.order, run, trainer_key)
    step_of(recording)
    request = request_of(digits_job.order, run)
    found: Events = []
    for event in follow.follow_run(request, part):
        found.append(event)
        if isinstance(event, FollowState) and event.waiting:
            step_of(recording)
        if isinstance(event, StepFollowed) and event.step == 3:
            assert list(recording), "the recorder comes to its end in the middle of a segment"
    assert computed == [1, 2, 3, 3, 4, 5, 6]
    concludes_as_an_audit(found, request)
    said = [event.check.detail for event in found if isinstance(event, events.CheckChanged)]
    assert not [detail for detail in said if "replayed here" in detail]


def test_a_run_that_is_there_already_is_audited(digits_job: Job, part: Path) -> None:
    request = request_of(digits_job.order, digits_job.run)
    found = follow_beside(request, part)
    concludes_as_an_audit(found, request)
    assert audit_of(found).report.outcome is Outcome.VERIFIED
    assert not read_part(part).segments


def test_a_run_that_is_not_what_was_followed_is_judged_by_itself(
    digits_job: Job, trainer_key: SigningKey, cheat: Path, run: Path, part: Path
) -> None:
    request = request_of(digits_job.order, run)
    follow_beside(request, part, recorder(digits_job.order, run, trainer_key))
    audit = replace(request.audit(part), run=cheat)
    found = list(run_audit(audit))
    assert timeless(audit_of(found).report) == timeless(audited(cheat, digits_job.order).report)
    assert audit_of(found).report.outcome is Outcome.DISPUTED
    said = [event.check.detail for event in found if isinstance(event, events.CheckChanged)]
    assert sum("is not as it was followed" in detail for detail in said) == 2


def test_it_stops_at_once(digits_job: Job, trainer_key: SigningKey, run: Path, part: Path) -> None:
    recording, token = recorder(digits_job.order, run, trainer_key), CancelToken()
    step_of(recording)
    request = request_of(digits_job.order, run, poll=60.0, patience=None)
    ended: list[FollowEnded] = []
    for event in follow.follow(request, part, token):
        if isinstance(event, FollowState):
            threading.Timer(0.05, token.cancel).start()
            begun = time.monotonic()
        if isinstance(event, FollowEnded):
            ended.append(event)
    assert time.monotonic() - begun < 5
    assert [event.outcome for event in ended] == [Outcome.INCONCLUSIVE]
    assert "stopped before any step was judged" in ended[0].reason


def test_patience_is_for_the_beginning_too(digits_job: Job, run: Path, part: Path) -> None:
    ended = ending(follow_beside(request_of(digits_job.order, run, patience=0.01), part))
    assert ended.outcome is Outcome.INCONCLUSIVE
    assert "No recording was begun" in ended.reason
    with pytest.raises(ObstacleError, match="No recording was begun"):
        list(wait_for_recording(request_of(digits_job.order, run, patience=0.01), CancelToken()))
