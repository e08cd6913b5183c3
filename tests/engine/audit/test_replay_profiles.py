"""Every rounded profile, and exact ones: recorded natively, replayed as other hardware would compute it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn

from counterfoil.training.order import OrderDraft
from counterfoil.training.orderfile import load_order
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, step_key
from counterfoil_core.arithmetic.grid.log import SiteLog, decode
from counterfoil_core.arithmetic.grid.replayrounder import ReplayingRounder
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.arithmetic.otherwise.perturbation import PERTURBATIONS, perturb
from counterfoil_core.base.precision import PROFILES, AnyPrecision, Precision
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.program.torchdtypes import TORCH_DTYPES
from counterfoil_core.values.outcome import Outcome
from support.jobs import Job, audited, digits_order, gpt2_order, own_order, record_job

BFLOAT16 = "float32-bfloat16"
ORDERS: dict[str, Callable[[AnyPrecision], OrderDraft]] = {
    "digits": lambda precision: digits_order(precision=precision, steps=3, checkpoint_every=3),
    "gpt2": lambda precision: gpt2_order(precision=precision, steps=3, checkpoint_every=3),
}
ROUNDED = {name: precision for name, precision in PROFILES.items() if isinstance(precision, Precision)}
CASES = [("digits", profile) for profile in (*ROUNDED, "exact-20", "exact-20-rows")] + [
    ("gpt2", profile) for profile in ("float64-24", "float64-18", BFLOAT16, "exact-20-rows")
]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory, trainer_key) -> Callable[[str, str], Job]:
    made: dict[tuple[str, str], Job] = {}

    def job(recipe: str, profile: str) -> Job:
        if (recipe, profile) not in made:
            folder = tmp_path_factory.mktemp("profile")
            made[recipe, profile] = record_job(folder, ORDERS[recipe](PROFILES[profile]), trainer_key)
        return made[recipe, profile]

    return job


@pytest.mark.sampled(3)
@pytest.mark.parametrize("perturbation", PERTURBATIONS)
@pytest.mark.parametrize(("recipe", "profile"), CASES)
def test_replay_is_bit_exact_on_other_hardware(jobs, recipe, profile, perturbation):
    job = jobs(recipe, profile)
    report = audited(job.run, job.order, perturbation=perturbation).report
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert (report.contradictions, report.omissions) == (0, 0)
    assert report.steps_replayed == 3


# Controls: where hardware differs across a midpoint, replay without the log ends elsewhere.


def follow(job: Job, perturbation: str, *, with_log: bool) -> tuple[list[bool], int]:
    """Replay a run as other hardware would; whether each checkpoint is the trainer's, and the corrections."""
    corrections, equal = 0, []
    with BundleReader.open(job.run) as reader:
        order = load_order(reader)
        manifest, sites = order.manifest, order.program.sites
        interpreter = Interpreter(order.program, torch.device("cpu"), TORCH_DTYPES[manifest.precision.compute])
        kernels = Kernels(torch.device("cpu"), 1)
        rounder = ReplayingRounder(order.program, manifest.precision, kernels)
        state = order.initial
        for step in range(1, manifest.steps + 1):
            logs = decode(reader.log(step), [site.elements for site in sites])
            if not with_log:
                logs = tuple(SiteLog(log.exponent, log.indices[:0], log.ups[:0]) for log in logs)
            rounder.follow(step_key(manifest.digest, step), logs)
            state = interpreter.run(order.inputs(step, state), rounder=rounder, compute=perturb(perturbation)).state
            corrections += sum(count.corrections for count in rounder.counts)
            if manifest.extent.is_checkpoint(step):
                stored = reader.checkpoint(step)
                equal.append(all(np.array_equal(stored[name], state[name].numpy()) for name in stored))
        kernels.close()
    return equal, corrections


