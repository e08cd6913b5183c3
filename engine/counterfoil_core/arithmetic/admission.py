"""What a stranger's program must pass before anything of it is computed."""

from __future__ import annotations

from contextlib import nullcontext
from weakref import WeakValueDictionary

from counterfoil_core.arithmetic.beforehand import beforehand
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.dtypes import ITEM_BYTES
from counterfoil_core.base.precision import AnyPrecision, exact_bits, is_exact
from counterfoil_core.program.estimate import estimate
from counterfoil_core.program.graph import Program
from counterfoil_core.program.guards import check_guarded
from counterfoil_core.program.limits import Limits, check_estimate
from counterfoil_core.program.resulttypes import undecided_operators

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
        check_estimate(estimate(program, ITEM_BYTES[precision.compute], cancel, exact_bits(precision)), limits)
        check_types(program, precision.compute, cancel)
        # Shapes that do not fit were found by now, so lengths can be read off them.
        check_guarded(program)
        beforehand(precision).check_program(program, cancel)
    _admitted[key] = program
    return program


def check_types(program: Program, compute: str, cancel: CancelToken | None = None) -> None:
    """Check that every operator takes its arguments and gives what the program declares, from shapes and dtypes alone.

    The rules of the operators answer for what an honest program has; the library is asked about the rest.

    Args:
        program: The program; its arguments were checked against the signatures.
        compute: The compute dtype that takes the place of ``float32``.
        cancel: Looked at between operators.

    Raises:
        ProgramError: The message names the operator and its module.
        CancelledError: ``cancel`` was set.
    """
    remaining = undecided_operators(program, compute, cancel)
    if remaining:
        from counterfoil_core.arithmetic.compute.metatypes import check_by_library  # with the library

        check_by_library(program, compute, remaining, cancel)
