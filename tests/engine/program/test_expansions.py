"""Operators that capture puts together from others give what torch gives in float64, gradients included, both ways."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.distributions import Gamma
from torch.nn import functional

from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.update import Sgd
from counterfoil_core.arithmetic.beforehand import check_exact
from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.operators.node import TensorType
from counterfoil_core.signing.keys import SigningKey
from support.expectations import verified
from support.jobs import draw, own_order, record_job

Function = Callable[[Tensor], Tensor]
EXACT = ExactPrecision(20)
BITS = 24
CPU = torch.device("cpu")


class Weighted(nn.Module):
    """A function of a weight, whose loss weighs every element differently, so that gradients tell places apart."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.from_numpy(draw((4, 8), 3)))
        self.register_buffer("result", torch.zeros(function(self.weight).shape))
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        y = self.function(self.weight)
        self.result = y.detach().to(self.result.dtype)
        return (y * (torch.arange(y.numel()).reshape(y.shape).remainder(7) + 1)).sum() + x.sum() * 0.0


def captured(function: Function, *, exact: ExactPrecision | None) -> CapturedStep:
    batch = {"x": TensorType("float32", (1,))}
    return capture(Weighted(function), lambda model, rows: model(rows["x"]), Sgd(), batch, exact=exact)


def executed(function: Function, *, exact: ExactPrecision | None) -> tuple[Tensor, Tensor]:
    """The result of the function and the gradient of its weight, by a program."""
    step = captured(function, exact=exact)
    if exact:
        check_exact(step.program, BITS)
        interpreter = Interpreter(step.program, CPU, torch.float32, exactly(Profile(BITS)))
    else:
        interpreter = Interpreter(step.program, CPU)
    # A step of a power of two that hardly loses a bit of the gradient where it is taken off the weight.
    rate = 2.0**10
    inputs = StepInputs(step.initial_state, {"x": torch.zeros(1)}, {"lr": rate}, Draws(0, 1))
    state = interpreter.run(inputs).state
    return state["result"].double(), (step.initial_state["weight"].double() - state["weight"].double()) / rate


def expected(function: Function) -> tuple[Tensor, Tensor]:
    model = Weighted(function)
    model.double()
    model(torch.zeros(1, dtype=torch.float64)).backward()
    return model.result, model.weight.grad


def image(w: Tensor) -> Tensor:
    return w.reshape(1, 2, 4, 4)


def sampled(**settings: object) -> Function:
    """Sampled at places in and around the image."""
    return lambda w: functional.grid_sample(image(w), (w * 1.4).reshape(1, 4, 4, 2), **settings)


def volume(**settings: object) -> Function:
    return lambda w: functional.grid_sample(w.reshape(1, 2, 2, 2, 4), (w * 1.4)[:3].reshape(1, 2, 2, 2, 3), **settings)


def resized(mode: str, **settings: object) -> Function:
    return lambda w: functional.interpolate(image(w), mode=mode, **settings)


ROWS = torch.tensor([1, 2, 4, 5, 4, 3, 2, 9])
OFFSETS = torch.tensor([0, 0, 4])
SIGNS = torch.tensor([1.0, -1.0] * 4)


def bag(**settings: object) -> Function:
    return lambda w: functional.embedding_bag(ROWS, w.reshape(-1, 2)[:10], OFFSETS, **settings)


