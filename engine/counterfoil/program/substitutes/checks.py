"""Checks of values in Python: an ``if`` that does nothing but raise, or an ``assert``, found in the source that asks."""

from __future__ import annotations

import ast
import linecache
import sys
from functools import lru_cache
from types import FrameType
from typing import Final

_OURS: Final = (__name__.rpartition(".")[0], "counterfoil.program.random", "torch.overrides", "torch.utils._device")


def passing_answer() -> bool | None:
    """The truth value with which the check passes that asks for one; None where the source asks for no check."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_OURS):
        frame = frame.f_back
    if frame is None:
        return None
    return _checks(frame.f_code.co_filename).get(frame.f_lineno)


@lru_cache(maxsize=64)
def _checks(file: str) -> dict[int, bool]:
    """The passing answer for each line of a check's condition."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return {}
    found: dict[int, bool] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise):
            _enter(found, node.test, raises=True)
        elif isinstance(node, ast.Assert):
            _enter(found, node.test, raises=False)
    return found


def _enter(found: dict[int, bool], test: ast.expr, *, raises: bool) -> None:
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    inner = test.operand if isinstance(test, ast.UnaryOp) and negated else test
    # A condition with negations inside asks for answers of both sorts.
    if any(isinstance(node, ast.Not) for node in ast.walk(inner)):
        return
    answer = negated if raises else not negated
    for line in range(test.lineno, (test.end_lineno or test.lineno) + 1):
        found[line] = answer
