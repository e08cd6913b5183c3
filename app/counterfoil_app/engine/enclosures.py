"""What the process in a box may read for a call of the window, and what it asks for meanwhile.

The window names every file itself: as an argument of a call, or as a field of one.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from counterfoil.audit.boxed.files import paths_in
from counterfoil.signing.comparedsteps import comparison_path
from counterfoil.talk.port import Call

OUTPUTS = {"write_capsule": 1, "make_sample": 0, "hand_over_run": 3}
"""Calls that write a file or a folder, and which of their arguments names it."""
OWN = ("devices", "examine", "hand_over_run", "has_begun", "list_folder", "make_sample", "record_run", "version")
"""Calls that read nothing of a stranger's: a trainer's own order and files, and the names in a folder."""
BESIDE = (
    "capsule_subject", "check_rules", "client_order", "examine", "facts_as_json", "find", "hand_over_run", "handed_out",
    "has_begun", "inspect", "list_folder", "locate", "outline", "preview_data", "read_key", "read_ledger",
    "read_revocations", "read_verdict", "recognise", "run_facts", "version",
)  # fmt: skip
"""Calls that look at files and compute nothing: beside a replay, and without waiting for what a replay loads."""
STATEMENTS = ".json"
"""How the names of statements end that lie beside a verdict."""


@dataclass(frozen=True)
class Enclosure:
    """The first message to a process in a box: what it lets through.

    Attributes:
        reads: Files, and folders with all that is in them.
        lists: Folders whose names are read, and not their files.
        scratch: The one folder that it writes to.
        open: Why there is to be no box; empty where there is one.
    """

    reads: tuple[str, ...]
    lists: tuple[str, ...]
    scratch: str
    open: str = ""

    def lets(self, other: Enclosure) -> bool:
        """Whether a process in this box can do what another box is needed for."""
        return self.open == other.open and set(other.reads) <= set(self.reads) and set(other.lists) <= set(self.lists)


@dataclass(frozen=True)
class BoxQuestion:
    """What a process in a box asks of whoever started it.

    Attributes:
        call: The call that it is for.
        question: What it asks.
    """

    call: int
    question: Call


def enclosure_of(method: str, arguments: tuple[Any, ...], why_open: str) -> Enclosure:
    """Return the box that a call needs, without its folder.

    Args:
        method: Its name.
        arguments: Its arguments.
        why_open: Why a process that computes for it is to have no box; empty where it has one.
    """
    if method in OWN:  # which are told apart by nothing
        return Enclosure((), (), "", why_open)
    output = OUTPUTS.get(method)
    named = [path for place, each in enumerate(arguments) if place != output for path in paths_in(each)]
    if method == "follow":  # the run is made meanwhile, and read by the process that audits it
        named = [path for path in named if path != arguments[0].run]
    reads = [os.path.abspath(path) for path in named]
    lists: list[str] = []
    if method in ("check_rules", "read_verdict", "verify_weights"):
        for verdict in (path for path in named if path.name.lower().endswith(STATEMENTS)):
            folder = os.path.abspath(verdict.parent)
            lists.append(folder)
            reads += [os.path.join(folder, name) for name in _statements(folder)]
    if method in ("client_order", "inspect", "outline"):
        beside = (str(comparison_path(path)) for path in reads)
        reads += [path for path in beside if os.path.lexists(path)]
    return Enclosure(tuple(sorted(set(reads))), tuple(sorted(set(lists))), "", why_open)


def _statements(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.lower().endswith(STATEMENTS))
    except OSError:  # whoever looks for them says so
        return []
