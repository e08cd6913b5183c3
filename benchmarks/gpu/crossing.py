"""Whole runs, recorded on the CPU and replayed on the device, and the reverse.

Every job of :mod:`benchmarks.honest_jobs` under every profile, as the campaign of several machines does it
(:mod:`benchmarks.cross_hardware`): the CPU and the device are two machines with one folder. Then the golden
runs of the source tree.
"""

from __future__ import annotations

import json
import re

from benchmarks.campaign.task import Found, LeftOutError, Task
from benchmarks.cross_hardware.campaign import MEASURED, Campaign, Training
from benchmarks.cross_hardware.page import is_exact
from benchmarks.cross_hardware.results import Part as Result, Recorded, Replayed, parts_of
from benchmarks.cross_hardware.work import Worker
from benchmarks.gpu.part import Part
from benchmarks.gpu.settings import Settings
from benchmarks.honest_jobs import ORDERS
from benchmarks.pages import machine_name
from benchmarks.programs import ROOT
from benchmarks.sessions import audited
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import RecordFinished
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.report import AuditReport
from counterfoil_core.values.request import AuditRequest

NAME = "crossing"
GOLDEN = "golden"
SELFTEST = "selftest"
HOST = "cpu"
"""The CPU's name in the campaign."""
FIRST = ("float64-24", "exact-20")
"""Profiles whose jobs come before all others."""
_NAMES = ("digits", "gpt2", "exact")
_SMALL = {"digits-cnn": ("float64-24", "exact-20"), "logistic": ("float64-24", "float32-bfloat16")}
_STEPS = 3


