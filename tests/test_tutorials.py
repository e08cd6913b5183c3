"""Runs the command lines and scripts of the tutorials, and compares what they print with what the pages say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.consoles import as_said, examples, here

DOCS = Path(__file__).parents[1] / "docs"
ON_THE_COMMAND_LINE = {
    "tutorial-client-and-trainer.md": {
        "keygen", "order", "train", "inspect", "audit", "verify", "export", "verify-weights", "-c",
    },
    "tutorial-own-script.md": {"digits.py", "order", "keygen", "train", "audit", "export", "use.py"},
}  # fmt: skip
"""The tutorials without a window, and what each calls."""


def text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


@pytest.mark.parametrize(("page", "called"), ON_THE_COMMAND_LINE.items(), ids=ON_THE_COMMAND_LINE)
def test_a_tutorial_shows_what_it_is_about(page: str, called: set[str]) -> None:
    assert {command.split()[1] for command, _ in examples(text(page))} == called


@pytest.mark.sampled(1)
@pytest.mark.parametrize("page", ON_THE_COMMAND_LINE)
def test_the_lines_of_a_tutorial_do_what_it_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, script in re.findall(r"^```python\n# (\S+)\n(.*?)^```", text(page), re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(script, encoding="utf-8")
    for command, expected in examples(text(page)):
        shown = here(command)
        assert as_said(expected, shown), f"$ {command}\n{shown}\n-- {page}:\n{expected}"
