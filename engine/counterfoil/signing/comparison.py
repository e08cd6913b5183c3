"""The comparison of an order with the script that it came from: a statement beside the order. docs/comparison.md.

Whoever has the script runs it, and holds step after step of the order against it. That they agree in the steps that it
names is all that the statement can say: a difference is a refusal, and there is no order then. The order does not hold
it, so that machines of different speed, which compare more steps or fewer, write one order.

It is worth what its signature is worth. Without one it is the word of whoever wrote the file. :func:`standing_of` alone
decides whether it counts.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import Any

from counterfoil.base.digest import Digest
from counterfoil.base.errors import CancelledError, CounterfoilError, DataError, SignatureError
from counterfoil.base.fields import Fields
from counterfoil.base.inputs import read_input
from counterfoil.base.sentence import Sentence, enumeration, say
from counterfoil.base.timestamps import timestamp
from counterfoil.base.wholefiles import write_whole
from counterfoil.bundle.schema import MAX_STEPS
from counterfoil.signing.envelope import open_word, sign_statement, wrap_statement
from counterfoil.signing.intoto import COMPARISON_PREDICATE, make_statement, make_subject
from counterfoil.signing.keys import SigningKey
from counterfoil.signing.predicates import take_time

SUFFIX = ".comparison.json"
"""How the name of the file ends, behind the order's without ``.cfoil``."""
MAX_BYTES = 2**25
"""Bytes of the file of a statement that is read."""
MAX_ARGUMENTS = 10_000
MAX_ARGUMENT = 20_000
"""Characters of an argument of the script."""
MAX_FILES = 100_000
MAX_NAME = 4096
"""Characters of the path of a file that the script read."""
MAX_VERSION = 200
"""Characters of the version of torch."""
MAX_RANGES = 100_000
AGREES = "agrees"
"""The one result: what differs is refused, and is no order."""
FROM_SCRIPT = "script"
"""The recipe of orders that are followed from a script."""
FROM_CODE = "custom"
"""That of orders of a client's own code, a script's or a function's: which, they do not say."""
_SHOWN_RANGES = 4
_WHAT = say("comparison with the script")


@dataclass(frozen=True)
class Comparison:
    """An order agrees with the script that it came from, in some of its steps.

    Attributes:
        order: The order digest.
        script: SHA-256 of the script's file.
        arguments: What the script was called with.
        files: SHA-256 of the files that it read, by their paths from the folder in which it was run.
        torch: The version of torch.
        compared: First and last of each range of steps that were compared, ascending; there is a gap between two.
        steps: How many steps the order has.
    """

    order: Digest
    script: Digest
    arguments: tuple[str, ...]
    files: Mapping[str, Digest]
    torch: str
    compared: tuple[tuple[int, int], ...]
    steps: int

    @property
    def count(self) -> int:
        """How many steps were compared."""
        return sum(last - first + 1 for first, last in self.compared)


@dataclass(frozen=True)
class FoundComparison:
    """What lies beside an order as a comparison with its script.

    Attributes:
        file: Name of the file.
        said: What it says of this order; None where it cannot be used.
        problem: Why it cannot be used; empty where it can.
        key_id: Key id of the key that signed it; empty where nobody did.
        signed_at: When, ISO 8601 in UTC, as the clock of whoever signed had it; empty where nobody did.
    """

    file: str
    said: Comparison | None
    problem: str = ""
    key_id: str = ""
    signed_at: str = ""


class Standing(Enum):
    """Who says that an order was compared with its script."""

    WORD = "word"
    """Whoever wrote the file: nobody signed it."""
    CLIENT = "client"
    """The client, whose key the reader knows."""
    ORDERER = "orderer"
    """Whoever signed the order as its client; the order itself names the key."""
    AUDITOR = "auditor"
    """An auditor whom the reader trusts."""
    TRAINER = "trainer"
    """The trainer of the run that is looked at."""
    REVOKED = "revoked"
    """Somebody with a key that no longer counts."""
    OTHER = "other"
    """Somebody with another key."""

    @property
    def counts(self) -> bool:
        """Whether it is more than the word of whoever wrote the file."""
        return self in (Standing.CLIENT, Standing.ORDERER, Standing.AUDITOR)


@dataclass(frozen=True)
class ComparedLine:
    """How far an order was compared with its script, for whoever reads what the order is.

    Attributes:
        said: It in a sentence.
        less: Whether that is less than all steps, and to be pointed out.
    """

    said: str
    less: bool


NOT_COMPARED = say("Not compared with the script.")
_WITHOUT = {
    FROM_SCRIPT: ComparedLine(NOT_COMPARED, True),
    FROM_CODE: ComparedLine(say("Not compared with a script; whether it came from one it does not say."), False),
}
"""What is said of an order, by its recipe, beside which no comparison lies."""


def comparison_path(order: str | os.PathLike[str]) -> Path:
    """Return where the comparison of an order lies: ``job.comparison.json`` beside ``job.cfoil``."""
    path = Path(order)
    return path.with_name(path.name.removesuffix(".cfoil") + SUFFIX)


