"""``gpt2``: the GPT-2 architecture (Radford et al. 2019) at any size, on the bytes or the tokens of any text.

Tensor names and layouts are those of the public weights, from which training may start: projections are stored
``[in, out]``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.update import AdamW
from counterfoil.training.capture import capture_step
from counterfoil.training.division import WHOLE, Division
from counterfoil.training.order import OrderDraft, draft_order
from counterfoil.training.schedules import shuffled_epochs, warmup_linear
from counterfoil.training.tokens import Tokens
from counterfoil.training.weights import Weights, install, nearly_normal
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.precision import AnyPrecision, exact_profile
from counterfoil_core.operators.node import TensorType

RECIPE = "gpt2"
BYTES = 256
DEVIATION = 0.02
PREFIX = "transformer."
"""What names in a file of weights may begin with."""
_MASK = re.compile(r"h\.\d+\.attn\.(masked_)?bias")
"""Buffers in files of public weights: the causal mask, which is no weight."""
_OUTPUT = "lm_head.weight"


@dataclass(frozen=True)
class Gpt2Size:
    """The size of a GPT-2."""

    layers: int = 4  #: Transformer blocks.
    heads: int = 4  #: Attention heads.
    width: int = 128  #: Width of the residual stream; a multiple of ``heads``.
    context: int = 64  #: Longest sequence; the number of position embeddings.
    vocabulary: int = BYTES  #: Number of tokens.
    dropout: float = 0.1  #: Dropout in the three usual places: embeddings, attention, residual branches.


SIZES = MappingProxyType({"124M": Gpt2Size(layers=12, heads=12, width=768, context=1024, vocabulary=50257)})
"""Sizes of public weights by name."""


class Projection(nn.Module):
    """An affine map whose weight is stored ``[in, out]``."""

    def __init__(self, size_in: int, size_out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size_in, size_out))
        self.bias = nn.Parameter(torch.zeros(size_out))

    def forward(self, x: Tensor) -> Tensor:
        """Map ``[..., in]`` to ``[..., out]``."""
        flat = torch.addmm(self.bias, x.reshape(-1, x.shape[-1]), self.weight)
        return flat.reshape(*x.shape[:-1], -1)


class Attention(nn.Module):
    """Causal self-attention."""

    def __init__(self, size: Gpt2Size) -> None:
        super().__init__()
        self.c_attn = Projection(size.width, 3 * size.width)
        self.c_proj = Projection(size.width, size.width)
        self.heads = size.heads
        self.dropout = size.dropout

    def forward(self, x: Tensor) -> Tensor:
        """Map ``[N, T, width]`` to the same shape."""
        query, key, value = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.c_attn(x).chunk(3, dim=-1)
        )
        scores = query @ key.transpose(-1, -2) * (1.0 / math.sqrt(query.shape[-1]))
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        weights = functional.softmax(scores.masked_fill(future, -math.inf), dim=-1)
        weights = functional.dropout(weights, self.dropout, self.training)
        mixed = (weights @ value).transpose(1, 2).flatten(-2)
        return functional.dropout(self.c_proj(mixed), self.dropout, self.training)


class Mlp(nn.Module):
    """The feed-forward part, with GELU in its tanh form."""

    def __init__(self, size: Gpt2Size) -> None:
        super().__init__()
        self.c_fc = Projection(size.width, 4 * size.width)
        self.c_proj = Projection(4 * size.width, size.width)
        self.dropout = size.dropout

    def forward(self, x: Tensor) -> Tensor:
        """Map ``[N, T, width]`` to the same shape."""
        hidden = functional.gelu(self.c_fc(x), approximate="tanh")
        result: Tensor = functional.dropout(self.c_proj(hidden), self.dropout, self.training)
        return result


class Block(nn.Module):
    """One transformer block."""

    def __init__(self, size: Gpt2Size) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(size.width)
        self.attn = Attention(size)
        self.ln_2 = nn.LayerNorm(size.width)
        self.mlp = Mlp(size)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``[N, T, width]`` to the same shape."""
        x = x + self.attn(self.ln_1(x))
        result: Tensor = x + self.mlp(self.ln_2(x))
        return result


