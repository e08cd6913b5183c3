"""What a run did with some rows, as a signed statement that holds no other row, and not these; docs/locate.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from counterfoil.delivery.location import RowUse, locate_digests
from counterfoil.signing.kinds import RowFields, RowsStatement
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.schema import ArraySpec
from counterfoil_core.bundle.strictfile import OnProgress


def rows_statement(uses: Sequence[RowUse]) -> RowsStatement:
    """Return what is signed of rows in one run; at least one."""
    rows = tuple(RowFields(*(getattr(use, name) for name in RowFields.__struct_fields__)) for use in uses)
    return RowsStatement(rows, uses[0].about)


def uses_of(said: RowsStatement) -> tuple[RowUse, ...]:
    """Return what a statement says of rows; each has the number of its SHA-256 among those that it names, in order."""
    numbers = {row: number for number, row in enumerate(dict.fromkeys(each.row for each in said.rows))}
    return tuple(RowUse(**structs.asdict(each), about=said.run, number=numbers[each.row]) for each in said.rows)


def take_again(
    said: RowsStatement,
    run: Path,
    cancel: CancelToken | None = None,
    progress: OnProgress | None = None,
    *,
    data: Path | None = None,
) -> tuple[RowUse, ...]:
    """Look for the rows that a statement names, by their SHA-256, in every array whose rows have such a form.

    Args:
        said: The statement.
        run: The run that it should be of.
        cancel: Looked at while arrays are read.
        progress: Called with the rows that were compared, and their total.
        data: The data file, for an order that keeps arrays outside.

    Raises:
        GivenFileError: As :func:`counterfoil.delivery.location.locate_digests`.
        RefusedError: The run is damaged, or not what its trainer signed.
        CancelledError: ``cancel`` was set.
    """
    forms: dict[tuple[str, tuple[int, ...]], dict[Digest, None]] = {}
    for use in uses_of(said):
        forms.setdefault((use.dtype, use.shape), {})[use.row] = None

    def wanted(spec: ArraySpec) -> list[Digest] | None:
        found = forms.get((spec.dtype, tuple(spec.shape[1:])))
        return None if found is None else list(found)

    return locate_digests(wanted, run, cancel, progress, data=data)


def row_differences(said: RowsStatement, found: Sequence[RowUse]) -> list[str]:
    """Return the rows of which a statement says otherwise than a run of the same root shows; empty where none. Pure.

    Args:
        said: The statement.
        found: What the run shows of the same rows (:func:`take_again`).
    """
    shown = {(use.array, use.row): replace(use, number=0) for use in found}
    # Each is compared, not one for each name: a statement could name a row twice, and say two things of it.
    wrong = [(use.array, use.row) for use in uses_of(said) if shown.get((use.array, use.row)) != replace(use, number=0)]
    wrong += shown.keys() - {(use.array, use.row) for use in uses_of(said)}
    return [
        f"row {row.short}... in {array}" for array, row in sorted(set(wrong), key=lambda each: (each[0], each[1].hex))
    ]
