"""Places: what a step is fingerprinted at, and in which order."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from counterfoil.program.capture import capture
from counterfoil.program.update import Sgd
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, place_key
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.base.precision import Precision
from counterfoil_core.kernels.cpu.rounding import CANONICAL_NAN, CpuKernel
from counterfoil_core.kernels.torch.rounding import TorchKernel
from counterfoil_core.operators.catalogue import allowed_names, decided_arguments
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.graph import Program
from counterfoil_core.program.places import PlaceSort

BATCH = {"x": TensorType("float32", (4, 3)), "labels": TensorType("int64", (4,))}
CPU = torch.device("cpu")


class Deciding(nn.Module):
    """Compares a sum that is exact: nothing but the comparison reads it."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.layer(nn.functional.dropout(x, 0.5))
        shown = (hidden + x).transpose(0, 1)  # exact, and compared through a view
        return torch.where(shown.transpose(0, 1) > 0.25, hidden, hidden * 2.0)


@pytest.fixture(scope="module")
def program() -> Program:
    torch.manual_seed(0)
    model = Deciding()
    return capture(
        model, lambda m, batch: nn.functional.cross_entropy(m(batch["x"]), batch["labels"]), Sgd(), BATCH
    ).program


def run(program: Program, x: torch.Tensor, labels: torch.Tensor, seed: int = 1) -> np.ndarray:
    kernels = Kernels(CPU, 1)
    rounder = RecordingRounder(program, Precision(), kernels)
    rounder.begin_step(7)
    state = {item.name: torch.full(item.type.shape, 0.3) for item in program.state_inputs()}
    scalars = {item.name: 0.1 for item in program.inputs if item.kind == "scalar"}
    Interpreter(program, CPU).run(
        StepInputs(state, {"x": x, "labels": labels}, scalars, Draws(seed, 1)), rounder=rounder
    )
    kernels.close()
    return rounder.fingerprints


def test_batches_come_first_then_every_node_in_order(program: Program) -> None:
    sorts = [place.sort for place in program.places]
    assert [place.name for place in program.places[:2]] == ["labels", "x"]
    assert sorts[:2] == [PlaceSort.BATCH] * 2
    assert PlaceSort.BATCH not in sorts[2:]
    nodes = [place.node for place in program.places[2:]]
    assert nodes == sorted(nodes)
    assert [place.site for place in program.places if place.site is not None] == list(range(len(program.sites)))
    assert [program.places[number].site for number in program.site_places] == list(range(len(program.sites)))


def test_draws_and_what_is_compared_have_places(program: Program) -> None:
    by_sort = {sort: [p for p in program.places if p.sort is sort] for sort in PlaceSort}
    (draw,) = by_sort[PlaceSort.DRAW]
    assert program.nodes[draw.node].operator == "counterfoil.uniform"
    names = [program.nodes[place.node].operator for place in by_sort[PlaceSort.DECIDING]]
    assert names == ["aten.add.Tensor"]


def test_each_fingerprint_tells_its_own_value(program: Program) -> None:
    x, labels = torch.arange(12, dtype=torch.float32).reshape(4, 3) / 8, torch.tensor([0, 1, 2, 0])
    honest = run(program, x, labels)
    assert (honest == run(program, x, labels)).all()
    first = {
        "labels": run(program, x, torch.tensor([0, 1, 2, 1])),
        "x": run(program, x + torch.eye(4, 3) / 1024, labels),
        "": run(program, x, labels, seed=2),
    }
    for name, other in first.items():
        place = program.places[int(np.flatnonzero(honest != other)[0])]
        assert (place.name, place.sort) == (name, PlaceSort.BATCH if name else PlaceSort.DRAW)


def test_every_operator_that_decides_is_on_the_allow_list() -> None:
    deciding = [name for name in allowed_names() if decided_arguments(name, casts_away=True)]
    assert {"aten.gt.Scalar", "aten.sort.stable", "aten._to_copy.default", "aten.max.dim"} <= set(deciding)
    assert not decided_arguments("aten._to_copy.default", casts_away=False)
    assert not decided_arguments("aten.max.default", casts_away=False)
    assert decided_arguments("aten.threshold_backward.default", casts_away=False) == (1,)


@pytest.mark.parametrize("threads", [1, 3])
def test_both_kernels_give_one_fingerprint(threads: int) -> None:
    rng = np.random.default_rng(5)
    values = rng.standard_normal(200_001)
    values[:4] = [0.0, -0.0, np.inf, -np.inf]
    key = place_key(3, 1)
    cpu = CpuKernel(threads)
    expected = TorchKernel().fingerprint_finite(torch.from_numpy(values), key)
    assert cpu.fingerprint_finite(values, key) == expected
    bits = values.view(np.uint64)
    assert cpu.fingerprint(bits, key) == TorchKernel().fingerprint(torch.from_numpy(bits.view(np.int64)), key)
    flipped = bits.copy()
    flipped[77_777] ^= np.uint64(1)
    assert cpu.fingerprint_finite(flipped.view(np.float64), key) != expected
    assert cpu.fingerprint(flipped, key) != cpu.fingerprint(bits, key)


@pytest.mark.parametrize("bits", [0xFFF8000000000000, 0x7FF0000000000001, 0xFFFFFFFFFFFFFFFF])
def test_all_that_is_not_a_number_counts_as_one(bits: int) -> None:
    kernel, device = CpuKernel(1), TorchKernel()
    one, other = np.array([bits], np.uint64), np.array([CANONICAL_NAN], np.uint64)
    assert kernel.fingerprint_finite(one.view(np.float64), 9) == kernel.fingerprint_finite(other.view(np.float64), 9)
    assert kernel.fingerprint(one, 9) != kernel.fingerprint(other, 9)
    as_torch = torch.from_numpy(one.view(np.float64))
    assert device.fingerprint_finite(as_torch, 9) == kernel.fingerprint_finite(one.view(np.float64), 9)
