"""Compares a delivered model with a run in a process in a box, for a verdict that names the model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from counterfoil.audit.boxed.start import why_open
from counterfoil.audit.values.delivery import Basis, DeliveryOutcome, DeliveryProgress, DeliveryReport
from counterfoil.audit.values.filekind import OTHER_WEIGHTS, PICKLES, WEIGHTS_SUFFIX
from counterfoil.base.joberrors import WeightsError
from counterfoil.talk.line import Line
from counterfoil.talk.port import Enclosure, Port
from counterfoil.talk.process import Process
from counterfoil.talk.table import DELIVERY
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import FileChangedError
from counterfoil_core.base.obstacles import file_changed
from counterfoil_core.base.plaintext import quote
from counterfoil_core.base.sentence import say

# The digest by which OpenSSF Model Signing names a folder: https://github.com/sigstore/model-transparency, version 1.
# SHA-256 over the SHA-256 of every file, one after the other, by the parts of their paths. Like that tool with its
# defaults it refuses symbolic links, and leaves out what belongs to git and a signature `model.sig` at the top.

IGNORED = (".git", ".gitattributes", ".github", ".gitignore", "model.sig")
"""Names at the top of a folder that the digest leaves out."""
MAX_FILES = 100_000
_HOLD_WEIGHTS = (WEIGHTS_SUFFIX, *PICKLES, *OTHER_WEIGHTS)


def model_digest(
    folder: str | os.PathLike[str], compared: DeliveryReport | None = None, cancel: CancelToken | None = None
) -> Iterator[DeliveryProgress | Digest]:
    """Hash a folder as the model-signing tool does.

    Args:
        folder: The folder.
        compared: What a comparison of its weights found: its files must still be the same.
        cancel: Looked at between pieces of files.

    Yields:
        DeliveryProgress for each file; the digest comes last.

    Raises:
        WeightsError: It is no folder, holds something that is neither a file nor a folder, or, beside what was
            compared, other files of weights, at whatever depth.
        FileChangedError: The weights are not those that were compared.
        CancelledError: The token was cancelled.
    """
    root = Path(folder)
    paths = sorted(_files(root), key=lambda path: path.relative_to(root).parts)
    seen = {} if compared is None else {file.name: file.digest for file in compared.files}
    digests = []
    for number, path in enumerate(paths, 1):
        try:
            digest = Digest.of_file(path, cancel)
        except OSError as error:
            raise WeightsError(say("The file {0} cannot be read.", path), detail=str(error)) from error
        name = path.relative_to(root).as_posix()
        if compared is not None and name not in seen and name.lower().endswith(_HOLD_WEIGHTS):
            raise WeightsError(
                say("The folder holds weights that were compared with nothing: {0}.", quote(name)),
                remedy=say("Take them out of the folder: its digest would stand for them too."),
            )
        if seen.pop(name, digest) != digest:
            raise _changed(name)
        digests.append(digest.value)
        yield DeliveryProgress(say("Hashing the model"), number, len(paths))
    if seen:
        raise _changed(min(seen))
    yield Digest.of(b"".join(digests))


def _changed(name: str) -> FileChangedError:
    return file_changed(name, say("its size, its time or a part of it"))


def _files(root: Path) -> Iterator[Path]:
    if root.is_symlink() or not root.is_dir():
        raise WeightsError(
            say("{0} is no folder, which a model's digest is taken of.", root), remedy=say("Give the model's folder.")
        )
    count = 0
    for where, folders, names in os.walk(root):
        if Path(where) == root:
            folders[:] = [name for name in folders if name not in IGNORED]
            names = [name for name in names if name not in IGNORED]
        for name in (*folders, *names):
            path = Path(where) / name
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise WeightsError(
                    say("{0} is neither a file nor a folder, and a model's digest is of files alone.", path),
                    remedy=say("Put the file itself there: symbolic links are not followed."),
                )
        count += len(names)
        if count > MAX_FILES:
            raise WeightsError(say("The folder {0} holds more than {1} files.", root, MAX_FILES))
        yield from (Path(where) / name for name in names)


def model_and_run(
    model: Path, run: Path, basis: Basis, cancel: CancelToken
) -> tuple[DeliveryReport | None, Digest | None]:
    """Compare a model with a run; returns what was found, and the model's digest where it is the run's.

    Args:
        model: The folder of the model.
        run: The run.
        basis: What says that it is verified.
        cancel: Stops it.

    Raises:
        CounterfoilError: As :func:`.verification.verify_weights` and :func:`.modeldigest.model_digest`.
    """
    found: DeliveryReport | None = None
    process = Process(DELIVERY)
    try:
        reads = str(model.absolute()), str(run.absolute())
        process.enclose(Enclosure(reads, open=why_open("")))
        for said in process.ask(COMPARES, COMPARES.call(compare, (*map(Path, reads), basis), {}), cancel):
            if isinstance(said, Digest):
                return found, said
            found = said
    finally:
        process.end(now=True)
    return found, None


def main() -> None:
    """Compare one: what the process is."""
    line = Line(DELIVERY, COMPARES)
    if line.enclosed() is not None:
        line.serve(None)


def compare(
    _process: None, model: Path, run: Path, basis: Basis, cancel: CancelToken
) -> Iterator[DeliveryReport | Digest]:
    """Yield what was found, and behind it the model's digest where it is the run's."""
    from counterfoil.delivery.verification import verify_weights

    for event in verify_weights(model, run, basis, cancel=cancel):
        if isinstance(event, DeliveryReport):
            yield event
            if event.outcome is DeliveryOutcome.DELIVERED:
                yield from (each for each in model_digest(model, event, cancel) if isinstance(each, Digest))


COMPARES = Port[None](compare, given="_process")
"""What the process may be asked."""
