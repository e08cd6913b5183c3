"""What judges an element and what makes it agree for every kind of operator, at every magnitude, onto zeros too.

Tensors of a training step are seldom of magnitude 1: gradients are of 1e-3 to 1e-8, they are added to zeros, and what
no gradient reaches is zero altogether.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.imitations import IMITATIONS
from hypothesis import given as drawn_from, settings, strategies as st
from torch import Tensor

from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.arithmetic.compute.operation import Operation, make_operation
from counterfoil_core.arithmetic.families.table import DEFINITIONS
from counterfoil_core.arithmetic.otherwise.perturbation import exactly_perturbed
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.operators.catalogue import allowed_names, classify
from counterfoil_core.operators.facts import DRAWS, OperatorClass
from counterfoil_core.operators.judge import defined_output
from counterfoil_core.operators.node import Node, TensorType
from support.definite_calls import CALLS, EXACT_CALLS, SITUATIONS, function_calls, in_situation
from support.definite_reference import bits_of, wild
from support.exact_calls import Call

MAGNITUDES = (1.0, 1e-3, 1e-5, 1e-8, 1e-30, 1e-44)
"""The last gives subnormal numbers."""
BITS = 20
OWN = Profile.on(torch.device("cpu"), BITS)
MOST = 12
ONTO = ("index_add", "scatter_add", "index_put")
"""Kinds that add to what is there."""
FUNCTIONS = DEFINITIONS.keys() - {name.split(".")[1] for name, _ in CALLS}
SINGLE = [(name, args, {}) for name, args in (*CALLS, *function_calls(FUNCTIONS))]
EVERY = [*SINGLE, *EXACT_CALLS]


def test_every_kind_of_the_allow_list_has_a_case() -> None:
    """A kind that is new has to be added to the calls before anything of it can be judged."""
    exact = {name for name in set(allowed_names()) - DRAWS if classify(name).operator_class is OperatorClass.EXACT}
    called = {name.split(".")[1] for name, _, _ in EVERY}
    assert {name.split(".")[1] for name in exact} | DEFINITIONS.keys() <= called
    # What is neither is a composite, and refused where a program is read.
    rest = {name.split(".")[1] for name in allowed_names() if name not in DRAWS} - called
    assert all(classify(name).operator_class is not OperatorClass.EXACT for name in allowed_names() if name in rest)


def prepared(name: str, args: list[Any], kwargs: dict[str, Any]) -> tuple[Operation, list[Any], dict[str, Any]]:
    """The operator with the types of its outputs, its arguments, and those by name."""
    if name.split(".")[1] not in DEFINITIONS or "mode" in name:
        return Call(name, args, kwargs).run()[:3]
    operation = make_operation(Node(name, (), (), (TensorType("float32", ()),), 0, "", "forward"))
    outputs = flat(exactly(OWN)(operation, args, kwargs))
    types = tuple(None if x is None else TensorType("float32", tuple(x.shape)) for x in outputs)
    return make_operation(Node(name, (), (), types, 0, "", "forward")), args, kwargs


def flat(result: Any) -> list[Tensor | None]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def values_of(result: Tensor) -> list[Any]:
    """Elements as their bits, with one value for what is no number."""
    kept = result.reshape(-1)
    if not kept.is_floating_point():
        return kept.tolist()
    return [None if nan else bits for bits, nan in zip(bits_of(kept), kept.isnan().tolist(), strict=True)]


def differing(name: str, args: list[Any], kwargs: dict[str, Any]) -> list[int]:
    """The outputs of which an element is not what the judge says."""
    operation, given, named = prepared(name, args, kwargs)
    arguments = operation.named(given, named)
    found = []
    for number, output in enumerate(flat(exactly(OWN)(operation, given, named))):
        if output is None:
            continue
        element = defined_output(operation.node, arguments, number, BITS).element
        chosen = sorted({int(i) for i in torch.linspace(0, output.numel() - 1, min(output.numel(), MOST))})
        defined = torch.tensor([element(index) for index in chosen], dtype=output.dtype)
        if values_of(defined) != values_of(output.reshape(-1)[chosen]):
            found.append(number)
    return found


@pytest.mark.parametrize("kind", sorted({name.split(".")[1] for name, _, _ in EVERY}))
def test_the_judge_and_the_maker_agree(kind: str) -> None:
    for name, args, kwargs in EVERY:
        if name.split(".")[1] != kind:
            continue
        for magnitude in MAGNITUDES:
            for situation in SITUATIONS if kind in ONTO else ("as it is", "all zero"):
                changed = in_situation(name, args, magnitude, situation)
                assert differing(name, changed, kwargs) == [], (name, magnitude, situation)


Given = tuple[Operation, list[Any], dict[str, Any]]


@cache
def on_this_machine() -> list[tuple[str, Given, list[Any]]]:
    """Uses of every kind, at magnitudes of gradients, and what this machine gives."""
    found = []
    for name, args, kwargs in SINGLE:
        onto = name.split(".")[1] in ONTO
        for magnitude in MAGNITUDES[:4] if onto else (1e-3, 1e-8):
            for situation in SITUATIONS[:4] if onto else SITUATIONS[:1]:
                given = prepared(name, in_situation(name, args, magnitude, situation), kwargs)
                own = [None if x is None else values_of(x) for x in flat(exactly(OWN)(*given))]
                found.append((f"{name}, {magnitude}, {situation}", given, own))
    return found


@pytest.mark.parametrize("imitation", IMITATIONS)
def test_honest_machines_agree(imitation: str) -> None:
    compute = exactly_perturbed(imitation, OWN)
    for what, given, own in on_this_machine():
        assert [None if x is None else values_of(x) for x in flat(compute(*given))] == own, what


NUMBERS = (0.1, 2**60 + 2**36 + 1, -(2**60 + 2**36), 2**24 + 1, 1 + 2.0**-24 + 2.0**-50, 0.7 * 2.0**-149, 1e-50, -0.0)
"""Whose nearest float32 number another rounding on the way, or none, would miss."""
MEETING = torch.tensor([1.0, -2.5, 0.0, -0.0, 2.0**60, 2.0**60 + 2.0**37, -(2.0**60), 2.0**24, 1 + 2.0**-23, 2.0**-149])


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_enter_as_the_nearest_float32(number: float) -> None:
    x, mask = MEETING, MEETING > 0
    uses: list[tuple[str, list[Any], dict[str, Any]]] = [
        *((f"aten.{kind}.Scalar", [x, number], {}) for kind in (
            "add", "sub", "rsub", "mul", "div", "eq", "ne", "lt", "le", "gt", "ge", "fmod", "remainder", "fill",
        )),
        *((f"aten.{kind}.default", [x, number], {}) for kind in ("clamp_min", "clamp_max", "leaky_relu", "full_like")),
        ("aten.div.Scalar_mode", [x, number], {"rounding_mode": "floor"}),
        ("aten.where.ScalarOther", [mask, x, number], {}),
        ("aten.masked_fill.Scalar", [x, mask, number], {}),
        ("aten.threshold.default", [x, number, number], {}),
        ("aten.hardtanh_backward.default", [x, x, -1.5, number], {}),
        ("aten.constant_pad_nd.default", [x, [1, 2], number], {}),
        ("aten.scatter.value", [x, 0, torch.tensor([1, 2]), number], {}),
        ("aten.pow.Tensor_Scalar", [x, number], {}),
        ("aten.pow.Scalar", [number, x], {}),
    ]  # fmt: skip
    for name, args, kwargs in uses:
        assert differing(name, args, kwargs) == [], name


@settings(max_examples=30)
@drawn_from(st.data())
def test_sums_by_index_of_any_shape(data: st.DataObject) -> None:
    """Shapes decide how many bits a term keeps, and which elements share an exponent."""
    lengths = st.lists(st.integers(1, 4), min_size=1, max_size=3)
    shape = data.draw(lengths)
    axis, count = data.draw(st.integers(-len(shape), len(shape) - 1)), data.draw(st.integers(0, 9))
    seed, scale = data.draw(st.integers(0, 99)), data.draw(st.sampled_from((0.0, 1.0, 1e-6, 1e-40)))
    base = wild(tuple(shape), seed) * scale
    longer = [count if n == axis % len(shape) else length for n, length in enumerate(shape)]
    index = torch.from_numpy(np.random.default_rng(seed).integers(0, shape[axis], count))
    added = wild(tuple(longer), seed + 1, -60, -30)
    along = index.view([-1 if n == axis % len(shape) else 1 for n in range(len(shape))]).expand(longer)
    beyond = torch.cat([added, torch.full_like(added[:1], 1e30)]) if axis % len(shape) else added
    before: list[Tensor | None] = [None] * (axis % len(shape))
    for name, args in (
        ("aten.index_add.default", [base, axis, index, added]),
        ("aten.scatter_add.default", [base, axis, along, beyond]),
        ("aten.index_put.default", [base, [*before, index - shape[axis]], added, True]),
        ("aten.embedding_dense_backward.default", [wild((count, 3), seed, -60, -30), index, 5, -1, False]),
    ):
        assert differing(name, args, {}) == [], (name, shape, axis, count)
