"""Imitations under exact profiles: every operator is computed in another way, and gives the same bits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.imitations import IMITATIONS
from torch import Tensor

from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.arithmetic.compute.interpreter import StepResult
from counterfoil_core.arithmetic.compute.operation import Compute, Operation, make_operation
from counterfoil_core.arithmetic.families.table import DEFINITIONS
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.arithmetic.otherwise import exact_imitations
from counterfoil_core.arithmetic.otherwise.perturbation import exactly_perturbed
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.kernels.exact import functions
from counterfoil_core.kernels.exact.forms import Profile, sound_forms
from counterfoil_core.kernels.exact.products import Form
from counterfoil_core.operators.node import Node, TensorType
from counterfoil_core.order.executable import step_inputs
from support.definite_calls import CALLS, draw
from support.definite_reference import bits_of, wild
from support.jobs import digits_order, gpt2_order

OWN = Profile.on(torch.device("cpu"), 20)
ELEMENTWISE: list[tuple[str, list[Any]]] = [
    ("aten.add.Tensor", [wild((50, 7), 1), wild((7,), 2)]),
    ("aten.add.Tensor", [wild((50, 7), 1), 0.1]),
    ("aten.sub.Tensor", [wild((50, 7), 3), torch.arange(7)]),
    ("aten.rsub.Scalar", [wild((50, 7), 4), 0.3, 1]),
    ("aten.mul.Tensor", [wild((50, 7), 5, -80, -60), wild((7,), 6, -80, -60)]),  # subnormal results
    ("aten.div.Tensor", [wild((50, 7), 5, -80, -60), wild((7,), 6, 60, 80) + 1e20]),
]


def operation_of(name: str) -> Operation:
    return make_operation(Node(name, (), (), (TensorType("float32", ()),), 0, "", "forward"))


def listed(result: Any) -> list[Tensor]:
    return [x for x in (result if isinstance(result, (tuple, list)) else [result]) if x is not None]


def ordinary(name: str, args: list[Any]) -> list[Tensor]:
    return listed(exactly(OWN)(operation_of(name), args, {}))


def imitated(imitation: str, name: str, args: list[Any], profile: Profile = OWN) -> list[Tensor]:
    return listed(exactly_perturbed(imitation, profile)(operation_of(name), args, {}))


@pytest.mark.parametrize("imitation", IMITATIONS)
def test_no_imitation_shows(imitation: str) -> None:
    for name, args in (*CALLS, *ELEMENTWISE):
        expected, found = ordinary(name, args), imitated(imitation, name, args)
        assert len(expected) == len(found)
        for one, other in zip(expected, found, strict=True):
            assert one.shape == other.shape
            assert other.dtype == torch.float32
            assert bits_of(one) == bits_of(other), name


def test_every_kind_is_imitated() -> None:
    called = {name.split(".")[1] for name, _ in CALLS} | functions.FUNCTIONS
    assert DEFINITIONS.keys() <= called


LONG = [wild((3, 3000), 7), wild((3000, 4), 8)]
SUM = [wild((5, 5000), 9), [1]]


@pytest.mark.parametrize("imitation", ["reversed", "shuffled-1", "split", "split-8", "rewritten-1"])
def test_control_the_arithmetic_is_another_one(imitation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without quantisation the same imitations differ, in float64, from what the machine does."""

    def widened(kind: str, arguments: dict[str, Any], bits: int) -> dict[str, Any]:
        return {name: x.double() if isinstance(x, Tensor) else x for name, x in arguments.items()}

    seen: list[Tensor] = []
    monkeypatch.setattr(exact_imitations, "quantised_arguments", widened)
    monkeypatch.setattr(exact_imitations, "from_float64", lambda x: seen.append(x) or x.float())
    imitated(imitation, "aten.sum.dim_IntList", SUM)
    assert not torch.equal(seen[0], SUM[0].double().sum(1))


