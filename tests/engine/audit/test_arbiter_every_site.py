"""The arbiter at every rounding site of a program: no sound machine is found wrong, and no lie makes it stumble."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterfoil.training.order import OrderDraft
from counterfoil.training.orderfile import load_order as load
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, step_key
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.grid.margin import node_bounds
from counterfoil_core.arithmetic.grid.neighbours import Values
from counterfoil_core.arithmetic.grid.replayrounder import Observation, ReplayingRounder
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.judge import arbiter
from counterfoil_core.judge.arbiter import arbitrate
from counterfoil_core.judge.elements import Elements
from counterfoil_core.judge.explain import Explanation
from counterfoil_core.kernels.grid import ZERO_SCALE
from counterfoil_core.operators.node import Node
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.program.torchdtypes import TORCH_DTYPES
from counterfoil_core.replay.replayer import NoResult, StepEndedError, StepReplayer, read_log
from counterfoil_core.replay.sharedreplay import step_replayer
from counterfoil_core.replay.shares import Logs, State
from counterfoil_core.values.dispute import Right
from support.dead_model import dead
from support.jobs import digits_order, gpt2_order, record_job
from support.precisions import CALIBRATED

CPU = torch.device("cpu")
FORGERY = np.uint64(0x123456789ABCDEF)


@dataclass(frozen=True)
class Recorded:
    """Step 1 of an honest run."""

    order: LoadedOrder
    record: StepRecord
    logs: Logs
    fingerprints: Any

    @property
    def state(self) -> State:
        return self.order.initial


def recorded(folder: Path, draft: OrderDraft, key: Any) -> Recorded:
    job = record_job(folder, draft, key)
    with BundleReader.open(job.run) as reader:
        order = load(reader)
        record = reader.step_records()[1]
        return Recorded(order, record, read_log(order, record, reader.log(1)), reader.fingerprints(1).copy())


# A sound machine.


class ObservingAll(ReplayingRounder):
    """Keeps an observation of every site."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.all: list[Observation] = []

    def _round(self, node: Node, exponent: int, flat: Tensor) -> int:
        self._observe = self._program.site_places[self._site]
        fingerprint = super()._round(node, exponent, flat)
        assert self.observation is not None
        self.all.append(self.observation)
        return fingerprint


SOUND: dict[str, Callable[[], OrderDraft]] = {
    "digits": digits_order,
    "digits, calibrated": lambda: digits_order(precision=CALIBRATED),
    "digits, float32": lambda: digits_order(precision=PROFILES["float32-bfloat16"]),
    "digits, p = 18": lambda: digits_order(precision=PROFILES["float64-18"]),
    "gpt2": gpt2_order,
    "gpt2, float32": lambda: gpt2_order(precision=PROFILES["float32-bfloat16"]),
    "zeros and tiny numbers": dead,
}


def observations(recorded: Recorded, compute: Any = native, device: torch.device = CPU) -> list[Observation]:
    """What happens at every site of step 1 on a machine that computes with ``compute``."""
    manifest, program = recorded.order.manifest, recorded.order.program
    kernels = Kernels(device, 1)
    rounder = ObservingAll(program, manifest.precision, kernels)
    rounder.follow(step_key(manifest.digest, 1), recorded.logs)
    machine = Interpreter(program, device, TORCH_DTYPES[manifest.precision.compute])
    machine.run(recorded.order.inputs(1, recorded.state), rounder=rounder, compute=compute)
    kernels.close()
    return rounder.all


