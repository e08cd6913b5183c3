"""Times one training step in every form, in turn, and takes the ratios round by round."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks.workloads import WORKLOADS, Workload
from counterfoil.execution.devices import set_determinism
from counterfoil.execution.interpreter import Draws, Interpreter, StepInputs
from counterfoil.rounding.log import encode
from counterfoil.rounding.rounder import Kernels, RecordingRounder, ReplayingRounder

FORMS = ("unrounded", "recorded", "replayed", "eager float64", "eager float32")


@dataclass(frozen=True)
class Result:
    """What one workload gave.

    Attributes:
        name: Name of the workload.
        seconds: Median seconds of a step in each form.
        recorded_ratio: Median over the rounds of recorded to unrounded time.
        replayed_ratio: The same for replayed.
        eager64_ratio: Recorded to eager float64.
        eager32_ratio: Recorded to eager float32.
        values: Values rounded in a step.
        entries: Logged decisions of a step.
        log_bytes: Bytes of a step's log.
        memory: Peak memory in MiB of a process that does only this, for the unrounded and the recorded form.
        operators: Operators of the program.
    """

    name: str
    seconds: dict[str, float]
    recorded_ratio: float
    replayed_ratio: float
    eager64_ratio: float
    eager32_ratio: float
    values: int
    entries: int
    log_bytes: int
    memory: dict[str, int]
    operators: int


def _inputs(workload: Workload, device: torch.device) -> StepInputs:
    order = workload.order
    rows = order.schedule[0]
    return StepInputs(
        state={name: torch.from_numpy(array).to(device) for name, array in order.initial.items()},
        batch={name: torch.from_numpy(array[rows]).to(device) for name, array in order.data.items()},
        scalars=dict(zip(order.manifest.scalar_names, order.scalars[0].tolist(), strict=True)),
        draws=Draws(order.manifest.seed, 1),
    )


class _Forms:
    """The forms of one workload on a device, each a call without arguments."""

    def __init__(self, workload: Workload, device: torch.device, threads: int) -> None:
        program, precision = workload.order.program, workload.order.manifest.precision
        self._interpreter, kernels = Interpreter(program, device), Kernels(device, threads)
        self._inputs = _inputs(workload, device)
        self.recording = RecordingRounder(program, precision, kernels)
        self._replaying = ReplayingRounder(program, precision, kernels)
        self.calls: dict[str, Callable[[], object]] = {
            "unrounded": lambda: self._interpreter.run(self._inputs),
            "recorded": self._record,
            "replayed": self._replay,
        }
        if device.type == "cpu":
            self.calls["eager float64"] = workload.eager(torch.float64)
            self.calls["eager float32"] = workload.eager(torch.float32)

    def _record(self) -> None:
        self.recording.begin_step(1)
        self._interpreter.run(self._inputs, rounder=self.recording)

    def _replay(self) -> None:
        self._replaying.follow(1, self.recording.logs)
        self._interpreter.run(self._inputs, rounder=self._replaying)


def measure(key: str, rounds: int, device: str = "cpu") -> Result:
    """Measure a workload.

    Args:
        key: Key of WORKLOADS.
        rounds: Rounds after the two that warm up; in each round every form runs once.
        device: Where to run.
    """
    threads = set_determinism()
    workload, torch_device = WORKLOADS[key](), torch.device(device)
    forms = _Forms(workload, torch_device, threads)
    times: dict[str, list[float]] = {name: [] for name in forms.calls}
    for round_number in range(rounds + 2):
        for name, run in forms.calls.items():
            _wait(torch_device)
            begun = time.perf_counter()
            run()
            _wait(torch_device)
            if round_number >= 2:
                times[name].append(time.perf_counter() - begun)

    def ratio(upper: str, lower: str) -> float:
        if lower not in times:
            return float("nan")
        return statistics.median(a / b for a, b in zip(times[upper], times[lower], strict=True))

    return Result(
        name=workload.name,
        seconds={name: statistics.median(values) for name, values in times.items()},
        recorded_ratio=ratio("recorded", "unrounded"),
        replayed_ratio=ratio("replayed", "unrounded"),
        eager64_ratio=ratio("recorded", "eager float64"),
        eager32_ratio=ratio("recorded", "eager float32"),
        values=sum(site.elements for site in workload.order.program.sites),
        entries=sum(len(site.indices) for site in forms.recording.logs),
        log_bytes=len(encode(forms.recording.logs)),
        memory={form: _peak_memory(key, form) for form in ("unrounded", "recorded")} if device == "cpu" else {},
        operators=len(workload.order.program.nodes),
    )


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def _peak_memory(key: str, form: str) -> int:
    """Peak memory in MiB of a fresh process that runs one form three times."""
    command = [sys.executable, "-c", f"from benchmarks.measure import run_alone; run_alone({key!r}, {form!r})"]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def run_alone(key: str, form: str) -> None:
    """Run one form three times and print this process's peak memory in MiB."""
    forms = _Forms(WORKLOADS[key](), torch.device("cpu"), set_determinism())
    for _ in range(3):
        forms.calls[form]()
    print(_peak_of_this_process())


def _peak_of_this_process() -> int:
    status = Path("/proc/self/status")
    if status.exists():
        # Not ru_maxrss: on Linux a child starts with its parent's.
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) // 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
