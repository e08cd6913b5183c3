"""No result, and no success, depends on how the arguments of an operator lie in memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.update import Sgd
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.arithmetic.compute.operation import CONTIGUOUS, RELABELLED, native
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.outcome import Outcome
from support.jobs import audited, classify, draw, record_job
from support.operator_calls import ATEN, CALLS, OTHER_CALLS, Call, listed, operation_of, t

LABELS = torch.arange(24).numpy() % 5
SHAPES: list[Call] = [
    ("aten.view.default", [t(4, 6), [8, 3]], {}),
    ("aten._unsafe_view.default", [t(4, 6), [3, -1]], {}),
    ("aten._reshape_alias.default", [t(4, 6), [8, 3], [3, 1]], {}),
    ("aten.reshape.default", [t(4, 6), [8, 3]], {}),
    ("aten.view_copy.default", [t(4, 6), [8, 3]], {}),
    ("aten.max_pool2d_with_indices.default", [t(2, 3, 6, 6), [2, 2], [1, 1]], {}),
    ("aten.adaptive_max_pool2d.default", [t(2, 3, 6, 6), [3, 3]], {}),
    ("aten.sort.stable", [t(4, 6)], {"stable": True}),
    ("aten.im2col.default", [t(2, 4, 4, 4), [2, 2], [1, 1], [0, 0], [1, 1]], {}),
    ("aten.flip.default", [t(4, 6), [1]], {}),
    ("aten.roll.default", [t(4, 6), [7]], {}),
    ("aten.unfold.default", [t(4, 6), 1, 2, 1], {}),
    ("aten.reflection_pad2d.default", [t(2, 3, 4, 4), [1, 1, 1, 1]], {}),
    ("aten.pixel_shuffle.default", [t(2, 4, 4, 4), 2], {}),
]


def in_memory(x: Tensor) -> Iterator[Tensor]:
    """The same tensor with other strides, and at another place of its storage."""
    axes = list(range(x.dim()))
    if x.dim() >= 2:
        yield x.transpose(-1, -2).contiguous().transpose(-1, -2)
        yield x.permute(axes[::-1]).contiguous().permute(axes[::-1])
    if x.dim() == 4:
        yield x.contiguous(memory_format=torch.channels_last)
    if x.dim() >= 1:
        yield torch.stack([x, x], -1)[..., 0]
        yield torch.cat([x[..., :1], x], -1)[..., 1:]


def compute(call: Call) -> list[Any]:
    name, args, kwargs = call
    return listed(native(operation_of((name, [plain(a) for a in args], kwargs)), args, kwargs))


def plain(value: Any) -> Any:
    return value.contiguous() if isinstance(value, Tensor) else value


CALLED: list[Call] = [*SHAPES, *chain.from_iterable((CALLS | OTHER_CALLS).values())]


@pytest.mark.parametrize("call", CALLED, ids=lambda call: call[0])
def test_results_do_not_depend_on_strides(call: Call) -> None:
    name, args, kwargs = call
    expected = compute(call)
    for position, given in enumerate(args):
        for other in in_memory(given) if isinstance(given, Tensor) else ():
            assert torch.equal(other, given)
            found = compute((name, [*args[:position], other, *args[position + 1 :]], kwargs))
            for one, two in zip(expected, found, strict=True):
                if one is None or not one.is_floating_point():
                    assert one is two is None or torch.equal(one, two)
                else:
                    torch.testing.assert_close(one, two, rtol=1e-12, atol=1e-12)


def test_control_torch_itself_depends_on_them() -> None:
    turned = t(4, 6).t().contiguous().t()
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        ATEN.view.default(turned, [8, 3])
    assert not torch.equal(ATEN._reshape_alias.default(turned, [8, 3], [3, 1]), turned.reshape(8, 3))
    ((name, args, _),) = CALLS["native_group_norm_backward"]
    g = args[0].permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0)
    assert name.split(".")[1] in CONTIGUOUS
    wrong, right = (ATEN.native_group_norm_backward.default(x, *args[1:])[0] for x in (g, args[0]))
    assert not torch.allclose(wrong, right)


def test_every_kind_named_here_is_on_the_allow_list() -> None:
    from counterfoil_core.operators.catalogue import allowed_names

    assert {name.split(".")[1] for name in allowed_names()} >= RELABELLED | CONTIGUOUS


class Turned(nn.Module):
    """At capture the result of tanh has the strides of its argument; rounded it has not."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(12, 5)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.tanh(x.transpose(1, 2)).transpose(1, 2)
        return self.head(y.view(len(x), -1))


class TurnedNorm(nn.Module):
    """Group norm in both passes on what was contiguous at capture."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.head = nn.GroupNorm(2, 4), nn.Linear(12, 5)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(torch.tanh(x.transpose(1, 2)).transpose(1, 2))
        return self.head(torch.tanh(y.transpose(1, 2)).transpose(1, 2).flatten(1))


class ChannelsLast(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = nn.Conv2d(2, 4, 3), nn.Linear(64, 5)

    def forward(self, x: Tensor) -> Tensor:
        y = functional.gelu(self.conv(x.contiguous(memory_format=torch.channels_last)))
        return self.head(y.permute(0, 2, 3, 1).view(len(x), -1))


class Expanded(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(24, 5)

    def forward(self, x: Tensor) -> Tensor:
        y = x[:, None].expand(-1, 2, -1, -1).tanh()
        return self.head(y.view(len(x), -1))


MODELS = {
    "turned": (Turned, (4, 3)),
    "turned-norm": (TurnedNorm, (4, 3)),
    "channels-last": (ChannelsLast, (2, 6, 6)),
    "expanded": (Expanded, (4, 3)),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_that_turn_tensors_are_trained_and_verified(name: str, tmp_path: Path, trainer_key: SigningKey) -> None:
    make, shape = MODELS[name]
    torch.manual_seed(0)
    data = {"x": draw((24, *shape), 1), "labels": LABELS}
    job = CustomJob("Turned", make(), classify, Sgd(), data, steps=2, batch_size=8, learning_rate=0.1)
    files = record_job(tmp_path, order_custom(job), trainer_key)
    assert audited(files.run, files.order).report.outcome is Outcome.VERIFIED


@pytest.mark.parametrize("name", MODELS)
def test_their_gradients_are_those_of_torch(name: str) -> None:
    make, shape = MODELS[name]
    torch.manual_seed(0)
    model = make()
    x, labels = torch.from_numpy(draw((8, *shape), 1)), torch.from_numpy(LABELS[:8])
    job = CustomJob(
        "Turned", model, classify, Sgd(), {"x": x.numpy(), "labels": labels.numpy()}, 1, 8, 1.0,
        schedule=torch.arange(8)[None].numpy(),
    )  # fmt: skip
    draft = order_custom(job)
    from counterfoil_core.order.executable import step_inputs

    state = {name: torch.from_numpy(array) for name, array in draft.initial.items()}
    inputs = step_inputs(draft.manifest, 1, state, draft.schedule[0], draft.scalars[0], draft.data)
    found = Interpreter(draft.program, torch.device("cpu")).run(inputs).state
    classify(model, {"x": x, "labels": labels}).backward()
    for parameter, value in model.named_parameters():
        torch.testing.assert_close(found[parameter], value.detach() - value.grad, rtol=1e-4, atol=1e-6)
