"""The tutorial for auditors names what the window has, and its pictures are those of a walk through it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QAction

from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.sample import CHECKPOINT_EVERY, STEPS, TAMPERED_STEP
from counterfoil_app.shell.window import MainWindow
from support.fake_engine import FakeEngine

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial-auditor.md").read_text(encoding="utf-8")
MakeWindow = Callable[[Engine], MainWindow]


def plain(words: str) -> str:
    return words.replace("&", "").removesuffix("…")


def entries(window: MainWindow) -> Iterator[tuple[str, QAction]]:
    """What the window offers, by its path as the page writes it."""
    for where, action in window.menus.commands():
        yield f"{where} > {plain(action.text())}", action


def test_the_menus_and_keys_that_the_tutorial_names_are_there(window_of: MakeWindow, engine: FakeEngine) -> None:
    offered = {path: action.shortcut().toString() for path, action in entries(window_of(engine))}
    last = {path.rpartition(" > ")[2]: keys for path, keys in offered.items()}
    named = re.findall(r"\*([^*\n]+)\* \(((?:Ctrl|Alt|Shift|F\d)[^)]*)\)", PAGE)
    assert len(named) >= 7
    for path, keys in named:
        assert {**last, **offered}[path] == keys, path


def test_the_steps_that_the_tutorial_names_are_those_of_the_sample() -> None:
    stored = -(-TAMPERED_STEP // CHECKPOINT_EVERY) * CHECKPOINT_EVERY
    assert f"{STEPS} training steps" in PAGE
    assert f"step {TAMPERED_STEP} is red. Steps {TAMPERED_STEP + 1} to {stored} are hatched" in PAGE
    assert f"From step {stored + 1} on" in PAGE


def test_the_tutorial_has_its_pictures() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(images/(tutorial-\w+\.png)\)", PAGE)
    assert sorted(pictures) == sorted(path.name for path in (ROOT / "docs" / "images").glob("tutorial-*.png"))


@pytest.mark.slow
def test_the_window_goes_through_the_tutorial_as_it_says(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "packaging" / "tutorial_pictures.py"), str(tmp_path)]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = {path.name for path in tmp_path.glob("*.png")}
    assert made == {path.name for path in (ROOT / "docs" / "images").glob("tutorial-*.png")}
