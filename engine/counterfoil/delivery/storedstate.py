"""A state that a run stores, tensor by tensor: each is digested as it is read, and compared with the run's root."""

from __future__ import annotations

from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CommitmentError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.state import state_tree


class StoredState:
    """The state of a run after a step.

    Attributes:
        reader: The open run.
        layout: Dtype and shape of each tensor, by name.

    Args:
        reader: The open run.
        step: The step, one whose state is stored.
        cancel: Looked at between pieces of a tensor.
    """

    def __init__(self, reader: BundleReader, step: int, cancel: CancelToken | None = None) -> None:
        self.reader = reader
        self.layout = reader.state_layout()
        self._step = step
        self._cancel = cancel
        self._digests: dict[str, Digest] = {}

    def take(self, name: str) -> Array:
        """Return a tensor; its digest is that of the bytes that are returned."""
        array, digest = self.reader.checkpoint_tensor(self._step, name, self._cancel)
        if self._digests.setdefault(name, digest) != digest:
            raise self.reader.file.changed(say("the state tensor {0}", repr(name)))
        return array

    def check(self, state_root: Digest | None) -> None:
        """Check that what was taken is a part of a state of a root, by reading what was not taken.

        Args:
            state_root: What the run commits to for this step.

        Raises:
            CommitmentError: It is not; or the run commits to no state there.
        """
        self._digests |= self.reader.left_out(self._step)
        for name in self.layout.keys() - self._digests.keys():
            self.take(name)
        if state_tree(self._digests).root != state_root:
            raise CommitmentError(
                say("The stored state of step {0} differs from the state root of that step.", self._step)
            )
