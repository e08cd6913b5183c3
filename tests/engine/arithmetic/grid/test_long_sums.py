"""Sums that are too long for the library's form: machines that add in any order agree within the margin."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterfoil_core.arithmetic.families.parts import Run, natively
from counterfoil_core.arithmetic.families.table import FORMS
from counterfoil_core.arithmetic.grid.margin import bounds_of, kinds_without_bound, margin_bits, site_margins
from counterfoil_core.base.precision import Precision
from counterfoil_core.operators import sums
from counterfoil_core.operators.catalogue import allowed_names, classify
from counterfoil_core.operators.facts import Use
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.graph import Input, Program

MILLION = 1_000_000


def sequential(terms: Tensor) -> Tensor:
    """Sum over the last axis, one term after another: the order with the largest bias."""
    return torch.from_numpy(np.add.accumulate(terms.contiguous().numpy(), axis=-1)[..., -1])


def tree(terms: Tensor) -> Tensor:
    """Sum over the last axis in pairs, as a GPU may."""
    while terms.shape[-1] > 1:
        if terms.shape[-1] % 2:
            terms = torch.cat([terms, torch.zeros_like(terms[..., :1])], -1)
        terms = terms[..., 0::2] + terms[..., 1::2]
    return terms[..., 0]


def machine(add: Callable[[Tensor], Tensor]) -> Run:
    """A machine whose norms and sums add in an order of its own."""

    def run(name: str, *args: Any) -> Any:
        if name == "aten.linalg_vector_norm.default":
            x, order, (axis,), _ = args
            terms = x.abs() if order == 1.0 else x * x
            total = add(terms.movedim(axis, -1)).unsqueeze(axis)
            return total if order == 1.0 else total.sqrt()
        if name == "aten.sum.dim_IntList":
            x, (axis,), _ = args
            return add(x.movedim(axis, -1)).unsqueeze(axis)
        return natively(name, *args)

    return run


def program(operator: str, *shape: int) -> Program:
    """A program whose one rounding site is a reduction of a tensor to a number."""
    kind = TensorType("float32", shape)
    node = Node(operator, (Value(0),), (), (TensorType("float32", ()),), 1, "clip", "update")
    return Program((Input("x", "state", kind),), (node,), {}, Value(1))


@pytest.mark.parametrize("n", [65_536, MILLION])
@pytest.mark.parametrize(("operator", "order"), [("aten.linalg_vector_norm.default", 2), ("aten.sum.default", 1)])
def test_a_sequential_machine_and_a_tree_agree_within_three_quarters_of_the_margin(
    n: int, operator: str, order: int
) -> None:
    """What is left for both is what the proof allows them: otherwise an honest trainer may be accused."""
    x = torch.from_numpy(np.random.default_rng(n).standard_normal(n)).abs()
    (margin,) = site_margins(program(operator, n), Precision())
    assert margin.proven
    assert Use(classify(operator), {"self": x}).own_form
    form = FORMS[operator.split(".")[1]]
    values = [float(form(machine(add), {"self": x})) for add in (sequential, tree)]
    exact = math.sqrt(math.fsum((x * x).tolist())) if order == 2 else math.fsum(x.tolist())
    tau = 2.0 ** (math.frexp(exact)[1] - 1 - margin.bits)
    assert abs(values[0] - values[1]) <= 0.75 * tau
    assert max(abs(value - exact) for value in values) <= 0.75 * tau
    # The control, and what it was before: summed at once, these machines are too far apart for the profile's margin.
    whole = [float(add(x * x).sqrt() if order == 2 else add(x)) for add in (sequential, tree)]
    profile = 2.0 ** (math.frexp(exact)[1] - 1 - Precision().margin_bits)
    if n == MILLION:
        assert abs(whole[0] - whole[1]) > 0.75 * profile


def uses() -> dict[str, tuple[str, dict[str, Any]]]:
    """Uses of operators in large models, whose bounds did not fit the grid in the library's form."""

    def t(*shape: int) -> TensorType:
        return TensorType("float32", shape)

    def labels(*shape: int) -> TensorType:
        return TensorType("int64", shape)

    images, channels = t(128, 64, 32, 32), t(64)
    wide = t(2048, 8192)
    tokens, vocabulary = 8192, 151_936
    conv = {
        "stride": [1, 1], "padding": [1, 1], "dilation": [1, 1], "transposed": False, "output_padding": [0, 0],
        "groups": 1, "output_mask": [True] * 3,
    }  # fmt: skip
    group = {"N": 32, "C": 64, "HxW": 16384, "group": 8}
    return {
        "batch norm of CIFAR images, 128 of them": (
            "_native_batch_norm_legit_functional",
            {"input": images, "weight": channels, "training": True, "running_mean": channels},
        ),
        "its gradient": ("native_batch_norm_backward", {"input": images, "train": True, "output_mask": [True] * 3}),
        "batch norm of ImageNet images, 256 of them": (
            "_native_batch_norm_legit_functional",
            {"input": t(256, 64, 112, 112), "weight": channels, "training": True, "running_mean": channels},
        ),
        "layer norm of width 8192": ("native_layer_norm", {"input": wide, "normalized_shape": [8192]}),
        "its gradient, of 2048 rows": (
            "native_layer_norm_backward",
            {"grad_out": wide, "input": wide, "normalized_shape": [8192], "output_mask": [True] * 3},
        ),
        "group norm": ("native_group_norm", {"input": t(32, 64, 128, 128), **group}),
        "the gradient of group norm": (
            "native_group_norm_backward",
            {"input": t(32, 64, 128, 128), **group, "output_mask": [True] * 3},
        ),
        "a convolution's gradients, CIFAR": (
            "convolution_backward",
            {"grad_output": images, "input": images, "weight": t(64, 64, 3, 3), **conv},
        ),
        "a convolution's gradients, ImageNet": (
            "convolution_backward",
            {"grad_output": t(256, 64, 224, 224), "input": t(256, 64, 224, 224), "weight": t(64, 64, 3, 3), **conv},
        ),
        "a convolution's gradients, large images": (
            "convolution_backward",
            {"grad_output": t(2, 8, 2048, 2048), "input": t(2, 8, 2048, 2048), "weight": t(8, 8, 3, 3), **conv},
        ),
        "clipping of GPT-2's embedding": ("linalg_vector_norm", {"self": t(50257, 768), "ord": 2}),
        "a sum of GPT-2's embedding": ("sum", {"self": t(50257, 768)}),
        "a variance over 10 million": ("var", {"self": t(10_000_000), "correction": 1}),
        "softmax of Qwen's vocabulary": ("_softmax", {"self": t(tokens, vocabulary), "dim": -1}),
        "log softmax of it": ("_log_softmax", {"self": t(tokens, vocabulary), "dim": -1}),
        "its logsumexp": ("logsumexp", {"self": t(tokens, vocabulary), "dim": [-1]}),
        "the gradient of softmax": ("_softmax_backward_data", {"grad_output": t(tokens, vocabulary), "dim": 1}),
        "of log softmax": ("_log_softmax_backward_data", {"grad_output": t(tokens, vocabulary), "dim": 1}),
        "losses of a million tokens": (
            "nll_loss_forward",
            {"self": t(MILLION, 10), "target": labels(MILLION), "reduction": 1, "ignore_index": -100},
        ),
        "squared errors of a million": ("mse_loss", {"self": t(1000, 1000), "target": t(1000, 1000), "reduction": 1}),
        "cross entropy of a million": (
            "binary_cross_entropy",
            {"self": t(1000, 1000), "target": t(1000, 1000), "reduction": 2},
        ),
        "a product over a million rows": ("mm", {"self": t(64, MILLION), "mat2": t(MILLION, 64)}),
        "in batches": ("bmm", {"self": t(4, 64, MILLION), "mat2": t(4, MILLION, 64)}),
        "of vectors": ("dot", {"self": t(MILLION), "tensor": t(MILLION)}),
        "a running sum": ("cumsum", {"self": t(4, MILLION), "dim": 1}),
        "an embedding's gradient of a million tokens": (
            "embedding_dense_backward",
            {"grad_output": t(MILLION, 64), "indices": labels(MILLION), "num_weights": 50257, "padding_idx": -1},
        ),
        "rows added at a million indices": ("index_add", {"self": t(10, 4), "dim": 0, "index": labels(MILLION)}),
        "elements": ("scatter_add", {"self": t(10), "dim": 0, "index": labels(MILLION), "src": t(MILLION)}),
        "values": ("index_put", {"self": t(10), "indices": [labels(MILLION)], "values": t(MILLION)}),
        "a pool over a large image": (
            "avg_pool2d",
            {"self": t(1, 3, 512, 512), "kernel_size": [512, 512], "stride": [], "padding": [0, 0]},
        ),
        "to one element": ("_adaptive_avg_pool2d", {"self": t(1, 3, 512, 512), "output_size": [1, 1]}),
    }


