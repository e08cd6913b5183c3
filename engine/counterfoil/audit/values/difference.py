"""Where two runs first differ."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil_core.base.digest import Digest
from counterfoil_core.commit.merkle import MerkleComparison
from counterfoil_core.values.dispute import DisputedOperator, TensorDetail, TensorDivergence


@dataclass(frozen=True)
class ComparedRun:
    """One of two runs."""

    name: str  #: File name.
    order: Digest  #: Digest of its order.
    run_root: Digest  #: Its run root.
    steps: int  #: Number of its steps.
    environment: tuple[tuple[str, str], ...]  #: Device, library versions and switches of its trainer's machine.


@dataclass(frozen=True)
class Unlike:
    """Something that should be the same for two runs to be, and is not."""

    what: str  #: What it is.
    first: str  #: What the first has there.
    second: str  #: What the second has.


@dataclass(frozen=True)
class OperatorElements:
    """The output of the first operator that differs, on both sides: a replay here gave it with each run's own log."""

    #: Whether the replay came to the fingerprint that the run recorded, of the first and of the second.
    reproduced: tuple[bool, bool]
    elements: int  #: Number of elements of the output.
    differing: int  #: How many differ.
    index: tuple[int, ...]  #: Multi-index of the first that does; empty where none does.
    first: float  #: Its value in the first run.
    second: float  #: Its value in the second.
    largest: float  #: The largest difference.


@dataclass(frozen=True)
class StateDifference:
    """The first state behind the differing step that both runs store."""

    step: int  #: After which step it is.
    tensors: tuple[TensorDivergence, ...]  #: How far the tensors lie apart, those that differ.
    equal: int  #: How many are equal.
    unlike: tuple[str, ...]  #: Names of tensors that only one run has, or that have another dtype or shape there.
    detail: TensorDetail | None  #: Chunks and elements of the first tensor that differs; None where none does.


@dataclass(frozen=True)
class DifferenceProgress:
    """How far a comparison of two runs is."""

    what: str  #: What is done, as words.
    done: int  #: How much of it.
    total: int  #: Of how much.


@dataclass(frozen=True)
class Difference:
    """What a comparison of two runs found."""

    sentence: str  #: The same in words.
    runs: tuple[ComparedRun, ComparedRun]  #: Both runs.
    orders: tuple[Unlike, ...]  #: In what their orders differ; empty when they are of one order.
    machines: tuple[Unlike, ...]  #: In what the trainers' machines differ, as each says of its own.
    compared: int  #: How many steps were compared.
    step: int | None  #: The first that differs; 0 is the initial state, None when none does.
    path: tuple[MerkleComparison, ...]  #: The comparisons of the binary search.
    parts: tuple[str, ...]  #: What differs there: some of ``shares``, ``state``, ``loss`` and ``fingerprints``.
    losses: tuple[float, float] | None  #: The loss of that step in both runs; None at step 0 and when nothing differs.
    #: The first step whose rounding logs differ; two machines may round close values by different logs.
    log_step: int | None
    inputs: tuple[str, ...]  #: Data arrays whose rows in the batch are not the same.
    #: The first operator of the step whose result differs; None when it is not known.
    operator: DisputedOperator | None
    elements: OperatorElements | None  #: Its output on both sides; None unless the step was replayed.
    state: StateDifference | None  #: The first state that both store from there on; None when there is none.
    #: The first part of the step that differs, where shares make it: ``share 0`` and so on, ``combine`` or ``update``.
    part: str = ""

    @property
    def exit_code(self) -> int:
        """0 when nothing differs, 1 when something does."""
        return 0 if self.step is None and not self.orders else 1
