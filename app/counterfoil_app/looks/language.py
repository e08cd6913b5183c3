"""The languages of the window: Counterfoil's own catalogues, and Qt's for its standard buttons and dialogs.

The catalogues are Qt Linguist's: ``resources/counterfoil_resources/translations/counterfoil_<code>.ts``, compiled to
``.qm``. docs/translations.md says how texts are added.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

SOURCE_LANGUAGE = "en"
LANGUAGES = {SOURCE_LANGUAGE: "English", "de": "Deutsch"}
"""The languages by their codes, each called what its speakers call it."""


def choose_language(wanted: str, system: QLocale | None = None) -> str:
    """The language to show: the wanted one if there is a catalogue for it, else the system's, else English."""
    if wanted in LANGUAGES:
        return wanted
    for name in (system if system is not None else QLocale.system()).uiLanguages():
        code = name.split("-")[0]
        if code in LANGUAGES:
            return code
    return SOURCE_LANGUAGE


def texts(context: str) -> Callable[[str], str]:
    """Return what translates the texts of a module that has no class for them, as ``_tr``."""
    return lambda source: QCoreApplication.translate(context, source)


class Translations:
    """The catalogues that are installed in an application; one language at a time."""

    def __init__(self) -> None:
        self._installed: list[QTranslator] = []
        self._bytes = b""
        self.language = SOURCE_LANGUAGE

    def install(self, language: str) -> None:
        """Use a language from now on, for texts made from now on."""
        self.remove()
        self.language = language
        if language != QLocale().name().split("_")[0]:
            QLocale.setDefault(QLocale(language))
        if language == SOURCE_LANGUAGE:
            return
        qt = QTranslator()
        if qt.load(f"qtbase_{language}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
            self._add(qt)
        own = QTranslator()
        name = f"counterfoil_{language}.qm"
        # Qt reads the catalogue where it lies, so that the bytes must live as long as the translator.
        self._bytes = resources.files("counterfoil_resources").joinpath("translations", name).read_bytes()
        if not own.load(self._bytes):
            raise RuntimeError(f"The catalogue {name} is damaged.")
        self._add(own)

    def remove(self) -> None:
        """Use the texts of the source again."""
        for translator in self._installed:
            QCoreApplication.removeTranslator(translator)
        self._installed.clear()
        self.language = SOURCE_LANGUAGE

    def _add(self, translator: QTranslator) -> None:
        QCoreApplication.installTranslator(translator)
        self._installed.append(translator)
