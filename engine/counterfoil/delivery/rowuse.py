"""What a run did with some rows, as a signed statement that holds no other row, and not these; docs/locate.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from counterfoil.delivery.locating import RowUse, locate_digests
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import timestamp
from counterfoil_core.bundle.checked import OnProgress
from counterfoil_core.bundle.schema import ArraySpec
from counterfoil_core.signing.envelope import open_named, sign_statement
from counterfoil_core.signing.intoto import ROW_USE_PREDICATE, make_statement, make_subject
from counterfoil_core.signing.keys import PublicKey, SigningKey
from counterfoil_core.signing.predicates import take_time

MAX_BYTES = 2**24
"""Bytes of a statement that is read."""
_MOST = 2**40
"""No place and no step is as large."""
_WHAT = say("statement on rows")


@dataclass(frozen=True)
class SignedRowUse:
    """A statement on rows; the signature holds, and nothing else is known.

    Attributes:
        uses: For each array and row, what is said of it; at least one, all of one order and run. A row's number is
            that of its SHA-256 among those that the statement names, in their order.
        signed_at: ISO 8601 time in UTC, as the clock of whoever signed had it.
        key_id: Key id of the key that signed.
    """

    uses: tuple[RowUse, ...]
    signed_at: str
    key_id: str


def fields_of(use: RowUse) -> dict[str, Any]:
    """Return what is said of one row in one array, as JSON values. The row itself is not in it, its SHA-256 is."""
    return {
        "order": use.order.hex,
        "data_root": use.data_root.hex,
        "array": use.array,
        "dtype": use.dtype,
        "shape": list(use.shape),
        "row": use.row.hex,
        "places": list(use.places),
        "steps": list(use.steps),
        "filled": list(use.filled),
    }


def sign_row_use(uses: Sequence[RowUse], key: SigningKey, when: datetime | None = None) -> bytes:
    """Sign what was found of rows in one run; returns the DSSE envelope as JSON bytes.

    Args:
        uses: What was found, all of one run; at least one.
        key: The key of whoever looked.
        when: The time, with its zone; now unless given.
    """
    predicate = {"rows": [fields_of(use) for use in uses], "signed_at": timestamp(when), "public_key": key.public.pem}
    return sign_statement(make_statement(_subjects(uses[0].run_root), ROW_USE_PREDICATE, predicate), key)


def open_row_use(envelope: bytes, key: PublicKey) -> SignedRowUse:
    """Check who signed a statement on rows.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The key that must have signed it.

    Raises:
        SignatureError: It is malformed, or does not hold for this key.
    """
    if len(envelope) > MAX_BYTES:
        raise SignatureError(say("The {0} is longer than {1} bytes.", _WHAT, MAX_BYTES))
    statement, key = open_named(envelope, ROW_USE_PREDICATE, _WHAT, key)
    root = _run_root(statement["subject"])
    fields = Fields(statement["predicate"], _WHAT, SignatureError)
    fields.take("public_key", str)
    uses = [_use(value, root) for value in fields.take("rows", list)]
    found = SignedRowUse(_numbered(uses), take_time(fields, "signed_at", _WHAT), key.key_id)
    fields.end()
    if not uses or len({(use.order, use.data_root) for use in uses}) != 1:
        raise SignatureError(say("The {0} is not about the rows of one order.", _WHAT))
    return found


def take_again(
    signed: SignedRowUse,
    run: Path,
    cancel: CancelToken | None = None,
    progress: OnProgress | None = None,
    *,
    data: Path | None = None,
) -> tuple[RowUse, ...]:
    """Look for the rows that a statement names, by their SHA-256, in every array whose rows have such a form.

    Args:
        signed: The statement.
        run: The run that it should be of.
        cancel: Looked at while arrays are read.
        progress: Called with the rows that were compared, and their total.
        data: The data file, for an order that keeps arrays outside.

    Raises:
        GivenFileError: As :func:`counterfoil.delivery.locating.locate_digests`.
        RefusedError: The run is damaged, or not what its trainer signed.
        CancelledError: ``cancel`` was set.
    """
    forms: dict[tuple[str, tuple[int, ...]], dict[Digest, None]] = {}
    for use in signed.uses:
        forms.setdefault((use.dtype, use.shape), {})[use.row] = None

    def wanted(spec: ArraySpec) -> list[Digest] | None:
        found = forms.get((spec.dtype, tuple(spec.shape[1:])))
        return None if found is None else list(found)

    return locate_digests(wanted, run, cancel, progress, data=data)


def differing(signed: SignedRowUse, found: Sequence[RowUse]) -> list[str]:
    """Return the rows of which a statement says otherwise than a run of the same root shows; empty where none. Pure.

    Args:
        signed: The statement.
        found: What the run shows of the same rows (:func:`take_again`).
    """
    shown = {(use.array, use.row): replace(use, number=0) for use in found}
    # Each is compared, not one for each name: a statement could name a row twice, and say two things of it.
    wrong = [(use.array, use.row) for use in signed.uses if shown.get((use.array, use.row)) != replace(use, number=0)]
    wrong += shown.keys() - {(use.array, use.row) for use in signed.uses}
    return [
        f"row {row.short}... in {array}" for array, row in sorted(set(wrong), key=lambda each: (each[0], each[1].hex))
    ]


def _subjects(run_root: Digest) -> list[dict[str, Any]]:
    return [make_subject("run", run_root, "rfc9162Sha256")]


def _run_root(subject: Any) -> Digest:
    try:
        root = Digest.from_hex(subject[0]["digest"]["rfc9162Sha256"])
        if subject == _subjects(root):
            return root
    except (LookupError, TypeError, ValueError):
        pass
    raise SignatureError(say("The {0} is about something else than a run.", _WHAT))


def _use(value: Any, run_root: Digest) -> RowUse:
    fields = Fields(value, _WHAT, SignatureError)
    found = RowUse(
        array=fields.text("array", 200), data_root=fields.digest("data_root"), order=fields.digest("order"),
        run_root=run_root, dtype=fields.text("dtype", 16), shape=_numbers(fields, "shape", 0), row=fields.digest("row"),
        number=0, places=_numbers(fields, "places", 0), steps=_numbers(fields, "steps", 1),
        filled=_numbers(fields, "filled", 1),
    )  # fmt: skip
    fields.end()
    return found


def _numbers(fields: Fields, name: str, least: int) -> tuple[int, ...]:
    found = fields.take(name, list)
    if not all(type(each) is int and least <= each < _MOST for each in found):
        raise SignatureError(say("The field {0} of the {1} holds something else than numbers.", repr(name), _WHAT))
    return tuple(found)


def _numbered(uses: Sequence[RowUse]) -> tuple[RowUse, ...]:
    order = {row: number for number, row in enumerate(dict.fromkeys(use.row for use in uses))}
    return tuple(replace(use, number=order[use.row]) for use in uses)