def device_name(title: str, *, gpu: bool) -> str:
    """The device's name in the campaign: what it is called, as a part of a file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", title).strip("-.")[:60] if gpu else "cpu-again"


def campaign(settings: Settings) -> Campaign:
    """The folder that CPU and device share, with a key for it."""
    found = Campaign(settings.out / "campaign")
    found.folder.mkdir(parents=True, exist_ok=True)
    return found


def _workers(settings: Settings) -> tuple[Worker, Worker]:
    shared = campaign(settings)
    host = Worker(shared, HOST, machine_name("cpu"))
    title = machine_name(settings.device)
    name = device_name(title, gpu=settings.on_gpu)
    return host, Worker(shared, name, title, settings.device)


def _profiles(settings: Settings) -> list[tuple[str, str]]:
    """Jobs and profiles, the most valuable first."""
    if settings.small:
        return [(job, profile) for job, profiles in _SMALL.items() for profile in profiles]
    rest = tuple(profile for profile in MEASURED if profile not in FIRST)
    return [(job, profile) for profile in (*FIRST, *rest) for job in ORDERS]


def _name(job: str, profile: str) -> str:
    return Training(job, profile).order_name


def _first(settings: Settings) -> list[Task]:
    golden = [Task(NAME, f"{GOLDEN}-{name}", 15, 120) for name in _NAMES]
    jobs = [pair for pair in _profiles(settings) if pair[1] in FIRST]
    return [Task(NAME, SELFTEST, 20, 120), *golden, *(Task(NAME, _name(*pair), 25, 180) for pair in jobs)]


def _rest(settings: Settings) -> list[Task]:
    return [Task(NAME, _name(*pair), 25, 180) for pair in _profiles(settings) if pair[1] not in FIRST]


def _do(settings: Settings, name: str) -> Found:
    if name == SELFTEST:
        return _selftest(settings)
    if name.startswith(f"{GOLDEN}-"):
        return _golden(settings, name.removeprefix(f"{GOLDEN}-"))
    return _job(settings, *next(pair for pair in _profiles(settings) if _name(*pair) == name))


def _selftest(settings: Settings) -> Found:
    tested = [worker.selftest() for worker in _workers(settings)]
    strange = [f"{one.about} fails the self-test under {', '.join(one.failed)}" for one in tested if one.failed]
    return Found("self-tests done" if not strange else "; ".join(strange), {}, tuple(strange))


def _job(settings: Settings, job: str, profile: str) -> Found:
    """Record a job on both, and audit each other's run; the campaign's folder has what was found."""
    host, device = _workers(settings)
    shared = campaign(settings)
    before = shared.part("ordered", _name(job, profile))
    if before.exists() and json.loads(before.read_text(encoding="utf-8"))["refused"]:
        before.unlink()  # what refused it may have been mended since
    refused = [one.refused for one in shared.order_all([job], [profile], _STEPS) if one.refused]
    if refused:
        raise LeftOutError(f"It cannot be ordered: {refused[0]}")
    ordered = shared.ordered([job], [profile])
    for worker in (host, device, host):
        for _ in worker.work(ordered):
            pass
    found = [part for part in parts_of(shared.folder / "results") if _is_of(part, job, profile)]
    roots: dict[bool, set[str]] = {}
    for part in found:
        if isinstance(part, Recorded):
            roots.setdefault(part.tampered, set()).add(part.run_root)
    replays = [part for part in found if isinstance(part, Replayed)]
    equal = len(roots[False]) == 1
    strange = [
        f"{job}, {profile}, recorded on {one.recorder}, replayed on {one.machine}: {one.outcome}, "
        f"{one.contradictions} contradictions, {one.omissions} omissions"
        for one in replays
        if not one.as_expected
    ]
    if is_exact(profile) and any(len(found) > 1 for found in roots.values()):
        strange.append(f"{job}, {profile}: the run roots of CPU and device differ")
    right = sum(one.as_expected for one in replays)
    said = f"run roots {'equal' if equal else 'differ'}; {right} of {len(replays)} audits as they should be"
    return Found(said, {"equal": equal}, tuple(strange))


def _is_of(part: Result, job: str, profile: str) -> bool:
    return isinstance(part, Recorded | Replayed) and (part.job, part.profile) == (job, profile)


def _golden(settings: Settings, name: str) -> Found:
    """Replay a golden run on the device; record its order there, and replay that on the CPU."""
    stored = ROOT / "tests" / "engine" / "golden"
    expected = json.loads((stored / "golden.json").read_text(encoding="utf-8"))[name]
    order, run = stored / f"{name}.job.cfoil", stored / f"{name}.run.cfoil"
    there = audited(AuditRequest(run, order, device=settings.device, threads=1)).report
    recorded = settings.out / GOLDEN / f"{name}.cfoil"
    recorded.parent.mkdir(parents=True, exist_ok=True)
    *_, last = record(order, recorded, campaign(settings).key, device=settings.device, threads=1, fresh=True)
    assert isinstance(last, RecordFinished)
    back = audited(AuditRequest(recorded, order, threads=1)).report
    equal = last.run_root.hex == expected["run_root"]
    strange = []
    for report, where in ((there, "the device"), (back, "the CPU")):
        if report.outcome is not Outcome.VERIFIED or report.contradictions or report.omissions:
            strange.append(f"golden run {name} on {where}: {report.outcome.value}, {report.reason}")
    if name == "exact" and not equal:
        strange.append("golden run exact: recorded on the device it has another run root")
    values = {
        "run_root": expected["run_root"],
        "recorded": last.run_root.hex,
        "equal": equal,
        "there": _counts(there),
        "back": _counts(back),
    }
    said = f"{there.outcome.value} there, {back.outcome.value} back, run root {'equal' if equal else 'another'}"
    return Found(said, values, tuple(strange))


def _counts(report: AuditReport) -> dict[str, object]:
    return {
        "outcome": report.outcome.value,
        "run_root": None if report.run_root is None else report.run_root.hex,
        "steps": report.steps_replayed,
        "corrections": report.corrections,
        "contradictions": report.contradictions,
        "omissions": report.omissions,
    }


CROSSING = Part(NAME, "golden runs and recipes, across CPU and device in both directions", _first, _do)
OTHER_PROFILES = Part(NAME, "the recipes under the other profiles", _rest, _do)
