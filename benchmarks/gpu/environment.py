"""What the device is, and how fast it does products and copies."""

from __future__ import annotations

import platform
import shutil
import statistics
import subprocess
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

import torch

from benchmarks.campaign.task import Found, Task
from benchmarks.forms import wait
from benchmarks.gpu.part import Part
from benchmarks.gpu.settings import Settings
from benchmarks.pages import machine_name
from benchmarks.timing import seconds_of
from counterfoil_core.arithmetic.compute.devices import memory_of
from counterfoil_core.arithmetic.machine import open_machine

NAME = "environment"
_ROUNDS = 5


def _tasks(_settings: Settings) -> list[Task]:
    return [Task(NAME, "machine", 15, 90, alone=True)]


def _do(settings: Settings, _name: str) -> Found:
    machine = open_machine(settings.device, settings.all_threads)
    device, side = machine.device, 256 if settings.small else 8192
    rates = {name: 2 * side**3 / _seconds(call, device) for name, call in _products(device, side).items()}
    source = torch.zeros(side * side, dtype=torch.float64, device=device)
    target = torch.empty_like(source)
    copied = 2 * source.nbytes / _seconds(lambda: target.copy_(source), device)
    values = {
        "environment": dict(machine.environment),
        "driver": _driver() if settings.on_gpu else "",
        "cuda": torch.version.cuda or "",
        "triton": _triton(),
        "memory": memory_of(device) or 0,
        "side": side,
        "operations_per_second": rates,
        "bytes_copied_per_second": copied,
        "python": platform.python_version(),
    }
    fastest = ", ".join(f"{name} {rate / 1e12:.3g}" for name, rate in rates.items())
    return Found(f"{machine_name(settings.device)}: {fastest} TFLOP/s", values)


def _products(device: torch.device, side: int) -> dict[str, Callable[[], object]]:
    """Matrix products by name; float32 without TensorFloat-32."""
    calls: dict[str, Callable[[], object]] = {}
    generator = torch.Generator().manual_seed(0)
    numbers = torch.randn(side, side, generator=generator).to(device)
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        factor = numbers.to(dtype)
        calls[str(dtype).removeprefix("torch.")] = lambda factor=factor: factor @ factor  # type: ignore[misc]
    small = torch.randint(-64, 64, (side, side), generator=generator, dtype=torch.int8).to(device)
    # The second factor lies column by column, as libraries want it.
    calls["int8"] = lambda: torch._int_mm(small, small.t())
    return calls


def _seconds(call: Callable[[], object], device: torch.device) -> float:
    """Median seconds of a call, after one that warms up."""

    def waited() -> None:
        call()
        wait(device)

    return statistics.median(seconds_of(waited, _ROUNDS))


def _driver() -> str:
    """The version of the GPU's driver; empty where it does not say."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ""
    asked = [tool, "--query-gpu=driver_version", "--format=csv,noheader"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=30)
    return done.stdout.splitlines()[0].strip() if done.returncode == 0 and done.stdout.strip() else ""


def _triton() -> str:
    """The version of Triton; empty where there is none."""
    try:
        return version("triton")
    except PackageNotFoundError:
        return ""


ENVIRONMENT = Part(NAME, "what the device is, and how fast it does products", _tasks, _do)
