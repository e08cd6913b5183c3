"""``python -m benchmarks exact-training``: what a recorded step costs under each kind of profile, by float32 training.

In each round ordinary eager float32 training of a model and its recorded step under each profile run once, one after
the other; processor time counts, so that other work on the machine shows less. The factor is that of the least times
of all rounds. ``ONEDNN_MAX_CPU_ISA=AVX512_CORE`` before the command keeps oneDNN from 8-bit dot products: then int16
and float64 are what is sound. Fingerprints are in it, hashing and writing are not.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import torch

from benchmarks.forms import Forms
from benchmarks.pages import origin, tabulated
from benchmarks.timing import rounds_of
from benchmarks.workloads import CPU, WORKLOADS
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.kernels.exact.forms import Profile

ORDINARY = "ordinary float32"
RECORDED = ("float64-24", "exact-20", "exact-13")
MODELS = ("digits", "wide-cnn", "gpt2", "wide-gpt2")


@dataclass(frozen=True)
class Costs:
    """Least processor seconds of a step."""

    model: str  #: What was trained.
    seconds: Mapping[str, float]  #: By form: ordinary training and the profiles.

    def factor(self, profile: str) -> float:
        """The time of a recorded step by that of ordinary training."""
        return self.seconds[profile] / self.seconds[ORDINARY]


def measure(key: str, rounds: int, threads: int) -> Costs:
    """Measure a model.

    Args:
        key: Key of WORKLOADS.
        rounds: Rounds after the two that warm up.
        threads: Threads on the CPU.
    """
    machine, workload = open_machine("cpu", threads), WORKLOADS[key]()
    calls: dict[str, Callable[[], object]] = {ORDINARY: workload.eager(torch.float32, CPU)}
    with ExitStack() as stack:
        for profile in RECORDED:
            kernels = stack.enter_context(machine.kernels())
            calls[profile] = Forms(workload.order(PROFILES[profile]), machine, kernels).record
        times = rounds_of(calls, rounds, clock=time.process_time)
    return Costs(workload.name, {name: min(taken) for name, taken in times.items()})


def table(found: list[Costs], threads: int) -> str:
    """Return the results as Markdown."""
    forms = ", ".join(f"{Profile.on(torch.device('cpu'), bits).matrices.value} (exact-{bits})" for bits in (20, 13))
    limit = os.environ.get("ONEDNN_MAX_CPU_ISA")
    held = f", oneDNN held to {limit}" if limit else ""

    def factor(profile: str) -> Callable[[Costs], str]:
        return lambda costs: f"{costs.factor(profile):.2f}"

    columns: dict[str, Callable[[Costs], object]] = {
        "step": lambda costs: costs.model,
        ORDINARY: lambda costs: f"{1e3 * costs.seconds[ORDINARY]:.1f} ms",
        **{f"{name} / {ORDINARY}": factor(name) for name in RECORDED},
    }
    return f"Products by {forms}{held}. {origin(threads)}\n\n{tabulated(found, columns)}\n"


def main(arguments: Sequence[str]) -> None:
    """Measure the models that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks exact-training", description=__doc__)
    parser.add_argument("models", nargs="*", metavar="model", help=f"some of {', '.join(MODELS)}; all by default")
    parser.add_argument("--rounds", type=int, default=7, help="rounds after warming up (default 7)")
    parser.add_argument("--threads", type=int, default=1, help="threads on the CPU (default 1)")
    options = parser.parse_args(arguments)
    found = []
    for key in options.models or MODELS:
        found.append(measure(key, options.rounds, options.threads))
        print(
            f"{found[-1].model}: " + ", ".join(f"{name} {found[-1].factor(name):.2f}" for name in RECORDED), flush=True
        )
    print(f"\n{table(found, options.threads)}")
