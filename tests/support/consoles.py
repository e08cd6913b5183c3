"""Command lines of a page's ``console`` blocks, run as a reader does, with what the page says that they print."""

from __future__ import annotations

import doctest
import io
import re
import runpy
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from counterfoil.cli import main

ROOT = Path(__file__).parents[2]
# "..." on a page stands for whatever differs from run to run: digests, times, losses.
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples(text: str) -> list[tuple[str, str]]:
    """Return the command lines of all ``console`` blocks, each with the output that is said to follow."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for part in block.removeprefix("$ ").split("\n$ "):
            command, _, output = part.partition("\n")
            found.append((command, output if output.endswith("\n") or not output else output + "\n"))
    return found


def as_said(expected: str, shown: str) -> bool:
    """Whether a command printed what the page says."""
    return doctest.OutputChecker().check_output(expected, shown, FLAGS)


def program(arguments: list[str]) -> None:
    """What ``python`` does with a line of code, with a program of ``examples``, or with one that lies here."""
    if arguments[0] == "-c":
        exec(arguments[1], {})
        return
    before, sys.argv = sys.argv, arguments
    folder = ROOT if arguments[0].startswith("examples/") else Path()
    try:
        runpy.run_path(str(folder / arguments[0]), run_name="__main__")
    finally:
        sys.argv = before


def here(command: str) -> str:
    """Run a command line in this process, which has loaded the libraries; in the working folder."""
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
