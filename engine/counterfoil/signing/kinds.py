"""What the statements say on which no verdict rests, field by field; :data:`FORMS` has those too on which one does.

Values alone: the window holds them, and nothing here checks a signature.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import read_timestamp
from counterfoil_core.signing import kinds
from counterfoil_core.signing.claims import Acceptance, Addition, RunClaim, Share, SignedOrder, TreeHead
from counterfoil_core.signing.kinds import (
    KEY_ID,
    ROOT,
    STATE_ROOT,
    About,
    Dated,
    DigestText,
    Fields,
    Moment,
    Name,
    Named,
    Said,
    Step,
    Text,
    make_subject,
)
from counterfoil_core.signing.subject import Subject
from counterfoil_core.statement.factfields import FactsStatement
from counterfoil_core.statement.model import AdjudicationStatement, VerdictStatement

MOST_LINES = 1_000_000
"""Lines of a witness's log."""
MOST_GAP_SECONDS = 366 * 24 * 3600
"""Seconds that may lie between two snapshots on average."""
_PLACES = 2**40
"""No place and no step is as large."""


class DataNote(Dated, frozen=True):
    """Who made the data of an order says how. It proves who said it, and nothing of what is said."""

    KIND: ClassVar = kinds.NOTE
    ABOUT: ClassVar = (About("data", "data_root", STATE_ROOT),)

    data_root: Digest  #: Root over the data arrays: it is for every order of these arrays.
    says: Text  #: The words.
    weights: Digest | None  #: SHA-256 of the file of weights with which the data were made; null where none is named.


class Withdrawal(Dated, frozen=True):
    """The auditor of a verdict takes it back."""

    KIND: ClassVar = kinds.WITHDRAWAL
    ABOUT: ClassVar = (About("verdict", "verdict"),)

    verdict: Digest  #: SHA-256 of the payload of the verdict.
    reason: Text  #: Why, in the auditor's words.
    superseded_by: Digest | None  #: SHA-256 of the payload of the verdict in its place; null when there is none.

    def check(self) -> None:
        """Raise SignatureError where a verdict is to stand in its own place."""
        if self.verdict == self.superseded_by:
            raise SignatureError(say("A verdict cannot stand in its own place."))


class Reply(Dated, frozen=True):
    """The trainer of a run answers a verdict on it."""

    KIND: ClassVar = kinds.REPLY
    ABOUT: ClassVar = (About("verdict", "verdict"),)

    verdict: Digest  #: SHA-256 of the payload of the verdict.
    text: Text  #: The reply, in the trainer's words.


@dataclass(frozen=True)
class Afterwards:
    """What the statements that were given say of a verdict."""

    withdrawals: tuple[Withdrawal, ...] = ()  #: By its auditor, by time.
    replies: tuple[Reply, ...] = ()  #: By the trainer of its run, by time.
    ignored: tuple[str, ...] = ()  #: Why each of the others says nothing about it.
    damaged: tuple[str, ...] = ()  #: What is wrong with each that nobody can read: it may have taken the verdict back.


class Cause(Enum):
    """Why a key was revoked."""

    COMPROMISED = "compromised"
    """Somebody else has it, or may have it."""
    RETIRED = "retired"
    """It is no longer used; nobody else has it."""


class Revocation(Fields, frozen=True):
    """A key that no longer counts."""

    key_id: DigestText  #: Its key id.
    since: Moment  #: From when on.
    cause: Cause  #: Why.
    reason: Name  #: The same in words.

    def covers(self, signed_at: str) -> bool:
        """Whether what the key signed no longer counts.

        Args:
            signed_at: When it was signed, ISO 8601 in UTC, as whoever had the key says; empty where nothing says it:
                then nothing says that it was signed before.
        """
        if self.cause is Cause.COMPROMISED or not signed_at:
            return True
        return read_timestamp(signed_at) >= read_timestamp(self.since)

    def stricter(self, other: Revocation) -> Revocation:
        """Return that one of two of the same key which leaves less: compromised before retired, then the earlier."""
        return min((self, other), key=lambda each: (each.cause is not Cause.COMPROMISED, each.since))


