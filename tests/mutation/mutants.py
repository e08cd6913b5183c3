"""Small wrong changes of functions, by mutmut's operators and three of our own, in an order that a seed gives.

Mutated are bodies of functions. Left out is what changes wording only: strings, and what ``say(...)`` holds.
A mutant is known by the text of its function before and after: it stays the same one when other code changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider
from mutmut.mutation import mutators

_PASS = cst.Pass()
_KERNEL = m.Decorator(m.Name("inlined") | m.Call(m.Name("kernel")))
_SENTENCE = m.Call(func=m.Name("say") | m.Name("cast"))


def condition_negated(node: cst.If) -> Iterable[cst.If]:
    """``if x`` becomes ``if not (x)``."""
    yield node.with_changes(test=_bracketed(cst.UnaryOperation(cst.Not(), _bracketed(node.test))))


def condition_never(node: cst.If) -> Iterable[cst.If]:
    """``if x`` becomes ``if (x) and False``: a check that is left out."""
    yield node.with_changes(test=cst.BooleanOperation(_bracketed(node.test), cst.And(), cst.Name("False")))


def statement_left_out(node: cst.SimpleStatementLine) -> Iterable[cst.SimpleStatementLine]:
    """A call for its effect, or a ``raise``, becomes ``pass``."""
    match node.body:
        case [cst.Raise()] | [cst.Expr(value=cst.Call())]:
            yield node.with_changes(body=[_PASS])


def _bracketed(node: Any) -> Any:
    return node.with_changes(lpar=[cst.LeftParen(), *node.lpar], rpar=[*node.rpar, cst.RightParen()])


OPERATORS: Sequence[tuple[type, Any]] = (
    (cst.BaseNumber, mutators.operator_number),
    (cst.Name, mutators.operator_name),
    (cst.AugAssign, mutators.operator_augmented_assignment),
    (cst.UnaryOperation, mutators.operator_remove_unary_ops),
    (cst.CSTNode, mutators.operator_keywords),
    (cst.CSTNode, mutators.operator_swap_op),
    (cst.Match, mutators.operator_match),
    (cst.IfExp, mutators.operator_if_exp),
    (cst.If, condition_negated),
    (cst.If, condition_never),
    (cst.SimpleStatementLine, statement_left_out),
)
"""Assignments of None and arguments left out, which mutmut has too, end in an exception nearly always."""


@dataclass(frozen=True)
class Mutant:
    """One wrong change.

    Attributes:
        path: Of the file, from that folder.
        function: Qualified name of the outermost function that is changed.
        line: Where in the file.
        last: The last line of the function.
        operator: What was done.
        before: Text of the statement that is changed, its first line.
        after: The same line of the mutant.
        key: Digest of path and of the function's text before and after.
        source: The file with the change.
        compiled: Whether numba compiles the function.
    """

    path: str
    function: str
    first: int
    line: int
    last: int
    operator: str
    before: str
    after: str
    key: str
    source: str
    compiled: bool


@dataclass(frozen=True)
class _Place:
    """Where a mutant could be made: a node of a function, and what it is replaced by."""

    file: File
    function: cst.FunctionDef
    name: str
    text: str
    node: cst.CSTNode
    operator: str
    number: int
    other: cst.CSTNode

    def order(self, seed: int) -> bytes:
        """A random number of this place that stays while its function does."""
        named = f"{seed} {self.file.path} {self.name} {self.operator} {self.number} {self.text}"
        return hashlib.sha256(named.encode()).digest()

    @property
    def compiled(self) -> bool:
        """Whether numba compiles the function: by a decorator of its own, or as a region."""
        decorated = any(m.matches(each, _KERNEL) for each in self.function.decorators)
        return decorated or f"Region({self.name})" in self.file.module.code

    def mutant(self) -> Mutant:
        changed: Any = self.function.deep_replace(self.node, self.other)
        source = self.file.module.deep_replace(self.function, changed).code
        before, after = self.text, self.file.text(changed)
        lines = self.file.module.code.splitlines(), source.splitlines()
        at = next((row for row, pair in enumerate(zip(*lines, strict=False)) if pair[0] != pair[1]), 0)
        where = self.file.positions[self.function]
        key = hashlib.sha256(f"{self.file.path}\0{before}\0{after}".encode()).hexdigest()[:16]
        name = self.operator.removeprefix("operator_")
        shown = [text[at].strip() if at < len(text) else "" for text in lines]
        return Mutant(
            self.file.path,
            self.name,
            where.start.line,
            at + 1,
            where.end.line,
            name,
            *shown,
            key,
            source,
            self.compiled,
        )


class File:
    """A source file.

    Args:
        path: Within the package.
        text: Its content.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self._wrapper = MetadataWrapper(cst.parse_module(text))
        self.module = self._wrapper.module

    @cached_property
    def positions(self) -> Any:
        return self._wrapper.resolve(PositionProvider)

    @cached_property
    def _parents(self) -> Any:
        return self._wrapper.resolve(ParentNodeProvider)

    def text(self, node: cst.CSTNode) -> str:
        """Without what stands between it and the node before it."""
        return self.module.code_for_node(node).strip()

    def places(self) -> Iterator[_Place]:
        for name, function in _functions(self.module.body, ""):
            number, text = 0, self.text(function)
            for node in _nodes(function.body):
                for kind, operator in OPERATORS:
                    if isinstance(node, kind):
                        for other in operator(node):
                            yield _Place(self, function, name, text, node, operator.__name__, number, other)
                            number += 1


def _functions(body: Sequence[Any], within: str) -> Iterator[tuple[str, cst.FunctionDef]]:
    for statement in body:
        if isinstance(statement, cst.FunctionDef):
            if not any(m.matches(each, m.Decorator(m.Name("overload"))) for each in statement.decorators):
                yield within + statement.name.value, statement
        elif isinstance(statement, cst.ClassDef):
            yield from _functions(statement.body.body, f"{within}{statement.name.value}.")
        elif isinstance(statement, cst.If):
            yield from _functions(statement.body.body, within)


def _nodes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """All nodes of a body, but annotations and sentences."""
    for child in node.children:
        if isinstance(child, cst.Annotation) or m.matches(child, _SENTENCE):
            continue
        yield child
        yield from _nodes(child)


def chosen(package: Path, rooms: Sequence[str], count: int, seed: int, left_out: Sequence[str] = ()) -> list[Mutant]:
    """Return mutants of rooms of a package, as many of each; more of them begin with the same ones.

    Args:
        package: The folder in which the packages of the engine lie.
        rooms: Packages within it.
        count: How many mutants of each room.
        seed: Of the order.
        left_out: Endings of paths that are not mutated.
    """
    found: list[list[Mutant]] = []
    for room in rooms:
        places: list[_Place] = []
        for path in sorted((package / room).rglob("*.py")):
            if not any(path.as_posix().endswith(ending) for ending in left_out):
                places += File(path.relative_to(package).as_posix(), path.read_text(encoding="utf-8")).places()
        places.sort(key=lambda place: place.order(seed))
        found.append([place.mutant() for place in places[:count]])
    return [mutant for turn in zip(*found, strict=False) for mutant in turn]
