"""The results of replayed steps, kept as numbers: 162 bytes for each, where an object takes some 760 (measured)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np

from counterfoil import Digest, StepMatch, StepRow

_MATCHES = tuple(StepMatch)
_TABLE = np.dtype(
    [
        ("step", np.int64),
        ("match", np.uint8),
        ("trainer_leaf", "V32"),
        ("replayed", np.bool_),
        ("replay_leaf", "V32"),
        ("trainer_loss", np.float64),
        ("replay_loss", np.float64),
        ("log_entries", np.int64),
        ("log_bytes", np.int64),
        ("corrections", np.int64),
        ("contradictions", np.int64),
        ("omissions", np.int64),
        ("rounded_values", np.int64),
        ("seconds", np.float64),
        ("steerable", np.int64),
        ("steered", np.int64),
    ]
)
"""One record for each row: a column for each field of StepRow, and whether it has a replay's leaf."""
_FIRST_ROOM = 1024


class StepRows(Sequence[StepRow]):
    """Rows in the order in which they came. They can be added, and never change."""

    def __init__(self, rows: Iterable[StepRow] = ()) -> None:
        self._table = np.empty(0, _TABLE)
        self._count = 0
        self.extend(rows)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> StepRow: ...

    @overload
    def __getitem__(self, place: slice) -> list[StepRow]: ...

    def __getitem__(self, place: int | slice) -> StepRow | list[StepRow]:
        """Make the row at a place anew, or those of a slice."""
        records = self._table[: self._count]
        return [_row(record) for record in records[place]] if isinstance(place, slice) else _row(records[place])

    def extend(self, rows: Iterable[StepRow]) -> None:
        """Add rows at the end."""
        records = [_record(row) for row in rows]
        needed = self._count + len(records)
        if needed > len(self._table):
            table = np.empty(max(needed, 2 * len(self._table), _FIRST_ROOM), _TABLE)
            table[: self._count] = self._table[: self._count]
            self._table = table
        self._table[self._count : needed] = records
        self._count = needed

    def so_far(self) -> StepRows:
        """Return the rows that are there now; what is added later is not among them. Another thread may read them."""
        result = StepRows()
        result._table, result._count = self._table, self._count
        return result


def _record(row: StepRow) -> tuple[object, ...]:
    return (
        row.step,
        _MATCHES.index(row.match),
        np.void(row.trainer_leaf.value),
        row.replay_leaf is not None,
        np.void(row.replay_leaf.value if row.replay_leaf is not None else bytes(32)),
        row.trainer_loss,
        row.replay_loss,
        row.log_entries,
        row.log_bytes,
        row.corrections,
        row.contradictions,
        row.omissions,
        row.rounded_values,
        row.seconds,
        row.steerable,
        row.steered,
    )


def _row(record: np.void) -> StepRow:
    values: Any = record.item()
    step, match, trainer, replayed, replay, *others = values
    return StepRow(step, _MATCHES[match], Digest(trainer), Digest(replay) if replayed else None, *others)
