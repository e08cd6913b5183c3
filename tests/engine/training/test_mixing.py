"""MixTailor: the rule of aggregation of each step is drawn from the seed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import counterfoil
from counterfoil.training.mixtailor import MIXED, drawn_pattern, interleave, mixed_rules
from counterfoil_core.base.errors import DataError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.keys import SigningKey
from support.expectations import verified
from support.jobs import record_job

STEPS, SHARES = 6, 5


def job(steps: int = STEPS, aggregate: str = "mixtailor") -> counterfoil.CustomJob:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    data = {"x": rng.standard_normal((20, 3)).astype(np.float32), "y": rng.integers(0, 2, 20)}
    model = nn.Linear(3, 2)
    return counterfoil.CustomJob(
        "mixed",
        model,
        lambda model, batch: nn.functional.cross_entropy(model(batch["x"]), batch["y"]),
        torch.optim.SGD(model.parameters(), 0.1),
        data,
        steps,
        batch_size=10,
        shares=SHARES,
        aggregate=aggregate,
        faulty=1,
        checkpoint_every=3,
        seed=4,
    )


def test_each_rule_is_an_update_program_and_the_run_is_verified(tmp_path: Path, trainer_key: SigningKey) -> None:
    draft = counterfoil.order_custom(job())
    pattern = drawn_pattern(MIXED, STEPS, 4)
    assert draft.programs.pattern == pattern
    assert len(set(pattern)) > 1
    assert draft.updates is not None
    assert set(draft.updates.parts) == set(pattern)
    # The gradient programs are one and the same; the update programs are those of orders with one rule.
    assert len({program.digest for program in draft.programs.all}) == 1
    name = pattern[0]
    alone = counterfoil.order_custom(job(aggregate=name))
    assert alone.updates is not None
    assert draft.updates.parts[name].digest == alone.updates.only.digest
    assert len({program.digest for program in draft.updates.all}) == len(set(pattern))
    assert "one of these for each step" in draft.manifest.optimizer
    made = record_job(tmp_path, draft, trainer_key)
    verified(made.run, made.order)
    with BundleReader.open(made.order) as reader:
        assert reader.manifest == draft.manifest


def test_the_pattern_is_drawn_from_the_seed_and_all_rules_alike() -> None:
    pattern = drawn_pattern(MIXED, 4000, 7)
    assert pattern[:50] == drawn_pattern(MIXED, 50, 7)
    assert pattern[:50] != drawn_pattern(MIXED, 50, 8)
    assert all(900 < count < 1100 for count in Counter(pattern).values())


def test_rules_whose_needs_are_not_met_are_left_out() -> None:
    assert mixed_rules(5, 1) == MIXED
    assert mixed_rules(3, 1) == ("median", "trimmed-mean")
    with pytest.raises(DataError, match="no two rules to mix"):
        mixed_rules(2, 1)
    with pytest.raises(DataError, match="one rule alone is drawn"):
        drawn_pattern(MIXED, 1, 0)


def test_orders_that_differ_in_more_than_their_rule_are_not_mixed() -> None:
    one = counterfoil.order_custom(job(aggregate="median"))
    other = replace(one, manifest=replace(one.manifest, seed=5))
    with pytest.raises(DataError, match="came out otherwise for each rule"):
        interleave({"median": one, "krum": other}, ("median", "krum"))
    several = interleave({"median": one, "krum": one}, ("median", "krum"))
    with pytest.raises(DataError, match="take turns already"):
        interleave({"median": several, "krum": several}, ("median", "krum"))
