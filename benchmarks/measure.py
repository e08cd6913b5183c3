"""Times one training step in every form, in turn, and takes the ratios round by round."""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

import torch

from benchmarks.forms import Forms, peak_memory
from benchmarks.programs import command, environment
from benchmarks.timing import rounds_of
from benchmarks.workloads import WORKLOADS, Workload
from counterfoil_core.arithmetic.grid.log import encode
from counterfoil_core.arithmetic.machine import open_machine

FORMS = ("unrounded", "recorded", "replayed", "eager float64", "eager float32")
MEMORY_FORMS = ("unrounded", "recorded", "replayed", "eager float64")
"""Those whose peak memory is measured."""


@dataclass(frozen=True)
class Result:
    """What one workload gave."""

    name: str  #: Name of the workload.
    seconds: dict[str, float]  #: Median seconds of a step in each form.
    recorded_ratio: float  #: Median over the rounds of recorded to unrounded time.
    replayed_ratio: float  #: The same for replayed.
    unrounded_ratio: float  #: Unrounded to eager float64.
    eager64_ratio: float  #: Recorded to eager float64.
    eager32_ratio: float  #: Recorded to eager float32.
    values: int  #: Values rounded in a step.
    entries: int  #: Logged decisions of a step.
    log_bytes: int  #: Bytes of a step's log.
    #: Peak memory in MiB of a process that does only this, by form; empty where it was not measured.
    memory: dict[str, int]
    operators: int  #: Operators of the program.


def _calls(workload: Workload, forms: Forms, device: torch.device) -> dict[str, Callable[[], object]]:
    """Every form as a call without arguments."""
    return {
        "unrounded": forms.run,
        "recorded": forms.record,
        "replayed": forms.replay,
        "eager float64": workload.eager(torch.float64, device),
        "eager float32": workload.eager(torch.float32, device),
    }


def measure(key: str, rounds: int, device: str = "cpu", threads: int | None = None, *, memory: bool = True) -> Result:
    """Measure a workload.

    Args:
        key: Key of WORKLOADS.
        rounds: Rounds after the two that warm up; in each round every form runs once.
        device: Where to run.
        threads: Threads on the CPU; None for torch's choice.
        memory: Whether to measure the peak memory of each form too, in processes of their own.
    """
    machine = open_machine(device, threads)
    workload = WORKLOADS[key]()
    with machine.kernels() as kernels:
        order = workload.order(None)
        forms = Forms(order, machine, kernels)
        calls = _calls(workload, forms, machine.device)
        times = rounds_of(calls, rounds)

    def ratio(upper: str, lower: str) -> float:
        return statistics.median(a / b for a, b in zip(times[upper], times[lower], strict=True))

    return Result(
        name=workload.name,
        seconds={name: statistics.median(values) for name, values in times.items()},
        recorded_ratio=ratio("recorded", "unrounded"),
        replayed_ratio=ratio("replayed", "unrounded"),
        unrounded_ratio=ratio("unrounded", "eager float64"),
        eager64_ratio=ratio("recorded", "eager float64"),
        eager32_ratio=ratio("recorded", "eager float32"),
        values=sum(site.elements for site in order.program.sites),
        entries=sum(len(site.indices) for site in forms.logs),
        log_bytes=len(encode(forms.logs)),
        memory={form: _peak_memory(key, form) for form in MEMORY_FORMS} if memory and device == "cpu" else {},
        operators=len(order.program.nodes),
    )


def _peak_memory(key: str, form: str) -> int:
    """Peak memory in MiB of a fresh process that runs one form three times."""
    child = command("steps", "--child", key, form)
    return int(subprocess.run(child, env=environment(), check=True, capture_output=True, text=True).stdout)


def run_alone(key: str, form: str) -> None:
    """Run one form three times and print this process's peak memory in MiB; a replay needs a recording before it."""
    workload, machine = WORKLOADS[key](), open_machine("cpu")
    eager = {"eager float64": torch.float64, "eager float32": torch.float32}
    if form in eager:
        call: Callable[[], object] = workload.eager(eager[form], machine.device)
        for _ in range(3):
            call()
    else:
        with machine.kernels() as kernels:
            forms = Forms(workload.order(None), machine, kernels)
            if form == "replayed":
                forms.record()
            call = {"unrounded": forms.run, "recorded": forms.record, "replayed": forms.replay}[form]
            for _ in range(3):
                call()
    print(peak_memory(machine.device) >> 20)
