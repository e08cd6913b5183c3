"""Collects the window's texts into Qt Linguist catalogues and compiles them; docs/translations.md says how it is used.

Qt's own lupdate does not see texts that go through a function of ours, nor the engine's sentences, and it puts texts
of a nested class into the wrong context. This script reads the syntax tree instead, and is strict: a text that is no
literal is an error, because nobody could translate it.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
APP = ROOT / "app" / "counterfoil_app"
ENGINES = ROOT / "engine" / "counterfoil_core", ROOT / "engine" / "counterfoil"
CATALOGUES = ROOT / "resources" / "counterfoil_resources" / "translations"
LANGUAGES = ("de",)
NOT_SHOWN = (
    "counterfoil/__init__.py",
    "counterfoil/answers/",
    "counterfoil/audit/values/fleet.py",
    "counterfoil/audit/values/inspections.py",
    "counterfoil_core/arithmetic/otherwise/rewriting/",
    "counterfoil_core/order/",
    "counterfoil_core/remote/",
    "counterfoil/base/wholefolders.py",
    "counterfoil/bundle/_hdf5.py",
    "counterfoil_core/bundle/farfile.py",
    "counterfoil/bundle/writer.py",
    "counterfoil/cli/",
    "counterfoil/delivery/export.py",
    "counterfoil/delivery/modelinbox.py",
    "counterfoil/distributed/",
    "counterfoil/doctor/installation.py",
    "counterfoil/exports/curves.py",
    "counterfoil/exports/modelcard.py",
    "counterfoil/exports/sigstore.py",
    "counterfoil/exports/summary.py",
    "counterfoil/exports/timestamp.py",
    "counterfoil/hub/",
    "counterfoil_core/kernels/cache.py",
    "counterfoil/program/aggregation/",
    "counterfoil/program/asked/",
    "counterfoil/program/attribution.py",
    "counterfoil/program/steadily.py",
    "counterfoil/program/capture.py",
    "counterfoil/program/decompositions.py",
    "counterfoil/program/devices.py",
    "counterfoil/program/expansions/",
    "counterfoil/program/statetensors.py",
    "counterfoil/program/lowering.py",
    "counterfoil/program/autocast.py",
    "counterfoil/program/moves.py",
    "counterfoil/program/passes.py",
    "counterfoil/program/tracing.py",
    "counterfoil/program/recompute.py",
    "counterfoil/program/remedies.py",
    "counterfoil/program/sharecapture.py",
    "counterfoil/program/sparse.py",
    "counterfoil/program/steadily.py",
    "counterfoil/program/steadiness.py",
    "counterfoil/program/substitutes/",
    "counterfoil/program/torchdraws.py",
    "counterfoil/program/tracing.py",
    "counterfoil/program/wrappers.py",
    "counterfoil/program/update/",
    "counterfoil/remote/",
    "counterfoil/training/",
    "counterfoil_app/demo.py",
)
"""Modules whose sentences the window does not show: the command line's, and those with which orders are written and
runs recorded. They are shown in English should they come there all the same."""


SHOWN = (
    "counterfoil/cli/orderprocess.py",
    *(f"counterfoil/training/{name}.py" for name in ("recorder", "recording", "recordingfolder", "tree_head_file")),
)
"""Modules of those folders whose sentences the window does show: it orders, and records runs, too."""


class UntranslatableError(Exception):
    """A text that the script cannot collect."""


@dataclass(frozen=True, order=True)
class Text:
    """A text to translate: its context and the English source."""

    context: str
    source: str


def app_texts(folder: Path = APP) -> list[Text]:
    """All texts of the window, sorted, each once."""
    found: set[Text] = set()
    for path in sorted(folder.rglob("*.py")):
        found.update(module_texts(path.read_text("utf-8"), str(path.relative_to(folder))))
    return sorted(found)


def module_texts(source: str, name: str) -> Iterator[Text]:
    """The texts of one module.

    ``self.tr("...")`` has the class as its context, as PySide6 has; a module's ``_tr("...")`` the one that its
    ``_tr = texts("...")`` names.
    """
    tree = ast.parse(source)
    function_context = _function_context(tree)

    def walk(node: ast.AST, class_name: str) -> Iterator[Text]:
        if isinstance(node, ast.ClassDef):
            class_name = node.name
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Attribute) and function.attr == "tr":
                if not (isinstance(function.value, ast.Name) and function.value.id == "self"):
                    raise UntranslatableError(f"{name}:{node.lineno}: tr() of another object; use self.tr() or _tr().")
                yield Text(class_name, _literal(node, 0, name))
            elif isinstance(function, ast.Name) and function.id == "_tr":
                if function_context is None:
                    raise UntranslatableError(f"{name}:{node.lineno}: this module does not define _tr().")
                yield Text(function_context, _literal(node, 0, name))
        for child in ast.iter_child_nodes(node):
            yield from walk(child, class_name)

    yield from walk(tree, "")


def _function_context(tree: ast.Module) -> str | None:
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="_tr")], value=ast.Call(func=ast.Name(id="texts")) as call):
                return _literal(call, 0, "_tr")
    return None


def _literal(call: ast.Call, position: int, name: str) -> str:
    argument = call.args[position] if len(call.args) > position else None
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    raise UntranslatableError(f"{name}:{call.lineno}: the text to translate is no literal.")


def shown_modules() -> Iterator[tuple[str, str]]:
    """Name and source of every module whose sentences the window can show."""
    for folder in (*ENGINES, APP):
        for path in sorted(folder.rglob("*.py")):
            name = path.relative_to(folder.parent).as_posix()
            if name in SHOWN or not name.startswith(NOT_SHOWN):
                yield name, path.read_text("utf-8")


@cache
def engine_texts() -> tuple[str, ...]:
    """The templates of the sentences that the window can show; sorted, each once."""
    said = {template for name, source in shown_modules() if "say(" in source for template in templates(source, name)}
    return tuple(sorted(said | set(command_texts())))


def command_texts() -> Iterator[str]:
    """What commands say of themselves and of their options, which the order wizard and the window's jobs show."""
    from counterfoil import command_form, order_forms
    from counterfoil_app.model.jobs import JOBS
    from counterfoil_app.model.order_plan import HIDDEN

    shown = [option for form in order_forms() for option in form.options if option.name not in HIDDEN]
    for job in JOBS:
        for command, asked in job.commands.items():
            form = command_form(tuple(command.split()))
            yield form.about
            shown += [option for option in form.options if option.name in asked.split()]
    for option in shown:
        yield from (text for text in (option.help, option.shown_default) if re.search(r"[^\W\d_]{2}", text))


