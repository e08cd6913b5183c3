"""An unfinished recording as somebody else reads it while its trainer adds to it: docs/recording.md.

Nothing in the folder is believed, and nothing is changed or locked. A step counts when it is whole behind the one
before, by its seal; what is torn is waited for. The records of steps that were read once stay: a recording that goes
back, since its recorder lost steps, must come to the same ones again.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from counterfoil.training.recording import encode_header
from counterfoil.training.recordingfolder import ACCEPTANCE, HEADER, check_files, reading_recording
from counterfoil.training.stepfile import (
    HEAD_BYTES,
    WORD_BYTES,
    StoredStep,
    first_seal,
    read_state,
    read_steps,
    read_words,
    state_name,
    steps_name,
    stored_step,
)
from counterfoil_core.base import canonical
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.canonical import CanonicalError
from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.base.errors import (
    CommitmentError,
    CounterfoilError,
    FileChangedError,
    KeyFileError,
    OrderMismatchError,
    RefusedError,
    SignatureError,
)
from counterfoil_core.base.inputs import open_plain
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.extent import Extent
from counterfoil_core.bundle.places import Places
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.bundle.stepshares import StepShares, read_shares
from counterfoil_core.commit.merkle import MerkleTree, leaf_hash
from counterfoil_core.commit.state import state_root
from counterfoil_core.order.admission import places_of
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.signing.claims import Acceptance
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.signing.parties import SignedShares
from counterfoil_core.signing.statements import open_said

_MOST_BYTES = 2**20
"""Of the header, and of the acceptance."""
_AGAIN = say("Follow it again, from its beginning.")


@dataclass(frozen=True)
class _Place:
    """Where log, fingerprints and shares of a step lie: the first step of their file, position and sizes in it."""

    file: int
    at: int
    log_bytes: int
    word_bytes: int
    share_bytes: int


class GrowingRecording:
    """An unfinished recording of somebody else's; :meth:`begin` comes before anything else.

    Args:
        folder: Where it lies.
        order: The order, as the client has it.

    Attributes:
        folder: Where it lies.
        order: The order, as the client has it.
        extent: The steps that the run will have: all that are ordered, or fewer once the order's rule has ended it.
        records: The records of the steps that were read, from step 0, which is the client's own.
        tree: The Merkle tree over their leaves.
        sealed: How many steps lie whole in the folder now; fewer than were read when the recording has gone back.
        key: The trainer's public key, as the recording names it.
        acceptance: The trainer's acceptance of the order.
    """

    key: PublicKey
    acceptance: Acceptance

    def __init__(self, folder: Path, order: LoadedOrder) -> None:
        manifest = order.manifest
        self.folder = folder
        self.order = order
        self.extent: Extent = manifest.extent
        self.records = [StepRecord(0, manifest.initial_root, None, None, None)]
        self.tree = MerkleTree([leaf_hash(self.records[0].to_bytes())])
        self.sealed = 0
        self._initial = {name: tensor.cpu().numpy() for name, tensor in order.initial.items()}
        self._watch = None if manifest.may_stop_early is None else manifest.may_stop_early.watch()
        self._header = b""
        self._stamp = (0, 0)
        self._places: dict[int, _Place] = {}
        self._last: StoredStep | None = None
        """The step that was read again last."""
        self._needed = places_of(order)
        self._signed = SignedShares(manifest)
        self._forgotten = 0
        self._file, self._end, self._seal = 1, 0, Digest(bytes(DIGEST_BYTES))

    @property
    def present(self) -> bool:
        """Whether a recording lies there."""
        return (self.folder / HEADER).is_file()

    @property
    def begun_ns(self) -> int:
        """When it was begun, in nanoseconds, as its folder's file system says."""
        return self._stamp[1]

    def begin(self, trainer_key: PublicKey | None = None) -> bool:
        """Read whose recording it is; returns whether all of that lies there.

        Args:
            trainer_key: The trainer's public key, when it is known.

        Raises:
            OrderMismatchError: It is of another order.
            SignatureError: It is by another key, or the order's acceptance does not hold.
            RefusedError: It is damaged, or of another version.
            RecordingError, FileReadError: It cannot be read.
        """
        with reading_recording(self.folder):
            if not self.present:
                return False
            check_files(self.folder)
            self._stamp = self._stamped()
            self._header = self._small(HEADER)
            self.key = self._named(self._header)
            if trainer_key is not None and trainer_key.key_id != self.key.key_id:
                raise SignatureError(
                    say(
                        "The recording in {0} was begun with the key {1}, not with the trainer's, {2}.",
                        self.folder,
                        self.key.key_id,
                        trainer_key.key_id,
                    ),
                    remedy=say("Follow the recording of the trainer whose key you gave."),
                )
            if not (self.folder / ACCEPTANCE).is_file():
                return False
            accepted = self._small(ACCEPTANCE)
        self.acceptance = open_said(Acceptance, accepted, self.key, order=self.order.manifest.digest)
        self._seal = first_seal(self._header, 1)
        return True

    def look(self, cancel: CancelToken) -> Iterator[StepRecord]:
        """Read what was sealed since the last look.

        Yields:
            The record of each step that was not known before.

        Raises:
            FileChangedError: It was begun anew, or came to another history than the one that was read.
            RefusedError: A step is none of this order.
            RecordingError, FileReadError: It cannot be read.
            CancelledError: ``cancel`` was set.
        """
        with reading_recording(self.folder):
            try:
                self._check_beginning()
                if self._went_back():
                    self.sealed, self._file, self._end, self._seal = 0, 1, 0, first_seal(self._header, 1)
                while True:
                    yield from self._read_file(cancel)
                    following = self.sealed + 1
                    # Another file begins where a state is stored, once nothing is left of the one before.
                    if following == self._file or not (self.folder / steps_name(following)).is_file():
                        return
                    if os.stat(self.folder / steps_name(self._file)).st_size != self._end:
                        return
                    self._file, self._end, self._seal = following, 0, first_seal(self._header, following)
            except FileNotFoundError:
                return  # it is removed when its run is made; whoever looks sees that it is gone

    def stored(self, step: int) -> bool:
        """Whether the state after a sealed step lies there whole."""
        return self._state(step) is not None

    def forget(self, step: int) -> None:
        """Forget where the steps up to one lie; they will not be read again."""
        for number in range(self._forgotten + 1, step + 1):
            self._places.pop(number, None)
        self._forgotten = max(self._forgotten, step)

    @property
    def pulse(self) -> tuple[int, ...]:
        """Numbers that change while its recorder adds to it."""
        following = self.extent.checkpoint_before(self.sealed + 1) + self.extent.checkpoint_every
        names = steps_name(self._file), state_name(self.sealed), state_name(min(following, self.extent.steps))
        return (self.sealed, *map(self._size, names))

    # As the file of a run is read.

    def log(self, step: int) -> bytes:
        """Return the rounding log of a sealed step; raises FileChangedError where it is not that any more."""
        return self._read(step).log

    def log_size(self, step: int) -> int:
        """Return the length in bytes of the log of a step."""
        return self._places[step].log_bytes

    def fingerprints(self, step: int) -> Array:
        """Return the fingerprints of a sealed step; raises FileChangedError where they are not those any more."""
        return self._read(step).fingerprints

    def shares(self, step: int) -> StepShares | None:
        """Return what is held of the shares of a sealed step; raises FileChangedError where it is not that any more."""
        return self._read(step).shares

    def checkpoint(self, step: int) -> dict[str, Array]:
        """Return the stored state after a step, which lay there whole; raises FileChangedError where it does not."""
        state = self._state(step)
        if state is None:
            raise self._changed(say("the stored state of step {0}", step))
        return state

    def stand_by(self, _error: CounterfoilError) -> None:
        """Do nothing: whatever is not what it was is said where it is read."""

    # Inside.

    def _read_file(self, cancel: CancelToken) -> Iterator[StepRecord]:
        """Read on in the current file of steps, as far as it is whole."""
        with io.BufferedReader(open_plain(self.folder / steps_name(self._file))) as file:
            size, start = os.fstat(file.fileno()).st_size, self._end
            file.seek(start)
            for step, position, seal in read_steps(file, size - start, self._seal):
                cancel.check()
                if self.sealed == self.extent.steps:
                    return
                known = self._take(step)
                self._end, self._seal = start + position, seal
                if not known:
                    yield step.record

    def _take(self, step: StoredStep) -> bool:
        """Take the next step, which lies behind the last one; returns whether it was known."""
        record, number = step.record, self.sealed + 1
        if record.step != number:
            raise CommitmentError(say("In the recording step {0} stands where step {1} should.", record.step, number))
        leaf = leaf_hash(record.to_bytes())
        known = number < self.tree.size
        if known and leaf != self.tree.leaf(number):
            raise FileChangedError(
                say("The recorder went back, and came to another step {0} than the one that was followed.", number),
                remedy=_AGAIN,
            )
        if not known:
            self._check(step)
            if self._watch is not None and record.loss is not None and self._watch.fires(record.loss):
                self.extent = self.order.manifest.extent_of(number)
            if (record.state_root is not None) != self.extent.is_committed(number):
                raise CommitmentError(
                    say(
                        "The recording and the order do not say the same of step {0}: whether its state is digested.",
                        number,
                    )
                )
            self.records.append(record)
            self.tree.append(leaf)
        if number > self._forgotten:
            share_bytes = 0 if step.shares is None else len(step.shares.to_bytes())
            sizes = len(step.log), len(step.fingerprints) * WORD_BYTES, share_bytes
            self._places[number] = _Place(self._file, self._end + HEAD_BYTES, *sizes)
        self.sealed = number
        return known

    def _check(self, step: StoredStep) -> None:
        """Check that as much is held of a step as a step of its program has."""
        shares, needed = self.order.manifest.shares, self._needed.of(step.record.step)
        found = Places(len(step.fingerprints))
        if step.shares is not None:
            found = Places(found.step, step.shares.fingerprints.shape[1], len(step.shares.exponents))
            before = self.records[-1].state_root
            assert before is not None, "where steps have shares each state is committed to"
            self._signed.look(step.record.step, before, step.shares)
            self._signed.check()
        counted = None if step.shares is None else len(step.shares.roots)
        if counted != (None if shares is None else shares.count):
            raise CommitmentError(
                say("The recording holds other shares of step {0} than the order divides it into.", step.record.step)
            )
        for ours, theirs in ((found.step, needed.step), (found.share, needed.share), (found.tensors, needed.tensors)):
            if ours != theirs:
                raise CommitmentError(
                    say("The run has {0} fingerprints for each step; a step of its program has {1}.", ours, theirs),
                    remedy=say("Ask the trainer for a run that Counterfoil recorded."),
                )

    def _check_beginning(self) -> None:
        """Check that the recording is the one that was begun with."""
        if self._stamped() != self._stamp:
            raise FileChangedError(
                say("The recording in {0} was begun anew while it was followed.", self.folder), remedy=_AGAIN
            )

    def _went_back(self) -> bool:
        """Whether steps that were read do not lie there any more."""
        path = self.folder / steps_name(self._file)
        if not self._end:
            # Of an earlier file steps may be gone too; then this one is.
            return self.sealed > 0 and not path.is_file()
        try:
            with open_plain(path) as file:
                if os.fstat(file.fileno()).st_size < self._end:
                    return True
                file.seek(self._end - DIGEST_BYTES)
                return file.read(DIGEST_BYTES) != self._seal.value
        except FileNotFoundError:
            return self.present

    def _state(self, step: int) -> dict[str, Array] | None:
        """Return the stored state after a step; None where it is not there, torn, or not the one of its record."""
        path = self.folder / state_name(step)
        with reading_recording(path):
            try:
                with io.BufferedReader(open_plain(path)) as file:
                    state = read_state(file, self._initial)
            except FileNotFoundError:
                return None
        return None if state is None or state_root(state) != self.records[step].state_root else state

    def _read(self, step: int) -> StoredStep:
        """Read a sealed step once more; raises FileChangedError where it is not the one of its record any more."""
        if self._last is None or self._last.record.step != step:
            found = self._again(step)
            if found is None or leaf_hash(found.record.to_bytes()) != self.tree.leaf(step):
                raise self._changed(say("step {0}", step))
            self._last = found
        return self._last

    def _again(self, step: int) -> StoredStep | None:
        """Return a step as it lies there now; None where it does not."""
        place, record = self._places.get(step), self.records[step]
        if place is None or record.loss is None:
            return None
        path = self.folder / steps_name(place.file)
        with reading_recording(path):
            try:
                with io.BufferedReader(open_plain(path)) as file:
                    file.seek(place.at)
                    sizes = place.log_bytes, place.word_bytes, place.share_bytes
                    log, words, held = (file.read(size) for size in sizes)
            except FileNotFoundError:
                return None
        try:
            shares = read_shares(held, log) if place.share_bytes else None
            fingerprints = read_words(words)
        except ValueError:
            return None
        return stored_step(
            step,
            log=log,
            log_entries=0,  # nothing signed says how many
            fingerprints=fingerprints,
            loss=record.loss,
            state_root=record.state_root,
            shares=shares,
        )

    def _named(self, header: bytes) -> PublicKey:
        """Return the key that a header names, which is one of this order and version."""
        manifest = self.order.manifest
        try:
            fields = canonical.parse(header)
            order, key = fields["order"], PublicKey.from_pem(fields["public_key"].encode())
        except (CanonicalError, KeyFileError, TypeError, LookupError, AttributeError) as error:
            raise self._refused() from error
        if order != manifest.digest.hex:
            raise OrderMismatchError(
                say("The recording in {0} is of another order than the client's.", self.folder),
                remedy=say("Give the order that the trainer accepted, or the folder of its recording."),
            )
        if header != encode_header(manifest, key):
            raise self._refused()
        return key

    def _small(self, name: str) -> bytes:
        with io.BufferedReader(open_plain(self.folder / name)) as file:
            return file.read(_MOST_BYTES)

    def _stamped(self) -> tuple[int, int]:
        """What tells this header from one that is written later."""
        found = os.stat(self.folder / HEADER)
        return found.st_ino, found.st_mtime_ns

    def _size(self, name: str) -> int:
        try:
            return (self.folder / name).stat().st_size
        except OSError:
            return -1

    def _refused(self) -> RefusedError:
        return RefusedError(
            say("{0} in {1} is damaged, or was written by another version.", HEADER, self.folder),
            remedy=say("Ask the trainer which version of Counterfoil it records with."),
        )

    def _changed(self, what: str) -> FileChangedError:
        return FileChangedError(
            say("The recording in {0} changed while it was followed: {1} is not what it was.", self.folder, what),
            remedy=_AGAIN,
        )
