"""Prints the report in a process of its own.

Laying out and painting a report takes Qt a tenth of a second, in which it does not let go of the interpreter; and on
some systems Qt paints text in a main thread only.
"""

from __future__ import annotations

import os

from PySide6.QtCore import QLocale

from counterfoil import CounterfoilError
from counterfoil.audit.boxed.start import why_open
from counterfoil.talk.failure import FaultError
from counterfoil.talk.line import Line
from counterfoil.talk.port import Enclosure, Port
from counterfoil.talk.process import Process, Start, Words
from counterfoil.talk.table import REPORT
from counterfoil_app.desktop import startup
from counterfoil_app.engine.worker import Failure, ReportedError
from counterfoil_app.looks.fonts import install_fonts, text_font
from counterfoil_app.looks.language import LANGUAGES, SOURCE_LANGUAGE, Translations
from counterfoil_app.verdict.report_document import Contents
from counterfoil_app.verdict.report_html import make_html
from counterfoil_app.verdict.report_pages import make_pdf
from counterfoil_core.base.sentence import say

FONTS = ("/etc/fonts", "/usr/share/fontconfig", "/usr/share/fonts", "/var/cache/fontconfig")
"""What a system says of its fonts, for texts in scripts that our own fonts lack."""


class _Words(Words):
    def unstarted(self, error: OSError) -> CounterfoilError:
        return self.nonsense(error)

    def ended(self, code: int) -> CounterfoilError:
        return self._unprinted(say("The report could not be printed: its process ended with code {0}.", code))

    def nonsense(self, error: Exception) -> CounterfoilError:
        why = say("The report could not be printed: what its process sent cannot be read.")
        return self._unprinted(why, repr(error))

    def _unprinted(self, why: str, detail: str = "") -> CounterfoilError:
        remedy = say("The signed verdict is written. Export it again to print the report.")
        return CounterfoilError(why, remedy=remedy, detail=detail)


def print_report(contents: Contents, *, as_html: bool = False) -> bytes:
    """Return the report in the window's language; to be called from the worker thread, and waits.

    Args:
        contents: What it is made from.
        as_html: One HTML file with all that it shows, in the place of a PDF.

    Raises:
        CounterfoilError: The report could not be made.
    """
    language = QLocale().name().split("_")[0]  # the window's: Translations makes it the default
    process = Process(REPORT, _Words(), Start(shows_errors=True))
    try:
        process.enclose(Enclosure(FONTS, open=why_open("")))
        return process.call(REPORTS, report, contents, language, as_html)
    except FaultError as error:
        raise ReportedError(Failure.of(error)) from error
    finally:
        process.end()


def main() -> None:
    """Print a report: what the process is."""
    line = Line(REPORT, REPORTS)
    if line.enclosed() is not None:
        line.serve(None)


def report(_process: None, contents: Contents, language: str, as_html: bool) -> bytes:
    """Return a report in a language, as HTML or PDF."""
    from PySide6.QtWidgets import QApplication

    os.environ["QT_QPA_PLATFORM"] = startup.OFFSCREEN
    application = QApplication([])
    translations = Translations()  # must outlive the report
    try:
        language = language if language in LANGUAGES else SOURCE_LANGUAGE
        translations.install(language)
        install_fonts()
        application.setFont(text_font())
        return make_html(contents, language) if as_html else make_pdf(contents)
    finally:
        application.quit()


REPORTS = Port[None](report, given="_process")
"""What the process may be asked."""
