"""Gradients of one, two and three ranks: what fractions give, whatever the buckets and the order of the ranks."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

import counterfoil
from counterfoil import ExactAllreduceState, exact_allreduce_hook, set_exact_reduce_scatter
from counterfoil.distributed import hooks
from counterfoil_core.base.errors import DataError
from support import kernelrules as rules
from support.exact_gradients import CASES, STEPS, WORLDS

TESTS = Path(__file__).parents[2]
NAMES = ("0.weight", "0.bias", "3.weight", "3.bias")
UNITS = {"sharded": (("0.weight", "0.bias"), ("3.weight", "3.bias"))}
"""The parameters that share an exponent, where it is not one for each."""
Run = Mapping[str, np.ndarray]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Sequence[Run]]:
    """What each rank of each world found."""
    folder = tmp_path_factory.mktemp("ranks")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "support.exact_gradients", str(folder)]
    done = subprocess.run(command, cwd=TESTS, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {world: [np.load(folder / f"{world}-{rank}.npz") for rank in range(world)] for world in WORLDS}


def found(run: Run, case: str) -> dict[str, bytes]:
    """The bits of all gradients of a case, of all steps, after they were exchanged."""
    return {key.removeprefix(case): run[key].tobytes() for key in run if key.startswith(f"{case}: ") and " all " in key}


def expected(ranks: Sequence[Run], case: str, step: int, names: Sequence[str]) -> np.ndarray:
    """The means of what the ranks found for parameters that share an exponent, by fractions."""
    shares = [np.concatenate([rank[f"{case}: {step} own {name}"] for name in names]).tolist() for rank in ranks]
    return np.array(rules.combined(shares, len(shares)), np.float32)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("case", [name for name, case in CASES.items() if case.kind != "plain" and case.bad == 1.0])
def test_gradients_are_the_means_of_fractions_on_every_rank(
    runs: dict[int, Sequence[Run]], world: int, case: str
) -> None:
    first, *others = runs[world]
    assert len(found(first, case)) == STEPS * (len(NAMES) + (case == "unused"))
    for other in others:
        assert found(other, case) == found(first, case)
    sharded = CASES[case].kind == "sharded"
    for step in (0, STEPS - 1):
        for names in UNITS["sharded"] if sharded else [(name,) for name in NAMES]:
            means = np.concatenate([first[f"{case}: {step} all {name}"] for name in names])
            if sharded and world == 1:
                # There torch exchanges nothing.
                assert (
                    means.tobytes() == np.concatenate([first[f"{case}: {step} own {name}"] for name in names]).tobytes()
                )
            else:
                assert means.tobytes() == expected(runs[world], case, step, names).tobytes()
            assert np.abs(means).max() > 0


@pytest.mark.parametrize("world", WORLDS)
def test_neither_buckets_nor_the_order_of_ranks_show(runs: dict[int, Sequence[Run]], world: int) -> None:
    exact = found(runs[world][0], "exact")
    for case in ("turned", "small buckets", "views", "static"):
        assert found(runs[world][0], case) == exact, case
    spared = {key: bits for key, bits in found(runs[world][0], "unused").items() if "spare" not in key}
    assert spared == exact
    assert found(runs[world][0], "sharded turned") == found(runs[world][0], "sharded")


def test_control_the_order_of_three_ranks_shows_in_plain_gradients(runs: dict[int, Sequence[Run]]) -> None:
    plain, turned = (found(runs[3][0], case) for case in ("plain", "plain turned"))
    assert plain != turned
    assert plain != found(runs[3][0], "exact")
    # The gradients that they start from are the same.
    for rank in range(3):
        key = f"0 own {NAMES[2]}"
        assert runs[3][rank][f"plain: {key}"].tobytes() == runs[3][2 - rank][f"plain turned: {key}"].tobytes()


def test_one_element_that_is_not_finite_makes_its_parameter_nan_on_every_rank(runs: dict[int, Sequence[Run]]) -> None:
    for world in WORLDS:
        for rank, run in enumerate(runs[world]):
            assert np.isnan(run[f"infinite: 0 all {NAMES[3]}"]).all()
            assert np.isfinite(run[f"infinite: 0 own {NAMES[3]}"]).all() == (rank < world - 1)
            for name in NAMES[:3]:
                assert run[f"infinite: 0 all {name}"].tobytes() == run[f"exact: 0 all {name}"].tobytes()


# What is refused, in a world of one rank.


@pytest.fixture
def _alone() -> Iterator[None]:
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def step_of(model: nn.Module, state: object, dtype: torch.dtype = torch.float32) -> None:
    ddp = DistributedDataParallel(model)
    ddp.register_comm_hook(state, exact_allreduce_hook)
    ddp(torch.ones(2, 3, dtype=dtype)).sum().backward()


@pytest.mark.usefixtures("_alone")
def test_a_state_of_another_kind_is_refused() -> None:
    with pytest.raises(DataError, match=r"NoneType as its state.*ExactAllreduceState\(\)"):
        step_of(nn.Linear(3, 2), None)


@pytest.mark.usefixtures("_alone")
def test_gradients_of_another_type_are_refused() -> None:
    with pytest.raises(DataError, match=r"bfloat16.*float32"):
        step_of(nn.Linear(3, 2, dtype=torch.bfloat16), ExactAllreduceState(), torch.bfloat16)
    ddp = DistributedDataParallel(nn.Embedding(5, 3, sparse=True))
    ddp.register_comm_hook(ExactAllreduceState(), exact_allreduce_hook)
    loss = ddp(torch.tensor([1])).sum()
    with pytest.raises(DataError, match="sparse"):
        loss.backward()


@pytest.mark.usefixtures("_alone")
def test_two_models_may_share_a_state_and_a_backward_pass() -> None:
    state, models = ExactAllreduceState(), [nn.Linear(3, 3), nn.Linear(3, 3)]
    x = torch.ones(2, 3)
    for model in models:
        ddp = DistributedDataParallel(model, bucket_cap_mb=1e-6)
        ddp.register_comm_hook(state, exact_allreduce_hook)
        x = ddp(x)
    x.sum().backward()
    assert models[1].bias.grad is not None
    assert models[1].bias.grad.tolist() == [2.0] * 3
    assert models[0].bias.grad is not None
    torch.testing.assert_close(models[0].bias.grad, 2 * models[1].weight.sum(0))


@pytest.mark.usefixtures("_alone")
def test_a_backward_pass_that_failed_leaves_nothing_behind() -> None:
    model = nn.Linear(3, 2)
    state = ExactAllreduceState()
    ddp = DistributedDataParallel(model, bucket_cap_mb=1e-6)
    ddp.register_comm_hook(state, exact_allreduce_hook)
    for attempt in range(3):
        model.zero_grad()
        failing = model.weight.register_hook(lambda gradient: 1 / 0) if attempt == 1 else None
        try:
            ddp(torch.full((2, 3), 2.0)).sum().backward()
        except ZeroDivisionError:
            assert attempt == 1
            ddp = DistributedDataParallel(model, bucket_cap_mb=1e-6)
            ddp.register_comm_hook(state, exact_allreduce_hook)
        else:
            assert model.weight.grad is not None
            assert model.weight.grad.tolist() == [[4.0] * 3] * 2
        if failing is not None:
            failing.remove()


@pytest.mark.usefixtures("_alone")
def test_sharded_models_that_cannot_be_exact_are_refused() -> None:
    with pytest.raises(DataError, match="No part of the model is sharded"):
        set_exact_reduce_scatter(nn.Linear(3, 2))
    mesh = init_device_mesh("cpu", (1, 1), mesh_dim_names=("replicate", "shard"))
    with pytest.raises(DataError, match="'weight' is replicated"):
        set_exact_reduce_scatter(fully_shard(nn.Linear(3, 2), mesh=mesh))


@pytest.mark.usefixtures("_alone")
def test_a_sharded_models_gradients_are_means_of_float32() -> None:
    comm, group = hooks._ExactReduceScatter(), dist.group.WORLD
    assert group is not None
    gradient, result = torch.tensor([1.0, math.pi]), torch.zeros(2)
    comm(result, gradient, group, dist.ReduceOp.AVG)
    assert result.tolist() == gradient.tolist()
    with pytest.raises(DataError, match="set_gradient_divide_factor"):
        comm(result, gradient, group, dist.ReduceOp.SUM)
    with pytest.raises(DataError, match="bfloat16"):
        comm(result.bfloat16(), gradient.bfloat16(), group, dist.ReduceOp.AVG)


def test_they_are_public() -> None:
    for name in ("ExactAllreduceState", "exact_allreduce_hook", "set_exact_reduce_scatter"):
        assert name in counterfoil.__all__
