"""Starts the process in the box, early: what a replay needs takes seconds to load.

The process loads it before it closes its box: it reads nothing but the installation until then. So it can be started
before anybody knows which files it is to read. This module loads nothing that takes time itself, for every command
loads it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from counterfoil.talk.process import Words, how_ended
from counterfoil_core.base.errors import CounterfoilError, ObstacleError, WorkerError
from counterfoil_core.base.sentence import say

if TYPE_CHECKING:
    from counterfoil.talk.process import Process

# What is said where the process that replays does not do what it should.


class ReplayWords(Words):
    """Of a replay in a box."""

    def unstarted(self, error: OSError) -> CounterfoilError:
        """The system does not start it."""
        return ObstacleError(say("No process can be started for the replay: {0}.", error.strerror or error))

    def ended(self, code: int) -> CounterfoilError:
        """It ended before its work was done."""
        return WorkerError(
            say("The process that replays the run ended: {0}. Nothing was concluded.", how_ended(code)),
            remedy=say("It may have been short of memory. What was judged is kept: go on with --resume."),
        )

    def nonsense(self, error: Exception) -> CounterfoilError:
        """It said what it may not say."""
        return CounterfoilError(
            say("The process that replays the run said what it may not say."),
            remedy=say("Do not use its results: the file that was audited may have taken it over."),
            detail=repr(error),
        )


REPLAYING = ("audit", "follow", "merge", "adjudicate")
"""The commands that replay for a verdict."""
_early: list[Process] = []


def why_open(device: str) -> str:
    """Why work on a device is done in this process and in no box; empty where there is one."""
    from counterfoil.sandbox import box

    if sys.platform != "linux":
        return "this system has neither Landlock nor seccomp"
    if os.environ.get(box.SWITCH) == "off":
        return f"switched off by {box.SWITCH}"
    return "not closed with CUDA, whose driver needs more than files" if "cuda" in device else ""


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
    from counterfoil.talk.process import Process
    from counterfoil.talk.table import REPLAY

    return Process(REPLAY, ReplayWords())