ORDERS = (0.5, 1.0, 1.5, 2.0, 3.0, math.inf)
FUNCTIONS: dict[str, Function] = {
    **{f"cdist of order {p}": lambda w, p=p: torch.cdist(w, w[:2] * 0.7, p=p) for p in ORDERS},
    "cdist of batches": lambda w: torch.cdist(w.reshape(2, 4, 4), w.reshape(1, 8, 4)),
    "cdist of a row to itself": lambda w: torch.cdist(w, w[:1]),
    "cdist of many rows": lambda w: torch.cdist(w.repeat(8, 1) * torch.arange(1, 33).unsqueeze(1), w + 1.0),
    "pdist": lambda w: functional.pdist(w),
    "pdist of order 1.5": lambda w: functional.pdist(w, 1.5),
    "dist": lambda w: torch.dist(w, w.flip(0), 3),
    "sum of bags": bag(mode="sum"),
    "mean of bags": bag(),
    "bags with padding": bag(mode="mean", padding_idx=4),
    "bags with a last offset": lambda w: functional.embedding_bag(
        ROWS, w.reshape(-1, 2)[:10], torch.tensor([0, 3, 8]), mode="sum", include_last_offset=True
    ),
    "bags of one length": lambda w: functional.embedding_bag(ROWS.reshape(2, 4), w.reshape(-1, 2)[:10]),
    "weighted bags": lambda w: functional.embedding_bag(
        ROWS, w.reshape(-1, 2)[:10], OFFSETS, mode="sum", per_sample_weights=w[0]
    ),
    "weight norm of rows": lambda w: torch._weight_norm(w, (w * w).sum(1, keepdim=True), 0),
    "weight norm of columns": lambda w: torch._weight_norm(w, (w * w).sum(0, keepdim=True), 1),
    "bicubic": resized("bicubic", scale_factor=2.5),
    "bicubic, smaller": resized("bicubic", size=(3, 2)),
    "bicubic, aligned": resized("bicubic", size=(7, 3), align_corners=True),
    "bicubic, antialiased": resized("bicubic", size=(3, 7), antialias=True),
    "bilinear, antialiased": resized("bilinear", size=(2, 3), antialias=True),
    "nearest-exact": resized("nearest-exact", scale_factor=1.7),
    "area": resized("area", size=(3, 2)),
    **{
        f"grid, {mode}, {padding}, {'aligned' if align else 'not aligned'}": sampled(
            mode=mode, padding_mode=padding, align_corners=align
        )
        for mode in ("bilinear", "nearest")
        for padding in ("zeros", "border", "reflection")
        for align in (False, True)
    },
    "grid of a volume": volume(align_corners=False),
    "grid of a volume, reflected": volume(align_corners=True, padding_mode="reflection"),
    "affine grid": lambda w: functional.affine_grid(w[0, :6].reshape(1, 2, 3), (1, 2, 4, 3)),
    "affine grid, aligned": lambda w: functional.affine_grid(w[0, :6].reshape(1, 2, 3), (1, 2, 4, 3), True),
    "affine grid of a volume": lambda w: functional.affine_grid(w.reshape(-1)[:12].reshape(1, 3, 4), (1, 1, 2, 3, 2)),
    "soft margin": lambda w: functional.soft_margin_loss(w * 30, SIGNS.expand(4, 8)),
    "multi margin": lambda w: functional.multi_margin_loss(w, torch.tensor([0, 3, 7, 7])),
    "multi margin, squared and weighted": lambda w: functional.multi_margin_loss(
        w, torch.tensor([0, 3, 7, 7]), p=2, margin=0.5, weight=torch.arange(1, 9).to(w.dtype), reduction="none"
    ),
    "multi margin of one row": lambda w: functional.multi_margin_loss(w[0], torch.tensor(3), reduction="sum"),
    "cumprod": lambda w: w.cumprod(1),
    "cumprod with zeros": lambda w: torch.where(w > 0.5, 0.0, w).cumprod(0),
    "cumprod of a cube": lambda w: (w + 1.0).reshape(2, 8, 2).cumprod(-2),
    "vdot": lambda w: torch.vdot(w[0], w[1]),
    "cross": lambda w: torch.linalg.cross(w[:, :3], w[:, 3:6]),
    "hypot": lambda w: torch.hypot(w, w + 1),
    "addr": lambda w: torch.addr(w, w[:, 0], w[0], beta=0.5, alpha=2),
    "addbmm": lambda w: torch.addbmm(w[:, :4], w.reshape(2, 4, 4), w.reshape(2, 4, 4), beta=0.5, alpha=2),
    "bilinear layer": lambda w: functional.bilinear(w[:, :3], w[:, 3:5], w.reshape(-1)[:30].reshape(5, 3, 2)),
    "aminmax": lambda w: torch.stack(torch.aminmax(w, dim=1)),
    "nansum": lambda w: (w * 2).nansum(1),
    "lgamma": lambda w: torch.lgamma((w * 4).exp()),
    "digamma": lambda w: torch.digamma((w * 4).exp()),
    "gamma": lambda w: Gamma((w * 4).exp(), 2.0, validate_args=False).log_prob(torch.tensor(0.7)),
    "unpooled": lambda w: functional.max_unpool2d(*functional.max_pool2d(image(w), 2, return_indices=True), 2),
    "zeroed": lambda w: w * 2 + w.clone().zero_(),
    "hardshrink": lambda w: functional.hardshrink(w),
    "softshrink": lambda w: functional.softshrink(w, 0.3),
}  # fmt: skip
FLOAT32_CONSTANTS = ("bicubic", "bilinear, anti", "affine")
"""Their weights, or places, are float32 constants of the order."""


