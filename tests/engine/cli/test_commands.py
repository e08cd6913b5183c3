"""Commands are loaded when they are called, and what is said of them before is what they say themselves."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from counterfoil.cli import main
from counterfoil.cli.app import app
from counterfoil.cli.commands import PLACES, Later

HEAVY = "numpy", "rich", "msgspec", "cryptography", "numba", "torch", "counterfoil.cli.terminal"
"""What a command needs, and help does not."""
SOURCES = Path(__file__).resolve().parents[3]
SAID = re.compile(r"\bcounterfoil ((?:[a-z][a-z-]*(?=[ '])[ ])+)([^'\n]*)")


def loaded_by(*arguments: str) -> set[str]:
    """The modules that a process has loaded when a command has ended."""
    code = (
        f"import sys; from counterfoil.cli import main; main({list(arguments)}); print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True, timeout=120
    )
    return set(done.stderr.split())


@pytest.mark.parametrize("name", PLACES)
def test_what_is_said_of_a_command_is_what_it_says(name: str) -> None:
    says = Later(name, PLACES[name]).loaded.help
    assert " ".join(says.split("\n\n")[0].split()) == PLACES[name].about


def test_help_loads_no_command() -> None:
    homes = {f"counterfoil.cli.{place.where.partition(':')[0]}" for place in PLACES.values()}
    loaded = loaded_by("--help")
    assert "counterfoil.cli.commands" in loaded
    assert not loaded & {*homes, *HEAVY}
    # The control: a command brings its own module, and no other command's.
    loaded = loaded_by("keygen", "--help")
    assert loaded & homes == {"counterfoil.cli.statements"}
    assert loaded & set(HEAVY)


def test_help_lists_every_command_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f"{name} {place.about}" in shown for name, place in PLACES.items())


def test_a_command_that_does_not_exist_is_said_to_be_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["adit"]) == 4
    assert "No such command 'adit'" in capsys.readouterr().err


def advice() -> Iterator[tuple[str, str]]:
    """Each command that a sentence of the product tells somebody to call, and the file that says so."""
    for folder in ("engine", "app"):
        for path in sorted((SOURCES / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    text = re.sub(r"\s+(?=--)", " ", node.value)
                    yield from ((match.group(0), path.name) for match in SAID.finditer(text) if "--" in match.group(0))


def unknown_options(said: str) -> set[str]:
    """The options in a sentence that its command has not."""
    words = re.split(r" -- |``|[)]|: |, |[.](?: |$)", said)[0].split()[1:]
    command = typer.main.get_command(app)
    while True:
        command = command.loaded if isinstance(command, Later) else command
        context = typer.Context(command)
        inner = command.get_command(context, words[0]) if words and hasattr(command, "get_command") else None
        if inner is None and command.name == "export":
            inner, words = command.get_command(context, "weights"), ["weights", *words]  # what it is short for
        if inner is None:
            there = {name for option in command.get_params(context) for name in (*option.opts, *option.secondary_opts)}
            return {word for word in words if word.startswith("--")} - there
        command, words = inner, words[1:]


def test_every_option_that_somebody_is_told_to_give_is_there() -> None:
    told = set(advice())
    assert len(told) > 40
    assert not {(*each, *missing) for each in told if (missing := unknown_options(each[0]))}
    # The control: options that are gone.
    assert unknown_options("counterfoil verify --statements") == {"--statements"}
    assert unknown_options("counterfoil export svr v.json --key a.pem --ot f") == {"--ot"}
