"""Commands are loaded when they are called, and what is said of them before is what they say themselves."""

from __future__ import annotations

import subprocess
import sys

import pytest

from counterfoil.cli import main
from counterfoil.cli.commands import PLACES, Later

HEAVY = "numpy", "rich", "msgspec", "cryptography", "numba", "torch", "counterfoil.cli.terminal"
"""What a command needs, and help does not."""


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
