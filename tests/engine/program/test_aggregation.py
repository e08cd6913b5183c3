"""Rules of aggregation, by their programs under both families of profiles, against references of their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from counterfoil.program.aggregation import (
    RULES,
    Aggregating,
    AggregationRule,
    CentredClipping,
    Krum,
    Mean,
    Median,
    MultiKrum,
    SparseFed,
    TrimmedMean,
    WorkerMomentum,
    parse_rule,
)
from counterfoil.program.aggregation.rule import Layout
from counterfoil.program.update import ClipByNorm, Sgd
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.precision import AnyPrecision
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.outcome import Outcome
from support.aggregating import EXACT, ROUNDED, Prefix, Shares, Stacked, aggregated, captured, objective
from support.jobs import audited, draw, own_order, record_job

SHARES, FAULTY = 7, 2
SHAPES: Mapping[str, tuple[int, ...]] = {"matrix": (4, 3), "bias": (5,), "number": ()}
BOTH = pytest.mark.parametrize("precision", [ROUNDED, EXACT], ids=["rounded", "exact"])
Vector = NDArray[np.float64]


def some_shares(number: int = 0, shares: int = SHARES) -> dict[str, Tensor]:
    return {
        name: torch.from_numpy(draw((shares, *shape), 10 * number + k))
        for k, (name, shape) in enumerate(SHAPES.items())
    }


def long_vectors(shares: Shares) -> Vector:
    """The shares as rows of one array, in float64."""
    return np.concatenate([t.reshape(len(t), -1).double().numpy() for t in shares.values()], axis=1)


def long_vector(tensors: Shares) -> Vector:
    return np.concatenate([tensor.reshape(-1).double().numpy() for tensor in tensors.values()])


def of_columns(reference: Callable[[list[Fraction]], Fraction]) -> Callable[[Vector], Vector]:
    """What a reference in rational numbers makes of each element."""
    return lambda rows: np.array([float(reference([Fraction(x) for x in column])) for column in rows.T])


def rational_median(column: list[Fraction]) -> Fraction:
    low, high = (sorted(column)[k] for k in ((len(column) - 1) // 2, len(column) // 2))
    return (low + high) / 2


def rational_trimmed(column: list[Fraction]) -> Fraction:
    left = sorted(column)
    for _ in range(FAULTY):
        left.remove(max(left))
        left.remove(min(left))
    return sum(left, Fraction()) / len(left)


def rational_scores(rows: Vector, faulty: int = FAULTY) -> list[Fraction]:
    scores = []
    for i, row in enumerate(rows):
        squares = [
            sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(row, other, strict=True))
            for j, other in enumerate(rows)
            if j != i
        ]
        scores.append(sum(sorted(squares)[: len(rows) - faulty - 2], Fraction()))
    return scores


def rational_krum(rows: Vector) -> Vector:
    scores = rational_scores(rows)
    return rows[scores.index(min(scores))]


def rational_multi_krum(rows: Vector) -> Vector:
    scores = rational_scores(rows)
    best = sorted(range(len(rows)), key=lambda i: (scores[i], i))[: len(rows) - FAULTY]
    return of_columns(lambda column: sum(column, Fraction()) / len(column))(rows[best])


REFERENCES: dict[str, tuple[AggregationRule, Callable[[Vector], Vector]]] = {
    "mean": (Mean(SHARES), of_columns(lambda column: sum(column, Fraction()) / len(column))),
    "median": (Median(SHARES, FAULTY), of_columns(rational_median)),
    "trimmed mean": (TrimmedMean(SHARES, FAULTY), of_columns(rational_trimmed)),
    "krum": (Krum(SHARES, FAULTY), rational_krum),
    "multi-krum": (MultiKrum(SHARES, FAULTY), rational_multi_krum),
}
CHOOSE = ("median", "krum")
"""Rules that give an element of a share as it is."""


@BOTH
@pytest.mark.parametrize("name", REFERENCES)
def test_a_rule_is_what_rational_numbers_say(name: str, precision: AnyPrecision) -> None:
    rule, reference = REFERENCES[name]
    steps = [some_shares(0), some_shares(1)]
    for shares, found in zip(steps, aggregated(rule, steps, precision), strict=True):
        assert {key: tuple(tensor.shape) for key, tensor in found.items()} == SHAPES
        expected = reference(long_vectors(shares))
        if name in CHOOSE:
            np.testing.assert_array_equal(long_vector(found), expected)
        else:
            np.testing.assert_allclose(long_vector(found), expected, rtol=0, atol=2.0**-22)


@BOTH
def test_the_median_of_an_even_number_is_the_mean_of_the_middle_two(precision: AnyPrecision) -> None:
    shares = some_shares(3, shares=6)
    (found,) = aggregated(Median(6, 2), [shares], precision)
    expected = of_columns(rational_median)(long_vectors(shares)).astype(np.float32)
    np.testing.assert_array_equal(long_vector(found), expected)
    assert not np.array_equal(expected, long_vector({n: t.median(0).values for n, t in shares.items()}))


@BOTH
@pytest.mark.parametrize(("values", "first"), [((3, 1, 2, 4, 5), 3), ((1, 5, 4, 3, 2), 4), ((5, 1, 2, 3, 4), 2)])
def test_of_equal_scores_krum_takes_the_first(values: Sequence[int], first: int, precision: AnyPrecision) -> None:
    rows = np.array(values, float)[:, None]
    scores = rational_scores(rows, faulty=1)
    assert scores.count(min(scores)) == 3
    (found,) = aggregated(Krum(5, 1), [{"x": torch.tensor(values, dtype=torch.float32)}], precision)
    assert found["x"].item() == first


@BOTH
def test_of_equal_magnitudes_top_k_takes_the_first_and_brings_the_others_later(precision: AnyPrecision) -> None:
    shares = {"b": torch.tensor([[-1.0, 0.5, 1.0]] * 2), "a": torch.tensor([[1.0]] * 2)}
    nothing = {name: torch.zeros_like(tensor) for name, tensor in shares.items()}
    steps = aggregated(SparseFed(2, limit=8.0, kept=0.5), [shares, nothing, nothing], precision)
    found = [(step["b"].tolist(), step["a"].tolist()) for step in steps]
    assert found == [([-1.0, 0, 1.0], [0]), ([0, 0.5, 0], [1.0]), ([0, 0, 0], [0])]


def clipped_mean(rows: Vector, centre: Vector, radius: float) -> Vector:
    lengths = np.sqrt(((rows - centre) ** 2).sum(axis=1))
    with np.errstate(divide="ignore"):
        return ((rows - centre) * np.minimum(1.0, radius / lengths)[:, None]).mean(axis=0)


@BOTH
@pytest.mark.parametrize(("momentum", "radius"), [(0.0, 2.4), (0.75, 0.8)])
def test_centred_clipping_over_several_steps(momentum: float, radius: float, precision: AnyPrecision) -> None:
    rule: AggregationRule = CentredClipping(SHARES, FAULTY, radius, iterations=2)
    steps = [some_shares(number) for number in range(3)]
    found = aggregated(WorkerMomentum(rule, momentum) if momentum else rule, steps, precision)
    centre = np.zeros(18)
    momenta = np.zeros((SHARES, 18))
    clipped = 0
    for shares, one in zip(steps, found, strict=True):
        momenta = momentum * momenta + (1 - momentum) * long_vectors(shares)
        clipped += int((np.linalg.norm(momenta - centre, axis=1) > radius).sum())
        for _ in range(2):
            centre = centre + clipped_mean(momenta, centre, radius)
        np.testing.assert_allclose(long_vector(one), centre, rtol=0, atol=2.0**-20)
    assert 0 < clipped < 3 * SHARES, "some are clipped, and some are not"


@BOTH
def test_top_k_with_clipping_over_several_steps(precision: AnyPrecision) -> None:
    steps = [some_shares(number) for number in range(3)]
    waiting = np.zeros(18)
    for shares, one in zip(steps, aggregated(SparseFed(SHARES, limit=2.0, kept=0.2), steps, precision), strict=True):
        waiting = waiting + clipped_mean(long_vectors(shares), np.zeros(18), 2.0)
        largest = np.argsort(-np.abs(waiting), kind="stable")[: math.ceil(0.2 * 18)]
        taken = np.zeros(18)
        taken[largest] = waiting[largest]
        waiting = waiting - taken
        np.testing.assert_allclose(long_vector(one), taken, rtol=0, atol=2.0**-21)


def test_worker_momentum_is_what_the_rule_within_sees() -> None:
    steps = [some_shares(number) for number in range(3)]
    found = aggregated(WorkerMomentum(Krum(SHARES, FAULTY), 0.9), steps, ROUNDED)
    momenta = np.zeros((SHARES, 18))
    for shares, one in zip(steps, found, strict=True):
        momenta = 0.9 * momenta + (1 - 0.9) * long_vectors(shares)
        np.testing.assert_allclose(long_vector(one), rational_krum(momenta), rtol=0, atol=2.0**-22)


class OneSum(Krum):
    """Krum as one would write it: all distances are one operator's output."""

    def scores(self, stacked: Mapping[str, Tensor]) -> Tensor:
        rows = torch.cat([tensor.reshape(self.shares, -1) for tensor in stacked.values()], 1).clamp(-(2.0**40), 2.0**40)
        difference = rows[:, None] - rows[None]
        ordered = torch.sort((difference * difference).sum(-1), stable=True).values
        return ordered[:, 1 : self.shares - self.faulty - 1].sum(1)


