"""What a witness saw of a live state, and the log in which it signs that; docs/witness.md.

The on-chip log of Shavit, "What does it take to catch a Chinchilla?" (arXiv 2303.11341, section 4), in software: at
random times a shard of the weights is hashed, and hash and time are signed. A line of the log is a DSSE envelope, and
each names the SHA-256 of the line before it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from counterfoil.signing.kinds import MOST_LINES, Ending, Line, LineKind, Snapshot
from counterfoil_core.base import canonical
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.base.errors import DataError, SignatureError
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import read_timestamp, timestamp
from counterfoil_core.commit.state import CHUNK_BYTES, chunk_tree, state_root
from counterfoil_core.signing.keys import PublicKey, SigningKey
from counterfoil_core.signing.kinds import SNAPSHOT
from counterfoil_core.signing.statements import open_said, sign_said
from counterfoil_core.signing.subject import Subject

MOST_LOG_BYTES = 2**30
"""Bytes of a log that is read."""
_LOG = say("log of a witness")

StateLayout = Mapping[str, tuple[str, tuple[int, ...]]]
"""Dtype name and shape of every tensor of a state, by name."""


@dataclass(frozen=True)
class WitnessLog:
    """A log whose signatures hold and whose lines follow each other."""

    lines: tuple[Line, ...]  #: All of them.
    key_id: str  #: Key id of the witness.

    @property
    def snapshots(self) -> tuple[Line, ...]:
        """The lines that hold a snapshot."""
        return tuple(line for line in self.lines if line.snapshot is not None)

    @property
    def absent(self) -> int:
        """How often the moment of a snapshot had come, and no whole state lay there."""
        return sum(line.kind is LineKind.ABSENT for line in self.lines)

    @property
    def ending(self) -> Ending | None:
        """Why the witness looks no more; None where it does not say so, and lines may be missing at the end."""
        return self.lines[-1].ending

    @property
    def run(self) -> Subject | None:
        """The run that the recording became; None of a log that is not complete."""
        return self.lines[-1].run

    @property
    def set_back(self) -> int:
        """How often the witness's clock was set back: the lines have an order of their own."""
        times = [read_timestamp(line.at) for line in self.lines]
        return sum(later < earlier for earlier, later in pairwise(times))


def layout_digest(layout: StateLayout) -> Digest:
    """Return the SHA-256 of the canonical JSON of names, dtypes and shapes of a state."""
    return Digest.of(canonical.encode({name: [dtype, list(shape)] for name, (dtype, shape) in layout.items()}))


def take_snapshot(state: Mapping[str, Array], place: int) -> Snapshot:
    """Hash a state, and one chunk of it.

    Args:
        state: Tensors by name; one element at least.
        place: Which of all bytes, from 0, through the tensors sorted by name; any number, of which the remainder
            counts. By bytes and not by chunks: the hash of a tensor of a few numbers is a riddle that guessing solves,
            and so such a chunk is as rare as it is small.

    Raises:
        DataError: A dtype has no digest, or there is no element.
    """
    root = state_root(state)
    layout = {name: (array.dtype.name, array.shape) for name, array in state.items()}
    total = sum(array.nbytes for array in state.values())
    if not total:
        raise DataError(
            say("The state that the witness was shown is empty."), remedy=say("Show it the tensors of the model.")
        )
    byte = place % total
    tensors = iter(sorted(state))
    while byte >= state[tensor := next(tensors)].nbytes:
        byte -= state[tensor].nbytes
    chunk = byte // CHUNK_BYTES
    return Snapshot(root, layout_digest(layout), tensor, chunk, chunk_tree(state[tensor]).leaf(chunk))


def sign_line(line: Line, key: SigningKey) -> bytes:
    """Sign a line; returns the DSSE envelope as JSON bytes without a line feed.

    Raises:
        SignatureError: The name of the tensor is too long.
        SignerError: The signer's process does not sign it.
    """
    envelope = sign_said(line, key)
    if b"\n" in envelope or len(envelope) > SNAPSHOT.most:
        raise SignatureError(say("The {0} would be longer than {1} bytes.", SNAPSHOT.what, SNAPSHOT.most))
    return envelope


def make_line(
    kind: LineKind, before: bytes | None, number: int, mean_seconds: int, snapshot: Snapshot | None = None,
    when: datetime | None = None, *, ending: Ending | None = None, run: Subject | None = None,
) -> Line:  # fmt: skip
    """Make the line that follows another.

    Args:
        kind: What it says.
        before: The line before it, without its line feed; None for the first.
        number: Which line it is, from 0.
        mean_seconds: Seconds between two snapshots on average.
        snapshot: What was seen.
        when: The time, with its zone; now unless given.
        ending: Why it is the last one.
        run: The run that the recording became.
    """
    nonce = Digest(secrets.token_bytes(DIGEST_BYTES)) if kind is LineKind.BEGUN else None
    return Line(kind, number, _digest_before(before), timestamp(when), mean_seconds, snapshot, nonce, ending, run)


def open_log(data: bytes, key: PublicKey) -> WitnessLog:
    """Check the log of a witness: every signature, and that no line was taken out, put in or moved.

    Lines that were cut off at its end cannot be missed, unless the last one says that the witness ended.

    Args:
        data: The log; may be junk.
        key: The witness's public key.

    Raises:
        SignatureError: It is empty or malformed, a signature does not hold, or the lines do not follow each other.
    """
    if not data.endswith(b"\n"):
        raise SignatureError(say("The {0} is empty, or its last line is torn.", _LOG))
    lines: list[Line] = []
    before = None
    for raw in _lines(data):
        line = open_said(Line, raw, key)
        followed = lines[-1] if lines else None
        if line.number != len(lines) or line.before != _digest_before(before) or not _follows(followed, line):
            raise SignatureError(
                say("Line {0} of the {1} does not follow the one before it.", len(lines) + 1, _LOG),
                remedy=say("A line was taken out, put in or moved: ask the witness for the log."),
            )
        lines.append(line)
        before = raw
    return WitnessLog(tuple(lines), key.key_id)


def _lines(data: bytes) -> Iterable[bytes]:
    if data.count(b"\n") > MOST_LINES:
        raise SignatureError(say("The {0} has more than {1} lines.", _LOG, MOST_LINES))
    start = 0
    while start < len(data):
        end = data.index(b"\n", start)
        yield data[start:end]
        start = end + 1


def _follows(before: Line | None, line: Line) -> bool:
    if before is None:
        return line.kind is LineKind.BEGUN
    return (
        line.kind is not LineKind.BEGUN
        and before.kind is not LineKind.ENDED
        and line.mean_seconds == before.mean_seconds
    )


def _digest_before(line: bytes | None) -> Digest:
    return Digest(bytes(DIGEST_BYTES)) if line is None else Digest.of(line)
