"""The table of public models: every entry, in the order of the page."""

from __future__ import annotations

from support.public_models.entry import Entry
from support.public_models.language import LANGUAGE
from support.public_models.others import OTHERS
from support.public_models.vision import VISION

ENTRIES: tuple[Entry, ...] = (*LANGUAGE, *VISION, *OTHERS)
