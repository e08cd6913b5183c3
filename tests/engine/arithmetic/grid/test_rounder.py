"""Rounding within a step: the trainer's side writes the log, the auditor's follows it and counts what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterfoil_core.arithmetic.grid.directions import Directions, DirectionsElsewhere
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, place_key
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.grid.margin import site_margins
from counterfoil_core.arithmetic.grid.replayrounder import ReplayingRounder
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.base.precision import Precision
from counterfoil_core.judge.explain import mix
from counterfoil_core.kernels.grid import ZERO_SCALE, Grid
from counterfoil_core.kernels.result import Rounded
from counterfoil_core.kernels.torch.rounding import TorchKernel
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.graph import Input, Program

PRECISION = Precision(margin_bits=36, proven=False)
KEY = 99


class TorchOnCpu(Kernels):
    """The kernel for CUDA, run on the CPU."""

    def round(self, flat: Tensor, grid: Grid, tau: float, key: int) -> Rounded:
        return TorchKernel().round(flat, grid, tau, key)

    def directions(self, logs: Sequence[SiteLog]) -> Directions:
        return DirectionsElsewhere(logs)


@pytest.fixture(params=[Kernels, TorchOnCpu])
def kernels(request: pytest.FixtureRequest) -> Iterator[Kernels]:
    made = request.param(torch.device("cpu"), 2)
    yield made
    made.close()


def program(*shape: int) -> Program:
    """A program whose only site is the output of ``exp``: its scale is the largest output."""
    kind = TensorType("float32", shape)
    node = Node("aten.exp.default", (Value(0),), (), (kind,), 1, "layer3.0.act", "forward")
    return Program((Input("x", "state", kind),), (node,), {}, Value(1))


def apply(rounder: RecordingRounder | ReplayingRounder, values: Tensor, argument: Tensor | None = None) -> Tensor:
    (node,) = program(*values.shape).nodes
    named: dict[str, Any] = {"self": values if argument is None else argument}
    (result,) = rounder(node, lambda: named, [values])
    assert result is not None
    return result


def record(kernels: Kernels, values: Tensor, argument: Tensor | None = None) -> tuple[Tensor, SiteLog, int]:
    rounder = RecordingRounder(program(*values.shape), PRECISION, kernels)
    rounder.begin_step(KEY)
    result = apply(rounder, values.clone(), argument)
    (log,) = rounder.logs
    return result, log, int(rounder.fingerprints[0])


def replay(kernels: Kernels, values: Tensor, log: SiteLog, **settings: Any) -> tuple[Tensor, ReplayingRounder]:
    rounder = ReplayingRounder(program(*values.shape), PRECISION, kernels, **settings)
    rounder.follow(KEY, [log])
    return apply(rounder, values.clone()), rounder


def numbers(*shape: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(7).standard_normal(shape))


def tau_of(log: SiteLog) -> float:
    return Grid.of(log.exponent, PRECISION, PRECISION.margin_of("exp")).tau


def counts(rounder: ReplayingRounder) -> tuple[int, int, int]:
    (found,) = rounder.counts
    return found.corrections, found.contradictions, found.omissions


def test_honest_differences_are_repaired(kernels: Kernels) -> None:
    values = numbers(400, 300)
    recorded, log, fingerprint = record(kernels, values)
    assert len(log.indices) > 100
    noise = (torch.from_numpy(np.random.default_rng(8).random(values.shape)) - 0.5) * tau_of(log)
    replayed, rounder = replay(kernels, values + noise, log)
    assert torch.equal(replayed, recorded)
    assert int(rounder.fingerprints[0]) == fingerprint
    corrections, contradictions, omissions = counts(rounder)
    assert corrections > 10
    assert (contradictions, omissions) == (0, 0)


def test_control_without_the_log_they_are_not(kernels: Kernels) -> None:
    values = numbers(400, 300)
    recorded, log, fingerprint = record(kernels, values)
    noise = (torch.from_numpy(np.random.default_rng(8).random(values.shape)) - 0.5) * tau_of(log)
    replayed, rounder = replay(kernels, values + noise, SiteLog(log.exponent, log.indices[:0], log.ups[:0]))
    assert not torch.equal(replayed, recorded)
    assert int(rounder.fingerprints[0]) != fingerprint
    assert counts(rounder)[2] > 0


def test_both_kernels_write_the_same_log() -> None:
    values = numbers(300, 70)
    ours, theirs = Kernels(torch.device("cpu"), 1), TorchOnCpu(torch.device("cpu"), 1)
    one, two = record(ours, values), record(theirs, values)
    assert torch.equal(one[0], two[0])
    assert one[1].indices.tolist() == two[1].indices.tolist()
    assert one[1].ups.tolist() == two[1].ups.tolist()
    assert one[2] == two[2]


def test_indices_count_in_c_order_whatever_the_strides(kernels: Kernels) -> None:
    values = numbers(40, 50)
    straight = record(kernels, values)
    strided = record(kernels, values.t().contiguous().t())
    assert straight[1].indices.tolist() == strided[1].indices.tolist()
    assert straight[2] == strided[2]


def test_every_direction_flipped_moves_only_logged_elements_by_a_quantum(kernels: Kernels) -> None:
    values = numbers(400, 300)
    recorded, log, _ = record(kernels, values)
    replayed, rounder = replay(kernels, values, SiteLog(log.exponent, log.indices, ~log.ups))
    moved = (replayed != recorded).flatten().nonzero().flatten()
    assert moved.tolist() == log.indices.tolist()
    difference = (replayed - recorded).abs().flatten()[moved]
    largest_quantum = 2.0 ** (log.exponent - 24 + 1)
    assert float(difference.max()) <= largest_quantum
    assert counts(rounder) == (len(log.indices), 0, 0)
    (found,) = rounder.counts
    assert found.steered == found.steerable > 0.8 * len(log.indices)


def test_flipped_ties_are_counted_apart(kernels: Kernels) -> None:
    ties = 1 + (torch.arange(200, dtype=torch.float64) + 0.5) * 2.0**-23
    _, log, _ = record(kernels, ties)
    assert len(log.indices) == 200
    _, rounder = replay(kernels, ties, SiteLog(log.exponent, log.indices, ~log.ups))
    (found,) = rounder.counts
    assert (found.corrections, found.steerable, found.steered) == (200, 0, 0)
    assert (found.ties, found.broken_ties) == (200, 200)


@pytest.mark.parametrize("proven", [False, True])
def test_an_entry_is_steerable_farther_from_the_midpoint_than_honest_hardware_differs(
    kernels: Kernels, proven: bool
) -> None:
    precision = Precision(proven=True) if proven else PRECISION
    node_program = program(2)
    (margin,) = site_margins(node_program, precision)
    tau = Grid.of(0, precision, margin.bits).tau
    # The exponential errs by 16 units roundoff at most, so two machines by four times that share of 2^E.
    share = 2 * 2 * 16 * 2.0**-53 / tau if proven else 1 / 16
    assert margin.steerable == pytest.approx(share, rel=0.01)
    midpoint = 1 + 2.0**-24
    values = torch.tensor([midpoint + 0.99 * share * tau, midpoint + 1.02 * share * tau], dtype=torch.float64)
    log = SiteLog(0, np.array([0, 1]), np.array([False, False]))
    rounder = ReplayingRounder(node_program, precision, kernels)
    rounder.follow(KEY, [log])
    apply(rounder, values)
    (found,) = rounder.counts
    assert (found.corrections, found.steerable, found.steered) == (2, 1, 1)


def test_an_entry_far_from_a_midpoint_is_a_contradiction_and_has_no_effect(kernels: Kernels) -> None:
    values = numbers(40, 50)
    recorded, log, _ = record(kernels, values)
    far = next(index for index in range(values.numel()) if index not in log.indices)
    invented = np.sort(np.append(log.indices, far))
    ups = np.insert(log.ups, int(np.searchsorted(log.indices, far)), True)
    for direction in (True, False):
        ups[int(np.searchsorted(invented, far))] = direction
        replayed, rounder = replay(kernels, values, SiteLog(log.exponent, invented, ups))
        assert torch.equal(replayed, recorded)
        assert counts(rounder) == (0, 1, 0)


def test_a_dropped_entry_is_an_omission_only_close_to_the_midpoint(kernels: Kernels) -> None:
    quarter = 2.0 ** (0 - PRECISION.margin_bits) / 4
    midpoint = 1 + 2.0**-24
    values = torch.tensor([midpoint + quarter, midpoint + 1.5 * quarter, 1.5], dtype=torch.float64)
    _, log, _ = record(kernels, values)
    assert log.indices.tolist() == [0, 1]
    _, rounder = replay(kernels, values, SiteLog(log.exponent, log.indices[:0], log.ups[:0]))
    assert counts(rounder) == (0, 0, 1)


@pytest.mark.parametrize(
    ("offset", "used", "contradictions"), [(0, 0, 0), (1, 1, 1), (-1, -1, 1), (2, 0, 1), (-2, 0, 1)]
)
def test_the_trainers_scale_is_used_when_it_is_within_one(
    kernels: Kernels, offset: int, used: int, contradictions: int
) -> None:
    """Where the own scale is far from a power of two, another exponent is a contradiction all the same."""
    values = numbers(40, 50)
    _, log, _ = record(kernels, values)
    _, rounder = replay(kernels, values, SiteLog(log.exponent + offset, log.indices[:0], log.ups[:0]), keep_log=True)
    assert counts(rounder)[1] == contradictions
    (own,) = rounder.own_logs
    assert own.exponent == log.exponent + used


@pytest.mark.parametrize("largest", [4 - 2.0**-50, 4.0, 4 + 2.0**-49])
@pytest.mark.parametrize(("exponent", "contradictions"), [(0, 1), (1, 0), (2, 0), (3, 1)])
def test_at_a_power_of_two_either_exponent_is_honest(
    kernels: Kernels, largest: float, exponent: int, contradictions: int
) -> None:
    values = torch.tensor([largest, 1.5], dtype=torch.float64)
    _, rounder = replay(kernels, values, SiteLog(exponent, np.zeros(0, np.int64), np.zeros(0, np.bool_)))
    assert counts(rounder)[1] == contradictions


def test_a_kept_log_carries_another_replay(kernels: Kernels) -> None:
    values = numbers(400, 300)
    _, log, _ = record(kernels, values)
    # A log of other values, as at a step that was tampered with: some of its entries are taken, most are not.
    foreign = SiteLog(log.exponent, log.indices[::3], ~log.ups[::3])
    first, rounder = replay(kernels, values, foreign, keep_log=True)
    (own,) = rounder.own_logs
    noise = (torch.from_numpy(np.random.default_rng(9).random(values.shape)) - 0.5) * tau_of(log)
    second, again = replay(kernels, values + noise, own)
    assert torch.equal(first, second)
    assert counts(again)[1:] == (0, 0)


def test_zeros_of_either_sign_have_no_scale_and_no_entries(kernels: Kernels) -> None:
    values = torch.tensor([0.0, -0.0, 0.0], dtype=torch.float64)
    recorded, log, fingerprint = record(kernels, values)
    assert log.exponent == ZERO_SCALE
    assert len(log.indices) == 0
    assert not torch.signbit(recorded).any()
    replayed, rounder = replay(kernels, values, log)
    assert int(rounder.fingerprints[0]) == fingerprint
    assert torch.equal(replayed, recorded)
    assert counts(rounder) == (0, 0, 0)


def test_an_empty_tensor(kernels: Kernels) -> None:
    recorded, log, fingerprint = record(kernels, torch.zeros(0, 3, dtype=torch.float64))
    assert recorded.shape == (0, 3)
    assert (log.exponent, len(log.indices), fingerprint) == (ZERO_SCALE, 0, 0)


INF = float("inf")


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (INF, "gave an infinite value, and no argument of it is infinite"),
        (float("nan"), "gave a value that is not a number"),
        (2.0**128, "gave a value beyond float32's range"),
        (-(2.0**200), "gave a value beyond float32's range"),
    ],
)
def test_a_value_that_float32_cannot_hold_names_the_operator(kernels: Kernels, bad: float, what: str) -> None:
    values = torch.tensor([1.0, bad], dtype=torch.float64)
    with pytest.raises(NonFiniteError, match=r"aten\.exp\.default \(forward of layer3\.0\.act\)") as caught:
        record(kernels, values, torch.ones(2).double())
    assert what in str(caught.value)


def with_infinities(values: Tensor) -> tuple[Tensor, Tensor]:
    infinite = torch.zeros(values.shape, dtype=torch.bool)
    infinite[::3, 1::4] = True
    signs = torch.where(torch.arange(values.shape[1]) % 8 < 4, INF, -INF)
    return torch.where(infinite, signs, values), infinite


def test_infinities_that_an_argument_holds_pass(kernels: Kernels) -> None:
    values, infinite = with_infinities(numbers(400, 300))
    recorded, log, fingerprint = record(kernels, values)
    assert torch.equal(recorded[infinite], values[infinite])
    # They are left out of the scale, and of the log, and the other elements are as they were with zeros there.
    zeros, other, without = record(kernels, torch.where(infinite, 0.0, values))
    assert torch.equal(torch.where(infinite, 0.0, recorded), zeros)
    assert log.exponent == other.exponent != ZERO_SCALE
    assert log.indices.tolist() == other.indices.tolist()
    assert not infinite.flatten()[log.indices].any()
    assert fingerprint != without
    replayed, rounder = replay(kernels, values, log, observe=0)
    assert torch.equal(replayed, recorded)
    assert int(rounder.fingerprints[0]) == fingerprint == mixed_sum(recorded)
    assert counts(rounder) == (0, 0, 0)
    assert rounder.observation is not None
    assert torch.equal(rounder.observation.before, values.flatten())
    assert torch.equal(rounder.observation.after, recorded.flatten())


def mixed_sum(values: Tensor) -> int:
    flat = values.flatten().numpy()
    return int(mix(flat, np.arange(len(flat)), place_key(KEY, 0)).sum())


def test_the_fingerprint_tells_one_infinity_from_the_other(kernels: Kernels) -> None:
    values, _ = with_infinities(numbers(40, 30))
    turned = torch.where(values == INF, -INF, values)
    assert record(kernels, values)[2] != record(kernels, turned)[2]


def test_control_infinities_do_not_hide_what_is_wrong_beside_them(kernels: Kernels) -> None:
    for bad in (float("nan"), 2.0**128):
        values = torch.tensor([1.0, -INF, bad], dtype=torch.float64)
        with pytest.raises(NonFiniteError):
            record(kernels, values, torch.tensor([1.0, -INF, 1.0]).double())


def test_an_entry_for_an_infinite_element_is_a_contradiction(kernels: Kernels) -> None:
    values, infinite = with_infinities(numbers(40, 30))
    log = record(kernels, values)[1]
    place = int(infinite.flatten().nonzero()[0])
    indices = np.sort(np.append(log.indices, place))
    forged = SiteLog(log.exponent, indices, np.ones(len(indices), np.bool_))
    replayed, rounder = replay(kernels, values, forged)
    assert counts(rounder)[1] == 1
    assert torch.equal(torch.isinf(replayed), infinite)


def test_a_tensor_of_infinities_has_no_scale(kernels: Kernels) -> None:
    values = torch.full((3, 4), -INF, dtype=torch.float64)
    recorded, log, _ = record(kernels, values)
    assert torch.equal(recorded, values)
    assert (log.exponent, len(log.indices)) == (ZERO_SCALE, 0)
