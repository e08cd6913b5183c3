"""Which step of which run holds a hash, a file of weights, or a row; docs/locate.md.

A run is read up to the root that its trainer signed before anything in it is compared. Only what is stored or digested
can be found: every step's state root that the order asks for, and, of the states that are stored, each tensor's digest
and each chunk's hash.
"""

from __future__ import annotations

import io
import math
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from counterfoil.audit.signatures import check_claim, need_run
from counterfoil.audit.values.located import LocateProgress, Place, StepWeights
from counterfoil.base.arrays import Array
from counterfoil.base.cancel import CancelToken
from counterfoil.base.digest import Digest
from counterfoil.base.errors import CommitmentError, GivenFileError
from counterfoil.base.generators import finish
from counterfoil.base.inputs import read_input
from counterfoil.base.sentence import say
from counterfoil.base.trouble import obstacles_noticed
from counterfoil.bundle.checked import OnProgress
from counterfoil.bundle.reader import BundleReader
from counterfoil.bundle.schema import StepRecord, run_tree
from counterfoil.commit.state import chunk_tree, tensor_digest
from counterfoil.delivery.comparison import compare_tensor, dtype_misfit
from counterfoil.delivery.module import saved_names
from counterfoil.delivery.weights import DeliveredWeights
from counterfoil.operators.node import Value
from counterfoil.program.graph import Program

_WINDOWS = "window.start"
"""The data array of an order that cuts windows out of a text, which lies in its state (training/windows.py)."""
_CUTS = frozenset(("slice", "narrow", "split", "split_with_sizes", "index_select", "index", "select", "unbind"))
MOST_ROW_BYTES = 2**28
"""Bytes of a file of rows that is read."""


@dataclass(frozen=True)
class RowUse:
    """Where a row stands in an order's data, and which steps of the run read it.

    Attributes:
        array: Name of the data array.
        data_root: Root over the data arrays of the order.
        order: The order digest.
        run_root: The signed root over the steps.
        dtype: Dtype of the array and of the row.
        shape: Shape of the row.
        row: SHA-256 of the row's little-endian bytes in C order.
        number: Which of the rows that were looked for, from 0.
        places: Where it stands in the array, from 0; empty where it stands nowhere.
        steps: The steps that read one of these, ascending, each as often as it does.
    """

    array: str
    data_root: Digest
    order: Digest
    run_root: Digest
    dtype: str
    shape: tuple[int, ...]
    row: Digest
    number: int
    places: tuple[int, ...]
    steps: tuple[int, ...]


def signed_records(
    reader: BundleReader, cancel: CancelToken | None = None, progress: OnProgress | None = None
) -> tuple[list[StepRecord], Digest]:
    """Rebuild the steps' records of a run, and its root; raises CommitmentError where these are not what was signed."""
    need_run(reader)
    records = reader.step_records(cancel, progress)
    root = run_tree(records).root
    if check_claim(reader.claim(), reader.manifest, None, reader.extent.steps).run_root != root:
        raise CommitmentError(say("The steps of the run are not those that its trainer signed."))
    return records, root


