"""Many replays of exact runs: every machine is in the plan, and one that computes otherwise is found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
import torch
from benchmarks.cross_hardware import ordinary, replays
from benchmarks.cross_hardware.campaign import Campaign, Training
from benchmarks.cross_hardware.replays import FORMS, SETTINGS, Replay, do, measure, plan, section, summary, tasks
from benchmarks.honest_jobs import ORDERS
from benchmarks.imitations import IMITATIONS

from counterfoil.training.recorder import record
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.arithmetic import machine as machine_module
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.arithmetic.otherwise.perturbation import perturb
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.products import Form
from counterfoil_core.program.graph import Program

JOB = "logistic"


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    made = Campaign(tmp_path_factory.mktemp("replays"))
    replays.prepare(made, [JOB], steps=2)
    return made


def test_the_plan_has_every_machine_on_one_thread_and_on_two() -> None:
    planned = [replay for replay in plan(list(ORDERS)) if replay.profile]
    assert len({replay.name for replay in planned}) == len(planned) > 1000
    for job in ORDERS:
        for setting in SETTINGS:
            found = {(r.machine, r.threads) for r in planned if (r.job, r.setting) == (job, setting)}
            assert {machine for machine, _ in found} >= set(IMITATIONS)
            assert found == {(machine, threads) for machine, _ in found for threads in (1, 2)}


@pytest.mark.parametrize("machine", ["", IMITATIONS[0], IMITATIONS[-1], *(f"products in {f.value}" for f in FORMS)])
def test_a_replay_gives_every_leaf(campaign: Campaign, machine: str) -> None:
    done = do(campaign, Replay(JOB, "exact-20", "as it is", machine, 1))
    # A form that is not sound on this processor is left out; float64 and float32 always are.
    assert (done is not None and done.equal) or machine in ("products in int8", "products in karatsuba")


def test_products_in_a_form_are_computed_in_it() -> None:
    machine, precision = open_machine("cpu", 1), ExactPrecision(13)
    with patch.object(machine_module, "exactly") as computing, replays._only(Form.FLOAT32):
        machine.compute(precision)
    computing.assert_called_once_with(Profile(13, Form.FLOAT32, Form.FLOAT32, Form.FLOAT32))


def test_a_run_that_is_not_what_was_ordered_gives_other_leaves(campaign: Campaign) -> None:
    """The control."""
    training = Training(JOB, "exact-20")
    run, honest = campaign.run("this", training), campaign.run("this", training).read_bytes()
    try:
        for _ in record(campaign.order(training), run, campaign.key, threads=1, fresh=True, tamper=LabelFlip(2)):
            pass
        done = do(campaign, Replay(JOB, "exact-20", "as it is", "", 1))
    finally:
        run.write_bytes(honest)
    assert done is not None
    assert (done.equal, done.outcome) == (False, "DISPUTED")


def test_the_counts_and_the_section() -> None:
    done = [
        Replay(JOB, "exact-20", "AVX2", "jitter", 1, equal=True, outcome="VERIFIED", seconds=1.5),
        Replay(JOB, "exact-13", "AVX2", "", 2, equal=False, outcome="DISPUTED", seconds=2.5),
        *(Replay(JOB, "", "AVX2", "", threads, outcome=root) for threads, root in ((1, "ab"), (2, "cd"))),
    ]
    found: Mapping[str, Any] = json.loads(json.dumps(summary(done, "the command")))
    assert found["counts"] == {JOB: {"AVX2": [1, 2]}}
    assert found["seconds"] == 4
    text = section(found)
    assert f"| {JOB} | 1 of 2 | 2 |" in text
    assert "**1 of 2 replays" in text
    assert "DISPUTED" in text
    assert "DISPUTED" not in section(json.loads(json.dumps(summary([replace(done[0])], "the command"))))


@pytest.mark.slow
def test_every_instruction_set_gives_every_leaf(campaign: Campaign) -> None:
    wanted = [r for r in plan([JOB]) if not r.profile or r.machine in ("", "reversed", "products in float64")]
    names = {replay.name for replay in wanted}
    done = measure(campaign, [task for task in tasks([JOB]) if task.name in names], 2, 1)
    assert {replay.name for replay in done} == names
    assert all(replay.equal for replay in done if replay.profile)
    # Whether ordinary training differs between them depends on the processor; the control is below.
    assert all(len(replay.outcome) == 64 for replay in done if not replay.profile)


def test_ordinary_training_with_sums_in_another_order_gives_another_state(campaign: Campaign) -> None:
    """The control, which holds on every processor: without a profile the order of additions is seen."""

    def backwards(program: Program, device: torch.device, dtype: torch.dtype) -> Interpreter:
        return Interpreter(program, device, dtype, perturb("reversed"))

    plain = Replay(JOB, "", "as it is", "", 1)
    with patch.object(ordinary, "Interpreter", backwards):
        other = do(campaign, plain)
    ours = [do(campaign, plain) for _ in range(2)]
    assert other is not None
    assert [one.outcome for one in ours if one] == [one.outcome for one in ours[:1] if one] * 2, "and nothing else is"
    assert all(one is not None and one.outcome != other.outcome for one in ours)
