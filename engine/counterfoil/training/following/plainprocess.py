"""A plain run from outside: its process, what it says at each border, and the states that it writes down."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from counterfoil.talk.process import Process, Start, Words
from counterfoil.talk.programs import hashing_otherwise, program_command, program_environment
from counterfoil.talk.table import PLAIN_RUN
from counterfoil.training.following.plainreport import Border, Files, Generators, Listed, Request
from counterfoil.training.following.plainrun import ALIGNMENT, MODULE, PLAIN, PRINTED, READER, run_plainly
from counterfoil.training.following.scriptdraws import Draw
from counterfoil.training.scripts.workfolder import WorkFolder
from counterfoil_core.base.errors import CounterfoilError, DataError

OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "WANDB_MODE": "disabled"}
"""What tells libraries that there is no network: they look before they ask."""
_UNCOMPILED = {"TORCHDYNAMO_DISABLE": "1", "CUDA_VISIBLE_DEVICES": ""}
"""Compiled code is computed as it is written, where it is computed on."""
_LOG_END = 2_000
"""So much of what a script printed last is told where it fails, in bytes."""


class PlainProcess(Words):
    """A plain run that is going on.

    Args:
        request: What it is asked to do.
        folder: Where it works.
        scratch: A folder for what it writes down and prints.
    """

    def __init__(self, request: Request, folder: WorkFolder, scratch: Path) -> None:
        self._scratch = scratch
        command, hashing = hashing_otherwise(MODULE) if request.other_hashes else (program_command(MODULE), {})
        offline = {} if request.network else OFFLINE
        environment = program_environment(**_UNCOMPILED, **offline, **hashing)
        self._process = Process(PLAIN_RUN, self, Start(command, environment, leads=True))
        self.generators: Generators = {}
        self.files = Files()
        self._number = 0
        # Its process works in another folder than this one.
        asked = replace(request, script=Path(os.path.abspath(request.script)))
        call = PLAIN.call(run_plainly, (asked, folder, scratch, tuple(sys.path)), {})
        self._said = self._process.ask(PLAIN, call, offers=((READER, None),))

    def ended(self, code: int) -> CounterfoilError:
        """Say that the script ended it."""
        return DataError(
            f"The script ended its own process, with the code {code}, after {self._number} steps of its plain run.",
            remedy="Run it by itself and see why; or order the steps before with --max-steps.",
            detail=self.printed(),
        )

    def borders(self) -> Iterator[Border]:
        """Yield what the script did from border to border; its process goes on when the next one is asked for.

        Raises:
            DataError: The process ended without a word.
        """
        for said in self._said:
            if isinstance(said, Border):
                self._number = said.number
                yield said
            elif isinstance(said, Files):
                self.files = said
                return
            else:
                self.generators = said.generators

    def printed(self) -> str:
        """Return the end of what the script printed."""
        with suppress(OSError):
            return (self._scratch / PRINTED).read_bytes()[-_LOG_END:].decode(errors="replace")
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
        self._process.end(now=True)


def _mapped(path: Path, listed: Listed) -> dict[str, Tensor]:
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
