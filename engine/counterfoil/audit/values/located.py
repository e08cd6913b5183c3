"""Which step of a run holds a hash or a file of weights: plain values; docs/locate.md says what can be found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where a hash stands.

    Attributes:
        what: ``run root``, ``order``, ``state``, ``tensor``, ``chunk``, ``data`` or ``source file``.
        step: The step after which it stands there; None for what is of no step.
        path: Name of the tensor or of the data array, and the number of the chunk from 0 behind a slash; part of the
            order and name of a source file; empty for a whole state.
    """

    what: str
    step: int | None = None
    path: str = ""


@dataclass(frozen=True)
class StepWeights:
    """How delivered weights compare with the state that a run stores after a step.

    Attributes:
        step: The step; 0 is the initial state.
        same: Tensors whose elements are the run's, as they are or cast to a smaller dtype.
        tensors: Tensors that were delivered.
        missing: Tensors that a file of the module holds and that were not delivered.
    """

    step: int
    same: int
    tensors: int
    missing: int

    @property
    def holds(self) -> bool:
        """Whether the weights are that state, whole."""
        return self.same == self.tensors and not self.missing


@dataclass(frozen=True)
class LocateProgress:
    """How many of how many tensors of the stored states are looked at."""

    done: int
    total: int


@dataclass(frozen=True)
class Located:
    """What was found in a run of a hash or of weights; one of both is empty.

    Attributes:
        places: Where the hash stands.
        weights: What each stored state has in common with the weights, by step.
    """

    places: tuple[Place, ...] = ()
    weights: tuple[StepWeights, ...] = ()

    @property
    def found(self) -> bool:
        """Whether the run holds it."""
        return bool(self.places) or any(each.holds for each in self.weights)
