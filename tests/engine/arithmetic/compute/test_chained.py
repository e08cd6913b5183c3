"""Chains give what their operators give one after the other: values, logs, fingerprints, counts and errors, in bits."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import cycle
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import nn
from torch.nn import functional

from counterfoil.program.capture import capture
from counterfoil.program.update import AdamW
from counterfoil.training.weights import fan_in_uniform
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.grid import tiles
from counterfoil_core.arithmetic.grid.chains import run_chain
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.grid.neighbours import Values
from counterfoil_core.arithmetic.grid.replayrounder import ReplayingRounder
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError
from counterfoil_core.operators.node import TensorType, Value
from counterfoil_core.program.graph import Program
from support.chains import (
    CPU,
    KEY,
    PRECISION,
    Outcome,
    Sides,
    chains_of,
    counted,
    inputs_of,
    outcome,
    program_of,
    with_chains,
)

STATES, SCALARS = 3, 2
FIRST = STATES + SCALARS


@pytest.fixture(scope="module")
def kernels() -> Iterator[Kernels]:
    made = Kernels(CPU, 1)
    yield made
    made.close()


def same(pair: tuple[Outcome, Outcome]) -> Outcome:
    assert pair[0] == pair[1]
    return pair[0]


# Chains by chance.

_TWO = ("add", "sub", "mul", "div", "maximum", "minimum", "rsub")
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
NUMBERS = st.sampled_from((0.0, -0.0, 1.0, 0.9, -2.5, 1e-8, 1e30, 3, -1))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """A program of elementwise operators, each of which reads what came before it."""
    floats, flags = list(range(STATES)), []
    nodes: list[tuple[str, tuple[Any, ...], str]] = []

    def tensor() -> Value:
        return Value(draw(st.sampled_from(floats[-5:] + floats[:STATES])))

    def other() -> Any:
        scalar = st.sampled_from(range(STATES, FIRST)).map(Value)
        return draw(st.one_of(NUMBERS, scalar)) if draw(st.integers(0, 2)) == 0 else tensor()

    for number in range(FIRST, FIRST + draw(st.integers(2, 10))):
        kinds = (*_TWO, "sqrt", "neg", "abs", "relu", "clamp", "threshold", "compare", "where", "fill")
        kind = draw(st.sampled_from(kinds))
        dtype = "float32"
        if kind in _TWO:
            right = tensor() if kind in ("maximum", "minimum") else other()
            form = "default" if kind in ("maximum", "minimum") else "Tensor" if isinstance(right, Value) else "Scalar"
            node = f"aten.{kind}.{form}", (tensor(), right)
        elif kind == "clamp":
            node = "aten.clamp.default", (tensor(), draw(st.none() | st.just(-0.5)), 0.25)
        elif kind == "threshold":
            node = "aten.threshold_backward.default", (tensor(), tensor(), 0)
        elif kind == "fill":
            node = draw(
                st.sampled_from(
                    (
                        ("aten.zeros_like.default", (tensor(),)),
                        ("aten.ones_like.default", (tensor(),)),
                        ("aten.full_like.default", (tensor(), -2.5)),
                    )
                )
            )
        elif kind == "compare":
            name, right = draw(st.sampled_from(_COMPARISONS)), other()
            node = f"aten.{name}.{'Tensor' if isinstance(right, Value) else 'Scalar'}", (tensor(), right)
            dtype = "bool"
        elif kind == "where" and flags:
            flag = Value(draw(st.sampled_from(flags)))
            node = draw(
                st.sampled_from(
                    (
                        ("aten.where.self", (flag, tensor(), tensor())),
                        ("aten.where.ScalarSelf", (flag, 0.5, tensor())),
                        ("aten.masked_fill.Scalar", (tensor(), flag, -1)),
                    )
                )
            )
        else:
            node = f"aten.{kind if kind in ('sqrt', 'neg', 'abs', 'relu') else 'abs'}.default", (tensor(),)
        nodes.append((*node, dtype))
        (flags if dtype == "bool" else floats).append(number)
    shape = draw(st.sampled_from(((1,), (7,), (1024,), (3, 5, 7), (1025,), (2, 1500))))
    updated = draw(st.lists(st.sampled_from(floats), min_size=1, max_size=STATES))
    return program_of(nodes, shape, states=STATES, scalars=SCALARS, updates=dict(enumerate(updated)))


def arrays(program: Program, seed: int, *, strange: bool) -> StepInputs:
    rng = np.random.default_rng(seed)
    shape = program.state_inputs()[0].type.shape
    found = [(rng.standard_normal(shape) * 10.0 ** rng.integers(-4, 3)).astype(np.float32) for _ in range(STATES)]
    if strange:
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, 3e38, -3e38], np.float32)
        for array in found[: rng.integers(0, 3)]:
            flat = array.reshape(-1)
            flat[rng.integers(0, flat.size, 3)] = special[rng.integers(0, special.size, 3)]
    return inputs_of(program, found, [0.375, float(rng.choice([0.0, -1.5, 1e-3]))])


@settings(max_examples=80)
@given(program=programs(), seed=st.integers(0, 2**20), strange=st.booleans())
def test_any_chain_gives_what_its_operators_give(kernels: Kernels, program: Program, seed: int, strange: bool) -> None:
    sides = Sides(program, kernels)
    inputs, others = arrays(program, seed, strange=strange), arrays(program, seed + 1, strange=False)
    same(sides.unrounded(inputs))
    # The first step knows no E; the second assumes those of the first, right or wrong.
    for one in (inputs, others, inputs, inputs):
        recorded = same(sides.recorded(one))
    if recorded.error:
        return
    replayed = same(sides.replayed(inputs, sides.logs))
    assert replayed.state == recorded.state
    assert replayed.fingerprints == recorded.fingerprints
    # What is logged of other numbers is followed in the same way, whatever it says.
    if not same(sides.recorded(others)).error:
        same(sides.replayed(inputs, sides.logs))


@settings(max_examples=80)
@given(program=programs(), seed=st.integers(0, 2**20), left=st.lists(st.booleans(), min_size=1, max_size=12))
def test_any_chain_may_be_left_to_its_operators(
    kernels: Kernels, program: Program, seed: int, left: list[bool]
) -> None:
    """As it is where somebody looks at one of its sites, or where a value is out of the ordinary."""
    turns = cycle(left)

    def run(*given: Any) -> Any:
        return None if next(turns) else run_chain(*given)

    sides = Sides(program, kernels, run)
    inputs, poisoned = arrays(program, seed, strange=False), arrays(program, seed + 1, strange=False)
    same(sides.unrounded(inputs))
    for _ in range(3):
        recorded = same(sides.recorded(inputs))
    if recorded.error:
        return
    # A step that was poisoned is replayed by its trainer's log, and then again for every place that may differ.
    for one in (inputs, poisoned):
        same(sides.replayed(one, sides.logs))
        for place in range(len(program.places)):
            same(sides.replayed(one, sides.logs, looking={"observe": place}))
        same(sides.replayed(one, sides.logs, looking={"keep_log": True}))


def test_what_is_filled_like_a_state_that_another_chain_reads(kernels: Kernels) -> None:
    """Chains alone read the state, so it lies there as it is stored, and what is filled like it takes it."""
    nodes = [
        ("aten.abs.default", (Value(1),), "float32"),
        ("aten.neg.default", (Value(FIRST),), "float32"),
        ("aten.zeros_like.default", (Value(1),), "float32"),
        ("aten.add.Tensor", (Value(0), Value(FIRST + 2)), "float32"),
        ("aten.sqrt.default", (Value(FIRST),), "float32"),
    ]
    program = program_of(nodes, (7,), states=STATES, scalars=SCALARS, updates={0: FIRST + 3, 1: FIRST + 1})
    sides = Sides(program, kernels, lambda *_: None)
    assert len(chains_of(sides.together)) == 2
    inputs = arrays(program, 1, strange=False)
    assert not same(sides.unrounded(inputs)).error
    assert not same(sides.recorded(inputs)).error


# A real step.


@pytest.fixture(scope="module")
def adamw() -> tuple[Program, StepInputs]:
    """A step of AdamW with clipping, dropout and a rectifier, on matrices of 96 by 130."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(130, 96), nn.ReLU(), nn.Linear(96, 130))
    fan_in_uniform(model, 3)
    rule = AdamW(clip_norm=1.0)
    captured = capture(
        model,
        lambda m, batch: functional.mse_loss(functional.dropout(m(batch["x"]), 0.3), batch["x"]),
        rule,
        {"x": TensorType("float32", (50, 130))},
    )
    scalars = dict(zip(rule.scalar_names, rule.scalars(3, 0.01), strict=True))
    state = dict(captured.initial_state)
    for name in state:
        if name.startswith("moment"):
            state[name] = torch.rand_like(state[name]) * 1e-3
    return captured.program, StepInputs(state, {"x": torch.randn(50, 130)}, scalars, Draws(5, 3))


