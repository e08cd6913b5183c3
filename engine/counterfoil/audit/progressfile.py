"""The progress of an audit, kept in a file, so that an audit that was stopped or killed goes on where it was.

What is known where a segment ends fits into one value, since the next segment can start from a state that the trainer
signed. It is written whole and sealed with a secret of this user (:mod:`counterfoil.base.seal`), so that neither a
torn file nor one that somebody else made is taken for one; and it says what it is progress of (:class:`Basis`), so
that it is of use to the same audit of the same bytes only.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from counterfoil.base.joberrors import SealError
from counterfoil.base.seal import SEAL_BYTES, check_seal, seal, state_home
from counterfoil.base.wholefiles import write_whole
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import (
    BundleError,
    FileWriteError,
    GivenFileError,
    ProgressError,
    RefusedError,
)
from counterfoil_core.base.generators import finish
from counterfoil_core.base.inputs import open_plain
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.bundle.capsule import CapsuleContents, CapsuleReader
from counterfoil_core.bundle.steady import SteadyFile
from counterfoil_core.hearing.keptaudit import ANEW, SUFFIX, Basis, KeptAudit, audit_of, body_of
from counterfoil_core.hearing.knowledge import Known
from counterfoil_core.values.report import Kept

MARK = b"counterfoil audit progress 4\n"
MAX_BYTES = 2**31
"""Ten million steps take half of that."""
HASHED_BYTES = 2**30
"""A run of at most so many bytes is hashed, in a second or two, to know whether what is kept is of this very file."""
LEAST_SECONDS = 5.0
"""How often progress is written at the most."""
SHARE = 20
"""And that the time which it takes is at most one in so many parts of the audit's."""


def encode(audit: KeptAudit) -> bytes:
    """Return the bytes of a progress file; raises SealError and FileWriteError where they cannot be sealed."""
    body = body_of(audit)
    return MARK + seal(MARK + body) + body


def decode(data: bytes) -> KeptAudit:
    """Read a progress file.

    Raises:
        ProgressError: It is torn, altered, or made by somebody else, or was written by another version.
    """
    start = len(MARK) + SEAL_BYTES
    body = data[start:]
    if not data.startswith(MARK):
        raise ProgressError(say("The progress that was kept is damaged, or not of this version."), remedy=ANEW)
    try:
        check_seal(MARK + body, data[len(MARK) : start])
    except SealError as error:
        raise ProgressError(
            say("The progress that was kept is not used. {0}", error.sentence), remedy=joined(error.remedy, ANEW)
        ) from error
    return audit_of(body)


def state_folder() -> Path:
    """Return the folder in which this user's audits keep their progress; it is made unless it cannot be."""
    folder = state_home() / "audits"
    with suppress(OSError):  # what fails is said when progress is written
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def place_of(place: Path, basis: Basis) -> Path:
    """Return where an audit keeps its progress: ``place`` itself, or a file of its own when that is a folder."""
    return place / basis.name if place.is_dir() else place


def load(path: Path) -> KeptAudit | None:
    """Read a progress file; None when there is none.

    Raises:
        ProgressError: It cannot be read, or is torn or altered.
    """
    try:
        if not path.is_file():
            return None
        with open_plain(path) as raw, io.BufferedReader(raw) as file:
            if path.stat().st_size > MAX_BYTES:
                raise ProgressError(say("{0} is too large for the progress of an audit.", path), remedy=ANEW)
            data = file.read(len(MARK))
            if data == MARK:  # what a sparse file says of its size is nothing to set memory aside for
                data += file.read(MAX_BYTES + 1 - len(MARK))
    except OSError as error:
        raise ProgressError(
            say("The progress in {0} cannot be read: {1}.", path, error.strerror or error), remedy=ANEW
        ) from error
    if len(data) > MAX_BYTES:
        raise ProgressError(say("{0} is too large for the progress of an audit.", path), remedy=ANEW)
    return decode(data)


