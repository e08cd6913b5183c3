"""Weights to start from, read from a safetensors file (https://huggingface.co/docs/safetensors).

The format is a JSON header and raw numbers, so that a stranger's file cannot run code, unlike a pickle.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import open_input
from counterfoil_core.kernels.exact.philox import DIGITS, uniform, words

# Initial weights that come out the same on every machine. torch's own initialisers draw from its generators, whose
# numbers differ between instruction sets. These draw from Philox and use operations that are exact or correctly
# rounded.

_STEP = 0
"""Random draws of training begin at step 1; initial weights are drawn as step 0."""
_TERMS = 12
_BLOCKS_AT_ONCE = 2**15
"""Blocks of four numbers that are added while they lie in the cache."""


def _draw(shape: tuple[int, ...], seed: int, draw: int) -> Tensor:
    return uniform(shape, seed=seed, step=_STEP, draw=draw, dtype=torch.float64, device="cpu")


def fan_in_uniform(model: nn.Module, seed: int) -> None:
    """Fill weights of two or more axes uniformly in +-sqrt(3 / fan_in) times 1/sqrt(3), biases likewise with theirs.

    The distribution of torch's linear and convolution layers (LeCun et al. 1998). Norm layers keep ones and zeros.
    """
    draw = 0
    with torch.no_grad():
        for module in model.modules():
            weight = getattr(module, "weight", None)
            if not isinstance(weight, Tensor) or weight.dim() < 2:
                continue
            bound = 1.0 / math.sqrt(weight[0].numel())
            for tensor in (weight, getattr(module, "bias", None)):
                if isinstance(tensor, Tensor):
                    tensor.copy_((_draw(tuple(tensor.shape), seed, draw) * 2.0 - 1.0) * bound)
                    draw += 1


def nearly_normal(shape: tuple[int, ...], deviation: float, seed: int, draw: int) -> Tensor:
    """Draw nearly normal numbers: the sum of twelve uniform ones, less six (Irwin-Hall), times ``deviation``.

    Unlike Box-Muller it needs no logarithm or cosine, so every machine gives the same bits.

    Args:
        shape: Shape of the tensor.
        deviation: Its standard deviation.
        seed: Key of the generator, Philox4x32-10 (Salmon et al. 2011).
        draw: Which tensor of this seed it is, from 0.

    Returns:
        float32 of this shape.
    """
    result = torch.empty(math.prod(shape), dtype=torch.float32)
    for first in range(0, len(result), 4 * _BLOCKS_AT_ONCE):
        piece = result[first : first + 4 * _BLOCKS_AT_ONCE]
        blocks = range(first // 4, -(-(first + len(piece)) // 4))
        # Sums of integers, and of multiples of 2^-24 in float64, are exact, and so are the same.
        total = torch.zeros(4 * len(blocks), dtype=torch.int32)
        for term in range(_TERMS):
            total += words(blocks, seed=seed, step=_STEP, draw=draw * _TERMS + term, device="cpu", upper=DIGITS)
        drawn = total[: len(piece)].double().mul_(2.0**-DIGITS).sub_(_TERMS / 2)
        piece.copy_(drawn.mul_(deviation))
    return result.reshape(shape)


def he_uniform(model: nn.Module, seed: int) -> None:
    """Fill weights of two or more axes uniformly with variance 2 / fan_in, and their biases with zero.

    For networks of rectified linear units, whose signal keeps its size through any number of layers (He et al. 2015,
    "Delving deep into rectifiers", section 2.2). Norm layers keep ones and zeros.
    """
    draw = 0
    with torch.no_grad():
        for module in model.modules():
            weight = getattr(module, "weight", None)
            if not isinstance(weight, Tensor) or weight.dim() < 2:
                continue
            bound = math.sqrt(6.0 / weight[0].numel())
            weight.copy_(_draw(tuple(weight.shape), seed, draw).mul_(2.0).sub_(1.0).mul_(bound))
            draw += 1
            bias = getattr(module, "bias", None)
            if isinstance(bias, Tensor):
                bias.zero_()


_DTYPES = {"F32", "F16", "BF16"}
"""Dtypes whose numbers float32 holds exactly."""


@dataclass(frozen=True)
class Weights:
    """Weights from a file."""

    source: Path  #: The file, for messages.
    tensors: Mapping[str, Tensor]  #: float32 tensors by name.


def read_weights(path: Path, *, prefix: str = "") -> Weights:
    """Read the floating-point tensors of a safetensors file.

    Args:
        path: The file.
        prefix: Removed from the names that begin with it.

    Raises:
        DataError: The file cannot be read, is not such a file, holds a dtype wider than float32, or two tensors of one
            name.
    """
    tensors: dict[str, Tensor] = {}
    try:
        # The library opens the file itself, by its name, and would wait for ever for a pipe.
        open_input(path, "a safetensors file", DataError).close()
        with safe_open(path, framework="pt") as file:
            for full in file.keys():  # noqa: SIM118 - not a mapping
                dtype = file.get_slice(full).get_dtype()
                name = full.removeprefix(prefix)
                if name in tensors:
                    raise DataError(f"The file {path} has the tensor {name!r} both with and without {prefix!r}.")
                if dtype in _DTYPES:
                    tensors[name] = file.get_tensor(full).to(torch.float32)
                elif dtype == "F64":
                    raise DataError(
                        f"The tensor {full!r} in {path} is float64, which float32 cannot hold exactly.",
                        remedy="Save the weights as float32.",
                    )
    except SafetensorError as error:
        raise DataError(
            f"The file {path} is not a safetensors file, or it is damaged.",
            remedy="Take the file whose name ends in .safetensors; other formats can run code and are not read.",
            detail=str(error),
        ) from error
    except OSError as error:
        raise DataError(f"The weights {path} cannot be read: {error.strerror or error}.") from error
    return Weights(path, tensors)


def install(model: nn.Module, weights: Weights, *, remedy: str) -> None:
    """Copy weights into the parameters of a model.

    Args:
        model: The model; every parameter receives its tensor.
        weights: One tensor for each parameter, of its name and shape, and no others.
        remedy: What to advise when they do not fit.

    Raises:
        DataError: A tensor is missing, left over, of another shape, or holds an infinite value or not a number.
    """
    parameters = dict(model.named_parameters())
    missing = sorted(set(parameters) - set(weights.tensors))
    if missing:
        raise DataError(f"The file {weights.source} has no tensor {_listed(missing)}.", remedy=remedy)
    extra = sorted(set(weights.tensors) - set(parameters))
    if extra:
        raise DataError(
            f"The file {weights.source} has a tensor that the model lacks: {_listed(extra)}.", remedy=remedy
        )
    for name, parameter in parameters.items():
        given = weights.tensors[name]
        if given.shape != parameter.shape:
            raise DataError(
                f"The tensor {name!r} in {weights.source} has the shape {tuple(given.shape)}; the model needs "
                f"{tuple(parameter.shape)}.",
                remedy=remedy,
            )
        if not bool(torch.isfinite(given).all()):
            raise DataError(
                f"The tensor {name!r} in {weights.source} holds a value that is infinite or not a number.",
                remedy="Download the file again.",
            )
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights.tensors[name])


def _listed(names: list[str]) -> str:
    others = len(names) - 1
    return f"{names[0]!r}" + (f" and {others} more" if others else "")