class RevocationList(Named, frozen=True):
    """Keys that no longer count: lost, stolen, or replaced. docs/keys.md.

    A key that somebody else may have signs any time that they like, so of a compromised key nothing counts any more;
    of a retired one what was signed before counts.
    """

    KIND: ClassVar = kinds.REVOCATIONS
    TIME: ClassVar = "issued_at"

    number: Annotated[int, Meta(ge=1, le=2**31)]  #: Each later list of the same signer has a higher one.
    #: The keys, ascending by key id, each once; they are the subjects.
    revocations: Annotated[tuple[Revocation, ...], Meta(min_length=1, max_length=10_000)] = msgspec.field(
        name="revoked"
    )
    issued_at: Moment = ""  #: When, as the clock of whoever signed had it.

    @classmethod
    def of_keys(cls, revocations: Iterable[Revocation], number: int) -> RevocationList:
        """Return the list of keys; of one that is there twice what leaves less: nothing makes a key good again."""
        told: dict[str, Revocation] = {}
        for each in revocations:
            told[each.key_id] = told[each.key_id].stricter(each) if each.key_id in told else each
        return cls(number, tuple(told[key_id] for key_id in sorted(told)))

    def of(self, key_id: str) -> Revocation | None:
        """Return what the list says of a key; None where it says nothing."""
        return next((each for each in self.revocations if each.key_id == key_id), None)

    def subjects(self) -> list[dict[str, Any]]:
        """Return the keys."""
        return [make_subject("key", each.key_id, KEY_ID) for each in self.revocations]

    def moments(self) -> Iterable[tuple[str, str]]:
        """Yield the fields that hold times, each with what it holds."""
        yield from super().moments()
        yield from (("since", each.since) for each in self.revocations)

    def check(self) -> None:
        """Raise SignatureError where the keys are not in order, or the list revokes its own key."""
        listed = [each.key_id for each in self.revocations]
        if listed != sorted(set(listed)):
            raise SignatureError(say("The keys in the {0} are not sorted, or one stands there twice.", self.KIND.what))
        if self.key_id in listed:
            raise SignatureError(say("The {0} revokes the key that signed it.", self.KIND.what))


