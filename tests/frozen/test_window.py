"""What the window, its dialogs and its reports say is what it was, to the byte, in every language."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("PySide6", reason="the window is not installed")

from tests.frozen.groups import GROUPS
from tests.frozen.store import stored

FILES = stored((*GROUPS["window"].prefixes, *GROUPS["german"].prefixes))


@pytest.mark.slow
@pytest.mark.parametrize("group", ["window", "german"])
def test_a_window_says_the_same(group: str, tmp_path: Path) -> None:
    made, kept = GROUPS[group].make(tmp_path), stored(GROUPS[group].prefixes)
    assert made.keys() == kept.keys()
    assert [name for name, text in made.items() if text != kept[name]] == [], "python -m tests.frozen shows more"


def test_every_dialog_is_there_in_both_languages() -> None:
    english, german = (
        {name.partition(f"/{code}/")[2] for name in FILES if f"/{code}/" in name} for code in ("en", "de")
    )
    assert german <= english
    assert sum(name.startswith("dialog-") for name in german) > 25
    assert not {name for name in english - german if name.startswith("dialog-")}
