"""What a device does in what time: products, copies, steps in every form, kernels, their compiling and launches."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import tempfile
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from typing import Any

import torch
from torch import Tensor

from benchmarks.forms import Forms, wait
from benchmarks.gpu_jobs import FIRST, SMALL, Steps, small, threads_of
from benchmarks.measure import (
    LeftOutError,
    Values,
    seconds_of,
)
from benchmarks.workloads import (
    WORKLOADS,
    digits,
    dropped,
    public_gpt2,
    resnet50,
)
from counterfoil_core.arithmetic.compute.devices import memory_of
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.commit.state import CHUNK_BYTES
from counterfoil_core.kernels import devices
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.limits import sum_bits
from counterfoil_core.kernels.exact.products import matmul
from counterfoil_core.kernels.exact.refusals import Noted, note_refusals
from counterfoil_core.program.estimate import product_flops

# What the device is, and how fast it does products and copies.


def environment(options: Namespace, _name: str) -> Values:
    machine = open_machine(options.device, threads_of(options))
    device, side = machine.device, 256 if small(options) else 8192
    seconds = partial(_seconds, device=device)
    numbers = torch.randn(side, side, generator=torch.Generator().manual_seed(0)).to(device)
    factors = {
        str(dtype).removeprefix("torch."): numbers.to(dtype) for dtype in (torch.float64, torch.float32, torch.bfloat16)
    }
    rates = {name: 2 * side**3 / seconds(lambda factor=factor: factor @ factor) for name, factor in factors.items()}  # type: ignore[misc]
    bytes_ = torch.randint(-64, 64, (side, side), dtype=torch.int8).to(device)
    # The second factor lies column by column, as libraries want it.
    rates["int8"] = 2 * side**3 / seconds(lambda: torch._int_mm(bytes_, bytes_.t()))
    target = torch.empty_like(factors["float64"])
    return {
        "environment": dict(machine.environment), "driver": _driver(),
        "cuda": torch.version.cuda or "", "triton": _version("triton"), "memory": memory_of(device) or 0, "side": side,
        "operations_per_second": rates, "python": platform.python_version(),
        "bytes_copied_per_second": 2 * target.nbytes / seconds(lambda: target.copy_(factors["float64"])),
        "said": ", ".join(f"{name} {rate / 1e12:.3g}" for name, rate in rates.items()) + " TFLOP/s",
    }  # fmt: skip


def _seconds(call: Callable[[], object], device: torch.device) -> float:
    def waited() -> None:
        call()
        wait(device)

    return median(seconds_of(waited, _ROUNDS))


def _driver() -> str:
    """The version of the GPU's driver; empty where it does not say."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ""
    asked = [tool, "--query-gpu=driver_version", "--format=csv,noheader"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=30)
    return found.stdout.splitlines()[0].strip() if found.returncode == 0 and found.stdout.strip() else ""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


# What a step costs on the device, in every form: time, floating-point operations, memory, log.

EAGER, ROUNDED, EXACT = "eager", "float64-24", ("exact-20", "exact-13")
DTYPES = {"eager float32": torch.float32, "eager float64": torch.float64, "eager bfloat16": torch.bfloat16}
TF32 = "eager TensorFloat-32"
_WARM_UP, _ROUNDS = 2, 7
_SECONDS = 6.0
"""No further round of a form begins after so long."""
FULL: Steps = {
    "gpt2-124m": lambda: public_gpt2(8, 512),
    "resnet50-64": lambda: resnet50(64),
    "digits": digits,
    "resnet50-128": lambda: resnet50(128),
}