class Gpt2(nn.Module):
    """GPT-2 with the output projection tied to the token embedding."""

    def __init__(self, size: Gpt2Size) -> None:
        super().__init__()
        self.wte = nn.Embedding(size.vocabulary, size.width)
        self.wpe = nn.Embedding(size.context, size.width)
        self.h = nn.ModuleList(Block(size) for _ in range(size.layers))
        self.ln_f = nn.LayerNorm(size.width)
        self.dropout = size.dropout

    def forward(self, tokens: Tensor) -> Tensor:
        """Map tokens int64 ``[N, T]`` to logits ``[N, T, vocabulary]``."""
        x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
        x = functional.dropout(x, self.dropout, self.training)
        for block in self.h:
            x = block(x)
        logits: Tensor = self.ln_f(x) @ self.wte.weight.t()
        return logits


def initialise(model: Gpt2, layers: int, seed: int) -> None:
    """Fill the weights as GPT-2 does: deviation 0.02, residual projections smaller by sqrt(2 layers), biases zero.

    Args:
        model: Is filled.
        layers: Its number of blocks.
        seed: Key of the draws.
    """
    with torch.no_grad():
        for draw, (name, parameter) in enumerate(model.named_parameters()):
            if parameter.dim() < 2:
                continue
            deviation = DEVIATION / math.sqrt(2 * layers) if name.endswith("c_proj.weight") else DEVIATION
            parameter.copy_(nearly_normal(tuple(parameter.shape), deviation, seed, draw))


def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """Cross entropy of each next token; the batch holds ``tokens`` ``[N, context + 1]``."""
    tokens = batch["tokens"].to(torch.int64)
    logits = model(tokens[:, :-1])
    return functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def start_from(model: Gpt2, weights: Weights) -> None:
    """Fill a model with public weights, read with the prefix :data:`PREFIX` removed.

    Raises:
        DataError: The weights are not those of a GPT-2 of this size.
    """
    tensors = {name: tensor for name, tensor in weights.tensors.items() if not _MASK.fullmatch(name)}
    output, embedding = tensors.pop(_OUTPUT, None), tensors.get("wte.weight")
    if output is not None and embedding is not None and not torch.equal(output, embedding):
        raise DataError(
            f"The file {weights.source} has an output projection of its own; a GPT-2's is its token embedding.",
            remedy="Use weights of a GPT-2 whose embeddings are tied.",
        )
    install(model, replace(weights, tensors=tensors), remedy="Order a GPT-2 of the size that the weights have.")