def judge_cheaply(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few elements of each site, whatever the fingerprint says."""
    monkeypatch.setattr(arbiter, "BUDGET", 5_000)
    monkeypatch.setattr(arbiter, "explain", lambda *_: Explanation(None, False))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", SOUND)
def test_no_operator_of_a_sound_machine_is_found_wrong(tmp_path, trainer_key, monkeypatch, name) -> None:
    judge_cheaply(monkeypatch)
    step = recorded(tmp_path, SOUND[name](), trainer_key)
    none_is_off(step, observations(step))


@pytest.mark.gpu
@pytest.mark.parametrize("name", SOUND)
def test_no_operator_of_a_sound_gpu_is_found_wrong(tmp_path, trainer_key, monkeypatch, name) -> None:
    judge_cheaply(monkeypatch)
    step = recorded(tmp_path, SOUND[name](), trainer_key)
    none_is_off(step, observations(step, device=torch.device("cuda:0")))


def none_is_off(step: Recorded, seen: list[Observation]) -> None:
    assert len(seen) == len(step.order.program.sites)
    for site, observed in enumerate(seen):
        if observed.before.numel() and bounded(step, site):
            assert not examined(step, site, observed).off, observed.node.where


def bounded(step: Recorded, site: int) -> bool:
    """Whether an error bound is known for what is rounded at a site."""
    program = step.order.program
    return node_bounds(program, program.nodes[program.sites[site].node])[program.sites[site].output] is not None


def examined(step: Recorded, site: int, observed: Observation) -> Elements:
    fingerprint = int(step.fingerprints[step.order.program.site_places[site]] ^ FORGERY)
    compute = step.order.manifest.precision.compute
    elements = arbiter.examine(step.order.program, compute, observed, fingerprint, step.logs[site])
    assert elements is not None, observed.node.where
    return elements


def test_control_a_slightly_wrong_function_is_found_wrong(tmp_path, trainer_key, monkeypatch) -> None:
    judge_cheaply(monkeypatch)
    step = recorded(tmp_path, digits_order(), trainer_key)

    def wrong(operation: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = native(operation, args, kwargs)
        return result * (1 + 1e-10) if operation.node.entry.kind == "convolution" else result

    off = {
        observed.node.entry.kind
        for site, observed in enumerate(observations(step, wrong))
        if examined(step, site, observed).off
    }
    assert off == {"convolution"}


# A trainer who lies at one site, in its fingerprint alone or in its log too.

LIES: dict[str, Callable[[SiteLog], SiteLog]] = {
    "fingerprint": lambda log: log,
    "other scale": lambda log: SiteLog(5 if log.exponent != 5 else 9, log.indices, log.ups),
    "scale of zero": lambda log: SiteLog(ZERO_SCALE, log.indices[:0], log.ups[:0]),
}


def lied_to(steps: StepReplayer, step: Recorded, site: int, lie: Callable[[SiteLog], SiteLog]) -> Right:
    fingerprints, logs = step.fingerprints.copy(), list(step.logs)
    fingerprints[step.order.program.site_places[site]] ^= FORGERY
    logs[site] = lie(logs[site])
    outcome = finish(steps.replay(step.record, step.state, logs))
    return finish(arbitrate(steps, step.record, step.state, logs, outcome, fingerprints)).finding.right


def every_lie(step: Recorded) -> None:
    with step_replayer(step.order, Machine(CPU, 1)) as steps:
        for site in range(len(step.order.program.sites)):
            for name, lie in LIES.items():
                expected = Right.REPLAY if bounded(step, site) else Right.UNKNOWN
                assert lied_to(steps, step, site, lie) is expected, (site, name)


@pytest.mark.slow
def test_a_lie_about_nothing_is_still_a_lie(tmp_path, trainer_key) -> None:
    """Tensors that are zero as a whole, have no elements, or are so small that the margin underflows."""
    step = recorded(tmp_path, dead(), trainer_key)
    exponents = [log.exponent for log in step.logs]
    assert ZERO_SCALE in exponents
    assert any(ZERO_SCALE < exponent < -1030 for exponent in exponents)
    assert any(site.elements == 0 for site in step.order.program.sites)
    every_lie(step)


@pytest.mark.slow
@pytest.mark.parametrize("draft", [digits_order, gpt2_order])
def test_a_lie_at_any_site_is_seen_for_what_it_is(tmp_path, trainer_key, draft) -> None:
    every_lie(recorded(tmp_path, draft(), trainer_key))


# A trainer whose forged directions end the step.


def test_directions_that_lead_to_an_overflow_do_not_explain_the_step(tmp_path, trainer_key, monkeypatch) -> None:
    step = recorded(tmp_path, digits_order(), trainer_key)
    fingerprints = step.fingerprints.copy()
    fingerprints[step.order.program.site_places[0]] ^= FORGERY
    claimed = replace(step.record, loss=0.0)  # so that the leaves differ
    monkeypatch.setattr(Elements, "conforming", True)
    one = Values(np.array([0], np.int64), np.array([0.0]))
    monkeypatch.setattr(arbiter, "explain", lambda *_: Explanation(one, False))
    with step_replayer(step.order, Machine(CPU, 1)) as steps:
        outcome = finish(steps.replay(step.record, step.state, step.logs))
        replay, calls = steps.replay, []

        def overflowing(*args: Any, **kwargs: Any) -> Any:
            calls.append(kwargs)
            if "observe" not in kwargs:
                raise StepEndedError(NonFiniteError("The loss is infinite."), NoResult(None, 0, fingerprints))
            return (yield from replay(*args, **kwargs))

        monkeypatch.setattr(steps, "replay", overflowing)
        found = finish(arbitrate(steps, claimed, step.state, step.logs, outcome, fingerprints))
    assert len(calls) == 2
    assert (found.finding.right, found.reached) == (Right.REPLAY, None)
