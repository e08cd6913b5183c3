"""The one way to sign what is said, and the one way to read it: by the class that declares it.

A signature covers bytes. So a reader checks the signature over the received bytes first, and only then parses them and
looks at what they say: whether it is of its kind, each field of its type and inside of its bounds, its subjects what it
speaks of, and nothing in it a contradiction. What is signed is read first in the same way.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from msgspec import structs

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.plaintext import quote
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import read_timestamp, timestamp
from counterfoil_core.signing.envelope import open_statement, sign_statement
from counterfoil_core.signing.keys import PublicKey, SigningKey
from counterfoil_core.signing.kinds import Said, at, read_value, statement_of

SaidT = TypeVar("SaidT", bound=Said)
_PLACE = re.compile(r" - at (`key` in )?`\$[A-Za-z0-9_.\[\]]*`\Z")
"""Where msgspec finds what is wrong: names of our fields, and nothing of a stranger's."""
_REPEATS = re.compile(r"(Object contains unknown field|Invalid enum value|Invalid value) (.*)", re.DOTALL)
"""What it says with a stranger's word in it."""


def sign_said(said: Said, key: SigningKey, when: datetime | None = None) -> bytes:
    """Sign a statement; returns the DSSE envelope as JSON bytes.

    Args:
        said: What it says.
        key: Who signs. A statement that names its key, and names none yet, names this one.
        when: The time, with its zone, where the statement has one and says none yet; now unless given.

    Raises:
        SignatureError: No reader would take it: a field is beyond its bounds, or fields contradict each other; or it
            names another key.
        CanonicalError: A text has no UTF-8 form.
        SignerError: The signer's process does not sign it.
    """
    return sign_statement(statement_of(with_signer(said, key.public, when)), key)


def with_signer(said: SaidT, public: PublicKey, when: datetime | None = None) -> SaidT:
    """Return a statement as somebody signs it, checked as a reader does it; raises as :func:`sign_said`."""
    if said.signer not in ("", public.pem):
        raise SignatureError(say("The statement names another public key than the one that would sign it."))
    told: dict[str, Any] = {"public_key": public.pem} if said.KIND.names_key else {}
    if said.TIME:
        told[said.TIME] = getattr(said, said.TIME) or timestamp(when)
    return read_said(type(said), statement_of(structs.replace(said, **told)))


def open_said(
    form: type[SaidT], envelope: bytes, key: PublicKey | None = None, *, order: Digest | None = None
) -> SaidT:
    """Check who signed a statement, then read it.

    Args:
        form: The class that it must be of.
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The key that must have signed it. With None the key that the statement itself names is used: this shows
            that whoever holds that key signed it, and not who that is.
        order: Digest of the order that it must be about; None where any will do.

    Raises:
        SignatureError: The envelope is malformed, the signature does not hold, the statement names another key than
            the one that signed it, is about another order, or is not what :func:`read_said` reads.
    """
    kind = form.KIND
    if len(envelope) > kind.most:
        raise SignatureError(say("The {0} is longer than {1} bytes.", kind.what, kind.most))
    said = read_said(form, open_statement(envelope, key, kind))
    if order is not None and (found := at(said, "order")) != order:
        raise SignatureError(
            say(
                "The {0} is about the order {1}, but the file holds the order {2}.", kind.what, found.short, order.short
            )
        )
    return said


def read_said(form: type[SaidT], statement: dict[str, Any]) -> SaidT:
    """Read a statement, and check that it keeps all that its class declares.

    Args:
        form: The class that it must be of.
        statement: JSON values of a stranger, read from canonical JSON, so that no key stands twice and the depth and
            the size are bounded.

    Raises:
        SignatureError: It is of another kind; a field is missing, unknown, of another type, or out of its bounds; its
            subjects are not what it speaks of; or it contradicts itself.
    """
    kind = form.KIND
    if statement["predicateType"] not in kind.predicates:
        raise SignatureError(say("What is signed is not the {0}.", kind.what))
    try:
        said = msgspec.convert(_fields(form, statement), form, dec_hook=read_value)
    except msgspec.ValidationError as error:
        raise SignatureError(say("The statement is not in the form of {0}: {1}.", kind.named, _words(error))) from error
    for name, text in said.moments():
        try:
            read_timestamp(text)
        except ValueError as error:
            raise SignatureError(say("The field {0} of the {1} is not a time.", repr(name), kind.what)) from error
    written = statement_of(said)
    if written["subject"] != statement["subject"]:
        raise SignatureError(say("The subjects of the {0} are not what it speaks of.", kind.what))
    if written != statement:  # an optional field is there that says what its absence says, or its type is not its own
        raise SignatureError(
            say("The statement is not in the form of {0}: {1}.", kind.named, say("it is written otherwise"))
        )
    said.check()
    return said


def _fields(form: type[Said], statement: dict[str, Any]) -> dict[str, Any]:
    """The fields of the predicate, and those that stand in the subjects alone."""
    try:
        return {**statement["predicate"], **form.of_subjects(statement["subject"])}
    except (LookupError, TypeError, AttributeError) as error:
        what = say("its predicate or its subjects are none")
        raise SignatureError(say("The statement is not in the form of {0}: {1}.", form.KIND.named, what)) from error


def _words(error: msgspec.ValidationError) -> str:
    """What msgspec says, without more of a stranger's text than a short word, spelled."""
    place = _PLACE.search(str(error))
    said, where = (str(error)[: place.start()], place[0]) if place else (str(error), "")
    if repeats := _REPEATS.fullmatch(said):
        said = f"{repeats[1]} {quote(repeats[2].strip('`' + chr(39)))}"
    return (said.partition(" matching regex ")[0] + where).replace("`", "'")
