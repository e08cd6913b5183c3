"""Two bundles in two columns, line by line: orders, the step in which they part, its operator, its elements. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from counterfoil import BundleSummary, Difference, NeighbourOperator, TensorDivergence
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import translated
from counterfoil_app.looks.language import texts
from counterfoil_app.views.comparison import order_lines

Sides = tuple[BundleSummary, BundleSummary]
_tr = texts("difference")


class Depth(Enum):
    """How deep one looks."""

    ORDER = "order"
    STEP = "step"
    OPERATOR = "operator"
    ELEMENT = "element"


@dataclass(frozen=True)
class Line:
    """One line of both columns."""

    name: str  #: What it is.
    first: str  #: What the first bundle has there.
    second: str  #: What the second has.
    same: bool | None  #: Whether both are the same; None where that is not known.
    digest: bool = False  #: Whether the values are digests.


def lines_of(depth: Depth, sides: Sides, found: Difference) -> list[Line]:
    """Return the lines of a depth."""
    made = {Depth.ORDER: _orders, Depth.STEP: _steps, Depth.OPERATOR: _operators, Depth.ELEMENT: _elements}
    return made[depth](sides, found)


def same_at(depth: Depth, found: Difference) -> bool | None:
    """Whether nothing differs at a depth; None where that is not known."""
    if depth is Depth.ORDER:
        return not found.orders
    if found.step is None:
        return True
    if depth is Depth.STEP:
        return False
    if depth is Depth.OPERATOR:
        return False if found.operator is not None or found.inputs else None
    if found.elements is not None and found.elements.differing:
        return False
    return False if found.state is not None and found.state.tensors else None


def _orders(sides: Sides, found: Difference) -> list[Line]:
    both = [{name: (value, digest) for name, value, digest in order_lines(side)} for side in sides]
    lines = [
        Line(
            _tr("Order digest"),
            sides[0].order.digest.hex,
            sides[1].order.digest.hex,
            sides[0].order.digest == sides[1].order.digest,
            digest=True,
        ),
        _line(_tr("Steps ordered"), *(text.count(side.order.steps) for side in sides)),
    ]
    for name in {**both[0], **both[1]}:
        (first, digest), (second, also) = (side.get(name, ("", False)) for side in both)
        lines.append(Line(name, first, second, first == second, digest or also))
    # What the overview has no line for.
    lines += [
        Line(translated(unlike.what), unlike.first, unlike.second, same=False)
        for unlike in found.orders
        if unlike.what in ("commit_every", "checkpoint_every", "schedule", "per-step scalars", "recipe")
        or unlike.what.startswith(("operator", "data "))
    ]
    return lines


def _steps(_sides: Sides, found: Difference) -> list[Line]:
    first, second = found.runs
    lines = [_line(_tr("Steps recorded"), text.count(first.steps), text.count(second.steps))]
    if found.step is None:
        equal = _tr("the same up to step {0}").format(text.count(found.compared))
        lines.append(Line(_tr("Results"), equal, equal, same=True))
    else:
        if found.step > 1:
            equal = _tr("the same up to step {0}").format(text.count(found.step - 1))
            lines.append(Line(_tr("Results"), equal, equal, same=True))
        name = text.leaves(found.step, found.step)
        for part in ("shares", "state", "loss", "fingerprints"):
            if part == "loss" and found.losses is not None:
                one, other = map(text.exact, found.losses)
                lines.append(Line(f"{name}: {words.part(part)}", one, other, part not in found.parts))
            elif part in found.parts:
                lines.append(Line(f"{name}: {words.part(part)}", *_apart(), same=False))
        if found.part:
            which = words.step_part(found.part)
            lines.append(Line(_tr("First part that differs"), which, which, same=False))
    if found.log_step is not None:
        said = _tr("another from step {0} on").format(text.count(found.log_step))
        lines.append(Line(_tr("Rounding log, which two honest machines need not share"), said, said, same=None))
    names = {name: (dict(first.environment).get(name, ""), dict(second.environment).get(name, "")) for name, _ in (
        *first.environment, *second.environment,
    )}  # fmt: skip
    lines += [_line(_tr("Machine: {0}").format(words.environment(name)), *values) for name, values in names.items()]
    lines.append(
        Line(_tr("Run root"), first.run_root.hex, second.run_root.hex, first.run_root == second.run_root, True)
    )
    return lines


def _apart() -> tuple[str, str]:
    return _tr("one result"), _tr("another result")


def _operators(_sides: Sides, found: Difference) -> list[Line]:
    if found.step is None:
        return []
    if found.inputs:
        return [Line(_tr("What the step read: {0}").format(name), *_apart(), same=False) for name in found.inputs]
    if found.operator is None:
        return []
    operator = found.operator
    near = operator.neighbours
    return [_operator_line(item, first=item.number == operator.number) for item in near] or [
        Line(f"{text.count(operator.number)}. {operator.where}", *_apart(), same=False)
    ]


def _operator_line(item: NeighbourOperator, *, first: bool) -> Line:
    where = f"{words.phase(item.phase)}{f', {item.module}' if item.module else ''}"
    name = f"{text.count(item.number)}. {item.name} ({where})"
    if item.agrees is None:
        said = _tr("not fingerprinted")
        return Line(name, said, said, same=None)
    if item.agrees:
        said = _tr("the same result")
        return Line(name, said, said, same=True)
    return Line(name, *(_apart() if first else (_tr("follows from it"), _tr("follows from it"))), same=False)


def _elements(_sides: Sides, found: Difference) -> list[Line]:
    lines = []
    if found.elements is not None:
        elements = found.elements
        one, other = (
            _tr("came out again here") if again else _tr("did not come out here") for again in elements.reproduced
        )
        lines.append(Line(_tr("The recorded output of the operator"), one, other, all(elements.reproduced)))
        count = _tr("{0} of {1} elements differ, by up to {2}").format(
            text.count(elements.differing), text.count(elements.elements), text.number(elements.largest)
        )
        lines.append(Line(_tr("Its elements"), count, count, same=not elements.differing))
        if elements.differing:
            values = text.exact(elements.first), text.exact(elements.second)
            lines.append(Line(_tr("Element {0}").format(text.index(elements.index)), *values, same=False))
    state = found.state
    if state is not None:
        step = text.leaves(state.step, state.step)
        same = _tr("{0} tensors").format(text.count(state.equal))
        lines.append(Line(_tr("State, {0}: equal").format(step), same, same, same=True))
        lines += [_tensor_line(tensor) for tensor in state.tensors]
        lines += [Line(name, *_apart(), same=False) for name in state.unlike]
    return lines


def _tensor_line(tensor: TensorDivergence) -> Line:
    where = f"{tensor.name} {text.index(tensor.index)}" if tensor.index else tensor.name
    name = _tr("{0}: {1} elements, up to {2} ulp").format(
        where, text.count(tensor.differing), text.count(tensor.max_ulps)
    )
    return Line(name, text.exact(tensor.trainer), text.exact(tensor.replay), same=False)


def _line(name: str, first: str, second: str) -> Line:
    return Line(name, first, second, first == second)
