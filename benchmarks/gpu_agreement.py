"""Who agrees with whom: runs across CPU and device, larger steps, the tests on the device, whoever is accused."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.answer_agreement import answer_of, check_libraries, check_of, model_in, strange_check
from benchmarks.cross_hardware import CROSS_HARDWARE, MEASURED, Training, rows_of
from benchmarks.cross_pages import is_exact
from benchmarks.forms import Forms
from benchmarks.gpu_jobs import FIRST, HOST, SMALL, Steps, small, threads_of
from benchmarks.honest_jobs import JOBS, ORDERS
from benchmarks.imitations import IMITATIONS
from benchmarks.measure import (
    ROOT,
    LeftOutError,
    Values,
    run_command,
    slug,
)
from benchmarks.pages import machine_name
from benchmarks.replays import Machine, is_clean, record_honestly, replay
from benchmarks.sessions import audit, key_in, root_of
from benchmarks.workloads import (
    WORKLOADS,
    digits,
    dropped,
    gpt2_of_size,
    public_gpt2,
    thin_filters,
)
from counterfoil.signing.kinds import AnswerStatement
from counterfoil.talk.programs import program_command
from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes.gpt2 import Gpt2Size
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import RecordFinished
from counterfoil_core.arithmetic.compute.devices import memory_of
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.errors import ObstacleError
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.kernels.result import Counts
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.report import AuditReport
from counterfoil_core.values.request import AuditRequest

# Whole runs, recorded on the CPU and replayed on the device, and the reverse.

GOLDEN = ("digits", "gpt2", "exact")
_SMALL_JOBS = {"logistic": FIRST}


def device_name(options: Namespace) -> str:
    """The device's name in the campaign: what it is called, as a part of a file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", machine_name(options.device)).strip("-.")[:60]


def crossed_jobs(options: Namespace) -> dict[str, tuple[str, str]]:
    """Jobs and profiles by the name of their cell, the most valuable first."""
    if small(options):
        pairs = [(job, profile) for job, profiles in _SMALL_JOBS.items() for profile in profiles]
    else:
        rest = [profile for profile in MEASURED if profile not in FIRST]
        pairs = [(job, profile) for profile in (*FIRST, *rest) for job in ORDERS]
    return {Training(*pair).order_name: pair for pair in pairs}


def cross(options: Namespace, name: str) -> Values:
    """Record a job on CPU and device, and audit each other's run; or a golden run of the tests."""
    folder = options.out / "campaign"
    if name == "key":
        folder.mkdir(parents=True, exist_ok=True)
        key_in(folder)  # before several processes need it
        return {}
    if name.startswith("golden-"):
        return _golden(options, name.removeprefix("golden-"))
    job, profile = crossed_jobs(options)[name]
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


# Larger steps, recorded on the CPU and replayed on the device, and the reverse, with controls. The jobs above are so
# small that hardly a decision is close. Here the log is needed, so that it can be taken away.

LARGE: Steps = {
    **{name: WORKLOADS[name] for name in ("wide-gpt2", "wide-cnn", "digits")},
    "thin-filters": lambda: thin_filters(32),
    "dropout": lambda: dropped(512),
    "attention": lambda: gpt2_of_size(Gpt2Size(layers=1, heads=4, width=256, context=512), 2),
    "gpt2-124m": lambda: public_gpt2(8, 64),
}


def larger(options: Namespace, name: str) -> Values:
    key, profile = name.split(".", 1)
    workload = (SMALL if small(options) else LARGE)[key]()
    draft = workload.order(PROFILES[profile])
    with ExitStack() as stack:

        def forms(device: str, order: OrderDraft) -> Forms:
            machine = open_machine(device, min(4, threads_of(options)))
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


def run_tests(options: Namespace, name: str) -> Values:
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


def accused_jobs(options: Namespace) -> dict[str, tuple[str, str]]:
    jobs = ("logistic, calibrated margins",) if small(options) else tuple(JOBS)
    return {f"{slug(job)}.{trainer}": (job, trainer) for trainer in _TRAINERS for job in jobs}


def accuse(options: Namespace, name: str) -> Values:
    job, trainer = accused_jobs(options)[name]
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


# Answers of a model: those of one machine are those of the other.


def answers(options: Namespace, name: str) -> Values:
    """Answer a question on CPU and device, and check each answer on both.

    Args:
        options: The device.
        name: A key of ``ANSWERS``.
    """
    check_libraries()
    few = small(options)
    machines = {HOST: open_machine("cpu", threads_of(options)), "device": open_machine(options.device, 1)}
    with tempfile.TemporaryDirectory() as folder:
        model = model_in(Path(folder) / "model", small=few)
        made: dict[str, AnswerStatement] = {}
        seconds: dict[str, float] = {}
        for where, machine in machines.items():
            began = time.perf_counter()
            made[where] = answer_of(model, name, machine, small=few)
            seconds[where] = time.perf_counter() - began
        checks: list[dict[str, Any]] = [
            {"maker": maker, "machine": where, **check_of(model, said, machine)}
            for maker, said in made.items()
            for where, machine in machines.items()
        ]
    equal = made[HOST] == made["device"]
    strange = [] if equal else [f"the {name} answer of the device is another than the CPU's"]
    for one in checks:
        strange += strange_check(one, f"{name} answer of {one['maker']}, checked on {one['machine']}")
    right = sum(not strange_check(one, "") for one in checks)
    said = f"{'the same answer' if equal else 'two answers'}, {right} of {len(checks)} checks as they should be"
    return {
        "tokens": len(made[HOST].tokens), "equal": equal, "checks": checks, "made": seconds, "said": said,
        "strange": strange,
    }  # fmt: skip


# A whole fine-tuning, from the order to the delivered weights: the example of the source tree.


def fine_tuning(options: Namespace, _name: str) -> Values:
    check_libraries()
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


# A job too large for the device ends in a sentence with its remedy, and the device works afterwards.


def exhaust_memory(options: Namespace, form: str) -> Values:
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
