"""At every place of a step that could be disputed, this machine's elements are the defined ones, and a change shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.honest_jobs import ORDERS
from torch import Tensor

from counterfoil_core.arithmetic.grid.exactresults import Unrounded
from counterfoil_core.arithmetic.grid.fingerprints import Watched
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.judge import exact_arbiter
from counterfoil_core.judge.exact_arbiter import examine
from counterfoil_core.kernels.cpu.rounding import mix_values
from counterfoil_core.operators.node import Node
from counterfoil_core.order.executable import step_inputs
from counterfoil_core.program.places import PlaceSort

BITS = 20


class Seeing(Unrounded):
    """Keeps what happens at every place."""

    def __init__(self, *settings: Any) -> None:
        super().__init__(*settings)
        self.seen: list[Watched] = []

    def watch(self, place: int, value: Tensor, arguments: Callable[[], dict[str, Any]]) -> None:
        super().watch(place, value, arguments)
        self.seen.append(self._watched(place, value, arguments))

    def __call__(
        self, node: Node, arguments: Callable[[], dict[str, Any]], outputs: list[Tensor | None]
    ) -> list[Tensor | None]:
        first = self._site
        result = super().__call__(node, arguments, outputs)
        given = [y for y, kind in zip(result, node.outputs, strict=True) if y is not None and kind and kind.floating]
        for site, output in enumerate(given, first):
            self.seen.append(self._watched(self._program.site_places[site], output, arguments))
        return result


QUICK = ("digits-cnn",)


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in ORDERS]
)
@pytest.mark.parametrize("rows", [False, True], ids=["matrix", "rows"])
def test_every_place(name: str, rows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_arbiter, "BUDGET", 2000)
    draft = ORDERS[name](1, ExactPrecision(BITS, rows))
    manifest, program, machine = draft.manifest, draft.program, open_machine("cpu", 1)
    state = {key: torch.from_numpy(np.array(array)) for key, array in draft.initial.items()}
    data: Any = draft.data
    inputs = step_inputs(manifest, 1, state, draft.schedule[0], draft.scalars[0], data)
    with machine.kernels() as kernels:
        rounder = Seeing(program, kernels)
        rounder.begin_step(5)
        machine.interpreter(program, manifest.precision).run(inputs, rounder=rounder)
    assert len(rounder.seen) == len(program.places)
    judged = 0
    for seen in rounder.seen:
        if seen.place.node is None or seen.place.sort is PlaceSort.DRAW or not seen.value.numel():
            continue
        node = program.nodes[seen.place.node]
        # A fingerprint that belongs to no single change.
        elements = examine(node, seen, (seen.fingerprint + 1) % 2**64, BITS)
        assert not elements.off, node.where
        judged += 1
        if seen.value.dtype == torch.float32:
            assert_found(node, seen)
    assert judged >= 10


def assert_found(node: Node, seen: Watched) -> None:
    """One unit in the last place of the last element is found, by the fingerprint alone."""
    own = seen.value.cpu().numpy()
    index = np.array([len(own) - 1], np.int64)
    other = np.nextafter(own[index], np.float32(np.inf))
    if not np.isfinite(other).all():
        return
    key = np.uint64(seen.key)
    change = int(mix_values(other.astype(np.float64), index, key)) - int(
        mix_values(own[index].astype(np.float64), index, key)
    )
    elements = examine(node, seen, (seen.fingerprint + change) % 2**64, BITS)
    assert elements.indices.tolist() == index.tolist()
    assert elements.trainer == [float(other[0])]
    assert not elements.off
    assert not elements.trainer_is_right
