"""Many steps: what is flat is told from what is not, and 100,000 steps are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.soak import STEPS, Samples, flatness, soak


def samples(slower: float = 0.0, growth: float = 0.0, files: float = 0.0) -> Samples:
    """What a process shows that takes 1 ms a step and 100 MiB, after a slow start."""
    steps = np.arange(100.0, 10_001.0, 100.0)
    share = steps / steps[-1]
    noise = np.random.default_rng(0).normal(0, 0.02, len(steps))
    seconds = 1e-3 * (1 + slower * share + noise + (share < 0.05) * 10)
    memory = 100 * 2**20 + growth * steps + (share > 0.05) * 2**20
    return np.stack([steps, seconds, memory, np.floor(5 + files * share)], axis=1)


def test_what_is_flat() -> None:
    found = flatness(samples())
    assert found.faults == []
    assert found.milliseconds == pytest.approx(1.0, rel=0.05)


@pytest.mark.parametrize(
    ("drift", "sentence"),
    [({"slower": 0.8}, "times as long"), ({"growth": 4096.0}, "4096 bytes"), ({"files": 2.0}, "more files")],
)
def test_what_is_not(drift: dict[str, float], sentence: str) -> None:
    (fault,) = flatness(samples(**drift)).faults
    assert sentence in fault


@pytest.mark.slow
def test_many_steps(tmp_path: Path) -> None:
    for phase, found in soak(tmp_path, STEPS).items():
        assert found[-1, 0] == STEPS
        assert flatness(found).faults == [], phase
