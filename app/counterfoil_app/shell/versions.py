"""The versions that a report of a fault needs, read without importing the packages."""

from __future__ import annotations

import platform
from importlib import metadata

from PySide6.QtCore import QLibraryInfo, QSysInfo

from counterfoil import __version__

PACKAGES = ("torch", "numpy", "h5py", "numba", "cryptography", "PySide6-Essentials", "pyqtgraph")


def versions() -> tuple[tuple[str, str], ...]:
    """Pairs of name and version: Counterfoil, Python, Qt, the system, and the packages that results depend on."""
    found = [
        ("Counterfoil", __version__),
        ("Python", platform.python_version()),
        ("Qt", QLibraryInfo.version().toString()),
        ("System", f"{QSysInfo.prettyProductName()}, {QSysInfo.currentCpuArchitecture()}"),
    ]
    for name in PACKAGES:
        try:
            found.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            found.append((name, "-"))
    return tuple(found)


def versions_text() -> str:
    """The versions, one per line."""
    return "\n".join(f"{name}: {version}" for name, version in versions())
