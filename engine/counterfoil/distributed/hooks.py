"""Exact gradients for scripts that keep DistributedDataParallel or ``fully_shard``: a hook for each.

The mean of the ranks' gradients by the combine rule (:mod:`counterfoil_core.kernels.exact.combine`): int32 exponents,
of which the greatest is taken, then int64 sums. No algorithm of a collective, no order of ranks and no bucket shows in
it. Only collectives that everybody has; none that pickles.
"""

# No annotations as texts here: torch compares those of a hook with its own types.

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.futures import Future

from counterfoil_core.base.errors import DataError
from counterfoil_core.kernels.exact.combine import (
    NOT_FINITE,
    combine_bits,
    exponents_of,
    mean_of,
    no_shares,
    quantise_into,
)

_reduce_scatter = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor
"""Its name from torch 2.13 on, and the one before."""


class _Begun(NamedTuple):
    """A bucket whose exponents are on their way."""

    buffer: Tensor  #: The bucket, float32 ``[n]``.
    pieces: Sequence[Tensor]  #: The gradient of each parameter, flat: views of the bucket.
    exponents: Tensor  #: Theirs; the greatest of all ranks when ``work`` is done.
    work: dist.Work  #: The collective.
    done: Future[Tensor]  #: What DDP waits for.


class _Summed(NamedTuple):
    """A bucket whose integers are being added."""

    begun: _Begun  #: The bucket.
    exponents: Sequence[int]  #: Those of all ranks, one for each piece.
    total: Tensor  #: The sums when ``work`` is done, int64 ``[n]``.
    work: dist.Work  #: The collective.


class ExactAllreduceState:
    """What :func:`exact_allreduce_hook` keeps from one bucket of a backward pass to the next.

    Args:
        process_group: The ranks of the model, or of the models that share it; those of the default group if None.
    """

    def __init__(self, process_group: dist.ProcessGroup | None = None) -> None:
        self._group = process_group
        self._begun: _Begun | None = None
        self._summed: list[_Summed] = []

    def take(self, bucket: dist.GradBucket) -> Future[Tensor]:  # type: ignore[name-defined]
        """Take a bucket; its means are there when the last one was taken.

        The exponents of a bucket travel while the gradients of the next one are computed. All collectives are begun
        here, by the thread in which DDP hands out buckets, so that they come in one order on all ranks.

        Args:
            bucket: The bucket; all ranks hand out the same ones in the same order.

        Raises:
            DataError: Its gradients are not dense float32.
        """
        buffer = bucket.buffer()
        _check(buffer)
        # Not as gradients: their strides may be other than the bucket's.
        pieces = buffer.split_with_sizes([parameter.numel() for parameter in bucket.parameters()])
        exponents = exponents_of(pieces)
        work = dist.all_reduce(exponents, dist.ReduceOp.MAX, self._group, async_op=True)
        self._add()
        done: Future[Tensor] = Future(devices=[] if buffer.device.type == "cpu" else [buffer.device])
        self._begun = _Begun(buffer, pieces, exponents, work, done)
        if bucket.is_last():
            self._add()
            self._finish()
        return done

    def _add(self) -> None:
        """Begin to add the integers of the bucket whose exponents are on their way, if there is one."""
        if self._begun is None:
            return
        begun, self._begun = self._begun, None
        begun.work.wait()
        exponents: list[int] = begun.exponents.tolist()
        total = _integers(begun.pieces, exponents, dist.get_world_size(self._group))
        work = dist.all_reduce(total, dist.ReduceOp.SUM, self._group, async_op=True)
        self._summed.append(_Summed(begun, exponents, total, work))

    def _finish(self) -> None:
        """Write the means of all buckets that were taken into them."""
        summed, self._summed = self._summed, []
        ranks = dist.get_world_size(self._group)
        for begun, exponents, total, work in summed:
            work.wait()
            sums = total.split_with_sizes([piece.numel() for piece in begun.pieces])
            for piece, part, exponent in zip(begun.pieces, sums, exponents, strict=True):
                _write_mean(piece, part, exponent, ranks)
            begun.done.set_result(begun.buffer)


def exact_allreduce_hook(
    state: ExactAllreduceState,
    bucket: dist.GradBucket,  # type: ignore[name-defined]
) -> Future[Tensor]:
    """Make the gradients of DistributedDataParallel the exact means of the ranks' gradients, rounded once.

    ``model.register_comm_hook(ExactAllreduceState(), exact_allreduce_hook)``. Exponents are those of parameters, so
    nothing of the buckets shows. A parameter whose gradient is infinite or not a number somewhere, in one element on
    one rank, is NaN as a whole on all ranks.

    Args:
        state: That of this model.
        bucket: The bucket.

    Returns:
        What DDP waits for: the bucket with its means.

    Raises:
        DataError: The state is another one, or the gradients are not dense float32.
    """
    if not isinstance(state, ExactAllreduceState):
        raise DataError(
            f"The hook for exact gradients was registered with {type(state).__name__} as its state.",
            remedy="Register it by model.register_comm_hook(ExactAllreduceState(), exact_allreduce_hook).",
        )
    return state.take(bucket)


