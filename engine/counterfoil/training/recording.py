"""An unfinished recording: a folder beside the run, from which it goes on after whatever stopped it.

=================== ==================================================================================================
``recording.json``  of which order and by which key; written first and removed last, so that without it a folder is none
``acceptance.json`` the trainer's signed acceptance of the order, made when training began
``steps-00000001``  steps, from that one up to a checkpoint (:mod:`counterfoil.training.stepfile`); only grows
``state-00000020``  the state after that step: its tensors by name, little-endian, one after the other
``heads.jsonl``     the tree heads that were published, one a line
=================== ==================================================================================================

What a step file holds is kept for good: it may have been published. A state is only a place to go on from; the steps
behind the last whole one are computed again, following their logs, so they come out the same on every machine.
"""

from __future__ import annotations

import io
import os
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from counterfoil.base.joberrors import RecordingError
from counterfoil.base.wholefiles import lock, remove_folder, sync_folder, write_errors, write_whole
from counterfoil.commit.frontier import MerkleFrontier
from counterfoil.training.recordingevents import RecordingChecked
from counterfoil.training.recordingfolder import (
    ACCEPTANCE,
    HEADER,
    HEADS,
    OURS,
    WHAT,
    check_files,
    clear,
    in_use,
    is_unfinished,
    reading_recording,
    recording_folder,
)
from counterfoil.training.stepfile import (
    Arrays,
    StoredStep,
    encode_state,
    encode_step,
    first_seal,
    read_state,
    read_steps,
    state_name,
    steps_name,
)
from counterfoil_core.base import canonical
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.canonical import CanonicalError
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError, FileWriteError, SignatureError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.extent import Extent
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import OrderManifest, StepRecord
from counterfoil_core.commit.merkle import leaf_hash
from counterfoil_core.commit.state import state_root
from counterfoil_core.signing.claims import RunClaim, TreeHead
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.signing.statements import open_said

LEAST_SYNC_SECONDS = 1.0
"""The disk is waited for at most so often, except before something is published."""
SYNC_SHARE = 0.01
"""Share of the time that waiting for the disk may take."""
ROLL_BYTES = 64 * 2**20
"""Size from which a file of steps is followed by another at the next checkpoint."""

_FORMAT = 2
_SHOWN = 200
"""How many times the check of a recording says how far it is."""


