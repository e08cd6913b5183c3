"""A witness: at random times, which no trainer can foresee, it hashes the live state and signs it; docs/witness.md.

It looks from within the training's process, where the loop shows it the state (:class:`Witness`), or from another
one at the checkpoints that a recorder writes (:func:`watch_recording`).
"""

from __future__ import annotations

import io
import math
import os
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from counterfoil.base.joberrors import RecordingError, TargetExistsError
from counterfoil.base.wholefiles import open_log, write_errors
from counterfoil.delivery.snapshots import StateLayout, make_line, sign_line, take_snapshot
from counterfoil.signing.kinds import MOST_GAP_SECONDS, Ending, Line, LineKind, Snapshot
from counterfoil.training.recordingfolder import HEADER, check_files, reading_recording, recorded_run, recording_folder
from counterfoil.training.stepfile import read_state, state_name
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CancelledError, DataError, RefusedError
from counterfoil_core.base.sentence import say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.parties.signatures import check_claim, need_run, subject_of
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.subject import Subject

USUAL_SECONDS = 600
"""Seconds between two snapshots on average, unless the user says otherwise."""
_LOOK_SECONDS = 0.5
_STOPS = (CancelledError, KeyboardInterrupt)
_STATES = state_name(0)[:6] + "[0-9]" * 8

Told = Callable[[Line], None]
"""Told of each line that was written."""


def _quiet(line: Line) -> None:
    del line


def seconds_until_next(mean_seconds: float) -> float:
    """Draw how long a witness waits: exponentially distributed, from the randomness of the operating system.

    So what a trainer has seen so far tells nothing of when the next snapshot comes: a Poisson process has no memory.
    """
    uniform = (secrets.randbits(53) + 1) / 2**53  # in (0, 1]
    return -mean_seconds * math.log(uniform)


class Witness:
    """Takes snapshots of a state that a training loop shows, and signs them in a log; a context manager.

    Args:
        log: Where the log goes; there must be no such file.
        key: The witness's key, best the signer's process (:func:`counterfoil.start_signer`) of another party.
        mean_seconds: Seconds between two snapshots on average.
        told: Told of each line that was written.
        wait: Draws how many seconds pass until the next snapshot.

    Raises:
        DataError: ``mean_seconds`` is out of range.
        TargetExistsError: There is a file of the log's name.
        FileWriteError: The log cannot be written.
        SignerError: The signer's process does not sign.
    """

    def __init__(
        self,
        log: Path,
        key: SigningKey,
        mean_seconds: int = USUAL_SECONDS,
        *,
        told: Told = _quiet,
        wait: Callable[[float], float] = seconds_until_next,
    ) -> None:
        if not 1 <= mean_seconds <= MOST_GAP_SECONDS:
            raise DataError(
                say("A witness takes a snapshot every {0} seconds on average.", mean_seconds),
                remedy=say("Give a number from 1 to {0}.", MOST_GAP_SECONDS),
            )
        self._log, self._key, self._mean, self._told, self._wait = log, key, mean_seconds, told, wait
        self._before: bytes | None = None
        self._number = 0
        with write_errors(log, say("the log")):
            try:
                self._file: io.FileIO | None = io.FileIO(open_log(log, new=True), "w")
            except FileExistsError as error:
                raise TargetExistsError(
                    say("There is already a file {0}.", os.fspath(log)),
                    remedy=say("Give the log another name: no witness adds to the log of another one."),
                ) from error
        try:
            self._write(LineKind.BEGUN)
        except BaseException:
            self._file.close()
            raise
        self._due = time.monotonic() + wait(mean_seconds)

    @property
    def due(self) -> bool:
        """Whether the moment of the next snapshot has come."""
        return time.monotonic() >= self._due

    def look(self, state: Mapping[str, Any]) -> bool:
        """Take a snapshot if it is time for one; to be called between steps, as often as there are any.

        Args:
            state: Tensors by name: torch's, on any device, or numpy arrays. Named as the order's state has them, and
                all of them, where it is to be found in a run by its state root.

        Returns:
            Whether a snapshot was taken.

        Raises:
            DataError: A dtype has no digest, or the state is empty.
            FileWriteError, SignerError: The line cannot be written, or is not signed.
        """
        if not self.due:
            return False
        self._take({name: _array(tensor) for name, tensor in state.items()})
        return True

    def _take(self, state: Mapping[str, Array]) -> None:
        self._write(LineKind.SNAPSHOT, take_snapshot(state, secrets.randbits(64)))
        self._due = time.monotonic() + self._wait(self._mean)

    def miss(self) -> None:
        """Say in the log that the moment had come and no whole state lay there; raises as :meth:`look`."""
        self._write(LineKind.ABSENT)
        self._due = time.monotonic() + self._wait(self._mean)

    def close(self, ending: Ending = Ending.STOPPED, run: Subject | None = None) -> None:
        """Say in the log that the witness looks no more, and why, and close it; once.

        Args:
            ending: Why.
            run: The run that the recording became, where that is why.
        """
        if self._file is not None:
            try:
                self._write(LineKind.ENDED, ending=ending, run=run)
            finally:
                self._file.close()
                self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(Ending.STOPPED if error is None or isinstance(error, _STOPS) else Ending.FAILED)

    def _write(
        self,
        kind: LineKind,
        snapshot: Snapshot | None = None,
        ending: Ending | None = None,
        run: Subject | None = None,
    ) -> None:
        if self._file is None:
            raise DataError(say("The witness has ended."), remedy=say("Begin another log."))
        line = make_line(kind, self._before, self._number, self._mean, snapshot, ending=ending, run=run)
        signed = sign_line(line, self._key)
        with write_errors(self._log, say("the log")):
            _append(self._file, signed + b"\n")
        self._before, self._number = signed, self._number + 1
        self._told(line)


