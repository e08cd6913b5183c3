"""The window with nothing open: one sentence on what to do, a place to drop a file, recent files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from counterfoil_app.engine import strangers
from counterfoil_app.looks import icons
from counterfoil_app.looks.fonts import scaled
from counterfoil_app.views.header import ActionButton
from counterfoil_app.views.parts import caption, clear_layout, label, restyle

LOGO_PIXELS = 72


class WelcomeView(QWidget):
    """Shown while no bundle is open."""

    recent_chosen = Signal(Path)
    sample_cancelled = Signal()

    def __init__(self, open_action: QAction, sample_actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        width = max(620, self.fontMetrics().averageCharWidth() * 88)
        self.drop = QFrame()
        self.drop.setObjectName("drop")
        self.drop.setFixedWidth(width)
        logo = QLabel()
        logo.setPixmap(icons.pixmap("counterfoil", "#000000", scaled(LOGO_PIXELS), self.devicePixelRatioF()))
        logo.setAlignment(Qt.AlignmentFlag.AlignCenter)
        title = label(self.tr("Is the training you ordered the training that happened?"), "title")
        font = title.font()
        font.setPointSizeF(font.pointSizeF() * 1.4)
        title.setFont(font)
        sentence = label(
            self.tr("Open the trainer's run (a .cfoil file), or drop it here, and replay it on this machine."), "muted"
        )
        for line in (title, sentence):
            line.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.button = ActionButton(open_action, primary=True)
        inside = QVBoxLayout(self.drop)
        inside.setContentsMargins(40, 34, 40, 34)
        inside.setSpacing(14)
        for widget in (logo, title, sentence):
            inside.addWidget(widget)
        inside.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        self.samples = [ActionButton(action) for action in sample_actions]
        self.sample_progress = label("", "muted")
        self.sample_progress.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.cancel_sample = QPushButton(self.tr("Cancel"))
        self.cancel_sample.setAccessibleName(self.tr("Cancel recording the sample"))
        self.cancel_sample.clicked.connect(self.sample_cancelled)
        no_run = label(self.tr("No run at hand? Try one that is recorded on this machine:"), "muted")
        no_run.setAlignment(Qt.AlignmentFlag.AlignCenter)
        buttons = QHBoxLayout()
        buttons.setSpacing(10)
        buttons.addStretch(1)
        for button in self.samples:
            buttons.addWidget(button)
        buttons.addWidget(self.cancel_sample)
        buttons.addStretch(1)
        inside.addSpacing(8)
        inside.addWidget(no_run)
        inside.addLayout(buttons)
        inside.addWidget(self.sample_progress)
        self.show_sample("")
        self._recent_title = caption(self.tr("Recent"), "section")
        self._recent_title.setFixedWidth(width)
        recent = QWidget()
        recent.setFixedWidth(width)
        self._recent = QVBoxLayout(recent)
        self._recent.setContentsMargins(0, 0, 0, 0)
        self._recent.setSpacing(2)
        column = QVBoxLayout()
        column.addStretch(2)
        for part in (self.drop, self._recent_title, recent):
            column.addWidget(part)
        column.addStretch(3)
        # Stretches beside the column, and no alignment: an aligned widget is not asked how high its wrapped text is.
        page = QWidget()
        row = QHBoxLayout(page)
        row.addStretch(1)
        row.addLayout(column)
        row.addStretch(1)
        scroll = QScrollArea()
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(page)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)

    def show_recent(self, paths: Sequence[Path]) -> None:
        """List the recent bundles."""
        clear_layout(self._recent)
        self._recent_title.setVisible(bool(paths))
        for path in paths[:5]:
            button = QPushButton(strangers.sentence(f"{path.name} \u2014 {path.parent}").replace("&", "&&"))
            button.setProperty("link", True)
            button.setAccessibleName(str(path))
            button.setToolTip(str(path))
            button.clicked.connect(lambda _checked=False, chosen=path: self.recent_chosen.emit(chosen))
            self._recent.addWidget(button)

    def show_sample(self, sentence: str) -> None:
        """Say how far the sample is; an empty sentence when none is being recorded."""
        self.sample_progress.setText(sentence)
        self.sample_progress.setVisible(bool(sentence))
        self.cancel_sample.setVisible(bool(sentence))
        for button in self.samples:
            button.setVisible(not sentence)

    def show_hot(self, hot: bool) -> None:
        """Show that a dragged file would be taken."""
        restyle(self.drop, "hot", hot)