def test_control_other_forms_of_products_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    sound, used = sound_forms("cpu"), set()

    def product(arguments: Mapping[str, Any], profile: Profile) -> Tensor:
        used.add(profile.matrices)
        return arguments["self"] @ arguments["mat2"]

    monkeypatch.setattr(exact_imitations, "DEFINITIONS", {"mm": product})
    for imitation in ("rewritten-0", "rewritten-1"):
        imitated(imitation, "aten.mm.default", LONG)
    assert used <= sound - {OWN.matrices}
    assert Form.FLOAT32 in used


def test_control_functions_are_moved() -> None:
    x = draw(1000)
    _, approximate = functions.approximate("exp", x)
    moved = exact_imitations._moved(approximate, 0)
    error = ((moved - approximate) / approximate).abs()
    assert float(error.max()) > functions.ERROR / 2
    assert int((error > 0).sum()) > 500
    # Were they moved farther than is allowed for, it would show.
    assert bits_of(functions.round_function("exp", (x,), approximate * (1 + 2.0**-30))) != bits_of(
        functions.evaluate("exp", x)
    )


@pytest.mark.parametrize("imitation", ["reversed", "split-3"])
def test_sums_that_float64_does_not_hold_take_another_form(imitation: str) -> None:
    """Products of 24 bits have room for 32 in float64."""
    profile = Profile.on(torch.device("cpu"), 24)
    args = [draw(3, 500), draw(500, 4)]
    expected = exactly(profile)(operation_of("aten.mm.default"), args, {})
    assert bits_of(imitated(imitation, "aten.mm.default", args, profile)[0]) == bits_of(expected)


# Whole steps of recipes.


def step_of(draft: OrderDraft, compute: Compute | None) -> tuple[list[int], StepResult]:
    """The fingerprints of the first step of an order, and its result."""
    manifest, program = draft.manifest, draft.program
    machine = open_machine("cpu", 1)
    with machine.kernels() as kernels:
        rounder = arithmetic_of(manifest.precision).recorder(program, kernels)
        rounder.begin_step(7)
        state = {name: torch.from_numpy(np.array(array)) for name, array in draft.initial.items()}
        data: Any = draft.data
        inputs = step_inputs(manifest, 1, state, draft.schedule[0], draft.scalars[0], data)
        result = machine.interpreter(program, manifest.precision).run(inputs, rounder=rounder, compute=compute)
        return rounder.fingerprints.tolist(), result


DRAFTS = {
    "digits": lambda: digits_order(width=2, batch_size=4, precision=ExactPrecision(13)),
    "gpt2": lambda: gpt2_order(precision=ExactPrecision(20)),
}
PLAIN = cache(lambda name: step_of(DRAFTS[name](), None))


def same_step(name: str, compute: Compute) -> bool:
    (expected, plain), (found, other) = PLAIN(name), step_of(DRAFTS[name](), compute)
    return (
        expected == found
        and plain.loss == other.loss
        and all(torch.equal(plain.state[key], other.state[key]) for key in plain.state)
    )


@pytest.mark.sampled
@pytest.mark.parametrize("imitation", IMITATIONS)
@pytest.mark.parametrize("name", DRAFTS)
def test_no_imitation_shows_in_a_step(name: str, imitation: str) -> None:
    bits = DRAFTS[name]().manifest.precision.bits
    assert same_step(name, exactly_perturbed(imitation, Profile.on(torch.device("cpu"), bits)))


@pytest.mark.parametrize("name", DRAFTS)
def test_control_one_unit_in_the_last_place_of_one_result_shows(name: str) -> None:
    plain = exactly_perturbed("reversed", Profile.on(torch.device("cpu"), DRAFTS[name]().manifest.precision.bits))
    erred: list[str] = []

    def compute(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = plain(operation, args, kwargs)
        if erred or operation.node.entry.kind not in ("mm", "convolution"):
            return result
        erred.append(operation.node.operator)
        flat = result.contiguous().view(-1)
        flat[5] = torch.nextafter(flat[5], torch.tensor(torch.inf))
        return flat.view(result.shape)

    assert not same_step(name, compute)
    assert len(erred) == 1
