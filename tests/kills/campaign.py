"""Commands that write are killed at random moments, and begun again: what must be there is there, and nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from counterfoil.sandbox.box import SWITCH
from counterfoil.signing.privatekeys import generate_key
from counterfoil_core.bundle.reader import BundleReader
from engine.training.test_ranks import write_order
from support.expectations import run_root
from support.fork_server import Ended, ForkServer
from support.worlds import Worlds

MARKER = "kills"
STEPS = 12
RANKS = "`train`, two ranks, one of them killed"
_COLUMNS = ("lost", "different", "left", "trouble")
_WEIGHT_OF_RANKS = 2
_MONITOR_SECONDS = 0.5
"""In which the monitor of a command that was killed has cleaned up."""
_OF_THE_MOMENT = ("timeVerified", "seconds", "at", "time", "signed_at", "signedAt")


@dataclass(frozen=True)
class Subject:
    """What is killed."""

    name: str
    command: str
    """With ``{job}`` for the folder of what is given, and ``{out}`` for that of what is written."""
    again: str
    """What the next one is given more."""
    target: str
    """What is written, in ``{out}``."""
    said: Callable[[Path], object]
    """What the target says, which must be the same whether anything was killed."""
    whole: bool = True
    """Whether what is there already is replaced or left, and is never away; else it is gone on with."""
    boxed: bool = True
    weight: int = 1


@dataclass(frozen=True)
class Killed:
    """What became of one that was killed: ``lost`` and ``different`` of what was written, ``left`` names."""

    subject: str
    lost: bool = False
    different: bool = False
    left: str = ""
    trouble: str = ""

    @property
    def wrong(self) -> bool:
        return self.lost or self.different or bool(self.left or self.trouble)


def _payload(path: Path) -> object:
    """What a statement says, without times."""

    def timeless(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: timeless(each) for name, each in value.items() if name not in _OF_THE_MOMENT}
        return [timeless(each) for each in value] if isinstance(value, list) else value

    return timeless(json.loads(base64.b64decode(json.loads(path.read_text())["payload"])))


def _order(path: Path) -> str:
    with BundleReader.open(path) as reader:
        assert reader.order_signature() is not None or path.name != "signed.cfoil"
        return reader.manifest.digest.hex


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _names(path: Path) -> list[str]:
    return sorted(each.name for each in path.iterdir() if each.stat().st_size)


SUBJECTS = (
    Subject(
        "`train --resume`, with tree heads",
        "train {job}/job.cfoil --out {out}/run.cfoil --key {job}/t.pem --threads 1 --heads {out}/heads.jsonl "
        "--heads-every 4 --resume", "", "run.cfoil", run_root, whole=False, weight=4,
    ),
    Subject(
        "`audit --resume`, with a verdict",
        "audit {job}/run.cfoil --order {job}/job.cfoil --verdict {out}/verdict.json --key {job}/a.pem --trust none "
        "--progress {out}/progress --threads 1 --resume --force", "", "verdict.json", _payload, boxed=False, weight=4,
    ),
    Subject(
        "`follow`, with a verdict",
        "follow {job}/run.cfoil --order {job}/job.cfoil --verdict {out}/verdict.json --key {job}/a.pem "
        "--threads 1", "--force", "verdict.json", _payload, boxed=False, weight=2,
    ),
    Subject(
        "`export weights`", "export weights {job}/run.cfoil --safetensors {out}/weights", "--force",
        "weights/model.safetensors", _sha256, weight=2,
    ),
    Subject("`export csv`", "export csv {job}/run.cfoil --out {out}/curves.csv", "--force", "curves.csv", _sha256),
    Subject(
        "`facts`", "facts {job}/run.cfoil --key {job}/a.pem --out {out}/facts.json --trust none", "--force",
        "facts.json", _payload,
    ),
    Subject(
        "`sign-order`", "sign-order {job}/job.cfoil --key {job}/a.pem --out {out}/signed.cfoil", "--force",
        "signed.cfoil", _order, weight=2,
    ),
    Subject(
        "`note`", "note {job}/job.cfoil --says made --key {job}/a.pem --out {out}/note.json", "--force", "note.json",
        _payload,
    ),
    Subject(
        "`trust add`", "trust add {job}/a.pub.pem --role auditor --name A --trust {out}/trust", "", "trust", _names,
    ),
)  # fmt: skip


class Killer:
    """Makes what is needed, and kills; use it as a context manager."""

    def __init__(self, folder: Path, seed: int, done: int = 0) -> None:
        self._folder, self._random, self._number = folder, random.Random(f"{seed} {done}"), done
        self._stack = ExitStack()
        self._known: dict[str, tuple[object, list[str], float]] = {}

    def __enter__(self) -> Self:
        self._job = self._folder / "job"
        self._job.mkdir()
        write_order(self._job / "job.cfoil", 4)
        for name in ("a.pem", "t.pem"):
            generate_key(self._job / name, None)
        self._servers = {
            boxed: self._stack.enter_context(ForkServer({SWITCH: "" if boxed else "off"}, own=boxed))
            for boxed in (True, False)
        }
        self._worlds = self._stack.enter_context(Worlds(boxed=True))
        made = self._run(SUBJECTS[0], self._job)
        assert made.code == 0, made.said
        (alone,) = self._worlds.record(1, self._job / "job.cfoil", self._folder / "alone.cfoil")
        self._root = alone.root
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def kills(self, wanted: int) -> Iterator[Killed]:
        """Kill so often, in turn."""
        turns: list[Subject | None] = []
        for turn in range(max(subject.weight for subject in SUBJECTS)):
            turns += [subject for subject in SUBJECTS if turn < subject.weight]
            turns += [None] if turn < _WEIGHT_OF_RANKS else []
        while wanted:
            subject = turns[self._number % len(turns)]
            self._number += 1
            killed = self._ranks() if subject is None else self._kill(subject)
            if killed is not None:
                wanted -= 1
                yield killed

    def _run(self, subject: Subject, out: Path, *more: str, **how: Any) -> Ended:
        words = subject.command.format(job=self._job, out=out).split()
        return self._servers[subject.boxed].run(*words, *more, **how)

    def _reference(self, subject: Subject) -> tuple[object, list[str], float]:
        """What the command leaves that nobody kills, and how long it takes."""
        if subject.name not in self._known:
            out = self._folder / f"whole-{len(self._known)}"
            out.mkdir()
            ended = self._run(subject, out)
            assert ended.code == 0, ended.said
            self._known[subject.name] = subject.said(out / subject.target), _listed(out), ended.seconds
        return self._known[subject.name]

    def _kill(self, subject: Subject) -> Killed | None:
        said, names, seconds = self._reference(subject)
        out = self._folder / f"{self._number}"
        out.mkdir()
        target, replaces = out / subject.target, subject.whole and bool(subject.again) and self._random.random() < 0.5
        if replaces:
            assert self._run(subject, out).code == 0
        again = subject.again.split()
        ended = self._run(
            subject, out, *(again if replaces else ()), kill_after=self._random.uniform(0.02, 1.0) * seconds
        )
        if ended.code is not None:
            return None  # it was done before
        time.sleep(_MONITOR_SECONDS)
        lost = replaces and not target.exists()
        different = subject.whole and target.is_file() and subject.said(target) != said
        ended = self._run(subject, out, *again)
        trouble = "" if ended.code == 0 else ended.said
        lost |= not target.exists()
        different |= target.exists() and subject.said(target) != said
        left = "" if trouble else " ".join(sorted({*_listed(out)} ^ {*names}))
        shutil.rmtree(out)
        return Killed(subject.name, lost, different, left, trouble)

    def _ranks(self) -> Killed:
        """Let two ranks record, one of which is killed in some step; two or one go on."""
        order, run = self._job / "job.cfoil", self._folder / f"{self._number}.cfoil"
        event = self._random.choice(["kill", "kill later"])
        others = {self._random.randrange(2): {"event": event, "step": self._random.randint(1, 6)}}
        ends = self._worlds.record(2, order, run, others=others)
        trouble = "" if all(end.code for end in ends) else f"nothing was noticed: {ends}"
        time.sleep(_MONITOR_SECONDS)
        ends = self._worlds.record(self._random.randint(1, 2), order, run, resume=True)
        left = " ".join(each.name for each in self._folder.iterdir() if run.stem in each.name and each != run)
        different = bool(ends[0].root) and ends[0].root != self._root
        trouble = trouble or ("" if ends[0].root else ends[0].sentence)
        return Killed(RANKS, not run.exists(), different, left if run.stem not in left.split() else "", trouble)


def _listed(folder: Path) -> list[str]:
    """The names of all that lies there, but for those that were drawn."""
    return [each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.name != ".lock"]


def table(killed: Sequence[Killed], seed: int) -> str:
    """A row for each subject."""
    wrong = sum(each.wrong for each in killed)
    lines = [
        f"{len(killed):,} commands were killed (`kill -9`) at random moments and begun again, by "
        f"`python -m tests.kills --kills {len(killed)} --seed {seed}`; {wrong} went wrong.",
        "",
        "| what was killed | kills | lost | different | left behind | other trouble |",
        "|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(each.subject for each in killed):
        rows = [each for each in killed if each.subject == name]
        counts = [sum(bool(getattr(each, what)) for each in rows) for what in _COLUMNS]
        lines.append(f"| {name} | {len(rows)} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines)
