"""Rules of aggregation against attacks: what holds, and what an experiment is made of."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
import torch
from benchmarks.aggregation import (
    ATTACKS,
    FAULTY,
    LEARNING_RATE,
    MOMENTUM,
    NONE,
    RADIUS,
    RULES,
    SHARES,
    STEPS,
    Rule,
    Seen,
    Training,
    gradients_of_shares,
)
from benchmarks.plots import draw_dots
from torch.nn import functional

NAMED = {attack.name: attack for attack in ATTACKS}
ROBUST = ("median", "trimmed-mean", "krum", "multi-krum", "centred-clipping", "top-k")
LOST, HOLDS = 30.0, 85.0


@cache
def accuracy(rule: str, attack: str, momentum: float = 0.0, steps: int = 160) -> float:
    """After fewer steps than the page has, which decide the same."""
    return Training(Rule(rule, momentum).made(), NAMED[attack], seed=1).run(steps)


def test_the_mean_learns_nothing_under_scaled_lies_and_robust_rules_do() -> None:
    assert accuracy("mean", "none") > HOLDS
    assert accuracy("mean", "scaled 10") < LOST
    assert {rule: accuracy(rule, "scaled 10") for rule in ROBUST if accuracy(rule, "scaled 10") <= HOLDS} == {}


def test_krum_learns_nothing_under_small_inner_products_and_the_median_does() -> None:
    assert accuracy("krum", "none") > HOLDS
    assert accuracy("krum", "IPM 0.1") < LOST
    assert accuracy("median", "IPM 0.1") > HOLDS


def test_worker_momentum_lets_krum_learn_under_small_inner_products() -> None:
    assert accuracy("krum", "IPM 0.1", MOMENTUM) > HOLDS


@pytest.mark.slow
def test_what_hides_beside_the_last_aggregate_breaks_centred_clipping_and_other_attacks_do_not() -> None:
    for attack in ("ALIE", "IPM 0.1", "IPM 0.9"):
        assert accuracy("centred-clipping", attack, steps=STEPS) > HOLDS, attack
    # It leads the weights astray step by step, and needs all of them.
    assert accuracy("centred-clipping", "evasion", steps=STEPS) < LOST
    # Other rules hold against it, and so does this one over worker momentum.
    assert accuracy("trimmed-mean", "evasion", steps=STEPS) > HOLDS
    assert accuracy("centred-clipping", "evasion", MOMENTUM, steps=STEPS) > HOLDS


@pytest.fixture
def seen() -> Seen:
    generator = torch.Generator().manual_seed(4)
    honest = torch.randn(SHARES - FAULTY, 50, generator=generator)
    return Seen(honest, torch.randn(50, generator=generator), FAULTY, generator)


def test_attacks_send_what_the_page_says(seen: Seen) -> None:
    honest = seen.honest.double().numpy()
    mean = honest.mean(0)
    # 15 shares, 12 honest: 5 of them must be beyond the lie for it to belong to a majority of 8.
    z = NormalDist().inv_cdf(7 / 12)
    expected = {
        "sign flip": -mean,
        "scaled 10": -10 * mean,
        "scaled 100": -100 * mean,
        "ALIE": mean - z * honest.std(0, ddof=1),
        "IPM 0.1": -0.1 * mean,
        "IPM 0.9": -0.9 * mean,
        "mimic": honest[0],
    }
    for name, vector in expected.items():
        lie = NAMED[name].lie
        assert lie is not None
        np.testing.assert_allclose(lie(seen).numpy(), vector, rtol=1e-5, atol=1e-6, err_msg=name)
    assert {attack.name for attack in ATTACKS if attack.lie is None} == {"none", "label flip"}
    assert expected.keys() | {"none", "label flip", "noise", "evasion"} == NAMED.keys()


def test_an_evading_lie_is_as_far_from_the_last_aggregate_as_is_never_clipped_and_at_right_angles(seen: Seen) -> None:
    lie = NAMED["evasion"].lie
    assert lie is not None
    away = lie(seen) - seen.last
    assert away.norm().item() == pytest.approx(RADIUS, rel=1e-5)
    assert (away @ seen.last).item() == pytest.approx(0, abs=1e-5)
    first = lie(Seen(seen.honest, torch.zeros(50), FAULTY, seen.generator))
    np.testing.assert_allclose(first.numpy(), -RADIUS / 50**0.5, rtol=1e-6)


def test_a_gradient_of_a_share_is_that_of_its_rows() -> None:
    training = Training(Rule("mean").made(), NONE, seed=2)
    rows = torch.arange(SHARES * 4).reshape(SHARES, 4)
    images, digits = training.digits.images[rows], training.digits.digits[rows]
    stacked = gradients_of_shares(training.network, images, digits)
    for share in (0, SHARES - 1):
        own = {name: tensor.clone().requires_grad_() for name, tensor in training.network.items()}
        hidden = torch.relu(images[share] @ own["first"] + own["first_bias"])
        functional.cross_entropy(hidden @ own["second"] + own["second_bias"], digits[share]).backward()
        for name, tensor in own.items():
            torch.testing.assert_close(stacked[name][share], tensor.grad)


def test_a_step_without_lies_is_a_step_of_gradient_descent() -> None:
    training = Training(Rule("mean").made(), NONE, seed=2)
    generator = torch.Generator().manual_seed(0)
    generator.set_state(training._generator.get_state())
    rows = torch.randint(len(training.digits.images), (SHARES, 16), generator=generator).flatten()
    before = {name: tensor.clone().requires_grad_() for name, tensor in training.network.items()}
    hidden = torch.relu(training.digits.images[rows] @ before["first"] + before["first_bias"])
    loss = functional.cross_entropy(hidden @ before["second"] + before["second_bias"], training.digits.digits[rows])
    loss.backward()
    training.step()
    for name, tensor in before.items():
        assert tensor.grad is not None
        torch.testing.assert_close(training.network[name], (tensor - LEARNING_RATE * tensor.grad).detach())


def test_liars_choose_their_momenta() -> None:
    """A rule over momenta gets from the liars what the attack says, and not an average of it over the steps."""
    rule = Rule("mean", MOMENTUM).made()
    training = Training(rule, NAMED["scaled 10"], seed=1)
    for _ in range(3):
        training.step()
        momenta = torch.cat([training._slots[f"share_momentum:{n}"].reshape(SHARES, -1) for n in training.network], 1)
        expected = (-10 * momenta[:-FAULTY].mean(0)).expand(FAULTY, -1)
        torch.testing.assert_close(momenta[-FAULTY:], expected, rtol=1e-4, atol=1e-5)


def test_the_page_has_every_rule_and_attack() -> None:
    page = (Path(__file__).parents[2] / "docs" / "aggregation.md").read_text(encoding="utf-8")
    cells = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in page.splitlines() if line[:1] == "|"]
    begin = next(number for number, row in enumerate(cells) if row[0] == "rule" and len(row) > len(ATTACKS))
    (head, _, *rows) = cells[begin:]
    assert head[1:] == [attack.name for attack in ATTACKS]
    assert [row[0] for row in rows] == [rule.title for rule in RULES]
    assert {attack.name for attack in ATTACKS} <= {row[0] for row in cells if len(row) == 3}, "what each sends is said"


def test_a_picture_names_where_a_rule_does_not_hold(tmp_path: Path) -> None:
    draw_dots({"a < b": {"well": 96.0, "ill": 12.0, "worse": 10.0}}, "per cent", tmp_path / "dots.png", 85.0)
    assert (tmp_path / "dots.png").stat().st_size > 1000
