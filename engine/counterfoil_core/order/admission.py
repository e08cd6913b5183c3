"""An order whose programs were read and checked: what an inspection knows of it, without what computes.

:mod:`counterfoil_core.order.executable` makes it ready to be executed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from counterfoil_core.arithmetic.admission import read_program
from counterfoil_core.arithmetic.beforehand import beforehand
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.dtypes import tensor_bytes
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.capsule import ChunkProofs, OrderPart, RowProofs
from counterfoil_core.bundle.datafile import CheckedRows
from counterfoil_core.bundle.places import Places
from counterfoil_core.bundle.reader import OrderContents
from counterfoil_core.bundle.schema import ArraySpec, OrderManifest
from counterfoil_core.bundle.shares import COUNT
from counterfoil_core.commit.rows import chunks_of_rows
from counterfoil_core.commit.rowtree import row_proofs
from counterfoil_core.commit.state import chunk_proofs
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.graph import Program
from counterfoil_core.program.limits import Limits

_GIVEN_BYTES, _ACCUMULATED_BYTES = 4, 8
"""Bytes of an element that a share gives, and of one of the exact sum."""


class RowArray(Protocol):
    """An array whose rows are taken by number: one in memory, or one in a data file."""

    def __len__(self) -> int:
        """Number of rows."""

    def __getitem__(self, rows: npt.NDArray[np.int64], /) -> npt.NDArray[np.generic]:
        """The rows of these numbers, in this order."""


def read_programs(
    manifest: OrderManifest,
    programs: Turns[bytes],
    state: Mapping[str, Array],
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
    updates: Turns[bytes] | None = None,
) -> tuple[Turns[Program], Turns[Program] | None]:
    """Read an order's programs, or some of them, and check that they can be executed and fit what the order provides.

    Args:
        manifest: The order's manifest.
        programs: Their canonical JSON.
        state: The order's initial or a later state.
        limits: How large a program may be; the default limits unless given.
        cancel: Looked at between operators.
        updates: Canonical JSON of the update programs, where steps have shares.

    Returns:
        The programs, and the update programs, if there are some.

    Raises:
        ProgramError: One is malformed, unsupported, or does not fit the order.
        LimitError: One is larger than the limits.
        CancelledError: ``cancel`` was set.
    """

    def read(given: Turns[bytes]) -> Turns[Program]:
        return given.map(lambda program: read_program(program, manifest.precision, limits, cancel))

    found, ending = read(programs), None if updates is None else read(updates)
    check_inputs(manifest, found, state, ending)
    for program in (*found.all, *(() if ending is None else ending.all)):
        beforehand(manifest.precision).check_margins(program, cancel)
    return found, ending


def check_inputs(
    manifest: OrderManifest,
    programs: Turns[Program],
    state: Mapping[str, Array],
    updates: Turns[Program] | None = None,
) -> None:
    """Check that the inputs of programs are what the order provides.

    A program among several takes a part of the state; all of them together take all of it.

    Args:
        manifest: The order's manifest.
        programs: Its programs, or some of them.
        state: Its initial or a later state.
        updates: Their update programs, where steps have shares.

    Raises:
        ProgramError: They are not.
    """
    ending = () if updates is None else updates.all
    taken = {item.name for program in (*programs.all, *ending) for item in program.state_inputs()}
    all_there = programs.parts.keys() == manifest.programs.parts.keys()
    if not taken <= set(state) or (all_there and taken != set(state)):
        raise ProgramError("The program's state tensors are not those of the initial state.")
    for name, program in programs.parts.items():
        if bool(program.combined) != (manifest.shares is not None):
            raise ProgramError("The program gives something to be combined, or nothing, and its order says otherwise.")
        _check_inputs(manifest, program, state, {})
        if updates is not None:
            _check_inputs(manifest, updates.parts[name], state, combined_types(manifest, program))
            _check_update(program, updates.parts[name])


def combined_types(manifest: OrderManifest, program: Program) -> dict[str, TensorType]:
    """Return what an update program finds of what the shares of a step give, by name.

    Args:
        manifest: The order's manifest.
        program: The gradient program.
    """
    found = {}
    for name, value in program.combined.items():
        described = program.types[value.number]
        assert described is not None
        side_by_side = () if manifest.shares is None or manifest.shares.sums else (manifest.shares.count,)
        found[name] = TensorType(described.dtype, (*side_by_side, *described.shape))
    return found


def _check_update(program: Program, update: Program) -> None:
    if update.combined or update.batch_names:
        raise ProgramError("The update program reads rows, or gives something to be combined: shares do that.")
    if set(program.updates) & set(update.updates):
        raise ProgramError("A state tensor is changed by the shares of a step and by its update, too.")
    counted = program.combined.get(COUNT)
    described = None if counted is None else program.types[counted.number]
    if described is not None and described.shape:
        raise ProgramError("The count that a share gives is not a single number.")


def _check_inputs(
    manifest: OrderManifest, program: Program, state: Mapping[str, Array], combined: Mapping[str, TensorType]
) -> None:
    for item in program.inputs:
        if item.kind == "state":
            given: tuple[str, tuple[int, ...]] = (state[item.name].dtype.name, state[item.name].shape)
        elif item.kind == "combined":
            if item.name not in combined:
                raise ProgramError(f"The program takes {item.name!r} of the shares of a step, which do not give it.")
            given = (combined[item.name].dtype, combined[item.name].shape)
        elif item.kind == "batch":
            spec = manifest.data.get(item.name)
            if spec is None:
                raise ProgramError(f"The program reads the data array {item.name!r}, which the order does not have.")
            given = (spec.dtype, (manifest.program_rows, *spec.shape[1:]))
        else:
            if item.name not in manifest.scalar_names:
                raise ProgramError(f"The program reads the scalar {item.name!r}, which the order does not list.")
            given = ("float32", ())
        if given != (item.type.dtype, item.type.shape):
            raise ProgramError(
                f"The program expects {item.kind} input {item.name!r} as {item.type.dtype} of shape {item.type.shape}; "
                f"the order has {given[0]} of shape {given[1]}."
            )


@dataclass(frozen=True)
class AdmittedOrder:
    """An order whose programs were read and checked."""

    manifest: OrderManifest  #: The manifest.
    programs: Turns[Program]  #: The programs, checked.
    stored: Mapping[str, Array]  #: The initial state as stored.
    _schedule: npt.NDArray[np.int64]
    _scalars: npt.NDArray[np.float64]
    _data: Mapping[str, RowArray]
    #: The update programs, where steps have shares; ``programs`` are the gradient programs then.
    updates: Turns[Program] | None = None
    row_key: bytes | None = None  #: The key of the salts of rows, where rows are leaves of a tree of their own.

    @property
    def all_programs(self) -> tuple[Program, ...]:
        """Every program of the order, each once."""
        return (*self.programs.all, *(() if self.updates is None else self.updates.all))

    @property
    def schedule(self) -> npt.NDArray[np.int64]:
        """The rows of all steps, int64 ``[steps, batch_size]``."""
        return self._schedule

    def data_array(self, name: str) -> RowArray:
        """Return the rows of a data array that the programs read."""
        return self._data[name]

    def combining_bytes(self, shares: int | None = None) -> tuple[int, int]:
        """Return what the combination of the shares of a step takes in memory, beside what a share takes.

        Args:
            shares: How many of them a process records; all of them unless given.

        Returns:
            Of a recording, which keeps what its shares give until the exponents are known, and of a replay, which adds
            one share after the other; in bytes.
        """
        if self.manifest.shares is None:
            return 0, 0
        count, sums = self.manifest.shares.count, self.manifest.shares.sums
        kinds = [[program.types[value.number] for value in program.combined.values()] for program in self.programs.all]
        elements = max(sum(kind.elements for kind in found if kind is not None) for found in kinds)
        added = _ACCUMULATED_BYTES * elements if sums else count * _GIVEN_BYTES * elements
        return (shares or count) * _GIVEN_BYTES * elements + added, added

    @property
    def program(self) -> Program:
        """The order's only program; raises ValueError where several take turns."""
        return self.programs.only

    def with_data(self, outside: Mapping[str, RowArray]) -> Self:
        """Return the order with the arrays of its data file, checked; without them it cannot be executed."""
        used = _read_by(self.programs)
        found = {name: array for name, array in outside.items() if name in used}
        return replace(self, _data=dict(sorted({**self._data, **found}.items())))

    def part(self, first: int, last: int, share: int | None = None, *, with_data: bool = True) -> OrderPart:
        """Return what the steps ``first`` to ``last``, or a share of each, need of the order's arrays, with proofs.

        Arrays in memory are hashed for it once more; a data file is only read where the chunks lie.

        Args:
            first: The first step.
            last: The last one.
            share: Number of the share; None for all rows of each step.
            with_data: Whether the rows of the data arrays are needed.
        """
        steps = np.arange(first - 1, last)
        rows = self._schedule[first - 1 : last, slice(None) if share is None else share_rows(self.manifest, share)]
        used = _read_by(self.programs.take(self.programs.names(first, last)))
        specs = {name: self.manifest.data[name] for name in self._data if with_data and name in used}
        return OrderPart(
            schedule=_prove(self._schedule, self.manifest.schedule, steps),
            scalars=_prove(self._scalars, self.manifest.scalars, steps),
            data={name: _prove(self._data[name], spec, rows) for name, spec in specs.items() if spec.rows is None},
            rows={name: self._prove_rows(name, rows) for name, spec in specs.items() if spec.rows is not None},
        )

    def _prove_rows(self, name: str, rows: npt.NDArray[np.int64]) -> RowProofs:
        """Prove single rows of an array whose rows are leaves of a tree of their own."""
        array = self._data[name]
        assert isinstance(array, np.ndarray)
        assert self.row_key is not None
        return row_proofs(self.row_key, name, array, rows)

    def update_part(self, step: int) -> OrderPart:
        """Return what the update of a step needs of the order's arrays, with proofs: it reads no rows."""
        return OrderPart((), _prove(self._scalars, self.manifest.scalars, np.array([step - 1])), {})


