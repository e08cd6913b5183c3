"""The process in the box: loads what a replay needs, closes the box, and only then hears what it is to do."""

from __future__ import annotations

from pathlib import Path

from counterfoil.audit.boxed.messages import Enclosure
from counterfoil.audit.boxed.work import serve
from counterfoil.audit.parts.frames import receive
from counterfoil.sandbox import box
from counterfoil.talk.frames import own_pipes


def main() -> None:
    """Do what the first messages say; end with whoever started this process."""
    questions, answers = own_pipes()
    enclosure = receive(questions, Enclosure)
    if enclosure is not None:
        box.enter(enclosure.reads, [enclosure.scratch])
        serve(questions, answers, Path(enclosure.scratch))
