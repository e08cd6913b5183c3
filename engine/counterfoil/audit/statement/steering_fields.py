"""The steering account as fields of a verdict, written and read strictly. docs/verdict.md lists them."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from counterfoil.audit.values.report import NAMED_SITES, Steering, SteeringRow
from counterfoil.errors import SignatureError
from counterfoil.fields import Fields
from counterfoil.program.limits import MAX_OPERATORS
from counterfoil.sentence import say

_COUNTS = ("values", "entries", "corrections", "steerable", "steered")
_COUNT = re.compile(r"0|[1-9][0-9]{0,19}")
_MAX_SIGNIFICAND_BITS = 53


def steering_fields(steering: Steering) -> dict[str, Any]:
    """Return the account as JSON values; counts are text, as everywhere in a verdict."""
    return {
        "significandBits": steering.significand_bits,
        "suspects": list(steering.suspects),
        "operators": [
            {"kind": row.kind} | {name: str(getattr(row, name)) for name in _COUNTS} for row in steering.rows
        ],
    }


def read_steering(value: Any, entries: int, corrections: int) -> Steering | None:
    """Read the account of a verdict.

    Args:
        value: JSON values from a stranger, or None.
        entries: Log entries that the verdict states in all; the rows must add up to them.
        corrections: Likewise.

    Raises:
        SignatureError: A field is missing, unknown, of another type, or contradicts another.
    """
    if value is None:
        return None
    fields = Fields(value, "verdict's steering", SignatureError)
    significand_bits = fields.integer("significandBits", 2, _MAX_SIGNIFICAND_BITS)
    suspects = fields.take("suspects", list)
    operators = fields.take("operators", list)
    fields.end()
    if len(operators) > MAX_OPERATORS or not all(isinstance(name, str) for name in suspects):
        raise SignatureError(say("The verdict's steering has too many operators, or suspects that are not texts."))
    rows = tuple(_read_row(row) for row in operators)
    kinds = len({row.kind for row in rows})
    if len(suspects) > max(NAMED_SITES, kinds) or any(one.kind >= other.kind for one, other in pairwise(rows)):
        raise SignatureError(
            say("The operators of the verdict's steering are not in order, or it has too many suspects.")
        )
    steering = Steering(rows, significand_bits, tuple(suspects))
    if (steering.entries, sum(row.corrections for row in rows)) != (entries, corrections):
        raise SignatureError(say("The operators of the verdict's steering do not add up to its log entries."))
    return steering


def _read_row(value: Any) -> SteeringRow:
    fields = Fields(value, "operator of the verdict's steering", SignatureError)
    kind = fields.take("kind", str)
    counts = [fields.take(name, str) for name in _COUNTS]
    fields.end()
    if not all(_COUNT.fullmatch(text) for text in counts):
        raise SignatureError(say("A count of the verdict's steering is not a whole number."))
    values, entries, corrections, steerable, steered = map(int, counts)
    if not (steered <= min(steerable, corrections) and max(steerable, corrections) <= entries <= values):
        raise SignatureError(say("The verdict's steering of {0} has a part that is larger than the whole.", repr(kind)))
    return SteeringRow(kind, values, entries, corrections, steerable, steered)
