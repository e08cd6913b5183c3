"""What a file is: an order, a run, a capsule, a verdict, a key. So that nobody has to say where a file belongs."""

from __future__ import annotations

import base64
import os
from pathlib import Path

from counterfoil.audit.values.filekind import PICKLES, WEIGHTS_SUFFIX, CapsuleSubject, FileUse, Recognised
from counterfoil.sealed.agefile import MAGIC
from counterfoil_core.base import canonical
from counterfoil_core.base.canonical import CanonicalError
from counterfoil_core.base.errors import BundleError, GivenFileError, SignatureError
from counterfoil_core.base.inputs import open_input
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.capsule import CapsuleReader
from counterfoil_core.bundle.datafile import DataFile
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.kinds import (
    ADJUDICATION,
    ANSWER,
    KINDS,
    REPLY,
    REVOCATIONS,
    SNAPSHOT,
    TREE_HEAD,
    VERDICT,
    WITHDRAWAL,
)
from counterfoil_core.values.dispute import COMBINE, SHARE, UPDATE

HEAD_BYTES = 2**20
"""How much of a text is looked at; a verdict of a million steps is larger, and says what it is before that."""
_HDF5 = b"\x89HDF\r\n\x1a\n"
_READERS = (BundleReader, CapsuleReader, DataFile)


def recognise(path: str | os.PathLike[str]) -> Recognised:
    """Say what a file is, by its content; nothing in it is checked beyond that.

    Raises:
        GivenFileError: There is no such file, or it may not be read.
        ObstacleError: The system fails to read it.
    """
    path = Path(path)
    if _holds_weights(path):
        return Recognised(path, FileUse.WEIGHTS)
    with open_input(path, say("a file"), GivenFileError) as file:
        head = file.read(HEAD_BYTES)
    if head.startswith(_HDF5):
        return _container(path)
    if head.startswith(MAGIC):
        return Recognised(path, FileUse.SEALED)
    if head.lstrip().startswith(b"-----BEGIN"):
        public = b"PUBLIC KEY" in head.splitlines()[0] if head.strip() else False
        return Recognised(path, FileUse.PUBLIC_KEY if public else FileUse.PRIVATE_KEY)
    if len(head) > 9 and head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 2**32:
        return Recognised(path, FileUse.WEIGHTS)
    if head.lstrip().startswith(b"{"):
        return Recognised(path, _statement(head))
    return Recognised(path, FileUse.OTHER)


def capsule_subject(path: str | os.PathLike[str]) -> CapsuleSubject:
    """Say what a dispute capsule says that it is about; no proof in it is checked.

    Raises:
        BundleError: The file is no capsule, or damaged.
        GivenFileError: There is no such file, or it may not be read.
    """
    with CapsuleReader.open(path) as capsule:
        manifest, found = capsule.manifest, capsule.subject()
    part = COMBINE if found.is_sum else UPDATE if found.is_update else ""
    if found.share is not None:
        part = f"{SHARE}{found.share}"
    return CapsuleSubject(manifest.title, manifest.digest, manifest.steps, found.agreed_step, found.step, part)


def _holds_weights(path: Path) -> bool:
    """Whether a folder has files of weights in it, or a file is a pickle of some by its name, which nobody opens."""
    if not path.is_dir():
        return path.is_file() and path.name.lower().endswith(PICKLES)
    try:
        return any(name.lower().endswith((WEIGHTS_SUFFIX, *PICKLES)) for name in os.listdir(path))
    except OSError:  # whoever opens it says so
        return False


def _container(path: Path) -> Recognised:
    for reader in _READERS:
        try:
            with reader.open(path) as opened:
                if isinstance(opened, BundleReader):
                    kind = FileUse.RUN if opened.has_run else FileUse.ORDER
                    return Recognised(path, kind, opened.manifest.digest)
                if isinstance(opened, CapsuleReader):
                    return Recognised(path, FileUse.CAPSULE, opened.manifest.digest)
                return Recognised(path, FileUse.DATA)
        except BundleError:
            continue
    # Damaged, or of another version: whoever opens it as a run is told what is wrong with it.
    return Recognised(path, FileUse.RUN)


def _statement(head: bytes) -> FileUse:
    """A signed statement, by what it says that it is about; the first line of several."""
    for text in (head, head.splitlines()[0]):
        try:
            return _USES.get(_predicate(text), FileUse.OTHER)
        except (CanonicalError, ValueError, KeyError, TypeError, SignatureError):
            continue
    # A verdict may be larger than what was read; its payload is then not whole, and nothing else is so large.
    return FileUse.VERDICT if len(head) == HEAD_BYTES and b'"payload"' in head[:HEAD_BYTES] else FileUse.OTHER


_USES = {
    **{predicate: FileUse.SIGNED for kind in KINDS for predicate in kind.predicates},
    VERDICT.predicate: FileUse.VERDICT,
    ADJUDICATION.predicate: FileUse.VERDICT,
    WITHDRAWAL.predicate: FileUse.STATEMENT,
    REPLY.predicate: FileUse.STATEMENT,
    TREE_HEAD.predicate: FileUse.HEADS,
    REVOCATIONS.predicate: FileUse.REVOCATIONS,
    SNAPSHOT.predicate: FileUse.WITNESS,
    ANSWER.predicate: FileUse.ANSWER,
}


def _predicate(envelope: bytes) -> str:
    payload = canonical.parse(envelope)["payload"]
    return str(canonical.parse(base64.b64decode(payload))["predicateType"])