def _usable(paths: Iterable[Path]) -> Iterator[tuple[Path, KeptAudit]]:
    """Yield the progress files that can be read, and what they hold."""
    for path in sorted(paths):
        with suppress(ProgressError):
            found = load(path)
            if found is not None:
                yield path, found


def _unfit(differing: Sequence[str]) -> ProgressError:
    return ProgressError(
        say(
            "The progress that was kept belongs to another audit. What differs: {0}.", joined(*differing, between=", ")
        ),
        remedy=say("Give the same file and options as then, or start the audit anew, without --resume."),
    )


class Shelf:
    """Where progress lies: in files of the user's. A process in a box has another one, which asks whoever has them."""

    def fitting(self, place: Path, basis: Basis, *, begin: bool = False) -> KeptAudit | None:
        """Return the progress that an audit can go on from.

        Args:
            place: Its file, or the folder of all of them.
            basis: The audit's basis.
            begin: Whether None is returned where nothing was kept of any audit of this run.

        Raises:
            ProgressError: There is none, or it is that of another audit; the sentence says what differs.
        """
        found = load(place_of(place, basis))
        if found is None:
            paths = place.glob(f"{basis.run_root.hex[:32]}-*{SUFFIX}") if place.is_dir() else ()
            others = [basis.differences(other.basis) for _, other in _usable(paths)]
            if not others and begin:
                return None
            if not others:
                raise ProgressError(say("No progress of an audit of this run was kept."), remedy=ANEW)
            raise _unfit(min(others, key=len))
        if found.basis != basis:
            raise _unfit(basis.differences(found.basis))
        return found

    def earlier(self, path: Path, basis: Basis) -> KeptAudit | None:
        """Return the progress of an audit with this very basis; None where there is none of use."""
        with suppress(ProgressError):  # of no use: it is replaced
            found = load(path)
            if found is not None and found.basis == basis:
                return found
        return None

    def find(self, place: Path, basis: Basis, run: Path) -> Kept | None:
        """Return what is kept of an audit; None when there is nothing of use.

        Args:
            place: Its file, or the folder of all of them.
            basis: The audit's basis; ``file`` is not looked at.
            run: The run. It is hashed if something is kept that may be of this very file, unless that takes long.
        """
        paths = place.glob(basis.names) if place.is_dir() else [place]
        found = [(path, audit) for path, audit in _usable(paths) if basis.is_alike(audit.basis)]
        try:
            if len(found) > 1 or (found and run.stat().st_size <= HASHED_BYTES):
                digest = Digest.of_file(run)
                found = [(path, audit) for path, audit in found if audit.basis.file == digest]
        except OSError:  # the audit will say so
            return None
        return found[0][1].kept_at(found[0][0]) if found else None

    def remove(self, files: Iterable[Path]) -> str:
        """Remove progress of an audit that has come to its end; returns what could not be, as a sentence."""
        problem = ""
        for path in files:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                problem = say("{0} could not be removed: {1}.", path, error.strerror or error)
        return problem

    def evidence(self, path: Path, audit: KeptAudit) -> CapsuleContents | None:
        """Read the dispute capsule beside a progress file; None when the progress names none.

        Raises:
            ProgressError: It is not the one that was kept.
        """
        if audit.capsule is None:
            return None
        try:
            with SteadyFile.open(capsule_of(path)) as file:
                if finish(file.settle()).value == audit.capsule:
                    return CapsuleReader(file).contents()
        except (GivenFileError, RefusedError) as error:
            raise ProgressError(
                say("The dispute capsule that was kept with the progress cannot be read."),
                remedy=ANEW,
                detail=str(error),
            ) from error
        raise ProgressError(say("The dispute capsule that was kept with the progress is another one."), remedy=ANEW)

    def put_capsule(self, path: Path, evidence: CapsuleContents) -> Digest:
        """Write the dispute capsule beside a progress file, and return its SHA-256; raises as that does."""
        from counterfoil.bundle.capsulewriter import write_capsule  # with HDF5's library, which most audits do without

        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        capsule = capsule_of(path)
        write_capsule(evidence, capsule)
        return Digest.of_file(capsule)

    def put(self, path: Path, audit: KeptAudit) -> None:
        """Write a progress file, whole; raises FileWriteError, SealError and OSError."""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(path, encode(audit), what=say("the progress of the audit"), mode=0o600)


