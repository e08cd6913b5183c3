"""A job whose step uses every kind of rounded operator of the allow-list, so that honest replays cover them all.

Its loss is a sum of the means of everything, each term of moderate size; it learns nothing in particular.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.capture import capture
from counterfoil.program.update import AdamW
from counterfoil.training.order import OrderDraft, draft_order
from counterfoil.training.schedules import shuffled_epochs
from counterfoil.training.weights import fan_in_uniform
from counterfoil_core.base.precision import AnyPrecision, exact_profile
from counterfoil_core.operators.node import TensorType

_aten = torch.ops.aten
_ROWS, _WIDTH = 8, 12


def _functions(x: Tensor) -> list[Tensor]:
    """Functions of one element; ``x`` is between -1 and 1."""
    inside, positive = 0.4 + 0.3 * x, 1.5 + x
    return [
        *(getattr(torch, name)(x) for name in (
            "exp", "exp2", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "asinh", "erf", "erfc",
            "sigmoid",
        )),
        *(getattr(torch, name)(inside) for name in ("asin", "acos", "atanh", "logit")),
        *(getattr(torch, name)(positive) for name in ("log", "log2", "log10", "log1p", "rsqrt", "sqrt", "reciprocal")),
        torch.acosh(positive + 1.0),
        *(getattr(functional, name)(3.0 * x) for name in (
            "silu", "gelu", "mish", "hardswish", "hardsigmoid", "elu", "celu", "selu", "softplus", "logsigmoid",
        )),
        functional.gelu(x, approximate="tanh"),
        functional.glu(x),
        torch.logit(torch.sigmoid(20.0 * x), eps=1e-6),
        functional.softplus(x, beta=0.7, threshold=1.0),
    ]  # fmt: skip


def _pairs(x: Tensor, y: Tensor) -> list[Tensor]:
    """Functions of two elements, and sums of a few terms."""
    positive = 1.5 + y
    return [
        x / positive, x / 3.0, positive**x, x**3, 2.5**x, torch.atan2(x, positive), torch.xlogy(x, positive),
        torch.logaddexp(x, y), torch.add(x, y, alpha=0.3), torch.sub(x, y, alpha=0.7), torch.rsub(x, y, alpha=0.3),
        torch.addcmul(x, y, positive, value=0.7), torch.addcdiv(x, y, positive, value=0.7),
        torch.lerp(x, y, 0.3), torch.lerp(x, y, torch.sigmoid(x)),
    ]  # fmt: skip


def _reductions(x: Tensor) -> list[Tensor]:
    """Sums, norms and softmax over rows ``[n, m]``."""
    masked = x.masked_fill(x > 0.5, -torch.inf)
    return [
        x.sum(0), x.mean(1), x.cumsum(1), (1.0 + 0.1 * x.detach()).prod(1), x.var(1), x.std(0), *torch.var_mean(x, 1),
        torch.linalg.vector_norm(x, dim=1), torch.linalg.vector_norm(x, ord=3, dim=1), _aten.norm.Scalar(x, 2),
        x.logsumexp(1), x.softmax(1), x.log_softmax(0), _aten._safe_softmax(masked, 1),
    ]  # fmt: skip


def _products(x: Tensor, w: Tensor) -> list[Tensor]:
    """Matrix products of ``x`` ``[n, m]`` and ``w`` ``[m, m]``."""
    blocks = x.reshape(2, -1, x.shape[1])
    return [
        x @ w, torch.addmm(x, x, w), torch.mv(w, x[0]), torch.addmv(x[1], w, x[0]), torch.dot(x[0], x[1]),
        torch.bmm(blocks, w.expand(2, -1, -1)), torch.baddbmm(blocks, blocks, w.expand(2, -1, -1), alpha=0.5),
    ]  # fmt: skip


def _losses(x: Tensor, labels: Tensor) -> list[Tensor]:
    """Losses of ``x`` ``[n, 12]`` and labels 0 to 3."""
    target = torch.tanh(x.detach().flip(0))
    probability = torch.sigmoid(x)
    planes = x.reshape(-1, 4, 3).log_softmax(1)
    return [
        functional.mse_loss(x, target), functional.smooth_l1_loss(x, target, beta=0.3),
        functional.huber_loss(x, target, delta=0.3), functional.l1_loss(x, target),
        functional.binary_cross_entropy(probability, 0.5 + 0.4 * target),
        functional.nll_loss(x.log_softmax(1), labels),
        functional.nll_loss(planes[..., None], labels[:, None, None].expand(-1, 3, 1)),
    ]  # fmt: skip


def _indexed(x: Tensor, labels: Tensor, table: Tensor) -> list[Tensor]:
    """Embeddings, gathers and scatters by labels 0 to 3."""
    zeros = torch.zeros(4, x.shape[1])
    return [
        functional.embedding(labels, table), x[labels], zeros.index_add(0, labels, x, alpha=0.5),
        zeros.scatter_add(0, labels[:, None].expand(-1, x.shape[1]), x), x.gather(1, labels[:, None]),
    ]  # fmt: skip


def _images(x: Tensor) -> list[Tensor]:
    """Pooling, padding, folding and interpolation of ``x`` ``[n, 12]`` as planes of 6 by 8, rows and cubes."""
    planes, lines = x.reshape(-1, 1, 6, 8), x.reshape(-1, 2, 24)
    cubes = x.reshape(-1, 1, 4, 4, 3)
    return [
        functional.max_pool2d(planes, 3, 1), functional.max_pool3d(cubes, 2, 1),
        functional.adaptive_max_pool2d(planes, (4, 5)), functional.avg_pool1d(lines, 3, 2),
        functional.avg_pool2d(planes, 3, 2, 1), functional.avg_pool3d(cubes, 2, 1),
        functional.adaptive_avg_pool1d(lines, 5), functional.adaptive_avg_pool2d(planes, (4, 3)),
        functional.adaptive_avg_pool3d(cubes, (2, 3, 2)),
        functional.pad(lines, (2, 1), "reflect"), functional.pad(planes, (2, 1, 1, 2), "reflect"),
        functional.pad(lines, (2, 1), "replicate"), functional.pad(planes, (2, 1, 1, 2), "replicate"),
        lines.unfold(2, 4, 2), functional.unfold(planes, 3), functional.fold(x.reshape(-1, 4, 12), (4, 5), 2),
    ]  # fmt: skip


class EveryOperator(nn.Module):
    """What feeds the operators: a linear layer, convolutions and norms."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(_WIDTH, _WIDTH)
        self.square = nn.Linear(_WIDTH, _WIDTH, bias=False)
        self.table = nn.Embedding(4, _WIDTH)
        self.convolution = nn.Conv2d(1, 4, 3, padding=1)
        self.back = nn.ConvTranspose2d(4, 1, 3, padding=1)
        self.batch_norm, self.frozen = nn.BatchNorm2d(4), nn.BatchNorm2d(4)
        self.forgetful = nn.BatchNorm2d(4, track_running_stats=False)
        self.group_norm, self.layer_norm = nn.GroupNorm(2, 4), nn.LayerNorm(_WIDTH)
        self.prelu = nn.PReLU()
        self.frozen.eval()

    def forward(self, x: Tensor, labels: Tensor) -> Tensor:
        """Return the sum of the means of everything for ``x`` ``[n, 12]`` and ``labels`` ``[n]``."""
        x = torch.tanh(self.linear(x))
        planes = self.convolution(x.reshape(-1, 1, 4, 3))
        planes = self.group_norm(self.frozen(self.forgetful(self.batch_norm(planes))))
        wide = self.layer_norm(self.back(planes).reshape(-1, _WIDTH))
        results = [
            *_functions(x), *_pairs(x, x.flip(0)), *_reductions(x), *_products(x, self.square.weight),
            *_losses(x, labels), *_indexed(x, labels, self.table.weight), *_images(x), self.prelu(wide),
        ]  # fmt: skip
        total = torch.zeros(())
        for result in results:
            total = total + result.mean()
        return total * (1.0 / len(results))


def _objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    loss: Tensor = model(batch["x"], batch["labels"])
    return loss


def every_operator(steps: int, precision: AnyPrecision | None = None) -> OrderDraft:
    """Order a step that uses every kind of rounded operator."""
    rng = np.random.default_rng(7)
    model, rule = EveryOperator(), AdamW()
    fan_in_uniform(model, 3)
    batch = {"x": TensorType("float32", (_ROWS, _WIDTH)), "labels": TensorType("int64", (_ROWS,))}
    data: dict[str, np.ndarray[Any, Any]] = {
        "x": rng.standard_normal((64, _WIDTH)).astype(np.float32),
        "labels": np.arange(64, dtype=np.int64) % 4,
    }
    return draft_order(
        title="Every rounded operator",
        recipe="own",
        captured=capture(model, _objective, rule, batch, exact=exact_profile(precision)),
        rule=rule,
        learning_rates=[0.01] * steps,
        schedule=shuffled_epochs(64, _ROWS, steps, 3),
        data=data,
        seed=3,
        checkpoint_every=4,
        precision=precision,
    )
