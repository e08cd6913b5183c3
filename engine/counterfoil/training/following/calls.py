"""Calls of torch's operators, as whoever watches a script reads them: what they are given, and what they write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

# Equality of tensors to the last bit, where numbers that are none are equal to themselves.


def same_bits(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors of one dtype hold the same, bit for bit.

    Args:
        one: A dense tensor.
        other: Likewise.
    """
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    with torch.no_grad():
        one, other = (item.detach().contiguous().reshape(-1).view(torch.uint8) for item in (one, other))
        return torch.equal(one, other)


HALF = frozenset({torch.bfloat16, torch.float16})
"""What a cast to is left out: the order's profile says how it is computed."""
KEPT = "kept."
"""What the names of tensors begin with that are no module's and no optimizer's."""

SET_DATA = Tensor.data.__set__  # type: ignore[attr-defined]
"""What ``tensor.data = other`` calls."""


def note_births(result: Any, given: Sequence[Tensor], born: set[int]) -> None:
    """Note the memory that a call has made: what is made within a step, and written in it, is no state.

    Args:
        result: What the call gave.
        given: The tensors that it was given: a view of one of these is no new memory.
        born: The memories that the step has made.
    """
    made: list[Tensor] = []
    tensors_of(result, made)
    before = {tensor.untyped_storage()._cdata for tensor in given if tensor.layout is torch.strided}
    born.update(
        memory
        for tensor in made
        if tensor.layout is torch.strided and (memory := tensor.untyped_storage()._cdata) not in before
    )


def tensors_of(item: Any, found: list[Tensor]) -> None:
    """Collect the tensors of an operator's arguments, in order."""
    if isinstance(item, Tensor):
        found.append(item)
    elif isinstance(item, (tuple, list)):
        for part in item:
            tensors_of(part, found)
    elif isinstance(item, dict):
        for part in item.values():
            tensors_of(part, found)


def written_by(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
    """Return the tensors that an operator changes in place."""
    found: list[Tensor] = []
    if func._schema.name == "aten::native_batch_norm":
        # It changes its running statistics and does not say so.
        found += [item for item in args[3:5] if args[5] and item is not None]
    if func._schema.is_mutable:
        declared = func._schema.arguments
        for argument, given in zip(declared, args, strict=False):
            if argument.alias_info is not None and argument.alias_info.is_write:
                tensors_of(given, found)
        for argument in declared:
            if argument.name in kwargs and argument.alias_info is not None and argument.alias_info.is_write:
                tensors_of(kwargs[argument.name], found)
    return found