def order_gpt2(
    text: bytes | Tokens,
    *,
    size: Gpt2Size | None = None,
    sequence: int | None = None,
    weights: Weights | None = None,
    batch_size: int = 8,
    steps: int = 100,
    warmup: int = 10,
    learning_rate: float = 1e-3,
    weight_decay: float = 0.01,
    clip_norm: float | None = 1.0,
    seed: int = 0,
    commit_every: int = 1,
    checkpoint_every: int = 10,
    precision: AnyPrecision | None = None,
    division: Division = WHOLE,
) -> OrderDraft:
    """Draft an order that trains GPT-2 on bytes or tokens with AdamW, warm-up and linear decay.

    Args:
        text: The training text, or the tokens of it; cut into rows of ``sequence + 1``.
        size: The size of the model.
        sequence: Bytes or tokens that are trained on at once; ``size.context`` unless given.
        weights: Weights to start from; random ones unless given.
        batch_size: Sequences per step.
        steps: Training steps.
        warmup: Steps over which the learning rate rises.
        learning_rate: Highest learning rate.
        weight_decay: Decoupled weight decay of matrices and embeddings; biases and norms do not decay.
        clip_norm: Largest joint norm of the gradients, or None.
        seed: Seed of initial weights, shuffling and dropout.
        commit_every: A state is digested every so many steps.
        checkpoint_every: A state is stored every so many steps.
        precision: The precision profile.
        division: How a step is divided into shares and micro-batches; by default it is not.

    Raises:
        DataError: The size is impossible, the text too short for one batch, the tokenizer's vocabulary not the
            model's, or the weights are of another size.
    """
    size = size or Gpt2Size()
    unit, tokens = _rows(text, size, size.context if sequence is None else sequence, batch_size)
    rows, length = tokens.shape
    model = Gpt2(size)
    if weights is None:
        initialise(model, size.layers, seed)
    else:
        start_from(model, weights)
    decaying = frozenset(name for name, parameter in model.named_parameters() if parameter.dim() >= 2)
    rule = division.updating(AdamW(weight_decay=weight_decay, decays=decaying.__contains__, clip_norm=clip_norm))
    start = "" if weights is None else f", from {weights.source.name}"
    return draft_order(
        title=f"GPT-2, {size.layers} layers of width {size.width}, {unit}{start}",
        recipe=RECIPE,
        captured=capture_step(
            model,
            objective,
            rule,
            {"tokens": TensorType(tokens.dtype.name, (batch_size, length))},
            division,
            exact=exact_profile(precision),
        ),
        rule=rule,
        learning_rates=warmup_linear(learning_rate, steps, warmup),
        schedule=shuffled_epochs(rows, batch_size, steps, seed),
        data={"tokens": tokens},
        seed=seed,
        precision=precision,
        commit_every=commit_every,
        checkpoint_every=checkpoint_every,
    )


def _rows(
    text: bytes | Tokens, size: Gpt2Size, sequence: int, batch_size: int
) -> tuple[str, npt.NDArray[np.uint8] | npt.NDArray[np.int32]]:
    """What the numbers of a text count, and the text as rows ``[n, sequence + 1]`` of them; raises DataError."""
    if min(size.layers, size.heads, size.width, size.context) < 1 or size.width % size.heads:
        raise DataError(
            f"A GPT-2 of width {size.width} cannot have {size.heads} heads in {size.layers} layers.",
            remedy="Choose positive numbers, the width a multiple of the heads.",
        )
    if not 1 <= sequence <= size.context:
        raise DataError(
            f"A GPT-2 with a context of {size.context} cannot train on sequences of {sequence}.",
            remedy=f"Choose a sequence of 1 to {size.context}.",
        )
    unit, numbers = _numbers(text, size)
    length = sequence + 1
    rows = len(numbers) // length
    if rows < batch_size:
        raise DataError(
            f"The text has {len(numbers)} {unit}; one batch needs {batch_size * length}.",
            remedy="Use a longer text, a smaller batch or a shorter context.",
        )
    return unit, numbers[: rows * length].reshape(rows, length)


def _numbers(text: bytes | Tokens, size: Gpt2Size) -> tuple[str, npt.NDArray[np.uint8] | npt.NDArray[np.int32]]:
    """The text as numbers below the model's vocabulary, and what they count."""
    if isinstance(text, bytes):
        if size.vocabulary != BYTES:
            raise DataError(
                f"A GPT-2 on bytes has a vocabulary of {BYTES}, not of {size.vocabulary}.",
                remedy=f"Give a tokenizer of {size.vocabulary} tokens, or order a model with a vocabulary of {BYTES}.",
            )
        return "bytes", np.frombuffer(text, np.uint8)
    if text.vocabulary != size.vocabulary:
        raise DataError(
            f"The tokenizer {text.tokenizer} has a vocabulary of {text.vocabulary}; the model has one of "
            f"{size.vocabulary}.",
            remedy="Use the tokenizer that belongs to the model.",
        )
    if text.numbers.size and not (text.numbers.min() >= 0 and text.numbers.max() < size.vocabulary):
        raise DataError(f"The tokens lie outside 0 to {size.vocabulary - 1}.")
    return "tokens", text.numbers
