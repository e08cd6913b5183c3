"""Sparse tensors of a step: constants and gradients become dense, others have no form in a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from counterfoil.program.remedies import NoFormError, Notes
from counterfoil.program.whereabouts import client_line, in_brackets

_DENSE: Mapping[Any, Callable[..., Any]] = {
    torch.sparse.mm: torch.mm,
    torch.sparse.addmm: torch.addmm,
    torch.sparse.sum: torch.sum,
    torch.sparse.softmax: torch.softmax,
    torch.sparse.log_softmax: torch.log_softmax,
    torch.hspmm: torch.mm,
    torch.smm: torch.mm,
    torch.dsmm: torch.mm,
}
"""Functions of sparse tensors by what they are of dense ones."""
_SPARSE_GRADIENT: Mapping[Any, tuple[str, int]] = {
    functional.embedding: ("sparse", 6),
    functional.embedding_bag: ("sparse", 7),
    torch.embedding: ("sparse", 4),
    torch.embedding_bag: ("sparse", 5),
    torch.gather: ("sparse_grad", 3),
    Tensor.gather: ("sparse_grad", 3),
}
"""Functions whose gradient may be asked for as a sparse tensor: the setting that does, and its position."""
_MADE = {
    torch.sparse_coo_tensor, torch.sparse_csr_tensor, torch.sparse_csc_tensor, torch.sparse_compressed_tensor,
    Tensor.to_sparse, Tensor.to_sparse_csr, Tensor.to_sparse_csc, Tensor.to_sparse_coo,
}  # fmt: skip
_KEPT = frozenset({
    "__get__", "size", "dim", "numel", "is_floating_point", "is_coalesced", "_nnz", "sparse_dim", "dense_dim",
    "coalesce", "indices", "values", "_indices", "_values", "crow_indices", "col_indices", "ccol_indices",
    "row_indices", "to_sparse", "to_sparse_csr", "to_sparse_csc", "to_sparse_coo", "to", "float", "cpu", "clone",
    "detach", "t", "transpose", "requires_grad_", "__repr__", "__len__",
})  # fmt: skip
"""What is asked of a sparse constant itself; by its name, since attributes have no other."""


class DenseConstants(TorchFunctionMode):
    """While active, a function that is given a sparse constant is given a dense one.

    Args:
        notes: Is told of each.
    """

    def __init__(self, notes: Notes) -> None:
        super().__init__()
        self._notes = notes
        self._dense: dict[int, tuple[Tensor, Tensor]] = {}
        """Dense constants by the identity of the sparse ones, which are kept alive."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Pass on every call, without sparse constants."""
        args, named = dense_gradient(func, args, kwargs or {}, self._notes)
        sparse = [item for item in tree_leaves((args, named)) if _is_sparse_constant(item)]
        if func in _MADE and not sparse:
            return self._make(func, args, named)
        if not sparse:
            return func(*args, **named)
        if getattr(func, "__name__", "") in _KEPT and all(not isinstance(item, FakeTensor) for item in args):
            with _disable_current_modes():
                return func(*args, **named)
        given, settings = tree_map(self._made_dense, (args, named))
        if func is Tensor.to_dense:
            return given[0]
        return _DENSE.get(func, func)(*given, **settings)

    def _make(self, func: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if any(isinstance(item, FakeTensor) for item in tree_leaves((args, named))):
            raise NoFormError(
                "makes a sparse tensor of values of the step, which a program cannot hold",
                remedy="Compute with a dense tensor; a sparse one that is the same in every step is made before, and "
                "the objective refers to it.",
            )
        with _disable_current_modes():
            return func(*args, **named)

    def _made_dense(self, item: Any) -> Any:
        if not _is_sparse_constant(item):
            return item
        if id(item) not in self._dense:
            with _disable_current_modes(), torch.no_grad():
                self._dense[id(item)] = item, item.to_dense()
            self._notes.add(
                f"A sparse constant of shape {' x '.join(map(str, item.shape))} is made dense"
                f"{in_brackets(client_line())}."
            )
        return self._dense[id(item)][1]


def dense_gradient(
    func: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any], notes: Notes
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call without the wish for a sparse gradient.

    Every update that torch's optimizers make of a sparse gradient is what they make of the dense one, except for
    SparseAdam's, which no order takes.

    Args:
        func: What is called.
        args: Its arguments.
        named: Its arguments by name.
        notes: Is told of each wish.
    """
    name, place = _SPARSE_GRADIENT.get(func, ("", 0))
    if not name or not (named.get(name) or args[place : place + 1] == (True,)):
        return args, named
    notes.add(f"A gradient is asked for as a sparse tensor, and taken as a dense one{in_brackets(client_line())}.")
    if len(args) > place:
        return (*args[:place], False, *args[place + 1 :]), named
    return args, {**named, name: False}


def _is_sparse_constant(item: Any) -> bool:
    if not isinstance(item, Tensor) or isinstance(item, FakeTensor):
        return False
    with torch._C.DisableTorchFunction():
        return item.layout is not torch.strided and not item.is_mkldnn and not item.requires_grad
