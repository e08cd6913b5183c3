"""What the window, its dialogs and its reports say is what it was, to the byte, in every language."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("PySide6", reason="the window is not installed")

from tests.frozen.groups import GROUPS
from tests.frozen.store import Texts, stored

WINDOW = GROUPS["window"]
FILES = stored(WINDOW.prefixes)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Texts:
    folder: Path = tmp_path_factory.mktemp("window")
    return WINDOW.make(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_window_says_the_same(name: str, made: Texts) -> None:
    assert made.get(name) == FILES[name], "python -m tests.frozen window shows the difference"


def test_no_window_is_new(made: Texts) -> None:
    assert made.keys() <= FILES.keys()


def test_every_dialog_is_there_in_both_languages() -> None:
    english, german = (
        {name.partition(f"/{code}/")[2] for name in FILES if f"/{code}/" in name} for code in ("en", "de")
    )
    assert german <= english
    assert sum(name.startswith("dialog-") for name in german) > 25
    assert not {name for name in english - german if name.startswith("dialog-")}
