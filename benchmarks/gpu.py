"""All that is to be known of a GPU: who agrees, who is accused, what a step costs.

Stopped, or out of time, the same command goes on. Each part is there to be asked for: the most valuable comes first,
since a machine that is lent for minutes is not to end with the best part undone. ``--device cpu`` tries all of it at
small sizes, which says nothing of a GPU.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from benchmarks.cross_hardware import CROSS_HARDWARE, MEASURED, Training, rows_of
from benchmarks.cross_pages import is_exact
from benchmarks.forms import Forms, wait
from benchmarks.gpu_page import sections
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
from benchmarks.workloads import WORKLOADS, Workload, digits, public_gpt2, resnet50
from counterfoil.talk.programs import program_command
from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes.gpt2 import Gpt2Size
from counterfoil.training.recipes.resnet import Bottleneck, ResNetLayout
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import RecordFinished
from counterfoil_core.arithmetic.compute.devices import memory_of
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.kernels.result import Counts
from counterfoil_core.program.estimate import product_flops
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.report import AuditReport
from counterfoil_core.values.request import AuditRequest

HOST = "cpu"
"""The CPU's name in the campaign."""


def small(options: Namespace) -> bool:
    """Whether the jobs are small: the same parts, at sizes that show that they work and say nothing of speed."""
    wanted: bool = options.scale == "small" or (options.scale is None and options.device == "cpu")
    return wanted


def _threads(options: Namespace) -> int:
    """Threads for what has the machine to itself."""
    return options.threads or os.cpu_count() or 1


# What the device is, and how fast it does products and copies.


def _environment(options: Namespace, _name: str) -> Values:
    machine = open_machine(options.device, _threads(options))
    device, side = machine.device, 256 if small(options) else 8192

    def seconds(call: Callable[[], object]) -> float:
        def waited() -> None:
            call()
            wait(device)

        return median(seconds_of(waited, 5))

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
        "environment": dict(machine.environment), "driver": _driver() if options.device != "cpu" else "",
        "cuda": torch.version.cuda or "", "triton": _version("triton"), "memory": memory_of(device) or 0, "side": side,
        "operations_per_second": rates, "python": platform.python_version(),
        "bytes_copied_per_second": 2 * target.nbytes / seconds(lambda: target.copy_(factors["float64"])),
        "said": ", ".join(f"{name} {rate / 1e12:.3g}" for name, rate in rates.items()) + " TFLOP/s",
    }  # fmt: skip


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
_SMALL_JOBS = {"digits-cnn": ("float64-24", "exact-20"), "logistic": ("float64-24", "float32-bfloat16")}


def device_name(options: Namespace) -> str:
    """The device's name in the campaign: what it is called, as a part of a file name."""
    title = machine_name(options.device)
    return re.sub(r"[^A-Za-z0-9._-]+", "-", title).strip("-.")[:60] if options.device != "cpu" else "cpu-again"


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
    "digits": digits,
    "gpt2-small": lambda: public_gpt2(2, 16, Gpt2Size(layers=2, heads=2, width=32, context=16, vocabulary=64)),
    "resnet-small": lambda: resnet50(2, 64, ResNetLayout(Bottleneck, (1, 1, 1, 1), 4), 10),
}


def _steps(options: Namespace, name: str) -> Values:
    key, form = name.split(".", 1)
    workload = (_SMALL if small(options) else _FULL)[key]()
    machine = open_machine(options.device, _threads(options))
    time_of, of = partial(time_form, device=machine.device), {"name": workload.name, "form": form}
    if form == EAGER:
        with ordinary_settings():
            forms = {name: time_of(workload.eager(dtype, machine.device)) for name, dtype in DTYPES.items()}
            if machine.device.type == "cuda":
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
    """Time a form: median and least seconds of its rounds; on CUDA the most memory that it held."""
    times: list[float] = []
    ended = time.perf_counter() + _SECONDS
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
    while len(times) < _WARM_UP + _ROUNDS and not (len(times) > _WARM_UP and time.perf_counter() > ended):
        begun = time.perf_counter()
        call()
        wait(device)
        times.append(time.perf_counter() - begun)
    kept = times[_WARM_UP:]
    memory = torch.cuda.max_memory_allocated(device) if device.type == "cuda" else None
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
    "gpt2-124m": lambda: public_gpt2(8, 64),
}


def _larger(options: Namespace, name: str) -> Values:
    key, profile = name.split(".", 1)
    workload = _LARGE[key]()
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


# The tests that need a GPU, from the source tree, file by file.

_INI = """\
[pytest]
addopts = --import-mode=importlib -p no:cacheprovider
markers =
    gpu: needs a CUDA device
    slow: takes long
    xvfb: needs an X server
pythonpath = {root}/tests {root}
"""
"""Not the tree's own settings, which want plugins for the window."""


_OF_KERNELS = "support.triton_device import"


def _test_files() -> dict[str, str]:
    """The files that have such tests, relative to the tree, by the name of their cell; those of kernels first.

    Tests of kernels take their mark from ``tests/support/triton_device.py``, where there is a device.
    """
    texts = {file: file.read_text("utf-8") for file in sorted((ROOT / "tests").rglob("test_*.py"))}
    files = [file for file, text in texts.items() if _OF_KERNELS in text]
    files += [file for file, text in texts.items() if "pytest.mark.gpu" in text and file not in files]
    names = [file.relative_to(ROOT).as_posix() for file in files]
    return {name.removeprefix("tests/").removesuffix(".py").replace("/", "."): name for name in names}


