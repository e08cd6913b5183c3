"""What the code consists of: ``python -m tools.house``, and ``--touch NAME`` for the files that a change would touch.

Everything is read from source, and nothing is imported. Parameters of commands are counted in the help that
tests/frozen keeps, which is the product's own to the byte.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HELP = ROOT / "tests" / "frozen" / "files" / "help"
WITHIN = "engine", "app", "resources"
"""Folders whose packages are installed."""
BESIDE = "benchmarks", "packaging", "tools", "tests"
"""Folders that are packages of the repository alone."""
KINDS = "code", "signatures", "docstrings", "imports", "blanks", "comments"
"""What a line can be; each is one of these."""
SHORT, LONG = (80, 100, 150), 500
"""Lines below which modules are counted, and above which."""
IRREGULAR = frozenset((
    "begun", "bent", "born", "bought", "bound", "broken", "built", "caught", "chosen", "done", "drawn", "driven",
    "fallen", "felt", "found", "frozen", "given", "gone", "grown", "heard", "held", "hidden", "kept", "known",
    "laid", "learnt", "led", "left", "lent", "lost", "made", "meant", "met", "paid", "proven", "said", "seen",
    "sent", "shown", "sought", "spent", "spoken", "stolen", "sworn", "taken", "taught", "thought", "thrown", "told",
    "torn", "understood", "won", "worn", "written",
))  # fmt: skip
"""Participles that no ending tells."""
NOUNS = frozenset((
    "bed", "feed", "need", "red", "seed", "speed", "shed", "embed", "anything", "everything", "nothing",
    "something", "king", "ring", "sing", "string", "spring", "swing", "thing", "wing", "bring",
))  # fmt: skip
"""Words that end as participles do, and are none."""


@dataclass(frozen=True)
class Module:
    """A file of source."""

    package: str  #: The package that it is counted in, for instance ``counterfoil.audit``.
    path: Path  #: Where it lies, from the root of the repository.
    source: str  #: Its text.

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.source)

    @cached_property
    def lines(self) -> int:
        """How many lines it has."""
        return len(self.source.splitlines())

    @property
    def name(self) -> str:
        """What it is called where it lies; an ``__init__`` is called as its folder."""
        return self.path.parent.name if self.path.stem == "__init__" else self.path.stem


def modules(root: Path = ROOT) -> list[Module]:
    """Return every module of the repository; packages of what is installed are counted by their rooms."""
    found = []
    for top in (*WITHIN, *BESIDE):
        for path in sorted((root / top).rglob("*.py")):
            parts = path.relative_to(root).parts
            within = parts[1:-1] if top in WITHIN else parts[:-1]
            package = ".".join(within[: 2 if top in WITHIN else 1]) or top
            found.append(Module(package, path.relative_to(root), path.read_text(encoding="utf-8")))
    return found


def top_of(module: Module) -> str:
    """The package of a module without its room."""
    return module.package.partition(".")[0]


# Lines


def kinds(module: Module) -> Counter[str]:
    """Count the lines of a module by what they are."""
    lines = module.source.splitlines()
    found = dict.fromkeys(range(1, len(lines) + 1), "code")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            found[number] = "blanks"
        elif line.lstrip().startswith("#"):
            found[number] = "comments"
    spans = defaultdict[str, list[range]](list)
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            spans["imports"].append(_span(node))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            spans["signatures"].append(_header(node, lines))
        elif _is_docstring(node):
            spans["docstrings"].append(_span(node))
    for kind in ("imports", "signatures", "docstrings"):
        for span in spans[kind]:
            found.update(dict.fromkeys(span, kind))
    return Counter(found.values())


def _span(node: ast.AST) -> range:
    assert isinstance(node, (ast.stmt, ast.expr))
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _is_docstring(node: ast.AST) -> bool:
    """Whether a statement is a text that nothing takes: of a module, a class, a function, or an attribute."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _header(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: Sequence[str]) -> range:
    """The lines from ``def`` to the colon; a body that stands behind the colon is counted with it."""
    end = node.lineno
    while end < node.body[0].lineno - 1 and not lines[end - 1].split("  #")[0].rstrip().endswith(":"):
        end += 1
    return range(node.lineno, end + 1)


# Names


@dataclass(frozen=True)
class Defined:
    """A function, a method or a class."""

    name: str  #: What it is called.
    path: Path  #: Where it stands.
    is_public: bool  #: Whether it stands at the module's level, and its name begins with a letter.
    is_function: bool  #: Whether it is a function or a method.


