"""Where a client says that an order's model and data came from: files by their digests, for people and for later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.plaintext import quote
from counterfoil_core.base.sentence import say

MAX_FILE_BYTES = 2**53 - 1
MAX_TEXT = 200
MAX_SOURCES = 8
"""The most parts of an order that name where they came from."""
MAX_FILES = 256
"""The most files of one source: an order is also shown."""


@dataclass(frozen=True)
class SourceFile:
    """A file that a part of the order was made from."""

    size: int  #: Its size in bytes.
    digest: Digest  #: Its SHA-256.


@dataclass(frozen=True)
class Source:
    """What a part of the order was made from, as the client says: nothing of it takes part in a replay."""

    files: Mapping[str, SourceFile]  #: The files by name; at least one.
    #: The revision of the repository that they came from, if the client's folder knows one.
    revision: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        files = {name: {"bytes": file.size, "sha256": file.digest.hex} for name, file in self.files.items()}
        return {"files": files} if self.revision is None else {"files": files, "revision": self.revision}

    @classmethod
    def from_json(cls, value: Any) -> Source:
        """Read the JSON form; raises BundleError."""
        what = say("source of the order")
        revision = None
        if isinstance(value, dict) and "revision" in value:
            revision = check_source_text(value["revision"])
            value = {name: item for name, item in value.items() if name != "revision"}
        fields = Fields(value, what, BundleError)
        listed = fields.take("files", dict)
        fields.end()
        if not 1 <= len(listed) <= MAX_FILES:
            raise BundleError(say("The {0} names {1} files; it should name 1 to {2}.", what, len(listed), MAX_FILES))
        return cls({check_source_text(name): _file(item) for name, item in listed.items()}, revision)


def check_source_text(text: Any) -> str:
    """Return ``text`` if it can stand in an order as the name of a file, or as a revision.

    Raises:
        BundleError: It is empty, longer than 200 characters, or holds what cannot be printed on a line.
    """
    if not isinstance(text, str) or not 1 <= len(text) <= MAX_TEXT or not text.isprintable():
        raise BundleError(say("A source of the order cannot be called {0}.", quote(str(text))))
    return text


def _file(value: Any) -> SourceFile:
    fields = Fields(value, say("file of a source"), BundleError)
    file = SourceFile(fields.integer("bytes", 0, MAX_FILE_BYTES), fields.digest("sha256"))
    fields.end()
    return file
