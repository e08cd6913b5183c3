"""What is known of a step that differs: the operator, its elements, what the arbiter found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.plaintext import spell
from counterfoil_core.base.sentence import Sentence, enumeration, joined, say
from counterfoil_core.commit.merkle import MerkleComparison
from counterfoil_core.signing.publickeys import key_id_of


@dataclass(frozen=True)
class ElementComparison:
    """One element of a tensor on both sides."""

    index: tuple[int, ...]  #: Its multi-index.
    trainer: float  #: The trainer's value.
    replay: float  #: The replay's value.
    #: Distance in units in the last place of float32 (integers: plain difference); 0 where the bits agree, and for the
    #: two zeros.
    ulps: int
    equal: bool  #: Whether the bits agree.


@dataclass(frozen=True)
class TensorDetail:
    """Where two tensors differ, from the tensor digest down to single elements."""

    dtype: str  #: Dtype name of both.
    trainer: Digest  #: The trainer's tensor digest.
    replay: Digest  #: The replay's.
    chunks: int  #: Number of 16 KiB chunks under a tensor digest.
    differing_chunks: int  #: How many of them differ.
    first_chunk: int  #: Number of the first that differs, from 0.
    trainer_chunk: Digest  #: Merkle leaf hash of that chunk, the trainer's.
    replay_chunk: Digest  #: The replay's.
    elements: tuple[ElementComparison, ...]  #: Elements around the first that differs, neighbours in C order.


@dataclass(frozen=True)
class TensorDivergence:
    """How far one state tensor of the replay lies from the trainer's."""

    name: str  #: Name of the state tensor, for instance ``conv1.weight``.
    shape: tuple[int, ...]  #: Its shape.
    differing: int  #: Number of elements whose bits differ.
    max_abs: float  #: Largest absolute difference; 0 when equal.
    max_ulps: int  #: Largest difference in units in the last place of float32 (integers: plain difference).
    l2: float  #: Euclidean norm of the difference.
    #: Multi-index of the element with the largest absolute difference; empty when equal or zero-dimensional.
    index: tuple[int, ...]
    trainer: float  #: The trainer's value there.
    replay: float  #: The replay's value there.
    detail: TensorDetail | None = None  #: Chunks and elements; given for the worst tensors of a dispute only.


@dataclass(frozen=True)
class NeighbourOperator:
    """An operator of the program near the disputed one."""

    number: int  #: Its place among the operators of the program, from 1.
    name: str  #: ATen name.
    module: str  #: Path of the module, or name of the state tensor being updated; empty for the step itself.
    phase: str  #: The pass: ``forward``, ``backward`` or ``update``.
    shapes: tuple[tuple[int, ...], ...]  #: Shapes of its outputs.
    agrees: bool | None  #: Whether all its fingerprints agree; None when it has none.


@dataclass(frozen=True)
class DisputedOperator:
    """The first operator of the disputed step whose result differs, found by fingerprints."""

    number: int  #: Its place among the operators of the program, from 1.
    total: int  #: Number of operators.
    name: str  #: ATen name, for instance ``aten.convolution_backward.default``.
    module: str  #: Path of the module, or name of the state tensor being updated; empty for the step itself.
    phase: str  #: The pass: ``forward``, ``backward`` or ``update``.
    shape: tuple[int, ...]  #: Shape of the differing output.
    input_shapes: tuple[tuple[int, ...], ...]  #: Shapes of its tensor inputs.
    differing_operators: int  #: How many operators of the step differ in all, of those that are fingerprinted.
    #: The operators around it in the order in which they run, itself among them.
    neighbours: tuple[NeighbourOperator, ...] = ()

    @property
    def where(self) -> str:
        """Name, pass and module in words."""
        return f"{self.name} ({self.phase}{f' of {spell(self.module)}' if self.module else ''})"


SHARE, COMBINE, UPDATE = "share ", "combine", "update"
"""Parts of a step that shares make: a share is named by its number behind the first of these."""
_PARTS = {
    "shares": say("shares"),
    "state": say("state"),
    "loss": say("loss"),
    "fingerprints": say("fingerprints"),
    "log": say("log"),
    "result": say("result"),
}


