"""Tracing of a step without values: what any capture does, whoever calls the client's code.

Two passes: ``make_fx`` over what the step does, then ``make_fx`` over its functionalisation, which removes every
mutation. Both in one pass would not do: composite operators may be written in place, and mutations end with the first.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
import torch.fx.traceback as fx_traceback
from torch import Tensor, fx
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
from torch.utils import checkpoint
from torch.utils._python_dispatch import _disable_current_modes

from counterfoil.base.foreignerrors import describe_error, theirs
from counterfoil.program import autocast, remedies, whereabouts
from counterfoil.program.asked import Again
from counterfoil.program.attribution import Location
from counterfoil.program.composites import COMPOSITES, LAID_OUT, MUTATING
from counterfoil.program.decompositions import DECOMPOSITIONS
from counterfoil.program.expansions import EXPANSIONS, WRITING
from counterfoil.program.lowering import changes_a_constant
from counterfoil.program.moves import MADE, MOVES
from counterfoil.program.philoxdraws import count_draws
from counterfoil.program.remedies import NoFormError, Notes
from counterfoil.program.rows import ByRows
from counterfoil.program.torchdraws import REPLACED, TRACED
from counterfoil.program.unread import without_unread_changes
from counterfoil.program.wrappers import unwrap_calls
from counterfoil_core.base.errors import CounterfoilError, ProgramError
from counterfoil_core.base.precision import ExactPrecision

# What `torch.utils.checkpoint` is given, captured as if it were called: a program says what it computes again.
# Checkpointing changes no value, only what is kept. Whoever wants it asks for it in the order, of any model
# (counterfoil.program.recompute).


@contextmanager
def direct_checkpoints() -> Iterator[None]:
    """Let ``torch.utils.checkpoint.checkpoint`` call what it is given and keep what the backward pass needs.

    Both of its forms: what surrounds the call with ``use_reentrant=False``, and what makes it with ``True``.
    """
    # From torch 2.14 on the first of them is for others alone, and torch calls the second.
    names = {
        "_checkpoint_without_reentrant_generator": _surrounding,
        "_checkpoint_without_reentrant_generator_impl": _surrounding,
        "CheckpointFunction": _Calling,
    }
    before = {name: getattr(checkpoint, name) for name in names if hasattr(checkpoint, name)}
    try:
        for name in before:
            setattr(checkpoint, name, names[name])
        yield
    finally:
        for name, theirs in before.items():
            setattr(checkpoint, name, theirs)


def _surrounding(*_: Any, **__: Any) -> Iterator[None]:
    """Nothing before the call, and nothing after it."""
    yield


class _Calling:
    @staticmethod
    def apply(function: Callable[..., Any], _preserve: bool, *args: Any) -> Any:
        # As torch does: where no argument requires a gradient, nothing inside gets one.
        learns = any(isinstance(item, Tensor) and item.requires_grad for item in args)
        with nullcontext() if learns else torch.no_grad():
            return function(*args)


# Tables in float64 of which a step takes elements and casts them to float32: tables in float32. To take elements and
# then to cast them gives what it gives to cast first: the same bits. Whatever computes with float64 stays as it is, and
# a program cannot hold it.

_aten = torch.ops.aten
_TAKING = {
    _aten.index.Tensor, _aten.index_select.default, _aten.gather.default, _aten.select.int, _aten.slice.Tensor,
    _aten.view.default, _aten._unsafe_view.default, _aten.expand.default, _aten.unsqueeze.default, _aten.squeeze.dim,
    _aten.squeeze.default, _aten.permute.default, _aten.transpose.int, _aten.t.default, _aten.alias.default,
    _aten.detach.default, _aten.clone.default, _aten.flip.default, _aten.embedding.default, _aten.reshape.default,
    _aten.lift_fresh_copy.default, _aten.repeat.default,
}  # fmt: skip
"""Operators whose results are elements of their first operand."""


def fold_doubles(traced: fx.GraphModule) -> fx.GraphModule:
    """Let constants in float64 that are only taken from and then cast to float32 be in float32.

    Args:
        traced: A step as it is written; changed in place, and returned.
    """
    for node in list(traced.graph.nodes):
        if node.op != "get_attr":
            continue
        held = getattr(traced, str(node.target), None)
        wide: list[fx.Node] = []
        if type(held) is Tensor and held.dtype is torch.float64 and node.users and _only_cast(node, wide):
            name = f"{node.target}_float32"
            with _disable_current_modes():
                setattr(traced, name, held.to(torch.float32))
            node.target = name
            for copy in wide:
                copy.kwargs = {**copy.kwargs, "dtype": torch.float32}
    traced.recompile()
    return traced


def _only_cast(node: fx.Node, wide: list[fx.Node]) -> bool:
    """Whether all that a node gives is cast to float32 after elements were taken from it.

    Args:
        node: The node.
        wide: Is told the copies in float64 on the way.
    """
    for user in node.users:
        if user.op != "call_function" or node in user.all_input_nodes[1:] or user.all_input_nodes[0] is not node:
            return False
        copies = user.target is _aten._to_copy.default
        dtype = user.kwargs.get("dtype", torch.float64) if copies else None
        if dtype is torch.float32:
            continue
        if dtype is torch.float64:
            wide.append(user)
        elif user.target not in _TAKING:
            return False
        if not _only_cast(user, wide):
            return False
    return True


# Operators that torch's back ends define differently, as operators that all of them define alike. Capture puts these in
# their place, so no program holds them and the allow-list lacks them: * `hardsigmoid` and `hardswish` divide by 6 on
# the CPU. On CUDA they multiply by `1.0f / 6.0f`, the float32 number in float64 as well, which is 2^-25 away
# (`ActivationHardsigmoidKernel.cu`, `ActivationHardswishKernel.cu`). Hardsigmoid's gradient multiplies by that number
# on both, so it is not the gradient of what the CPU computes. * `log_sigmoid_forward` keeps a buffer on the CPU for its
# gradient. On CUDA it gives an empty one, and its gradient starts from the input, which is not what is left of the
# buffer on the grid (`ActivationLogSigmoidKernel.cu`). * `smooth_l1_loss_backward` with beta 0: at equal values the CPU
# gives -1 times the gradient, CUDA not a number (`PointwiseOpsKernel.cu`); by its definition, which is l1_loss's then,
# it is 0.


def _hardsigmoid(x: Tensor) -> Tensor:
    return torch.clamp(x + 3.0, 0.0, 6.0) / 6.0


def _hardsigmoid_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    return torch.where((x > -3.0) & (x < 3.0), grad_output / 6.0, 0.0)


def _hardswish(x: Tensor) -> Tensor:
    return x * torch.clamp(x + 3.0, 0.0, 6.0) / 6.0


def _hardswish_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    inside = grad_output * (x / 3.0 + 0.5)
    return torch.where(x <= -3.0, 0.0, torch.where(x < 3.0, inside, grad_output))


def _log_sigmoid_forward(x: Tensor) -> tuple[Tensor, Tensor]:
    small = torch.exp(-x.abs())
    return torch.clamp_max(x, 0.0) - torch.log1p(small), small


def _log_sigmoid_backward(grad_output: Tensor, x: Tensor, small: Tensor) -> Tensor:
    # The sigmoid of -x, from exp(-|x|): no cancellation on either side.
    return grad_output * torch.where(x < 0, 1.0, small) / (1.0 + small)


def _smooth_l1_loss_backward(
    grad_output: Tensor, x: Tensor, target: Tensor, reduction: int, beta: float
) -> Tensor | Any:
    if beta:
        return NotImplemented
    slope = torch.sign(x - target) * grad_output
    return slope / x.numel() if reduction == 1 else slope


PORTABLE: Mapping[Any, Callable[..., Any]] = {
    _aten.hardsigmoid.default: _hardsigmoid,
    _aten.hardsigmoid_backward.default: _hardsigmoid_backward,
    _aten.hardswish.default: _hardswish,
    _aten.hardswish_backward.default: _hardswish_backward,
    _aten.log_sigmoid_forward.default: _log_sigmoid_forward,
    _aten.log_sigmoid_backward.default: _log_sigmoid_backward,
    _aten.smooth_l1_loss_backward.default: _smooth_l1_loss_backward,
}
"""How to compute each; ``NotImplemented`` where the operator itself will do."""

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
        autocast.without_mixed_precision(autocast_too=ignore_autocast),
        direct_checkpoints(),
        unwrap_calls(notes or Notes()),
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
    with FakeTensorMode(allow_non_fake_inputs=True) as mode, surroundings, count_draws():
        yield mode


def trace_in_place(
    run: Callable[..., Any], examples: Sequence[Tensor], *, exact: ExactPrecision | None
) -> torch.fx.GraphModule:
    """Trace a function of tensors as it is written, with what it changes in place.

    Args:
        run: The function; called once, within :func:`without_values`.
        examples: Its arguments.
        exact: The exact profile that it is for, if any: composite operators become single operations then.
    """
    table = {**DECOMPOSITIONS, **EXPANSIONS, **MADE, **TRACED, **(MUTATING if exact else {})}
    with fx_traceback.preserve_node_meta():
        return fold_doubles(without_unread_changes(make_fx(run, decomposition_table=table)(*examples)))


def without_mutations(
    traced: torch.fx.GraphModule, examples: Sequence[Tensor], *, exact: ExactPrecision | None
) -> torch.fx.Graph:
    """Trace what was traced once more, without its mutations; the arguments as for :func:`trace_in_place`."""
    table = {**PORTABLE, **MOVES, **REPLACED, **WRITING, **({**COMPOSITES, **LAID_OUT} if exact else {})}
    with fx_traceback.preserve_node_meta():
        pure = make_fx(_functional(traced), decomposition_table=table)(*examples)
        if exact and exact.rows:
            # In a pass of its own, where all products stand there and none is a part of itself.
            pure = make_fx(ByRows(pure).run, decomposition_table=LAID_OUT)(*examples)
        return pure.graph


@contextmanager
def explain_errors(location: Location) -> Iterator[None]:
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
            f"{location.sentence} failed while the step was captured: {describe_error(error)}"
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
