"""Runs the README's command lines and compares what they print with what the README says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.consoles import as_said, examples, here

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_command_of_the_walk_through_is_shown() -> None:
    used = {command.split()[1] for command, _ in examples(README)}
    assert used == {
        "order", "keygen", "train", "inspect", "plan", "audit", "-c", "adjudicate", "referee", "verify",
        "examples/small_gpt.py", "export", "verify-weights",
    }  # fmt: skip


LONGEST_SENTENCE = 25


def sentences(page: str) -> list[str]:
    """The sentences of the page's text: of its paragraphs and lists, and not of tables, headings and code."""
    text = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    text = "\n".join(line for line in text.splitlines() if not line.startswith(("|", "#", "![")))
    text = re.sub(r"`[^`]*`", "code", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text))
    blocks = (" ".join(block.split()) for block in re.split(r"\n\s*\n|\n(?=[-*] )", text))
    return [sentence for block in blocks for sentence in re.split(r"(?<=[.?!:;])\s+", block) if sentence]


def test_no_sentence_is_long() -> None:
    found = sentences(README)
    assert len(found) > 80
    assert [sentence for sentence in found if len(sentence.split()) > LONGEST_SENTENCE] == []


def in_a_shell(command: str, folder: Path) -> str:
    """Run a command line as a reader does, with the program that was installed; returns what it shows."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=dict(os.environ, PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


def test_the_examples_do_what_the_readme_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first that shows an exit code other than 0 runs in a shell, as a control that both ways are the same."""
    monkeypatch.chdir(tmp_path)
    in_shell = 0
    for command, expected in examples(README):
        if not in_shell and "exit code 3" in expected:
            shown = in_a_shell(command, tmp_path)
            in_shell += 1
            assert here(command) == shown
        else:
            shown = here(command)
        assert as_said(expected, shown), f"$ {command}\n{shown}\n-- README:\n{expected}"
    assert in_shell == 1
