"""Starts the process in the box, early: what a replay needs takes seconds to load.

The process loads it before it closes its box: it reads nothing but the installation until then. So it can be started
before anybody knows which files it is to read. This module loads nothing that takes time itself, for every command
loads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from counterfoil_core.base.errors import CounterfoilError

if TYPE_CHECKING:
    from counterfoil.talk.process import Process

REPLAYING = ("audit", "follow", "merge", "adjudicate")
"""The commands that replay for a verdict."""
_early: list[Process] = []


def why_open(device: str) -> str:
    """Why work on a device is done in this process and in no box; empty where there is one."""
    from counterfoil.sandbox import box

    cuda = "not closed with CUDA, whose driver needs more than files" if "cuda" in device else ""
    return box.why_none() or cuda


def start_early(arguments: Sequence[str]) -> None:
    """Start the process that a command will need, as far as its arguments tell: their reading takes time too."""
    if arguments[1:2] and arguments[1] in REPLAYING and "--help" not in arguments and not why_open(" ".join(arguments)):
        try:
            _early.append(_start())
        except CounterfoilError:  # it is started again, where somebody can say what fails
            return


def replay_process() -> Process:
    """Return the process, started now unless it was before; raises ObstacleError."""
    return _early.pop() if _early else _start()


def _start() -> Process:
    from counterfoil.audit.boxed.words import ReplayWords
    from counterfoil.talk.process import Process
    from counterfoil.talk.table import REPLAY

    return Process(REPLAY, ReplayWords())
