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
from enum import Enum
from typing import Any

from counterfoil_core.base import canonical
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.base.errors import DataError, SignatureError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import read_timestamp, timestamp
from counterfoil_core.commit.state import chunk_count, chunk_tree, state_root
from counterfoil_core.signing.envelope import open_named, sign_statement
from counterfoil_core.signing.intoto import SNAPSHOT_PREDICATE, make_statement, make_subject
from counterfoil_core.signing.keys import PublicKey, SigningKey
from counterfoil_core.signing.predicates import take_time

MOST_LINE_BYTES = 2**16
"""Bytes of one line of a log."""
MOST_LINES = 1_000_000
MOST_LOG_BYTES = 2**30
"""Bytes of a log that is read."""
MOST_GAP_SECONDS = 366 * 24 * 3600
"""Seconds that may lie between two snapshots on average."""
_MOST_NAME = 1000
_WHAT = say("line of a witness's log")
_LOG = say("log of a witness")

StateLayout = Mapping[str, tuple[str, tuple[int, ...]]]
"""Dtype name and shape of every tensor of a state, by name."""


class Kind(Enum):
    """What a line of a log says."""

    BEGUN = "begun"
    """The witness began to look."""
    SNAPSHOT = "snapshot"
    """It took a snapshot."""
    ABSENT = "absent"
    """Its moment had come, and no whole state lay there."""
    ENDED = "ended"
    """It ended, and looks no more."""


@dataclass(frozen=True)
class Snapshot:
    """Hashes of a live state, and of one shard of it.

    Attributes:
        state_root: The state root over all tensors that were seen.
        layout: SHA-256 of names, dtypes and shapes of these, as :func:`layout_digest` computes it.
        tensor: Name of the tensor of the shard.
        chunk: Which 16 KiB chunk of it, from 0.
        leaf: Merkle leaf hash of that chunk.
    """

    state_root: Digest
    layout: Digest
    tensor: str
    chunk: int
    leaf: Digest


@dataclass(frozen=True)
class Line:
    """One line of a log.

    Attributes:
        kind: What it says.
        number: Which line it is, from 0.
        before: SHA-256 of the line before it, without its line feed; zeros for the first.
        at: ISO 8601 time in UTC, as the witness's clock had it.
        mean_seconds: Seconds between two snapshots on average; their distances are exponentially distributed.
        snapshot: What was seen; None where the line is of another kind.
        nonce: 32 random bytes of the first line, None of others: two logs that one key began in the same second would
            else begin with the same line, and the rest of one would fit behind the other's.
    """

    kind: Kind
    number: int
    before: Digest
    at: str
    mean_seconds: int
    snapshot: Snapshot | None = None
    nonce: Digest | None = None


@dataclass(frozen=True)
class WitnessLog:
    """A log whose signatures hold and whose lines follow each other.

    Attributes:
        lines: All of them.
        key_id: Key id of the witness.
    """

    lines: tuple[Line, ...]
    key_id: str

    @property
    def snapshots(self) -> tuple[Line, ...]:
        """The lines that hold a snapshot."""
        return tuple(line for line in self.lines if line.snapshot is not None)

    @property
    def absent(self) -> int:
        """How often the moment of a snapshot had come, and no whole state lay there."""
        return sum(line.kind is Kind.ABSENT for line in self.lines)

    @property
    def ended(self) -> bool:
        """Whether the witness said that it looks no more; otherwise lines may be missing at the end."""
        return self.lines[-1].kind is Kind.ENDED


def layout_digest(layout: StateLayout) -> Digest:
    """Return the SHA-256 of the canonical JSON of names, dtypes and shapes of a state."""
    return Digest.of(canonical.encode({name: [dtype, list(shape)] for name, (dtype, shape) in layout.items()}))


def take_snapshot(state: Mapping[str, Array], place: int) -> Snapshot:
    """Hash a state, and one chunk of it.

    Args:
        state: Tensors by name; one element at least.
        place: Which of all chunks, from 0, through the tensors sorted by name; any number, of which the remainder
            counts.

    Raises:
        DataError: A dtype has no digest, or there is no element.
    """
    root = state_root(state)
    layout = {name: (array.dtype.name, array.shape) for name, array in state.items()}
    counts = {name: chunk_count(*layout[name]) for name in sorted(state)}
    total = sum(counts.values())
    if not total:
        raise DataError(
            say("The state that the witness was shown is empty."), remedy=say("Show it the tensors of the model.")
        )
    chunk = place % total
    tensors = iter(counts)
    while chunk >= counts[tensor := next(tensors)]:
        chunk -= counts[tensor]
    return Snapshot(root, layout_digest(layout), tensor, chunk, chunk_tree(state[tensor]).leaf(chunk))