def definitions(module: Module) -> Iterator[Defined]:
    """Yield every function, method and class of a module."""
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            public = node in module.tree.body and not node.name.startswith("_")
            yield Defined(node.name, module.path, public, not isinstance(node, ast.ClassDef))


def names_in_several(all_modules: Iterable[Module]) -> dict[str, list[Path]]:
    """Return public names that are defined in two modules or more, with these."""
    places = defaultdict[str, list[Path]](list)
    for module in all_modules:
        for name in sorted({each.name for each in definitions(module) if each.is_public}):
            places[name].append(module.path)
    return {name: paths for name, paths in sorted(places.items()) if len(paths) > 1}


def is_participle(name: str) -> bool:
    """Whether a name is a participle or a gerund, or begins with one: ``telling``, ``known_keys``."""
    word = name.strip("_").partition("_")[0].lower()
    if word in NOUNS:
        return False
    return word in IRREGULAR or (len(word) > 4 and word.endswith(("ed", "ing")) and not word.endswith("eed"))


# What a change touches


def words(identifier: str) -> str:
    """An identifier or an option as words with underscores around each: ``--row-leaves`` and ``RowLeaves`` alike."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", identifier)
    return f"_{re.sub(r'[^A-Za-z0-9]+', '_', apart).strip('_').lower()}_"


def touched(name: str, all_modules: Iterable[Module]) -> dict[Path, int]:
    """Return the files in which a name stands as an identifier, or a part of one, or as an option, with how often."""
    wanted, found = words(name), dict[Path, int]()
    for module in all_modules:
        if not all(word in module.source.lower() for word in wanted.split("_")):
            continue  # most files, which need not be taken apart
        count = sum(wanted in words(each) for each in _identifiers(module.source))
        if count:
            found[module.path] = count
    return found


def _identifiers(source: str) -> Iterator[str]:
    """Identifiers, and options within texts."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            yield token.string
        elif token.type == tokenize.STRING or tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
            yield from re.findall(r"--[a-z][a-z0-9-]*", token.string)


# Commands


def parameters(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the options and arguments of each command by its help; ``--help`` is none.

    Args:
        texts: What ``--help`` prints, by command.
    """
    found = {}
    for command, text in texts.items():
        arguments = re.findall(
            r"^  ([A-Z][A-Z_|]*|\[?\{?\w+\}?\]?)(?:\.\.\.)?(?: <|  )", _section(text, "Arguments"), re.M
        )
        options = re.findall(r"^  (?:-\w, )?(--[a-z][a-z-]*)", _section(text, "Options"), re.MULTILINE)
        found[command] = [*arguments, *(option for option in options if option != "--help")]
    return found


def named_parameters(module: Module) -> int:
    """Return how often a module of the command line names an option: as a parameter, or as a field of a group."""
    if module.package != "counterfoil.cli":
        return 0
    annotations = [
        ast.unparse(node.annotation)
        for node in ast.walk(module.tree)
        if isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation is not None
    ]
    return sum(bool(re.search(r"typer\.(Option|Argument)|^\w+(Option|Argument|Place)$", each)) for each in annotations)


def _section(text: str, title: str) -> str:
    return text.partition(f"\n{title}:\n")[2].partition("\n\n")[0]


# Attributes


def attribute_sections(module: Module) -> list[int]:
    """Return the lines of each section "Attributes:" of a module's docstrings, its title included."""
    found = []
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node) or ""
            if match := re.search(r"^Attributes:\n(?:(?: +\S.*|)(?:\n|\Z))*", text, re.MULTILINE):
                found.append(len(match.group().rstrip().splitlines()))
    return found


# What is printed


def table(rows: Sequence[Sequence[object]]) -> str:
    """Rows as a table of plain text, the first with the titles; the first column is text, the others are numbers."""
    said = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in said) for column in range(len(said[0]))]
    lines = []
    for first, *rest in said:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def lines_table(groups: Mapping[str, Sequence[Module]]) -> str:
    """Lines by group and kind, with the share of comments."""
    rows: list[list[object]] = [["lines", "all", *KINDS, "comments %"]]
    for name, group in groups.items():
        counted = sum((kinds(module) for module in group), Counter[str]())
        total = counted.total()
        rows.append(
            [name, total, *(counted[kind] for kind in KINDS), f"{100 * counted['comments'] / max(1, total):.2f}"]
        )
    return table(rows)