def ranges_of(steps: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Return steps as ranges, first and last of each, ascending: ``(1, 400), (512, 512)``."""
    found: list[tuple[int, int]] = []
    for step in sorted(set(steps)):
        if found and found[-1][1] == step - 1:
            found[-1] = (found[-1][0], step)
        else:
            found.append((step, step))
    return tuple(found)


def write_comparison(
    order: str | os.PathLike[str],
    comparison: Comparison,
    key: SigningKey | None = None,
    *,
    force: bool = False,
    when: datetime | None = None,
) -> Path:
    """Write the comparison of an order beside it, whole or not at all.

    Args:
        order: The order's file.
        comparison: What was compared, and agrees.
        key: The client's key, or an auditor's; None leaves it unsigned, as the file's word.
        force: Whether a file that lies there may be replaced.
        when: The time, with its zone; now unless given.

    Returns:
        Where it lies.

    Raises:
        SignatureError: A field is beyond its bounds, or the steps are none.
        CanonicalError: A name or an argument has no UTF-8 form.
        SignerError: The signer's process does not sign it.
        TargetExistsError, FileWriteError: It cannot be written.
    """
    signed = {} if key is None else {"signed_at": timestamp(when), "public_key": key.public.pem}
    predicate = {
        "order": comparison.order.hex,
        "script": comparison.script.hex,
        "arguments": list(comparison.arguments),
        "files": {name: digest.hex for name, digest in comparison.files.items()},
        "torch": comparison.torch,
        "compared": [list(each) for each in comparison.compared],
        "steps": comparison.steps,
        "result": AGREES,
        **signed,
    }
    _read(predicate)
    statement = make_statement(_subjects(comparison), COMPARISON_PREDICATE, predicate)
    envelope = wrap_statement(statement) if key is None else sign_statement(statement, key)
    path = comparison_path(order)
    write_whole(path, envelope, what=_WHAT, replace=force)
    return path


def open_comparison(envelope: bytes) -> tuple[Comparison, str, str]:
    """Check a comparison, by the key that it names where it is signed.

    Args:
        envelope: A DSSE envelope as JSON bytes, with a signature or without; may be junk.

    Returns:
        What it says, the id of the key that signed it, and when; both are empty where nobody did.

    Raises:
        SignatureError: It is malformed, its signature does not hold, or it contradicts itself.
    """
    if len(envelope) > MAX_BYTES:
        raise SignatureError(say("The {0} is longer than {1} bytes.", _WHAT, MAX_BYTES))
    statement, key = open_word(envelope, COMPARISON_PREDICATE, _WHAT)
    comparison, signed_at = _read(statement["predicate"])
    if statement["subject"] != _subjects(comparison):
        raise SignatureError(say("The subjects of the {0} are not the order and the script that it speaks of.", _WHAT))
    return comparison, "" if key is None else key.key_id, signed_at


def comparison_beside(path: str | os.PathLike[str], order: Digest, steps: int) -> FoundComparison | None:
    """Read what lies beside a file as the comparison of its order with the script; None where nothing does.

    What is damaged, or about another order, is said in :attr:`FoundComparison.problem`.

    Args:
        path: The order's file, or a run's.
        order: The digest of the order in it.
        steps: How many steps that has.

    Raises:
        CancelledError: The work was stopped.
    """
    beside = comparison_path(path)
    if not os.path.lexists(beside):
        return None
    try:
        envelope = read_input(beside, say("a comparison with a script"), DataError, most=MAX_BYTES)
        said, key_id, signed_at = open_comparison(envelope)
        if said.order != order:
            raise SignatureError(
                say("It is about another order, {0}..., and this is {1}....", said.order.short, order.short)
            )
        if said.steps != steps:
            raise SignatureError(say("It speaks of {0:,} steps, and the order has {1:,}.", said.steps, steps))
    except CancelledError:
        raise
    except CounterfoilError as error:
        return FoundComparison(beside.name, None, error.sentence)
    return FoundComparison(beside.name, said, "", key_id, signed_at)


def standing_of(
    found: FoundComparison,
    *,
    orderer: str,
    client: str = "",
    trainer: str = "",
    auditors: Collection[str] = (),
    revoked: bool = False,
) -> Standing:
    """Decide who says it, and so whether it counts. Pure.

    Args:
        found: The comparison.
        orderer: Key id of the key whose signature as the client's the order has; empty for an unsigned order.
        client: Key id of the client's key, where the reader knows it from elsewhere.
        trainer: Key id of the key that signed the run; empty for an order that nobody has run.
        auditors: Key ids of auditors whom the reader trusts.
        revoked: Whether the reader knows that the key was revoked, and no longer counts for what it signed then.
    """
    key = found.key_id
    if not key:
        return Standing.WORD
    if key == trainer:  # whoever else it may be too: it would speak for itself
        return Standing.TRAINER
    if revoked:
        return Standing.REVOKED
    if key == client:
        return Standing.CLIENT
    if key in auditors:
        return Standing.AUDITOR
    return Standing.ORDERER if key == orderer else Standing.OTHER


def compared_in(compared: tuple[tuple[int, int], ...], steps: int) -> Sentence:
    """Say in which steps an order was compared with its script, without an end: ``Compared with the script in ...``."""
    if compared == ((1, steps),):
        return say("Compared with the script in all {0:,} steps", steps)
    if len(compared) > _SHOWN_RANGES:
        count = sum(last - first + 1 for first, last in compared)
        return say("Compared with the script in {0:,} of {1:,} steps, first in {2}", count, steps, _range(*compared[0]))
    shown = enumeration([_range(*each) for each in compared])
    (first, last), *more = compared
    if more or first < last:
        return say("Compared with the script in steps {0} of {1:,}", shown, steps)
    return say("Compared with the script in step {0} of {1:,}", shown, steps)


def comparison_line(found: FoundComparison | None, standing: Standing | None, recipe: str) -> ComparedLine | None:
    """Say how far an order was compared with the script that it came from; None where it came from none. Pure.

    Args:
        found: What lies beside it.
        standing: Who says so; None where nothing lies there.
        recipe: The order's recipe.
    """
    if found is None or standing is None:
        return {
            FROM_SCRIPT: ComparedLine(NOT_COMPARED, True),
            FROM_CODE: ComparedLine(
                say("Not compared with a script; whether it came from one it does not say."), False
            ),
        }.get(recipe)
    if found.said is None:
        said = say(
            "Nothing shows that it was compared with the script: {0} cannot be used. {1}", found.file, found.problem
        )
        return ComparedLine(said, True)
    if standing is Standing.TRAINER:
        return ComparedLine(
            say("Not compared with the script, but by the trainer, whose signature does not count for it."), True
        )
    where, key = compared_in(found.said.compared, found.said.steps), found.key_id[:12]
    said = {
        Standing.WORD: say("{0} (the file's word: nobody has signed it).", where),
        Standing.CLIENT: say("{0} (signed by the client).", where),
        Standing.ORDERER: say("{0} (signed with the key that signed the order, {1}).", where, key),
        Standing.AUDITOR: say("{0} (signed by a trusted auditor, with the key {1}).", where, key),
        Standing.REVOKED: say("{0} (the file's word: it is signed with the key {1}, which was revoked).", where, key),
        Standing.OTHER: say(
            "{0} (the file's word: it is signed with the key {1}, which is neither the client's nor a trusted "
            "auditor's).",
            where,
            key,
        ),
    }[standing]
    return ComparedLine(said, found.said.compared != ((1, found.said.steps),))


def _range(first: int, last: int) -> Sentence:
    return say("{0:,}", first) if first == last else say("{0:,} to {1:,}", first, last)


def _subjects(comparison: Comparison) -> list[dict[str, Any]]:
    return [make_subject("order", comparison.order), make_subject("script", comparison.script)]


def _read(predicate: dict[str, Any]) -> tuple[Comparison, str]:
    """Read the fields, and when it was signed; empty where nobody did."""
    fields = Fields(predicate, _WHAT, SignatureError)
    signed_at = ""
    if fields.has("public_key"):
        fields.take("public_key", str)
        signed_at = take_time(fields, "signed_at", _WHAT)
    order, script = fields.digest("order"), fields.digest("script")
    arguments = _listed(fields.take("arguments", list), "arguments", MAX_ARGUMENTS)
    if not all(isinstance(each, str) and len(each) <= MAX_ARGUMENT for each in arguments):
        raise _malformed("arguments")
    files = _listed(fields.take("files", dict), "files", MAX_FILES)
    if not all(0 < len(name) <= MAX_NAME and not name.startswith("/") for name in files):
        raise _malformed("files")
    digests = {
        name: fields.as_digest(each, say("field {0} of the {1}", "'files'", _WHAT)) for name, each in files.items()
    }
    torch, steps = fields.text("torch", MAX_VERSION), fields.integer("steps", 1, MAX_STEPS)
    compared = _ranges(fields.take("compared", list), steps)
    if fields.text("result", len(AGREES)) != AGREES:
        raise _malformed("result")
    fields.end()
    return Comparison(order, script, tuple(arguments), digests, torch, compared, steps), signed_at


def _ranges(value: list[Any], steps: int) -> tuple[tuple[int, int], ...]:
    """Read ranges of steps that have one form."""
    for each in _listed(value, "compared", MAX_RANGES):
        if not isinstance(each, list) or len(each) != 2 or any(type(step) is not int for step in each):
            raise _malformed("compared")
    ranges = tuple((int(first), int(last)) for first, last in value)
    apart = all(left[1] + 1 < right[0] for left, right in pairwise(ranges))
    if not ranges or not apart or not all(1 <= first <= last <= steps for first, last in ranges):
        raise _malformed("compared")
    return ranges


def _listed(value: Any, name: str, most: int) -> Any:
    if len(value) > most:
        raise SignatureError(
            say("The field {0} of the {1} has {2} entries; {3} are allowed.", repr(name), _WHAT, len(value), most)
        )
    return value


def _malformed(name: str) -> SignatureError:
    return SignatureError(say("The field {0} of the {1} is not what docs/comparison.md says.", repr(name), _WHAT))
