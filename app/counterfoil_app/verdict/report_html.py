"""The report as one HTML file: what is printed, for browsers and screen readers, with its pictures inside."""

from __future__ import annotations

import base64
from html import escape

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QImage, QImageWriter

from counterfoil import __version__
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import LIGHT
from counterfoil_app.verdict.report_document import Contents, charts, joined, sections, titles

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
    body = joined(sections(contents, pictures, WIDTH, CHART_HEIGHT))
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
