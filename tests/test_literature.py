"""The trainings of examples/literature: what they compute, honest runs of them, and lies about them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.cross_hardware import CROSS_HARDWARE, rows_of
from benchmarks.honest_jobs import EXAMPLES, LITERATURE, example, ordered
from benchmarks.imitations import SETTINGS
from torch import Tensor
from torch.nn import functional

from counterfoil.training import recorder
from counterfoil.training.custom import CustomJob
from counterfoil.training.order import OrderDraft
from counterfoil.training.orderfile import prepare_order
from counterfoil.training.tamper import Tamper
from counterfoil_core.arithmetic.compute.interpreter import StepInputs
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.program.graph import Program
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.outcome import Outcome
from support.bundles import test_key as key_in
from support.capsules import adjudicated, evidence_of, save
from support.consoles import as_said, examples, here
from support.expectations import verified
from support.jobs import Job, audited, record_job, record_run, replaced

PAGE = Path(__file__).parents[1] / "docs" / "literature.md"
STEPS, LIE = 4, 3
"""Steps of each order, and the one at which a trainer does otherwise."""


@pytest.fixture
def trainer_key(tmp_path: Path) -> SigningKey:
    return key_in(tmp_path)


# What they compute.


@pytest.fixture(scope="module")
def batch() -> dict[str, Tensor]:
    job = example("sharpness").make_job(1)
    return {name: torch.from_numpy(np.array(rows[:32])) for name, rows in job.data.items()}


def test_an_attack_stays_in_the_ball_and_raises_the_loss(batch: dict[str, Tensor]) -> None:
    module = example("adversarial")
    model = module.make_job(1).model
    images = batch["images"].float()[:, None] / 16
    losses = []
    for steps in (0, module.ATTACK_STEPS):
        torch.manual_seed(3)
        moved = module.attacked(model, images, batch["labels"], steps)
        if steps:
            assert float((moved - images).abs().max()) <= module.RADIUS + 1e-6
            assert 0 <= float(moved.min()) <= float(moved.max()) <= 1
        losses.append(functional.cross_entropy(model(moved), batch["labels"]).item())
    assert losses[1] > losses[0] + 0.02


def test_the_gradient_of_the_sharpness_aware_loss_is_that_of_the_published_algorithm(batch: dict[str, Tensor]) -> None:
    """Algorithm 1 as an optimizer does it: gradient, weights moved in place, gradient, weights moved back."""
    module = example("sharpness")
    model = module.make_job(1).model.double()
    given = {"images": batch["images"], "labels": batch["labels"]}
    images = given["images"].double().flatten(1) / 16
    weights = list(model.parameters())
    functional.cross_entropy(model(images), given["labels"]).backward()
    slopes = [weight.grad.clone() for weight in weights]
    norm = torch.cat([slope.flatten() for slope in slopes]).norm()
    with torch.no_grad():
        for weight, slope in zip(weights, slopes, strict=True):
            weight += module.RADIUS * slope / norm
    model.zero_grad()
    functional.cross_entropy(model(images), given["labels"]).backward()
    there = [weight.grad.clone() for weight in weights]
    with torch.no_grad():
        for weight, slope in zip(weights, slopes, strict=True):
            weight -= module.RADIUS * slope / norm
    moved = module.moved_weights(model, images, given["labels"])
    loss = functional.cross_entropy(torch.func.functional_call(model, moved, (images,)), given["labels"])
    ours = torch.autograd.grad(loss, weights)
    for one, other, plain in zip(ours, there, slopes, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)
        assert not torch.allclose(one, plain, rtol=1e-3, atol=1e-6), "a second gradient, and not the first once more"


def test_stacked_layers_begin_as_copies() -> None:
    module = example("stacking")
    shallow = module.Stack(1).state_dict()
    deep = module.make_deep(1, shallow).model.state_dict()
    for name, value in deep.items():
        assert torch.equal(value, shallow[name.replace("layers.1.", "layers.0.")])
    assert set(deep) - set(shallow) == {name.replace("layers.0.", "layers.1.") for name in shallow if "layers" in name}


# What is recorded and replayed.


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Job]:
    """An honest run of each, of four steps."""
    folder = tmp_path_factory.mktemp("literature")
    key = key_in(folder)
    return {name: record_job(folder_in(folder, name), make(STEPS, None), key) for name, make in LITERATURE.items()}


def folder_in(folder: Path, name: str) -> Path:
    there = folder / name.replace(" ", "-")
    there.mkdir()
    return there


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", LITERATURE)
def test_it_is_verified_on_imitated_hardware(recorded: Mapping[str, Job], name: str) -> None:
    report = verified(recorded[name].run, recorded[name].order, perturbation="reversed")
    assert report.steps_replayed == STEPS


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", LITERATURE)
def test_it_is_verified_under_an_exact_profile(name: str, tmp_path: Path, trainer_key: SigningKey) -> None:
    job = record_job(tmp_path, LITERATURE[name](2, PROFILES["exact-20"]), trainer_key)
    assert verified(job.run, job.order, perturbation="shuffled-1").log_bytes == 0


def states(job: Job) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The first and the last state of a run."""
    with BundleReader.open(job.run) as reader:
        return dict(reader.check_order_contents().initial), reader.checkpoint(STEPS)


