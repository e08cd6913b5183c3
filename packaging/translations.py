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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
APP = ROOT / "app" / "counterfoil_app"
ENGINE = ROOT / "engine" / "counterfoil"
CATALOGUES = ROOT / "resources" / "counterfoil_resources" / "translations"
LANGUAGES = ("de",)
ENGINE_MODULES = (
    "audit/conclusion.py",
    "audit/step/findings.py",
    "audit/inspection.py",
    "audit/kept.py",
    "audit/values/outcome.py",
    "audit/replay.py",
    "audit/values/sampling.py",
    "audit/selftest.py",
    "bundle/hdf5/dense.py",
    "bundle/hdf5/format.py",
    "bundle/hdf5/names.py",
    "bundle/hdf5/source.py",
    "bundle/hdf5/walk.py",
    "bundle/kind.py",
    "cancel.py",
    "execution/devices.py",
    "execution/trouble.py",
    "obstacles.py",
    "inputs.py",
    "program/limits.py",
    "signer/client.py",
    "signer/gate.py",
    "signing.py",
    "wholefiles.py",
)
"""The engine's modules whose sentences an auditor is most likely to read; those of the others are shown in English."""
ENGINE_TEXTS = (
    "float64 at half the rate of float32",
    "little float64: expect a slow replay",
    "a part of it",
    "fingerprints",
    "a device",
    "a folder",
    "a key",
    "a pipe",
    "a socket",
    "a tree head",
    "a verdict",
    "a verdict or an adjudication",
    "the tree heads",
    "The bundle",
    "The capsule",
    "The file",
    "The key file",
    "The list of trainers",
    "The picture",
    "The report",
    "The table of steps",
    "The verdict",
    "that is a folder",
    "that is no ordinary file",
    "the bundle",
    "the capsule",
    "the disk can only be read",
    "the disk does not work as it should",
    "the disk is full",
    "the file is larger than is allowed there",
    "the list of trainers",
    "the name is too long",
    "the report",
    "the system does not allow it",
    "the system failed",
    "the table of steps",
    "the verdict",
    "there is a folder of this name",
    "there is no such folder",
    "you may not write there",
    "your share of the disk is used up",
    "the data file",
    "its size, its time or a part of it",
    "its structure",
    "the device",
    "the file",
    "the fingerprints of step {0}",
    "the initial state",
    "the per-step scalars",
    "the program",
    "the rounding log of step {0}",
    "the schedule",
    "the stored state of step {0}",
    "the version of Counterfoil",
    "the version of torch",
    "loss",
    "loss and fingerprints",
    "state",
    "state and fingerprints",
    "state and loss",
    "state, loss and fingerprints",
    "{0} segment",
    "{0} segments",
)
"""Short texts of the engine that do not look like a sentence."""


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
    definition names.
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
        if isinstance(node, ast.FunctionDef) and node.name == "_tr":
            for call in ast.walk(node):
                if (
                    isinstance(call, ast.Call)
                    and isinstance(call.func, ast.Attribute)
                    and call.func.attr == "translate"
                ):
                    return _literal(call, 0, "_tr")
    return None


def _literal(call: ast.Call, position: int, name: str) -> str:
    argument = call.args[position] if len(call.args) > position else None
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    raise UntranslatableError(f"{name}:{call.lineno}: the text to translate is no literal.")


def engine_texts(folder: Path = ENGINE) -> list[str]:
    """The engine's sentences as templates with ``{0}``, ``{1}`` for their values; sorted, each once."""
    found = {*ENGINE_TEXTS, *sentences((APP / "engine" / "worker.py").read_text("utf-8"))}
    for name in ENGINE_MODULES:
        found.update(sentences((folder / name).read_text("utf-8")))
    return sorted(found)


def sentences(source: str) -> Iterator[str]:
    """The sentences and titles of a module: strings of several words with a capital at the start, no docstrings."""
    tree = ast.parse(source)
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))  # docstrings, of attributes too
        if isinstance(node, ast.JoinedStr):
            skipped.update(id(part) for part in ast.walk(node) if part is not node)
        if isinstance(node, ast.Subscript):
            skipped.update(map(id, ast.walk(node)))
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.JoinedStr):
            template = _template(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            template = node.value
        else:
            continue
        template = _one_sentence(template)
        start = r"[A-Z][\w'-]*,? \S" if template[-1:] not in (".", "?") else r"([A-Z][\w'-]*,?|\{\d+\}) \S"
        if re.match(start, template) and template.count(" ") >= 2:
            yield template


def _one_sentence(template: str) -> str:
    """The template without other sentences in its places: before it, or after its stop."""
    template = re.sub(r"^\{\d+\} (?=[A-Z])", "", template.strip())
    template = re.sub(r"(?<=[.!?]) ?\{\d+\}$", "", template)
    numbers = iter(range(template.count("{")))
    return re.sub(r"\{\d+\}", lambda _place: f"{{{next(numbers)}}}", template)


def _template(node: ast.JoinedStr) -> str:
    parts, count = [], 0
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        else:
            parts.append(f"{{{count}}}")
            count += 1
    return "".join(parts)


def all_texts() -> list[Text]:
    """Everything that a catalogue must hold."""
    return sorted([*app_texts(), *(Text("engine", source) for source in engine_texts())])


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


def write_catalogue(path: Path, language: str, texts: list[Text], translations: dict[Text, str]) -> list[Text]:
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
    templates = json.dumps(engine_texts(), indent=1, ensure_ascii=False)
    (CATALOGUES / "engine.json").write_text(templates + "\n", "utf-8")
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
