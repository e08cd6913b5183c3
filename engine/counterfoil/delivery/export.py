"""Writes the model out of a run: one safetensors file with the names and dtypes of the client's module."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from counterfoil.audit.values.delivery import DeliveryProgress
from counterfoil.base.joberrors import TargetExistsError
from counterfoil.base.wholefiles import check_room, check_target, whole_file
from counterfoil.delivery.comparison import SAVED_DTYPES
from counterfoil.delivery.module import saved_names, tied_names
from counterfoil.delivery.signedrecords import signed_records
from counterfoil.delivery.storedstate import StoredState
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.dtypes import ITEM_BYTES, tensor_bytes
from counterfoil_core.base.errors import DataError, FileWriteError
from counterfoil_core.base.sentence import say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.strictfile import bytes_of
from counterfoil_core.parties.signatures import need_run

FILE = "model.safetensors"
"""The name of the file, by which libraries look for it."""
_ALIGNMENT = 8


def export_weights(
    run: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    step: int | None = None,
    average: bool = False,
    replace: bool = False,
    cancel: CancelToken | None = None,
) -> Iterator[DeliveryProgress | Path]:
    """Write the weights of a run as ``model.safetensors``.

    Parameters and buffers go in under their own names and in their own dtypes; slots of the optimizer, buffers that are
    not persistent and constants do not. The header says of which run they are: ``run_root``, ``order``, ``step``.

    Args:
        run: The run.
        folder: Where the file goes; it is made if it is not there.
        step: A step whose state is stored; the last unless given.
        average: Take the average of each parameter that has one.
        replace: Whether a file that lies there may be replaced.
        cancel: Looked at between tensors.

    Yields:
        DeliveryProgress for each tensor; the path of the file comes last.

    Raises:
        GivenFileError: There is no such run.
        DataError: No state of this step is stored, or there is no average.
        RefusedError: The run is damaged, or its state is not what it commits to.
        TargetExistsError, FileWriteError: The file cannot be written.
        CancelledError: The token was cancelled.
    """
    target = Path(folder) / FILE
    with obstacles_noticed(), BundleReader.open(run) as reader:
        last = _stored_step(reader, step)
        names = saved_names(reader.manifest, reader.state_layout(), average=average)
        _make_folder(Path(folder))
        check_target(target, what=say("the file of weights"), replace=replace)
        yield DeliveryProgress(say("Hashing the record of the run"), 0, len(names))
        tied = {name: of for name, of in tied_names(reader.manifest).items() if of in names}
        root = signed_records(reader, cancel)[1].run_root
        yield from write_state(
            reader, root, {target: names}, step=last, tied=tied, average=average, replace=replace, cancel=cancel
        )
        yield target


def write_state(
    reader: BundleReader,
    root: Digest,
    files: Mapping[Path, Mapping[str, str]],
    *,
    step: int,
    tied: Mapping[str, str],
    average: bool = False,
    replace: bool = False,
    cancel: CancelToken | None = None,
) -> Iterator[DeliveryProgress]:
    """Write tensors of a stored state into safetensors files; all of them get their names, or none.

    Args:
        reader: The run.
        root: The root of its steps, by :func:`.signedrecords.signed_records`.
        files: For each file the names that its tensors have in it, each with the state tensor that it holds.
        step: The step after which the state is.
        tied: Second names, each with the name in the files that it stands for, for the headers.
        average: Whether averages are among the tensors, for the headers.
        replace: Whether files that lie there may be replaced.
        cancel: Looked at between tensors.

    Yields:
        DeliveryProgress for each tensor.

    Raises:
        CommitmentError: The state is not what the run commits to for this step.
        TargetExistsError, FileWriteError: A file cannot be written.
        CancelledError: The token was cancelled.
    """
    sorted_files = {path: _by_size(reader, names) for path, names in files.items()}
    headers = {path: _header(reader, root, step, names, tied, average) for path, names in sorted_files.items()}
    total = sum(map(len, files.values()))
    state, done = StoredState(reader, step, cancel), 0
    for path, names in sorted_files.items():
        check_room(path.parent, len(headers[path]) + _size(reader, names), say("the file of weights"))
    # The files are put in their places when the block ends: only after their numbers were compared with the leaf.
    with ExitStack() as stack:
        for path, names in sorted_files.items():
            file = stack.enter_context(whole_file(path, what=say("the file of weights"), replace=replace))
            file.write(headers[path])
            for name, of in names.items():
                file.write(bytes_of(state.take(of)))
                done += 1
                yield DeliveryProgress(say("Writing {0}", name), done, total)
        state.check(reader.committed_root(step))


def final_weights(run: str | os.PathLike[str], cancel: CancelToken | None = None) -> dict[str, Array]:
    """Return the weights of a run after its last step, by the names of the client's module; as :func:`export_weights`.

    Args:
        run: The run.
        cancel: Looked at between tensors.
    """
    with obstacles_noticed(), BundleReader.open(run) as reader:
        state = StoredState(reader, _stored_step(reader, None), cancel)
        signed_records(reader, cancel)
        found = {name: state.take(of) for name, of in saved_names(reader.manifest, state.layout).items()}
        state.check(reader.committed_root(reader.extent.steps))
        return found


def _stored_step(reader: BundleReader, step: int | None) -> int:
    need_run(reader)
    extent = reader.extent
    if step is None:
        return extent.steps
    if not extent.is_checkpoint(step):
        raise DataError(
            say("The run stores no state of step {0}.", step),
            remedy=say("It stores one every {0} steps, and that of step {1}.", extent.checkpoint_every, extent.steps),
        )
    return step


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except FileExistsError as error:
        raise TargetExistsError(
            say("{0} is a file, where a folder should be.", folder), remedy=say("Give the name of a folder.")
        ) from error
    except OSError as error:
        raise FileWriteError(say("The folder {0} cannot be made.", folder), detail=str(error)) from error


def _by_size(reader: BundleReader, names: Mapping[str, str]) -> dict[str, str]:
    """Put the widest elements first, so that each tensor lies at a multiple of its elements' size."""
    layout = reader.state_layout()
    return dict(sorted(names.items(), key=lambda item: (-ITEM_BYTES[layout[item[1]][0]], item[0])))


def _size(reader: BundleReader, names: Mapping[str, str]) -> int:
    layout = reader.state_layout()
    return sum(tensor_bytes(*layout[of]) for of in names.values())


def _header(
    reader: BundleReader, root: Digest, step: int, names: Mapping[str, str], tied: Mapping[str, str], average: bool
) -> bytes:
    layout = reader.state_layout()
    end = 0
    tensors = {}
    for name, of in names.items():
        dtype, shape = layout[of]
        begin, end = end, end + tensor_bytes(dtype, shape)
        tensors[name] = {"dtype": SAVED_DTYPES[dtype], "shape": list(shape), "data_offsets": [begin, end]}
    metadata = {
        # What transformers looks for: the tensors are laid out as torch does.
        "format": "pt",
        "counterfoil.run_root": root.hex,
        "counterfoil.order": reader.manifest.digest.hex,
        "counterfoil.step": str(step),
        "counterfoil.weights": "average" if average else "trained",
        # As safetensors.torch.save_model names what it leaves out.
        **{name: of for name, of in tied.items() if of in names},
    }
    text = json.dumps({"__metadata__": metadata, **tensors}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    return len(text).to_bytes(8, "little") + text
