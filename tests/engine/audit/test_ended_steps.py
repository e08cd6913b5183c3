"""A step that comes to no result: who is accused, and who is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.base.generators import finish
from counterfoil_core.hearing.inspection import open_inspection
from counterfoil_core.judge.arbiter import judge_end
from counterfoil_core.judge.judgement import look_at_end, look_at_state
from counterfoil_core.judge.looks import judge
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.replay.replayer import NoResult, StepReplayer, read_log, replay_result
from counterfoil_core.replay.sharedreplay import step_replayer
from counterfoil_core.values.dispute import Right
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.steptable import StepMatch
from support.jobs import Job, audited

STEP = 3


@pytest.fixture
def huge_step(digits_job: Job):
    """The trainer's record of a step of an honest run, what replays it, and a state from which it has no result."""
    with open_inspection(digits_job.run) as inspection:
        order = LoadedOrder.of(inspection.order)
        assert order is not None
        state = {
            name: torch.full_like(tensor, 3e38) if tensor.dim() > 1 and ":" not in name else tensor
            for name, tensor in order.initial.items()
        }
        record = inspection.records[STEP]
        logs = read_log(order, record, inspection.reader.log(STEP))
        with step_replayer(order, open_machine("cpu", 1)) as steps:
            yield steps, record, state, logs, np.array(inspection.reader.fingerprints(STEP)), order, inspection.reader


def ended(huge_step) -> NoResult:
    steps, record, state, logs, *_ = huge_step
    found = finish(replay_result(steps.replay(record, state, logs, keep_log=True)))
    assert isinstance(found, NoResult)
    return found


def test_where_it_ended_is_known(huge_step):
    end, program = ended(huge_step), huge_step[5].program
    assert end.unfit is not None
    assert end.node is not None
    assert program.nodes[end.node] is end.unfit.node
    assert all(place.node is None or place.node < end.node for place in program.places[: end.known])
    assert program.places[end.known].node == end.node
    assert end.unfit.scale >= 2.0**128


def test_only_a_scale_beyond_the_tolerance_of_all_machines_accuses(huge_step):
    end, program = ended(huge_step), huge_step[5].program
    for scale, right in (
        (end.unfit.scale, Right.NO_RESULT),
        (2.0**128 * (1 + 2.0**-11), Right.UNKNOWN),
        (2.0**128, Right.UNKNOWN),
        (float("inf"), Right.UNKNOWN),
        (float("nan"), Right.UNKNOWN),
    ):
        finding = judge_end(program, "float64", replace(end, unfit=replace(end.unfit, scale=scale)))
        assert finding.right is right, scale
    assert judge_end(program, "float64", replace(end, unfit=None)).right is Right.UNKNOWN


def test_a_machine_whose_own_values_are_wrong_accuses_nobody(huge_step):
    end, program = ended(huge_step), huge_step[5].program
    off = replace(end, unfit=replace(end.unfit, value=end.unfit.value * 1.5))
    assert judge_end(program, "float64", off).right is Right.NOBODY_KNOWN


def test_what_differs_before_the_end_is_judged_first(huge_step):
    steps, record, state, logs, theirs, *_ = huge_step
    theirs[1] ^= np.uint64(1)
    look = finish(look_at_end(steps, record, state, logs, theirs))
    assert look.accuses
    assert look.finding.right is Right.REPLAY
    assert "the rows of 'labels'" in look.finding.sentence


def test_a_machine_that_ends_once_only_accuses_nobody(huge_step, monkeypatch):
    steps, record, state, logs, theirs, order, reader = huge_step
    replay = StepReplayer.replay

    def once(self, claimed, state, logs, **settings):
        if settings.get("own_log"):
            state = order.initial
        return (yield from replay(self, claimed, state, logs, **settings))

    monkeypatch.setattr(StepReplayer, "replay", once)
    assert not finish(look_at_end(steps, record, state, logs, theirs)).confirmed
    with pytest.raises(NonFiniteError, match="Step 3 cannot be replayed"):
        finish(judge(steps, record, state, reader))


def test_a_state_that_no_step_leaves(huge_step):
    order = huge_step[5]
    name = next(iter(sorted(order.program.updates)))
    bad = dict(order.initial)
    bad[name] = torch.full_like(bad[name], float("nan"))
    look = look_at_state(order, 2, bad)
    assert look is not None
    assert (look.accuses, look.finding.right) == (True, Right.NO_RESULT)
    assert repr(name) in look.finding.sentence
    assert look_at_state(order, 2, order.initial) is None


def test_an_end_that_is_not_proven_leaves_the_other_segments_judged(digits_job: Job, monkeypatch):
    replay = StepReplayer.replay

    def ending(self, claimed, *args, **settings):
        if claimed.step == STEP:
            raise NonFiniteError("The loss is infinite.")
        return (yield from replay(self, claimed, *args, **settings))

    monkeypatch.setattr(StepReplayer, "replay", ending)
    result = audited(digits_job.run, digits_job.order)
    assert result.report.outcome is Outcome.INCONCLUSIVE
    assert "Step 3 cannot be replayed, although the trainer recorded it. The loss is infinite." in result.report.reason
    rows = {step: result.events[-1].steps.row(step).match for step in (1, 2, 3, 4, 5, 6)}
    assert [rows[step] for step in (1, 2, 5, 6)] == [StepMatch.MATCH] * 4
    assert [rows[step] for step in (3, 4)] == [StepMatch.UNJUDGED] * 2
