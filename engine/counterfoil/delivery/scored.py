"""The weights that an evaluation scores, read from its order or run as delivered ones are read from their files.

So the chain from a score to the training that its model came from is the comparison of weights that there is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack

from counterfoil.base.joberrors import WeightsError
from counterfoil.delivery.comparison import SAVED_DTYPES
from counterfoil.delivery.module import saved_names
from counterfoil.delivery.tensorfile import StoredTensor
from counterfoil.delivery.weights import HashedFile, Opening
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.steady import SteadyFile
from counterfoil_core.commit.state import state_root
from counterfoil_core.order.evaluation import score_names
from counterfoil_core.program.graph import Program


class ScoredWeights:
    """The weights of an evaluation, which are its initial state without the scores.

    Attributes:
        files: The file alone; filled by :meth:`settle`.
        tensors: What a file of the model would hold, by name; filled by :meth:`settle`.
        others: None.
        model_root: The model root that the score names; filled by :meth:`settle`.
    """

    others: tuple[str, ...] = ()

    def __init__(self, path: str | os.PathLike[str], stack: ExitStack) -> None:
        """Open the file; nothing of it is read yet.

        Args:
            path: An order of an evaluation, or a run that holds its initial weights.
            stack: Closes it.

        Raises:
            GivenFileError: There is nothing there, or it may not be read.
        """
        self._file = stack.enter_context(SteadyFile.open(path))
        self.files: tuple[HashedFile, ...] = ()
        self.tensors: Mapping[str, StoredTensor] = {}
        self.model_root: Digest | None = None
        self._arrays: Mapping[str, Array] = {}

    def settle(self, cancel: CancelToken | None = None) -> Opening:
        """Hash the file, then read its weights and check them against what the order commits to.

        Raises:
            WeightsError: It is an order or a run of a training.
            BundleError: It is damaged, or leaves the initial weights to its order.
            ObstacleError: The file changed, or the system fails to read it.
            CancelledError: The token was cancelled.
        """
        digest = yield from self._file.settle(cancel)
        self.files = (HashedFile(self._file.path.name, self._file.size, digest),)
        reader = BundleReader.over(self._file)
        shared = reader.manifest.shares is not None
        names = () if shared else score_names(map(Program.from_bytes, reader.all_programs()))
        if not names:
            raise WeightsError(
                say(
                    "{0} holds no weights to compare: its steps train, and only an evaluation's leave them alone.",
                    self._file.path.name,
                ),
                remedy=say("Give the weights that 'counterfoil export' writes of it, or the order of an evaluation."),
            )
        state = reader.initial_state(cancel)
        self.model_root = state_root({name: array for name, array in state.items() if name not in names})
        saved = saved_names(reader.manifest, state)
        self._arrays = {name: state[of] for name, of in saved.items() if of not in names}
        self.tensors = {
            name: StoredTensor(name, SAVED_DTYPES[array.dtype.name], array.shape, 0)
            for name, array in self._arrays.items()
        }

    def read(self, name: str) -> Array:
        """Return the elements of a tensor."""
        return self._arrays[name]
