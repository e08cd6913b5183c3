"""The process in the box: closes it before anything else is loaded, and then does what it was started for."""

from __future__ import annotations

import signal
from pathlib import Path

from counterfoil.audit.boxed.enclosure import Enclosure
from counterfoil.audit.parts.frames import receive
from counterfoil.frames import own_pipes
from counterfoil.sandbox import box


def main() -> None:
    """Do what the first messages say; end with whoever started this process."""
    # Ctrl-C reaches all processes of a terminal; whoever started this one says when it is to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    questions, answers = own_pipes()
    enclosure = receive(questions, Enclosure)
    if enclosure is None:
        return
    box.enter(enclosure.reads, [enclosure.scratch])
    from counterfoil.audit.boxed.work import serve

    serve(questions, answers, Path(enclosure.scratch))