def _tests(options: Namespace, name: str) -> Values:
    if find_spec("pytest") is None:
        raise LeftOutError("pytest is not installed.")
    file = _test_files()[name]
    with tempfile.TemporaryDirectory() as folder:
        ini, report = Path(folder) / "pytest.ini", Path(folder) / "report.xml"
        ini.write_text(_INI.format(root=ROOT), encoding="utf-8")
        words = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-c", str(ini), "--rootdir", str(ROOT)]
        words += ["-n", "4"] if options.device != "cpu" and find_spec("xdist") is not None else []
        path = os.pathsep.join(filter(None, [*sys.path, os.environ.get("PYTHONPATH", "")]))
        variables = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        words += [f"--junitxml={report}", str(ROOT / file)]
        ended = subprocess.run(words, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
        if not report.exists():
            raise RuntimeError(f"pytest ended with {ended.returncode}:\n{ended.stdout[-2000:]}\n{ended.stderr[-2000:]}")
        cases = {case.get("name", ""): _outcome(case) for case in ET.parse(report).getroot().iter("testcase")}
    counts = Counter(cases.values())
    failed = [case for case, outcome in cases.items() if outcome in ("failed", "error")]
    said = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "no test"
    strange = [f"test {case} of {file} failed" for case in failed]
    if options.device != "cpu" and not counts["passed"]:
        strange.append(f"nothing of {file} ran on the device")
    return {"counts": dict(counts), "output": ended.stdout[-6000:] if failed else "", "said": said, "strange": strange}


def _outcome(case: ET.Element) -> str:
    words = {"failure": "failed", "error": "error", "skipped": "skipped"}
    return next((word for tag, word in words.items() if case.find(tag) is not None), "passed")


# Honest runs on the device: nobody may be accused, whether the device is the trainer's or the auditor's.

_TRAINERS = {"cpu": None, "device": None, "imitated": IMITATIONS[-1]}
"""Who records, by the name in cells: the CPU, the device, the CPU as an imitated machine."""


def _accused(options: Namespace) -> dict[str, tuple[str, str]]:
    jobs = ("digits-cnn", "logistic, calibrated margins") if small(options) else tuple(JOBS)
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


# The whole.

PARTS: Mapping[str, Callable[[Namespace, str], Values]] = {
    "environment": _environment,
    "tests": _tests,
    "crossing": _crossing,
    "accusations": _accusations,
    "steps": _steps,
    "larger": _larger,
    "fine-tuning": _fine_tuning,
}


def cells(options: Namespace) -> list[Cell]:
    """Return the cells of the chosen parts, in the order of their worth."""
    names, crossed = list(_SMALL if small(options) else _FULL), list(_crossed(options))
    first = [name for name in crossed if small(options) or name.endswith(FIRST)]
    forms = (ROUNDED, EAGER, *EXACT)
    timed = [f"{name}.{form}" for form in forms for name in names[:-1]] + [f"{names[-1]}.{form}" for form in forms]
    large = [f"{name}.{profile}" for name in (["digits"] if small(options) else _LARGE) for profile in FIRST]
    golden = [f"golden-{name}" for name in _GOLDEN]
    # A CPU may be busy with other work.
    patience = 1 if options.device != "cpu" else 5

    def of(part: str, names: Sequence[str], seconds: float, limit: float, alone: bool = False) -> list[Cell]:
        chosen = not options.parts or part in options.parts
        return [Cell(f"{part}/{name}", seconds, patience * limit, alone) for name in names if chosen]

    return [
        *of("environment", ["machine"], 15, 90, alone=True),
        *of("tests", list(_test_files()), 60, 400),
        *of("crossing", ["key"], 1, 60, alone=True),
        *of("crossing", [*golden, *first], 25, 180),
        *of("accusations", list(_accused(options)), 30, 240),
        *of("steps", timed, 45, 300, alone=True),
        *of("larger", large, 60, 300),
        *of("fine-tuning", ["example"], 150, 400, alone=True),
        *of("crossing", [name for name in crossed if name not in first], 25, 180),
    ]


def _measure(options: Namespace, key: str) -> Values:
    part, name = key.split("/", 1)
    return PARTS[part](options, name)


def about(options: Namespace) -> dict[str, str]:
    """What is said of the results: the device, its title, the host and the scale.

    Raises:
        DeviceError: There is no such device.
    """
    open_machine(options.device, 1)
    return {
        "device": options.device.split(":")[0], "title": machine_name(options.device),
        "host": f"{machine_name()}, {platform.system()} {platform.machine()}",
        "scale": "small" if small(options) else "full",
    }  # fmt: skip


GPU = Benchmark(
    __doc__,
    cells,
    _measure,
    lambda results, options: sections(
        results, Store(options.out).about, rows_of(options.out / "campaign" / "results"), options.write is not None
    ),
    (
        some_of("parts", PARTS),
        argument("--device", default="cuda:0", help="cuda:0 by default; cpu tries the parts at small sizes"),
        argument("--scale", choices=("full", "small"), help="full by default, and small on the CPU"),
    ),
    out="gpu-results",
    threads=None,
    about=about,
)
