"""Pages of the reference that are generated from the program: every command, and every public name."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer.main

import counterfoil
from counterfoil.cli.app import app

STUB = Path(counterfoil.__file__).with_suffix(".pyi")


def commands() -> str:
    """Every command with its arguments and options, as directives that the index and the search find.

    They are asked for their own help, and not read by sphinx-click: typer has a click of its own, which that refuses.
    """
    return "\n\n".join(_command(typer.main.get_command(app), "counterfoil", None))


def _command(command: Any, name: str, above: Any) -> Iterator[str]:
    command = getattr(command, "loaded", command)
    context = command.context_class(command, info_name=name.rpartition(" ")[2], parent=above)
    below = {key: each for key, each in getattr(command, "commands", {}).items() if not each.hidden}
    yield "#" * (2 + name.count(" ")) + f" {name}"
    yield _paragraphs(command.help or "")
    yield "```text\n" + " ".join(command.get_usage(context).removeprefix("Usage:").split()) + "\n```"
    lines = [f".. program:: {name}", ""]
    for spelled, text in filter(None, (each.get_help_record(context) for each in command.get_params(context))):
        lines += [f".. option:: {_plain(spelled)}", "", f"   {_plain(text)}", ""]
    yield "```{eval-rst}\n" + "\n".join(lines) + "\n```"
    for key, each in below.items():
        yield from _command(each, f"{name} {key}", context)


def _plain(text: str) -> str:
    """A help text as one line of reStructuredText, in which nothing is markup."""
    return re.sub(r"([*_`|\\])", r"\\\1", " ".join(text.split()))


def _paragraphs(text: str) -> str:
    """A help text as paragraphs of Markdown, in which nothing is markup."""
    paragraphs = (" ".join(each.split()) for each in inspect.cleandoc(text).replace("\b", "").split("\n\n"))
    return "\n\n".join(re.sub(r"([*_`<>\[\]\\#|])", r"\\\1", each) for each in paragraphs)


def interface() -> str:
    """Every public name, by the room of the engine that it is from, for autodoc to describe."""
    rooms: dict[str, list[str]] = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            described = [_described(each.name, node.module) for each in node.names]
            rooms.setdefault(node.module.split(".")[1], []).extend(described)
    made = []
    for room, entries in sorted(rooms.items()):
        made += [f"## {room}", *(f"```{{eval-rst}}\n{each}\n```" for each in entries)]
    return "\n\n".join(made)


def _described(name: str, module: str) -> str:
    value = getattr(counterfoil, name)
    if inspect.isclass(value):
        return f".. autoclass:: counterfoil.{name}\n   :members:"
    if inspect.isroutine(value):
        return f".. autofunction:: counterfoil.{name}"
    return f".. py:data:: counterfoil.{name}\n\n   {_said_below(name, module)}"


def _said_below(name: str, module: str) -> str:
    """The string below an assignment, which says what a constant or an alias is."""
    body = ast.parse(STUB.parents[1].joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8")).body
    for node, after in pairwise(body):
        targets = getattr(node, "targets", [getattr(node, "target", getattr(node, "name", None))])
        if name in {getattr(each, "id", None) for each in targets} and isinstance(after, ast.Expr):
            return " ".join(ast.literal_eval(after.value).split())
    return ""