def named_parts(parts: Sequence[str]) -> Sentence:
    """Name the parts of a leaf in a sentence, one or more: ``state, loss and fingerprints``."""
    return enumeration([_PARTS.get(part, part) for part in parts])


def listed_parts(parts: Sequence[str]) -> Sentence:
    """Name the parts of a leaf in a list: ``state, loss``; also none."""
    return joined(*(_PARTS.get(part, part) for part in parts), between=", ")


class Right(Enum):
    """Who is right about a step that differs, as far as it can be proven."""

    REPLAY = "replay"
    """This machine's values are right, and the trainer's are such as no conforming machine gives."""
    UNREADABLE = "unreadable log"
    """The trainer signed a rounding log that nobody can read."""
    NO_RESULT = "no result"
    """The trainer signed a result of a step that comes to none on any conforming machine."""
    OMISSIONS = "omissions"
    """In step after step the trainer left decisions out of its log that every conforming recorder writes down."""
    OMISSION = "omission"
    """It did so in this step; once or twice, that accuses nobody."""
    TRAINER = "trainer"
    """The trainer's values are right: this machine's arithmetic is off."""
    NOBODY_KNOWN = "nobody known"
    """This machine's arithmetic is off; what the trainer's values are is not known."""
    MARGIN = "margin"
    """Conforming machines may round to either side here, and the margin is too small for all of them to log it."""
    UNKNOWN = "unknown"
    """Neither side can be shown to be wrong: there is no exact value or no error bound, or it is not known which
    elements differ and some of them may be rounded to either side."""


ACCUSING = frozenset({Right.REPLAY, Right.UNREADABLE, Right.NO_RESULT, Right.OMISSIONS})
"""The findings that are beyond what any conforming machine gives."""


@dataclass(frozen=True)
class DisputedElement:
    """One element of the disputed operator's output, recomputed exactly."""

    index: tuple[int, ...]  #: Its multi-index; empty for a scalar.
    exact: str  #: The exact value, as decimal text with 25 significant digits.
    exact_nearest: float  #: The float64 nearest to it.
    computed: float  #: This machine's value before rounding.
    replay: float  #: This machine's value after rounding, the trainer's logged direction applied.
    trainer: float | None  #: The trainer's value, where the fingerprint tells it; None where it does not.
    #: Distance of two neighbouring grid points there; under an exact profile of two numbers of the dtype.
    quantum: float
    #: Distance of ``computed`` from the exact value, in units of the error bound; under an exact profile from the
    #: defined value, in units of ``quantum``.
    error: float
    #: Distance of the exact value from the nearest midpoint between grid points, in units of the error bound; 0 under
    #: an exact profile, which has neither.
    midpoint: float


@dataclass(frozen=True)
class Finding:
    """What exact arithmetic says of a dispute."""

    right: Right  #: Who is right.
    sentence: Sentence  #: The same in plain sentences, with the reason.
    #: The most telling of the elements that were recomputed: those that differ, or the first ones.
    elements: tuple[DisputedElement, ...] = ()
    recomputed: int = 0  #: How many elements were recomputed exactly.
    total: int = 0  #: How many elements the operator's output has.
    margin: float = 0.0  #: The margin tau of the output; 0 when nothing was recomputed.
    #: How far a conforming machine's value lies from the exact one at most; 0 when nothing was recomputed, and under an
    #: exact profile.
    bound: float = 0.0

    @property
    def defined(self) -> bool:
        """Whether elements were computed of which every conforming machine has the same bits: of an exact profile."""
        return bool(self.recomputed) and self.bound == 0


def accuses(confirmed: bool, right: Right | None) -> bool:
    """Whether a step that differs accuses the trainer: confirmed, and proven.

    Args:
        confirmed: Whether this machine gave its own result again.
        right: Who is right; None where there is no finding.
    """
    return confirmed and right in ACCUSING


def stands_alone(confirmed: bool, right: Right | None) -> bool:
    """Whether a step that differs accuses the trainer by itself: omissions do together only.

    Args:
        confirmed: Whether this machine gave its own result again.
        right: Who is right; None where there is no finding.
    """
    return accuses(confirmed, right) and right is not Right.OMISSIONS


