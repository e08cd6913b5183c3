"""What became of the lies, as a part of docs/threat-model.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from benchmarks.pages import replaced_between

from lies.campaign import Told

MARKER = "lies"
PAIRS = "two fields at once"


def table(told: Sequence[Told], seed: int) -> str:
    """A row for each subject and outcome: the fields that had it whenever they were lied about, then the mixed ones."""
    counts: dict[str, dict[str, Counter[str]]] = {}
    for lie in told:
        field = _short(lie.fields[0]) if len(lie.fields) == 1 else PAIRS
        counts.setdefault(lie.subject, {}).setdefault(field, Counter())[lie.outcome] += 1
    believed = sum(lie.wrong for lie in told)
    lines = [
        f"{len(told):,} lies, by `python -m tests.lies --lies {len(told)} --seed {seed}`; {believed} were believed.",
        "",
        "| what is lied about | fields | outcome |",
        "|---|---|---|",
    ]
    for subject, fields in counts.items():
        rows: dict[str, list[str]] = {}
        total: dict[str, int] = Counter()
        for field, outcomes in fields.items():
            named = ", ".join(f"{name} {count:,}" for name, count in sorted(outcomes.items()))
            row = next(iter(outcomes)) if len(outcomes) == 1 and field != PAIRS else named
            rows.setdefault(row, []).append(field)
            total[row] += outcomes.total()
        for row, names in rows.items():
            alone = names == [PAIRS] or len(row.split()) > 1
            outcome = row if alone else f"{row} {total[row]:,}"
            lines.append(f"| {subject} | {', '.join(map(_code, names))} | {outcome} |")
    return "\n".join(lines)


def write_table(page: str, text: str) -> str:
    """Put the table in its place on the page."""
    return replaced_between(page, MARKER, text)


def _short(field: str) -> str:
    """A field as it stands in the table: what lies within a list or an object goes with the one that holds it."""
    head, colon, tail = field.partition(": ")
    if colon and head.startswith("order/"):
        return f"{head}: {tail.partition('.')[0].partition('[')[0]}"
    words = tail.split(".") if colon else head.split(".")
    short = ".".join(words[:2]).partition("[")[0]
    return f"{head}: {short}" if colon else short


def _code(field: str) -> str:
    return field if field == PAIRS or field.startswith(("header", "numbers", "run/log: ")) else f"`{field}`"