OFTEN = {
    "cdist of order 2.0", "cdist of many rows", "mean of bags", "weighted bags", "weight norm of rows", "bicubic",
    "grid, bilinear, zeros, not aligned", "grid, nearest, reflection, aligned", "multi margin", "cumprod", "digamma",
}  # fmt: skip
"""One of each sort; the others take minutes together."""
EACH = [pytest.param(name, marks=() if name in OFTEN else pytest.mark.slow) for name in FUNCTIONS]


def within(found: Tensor, wanted: Tensor, share: float) -> None:
    scale = max(float(wanted.abs().max()), 1e-2)
    torch.testing.assert_close(found, wanted, rtol=0, atol=share * scale)


@pytest.mark.parametrize("name", EACH)
def test_it_is_what_torch_computes_in_float64(name: str) -> None:
    wanted = expected(FUNCTIONS[name])
    share = 5e-7 if name.startswith(FLOAT32_CONSTANTS) else 1e-7
    # Results and states are stored as float32.
    for found, value in zip(executed(FUNCTIONS[name], exact=None), wanted, strict=True):
        within(found, value, share)


@pytest.mark.parametrize("name", EACH)
def test_it_is_single_operations_under_an_exact_profile(name: str) -> None:
    for found, value in zip(executed(FUNCTIONS[name], exact=EXACT), expected(FUNCTIONS[name]), strict=True):
        within(found, value, 2e-5)


def test_bags_by_frequency_divide_by_how_often_their_own_row_is_read() -> None:
    """Torch's embedding does; its bags, on the CPU, divide by how often another row is."""

    def rows(w: Tensor) -> Tensor:
        read = functional.embedding(ROWS, w.reshape(-1, 2)[:10], scale_grad_by_freq=True)
        return torch.stack((read[:0].sum(0), read[:4].sum(0), read[4:].sum(0)))

    found = executed(bag(mode="sum", scale_grad_by_freq=True), exact=None)
    for one, other in zip(found, expected(rows), strict=True):
        within(one, other, 1e-7)


class Several(nn.Module):
    """A few of them in one model: bags of words placed by what is near, and an image sampled where they say."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.EmbeddingBag(10, 6)
        self.centres = nn.Parameter(torch.from_numpy(draw((3, 6), 4)))
        self.head = nn.utils.parametrizations.weight_norm(nn.Linear(6, 8))

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.words((x[:, :4] * 4 + 5).to(torch.int64))
        near = torch.cdist(hidden, self.centres)
        grid = torch.tanh(self.head(hidden)).reshape(-1, 2, 2, 2)
        seen = functional.grid_sample(x.reshape(-1, 1, 3, 4), grid, align_corners=False)
        grown = functional.interpolate(seen, size=(3, 3), mode="bicubic")
        return grown.square().mean() + near.cumprod(1).mean() + torch.lgamma(near + 1.0).mean()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("precision", [None, EXACT], ids=["rounding", "exact"])
def test_a_run_of_several_is_verified(
    precision: ExactPrecision | None, tmp_path: Path, trainer_key: SigningKey
) -> None:
    draft = own_order(
        Several(), lambda model, batch: model(batch["x"]), {"x": draw((16, 12), 5)}, steps=2, precision=precision
    )
    job = record_job(tmp_path, draft, trainer_key)
    verified(job.run, job.order)


def test_a_lookup_that_limits_norms_changes_the_rows_it_reads_once() -> None:
    class Limited(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rows = nn.Embedding(6, 4, max_norm=0.5)
            nn.init.constant_(self.rows.weight, 1.0)

        def forward(self, x: Tensor) -> Tensor:
            return self.rows(torch.tensor([1, 3, 3])).square().sum() + x.sum() * 0.0

    step = capture(Limited(), lambda model, rows: model(rows["x"]), Sgd(), {"x": TensorType("float32", (1,))})
    inputs = StepInputs(step.initial_state, {"x": torch.zeros(1)}, {"lr": 0.0}, Draws(0, 1))
    rows = Interpreter(step.program, CPU).run(inputs).state["rows.weight"]
    torch.testing.assert_close(rows.norm(dim=1), torch.tensor([2, 0.5, 2, 0.5, 2, 2]))


REFUSED = {
    "a maximum of bags": (bag(mode="max"), "maximum of the rows"),
    "cubic weights of a grid": (sampled(mode="bicubic", align_corners=False), "cubic weights"),
    "a second derivative": (lambda w: torch.polygamma(1, w.exp()), "order 2"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_form_is_refused_with_a_remedy(name: str) -> None:
    function, sentence = REFUSED[name]
    with pytest.raises(ProgramError, match=f"^The step .*{sentence}") as caught:
        captured(function, exact=None)
    assert caught.value.remedy
