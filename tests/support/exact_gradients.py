"""Trains small models on one, two and three ranks, in every way that the hooks for exact gradients are used.

``python -m support.exact_gradients FOLDER`` writes ``WORLD-RANK.npz`` there: for each case the gradients of the rank's
own rows and those that the hook made of them, of each step. Ranks are forks of one process, which imported everything.
"""

from __future__ import annotations

import copy
import math
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from counterfoil.distributed.hooks import ExactAllreduceState, exact_allreduce_hook, set_exact_reduce_scatter
from counterfoil_core.kernels.exact.combine import exponent_of, mean_of, quantised

WORLDS = (1, 2, 3)
STEPS = 2
"""DDP makes its buckets anew after the first one."""


@dataclass(frozen=True)
class Case:
    """One way to train.

    Attributes:
        kind: ``exact``, ``plain`` (what DDP does by itself) or ``sharded``.
        turned: Whether the shares are given to the ranks in the reverse order.
        options: Those of DDP.
        micro_batches: How often gradients are added up before they are exchanged.
        bad: A number that a gradient of the last rank is multiplied by.
    """

    kind: str = "exact"
    turned: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    micro_batches: int = 1
    bad: float = 1.0


CASES = {
    "exact": Case(),
    "turned": Case(turned=True),
    "small buckets": Case(options={"bucket_cap_mb": 1e-4}),
    "views": Case(options={"gradient_as_bucket_view": True, "bucket_cap_mb": 1e-4}),
    "static": Case(options={"static_graph": True, "bucket_cap_mb": 1e-4}),
    "unused": Case(options={"find_unused_parameters": True, "bucket_cap_mb": 1e-4}),
    "accumulated": Case(micro_batches=2),
    "infinite": Case(bad=math.inf),
    "plain": Case("plain"),
    "plain turned": Case("plain", turned=True),
    "sharded": Case("sharded"),
    "sharded turned": Case("sharded", turned=True),
}


def model_of(case: Case) -> nn.Sequential:
    """A convolution whose weight lies with its channels last, and a layer whose rows no number of ranks divides."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Tanh(), nn.Flatten(), nn.Linear(64, 7))
    if case.kind != "sharded":
        model[0].to(memory_format=torch.channels_last)
    if "find_unused_parameters" in case.options:
        model[1].register_parameter("spare", nn.Parameter(torch.ones(5)))
    return model


def loss_of(model: nn.Module, share: int, number: int) -> Tensor:
    """The loss of a share's rows; shares are of very different sizes."""
    x = torch.randn(4, 3, 6, 6, generator=torch.Generator().manual_seed(100 * share + number))
    return model(x).square().mean() * 3.0 ** (5 * share)


def gradients(model: nn.Module) -> Iterator[tuple[str, np.ndarray]]:
    for name, parameter in model.named_parameters():
        found = parameter.grad
        found = found.full_tensor() if isinstance(found, DTensor) else found
        flat = torch.zeros(parameter.numel()) if found is None else found.detach().contiguous().flatten()
        yield name.removeprefix("module."), flat.numpy().copy()


def wrapped(case: Case, model: nn.Module, world: int) -> nn.Module:
    if case.kind == "sharded":
        mesh = init_device_mesh("cpu", (world,))
        for part in (model[0], model[3]):
            fully_shard(part, mesh=mesh)
        fully_shard(model, mesh=mesh)
        set_exact_reduce_scatter(model)
        return model
    ddp = DistributedDataParallel(model, **case.options)
    if case.kind == "exact":
        ddp.register_comm_hook(ExactAllreduceState(), exact_allreduce_hook)
    return ddp


def trained(case: Case, rank: int, world: int) -> Iterator[tuple[str, np.ndarray]]:
    """Train, and name each gradient of each step: ``own`` of the rank's rows, and ``all`` after the exchange."""
    share = world - 1 - rank if case.turned else rank
    own = model_of(case)
    model = wrapped(case, copy.deepcopy(own), world)
    if case.bad != 1.0 and rank == world - 1:
        for one in (own, model):
            dict(one.named_parameters())[
                next(n for n, _ in one.named_parameters() if n.endswith("3.bias"))
            ].register_hook(lambda gradient: gradient * torch.tensor([1.0] * 6 + [case.bad]))
    optimizers = [torch.optim.SGD(one.parameters(), 1e-7) for one in (own, model)]
    for step in range(STEPS):
        for one in (own, model):
            one.zero_grad()
            for number in range(case.micro_batches):
                last = one is own or number == case.micro_batches - 1
                with nullcontext() if last else one.no_sync():
                    loss_of(one, share, step * case.micro_batches + number).backward()
        yield from ((f"{step} own {name}", flat) for name, flat in gradients(own))
        found = dict(gradients(model))
        yield from ((f"{step} all {name}", flat) for name, flat in found.items())
        for name, parameter in own.named_parameters():
            parameter.grad = torch.from_numpy(found[name]).view(parameter.shape)
        for optimizer in optimizers:
            optimizer.step()


def work(folder: Path, rank: int, world: int) -> None:
    store = dist.FileStore(str(folder / f"store-{world}"), world)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=world, timeout=timedelta(seconds=60))
    found = {}
    for name, case in CASES.items():
        found |= {f"{name}: {key}": flat for key, flat in trained(case, rank, world)}
    np.savez(folder / f"{world}-{rank}.npz", **found)
    dist.destroy_process_group()


def main(folder: Path) -> None:
    import torch._dynamo  # which DDP would import in each rank

    # Loads what is compiled, for all ranks.
    mean_of(quantised(torch.ones(1), exponent_of(torch.ones(1)), 52), 1, 52, 3)
    for world in WORLDS:
        ranks = []
        for rank in range(world):
            child = os.fork()
            if not child:
                try:
                    work(folder, rank, world)
                    os._exit(0)
                except BaseException:
                    traceback.print_exc()
                    os._exit(1)
            ranks.append(child)
        ended = [os.waitpid(child, 0)[1] for child in ranks]
        if any(ended):
            sys.exit(f"ranks of {world} ended with {ended}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]))