class Summed(nn.Module):
    """A sum of each row with a weight for each row of a batch, to which the last bits of a plain sum matter."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((8,), 0.75))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum(1) * self.weight


def rows_whose_sums_are_midpoints(p: int) -> np.ndarray:
    """float32 rows whose exact sum lies halfway between two grid points: the order of summation decides."""
    rng = np.random.default_rng(p)
    x = np.zeros((32, 67), np.float32)
    x[:, :64] = rng.uniform(-1, 1, (32, 64)) * 2.0 ** -rng.integers(0, 30, (32, 64))
    x[:, 0] = 12.0
    for row in x:
        # Every S lies in 16 to 32, so E is 4; the sums lie in 8 to 16, where the quantum is 2^(3 - p + 1).
        midpoint = (Fraction(int(12 * 2 ** (p - 4))) + Fraction(1, 2)) * Fraction(2) ** (4 - p)
        rest = midpoint - sum((Fraction(float(value)) for value in row), Fraction(0))
        for place in (64, 65, 66):
            row[place] = np.float32(float(rest))
            rest -= Fraction(float(row[place]))
    return x


def steered_by_hardware(profile: str) -> OrderDraft:
    """An order in which the last bits decide, at any precision."""
    if profile == BFLOAT16:
        return digits_order(precision=ROUNDED[profile], width=8, batch_size=16, checkpoint_every=1)
    data = {"x": rows_whose_sums_are_midpoints(ROUNDED[profile].significand_bits)}
    draft = own_order(Summed(), lambda model, batch: model(batch["x"]).square().mean(), data, learning_rate=0.02)
    return replace(draft, manifest=replace(draft.manifest, precision=ROUNDED[profile]))


@pytest.fixture(scope="module", params=ROUNDED)
def corrected(request, tmp_path_factory, trainer_key) -> Job:
    return record_job(tmp_path_factory.mktemp("corrected"), steered_by_hardware(request.param), trainer_key)


@pytest.mark.sampled(2)
def test_control_without_the_log_replay_ends_elsewhere(corrected):
    report = audited(corrected.run, corrected.order, perturbation="reversed").report
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert (report.contradictions, report.omissions) == (0, 0)
    equal, corrections = follow(corrected, "reversed", with_log=True)
    assert all(equal)
    assert corrections > 0
    equal, _ = follow(corrected, "reversed", with_log=False)
    assert not all(equal)


# bfloat16.


class _Collecting(RecordingRounder):
    """Keeps what it has rounded."""

    values: list[torch.Tensor]

    def begin_step(self, key):
        super().begin_step(key)
        self.values = []

    def _round(self, node, exponent, flat):
        fingerprint = super()._round(node, exponent, flat)
        self.values.append(flat.clone())
        return fingerprint


def test_values_on_bfloat16s_grid_are_bfloat16_numbers(jobs):
    with BundleReader.open(jobs("gpt2", BFLOAT16).order) as reader:
        order = load_order(reader)
    kernels = Kernels(torch.device("cpu"), 1)
    rounder = _Collecting(order.program, order.manifest.precision, kernels)
    rounder.begin_step(1)
    Interpreter(order.program, torch.device("cpu"), torch.float32).run(order.inputs(1, order.initial), rounder=rounder)
    assert len(rounder.values) > 100
    for value in rounder.values:
        assert value.dtype == torch.float32
        assert torch.equal(value.bfloat16().float(), value)


def test_master_weights_keep_float32(jobs):
    with BundleReader.open(jobs("gpt2", BFLOAT16).run) as reader:
        weights = reader.checkpoint(3)
    finer = [name for name, array in weights.items() if not np.array_equal(_to_bfloat16(array), array)]
    assert len(finer) > len(weights) / 2


def _to_bfloat16(array: np.ndarray) -> np.ndarray:
    return torch.from_numpy(array).bfloat16().float().numpy()


def test_a_profile_with_other_guard_bits(tmp_path, trainer_key):
    precision = replace(ROUNDED[BFLOAT16], guard_bits=6, margin_bits=16)
    job = record_job(tmp_path, ORDERS["digits"](precision), trainer_key)
    assert audited(job.run, job.order, perturbation="split").report.outcome is Outcome.VERIFIED
