"""docs/operators.md holds the table that the code gives, and every operator of the allow-list."""

from __future__ import annotations

from pathlib import Path

from counterfoil_core.operators.catalogue import allowed_names
from support.scripts import load_script

ROOT = Path(__file__).parents[3]


script = load_script(ROOT / "packaging" / "operator_table.py")
PAGE = script.PAGE.read_text(encoding="utf-8")


def test_the_page_is_what_the_code_gives() -> None:
    assert script.page(PAGE) == PAGE, "run python packaging/operator_table.py"


def test_a_table_that_was_edited_is_noticed() -> None:
    edited = PAGE.replace("| exact |", "| view |", 1)
    assert edited != PAGE
    assert script.page(edited) == PAGE


def test_every_operator_has_one_row() -> None:
    rows = [line.split("`")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    assert sorted(rows) == sorted(name.removeprefix("aten.") for name in allowed_names())


def test_every_scale_rule_of_the_table_is_explained() -> None:
    numerics = (ROOT / "docs" / "numerics.md").read_text(encoding="utf-8")
    cells = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| `")]
    rules = {rule for row in cells for rule in row[3:4]} - {""}
    assert len(rules) > 20
    for rule in rules:
        assert f"`{rule}`" in numerics, rule
