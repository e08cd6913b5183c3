"""Honest runs on the device: nobody may be accused, whether the device is the trainer's or the auditor's."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.campaign.task import Found, Task, slug
from benchmarks.false_accusations import Machine, Replay, record_honestly, replay
from benchmarks.gpu.part import Part
from benchmarks.gpu.settings import Settings
from benchmarks.honest_jobs import JOBS
from benchmarks.imitations import IMITATIONS

NAME = "accusations"
_SMALL = ("digits-cnn", "logistic, calibrated margins")
_IMITATED = ("reversed+jitter", IMITATIONS[-1])
_TRAINERS = {"cpu": None, "device": None, "imitated": IMITATIONS[-1]}
"""Who records, by the name in tasks: the CPU, the device, the CPU as an imitated machine."""


def _jobs(settings: Settings) -> tuple[str, ...]:
    return _SMALL if settings.small else tuple(JOBS)


def _tasks(settings: Settings) -> list[Task]:
    return [Task(NAME, f"{slug(job)}.{trainer}", 30, 240) for trainer in _TRAINERS for job in _jobs(settings)]


def _machines(settings: Settings, trainer: str) -> Sequence[Machine]:
    """Where a trainer's run is replayed."""
    device = [Machine("device", device=settings.device)]
    device += [Machine(f"device, {name}", name, device=settings.device) for name in _IMITATED]
    return [Machine("cpu"), *device] if trainer == "device" else device


def _do(settings: Settings, name: str) -> Found:
    part, trainer = name.rsplit(".", 1)
    job = next(job for job in _jobs(settings) if slug(job) == part)
    steps = 2 if settings.small else 4
    found: list[Replay] = []
    with tempfile.TemporaryDirectory() as folder:
        device = settings.device if trainer == "device" else "cpu"
        order, run = record_honestly(Path(folder), job, steps, _TRAINERS[trainer], device)
        for machine in _machines(settings, trainer):
            begun = time.perf_counter()
            one = replay(job, order, run, machine)
            found.append(replace(one, trainer=trainer, seconds=round(time.perf_counter() - begun, 2)))
    strange = [f"{job}, recorded by {trainer}, on {one.machine}: {one.outcome}" for one in found if not one.clean]
    clean, corrections = sum(one.clean for one in found), sum(one.corrections for one in found)
    said = f"{clean} of {len(found)} replays clean, {corrections} corrections"
    return Found(said, {"replays": [asdict(one) for one in found]}, tuple(strange))


ACCUSATIONS = Part(NAME, "honest runs on the device: nobody may be accused", _tasks, _do)
