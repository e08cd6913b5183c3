"""Writes bundles and data files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from counterfoil.bundle.filewriter import FileWriter, check_fits, held_bytes
from counterfoil_core.base import canonical
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.base.dtypes import DATA_DTYPES, STATE_DTYPES
from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.turns import ALONE, Turns
from counterfoil_core.bundle import layout
from counterfoil_core.bundle.extent import Extent
from counterfoil_core.bundle.kind import BUNDLE, DATA_FILE
from counterfoil_core.bundle.lastcheckpoint import slots_to_leave_out
from counterfoil_core.bundle.places import Places
from counterfoil_core.bundle.schema import OrderManifest, check_name
from counterfoil_core.bundle.shares import HASH_BYTES, SIGNATURE_BYTES
from counterfoil_core.bundle.stepshares import StepShares
from counterfoil_core.commit.state import tensor_record

# The states that the last checkpoint leaves out, encoded for the writer.


def encode_left_out(state: Mapping[str, Array], names: Iterable[str]) -> bytes:
    """Return what ``/run/left_out`` holds: the records of some tensors of a state, sorted by name.

    Args:
        state: The state.
        names: The names of the tensors.
    """
    records = (canonical.decode(tensor_record(name, state[name])) for name in sorted(names, key=str.encode))
    return canonical.encode(list(records))


class BundleWriter(FileWriter):
    """A bundle being written; use it as a context manager, which aborts when an exception passes.

    First the order (:meth:`write_order`), then for a run :meth:`begin_run`, every step in
    order with :meth:`append_step`, each checkpoint that the order asks for with :meth:`write_checkpoint`, and
    :meth:`finish_run`.

    Every method raises FileWriteError when the disk is full or cannot be written, and BundleError when what it is
    given does not fit the order.
    """

    KIND = BUNDLE

    def __init__(self, path: Path, temporary: Path, file: Any) -> None:
        """Take over an empty HDF5 file; made by :meth:`create`."""
        super().__init__(path, temporary, file)
        self._manifest: OrderManifest | None = None
        self._extent: Extent | None = None
        self._state: dict[str, tuple[str, tuple[int, ...]]] = {}
        self._state_bytes = 0
        self._steps_written = 0
        self._log_bytes = 0
        self._checkpoints: set[int] = set()
        self._log_end = 0
        self._running = False
        self._with_initial = True

    # The order.

    def write_order(
        self,
        manifest: OrderManifest,
        programs: Turns[bytes],
        schedule: Array,
        scalars: Array,
        data: Mapping[str, Array],
        initial: Mapping[str, Array],
        signature: bytes | None = None,
        updates: Turns[bytes] | None = None,
        *,
        row_key: bytes | None = None,
        with_initial: bool = True,
    ) -> None:
        """Write an order.

        Args:
            manifest: What is ordered.
            programs: Each program's canonical JSON, named as the manifest says.
            schedule: int64 ``[steps, batch_size]``.
            scalars: float64 ``[steps, number of scalars]``.
            data: The data arrays that lie in the order, named and shaped as the manifest says.
            initial: The initial state by tensor name; dtypes as in ``STATE_DTYPES``.
            signature: The DSSE envelope that the client signed about this very manifest; None for an unsigned order.
            updates: Each update program's canonical JSON, where steps have shares.
            row_key: The key of the salts of rows, where rows are leaves of a tree of their own.
            with_initial: Whether the initial state goes into the file; a run may leave it to the order.
        """
        inside = {name: spec for name, spec in manifest.data.items() if spec.file is None}
        if data.keys() != inside.keys():
            raise BundleError("The data arrays are not those that the order's manifest names.")
        if programs.parts.keys() != manifest.programs.parts.keys():
            raise BundleError("The programs are not those that the order's manifest names.")
        ordered = {} if manifest.shares is None else manifest.shares.updates.parts
        held = {} if updates is None else updates.parts
        if held.keys() != ordered.keys():
            raise BundleError("The update programs are not those that the order's manifest names.")
        if (row_key is not None) != manifest.has_row_leaves:
            raise BundleError("The order's manifest and the key of the salts of rows do not fit together.")
        written = initial if with_initial else {}
        self._check_room(order_bytes(programs, schedule, scalars, data, written) + sum(map(len, held.values())))
        several = (layout.PROGRAMS, *((layout.UPDATES,) if held else ())) if manifest.programs.several else ()
        for group in (layout.ORDER, *several, layout.DATA, *((layout.INITIAL,) if with_initial else ())):
            self._group(group)
        self._bytes(layout.MANIFEST, manifest.to_bytes())
        for name, program in programs.parts.items():
            self._bytes(layout.program_path(check_name(name) if name != ALONE else name), program)
        for name, program in held.items():
            self._bytes(layout.update_path(name), program)
        if signature is not None:
            self._consent(layout.SIGNATURE, signature)
        self._array(layout.SCHEDULE, schedule, manifest.schedule.dtype, manifest.schedule.shape)
        self._array(layout.SCALARS, scalars, manifest.scalars.dtype, manifest.scalars.shape)
        for name, spec in inside.items():
            self._array(f"{layout.DATA}/{check_name(name)}", data[name], spec.dtype, spec.shape)
        if row_key is not None:
            self._bytes(layout.ROW_KEY, row_key)
        for name, array in initial.items():
            if array.dtype.name not in STATE_DTYPES:
                raise BundleError(f"The state tensor {name!r} has the dtype {array.dtype.name}, which no state has.")
        if with_initial:
            self._tensors(layout.INITIAL, initial)
        self._with_initial = with_initial
        self._manifest = manifest
        self._state = {name: (array.dtype.name, array.shape) for name, array in initial.items()}
        self._state_bytes = sum(array.nbytes for array in initial.values())

    # The run.

    def begin_run(self, places: Turns[Places], log_bytes: int, steps: int | None = None) -> None:
        """Start the run of the order written before; the state root of step 0 is the order's initial root.

        Args:
            places: What a step of each program takes.
            log_bytes: Length of the rounding logs of all steps; it lies in one piece.
            steps: Number of steps of a run that ends early; None for all that are ordered.
        """
        manifest = self._order()
        extent = self._extent = manifest.extent_of(manifest.steps if steps is None else steps)
        steps = extent.steps
        self._check_room(run_bytes(manifest, extent, self._state_bytes, places) + log_bytes)
        turns = manifest.programs
        self._group(layout.RUN)
        self._group(layout.CHECKPOINTS)
        if turns.several:
            self._group(layout.FINGERPRINTS)
        self._columns = {
            layout.STATE_ROOTS: self._create(layout.STATE_ROOTS, "uint8", (extent.committed_steps, DIGEST_BYTES)),
            layout.LOSSES: self._create(layout.LOSSES, "float64", (steps,)),
            layout.LOG_ENDS: self._create(layout.LOG_ENDS, "uint64", (steps,)),
            layout.LOG_ENTRIES: self._create(layout.LOG_ENTRIES, "uint32", (steps,)),
            **{
                (path := layout.fingerprints_path(name)): self._create(
                    path, "uint64", (turns.count(name, steps), each.step)
                )
                for name, each in places.parts.items()
            },
            **self._share_columns(places, steps),
            layout.LOG: self._create(layout.LOG, "uint8", (log_bytes,)),
        }
        self._log_end = log_bytes
        self._running = True
        self._state_root(0, manifest.initial_root)

    def _share_columns(self, places: Turns[Places], steps: int) -> dict[str, Any]:
        """Make room for what a run holds of the shares of its steps."""
        manifest = self._order()
        shares, turns = manifest.shares, manifest.programs
        if shares is None:
            return {}
        self._group(layout.SHARES)
        signed_sums = shares.sums and bool(shares.signers)
        sums = (layout.EXPONENTS, layout.COMBINED) if shares.sums else ()
        for group in (layout.SHARE_FINGERPRINTS, *sums, *((layout.ADDED,) if signed_sums else ())):
            if turns.several:
                self._group(group)
        wanted: dict[str, tuple[str, tuple[int, ...]]] = {
            layout.SHARE_ROOTS: ("uint8", (steps, shares.count, 2, DIGEST_BYTES)),
            layout.SHARE_NUMBERS: ("float64", (steps, shares.count, 2)),
            layout.SHARE_LOG_ENDS: ("uint64", (steps, shares.count)),
        }
        if shares.signers:
            wanted[layout.SHARE_SIGNATURES] = "uint8", (steps, shares.count, SIGNATURE_BYTES)
        if signed_sums:
            wanted[layout.SUMS_SEEN] = "uint8", (steps, DIGEST_BYTES)
            wanted[layout.SUM_SIGNATURES] = "uint8", (steps, shares.count, SIGNATURE_BYTES)
        for name, each in places.parts.items():
            count = turns.count(name, steps)
            path = layout.fingerprints_path(name, layout.SHARE_FINGERPRINTS)
            wanted[path] = "uint64", (count, shares.count, each.share)
            if shares.sums:
                digests = (count, each.tensors, DIGEST_BYTES)
                wanted[layout.fingerprints_path(name, layout.EXPONENTS)] = "int32", (count, each.tensors)
                wanted[layout.fingerprints_path(name, layout.COMBINED)] = "uint8", digests
            if signed_sums:
                hashes = (count, shares.count, each.tensors, HASH_BYTES)
                wanted[layout.fingerprints_path(name, layout.ADDED)] = "uint8", hashes
        return {path: self._create(path, dtype, shape) for path, (dtype, shape) in wanted.items()}

    def _append_shares(self, step: int, name: str, row: int, shares: StepShares) -> None:
        self._rows(layout.SHARE_ROOTS, step - 1, shares.roots[None])
        self._rows(layout.SHARE_NUMBERS, step - 1, shares.numbers[None])
        self._rows(layout.SHARE_LOG_ENDS, step - 1, shares.log_ends[None])
        path = layout.fingerprints_path(name, layout.SHARE_FINGERPRINTS)
        self._rows(path, row, shares.fingerprints[None])
        if len(shares.combined):
            self._rows(layout.fingerprints_path(name, layout.EXPONENTS), row, shares.exponents[None])
            self._rows(layout.fingerprints_path(name, layout.COMBINED), row, shares.combined[None])
        if len(shares.signatures):
            self._rows(layout.SHARE_SIGNATURES, step - 1, shares.signatures[None])
        if shares.additions is not None:
            self._rows(layout.SUMS_SEEN, step - 1, np.frombuffer(shares.additions.seen.value, np.uint8)[None])
            self._rows(layout.SUM_SIGNATURES, step - 1, shares.additions.signatures[None])
            self._rows(layout.fingerprints_path(name, layout.ADDED), row, shares.additions.hashes[None])

    def append_step(
        self,
        step: int,
        *,
        log: bytes,
        log_entries: int,
        fingerprints: Array,
        loss: float,
        state_root: Digest | None,
        shares: StepShares | None = None,
    ) -> None:
        """Add the next step.

        Args:
            step: Step number, from 1; each one more than the last.
            log: The step's rounding log; where it has shares theirs, one behind the other, and then the update's.
            log_entries: Number of entries in it.
            fingerprints: uint64 ``[places of the step's program]``.
            loss: The step's loss.
            state_root: State root after the step, at the steps that the order wants committed; None at the others.
            shares: What is held of its shares, where the order has some.
        """
        manifest, extent = self._order(), self._run()
        if step != self._steps_written + 1 or step > extent.steps:
            raise BundleError(f"Step {step} cannot follow step {self._steps_written} of {extent.steps}.")
        if (state_root is not None) != extent.is_committed(step):
            raise BundleError(f"The order and the recorder disagree on whether the state of step {step} is committed.")
        end = self._log_bytes + len(log)
        if end > self._log_end:
            raise BundleError(f"The rounding logs up to step {step} are longer than those of all steps should be.")
        self._rows(layout.LOG, self._log_bytes, np.frombuffer(log, np.uint8))
        self._rows(layout.LOG_ENDS, step - 1, np.array([end], np.uint64))
        self._rows(layout.LOG_ENTRIES, step - 1, np.array([log_entries], np.uint32))
        self._rows(layout.LOSSES, step - 1, np.array([loss], np.float64))
        turns = manifest.programs
        name = turns.name(step)
        row = turns.count(name, step) - 1
        self._rows(layout.fingerprints_path(name), row, np.asarray(fingerprints, np.uint64)[None])
        if state_root is not None:
            self._state_root(step, state_root)
        if (shares is None) != (manifest.shares is None):
            raise BundleError(f"The order and the recorder disagree on whether step {step} has shares.")
        if shares is not None:
            self._append_shares(step, name, row, shares)
        self._log_bytes = end
        self._steps_written = step

    def write_checkpoint(self, step: int, state: Mapping[str, Array]) -> None:
        """Store the state after ``step``: the tensors of the initial state, of the same dtypes and shapes.

        Of the last one the optimizer's slots are left out where the order says so.
        """
        if not self._run().is_checkpoint(step) or step in self._checkpoints:
            raise BundleError(f"The order asks for no state of step {step} at this point.")
        if state.keys() != self._state.keys():
            raise BundleError(f"The state of step {step} has other tensors than the initial state.")
        self._group(layout.checkpoint_path(step))
        for name, (dtype, shape) in self._state.items():
            check_fits(f"{layout.checkpoint_path(step)}/{name}", state[name], dtype, shape)
        without: frozenset[str] = frozenset()
        if self._order().last_of_weights and step == self._run().steps:
            without = slots_to_leave_out(self._state)
            self._bytes(layout.LEFT_OUT, encode_left_out(state, without))
        held = {name: state[name] for name in self._state if name not in without}
        self._tensors(layout.checkpoint_path(step), held)
        self._checkpoints.add(step)

    def finish_run(self, claim: bytes, acceptance: bytes) -> None:
        """Add the two DSSE envelopes that the trainer signed; every step and checkpoint must be there.

        Args:
            claim: The run's claim, signed at its end.
            acceptance: The acceptance of the order, signed when training began.
        """
        extent = self._run()
        if self._steps_written != extent.steps:
            raise BundleError(f"The run has {self._steps_written} steps; it should have {extent.steps}.")
        if len(self._checkpoints) != extent.checkpoint_count:
            raise BundleError("The run lacks a checkpoint that its order asks for.")
        if self._log_bytes != self._log_end:
            raise BundleError("The rounding logs of all steps are shorter than they should be.")
        self._bytes(layout.CLAIM, claim)
        self._consent(layout.ACCEPTANCE, acceptance)
        self._running = False

    def _check_complete(self) -> None:
        self._order()
        if self._running or not (self._with_initial or self._extent is not None):
            raise BundleError("The run was begun and not finished, so the bundle is not complete.")

    # Writing.

    def _consent(self, path: str, envelope: bytes) -> None:
        if len(envelope) > layout.MAX_CONSENT_BYTES:
            raise BundleError(f"{path} would have {len(envelope)} bytes; {layout.MAX_CONSENT_BYTES} are allowed.")
        self._bytes(path, envelope)

    def _order(self) -> OrderManifest:
        if self._manifest is None:
            raise BundleError("The bundle has no order yet.")
        return self._manifest

    def _run(self) -> Extent:
        if not self._running or self._extent is None:
            raise BundleError("The bundle has no run that could be added to.")
        return self._extent

    def _state_root(self, step: int, root: Digest) -> None:
        row = self._run().committed_number(step)
        self._rows(layout.STATE_ROOTS, row, np.frombuffer(root.value, np.uint8)[None])


def order_bytes(
    programs: Turns[bytes], schedule: Array, scalars: Array, data: Mapping[str, Array], initial: Mapping[str, Array]
) -> int:
    """Return how much room an order takes, in bytes, the structure of the file left out.

    Args:
        programs: Canonical JSON of the programs.
        schedule: int64 ``[steps, batch_size]``.
        scalars: float64 ``[steps, scalars]``.
        data: Data arrays by name.
        initial: State tensors by name.
    """
    arrays = sum(array.nbytes for array in (schedule, scalars, *data.values()))
    return sum(map(len, programs.all)) + arrays + held_bytes(initial)


def run_bytes(manifest: OrderManifest, extent: Extent, state_bytes: int, places: Turns[Places]) -> int:
    """Return how much room a run of an order takes, beside the order and the rounding log.

    Args:
        manifest: The order's manifest.
        extent: The steps of the run.
        state_bytes: Size of a state.
        places: What a step of each program takes.
    """
    steps, turns = extent.steps, manifest.programs
    shares = 0 if manifest.shares is None else manifest.shares.count
    recorded = sum(turns.count(name, steps) * each.bytes(shares) for name, each in places.parts.items())
    if manifest.shares is not None and manifest.shares.signers:
        recorded += steps * shares * SIGNATURE_BYTES
        if manifest.shares.sums:
            hashes = sum(turns.count(name, steps) * each.tensors for name, each in places.parts.items())
            recorded += steps * (DIGEST_BYTES + shares * SIGNATURE_BYTES) + hashes * shares * HASH_BYTES
    return extent.checkpoint_count * state_bytes + recorded + extent.committed_steps * DIGEST_BYTES


class _DataFileWriter(FileWriter):
    """A data file being written."""

    KIND = DATA_FILE

    def write(self, data: Mapping[str, Array]) -> None:
        self._check_room(sum(array.nbytes for array in data.values()))
        self._group(layout.ARRAYS)
        for name, array in data.items():
            if array.dtype.name not in DATA_DTYPES:
                raise BundleError(f"The data array {name!r} has the dtype {array.dtype.name}, which no data has.")
            self._array(f"{layout.ARRAYS}/{check_name(name)}", array, array.dtype.name, array.shape)

    def _check_complete(self) -> None:
        """A data file is complete once it is written."""


def write_data_file(path: str | os.PathLike[str], data: Mapping[str, Array]) -> None:
    """Write a data file: arrays that an order names and does not hold.

    Args:
        path: Where it goes; a file that lies there stays until the new one is complete.
        data: The arrays by name; dtypes as in ``DATA_DTYPES``.

    Raises:
        FileWriteError: It cannot be written.
        BundleError: An array has a name or a dtype that no data has.
    """
    with _DataFileWriter.create(path) as writer:
        writer.write(data)