def places_of(order: AdmittedOrder) -> Turns[Places]:
    """Return how much a run holds of a step of each program of an order."""
    if order.updates is None:
        return order.programs.map(lambda program: Places(len(program.places)))
    shares = order.manifest.shares
    assert shares is not None
    found = {}
    for name, program in order.programs.parts.items():
        tensors = len(program.combined) if shares.sums else 0
        found[name] = Places(len(order.updates.parts[name].places), len(program.places), tensors)
    return Turns(found, order.programs.pattern)


def share_rows(manifest: OrderManifest, share: int) -> slice:
    """Return which of the rows of a step a share of it has."""
    return slice(share * manifest.program_rows, (share + 1) * manifest.program_rows)


def _read_by(programs: Turns[Program]) -> set[str]:
    """Names of the data arrays that programs read."""
    return {name for program in programs.all for name in program.batch_names}


def _prove(array: RowArray, spec: ArraySpec, rows: npt.NDArray[np.int64]) -> ChunkProofs:
    """Prove the chunks of an array that hold some of its rows."""
    row_bytes = tensor_bytes(spec.dtype, spec.shape[1:])
    chunks = [index for span in chunks_of_rows(rows, row_bytes) for index in span]
    if isinstance(array, CheckedRows):
        return array.chunk_proofs(chunks)
    assert isinstance(array, np.ndarray)
    return chunk_proofs(array, chunks)


def admit_order(
    manifest: OrderManifest,
    contents: OrderContents,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> AdmittedOrder:
    """Read and check the programs of an order, from its contents, which were checked against the manifest.

    Arrays that lie in a data file are left out; :meth:`AdmittedOrder.with_data` adds them.

    Args:
        manifest: The manifest.
        contents: What the order holds beside it.
        limits: How large a program of it may be; the default limits unless given.
        cancel: Looked at between operators of the programs.

    Raises:
        ProgramError, LimitError, CancelledError: As :func:`read_programs`.
    """
    programs, updates = read_programs(manifest, contents.programs, contents.initial, limits, cancel, contents.updates)
    used = _read_by(programs)
    data = {name: array for name, array in sorted(contents.data.items()) if name in used}
    arrays = contents.initial, contents.schedule, contents.scalars, data
    return AdmittedOrder(manifest, programs, *arrays, updates, contents.row_key)