def two_liars() -> dict[str, Tensor]:
    """Shares of which the first is far from the honest ones, and the last is huge."""
    shares = {name: tensor * 0.1 for name, tensor in some_shares().items()}
    for tensor in shares.values():
        tensor[0], tensor[-1] = 100.0, 2.0**50
    return shares


def test_a_huge_share_does_not_hide_another_one_from_krum() -> None:
    shares = two_liars()
    (found,) = aggregated(Krum(SHARES, FAULTY), [shares], ROUNDED)
    np.testing.assert_array_equal(long_vector(found), rational_krum(long_vectors(shares)))
    assert np.abs(long_vector(found)).max() < 0.1
    # The control: on a grid as coarse as the huge share makes it every other distance is zero, and the first is taken.
    (blind,) = aggregated(OneSum(SHARES, FAULTY), [shares], ROUNDED)
    assert long_vector(blind).tolist() == [100.0] * 18


@BOTH
@pytest.mark.parametrize("rule", [CentredClipping, SparseFed])
def test_a_huge_share_does_not_hide_another_one_from_clipping(rule: type, precision: AnyPrecision) -> None:
    radius = 0.5
    made = rule(SHARES, FAULTY, radius) if rule is CentredClipping else rule(SHARES, FAULTY, radius, kept=1.0)
    (found,) = aggregated(made, [two_liars()], precision)
    honest = clipped_mean(long_vectors(two_liars())[1:-1], np.zeros(18), radius) * (SHARES - 2) / SHARES
    # Each liar moves the result by radius / n at most, whatever it sends.
    assert np.linalg.norm(long_vector(found) - honest) <= 2 * radius / SHARES * (1 + 1e-6)


