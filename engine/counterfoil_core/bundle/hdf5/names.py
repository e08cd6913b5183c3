"""The names of a file's objects: each is parsed, checked and hashed once, however many groups have it."""

from __future__ import annotations

from collections.abc import Sequence

from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.plaintext import quote
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.hdf5.checksum import lookup3_all
from counterfoil_core.bundle.hdf5.format import ADDRESS_BYTES, parse_link
from counterfoil_core.bundle.schema import NAME_PATTERN

NamedAddress = tuple[str, int]
"""Name of an object, and where its header lies."""


class Names:
    """The names that a file was seen to use."""

    def __init__(self) -> None:
        # By the content of a link message without the address at its end, which says nothing about the name.
        self._names: dict[bytes, str] = {}
        self._hashes: dict[str, int] = {}

    def read(self, body: bytes, path: str) -> NamedAddress:
        """Read the content of a link message of the group ``path``.

        Raises:
            BundleError: It is no hard link as Counterfoil writes it, or its name is not allowed in a bundle.
        """
        start = body[:-ADDRESS_BYTES]
        name = self._names.get(start)
        if name is None:
            name = self._names[start] = _name(parse_link(body, path), path)
        return name, int.from_bytes(body[-ADDRESS_BYTES:], "little")

    def check_hashes(self, names: Sequence[str], hashes: Sequence[int]) -> None:
        """Check that names have the hashes by which a tree finds them; raises BundleError when one has not."""
        new = [name for name in set(names) if name not in self._hashes]
        self._hashes.update(zip(new, lookup3_all([name.encode() for name in new]), strict=True))
        if [self._hashes[name] for name in names] != hashes:
            raise BundleError(say("The file is damaged: a name does not have the hash by which it is found."))


def _name(name: bytes, path: str) -> str:
    shown = name.decode("ascii", "backslashreplace")
    if not NAME_PATTERN.fullmatch(shown) or shown in (".", ".."):
        raise BundleError(
            say("{0} holds an object with the name {1}, which is not allowed in a bundle.", path, quote(shown))
        )
    return shown
