"""Honest runs, replayed on many machines: nobody is accused, and nobody is doubted."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from benchmarks.honest_jobs import JOBS
from benchmarks.imitations import IMITATIONS, INSTRUCTION_SETS
from benchmarks.measure import Store, Values, figures
from benchmarks.replays import (
    FALSE_ACCUSATIONS,
    FOR_IMITATED,
    Machine,
    accusation_summary,
    accusation_table,
    is_clean,
    machines,
    plan,
    record_honestly,
    replay,
)

from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic import machine
from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.values.outcome import Outcome
from support.error_bounds import rounded_names
from support.jobs import replaced

QUICK_JOBS = ("digits-cnn", "logistic, calibrated margins", "gpt2, float32-bfloat16")
QUICK_MACHINES = ("2 threads", "shuffled-1", "split-3", "reversed+jitter", IMITATIONS[-1])
IN_PROCESS = tuple(machine for machine in machines() if not machine.variables and machine.device == "cpu")


def rounded_kinds() -> set[str]:
    return {name.split(".")[1] for name in rounded_names()}


@functools.cache
def drafted(job: str) -> OrderDraft:
    """A job of three steps; to capture a program takes longer than to record it."""
    return JOBS[job](3)


Recorded = Callable[[str], tuple[Path, Path]]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Recorded:
    made: dict[str, tuple[Path, Path]] = {}

    def job(name: str) -> tuple[Path, Path]:
        if name not in made:
            draft = drafted(name)
            with pytest.MonkeyPatch.context() as patch:
                patch.setitem(JOBS, name, lambda steps: draft)
                made[name] = record_honestly(tmp_path_factory.mktemp("honest"), name, steps=3)
        return made[name]

    return job


def assert_clean(found: Values) -> None:
    assert is_clean(found), found
    assert (found["outcome"], found["steps"]) == ("VERIFIED", 3)
    assert (found["disputed"], found["contradictions"], found["omissions"]) == (0, 0, 0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("machine", [m for m in IN_PROCESS if m.name in QUICK_MACHINES], ids=lambda m: m.name)
@pytest.mark.parametrize("job", QUICK_JOBS)
def test_a_few_machines(recorded, job, machine):
    assert_clean(replay(job, *recorded(job), machine))


def test_enough_machines_and_every_recipe():
    assert len(QUICK_MACHINES) == sum(m.name in QUICK_MACHINES for m in IN_PROCESS)
    assert len(IMITATIONS) >= 10
    assert {m.perturbation for m in IN_PROCESS} == {None, *IMITATIONS}
    for recipe in ("digits-cnn", "resnet", "vgg11", "logistic", "gpt2", "own model"):
        assert any(name.startswith(recipe) for name in JOBS)


@pytest.mark.slow
@pytest.mark.parametrize("machine", IN_PROCESS, ids=lambda m: m.name)
@pytest.mark.parametrize("job", JOBS)
def test_every_job_on_every_machine(recorded, job, machine):
    assert_clean(replay(job, *recorded(job), machine))


@pytest.mark.slow
def test_other_instruction_sets(tmp_path):
    words = ["--steps", "3", "--out", str(tmp_path), "--machines", *INSTRUCTION_SETS]
    assert FALSE_ACCUSATIONS.main("false-accusations", words) == 0
    found = [one for one in figures(Store(tmp_path).results()).values() if one.get("trainer") == ""]
    assert len(found) == len(JOBS) * len(INSTRUCTION_SETS)
    for one in found:
        assert_clean(one)


@pytest.mark.gpu
@pytest.mark.parametrize("perturbation", [None, "reversed+jitter"])
@pytest.mark.parametrize("job", JOBS)
def test_on_a_gpu(recorded, job, perturbation):
    assert_clean(replay(job, *recorded(job), Machine("gpu", perturbation=perturbation, device="cuda:0")))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("job", QUICK_JOBS)
def test_control_a_machine_beyond_the_margin_is_noticed(recorded, job):
    """Errors of 2^-12 in every rounded operator are no honest hardware: the counts above could have come out bad."""

    def unsound(operation, args, kwargs):
        result = native(operation, args, kwargs)
        if operation.node.entry.operator_class is not OperatorClass.ROUNDED or not isinstance(result, torch.Tensor):
            return result
        return result * (1 + 2.0**-12)

    with replaced(machine, "perturb", lambda name: unsound):
        found = replay(job, *recorded(job), Machine("unsound", perturbation="reversed"))
    assert not is_clean(found)
    assert found["disputed"] > 0 or found["contradictions"] > 0 or found["outcome"] != Outcome.VERIFIED.value


# The page that keeps the count.


def counted(**fields) -> Values:
    base = {
        "job": "a job", "trainer": "", "machine": "a machine", "outcome": "VERIFIED", "steps": 3, "values": 10,
        "entries": 5, "corrections": 1, "contradictions": 0, "omissions": 0, "disputed": 0, "steerable": 4,
        "steered": 0,
    }  # fmt: skip
    return base | fields


def test_the_summary_counts_what_is_not_clean():
    found = [counted(), counted(job="another", machine="m2", disputed=1, steered=1)]
    assert "1 of 2 replays: VERIFIED" in accusation_summary(found)
    assert "25.00%, 1 of 4 (another, m2)" in accusation_summary(found)
    assert "| **all** | 2 | 2 | 6 | 20 | 10 | 2 | 1 of 8 | 0 | 0 | 1 |" in accusation_table(found)


@pytest.mark.parametrize(
    "bad", [{"outcome": "INCONCLUSIVE"}, {"contradictions": 1}, {"omissions": 1}, {"disputed": 1}], ids=json.dumps
)
def test_each_finding_takes_clean_away(bad):
    assert is_clean(counted())
    assert not is_clean(counted(**bad))


# Stopping and cutting.


def test_every_replay_is_a_cell_of_its_own():
    every = plan(JOBS)
    assert set(JOBS) == {one.job for one in every}
    assert len({one.cell.key for one in every}) == len(every)


def test_at_least_a_thousand_replays_and_every_imitation_as_a_trainer_or_an_auditor():
    every = plan(JOBS)
    assert len(every) >= 1000
    assert {one.machine.perturbation for one in every} == {None, *IMITATIONS}
    assert set(FOR_IMITATED) <= {machine.name for machine in machines()}


@pytest.mark.slow
def test_every_kind_of_rounded_operator_is_replayed():
    """Under every imitation: what its last bits are decides nothing. A profile or margin changes no operator."""
    plain = [job for job in JOBS if not job.endswith((", calibrated margins", ", float32-bfloat16"))]
    assert 2 * len(plain) <= len(JOBS)
    replayed = {site.kind for job in plain for site in drafted(job).program.sites}
    assert rounded_kinds() - replayed == CAPTURED_AS_OTHERS


CAPTURED_AS_OTHERS = {"adaptive_avg_pool1d", "avg_pool1d", "selu"}
"""Torch takes these apart itself while a step is captured."""
