"""The comparison of an order with the script that it came from: a statement beside the order. docs/comparison.md.

Whoever has the script runs it, and holds step after step of the order against it. That they agree in the steps that it
names is all that the statement can say: a difference is a refusal, and there is no order then. The order does not hold
it, so that machines of different speed, which compare more steps or fewer, write one order.

It is worth what its signature is worth; without one it is the word of whoever wrote the file.
"""

from __future__ import annotations

import os
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from counterfoil.base.wholefiles import write_whole
from counterfoil.signing.comparedsteps import (
    NOT_COMPARED as NOT_COMPARED,
    ComparedLine as ComparedLine,
    Comparison as Comparison,
    FoundComparison as FoundComparison,
    Standing as Standing,
    compared_in as compared_in,
    comparison_line as comparison_line,
    comparison_path as comparison_path,
    ranges_of as ranges_of,
    standing_of as standing_of,
)
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CancelledError, CounterfoilError, DataError, SignatureError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import timestamp
from counterfoil_core.bundle.schema import MAX_STEPS
from counterfoil_core.signing.envelope import open_word, sign_statement, wrap_statement
from counterfoil_core.signing.intoto import COMPARISON_PREDICATE, make_statement, make_subject
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.predicates import take_time

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
_WHAT = say("comparison with the script")


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
