"""Who Counterfoil is, and in which versions."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from counterfoil import __version__
from counterfoil_app.looks import icons
from counterfoil_app.looks.fonts import scaled
from counterfoil_app.shell.versions import versions, versions_text
from counterfoil_app.views.frame import Body
from counterfoil_app.views.parts import Field, FieldGrid, label

LOGO_PIXELS = 64


class AboutDialog(QDialog):
    """Name, purpose, licence and versions, which can be copied."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("About Counterfoil"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        logo = QLabel()
        logo.setPixmap(icons.pixmap("counterfoil", "#000000", scaled(LOGO_PIXELS), self.devicePixelRatioF()))
        logo.setAlignment(Qt.AlignmentFlag.AlignTop)
        title = label(f"Counterfoil {__version__}", "title")
        font = title.font()
        font.setPointSizeF(font.pointSizeF() * 1.5)
        title.setFont(font)
        purpose = label(self.tr("Find out whether the training you ordered is the training that happened."))
        licence = label(self.tr("Free software under the Apache License 2.0, without any warranty."), "muted")
        fonts = label(
            self.tr("Fonts: Inter and JetBrains Mono, changed, under the SIL Open Font License 1.1."), "muted"
        )
        self.versions = FieldGrid()
        self.versions.show_fields([Field(name, version) for name, version in versions()])
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.copy = self.buttons.addButton(self.tr("&Copy versions"), QDialogButtonBox.ButtonRole.ActionRole)
        words = QVBoxLayout()
        words.setSpacing(6)
        for widget in (title, purpose, licence, fonts):
            words.addWidget(widget)
        head = QHBoxLayout()
        head.setSpacing(16)
        head.addWidget(logo)
        head.addLayout(words, 1)
        column = Body(self, self.buttons)
        column.setSpacing(14)
        column.addLayout(head)
        column.addWidget(self.versions)
        column.addStretch(1)
        self.buttons.rejected.connect(self.reject)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(versions_text()))
        column.fit(self.fontMetrics().averageCharWidth() * 70)