@pytest.mark.parametrize("name", uses())
def test_large_models_have_proven_margins_with_room_to_spare(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, arguments = uses()[name]
    (entry, *_) = (classify(name) for name in allowed_names() if name.split(".")[1] == kind)
    use = Use(entry, arguments, 3 if "norm" in kind or "convolution" in kind else 1)
    least, _ = Precision().margin_range
    assert use.own_form
    for position, bound in enumerate(bounds_of(use)):
        assert bound is not None
        if "convolution" in kind and position == 0:
            continue  # the input's gradient sums over channels and the kernel
        assert margin_bits(bound, "float64") >= least + 2, (name, position, bound)
    monkeypatch.setattr(sums, "LONGEST", 2**62)
    if use.own_form:
        return  # always our own form, so there is no library's to compare with
    library = max(b.terms * b.factor for b in bounds_of(use) if b is not None)
    assert library > 60_000, "the control: these uses are long"


def test_gpt2_and_residual_networks_have_proven_margins_everywhere() -> None:
    for operator, shape in [
        ("aten.linalg_vector_norm.default", (50257, 768)),
        ("aten.mean.default", (128, 64, 32, 32)),
    ]:
        long = program(operator, *shape)
        (margin,) = site_margins(long, Precision())
        assert margin.proven
        assert margin.bits >= 38
        assert kinds_without_bound(long, Precision()) == ()
        assert kinds_without_bound(long, replace(Precision(), proven=False)) == (operator.split(".")[1],)