class ProgressKeeper:
    """Writes the progress of one audit, now and then.

    Args:
        place: Its file, or the folder of all of them.
        basis: What it is progress of.
        shelf: Where it lies.
        clock: Monotonic seconds.

    Attributes:
        kept: What lies there; None while nothing does.
        problem: Why it could not be kept or removed, as a sentence; else empty.
    """

    def __init__(self, place: Path, basis: Basis, shelf: Shelf, clock: Callable[[], float] = time.monotonic) -> None:
        self._place = place
        self._path = place_of(place, basis)
        self._basis = basis
        self._shelf = shelf
        self._clock = clock
        self._waiting: Known | None = None
        self._written: CapsuleContents | None = None
        self._capsule: Digest | None = None
        self._due = float("-inf")
        self.kept: Kept | None = None
        self.problem = ""

    def earlier(self) -> KeptAudit | None:
        """Return the progress of an audit with this very basis; None where there is none of use."""
        return self._shelf.earlier(self._path, self._basis)

    def fitting(self, *, begin: bool) -> KeptAudit | None:
        """Return the progress that the audit can go on from; see :meth:`Shelf.fitting`."""
        return self._shelf.fitting(self._place, self._basis, begin=begin)

    def evidence(self, audit: KeptAudit) -> CapsuleContents | None:
        """Read the dispute capsule beside the progress; see :meth:`Shelf.evidence`."""
        return self._shelf.evidence(self._path, audit)

    def adopt(self, audit: KeptAudit, evidence: CapsuleContents | None = None) -> None:
        """Take note of what lies there: progress with fewer segments will not replace it."""
        self.kept = audit.kept_at(self._path)
        if audit.capsule is not None and evidence is not None:
            self._written, self._capsule = evidence, Digest(audit.capsule)

    def keep(self, known: Known) -> None:
        """Note what is known where a segment ends; it is written if the last writing lies back long enough."""
        if self.kept is not None and known.judged.segments <= self.kept.segments:
            return
        self._waiting = known
        if self._clock() >= self._due:
            self.flush()

    def flush(self) -> None:
        """Write what was noted last; what fails is said in :attr:`problem`, since an audit must not fail for it."""
        if self._waiting is None:
            return
        begun = self._clock()
        known, self._waiting = self._waiting, None
        try:
            self._write_capsule(known.evidence)
            audit = KeptAudit.of(known, self._basis, self._capsule)
            self._shelf.put(self._path, audit)
        except (FileWriteError, SealError, OSError) as error:
            sentence = say("{0}.", error.strerror or error) if isinstance(error, OSError) else error.sentence
            self.problem = say("The progress of the audit could not be kept. {0}", sentence)
        else:
            self.kept = audit.kept_at(self._path)
            self.problem = ""
        ended = self._clock()
        self._due = ended + max(LEAST_SECONDS, SHARE * (ended - begun))

    def _write_capsule(self, evidence: CapsuleContents | None) -> None:
        if evidence is None or evidence is self._written:
            return
        with suppress(BundleError):  # too many steps for a capsule: then there is none at the end either
            self._capsule = self._shelf.put_capsule(self._path, evidence)
            self._written = evidence

    @property
    def files(self) -> tuple[Path, ...]:
        """What is written, where there is something to write."""
        return self._path, capsule_of(self._path)

    def remove(self) -> None:
        """Remove what was written, since the audit has come to its end."""
        self._waiting = self.kept = None
        self.problem = self._shelf.remove(self.files) or self.problem


def capsule_of(path: Path) -> Path:
    """Return where the dispute capsule lies that belongs to a progress file."""
    return path.with_name(path.name + ".cfoil")
