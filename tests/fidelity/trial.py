"""Tries a script: by itself, ordered, and both judged; each in a fork of this process, in an empty folder."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tests.fidelity import judge
from tests.fidelity.corpus import CorpusScript
from tests.fidelity.forks import Ended, Limits, forked
from tests.fidelity.judge import Script, Verdict
from tests.fidelity.orderrun import Ordered, order_and_execute
from tests.fidelity.plainrun import Plain, run_plainly

PLAIN = Limits(120, 600)
ORDER = Limits(300, 1200)
SHAKES = 3


@dataclass(frozen=True)
class Task:
    """What is tried.

    Attributes:
        script: The script.
        mutant: The name of a mutant of the follower; empty for the follower as it is.
        compared: Whether the product compares its order with the script.
    """

    script: CorpusScript
    mutant: str = ""
    compared: bool = True


@dataclass(frozen=True)
class Trial:
    """What became of a script.

    Attributes:
        name: Its name.
        outcome: See :mod:`tests.fidelity.judge`.
        sentence: Why.
        plain_seconds: Seconds of the processor that it took by itself.
        order_seconds: The same of ordering it and of executing the order.
        steps: How many steps of optimizers it completes.
        ordered: How many steps are ordered.
        shaken: Whether the judge had to know how far rounding alone moves the script.
        said: The end of what was printed, where something failed.
        mutant: The name of the mutant of the follower; empty for the follower as it is.
    """

    name: str
    outcome: str
    sentence: str
    plain_seconds: float = 0.0
    order_seconds: float = 0.0
    steps: int = 0
    ordered: int = 0
    shaken: bool = False
    said: str = ""
    mutant: str = ""


def tried(tasks: Sequence[Task], jobs: int = 1) -> Iterator[Trial]:
    """Try scripts, and yield what became of each as it ends.

    Args:
        tasks: What is tried; those that need libraries should stand last, since they stay loaded.
        jobs: How many at a time.
    """
    running: dict[int, tuple[Task, int]] = {}
    waiting = list(tasks)
    while waiting or running:
        while waiting and len(running) < jobs:
            task = waiting.pop(0)
            _load(task.script)
            reader, writer = os.pipe()
            child = os.fork()
            if not child:
                os.close(reader)
                _report(task, writer)
            os.close(writer)
            running[child] = task, reader
        child, _ = os.wait()
        if child not in running:
            continue
        task, reader = running.pop(child)
        with os.fdopen(reader, encoding="utf-8") as pipe:
            told = pipe.read()
        found = Trial(**json.loads(told)) if told else Trial(task.script.name, judge.CRASH, "the trial itself failed")
        yield replace(found, mutant=task.mutant)


def _report(task: Task, writer: int) -> None:
    """Try a script, tell by a pipe, and end this process."""
    try:
        # Less than a pipe holds: nobody reads before this ends.
        os.write(writer, json.dumps(asdict(trial_of(task))).encode())
    finally:
        os._exit(0)


def _load(script: CorpusScript) -> None:
    """Do what a script imports of large libraries, so that its forks need not; it may fail there as it fails here."""
    for statement in script.imports:
        try:
            exec(statement, {"__name__": "loading"})
        except Exception as error:
            print(f"{script.name}: {statement}: {error}", flush=True)


def trial_of(task: Task) -> Trial:
    """Try a script in forks of this process."""
    script = task.script
    if script.missing:
        return Trial(script.name, judge.MISSING, f"not installed: {', '.join(script.missing)}")
    folder = Path(tempfile.mkdtemp(prefix="counterfoil-fidelity-"))
    try:
        return _Bench(task, folder).trial()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Bench:
    """A folder in which a script is tried."""

    def __init__(self, task: Task, folder: Path) -> None:
        self._task = task
        self._folder = folder
        self._count = 0

    def trial(self) -> Trial:
        name = self._task.script.name
        plain, ended = self._fork(run_plainly, PLAIN)
        if not isinstance(plain, Plain):
            return Trial(name, judge.BROKEN, _reason(ended), ended.seconds, said=self._clean(ended.said))
        order, made = self._order(quiet=False)
        seconds, steps = (round(ended.seconds, 2), round(made.seconds, 2)), len(plain.steps)
        if not isinstance(order, Ordered):
            said = self._clean(made.said)
            return Trial(name, judge.CRASH, self._clean(_reason(made)), *seconds, steps, said=said)
        own = Script(plain, self._shaken)
        verdict = judge.judge(own, order)
        if verdict.outcome == judge.DRAWS:
            verdict = self._without_draws(verdict)
        sentence = self._clean(verdict.sentence)
        return Trial(name, verdict.outcome, sentence, *seconds, steps, order.steps, own.is_shaken)

    def _without_draws(self, verdict: Verdict) -> Verdict:
        """Judge a script whose steps draw by what it and its order train where neither draws."""
        plain, _ = self._fork(partial(run_plainly, quiet=True), PLAIN)
        order, _ = self._order(quiet=True)
        if not isinstance(plain, Plain) or not isinstance(order, Ordered) or order.refused or order.draws:
            return verdict
        found = judge.judge(Script(plain, lambda: self._shaken(quiet=True)), order)
        if found.outcome == judge.DIFFERENT:
            return Verdict(judge.DIFFERENT, f"without its draws, {found.sentence}")
        return Verdict(judge.DRAWS, "without its draws it agrees")

    def _order(self, *, quiet: bool) -> tuple[Any, Ended]:
        task = self._task
        order = partial(order_and_execute, quiet=quiet, mutant=task.mutant, compared=task.compared)
        return self._fork(order, ORDER)

    def _shaken(self, *, quiet: bool = False) -> list[Plain]:
        runs = [self._fork(partial(run_plainly, shaken=seed, quiet=quiet), PLAIN)[0] for seed in range(SHAKES)]
        return [run for run in runs if isinstance(run, Plain)]

    def _fork(self, function: Callable[[Path], Any], limits: Limits) -> tuple[Any, Ended]:
        """Run a function on a copy of the script in an empty folder; returns what it gave, None where it failed."""
        self._count += 1
        folder = self._folder / str(self._count)
        told = self._folder / f"{self._count}.pickle"
        source = self._folder / f"{self._count}.source"
        source.mkdir()
        script = source / self._task.script.path.name
        shutil.copyfile(self._task.script.path, script)

        def run() -> None:
            given = function(script)
            told.write_bytes(pickle.dumps(given))

        ended = forked(run, folder, limits)
        found = pickle.loads(told.read_bytes()) if told.exists() else None
        shutil.rmtree(folder, ignore_errors=True)
        return found, ended

    def _clean(self, text: str) -> str:
        text = re.sub(rf"{re.escape(str(self._folder))}/\d+(\.source|/work)?/?", "", text)
        return text[-3000:]


def _reason(ended: Ended) -> str:
    if ended.code < 0:
        return f"ended by {signal.Signals(-ended.code).name} after {ended.seconds:.0f} s of the processor"
    lines = [line for line in ended.said.splitlines() if line.strip()]
    return lines[-1][-300:] if lines else f"ended with {ended.code}"


def in_order(tasks: Sequence[Task]) -> list[Task]:
    """Put what needs libraries last."""
    return sorted(tasks, key=lambda task: (len(task.script.imports) > 0, task.script.name))


def warm() -> None:
    """Load what every trial needs."""
    import gc

    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        torch.ones(2).add(1)
    gc.collect()
    gc.freeze()
