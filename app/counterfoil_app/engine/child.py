"""The engine's own process: carries out what the window asks, in a box where a broker started it.

Why a process: importing torch and compiling kernels hold the interpreter for up to half a second at a time, whatever
thread does it (docs/adr/0007). It also keeps the window alive when the engine dies.
"""

from __future__ import annotations

import sys
from pathlib import Path

from counterfoil.talk import table
from counterfoil.talk.line import Line
from counterfoil_app.engine.port import ENGINE, PROGRESS, Engine

LIGHT, WHOLE = "light", "whole"
"""What a process of a broker has loaded by the time that it hears which box it is to be in: what looks at files alone,
or what computes too."""


def main() -> None:
    """Carry out calls until the window hangs up: what the engine's process is."""
    line = Line(table.ENGINE, ENGINE, newest=PROGRESS, leaves=False)
    engine = Engine(forks=sys.argv[1:] == [LIGHT])
    if sys.argv[1:] == [LIGHT]:
        import counterfoil.audit.overview
        import counterfoil.audit.recognition
        import counterfoil.sandbox.apart
        import counterfoil.sandbox.kernel
        import counterfoil.training.previews
    elif sys.argv[1:]:
        import counterfoil.audit.boxed.questions
        import counterfoil.audit.boxed.work  # noqa: F401  with all that an audit loads
    if sys.argv[1:]:
        enclosure = line.enclosed(engine)
        if enclosure is None:
            return
        from counterfoil.audit.boxed.questions import Asking

        engine = Engine(Asking(line, Path(enclosure.scratch)), Path(enclosure.scratch))
    line.serve(engine)
    engine.close()
