"""What the parts of the page on a GPU have in common: the CPU's name, small steps, threads."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Mapping

from benchmarks.workloads import (
    Workload,
    dropped,
    gpt2_of_size,
    thin_filters,
)
from counterfoil.training.recipes.gpt2 import Gpt2Size
from counterfoil_core.arithmetic.compute.devices import open_device
from counterfoil_core.base.errors import DeviceError

HOST = "cpu"
"""The CPU's name in the campaign."""


def small(options: Namespace) -> bool:
    """Whether the jobs are small: a rehearsal without a GPU shows that the parts work, and says nothing of speed."""
    try:
        return open_device(options.device).type != "cuda"
    except DeviceError:  # results of another machine are shown here
        return False


def threads_of(options: Namespace) -> int:
    """Threads for what has the machine to itself."""
    return options.threads or os.cpu_count() or 1


FIRST = ("float64-24", "exact-20")
"""Profiles whose jobs come before all others."""
Steps = Mapping[str, Callable[[], Workload]]
SMALL: Steps = {
    "thin-filters": lambda: thin_filters(2),
    "dropout": lambda: dropped(4),
    "attention": lambda: gpt2_of_size(Gpt2Size(layers=1, heads=1, width=8, context=4), 1),
}
