"""How the pattern in which programs take turns is written in a manifest: a list of names, or a text if it is long."""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from typing import Any

from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.plaintext import quote
from counterfoil_core.base.sentence import say

MAX_PATTERN = 1_000_000
"""Steps after which a pattern starts again at the latest."""
MAX_LISTED = 1000
"""Steps of a pattern that is written as a list of names; a longer one is a text with a character for each step."""
CHARACTERS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
"""What stands in such a text for the first name, the second and so on, the names sorted."""


def pattern_json(pattern: Sequence[str]) -> list[str] | str:
    """Return the JSON form of a pattern that names each program."""
    if len(pattern) <= MAX_LISTED:
        return list(pattern)
    signs = dict(zip(sorted(set(pattern)), CHARACTERS, strict=False))
    return "".join([signs[name] for name in pattern])


def pattern_from_json(written: list[Any] | str, names: Iterable[str]) -> tuple[str, ...]:
    """Read the JSON form of a pattern.

    Args:
        written: The form, of a stranger.
        names: The names of the programs.

    Raises:
        BundleError: It is not the one form that the pattern has.
    """
    if isinstance(written, list):
        if not all(isinstance(name, str) for name in written):
            raise BundleError(say("The pattern of the order's programs is not a list of names."))
        if len(written) > MAX_LISTED:
            raise BundleError(
                say(
                    "The pattern of the order's programs lists {0} names; a list has at most {1}.",
                    len(written),
                    MAX_LISTED,
                )
            )
        return tuple(written)
    if not MAX_LISTED < len(written) <= MAX_PATTERN:
        raise BundleError(
            say(
                "The pattern of the order's programs is a text of {0} characters; such a text has {1} to {2}.",
                len(written),
                MAX_LISTED + 1,
                MAX_PATTERN,
            )
        )
    signs = dict(zip(CHARACTERS, sorted(names), strict=False))
    for unknown in sorted(set(written) - signs.keys()):
        raise BundleError(
            say("The pattern of the order's programs holds {0}, which stands for none of them.", quote(unknown))
        )
    return tuple(map(signs.__getitem__, written))