def sign_line(line: Line, key: SigningKey) -> bytes:
    """Sign a line; returns the DSSE envelope as JSON bytes without a line feed.

    Raises:
        SignatureError: The name of the tensor is too long.
        SignerError: The signer's process does not sign it.
    """
    envelope = sign_statement(make_statement(_subjects(line), SNAPSHOT_PREDICATE, _predicate(line, key.public)), key)
    if b"\n" in envelope or len(envelope) > MOST_LINE_BYTES:
        raise SignatureError(say("The {0} would be longer than {1} bytes.", _WHAT, MOST_LINE_BYTES))
    return envelope


def make_line(
    kind: Kind, before: bytes | None, number: int, mean_seconds: int, snapshot: Snapshot | None = None,
    when: datetime | None = None,
) -> Line:  # fmt: skip
    """Make the line that follows another.

    Args:
        kind: What it says.
        before: The line before it, without its line feed; None for the first.
        number: Which line it is, from 0.
        mean_seconds: Seconds between two snapshots on average.
        snapshot: What was seen.
        when: The time, with its zone; now unless given.
    """
    nonce = Digest(secrets.token_bytes(DIGEST_BYTES)) if kind is Kind.BEGUN else None
    return Line(kind, number, _digest_before(before), timestamp(when), mean_seconds, snapshot, nonce)


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
        line = _read(raw, key)
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
        return line.kind is Kind.BEGUN
    return (
        line.kind is not Kind.BEGUN
        and before.kind is not Kind.ENDED
        and line.mean_seconds == before.mean_seconds
        and read_timestamp(line.at) >= read_timestamp(before.at)
    )


def _digest_before(line: bytes | None) -> Digest:
    return Digest(bytes(DIGEST_BYTES)) if line is None else Digest.of(line)


def _subjects(line: Line) -> list[dict[str, Any]]:
    subjects = [make_subject("log", line.before)]
    if line.snapshot is not None:
        subjects.append(make_subject("state", line.snapshot.state_root, "rfc9162Sha256"))
    return subjects


def _predicate(line: Line, public: PublicKey) -> dict[str, Any]:
    seen = line.snapshot
    return {
        "kind": line.kind.value,
        "number": line.number,
        "before": line.before.hex,
        "at": line.at,
        "mean_seconds": line.mean_seconds,
        "nonce": None if line.nonce is None else line.nonce.hex,
        "snapshot": None
        if seen is None
        else {
            "state_root": seen.state_root.hex,
            "layout": seen.layout.hex,
            "tensor": seen.tensor,
            "chunk": seen.chunk,
            "leaf": seen.leaf.hex,
        },
        "public_key": public.pem,
    }


def _read(raw: bytes, key: PublicKey) -> Line:
    if len(raw) > MOST_LINE_BYTES:
        raise SignatureError(say("The {0} is longer than {1} bytes.", _WHAT, MOST_LINE_BYTES))
    statement, key = open_named(raw, SNAPSHOT_PREDICATE, _WHAT, key)
    fields = Fields(statement["predicate"], _WHAT, SignatureError)
    fields.take("public_key", str)
    try:
        kind = Kind(fields.text("kind", 20))
    except ValueError as error:
        raise SignatureError(say("The {0} is of a kind that there is not.", _WHAT)) from error
    line = Line(
        kind,
        fields.integer("number", 0, MOST_LINES),
        fields.digest("before"),
        take_time(fields, "at", _WHAT),
        fields.integer("mean_seconds", 1, MOST_GAP_SECONDS),
        _snapshot(fields.take("snapshot", dict, type(None))),
        fields.digest("nonce") if kind is Kind.BEGUN else fields.take("nonce", type(None)),
    )
    fields.end()
    if (line.snapshot is None) is (kind is Kind.SNAPSHOT) or statement["subject"] != _subjects(line):
        raise SignatureError(say("The {0} contradicts itself.", _WHAT))
    return line


def _snapshot(value: Any) -> Snapshot | None:
    if value is None:
        return None
    fields = Fields(value, _WHAT, SignatureError)
    found = Snapshot(
        fields.digest("state_root"),
        fields.digest("layout"),
        fields.text("tensor", _MOST_NAME),
        fields.integer("chunk", 0, 2**50),
        fields.digest("leaf"),
    )
    fields.end()
    return found
