"""Operators by their definitions: what the library computes but for rounding, and the same bits in every form."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from counterfoil.definite.operators import Profile, kinds, rule_for
from counterfoil.definite.products import Form
from counterfoil.execution.interpreter import make_operation
from counterfoil.program.graph import Node, TensorType
from support.definite_reference import same_bits

ATEN = torch.ops.aten
GENERATOR = torch.Generator().manual_seed(0)


def draw(*shape: int) -> Tensor:
    return torch.randn(shape, generator=GENERATOR)


def places(limit: int, *shape: int) -> Tensor:
    return torch.randint(limit, shape, generator=GENERATOR)


def _max_pool(axes: int) -> tuple[str, list[Any]]:
    x = draw(2, 3, *[9] * axes)
    operator = ATEN.max_pool2d_with_indices if axes == 2 else ATEN.max_pool3d_with_indices
    arguments = [[3] * axes, [2] * axes, [1] * axes, [1] * axes, False]
    result, indices = operator(x, *arguments)
    return f"aten.max_pool{axes}d_with_indices_backward.default", [draw(*result.shape), x, *arguments, indices]


def _adaptive() -> tuple[str, list[Any]]:
    x = draw(2, 3, 7, 9)
    result, indices = ATEN.adaptive_max_pool2d(x, [3, 4])
    return "aten.adaptive_max_pool2d_backward.default", [draw(*result.shape), x, indices]


GEOMETRY = ([2, 1], [1, 0], [1, 2])
TRANSPOSED = [draw(2, 6, 5, 6), draw(6, 2, 3, 2), None, *GEOMETRY, True, [1, 0], 2]
RESULT = ATEN.convolution(*TRANSPOSED)
PLAIN = [draw(2, 6, 9, 8), draw(4, 3, 3, 2), None, *GEOMETRY, False, [0, 0], 2]
CALLS: list[tuple[str, list[Any]]] = [
    ("aten.mm.default", [draw(5, 7), draw(7, 6)]),
    ("aten.bmm.default", [draw(3, 5, 7), draw(3, 7, 6)]),
    ("aten.mv.default", [draw(5, 7), draw(7)]),
    ("aten.dot.default", [draw(7), draw(7)]),
    ("aten.div.Tensor", [draw(5, 7), draw(7)]),
    ("aten.div.Tensor", [draw(5, 7), 3.0]),
    ("aten.convolution.default", PLAIN),
    ("aten.convolution.default", TRANSPOSED),
    ("aten.convolution.default", [draw(2, 3, 9), draw(4, 3, 3), None, [1], [1], [1], False, [0], 1]),
    (
        "aten.convolution_backward.default",
        [draw(*ATEN.convolution(*PLAIN).shape), *PLAIN[:2], [4], *PLAIN[3:], [True, True, True]],
    ),
    (
        "aten.convolution_backward.default",
        [draw(*RESULT.shape), *TRANSPOSED[:2], [4], *TRANSPOSED[3:], [True, True, True]],
    ),
    ("aten.sum.default", [draw(5, 7)]),
    ("aten.sum.dim_IntList", [draw(5, 7, 3), [0, -1]]),
    ("aten.sum.dim_IntList", [draw(5, 7, 3), [1], True]),
    ("aten.sum.dim_IntList", [draw(5, 7), []]),
    ("aten.cumsum.default", [draw(5, 7), -1]),
    ("aten.cumsum.default", [draw(), 0]),
    ("aten.embedding_dense_backward.default", [draw(4, 9, 5), places(6, 4, 9), 6, -1, False]),
    ("aten.embedding_dense_backward.default", [draw(4, 9, 5), places(6, 4, 9), 6, 2, False]),
    ("aten.index_add.default", [draw(4, 6, 3), -2, places(6, 11), draw(4, 11, 3)]),
    ("aten.index_add.default", [draw(), 0, places(1, 1), draw()]),
    ("aten.scatter_add.default", [draw(4, 6, 3), 1, places(6, 3, 9, 2), draw(4, 10, 3)]),
    ("aten.scatter_add.default", [draw(7), -1, places(7, 20), draw(20)]),
    ("aten.scatter_add.default", [draw(), 0, places(1), draw()]),
    ("aten.index_put.default", [draw(6, 4, 3), [places(6, 8)], draw(8, 4, 3), True]),
    ("aten.index_put.default", [draw(6, 4, 3), [None, places(4, 8), places(3, 8)], draw(6, 8), True]),
    ("aten.index_put.default", [draw(6, 4), [places(6, 5, 1), places(4, 7)], draw(1), True]),
    _max_pool(2),
    _max_pool(3),
    _adaptive(),
    ("aten.col2im.default", [draw(2, 12, 6), [6, 7], [2, 3], [2, 1], [1, 0], [2, 3]]),
    ("aten.unfold_backward.default", [draw(4, 4, 5, 3), [4, 9, 5], 1, 3, 2]),
    *((f"aten.{kind}.default", [draw(5, 7).abs() / 8]) for kind in ("exp", "log", "sqrt", "rsqrt", "erf", "tan")),
    ("aten.pow.Tensor_Scalar", [draw(5, 7).abs(), 1.5]),
    ("aten.pow.Tensor_Tensor", [draw(5, 7).abs(), draw(7)]),
    ("aten.pow.Scalar", [1.5, draw(7)]),
    ("aten.atan2.default", [draw(5, 7), draw(7)]),
    ("aten.xlogy.Tensor", [draw(5, 7), draw(7).abs()]),
]


def listed(result: Any) -> list[Tensor]:
    return [x for x in (result if isinstance(result, (tuple, list)) else [result]) if x is not None]


def computed(name: str, args: list[Any], profile: Profile) -> list[Tensor]:
    operation = make_operation(Node(name, (), (), (TensorType("float32", ()),), 0, "", "forward"))
    rule = rule_for(operation.node.entry.kind)
    assert rule is not None
    return listed(rule(operation.named(args, {}), profile))


@pytest.mark.parametrize(("name", "args"), CALLS, ids=lambda value: value if isinstance(value, str) else "")
def test_operators(name: str, args: list[Any]) -> None:
    _, namespaced, overload = name.split(".")
    wide = [x.double() if isinstance(x, Tensor) and x.is_floating_point() else x for x in args]
    expected = listed(getattr(getattr(ATEN, namespaced), overload)(*wide))
    found = computed(name, args, Profile(20))
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == torch.float32
        assert ours.shape == theirs.shape
        scale = max(float(theirs.abs().max()), 1.0)
        assert float((ours - theirs).abs().max()) < 2e-5 * scale
    for form in Form:
        for bits in (13, 20):
            others = computed(name, args, Profile(bits, form, form, form))
            first = computed(name, args, Profile(bits))
            assert all(same_bits(a.contiguous(), b.contiguous()) for a, b in zip(others, first, strict=True)), form


def test_every_kind_is_called() -> None:
    called = {name.split(".")[1] for name, _ in CALLS}
    missing = kinds() - called
    assert {kind for kind in missing if rule_for(kind) is None} == set()
    # The other functions of one number are in test_functions.py.
    assert missing <= {
        "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erfc", "exp2", "expm1", "log10", "log1p",
        "log2", "reciprocal", "sigmoid", "sin", "sinh", "tanh",
    }  # fmt: skip


def test_composites_have_no_rule() -> None:
    for kind in ("_softmax", "addmm", "mean", "native_layer_norm", "gelu", "lerp", "addcmul"):
        assert rule_for(kind) is None


def test_forms_are_chosen_among_the_sound_ones() -> None:
    chosen = Profile.on(torch.device("cpu"), 20)
    assert (chosen.bits, chosen.matrices, chosen.batches) == (20, Form.KARATSUBA, Form.FLOAT64)


@pytest.mark.parametrize(
    ("name", "args", "what"),
    [
        ("aten.convolution.default", [*PLAIN[:2], draw(4), *PLAIN[3:]], "bias"),
        ("aten.index_add.default", [draw(3), 0, places(3, 4), draw(4)], ""),
        ("aten.embedding_dense_backward.default", [draw(4, 5), places(6, 4), 6, -1, True], "division"),
        ("aten.index_put.default", [draw(6), [places(6, 8)], draw(8), False], "overwrite"),
        ("aten.index_put.default", [draw(6), [draw(6) > 0], draw(1), True], "mask"),
    ],
)
def test_what_must_be_lowered_first_is_no_operation(name: str, args: list[Any], what: str) -> None:
    if not what:
        operation = make_operation(Node(name, (), (), (TensorType("float32", ()),), 0, "", "forward"))
        rule = rule_for("index_add")
        assert rule is not None
        with pytest.raises(AssertionError, match="product"):
            rule(operation.named(args, {"alpha": 2}), Profile(20))
        return
    with pytest.raises(AssertionError, match=what):
        computed(name, args, Profile(20))