@BOTH
@pytest.mark.parametrize("name", [name for name in RULES if name != "mean"])
def test_no_finite_share_stops_the_training(name: str, precision: AnyPrecision) -> None:
    shares = {key: tensor * 0.01 for key, tensor in some_shares().items()}
    for tensor in shares.values():
        tensor[1], tensor[4] = torch.finfo(torch.float32).max, -torch.finfo(torch.float32).max
    settings = {"centred-clipping": {"radius": 0.5}, "top-k": {"limit": 0.5, "kept": 1.0}}.get(name)
    (found,) = aggregated(parse_rule(name, shares=SHARES, faulty=2, settings=settings), [shares], precision)
    assert np.linalg.norm(long_vector(found)) < 0.2


def test_the_lengths_of_several_runs_are_added() -> None:
    shares = some_shares()
    apart = Layout.of({name: tensor.shape[1:] for name, tensor in shares.items()}, longest=12)
    assert apart.runs == (("matrix",), ("bias", "number"))
    (vector, *_) = apart.vectors(shares, SHARES)
    assert [len(run) for run in vector] == [12, 6]
    back = apart.tensors(vector)
    assert all(torch.equal(back[name], tensor[0]) for name, tensor in shares.items())


@pytest.mark.parametrize("longest", [1, 5, 12])
@pytest.mark.parametrize("name", ["krum", "centred-clipping", "top-k"])
def test_in_how_many_runs_a_vector_lies_changes_no_more_than_its_last_bits(
    name: str, longest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = parse_rule(name, shares=SHARES, faulty=FAULTY)
    shares = {key: tensor.double() for key, tensor in some_shares().items()}
    slots = rule.slots({key: tensor[0] for key, tensor in shares.items()})
    expected = rule.aggregate(shares, slots, lambda _: None).gradients
    monkeypatch.setattr(Layout.of, "__defaults__", (longest,))
    found = rule.aggregate(shares, slots, lambda _: None).gradients
    np.testing.assert_allclose(long_vector(found), long_vector(expected), rtol=0, atol=1e-14)


def test_a_dispute_can_name_what_a_rule_was_doing() -> None:
    nodes = captured(WorkerMomentum(Krum(SHARES, FAULTY)), some_shares(), ROUNDED).program.nodes
    update = {node.module for node in nodes if node.phase == "update"}
    assert update == {"krum", *SHAPES, *(f"share_momentum:{name}" for name in SHAPES)}


@BOTH
def test_a_run_with_a_rule_is_recorded_and_verified(
    tmp_path: Path, trainer_key: SigningKey, precision: AnyPrecision
) -> None:
    rule = Prefix(WorkerMomentum(Krum(SHARES, FAULTY)))
    data = {name: np.repeat(draw((SHARES * 3, *shape), 5), 1, axis=0) for name, shape in SHAPES.items() if shape}
    model = Stacked({name: (SHARES, *array.shape[1:]) for name, array in data.items()})
    draft = own_order(model, objective, data, rule=rule, steps=3, batch_size=SHARES, precision=precision)
    job = record_job(tmp_path, draft, trainer_key)
    # On another machine the sums come out with other last bits, and the same share is chosen.
    for machine in (None, "reversed+jitter"):
        assert audited(job.run, job.order, perturbation=machine).report.outcome is Outcome.VERIFIED


def test_an_optimizer_sees_the_aggregate() -> None:
    shares = some_shares()
    parameters = {name: torch.from_numpy(draw(shape, 90)) for name, shape in SHAPES.items()}
    within, aggregation = ClipByNorm(Sgd(momentum=0.9), 0.5), CentredClipping(SHARES, FAULTY, radius=2.0)
    rule = Aggregating(within, aggregation)
    assert rule.scalar_names == within.scalar_names
    slots, scalars = rule.slots(parameters), {"lr": torch.tensor(0.1)}
    found = rule.update(parameters, shares, slots, scalars, lambda _: None)
    made = aggregation.aggregate(shares, slots, lambda _: None)
    expected = {**within.update(parameters, made.gradients, slots, scalars, lambda _: None), **made.slots}
    assert found.keys() == expected.keys() == parameters.keys() | slots.keys()
    assert all(torch.equal(found[name], tensor) for name, tensor in expected.items())
    assert rule.describe() == (
        f"{within.describe()}; gradients: Centred clipping of 7 shares, 2 of which may be faulty, to 2"
    )


@pytest.mark.parametrize(
    ("name", "shares", "faulty", "needed"),
    [
        ("median", 4, 2, 5),
        ("trimmed-mean", 6, 3, 7),
        ("krum", 6, 2, 7),
        ("multi-krum", 2, 0, 3),
        ("centred-clipping", 2, 1, 3),
        ("top-k", 8, 4, 9),
    ],
)
def test_a_rule_says_how_many_shares_it_needs(name: str, shares: int, faulty: int, needed: int) -> None:
    with pytest.raises(DataError, match=f"needs {needed} shares at least, and there are {shares}"):
        parse_rule(name, shares=shares, faulty=faulty)
    parse_rule(name, shares=needed, faulty=faulty)


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        ("krumm", {}, "no rule of aggregation 'krumm'"),
        ("krum", {"settings": {"radius": 1.0}}, "krum has no setting 'radius'"),
        ("mean", {"faulty": 1}, "tolerates no faulty share"),
        ("krum", {"faulty": -1}, "cannot be"),
        ("median", {"momentum": 1.0}, "decay of worker momentum is 1"),
        ("centred-clipping", {"settings": {"radius": 0.0}}, "radius of centred clipping is 0"),
        ("centred-clipping", {"settings": {"iterations": 0}}, "0 times is no rule"),
        ("top-k", {"settings": {"limit": math.inf}}, "limit of top-k with clipping is inf"),
        ("top-k", {"settings": {"kept": 1.5}}, "kept is 1.5"),
    ],
)
def test_what_is_no_rule_is_refused(name: str, settings: dict[str, object], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        parse_rule(name, shares=9, **settings)  # type: ignore[arg-type]


def test_a_rule_says_what_it_is() -> None:
    texts = [parse_rule(name, shares=9, momentum=0.5).describe() for name in RULES]
    assert len(set(texts)) == len(RULES)
    assert all(" of 9 shares" in text and text.endswith(", over worker momentum 0.5") for text in texts)
