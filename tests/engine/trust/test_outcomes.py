"""Every kind of statement, with everything that can befall it, before everybody who reads it; docs/threat-model.md."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.pages import replaced_between

from trust.outcomes import CASES, NOT_ASKED, VERDICT_READERS, Desk, tables

PAGE = Path(__file__).parents[3] / "docs" / "threat-model.md"
ACCEPTED = ("0", "1", "counts", "counted", "DELIVERED", "HELD")
CHANGES_NOTHING = (
    "nothing", "replied to", "withdrawn by a stranger", "signer's key retired since", "party's key retired since",
)  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> str:
    (desk := tmp_path_factory.mktemp("trust") / "desk").mkdir()
    (cases := desk.with_name("cases")).mkdir()
    return tables(Desk(desk), cases)


def test_the_page_has_what_comes_of_each(written: str) -> None:
    page = PAGE.read_text("utf-8")
    assert replaced_between(page, "trust", written) == page, "run python -m tests.trust --write docs/threat-model.md"


def test_no_cell_is_empty_and_none_accepts_what_does_not_count(written: str) -> None:
    table, others = ([line.strip("| ").split(" | ") for line in part.splitlines()] for part in written.split("\n\n"))
    assert table[0][1:] == list(VERDICT_READERS)
    for heads, _, *rows in (table, others):
        assert [row[0] for row in rows] == [case.name for case in CASES]
        assert all(len(row) == len(heads) and all(row) for row in rows)
    for name, *cells in table[2:]:
        accepted = [cell in ACCEPTED for cell in cells if cell != NOT_ASKED]
        assert set(accepted) == {name in CHANGES_NOTHING}, name
