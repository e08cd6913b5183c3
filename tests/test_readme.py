"""Runs the README's command lines and compares what they print with what the README says."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# "..." in the README stands for whatever differs from run to run: digests, times, losses.
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples() -> list[tuple[str, str]]:
    """Return the command lines of all ``console`` blocks, each with the output that is said to follow."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found: list[tuple[str, str]] = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for part in block.removeprefix("$ ").split("\n$ "):
            command, _, output = part.partition("\n")
            found.append((command, output if output.endswith("\n") or not output else output + "\n"))
    return found


def test_every_command_of_the_walk_through_is_shown() -> None:
    used = {command.split()[1] for command, _ in examples()}
    assert used == {
        "order", "keygen", "train", "inspect", "plan", "audit", "-c", "adjudicate", "referee", "verify",
    }  # fmt: skip


def test_the_examples_do_what_the_readme_says(tmp_path: Path) -> None:
    environment = dict(os.environ, PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    checker = doctest.OutputChecker()
    for command, expected in examples():
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert checker.check_output(expected, done.stdout, FLAGS), f"$ {command}\n{done.stdout}\n-- README:\n{expected}"
