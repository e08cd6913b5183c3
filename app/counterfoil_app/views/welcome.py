"""The window with nothing open: one sentence on what to do, a place to drop a file, recent files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QWidget

from counterfoil_app.engine import strangers
from counterfoil_app.views import layouts
from counterfoil_app.views.header import ActionButton
from counterfoil_app.views.parts import caption, clear_layout, enlarged, label, logo, restyle

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
        mark = logo(LOGO_PIXELS)
        title = enlarged(label(self.tr("Is the training you ordered the training that happened?"), "title"), 1.4)
        sentence = label(
            self.tr("Open the trainer's run (a .cfoil file), or drop it here, and replay it on this machine."), "muted"
        )
        self.button = ActionButton(open_action, primary=True)
        self.samples = [ActionButton(action) for action in sample_actions]
        self.sample_progress = label("", "muted")
        self.cancel_sample = layouts.button(
            self.tr("Cancel"), self.sample_cancelled, name=self.tr("Cancel recording the sample")
        )
        no_run = label(self.tr("No run at hand? Try one that is recorded on this machine:"), "muted")
        for line in (mark, title, sentence, no_run, self.sample_progress):
            line.setAlignment(Qt.AlignmentFlag.AlignCenter)
        first = (mark, title, sentence, (self.button, 0, Qt.AlignmentFlag.AlignHCenter))
        inside = layouts.column(*first, inside=self.drop, margins=(40, 34, 40, 34), spacing=14)
        inside.addSpacing(8)
        layouts.fill(inside, no_run, layouts.row(1, *self.samples, self.cancel_sample, 1, spacing=10))
        layouts.fill(inside, self.sample_progress)
        self.show_sample("")
        self._recent_title = caption(self.tr("Recent"), "section")
        recent = QWidget()
        self._recent = layouts.column(inside=recent, margins=layouts.NONE, spacing=2)
        for part in (self.drop, self._recent_title, recent):
            part.setFixedWidth(width)
        column = layouts.column(2, self.drop, self._recent_title, recent, 3)
        # Stretches beside the column, and no alignment: an aligned widget is not asked how high its wrapped text is.
        page = QWidget()
        layouts.row(1, column, 1, inside=page)
        scroll = QScrollArea()
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(page)
        layouts.column(scroll, inside=self, margins=layouts.NONE)

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
        for part in (self.sample_progress, self.cancel_sample):
            part.setVisible(bool(sentence))
        for button in self.samples:
            button.setVisible(not sentence)

    def show_hot(self, hot: bool) -> None:
        """Show that a dragged file would be taken."""
        restyle(self.drop, "hot", hot)
