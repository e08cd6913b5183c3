"""What commands can be asked for, as data: what a window needs to ask a person for it.

The options are those of the commands themselves, so that nothing is declared twice.
"""

from __future__ import annotations

import inspect
import shlex
import subprocess
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Literal

from typer.models import OptionInfo, ParameterInfo

from counterfoil.cli.commands import PLACES, load_command
from counterfoil.cli.places import PathRole
from counterfoil_core.base.errors import DataError

Kind = Literal[
    "arguments", "choice", "file", "files", "folder", "function", "integer", "key", "number", "switch", "target",
    "text", "texts",
]  # fmt: skip
PATHS = ("file", "files", "folder", "key", "target")
"""The kinds that name files or folders: those that are read, one, several or a folder; a private key; one to write."""
YES, NO = "yes", "no"
"""The values of a switch."""
SCRIPT, OWN, SCORING = "script", "own", "scoring-script"
"""The forms of a client's own code: a training script, a function that returns a job, and an evaluation script. Every
other form is a recipe, and has its name."""
REST = "arguments"
"""What stands behind ``--``: a script's own arguments."""
_OWN_CODE = {SCRIPT: "script", SCORING: "script", OWN: "source"}
_EVALUATION = "evaluate"
# An evaluation has no backward pass, and reads every row.
_OF_TRAININGS = ("recompute_activations", "stop_early_patience", "stop_early_fall")
_NOT_FOR = {
    SCRIPT: ("source", "shares", "second_look"),
    OWN: ("script", "max_steps", "compare", "answer", "network"),
    # One command, and two forms: a script takes the place of a folder and data.
    _EVALUATION: ("script", "compare", "counts", *_OF_TRAININGS),
    SCORING: (
        "folder", "data", "weights", "task", "batch_size", "length", "pack", "columns", *_OF_TRAININGS,
    ),
}  # fmt: skip


@dataclass(frozen=True)
class CommandOption:
    """An option, or an argument, of a form."""

    name: str  #: What the code calls it.
    flag: str  #: How it is written, for instance ``--steps``; empty for an argument, and for what stands behind ``--``.
    off: str  #: How a switch is written that is to be off; empty where it is off when nothing is written.
    kind: Kind  #: What it takes; ``texts`` are several words, ``files`` several names as a shell takes them.
    default: str  #: What it is where nothing is said, as text; empty for nothing.
    shown_default: str  #: What that comes to, in words; empty where ``default`` says it.
    choices: tuple[str, ...]  #: Of a choice: its values.
    least: float | None  #: Of a number: the least; None for any.
    most: float | None  #: Of a number: the most; None for any.
    required: bool  #: Whether it must be said.
    help: str  #: What it is for, in sentences.


@dataclass(frozen=True)
class CommandForm:
    """What a command can be asked for."""

    name: str  #: The command; of orders the recipe, or one of :data:`SCRIPT`, :data:`OWN` and :data:`SCORING`.
    about: str  #: What it does, in a sentence.
    options: tuple[CommandOption, ...]  #: Its options, in the order of the help page.
    words: tuple[str, ...]  #: What is written before them: the command's name.

    @property
    def own_code(self) -> bool:
        """Whether it runs a client's own code, whose folder then matters."""
        return self.name in _OWN_CODE

    def option(self, name: str) -> CommandOption | None:
        """Return an option; None where it has none of this name."""
        return next((each for each in self.options if each.name == name), None)

    def arguments(self, values: Mapping[str, str]) -> tuple[str, ...]:
        """Return the arguments of ``counterfoil``, or of ``counterfoil order``.

        Args:
            values: What was chosen, by the names of options; what is empty or not named is left to the command.

        Raises:
            DataError: A script's arguments, or names of files, have a quotation mark too few.
        """
        found = list(self.words)
        rest: list[str] = []
        for option in self.options:
            value = values.get(option.name, "").strip()
            if not value or value == option.default:
                continue
            if option.kind == "arguments":
                rest = _divided(value)
            elif option.kind in ("files", "texts"):
                several = _divided(value) if option.kind == "files" else value.split()
                found += [part for word in several for part in (option.flag, word) if part]
            elif option.kind == "switch":
                found += [option.flag if value == YES else option.off]
            elif not option.flag:
                found.append(value)
            else:
                found += [f"{option.flag}={value}"] if value.startswith("-") else [option.flag, value]
        return (*found, *(["--", *rest] if rest else []))


def order_command(arguments: Sequence[str], folder: str = "") -> str:
    """Return the command line that does what :func:`counterfoil.make_order` does with these arguments.

    Args:
        arguments: Those of ``counterfoil order``.
        folder: The folder in which it is run; empty where that does not matter.
    """
    join: Callable[[Sequence[str]], str] = subprocess.list2cmdline if sys.platform == "win32" else shlex.join
    command = join(["counterfoil", "order", *arguments])
    return f"cd {join([folder])} && {command}" if folder else command


