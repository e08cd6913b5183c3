"""Runs the chains of a step on a CUDA device, each by one launch (:mod:`.kernels.cuda.chains`).

Their instructions are those that the CPU runs (:mod:`counterfoil_core.program.chains`). Under an exact profile every
value is float32: nothing is widened, narrowed or rounded to a grid, and each is one operation of IEEE 754, which is how
an exact profile defines the operators of a chain. Under other profiles a chain has no rounding site: what a value is
rounded to follows from the largest of all, which is known when a launch has ended.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from counterfoil_core.arithmetic.grid.ahead import Ahead, UnroundedAhead
from counterfoil_core.arithmetic.grid.chains import Made
from counterfoil_core.arithmetic.grid.tiles import DTYPES
from counterfoil_core.kernels.cuda.chains import Instruction, run
from counterfoil_core.kernels.cuda.zeros import zeros
from counterfoil_core.kernels.devicenumber import constant_on
from counterfoil_core.program.chains import Chain, ChainOperand, ChainRules, Code
from counterfoil_core.program.elementwise import Expression

_OF_NUMBERS = frozenset({Code.FILL, Code.ADD_S, Code.SUB_S, Code.SUB_FROM_S, Code.MUL_S, Code.DIV_S, Code.DIV_FROM_S})
_STORING = {Code.NARROW, Code.DECIDE}
_UNROUNDED = frozenset({"add", "sub", "mul", "neg", "abs", "where", "lt", "le", "gt", "ge", "eq", "ne"})
_ROUNDED = frozenset({"div", "sqrt"})


def _is_of(expression: Expression, names: frozenset[str]) -> bool:
    name, *operands = expression
    return name in names and all(_is_of(one, names) for one in operands if isinstance(one, tuple))


UNROUNDED = ChainRules(lambda expression: _is_of(expression, _UNROUNDED), alone=True, spread=True)
"""Chains of what needs no rounding to a grid; extremes and fills are the library's."""
DEFINED = ChainRules(lambda expression: _is_of(expression, _UNROUNDED | _ROUNDED), alone=True, spread=True)
"""Chains of what an exact profile defines as its operations say."""


def run_on_device(
    chain: Chain, operands: Sequence[Tensor], scalars: Sequence[Tensor | float], rounder: object
) -> Made | None:
    """Compute a chain, as :func:`counterfoil_core.arithmetic.grid.chains.run_chain` does.

    Args:
        chain: The chain.
        operands: Its operands in its order.
        scalars: Its scalars: numbers of the program, and tensors ``[]`` on the device.
        rounder: The rounder of the step.

    Returns:
        What it gave; None where its operators must be computed one after the other.
    """
    if not isinstance(rounder, Ahead) or rounder.waits or (chain.sites and not isinstance(rounder, UnroundedAhead)):
        return None
    device, dtype = rounder.device, rounder.dtype
    if not _as_declared(chain, operands, dtype):
        return None
    flat = [tensor.to(device).reshape(-1).contiguous() for tensor in operands]
    numbers = [one if isinstance(one, Tensor) else constant_on(one, dtype, device) for one in scalars]
    results = [torch.empty(chain.shape, dtype=_dtype_of(item, dtype), device=device) for item in chain.results]
    stored = [item.dtype == "float32" for item in chain.results]
    tops = [zeros(1, torch.int32, device) for _ in range(sum(stored))]
    run(
        _code(chain), chain.elements, flat, [item.spread for item in chain.operands],
        [one.view(-1) for one in results], numbers, rounder.rows(chain), tops, dtype,
    )  # fmt: skip
    flags = iter(tops)
    return Made(results, tuple(next(flags) if is_state else False for is_state in stored))


def _as_declared(chain: Chain, operands: Sequence[Tensor], dtype: torch.dtype) -> bool:
    return all(
        tensor.dtype is _dtype_of(item, dtype) and tensor.shape == item.shape
        for item, tensor in zip(chain.operands, operands, strict=True)
    )


def _dtype_of(item: ChainOperand, dtype: torch.dtype) -> torch.dtype:
    return dtype if item.dtype == "float64" else DTYPES[item.dtype]


def _code(chain: Chain) -> tuple[Instruction, ...]:
    """Return the instructions of a chain, made once and kept as long as it is."""
    code = _CODES.get(chain)
    if code is None:
        code = _CODES[chain] = _with_values(chain)
    return code


_CODES: MutableMapping[Chain, tuple[Instruction, ...]] = WeakKeyDictionary()


def _with_values(chain: Chain) -> tuple[Instruction, ...]:
    """Return the instructions with values in the place of slots; those that write a result store it as well."""
    operands, results = len(chain.operands), len(chain.results)
    stored = [number for number, item in enumerate(chain.results) if item.dtype == "float32"]
    held = list(range(operands)) + [-1] * (chain.slots - operands)
    """The value that a slot holds."""
    made: list[Instruction] = []

    def emit(name: str, *taken: int) -> int:
        one, two, three = (*taken, 0, 0, 0)[:3]
        made.append((name, one, two, three))
        return operands + len(made) - 1

    for step in chain.rounding:
        result = step.target - operands
        if step.code in _STORING:
            top = stored.index(result) if step.code is Code.NARROW else 0
            emit(step.code.name, held[step.first], result, top)
            continue
        if step.code in (Code.ROUND, Code.WATCH):
            place = step.second + (len(chain.sites) if step.code is Code.WATCH else 0)
            value = emit("SITE", held[step.first], place)
        elif step.code in _OF_NUMBERS:
            value = emit(step.code.name, held[step.first], step.second)
        else:
            value = emit(step.code.name, held[step.first], held[step.second], held[step.third])
        if step.code is Code.WATCH:
            continue
        held[step.target] = value
        if 0 <= result < results:
            emit("STORE", value, result)
    return tuple(made)
