"""What a stranger's program must pass before anything of it is computed."""

from __future__ import annotations

from contextlib import nullcontext
from weakref import WeakValueDictionary

import torch

from counterfoil.arithmetic.compute.interpreter import Interpreter
from counterfoil.arithmetic.profiles import arithmetic_of
from counterfoil.base.cancel import CancelToken
from counterfoil.base.digest import Digest
from counterfoil.base.precision import AnyPrecision, is_exact
from counterfoil.program.estimate import estimate
from counterfoil.program.graph import Program
from counterfoil.program.limits import Limits, check_estimate
from counterfoil.program.torchdtypes import TORCH_DTYPES
from counterfoil.program.unguarded import check_guarded

# The runs of a referee and of a panel have one program: while anybody holds it, it is not read again.
_admitted: WeakValueDictionary[tuple[Digest, AnyPrecision | str, Limits], Program] = WeakValueDictionary()


def read_program(
    data: bytes, precision: AnyPrecision, limits: Limits | None = None, cancel: CancelToken | None = None
) -> Program:
    """Read a program, compare what it would take with the limits, and check its types on tensors without memory.

    A program that passed and is still in use is returned as it is: what it passed depends on the arguments alone.

    Args:
        data: Its canonical JSON.
        precision: The precision profile of the order.
        limits: How large it may be; the default limits unless given.
        cancel: Looked at between operators.

    Raises:
        ProgramError: It is malformed or unsupported, an operator does not give what it declares, or the profile is
            exact and an operator has no exact result.
        LimitError: It is larger than the limits.
        CancelledError: ``cancel`` was set.
    """
    limits = limits or Limits()
    # Profiles that round check the same, whatever their grid.
    key = (Digest.of(data), precision if is_exact(precision) else precision.compute, limits)
    known = _admitted.get(key)
    if known is not None:
        if cancel is not None:
            cancel.check()
        return known
    # Tables over all operators take a second each, and the first fake tensor an import of three.
    with cancel.at_once() if cancel is not None else nullcontext():
        program = Program.from_bytes(data, limits=limits, cancel=cancel)
        dtype = TORCH_DTYPES[precision.compute]
        check_estimate(estimate(program, dtype.itemsize, cancel), limits)
        Interpreter(program, torch.device("cpu"), dtype).check_types(cancel)
        # Shapes that do not fit were found by now, so lengths can be read off them.
        check_guarded(program)
        arithmetic_of(precision).check_program(program, cancel)
    _admitted[key] = program
    return program