@cache
def order_forms() -> tuple[CommandForm, ...]:
    """Return what can be ordered: the recipes in the order of ``counterfoil order --help``, then own code."""
    group = load_command(PLACES["order"])
    callbacks = {str(each.name): each.callback for each in group.registered_commands if each.callback is not None}
    recipes = [
        CommandForm(name, _about(callback), _with_target(_of_recipe(name, callback)), (name,))
        for name, callback in callbacks.items()
    ]
    rest = CommandOption(REST, "", "", "arguments", "", "", (), None, None, False, "Arguments of the script itself.")
    own = []
    for name, first in _OWN_CODE.items():
        words = (_EVALUATION,) if name == SCORING else ()
        every = _with_target(_options(callbacks[_EVALUATION] if words else group.registered_callback.callback))
        options = [each for each in every if each.name not in _NOT_FOR[name]]
        options = [replace(each, required=each.required or each.name == first) for each in options]
        options.sort(key=lambda each: each.name != first)
        about = next(each.help for each in options if each.name == first)
        own.append(CommandForm(name, about, (*options, *([rest] if first == "script" else [])), words))
    return (*recipes, *own)


@cache
def command_form(arguments: tuple[str, ...]) -> CommandForm:
    """Return what a command can be asked for.

    Args:
        arguments: Its name, such as ``export`` and ``weights``; what stands behind it does not matter.

    Raises:
        KeyError: There is no such command.
    """
    name, *rest = arguments
    found = load_command(PLACES[name])
    if not inspect.isfunction(found):
        parts = {each.name or each.callback.__name__: each.callback for each in found.registered_commands}
        name, found = f"{name} {rest[0]}", parts[rest[0]]
    return CommandForm(name, _about(found), _options(found), tuple(name.split()))


def _divided(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise DataError(
            "A quotation mark is not closed.",
            remedy="Write a text with spaces in a pair of quotation marks.",
        ) from error


def _about(command: Callable[..., Any]) -> str:
    return " ".join((inspect.getdoc(command) or "").partition("\n\n")[0].split())


def _options(command: Callable[..., Any]) -> tuple[CommandOption, ...]:
    parameters = inspect.signature(command, eval_str=True).parameters.items()
    return tuple(_option(name, parameter) for name, parameter in parameters if _info(parameter) is not None)


def _of_recipe(name: str, recipe: Callable[..., Any]) -> tuple[CommandOption, ...]:
    options = [each for each in _options(recipe) if each.name not in _NOT_FOR.get(name, ())]
    needed = ("folder", "data") if name == _EVALUATION else ()
    return tuple(replace(each, required=each.required or each.name in needed) for each in options)


def _with_target(options: Sequence[CommandOption]) -> tuple[CommandOption, ...]:
    """An order that nobody wrote is none."""
    return tuple(replace(each, required=each.required or each.name == "out") for each in options)


def _info(parameter: inspect.Parameter) -> ParameterInfo | None:
    notes = typing.get_args(parameter.annotation)[1:]
    return next((note for note in notes if isinstance(note, ParameterInfo)), None)


def _option(name: str, parameter: inspect.Parameter) -> CommandOption:
    info = _info(parameter)
    assert info is not None
    takes, *notes = typing.get_args(parameter.annotation)
    if isinstance(takes, types.UnionType):
        takes = next(each for each in typing.get_args(takes) if each is not types.NoneType)
    role = next((note for note in notes if isinstance(note, PathRole)), None)
    kind = "function" if name == "source" else _kind(takes, role)
    if kind == "texts" and not isinstance(info, OptionInfo):  # of keys, which are named by their files too
        kind = "files"
    default = parameter.default
    flag, off = _flags(name, info) if isinstance(info, OptionInfo) else ("", "")
    return CommandOption(
        name,
        flag,
        off if kind == "switch" else "",
        kind,
        "" if default is inspect.Parameter.empty else _text(default),
        info.show_default if isinstance(info.show_default, str) else "",
        tuple(str(each.value) for each in takes) if kind == "choice" else (),
        info.min,
        info.max,
        default is inspect.Parameter.empty,
        info.help or "",
    )


def _kind(takes: Any, role: PathRole | None) -> Kind:
    if isinstance(takes, type) and issubclass(takes, Enum):
        return "choice"
    if takes is Path and role is not None and role.secret:
        return "key"
    if takes is Path and role is not None and any(role.written(Path("x"))):
        return "target"
    if takes is Path:
        return "folder" if role is not None and role.within else "file"
    kinds: dict[Any, Kind] = {
        bool: "switch", int: "integer", float: "number", list[str]: "texts", list[Path]: "files",
    }  # fmt: skip
    return kinds.get(takes, "text")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return YES if value else NO
    if isinstance(value, Enum):
        return str(value.value)
    return "" if value is None else str(value)


def _flags(name: str, info: OptionInfo) -> tuple[str, str]:
    """How an option is written, and how its contrary is."""
    # Inside Annotated typer takes the first name for a default, until it reads the signature.
    named = [each for each in (info.default, *(info.param_decls or ())) if isinstance(each, str)]
    given = [each for each in named if each.startswith("--")]
    plain = name.replace("_", "-")
    return (given[0], "") if given else (f"--{plain}", f"--no-{plain}")
