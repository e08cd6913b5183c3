"""Statements of Python that only check: an ``assert``, or an ``if`` that raises or warns.

A step is captured without values, so that what it checks of them cannot be known. The statement is read from its
source: where it does nothing but check, the capture can go on as if all were well.
"""

from __future__ import annotations

import ast
import dis
import linecache
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from types import FrameType

_SAYING = {"warn", "warning", "warning_once", "warn_once", "info", "debug", "error", "print", "log"}
"""Functions and methods that only tell somebody something."""
_trees: dict[str, ast.Module | None] = {}
_ASKING = ("POP_JUMP", "JUMP_IF", "TO_BOOL", "UNARY_NOT")
"""Instructions that ask for the truth of the value that was made last."""


@dataclass(frozen=True)
class ValueCheck:
    """What a check asks."""

    passes: bool  #: The truth with which it passes.
    raises: bool  #: Whether it raises where it does not pass; else it only says something.


def check_at(frame: FrameType | None) -> ValueCheck | None:
    """Return the check that a frame is at.

    Args:
        frame: A frame that asks for the truth of an expression at this moment.

    Returns:
        The check; None where the expression is not the condition, or a part of it by ``and``, ``or`` and ``not``, of a
        statement that only checks.
    """
    if frame is None:
        return None
    spot = _position(frame)
    tree = _tree(frame.f_code.co_filename)
    if spot is None or tree is None:
        return None
    for statement, guarded in _statements(tree.body, guarded=False):
        for test, check in _checks(statement, guarded=guarded):
            passes = _wanted(test, check.passes, spot)
            if passes is not None:
                return ValueCheck(passes, check.raises)
    return None


_Spot = tuple[int, int, int, int]


def _position(frame: FrameType) -> _Spot | None:
    """Where the expression lies in the source whose truth a frame asks for."""
    unit = frame.f_lasti // 2
    if dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith(_ASKING):
        # What asks for a truth may bear the place of the whole statement; what made the value lies before it.
        unit -= 1
    line, last, column, end = next(islice(frame.f_code.co_positions(), unit, None), (None,) * 4)
    if line is None or last is None or column is None or end is None:
        return None
    return line, column, last, end


def _tree(name: str) -> ast.Module | None:
    if name not in _trees:
        try:
            _trees[name] = ast.parse("".join(linecache.getlines(name)))
        except SyntaxError:
            _trees[name] = None
    return _trees[name]


def _statements(body: Sequence[ast.stmt], *, guarded: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Every statement, and whether an ``except`` of its own function may catch what it raises."""
    for statement in body:
        yield statement, guarded
        function = isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        for name in ("body", "orelse", "finalbody"):
            caught = isinstance(statement, ast.Try) and bool(statement.handlers) and name == "body"
            inner = getattr(statement, name, [])
            if isinstance(inner, list):
                yield from _statements(inner, guarded=not function and (guarded or caught))
        for handler in getattr(statement, "handlers", []):
            yield from _statements(handler.body, guarded=guarded)


def _checks(statement: ast.stmt, *, guarded: bool) -> Iterator[tuple[ast.expr, ValueCheck]]:
    """The condition of a statement that only checks, and what it asks of it."""
    if isinstance(statement, ast.Assert) and not guarded:
        yield statement.test, ValueCheck(passes=True, raises=True)
    elif isinstance(statement, ast.If):
        for body, passes in ((statement.body, False), (statement.orelse, True)):
            if body and isinstance(body[-1], ast.Raise):
                if not guarded:
                    yield statement.test, ValueCheck(passes, raises=True)
            elif body and all(isinstance(item, ast.Expr) and _says(item.value) for item in body):
                yield statement.test, ValueCheck(passes, raises=False)


def _says(expression: ast.expr) -> bool:
    if not isinstance(expression, ast.Call):
        return False
    called = expression.func
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name in _SAYING


def _wanted(test: ast.expr, truth: bool, spot: _Spot) -> bool | None:
    """The truth that the part of a condition at a position must have, so that the whole has the given one."""
    if (test.lineno, test.col_offset, test.end_lineno, test.end_col_offset) == spot:
        return truth
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _wanted(test.operand, not truth, spot)
    if isinstance(test, ast.BoolOp):
        # Where one part suffices, the one that is asked decides.
        for part in test.values:
            found = _wanted(part, truth, spot)
            if found is not None:
                return found
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "bool" and test.args:
        return _wanted(test.args[0], truth, spot)
    return None
