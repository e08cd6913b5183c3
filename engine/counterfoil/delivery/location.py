"""Which step of which run holds a hash, a file of weights, or a row; docs/locate.md.

A run is read up to the root that its trainer signed before anything in it is compared. Only what is stored or digested
can be found: every step's state root that the order asks for, and, of the states that are stored, each tensor's digest
and each chunk's hash.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from counterfoil.audit.values.location import LocateProgress, Place, StepWeights
from counterfoil.delivery.comparison import compare_tensor, dtype_misfit
from counterfoil.delivery.module import saved_names
from counterfoil.delivery.rowfile import digests_of, fit_rows, places_of, read_rows
from counterfoil.delivery.signedrecords import signed_records
from counterfoil.delivery.weights import DeliveredWeights
from counterfoil.program.rowreads import positions_read
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import GivenFileError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.sentence import say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.datafile import CheckedRows, a_slip_of_the_giver, open_data_file
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import ArraySpec
from counterfoil_core.bundle.strictfile import BLOCK_BYTES, OnProgress, row_bytes
from counterfoil_core.commit.state import chunk_tree, tensor_digest
from counterfoil_core.program.graph import Program
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.signing.subject import Subject

_WINDOWS = "window.start"
"""The data array of an order that cuts windows out of a text, which lies in its state (training/windows.py)."""


@dataclass(frozen=True)
class RowUse:
    """Where a row stands in an order's data, and which steps of the run read it."""

    array: str  #: Name of the data array.
    data_root: Digest  #: Root over the data arrays of the order.
    about: Subject  #: The run.
    dtype: str  #: Dtype of the array and of the row.
    shape: tuple[int, ...]  #: Shape of the row.
    row: Digest  #: SHA-256 of the row's little-endian bytes in C order.
    number: int  #: Which of the rows that were looked for, from 0.
    places: tuple[int, ...]  #: Where it stands in the array, from 0; empty where it stands nowhere.
    steps: tuple[int, ...]  #: The steps that read one of these, ascending, each as often as it does.
    #: The steps whose batch is shorter than others', and in whose row of the schedule one of these stands where no row
    #: is read, ascending, each as often as it does.
    filled: tuple[int, ...] = ()


Wanted = Callable[[ArraySpec], Sequence[Digest] | None]
"""Gives the SHA-256 of each row that is looked for in an array; None where rows of that form are not."""


def locate_hash(
    path: Path, wanted: Digest, cancel: CancelToken | None = None
) -> Generator[LocateProgress, None, tuple[Place, ...]]:
    """Find where a hash stands in a run, and return that.

    Args:
        path: The run.
        wanted: A run root, an order digest, a state root, a tensor digest, the Merkle leaf hash of a 16 KiB chunk, or
            the SHA-256 of a file that the order names as its source.
        cancel: Looked at between tensors.

    Yields:
        How far it is, for each tensor.

    Raises:
        RefusedError: The run is damaged, or not what its trainer signed.
        GivenFileError: It is an order that nobody has run.
        CancelledError: ``cancel`` was set.
    """
    with obstacles_noticed(), BundleReader.open(path) as reader:
        records, about = signed_records(reader, cancel)
        found = [Place("run root")] if wanted == about.run_root else []
        if wanted == reader.manifest.digest:
            found.append(Place("order"))
        found += [Place("data", None, name) for name, spec in reader.manifest.data.items() if spec.digest == wanted]
        found += [
            Place("source file", None, f"{part}/{name}")
            for part, source in sorted(reader.manifest.sources.items())
            for name, file in sorted(source.files.items())
            if file.digest == wanted
        ]
        found += [Place("state", record.step) for record in records if record.state_root == wanted]
        states, tensors = len(_stored(reader)), len(reader.state_layout())
        for number, (step, state) in enumerate(stored_states(reader, cancel)):
            for place, (name, array) in enumerate(state.items()):
                if cancel is not None:
                    cancel.check()
                yield LocateProgress(number * tensors + place, states * tensors)
                tree = chunk_tree(array)
                if tensor_digest(name, array) == wanted:
                    found.append(Place("tensor", step, name))
                leaves = [leaf for leaf in range(tree.size) if tree.leaf(leaf) == wanted]
                found += [Place("chunk", step, f"{name}/{leaf}") for leaf in leaves]
        return tuple(found)