def step_costs(options: Namespace, name: str) -> Values:
    key, form = name.split(".", 1)
    workload = (SMALL if small(options) else FULL)[key]()
    machine = open_machine(options.device, threads_of(options))
    time_of, of = partial(time_form, device=machine.device), {"name": workload.name, "form": form}
    if form == EAGER:
        with ordinary_settings():
            forms = {name: time_of(workload.eager(dtype, machine.device)) for name, dtype in DTYPES.items()}
            with tensor_float():
                forms[TF32] = time_of(workload.eager(torch.float32, machine.device))
        return {**of, "forms": forms}
    order = workload.order(PROFILES[form])
    with machine.kernels() as kernels:
        made = Forms(order, machine, kernels)
        names = {"unrounded": "unrounded float64", "recorded": f"{form}, recorded", "replayed": f"{form}, replayed"}
        calls = {names[one]: call for one, call in made.calls.items() if form == ROUNDED or one != "unrounded"}
        made.record()
        forms = {name: time_of(call) for name, call in calls.items()}
        return {**of, "forms": forms, **made.counted, "flops": product_flops(order.program)}


def time_form(call: Callable[[], object], device: torch.device) -> Values:
    """Time a form: median and least seconds of its rounds, and the most memory of the device that it held."""
    times: list[float] = []
    ended = time.perf_counter() + _SECONDS
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats(device)
    while len(times) < _WARM_UP + _ROUNDS and not (len(times) > _WARM_UP and time.perf_counter() > ended):
        begun = time.perf_counter()
        call()
        wait(device)
        times.append(time.perf_counter() - begun)
    kept = times[_WARM_UP:]
    memory = torch.cuda.max_memory_allocated(device)
    return {"seconds": median(kept), "least": min(kept), "rounds": len(kept), "memory": memory}


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
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False


# The kernels by themselves: what they move in what time, what it takes to compile them, how many a step launches.

_ELEMENTS = 1 << 27
"""Of what each kernel passes over: far more than a device's caches hold."""


def bandwidth(options: Namespace, _name: str) -> Values:
    device, count = _with_triton(options), 512 if small(options) else _ELEMENTS
    side = 64 if small(options) else 4096
    seconds = partial(_seconds, device=device)
    source = torch.randn(count, dtype=torch.float64, device=device)
    target = torch.empty_like(source)
    copied = 2 * source.nbytes / seconds(lambda: target.copy_(source))
    with note_refusals(Noted()):
        passes = {
            name: {"bytes": moved, "seconds": seconds(call)} for name, (moved, call) in kernel_passes(source).items()
        }
        left, right = (torch.randn(side, side, device=device) for _ in range(2))
        products = {
            f"exact-{bits}": {"form": form.value, "seconds": seconds(lambda b=bits, f=form: matmul(left, right, b, f))}  # type: ignore[misc]
            for bits in (13, 20)
            for form in [Profile.on(device, bits).matrices]
        }
    said = f"{len(passes)} kernels, {len(products)} products"
    return {"copied": copied, "passes": passes, "products": products, "side": side, "elements": count, "said": said}


def _with_triton(options: Namespace) -> torch.device:
    device = open_machine(options.device, threads_of(options)).device
    if not devices.triton_reaches(device):
        raise LeftOutError("Triton's kernels do not run there.")
    return device


