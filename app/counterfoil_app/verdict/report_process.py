"""Prints the report in a process of its own.

Laying out and painting a report takes Qt a tenth of a second, in which it does not let go of the interpreter; and on
some systems Qt paints text in a main thread only.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from PySide6.QtCore import QLocale

from counterfoil.audit.boxed.start import why_open
from counterfoil.sandbox import box
from counterfoil.talk.frames import own_pipes, read_frame, write_frame
from counterfoil.talk.messages import decode, encode
from counterfoil_app.desktop import startup
from counterfoil_app.engine.link import Link
from counterfoil_app.engine.messages import MAX_BYTES
from counterfoil_app.engine.worker import Failure, ReportedError
from counterfoil_app.looks.fonts import install_fonts, text_font
from counterfoil_app.looks.language import LANGUAGES, SOURCE_LANGUAGE, Translations
from counterfoil_app.verdict.report_document import Contents
from counterfoil_app.verdict.report_html import make_html
from counterfoil_app.verdict.report_pages import make_pdf
from counterfoil_core.base.sentence import say


@dataclass(frozen=True)
class _Order:
    """What the process is to print, and in which language."""

    contents: Contents
    language: str
    as_html: bool


_Printed = bytes | Failure
FONTS = ("/etc/fonts", "/usr/share/fontconfig", "/usr/share/fonts", "/var/cache/fontconfig")
"""What a system says of its fonts, for texts in scripts that our own fonts lack."""


def print_report(contents: Contents, *, as_html: bool = False) -> bytes:
    """Return the report in the window's language; to be called from the worker thread, and waits.

    Args:
        contents: What it is made from.
        as_html: One HTML file with all that it shows, in the place of a PDF.

    Raises:
        CounterfoilError: The report could not be made.
    """
    language = QLocale().name().split("_")[0]  # the window's: Translations makes it the default
    order = encode(_Order(contents, language, as_html))
    link = Link.to(__name__, MAX_BYTES)
    try:
        link.send(order)
        result: _Printed = decode(link.receive(None), _Printed)
    except (EOFError, OSError):
        result = _unprinted(say("The report could not be printed: its process ended with code {0}.", link.end()))
    except ValueError as error:
        result = _unprinted(say("The report could not be printed: what its process sent cannot be read."), repr(error))
    finally:
        link.end()
    if isinstance(result, Failure):
        raise ReportedError(result)
    return result


def _unprinted(why: str, detail: str = "") -> Failure:
    remedy = say("The signed verdict is written. Export it again to print the report.")
    return Failure(why, remedy, detail, expected=True)


def main() -> None:
    """Print the report that standard input holds: what the process is."""
    questions, answers = own_pipes()
    if not why_open(""):
        box.enter(FONTS)
    asked = read_frame(questions, MAX_BYTES)
    if asked is not None:
        order: _Order = decode(asked, _Order)
        write_frame(answers, encode(_print(order)))


def _print(order: _Order) -> _Printed:
    from PySide6.QtWidgets import QApplication

    os.environ["QT_QPA_PLATFORM"] = startup.OFFSCREEN
    application = QApplication([])
    result: _Printed
    translations = Translations()  # must outlive the report
    try:
        language = order.language if order.language in LANGUAGES else SOURCE_LANGUAGE
        translations.install(language)
        install_fonts()
        application.setFont(text_font())
        result = make_html(order.contents, language) if order.as_html else make_pdf(order.contents)
    except Exception as error:  # the window shows every failure
        result = Failure.of(error)
    application.quit()
    return result
