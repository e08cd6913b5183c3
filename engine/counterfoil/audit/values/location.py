"""Which step of a run holds a hash or a file of weights: plain values; docs/locate.md says what can be found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where a hash stands."""

    what: str  #: ``run root``, ``order``, ``state``, ``tensor``, ``chunk``, ``data`` or ``source file``.
    step: int | None = None  #: The step after which it stands there; None for what is of no step.
    #: Name of the tensor or of the data array, and the number of the chunk from 0 behind a slash; part of the order and
    #: name of a source file; empty for a whole state.
    path: str = ""


@dataclass(frozen=True)
class StepWeights:
    """How delivered weights compare with the state that a run stores after a step."""

    step: int  #: The step; 0 is the initial state.
    same: int  #: Tensors whose elements are the run's, as they are or cast to a smaller dtype.
    tensors: int  #: Tensors that were delivered.
    missing: int  #: Tensors that a file of the module holds and that were not delivered.

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
    """What was found in a run of a hash or of weights; one of both is empty."""

    places: tuple[Place, ...] = ()  #: Where the hash stands.
    weights: tuple[StepWeights, ...] = ()  #: What each stored state has in common with the weights, by step.

    @property
    def found(self) -> bool:
        """Whether the run holds it."""
        return bool(self.places) or any(each.holds for each in self.weights)
