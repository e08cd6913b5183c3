"""The process in the box: loads what a replay needs, closes the box, and only then hears what it is to do."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

from counterfoil.audit.boxed import work
from counterfoil.audit.boxed.answers import Answers
from counterfoil.audit.boxed.questions import Asking
from counterfoil.audit.boxed.tasks import TASKS, Inside
from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.talk.line import Line
from counterfoil.talk.table import REPLAY


def main() -> None:
    """Do what the first messages say; end with whoever started this process."""
    line = Line(REPLAY, TASKS)
    enclosure = line.enclosed()
    if enclosure is None:
        return
    worker = threading.get_ident()
    with cancel_on_interrupt([signal.SIGTERM]) as cancel:
        asking = Asking(line, Path(enclosure.scratch))
        line.serve(
            Inside(cancel, asking, Path(enclosure.scratch)),
            first=lambda: asking.ask(Answers.compile) if work.lacks_kernels() else None,
            tokens=lambda: cancel,
            stop=lambda _token: signal.pthread_kill(worker, signal.SIGTERM),
        )