class Recording:
    """An unfinished recording; use it as a context manager, which lets go of it and removes one without a step.

    Attributes:
        folder: Where it lies.
        steps: How many steps are finished.
        extent: The steps that the run will have: all that are ordered, or fewer once the order's rule has ended it.
        log_bytes: Size of their rounding logs.
        heads: The tree heads that were published, by their number of leaves.
        published: The lines of these tree heads.
    """

    def __init__(self, folder: Path, manifest: OrderManifest, header: bytes) -> None:
        """Take over a folder with this header; made by :meth:`begin` and :meth:`open`."""
        self.folder = folder
        self.steps = 0
        self.extent = manifest.extent
        self.log_bytes = 0
        self.heads: dict[int, TreeHead] = {}
        self.published = b""
        self._manifest = manifest
        self._watch = None if manifest.may_stop_early is None else manifest.may_stop_early.watch()
        self._header = header
        self._roots: dict[int, Digest] = {}
        self._checked = False
        self._stack = ExitStack()
        self._file: io.FileIO | None = None
        self._seal = self._first_seal(1)
        self._full: list[io.FileIO] = []
        self._state: io.FileIO | None = None
        self._synced_at = time.monotonic()
        self._pause = LEAST_SYNC_SECONDS
        with write_errors(folder, WHAT):
            held = self._stack.enter_context((folder / HEADER).open("rb"))
        if not lock(held.fileno()):
            raise in_use(folder)

    @classmethod
    def begin(cls, run_path: Path, manifest: OrderManifest, key: PublicKey) -> Self:
        """Start a recording.

        Args:
            run_path: Where the run will go; the folder lies beside it.
            manifest: The order's manifest.
            key: The trainer's public key.

        Raises:
            RecordingError: An unfinished one lies there.
            FileWriteError: The folder cannot be written.
        """
        folder = recording_folder(run_path)
        if is_unfinished(run_path):
            raise RecordingError(
                say("An unfinished recording of this run lies in {0}.", folder),
                remedy=say("Go on with it: add --resume. Or discard it: add --fresh."),
            )
        header = encode_header(manifest, key)
        with write_errors(folder, WHAT):
            folder.mkdir(exist_ok=True)
            clear(folder)
        write_whole(folder / HEADER, header, what=WHAT, replace=False)
        with write_errors(folder, WHAT):
            sync_folder(folder.parent)
        recording = cls(folder, manifest, header)
        recording._checked = True
        return recording

    @classmethod
    def open(cls, run_path: Path, manifest: OrderManifest, key: PublicKey) -> Self:
        """Open an unfinished recording; :meth:`check` must follow.

        Args:
            run_path: Where the run will go; the folder lies beside it.
            manifest: The order's manifest.
            key: The trainer's public key.

        Raises:
            RecordingError: It is of another order, by another key, damaged, or somebody goes on with it right now.
            FileReadError: The system fails to read it.
        """
        folder = recording_folder(run_path)
        header = encode_header(manifest, key)
        check_files(folder)
        with reading_recording(folder):
            found = (folder / HEADER).read_bytes()
        if found != header:
            raise _other_header(folder, found, manifest, key)
        recording = cls(folder, manifest, header)
        try:
            recording._read_heads(key)
        except BaseException:
            recording._stack.close()
            raise
        return recording

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._unsynced:
            with suppress(FileWriteError):
                self._sync()
        self._close()
        if self._checked and not self.steps and not self.published:
            _remove(self.folder)

    # What is there already.

    def acceptance(self) -> bytes | None:
        """Return the DSSE envelope by which the trainer accepted the order; None while it was not kept.

        Raises:
            FileReadError: The system fails to read it.
        """
        path = self.folder / ACCEPTANCE
        with reading_recording(path):
            return path.read_bytes() if path.exists() else None

    def keep_acceptance(self, envelope: bytes) -> None:
        """Keep the envelope by which the trainer accepts the order, on the disk; raises FileWriteError."""
        write_whole(self.folder / ACCEPTANCE, envelope, what=WHAT)

    @property
    def size_bytes(self) -> int:
        """How much room it takes so far; raises FileReadError."""
        with reading_recording(self.folder):
            return sum(path.stat().st_size for path in self.folder.iterdir())

    def check(self, cancel: CancelToken | None = None) -> Generator[RecordingChecked, None, MerkleFrontier]:
        """Check every finished step, and remove what is behind the last whole one.

        Yields:
            The progress.

        Returns:
            The history up to the last finished step.

        Raises:
            RecordingError: The steps contradict a tree head that was published.
            FileReadError: The system fails to read it.
            FileWriteError: What is torn cannot be removed.
            CancelledError: ``cancel`` was set.
        """
        history = MerkleFrontier()
        history.append(leaf_hash(StepRecord(0, self._manifest.initial_root, None, None, None).to_bytes()))
        with reading_recording(self.folder):
            total = sum(path.stat().st_size for path in self.folder.glob("steps-*"))
        done = end = shown = 0
        file = 1
        for step, first, position, seal in self._read(1):
            if cancel is not None:
                cancel.check()
            number, loss = step.record.step, step.record.loss
            stopped = loss is not None and self.stops_after(loss)
            extent = self._manifest.extent_of(number) if stopped else self._manifest.extent
            if (step.record.state_root is not None) != extent.is_committed(number):
                break
            if first != file:
                file, done = first, done + end
            end = position
            self.steps, self.extent = number, extent
            self.log_bytes += len(step.log)
            self._seal = seal
            history.append(leaf_hash(step.record.to_bytes()))
            self.check_published(history)
            if step.record.state_root is not None and extent.is_checkpoint(number):
                self._roots[number] = step.record.state_root
            if done + end >= shown + total / _SHOWN:
                shown = done + end
                yield RecordingChecked(shown, total)
            if stopped:
                break
        self._cut(end)
        self._checked = True
        return history

    def stops_after(self, loss: float) -> bool:
        """Take the loss of the next step; return whether the order's rule ends the run after it."""
        return self._watch is not None and self._watch.fires(loss)

    def check_published(self, history: MerkleFrontier) -> None:
        """Raise RecordingError when the history so far is not the one that was published at its length."""
        head = self.heads.get(history.size)
        if head is not None and head.root != history.root:
            raise RecordingError(
                say(
                    "The steps up to {0} are not those of the tree head that was published on {1}: its readers would "
                    "conclude that history was rewritten.",
                    history.size - 1,
                    head.signed_at,
                ),
                remedy=say(
                    "Go on with --resume on the machine where the recording was begun, or restore its folder {0} from "
                    "a backup.",
                    self.folder,
                ),
            )

    def last_state(
        self, initial: Arrays, cancel: CancelToken | None = None
    ) -> Generator[RecordingChecked, None, tuple[int, Arrays]]:
        """Check the stored states, and find the last one from which on all can be gone on with.

        All of them go into the run: one that is damaged is found before hours of training are added to it, and what
        follows it is computed again.

        Args:
            initial: The initial state, which says how the stored ones are laid out.
            cancel: Looked at between states.

        Yields:
            The progress.

        Returns:
            Its step and the state; step 0 and ``initial`` when there is none.

        Raises:
            FileReadError: The system fails to read one.
            CancelledError: ``cancel`` was set.
        """
        found = 0, initial
        one = sum(array.nbytes for array in initial.values())
        for number, step in enumerate(self._roots, 1):
            if not self._state_path(step).is_file():
                break
            if cancel is not None:
                cancel.check()
            try:
                found = step, self.state(step, initial)
            except RecordingError:
                break
            yield RecordingChecked(number * one, len(self._roots) * one)
        return found

    def read(self, first: int) -> Iterator[StoredStep]:
        """Read the finished steps from one on.

        Raises:
            RecordingError: One is damaged.
            FileReadError: The system fails to read one.
        """
        last = first - 1
        for step, _, _, _ in self._read(first):
            last = step.record.step
            yield step
            if last == self.steps:
                return
        if last < self.steps:
            raise self._damaged(say("step {0}", last + 1))

    def state(self, step: int, initial: Arrays) -> Arrays:
        """Read the state that was stored after a finished step.

        Args:
            step: The step.
            initial: The initial state, which says how it is laid out.

        Raises:
            RecordingError: It is damaged; it was removed, so that it will be computed again.
            FileReadError: The system fails to read it.
        """
        path = self._state_path(step)
        with reading_recording(path), path.open("rb") as file:
            arrays = read_state(file, initial)
        if arrays is None or state_root(arrays) != self._roots[step]:
            with write_errors(path, WHAT):
                path.unlink()
            raise self._damaged(say("the state after step {0}", step))
        return arrays

    # What is added.

    def append(self, step: StoredStep, extent: Extent) -> None:
        """Add the next finished step.

        Args:
            step: The step.
            extent: The steps that the run will have, as far as is known after it.

        Raises:
            FileWriteError: It cannot be written.
        """
        number = step.record.step
        assert number == self.steps + 1, "steps come one after the other"
        data, seal = encode_step(step, self._seal)
        if self._file is None:
            self._file = self._open(self._steps_path(number))
        _write(self._file, data, self.folder)
        self._seal = seal
        self.steps, self.extent = number, extent
        self.log_bytes += len(step.log)
        if extent.is_checkpoint(number):
            assert step.record.state_root is not None
            self._roots[number] = step.record.state_root
            if self._file.tell() >= ROLL_BYTES:
                self._full.append(self._file)
                self._file, self._seal = None, self._first_seal(number + 1)
        self._sync_when_due()

    def store_state(self, step: int, state: Arrays) -> None:
        """Store the state after a finished step that is a checkpoint; raises FileWriteError."""
        file = self._open(self._state_path(step))
        for piece in encode_state(state):
            _write(file, piece, self.folder)
        # Only the newest is waited for: what a power loss takes of older ones is computed again.
        if self._state is not None:
            self._state.close()
        self._state = file
        self._sync_when_due()

    def publish(self, head: TreeHead, line: bytes) -> None:
        """Keep a tree head that is about to be published, on the disk with all that it speaks of.

        Args:
            head: The tree head.
            line: The same as it is published.

        Raises:
            FileWriteError: It cannot be written.
        """
        self._sync()
        with write_errors(self.folder, WHAT), (self.folder / HEADS).open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
            sync_folder(self.folder)
        self.published += line
        self.heads[head.size] = head

    def forget_after(self, step: int) -> None:
        """Remove the finished steps after one, none of which was published, and add nothing more.

        Raises:
            FileWriteError: They cannot be removed.
        """
        assert all(size <= step + 1 for size in self.heads), "what was published is kept for good"
        self._close_files()
        ends = {first: end for done, first, end, _ in self._read(1) if done.record.step <= step}
        with write_errors(self.folder, WHAT):
            for first in self._step_files():
                _shorten(self._steps_path(first), ends.get(first, 0))
            for path in self.folder.glob("state-*"):
                if int(path.name.removeprefix("state-")) > step:
                    path.unlink()
        self.steps = min(self.steps, step)

    def discard(self) -> None:
        """Remove the recording; what cannot be removed is left."""
        self._close()
        _remove(self.folder)

    # Inside.

    def _steps_path(self, first: int) -> Path:
        return self.folder / steps_name(first)

    def _state_path(self, step: int) -> Path:
        return self.folder / state_name(step)

    def _first_seal(self, first: int) -> Digest:
        return first_seal(self._header, first)

    def _step_files(self) -> list[int]:
        """The first steps of the files of steps, ascending."""
        with reading_recording(self.folder):
            return sorted(int(path.name.removeprefix("steps-")) for path in self.folder.glob("steps-" + "[0-9]" * 8))

    def _read(self, first: int) -> Iterator[tuple[StoredStep, int, int, Digest]]:
        """Yield whole steps from one on, each with its file, the position behind it there, and its seal."""
        manifest = self._manifest
        files = self._step_files()
        number = max((file for file in files if file <= first), default=0)
        while number in files:
            file, path = number, self._steps_path(number)
            with reading_recording(path), path.open("rb") as opened:
                size, position = os.fstat(opened.fileno()).st_size, 0
                for step, position, seal in read_steps(opened, size, self._first_seal(file)):
                    if number > manifest.steps or step.record.step != number:
                        return
                    if number >= first:
                        yield step, file, position, seal
                    number += 1
            if position != size or number == file:
                return

    def _cut(self, end: int) -> None:
        """Remove what is behind the last whole step, whose file ends at ``end``, and get ready to add to it."""
        files = [file for file in self._step_files() if file <= self.steps]
        kept = {self.folder / HEADER, self.folder / HEADS, self.folder / ACCEPTANCE, *map(self._steps_path, files)}
        kept.update(map(self._state_path, self._roots))
        with write_errors(self.folder, WHAT):
            for path in self.folder.iterdir():
                if path not in kept and OURS.fullmatch(path.name):
                    path.unlink()
            if files:
                self._file = self._open(self._steps_path(files[-1]), "r+b")
                self._file.truncate(end)
                self._file.seek(end)

    def _read_heads(self, key: PublicKey) -> None:
        path = self.folder / HEADS
        with reading_recording(path):
            data = path.read_bytes() if path.exists() else b""
        # The last line is torn when its writing was stopped; it was not published then.
        self.published = data[: data.rfind(b"\n") + 1]
        for line in self.published.splitlines():
            try:
                head = open_said(TreeHead, line, key)
            except SignatureError as error:
                raise RecordingError(
                    say("The tree heads in {0} are damaged.", path),
                    remedy=say("Replace that file by what was published, and go on with --resume."),
                    detail=str(error),
                ) from error
            self.heads[head.size] = head
        if len(self.published) != len(data):
            with write_errors(self.folder, WHAT):
                _shorten(path, len(self.published))

    def _open(self, path: Path, mode: str = "wb") -> io.FileIO:
        with write_errors(self.folder, WHAT):
            return io.FileIO(path, mode.replace("b", ""))

    @property
    def _unsynced(self) -> list[io.FileIO]:
        return [*self._full, *(file for file in (self._file, self._state) if file is not None)]

    def _sync_when_due(self) -> None:
        if time.monotonic() - self._synced_at >= self._pause:
            self._sync()

    def _sync(self) -> None:
        """Wait until every finished step and the newest state are on the disk."""
        begun = time.monotonic()
        with write_errors(self.folder, WHAT):
            for file in self._unsynced:
                os.fsync(file.fileno())
            sync_folder(self.folder)
        self._let_go()
        self._synced_at = time.monotonic()
        self._pause = max(LEAST_SYNC_SECONDS, (self._synced_at - begun) / SYNC_SHARE)

    def _let_go(self) -> None:
        """Close the files to which nothing will be added."""
        for file in (*self._full, self._state):
            if file is not None:
                with suppress(OSError):
                    file.close()
        self._full.clear()
        self._state = None

    def _close_files(self) -> None:
        self._let_go()
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None

    def _close(self) -> None:
        self._close_files()
        self._stack.close()

    def _damaged(self, what: str) -> RecordingError:
        return RecordingError(
            say("In the recording in {0} {1} is damaged.", self.folder, what),
            remedy=say("Go on with --resume: what is damaged is computed again."),
        )


