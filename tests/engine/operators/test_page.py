"""docs/operators.md holds the table that the code gives, and every operator of the allow-list."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from counterfoil.operators.catalogue import allowed_names

ROOT = Path(__file__).parents[3]


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("operator_table", ROOT / "packaging" / "operator_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = load_script()
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