def _append(file: io.FileIO, line: bytes) -> None:
    """Write a line to the disk, whole or not at all: behind a torn one nothing of the log could be read."""
    start = file.tell()
    try:
        left = memoryview(line)
        while left:
            left = left[file.write(left) or 0 :]
        os.fsync(file.fileno())
    except OSError:
        with suppress(OSError):  # what failed first is what is said
            file.truncate(start)
            file.seek(start)
        raise


def watch_recording(place: Path, order: Path, witness: Witness, cancel: CancelToken, seconds: float = math.inf) -> None:
    """Take snapshots of the newest state in a recorder's folder until it has become a run, or the time is over.

    Where no state lies there whole when the moment comes, the log says so: whoever takes the folder away for a while
    leaves a trace, and the one that is put back is not looked at any sooner. The log is ended, and says why: it is
    complete where the recording has become a signed run of the order, and it names that run.

    Args:
        place: The run that is recorded, or the recorder's folder beside it; may not be there yet.
        order: The order, which says how its states are laid out.
        witness: Signs; it is closed.
        cancel: Ends it, which is no error.
        seconds: How long it looks at most.

    Raises:
        RefusedError: The order is damaged, or what lies in the place of the run is no signed run.
        RecordingError, FileReadError: The folder holds what is no recording's, or cannot be read.
        DataError, FileWriteError, SignerError: As :meth:`Witness.look`.
    """
    run = recorded_run(place)
    folder = recording_folder(run)
    with BundleReader.open(order) as reader:
        layout, ordered = reader.state_layout(), reader.manifest.digest
    until = time.monotonic() + seconds
    begun = False
    try:
        while time.monotonic() < until:
            present = (folder / HEADER).is_file()
            if begun and not present and run.is_file():
                witness.close(Ending.RUN, _made(run, ordered))  # and its folder is removed
                return
            begun = begun or present
            if witness.due:
                state = newest_state(folder, layout) if present else None
                if state is None:
                    witness.miss()
                else:
                    witness.look(state)
            cancel.wait(min(_LOOK_SECONDS, max(0.0, until - time.monotonic())))
    except CancelledError:
        witness.close(Ending.STOPPED)
    else:
        witness.close(Ending.TIME)


def _made(run: Path, order: Digest) -> Subject:
    """The run that a recording became; raises RefusedError where it is none of the order."""
    with obstacles_noticed(), BundleReader.open(run) as reader:
        need_run(reader)
        made = subject_of(check_claim(reader.claim(), reader.manifest, None, reader.extent.steps))
    if made.order != order:
        raise RefusedError(say("{0} is a run of another order than the one that is watched.", run.name))
    return made


def newest_state(folder: Path, layout: StateLayout) -> dict[str, Array] | None:
    """Read the newest whole state in a recorder's folder; None where there is none.

    Args:
        folder: The recorder's folder.
        layout: How a state is laid out.

    Raises:
        RecordingError, FileReadError: It holds what is no recording's, or cannot be read.
    """
    empty = {name: np.empty(shape, dtype) for name, (dtype, shape) in layout.items()}
    try:
        with reading_recording(folder):
            check_files(folder)
            for path in sorted(folder.glob(_STATES), reverse=True):
                with path.open("rb") as file:
                    before = _written(file)
                    state = read_state(file, empty)
                    # A recorder that goes on writes a state again: what was read may be of neither.
                    torn = _written(file) != before
                if state is not None and not torn:
                    return state
    except RecordingError:
        if folder.is_dir():
            raise
    return None  # the recording ended as it was read, or has no state yet


def _written(file: io.BufferedReader) -> tuple[int, int]:
    """Size and time of the last change of an open file."""
    found = os.fstat(file.fileno())
    return found.st_size, found.st_mtime_ns


def _array(tensor: Any) -> Array:
    """A tensor as a numpy array on the CPU."""
    if isinstance(tensor, np.ndarray):
        return tensor
    try:
        found: Array = tensor.detach().cpu().numpy()
    except (AttributeError, TypeError) as error:
        raise DataError(
            say("A witness cannot read a tensor of this kind: {0}.", type(tensor).__name__),
            remedy=say("Show it numpy arrays, or tensors of a dtype that numpy has."),
            detail=str(error),
        ) from error
    return found
