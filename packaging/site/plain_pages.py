"""What the site needs and plain pages do not say: trees of contents, index entries, and pages generated from the code.

Each is added to a page's text when Sphinx reads it, so that the pages of docs/ stay plain Markdown.
"""

from __future__ import annotations

import builtins
import re
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any

import reference
from docutils.nodes import Text
from sphinx.addnodes import pending_xref

LISTS = ("index", "adr/README")
"""The pages whose links, in their order, are the pages below them."""
NO_PAGES = ("adr/template.md",)
"""Files of docs/ that are no pages."""

FIND = "```{toctree}\n:hidden:\n:caption: Find\n\nIndex <genindex>\n```"
"""What leads to the index of words, commands, options and names, which only the site has."""


def trees(text: str) -> str:
    """The trees of contents of a page that lists others: one for each of its sections, in the order of its links."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    made = []
    for caption, body in zip(["", *parts[1::2]], parts[0::2], strict=True):
        pages = re.findall(r"^[-|] \[([^\]]+)\]\(([\w./-]+)\.md\)", body, re.MULTILINE)
        if pages:
            head = [":hidden:", *([f":caption: {caption}"] if caption else [])]
            # A number is a name in a table of decisions, and says nothing in the side bar.
            named = [page if title.isdecimal() else f"{title} <{page}>" for title, page in pages]
            made.append("\n".join(["```{toctree}", *head, "", *named, "```"]))
    return "\n\n".join(made)


def index_entries(glossary: str) -> str:
    """The words of the glossary, for the index."""
    words = re.findall(r"^\| ([^|]+?) \|", glossary, re.MULTILINE)
    entries = [f"single: {word.replace(';', ',')}" for word in words if word != "word"]
    return "\n".join(["```{eval-rst}", ".. index::", *(f"   {entry}" for entry in entries), "```"])


def links_outside(page: str, text: str) -> str:
    """The text, with links to pages that the site does not have (SECURITY.md) as links to copies of the files."""

    def as_file(link: re.Match[str]) -> str:
        place = normpath(PurePosixPath(page).parent / link[1])
        return f"](path:{link[1]})" if place.startswith("../") or place in NO_PAGES else link[0]

    return re.sub(r"\]\(([\w./-]+\.md)(?:#[\w-]+)?\)", as_file, text)


def add(_: Any, page: str, source: list[str]) -> None:
    """Add to the text of a page what only the site has."""
    source[0] = links_outside(page, source[0])
    if page in LISTS:
        source[0] += "\n\n" + trees(source[0]) + "\n"
        if page == "index":
            source[0] += "\n" + FIND + "\n"
    elif page == "glossary":
        title, _, rest = source[0].partition("\n")
        source[0] = f"{title}\n\n{index_entries(source[0])}\n{rest}"
    elif page == "commands":
        source[0] += "\n\n" + reference.commands() + "\n"
    elif page == "api":
        source[0] += "\n\n" + reference.interface() + "\n"


def tidy(_: Any, tree: Any) -> None:
    """Let ``bytes`` in a signature be Python's, and not some class's; and let a colon lead to what a name is."""
    for node in list(tree.findall(pending_xref)):
        if node.get("refdomain") == "py" and hasattr(builtins, node["reftarget"]):
            node.replace_self(node.children)
    for words in [each for each in tree.findall(Text) if each == " -- "]:
        words.parent.replace(words, Text(": "))


def setup(app: Any) -> dict[str, bool]:
    """Let Sphinx know."""
    app.connect("source-read", add)
    app.connect("doctree-read", tidy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
