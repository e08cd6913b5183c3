"""The files that somebody delivered as a model's weights: a safetensors file, or a folder of them.

Every safetensors file of a folder is looked at, whatever an index names: which of them a library loads is its own
choice, so none may hold anything but what was trained. For the same reason a folder with a pickle is refused: a library
may prefer it, and it can run code.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Generator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from counterfoil.audit.values.filekind import OTHER_WEIGHTS, PICKLES, WEIGHTS_SUFFIX
from counterfoil.base.joberrors import WeightsError
from counterfoil.delivery.tensorfile import StoredTensor, TensorFile, open_tensors
from counterfoil_core.base import canonical
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import GivenFileError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.steady import SteadyFile

INDEX_SUFFIX = ".safetensors.index.json"
MAX_FILES = 10_000
MAX_INDEX_BYTES = 32 * 2**20

Opening = Generator[tuple[int, int], None, None]
"""Yields the bytes hashed so far and their total."""


@dataclass(frozen=True)
class HashedFile:
    """A file of weights that was hashed before anything in it was judged."""

    name: str  #: Its name.
    bytes: int  #: Its size.
    digest: Digest  #: Its SHA-256.


class DeliveredWeights:
    """Delivered weights; every byte that is read of them is one that was hashed.

    Attributes:
        files: The files, sorted by name; filled by :meth:`settle`.
        tensors: The tensors by name; filled by :meth:`settle`.
        others: Names of files and folders beside them, which nobody looked at.
    """

    def __init__(self, path: str | os.PathLike[str], stack: ExitStack, unused: Collection[str] = ()) -> None:
        """Open all files; nothing of them is read yet.

        Args:
            path: A safetensors file or a folder.
            stack: Closes them.
            unused: Names of files of weights in other formats that nobody loads, and that may lie there.

        Raises:
            GivenFileError: There is nothing there, or it may not be read.
            WeightsError: There are no weights in a form that is read, or a pickle, or weights in another format that
                are not named as unused.
        """
        self._path = Path(path)
        names, self.others = _named(self._path, unused)
        self._files = [(name, stack.enter_context(SteadyFile.open(file))) for name, file in names]
        self.files: tuple[HashedFile, ...] = ()
        self.tensors: Mapping[str, StoredTensor] = {}
        self._holders: dict[str, TensorFile] = {}

    def settle(self, cancel: CancelToken | None = None) -> Opening:
        """Hash every file, then read its header and, where there is one, compare the index with what was found.

        Raises:
            WeightsError: A file is not sound, a tensor is there twice, or the index says something else.
            ObstacleError: A file changed, or the system fails to read it.
            CancelledError: The token was cancelled.
        """
        total = sum(file.size for _, file in self._files)
        before, hashed, tensors = 0, [], {}
        for name, file in self._files:
            settling = file.settle(cancel)
            while True:
                try:
                    done, _ = next(settling)
                except StopIteration as end:
                    hashed.append(HashedFile(name, file.size, end.value))
                    break
                yield before + done, total
            before += file.size
            opened = open_tensors(file)
            for tensor in opened.tensors.values():
                if tensor.name in self._holders:
                    raise WeightsError(
                        say("Two files hold the tensor {0}; one of them is {1}.", repr(tensor.name), name),
                        remedy=say("Deliver each tensor once: take files of another saving out of the folder."),
                    )
                self._holders[tensor.name] = opened
                tensors[tensor.name] = tensor
        self.files, self.tensors = tuple(hashed), dict(sorted(tensors.items()))
        if not tensors:
            raise WeightsError(say("There is no tensor in {0}.", self._path.name))
        self._check_index()

    def read(self, name: str) -> Array:
        """Return the elements of a tensor; raises as :meth:`TensorFile.read`."""
        return self._holders[name].read(self.tensors[name])

    def _check_index(self) -> None:
        for path in [self._path / other for other in self.others if other.lower().endswith(INDEX_SUFFIX)]:
            data = read_input(path, say("an index of weights"), GivenFileError, most=MAX_INDEX_BYTES)
            try:
                index = canonical.parse(data)
                named = dict(index["weight_map"])
            except (canonical.CanonicalError, LookupError, TypeError, ValueError) as error:
                raise WeightsError(say("{0} is no index of weights.", path.name), detail=str(error)) from error
            found = {name: holder.file.path.name for name, holder in self._holders.items()}
            if named != found:
                odd = sorted(str(name) for name in named.keys() | found.keys() if named.get(name) != found.get(name))
                raise WeightsError(
                    say(
                        "The index {0} is not about these files: it says that the tensor {1} lies in {2}, and it lies "
                        "in {3}.",
                        path.name,
                        repr(odd[0]),
                        str(named.get(odd[0], say("no file"))),
                        found.get(odd[0], say("no file")),
                    ),
                    remedy=say("Save the model again into an empty folder."),
                )


def _named(path: Path, unused: Collection[str]) -> tuple[list[tuple[str, Path]], tuple[str, ...]]:
    """The safetensors files of a folder, or a file by itself; and the names of what else lies there."""
    if not path.is_dir():
        if path.name.lower().endswith(PICKLES):
            raise _pickle(path.name)
        return [(path.name, path)], ()
    try:
        names = sorted(os.listdir(path))
    except OSError as error:
        raise GivenFileError(say("The folder {0} cannot be read.", path), detail=str(error)) from error
    # On some systems a name in other letters is the same name, so a library may load it.
    weights = [name for name in names if name.lower().endswith(WEIGHTS_SUFFIX)]
    for name in names:
        if name.lower().endswith(PICKLES):
            raise _pickle(name)
        if name.lower().endswith(OTHER_WEIGHTS) and name not in unused:
            raise WeightsError(
                say(
                    "{0} may hold other weights, which a library can load in the place of those that are compared.",
                    name,
                ),
                remedy=say("Take it out of the folder, or name it as unused (--unused) if nobody loads it."),
            )
    if not weights or len(weights) > MAX_FILES:
        raise WeightsError(
            say("The folder {0} holds {1} safetensors files.", path, len(weights)),
            remedy=say("Give the folder, or the file, that the model's weights were delivered in."),
        )
    return [(name, path / name) for name in weights], tuple(name for name in names if name not in set(weights))


def _pickle(name: str) -> WeightsError:
    return WeightsError(
        say(
            "{0} is a pickle, which can run code when it is loaded and hold other weights than the files beside it.",
            name,
        ),
        remedy=say("Ask for safetensors files (save_pretrained writes them), and take it out of the folder."),
    )