def locate_hash(
    path: Path, wanted: Digest, cancel: CancelToken | None = None
) -> Generator[LocateProgress, None, tuple[Place, ...]]:
    """Find where a hash stands in a run, and return that.

    Args:
        path: The run.
        wanted: A run root, an order digest, a state root, a tensor digest, or the Merkle leaf hash of a 16 KiB chunk.
        cancel: Looked at between tensors.

    Yields:
        How far it is, for each tensor.

    Raises:
        RefusedError: The run is damaged, or not what its trainer signed.
        GivenFileError: It is an order that nobody has run.
        CancelledError: ``cancel`` was set.
    """
    with obstacles_noticed(), BundleReader.open(path) as reader:
        records, root = signed_records(reader, cancel)
        found = [Place("run root")] if wanted == root else []
        if wanted == reader.manifest.digest:
            found.append(Place("order"))
        found += [Place("data", None, name) for name, spec in reader.manifest.data.items() if spec.digest == wanted]
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
    rows: Path, path: Path, cancel: CancelToken | None = None, progress: OnProgress | None = None
) -> tuple[RowUse, ...]:
    """Find rows in the data of a run's order, and the steps that read them; no other row is handed on.

    Args:
        rows: A ``.npy`` file: one row, or rows along the first axis, in dtype and shape as a data array has them.
        path: The run.
        cancel: Looked at while arrays are read.
        progress: Called with the steps that were read, and their total.

    Returns:
        For each array whose rows have this dtype and shape, and for each row, where it stands.

    Raises:
        GivenFileError: The file is no ``.npy`` file of numbers, no array of the order has such rows, the data lie in a
            file of their own, or the order's programs cut batches, or windows out of a text.
        RefusedError: The run is damaged, or not what its trainer signed.
        CancelledError: ``cancel`` was set.
    """
    given = _read_rows(rows)
    with obstacles_noticed(), BundleReader.open(path) as reader:
        _, root = signed_records(reader, cancel, progress)
        manifest = reader.manifest
        schedule = reader.schedule()[: reader.extent.steps]
        programs = manifest.programs
        read = {name: Program.from_bytes(reader.program(name)) for name in programs.parts}
        if _WINDOWS in manifest.data or any(map(_cuts_rows, read.values())):
            raise GivenFileError(
                say("This order's rows are not its data's: it cuts batches, or windows out of a text."),
                remedy=say("Rows are looked for only where each step reads whole rows, and every one that it names."),
            )
        readers = {name: program.batch_names for name, program in read.items()}
        found: list[RowUse] = []
        for name, spec in sorted(manifest.data.items()):
            wanted = _fitting(given, spec.dtype, spec.shape[1:])
            if wanted is None:
                continue
            if spec.file is not None:
                raise GivenFileError(
                    say(
                        "The data of this order lie in a file of their own, {0}, which is not looked through.",
                        spec.file,
                    ),
                    remedy=say("Order with the data inside, or ask whoever holds that file."),
                )
            stored = _packed(reader.data(name, cancel))
            turns = np.resize([name in readers[each] for each in programs.pattern], len(schedule))
            for number, row in enumerate(_packed(wanted)):
                places = np.flatnonzero((stored == row).all(axis=1))
                steps = np.repeat(np.arange(1, len(schedule) + 1), turns * np.isin(schedule, places).sum(axis=1))
                found.append(
                    RowUse(
                        name, manifest.data_root, manifest.digest, root, spec.dtype, tuple(spec.shape[1:]),
                        Digest.of(row.tobytes()), number, tuple(places.tolist()), tuple(steps.tolist()),
                    )
                )  # fmt: skip
        if not found:
            raise GivenFileError(
                say(
                    "No data array of the order has rows of dtype {0} and shape {1}.",
                    given.dtype.name,
                    list(given.shape),
                ),
                remedy=say(
                    "Write the row as the order has it: 'counterfoil inspect' shows dtype and shape of each array."
                ),
            )
        return tuple(found)


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


def _cuts_rows(program: Program) -> bool:
    """Whether a program reads less than the rows that the schedule names: where a batch is shorter, row 0 fills it."""
    rows = {number for number, each in enumerate(program.inputs) if each.kind == "batch"}
    return any(
        node.operator.split(".")[1] in _CUTS
        and isinstance(node.args[0], Value)
        and node.args[0].number in rows
        and (len(node.args) < 2 or node.args[1] == 0)
        for node in program.nodes
        if node.args
    )


def _read_rows(path: Path) -> Array:
    """Read a ``.npy`` file, format 1.0 or 2.0, strictly: what it claims to hold is what it holds, and numbers alone."""
    data = read_input(path, say("a file of rows"), GivenFileError, most=MOST_ROW_BYTES)
    stream = io.BytesIO(data)
    try:
        version = npy.read_magic(stream)
        header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = header(stream)
        if version not in ((1, 0), (2, 0)) or fortran or dtype.kind not in "biuf":
            raise ValueError("another version, order or kind of elements")
        if math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
            raise ValueError("another size than the header says")
        return np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape)
    except (ValueError, OverflowError) as error:
        raise GivenFileError(
            say("{0} is no .npy file of numbers.", path.name),
            remedy=say("Write the row with numpy.save, in C order, in dtype and shape as the order has it."),
            detail=str(error),
        ) from error


def _fitting(given: Array, dtype: str, shape: tuple[int, ...]) -> Array | None:
    """The rows as they would stand in an array; None where they are of another dtype or shape."""
    if given.dtype.name != dtype or shape not in (given.shape, given.shape[1:]):
        return None
    return given.reshape(-1, *shape) if given.shape[1:] == shape and given.ndim == len(shape) + 1 else given[None]


def _packed(rows: Array) -> npt.NDArray[np.uint8]:
    """The little-endian bytes of each row: uint8 ``[rows, bytes]``."""
    little = np.ascontiguousarray(rows.astype(rows.dtype.newbyteorder("<"), copy=False))
    return little.reshape(len(rows), -1).view(np.uint8) if little.size else np.zeros((len(rows), 0), np.uint8)
