"""Reads a bundle: the guard first, then only what is asked for, so that a large bundle opens fast."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from counterfoil.bundle import layout
from counterfoil.bundle.checked import BLOCK_BYTES, Array, CheckedFile, Progress
from counterfoil.bundle.schema import ArraySpec, OrderManifest, StepRecord
from counterfoil.cancel import CancelToken
from counterfoil.commit.digest import Digest
from counterfoil.commit.state import StreamedDigest, state_root, state_tree, tensor_digest
from counterfoil.errors import BundleError, CommitmentError


class BundleReader(CheckedFile):
    """An open bundle; use it as a context manager, from one thread.

    Made by :meth:`open`. Whatever a damaged or hostile file does, methods raise BundleError (or what they name).

    Attributes:
        manifest: What was ordered.
        has_run: Whether the order is filled in with a run.
    """

    manifest: OrderManifest
    has_run: bool

    def __init__(self, path: Path, handle: BinaryIO, file: Any, file_bytes: int) -> None:
        """Check an open file; see :class:`CheckedFile`."""
        super().__init__(path, handle, file, file_bytes)
        layout.check_manifest_part(self._inventory)
        self.manifest = OrderManifest.from_bytes(self._bytes(layout.MANIFEST))
        layout.check_layout(self._inventory, self.manifest)
        self.has_run = layout.RUN in self._inventory.groups
        self._log_ends = self._read_log_ends() if self.has_run else np.zeros(0, np.uint64)

    @property
    def file_id(self) -> Any:
        """The open HDF5 file id that was checked, for the writer to copy from."""
        return self._file

    # The order.

    def program(self) -> bytes:
        """Return the program's canonical JSON."""
        return self._bytes(layout.PROGRAM)

    def schedule(self) -> Array:
        """Return the dataset rows of each step: int64 ``[steps, batch_size]``."""
        return self._read(layout.SCHEDULE)

    def scalars(self) -> Array:
        """Return the per-step scalars: float64 ``[steps, number of scalars]``."""
        return self._read(layout.SCALARS)

    def data(self, name: str) -> Array:
        """Return a data array that lies in the bundle; its first axis is the row."""
        return self._read(f"{layout.DATA}/{name}")

    def initial_state(self, cancel: CancelToken | None = None) -> dict[str, Array]:
        """Return the initial state by tensor name, sorted; raises CancelledError between tensors."""
        return self._state(layout.INITIAL, cancel)

    def state_layout(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Return dtype name and shape of every state tensor, by name, sorted; reads no data."""
        members = layout.members(self._inventory, layout.INITIAL)
        return {name: (info.dtype, info.shape) for name, info in members.items()}

    # The run.

    def claim(self) -> bytes:
        """Return the DSSE envelope that the trainer signed, as JSON bytes."""
        return self._bytes(layout.CLAIM)

    def losses(self) -> Array:
        """Return the recorded loss of each step, from step 1: float64 ``[steps]``."""
        return self._read(layout.LOSSES)

    def log_entries(self) -> Array:
        """Return the number of entries of each step's log, as the trainer says, from step 1: uint32 ``[steps]``."""
        return self._read(layout.LOG_ENTRIES)

    def log_sizes(self) -> Array:
        """Return the length in bytes of each step's log, from step 1: uint64 ``[steps]``."""
        self._need_run()
        return np.diff(self._log_ends, prepend=np.uint64(0))

    def log(self, step: int) -> bytes:
        """Return the rounding log of a step, counted from 1."""
        first, last = self._log_range(step, step)
        return self._read(layout.LOG, first, last - first).tobytes()

    def fingerprints(self, step: int) -> Array:
        """Return the fingerprints of a step, counted from 1: uint64 ``[fingerprints per step]``."""
        self._check_step(step, 1)
        row: Array = self._read(layout.FINGERPRINTS, step - 1, 1)[0]
        return row

    def checkpoint_steps(self) -> tuple[int, ...]:
        """Return the steps whose state is stored, ascending."""
        self._need_run()
        return self.manifest.checkpoint_steps

    def checkpoint(self, step: int) -> dict[str, Array]:
        """Return the stored state after a step by tensor name, sorted; raises BundleError when none is stored."""
        if not self.has_run or not self.manifest.is_checkpoint(step):
            raise BundleError(f"The bundle stores no state of step {step}.")
        return self._state(layout.checkpoint_path(step))

    def step_records(self, cancel: CancelToken | None = None, progress: Progress | None = None) -> list[StepRecord]:
        """Rebuild the records of steps 0 to ``steps`` from what is stored; reads every log and fingerprint once.

        Args:
            cancel: Looked at now and then.
            progress: Called with the steps done and their total.

        Raises:
            BundleError: The file is damaged.
            CancelledError: The token was cancelled.
        """
        self._need_run()
        roots = iter(self._read(layout.STATE_ROOTS))
        losses = self.losses()
        steps = self.manifest.steps
        records = [StepRecord(0, Digest(next(roots).tobytes()), None, None, None)]
        for first, last in self._step_blocks():
            if cancel:
                cancel.check()
            logs = self._hash_logs(first, last)
            fingerprints = self._read(layout.FINGERPRINTS, first - 1, last - first + 1)
            for step in range(first, last + 1):
                root = Digest(next(roots).tobytes()) if self.manifest.is_committed(step) else None
                row = fingerprints[step - first].tobytes()
                records.append(StepRecord(step, root, next(logs), Digest.of(row), float(losses[step - 1])))
            if progress:
                progress(last, steps)
        return records

    # Checks against the order's commitments.

    def check_order_contents(self, cancel: CancelToken | None = None) -> None:
        """Check program, schedule, scalars, data and initial state against the manifest.

        Data arrays that lie in a data file are not read; :class:`counterfoil.bundle.datafile.DataFile` checks them.

        Args:
            cancel: Looked at between pieces of the data arrays and between tensors of the initial state.

        Raises:
            CancelledError: The token was cancelled.
            CommitmentError: One of them differs; the sentence names it.
            BundleError: The schedule names rows that a data array does not have, or the file is damaged.
        """
        manifest = self.manifest
        if Digest.of(self.program()) != manifest.program:
            raise _differs("program")
        schedule = self.schedule()
        _check_array("schedule", "schedule", schedule, manifest.schedule)
        _check_array("scalars", "per-step scalars", self.scalars(), manifest.scalars)
        for name, spec in manifest.data.items():
            if spec.file is None:
                self._check_data(name, spec, cancel)
        if state_tree({name: spec.digest for name, spec in manifest.data.items()}).root != manifest.data_root:
            raise CommitmentError("The data root of the order is not the root over its data arrays.")
        if state_root(self.initial_state(cancel)) != manifest.initial_root:
            raise _differs("initial state")
        low, high = int(schedule.min()), int(schedule.max())
        for name, spec in manifest.data.items():
            rows = spec.shape[0] if spec.shape else 0
            if low < 0 or high >= rows:
                raise BundleError(
                    f"The schedule names the rows {low} to {high}; the data array {name!r} has {rows} rows."
                )

    def _check_data(self, name: str, spec: ArraySpec, cancel: CancelToken | None) -> None:
        digest = StreamedDigest(name, spec.dtype, spec.shape)
        for piece in self._pieces(f"{layout.DATA}/{name}", cancel):
            digest.add(piece)
        if digest.finish()[0] != spec.digest:
            raise _differs(f"data array {name!r}")

    def check_checkpoint(self, step: int, state: Mapping[str, Array]) -> None:
        """Check a state against the state root that the run commits to for ``step``.

        Raises:
            CommitmentError: It differs; the sentence names the step.
            BundleError: The run commits to no state of this step, or the file is damaged.
        """
        if state_root(state) != self.committed_root(step):
            raise CommitmentError(f"The stored state of step {step} differs from the state root of that step.")

    def committed_root(self, step: int) -> Digest:
        """Return the state root that the run commits to for ``step``; raises BundleError when there is none."""
        self._check_step(step, 0)
        if not self.manifest.is_committed(step):
            raise BundleError(f"The run commits to no state of step {step}.")
        row = -(-step // self.manifest.commit_every)
        return Digest(self._read(layout.STATE_ROOTS, row, 1).tobytes())

    # Reading.

    def _need_run(self) -> None:
        if not self.has_run:
            raise BundleError("The bundle is an order that has not been run.")

    def _check_step(self, step: int, least: int) -> None:
        self._need_run()
        if not least <= step <= self.manifest.steps:
            raise BundleError(f"The run has no step {step}; its steps are {least} to {self.manifest.steps}.")

    def _log_range(self, first: int, last: int) -> tuple[int, int]:
        """Return where the logs of the steps ``first`` to ``last`` lie, as start and end."""
        self._check_step(first, 1)
        self._check_step(last, 1)
        start = int(self._log_ends[first - 2]) if first > 1 else 0
        return start, int(self._log_ends[last - 1])

    def _read_log_ends(self) -> Array:
        ends = self._read(layout.LOG_ENDS)
        total = self._inventory.datasets[layout.LOG].shape[0]
        if (ends[1:] < ends[:-1]).any() or int(ends[-1]) != total:
            raise BundleError(f"{layout.LOG_ENDS} does not cut the {total} bytes of {layout.LOG} into steps.")
        return ends

    def _step_blocks(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of steps whose fingerprints fit in a block."""
        per_step = max(1, 8 * self._inventory.datasets[layout.FINGERPRINTS].shape[1])
        count = max(1, min(BLOCK_BYTES // per_step, 4096))
        for first in range(1, self.manifest.steps + 1, count):
            yield first, min(first + count - 1, self.manifest.steps)

    def _hash_logs(self, first: int, last: int) -> Iterator[Digest]:
        """Yield the SHA-256 of each step's log, reading many short logs at once and a long one in pieces."""
        position, end = self._log_range(first, last)
        block, at = memoryview(b""), 0
        for step in range(first, last + 1):
            digest = hashlib.sha256()
            stop = int(self._log_ends[step - 1])
            while position < stop:
                if at == len(block):
                    block = self._read(layout.LOG, position, min(BLOCK_BYTES, end - position)).data
                    at = 0
                take = min(stop - position, len(block) - at)
                digest.update(block[at : at + take])
                position += take
                at += take
            yield Digest(digest.digest())

    def _state(self, group: str, cancel: CancelToken | None = None) -> dict[str, Array]:
        state = {}
        for name in layout.members(self._inventory, group):
            if cancel:
                cancel.check()
            state[name] = self._read(f"{group}/{name}")
        return state

    def _bytes(self, path: str) -> bytes:
        return self._read(path).tobytes()


def _differs(what: str) -> CommitmentError:
    return CommitmentError(f"The {what} in the bundle differs from what the order commits to.")


def _check_array(name: str, what: str, array: Array, spec: ArraySpec) -> None:
    if tensor_digest(name, array) != spec.digest:
        raise _differs(what)
