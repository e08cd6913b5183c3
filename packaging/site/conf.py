"""How Sphinx makes a site of the plain pages of docs/; `make docs` calls it through packaging/docs_site.py."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import plain_pages  # noqa: E402

import counterfoil  # noqa: E402

project = "Counterfoil"
author = "Counterfoil"
version = release = counterfoil.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "plain_pages"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = list(plain_pages.NO_PAGES)
language = "en"
# Two hyphens before an option are two hyphens.
smartquotes = False

html_theme = "furo"
html_title = f"Counterfoil {release}"
# The same sources give the same bytes, and nothing is fetched from elsewhere when a page is read.
html_last_updated_fmt = None
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

# Pages are CommonMark with tables. What else MyST would see in them is text; only what plain_pages adds are directives.
myst_heading_anchors = 4
myst_disable_syntax = [
    "myst_block_break", "myst_line_comment", "myst_role", "myst_target", "substitution", "colon_fence", "dollarmath",
]  # fmt: skip
myst_enable_extensions: list[str] = []

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
# Sentences of docstrings refer to modules that the site has no page for; a reader finds them in the source.
nitpicky = False
