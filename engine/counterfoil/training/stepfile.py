"""The bytes of finished steps in an unfinished recording: one step after the other, each sealed.

A seal is the SHA-256 of the seal before it, the step's numbers, and the digests of its log and fingerprints, which the
step's Merkle leaf needs anyhow. What a power loss tore, and what was changed, is found when it is read; and a step
fits only behind the one that it was written behind. See docs/recording.md.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from counterfoil_core.base import canonical
from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.bundle.stepshares import StepShares, read_shares
from counterfoil_core.commit.fingerprints import fingerprint_bytes, fingerprints_digest

# The bytes of a stored state in an unfinished recording: its tensors by name, little-endian, one after the other.

Arrays = Mapping[str, npt.NDArray[Any]]


def state_name(step: int) -> str:
    """Return the name of the file that holds the state after a step."""
    return f"state-{step:08d}"


def encode_state(state: Arrays) -> Iterator[memoryview]:
    """Yield the bytes of a state, tensor by tensor."""
    for name in sorted(state):
        array = state[name]
        yield np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1).view(np.uint8).data


def read_state(file: io.BufferedReader[Any], initial: Arrays) -> dict[str, npt.NDArray[Any]] | None:
    """Read a state.

    Args:
        file: The file, at its beginning.
        initial: A state that says how it is laid out.

    Returns:
        The state; None where the file has another size than one has.

    Raises:
        OSError: The file cannot be read.
    """
    if os.fstat(file.fileno()).st_size != sum(array.nbytes for array in initial.values()):
        return None
    arrays = {}
    for name in sorted(initial):
        array = np.empty(initial[name].shape, initial[name].dtype.newbyteorder("<"))
        file.readinto(array.reshape(-1).view(np.uint8).data)
        arrays[name] = array.astype(initial[name].dtype, copy=False)
    return arrays


_NUMBERS = struct.Struct("<QQQQQd?")
HEAD_BYTES = _NUMBERS.size + DIGEST_BYTES
"""What stands before a step's log."""
WORD_BYTES = 8
"""Of a fingerprint."""


def steps_name(first: int) -> str:
    """Return the name of the file of steps that begins with one."""
    return f"steps-{first:08d}"


def first_seal(header: bytes, first: int) -> Digest:
    """Return the seal before the first step of a file.

    Args:
        header: What ``recording.json`` holds.
        first: The first step of the file.
    """
    return Digest.of(header + first.to_bytes(8, "little"))


@dataclass(frozen=True)
class StoredStep:
    """A finished step, as the run will hold it."""

    record: StepRecord  #: The record of its Merkle leaf.
    log: bytes  #: Its rounding log; where it has shares those of the shares, one behind the other, and the update's.
    log_entries: int  #: Number of entries in it.
    fingerprints: npt.NDArray[np.uint64]  #: uint64 ``[places]``; where it has shares those of the update.
    shares: StepShares | None = None  #: What is held of its shares, where it has some.


def stored_step(
    step: int,
    *,
    log: bytes,
    log_entries: int,
    fingerprints: npt.NDArray[np.uint64],
    loss: float,
    state_root: Digest | None,
    shares: StepShares | None = None,
) -> StoredStep:
    """Make a finished step, its digests computed.

    Args:
        step: Its number, from 1.
        log: Its rounding log, encoded, as :class:`StoredStep` has it.
        log_entries: How many decisions the log holds.
        fingerprints: uint64 ``[places]`` of its program.
        loss: Its loss.
        state_root: Digest of the state after it; None where the run commits to none.
        shares: What is held of its shares, where it has some.
    """
    words = fingerprints_digest(fingerprints)
    own = log if shares is None else log[int(shares.log_ends[-1]) :]
    root = None if shares is None else shares.root
    record = StepRecord(step, state_root, Digest.of(own), words, loss, root)
    return StoredStep(record, log, log_entries, fingerprints, shares)


def log_of_part(step: StoredStep, share: int | None) -> bytes:
    """Return the rounding log of a share of a step; of its update, or of a step without shares, where it is None."""
    if step.shares is None:
        return step.log
    if share is None:
        return step.log[int(step.shares.log_ends[-1]) :]
    first, last = step.shares.log_ranges()[share]
    return step.log[first:last]


def encode_step(step: StoredStep, seal: Digest) -> tuple[bytes, Digest]:
    """Return the bytes of a step that comes behind ``seal``, and its own seal, with which they end."""
    record = step.record
    assert record.loss is not None, "the initial state is not a finished step"
    shares = b"" if step.shares is None else step.shares.to_bytes()
    numbers = _NUMBERS.pack(
        record.step,
        len(step.log),
        len(step.fingerprints),
        len(shares),
        step.log_entries,
        record.loss,
        record.state_root is not None,
    )
    head = numbers + (record.state_root.value if record.state_root is not None else bytes(DIGEST_BYTES))
    own = _seal(seal, head, step)
    return b"".join((head, step.log, fingerprint_bytes(step.fingerprints), shares, own.value)), own


def read_steps(file: BinaryIO, size: int, seal: Digest) -> Iterator[tuple[StoredStep, int, Digest]]:
    """Read steps until the end of a file, or until what follows is no whole step behind the one before.

    Args:
        file: The file, at its beginning.
        size: Its size in bytes, which bounds what is read.
        seal: The seal before the first step.

    Yields:
        Each step, the position behind it, and its seal.

    Raises:
        OSError: The file cannot be read.
    """
    position = 0
    while position + HEAD_BYTES + DIGEST_BYTES <= size:
        head = file.read(HEAD_BYTES)
        if len(head) != HEAD_BYTES:
            return
        number, log_bytes, places, share_bytes, entries, loss, committed = _NUMBERS.unpack_from(head)
        end = position + HEAD_BYTES + log_bytes + places * WORD_BYTES + share_bytes + DIGEST_BYTES
        if end > size:
            return
        log = file.read(log_bytes)
        words = file.read(places * WORD_BYTES)
        held = file.read(share_bytes)
        written = file.read(DIGEST_BYTES)
        if len(words) != places * WORD_BYTES or len(log) != log_bytes:
            return
        fingerprints = read_words(words)
        try:
            shares = read_shares(held, log) if share_bytes else None
        except ValueError:
            return
        root = Digest(head[_NUMBERS.size :]) if committed else None
        step = stored_step(
            number,
            log=log,
            log_entries=entries,
            fingerprints=fingerprints,
            loss=loss,
            state_root=root,
            shares=shares,
        )
        seal = _seal(seal, head, step)
        if written != seal.value:
            return
        position = end
        yield step, position, seal


def read_words(data: bytes) -> npt.NDArray[np.uint64]:
    """Read fingerprints as a step file holds them: uint64 ``[places]``."""
    return np.frombuffer(data, "<u8").astype(np.uint64)


def _seal(before: Digest, head: bytes, step: StoredStep) -> Digest:
    record = step.record
    assert record.log is not None
    assert record.fingerprints is not None
    shares = b"" if record.shares is None else canonical.encode(record.shares.to_json())
    # No record commits to what parties signed, so the seal does.
    signed = b"" if step.shares is None else step.shares.signed
    return Digest.of(before.value + head + record.log.value + record.fingerprints.value + shares + signed)
