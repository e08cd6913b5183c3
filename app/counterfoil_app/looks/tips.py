"""Tool tips, which Qt reads as markup where they look like it: here they are what they say.

Names of files, tensors and machines are a stranger's. A run called ``run<h1><font color=green>VERIFIED`` would draw
that beside it, with pictures from anywhere.
"""

from __future__ import annotations

from typing import Protocol

from PySide6.QtGui import Qt  # not that of QtCore, which lacks these two


class HasTip(Protocol):
    """A widget, an action, a cell or an item of a scene."""

    def toolTip(self) -> str:  # noqa: N802 - Qt's name
        """Return the tip."""

    def setToolTip(self, tip: str, /) -> object:  # noqa: N802 - Qt's name
        """Set the tip."""


def plain(text: str) -> str:
    """Return a text that Qt shows as it is, wherever it decides by itself whether a text is markup."""
    return Qt.convertFromPlainText(text, Qt.WhiteSpaceMode.WhiteSpaceNormal) if Qt.mightBeRichText(text) else text


def set_tip(shown: HasTip, text: str) -> None:
    """Set the tool tip; nothing outside this module calls Qt's own."""
    shown.setToolTip(plain(text))


def copy_tip(shown: HasTip, source: HasTip) -> None:
    """Give one the tip of another, which is plain already: it would be written out once more."""
    shown.setToolTip(source.toolTip())
