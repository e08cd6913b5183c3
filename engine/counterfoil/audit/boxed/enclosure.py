"""The first message to a process in a box, in a module of its own.

What else were loaded before the box is closed may start threads, which it would not bind.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Enclosure:
    """What the box lets through.

    Attributes:
        reads: Files that the process reads, beside the installation.
        scratch: The one folder that it writes to.
    """

    reads: tuple[str, ...]
    scratch: str
