"""Colours: one set of tokens for light and one for dark, feeding the palette, the style sheet, icons and plot pens."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from importlib import resources
from string import Template

from PySide6.QtCore import QDir, QObject, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from counterfoil_app.model.settings import ThemeChoice


class Tone(Enum):
    """The meaning of a colour; the value is the name of its token."""

    OK = "ok"
    BAD = "bad"
    WARN = "warn"
    INFO = "info"
    MUTED = "muted"


@dataclass(frozen=True)
class Tokens:
    """The colours of a theme as ``#rrggbb``.

    ``name`` begins the names of its pictures. ``*_tint`` is the background that goes with a tone, ``bad_selected`` that
    of a bad line that is selected. ``same`` and ``differs`` fill areas beside each other: they differ in brightness for
    every kind of colour vision, from each other and from the background. ``trainer`` and ``replay`` are the two sides
    in plots, ``other`` is a run beside them, and ``apart``, ``log`` and ``corrected`` are quantities of their own.
    """

    name: str
    background: str
    surface: str
    stripe: str
    text: str
    muted: str
    border: str
    control: str
    selection: str
    accent: str
    accent_hover: str
    on_accent: str
    progress: str
    ok: str
    ok_tint: str
    bad: str
    bad_tint: str
    bad_selected: str
    warn: str
    warn_tint: str
    info: str
    info_tint: str
    same: str
    differs: str
    trainer: str
    replay: str
    other: str
    apart: str
    log: str
    corrected: str

    def tone(self, tone: Tone) -> str:
        """The foreground of a tone."""
        return str(getattr(self, tone.value))

    def tint(self, tone: Tone) -> str:
        """The background of a tone."""
        return self.surface if tone is Tone.MUTED else str(getattr(self, f"{tone.value}_tint"))


_COLOURS = {
    "background": ("#f3f5f7", "#15181c"),
    "surface": ("#ffffff", "#1c2025"),
    "stripe": ("#f8f9fb", "#20252b"),
    "text": ("#1b1f24", "#e7eaee"),
    "muted": ("#57606a", "#a3adb8"),
    "border": ("#d5dbe1", "#343b43"),
    "control": ("#8c959f", "#6b7683"),
    "selection": ("#cfe3f8", "#254463"),
    "accent": ("#0b5cad", "#62aef7"),
    "accent_hover": ("#094d91", "#86c1f9"),
    "on_accent": ("#ffffff", "#0c1116"),
    "progress": ("#a9cdf0", "#2c5f94"),
    "ok": ("#176b31", "#5ac978"),
    "ok_tint": ("#e7f5ea", "#162c1d"),
    "bad": ("#a8201a", "#ff8a80"),
    "bad_tint": ("#fdebe9", "#3a1c1b"),
    "bad_selected": ("#f5beb9", "#6b2b29"),
    "warn": ("#7d5200", "#e3b74a"),
    "warn_tint": ("#fdf3d7", "#332910"),
    "info": ("#0b5cad", "#62aef7"),
    "info_tint": ("#e8f1fb", "#15283c"),
    "same": ("#378b52", "#37804d"),
    "differs": ("#520b09", "#ffcdc6"),
    "trainer": ("#b35900", "#f0a14f"),
    "replay": ("#0b5cad", "#62aef7"),
    "other": ("#5b6470", "#b3bcc6"),
    "apart": ("#9c2470", "#f08cc4"),
    "log": ("#0e6f68", "#4fc7ba"),
    "corrected": ("#6a3fb0", "#c3a1f5"),
}
"""Each colour, on light and on dark."""
LIGHT = Tokens("light", **{name: light for name, (light, _) in _COLOURS.items()})
DARK = Tokens("dark", **{name: dark for name, (_, dark) in _COLOURS.items()})


def style_sheet(tokens: Tokens) -> str:
    """The style sheet with the tokens filled in; a token that does not exist is a KeyError."""
    template = resources.files("counterfoil_resources").joinpath("themes", "window.qss").read_text("utf-8")
    return Template(template).substitute(asdict(tokens))


def tokens_in_use() -> Tokens:
    """The colours that the application shows now, for what has no theme at hand."""
    return DARK if QGuiApplication.palette().window().color() == QColor(DARK.background) else LIGHT


def palette(tokens: Tokens) -> QPalette:
    """The Qt palette of a theme."""
    role = QPalette.ColorRole
    colours = {
        role.Window: tokens.background,
        role.WindowText: tokens.text,
        role.Base: tokens.surface,
        role.AlternateBase: tokens.stripe,
        role.Text: tokens.text,
        role.PlaceholderText: tokens.muted,
        role.Button: tokens.surface,
        role.ButtonText: tokens.text,
        role.BrightText: tokens.bad,
        role.ToolTipBase: tokens.surface,
        role.ToolTipText: tokens.text,
        role.Highlight: tokens.accent,
        role.HighlightedText: tokens.on_accent,
        role.Link: tokens.accent,
        role.LinkVisited: tokens.accent,
        # Fusion draws frames, tab bases and scroll bars with these.
        role.Light: tokens.border,
        role.Midlight: tokens.border,
        role.Mid: tokens.border,
        role.Dark: tokens.control,
        role.Shadow: tokens.border,
    }
    result = QPalette()
    for name, colour in colours.items():
        result.setColor(name, QColor(colour))
    for name in (role.WindowText, role.Text, role.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, name, QColor(tokens.muted))
    return result


class Theme(QObject):
    """The theme in use. It follows the system unless the user chose one.

    Its style sheet comes last, when the window is whole (:meth:`put_on`): with a sheet Qt dresses whatever is put into
    something else anew, with all that it holds, and a window is put together from the inside out.
    """

    changed = Signal()

    def __init__(self, application: QApplication, choice: ThemeChoice, parent: QObject | None = None) -> None:
        super().__init__(parent)
        # What the style sheet calls theme:, Qt looks for here.
        QDir.setSearchPaths("theme", [str(resources.files("counterfoil_resources").joinpath("themes"))])
        self._application = application
        self._choice = choice
        self.tokens = self._wanted()
        application.styleHints().colorSchemeChanged.connect(self._refresh)
        application.setStyleSheet("")
        self._paint()

    def put_on(self) -> None:
        """Give the application the style sheet; call it when the window is put together."""
        self._application.setStyleSheet(style_sheet(self.tokens))

    def choose(self, choice: ThemeChoice) -> None:
        """Use another theme from now on."""
        self._choice = choice
        self._refresh()

    def _wanted(self) -> Tokens:
        dark = self._application.styleHints().colorScheme() == Qt.ColorScheme.Dark
        if self._choice is not ThemeChoice.SYSTEM:
            dark = self._choice is ThemeChoice.DARK
        return DARK if dark else LIGHT

    def _refresh(self) -> None:
        tokens = self._wanted()
        if tokens != self.tokens:
            self.tokens = tokens
            self._paint()
            self.put_on()
            self.changed.emit()

    def _paint(self) -> None:
        self._application.setStyle("Fusion")
        self._application.setPalette(palette(self.tokens))
