"""How long a step takes on cards that nobody has here: a model, from what it launches and what their makers publish.

A launch takes its bytes at the card's bandwidth or its products at the card's rate, whichever is longer, and of both
:data:`~counterfoil.base.cards.EFFICIENCY` is reached. The host takes :data:`HOST` for each launch and runs ahead of the
device, so that a step takes the longer of the two. Our steps are counted by :mod:`benchmarks.launches`; ordinary ones,
in bfloat16 by autocast, operator by operator as torch runs them, attention in one kernel, and their host for nothing.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.launches import bytes_of, is_launch, launches, moved_by, operations_of, tensors_in
from benchmarks.measure import Benchmark, Cell, Results, Sections, Values, figures, on_page, some_of
from benchmarks.pages import duration, markdown, paragraphs
from benchmarks.workloads import CPU, EagerStep, Workload, digits, eager_step, public_gpt2, resnet50
from counterfoil.base.cards import EFFICIENCY, GPUS, Gpu
from counterfoil.program.capture import capture
from counterfoil.program.update import AdamW
from counterfoil.training.order import OrderDraft, draft_order
from counterfoil.training.schedules import cosine, shuffled_epochs
from counterfoil_core.base.precision import PROFILES, AnyPrecision, exact_profile, is_exact
from counterfoil_core.operators.node import TensorType

CARDS = ("RTX 4090", "L4", "A100", "H100", "B300")
COMPARED = ("float64-24", "exact-20", "exact-13")
ORDINARY = "bfloat16"
"""Ordinary training, which nobody can audit: what the others are compared with."""
HOST = 10e-6
"""Seconds of the host for a launch: torch's operators take about 5 microseconds, Triton's launcher 10 to 20."""
LLAMA: Mapping[str, Any] = {
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
}
"""Sizes of Llama 3.2 1B, which has 16 layers and 128,256 tokens."""
LLAMA_LAYERS, LLAMA_TOKENS = 16, 128_256
_TOKENS = 4096
"""A vocabulary that is captured in place of the whole: what a step takes is a straight line in it, and in layers."""


# What is counted.


def llama(layers: int, vocabulary: int, batch: int = 8, sequence: int = 512) -> Workload:
    """A Llama of a billion parameters, but for its layers and its vocabulary, on made-up tokens."""
    import transformers

    rows = np.random.default_rng(0).integers(0, vocabulary, (batch, sequence))

    def make() -> nn.Module:
        settings = transformers.LlamaConfig(
            num_hidden_layers=layers, vocab_size=vocabulary, max_position_embeddings=sequence, **LLAMA
        )  # fmt: skip
        model: nn.Module = transformers.LlamaForCausalLM(settings).train()
        return model

    def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        loss: Tensor = model(input_ids=batch["tokens"], labels=batch["tokens"]).loss
        return loss

    def order(precision: AnyPrecision | None, steps: int = 1) -> OrderDraft:
        rule = AdamW(weight_decay=0.1, clip_norm=1.0)
        types = {"tokens": TensorType("int64", rows.shape)}
        return draft_order(
            title="Llama", recipe="benchmark",
            captured=capture(make(), objective, rule, types, exact=exact_profile(precision)), rule=rule,
            learning_rates=cosine(1e-4, steps), schedule=shuffled_epochs(batch, batch, steps, 0),
            data={"tokens": rows}, seed=0, precision=precision,
        )  # fmt: skip

    def eager(dtype: torch.dtype, device: torch.device) -> EagerStep:
        model = make()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        given = {"tokens": torch.from_numpy(rows)}
        return eager_step(optimizer, lambda: objective(model, given), dtype, device, clip=1.0)

    return Workload(f"Llama of {layers} layers", order, eager)


@dataclass(frozen=True)
class Part:
    """A program that is counted, and how often it is in a step of the model."""

    times: float
    make: Callable[[], Workload]


MODELS: Mapping[str, Sequence[Part]] = {
    "GPT-2 124M, 8 x 512": [Part(1, lambda: public_gpt2(8, 512))],
    # f(L, V) = f(1, v) + (L - 1) (f(2, v) - f(1, v)) + (V / v - 1) (f(1, 2 v) - f(1, v)): 1B is no more than that.
    "Llama 1B, 8 x 512": [
        Part(1 - (LLAMA_LAYERS - 1) - (LLAMA_TOKENS / _TOKENS - 1), lambda: llama(1, _TOKENS)),
        Part(LLAMA_LAYERS - 1, lambda: llama(2, _TOKENS)),
        Part(LLAMA_TOKENS / _TOKENS - 1, lambda: llama(1, 2 * _TOKENS)),
    ],
    "ResNet-50, 64 x 224 x 224": [Part(1, lambda: resnet50(64))],
}
TINY: Mapping[str, Sequence[Part]] = {"digits": [Part(1, digits)]}
"""What a test counts."""


@contextmanager
def _without_values() -> Iterator[None]:
    """Let tensors have no memory, and a number that is asked of one be one."""
    # What is made in this mode is where it should be; what is not, batches, may be mixed with it.
    stay = patch.object(nn.Module, "to", lambda module, *_where: module)
    with FakeTensorMode(allow_non_fake_inputs=True), stay, patch.object(Tensor, "item", lambda _tensor: 1.0):
        yield


def _attention(query: Tensor, key: Tensor, *_others: object, **_settings: object) -> int:
    """Operations of attention: two products of each query with each key."""
    return 4 * query.numel() * key.shape[-2]


_ATTENTION: Mapping[str, Callable[..., int]] = {
    "aten._scaled_dot_product_flash_attention_for_cpu": _attention,
    # Five products in the place of two; the gradient of the result comes first.
    "aten._scaled_dot_product_flash_attention_for_cpu_backward": lambda _g, *rest, **more: (
        5 * _attention(*rest, **more) // 2
    ),
}


class OrdinaryLaunches(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts what an ordinary step takes, each operator of torch that is no view by itself."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found: list[tuple[int, int]] = []

    def __torch_dispatch__(
        self, function: Any, types: Sequence[type], args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Note an operator."""
        kwargs = dict(kwargs or {})
        result = function(*args, **kwargs)
        given = tensors_in((args, kwargs))
        if is_launch(function, given, result):
            taken = sum(map(bytes_of, moved_by(function, args, kwargs, given, result)))
            attention = _ATTENTION.get(str(function.overloadpacket))
            done = attention(*args, **kwargs) if attention else operations_of(function, args, kwargs, result)
            self.found.append((taken, done))
        return result