class _ExactReduceScatter:
    """The reduce-scatter of ``fully_shard`` by the combine rule; torch calls it by these names."""

    def allocate(self, size: Sequence[int], *, dtype: torch.dtype, device: torch.device) -> Tensor:
        """Return a tensor for what is sent or received."""
        return torch.empty(size, dtype=dtype, device=device)

    def __call__(
        self,
        output_tensor: Tensor,
        input_tensor: Tensor,
        group: dist.ProcessGroup,
        op: dist.ReduceOp.RedOpType,
        async_op: bool = False,
    ) -> None:
        """Write this rank's part of the means.

        Args:
            output_tensor: Where it goes: float32 ``[n]``.
            input_tensor: This rank's gradients: float32 ``[ranks * n]``, a part for each rank.
            group: The ranks.
            op: What is asked for; the mean.
            async_op: Not used: torch waits for it.
        """
        _check(input_tensor)
        if op != dist.ReduceOp.AVG:
            raise DataError(
                f"The gradients of a sharded model are to be combined by {op}; the exact rule is their mean.",
                remedy="Leave out set_gradient_divide_factor and set_force_sum_reduction_for_comms.",
            )
        exponents = exponents_of([input_tensor])
        dist.all_reduce(exponents, dist.ReduceOp.MAX, group)
        exponent, ranks = int(exponents), dist.get_world_size(group)
        total = _integers([input_tensor], [exponent], ranks)
        part = no_shares(output_tensor.shape, output_tensor.device)
        _reduce_scatter(part, total, dist.ReduceOp.SUM, group)
        _write_mean(output_tensor, part, exponent, ranks)


def set_exact_reduce_scatter(model: nn.Module) -> None:
    """Make the gradients of a model under ``fully_shard`` the exact means of the ranks' gradients, rounded once.

    An exponent is that of a unit: of what one call of ``fully_shard`` shards together, which does not hang on the
    number of ranks either.

    Args:
        model: The model, when ``fully_shard`` was called on all its parts.

    Raises:
        DataError: No part of it is sharded, or parts are replicated too.
    """
    from torch.distributed.fsdp import FSDPModule
    from torch.distributed.tensor import DTensor

    units = [module for module in model.modules() if isinstance(module, FSDPModule)]
    if not units:
        raise DataError(
            "No part of the model is sharded by fully_shard.",
            remedy="Call fully_shard first; a model of DistributedDataParallel takes exact_allreduce_hook.",
        )
    for name, parameter in model.named_parameters():
        if isinstance(parameter, DTensor) and any(placement.is_replicate() for placement in parameter.placements):
            raise DataError(
                f"The parameter {name!r} is replicated over a dimension of its mesh, where torch adds in float32.",
                remedy="Shard the model over a mesh of one dimension.",
            )
    for unit in units:
        unit.set_custom_reduce_scatter(_ExactReduceScatter())  # type: ignore[arg-type]


def _check(gradients: Tensor) -> None:
    if gradients.dtype != torch.float32 or gradients.layout != torch.strided:
        raise DataError(
            f"The gradients are {gradients.layout} tensors of {gradients.dtype}; exact ones are dense and of float32.",
            remedy="Keep parameters in float32 (autocast leaves them there), or set reduce_dtype=torch.float32.",
        )


def _integers(pieces: Sequence[Tensor], exponents: Sequence[int], ranks: int) -> Tensor:
    """Return pieces as integers, one behind the other; zeros for one that is not finite on some rank."""
    bits, lengths = combine_bits(ranks), [piece.numel() for piece in pieces]
    total = no_shares((sum(lengths),), pieces[0].device)
    for piece, part, exponent in zip(pieces, total.split_with_sizes(lengths), exponents, strict=True):
        if exponent != NOT_FINITE:
            # They fit: the exponent is none below this rank's own.
            quantise_into(part, piece, exponent, bits)
    return total


def _write_mean(piece: Tensor, total: Tensor, exponent: int, ranks: int) -> None:
    if exponent == NOT_FINITE:
        piece.fill_(math.nan)
    else:
        piece.copy_(mean_of(total, exponent, combine_bits(ranks), ranks))
