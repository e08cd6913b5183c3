"""``python -m benchmarks exact-memory``: the peak memory of a step under exact profiles, beside float32 training.

Each form is measured in a process of its own, which orders the workload, as every trainer's process reads an order, and
does three steps. What it took before the first step is given too: that much are libraries and what was ordered.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from benchmarks.exact_training import MODELS, ORDINARY
from benchmarks.forms import Forms, peak_memory
from benchmarks.pages import origin, tabulated
from benchmarks.programs import command, environment
from benchmarks.workloads import CPU, WORKLOADS
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.precision import PROFILES, exact_bits
from counterfoil_core.program.estimate import estimate

EXACT = ("exact-20", "exact-13")


@dataclass(frozen=True)
class Peak:
    """Peak memory of a process in one form, in MiB."""

    model: str  #: Key of WORKLOADS.
    form: str  #: How.
    before: int  #: Before the first step.
    steps: int  #: With three steps.


def measure(key: str, form: str) -> Peak:
    """Measure a form of a workload in a process of its own."""
    child = command("exact-memory", "--alone", key, form)
    said = subprocess.run(child, env=environment(), check=True, capture_output=True, text=True).stdout
    before, steps = map(int, said.split())
    return Peak(key, form, before, steps)


def run_alone(key: str, form: str) -> None:
    """Do three steps in one form, and print this process's peak memory before and after them, in MiB."""
    workload, machine = WORKLOADS[key](), open_machine("cpu", 1)
    order = workload.order(PROFILES[EXACT[0] if form == ORDINARY else form])
    with machine.kernels() as kernels:
        call: Callable[[], object]
        call = workload.eager(torch.float32, CPU) if form == ORDINARY else Forms(order, machine, kernels).record
        before = peak_memory(machine.device)
        for _ in range(3):
            call()
    print(before >> 20, peak_memory(machine.device) >> 20)


def counted(key: str, profile: str) -> int:
    """Return what a step of a workload is estimated to take under an exact profile, in MiB."""
    precision = PROFILES[profile]
    program = WORKLOADS[key]().order(precision).program
    return estimate(program, 4, exact_bits=exact_bits(precision)).bytes >> 20


def table(found: Sequence[Peak]) -> str:
    """Return the peaks of one workload as Markdown; the first is that of ordinary training."""
    ordinary = found[0].steps

    def estimated(peak: Peak) -> str:
        return "" if peak.form == ORDINARY else f"{counted(peak.model, peak.form)} MiB"

    columns: dict[str, Callable[[Peak], object]] = {
        "form": lambda peak: peak.form,
        "before the first step": lambda peak: f"{peak.before} MiB",
        "peak": lambda peak: f"{peak.steps} MiB",
        f"peak / {ORDINARY}": lambda peak: f"{peak.steps / ordinary:.2f}",
        "a step as it is estimated": estimated,
    }
    return tabulated(found, columns)


def main(arguments: Sequence[str]) -> None:
    """Measure the models that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks exact-memory", description=__doc__)
    parser.add_argument("models", nargs="*", metavar="model", help=f"some of {', '.join(MODELS)}; all by default")
    parser.add_argument("--alone", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.alone:
        run_alone(*options.alone)
        return
    for key in options.models or MODELS:
        found = [measure(key, form) for form in (ORDINARY, *EXACT)]
        print(f"**{WORKLOADS[key]().name}**. {origin(1)}\n\n{table(found)}\n", flush=True)
