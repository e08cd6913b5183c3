"""Tracing of a step without values: what any capture does, whoever calls the client's code.

Two passes: ``make_fx`` over what the step does, then ``make_fx`` over its functionalisation, which removes every
mutation. Both in one pass would not do: composite operators may be written in place, and mutations end with the first.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.fx.traceback as fx_traceback
from torch import Tensor
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
    UnsupportedOperatorException,
)
from torch.distributions import Distribution
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.nn.attention import SDPBackend, sdpa_kernel

from counterfoil.base.raised import theirs, told
from counterfoil.program import mixed, remedies, whereabouts
from counterfoil.program.asked import Again
from counterfoil.program.attribution import Location
from counterfoil.program.checkpointed import called_directly
from counterfoil.program.composites import COMPOSITES, LAID_OUT, MUTATING
from counterfoil.program.decompositions import DECOMPOSITIONS
from counterfoil.program.doubles import fold_doubles
from counterfoil.program.expansions import EXPANSIONS, WRITING
from counterfoil.program.lowering import changes_a_constant
from counterfoil.program.moves import MADE, MOVES
from counterfoil.program.noform import NoFormError
from counterfoil.program.notes import Notes
from counterfoil.program.philoxdraws import counting_draws
from counterfoil.program.portable import PORTABLE
from counterfoil.program.torchdraws import REPLACED, TRACED
from counterfoil.program.unread import without_unread_changes
from counterfoil.program.unwrapped import left_out
from counterfoil_core.base.errors import CounterfoilError, ProgramError

_DECIDING = (DataDependentOutputException, DynamicOutputShapeException, GuardOnDataDependentSymNode)
SHAPELESS = (*_DECIDING, UnsupportedOperatorException)
"""What tensors without values raise where they would need some."""


@contextmanager
def plainly(*, ignore_autocast: bool | Callable[[torch.dtype], bool], notes: Notes | None = None) -> Iterator[None]:
    """Let torch compute in the operators that a program can hold.

    Args:
        ignore_autocast: Whether ``torch.autocast`` is without effect, or what says so of a dtype; else it is refused.
        notes: Is told which wrappers were left out.
    """
    with (
        sdpa_kernel(SDPBackend.MATH),
        _without_onednn(),
        _without_validation(),
        mixed.without_mixed_precision(autocast_too=ignore_autocast),
        called_directly(),
        left_out(notes or Notes()),
    ):
        yield


@contextmanager
def without_values(*, ignore_autocast: bool, notes: Notes | None = None) -> Iterator[FakeTensorMode]:
    """Let torch compute shapes alone, :func:`plainly`.

    Args:
        ignore_autocast: As there.
        notes: As there.

    Yields:
        The mode, for tensors that have values.
    """
    surroundings = plainly(ignore_autocast=ignore_autocast, notes=notes)
    with FakeTensorMode(allow_non_fake_inputs=True) as mode, surroundings, counting_draws():
        yield mode


def written(run: Callable[..., Any], examples: Sequence[Tensor], *, exact: bool) -> torch.fx.GraphModule:
    """Trace a function of tensors as it is written, with what it changes in place.

    Args:
        run: The function; called once, within :func:`without_values`.
        examples: Its arguments.
        exact: Whether composite operators become single operations.
    """
    table = {**DECOMPOSITIONS, **EXPANSIONS, **MADE, **TRACED, **(MUTATING if exact else {})}
    with fx_traceback.preserve_node_meta():
        return fold_doubles(without_unread_changes(make_fx(run, decomposition_table=table)(*examples)))


def without_mutations(traced: torch.fx.GraphModule, examples: Sequence[Tensor], *, exact: bool) -> torch.fx.Graph:
    """Trace what was traced once more, without its mutations; the arguments as for :func:`written`."""
    table = {**PORTABLE, **MOVES, **REPLACED, **WRITING, **({**COMPOSITES, **LAID_OUT} if exact else {})}
    with fx_traceback.preserve_node_meta():
        return make_fx(_functional(traced), decomposition_table=table)(*examples).graph


@contextmanager
def explained(location: Location) -> Iterator[None]:
    """Turn whatever ends a trace into a ProgramError that says where in the client's code it happened.

    Args:
        location: Knows what is being computed.
    """
    try:
        yield
    except _DECIDING as error:
        raise ProgramError(
            f"{location.sentence} decides control flow or a shape by the values of a tensor, which a program cannot"
            f"{whereabouts.in_brackets(whereabouts.where_raised(error))}.",
            remedy=remedies.for_decision(error),
            detail=str(error),
        ) from error
    except UnsupportedOperatorException as error:
        raise ProgramError(
            f"{location.sentence} uses the operator {error.func}, which cannot be captured"
            f"{whereabouts.in_brackets(whereabouts.where_raised(error))}.",
            remedy="Express it with operators of the allow-list (counterfoil_core/operators/catalogue.py).",
        ) from error
    except NoFormError as error:
        raise ProgramError(
            f"{location.sentence} {error.sentence}{whereabouts.in_brackets(whereabouts.where_raised(error))}.",
            remedy=error.remedy,
        ) from error
    except (CounterfoilError, Again):
        raise
    except BaseException as error:
        # The client's own code ran: whatever it raises becomes a sentence that says where.
        theirs(error)
        raise ProgramError(
            f"{location.sentence} failed while the step was captured: {told(error)}"
            f"{whereabouts.in_brackets(whereabouts.where_raised(error))}.",
            remedy="Try the model and the objective on one batch outside Counterfoil, with fixed shapes.",
            detail=traceback.format_exc(),
        ) from error


@contextmanager
def _without_validation() -> Iterator[None]:
    """Keep ``torch.distributions`` from checking values, as it does by default: a step has none yet."""
    validated = Distribution._validate_args
    Distribution.set_default_validate_args(False)
    try:
        yield
    finally:
        Distribution.set_default_validate_args(validated)


def _functional(traced: torch.fx.GraphModule) -> Callable[..., Any]:
    """The traced step without mutations.

    Its constants are arguments of what is functionalised: what was made of an argument may be changed, and is then made
    anew; of other tensors it may not.
    """
    nodes = [node for node in traced.graph.nodes if node.op == "get_attr"]
    written = {node.target for node in nodes if any(changes_a_constant(user) for user in node.users)}
    names = dict.fromkeys(str(node.target) for node in nodes if node.target not in written)
    constants = {name: getattr(traced, name) for name in names}

    def run(values: tuple[Tensor, ...], held: list[Tensor]) -> Any:
        known = dict(zip(constants, held, strict=True))

        class Run(torch.fx.Interpreter):
            def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
                return known[target] if target in known else super().get_attr(target, args, kwargs)

        return Run(traced).run(*values)

    pure = functionalize(run, remove="mutations")
    return lambda *values: pure(values, list(constants.values()))


@contextmanager
def _without_onednn() -> Iterator[None]:
    """Keep oneDNN's own operators (for LSTMs) out of the program: no other back end has them."""
    enabled = torch.backends.mkldnn.enabled
    torch.backends.mkldnn.enabled = False  # type: ignore[assignment]
    try:
        yield
    finally:
        torch.backends.mkldnn.enabled = enabled