def locate_weights(
    weights: Path, path: Path, cancel: CancelToken | None = None
) -> Generator[LocateProgress, None, tuple[StepWeights, ...]]:
    """Compare weights with every state that a run stores.

    Args:
        weights: A safetensors file, or a folder of them.
        path: The run.
        cancel: Looked at between tensors.

    Yields:
        How far it is, for each tensor that was delivered, in each state.

    Returns:
        What each stored state has in common with them, by step.

    Raises:
        WeightsError: The weights are in no form that is read.
        RefusedError: The run is damaged, or not what its trainer signed.
        GivenFileError: A file is not there, or is an order that nobody has run.
        CancelledError: ``cancel`` was set.
    """
    with obstacles_noticed(), ExitStack() as stack:
        delivered = DeliveredWeights(weights, stack)
        finish(delivered.settle(cancel))
        reader = stack.enter_context(BundleReader.open(path))
        signed_records(reader, cancel)
        layout = reader.state_layout()
        saved = saved_names(reader.manifest, layout)
        found = []
        states, tensors = len(_stored(reader)), len(delivered.tensors)
        for number, (step, state) in enumerate(stored_states(reader, cancel)):
            same = 0
            for place, (name, tensor) in enumerate(delivered.tensors.items()):
                if cancel is not None:
                    cancel.check()
                yield LocateProgress(number * tensors + place, states * tensors)
                called = saved.get(name)
                if called is None or called not in state or dtype_misfit(tensor, called, *layout[called]) is not None:
                    continue
                same += not compare_tensor(tensor, delivered.read(name), called, state[called]).differing
            found.append(StepWeights(step, same, len(delivered.tensors), len(saved.keys() - delivered.tensors.keys())))
        return tuple(found)


def locate_rows(
    rows: Path,
    path: Path,
    cancel: CancelToken | None = None,
    progress: OnProgress | None = None,
    *,
    data: Path | None = None,
    trainer_key: PublicKey | None = None,
) -> tuple[RowUse, ...]:
    """Find rows in the data of a run's order, and the steps that read them; no other row is handed on.

    Args:
        rows: A ``.npy`` file: one row, or rows along the first axis, in dtype and shape as a data array has them.
        path: The run.
        cancel: Looked at while arrays are read.
        progress: Called with the steps that were read, then with the rows that were compared, and their total.
        data: The data file, for an order that keeps arrays outside.
        trainer_key: The key that must have signed the run; that which it names unless given.

    Returns:
        For each array whose rows have this dtype and shape, and for each row, where it stands.

    Raises:
        GivenFileError: The file is no ``.npy`` file of numbers, no array of the order has such rows, the data lie in a
            file that was not given or is another, or the order's programs pick rows of a batch, or windows out of a
            text.
        RefusedError: The run is damaged, or not what its trainer signed.
        CancelledError: ``cancel`` was set.
    """
    given = read_rows(rows)

    def wanted(spec: ArraySpec) -> list[Digest] | None:
        found = fit_rows(given, spec.dtype, spec.shape[1:])
        return None if found is None else digests_of(found)

    uses = locate_digests(wanted, path, cancel, progress, data=data, trainer_key=trainer_key)
    if not uses:
        raise GivenFileError(
            say("No data array of the order has rows of dtype {0} and shape {1}.", given.dtype.name, list(given.shape)),
            remedy=say("Write the row as the order has it: 'counterfoil inspect' shows dtype and shape of each array."),
        )
    return uses


def locate_digests(
    wanted: Wanted,
    path: Path,
    cancel: CancelToken | None = None,
    progress: OnProgress | None = None,
    *,
    data: Path | None = None,
    trainer_key: PublicKey | None = None,
) -> tuple[RowUse, ...]:
    """Find rows by the SHA-256 of their bytes, as :func:`locate_rows`; none where no array has rows of such a form."""
    with obstacles_noticed(), ExitStack() as stack:
        reader = stack.enter_context(BundleReader.open(path))
        _, about = signed_records(reader, cancel, progress, trainer_key)
        manifest = reader.manifest
        schedule = reader.schedule()[: reader.extent.steps]
        reads = _reads(reader)
        sought = {name: wanted(spec) for name, spec in sorted(manifest.data.items())}
        arrays = RowArrays(reader, [name for name, digests in sought.items() if digests is not None], data, stack)
        arrays.check(cancel)
        total = sum(manifest.data[name].shape[0] for name in arrays.names)
        done = 0
        found: list[RowUse] = []
        for name in arrays.names:
            spec, digests = manifest.data[name], sought[name] or ()

            def pieces(name: str = name, before: int = done) -> Iterator[Array]:
                for first, piece in arrays.pieces(name, cancel):
                    yield piece
                    if progress is not None:
                        progress(before + first + len(piece), total)

            used = reads(name)
            for number, places in enumerate(places_of(pieces(), digests)):
                held = np.isin(schedule, places)
                found.append(
                    RowUse(
                        name, manifest.data_root, about, spec.dtype, tuple(spec.shape[1:]),
                        digests[number], number, places, _steps(held & used[0]), _steps(held & used[1]),
                    )
                )  # fmt: skip
            done += spec.shape[0]
        return tuple(found)


