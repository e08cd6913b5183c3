"""Rules of aggregation against byzfl 0.0.11 where it defines them alike, and where it does not.

byzfl requires torchvision, so nothing installs it; `pip install --no-deps byzfl==0.0.11 scipy` brings what is compared.
"""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterfoil.program.aggregation import (
    AggregationRule,
    CentredClipping,
    Krum,
    Mean,
    Median,
    MultiKrum,
    TrimmedMean,
    WorkerMomentum,
)
from support.jobs import draw

SHARES, FAULTY, LENGTH = 9, 2, 40


@pytest.fixture
def byzfl(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Its rules, without the package around them: that loads a benchmark, and with it torchvision."""
    found = find_spec("byzfl")
    if found is None or find_spec("scipy") is None:
        pytest.skip("byzfl and scipy are not installed: byzfl requires torchvision")
    package = ModuleType("byzfl")
    package.__path__ = list(found.submodule_search_locations or ())
    monkeypatch.setitem(sys.modules, "byzfl", package)
    return importlib.import_module("byzfl.aggregators")


def rows(number: int, shares: int = SHARES) -> Tensor:
    return torch.from_numpy(draw((shares, LENGTH), number)).double()


def made(rule: AggregationRule, *steps: Tensor) -> Tensor:
    """What a rule makes of the last of some steps, in float64."""
    slots = rule.slots({"x": steps[0][0]})
    for step in steps:
        aggregate = rule.aggregate({"x": step}, slots, lambda _: None)
        slots = {**slots, **aggregate.slots}
    return aggregate.gradients["x"]


@pytest.mark.parametrize("shares", [SHARES, SHARES + 1])
@pytest.mark.parametrize("name", ["Average", "Median", "TrMean"])
def test_rules_of_elements_agree(byzfl: Any, name: str, shares: int) -> None:
    ours = {"Average": Mean(shares), "Median": Median(shares, FAULTY), "TrMean": TrimmedMean(shares, FAULTY)}[name]
    theirs = byzfl.TrMean(FAULTY) if name == "TrMean" else getattr(byzfl, name)()
    for number in range(5):
        given = rows(number, shares)
        np.testing.assert_allclose(made(ours, given).numpy(), theirs(given.numpy()), rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["Krum", "MultiKrum"])
def test_krum_agrees_once_a_neighbour_less_is_counted(byzfl: Any, name: str) -> None:
    """The paper counts n - f - 2 neighbours, byzfl n - f - 1: as many as the paper's with one faulty share less.

    Of multi-Krum the number of chosen shares hangs on f too, so that it is compared by its order alone.
    """
    ours, theirs = {"Krum": Krum, "MultiKrum": MultiKrum}[name], getattr(byzfl, name)
    differed = False
    for number in range(40):
        given = rows(number)
        if name == "Krum":
            np.testing.assert_array_equal(made(ours(SHARES, FAULTY - 1), given).numpy(), theirs(FAULTY)(given.numpy()))
        else:
            chosen = torch.sort(Krum(SHARES, FAULTY - 1).scores({"x": given})).indices[: SHARES - FAULTY]
            np.testing.assert_allclose(given[chosen].mean(0).numpy(), theirs(FAULTY)(given.numpy()), rtol=0, atol=1e-14)
        differed |= not np.allclose(made(ours(SHARES, FAULTY), given).numpy(), theirs(FAULTY)(given.numpy()))
    assert differed, "the number of neighbours decides"


@pytest.mark.parametrize(("radius", "iterations"), [(100.0, 1), (2.5, 1), (2.5, 4)])
def test_centred_clipping_agrees_where_it_begins_at_zero(byzfl: Any, radius: float, iterations: int) -> None:
    theirs, ours = byzfl.CenteredClipping(L=iterations, tau=radius), CentredClipping(SHARES, 0, radius, iterations)
    steps = [rows(number) for number in range(3)]
    expected = [theirs(step.numpy()) for step in steps][-1]
    np.testing.assert_allclose(made(ours, *steps).numpy(), expected, rtol=0, atol=1e-14)
    with pytest.raises(TypeError, match="m must be"):
        byzfl.CenteredClipping(m=np.zeros(LENGTH))


def test_worker_momentum_agrees_with_a_client_s(byzfl: Any) -> None:
    steps = [rows(number) for number in range(4)]
    momenta = torch.zeros(SHARES, LENGTH, dtype=torch.float64)
    for step in steps:
        momenta = 0.9 * momenta + (1 - 0.9) * step
    expected = byzfl.Median()(momenta.numpy())
    np.testing.assert_allclose(made(WorkerMomentum(Median(SHARES, FAULTY)), *steps).numpy(), expected, atol=1e-14)
