"""What has been trained is kept, one file for each training, and not trained again."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from benchmarks.accuracy.tasks import Task
from benchmarks.accuracy.training import ARITHMETICS, Trained
from benchmarks.pages import machine_name
from counterfoil_core.arithmetic.machine import Machine


@dataclass(frozen=True)
class Case:
    """One training."""

    task: Task  #: What is trained.
    arithmetic: str  #: Key of ARITHMETICS.
    seed: int  #: Decides weights, order of the rows, augmentation and dropout.

    def description(self, machine: Machine) -> dict[str, str | int]:
        """All that the result depends on, but for the code; eager float32 depends on the machine too."""
        return {
            "task": self.task.name,
            "what": self.task.what,
            "data": self.task.data,
            "arithmetic": self.arithmetic,
            "seed": self.seed,
            "machine": machine_name(str(machine.device)),
            "threads": machine.threads,
            "torch": torch.__version__,
            "python": platform.python_version(),
        }


@dataclass(frozen=True)
class Done:
    """A case with its result, and the seconds that it took."""

    case: Case
    trained: Trained
    seconds: float


@dataclass(frozen=True)
class Progress:
    """How far the cases are."""

    done: Done  #: The last one.
    count: int  #: Cases done.
    total: int  #: All cases.
    #: Estimated from what cases of the same task and arithmetic took; None before that is known.
    seconds_left: float | None


def all_cases(tasks: Sequence[Task], arithmetics: Sequence[str], seeds: int) -> list[Case]:
    """Return the cases, seed by seed, so that those done so far compare like with like."""
    return [Case(task, arithmetic, seed) for seed in range(seeds) for task in tasks for arithmetic in arithmetics]


def train_all(cases: Sequence[Case], folder: Path, machine: Machine) -> Iterator[Progress]:
    """Train the cases that are not done yet.

    Args:
        cases: The cases.
        folder: Where the files are; it is made if it is not there.
        machine: The machine, set up.

    Yields:
        How far it is: after every case, in their order, those that were done before too.
    """
    folder.mkdir(parents=True, exist_ok=True)
    seconds: dict[tuple[str, str], list[float]] = {}
    for count, case in enumerate(cases, start=1):
        path = folder / _file_name(case, machine)
        done = _read(path, case) if path.exists() else _train(path, case, machine)
        seconds.setdefault((case.task.name, case.arithmetic), []).append(done.seconds)
        yield Progress(
            done, count, len(cases), _left([c for c in cases[count:] if not _kept(folder, c, machine)], seconds)
        )


def _kept(folder: Path, case: Case, machine: Machine) -> bool:
    return (folder / _file_name(case, machine)).exists()


def _left(cases: Sequence[Case], seconds: dict[tuple[str, str], list[float]]) -> float | None:
    keys = [(case.task.name, case.arithmetic) for case in cases]
    if any(key not in seconds for key in keys):
        return None
    return sum(sum(seconds[key]) / len(seconds[key]) for key in keys)


def _file_name(case: Case, machine: Machine) -> str:
    described = json.dumps(case.description(machine), sort_keys=True)
    digest = hashlib.sha256(described.encode()).hexdigest()[:12]
    plain = re.sub("[^a-z0-9]+", "-", case.arithmetic)
    return f"{case.task.name}.{plain}.seed-{case.seed}.{digest}.json"


def _train(path: Path, case: Case, machine: Machine) -> Done:
    began = time.perf_counter()
    trained = ARITHMETICS[case.arithmetic](case.task, case.seed, machine)
    seconds = time.perf_counter() - began
    text = json.dumps({"case": case.description(machine), "result": asdict(trained), "seconds": seconds}, indent=1)
    part = path.with_suffix(".part")
    part.write_text(text + "\n", encoding="utf-8")
    # Whole or not at all: a case that was interrupted is trained again.
    os.replace(part, path)
    return Done(case, trained, seconds)


def _read(path: Path, case: Case) -> Done:
    found = json.loads(path.read_text(encoding="utf-8"))
    result = found["result"]
    return Done(
        case,
        Trained(tuple(result["losses"]), result["held_out_loss"], result["held_out_accuracy"]),
        found["seconds"],
    )