class RowArrays:
    """Some data arrays of an order, wherever they lie, each with the digest that the order names.

    Args:
        reader: The order, or a run of it.
        names: Names of the arrays.
        data: The data file, if one was given.
        stack: Keeps the data file open.

    Raises:
        GivenFileError: An array lies in a data file, and none was given, or it cannot be read.
    """

    def __init__(self, reader: BundleReader, names: Sequence[str], data: Path | None, stack: ExitStack) -> None:
        self.names = tuple(names)
        self._reader = reader
        self._outside: dict[str, CheckedRows] = {}
        self._file = None
        if any(reader.manifest.data[name].file is not None for name in names):
            with a_slip_of_the_giver():
                self._file = open_data_file(reader.manifest, data, stack)

    def check(self, cancel: CancelToken | None = None) -> None:
        """Compare what lies in the data file with the order's digests; raises GivenFileError where it is another."""
        if self._file is not None:
            with a_slip_of_the_giver():
                self._outside = finish(self._file.check(self._reader.manifest, cancel))

    def of(self, name: str, cancel: CancelToken | None = None) -> Array | CheckedRows:
        """Return an array, whose digest was compared."""
        return self._outside[name] if name in self._outside else self._reader.data(name, cancel)

    def pieces(self, name: str, cancel: CancelToken | None = None) -> Iterator[tuple[int, Array]]:
        """Yield an array in pieces of some megabytes: the number of the first row, and the rows."""
        spec, array = self._reader.manifest.data[name], self.of(name, cancel)
        most = max(1, BLOCK_BYTES // max(1, row_bytes(spec.dtype, spec.shape)))
        for first in range(0, spec.shape[0], most):
            if cancel is not None:
                cancel.check()
            yield first, array[np.arange(first, min(first + most, spec.shape[0]))]


def _reads(reader: BundleReader) -> Callable[[str], tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]]:
    """Say of a data array which rows of the schedule are read, and which fill a batch: bool ``[steps, batch size]``."""
    manifest, programs = reader.manifest, reader.manifest.programs
    positions = {name: positions_read(Program.from_bytes(reader.program(name))) for name in programs.parts}
    if _WINDOWS in manifest.data or any(each is None for each in positions.values()):
        raise GivenFileError(
            say("This order's rows are not its data's: it picks rows of a batch, or cuts windows out of a text."),
            remedy=say("Rows are looked for only where it can be told which of those that a step names it reads."),
        )
    steps, shares = reader.extent.steps, manifest.batch_size // manifest.program_rows

    def used(name: str) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        read = np.zeros((len(programs.pattern), manifest.batch_size), np.bool_)
        filled = read.copy()
        for turn, part in enumerate(programs.pattern):
            rows = (positions[part] or {}).get(name)
            if rows is not None:
                read[turn], filled[turn] = np.tile(rows, shares), np.tile(~rows, shares)
        turns = np.arange(steps) % len(programs.pattern)
        return read[turns], filled[turns]

    return used


def _steps(held: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    """The steps in which something holds, each as often as it does."""
    return tuple(np.repeat(np.arange(1, len(held) + 1), held.sum(axis=1)).tolist())


def _stored(reader: BundleReader) -> tuple[int, ...]:
    """The steps after which a state is stored; 0 is the initial one, where it lies in the run."""
    steps = reader.checkpoint_steps()
    return (0, *(step for step in steps if step)) if reader.holds_initial else steps


def stored_states(reader: BundleReader, cancel: CancelToken | None = None) -> Iterator[tuple[int, Mapping[str, Array]]]:
    """Yield every stored state with its step, each compared with the root that its step commits to."""
    for step in _stored(reader):
        if cancel is not None:
            cancel.check()
        initial = step == 0 and reader.holds_initial
        yield step, reader.initial_state(cancel) if initial else reader.checkpoint(step)
