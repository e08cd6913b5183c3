"""What is known of weights that were delivered: whether they are the final state of a run that was verified."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.subject import Subject
from counterfoil_core.values.trust import Trust


class DeliveryOutcome(Enum):
    """What a comparison of weights with a run concludes."""

    DELIVERED = "DELIVERED"
    """The weights are the final state of a run that a verdict says is VERIFIED."""
    DIFFERENT = "DIFFERENT"
    """They are not: a tensor is missing, is there without having been trained, or has other values."""
    INCONCLUSIVE = "INCONCLUSIVE"
    """They are the final state of a run, and whether that run is verified is not known, or only its trainer says so."""
    REFUSED = "REFUSED"
    """The weights, the run or the verdict cannot be used, or do not belong together."""
    ERROR = "ERROR"
    """Counterfoil itself failed."""

    @property
    def exit_code(self) -> int:
        """The exit code of the command line: 0 to 4 in this order."""
        return list(DeliveryOutcome).index(self)


class Relation(Enum):
    """How a delivered tensor comes from the state of a run."""

    SAME = "bit for bit"
    BFLOAT16 = "cast to bfloat16"
    FLOAT16 = "cast to float16"
    MERGED = "merged with its adapter"
    MERGED_BFLOAT16 = "merged with its adapter, cast to bfloat16"
    MERGED_FLOAT16 = "merged with its adapter, cast to float16"

    @property
    def words(self) -> str:
        """The relation in words."""
        return _WORDS[self]


_WORDS = {
    Relation.SAME: say("bit for bit"),
    Relation.BFLOAT16: say("cast to bfloat16"),
    Relation.FLOAT16: say("cast to float16"),
    Relation.MERGED: say("merged with its adapter"),
    Relation.MERGED_BFLOAT16: say("merged with its adapter, cast to bfloat16"),
    Relation.MERGED_FLOAT16: say("merged with its adapter, cast to float16"),
}


@dataclass(frozen=True)
class Basis:
    """What says that a run is verified.

    Attributes:
        run_root: The run that it is about.
        order_digest: The order of that run.
        headline: What it concludes, in words.
        trust: What that rests on.
        key_id: Id of the key that signed it; empty for a replay on this machine.
        warnings: What it leaves open.
        trainer_key: SHA-256 key id of who signed the run.
        client_key: SHA-256 key id of who signed its order; empty for an unsigned one.
        reaches_end: Whether the last segment was replayed, so that it is about the final state.
    """

    run_root: Digest
    order_digest: Digest
    headline: str
    trust: Trust
    key_id: str = ""
    warnings: tuple[str, ...] = ()
    trainer_key: str = ""
    client_key: str = ""
    reaches_end: bool = True

    @property
    def about(self) -> Subject:
        """The run that it is about."""
        return Subject(self.order_digest, self.run_root, self.trainer_key)


@dataclass(frozen=True)
class ComparedTensor:
    """A delivered tensor beside that of the run.

    Attributes:
        name: Its name in the files.
        state: Name of the state tensor that it should come from.
        relation: How; None where its dtype or shape is another.
        elements: Number of its elements.
        differing: How many of them are not what they should be; all where dtype or shape is another.
        largest: The largest difference; under a merge the largest distance from the exact value.
        index: Where; empty for none.
        run: What should stand there.
        delivered: What does.
        infinite: How many became infinite because the smaller dtype ends before them.
        note: What else there is to say; empty for nothing.
    """

    name: str
    state: str
    relation: Relation | None
    elements: int
    differing: int
    largest: float = 0.0
    index: tuple[int, ...] = ()
    run: float = 0.0
    delivered: float = 0.0
    infinite: int = 0
    note: str = ""


@dataclass(frozen=True)
class WeightsFile:
    """A file that was looked at: its name, its size, and the SHA-256 of the bytes that were judged."""

    name: str
    bytes: int
    digest: Digest


@dataclass(frozen=True)
class DeliveryProgress:
    """How far a comparison is.

    Attributes:
        what: What is being done.
        done: How much of it is done.
        total: Of how much.
    """

    what: str
    done: int
    total: int


@dataclass(frozen=True)
class DeliveryReport:
    """What a comparison of delivered weights with a run found.

    Attributes:
        outcome: The conclusion.
        sentence: Why.
        warnings: What it leaves open.
        run_root: The run whose final state the weights were compared with.
        order_digest: Its order.
        step: The step after which that state was.
        steps_ordered: Number of steps of the order, of which the run may have fewer.
        headline: What the verdict says of the run; empty without one.
        key_id: Id of the key that signed the verdict; empty without one.
        files: The files of weights.
        relations: For each relation how many tensors stand in it without a difference, by its value.
        tensors: Number of delivered tensors.
        elements: Number of their elements.
        differing: The tensors that differ, the largest difference first.
        missing: Names of tensors that should be there and are not.
        surplus: Names of tensors that are there and that the run does not have.
        tied: Delivered second names of tied tensors.
        infinite: Names of tensors of which a cast made something infinite.
        largest_merge: The largest distance of a merged weight from its exact value, and the largest that was allowed.
        others: Names beside the weights that nobody looked at.
        trust: What the verdict on the run rests on; None without one.
        trainer_key: SHA-256 key id of who signed the run; empty without a verdict.
        client_key: SHA-256 key id of who signed its order; empty without a verdict, and for an unsigned order.
    """

    outcome: DeliveryOutcome
    sentence: str
    warnings: tuple[str, ...]
    run_root: Digest
    order_digest: Digest
    step: int
    steps_ordered: int
    headline: str
    key_id: str
    files: tuple[WeightsFile, ...]
    relations: dict[str, int]
    tensors: int
    elements: int
    differing: tuple[ComparedTensor, ...]
    missing: tuple[str, ...]
    surplus: tuple[str, ...]
    tied: tuple[str, ...]
    infinite: tuple[str, ...]
    largest_merge: tuple[float, float] | None
    others: tuple[str, ...]
    trust: Trust | None = None
    trainer_key: str = ""
    client_key: str = ""

    @property
    def about(self) -> Subject | None:
        """The run that they were compared with; None without a verdict, which says who signed it."""
        return Subject.of(self.order_digest, self.run_root, self.trainer_key)