@pytest.fixture
def sides(adamw: tuple[Program, StepInputs], kernels: Kernels) -> Sides:
    return Sides(adamw[0], kernels)


def chain_sites(program: Program) -> tuple[int, ...]:
    return next(chain.sites for chain in chains_of(with_chains(program, 96 * 130)) if chain.sites)


def test_a_real_step_gives_the_same(adamw: tuple[Program, StepInputs], kernels: Kernels) -> None:
    program, inputs = adamw
    with counted() as (run, seen):
        sides = Sides(program, kernels, run)
        same(sides.unrounded(inputs))
        for _ in range(3):
            state = sides.ordinary.run(inputs, rounder=_recorder(program, kernels)).state
            same(sides.recorded(inputs))
            assert len(same(sides.replayed(inputs, sides.logs)).counts) == len(program.sites)
            inputs = replace(inputs, state=state)
        assert sum(count.entries for count in sides.replayed(inputs, sides.logs)[1].counts) > 100
    # Only the first recording, which has no E to assume, and the last replay, whose log is of other values, run alone.
    assert seen["together"] > 4 * seen["one by one"] > 0


def _recorder(program: Program, kernels: Kernels) -> RecordingRounder:
    rounder = RecordingRounder(program, PRECISION, kernels)
    rounder.begin_step(KEY)
    return rounder


