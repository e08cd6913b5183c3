"""Reads a bundle: its structure first, then only what is asked for, so that a large bundle opens fast.

What is hashed is what is used: whatever the order or the run commits to is digested as it is loaded, from the same
bytes in memory that the caller gets. A part that had its digest when it was loaded before, and has another one now,
was changed in between: FileChangedError, which blames nobody.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.base.errors import BundleError, CommitmentError
from counterfoil_core.base.generators import finish, relay
from counterfoil_core.base.sentence import say
from counterfoil_core.base.turns import ALONE, Turns
from counterfoil_core.bundle import layout
from counterfoil_core.bundle.extent import Extent
from counterfoil_core.bundle.lastcheckpoint import LeftOut, read_left_out
from counterfoil_core.bundle.openfile import OpenFile
from counterfoil_core.bundle.schema import OrderManifest, StepRecord
from counterfoil_core.bundle.stepshares import Additions, StepShares, no_signatures
from counterfoil_core.bundle.strictfile import BLOCK_BYTES, CheckedFile, OnProgress
from counterfoil_core.commit.rowtree import row_root
from counterfoil_core.commit.state import StreamedDigest, state_root, state_tree, tensor_digest, tensor_digests

OnShares = Callable[[int, Digest, StepShares], None]
"""Is told of the shares of a step, and of the state root before it."""


@dataclass(frozen=True)
class OrderContents:
    """What an order holds beside its manifest, each part with the digest that the manifest gives."""

    programs: Turns[bytes]  #: Each program's canonical JSON.
    schedule: Array  #: int64 ``[steps, batch_size]``: the dataset rows of each step.
    scalars: Array  #: float64 ``[steps, number of scalars]``.
    data: Mapping[str, Array]  #: The data arrays that lie in the bundle, by name; the first axis is the row.
    initial: Mapping[str, Array]  #: The initial state by tensor name, sorted.
    updates: Turns[bytes] | None = None  #: Each update program's canonical JSON, where steps have shares.
    #: The key of the salts of rows, 32 bytes, where rows are leaves of a tree of their own.
    row_key: bytes | None = None

    @property
    def program(self) -> bytes:
        """The order's only program; raises ValueError where several take turns."""
        return self.programs.only


