"""The kinds of statements: in-toto Statement v1, each with a predicate type, and who signs it.

:data:`KINDS` lists them. What one says is a class of its own (:class:`Said`), whose fields are those of its predicate,
each with its type and bounds; :mod:`counterfoil_core.signing.statements` signs and reads it by these. Nothing here
signs or checks a signature, so that the window and the signer's process may hold what was said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import msgspec
from msgspec import Meta

from counterfoil_core.base.canonical import CanonicalError
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.schema import MAX_STEPS
from counterfoil_core.signing.publickeys import key_id_in

PAYLOAD_TYPE = "application/vnd.in-toto+json"
"""What the payload of an envelope is (in-toto attestation framework, envelope layer)."""
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
SHA256 = "sha256"
ROOT = "rfc9162Sha256"
"""The algorithm of a Merkle root: it is no SHA-256 of a file, so it has a name of its own."""
STATE_ROOT = "counterfoilStateRoot"
KEY_ID = "counterfoilKeyId"
"""The algorithm of a key id, which is the SHA-256 of a key's canonical JSON."""


@dataclass(frozen=True)
class Kind:
    """A kind of statement, as far as it is known without reading one."""

    predicate: str  #: Its predicate type.
    what: str  #: What it is, behind "the".
    named: str  #: The same with its article.
    by: str  #: Who signs it.
    most: int = 2**24  #: Bytes of its file at most.
    names_key: bool = True  #: Whether it names the key that signs it.
    certified: bool = False  #: Whether certificates may lie beside its signature.
    needs_signature: bool = True  #: Whether one without a signature is read, as the word of whoever wrote it.
    alone: bool = True  #: Whether ``counterfoil sign`` signs one from a file; others follow from work that was done.
    more_follows: bool = False  #: Whether a signer signs more after it.
    short: str = ""  #: The predicate type that it has of a run with fewer steps than ordered.

    @property
    def predicates(self) -> tuple[str, ...]:
        """All predicate types that it may have."""
        return (self.predicate, self.short) if self.short else (self.predicate,)


