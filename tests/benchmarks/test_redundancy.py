"""The page's table of redundant shares is what the command computes."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.pages import MEASURED, markers

from benchmarks import redundancy

PAGE = Path(__file__).parents[2] / "docs" / "redundancy.md"


def test_the_page_has_the_table_that_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    redundancy.main([])
    table = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    begin, end = markers(MEASURED)
    inside = PAGE.read_text().partition(begin)[2].partition(end)[0]
    assert [line for line in inside.splitlines() if line.startswith("|")] == table
    assert len(table) == 2 + sum(map(len, redundancy.SETTINGS.values()))


def test_two_of_twenty_one_colluders_distort_a_hundredth_of_what_they_would_in_groups() -> None:
    found = redundancy.attacked(21, 2)
    assert (found.voted, found.shares, found.replayed, found.left) == (2, 1330, 1, 0)
    *_, less, _, _ = next(redundancy.lines([found]))
    assert less == "99 %"
