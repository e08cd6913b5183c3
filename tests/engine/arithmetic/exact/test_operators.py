"""Operators by their definitions: what the library computes but for rounding, and the same bits in every form."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from counterfoil_core.arithmetic.beforehand import LIMITS
from counterfoil_core.arithmetic.compute.operation import make_operation
from counterfoil_core.arithmetic.families.table import DEFINITIONS
from counterfoil_core.kernels.exact import forms
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.products import Form
from counterfoil_core.operators.node import Node, TensorType
from support.definite_calls import ATEN, CALLS, PLAIN, draw, listed, places
from support.definite_reference import same_bits


def computed(name: str, args: list[Any], profile: Profile) -> list[Tensor]:
    operation = make_operation(Node(name, (), (), (TensorType("float32", ()),), 0, "", "forward"))
    rule = DEFINITIONS[operation.node.entry.kind]
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
    missing = DEFINITIONS.keys() - called
    # The other functions of one number are in test_functions.py.
    assert missing <= {
        "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erfc", "exp2", "expm1", "log10", "log1p",
        "log2", "reciprocal", "sigmoid", "sin", "sinh", "tanh",
    }  # fmt: skip


def test_composites_have_no_rule() -> None:
    for kind in ("_softmax", "addmm", "mean", "native_layer_norm", "gelu", "lerp", "addcmul"):
        assert kind not in DEFINITIONS


def test_forms_are_chosen_by_what_the_processor_has(monkeypatch: pytest.MonkeyPatch) -> None:
    def chosen(bits: int, *, quick: bool, sound: bool = True) -> Profile:
        monkeypatch.setattr(forms, "is_quick", lambda _device: quick)
        monkeypatch.setattr(forms, "is_sound", lambda _device, form: sound and (form is not cores or there))
        return Profile.on(torch.device("cpu"), bits)

    cores, there = Form.TENSOR_CORES, True
    for bits in (8, 13, 20, 22):
        assert chosen(bits, quick=True) == Profile(bits, cores, cores, cores)
    assert chosen(23, quick=True) == Profile(23, Form.KARATSUBA, Form.FLOAT64, Form.KARATSUBA)
    there = False
    assert chosen(20, quick=True) == Profile(20, Form.KARATSUBA, Form.FLOAT64, Form.KARATSUBA)
    assert chosen(20, quick=False) == Profile(20)
    assert chosen(13, quick=False) == Profile(13, Form.INT16, Form.INT16)
    for quick in (True, False):
        assert chosen(13, quick=quick, sound=False) == Profile(13)


@pytest.mark.parametrize(
    ("name", "args", "what"),
    [
        ("aten.convolution.default", [*PLAIN[:2], draw(4), *PLAIN[3:]], "bias"),
        (
            "aten.convolution_backward.default",
            [draw(*ATEN.convolution(*PLAIN).shape), *PLAIN[:2], [4], *PLAIN[3:], [True, False, True]],
            "bias",
        ),
        ("aten.index_add.default", [draw(3), 0, places(3, 4), draw(4)], ""),
        ("aten.embedding_dense_backward.default", [draw(4, 5), places(6, 4), 6, -1, True], "division"),
        ("aten.index_put.default", [draw(6), [places(6, 8)], draw(8), False], "overwrite"),
        ("aten.index_put.default", [draw(6), [draw(6) > 0], draw(1), True], "mask"),
    ],
)
def test_what_must_be_lowered_first_is_no_operation(name: str, args: list[Any], what: str) -> None:
    if not what:
        operation = make_operation(Node(name, (), (), (TensorType("float32", ()),), 0, "", "forward"))
        rule = DEFINITIONS["index_add"]
        with pytest.raises(AssertionError, match="product"):
            rule(operation.named(args, {"alpha": 2}), Profile(20))
        return
    with pytest.raises(AssertionError, match=what):
        computed(name, args, Profile(20))


def test_what_is_computed_is_what_has_limits() -> None:
    assert DEFINITIONS.keys() == LIMITS.keys()
