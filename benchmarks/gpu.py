"""All that is to be known of a GPU, on one page: who agrees, who is accused, what a step costs.

Stopped, or out of time, the same command goes on. Each part is there to be asked for: the most valuable comes first,
since a machine that is lent for minutes is not to end with the best part undone. Where what was opened is no CUDA
device (``python -m tests.ptx.rehearsal`` imitates one), all of it is tried at small sizes, and the page has no figures.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.cross_hardware import CROSS_HARDWARE, MEASURED, Training, rows_of
from benchmarks.cross_pages import is_exact
from benchmarks.forms import Forms, wait
from benchmarks.gpu_page import pages
from benchmarks.honest_jobs import JOBS, ORDERS
from benchmarks.imitations import IMITATIONS
from benchmarks.measure import (
    ROOT,
    Benchmark,
    Cell,
    LeftOutError,
    Store,
    Values,
    argument,
    run_command,
    seconds_of,
    slug,
    some_of,
)
from benchmarks.pages import machine_name
from benchmarks.replays import Machine, is_clean, record_honestly, replay
from benchmarks.sessions import audit, key_in, root_of
from benchmarks.workloads import (
    WORKLOADS,
    Workload,
    digits,
    dropped,
    gpt2_of_size,
    public_gpt2,
    resnet50,
    thin_filters,
)
from counterfoil.talk.programs import program_command
from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes.gpt2 import Gpt2Size
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import RecordFinished
from counterfoil_core.arithmetic.compute.devices import memory_of, open_device
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.errors import DeviceError, ObstacleError
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.base.sentence import say
from counterfoil_core.commit.state import CHUNK_BYTES
from counterfoil_core.kernels import devices
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.limits import sum_bits
from counterfoil_core.kernels.exact.products import matmul
from counterfoil_core.kernels.exact.refusals import Noted, note_refusals
from counterfoil_core.kernels.result import Counts
from counterfoil_core.program.estimate import product_flops
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.report import AuditReport
from counterfoil_core.values.request import AuditRequest

HOST = "cpu"
"""The CPU's name in the campaign."""


def small(options: Namespace) -> bool:
    """Whether the jobs are small: a rehearsal without a GPU shows that the parts work, and says nothing of speed."""
    try:
        return open_device(options.device).type != "cuda"
    except DeviceError:  # results of another machine are shown here
        return False


def _threads(options: Namespace) -> int:
    """Threads for what has the machine to itself."""
    return options.threads or os.cpu_count() or 1


# What the device is, and how fast it does products and copies.


def _environment(options: Namespace, _name: str) -> Values:
    machine = open_machine(options.device, _threads(options))
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


# Whole runs, recorded on the CPU and replayed on the device, and the reverse.

FIRST = ("float64-24", "exact-20")
"""Profiles whose jobs come before all others."""
_GOLDEN = ("digits", "gpt2", "exact")
_SMALL_JOBS = {"logistic": FIRST}


