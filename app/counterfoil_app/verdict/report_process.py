"""Prints the report in a process of its own.

Laying out and painting a report takes Qt a tenth of a second, in which it does not let go of the interpreter; and on
some systems Qt paints text in a main thread only.
"""

from __future__ import annotations

import base64
import os
from html import escape

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QLocale
from PySide6.QtGui import QImage, QImageWriter

from counterfoil import CounterfoilError, __version__
from counterfoil.audit.boxed.start import why_open
from counterfoil.talk.failure import FaultError
from counterfoil.talk.line import Line
from counterfoil.talk.port import Enclosure, Port
from counterfoil.talk.process import Process, Start, Words
from counterfoil.talk.table import REPORT
from counterfoil_app.desktop import startup
from counterfoil_app.engine.worker import Failure, ReportedError
from counterfoil_app.looks.fonts import install_fonts, text_font
from counterfoil_app.looks.language import LANGUAGES, SOURCE_LANGUAGE, Translations, texts
from counterfoil_app.looks.theme import LIGHT
from counterfoil_app.verdict.report_document import Contents, charts, join_sections, sections, titles
from counterfoil_app.verdict.report_pages import make_pdf
from counterfoil_core.base.sentence import say

# The report as one HTML file: what is printed, for browsers and screen readers, with its pictures inside.

WIDTH = 720
CHART_HEIGHT = 240
_STYLE = f"""
body {{ margin: 2rem auto; padding: 0 1rem; max-width: {WIDTH}px; font: 1rem/1.5 sans-serif;
  color: {LIGHT.text}; background: {LIGHT.surface}; overflow-wrap: anywhere; }}
h1 {{ font-size: 1.6rem; margin: 0; }}
h2 {{ font-size: 1.2rem; margin: 2rem 0 .5rem; }}
table {{ width: 100%; border-spacing: 0; }}
th, td {{ padding: .15rem .6rem .15rem 0; text-align: left; vertical-align: top; }}
th {{ font-weight: normal; }}
.name, .muted {{ color: {LIGHT.muted}; }}
.hash {{ font-family: monospace; font-size: .85rem; }}
.box {{ padding: .8rem 1rem; }}
.outcome {{ font-size: 1.6rem; font-weight: bold; }}
.line {{ width: 47%; }}
img {{ max-width: 100%; height: auto; }}
@media print {{ h2 {{ break-after: avoid; }} img, tr {{ break-inside: avoid; }} }}
"""

_tr = texts("report")


def make_html(contents: Contents, language: str) -> bytes:
    """Return the report as one HTML file, UTF-8.

    Args:
        contents: What it is made from.
        language: The language of its texts, ISO 639.
    """
    pictures = charts(contents, WIDTH, CHART_HEIGHT)
    body = join_sections(sections(contents, pictures, WIDTH, CHART_HEIGHT))
    for number, picture in enumerate(pictures):
        body = body.replace(f'src="chart:{number}"', f'src="data:image/png;base64,{_png(picture.image)}"')
    title = escape(_tr("{0}: {1}").format(titles(contents)[0], contents.judged_file))
    about = escape(_tr("{0}: {1}").format(contents.judged_file, contents.look.word))
    return (
        f'<!DOCTYPE html>\n<html lang="{escape(language)}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # It needs nothing from elsewhere, and nothing in it, which quotes strangers' files, is to run.
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
        "style-src 'unsafe-inline'\">\n"
        f'<meta name="generator" content="Counterfoil {__version__}">\n<title>{title}</title>\n'
        f'<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n<footer><p class="muted">{about}</p>'
        "</footer>\n</body>\n</html>\n"
    ).encode()


def _png(image: QImage) -> str:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return base64.b64encode(bytes(buffer.data().data())).decode()


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
