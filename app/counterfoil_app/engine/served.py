"""The engine for a window on another machine: what ssh starts there."""

from __future__ import annotations

import sys

from counterfoil.audit.boxed.start import why_open


def main() -> None:
    """Be the broker of processes in boxes, or one process that does all, until the window hangs up."""
    sys.argv[:] = sys.argv[:1]  # the process has no arguments but those of its pipes
    if why_open(""):
        from counterfoil_app.engine.child import main as serve
    else:
        from counterfoil_app.engine.broker import main as serve
    serve()
