"""Groups of options: what a command of groups is for typer, and what it gets."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer

from counterfoil.cli.commands import PLACES, load_command
from counterfoil.cli.groups import Defaults, flat
from counterfoil.cli.places import READS, guard

Steps = Annotated[int, typer.Option(min=1, help="How many.")]


@dataclass(frozen=True, kw_only=True)
class Pace:
    """An inner group."""

    steps: Steps
    rate: Annotated[float, typer.Option()] = 0.5


@dataclass(frozen=True, kw_only=True)
class Job:
    """A group with another one in it."""

    source: Annotated[Path, READS, typer.Option()]
    pace: Pace
    quick: Annotated[bool, typer.Option("--quick")] = False


got: dict[str, object] = {}


def train(
    name: Annotated[str, typer.Argument()],
    job: Annotated[Job, Defaults(steps=7, quick=True)],
    note: Annotated[str, typer.Option()] = "",
) -> None:
    """Train."""
    got.update(name=name, job=job, note=note)


def test_each_option_stands_by_itself_the_needed_ones_first() -> None:
    options = inspect.signature(flat(train)).parameters
    assert list(options) == ["name", "source", "steps", "rate", "quick", "note"]
    assert {
        name: option.default for name, option in options.items() if option.default is not inspect.Parameter.empty
    } == {
        "steps": 7,
        "rate": 0.5,
        "quick": True,
        "note": "",
    }
    assert options["steps"].annotation == Steps


def test_a_command_gets_its_groups() -> None:
    flat(train)(name="a", source=Path("s"), steps=3, rate=0.1, quick=False, note="n")
    assert got == {"name": "a", "job": Job(source=Path("s"), pace=Pace(steps=3, rate=0.1)), "note": "n"}


def test_typer_reads_it_and_paths_in_groups_are_compared(tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(guard(flat(train)))
    place = tmp_path / "s"
    typer.main.get_command(app)(["a", "--source", str(place), "--rate", "0.25"], standalone_mode=False)
    assert got["job"] == Job(source=place, pace=Pace(steps=7, rate=0.25), quick=True)
    with pytest.raises(Exception, match="greater than or equal to 1"):
        typer.main.get_command(app)(["a", "--source", str(place), "--steps", "0"], standalone_mode=False)


def test_a_command_of_single_options_stays_itself() -> None:
    def plain(name: Annotated[str, typer.Argument()]) -> None:
        """Plain."""

    assert flat(plain) is plain


def test_no_option_stands_twice() -> None:
    def twice(job: Job, pace: Pace) -> None:
        """Twice."""

    with pytest.raises(TypeError, match="has an option twice"):
        flat(twice)


@pytest.mark.parametrize("name", PLACES)
def test_every_command_can_be_read(name: str) -> None:
    found = load_command(PLACES[name])
    commands = [part.callback for part in found.registered_commands] if isinstance(found, typer.Typer) else [found]
    for command in commands:
        options = inspect.signature(command, eval_str=True).parameters.values()
        assert options
        assert not any(is_dataclass(option.annotation) for option in options)