def device_name(options: Namespace) -> str:
    """The device's name in the campaign: what it is called, as a part of a file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", machine_name(options.device)).strip("-.")[:60]


def _crossed(options: Namespace) -> dict[str, tuple[str, str]]:
    """Jobs and profiles by the name of their cell, the most valuable first."""
    if small(options):
        pairs = [(job, profile) for job, profiles in _SMALL_JOBS.items() for profile in profiles]
    else:
        rest = [profile for profile in MEASURED if profile not in FIRST]
        pairs = [(job, profile) for profile in (*FIRST, *rest) for job in ORDERS]
    return {Training(*pair).order_name: pair for pair in pairs}


def _crossing(options: Namespace, name: str) -> Values:
    """Record a job on CPU and device, and audit each other's run; or a golden run of the tests."""
    folder = options.out / "campaign"
    if name == "key":
        folder.mkdir(parents=True, exist_ok=True)
        key_in(folder)  # before several processes need it
        return {}
    if name.startswith("golden-"):
        return _golden(options, name.removeprefix("golden-"))
    job, profile = _crossed(options)[name]
    of = ["--jobs", job, "--profiles", profile, "--out", str(folder)]
    ordered = CROSS_HARDWARE.in_process(["order", *of])[f"ordered/{name}"]
    if refused := ordered.values["refused"]:
        raise LeftOutError(f"It cannot be ordered: {refused}")
    for machine, device in ((HOST, "cpu"), (device_name(options), options.device), (HOST, "cpu")):
        about = machine_name(device)
        CROSS_HARDWARE.in_process(["work", "--machine", machine, "--about", about, "--device", device, *of])
    rows = [row for row in rows_of(folder / "results") if (row.get("job"), row.get("profile")) == (job, profile)]
    replays = [row for row in rows if row["kind"] == "replayed"]
    roots = [
        {row["run_root"] for row in rows if row["kind"] == "recorded" and row["tampered"] == lies}
        for lies in (False, True)
    ]
    strange = [
        f"{job}, {profile}, recorded on {one['recorder']}, replayed on {one['machine']}: {one['outcome']}, "
        f"{one['contradictions']} contradictions, {one['omissions']} omissions"
        for one in replays
        if not one["expected"]
    ]
    if is_exact(profile) and max(map(len, roots)) > 1:
        strange.append(f"{job}, {profile}: the run roots of CPU and device differ")
    right, equal = sum(one["expected"] for one in replays), len(roots[0]) == 1
    said = f"run roots {'equal' if equal else 'differ'}; {right} of {len(replays)} audits as they should be"
    return {"equal": equal, "said": said, "strange": strange}


def _golden(options: Namespace, name: str) -> Values:
    """Replay a golden run on the device; record its order there, and replay that on the CPU."""
    stored = ROOT / "tests" / "engine" / "golden"
    expected = json.loads((stored / "golden.json").read_text(encoding="utf-8"))[name]
    order, run, made = (
        stored / f"{name}.job.cfoil",
        stored / f"{name}.run.cfoil",
        options.out / "golden" / f"{name}.cfoil",
    )
    made.parent.mkdir(parents=True, exist_ok=True)
    there = audit(AuditRequest(run, order, device=options.device, threads=1)).report
    *_, last = record(order, made, key_in(made.parent, f"{name}.pem"), device=options.device, threads=1, fresh=True)
    assert isinstance(last, RecordFinished)
    back = audit(AuditRequest(made, order, threads=1)).report
    equal, strange = last.run_root.hex == expected["run_root"], []
    for report, where in ((there, "the device"), (back, "the CPU")):
        if report.outcome is not Outcome.VERIFIED or report.contradictions or report.omissions:
            strange.append(f"golden run {name} on {where}: {report.outcome.value}, {report.reason}")
    if name == "exact" and not equal:
        strange.append("golden run exact: recorded on the device it has another run root")

    def counts(report: AuditReport) -> Values:
        return {"outcome": report.outcome.value, "corrections": report.corrections}

    said = f"{there.outcome.value} there, {back.outcome.value} back, run root {'equal' if equal else 'another'}"
    return {"equal": equal, "there": counts(there), "back": counts(back), "said": said, "strange": strange}


# What a step costs on the device, in every form: time, floating-point operations, memory, log.

EAGER, ROUNDED, EXACT = "eager", "float64-24", ("exact-20", "exact-13")
DTYPES = {"eager float32": torch.float32, "eager float64": torch.float64, "eager bfloat16": torch.bfloat16}
TF32 = "eager TensorFloat-32"
_WARM_UP, _ROUNDS = 2, 7
_SECONDS = 6.0
"""No further round of a form begins after so long."""
Steps = Mapping[str, Callable[[], Workload]]
_FULL: Steps = {
    "gpt2-124m": lambda: public_gpt2(8, 512),
    "resnet50-64": lambda: resnet50(64),
    "digits": digits,
    "resnet50-128": lambda: resnet50(128),
}
_SMALL: Steps = {
    "thin-filters": lambda: thin_filters(2),
    "dropout": lambda: dropped(4),
    "attention": lambda: gpt2_of_size(Gpt2Size(layers=1, heads=1, width=8, context=4), 1),
}


