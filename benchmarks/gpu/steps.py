"""What a step costs on the device, in every form: time, floating-point operations, memory, log."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from benchmarks.campaign.task import Found, Task
from benchmarks.forms import Forms, wait
from benchmarks.gpu.part import Part
from benchmarks.gpu.settings import Settings
from benchmarks.workloads import Workload, digits, public_gpt2, resnet50
from counterfoil.training.recipes.gpt2 import Gpt2Size
from counterfoil.training.recipes.resnet import Bottleneck, ResNetLayout
from counterfoil_core.arithmetic.grid.log import encode
from counterfoil_core.arithmetic.machine import Machine, open_machine
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.program.estimate import product_flops

NAME = "steps"
EAGER = "eager"
ROUNDED = "float64-24"
EXACT = ("exact-20", "exact-13")
DTYPES = {
    "eager float32": torch.float32,
    "eager float64": torch.float64,
    "eager bfloat16": torch.bfloat16,
}
TF32 = "eager TensorFloat-32"
_WARM_UP = 2
_ROUNDS = 7
_SECONDS = 6.0
"""No further round of a form begins after so long."""
_SMALL_GPT2 = Gpt2Size(layers=2, heads=2, width=32, context=16, vocabulary=64)

Steps = Mapping[str, Callable[[], Workload]]
_FULL: Steps = {
    "gpt2-124m": lambda: public_gpt2(8, 512),
    "resnet50-64": lambda: resnet50(64),
    "digits": digits,
    "resnet50-128": lambda: resnet50(128),
}
_SMALL: Steps = {
    "digits": digits,
    "gpt2-small": lambda: public_gpt2(2, 16, _SMALL_GPT2),
    "resnet-small": lambda: resnet50(2, 64, ResNetLayout(Bottleneck, (1, 1, 1, 1), 4), 10),
}


def workloads(settings: Settings) -> Steps:
    """The steps that are measured, by name."""
    return _SMALL if settings.small else _FULL


def _tasks(settings: Settings) -> list[Task]:
    names = list(workloads(settings))
    forms = (ROUNDED, EAGER, *EXACT)
    pairs = [(name, form) for form in forms for name in names[:-1]] + [(names[-1], form) for form in forms]
    return [Task(NAME, f"{name}.{form}", 20 if form == EAGER else 45, 300, alone=True) for name, form in pairs]


def _do(settings: Settings, name: str) -> Found:
    key, form = name.split(".", 1)
    workload = workloads(settings)[key]()
    machine = open_machine(settings.device, settings.all_threads)
    values: dict[str, Any] = {"name": workload.name, "form": form}
    if form == EAGER:
        values["forms"] = _eager(workload, machine)
    else:
        values |= _ordered(workload, machine, form)
    said = ", ".join(f"{name} {1e3 * one['seconds']:.4g} ms" for name, one in values["forms"].items())
    return Found(said, values)


def _eager(workload: Workload, machine: Machine) -> dict[str, Any]:
    """Ordinary training with torch's own settings; TensorFloat-32 where there is some."""
    found = {}
    with ordinary_settings():
        for name, dtype in DTYPES.items():
            found[name] = measured(workload.eager(dtype, machine.device), machine.device)
        if machine.device.type == "cuda":
            with tensor_float():
                found[TF32] = measured(workload.eager(torch.float32, machine.device), machine.device)
    return found


def _ordered(workload: Workload, machine: Machine, profile: str) -> dict[str, Any]:
    order = workload.order(PROFILES[profile])
    with machine.kernels() as kernels:
        forms = Forms(order, machine, kernels)
        calls: dict[str, Callable[[], object]] = {
            f"{profile}, recorded": forms.record,
            f"{profile}, replayed": forms.replay,
        }
        if profile == ROUNDED:
            calls = {"unrounded float64": forms.run, **calls}
        timed = {name: measured(call, machine.device) for name, call in calls.items()}
        logs = forms.logs
    return {
        "forms": timed,
        "operators": len(order.program.nodes),
        "values": sum(site.elements for site in order.program.sites),
        "entries": sum(len(site.indices) for site in logs),
        "log_bytes": len(encode(logs)) if logs else 0,
        "flops": product_flops(order.program),
        "parameters": sum(array.size for name, array in order.initial.items() if ":" not in name),
    }


def measured(call: Callable[[], object], device: torch.device) -> dict[str, Any]:
    """Time a form: median, least and all seconds of its rounds; on CUDA the most memory that it held."""
    times: list[float] = []
    ended = time.perf_counter() + _SECONDS
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
    while len(times) < _WARM_UP + _ROUNDS:
        begun = time.perf_counter()
        call()
        wait(device)
        times.append(time.perf_counter() - begun)
        if len(times) > _WARM_UP and time.perf_counter() > ended:
            break
    kept = times[_WARM_UP:]
    return {
        "seconds": statistics.median(kept),
        "least": min(kept),
        "rounds": len(kept),
        "memory": torch.cuda.max_memory_allocated(device) if device.type == "cuda" else None,
    }


@contextmanager
def ordinary_settings() -> Iterator[None]:
    """Let torch choose its algorithms as it does unless told otherwise; float32 products without TensorFloat-32."""
    warns = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(False)
    torch.backends.cudnn.deterministic = False
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(True, warn_only=warns)
        torch.backends.cudnn.deterministic = True


@contextmanager
def tensor_float() -> Iterator[None]:
    """Let float32 products be computed with TensorFloat-32."""
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False


STEPS = Part(NAME, "what a step costs in every form", _tasks, _do)
