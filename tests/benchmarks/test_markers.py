from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.pages import between, replaced_between, write_between

from counterfoil_core.base.errors import DataError

PAGE = "before\n<!-- a: begin -->\nold\n<!-- a: end -->\nafter\n"


def test_only_what_stands_between_the_markers_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    write_between(page, "a", "new")
    assert page.read_text(encoding="utf-8") == PAGE.replace("old", "new")
    assert between(PAGE, "a") == "old"
    assert replaced_between(PAGE, "a", between(PAGE, "a")) == PAGE


@pytest.mark.parametrize(
    "page", ["", PAGE + PAGE, PAGE.replace("begin", "x"), PAGE.replace("end", "x"),
             "<!-- a: end -->\n<!-- a: begin -->"]
)  # fmt: skip
def test_a_page_without_both_markers_once_in_order_is_left_alone(page: str) -> None:
    with pytest.raises(DataError, match="a: begin"):
        replaced_between(page, "a", "new")