def test_teacher_and_masks_stay_as_they_are_and_what_is_masked_stays_zero(recorded: Mapping[str, Job]) -> None:
    first, last = states(recorded["distillation"])
    for name in first:
        same = np.array_equal(first[name], last[name])
        assert same == name.startswith("teacher."), name
    first, last = states(recorded["sparse network"])
    for layer in ("0", "2"):
        mask, weight = last[f"{layer}.mask"], last[f"{layer}.weight"]
        assert np.array_equal(mask, first[f"{layer}.mask"])
        assert 0.09 < mask.mean() < 0.11
        assert not weight[mask == 0].any()
        assert (weight != first[f"{layer}.weight"])[mask == 1].any()


def test_each_layer_is_trained_in_its_turn_only(tmp_path: Path, trainer_key: SigningKey) -> None:
    job = example("stacking").make_job(3, 3)
    done = record_job(tmp_path, ordered(replace(job, checkpoint_every=1)), trainer_key)
    with BundleReader.open(done.run) as reader:
        kept = [reader.check_order_contents().initial, *(reader.checkpoint(step) for step in (1, 2, 3))]
    for step in (1, 2, 3):
        changed = {name.split(".")[1] for name in kept[0] if not np.array_equal(kept[step - 1][name], kept[step][name])}
        assert changed == {str(step - 1)}


@pytest.mark.slow
def test_it_is_verified_with_other_instructions_both_ways(tmp_path: Path) -> None:
    """The campaign between machines, with a process that is held to SSE4 as the other machine."""
    words = ["--out", str(tmp_path), "--profiles", "float64-24", "--jobs", *LITERATURE]
    assert not any(one.values["refused"] for one in CROSS_HARDWARE.in_process(["order", *words]).values())
    CROSS_HARDWARE.in_process(["work", "--machine", "here", *words])
    command = [sys.executable, "-m", "benchmarks", "cross-hardware", "work", "--machine", "sse4", *words]
    held = {**SETTINGS["SSE4"], "NUMBA_CPU_NAME": "nehalem", "NUMBA_CPU_FEATURES": "", "OMP_NUM_THREADS": "1"}
    subprocess.run(command, check=True, cwd=EXAMPLES.parents[1], env={**os.environ, **held}, capture_output=True)
    CROSS_HARDWARE.in_process(["work", "--machine", "here", *words])
    rows = rows_of(tmp_path / "results")
    there = next(row for row in rows if row["kind"] == "machine" and row["machine"] == "sse4")
    assert there["environment"]["cpu_capability"] == "DEFAULT"
    replays = {(row["job"], row["machine"]): row for row in rows if row["kind"] == "replayed"}
    assert set(replays) == {(name, machine) for name in LITERATURE for machine in ("here", "sse4")}
    assert all(row["expected"] for row in replays.values()), replays


# Lies.


@contextmanager
def running(programs: Callable[[LoadedOrder], Turns[Program]]) -> Iterator[None]:
    """A trainer whose recorder runs other programs than the order's, and signs what comes out.

    They have other places: as many fingerprints are made up as the file must have.
    """
    places: list[Turns[int]] = []

    def prepare(*args: Any) -> LoadedOrder:
        job = prepare_order(*args)
        places.append(job.programs.map(lambda program: len(program.places)))
        return replace(job, programs=programs(job))

    def fitting(step: int, *, fingerprints: np.ndarray, **rest: Any) -> Any:
        return stored(step, fingerprints=np.resize(fingerprints, places[-1].of(step)), **rest)

    stored = recorder.stored_step
    with replaced(recorder, "prepare_order", prepare), replaced(recorder, "stored_step", fitting):
        yield


@dataclass(frozen=True)
class ButForOne(Turns[Any]):
    """The order's only program, but for one step, which has another."""

    other: Any = None

    @property
    def only(self) -> Any:
        (part,) = self.parts.values()
        return part

    @property
    def all(self) -> tuple[Any, ...]:
        return (*self.parts.values(), self.other)

    def of(self, step: int) -> Any:
        return self.other if step == LIE else super().of(step)

    def map(self, make: Callable[[Any], Any]) -> Any:
        return ButForOne({name: make(part) for name, part in self.parts.items()}, self.pattern, make(self.other))


def one_step_of(other: OrderDraft) -> Callable[[LoadedOrder], Turns[Program]]:
    """The order's program but for one step, which has another order's."""
    return lambda job: ButForOne(job.programs.parts, job.programs.pattern, other.programs.only)


