"""What is trained whole, and the two machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from benchmarks.cross_hardware.replays import SETTINGS
from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes import gpt2
from counterfoil.training.recipes.resnet import BasicBlock, ResNetLayout, order_resnet
from counterfoil.training.tokens import Tokens
from counterfoil.training.weights import Weights
from counterfoil_core.base.precision import Precision

THIS, OTHER = "this", "other"
MACHINES: Mapping[str, Mapping[str, str]] = {
    THIS: {},
    # Our own loops are compiled for that processor too.
    OTHER: {**SETTINGS["SSE4"], "NUMBA_CPU_NAME": "nehalem", "NUMBA_CPU_FEATURES": ""},
}
"""The environments of the processes of two machines: as it is, and held to SSE4."""
_IMAGES = 2048
_SEQUENCE = 64
Draft = Callable[[Path | None, int, int, Precision | None], OrderDraft]
"""Drafts an order: from a text or None, of so many steps, with a state stored every so many, in a precision."""


@dataclass(frozen=True)
class WholeJob:
    """One training."""

    title: str  #: What is trained, for the page.
    steps: int  #: How many steps it has.
    checkpoint_every: int  #: A state is stored every so many steps; an audit that was stopped goes on from one.
    draft: Draft  #: Drafts its order.
    seconds: float  #: What a step is expected to take on this machine.


def _images(
    _text: Path | None, steps: int, every: int, precision: Precision | None, *, model: str | ResNetLayout, batch: int
) -> OrderDraft:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, _IMAGES)
    # Made up, but to be learned: each class has a picture of its own, under noise.
    pictures = rng.integers(64, 192, (10, 3, 32, 32))
    noise = rng.integers(-64, 64, (_IMAGES, 3, 32, 32))
    return order_resnet(
        (pictures[labels] + noise).astype(np.uint8),
        labels,
        model=model,
        steps=steps,
        batch_size=batch,
        checkpoint_every=every,
        precision=precision,
    )


def text_tokens(text: Path | None, vocabulary: int, rows: int) -> Tokens:
    """Return the tokens that are trained on: the bytes of a text, or made-up ones.

    Args:
        text: A file of text, or None.
        vocabulary: That of the model; bytes are its first 256 tokens.
        rows: How many rows are needed where they are made up.
    """
    if text is not None:
        return Tokens(np.frombuffer(text.read_bytes(), np.uint8).astype(np.int32), vocabulary, text)
    made_up = np.random.default_rng(0).integers(0, vocabulary, rows * (_SEQUENCE + 1)).astype(np.int32)
    return Tokens(made_up, vocabulary, Path("made up"))


def _gpt2(
    text: Path | None, steps: int, every: int, precision: Precision | None, *, size: gpt2.Gpt2Size, batch: int
) -> OrderDraft:
    torch.manual_seed(0)  # the recipe's own drawing, the same on every machine, takes minutes at this size
    model = gpt2.Gpt2(size)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=gpt2.DEVIATION)
    return gpt2.order_gpt2(
        text_tokens(text, size.vocabulary, 64 * batch),
        size=size,
        weights=Weights(Path("made up"), {name: one.detach() for name, one in model.named_parameters()}),
        sequence=_SEQUENCE,
        batch_size=batch,
        steps=steps,
        learning_rate=5e-5,
        checkpoint_every=every,
        precision=precision,
    )


def _small_resnet(text: Path | None, steps: int, every: int, precision: Precision | None) -> OrderDraft:
    layout = ResNetLayout(BasicBlock, (1, 1, 1, 1), width=8)
    return _images(text, steps, every, precision, model=layout, batch=8)


JOBS: Mapping[str, WholeJob] = {
    "resnet50": WholeJob(
        "ResNet-50, 32x32, batch 64",
        steps=100,
        checkpoint_every=10,
        draft=lambda *told: _images(*told, model="resnet50", batch=64),
        seconds=12,
    ),
    "gpt2": WholeJob(
        "GPT-2 124M, sequence 64, batch 8",
        steps=40,
        checkpoint_every=10,
        draft=lambda *told: _gpt2(*told, size=gpt2.SIZES["124M"], batch=8),
        seconds=40,
    ),
    "rehearsal": WholeJob(
        "small ResNet, batch 8: a rehearsal", steps=6, checkpoint_every=2, draft=_small_resnet, seconds=0.1
    ),
}
"""The trainings by name; the last one is there to try the command."""
