"""How files compare with the list of a release that was signed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from counterfoil.signing.kinds import ReleaseList
from counterfoil_core.base.digest import Digest


@dataclass(frozen=True)
class ReleaseCheck:
    """How files compare with the list."""

    same: tuple[str, ...]  #: Names of files that are as they were signed.
    changed: tuple[str, ...]  #: Names of files that are listed with another SHA-256.
    unlisted: tuple[str, ...]  #: Names of files that are not listed.
    absent: tuple[str, ...]  #: Names that are listed, of files that were not compared.

    @property
    def holds(self) -> bool:
        """Whether every file that was compared is as it was signed."""
        return not (self.changed or self.unlisted)


def compare_release(release: ReleaseList, found: Iterable[tuple[str, Digest]]) -> ReleaseCheck:
    """Compare files with the list. Pure.

    Args:
        release: The list.
        found: Name, without folders, and SHA-256 of each file.
    """
    given = tuple(found)
    names = {name for name, _ in given}
    return ReleaseCheck(
        same=tuple(name for name, digest in given if release.files.get(name) == digest),
        changed=tuple(name for name, digest in given if name in release.files and release.files[name] != digest),
        unlisted=tuple(name for name, _ in given if name not in release.files),
        absent=tuple(name for name in release.files if name not in names),
    )
