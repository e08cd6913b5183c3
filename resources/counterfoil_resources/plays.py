"""A text for examples, from a play of Shakespeare's; data/PROVENANCE.md says where it comes from."""

from __future__ import annotations

from importlib.resources import files


def load_plays() -> str:
    """Return the text: speakers in capitals or with a colon, an empty line between speeches."""
    return files("counterfoil_resources").joinpath("data", "plays.txt").read_text(encoding="utf-8")
