"""What a model's ``config.json`` asks for, against what its weights hold; before any class is made of it.

A configuration is a stranger's: with a thousand million layers the library would build modules until the memory is
full. Its weights lie beside it, and bound it: every layer has a tensor of its own, and no dimension is larger than all
of them together.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from safetensors import safe_open

from counterfoil_core.base.errors import DataError

LEAST_DIMENSION = 2**24
"""What a dimension may be however small the weights: positions without weights, for instance, are counted too."""
LEAST_COUNT = 4096
"""The same for what is built one by one and may share a tensor, such as experts."""
_NO_SIZE = re.compile(
    r"(^|_)(id|ids|token|theta|base|seed|version|max_length|id2label|label2id)$|token_id|theta|^max_window_"
)
_LAYERS = re.compile(r"(layers?|depths?|blocks?|stages?)$|^(n|num)_(layer|block|stage)")
_BUILT = re.compile(r"(experts?|heads?|labels?|classes|branches|towers)$|^(n|num)_")


def check_sizes(config: Mapping[str, Any], weights: Sequence[Path]) -> None:
    """Check that a configuration asks for no more than the weights beside it can be.

    Args:
        config: What ``config.json`` says.
        weights: The files of the weights, in safetensors.

    Raises:
        DataError: It does; the sentence names the setting.
    """
    check_held(config, *_held(weights))


def check_held(config: Mapping[str, Any], tensors: int, elements: int) -> None:
    """Check the same against weights of that many tensors with that many elements; raises DataError."""
    for name, value in _integers(config):
        if _LAYERS.search(name):
            most = tensors
        elif _BUILT.search(name):
            most = max(LEAST_COUNT, tensors)
        else:
            most = max(LEAST_DIMENSION, elements)
        if abs(value) > most:
            raise DataError(
                f"The model's config.json says {name[:60]!r}: {value:,}; its weights, {tensors:,} tensors of "
                f"{elements:,} elements, allow at most {most:,}.",
                remedy="Get the whole folder again, or take another model.",
            )


def _held(weights: Sequence[Path]) -> tuple[int, int]:
    """Number of tensors, and of their elements."""
    tensors = elements = 0
    for path in weights:
        if path.suffix == ".safetensors":
            with safe_open(path, framework="pt") as file:
                for name in file.keys():  # noqa: SIM118 - not a mapping
                    tensors += 1
                    elements += math.prod(file.get_slice(name).get_shape())
    return tensors, elements


def _integers(value: object, name: str = "") -> Iterator[tuple[str, int]]:
    """Every integer that may be a size, with the name that it, or the list that it is in, has."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not _NO_SIZE.search(str(key)):
                yield from _integers(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _integers(inner, name)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield name, value
    elif isinstance(value, float) and value.is_integer() and abs(value) > LEAST_DIMENSION and _LAYERS.search(name):
        yield name, int(value)
