"""What became of the faults, as a part of docs/threat-model.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from benchmarks.pages import replaced_between

from faults.trial import Tried

MARKER = "faults"
_ENDS = ("right", "INCONCLUSIVE", "ERROR", "stopped")


def table(tried: Sequence[Tried], seed: int) -> str:
    """A row for each command: how it ended, and how often something was wrong."""
    failed = [each for each in tried if each.failed]
    lines = [
        f"{len(tried):,} faults, by `python -m tests.faults --faults {len(tried)} --seed {seed}`; in {len(failed):,} "
        f"of them a call failed or nobody could count; {sum(bool(each.wrong) for each in tried)} ended wrong.",
        "",
        "| command | faults | right at once | INCONCLUSIVE | ERROR | ended by a signal | wrong |",
        "|---|---|---|---|---|---|---|",
    ]
    for work in dict.fromkeys(each.fault.work for each in tried):
        chosen = [each for each in tried if each.fault.work == work]
        ends = Counter(each.ended for each in chosen)
        cells = [f"{ends[end]:,}" for end in _ENDS]
        wrong = sum(bool(each.wrong) for each in chosen)
        lines.append(f"| {work} | {len(chosen):,} | {' | '.join(cells)} | {wrong} |")
    return "\n".join(lines)


def write_table(page: str, text: str) -> str:
    """Put the table in its place on the page."""
    return replaced_between(page, MARKER, text)
