"""The process that closes a box around itself, for good, and says how far it closed."""

from __future__ import annotations

from counterfoil.doctor.observations import LOOKS, Box
from counterfoil.sandbox.box import enter
from counterfoil.talk.line import Line
from counterfoil.talk.table import LOOK_AT_SANDBOX


def main() -> None:
    """Close the box as a replay does, and say how far that went."""
    line = Line(LOOK_AT_SANDBOX, LOOKS)
    closed = enter([])
    line.serve(lambda: iter((Box(closed.features, closed.missing),)))