def remove_finished(run_path: str | os.PathLike[str]) -> RunClaim | None:
    """Remove the recording of a run that is complete: a process that is killed at its very end leaves it there.

    It goes only where the run's claim is signed by its trainer and has the root of all that was recorded, or where it
    is no recording any more.

    Returns:
        The run's claim; None where there was nothing to remove, or the recording is not that of the run.
    """
    folder = recording_folder(run_path)
    if not folder.is_dir() or not Path(run_path).is_file():
        return None
    with suppress(CounterfoilError), BundleReader.open(run_path) as run:
        claim = open_said(RunClaim, run.claim())
        if is_unfinished(run_path):
            key = PublicKey.from_pem(claim.public_key.encode())
            with Recording.open(Path(run_path), run.manifest, key) as recording:
                history = finish(recording.check())
                if (history.root, recording.steps) != (claim.run_root, claim.steps):
                    return None
                recording.discard()
        else:
            check_files(folder)
            _remove(folder)
        return claim
    return None


def encode_header(manifest: OrderManifest, key: PublicKey) -> bytes:
    """Return what ``recording.json`` holds.

    Args:
        manifest: The manifest of the order that is recorded.
        key: The trainer's public key.
    """
    return canonical.encode({"format": _FORMAT, "order": manifest.digest.hex, "public_key": key.pem}) + b"\n"


