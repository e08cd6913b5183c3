"""docs/models.md is what the table of public models gives."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from support.public_models.entry import KINDS
from support.public_models.table import ENTRIES

ROOT = Path(__file__).parents[2]


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("models_page", ROOT / "packaging" / "models_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = load_script()
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
