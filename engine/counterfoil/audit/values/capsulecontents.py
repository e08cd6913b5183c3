"""What whoever gets a dispute capsule can read in it: rows of the client's data, and tensors of the model. Plain."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil_core.base.sentence import Sentence, enumeration, say


@dataclass(frozen=True)
class HandedRows:
    """Rows of one data array."""

    name: str  #: Its name in the order.
    read: int  #: How many of its rows the capsule's steps read.
    shown: int  #: Of how many rows the capsule holds a byte at least; more than ``read`` where others share a chunk.
    total: int  #: How many rows the array has.


@dataclass(frozen=True)
class HandedOut:
    """What a dispute capsule hands to whoever gets it."""

    step: int  #: The step after which its state is taken.
    tensors: int  #: How many tensors it holds: of the state, and of what shares gave.
    tensor_bytes: int  #: Their bytes.
    rows: tuple[HandedRows, ...] = ()  #: The data arrays of which it holds rows, by name.

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """What whoever gets the capsule can read, in sentences."""
        tensors = say("{0:,} tensors of the model, {1:,} bytes", self.tensors, self.tensor_bytes)
        parts = [
            say("{0:,} of {1:,} rows of {2}", each.shown, each.total, each.name) for each in self.rows if each.shown
        ]
        said = [say("Whoever gets the capsule can read in it {0}.", enumeration([*parts, tensors]))]
        more = [each for each in self.rows if each.shown > each.read]
        if more:
            read = enumeration([say("{0:,} of {1}", each.read, each.name) for each in more])
            said.append(
                say(
                    "The dispute needs {0}; the other rows lie in the same chunks of 16 KiB, which are proven whole.",
                    read,
                )
            )
        return tuple(said)
