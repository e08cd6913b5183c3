"""Makes a site of the pages of docs/, and checks every link and anchor of it without a network.

``make docs`` calls it: ``python packaging/docs_site.py build/docs``
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
NEEDED = {"sphinx": "sphinx", "furo": "furo", "myst_parser": "myst-parser"}
"""The libraries that a site takes: modules, and the packages that bring them."""


class Page(HTMLParser):
    """The links and the anchors of a page of HTML.

    Attributes:
        links: What it refers to, as it is written: pages, pictures, styles and scripts.
        anchors: The names of its places.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what a tag refers to, and its name."""
        said = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := said.get(key))}
        self.links += [value for key in ("href", "src") if (value := said.get(key))]


def broken_links(site: Path) -> list[str]:
    """The links within a site that lead nowhere, each as a sentence; other sites are not asked."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    broken = []
    for path, page in sorted(pages.items()):
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            there = target.is_file() and (not anchor or target not in pages or anchor in pages[target].anchors)
            if not there:
                broken.append(f"{path.relative_to(site.resolve())} links to {link}, which is not there")
    return broken


def missing() -> list[str]:
    """The packages that are needed and not installed."""
    return [package for module, package in NEEDED.items() if find_spec(module) is None]


def build(site: Path) -> int:
    """Make the site; a warning is an error. Returns the exit code."""
    from sphinx.cmd.build import main as sphinx

    arguments = ["-W", "--keep-going", "-q", "-E", "-c", str(ROOT / "packaging" / "site"), "-b", "html"]
    code = sphinx([*arguments, "-d", f"{site}-doctrees", str(ROOT / "docs"), str(site)])
    if code:
        return code
    broken = broken_links(site)
    for sentence in broken:
        print(sentence, file=sys.stderr)
    return 1 if broken else 0


def main() -> int:
    """Make the site, or say what is missing."""
    if lacking := missing():
        print(
            f"The site of the documentation needs {', '.join(lacking)}. Install them, then say 'make docs' again:\n"
            f"  {sys.executable} -m pip install -c constraints.txt -e '.[gui,dev,docs]'",
            file=sys.stderr,
        )
        return 1
    site = Path(sys.argv[1]).resolve()
    code = build(site)
    if not code:
        print(f"Wrote {site / 'index.html'}.")
    return code


if __name__ == "__main__":
    sys.exit(main())
