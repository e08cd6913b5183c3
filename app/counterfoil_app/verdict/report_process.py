"""Prints the report in a process of its own.

Laying out and painting a report takes Qt a tenth of a second, in which it does not let go of the interpreter; and on
some systems Qt paints text in a main thread only.
"""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing.connection import Connection

from PySide6.QtCore import QLocale

from counterfoil.sentence import say
from counterfoil_app.desktop import startup
from counterfoil_app.engine.worker import Failure, ReportedError
from counterfoil_app.looks.fonts import install_fonts, text_font
from counterfoil_app.looks.language import LANGUAGES, SOURCE_LANGUAGE, Translations
from counterfoil_app.verdict.report_document import Contents
from counterfoil_app.verdict.report_pages import make_pdf


def print_report(contents: Contents) -> bytes:
    """Return the report as PDF in the window's language; to be called from the worker thread, and waits.

    Raises:
        CounterfoilError: The report could not be made.
    """
    language = QLocale().name().split("_")[0]  # the window's: Translations makes it the default
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_print, args=(contents, language, there), name="counterfoil-report", daemon=True)
    process.start()
    there.close()
    try:
        result: bytes | Failure = here.recv()
    except EOFError:
        process.join()
        result = Failure(
            say("The report could not be printed: its process ended with code {0}.", process.exitcode),
            say("The signed verdict is written. Export it again to print the report."),
            "",
            expected=True,
        )
    finally:
        here.close()
    process.join()
    if isinstance(result, Failure):
        raise ReportedError(result)
    return result


def _print(contents: Contents, language: str, answer: Connection) -> None:
    """The main function of the process."""
    from PySide6.QtWidgets import QApplication

    os.environ["QT_QPA_PLATFORM"] = startup.OFFSCREEN
    application = QApplication([])
    result: bytes | Failure
    translations = Translations()  # must outlive the report
    try:
        translations.install(language if language in LANGUAGES else SOURCE_LANGUAGE)
        install_fonts()
        application.setFont(text_font())
        result = make_pdf(contents)
    except Exception as error:  # the window shows every failure
        result = Failure.of(error)
    answer.send(result)
    application.quit()