def _steps(options: Namespace, name: str) -> Values:
    key, form = name.split(".", 1)
    workload = (_SMALL if small(options) else _FULL)[key]()
    machine = open_machine(options.device, _threads(options))
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


# Larger steps, recorded on the CPU and replayed on the device, and the reverse, with controls. The jobs above are so
# small that hardly a decision is close. Here the log is needed, so that it can be taken away.

_LARGE: Steps = {
    **{name: WORKLOADS[name] for name in ("wide-gpt2", "wide-cnn", "digits")},
    "thin-filters": lambda: thin_filters(32),
    "dropout": lambda: dropped(512),
    "attention": lambda: gpt2_of_size(Gpt2Size(layers=1, heads=4, width=256, context=512), 2),
    "gpt2-124m": lambda: public_gpt2(8, 64),
}


def _larger(options: Namespace, name: str) -> Values:
    key, profile = name.split(".", 1)
    workload = (_SMALL if small(options) else _LARGE)[key]()
    draft = workload.order(PROFILES[profile])
    with ExitStack() as stack:

        def forms(device: str, order: OrderDraft) -> Forms:
            machine = open_machine(device, min(4, _threads(options)))
            return Forms(order, machine, stack.enter_context(machine.kernels()))

        host, device = forms("cpu", draft), forms(options.device, draft)
        roots = [root_of(one.record().state).hex for one in (host, device)]
        there, back = across(host, device), across(device, host)
        flipped = root_of(forms(options.device, with_a_bit_flipped(draft)).record().state).hex
        same = bool(np.array_equal(host.fingerprints[0], device.fingerprints[0]))
        values: Values = {
            "name": workload.name, "profile": profile, "values": sum(site.elements for site in draft.program.sites),
            "recorded_equal": roots[0] == roots[1] and same, "there": there, "back": back,
            "bit_flipped_equal": flipped == roots[1],
        }  # fmt: skip
    corrections = " and ".join(str(values[way]["corrections"]) for way in ("there", "back"))
    both = "equal" if there["equal"] and back["equal"] else "DIFFERENT"
    return {**values, "said": f"{both} both ways, {corrections} corrections", "strange": strange_larger(values)}


def across(trainer: Forms, auditor: Forms) -> dict[str, Any]:
    """Replay what one recorded on the other, following its log, none, and one with a direction reversed."""

    def follow(logs: Sequence[SiteLog]) -> bool:
        """Whether every value is the trainer's."""
        auditor.replay(logs=logs)
        return bool(np.array_equal(auditor.fingerprints[1], trainer.fingerprints[0]))

    logs = trainer.logs
    equal, counts = follow(logs), sum(auditor.counts, Counts())
    none = np.empty(0, np.int64), np.empty(0, np.bool_)
    # The scales alone: each value goes to the nearest grid point of this machine.
    without = follow([SiteLog(site.exponent, *none) for site in logs]) if logs else None
    turned = with_a_direction_reversed(logs)
    return {
        "equal": equal, "entries": sum(len(site.indices) for site in logs), "corrections": counts.corrections,
        "contradictions": counts.contradictions, "omissions": counts.omissions, "without_log_equal": without,
        "reversed_equal": None if turned is None else follow(turned),
    }  # fmt: skip


def with_a_direction_reversed(logs: Sequence[SiteLog]) -> tuple[SiteLog, ...] | None:
    """Return logs whose first entry says the other direction; None where there is no entry."""
    place = next((place for place, site in enumerate(logs) if len(site.indices)), None)
    if place is None:
        return None
    ups = logs[place].ups.copy()
    ups[0] = not ups[0]
    return (*logs[:place], replace(logs[place], ups=ups), *logs[place + 1 :])


