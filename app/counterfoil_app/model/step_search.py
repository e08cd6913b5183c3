"""What somebody types to find steps: numbers, the beginning of a hash, or a condition on the columns.

``37``, ``10-20, 37``, ``3eeb7e`` (or ``#1234`` where it has digits alone), ``loss > 1 and corrections == 0``.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from counterfoil_app.model.step_data import StepData, StepState
from counterfoil_core.base.sentence import Sentence, say

Mask = npt.NDArray[np.bool_]
LONGEST = 400
_NUMBERS = re.compile(r"\d+(\s*-\s*\d+)?(\s*,\s*\d+(\s*-\s*\d+)?)*")
_HASH = re.compile(r"#[0-9a-f]{1,64}|(?=[0-9a-f]*[a-f])[0-9a-f]{4,64}", re.IGNORECASE)
_COMPARE: dict[type[ast.cmpop], Callable[..., object]] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
_COUNT: dict[type[ast.operator], Callable[..., object]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
}


class NotUnderstood(ValueError):  # noqa: N818 - it is no fault of the program's
    """A condition that says nothing of steps.

    Attributes:
        sentence: What is wrong with it.
    """

    def __init__(self, sentence: Sentence) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def columns(data: StepData) -> dict[str, npt.NDArray[np.generic]]:
    """The names that a condition may use, each with its values: ``[steps]``, numbers or bool.

    A number that is not known is not a number, of which no comparison holds.
    """
    table = data.table
    known = table.has_row
    return {
        "step": np.arange(1, data.count + 1),
        "loss": data.trainer_loss,
        "replay_loss": data.replay_loss,
        "difference": data.loss_apart,
        **{name: table.counted(name) for name in ("corrections", "contradictions", "omissions")},
        "seconds": np.where(known, table.column("seconds").astype(np.float64), np.nan),
        "entries": table.column("log_entries"),
        "bytes": table.column("log_bytes"),
        "match": np.isin(data.states, (StepState.MATCH, StepState.SUSPICIOUS)),
        "mismatch": data.states == StepState.MISMATCH,
        "unjudged": data.states == StepState.UNJUDGED,
    }


def search(data: StepData, wanted: str) -> Mask:
    """Return which steps are meant: bool ``[steps]``; all where nothing is typed.

    Raises:
        NotUnderstood: It is neither numbers nor a hash nor a condition.
    """
    wanted = wanted.strip()
    if not wanted:
        return np.ones(data.count, np.bool_)
    if len(wanted) > LONGEST:
        raise NotUnderstood(say("A condition has at most {0} characters.", LONGEST))
    if _NUMBERS.fullmatch(wanted):
        return _numbered(data.count, wanted)
    if _HASH.fullmatch(wanted):
        return _hashed(data, wanted.removeprefix("#").lower())
    return _fulfilled(data, wanted)


def _numbered(count: int, wanted: str) -> Mask:
    result = np.zeros(count, np.bool_)
    for part in wanted.split(","):
        first, _, last = (end.strip() for end in part.partition("-"))
        begin, end = int(first), int(last or first)
        result[max(0, begin - 1) : min(end, count)] = True
    return result


def _hashed(data: StepData, beginning: str) -> Mask:
    """Steps whose leaf, the trainer's or the replay's, begins so."""
    # Half a byte at the end stands for all bytes that begin with it.
    low, high = (np.frombuffer(bytes.fromhex(beginning + more * (len(beginning) % 2)), np.uint8) for more in "0f")
    found = np.zeros(data.count, np.bool_)
    for name in ("trainer_leaf", "replay_leaf"):
        leaves = data.table.column(name)[:, : len(low)]
        known = data.table.column(name).any(axis=1)
        found |= known & ((leaves >= low) & (leaves <= high)).all(axis=1)
    return found


def _fulfilled(data: StepData, condition: str) -> Mask:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what Python thinks of ``1or 2`` nobody is told
            tree = ast.parse(condition, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotUnderstood(say("This is neither a step, a hash, nor a condition such as {0}.", "loss > 1")) from error
    with np.errstate(all="ignore"):
        result = np.asarray(_value(tree.body, columns(data)))
    if result.dtype != np.bool_:
        raise NotUnderstood(say("This is a number; a condition compares it, for instance {0}.", f"{condition} > 0"))
    return np.broadcast_to(result, (data.count,)).copy()


def _value(node: ast.expr, known: dict[str, npt.NDArray[np.generic]]) -> npt.NDArray[np.generic]:
    match node:
        case ast.Constant(value=bool() | int() | float() as number) if abs(number) < 1e300:
            return np.asarray(number, np.float64 if not isinstance(number, bool) else np.bool_)
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.Name(id=name):
            raise NotUnderstood(say("There is no column {0}; there are {1}.", name, ", ".join(known)))
        case ast.BoolOp(op=how, values=parts):
            join = np.logical_and if isinstance(how, ast.And) else np.logical_or
            return np.asarray(join.reduce(np.broadcast_arrays(*(_truth(part, known) for part in parts))))
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return np.logical_not(_truth(inner, known))
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return np.negative(_number(inner, known))
        case ast.BinOp(left=left, op=how, right=right) if type(how) in _COUNT:
            return np.asarray(_COUNT[type(how)](_number(left, known), _number(right, known)))
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARE for op in ops):
            values = [_number(part, known) for part in (left, *others)]
            held = [_COMPARE[type(op)](values[at], values[at + 1]) for at, op in enumerate(ops)]
            return np.asarray(np.logical_and.reduce(np.broadcast_arrays(*map(np.asarray, held))))
        case ast.Call(func=ast.Name(id="abs"), args=[inner], keywords=[]):
            return np.abs(_number(inner, known))
        case _:
            raise NotUnderstood(
                say("A condition knows comparisons, and, or, not, abs, + - * /, and nothing like {0}.", _name(node))
            )


def _name(node: ast.expr) -> str:
    return ast.unparse(node)[:40]


def _truth(node: ast.expr, known: dict[str, npt.NDArray[np.generic]]) -> Mask:
    value = _value(node, known)
    if value.dtype != np.bool_:
        raise NotUnderstood(say("{0} is a number; a condition compares it, for instance {1}.", _name(node), "> 0"))
    return np.asarray(value, np.bool_)


def _number(node: ast.expr, known: dict[str, npt.NDArray[np.generic]]) -> npt.NDArray[np.float64]:
    value = _value(node, known)
    if value.dtype == np.bool_:
        raise NotUnderstood(say("{0} is no number.", _name(node)))
    return np.asarray(value, np.float64)
