"""The list of a release's files, signed: an in-toto statement whose subjects are the files, by name and SHA-256.

It holds no time and no key, so everybody who builds the same files signs the same statement, each in an envelope of
their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.envelope import open_statement, sign_statement
from counterfoil_core.signing.intoto import RELEASE_PREDICATE, make_statement, make_subject
from counterfoil_core.signing.keys import PublicKey, SigningKey

MAX_BYTES = 2**20
"""Bytes of a list that is read."""
MAX_FILES = 1000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+~-]{0,199}")
"""A name without a folder, that is one everywhere."""
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+~-]{0,49}")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_WHAT = say("list of a release")


@dataclass(frozen=True)
class ReleaseList:
    """What was signed of a release.

    Attributes:
        version: Which version it is.
        commit: Hexadecimal digits of the commit that it was built from.
        files: The SHA-256 of each file, by its name; sorted.
    """

    version: str
    commit: str
    files: Mapping[str, Digest]


@dataclass(frozen=True)
class ReleaseCheck:
    """How files compare with the list.

    Attributes:
        same: Names of files that are as they were signed.
        changed: Names of files that are listed with another SHA-256.
        unlisted: Names of files that are not listed.
        absent: Names that are listed, of files that were not compared.
    """

    same: tuple[str, ...]
    changed: tuple[str, ...]
    unlisted: tuple[str, ...]
    absent: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether every file that was compared is as it was signed."""
        return not (self.changed or self.unlisted)


def sign_release(release: ReleaseList, key: SigningKey) -> bytes:
    """Sign the list; returns the DSSE envelope as JSON bytes.

    Raises:
        SignatureError: A name, the version or the commit is none, or there are no files or too many.
        SignerError: The signer's process does not sign it.
    """
    _check(release)
    subjects = [make_subject(name, release.files[name]) for name in sorted(release.files)]
    predicate = {"version": release.version, "commit": release.commit}
    return sign_statement(make_statement(subjects, RELEASE_PREDICATE, predicate), key)


def open_release(envelope: bytes, key: PublicKey) -> ReleaseList:
    """Check the signature of a list, then read it.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The key that must have signed it.

    Raises:
        SignatureError: The envelope is malformed, not signed by this key, or holds no list of a release.
    """
    statement = open_statement(envelope, key)
    if statement["predicateType"] != RELEASE_PREDICATE:
        raise SignatureError(say("What is signed is not the {0}.", _WHAT))
    fields = Fields(statement["predicate"], _WHAT, SignatureError)
    version, commit = fields.text("version", 50), fields.text("commit", 64)
    fields.end()
    if not isinstance(statement["subject"], list):
        raise SignatureError(say("The {0} has no files.", _WHAT))
    files: dict[str, Digest] = {}
    for subject in statement["subject"]:
        fields = Fields(subject, _WHAT, SignatureError)
        name, digests = fields.text("name", 200), Fields(fields.take("digest", dict), _WHAT, SignatureError)
        fields.end()
        try:
            digest = Digest.from_hex(digests.text("sha256", 64))
        except ValueError as error:
            raise SignatureError(say("The {0} has a SHA-256 that is none.", _WHAT)) from error
        digests.end()
        if files and name <= max(files):  # sorted, so that the same files are the same statement
            raise SignatureError(say("The names in the {0} are not sorted, or one stands there twice.", _WHAT))
        files[name] = digest
    return _check(ReleaseList(version, commit, files))


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


def _check(release: ReleaseList) -> ReleaseList:
    if not _VERSION.fullmatch(release.version) or not _COMMIT.fullmatch(release.commit):
        raise SignatureError(say("The {0} names no version, or no commit.", _WHAT))
    if not 1 <= len(release.files) <= MAX_FILES:
        raise SignatureError(say("The {0} has {1} files; it must have 1 to {2}.", _WHAT, len(release.files), MAX_FILES))
    if not all(map(_NAME.fullmatch, release.files)):
        raise SignatureError(say("The {0} has a name that is none of a file without a folder.", _WHAT))
    return release
