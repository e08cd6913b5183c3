"""Runs the README's command lines and compares what they print with what the README says."""

from __future__ import annotations

import doctest
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from counterfoil.cli import main

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
        "examples/small_gpt.py", "export", "verify-weights",
    }  # fmt: skip


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


def program(arguments: list[str]) -> None:
    """What ``python`` does with a line of code, or with a program of the folder ``examples``."""
    if arguments[0] == "-c":
        exec(arguments[1], {})
        return
    assert arguments[0].startswith("examples/")
    before, sys.argv = sys.argv, arguments
    try:
        runpy.run_path(str(ROOT / arguments[0]), run_name="__main__")
    finally:
        sys.argv = before


def here(command: str) -> str:
    """Do the same in this process, which has loaded the libraries; in the working folder."""
    command, asks, _ = command.partition('; echo "exit code $?"')
    name, *arguments = shlex.split(command)
    code = 0
    with io.StringIO() as shown, redirect_stdout(shown), redirect_stderr(shown):
        if name == "counterfoil":
            code = main(arguments)
        else:
            assert name == "python", command
            program(arguments)
        if asks:
            print(f"exit code {code}")
        return shown.getvalue()


def test_the_examples_do_what_the_readme_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first that shows an exit code other than 0 runs in a shell, as a control that both ways are the same."""
    monkeypatch.chdir(tmp_path)
    checker = doctest.OutputChecker()
    in_shell = 0
    for command, expected in examples():
        if not in_shell and "exit code 3" in expected:
            shown = in_a_shell(command, tmp_path)
            in_shell += 1
            assert here(command) == shown
        else:
            shown = here(command)
        assert checker.check_output(expected, shown, FLAGS), f"$ {command}\n{shown}\n-- README:\n{expected}"
    assert in_shell == 1
