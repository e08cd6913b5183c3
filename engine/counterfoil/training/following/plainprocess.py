"""A plain run from outside: its process, what it says at each border, and the states that it writes down."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil.talk.programs import hashing_otherwise, program_command, program_environment
from counterfoil.training.following.plainrun import ALIGNMENT, MODULE
from counterfoil.training.following.scriptdraws import Draw
from counterfoil.training.scripts.workfolder import WorkFolder
from counterfoil_core.base.errors import DataError

OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "WANDB_MODE": "disabled"}
"""What tells libraries that there is no network: they look before they ask."""
_UNCOMPILED = {"TORCHDYNAMO_DISABLE": "1", "CUDA_VISIBLE_DEVICES": ""}
"""Compiled code is computed as it is written, where it is computed on."""
_LOG_END = 2_000
"""So much of what a script printed last is told where it fails, in bytes."""


@dataclass(frozen=True)
class Update:
    """A call of an optimizer's ``step``.

    Attributes:
        optimizer: Its number, in the order in which they were made.
        rates: The learning rate of each group.
        settings: All settings of the groups, as text.
    """

    optimizer: int
    rates: tuple[float, ...]
    settings: str


@dataclass(frozen=True)
class Failure:
    """What a script itself raised.

    Attributes:
        sentence: What, as part of a sentence.
        place: File and line; empty where none is known.
        detail: The traceback.
    """

    sentence: str
    place: str
    detail: str


@dataclass(frozen=True)
class Border:
    """What a script did in a step, and what it holds then.

    Attributes:
        number: Of the step, from 1; 0 for what was before the first.
        seconds: How long the step took.
        calls: What it called, as texts.
        updates: The calls of optimizers.
        losses: What ``backward`` was called on.
        answers: What Python asked of tensors that were made of the state: file and line, and the answer.
        drawn: Kind, file and line and digest of what was drawn for models.
        digest: Of everything that it holds.
        models: Digest of its models alone.
        generators: Where the generators of Python, numpy and torch are that have moved.
        lost: Draws of its models that no order has.
        held: Names of tensors of modules that are not trained, and were written by what was made of the state.
        written: File and line at which each tensor was written last, by its name in the plain run.
        elsewhere: Where another thread made a step of an optimizer.
        early: Where an optimizer made a step before the first one began.
        processes: Where a script that trained nothing started processes.
        state: Names, dtypes and shapes of what was written down; None where nothing was.
        draws: Likewise, of the numbers drawn.
        is_end: Whether the script has ended there: what it holds is what is left.
        failure: What it raised at its end; None for nothing.
        generators_now: Where all of these generators are.
    """

    number: int
    seconds: float = 0.0
    calls: tuple[str, ...] = ()
    updates: tuple[Update, ...] = ()
    losses: tuple[float, ...] = ()
    answers: tuple[tuple[str, Any], ...] = ()
    drawn: tuple[tuple[str, str, str], ...] = ()
    digest: str = ""
    models: str = ""
    generators: Mapping[str, Any] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict)
    elsewhere: tuple[str, ...] = ()
    early: tuple[str, ...] = ()
    processes: tuple[str, ...] = ()
    state: Sequence[Any] | None = None
    draws: Sequence[Any] | None = None
    is_end: bool = False
    failure: Failure | None = None
    generators_now: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, message: Mapping[str, Any], number: int) -> Border:
        """Return what a message of the process says.

        Args:
            message: The message.
            number: Of the step.
        """
        failure = message.get("error")
        return cls(
            number,
            float(message.get("seconds", 0.0)),
            tuple(message.get("calls", ())),
            tuple(Update(n, tuple(rates), settings) for n, rates, settings in message.get("updates", ())),
            tuple(message.get("losses", ())),
            tuple((place, value) for place, value in message.get("answers", ())),
            tuple((kind, where, digest) for kind, where, digest in message.get("draws", ())),
            message.get("digest", ""),
            message.get("models", ""),
            message.get("generators", {}),
            tuple(message.get("lost", ())),
            tuple(message.get("held", ())),
            message.get("written", {}),
            tuple(message.get("elsewhere", ())),
            tuple(message.get("early", ())),
            tuple(message.get("processes", ())),
            message.get("state"),
            message.get("drawn"),
            bool(message.get("ended")),
            None if failure is None else Failure(**failure),
        )


@dataclass(frozen=True)
class Files:
    """Files that a script used: names, and the step in which it did first.

    Attributes:
        reads: Those that it read.
        writes: Those that it wrote.
        stale: Those that it read before it wrote them.
    """

    reads: Mapping[str, int] = field(default_factory=dict)
    writes: Mapping[str, int] = field(default_factory=dict)
    stale: tuple[str, ...] = ()


@dataclass(frozen=True)
class Request:
    """What a plain run is asked to do.

    Attributes:
        script: The script.
        arguments: Its arguments.
        most_steps: Most steps; None for all.
        seconds: How long steps are watched; None for any time.
        dump: The borders at which the state is written down; None for none at all.
        generators: Where the generators begin; empty for wherever they are.
        other_hashes: Whether texts have other hashes than elsewhere.
        network: Whether there is one.
        held: Names of modules that are not trained, and are state from the beginning.
    """

    script: Path
    arguments: tuple[str, ...] = ()
    most_steps: int | None = None
    seconds: float | None = None
    dump: frozenset[int] | None = None
    generators: Mapping[str, Any] = field(default_factory=dict)
    other_hashes: bool = False
    network: bool = True
    held: frozenset[str] = frozenset()


class PlainProcess:
    """A plain run that is going on.

    Args:
        request: What it is asked to do.
        folder: Where it works.
        scratch: A folder for what it writes down and prints.
    """

    def __init__(self, request: Request, folder: WorkFolder, scratch: Path) -> None:
        self._scratch = scratch
        self._log = scratch / "printed"
        command, hashing = hashing_otherwise(MODULE) if request.other_hashes else (program_command(MODULE), {})
        offline = {} if request.network else OFFLINE
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # What it starts ends with it.
            start_new_session=hasattr(os, "setsid"),
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            env=program_environment(**_UNCOMPILED, **offline, **hashing),
        )
        self.generators: Mapping[str, Any] = {}
        self.files = Files()
        self._waits = request.dump is not None
        self._write(
            {
                "script": os.path.abspath(request.script),
                "arguments": list(request.arguments),
                "paths": sys.path,
                "original": str(folder.original),
                "folder": str(folder.path),
                "log": str(self._log),
                "steps": request.most_steps,
                "seconds": request.seconds,
                "dump": None if request.dump is None else sorted(request.dump),
                "states": str(scratch),
                "generators": request.generators,
                "network": request.network,
                "held": sorted(request.held),
                "waits": self._waits,
            }
        )

    def _write(self, message: Any) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # where it is gone, reading says so
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def borders(self) -> Iterator[Border]:
        """Yield what the script did from border to border; its process goes on when the next one is asked for.

        Raises:
            DataError: The process ended without a word.
        """
        assert self._process.stdout is not None
        number, ended = 0, False
        for line in self._process.stdout:
            message = json.loads(line)
            if "files" in message:
                files = message["files"]
                self.files = Files(files["reads"], files["writes"], tuple(files["stale"]))
            elif "cut" in message:
                ended = True
            elif "border" in message:
                number = message["border"]
                yield Border.of(message, number)
                if self._waits:
                    self._write("go")
            elif "ended" in message:
                ended = True
                yield Border.of(message, number)
            else:
                self.generators = message["generators"]
        if not ended:
            raise DataError(
                f"The script ended its own process, with the code {self._process.wait()}, after {number} steps of its "
                "plain run.",
                remedy="Run it by itself and see why; or order the steps before with --max-steps.",
                detail=self.printed(),
            )

    def printed(self) -> str:
        """Return the end of what the script printed."""
        with suppress(OSError):
            return self._log.read_bytes()[-_LOG_END:].decode(errors="replace")
        return ""

    def tensors(self, border: Border) -> dict[str, Tensor]:
        """Return what was written down at a border, by name; it lies on the disk, and is read where it is used."""
        name = "tail" if border.is_end else str(border.number)
        return _mapped(self._scratch / name, border.state or ())

    def draws(self, border: Border) -> list[Draw]:
        """Return what was drawn for models in the step before a border."""
        read = _mapped(self._scratch / f"draws-{border.number}", border.draws or ())
        return [(name.partition(":")[2], values) for name, values in read.items()]

    def forget(self, number: int) -> None:
        """Remove what was written down at a border."""
        for name in (str(number), f"draws-{number}"):
            (self._scratch / name).unlink(missing_ok=True)

    def close(self) -> None:
        """End the process, and whatever it started."""
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def _mapped(path: Path, listed: Sequence[Any]) -> dict[str, Tensor]:
    size = path.stat().st_size
    if not size:
        return {name: torch.zeros(shape, dtype=getattr(torch, dtype)) for name, dtype, shape in listed}
    # Written by this program's own process; whatever reads it does not write.
    data = torch.from_numpy(np.memmap(path, np.uint8, mode="c"))
    found, place = {}, 0
    for name, dtype, shape in listed:
        kind = getattr(torch, dtype)
        length = math.prod(shape) * kind.itemsize
        found[name] = data[place : place + length].view(kind).reshape(shape)
        place += length + -length % ALIGNMENT
    return found


@contextmanager
def plain_process(
    request: Request, folder: WorkFolder, scratch: Path, begun: Callable[[PlainProcess], None] = lambda _: None
) -> Iterator[PlainProcess]:
    """Begin a plain run; it is ended afterwards, wherever it is.

    Args:
        request: What it is asked to do.
        folder: Where it works.
        scratch: An empty folder of its own.
        begun: Is told of it.
    """
    process = PlainProcess(request, folder, scratch)
    try:
        begun(process)
        yield process
    finally:
        process.close()