@pytest.mark.parametrize("error", [-3, -1, 1, 40])
def test_a_wrong_assumption_shows_in_nothing(adamw: tuple[Program, StepInputs], kernels: Kernels, error: int) -> None:
    program, inputs = adamw
    with counted() as (run, seen):
        sides = Sides(program, kernels, run)
        same(sides.recorded(inputs))
        before = dict(seen)
        for site in chain_sites(program):
            sides._recorders[1]._exponents[site] += error
        same(sides.recorded(inputs))
    assert seen["one by one"] == before["one by one"]


def changed(logs: list[SiteLog], site: int, **fields: Any) -> list[SiteLog]:
    return [*logs[:site], replace(logs[site], **fields), *logs[site + 1 :]]


def test_what_a_log_hides_is_found_in_a_chain_too(adamw: tuple[Program, StepInputs], sides: Sides) -> None:
    program, inputs = adamw
    recorded = same(sides.recorded(inputs))
    for site in chain_sites(program):
        logs = list(sides.logs)
        log = logs[site]
        assert len(log.indices) > 3
        honest = same(sides.replayed(inputs, logs))
        assert (honest.state, honest.fingerprints) == (recorded.state, recorded.fingerprints)
        one_bit = log.ups.copy()
        one_bit[2] = not one_bit[2]
        turned = same(sides.replayed(inputs, changed(logs, site, ups=one_bit)))
        assert turned.fingerprints != recorded.fingerprints
        assert turned.counts[site].corrections == 1
        less = changed(logs, site, indices=log.indices[:0], ups=log.ups[:0])
        assert same(sides.replayed(inputs, less)).counts[site].omissions > 0
        far = np.setdiff1d(np.arange(program.sites[site].elements), log.indices)[:5]
        more = changed(logs, site, indices=far, ups=np.ones(5, np.bool_))
        assert same(sides.replayed(inputs, more)).counts[site].contradictions == 5
        for exponent in (log.exponent + 1, log.exponent - 1, log.exponent + 7, -32768):
            other = same(sides.replayed(inputs, changed(logs, site, exponent=exponent)))
            assert other.counts[site].contradictions >= 1


