"""Puts operators of a program before the library, on tensors without memory: do they give what it declares of them?

The library loads its compiler's front end for that, which takes longer than everything else that is asked of a program.
So only what no rule of ours answers for comes here (:mod:`counterfoil_core.program.resulttypes`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from counterfoil_core.arithmetic.compute.plan import dtype_of, prepare_node
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.graph import Program, node_values
from counterfoil_core.program.torchdtypes import TORCH_DTYPES

_CPU = torch.device("cpu")


def check_by_library(program: Program, compute: str, indices: Iterable[int], cancel: CancelToken | None = None) -> None:
    """Run operators of a program on fake tensors, which have shapes and dtypes but no memory.

    An operator that rejects its arguments, or a result of another size than declared, is found before anything large is
    allocated. Each runs on tensors of the types that the program declares.

    Args:
        program: The program.
        compute: The compute dtype that takes the place of ``float32``.
        indices: Which operators, by their index in the program.
        cancel: Looked at between operators.

    Raises:
        ProgramError: The message names the operator and its module.
        CancelledError: ``cancel`` was set.
    """
    dtype = TORCH_DTYPES[compute]
    with FakeTensorMode(), _quietly():
        for index in indices:
            if cancel is not None:
                cancel.check()
            values = node_values(program.nodes[index])
            empty = {value.number: _empty(program.types[value.number], dtype) for value in values}
            prepare_node(program, index, _CPU, dtype).check(empty)


def _empty(described: TensorType | None, dtype: torch.dtype) -> Tensor:
    assert described is not None, "nothing refers to a value that is not computed"
    return torch.empty(described.shape, dtype=dtype_of(described.dtype, dtype), device=_CPU)


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep what the library writes on the error output about arguments that it rejects."""
    log = logging.getLogger("torch._subclasses.fake_tensor")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before