def with_a_bit_flipped(order: OrderDraft) -> OrderDraft:
    """Return an order that starts from a state with the last bit of one weight flipped, under the same name."""
    name = next(name for name, array in order.initial.items() if array.dtype == np.float32 and array.any())
    array = order.initial[name].copy()
    flat = array.reshape(-1).view(np.uint32)
    flat[int(np.flatnonzero(flat)[0])] ^= 1
    return replace(order, initial={**order.initial, name: array})


def strange_larger(values: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each replay, and each control, that did not end as it must."""
    found, name = [], f"{values['name']}, {values['profile']}"
    for way, where in (("there", "CPU to device"), ("back", "device to CPU")):
        one = values[way]
        if not one["equal"] or one["contradictions"] or one["omissions"]:
            found.append(f"{name}, {where}: the replay is not the recorded step, or doubts it")
        if one["reversed_equal"]:
            found.append(f"{name}, {where}: a log with a direction reversed gives the same values")
        if one["corrections"] and one["without_log_equal"]:
            found.append(f"{name}, {where}: the log decides nothing, though values were corrected")
    if is_exact(values["profile"]) and not values["recorded_equal"]:
        found.append(f"{name}: CPU and device record different steps")
    if values["bit_flipped_equal"]:
        found.append(f"{name}: a flipped bit of the state changes nothing")
    return found


# The tests that need a GPU, from the source tree: those of kernels first, then whatever else has pytest's mark.

_INI = """\
[pytest]
addopts = --import-mode=importlib -p no:cacheprovider
markers =
    drawn: as in pyproject.toml
    every_moment: as there
    gpu: needs a CUDA device
    often: as there
    own_process: as there
    ptx: as there
    sampled: as there
    slow: takes long
    xvfb: needs an X server
pythonpath = {root}/tests {root}
"""
"""Not the tree's own settings, which want plugins for the window."""
MARK = "gpu"
"""Which tests run."""
_ENGINE = "tests/engine"
TESTS: Mapping[str, Sequence[str]] = {
    "rounding": (f"{_ENGINE}/kernels/test_rounding_triton.py", f"{_ENGINE}/kernels/test_rounding.py"),
    "rules": (f"{_ENGINE}/kernels/test_rules.py",),
    "exact": (f"{_ENGINE}/kernels/test_exact_triton.py",),
    "ahead": (f"{_ENGINE}/arithmetic/grid/test_rounder_ahead.py", f"{_ENGINE}/audit/test_ahead.py"),
    "hashing": (f"{_ENGINE}/commit/test_statedigest.py",),
    "others": (_ENGINE, "tests/attacks"),
}
"""Files or folders by kind; of the last one those that belong to no other."""
OTHERS = "others"


def _tests(options: Namespace, name: str) -> Values:
    if find_spec("pytest") is None:
        raise LeftOutError("pytest is not installed.")
    paths = [str(ROOT / path) for path in TESTS[name]]
    if name == OTHERS:
        paths += [f"--ignore={ROOT / path}" for kind, each in TESTS.items() if kind != OTHERS for path in each]
    with tempfile.TemporaryDirectory() as folder:
        ini, report = Path(folder) / "pytest.ini", Path(folder) / "report.xml"
        ini.write_text(_INI.format(root=ROOT), encoding="utf-8")
        words = [sys.executable, "-m", "pytest", "-q", "-m", MARK, "-c", str(ini), "--rootdir", str(ROOT)]
        words += ["-n", "2"] if find_spec("xdist") is not None and not small(options) else []
        path = os.pathsep.join(filter(None, [*sys.path, os.environ.get("PYTHONPATH", "")]))
        variables = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        words += [f"--junitxml={report}", *paths]
        ended = subprocess.run(words, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
        if not report.exists():
            raise RuntimeError(f"pytest ended with {ended.returncode}:\n{ended.stdout[-2000:]}\n{ended.stderr[-2000:]}")
        cases = [(case.get("name", ""), _outcome(case)) for case in ET.parse(report).getroot().iter("testcase")]
    return {**tested(name, cases), "output": ended.stdout[-6000:] if ended.returncode else ""}


def tested(kind: str, cases: Sequence[tuple[str, str]]) -> Values:
    """Count how tests of a kind ended, by name; one that failed is strange, and a kind of which nothing ran."""
    counts = Counter(outcome for _, outcome in cases)
    said = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "no test"
    strange = [f"test {name} of {kind} failed" for name, outcome in cases if outcome in ("failed", "error")]
    if not counts["passed"]:
        strange.append(f"no test of {kind} ran on the device")
    return {"counts": dict(counts), "said": said, "strange": strange}


def _outcome(case: ET.Element) -> str:
    words = {"failure": "failed", "error": "error", "skipped": "skipped"}
    return next((word for tag, word in words.items() if case.find(tag) is not None), "passed")


# Honest runs on the device: nobody may be accused, whether the device is the trainer's or the auditor's.

_TRAINERS = {"cpu": None, "device": None, "imitated": IMITATIONS[-1]}
"""Who records, by the name in cells: the CPU, the device, the CPU as an imitated machine."""


def _accused(options: Namespace) -> dict[str, tuple[str, str]]:
    jobs = ("logistic, calibrated margins",) if small(options) else tuple(JOBS)
    return {f"{slug(job)}.{trainer}": (job, trainer) for trainer in _TRAINERS for job in jobs}


def _accusations(options: Namespace, name: str) -> Values:
    job, trainer = _accused(options)[name]
    imitated = ("reversed+jitter", IMITATIONS[-1])
    auditors = [Machine("device", device=options.device)]
    auditors += [Machine(f"device, {each}", each, device=options.device) for each in imitated]
    auditors += [Machine("cpu")] if trainer == "device" else []
    with tempfile.TemporaryDirectory() as folder:
        device = options.device if trainer == "device" else "cpu"
        files = record_honestly(Path(folder), job, 2 if small(options) else 4, _TRAINERS[trainer], device)
        found = [replay(job, *files, auditor) for auditor in auditors]
    strange = [
        f"{job}, recorded by {trainer}, on {one['machine']}: {one['outcome']}" for one in found if not is_clean(one)
    ]
    said = f"{sum(map(is_clean, found))} of {len(found)} replays clean"
    return {"replays": [{**one, "trainer": trainer} for one in found], "said": said, "strange": strange}


# A whole fine-tuning, from the order to the delivered weights: the example of the source tree.


def _fine_tuning(options: Namespace, _name: str) -> Values:
    if missing := [name for name in ("transformers", "tokenizers", "safetensors") if find_spec(name) is None]:
        raise LeftOutError(f"It needs {' and '.join(missing)}, not installed here.")
    folder = options.out / "fine-tuning"
    folder.mkdir(parents=True, exist_ok=True)
    figures, script = folder / "figures.json", ROOT / "examples" / "fine_tuning.py"
    more = ["--small=--steps 5 --layers 1 --width 32", "--order=--steps 3"] if small(options) else []
    words = [sys.executable, "-P", str(script), "--folder", str(folder), "--device", options.device, *more]
    run_command([*words, "--json", str(figures)])
    audit = program_command("counterfoil.cli", "audit", str(folder / "tuned.cfoil"))
    on_cpu = run_command([*audit, "--order", str(folder / "tune.cfoil"), "--device", "cpu"])
    verdict = next((line for line in on_cpu.said.splitlines() if line.startswith("VERIFIED")), "")
    values = json.loads(figures.read_text(encoding="utf-8"))
    strange = [] if verdict else ["the fine-tuning of the device is not VERIFIED on the CPU"]
    said = f"trained and audited on the device; on the CPU: {verdict or 'not VERIFIED'}"
    return {**values, "cpu_audit_seconds": on_cpu.seconds, "cpu_audit": verdict, "said": said, "strange": strange}


# The kernels by themselves: what they move in what time, what it takes to compile them, how many a step launches.

_ELEMENTS = 1 << 27
"""Of what each kernel passes over: far more than a device's caches hold."""


def _bandwidth(options: Namespace, _name: str) -> Values:
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
    device = open_machine(options.device, _threads(options)).device
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


def _compiling(options: Namespace, _name: str) -> Values:
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
    machine, workload = open_machine(options.device, _threads(options)), (dropped(4) if small(options) else digits())
    order = workload.order(PROFILES[form])
    with machine.kernels() as kernels:
        made, times = Forms(order, machine, kernels), []
        for _ in range(2):
            begun = time.perf_counter()
            made.record()
            times.append(time.perf_counter() - begun)
    return {"first": times[0], "second": times[1]}


_COUNTED: Steps = {"digits": digits, "gpt2": WORKLOADS["gpt2"]}


def _launches(options: Namespace, name: str) -> Values:
    key, form = name.split(".", 1)
    workload = (_SMALL if small(options) else _COUNTED)[key]()
    machine, order = open_machine(options.device, _threads(options)), workload.order(PROFILES[form])
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


# A job too large for the device ends in a sentence with its remedy, and the device works afterwards.


def _out_of_memory(options: Namespace, form: str) -> Values:
    machine, job = open_machine(options.device, 1), f"{'logistic' if small(options) else 'digits-cnn'}, {form}"
    with tempfile.TemporaryDirectory() as name:
        order, run = record_honestly(Path(name), job, 2)
        request = AuditRequest(run, order, device=options.device, threads=1)

        def recording() -> None:
            for _ in record(order, Path(name) / "again.cfoil", key_in(Path(name)), device=options.device, fresh=True):
                pass

        # Twice what the device has, of a step that has nothing else.
        needed = partial(machine.check_memory, [digits().order(PROFILES[form]).program], PROFILES[form])
        said = {"an order": _obstacle(lambda: needed(2 * (memory_of(machine.device) or 0)))}
        torch.cuda.empty_cache()
        # As if others had all of the device.
        torch.cuda.set_per_process_memory_fraction(1e-9, machine.device)
        try:
            said["a recording"] = _obstacle(recording)
            report = audit(request).report
            said["an audit"] = (
                f"{report.outcome.value}: {report.reason}" if report.outcome is Outcome.INCONCLUSIVE else ""
            )
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0, machine.device)
        recording()
        works = audit(request).report.outcome is Outcome.VERIFIED
    strange = strange_memory(said, works)
    return {"form": form, "ended": said, "works": works, "said": "; ".join(said.values()), "strange": strange}


def _obstacle(call: Callable[[], object]) -> str:
    """What a call that finds no memory says, with its remedy; empty if it ends otherwise."""
    try:
        call()
    except ObstacleError as error:
        return f"{error.sentence} {error.remedy}" if error.remedy else ""
    return ""


def strange_memory(said: Mapping[str, str], works: bool) -> list[str]:
    """Return a sentence for each shortage without a remedy, and for a device that computes otherwise afterwards."""
    end = "that finds no memory on the device does not end in a sentence with its remedy"
    found = [f"{what} {end}" for what, sentence in said.items() if not sentence]
    return found if works else [*found, "after a shortage of memory the device computes otherwise"]


# The whole.


@dataclass(frozen=True)
class Part:
    """A part of the whole: its cells take a measure each."""

    measure: Callable[[Namespace, str], Values]  #: Takes one.
    seconds: float  #: What a cell is expected to take on an H100 beside 16 cores.
    limit: float  #: Seconds after which it is ended.
    alone: bool = False  #: Whether nothing may run beside it.
    fresh: bool = False  #: Whether it needs a process of its own.


PARTS: Mapping[str, Part] = {
    "environment": Part(_environment, 12, 90, alone=True),
    "tests": Part(_tests, 90, 400),
    "crossing": Part(_crossing, 20, 180),
    "accusations": Part(_accusations, 12, 240),
    # Without memory Triton's kernels give no known answer when a device is opened, and are left out in that process.
    "memory": Part(_out_of_memory, 8, 90, alone=True, fresh=True),
    "bandwidth": Part(_bandwidth, 15, 120, alone=True),
    "steps": Part(_steps, 13, 300, alone=True),
    "launches": Part(_launches, 6, 120, alone=True),
    "larger": Part(_larger, 50, 300),
    "compiling": Part(_compiling, 60, 240, alone=True, fresh=True),
    "fine-tuning": Part(_fine_tuning, 120, 400, alone=True),
}
"""The parts, the most valuable first. With eight workers, in seconds, :func:`budget` of what :func:`cells` returns:
environment 12, tests 6 x 90 / 8 = 68, crossing (3 + 16 first, 24 at the end) 43 x 20 / 8 = 108, accusations
54 x 12 / 8 = 81, memory 2 x 8, bandwidth 15, steps 16 x 13 = 208, launches 4 x 6 = 24, larger 14 x 50 / 8 = 88,
compiling 60, fine-tuning 120: 13.5 minutes of 15."""
WORKERS = 8
"""Processes side by side that the budget counts on."""


def cells(options: Namespace) -> list[Cell]:
    """Return the cells of the chosen parts, in the order of their worth."""
    is_small = small(options)
    names, crossed = [*_SMALL][:1] if is_small else [*_FULL], list(_crossed(options))
    first = [name for name in crossed if is_small or name.endswith(FIRST)]
    forms = (ROUNDED, EAGER, *EXACT)
    timed = [f"{name}.{form}" for form in forms for name in names[:-1]] + [f"{names[-1]}.{form}" for form in forms]
    # A CPU may be busy with other work, and executes kernels slowly.
    patience = 10 if is_small else 1

    def of(name: str, keys: Iterable[str]) -> list[Cell]:
        part = PARTS[name]
        chosen = not options.parts or name in options.parts
        return [
            Cell(f"{name}/{key}", part.seconds, patience * part.limit, part.alone, part.fresh) for key in keys if chosen
        ]

    def under(keys: Iterable[str]) -> list[str]:
        return [f"{key}.{profile}" for key in keys for profile in FIRST]

    key = [replace(cell, alone=True, seconds=1) for cell in of("crossing", ["key"])]
    return [
        *of("environment", ["machine"]),
        *of("tests", [kind for kind in TESTS if kind != OTHERS or not is_small]),
        *key,
        *of("crossing", [*([] if is_small else [f"golden-{name}" for name in _GOLDEN]), *first]),
        *of("accusations", _accused(options)),
        *of("memory", FIRST),
        *of("bandwidth", ["kernels"]),
        *of("steps", timed),
        *of("launches", under(["dropout"] if is_small else _COUNTED)),
        *of("larger", under(_SMALL if is_small else _LARGE)),
        *of("compiling", ["kernels"]),
        *of("fine-tuning", ["example"]),
        *of("crossing", [name for name in crossed if name not in first]),
    ]


def budget(planned: Iterable[Cell], workers: int = WORKERS) -> float:
    """Return the seconds that cells are expected to take: those that may run side by side, by so many workers."""
    return sum(cell.seconds if cell.alone else cell.seconds / workers for cell in planned)


def _measure(options: Namespace, key: str) -> Values:
    part, name = key.split("/", 1)
    return PARTS[part].measure(options, name)


def about(options: Namespace) -> dict[str, str]:
    """What is said of the results: the device's title, the host, and whether it is a rehearsal.

    Raises:
        DeviceError: There is no such device, or it is the CPU itself.
    """
    if options.device == HOST:
        raise DeviceError(
            say("This is about GPUs; the CPU is none."),
            remedy=say("python -m tests.ptx.rehearsal tries all of it without one."),
        )
    open_machine(options.device, 1)
    return {
        "title": machine_name(options.device), "rehearsal": "yes" if small(options) else "no",
        "host": f"{machine_name()}, {platform.system()} {platform.machine()}",
    }  # fmt: skip


GPU = Benchmark(
    __doc__,
    cells,
    _measure,
    lambda results, options: pages(
        results, Store(options.out).about, rows_of(options.out / "campaign" / "results"), options.write
    ),
    (some_of("parts", PARTS), argument("--device", default="cuda:0", help="which GPU (%(default)s)")),
    out="gpu-results",
    threads=None,
    about=about,
)