class ReleaseList(Said, frozen=True):
    """The files of a release. It holds no time and no key: everybody who builds the same files signs the same."""

    KIND: ClassVar = kinds.RELEASE
    APART: ClassVar = ("files",)

    version: Annotated[str, Meta(pattern=r"\A[0-9A-Za-z][0-9A-Za-z.+~-]{0,49}\Z")]  #: Which version it is.
    commit: Annotated[str, Meta(pattern=r"\A([0-9a-f]{40}|[0-9a-f]{64})\Z")]  #: The commit that it was built from.
    #: The SHA-256 of each file by its name, without a folder; they are the subjects, sorted.
    files: Annotated[
        dict[Annotated[str, Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._+~-]{0,199}\Z")], Digest],
        Meta(min_length=1, max_length=1000),
    ]

    def subjects(self) -> list[dict[str, Any]]:
        """Return the files, sorted, so that the same files are the same statement."""
        return [make_subject(name, self.files[name]) for name in sorted(self.files)]

    @classmethod
    def of_subjects(cls, subjects: Any) -> dict[str, Any]:
        """Return the files."""
        return {"files": {each["name"]: each["digest"][kinds.SHA256] for each in subjects}}


class RuleFields(Fields, frozen=True):
    """What a run showed of one rule."""

    rule: Name  #: Its name.
    outcome: Literal["HELD", "BROKEN", "CANNOT_BE_TOLD"]  #: What the run shows.
    said: Annotated[str, Meta(max_length=1_000_000)]  #: By what that is bound.


class RulesStatement(Dated, frozen=True):
    """What a run showed of rules; whoever has both checks each again. docs/rules.md."""

    KIND: ClassVar = kinds.RULES
    ABOUT: ClassVar = (About("run", "run.run_root", ROOT), About("rules", "rules"))

    rules: Digest  #: SHA-256 of the file of rules.
    results: tuple[RuleFields, ...]  #: For each rule, in the order of the file.
    run: Subject  #: The run.


_Places = tuple[Annotated[int, Meta(ge=0, lt=_PLACES)], ...]
_Steps = tuple[Annotated[int, Meta(ge=1, lt=_PLACES)], ...]


class RowFields(Fields, frozen=True):
    """Where a row stands in an array, and which steps read it. The row itself is not there."""

    data_root: Digest  #: Root over the data arrays of the order.
    array: Annotated[str, Meta(max_length=200)]  #: Name of the data array.
    dtype: Annotated[str, Meta(max_length=16)]  #: Dtype of the array and of the row.
    shape: _Places  #: Shape of the row.
    row: Digest  #: SHA-256 of the row's little-endian bytes in C order.
    places: _Places  #: Where it stands in the array, from 0.
    steps: _Steps  #: The steps that read one of these, ascending, each as often as it does.
    filled: _Steps  #: The steps whose shorter batch one of these fills, where no row is read.


class RowsStatement(Dated, frozen=True):
    """What a run did with some rows. It holds no other row, and not these. docs/locate.md."""

    KIND: ClassVar = kinds.ROW_USE
    ABOUT: ClassVar = (About("run", "run.run_root", ROOT),)

    rows: Annotated[tuple[RowFields, ...], Meta(min_length=1)]  #: For each array and row; all of one order.
    run: Subject  #: The run.

    def check(self) -> None:
        """Raise SignatureError where the rows are of several orders."""
        if len({each.data_root for each in self.rows}) != 1:
            raise SignatureError(say("The {0} is not about the rows of one order.", self.KIND.what))


MOST_TOKENS = 2**20
"""Tokens of a prompt and its answer together."""
Token = Annotated[int, Meta(ge=0, lt=2**31)]
Tokens = Annotated[tuple[Token, ...], Meta(max_length=MOST_TOKENS)]
TokenCount = Annotated[int, Meta(ge=1, le=MOST_TOKENS)]
_Decimal = Annotated[str, Meta(pattern=r"\A(0|[1-9][0-9]{0,2})(\.[0-9]{1,6})?\Z")]
"""A decimal number as text, so that everybody means the same one; it stands for the nearest float32 number."""


class Sampling(Fields, frozen=True):
    """How tokens are drawn. docs/answers.md."""

    temperature: _Decimal  #: What logits are divided by; above zero.
    top_k: TokenCount | None  #: How many of the most probable tokens are drawn from; null for all.
    top_p: _Decimal | None  #: The least probability of those that are drawn from, together; null for 1.

    def check(self) -> None:
        """Raise SignatureError where a number is out of its range."""
        if not float(self.temperature) or (self.top_p is not None and not 0 < float(self.top_p) <= 1):
            raise SignatureError(say("The temperature lies above 0, and top-p above 0 and at most at 1."))


class AnswerStatement(Dated, frozen=True):
    """What a model answered. docs/answers.md."""

    KIND: ClassVar = kinds.ANSWER
    ABOUT: ClassVar = (About("model", "model_root", STATE_ROOT), About("question", "question"))

    model_root: Digest  #: State root over the model's tensors, as in a score.
    program: Digest  #: Digest of the program that gives the logits of all tokens in one pass.
    tokenizer: Digest  #: SHA-256 of the canonical JSON of the tokenizer's files: names, and the SHA-256 of each.
    verdict: Digest | None  #: SHA-256 of the payload of the verdict on the model's training; null where none is named.
    precision: Name  #: The precision profile.
    question: Digest  #: SHA-256 of the question's canonical JSON.
    prompt: Annotated[Tokens, Meta(min_length=1)]  #: The tokens of the question.
    most: TokenCount  #: How many tokens were asked for at most.
    ends: Tokens  #: The tokens that end an answer, ascending.
    sampling: Sampling | None  #: How tokens are drawn; null where the most probable one is taken.
    client_nonce: DigestText  #: The client's 32 random bytes.
    provider_nonce: DigestText | None  #: The provider's, to which it was bound before; null where nothing is drawn.
    tokens: Annotated[Tokens, Meta(min_length=1)]  #: The answer.
    #: For each token of it the SHA-256 of the logits that it was taken from: little-endian float32 numbers.
    rows: Annotated[tuple[Digest, ...], Meta(max_length=MOST_TOKENS)]

    @property
    def length(self) -> int:
        """How many tokens prompt and answer have room for: the length of each pass."""
        return len(self.prompt) + self.most

    def check(self) -> None:
        """Raise SignatureError where it ends too early or too late, or lacks what it was drawn by."""
        if self.sampling is not None:
            self.sampling.check()
        *before, last = self.tokens
        ended = len(self.tokens) == self.most or last in self.ends
        fits = len(self.tokens) <= self.most and len(self.rows) == len(self.tokens) and self.length <= MOST_TOKENS
        drawn = (self.sampling is None) == (self.provider_nonce is None)
        ascending = list(self.ends) == sorted(set(self.ends))
        if not (ended and fits and drawn and ascending) or set(before) & set(self.ends):
            raise SignatureError(say("The {0} contradicts itself.", self.KIND.what))


class LineKind(Enum):
    """What a line of a witness's log says."""

    BEGUN = "begun"
    """The witness began to look."""
    SNAPSHOT = "snapshot"
    """It took a snapshot."""
    ABSENT = "absent"
    """Its moment had come, and no whole state lay there."""
    ENDED = "ended"
    """It ended, and looks no more."""


class Ending(Enum):
    """Why a witness looks no more."""

    RUN = "run"
    """The recording became a run: the witness looked to the end of it, and nothing else says so."""
    TIME = "time"
    """Its time was over."""
    STOPPED = "stopped"
    """It was stopped, or the loop that showed it the state ended."""
    FAILED = "failed"
    """What it was to look at could not be read, or the program that showed it failed."""


class Snapshot(Fields, frozen=True):
    """Hashes of a live state, and of one shard of it."""

    state_root: Digest  #: The state root over all tensors that were seen.
    layout: Digest  #: SHA-256 of the canonical JSON of names, dtypes and shapes of these.
    tensor: Name  #: Name of the tensor of the shard.
    chunk: Annotated[int, Meta(ge=0, le=2**50)]  #: Which 16 KiB chunk of it, from 0.
    leaf: Digest  #: Merkle leaf hash of that chunk.


class Line(Named, frozen=True, omit_defaults=False):
    """One line of a witness's log. docs/witness.md."""

    KIND: ClassVar = kinds.SNAPSHOT
    ABOUT: ClassVar = (
        About("log", "before"), About("state", "snapshot.state_root", ROOT), About("run", "run.run_root", ROOT)
    )  # fmt: skip
    TIME: ClassVar = "at"

    kind: LineKind  #: What it says.
    number: Annotated[int, Meta(ge=0, le=MOST_LINES)]  #: Which line it is, from 0.
    before: Digest  #: SHA-256 of the line before it, without its line feed; zeros for the first.
    at: Moment  #: When, as the witness's clock had it.
    #: Seconds between two snapshots on average; their distances are exponentially distributed.
    mean_seconds: Annotated[int, Meta(ge=1, le=MOST_GAP_SECONDS)]
    snapshot: Snapshot | None = None  #: What was seen; null where the line is of another kind.
    #: 32 random bytes of the first line, null of others: two logs that one key began in the same second would else
    #: begin with the same line, and the rest of one would fit behind the other's.
    nonce: Digest | None = None
    ending: Ending | None = None  #: Why it looks no more; null of a line that is not the last.
    run: Subject | None = None  #: The run that the recording became, where it ended for that.

    def check(self) -> None:
        """Raise SignatureError where it holds what its kind does not, or lacks what it does."""
        held = [each is not None for each in (self.snapshot, self.nonce, self.ending, self.run)]
        kinds_of = [self.kind is kind for kind in (LineKind.SNAPSHOT, LineKind.BEGUN, LineKind.ENDED)]
        if held != [*kinds_of, self.ending is Ending.RUN]:
            raise SignatureError(say("The {0} contradicts itself.", self.KIND.what))


class Comparison(Dated, frozen=True, tag_field="result", tag="agrees"):
    """An order agrees with the script that it came from, in some of its steps. docs/comparison.md.

    The field ``result`` says so: what differs is refused, and is no order. Unsigned it is the word of whoever wrote the
    file, and names neither time nor key.
    """

    KIND: ClassVar = kinds.COMPARISON
    ABOUT: ClassVar = (About("order", "order"), About("script", "script"))

    order: Digest  #: The order digest.
    script: Digest  #: SHA-256 of the script's file.
    #: What the script was called with.
    arguments: Annotated[tuple[Annotated[str, Meta(max_length=20_000)], ...], Meta(max_length=10_000)]
    #: SHA-256 of the files that it read, by their paths from the folder in which it was run.
    files: Annotated[dict[Annotated[str, Meta(max_length=4096, pattern=r"\A[^/]")], Digest], Meta(max_length=100_000)]
    torch: Annotated[str, Meta(max_length=200)]  #: The version of torch.
    #: First and last of each range of steps that were compared, ascending; there is a gap between two.
    compared: Annotated[tuple[tuple[Step, Step], ...], Meta(min_length=1, max_length=100_000)]
    steps: Step  #: How many steps the order has.

    def moments(self) -> Iterable[tuple[str, str]]:
        """Yield when it was signed, where it was."""
        return super().moments() if self.signer or self.signed_at else ()

    def check(self) -> None:
        """Raise SignatureError where the ranges are none, or it says when and not by whom it was signed."""
        ranged = all(first <= last <= self.steps for first, last in self.compared)
        apart = all(left[1] + 1 < right[0] for left, right in pairwise(self.compared))
        if not ranged or not apart or bool(self.signer) != bool(self.signed_at):
            raise SignatureError(say("The {0} contradicts itself.", self.KIND.what))


FORMS: dict[str, type[Said]] = {
    predicate: form
    for form in (
        SignedOrder, Acceptance, RunClaim, TreeHead, Share, Addition, DataNote, Comparison, VerdictStatement,
        AdjudicationStatement, Withdrawal, Reply, FactsStatement, RulesStatement, RowsStatement, AnswerStatement, Line,
        RevocationList, ReleaseList,
    )
    for predicate in form.KIND.predicates
}  # fmt: skip
"""What each kind says, by its predicate types."""