def templates(source: str, name: str) -> Iterator[str]:
    """The templates of a module's ``say("...", value)`` that hold words.

    Raises:
        UntranslatableError: A template is no literal, or does not have one place for each value.
    """
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say"):
            continue
        template = _literal(node, 0, name)
        if any(isinstance(value, ast.Starred) for value in node.args) or node.keywords:
            raise UntranslatableError(f"{name}:{node.lineno}: values of a sentence stand one by one.")
        if {int(place) for place in PLACE.findall(template)} != set(range(len(node.args) - 1)):
            raise UntranslatableError(f"{name}:{node.lineno}: the template does not have a place for each value.")
        if re.search(r"[^\W\d_]", PLACE.sub("", template)):
            yield template


PLACE = re.compile(r"\{(\d+)(?::[^{}]*)?\}")
SENTENCES = {"Check": (2, "detail"), "Failure": (0, "sentence"), "Finding": (1, "sentence"), "note": (2, "detail")}
"""Where these take a sentence; an error takes it first. A remedy is one wherever it stands."""
INTERNAL = {"AssertionError", "IndexError", "KeyError", "LookupError", "RuntimeError", "TypeError", "ValueError"}
"""What these say is about a fault of a program, and is not shown to people as a sentence."""


def unsaid(source: str, name: str, errors: frozenset[str]) -> Iterator[str]:
    """Where a sentence is made by an f-string or stands as a plain literal, so that nobody can translate it.

    Args:
        source: A module that says what the window can show.
        name: Its name.
        errors: The names of the errors of Counterfoil.
    """
    nodes = list(ast.walk(ast.parse(source)))
    silent: set[int] = set()
    found: dict[int, ast.expr] = {}
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            silent.add(id(node.value))  # docstrings, of attributes too
        elif isinstance(node, ast.JoinedStr):
            silent.update(id(part) for part in ast.walk(node) if part is not node)
        elif isinstance(node, (ast.Assert, ast.Compare, ast.Subscript)):
            silent.update(map(id, ast.walk(node)))
        elif isinstance(node, ast.Call):
            function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if function == "Rule":  # its name goes into the detail
                silent.update(map(id, ast.walk(node)))
            if function in {"print", "say", "tr", "_tr", "translate", *INTERNAL}:
                silent.update(id(argument) for argument in node.args[:1])
            silent.update(id(part) for each in node.keywords if each.arg in LOGGED for part in ast.walk(each.value))
            place, keyword = SENTENCES.get(function, (0, "sentence") if function in errors else (None, ""))
            said = [each.value for each in node.keywords if each.arg in (keyword, "remedy")]
            said += node.args[place : place + 1] if place is not None else []
            found.update((id(part), part) for value in said for part in _plain(value))
    for node in nodes:
        if isinstance(node, (ast.JoinedStr, ast.Constant)) and id(node) not in silent and _like_sentence(node):
            found[id(node)] = node
    for part in found.values():
        yield f"{name}:{part.lineno}: {ast.unparse(part)}"


LOGGED = {"detail", "help"}
"""Keywords of what is logged, or said by the command line."""


