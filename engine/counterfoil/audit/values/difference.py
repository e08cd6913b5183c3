"""Where two runs first differ."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil_core.base.digest import Digest
from counterfoil_core.commit.merkle import MerkleComparison
from counterfoil_core.values.dispute import DisputedOperator, TensorDetail, TensorDivergence


@dataclass(frozen=True)
class ComparedRun:
    """One of two runs.

    Attributes:
        name: File name.
        order: Digest of its order.
        run_root: Its run root.
        steps: Number of its steps.
        environment: Device, library versions and switches of its trainer's machine.
    """

    name: str
    order: Digest
    run_root: Digest
    steps: int
    environment: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Unlike:
    """Something that should be the same for two runs to be, and is not.

    Attributes:
        what: What it is.
        first: What the first has there.
        second: What the second has.
    """

    what: str
    first: str
    second: str


@dataclass(frozen=True)
class OperatorElements:
    """The output of the first operator that differs, on both sides, as a replay here gave it with each run's own log.

    Attributes:
        reproduced: Whether the replay came to the fingerprint that the run recorded, of the first and of the second.
        elements: Number of elements of the output.
        differing: How many differ.
        index: Multi-index of the first that does; empty where none does.
        first: Its value in the first run.
        second: Its value in the second.
        largest: The largest difference.
    """

    reproduced: tuple[bool, bool]
    elements: int
    differing: int
    index: tuple[int, ...]
    first: float
    second: float
    largest: float


@dataclass(frozen=True)
class StateDifference:
    """The first state behind the differing step that both runs store.

    Attributes:
        step: After which step it is.
        tensors: How far the tensors lie apart, those that differ.
        equal: How many are equal.
        unlike: Names of tensors that only one run has, or that have another dtype or shape there.
        detail: Chunks and elements of the first tensor that differs; None where none does.
    """

    step: int
    tensors: tuple[TensorDivergence, ...]
    equal: int
    unlike: tuple[str, ...]
    detail: TensorDetail | None


@dataclass(frozen=True)
class DifferenceProgress:
    """How far a comparison of two runs is.

    Attributes:
        what: What is done, as words.
        done: How much of it.
        total: Of how much.
    """

    what: str
    done: int
    total: int


@dataclass(frozen=True)
class Difference:
    """What a comparison of two runs found.

    Attributes:
        sentence: The same in words.
        runs: Both runs.
        orders: In what their orders differ; empty when they are of one order.
        machines: In what the trainers' machines differ, as each says of its own.
        compared: How many steps were compared.
        step: The first that differs; 0 is the initial state, None when none does.
        path: The comparisons of the binary search.
        parts: What differs there: some of ``shares``, ``state``, ``loss`` and ``fingerprints``.
        losses: The loss of that step in both runs; None at step 0 and when nothing differs.
        log_step: The first step whose rounding logs differ; two machines may round close values by different logs.
        inputs: Data arrays whose rows in the batch are not the same.
        operator: The first operator of the step whose result differs; None when it is not known.
        elements: Its output on both sides; None unless the step was replayed.
        state: The first state that both store from there on; None when there is none.
        part: The first part of the step that differs, where shares make it: ``share 0`` and so on, ``combine`` or
            ``update``.
    """

    sentence: str
    runs: tuple[ComparedRun, ComparedRun]
    orders: tuple[Unlike, ...]
    machines: tuple[Unlike, ...]
    compared: int
    step: int | None
    path: tuple[MerkleComparison, ...]
    parts: tuple[str, ...]
    losses: tuple[float, float] | None
    log_step: int | None
    inputs: tuple[str, ...]
    operator: DisputedOperator | None
    elements: OperatorElements | None
    state: StateDifference | None
    part: str = ""

    @property
    def exit_code(self) -> int:
        """0 when nothing differs, 1 when something does."""
        return 0 if self.step is None and not self.orders else 1
