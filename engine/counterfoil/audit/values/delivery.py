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
    """What says that a run is verified."""

    run_root: Digest  #: The run that it is about.
    order_digest: Digest  #: The order of that run.
    headline: str  #: What it concludes, in words.
    trust: Trust  #: What that rests on.
    key_id: str = ""  #: Id of the key that signed it; empty for a replay on this machine.
    warnings: tuple[str, ...] = ()  #: What it leaves open.
    trainer_key: str = ""  #: SHA-256 key id of who signed the run.
    client_key: str = ""  #: SHA-256 key id of who signed its order; empty for an unsigned one.
    reaches_end: bool = True  #: Whether the last segment was replayed, so that it is about the final state.

    @property
    def about(self) -> Subject:
        """The run that it is about."""
        return Subject(self.order_digest, self.run_root, self.trainer_key)


@dataclass(frozen=True)
class ComparedTensor:
    """A delivered tensor beside that of the run."""

    name: str  #: Its name in the files.
    state: str  #: Name of the state tensor that it should come from.
    relation: Relation | None  #: How; None where its dtype or shape is another.
    elements: int  #: Number of its elements.
    differing: int  #: How many of them are not what they should be; all where dtype or shape is another.
    largest: float = 0.0  #: The largest difference; under a merge the largest distance from the exact value.
    index: tuple[int, ...] = ()  #: Where; empty for none.
    run: float = 0.0  #: What should stand there.
    delivered: float = 0.0  #: What does.
    infinite: int = 0  #: How many became infinite because the smaller dtype ends before them.
    note: str = ""  #: What else there is to say; empty for nothing.


@dataclass(frozen=True)
class WeightsFile:
    """A file that was looked at: its name, its size, and the SHA-256 of the bytes that were judged."""

    name: str
    bytes: int
    digest: Digest


@dataclass(frozen=True)
class DeliveryProgress:
    """How far a comparison is."""

    what: str  #: What is being done.
    done: int  #: How much of it is done.
    total: int  #: Of how much.


@dataclass(frozen=True)
class DeliveryReport:
    """What a comparison of delivered weights with a run found."""

    outcome: DeliveryOutcome  #: The conclusion.
    sentence: str  #: Why.
    warnings: tuple[str, ...]  #: What it leaves open.
    run_root: Digest  #: The run whose final state the weights were compared with.
    order_digest: Digest  #: Its order.
    step: int  #: The step after which that state was.
    steps_ordered: int  #: Number of steps of the order, of which the run may have fewer.
    headline: str  #: What the verdict says of the run; empty without one.
    key_id: str  #: Id of the key that signed the verdict; empty without one.
    files: tuple[WeightsFile, ...]  #: The files of weights.
    relations: dict[str, int]  #: For each relation how many tensors stand in it without a difference, by its value.
    tensors: int  #: Number of delivered tensors.
    elements: int  #: Number of their elements.
    differing: tuple[ComparedTensor, ...]  #: The tensors that differ, the largest difference first.
    missing: tuple[str, ...]  #: Names of tensors that should be there and are not.
    surplus: tuple[str, ...]  #: Names of tensors that are there and that the run does not have.
    tied: tuple[str, ...]  #: Delivered second names of tied tensors.
    infinite: tuple[str, ...]  #: Names of tensors of which a cast made something infinite.
    #: The largest distance of a merged weight from its exact value, and the largest that was allowed.
    largest_merge: tuple[float, float] | None
    others: tuple[str, ...]  #: Names beside the weights that nobody looked at.
    trust: Trust | None = None  #: What the verdict on the run rests on; None without one.
    #: The model root of the evaluation whose weights these are, as its score names it; None for files of weights.
    scored: Digest | None = None
    trainer_key: str = ""  #: SHA-256 key id of who signed the run; empty without a verdict.
    client_key: str = ""  #: SHA-256 key id of who signed its order; empty without a verdict, and for an unsigned order.

    @property
    def about(self) -> Subject | None:
        """The run that they were compared with; None without a verdict, which says who signed it."""
        return Subject.of(self.order_digest, self.run_root, self.trainer_key)