def share_of(part: str) -> int | None:
    """Return the number of the share that a part of a step is; None where it is none."""
    return int(part.removeprefix(SHARE)) if part.startswith(SHARE) else None


@dataclass(frozen=True)
class Dispute:
    """A step at which the replay and the trainer's commitment part: one that accuses by itself, or else the first."""

    step: int  #: Step number, 1 for the first step of training.
    trainer_leaf: Digest  #: The trainer's Merkle leaf hash of that step.
    #: The replay's Merkle leaf hash of that step; None when the trainer's log cannot be read, so that nothing could be
    #: replayed, and when the replay came to no result.
    replay_leaf: Digest | None
    #: Which parts of the leaf differ: some of ``shares``, ``state``, ``loss``, ``fingerprints``; ``log`` when it cannot
    #: be read; or ``result`` when the trainer signed one and the replay came to none.
    parts: tuple[str, ...]
    #: The comparisons from the root down to the leaf, both children where the first is equal; none when there is no
    #: replay's leaf, or the dispute was judged from a capsule, which does not hold the tree.
    path: tuple[MerkleComparison, ...]
    inclusion_proof: tuple[Digest, ...]  #: RFC 9162 inclusion proof of the trainer's leaf in the signed run root.
    #: Step of the checkpoint at which ``tensors`` were compared (the disputed step itself, or the next checkpoint after
    #: it); None when the trainer stored none.
    compared_at: int | None
    tensors: tuple[TensorDivergence, ...]  #: The differing state tensors, largest absolute difference first.
    trainer_loss: float  #: Loss that the trainer recorded for the step.
    replay_loss: float  #: Loss of the replay; not a number when nothing could be replayed.
    #: Whether a second replay of the step, with every reduction in another order, gave the replay's leaf again. If not,
    #: this machine's arithmetic lies outside the margin, and the trainer is not accused. A log that cannot be read
    #: needs no replay to confirm it.
    confirmed: bool
    #: The first operator whose result differs; None when all fingerprints agree, and where what the step read differs
    #: already.
    operator: DisputedOperator | None = None
    trainer_state: Digest | None = None  #: The trainer's state root at ``compared_at``.
    replay_state: Digest | None = None  #: The replay's.
    finding: Finding | None = None  #: What is proven; None when this machine's result was not confirmed.
    #: Names of the data arrays whose rows have other fingerprints in what was signed than in the order.
    inputs: tuple[str, ...] = ()
    #: Which part of the step differs, where shares make it: ``share 0`` and so on, ``combine`` or ``update``.
    part: str = ""
    #: Id of the key of the party that signed what differs: what its share gave, or, of the combination, what it added.
    signer: str = ""

    def answered_for(self, signers: Sequence[str | None], share: int | None) -> Dispute:
        """Return the dispute with the party that answers for what differs, if one does.

        Decisions that are left out in step after step are the trainer's matter: a party signed one share of each.

        Args:
            signers: The public key of the party of each share, as the order names them; each share that has one is
                signed by it.
            share: The share that differs, or of which something else was added; None where it is none.
        """
        public = signers[share] if signers and share is not None else None
        if public is None or self.right is Right.OMISSIONS:
            return self
        return replace(self, signer=key_id_of(public))

    @property
    def share(self) -> int | None:
        """Number of the share that differs; None where it is none."""
        return share_of(self.part)

    @property
    def right(self) -> Right | None:
        """Who is right; None where there is no finding."""
        return None if self.finding is None else self.finding.right

    @property
    def shows_state(self) -> bool:
        """Whether the state that the trainer signed after the step is another than the ordered step gives."""
        return "state" in self.parts

    @property
    def accuses(self) -> bool:
        """Whether the trainer is to blame: the replay was confirmed, and the finding is proven."""
        return accuses(self.confirmed, self.right)

    @property
    def stands_alone(self) -> bool:
        """Whether it accuses, and this step alone shows it, so that a capsule can hand it on."""
        return stands_alone(self.confirmed, self.right)