def _plain(value: ast.expr) -> Iterator[ast.expr]:
    """The literals and f-strings that an expression may be."""
    match value:
        case ast.JoinedStr():
            yield value
        case ast.Constant(value=str(text)) if text:
            yield value
        case ast.IfExp(body=first, orelse=second) | ast.BinOp(left=first, right=second):
            yield from _plain(first)
            yield from _plain(second)
        case ast.BoolOp(values=values):
            for each in values:
                yield from _plain(each)
        case ast.Call(func=ast.Attribute(value=text)):
            yield from _plain(text)


def _like_sentence(node: ast.JoinedStr | ast.Constant) -> bool:
    """Whether a string has several words and begins like a sentence."""
    if isinstance(node, ast.JoinedStr):
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values).strip()
    elif isinstance(node.value, str):
        text = node.value.strip()
    else:
        return False
    start = r"[A-Z][\w'-]*,? \S" if text[-1:] not in (".", "?") else r"([A-Z][\w'-]*,?|\{\}) \S"
    return re.match(start, text) is not None and text.count(" ") >= 2


def error_names() -> frozenset[str]:
    """The names of Counterfoil's errors: the classes that come from CounterfoilError."""
    classes = [
        (name, set(re.findall(r"\w+", bases)))
        for folder in (*ENGINES, APP)
        for path in folder.rglob("*.py")
        for name, bases in re.findall(r"^ *class (\w+)\(([^)]*)\)", path.read_text("utf-8"), re.MULTILINE)
    ]
    names = {"CounterfoilError"}
    while more := {name for name, bases in classes if bases & names} - names:
        names |= more
    return frozenset(names | {"error"})  # several functions are told which error to raise


@cache
def all_texts() -> tuple[Text, ...]:
    """Everything that a catalogue must hold."""
    return tuple(sorted([*app_texts(), *(Text("engine", source) for source in engine_texts())]))


def read_catalogue(path: Path) -> dict[Text, str]:
    """The translations of a .ts file; an unfinished one is empty."""
    if not path.exists():
        return {}
    found = {}
    for context in ET.parse(path).getroot().iter("context"):
        name = context.findtext("name", "")
        for message in context.iter("message"):
            translation = message.find("translation")
            text = "" if translation is None or translation.get("type") == "unfinished" else translation.text or ""
            found[Text(name, message.findtext("source", ""))] = text
    return found


def write_catalogue(path: Path, language: str, texts: Sequence[Text], translations: dict[Text, str]) -> list[Text]:
    """Write a .ts file with these texts and return those without a translation.

    A text that moved to another context keeps its translation when it has only one.
    """
    by_source: dict[str, set[str]] = {}
    for text, translation in translations.items():
        if translation:
            by_source.setdefault(text.source, set()).add(translation)
    root = ET.Element("TS", version="2.1", language=language, sourcelanguage="en")
    missing: list[Text] = []
    for name in sorted({text.context for text in texts}):
        context = ET.SubElement(root, "context")
        ET.SubElement(context, "name").text = name
        for text in (each for each in texts if each.context == name):
            message = ET.SubElement(context, "message")
            ET.SubElement(message, "source").text = text.source
            translation = ET.SubElement(message, "translation")
            others = by_source.get(text.source, set())
            known = translations.get(text, "") or (next(iter(others)) if len(others) == 1 else "")
            if known:
                translation.text = known
            else:
                translation.set("type", "unfinished")
                missing.append(text)
    ET.indent(root, "    ")
    body = ET.tostring(root, encoding="unicode")
    path.write_text(f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n{body}\n', "utf-8")
    return missing


def main() -> int:
    """Update and compile all catalogues; 1 when a text has no translation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--import", dest="source", type=Path, help="JSON of translations to take in: {source: text}")
    arguments = parser.parse_args()
    CATALOGUES.mkdir(parents=True, exist_ok=True)
    texts = all_texts()
    complete = True
    for language in LANGUAGES:
        path = CATALOGUES / f"counterfoil_{language}.ts"
        translations = read_catalogue(path)
        if arguments.source is not None:
            new = json.loads(arguments.source.read_text("utf-8"))
            translations.update({text: new[text.source] for text in texts if text.source in new})
        missing = write_catalogue(path, language, texts, translations)
        for text in missing:
            print(f"{language}: no translation in {text.context}: {text.source!r}")
        print(f"{path.name}: {len(texts) - len(missing)} of {len(texts)} texts translated")
        complete &= not missing
        command = [_lrelease(), "-silent", "-removeidentical", str(path), "-qm", str(path.with_suffix(".qm"))]
        subprocess.run(command, check=True)
    return 0 if complete else 1


def _lrelease() -> str:
    import PySide6

    return str(Path(PySide6.__file__).parent / ("lrelease.exe" if sys.platform == "win32" else "lrelease"))


if __name__ == "__main__":
    sys.exit(main())
