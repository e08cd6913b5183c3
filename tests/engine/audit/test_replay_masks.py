"""Masks of minus infinity, through every operator that attention brings them to: ordered, recorded, verified."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.audit.outcome import CheckNumber, CheckState, Outcome
from counterfoil.bundle.reader import BundleReader
from counterfoil.bundle.schema import PROFILES
from counterfoil.errors import NonFiniteError
from counterfoil.program.update import Sgd
from counterfoil.rounding.rounder import RecordingRounder
from counterfoil.signing import SigningKey
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.order import OrderDraft
from support.bent_recorder import bent, rounding_site
from support.jobs import audited, classify, draw, record_job, replaced

INF = float("inf")
TIME, WIDTH = 6, 8
DATA = {"x": draw((24, TIME, WIDTH), 2), "labels": np.arange(24, dtype=np.int64) % 5}
Masking = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Attention weights from queries, keys and a mask that is 0 or minus infinity."""


def divided(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax((q @ k.transpose(1, 2) + mask) / math.sqrt(WIDTH), -1)


def divided_by_a_tensor(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    # The divisor is a constant: its gradient would be 0 * infinity, in torch as well.
    return torch.softmax((q @ k.transpose(1, 2) + mask) / (k.detach().abs().sum((1, 2), keepdim=True) + 1), -1)


def baddbmm(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    base = mask.expand(len(q), -1, -1)
    return torch.softmax(torch.baddbmm(base, q, k.transpose(1, 2), alpha=1 / math.sqrt(WIDTH)), -1)


def added_with_alpha(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(torch.add(mask, q @ k.transpose(1, 2), alpha=1 / math.sqrt(WIDTH)), -1)


def log_softmax(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    return torch.log_softmax(q @ k.transpose(1, 2) + mask, -1).exp()


def logsumexp(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    scores = q @ k.transpose(1, 2) + mask
    return torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))


def softmax_along_the_first_axis(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(k @ q.transpose(1, 2) + mask.t(), 1).transpose(1, 2)


def product(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    # The mask arises within an operator, from an infinity that one of its arguments holds.
    return torch.softmax(torch.addcmul(q @ k.transpose(1, 2), mask, torch.ones(TIME, TIME), value=0.5), -1)


def interpolated(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    scores = q @ k.transpose(1, 2)
    return torch.softmax(torch.where(mask == 0, scores, torch.sqrt(-mask).neg()), -1)


def scaled_dot_product(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    identity = torch.eye(TIME).expand(len(q), -1, -1)
    return functional.scaled_dot_product_attention(q, k, identity, attn_mask=mask)


PATHS: dict[str, Masking] = {
    f.__name__: f
    for f in (
        divided, divided_by_a_tensor, baddbmm, added_with_alpha, log_softmax, logsumexp, softmax_along_the_first_axis,
        product, interpolated, scaled_dot_product,
    )
}  # fmt: skip


class Masked(nn.Module):
    def __init__(self, masking: Masking) -> None:
        super().__init__()
        self.query, self.key, self.head = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 5)
        self.masking = masking

    def forward(self, x: Tensor) -> Tensor:
        mask = torch.full((TIME, TIME), -INF).triu(1)
        return self.head((self.masking(self.query(x), self.key(x), mask) @ x).mean(1))


def order(masking: Masking, **settings: Any) -> OrderDraft:
    torch.manual_seed(0)
    chosen = {"steps": 2, "batch_size": 8, "learning_rate": 0.1} | settings
    return order_custom(CustomJob("A masked model", Masked(masking), classify, Sgd(), DATA, **chosen))


@pytest.mark.parametrize("profile", ["float64-24", "float32-bfloat16"])
@pytest.mark.parametrize("path", PATHS)
def test_masks_of_minus_infinity_pass(path: str, profile: str, tmp_path: Path, trainer_key: SigningKey) -> None:
    job = record_job(tmp_path, order(PATHS[path], precision=PROFILES[profile]), trainer_key)
    found = audited(job.run, job.order)
    assert found.report.outcome is Outcome.VERIFIED
    assert all(found.check(CheckNumber(n)).state is not CheckState.FAILED for n in range(1, 11))
    assert audited(job.run, job.order, perturbation="reversed+jitter").report.outcome is Outcome.VERIFIED
    with BundleReader.open(job.run) as reader:
        assert np.isfinite(reader.losses()).all()


def test_the_paths_bring_infinities_to_rounded_operators(tmp_path: Path, trainer_key: SigningKey) -> None:
    """The tests above are about something: each path but softmax itself rounds an output that holds infinities."""
    found: set[str] = set()

    def checked(self: RecordingRounder, node: Any, flat: Tensor, *rest: Any) -> Any:
        if bool(torch.isinf(flat).any()):
            found.add(node.entry.kind)
        return original(self, node, flat, *rest)

    original = RecordingRounder._checked
    with replaced(RecordingRounder, "_checked", checked):
        for path in PATHS:
            (tmp_path / path).mkdir()
            record_job(tmp_path / path, order(PATHS[path], steps=1), trainer_key)
    assert found >= {"div", "baddbmm", "add", "_log_softmax", "addcmul", "sqrt"}


def test_control_an_overflow_of_its_own_is_refused_by_name(tmp_path: Path, trainer_key: SigningKey) -> None:
    def overflowing(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
        return torch.softmax(torch.exp(q @ k.transpose(1, 2) * 1e6), -1)

    with pytest.raises(NonFiniteError, match=r"aten\.exp\.default .* no argument of it is infinite|beyond float32"):
        record_job(tmp_path, order(overflowing), trainer_key)
    assert not (tmp_path / "run.cfoil").exists()


def test_control_a_row_that_is_masked_as_a_whole_is_not_a_number(tmp_path: Path, trainer_key: SigningKey) -> None:
    def everything(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
        return torch.softmax((q @ k.transpose(1, 2) + torch.full((TIME, TIME), -INF)) / 2, -1)

    with pytest.raises(NonFiniteError, match=r"_softmax.* not a number") as caught:
        record_job(tmp_path, order(everything), trainer_key)
    assert "masked as a whole" in caught.value.remedy


def test_an_infinite_loss_is_refused(tmp_path: Path, trainer_key: SigningKey) -> None:
    class Impossible(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head = nn.Linear(TIME * WIDTH, 5)

        def forward(self, x: Tensor) -> Tensor:
            forbidden = torch.zeros(5).masked_fill(torch.arange(5) == 0, -INF)
            return self.head(x.flatten(1)) + forbidden

    job = CustomJob("Impossible", Impossible(), classify, Sgd(), DATA, 1, 8, 0.1)
    with pytest.raises(NonFiniteError, match="loss is infinite"):
        record_job(tmp_path, order_custom(job), trainer_key)


@pytest.mark.parametrize("path", ["divided", "baddbmm", "log_softmax"])
def test_a_value_changed_beside_the_infinities_is_disputed(path: str, tmp_path: Path, trainer_key: SigningKey) -> None:
    """The arbiter finds exact values in a tensor that holds infinities."""
    kind = {"divided": "div", "baddbmm": "baddbmm", "log_softmax": "_log_softmax"}[path]
    draft = order(PATHS[path], steps=2)

    def choose(before: np.ndarray, after: np.ndarray, grid: Any) -> dict[int, float]:
        index = int(np.flatnonzero(np.isfinite(after))[5])
        return {index: float(after[index]) * 1.5}

    cheat = bent("Cheat", step=1, site=rounding_site(draft.program, kind), choose=choose)
    from counterfoil.training import recorder

    with replaced(recorder, "RecordingRounder", cheat):
        job = record_job(tmp_path, draft, trainer_key)
    found = audited(job.run, job.order).report
    assert found.outcome is Outcome.DISPUTED
    assert found.dispute is not None
    assert found.dispute.finding is not None
    assert "another operator" not in found.dispute.finding.sentence
    assert found.dispute.finding.elements
    assert kind in found.dispute.finding.sentence


def test_an_infinity_in_the_place_of_a_number_and_back_is_disputed(tmp_path: Path, trainer_key: SigningKey) -> None:
    draft = order(divided, steps=2)

    def unmask(before: np.ndarray, after: np.ndarray, grid: Any) -> dict[int, float]:
        return {int(np.flatnonzero(np.isinf(after))[0]): 0.5}

    def mask(before: np.ndarray, after: np.ndarray, grid: Any) -> dict[int, float]:
        return {int(np.flatnonzero(np.isfinite(after))[7]): -INF}

    from counterfoil.training import recorder

    for name, choose in {"unmask": unmask, "mask": mask}.items():
        (tmp_path / name).mkdir()
        cheat = bent(name, step=1, site=rounding_site(draft.program, "div"), choose=choose)
        with replaced(recorder, "RecordingRounder", cheat):
            job = record_job(tmp_path / name, draft, trainer_key)
        assert audited(job.run, job.order).report.outcome is Outcome.DISPUTED
