"""Who Counterfoil is, and in which versions."""

from __future__ import annotations

import platform
from importlib import metadata

from PySide6.QtCore import QLibraryInfo, QSysInfo, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QWidget

from counterfoil import __version__
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import Body
from counterfoil_app.views.parts import Field, FieldGrid, enlarged, label, logo

LOGO_PIXELS = 64
PACKAGES = ("torch", "numpy", "h5py", "numba", "cryptography", "PySide6-Essentials", "pyqtgraph")


def versions() -> tuple[tuple[str, str], ...]:
    """Pairs of name and version: Counterfoil, Python, Qt, the system, and the packages that results depend on.

    They are read without importing the packages.
    """
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


class AboutDialog(QDialog):
    """Name, purpose, licence and versions, which can be copied."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("About Counterfoil"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        mark = logo(LOGO_PIXELS)
        mark.setAlignment(Qt.AlignmentFlag.AlignTop)
        title = enlarged(label(f"Counterfoil {__version__}", "title"), 1.5)
        purpose = label(self.tr("Find out whether the training you ordered is the training that happened."))
        licence = label(self.tr("Free software under the Apache License 2.0, without any warranty."), "muted")
        fonts = label(
            self.tr("Fonts: Inter and JetBrains Mono, changed, under the SIL Open Font License 1.1."), "muted"
        )
        self.versions = FieldGrid()
        self.versions.show_fields([Field(name, version) for name, version in versions()])
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.copy = self.buttons.addButton(self.tr("&Copy versions"), QDialogButtonBox.ButtonRole.ActionRole)
        words = layouts.column(title, purpose, licence, fonts, spacing=6)
        head = layouts.row(mark, (words, 1), spacing=16)
        column = layouts.fill(Body(self, self.buttons), head, self.versions, 1, spacing=14)
        self.buttons.rejected.connect(self.reject)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(versions_text()))
        column.fit(self.fontMetrics().averageCharWidth() * 70)