def kernel_passes(source: Tensor) -> dict[str, tuple[int, Callable[[], object]]]:
    """Return a pass of each kernel over a tensor's elements: the bytes that it has to read and write, and the call.

    Args:
        source: float64 ``[n]``, n a multiple of 8.
    """
    # Not every machine has Triton.
    from counterfoil_core.kernels.cuda import exact, philox, rounding, sha256

    count, device = source.numel(), source.device
    wide, single = source.clone(), source.to(torch.float32)
    slot, cursor = (torch.zeros(n, dtype=torch.int64, device=device) for n in (rounding.SLOTS, 1))
    entries, flag = (
        torch.empty(1024, dtype=torch.int64, device=device),
        torch.zeros(1, dtype=torch.int32, device=device),
    )
    whole, passes = (1, 1, 1, count), rounding.Pass(24)
    top = exact.largest(single, whole)
    return {
        "round, float64": (16 * count, lambda: passes.round(wide, slot, entries, cursor)),
        "round, float32": (8 * count, lambda: passes.round(single, slot, entries, cursor)),
        "fingerprint, float64": (8 * count, lambda: passes.fingerprint(source, slot)),
        "largest magnitude": (4 * count, lambda: exact.largest(single, whole)),
        "quantise": (12 * count, lambda: exact.quantise(single, whole, top, 20, flag)),
        "sum, with its largest magnitude": (8 * count, lambda: exact.total(single, whole, sum_bits(count), flag)),
        "bracket": (12 * count, lambda: exact.bracket(source, 2.0**-50, 1024)),
        "random words": (8 * count, lambda: philox.words(range(count // 4), (1, 2), 1, 0, device, 8)),
        "SHA-256 of chunks": (count, lambda: sha256.leaf_hashes([source[: count // 8]], CHUNK_BYTES)),
    }


def compiling(options: Namespace, _name: str) -> Values:
    """Compile what the passes above and a step of each arithmetic ask for, with nothing kept of earlier runs."""
    import triton

    met: dict[str, list[float]] = {}

    def listen(*, metadata: Mapping[str, Any], times: Any, **_: Any) -> None:
        taken = times.ir_initialization + sum(each for _, each in times.lowering_stages) + times.store_results
        met.setdefault(metadata["name"], []).append(taken / 1e6)

    with tempfile.TemporaryDirectory() as folder, triton.knobs.cache.scope(), triton.knobs.compilation.scope():
        triton.knobs.cache.dir, triton.knobs.compilation.listener = folder, listen
        device = _with_triton(options)
        with note_refusals(Noted()):
            for _, call in kernel_passes(torch.randn(512, dtype=torch.float64, device=device)).values():
                call()
        steps = {form: _first_and_second(options, form) for form in FIRST}
    kernels = {name: {"variants": len(each), "seconds": sum(each), "most": max(each)} for name, each in met.items()}
    return {"kernels": kernels, "steps": steps, "said": f"{sum(map(len, met.values()))} variants compiled"}


def _first_and_second(options: Namespace, form: str) -> Values:
    machine, workload = open_machine(options.device, threads_of(options)), (dropped(4) if small(options) else digits())
    order = workload.order(PROFILES[form])
    with machine.kernels() as kernels:
        made, times = Forms(order, machine, kernels), []
        for _ in range(2):
            begun = time.perf_counter()
            made.record()
            times.append(time.perf_counter() - begun)
    return {"first": times[0], "second": times[1]}


COUNTED: Steps = {"digits": digits, "gpt2": WORKLOADS["gpt2"]}


def launches(options: Namespace, name: str) -> Values:
    key, form = name.split(".", 1)
    workload = (SMALL if small(options) else COUNTED)[key]()
    machine, order = open_machine(options.device, threads_of(options)), workload.order(PROFILES[form])
    with machine.kernels() as kernels:
        made = Forms(order, machine, kernels)
        made.record()
        made.replay()
        found = {what: launches_of(call) for what, call in (("recorded", made.record), ("replayed", made.replay))}
    said = ", ".join(f"{what}: {sum(each.values())}" for what, each in found.items())
    return {"name": workload.name, "form": form, "operators": len(order.program.nodes), "launches": found, "said": said}


def launches_of(call: Callable[[], object]) -> dict[str, int]:
    """Return what a call has a device do, by torch's profiler: kernels of ours, of libraries, and copies."""
    with torch.profiler.profile() as profile:
        call()
    events = profile.events() or []
    found = Counter(kind_of_launch(event.name) for event in events if event.device_type.name == "CUDA")
    return {kind: found[kind] for kind in ("ours", "libraries", "copies")}


def kind_of_launch(name: str) -> str:
    """Whose a launch is: names of Triton's kernels are those of our functions, which begin with an underscore."""
    if name.startswith(("Memcpy", "Memset")):
        return "copies"
    return "ours" if re.fullmatch(r"_[a-z][a-z0-9]*(_[a-z0-9]+)*", name) else "libraries"
