"""The kinds of file that Counterfoil writes, and the mark by which each says what it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.sentence import Sentence, say
from counterfoil_core.bundle.hdf5.format import parse_text_attribute
from counterfoil_core.bundle.schema import CAPSULE_FORMAT_VERSION, DATA_FORMAT_VERSION, FORMAT_VERSION

FORMAT_ATTRIBUTE = b"format"
"""Name of the one attribute of a file, at its root."""
FORMAT_BYTES = 32
"""Length of that attribute: ASCII, padded with zero bytes."""


@dataclass(frozen=True)
class FileKind:
    """A kind of file that Counterfoil writes."""

    name: Sentence  #: What it is called, for sentences.
    definite: Sentence  #: The same with its article.
    prefix: bytes  #: What its format attribute begins with.
    version: int  #: The number behind that.

    @property
    def mark(self) -> bytes:
        """What its format attribute says."""
        return self.prefix + str(self.version).encode()


BUNDLE = FileKind(say("bundle"), say("the bundle"), b"counterfoil-", FORMAT_VERSION)
CAPSULE = FileKind(say("capsule"), say("the capsule"), b"counterfoil-capsule-", CAPSULE_FORMAT_VERSION)
DATA_FILE = FileKind(say("data file"), say("the data file"), b"counterfoil-data-", DATA_FORMAT_VERSION)


def check_mark(attributes: Sequence[bytes], wanted: FileKind) -> None:
    """Check the root's one attribute, which says what kind of file this is, and of which format.

    Args:
        attributes: The attribute messages of the root.
        wanted: What kind of file it must be.

    Raises:
        BundleError: The file lacks the mark of a file of Counterfoil's, or is of another kind or format.
    """
    found = [parse_text_attribute(body, FORMAT_BYTES) for body in attributes]
    mark = found[0] if len(found) == 1 else None
    if mark is None or mark[0] != FORMAT_ATTRIBUTE or not mark[1].startswith(BUNDLE.prefix):
        raise BundleError(say("The file is not a Counterfoil {0}: it lacks the mark of one.", wanted.name))
    value = mark[1].rstrip(b"\0")
    kind = next((kind for kind in (CAPSULE, DATA_FILE) if value.startswith(kind.prefix)), BUNDLE)
    if kind is not wanted:
        raise BundleError(
            say("The file is a Counterfoil {0}, where a {1} is needed.", kind.name, wanted.name),
            remedy=say("Give it to 'counterfoil adjudicate'.") if kind is CAPSULE else "",
        )
    if value != wanted.mark:
        version = value.removeprefix(wanted.prefix).decode("ascii", "backslashreplace")
        raise BundleError(
            say("The {0} has format {1}; this Counterfoil reads format {2}.", wanted.name, version, wanted.version),
            remedy=say("Use a Counterfoil of the version that wrote it."),
        )