def test_a_logged_direction_is_taken_up_to_two_tau_in_a_chain(kernels: Kernels) -> None:
    """Values so many tau above a midpoint, all of them logged as rounded down: at 2 tau taken, beyond it not."""
    taus = np.array([0.25, 0.75, 1.0, 1.25, 1.75, 2.0, 2.25, 2.75, 4.0, 1000.0])
    # (1 + t) (1 + 2^-24) lies t 2^-24 above the midpoint between 1 + t and the next float32.
    values = (1.0 + taus * 2.0 ** (24 - PRECISION.margin_bits)).astype(np.float32)
    program = program_of(
        [
            ("aten.mul.Tensor", (Value(0), 1.0 + 2.0**-24), "float32"),
            ("aten.div.Tensor", (Value(2), 1.0), "float32"),
            ("aten.neg.default", (Value(3),), "float32"),
        ],
        (taus.size,),
        states=1,
        scalars=1,
        updates={0: 4},
    )
    with counted() as (run, seen):
        sides = Sides(program, kernels, run)
        inputs = inputs_of(program, [values], [0.5])
        same(sides.recorded(inputs))
        recorded = same(sides.recorded(inputs))
        (site,) = next(chain.sites for chain in chains_of(sides.together) if chain.sites)
        assert sides.logs[site].indices.tolist() == np.flatnonzero(taus <= 1).tolist()
        assert sides.logs[site].exponent == 0
        down = changed(sides.logs, site, indices=np.arange(taus.size), ups=np.zeros(taus.size, np.bool_))
        followed = same(sides.replayed(inputs, down))
    assert seen["together"] >= 2
    counts = followed.counts[site]
    assert (counts.corrections, counts.contradictions) == ((taus <= 2).sum(), (taus > 2).sum())
    own, steered = (-np.frombuffer(dict(one.state)["s0"], np.float32) for one in (recorded, followed))
    assert own.tolist() == (values + np.float32(2.0**-23)).tolist()
    assert steered.tolist() == np.where(taus <= 2, values, own).tolist()


def test_whoever_looks_at_a_site_sees_it_alone(adamw: tuple[Program, StepInputs], kernels: Kernels) -> None:
    program, inputs = adamw
    site = chain_sites(program)[0]
    with counted() as (run, seen):
        sides = Sides(program, kernels, run)
        same(sides.recorded(inputs))
        forced = {site: Values(np.array([4]), np.array([0.5]))}
        same(sides.replayed(inputs, sides.logs, forced=forced))
        assert seen["one by one"] > 0
        kept = []
        for interpreter in (sides.ordinary, sides.together):
            for arguments in ({"keep_log": True}, {"observe": program.site_places[site]}):
                replayer = ReplayingRounder(program, PRECISION, kernels, **arguments)  # type: ignore[arg-type]
                replayer.follow(KEY, sides.logs)
                interpreter.run(inputs, rounder=replayer)
                kept.append((replayer.own_logs, replayer.observation))
    for one, other in zip(kept[0][0], kept[2][0], strict=True):
        assert one.exponent == other.exponent
        assert one.indices.tobytes() == other.indices.tobytes()
    assert kept[1][1] is not None
    assert kept[3][1] is not None
    assert torch.equal(kept[1][1].before, kept[3][1].before)
    assert kept[1][1].scale == kept[3][1].scale


class Own(RecordingRounder):
    """A recorder that does something of its own at each site."""


def test_who_rounds_in_another_way_is_asked_site_by_site(adamw: tuple[Program, StepInputs], kernels: Kernels) -> None:
    program, inputs = adamw
    with counted() as (run, seen):
        interpreter = with_chains(program, run=run)
        rounder = Own(program, PRECISION, kernels)
        for _ in range(2):
            rounder.begin_step(KEY)
            interpreter.run(inputs, rounder=rounder)
    assert seen["together"] == 0


def test_values_that_are_not_numbers_end_a_step_in_the_same_words(
    adamw: tuple[Program, StepInputs], sides: Sides
) -> None:
    _, inputs = adamw
    same(sides.recorded(inputs))
    logs = list(sides.logs)
    for value in (float("inf"), float("nan"), 3e38):
        state = {name: tensor.clone() for name, tensor in inputs.state.items()}
        (name,) = [name for name in state if name.startswith("moment2") and state[name].shape == (96, 130)]
        state[name][5, 7] = -value
        strange = replace(inputs, state=state)
        assert same(sides.recorded(strange)).error
        assert same(sides.replayed(strange, logs)).error
        assert same(sides.unrounded(strange)).error


