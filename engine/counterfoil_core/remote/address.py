"""Where a file lies elsewhere. Loads nothing, so that every command can tell an address from a path."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from counterfoil_core.base.errors import GivenFileError
from counterfoil_core.base.sentence import say

SCHEMES = ("https", "http", "s3")
_LONGEST_NAME = 255
_LONGEST = 2000
_QUERY = re.compile(r"\?[^\s'\",)]+")
_USER = re.compile(r"//[^/@\s]+@")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True)
class Address:
    """The address of a file."""

    url: str  #: As the user gave it; it may hold a password, or a signature that stands for one.

    @property
    def scheme(self) -> str:
        """How it is reached, one of :data:`SCHEMES`."""
        return urlsplit(self.url).scheme

    @property
    def name(self) -> str:
        """The name of the file."""
        return PurePosixPath(unquote(urlsplit(self.url).path)).name

    @property
    def shown(self) -> str:
        """The address without what may be secret in it: name and password, query and fragment."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def is_address(text: str) -> bool:
    """Whether a text begins as an address does."""
    return _ADDRESS.match(text) is not None


def place_of(text: str) -> Path | Address:
    """Return what a user means by the text: a path, or an address if it begins with a scheme and ``://``.

    Raises:
        GivenFileError: It is an address of a kind that is not read, or names no file.
    """
    if not is_address(text):
        return Path(text)
    try:
        address = Address(text)
        known = address.scheme in SCHEMES and len(address.shown) <= _LONGEST
        named = bool(urlsplit(text).netloc and _is_name(address.name))
    except ValueError:  # of brackets that hold no address of version 6
        known = named = False
    if not known:
        raise GivenFileError(
            say("{0} is no address that is read.", text.partition("?")[0]),
            remedy=say("Give one with https, http or s3, or the path of a file."),
        )
    if not named:
        raise GivenFileError(
            say("The address {0} names no file.", address.shown),
            remedy=say("Give that of one file, such as https://example.org/run.cfoil."),
        )
    return address


def _is_name(name: str) -> bool:
    return name not in ("", "..") and name.isprintable() and len(os.fsencode(name)) <= _LONGEST_NAME


def hush(text: str) -> str:
    """Return what a library says without what may be secret in the addresses that it names."""
    return _QUERY.sub("?...", _USER.sub("//", text))


def shown_place(place: Path | Address) -> str:
    """Return a place as it may be shown."""
    return place.shown if isinstance(place, Address) else str(place)
