"""Compiled formulas of the scale rules against the same rules in torch's operators, on strange shapes and numbers."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from torch import Tensor

from counterfoil_core.arithmetic.families import magnitude
from counterfoil_core.arithmetic.families.table import SCALES

STRANGE = {
    "ordinary": [],
    "zeros": None,
    "subnormal": [5e-324, -1e-310],
    "infinite": [math.inf],
    "minus infinite": [-math.inf],
    "not a number": [math.nan],
    "large": [1e38, -1e38],
}


class Numbers:
    """Makes tensors with strange numbers in them."""

    def __init__(self, strange: str) -> None:
        self._strange = STRANGE[strange]
        self._generator = torch.Generator().manual_seed(1)

    def __call__(self, *shape: int) -> Tensor:
        x = torch.randn(shape, dtype=torch.float64, generator=self._generator)
        if self._strange is None:
            return torch.zeros_like(x)
        for place, value in enumerate(self._strange):
            x.view(-1)[(5 * place + 3) % x.numel()] = value
        return x

    def positive(self, *shape: int) -> Tensor:
        return torch.rand(shape, dtype=torch.float64, generator=self._generator) + 0.1


def convolution(make: Numbers, *, space: int, groups: int, stride: int, padding: int, dilation: int) -> list[Any]:
    x = make(3, 4, *(9, 7)[:space])
    weight = make(6, 4 // groups, *(3, 2)[:space])
    settings = {
        "stride": [stride] * space, "padding": [padding], "dilation": [dilation] * space, "groups": groups,
        "transposed": False, "output_padding": [0] * space,
    }  # fmt: skip
    call = torch.ops.aten.convolution.default
    out = call(x, weight, None, settings["stride"], [padding] * space, settings["dilation"], False, [0] * space, groups)
    g = make(*out.shape)
    gradients = [torch.empty_like(x), torch.empty_like(weight), torch.empty(6, dtype=torch.float64)]
    transposed = {**settings, "transposed": True}
    return [
        ("convolution", {"input": x, "weight": weight, "bias": make(6), **settings}, [out]),
        ("convolution_backward", {"grad_output": g, "input": x, "weight": weight, **settings}, gradients),
        ("convolution", {"input": g, "weight": weight, "bias": None, **transposed}, [x]),
        ("convolution_backward", {"grad_output": x, "input": g, "weight": weight, **transposed}, [g, *gradients[1:]]),
    ]


def norms(make: Numbers) -> list[Any]:
    x, g, mean, rstd = make(4, 6, 5, 3), make(4, 6, 5, 3), make(6), make.positive(6)
    running = {"running_mean": make(6), "running_var": make.positive(6), "eps": 1e-5}
    calls: list[Any] = []
    for weight, flat in itertools.product([None, make(6)], [False, True]):
        value, gradient = (t[:, :, 0, 0].contiguous() if flat else t for t in (x, g))
        forward = {"input": value, "weight": weight, "bias": weight, **running}
        outputs = [value, mean, rstd, mean, rstd]
        calls += [("batch_norm", forward, outputs), ("batch_norm", forward, [value, mean, None])]
        for trained in (False, True):
            arguments = {
                "grad_out": gradient, "input": value, "weight": weight, "train": trained, "save_mean": mean,
                "save_invstd": rstd, **running,
            }  # fmt: skip
            calls.append(("batch_norm_backward", arguments, [value, mean, mean]))
    rows = {"normalized_shape": [5, 3], "mean": make(4, 6, 1, 1), "rstd": make.positive(4, 6, 1, 1)}
    for weight in (None, make(5, 3)):
        named = {"input": x, "grad_out": g, "weight": weight, "bias": weight, **rows}
        calls += [
            ("layer_norm", named, [x, rows["mean"], rows["rstd"]]),
            ("layer_norm_backward", named, [x, make(5, 3), make(5, 3)]),
        ]
    grouped = {"N": 4, "C": 6, "HxW": 15, "group": 2, "mean": make(4, 2), "rstd": make.positive(4, 2)}
    for weight in (None, make(6)):
        named = {"input": x, "grad_out": g, "weight": weight, "bias": weight, **grouped}
        calls += [
            ("group_norm", named, [x, grouped["mean"], grouped["rstd"]]),
            ("group_norm_backward", named, [x, make(6), make(6)]),
        ]
    return calls


def products(make: Numbers) -> list[Any]:
    a, b = make(7, 5), make(5, 9)
    batch, other = make(3, 7, 5), make(3, 5, 9)
    turned = batch.transpose(1, 2).contiguous().transpose(1, 2)
    return [
        ("mm", {"self": a, "mat2": b}, [a]),
        ("mm", {"self": b.t(), "mat2": a.t()}, [a]),
        ("mm", {"self": make(9), "mat1": a, "mat2": b, "alpha": 2, "beta": 3}, [a]),
        ("mm", {"self": a, "vec": make(5)}, [a]),
        ("mm", {"self": make(7), "mat": a, "vec": make(5), "alpha": 1, "beta": 1}, [a]),
        ("mm", {"self": make(5), "tensor": make(5)}, [a]),
        ("bmm", {"self": batch, "mat2": other}, [a]),
        ("bmm", {"self": turned, "mat2": other}, [a]),
        ("bmm", {"self": make(7, 9), "batch1": batch, "batch2": other, "alpha": 1, "beta": 1}, [a]),
        *(
            (rule, {"self": make(3, 4, 5), "dim": axes}, [a])
            for rule in ("sum", "mean")
            for axes in ([0], [1], [2], [1, 2], [0, 1], [0, 2], [2, 0, 1], None)
        ),
    ]


def numbers_of(scales: Any) -> list[float]:
    return [math.nan if one is None else float(one) for one in scales]


CALLS = {
    "norms": norms,
    "products": products,
    **{
        f"convolution {case}": (
            lambda make, case=case: convolution(
                make, **dict(zip(("space", "groups", "stride", "padding", "dilation"), case, strict=True))
            )
        )
        for case in [
            (2, 1, 1, 1, 1),
            (2, 1, 2, 1, 1),
            (2, 2, 2, 0, 2),
            (1, 1, 3, 2, 1),
            (1, 2, 1, 1, 2),
            (2, 1, 3, 0, 1),
        ]
    },
}


@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize("calls", CALLS)
def test_the_scale_is_that_of_torchs_operators(monkeypatch: pytest.MonkeyPatch, calls: str, strange: str) -> None:
    for rule, arguments, outputs in CALLS[calls](Numbers(strange)):
        found = numbers_of(SCALES[rule](arguments, outputs))
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr(magnitude, "_fast", lambda x: False)
            expected = numbers_of(SCALES[rule](arguments, outputs))
        assert len(found) == len(expected) > 0
        for one, other in zip(found, expected, strict=True):
            same = one == other or (math.isnan(one) and math.isnan(other))
            assert same or math.isclose(one, other, rel_tol=1e-12), (rule, found, expected)


def test_control_another_number_is_another_scale() -> None:
    make = Numbers("ordinary")
    for calls in CALLS.values():
        rule, arguments, outputs = calls(make)[0]
        name = "input" if "input" in arguments else "self"
        doubled = {**arguments, name: arguments[name] * 2.0}
        before, after = (numbers_of(SCALES[rule](given, outputs)) for given in (arguments, doubled))
        assert before[0] != after[0]


@pytest.mark.parametrize("threads", [1, 3])
def test_many_blocks_of_rows_are_one_matrix(threads: int) -> None:
    x = torch.randn(2, 900, 300, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    with magnitude.using(threads):
        found = magnitude.sizes(x)
    size = x.abs()
    for part, axis in ((found.rows, 2), (found.columns, 1)):
        assert torch.equal(part.largest, size.amax(axis))
        assert torch.allclose(part.total, size.sum(axis), rtol=1e-13)
        assert torch.allclose(part.squares, x.square().sum(axis), rtol=1e-13)
    joined = found.row_vectors()
    assert torch.equal(joined.largest, size.amax((0, 2)))
    assert torch.allclose(joined.squares, x.square().sum((0, 2)), rtol=1e-13)
    tops = [found.rows.top(kind) for kind in range(3)] + [found.columns.top(kind) for kind in range(3)]
    assert list(found.tops) == tops
    assert [joined.top(kind) for kind in range(3)] == [
        float(t.amax()) for t in (joined.largest, joined.total, joined.squares)
    ]