def sizes_table(groups: Mapping[str, Sequence[Module]]) -> str:
    """How large modules are, by group."""
    rows: list[list[object]] = [["modules", "all", "mean lines", *(f"under {most}" for most in SHORT), f"over {LONG}"]]
    for name, group in groups.items():
        sizes = [module.lines for module in group]
        counts = [sum(size < most for size in sizes) for most in SHORT]
        mean = round(sum(sizes) / max(1, len(sizes)))
        rows.append([name, len(sizes), mean, *counts, sum(size > LONG for size in sizes)])
    return table(rows)


def grouped(all_modules: Iterable[Module], *, rooms: bool) -> dict[str, list[Module]]:
    """Return modules by package, or by room."""
    found = defaultdict[str, list[Module]](list)
    for module in all_modules:
        found[module.package if rooms else top_of(module)].append(module)
    return dict(found)


def report(all_modules: Sequence[Module], helps: Mapping[str, str]) -> str:
    """Everything that is measured of the house."""
    product = [module for module in all_modules if top_of(module) != "tests"]
    packages = grouped(all_modules, rooms=False)
    together = {**packages, "all but tests": product}
    functions = [each for module in product for each in definitions(module) if each.is_function]
    several = names_in_several(product)
    sections = [lines for module in product for lines in attribute_sections(module)]
    given = parameters(helps)
    every = [name for names in given.values() for name in names]
    facts: list[list[object]] = [
        ["of all but tests", "count"],
        ["functions and methods", len(functions)],
        ["  named by a participle", sum(is_participle(each.name) for each in functions)],
        ["modules named by a participle", sum(is_participle(module.name) for module in product)],
        ["public names in two modules or more", len(several)],
        ['sections "Attributes:"', len(sections)],
        ["  their lines", sum(sections)],
        ["commands", sum(bool(names) for names in given.values())],
        ["  their parameters", len(every)],
        ["  distinct ones", len(set(every))],
        ["  named in signatures and groups", sum(map(named_parameters, product))],
    ]
    rooms = {name: group for name, group in grouped(product, rooms=True).items() if "." in name}
    return "\n\n".join((lines_table(together), sizes_table(together), table(facts), lines_table(rooms)))


def names_text(all_modules: Sequence[Module]) -> str:
    """The names that the counts are of: in several modules, and participles."""
    product = [module for module in all_modules if top_of(module) != "tests"]
    lines = ["Public names in two modules or more:"]
    lines += [f"  {name}: {', '.join(map(Path.as_posix, paths))}" for name, paths in names_in_several(product).items()]
    lines.append("Modules named by a participle:")
    lines += [f"  {module.path.as_posix()}" for module in product if is_participle(module.name)]
    lines.append("Functions and methods named by a participle:")
    for module in product:
        named = [each.name for each in definitions(module) if each.is_function and is_participle(each.name)]
        lines += [f"  {module.path.as_posix()}: {', '.join(named)}"] if named else []
    return "\n".join(lines)


def touch_text(name: str, all_modules: Sequence[Module]) -> str:
    """The files that a name stands in, by package."""
    found = touched(name, all_modules)
    lines = []
    for package, group in grouped(all_modules, rooms=False).items():
        within = [(module.path, found[module.path]) for module in group if module.path in found]
        if within:
            lines.append(f"{package}: {len(within)} files, {sum(count for _, count in within)} places")
            lines += [f"  {path.as_posix()}: {count}" for path, count in within]
    without = sum(top_of(module) != "tests" and module.path in found for module in all_modules)
    return "\n".join([*lines, f"{name}: {len(found)} files, {without} of them no tests"])


def stored_help(folder: Path = HELP) -> dict[str, str]:
    """The help of every command, as tests/frozen keeps it."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt"))}


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Print what was asked for of the repository that lies in ``root``."""
    parser = argparse.ArgumentParser(prog="python -m tools.house", description=__doc__)
    parser.add_argument("--touch", metavar="NAME", help="list the files in which NAME is an identifier or an option")
    parser.add_argument("--names", action="store_true", help="list the names that the counts are of")
    chosen = parser.parse_args(arguments)
    all_modules = modules(root)
    if chosen.touch:
        print(touch_text(chosen.touch, all_modules))
    elif chosen.names:
        print(names_text(all_modules))
    else:
        print(report(all_modules, stored_help()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
