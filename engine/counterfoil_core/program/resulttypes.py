"""Whether the operators of a program give what it declares of them, by the rules of their families.

What no rule answers for is put before the library (:mod:`counterfoil_core.arithmetic.compute.metatypes`), whose answer
stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.operators.catalogue import names_with
from counterfoil_core.operators.facts import DRAWS, Trait
from counterfoil_core.operators.node import Argument, Keyword, Node, TensorType, Value
from counterfoil_core.operators.results import SHAPE_RULES
from counterfoil_core.operators.shaperules import Results, Typed, UnsureError
from counterfoil_core.operators.signatures import defaults_of, signature_of
from counterfoil_core.program.graph import Program

Types = Sequence[TensorType | None]
_MAKERS = names_with(Trait.MAKES) | DRAWS
"""They are told the dtype that the program gives them."""
_EMPTY = ("save_mean", "save_invstd")
"""What an honest program has without elements: a batch norm in evaluation saves nothing."""


def undecided_operators(program: Program, compute: str, cancel: CancelToken | None = None) -> list[int]:
    """Return the operators of a program, by their index, of which no rule knows that they give what it declares.

    One stands for all that have the same arguments: a layer's for those of the layers like it.

    Args:
        program: The program; its arguments were checked against the signatures.
        compute: The compute dtype, which ``float32`` stands for in a program.
        cancel: Looked at between operators.

    Raises:
        CancelledError: ``cancel`` was set.
    """
    found: dict[Any, int] = {}
    known: set[Any] = set()
    for index, node in enumerate(program.nodes):
        if cancel is not None:
            cancel.check()
        use = (node.operator, *(_unspelled(item, program.types) for item in (node.args, node.kwargs)), node.outputs)
        if use in known:
            continue
        known.add(use)
        if not gives_what_it_declares(node, program.types, compute):
            found[use] = index
    return list(found.values())


def gives_what_it_declares(node: Node, types: Types, compute: str) -> bool:
    """Say whether a rule knows that an operator takes its arguments and gives what the program declares.

    Args:
        node: The operator, its arguments checked against the signature.
        types: The type of every value of the program, by its number.
        compute: The compute dtype, which ``float32`` stands for in a program.

    Returns:
        False where it gives something else, and where no rule knows.
    """
    made = results_by_rule(node, types, compute)
    declared = [None if output is None else _as_computed(output, compute) for output in node.outputs]
    return (
        made is not None
        and len(made) == len(declared)
        and all(wanted is None or found == wanted for found, wanted in zip(made, declared, strict=True))
    )


def results_by_rule(node: Node, types: Types, compute: str) -> Results | None:
    """Return what an operator gives by its rule; None where that does not know. The arguments are those of above."""
    rule = SHAPE_RULES.get(node.operator)
    if rule is None:
        return None
    names = [parameter.name for parameter in signature_of(node.operator).parameters]
    given = (*zip(names, node.args, strict=False), *node.kwargs)
    if any(name not in names for name, _ in node.kwargs):
        return None
    try:
        arguments = {
            **defaults_of(node.operator),
            **{name: _typed(item, types, compute, empty=name in _EMPTY) for name, item in given},
        }
        if node.operator in _MAKERS and node.outputs[0] is not None:
            arguments["dtype"] = _as_computed(node.outputs[0], compute).dtype
        return rule(arguments)
    except (UnsureError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        # A rule that trips over arguments does not know them.
        return None


def _as_computed(described: TensorType, compute: str) -> Typed:
    return Typed(compute if described.floating else described.dtype, described.shape)


def _typed(argument: Argument, types: Types, compute: str, *, empty: bool = False) -> Any:
    """Return an argument as the rules take it; of tensors without elements none knows anything."""
    if isinstance(argument, Value):
        described = types[argument.number]
        if described is None or (0 in described.shape and not empty):
            raise UnsureError
        return _as_computed(described, compute)
    if isinstance(argument, Keyword):
        return compute if (argument.kind, argument.name) == ("dtype", "float32") else argument.name
    if isinstance(argument, tuple):
        return [_typed(item, types, compute) for item in argument]
    return argument


def _unspelled(argument: Any, types: Types) -> Any:
    """An argument with types in place of values, so that equal ones mean the same: 1, 1.0 and True do not."""
    if isinstance(argument, Value):
        return types[argument.number]
    if isinstance(argument, tuple):
        return tuple(_unspelled(item, types) for item in argument)
    return type(argument), argument
