"""Looks for a file that is no longer where it was: by what it holds, and never by its name alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil import NO_TRUST, CancelToken, CounterfoilError, Digest, FileUse, Recognised, TrustStore
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.subject import Subject

if TYPE_CHECKING:
    from counterfoil_app.engine.port import Engine

MOST_FILES = 50_000
"""So many files of a folder are looked at, and no more."""
MOST_DEPTH = 16


@dataclass(frozen=True)
class Wanted:
    """What is looked for."""

    kind: FileUse  #: What the file is.
    name: str  #: What it was called: files of this name are looked at first.
    order: Digest | None = None  #: Digest of the order that it holds or is about; None where that is not known.
    about: Subject | None = None  #: The run that it holds or is about; None where that is not known.
    store: TrustStore = NO_TRUST  #: What the user trusts, by which a verdict is read.


@dataclass(frozen=True)
class SearchProgress:
    """How far a search is."""

    looked: int  #: How many files were looked at.
    total: int  #: How many there are.
    found: Path | None = None  #: The file, once it is found; it is the last that is said.


def search(engine: Engine, place: Path, wanted: Wanted, cancel: CancelToken) -> Iterator[SearchProgress]:
    """Look at a file, or at those of a folder and of the folders in it, until one is the wanted one.

    Args:
        engine: Says what each file is.
        place: The file or folder.
        wanted: What is looked for.
        cancel: Looked at before each file.

    Yields:
        How far it is, before each file and at the end.

    Raises:
        CounterfoilError: There is no such place, or the search was cancelled.
    """
    if not os.path.exists(place):
        raise CounterfoilError(say("There is no file {0}.", str(place)), remedy=say("Choose another place."))
    if place.is_dir() and wanted.kind is not FileUse.WEIGHTS:
        files = list(_files(place, cancel))
    else:
        files = [*_folders_of_weights(place, cancel)] if place.is_dir() else [place]
    files.sort(key=lambda path: path.name != wanted.name)  # stable: the others keep their order
    for looked, path in enumerate(files):
        cancel.check()
        yield SearchProgress(looked, len(files))
        if _is_it(engine, path, wanted, only=len(files) == 1):
            yield SearchProgress(looked + 1, len(files), path)
            return
    yield SearchProgress(len(files), len(files))


def _is_it(engine: Engine, path: Path, wanted: Wanted, *, only: bool) -> bool:
    """Whether a file holds what is wanted; one that cannot be read does not."""
    try:
        found = engine.recognise(path)
        if found.kind is not wanted.kind:
            return False
        if wanted.kind is FileUse.VERDICT:
            return _verdict_is(engine, path, wanted)
        if wanted.kind is FileUse.WEIGHTS:  # which name no order: compared again, whatever they are
            return only or path.name == wanted.name
        return _order_is(found, wanted) and (found.kind is not FileUse.RUN or _run_is(engine, path, wanted.about))
    except CounterfoilError:
        return False


def _order_is(found: Recognised, wanted: Wanted) -> bool:
    return wanted.order is not None and found.order == wanted.order


def _run_is(engine: Engine, path: Path, about: Subject | None) -> bool:
    if about is None:
        return True
    run = engine.outline(path).run
    return run is not None and run.about == about


def _verdict_is(engine: Engine, path: Path, wanted: Wanted) -> bool:
    signed = engine.read_verdict(path, wanted.store, None, ()).verdict
    if signed is None:
        return False
    same = wanted.order in (signed.order_digest, signed.run_order)
    return same and wanted.about in (None, signed.about)


def _files(folder: Path, cancel: CancelToken) -> Iterator[Path]:
    for here, _folders, names in _walk(folder, cancel):
        yield from (path for name in names if (path := Path(here, name)).is_file() and not path.is_symlink())


def _folders_of_weights(folder: Path, cancel: CancelToken) -> Iterator[Path]:
    """Weights are a file or a folder of them."""
    yield folder
    for here, folders, names in _walk(folder, cancel):
        yield from (Path(here, name) for name in (*folders, *names))


def _walk(folder: Path, cancel: CancelToken) -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    """The folders below one, sorted; links are not followed, and no more is listed than anybody waits for."""
    count = 0
    for here, folders, names in os.walk(folder):
        cancel.check()
        depth = len(Path(here).relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if depth < MOST_DEPTH else []
        names = sorted(names)[: MOST_FILES - count]
        count += len(names)
        yield here, folders, names
        if count >= MOST_FILES:
            return