def count(workload: Workload, profile: str) -> Values:
    """Count a step: bytes and operations of each launch of a product, and the bytes of all others together.

    Args:
        workload: What is trained.
        profile: A precision profile, recorded; or ``bfloat16`` for ordinary training.
    """
    if profile == ORDINARY:
        with _without_values():
            step = workload.eager(torch.bfloat16, CPU)
            step()
            with OrdinaryLaunches() as counting:
                step()
        found = counting.found
    else:
        precision = PROFILES[profile]
        ours = launches(workload.order(precision).program, precision)
        found = [(one.read + one.written, one.operations) for one in ours.launches]
    products = [one for one in found if one[1]]
    return {"products": products, "others": sum(moved for moved, operations in found if not operations),
            "launches": len(found), "said": f"{len(found):,} launches"}  # fmt: skip


# What follows for a card.


def device_seconds(card: Gpu, profile: str, counted: Values) -> float:
    """Return how long a card takes for what was counted of a step."""
    rate = {ORDINARY: card.bfloat16}.get(profile, card.digits if is_exact(PROFILES.get(profile)) else card.float64)
    products = sum(max(moved / card.bandwidth, operations / rate) for moved, operations in counted["products"])
    return float((products + counted["others"] / card.bandwidth) / EFFICIENCY)


def host_seconds(profile: str, counted: Values) -> float:
    """Return how long the host takes for its launches."""
    return 0.0 if profile == ORDINARY else HOST * float(counted["launches"])


def _cells(options: Namespace) -> list[Cell]:
    names = options.models or list(MODELS)
    return [
        Cell(f"{name}/{profile}/{number}", seconds=90)
        for name in names
        for profile in (*COMPARED, ORDINARY)
        for number in range(len(_MODELS[name]))
    ]


def _measure(_options: Namespace, key: str) -> Values:
    name, profile, number = key.split("/")
    return count(_MODELS[name][int(number)].make(), profile)


_MODELS: Mapping[str, Sequence[Part]] = {**MODELS, **TINY}


def _table(name: str, found: Mapping[str, Values]) -> str:
    """The seconds of a step on each card, and how many times those of ordinary training they are."""
    parts = _MODELS[name]

    def whole(of: Callable[[str, Values], float], profile: str) -> float:
        return sum(part.times * of(profile, found[f"{name}/{profile}/{number}"]) for number, part in enumerate(parts))

    rows = []
    for card in map(GPUS.__getitem__, CARDS):

        def seconds(profile: str, card: Gpu = card) -> float:
            return whole(lambda _, counted: device_seconds(card, profile, counted), profile)

        ordinary = seconds(ORDINARY)
        cells = [card.name, duration(ordinary)]
        for profile in COMPARED:
            device, host = seconds(profile), whole(host_seconds, profile)
            waits = "" if device >= host else ", the host"
            cells += [duration(max(device, host)) + waits, f"{max(device, host) / ordinary:.1f}"]
        rows.append(cells)
    heads = ["card", f"{ORDINARY} autocast, ordinary"]
    for profile in COMPARED:
        heads += [profile, "times that"]
    launched = ", ".join(f"{profile} {whole(lambda _, c: c['launches'], profile):,.0f}" for profile in COMPARED)
    return paragraphs(f"**{name}.** Launches of a recorded step: {launched}.", markdown(heads, rows))


def _sections(results: Results, _options: Namespace) -> Sections:
    found = figures(results)
    named = [name for name in _MODELS if all(f"{name}/{p}/{n}" in found for p in (*COMPARED, ORDINARY)
                                             for n in range(len(_MODELS[name])))]  # fmt: skip
    return on_page("kernels.md", "time-model", paragraphs(*(_table(name, found) for name in named)))


TIME_MODEL = Benchmark(
    __doc__,
    _cells,
    _measure,
    _sections,
    (some_of("models", _MODELS),),
    out="time-model",
)