_SMALL, _LARGE = 2**18, 2**26
"""Bytes: of a file with one text of somebody's, whose characters have at most four bytes, in base64; of a verdict."""
ORDER = Kind(
    "urn:counterfoil:order:v1", say("client's signature on the order"), say("an order"), "the client",
    alone=False, more_follows=True,
)  # fmt: skip
ACCEPTANCE = Kind(
    "urn:counterfoil:acceptance:v1", say("trainer's acceptance of the order"), say("the acceptance of an order"),
    "the trainer, when training begins", alone=False, more_follows=True,
)  # fmt: skip
RUN = Kind(
    "urn:counterfoil:run:v1", say("run's claim"), say("the claim of a run"), "the trainer, when training ends",
    alone=False, short="urn:counterfoil:run:v2",
)  # fmt: skip
TREE_HEAD = Kind(
    "urn:counterfoil:tree-head:v1", say("tree head"), say("a tree head"), "the trainer, while it trains",
    most=2**14, alone=False, more_follows=True,
)  # fmt: skip
SHARE = Kind(
    "urn:counterfoil:share:v2", say("record of a share"), say("what a share of a step gave"),
    "the party that answers for the share", names_key=False, alone=False, more_follows=True,
)  # fmt: skip
ADDITION = Kind(
    "urn:counterfoil:addition:v1", say("record of what was added of a share"), say("what was added of a share"),
    "the party that answers for the share", names_key=False, alone=False, more_follows=True,
)  # fmt: skip
NOTE = Kind(
    "urn:counterfoil:data-note:v1", say("note about data"), say("a note about data"), "whoever made the data",
    most=_SMALL,
)  # fmt: skip
WITHDRAWAL = Kind(
    "urn:counterfoil:withdrawal:v1", say("withdrawal of a verdict"), say("the withdrawal of a verdict"),
    "the key that signed the verdict", most=_SMALL,
)  # fmt: skip
REPLY = Kind(
    "urn:counterfoil:reply:v1", say("reply to a verdict"), say("a reply to a verdict"), "the key that signed the run",
    most=_SMALL,
)  # fmt: skip
VERDICT = Kind(
    "urn:counterfoil:verdict:v2", say("verdict"), say("a verdict"), "an auditor", most=_LARGE, names_key=False,
    certified=True,
)  # fmt: skip
ADJUDICATION = Kind(
    "urn:counterfoil:adjudication:v2", say("adjudication"), say("an adjudication"), "whoever replays a capsule",
    most=_LARGE, names_key=False, certified=True,
)  # fmt: skip
FACTS = Kind(
    "urn:counterfoil:facts:v1", say("facts of a run"), say("the facts of a run"), "whoever counts them", most=_LARGE
)
REVOCATIONS = Kind(
    "urn:counterfoil:revocations:v1", say("list of revoked keys"), say("a list of revoked keys"),
    "whoever answers for the keys, with a key that is used for nothing else",
)  # fmt: skip
ROW_USE = Kind(
    "urn:counterfoil:row-use:v2", say("statement on rows"), say("what a run did with rows"), "whoever looked"
)
SNAPSHOT = Kind(
    "urn:counterfoil:snapshot:v2", say("line of a witness's log"), say("a line of a witness's log"), "the witness",
    most=2**16, alone=False, more_follows=True,
)  # fmt: skip
RULES = Kind(
    "urn:counterfoil:rules:v2", say("statement on rules"), say("what a run showed of rules"), "whoever checked them"
)
ANSWER = Kind(
    "urn:counterfoil:answer:v1", say("answer of a model"), say("what a model answered"), "whoever ran the model",
    alone=False,
)  # fmt: skip
RELEASE = Kind(
    "urn:counterfoil:release:v1", say("list of a release"), say("the list of a release"), "whoever built the files",
    most=2**20, names_key=False,
)  # fmt: skip
COMPARISON = Kind(
    "urn:counterfoil:comparison:v1", say("comparison with the script"),
    say("the comparison of an order with a script"), "the client, or an auditor", most=2**25, needs_signature=False,
)  # fmt: skip
KINDS = (
    ORDER, ACCEPTANCE, RUN, TREE_HEAD, SHARE, ADDITION, NOTE, COMPARISON, VERDICT, ADJUDICATION, WITHDRAWAL, REPLY,
    FACTS, RULES, ROW_USE, ANSWER, SNAPSHOT, REVOCATIONS, RELEASE,
)  # fmt: skip
"""In the order in which docs/statements.md has them."""

EARLIER = ("urn:counterfoil:share:v1", "urn:counterfoil:row-use:v1", "urn:counterfoil:rules:v1")
"""Forms of before, which do not say whose run they are about: they count for nothing."""
SVR = "https://in-toto.io/attestation/svr/v0.1"
"""Predicate type of in-toto's Simple Verification Result."""
VSA = "https://slsa.dev/verification_summary/v1"
"""Predicate type of SLSA's Verification Summary."""

