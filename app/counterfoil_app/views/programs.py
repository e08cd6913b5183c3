"""The programs of an order as lines of an overview. Pure."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from counterfoil import BundleSummary


def _tr(source: str) -> str:
    return QCoreApplication.translate("programs", source)


def program_lines(summary: BundleSummary) -> list[tuple[str, str, bool]]:
    """Return name, value and whether the value is a digest: of the program, or of each that takes turns and how."""
    order = summary.order
    if not order.pattern:
        return [(_tr("Program"), digest.hex, True) for _, digest in order.programs]
    turns = (_tr("Turns"), ", ".join(order.pattern), False)
    return [turns, *((_tr("Program {0}").format(name), digest.hex, True) for name, digest in order.programs)]
