"""docs/models.md is what the table of public models gives."""

from __future__ import annotations

from pathlib import Path

from support.public_models.entry import KINDS
from support.public_models.table import ENTRIES
from support.scripts import load_script

ROOT = Path(__file__).parents[2]


script = load_script(ROOT / "packaging" / "models_page.py")
PAGE = script.PAGE.read_text(encoding="utf-8")


def test_the_page_is_what_the_table_gives() -> None:
    assert script.page() == PAGE, "run python packaging/models_page.py"


def test_every_entry_has_a_row_and_every_refusal_a_reason() -> None:
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES) >= 60
    for entry in ENTRIES:
        assert f"| {entry.name} | {entry.library} |" in PAGE
        assert bool(entry.refused) == bool(entry.why)
        assert set(entry.refused) <= set(KINDS)


def test_nearly_all_of_the_first_sixty_are_verified() -> None:
    for kind in KINDS:
        assert sum(kind not in entry.refused for entry in ENTRIES[:60]) >= 57