HEX_FLOAT = r"-?0x[01]\.[0-9a-f]+p[+-][0-9]{1,4}|-?inf|nan"
"""A pattern of a float64 in C99's ``%a`` form."""
Moment = Annotated[str, Meta(pattern=r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z\Z")]
"""A moment in UTC, in whole seconds, as the clock of whoever signs has it."""
KeyText = Annotated[str, Meta(max_length=1000)]
"""A public key, as PEM text."""
DigestText = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
"""A SHA-256 digest as text, a key id, or a hash of the same length."""
Text = Annotated[str, Meta(max_length=20_000, pattern=r"\S")]
"""Words of whoever signs; not empty."""
Name = Annotated[str, Meta(max_length=1000)]
"""A name: of a file, a machine, an operator, a tensor, a kind."""
StepNumber = Annotated[int, Meta(ge=0, le=MAX_STEPS)]
Step = Annotated[int, Meta(ge=1, le=MAX_STEPS)]


class Fields(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The fields of one JSON object, and no others; one that has a default is not there where it has that."""


class About(NamedTuple):
    """One of the things that a statement is about."""

    name: str  #: Its name among the subjects.
    field: str  #: The field that says its digest, ``a.b`` for one of an object; where that is null, there is none.
    algorithm: str = SHA256  #: The algorithm of the digest.


class Said(Fields, frozen=True):
    """What a statement says: a class of its own for each kind.

    Class variables say what stands not in the predicate: ``KIND``; ``ABOUT``, its subjects; ``APART``, the fields that
    stand in the subjects alone; and ``TIME``, the name of the field that holds when it was signed, if any does.
    """

    KIND: ClassVar[Kind]
    ABOUT: ClassVar[tuple[About, ...]] = ()
    APART: ClassVar[tuple[str, ...]] = ()
    TIME: ClassVar[str] = ""

    @property
    def predicate_type(self) -> str:
        """The predicate type that it has."""
        return self.KIND.predicate

    @property
    def signer(self) -> str:
        """The public key that it names, as PEM text; empty where it names none."""
        return ""

    def subjects(self) -> list[dict[str, Any]]:
        """Return what it is about, as in-toto has it."""
        return [
            make_subject(each.name, found, each.algorithm) for each in self.ABOUT if (found := at(self, each.field))
        ]

    @classmethod
    def of_subjects(cls, subjects: Any) -> dict[str, Any]:
        """Return the fields that stand in the subjects of a stranger's statement alone.

        Raises:
            LookupError, TypeError: They are not what they should be.
        """
        placed = ((each, subjects[place]["digest"]) for place, each in enumerate(cls.ABOUT) if each.field in cls.APART)
        return {each.field: digests[each.algorithm] for each, digests in placed}

    def moments(self) -> Iterable[tuple[str, str]]:
        """Yield the fields that hold times, each with what it holds."""
        if self.TIME:
            yield self.TIME, getattr(self, self.TIME)

    def check(self) -> None:
        """Raise SignatureError where the fields contradict each other."""


class Named(Said, frozen=True, kw_only=True):
    """Of a statement that names the key which signs it. Both are put in when it is signed."""

    public_key: KeyText = ""  #: The public key of whoever signs.

    @property
    def signer(self) -> str:
        """The public key that it names, as PEM text."""
        return self.public_key

    @property
    def key_id(self) -> str:
        """Key id of the key that signed it; empty where nobody did."""
        return key_id_in(self.public_key)


class Dated(Named, frozen=True, kw_only=True):
    """Of one that says when it was signed, too."""

    TIME: ClassVar[str] = "signed_at"

    signed_at: Moment = ""  #: When, as the clock of whoever signs has it.


def at(said: Any, path: str) -> Any:
    """Return a field, also of an object in it; None where one on the way is."""
    for name in path.split("."):
        said = None if said is None else getattr(said, name)
    return said


def make_subject(name: str, digest: Digest | str, algorithm: str = SHA256) -> dict[str, Any]:
    """Return what a statement is about: a name, and a digest under its algorithm (in-toto ResourceDescriptor)."""
    return {"name": name, "digest": {algorithm: str(digest)}}


def make_statement(
    subjects: Sequence[dict[str, Any]], predicate_type: str, predicate: dict[str, Any]
) -> dict[str, Any]:
    """Return an in-toto Statement v1.

    Args:
        subjects: Each as :func:`make_subject` returns it.
        predicate_type: For instance ``RUN.predicate``.
        predicate: What is said about the subjects.
    """
    return {"_type": STATEMENT_TYPE, "subject": list(subjects), "predicateType": predicate_type, "predicate": predicate}


def statement_of(said: Said) -> dict[str, Any]:
    """Return a statement as JSON values.

    Raises:
        CanonicalError: A text holds a lone surrogate.
    """
    predicate = json_of(said)
    return make_statement(
        said.subjects(), said.predicate_type, {name: predicate[name] for name in predicate if name not in said.APART}
    )


def json_of(value: msgspec.Struct) -> dict[str, Any]:
    """Return a statement's fields, or a part of them, as JSON values, keys in the order of canonical JSON.

    Raises:
        CanonicalError: A text holds a lone surrogate.
    """
    try:
        found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value, enc_hook=str, order="sorted"))
    except UnicodeEncodeError as error:
        raise CanonicalError(say("A text holds a character that has no UTF-8 form.")) from error
    return found


def read_value(kind: type[Any], value: object) -> Any:
    """Read a value of a class of ours, for msgspec; raises ValueError where it is none."""
    return Digest.from_hex(value) if kind is Digest else kind.read(value)