def the_lower_layer(job: LoadedOrder) -> Turns[Program]:
    """The order's programs but for one step, in which the first has its turn once more."""
    pattern = [job.programs.name(step) for step in range(1, STEPS + 1)]
    assert pattern[LIE - 1] != pattern[0]
    pattern[LIE - 1] = pattern[0]
    return replace(job.programs, pattern=tuple(pattern))


def without_attack() -> tuple[CustomJob, CustomJob]:
    module, job = example("adversarial"), example("adversarial").make_job(STEPS)

    def only_moved(model: Any, batch: Mapping[str, Tensor]) -> Tensor:
        images = batch["images"].to(torch.float32)[:, None] * (1 / 16)
        return functional.cross_entropy(model(module.attacked(model, images, batch["labels"], 0)), batch["labels"])

    return job, replace(job, objective=only_moved)


def without_second_gradient() -> tuple[CustomJob, CustomJob]:
    job = example("sharpness").make_job(STEPS)

    def plain(model: Any, batch: Mapping[str, Tensor]) -> Tensor:
        images = batch["images"].to(torch.float32).flatten(1) * (1 / 16)
        return functional.cross_entropy(model(images), batch["labels"])

    return job, replace(job, objective=plain)


def without_teacher() -> tuple[CustomJob, CustomJob]:
    module = example("distillation")
    job = module.make_student(STEPS, module.perceptron(64))
    return job, replace(job, objective=lambda model, batch: module.learned(model.student, batch))


def without_mask() -> tuple[CustomJob, CustomJob]:
    job = example("sparse").make_job(STEPS)

    def dense(model: Any, batch: Mapping[str, Tensor]) -> Tensor:
        x = batch["images"].to(torch.float32).flatten(1) * (1 / 16)
        for layer in (model[0], model[2]):
            x = functional.relu(functional.linear(x, layer.weight, layer.bias))
        return functional.cross_entropy(model[4](x), batch["labels"])

    return job, replace(job, objective=dense)


def found_at_the_step(run: Path, order: Path, folder: Path) -> None:
    """Expect a dispute about the step, and that anybody who adjudicates its capsule confirms it."""
    report = audited(run, order).report
    assert report.outcome is Outcome.DISPUTED, report.reason
    assert report.dispute is not None
    assert (report.dispute.step, report.dispute.confirmed) == (LIE, True)
    ruled = adjudicated(save(evidence_of(run, order), folder / "a.cfoil"), order=order)
    assert (ruled.outcome, ruled.step) == (AdjudicationOutcome.CONFIRMED, LIE)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("profile", ["float64-24", "exact-20"])
@pytest.mark.parametrize("lie", [without_attack, without_second_gradient, without_teacher, without_mask])
def test_a_cheaper_step_is_found(lie: Any, profile: str, tmp_path: Path, trainer_key: SigningKey) -> None:
    draft, other = (ordered(job, PROFILES[profile]) for job in lie())
    job = record_job(tmp_path, draft, trainer_key)
    verified(job.run, job.order)
    with running(one_step_of(other)):
        run = record_run(job.order, tmp_path / "bad.cfoil", trainer_key)
    found_at_the_step(run, job.order, tmp_path)


def at_the_step(changes: Any) -> Tamper:
    """Change the state in memory right before the step."""

    def tamper(inputs: StepInputs) -> StepInputs:
        if inputs.draws.step != LIE:
            return inputs
        return replace(inputs, state={**inputs.state, **changes(inputs.state)})

    return tamper


def another_teacher(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: -value for name, value in state.items() if name.startswith("teacher.")}


def no_mask(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: torch.ones_like(value) for name, value in state.items() if name.endswith("mask")}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("name", "changes"), [("distillation", another_teacher), ("sparse network", no_mask)])
def test_another_teacher_or_mask_is_found(
    recorded: Mapping[str, Job], name: str, changes: Any, tmp_path: Path, trainer_key: SigningKey
) -> None:
    order = recorded[name].order
    run = record_run(order, tmp_path / "bad.cfoil", trainer_key, tamper=at_the_step(changes))
    found_at_the_step(run, order, tmp_path)


def test_the_lower_layer_in_the_upper_ones_turn_is_found(
    recorded: Mapping[str, Job], tmp_path: Path, trainer_key: SigningKey
) -> None:
    order = recorded["layers by turns"].order
    with running(the_lower_layer):
        run = record_run(order, tmp_path / "bad.cfoil", trainer_key)
    found_at_the_step(run, order, tmp_path)


# The page.


def forget(names: Sequence[str]) -> None:
    for name in names:
        sys.modules.pop(name, None)


@pytest.mark.slow
def test_the_page_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [path.stem for path in EXAMPLES.glob("*.py")]
    for name in names:
        (tmp_path / f"{name}.py").write_bytes((EXAMPLES / f"{name}.py").read_bytes())
    monkeypatch.chdir(tmp_path)
    forget(names)
    try:
        for command, expected in examples(PAGE.read_text(encoding="utf-8")):
            shown = here(command)
            assert as_said(expected, shown), f"$ {command}\n{shown}\n-- page:\n{expected}"
    finally:
        forget(names)