def test_a_step_is_stopped_inside_a_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    program, inputs = large()
    token, looks, real = CancelToken(), [], tiles.check_cancelled
    monkeypatch.setattr(tiles, "_PARTS_AT_ONCE", 1)

    def look() -> None:
        looks.append(token)
        if len(looks) == 3:
            token.cancel()
        real()

    monkeypatch.setattr(tiles, "check_cancelled", look)
    with pytest.raises(CancelledError):
        with_chains(program).run(inputs, cancel=token)
    assert len(looks) == 3
    looks.clear()
    with_chains(program).run(inputs)
    assert len(looks) == 7


def test_chains_are_for_float64_computed_as_the_device_does(adamw: tuple[Program, StepInputs]) -> None:
    program, inputs = adamw
    with counted() as (run, seen):
        interpreter = with_chains(program, run=run)
        interpreter.run(inputs, compute=lambda *arguments: native(*arguments))
        assert seen == {"together": 0, "one by one": 0}
        interpreter.run(inputs)
        assert seen["together"] > 0
    assert all(unit.end for unit in Interpreter(program, CPU, torch.float32, run_chain=run).units)
    assert not chains_of(Interpreter(program, CPU, torch.float32, run_chain=run))


def large() -> tuple[Program, StepInputs]:
    """A chain with two sites, of seven parts."""
    nodes = [
        ("aten.mul.Tensor", (Value(0), Value(1)), "float32"),
        ("aten.abs.default", (Value(FIRST),), "float32"),
        ("aten.sqrt.default", (Value(FIRST + 1),), "float32"),
        ("aten.add.Tensor", (Value(FIRST + 2), 1e-3), "float32"),
        ("aten.div.Tensor", (Value(2), Value(FIRST + 3)), "float32"),
    ]
    program = program_of(nodes, (3, 70_001), states=STATES, scalars=SCALARS, updates={0: FIRST + 4, 1: FIRST})
    return program, arrays(program, 1, strange=False)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_number_of_threads_shows_in_nothing(kernels: Kernels, threads: int) -> None:
    program, inputs = large()
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        sides = Sides(program, kernels)
        for _ in range(2):
            recorded = same(sides.recorded(inputs))
        assert len(sides.logs[1].indices) > 100
        assert same(sides.replayed(inputs, sides.logs)).state == recorded.state
    finally:
        torch.set_num_threads(before)


def test_more_close_decisions_than_there_is_room_for(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    program, inputs = large()
    monkeypatch.setattr(tiles, "_ROOM", 5)
    sides = Sides(program, kernels)
    for _ in range(2):
        recorded = same(sides.recorded(inputs))
    assert len(sides.logs[0].indices) > 100
    assert same(sides.replayed(inputs, sides.logs)).state == recorded.state


def test_steps_side_by_side_share_nothing(adamw: tuple[Program, StepInputs], kernels: Kernels) -> None:
    program, inputs = adamw
    together = with_chains(program)
    other = replace(inputs, scalars={name: 1.5 * number for name, number in inputs.scalars.items()})
    expected = [outcome(Interpreter(program, CPU), one) for one in (inputs, other)]
    assert expected[0] != expected[1]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: outcome(together, (inputs, other)[n % 2]), range(24)))
    assert found == expected * 12


def test_what_a_step_gives_are_ordinary_tensors(adamw: tuple[Program, StepInputs]) -> None:
    program, inputs = adamw
    for interpreter in (Interpreter(program, CPU), with_chains(program)):
        result = interpreter.run(inputs)
        for name, tensor in result.state.items():
            before = tensor.clone()
            tensor += 1
            assert torch.equal(result.state[name], before + 1)
            if tensor.is_floating_point():
                (gradient,) = torch.autograd.grad((tensor.requires_grad_() * 2.0).sum(), tensor)
                assert bool((gradient == 2).all())
