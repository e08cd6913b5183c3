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


FEW = ("nothing", "withdrawn", "signer's key compromised", "trainer's key compromised", "expired certificate")


def test_a_few_rows_come_out_as_the_page_says(tmp_path: Path) -> None:
    (tmp_path / "desk").mkdir()
    (tmp_path / "cases").mkdir()
    made = tables(Desk(tmp_path / "desk"), tmp_path / "cases", [case for case in CASES if case.name in FEW])
    rows = [line for line in made.splitlines() if line]
    assert len(rows) == 2 * (2 + len(FEW))
    page = PAGE.read_text("utf-8")
    assert [row for row in rows if row not in page] == [], "run python -m tests.trust --write docs/threat-model.md"


@pytest.mark.slow
def test_the_page_has_what_comes_of_each(written: str) -> None:
    page = PAGE.read_text("utf-8")
    assert replaced_between(page, "trust", written) == page, "run python -m tests.trust --write docs/threat-model.md"


def test_no_cell_is_empty_and_none_accepts_what_does_not_count() -> None:
    """In the page, whose rows the tests above make."""
    written = PAGE.read_text("utf-8").partition("<!-- trust: begin -->")[2].partition("<!-- trust: end -->")[0]
    table, others = (
        [line.strip("| ").split(" | ") for line in part.splitlines()] for part in written.strip().split("\n\n")
    )
    assert table[0][1:] == list(VERDICT_READERS)
    for heads, _, *rows in (table, others):
        assert [row[0] for row in rows] == [case.name for case in CASES]
        assert all(len(row) == len(heads) and all(row) for row in rows)
    for name, *cells in table[2:]:
        accepted = [cell in ACCEPTED for cell in cells if cell != NOT_ASKED]
        assert set(accepted) == {name in CHANGES_NOTHING}, name
