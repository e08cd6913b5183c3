"""The process in a box that says who signed a run or a capsule: it loads no torch, and ends when it has said so."""

from __future__ import annotations

from pathlib import Path

from counterfoil.audit.boxed.questions import Asking
from counterfoil.audit.boxed.tasks import TASKS, Inside
from counterfoil.talk.line import Line
from counterfoil.talk.table import LOOKUP
from counterfoil_core.base.cancel import CancelToken


def main() -> None:
    """Do what the first messages say."""
    line = Line(LOOKUP, TASKS)
    enclosure = line.enclosed()
    if enclosure is not None:
        scratch = Path(enclosure.scratch)
        line.serve(Inside(CancelToken(), Asking(line, scratch), scratch))