def _other_header(folder: Path, found: bytes, manifest: OrderManifest, key: PublicKey) -> RecordingError:
    """Return the error that says what about an unfinished recording is not what it should be."""
    try:
        fields = canonical.parse(found)
        same = {name: fields[name] == value for name, value in canonical.parse(encode_header(manifest, key)).items()}
    except (CanonicalError, TypeError, LookupError):
        same = {}
    if not same.get("order", True):
        why = say("The unfinished recording in {0} is of another order.", folder)
        remedy = say("Give the order that it was begun with, or discard it: --fresh.")
    elif not same.get("public_key", True):
        why = say("The unfinished recording in {0} was begun with another key.", folder)
        remedy = say("Give the key that it was begun with, or discard it: --fresh.")
    elif not same.get("format", True):
        why = say("The unfinished recording in {0} was begun by another version.", folder)
        remedy = say("Use that version of Counterfoil, or discard it: --fresh.")
    else:
        why = say("The unfinished recording in {0} is damaged.", folder)
        remedy = say("Restore {0} from a backup, or discard it: --fresh.", HEADER)
    return RecordingError(why, remedy=remedy)


def _remove(folder: Path) -> None:
    with suppress(OSError):
        # The header first: without it, what is left is no recording.
        (folder / HEADER).unlink(missing_ok=True)
        clear(folder)
        remove_folder(folder)


def _shorten(path: Path, size: int) -> None:
    with path.open("r+b") as file:  # by its name a box lets nothing be cut short
        file.truncate(size)


def _write(file: io.FileIO, data: bytes | memoryview, folder: Path) -> None:
    rest = memoryview(data)
    with write_errors(folder, WHAT):
        while rest:
            rest = rest[file.write(rest) :]
