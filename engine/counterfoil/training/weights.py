"""Weights to start from, read from a safetensors file (https://huggingface.co/docs/safetensors).

The format is a JSON header and raw numbers, so that a stranger's file cannot run code, unlike a pickle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import open_input

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