class BundleReader(CheckedFile):
    """An open bundle; use it as a context manager, from one thread.

    Made by :meth:`open`. Whatever a damaged or hostile file does, methods raise BundleError (or what they name).
    """

    manifest: OrderManifest  #: What was ordered.
    has_run: bool  #: Whether the order is filled in with a run.
    extent: Extent  #: The steps of the run; those of the order where nobody has run it.

    def __init__(self, file: OpenFile) -> None:
        """Check an open file; raises as :class:`CheckedFile`."""
        super().__init__(file)
        layout.check_manifest_part(self._inventory)
        self.manifest = OrderManifest.from_bytes(self._bytes(layout.MANIFEST))
        layout.check_layout(self._inventory, self.manifest)
        self.has_run = layout.RUN in self._inventory.groups
        run = layout.run_extent(self._inventory, self.manifest) if self.has_run else None
        self.extent = run or self.manifest.extent
        self._log_ends = self._read_log_ends() if self.has_run else np.zeros(0, np.uint64)
        self._left_out = self._read_left_out() if self.has_run and self.manifest.last_of_weights else {}
        self._verified: set[str] = set()
        self._records: list[StepRecord] = []

    # The order. Each part is digested as it is loaded, and raises CommitmentError when it is not what the manifest
    # commits to, and FileChangedError when it was so before.

    def program(self, name: str = ALONE) -> bytes:
        """Return a program's canonical JSON: that of the only one, or of the one called so."""
        program = self._bytes(layout.program_path(name))
        what = say("the program") if name == ALONE else say("the program {0}", repr(name))
        self._expect(what, Digest.of(program) == self.manifest.programs.parts[name])
        return program

    def update(self, name: str = ALONE) -> bytes:
        """Return an update program's canonical JSON: that of the only one, or that of the program called so."""
        program, shares = self._bytes(layout.update_path(name)), self.manifest.shares
        assert shares is not None
        what = say("the update program") if name == ALONE else say("the update program {0}", repr(name))
        self._expect(what, Digest.of(program) == shares.updates.parts[name])
        return program

    def all_programs(self) -> list[bytes]:
        """Return the canonical JSON of every program of the order: of each its own, then of each its update's."""
        names = list(self.manifest.programs.parts)
        updates = [] if self.manifest.shares is None else [self.update(name) for name in names]
        return [*map(self.program, names), *updates]

    def schedule(self) -> Array:
        """Return the dataset rows of each step: int64 ``[steps, batch_size]``."""
        schedule = self._read(layout.SCHEDULE)
        self._expect(say("the schedule"), tensor_digest("schedule", schedule) == self.manifest.schedule.digest)
        return schedule

    def scalars(self) -> Array:
        """Return the per-step scalars: float64 ``[steps, number of scalars]``."""
        scalars = self._read(layout.SCALARS)
        self._expect(say("the per-step scalars"), tensor_digest("scalars", scalars) == self.manifest.scalars.digest)
        return scalars

    def data(self, name: str, cancel: CancelToken | None = None) -> Array:
        """Return a data array that lies in the bundle; its first axis is the row; raises CancelledError in between."""
        array, digest = self._load(name, f"{layout.DATA}/{name}", cancel)
        self._expect(say("the data array {0}", repr(name)), digest == self.manifest.data[name].digest)
        return array

    def initial_state(self, cancel: CancelToken | None = None) -> dict[str, Array]:
        """Return the initial state by tensor name, sorted; raises CancelledError between tensors."""
        if not self.holds_initial:
            raise BundleError(
                say("The run does not hold the initial weights: they lie in its order."),
                remedy=say("Give the client's order file as well, with --order, or take it where a run is asked for."),
            )
        state = self._state(layout.INITIAL, cancel)
        self._expect(say("the initial state"), state_root(state) == self.manifest.initial_root)
        return state

    def state_layout(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Return dtype name and shape of every state tensor, by name, sorted; reads no data."""
        found = {name: (left.dtype, left.shape) for name, left in self._left_out.items()}
        members = layout.members(self._inventory, self._whole_state)
        return dict(sorted((found | {name: (info.dtype, info.shape) for name, info in members.items()}).items()))

    @property
    def holds_initial(self) -> bool:
        """Whether the initial state lies in the file: a run may leave it to its order."""
        return layout.INITIAL in self._inventory.groups

    @cached_property
    def _whole_state(self) -> str:
        """The group of the first state in the file, which has every tensor unless it is the last one too."""
        return layout.INITIAL if self.holds_initial else layout.checkpoint_path(self.extent.checkpoint_steps[0])

    def left_out(self, step: int) -> dict[str, Digest]:
        """Return the tensor digests of what a stored state leaves out, by name; none but for slots of the last one."""
        return {name: left.digest for name, left in self._left_out.items()} if step == self.extent.steps else {}

    def order_signature(self) -> bytes | None:
        """Return the DSSE envelope of the client who signed the order; None when nobody did. It is read once."""
        return self._signature

    # The run.

    def acceptance(self) -> bytes:
        """Return the DSSE envelope by which the trainer accepted the order; it is read once."""
        return self._acceptance

    def claim(self) -> bytes:
        """Return the DSSE envelope that the trainer signed, as JSON bytes; it is read once."""
        return self._claim

    def losses(self) -> Array:
        """Return the recorded loss of each step, from step 1: float64 ``[steps]``; they are read once."""
        return self._losses

    def log_entries(self) -> Array:
        """Return the number of entries of each step's log, as the trainer says, from step 1: uint32 ``[steps]``."""
        return self._read(layout.LOG_ENTRIES)

    def log_sizes(self) -> Array:
        """Return the length in bytes of each step's log, from step 1: uint64 ``[steps]``."""
        self._need_run()
        return np.diff(self._log_ends, prepend=np.uint64(0))

    def log(self, step: int) -> bytes:
        """Return the rounding log of a step, counted from 1.

        Raises:
            FileChangedError: It is not the log that :meth:`step_records`, if it was called, found there.
        """
        first, last = self._log_range(step, step)
        log = self._read(layout.LOG, first, last - first).tobytes()
        if self._records and self._digest_of_log(step, log) != self._records[step].log:
            raise self.file.changed(say("the rounding log of step {0}", step))
        return log

    def _digest_of_log(self, step: int, log: bytes) -> Digest:
        """The digest in the step's record of its log, that of the update where the step has shares."""
        return Digest.of(log if self.manifest.shares is None else log[self._share_log_ends(step, step)[0][-1] :])

    def shares(self, step: int) -> StepShares | None:
        """Return what the run holds of the shares of a step, counted from 1; None where the order has none.

        Raises:
            FileChangedError: They are not what :meth:`step_records`, if it was called, found there.
            BundleError: The file is damaged.
        """
        if self.manifest.shares is None:
            return None
        self._check_step(step, 1)
        log = self._read(layout.LOG, *self._log_span(step)).tobytes()
        found = self._step_shares(step)
        found = found.with_logs([Digest.of(log[first:last]) for first, last in found.log_ranges()])
        if self._records and found.root != self._records[step].shares:
            raise self.file.changed(say("the shares of step {0}", step))
        return found

    def share_columns(self) -> Turns[tuple[int, int]] | None:
        """Return how many fingerprints the run has for a share of each program, and how many exponents for a step.

        None where the order has no shares.
        """
        turns, shares = self.manifest.programs, self.manifest.shares
        if shares is None:
            return None
        self._need_run()
        found = {}
        for name in turns.parts:
            places = self._stored(layout.fingerprints_path(name, layout.SHARE_FINGERPRINTS)).info.shape[2]
            path = layout.fingerprints_path(name, layout.EXPONENTS)
            found[name] = places, self._stored(path).info.shape[1] if shares.sums else 0
        return Turns(found, turns.pattern)

    def _log_span(self, step: int) -> tuple[int, int]:
        first, last = self._log_range(step, step)
        return first, last - first

    def _share_log_ends(self, first: int, last: int) -> Array:
        """Return where the logs of the shares of steps end, each within its step's: uint64 ``[steps, W]``."""
        ends = self._read(layout.SHARE_LOG_ENDS, first - 1, last - first + 1)
        sizes = self.log_sizes()[first - 1 : last]
        if (ends[:, 1:] < ends[:, :-1]).any() or (ends[:, -1] > sizes).any():
            raise BundleError(say("{0} does not cut the rounding logs of the steps.", layout.SHARE_LOG_ENDS))
        return ends

    def _step_shares(self, step: int) -> StepShares:
        """Return what the run holds of the shares of a step, without the digests of their logs."""
        manifest = self.manifest
        assert manifest.shares is not None
        name = manifest.programs.name(step)
        row, sums = manifest.programs.count(name, step) - 1, manifest.shares.sums
        roots = self._read(layout.SHARE_ROOTS, step - 1, 1)[0]
        numbers = self._read(layout.SHARE_NUMBERS, step - 1, 1)[0]
        exponents, combined = np.zeros(0, np.int32), np.zeros((0, DIGEST_BYTES), np.uint8)
        if sums:
            exponents = self._read(layout.fingerprints_path(name, layout.EXPONENTS), row, 1)[0]
            combined = self._read(layout.fingerprints_path(name, layout.COMBINED), row, 1)[0]
            if len(exponents) != len(combined):
                raise BundleError(say("{0} and {1} are of different numbers.", layout.EXPONENTS, layout.COMBINED))
        return StepShares(
            roots,
            numbers,
            self._share_log_ends(step, step)[0],
            self._read(layout.fingerprints_path(name, layout.SHARE_FINGERPRINTS), row, 1)[0],
            exponents,
            combined,
            self._read(layout.SHARE_SIGNATURES, step - 1, 1)[0] if manifest.shares.signers else no_signatures(),
            self._additions(step, row, name, len(exponents)) if sums and manifest.shares.signers else None,
        )

    def _additions(self, step: int, row: int, name: str, tensors: int) -> Additions:
        """Return what parties signed of the sum of a step, the turn ``row`` of its program."""
        path = layout.fingerprints_path(name, layout.ADDED)
        hashes = self._read(path, row, 1)[0]
        if hashes.shape[1] != tensors:
            raise BundleError(say("{0} and {1} are of different numbers.", layout.EXPONENTS, layout.ADDED))
        seen = Digest(self._read(layout.SUMS_SEEN, step - 1, 1)[0].tobytes())
        return Additions(seen, hashes, self._read(layout.SUM_SIGNATURES, step - 1, 1)[0])

    def log_size(self, step: int) -> int:
        """Return the length in bytes of the log of a step, counted from 1."""
        first, last = self._log_range(step, step)
        return last - first

    def fingerprints(self, step: int) -> Array:
        """Return the fingerprints of a step, counted from 1: uint64 ``[places of its program]``.

        Raises:
            FileChangedError: They are not what :meth:`step_records`, if it was called, found there.
        """
        self._check_step(step, 1)
        name = self.manifest.programs.name(step)
        row: Array = self._read_fingerprints(name, step, step)[0]
        if self._records and Digest.of(row.tobytes()) != self._records[step].fingerprints:
            raise self.file.changed(say("the fingerprints of step {0}", step))
        return row

    def fingerprint_columns(self) -> Turns[int]:
        """Return how many fingerprints the run has for a step of each program."""
        self._need_run()
        turns = self.manifest.programs
        return Turns(
            {name: self._stored(layout.fingerprints_path(name)).info.shape[1] for name in turns.parts}, turns.pattern
        )

    def checkpoint_steps(self) -> tuple[int, ...]:
        """Return the steps whose state is stored, ascending."""
        self._need_run()
        return self.extent.checkpoint_steps

    def checkpoint(self, step: int) -> dict[str, Array]:
        """Return the stored state after a step by tensor name, sorted, with the state root that the run commits to.

        Slots that the last one leaves out are not in it, and count with their digests.

        Raises:
            CommitmentError: It differs; the sentence names the step.
            FileChangedError: It differs, and did not when it was loaded before.
            BundleError: No state of this step is stored, or the file is damaged.
        """
        if not self.has_run or not self.extent.is_checkpoint(step):
            raise BundleError(say("The bundle stores no state of step {0}.", step))
        state = self._state(layout.checkpoint_path(step))
        root = state_tree(tensor_digests(state) | self.left_out(step)).root
        holds, part = root == self.committed_root(step), say("the stored state of step {0}", step)
        if not holds and part in self._verified:
            raise self.file.changed(part)
        if not holds:
            raise CommitmentError(say("The stored state of step {0} differs from the state root of that step.", step))
        self._verified.add(part)
        return state

    def checkpoint_tensor(self, step: int, name: str, cancel: CancelToken | None = None) -> tuple[Array, Digest]:
        """Return one tensor of a stored state, and the tensor digest of the very bytes that are returned.

        Args:
            step: The step after which the state is stored.
            name: Name of the tensor in the state.
            cancel: Looked at between pieces.

        Raises:
            BundleError: No state of this step is stored, or it has no such tensor.
            CancelledError: The token was cancelled.
        """
        if not self.has_run or not self.extent.is_checkpoint(step):
            raise BundleError(say("The bundle stores no state of step {0}.", step))
        if name in self.left_out(step):
            raise BundleError(
                say("The last checkpoint leaves out {0}: its order asks for the weights alone.", repr(name)),
                remedy=say("Take an earlier checkpoint, or replay the last steps."),
            )
        return self._load(name, f"{layout.checkpoint_path(step)}/{name}", cancel)

    def step_records(
        self,
        cancel: CancelToken | None = None,
        progress: OnProgress | None = None,
        shares_read: OnShares | None = None,
    ) -> list[StepRecord]:
        """Rebuild the records of steps 0 to ``steps`` from what is stored; reads every log and fingerprint once.

        From then on :meth:`log` and :meth:`fingerprints` give only what these records commit to.

        Args:
            cancel: Looked at now and then.
            progress: Called with the steps done and their total.
            shares_read: Called with each step, the state root before it and what is held of its shares, where steps
                have some.

        Raises:
            BundleError: The file is damaged.
            CancelledError: The token was cancelled.
        """

        def tell(report: tuple[int, int]) -> None:
            if progress is not None:
                progress(*report)

        told: Generator[None, None, list[StepRecord]] = relay(self.rebuild_records(cancel, shares_read), tell)
        return finish(told)

    def rebuild_records(
        self, cancel: CancelToken | None = None, shares_read: OnShares | None = None
    ) -> Generator[tuple[int, int], None, list[StepRecord]]:
        """Do what :meth:`step_records` does; yields the steps done and their total, and returns the records."""
        self._need_run()
        roots = iter(self._state_roots)
        losses = self.losses()
        steps, turns = self.extent.steps, self.manifest.programs
        records = [StepRecord(0, Digest(next(roots).tobytes()), None, None, None)]
        for first, last in self._step_blocks():
            if cancel:
                cancel.check()
            logs = self._hash_logs(first, last)
            rows = {name: iter(self._read_fingerprints(name, first, last)) for name in turns.names(first, last)}
            for step in range(first, last + 1):
                root = Digest(next(roots).tobytes()) if self.extent.is_committed(step) else None
                row = next(rows[turns.name(step)]).tobytes()
                shares = None
                if self.manifest.shares is not None:
                    of_shares = [next(logs) for _ in range(self.manifest.shares.count)]
                    found = self._step_shares(step).with_logs(of_shares)
                    shares = found.root
                    if shares_read is not None:
                        before = records[-1].state_root
                        assert before is not None, "where steps have shares each state is committed to"
                        shares_read(step, before, found)
                records.append(StepRecord(step, root, next(logs), Digest.of(row), float(losses[step - 1]), shares))
            yield last, steps
        self._records = records
        return list(records)

    # Checks against the order's commitments.

    def check_order_contents(self, cancel: CancelToken | None = None) -> OrderContents:
        """Load programs, schedule, scalars, data and initial state, and check them against the manifest.

        Data arrays that lie in a data file are not read; :class:`counterfoil_core.bundle.datafile.DataFile` checks
        them.

        Args:
            cancel: Looked at between pieces of the data arrays and between tensors of the initial state.

        Returns:
            What was checked: the same bytes in memory, so that nothing needs to be read again.

        Raises:
            CancelledError: The token was cancelled.
            CommitmentError: One of them differs; the sentence names it.
            FileChangedError: One of them did not differ when it was loaded before.
            BundleError: The schedule names rows that a data array does not have, or the file is damaged.
        """
        manifest = self.manifest
        programs = Turns({name: self.program(name) for name in manifest.programs.parts}, manifest.programs.pattern)
        schedule, scalars = self.schedule(), self.scalars()
        data = {name: self.data(name, cancel) for name, spec in manifest.data.items() if spec.file is None}
        if state_tree({name: spec.digest for name, spec in manifest.data.items()}).root != manifest.data_root:
            raise CommitmentError(say("The data root of the order is not the root over its data arrays."))
        row_key = self._check_row_trees(data, cancel)
        initial = self.initial_state(cancel)
        low, high = int(schedule.min()), int(schedule.max())
        for name, spec in manifest.data.items():
            rows = spec.shape[0] if spec.shape else 0
            if low < 0 or high >= rows:
                raise BundleError(
                    say(
                        "The schedule names the rows {0} to {1}; the data array {2} has {3} rows.",
                        low,
                        high,
                        repr(name),
                        rows,
                    )
                )
        updates = None
        if manifest.shares is not None:
            turns = manifest.shares.updates
            updates = Turns({name: self.update(name) for name in turns.parts}, turns.pattern)
        return OrderContents(programs, schedule, scalars, data, initial, updates, row_key)

    def _check_row_trees(self, data: Mapping[str, Array], cancel: CancelToken | None) -> bytes | None:
        """Check the roots over the rows of data arrays; returns the key of the salts, None where there are none."""
        if not self.manifest.has_row_leaves:
            return None
        key = self._bytes(layout.ROW_KEY)
        for name, spec in self.manifest.data.items():
            if spec.rows is not None:
                what = say("the row tree of the data array {0}", repr(name))
                self._expect(what, row_root(key, name, data[name], cancel) == spec.rows)
        return key

    def _expect(self, what: str, holds: bool) -> None:
        if not holds and what in self._verified:
            raise self.file.changed(what)
        if not holds:
            raise CommitmentError(say("{0:capital} in the bundle differs from what the order commits to.", what))
        self._verified.add(what)

    def verify_checkpoint(self, step: int, cancel: CancelToken | None = None) -> None:
        """Compare a stored state with the state root of its step, piece by piece; it is not kept in memory.

        Raises:
            CommitmentError: It differs; the sentence names the step.
            BundleError: No state of this step is stored, or the file is damaged.
            CancelledError: The token was cancelled.
        """
        if not self.has_run or not self.extent.is_checkpoint(step):
            raise BundleError(say("The bundle stores no state of step {0}.", step))
        group, digests = layout.checkpoint_path(step), self.left_out(step)
        for name, info in layout.members(self._inventory, group).items():
            digest = StreamedDigest(name, info.dtype, info.shape)
            for piece in self._pieces(f"{group}/{name}", cancel):
                digest.add(piece)
            digests[name] = digest.finish()[0]
        if state_tree(digests).root != self.committed_root(step):
            raise CommitmentError(say("The stored state of step {0} differs from the state root of that step.", step))

    def committed_root(self, step: int) -> Digest:
        """Return the state root that the run commits to for ``step``; raises BundleError when there is none."""
        self._check_step(step, 0)
        if not self.extent.is_committed(step):
            raise BundleError(say("The run commits to no state of step {0}.", step))
        return Digest(self._state_roots[self.extent.committed_number(step)].tobytes())

    # Reading.

    @cached_property
    def _signature(self) -> bytes | None:
        return self._bytes(layout.SIGNATURE) if layout.is_signed(self._inventory) else None

    @cached_property
    def _acceptance(self) -> bytes:
        return self._bytes(layout.ACCEPTANCE)

    @cached_property
    def _claim(self) -> bytes:
        return self._bytes(layout.CLAIM)

    @cached_property
    def _losses(self) -> Array:
        return self._read(layout.LOSSES)

    @cached_property
    def _state_roots(self) -> Array:
        return self._read(layout.STATE_ROOTS)

    def _need_run(self) -> None:
        if not self.has_run:
            raise BundleError(say("The bundle is an order that has not been run."))

    def _check_step(self, step: int, least: int) -> None:
        self._need_run()
        if not least <= step <= self.extent.steps:
            raise BundleError(say("The run has no step {0}; its steps are {1} to {2}.", step, least, self.extent.steps))

    def _log_range(self, first: int, last: int) -> tuple[int, int]:
        """Return where the logs of the steps ``first`` to ``last`` lie, as start and end."""
        self._check_step(first, 1)
        self._check_step(last, 1)
        start = int(self._log_ends[first - 2]) if first > 1 else 0
        return start, int(self._log_ends[last - 1])

    def _read_log_ends(self) -> Array:
        ends = self._read(layout.LOG_ENDS)
        total = self._stored(layout.LOG).info.shape[0]
        if (ends[1:] < ends[:-1]).any() or int(ends[-1]) != total:
            raise BundleError(
                say("{0} does not cut the {1} bytes of {2} into steps.", layout.LOG_ENDS, total, layout.LOG)
            )
        return ends

    def _read_left_out(self) -> dict[str, LeftOut]:
        held = layout.members(self._inventory, layout.checkpoint_path(self.extent.steps))
        found = read_left_out(self._bytes(layout.LEFT_OUT), held)
        if self._whole_state == layout.checkpoint_path(self.extent.steps):
            return found  # The file tells nothing of what its only state lacks; the order does.
        whole = layout.members(self._inventory, self._whole_state)
        lacking = {name: (info.dtype, info.shape) for name, info in whole.items() if name not in held}
        if lacking != {name: (left.dtype, left.shape) for name, left in found.items()}:
            raise BundleError(say("The last checkpoint leaves out other tensors than the slots of the state."))
        return found

    def _step_blocks(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of steps whose fingerprints fit in a block."""
        per_step = max(1, *(8 * columns for columns in self.fingerprint_columns().all))
        count = max(1, min(BLOCK_BYTES // per_step, 4096))
        for first in range(1, self.extent.steps + 1, count):
            yield first, min(first + count - 1, self.extent.steps)

    def _read_fingerprints(self, name: str, first: int, last: int) -> Array:
        """Return the fingerprints of those of the steps ``first`` to ``last`` that are turns of a program."""
        before, until = (self.manifest.programs.count(name, step) for step in (first - 1, last))
        return self._read(layout.fingerprints_path(name), before, until - before)

    def _hash_logs(self, first: int, last: int) -> Iterator[Digest]:
        """Yield the SHA-256 of each step's log, reading many short logs at once and a long one in pieces.

        Where steps have shares those of the shares, and then that of the update.
        """
        position, end = self._log_range(first, last)
        block, at = memoryview(b""), 0
        for stop in self._ends_of_logs(first, last):
            digest = hashlib.sha256()
            while position < stop:
                if at == len(block):
                    block = self._read(layout.LOG, position, min(BLOCK_BYTES, end - position)).data
                    at = 0
                take = min(stop - position, len(block) - at)
                digest.update(block[at : at + take])
                position += take
                at += take
            yield Digest(digest.digest())

    def _ends_of_logs(self, first: int, last: int) -> Iterator[int]:
        """Yield where the logs of steps end, of each step those of its shares before its own."""
        shares = None if self.manifest.shares is None else self._share_log_ends(first, last)
        begin, _ = self._log_range(first, first)
        for step in range(first, last + 1):
            if shares is not None:
                yield from (begin + int(end) for end in shares[step - first])
            begin = int(self._log_ends[step - 1])
            yield begin

    def _state(self, group: str, cancel: CancelToken | None = None) -> dict[str, Array]:
        state = {}
        members = layout.members(self._inventory, group)
        self._ahead(f"{group}/{name}" for name in members)
        for name in members:
            if cancel:
                cancel.check()
            state[name] = self._read(f"{group}/{name}")
        return state

    def _bytes(self, path: str) -> bytes:
        return self._read(path).tobytes()
