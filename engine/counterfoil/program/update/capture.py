"""Any optimizer as an update rule: its own step is watched, and the operators that it calls become the program's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from counterfoil.program.steadiness import at_another_moment, generators_kept
from counterfoil.program.update.beginnings import Beginning, beginning_of
from counterfoil.program.update.calls import GRADIENT, PARAMETER, Call, Number, StepCalls
from counterfoil.program.update.replay import replay, takes_reciprocal
from counterfoil.program.update.rule import AtSlot, UpdateRule
from counterfoil.program.update.twins import name_of, plain_number, set_rates, twin_of
from counterfoil.program.update.twinsteps import Stepper, eagerly, owners, run_step
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DataError, ProgramError
from counterfoil_core.base.generators import finish

# The numbers of all steps of an optimizer: what learning rates, counts of steps and warm-ups make of its settings.

_TOLD_EVERY = 16
"""Steps between two reports."""


@dataclass(frozen=True)
class Foretold:
    """The numbers of a step's operators, in every step."""

    names: tuple[str, ...]  #: Names of those that change.
    values: npt.NDArray[np.float64]  #: float64 ``[steps, names]``.
    #: For each of them, by its place in the step and whether it is the reciprocal, its name or its value.
    places: Mapping[tuple[int, bool], str | float]


def foretell(
    stepper_of: Callable[[Sequence[str]], Stepper],
    parameters: Mapping[str, tuple[int, Tensor]],
    beginning: Beginning,
    later: StepCalls,
    steps: int,
    cancel: CancelToken | None,
) -> Generator[tuple[int, int], None, Foretold]:
    """Make all steps, and yield how many are done and their number.

    Args:
        stepper_of: Makes a new twin in which parameters of these names have gradients.
        parameters: For each parameter the number of its group, and itself.
        beginning: What the first step is.
        later: What the second one computes with all parameters.
        steps: How many to make.
        cancel: Looked at between steps.

    Raises:
        ProgramError: A step is another program.
        DataError: A number that changes is infinite or none at all.
        CancelledError: ``cancel`` was set.
    """
    whose = owners(later)
    chosen = _alike(parameters, later, whose) if whose is not None else {name: name for name in parameters}
    names = sorted(set(chosen.values()), key=list(parameters).index)
    stepper = stepper_of(names)
    first, second = stepper.first_two()
    begun = beginning_of(first, second)
    columns = _columns(chosen, later, whose, second)
    known = beginning.numbers
    fits = columns is not None and all(
        second.numbers[column] == later.numbers[place] and begun.numbers[column] == known[place]
        for place, column in enumerate(columns)
    )
    if columns is None or not fits:
        if len(names) == len(parameters):
            columns = list(range(len(later.numbers)))
        else:
            stepper = stepper_of(list(parameters))
            first, second = stepper.first_two()
            begun, columns = beginning_of(first, second), list(range(len(later.numbers)))
    ones = [two if one is None else one for one, two in zip(begun.numbers, second.numbers, strict=True)]
    rows = [ones, second.numbers][:steps]
    while len(rows) < steps:
        if cancel is not None:
            cancel.check()
        rows.append(stepper.follow(second))
        if len(rows) % _TOLD_EVERY == 0:
            yield len(rows), steps
    table = np.array(rows, np.float64).reshape(steps, len(second.numbers))
    return _foretold(table, columns, later.calls)


def _alike(parameters: Mapping[str, tuple[int, Tensor]], later: StepCalls, whose: Mapping[int, str]) -> dict[str, str]:
    """For each parameter the first one that is treated as it is."""
    treated: dict[str, list[object]] = defaultdict(list)
    for place, call in enumerate(later.calls):
        owner = whose.get(place, "")
        treated[owner].append((str(call.func), *(later.numbers[number.place] for number in call.numbers)))
    found: dict[object, str] = {}
    return {
        name: found.setdefault((group, tuple(tensor.shape), tuple(treated[name])), name)
        for name, (group, tensor) in parameters.items()
    }


def _columns(
    chosen: Mapping[str, str], later: StepCalls, whose: Mapping[int, str] | None, second: StepCalls
) -> list[int] | None:
    """For each number of the step its place among those of the chosen parameters; None where that is not known."""
    others = owners(second)
    if whose is None or others is None:
        return None
    mine, theirs = _numbers(later.calls, whose), _numbers(second.calls, others)
    if None in mine or None in theirs:
        return None
    columns = [0] * len(later.numbers)
    for name, places in mine.items():
        given = theirs[chosen[str(name)]]
        if len(given) != len(places):
            return None
        for place, column in zip(places, given, strict=True):
            columns[place] = column
    return columns


def _numbers(calls: Sequence[Call], whose: Mapping[int, str]) -> dict[str | None, list[int]]:
    found: dict[str | None, list[int]] = defaultdict(list)
    for place, call in enumerate(calls):
        if call.numbers:
            found[whose.get(place)] += [number.place for number in call.numbers]
    return found


def _foretold(table: npt.NDArray[np.float64], columns: Sequence[int], calls: Sequence[Call]) -> Foretold:
    names: dict[bytes, str] = {}
    values: list[npt.NDArray[np.float64]] = []
    places: dict[tuple[int, bool], str | float] = {}
    for call in calls:
        for number in call.numbers:
            column, reciprocal = table[:, columns[number.place]], takes_reciprocal(call, number)
            if np.all(column == column[0]) or np.all(np.isnan(column)):
                places[number.place, False] = float(column[0])
                continue
            with np.errstate(divide="ignore"):
                column = 1.0 / column if reciprocal else column
            _check_finite(column, call, number)
            key = column.tobytes()
            if key not in names:
                names[key] = f"{call.kind.strip('_')}.{len(names) + 1}"
                values.append(column)
            places[number.place, reciprocal] = names[key]
    listed = np.stack(values, axis=1) if values else np.zeros((len(table), 0))
    return Foretold(tuple(names.values()), listed, places)


def _check_finite(column: npt.NDArray[np.float64], call: Call, number: Number) -> None:
    wrong = np.flatnonzero(~np.isfinite(column))
    if wrong.size:
        raise DataError(
            f"The optimizer gives the operator {call.func} a number that is {column[wrong[0]]} in step {wrong[0] + 1}"
            f"{f' ({call.line})' if call.line else ''}.",
            remedy="Correct its settings, or its learning rates.",
        )


# Tries a rule that was made of an optimizer: it must do what the optimizer itself does, to random gradients.

_STEPS = 3
_MOST_ELEMENTS = 2**20
"""How many elements the parameters that are tried have together."""
_CLOSE = 1e-6
"""The largest difference, in units of what the steps have changed."""
_SCALE = 0.1
_SEED = 0x7EA5


class _InFloat64(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Lets everything be computed in float64."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        def wide(item: Any) -> Any:
            return torch.float64 if isinstance(item, torch.dtype) and item.is_floating_point else item

        return func(*map(wide, args), **{name: wide(item) for name, item in (kwargs or {}).items()})


def differs(
    rule: UpdateRule,
    optimizer: Optimizer,
    names: Mapping[int, str],
    parameters: Mapping[str, Tensor],
    rates: Sequence[Sequence[float]],
) -> str | None:
    """Return the name of a parameter to which a rule does something else than its optimizer in the first steps.

    Args:
        rule: The rule.
        optimizer: The optimizer, which is not changed.
        names: The names of its parameters, by identity.
        parameters: The parameters to try it with, by name.
        rates: The learning rates of each parameter group.

    Returns:
        None where there is no such parameter.
    """
    begun = {name: parameter.detach().double() for name, parameter in parameters.items()}
    with _in_float64():
        twin = twin_of(optimizer, names, lambda _, tensor: _own(tensor))
        ours = {name: tensor.clone() for name, tensor in begun.items()}
        slots = {name: _own(slot) for name, slot in rule.slots(ours).items()}
        for step in range(min(_STEPS, max(len(listed) for listed in rates))):
            torch.manual_seed(_SEED + step)
            gradients = {name: torch.randn(tensor.shape) * _SCALE for name, tensor in begun.items()}
            for name, gradient in gradients.items():
                twin.parameters[name].grad = gradient.clone()
            set_rates(twin.optimizer, [listed[step] for listed in rates])
            torch.manual_seed(_SEED)
            run_step(twin.optimizer)
            values = zip(rule.scalar_names, rule.scalars(step + 1, rates[0][step]), strict=True)
            scalars = {name: torch.full((), value) for name, value in values}
            torch.manual_seed(_SEED)
            new = rule.update(ours, gradients, slots, scalars, lambda _: None)
            ours = {name: new.get(name, tensor).clone() for name, tensor in ours.items()}
            slots = {name: new.get(name, slot).clone() for name, slot in slots.items()}
        for name, tensor in begun.items():
            expected = twin.parameters[name].detach()
            moved = torch.linalg.vector_norm(expected - tensor)
            if not bool(torch.linalg.vector_norm(ours[name] - expected) <= _CLOSE * moved):
                return name
    return None


def parameters_to_try(parameters: Mapping[str, Tensor], *, together: bool) -> dict[str, Tensor]:
    """Return the smallest parameters that are small enough together; all or none where they cannot be parted."""
    chosen, elements = {}, 0
    for name, parameter in sorted(parameters.items(), key=lambda item: item[1].numel()):
        elements += parameter.numel()
        if elements <= _MOST_ELEMENTS:
            chosen[name] = parameter
    return {} if together and len(chosen) < len(parameters) else {n: t for n, t in parameters.items() if n in chosen}


def _own(tensor: Tensor) -> Tensor:
    """A copy, in float64 where it is of floating-point numbers."""
    copied = tensor.detach().double() if tensor.is_floating_point() else tensor.detach()
    return nn.Parameter(copied.clone()) if isinstance(tensor, nn.Parameter) else copied.clone()


@contextmanager
def _in_float64() -> Iterator[None]:
    default = torch.get_default_dtype()
    with generators_kept(), torch.no_grad(), _InFloat64(), eagerly():  # type: ignore[no-untyped-call]
        torch.set_default_dtype(torch.float64)
        try:
            yield
        finally:
            torch.set_default_dtype(default)


_MOST_SETTINGS = 16


class Captured:
    """An optimizer as a rule.

    Its second step is the program of all steps. Numbers that differ from step to step are per-step scalars.

    Args:
        optimizer: The optimizer; it is not changed.
        names: The names of its parameters, by identity.
        rates: The learning rates of each of its parameter groups, one for each step.

    Raises:
        DataError: It cannot be copied.
        ProgramError: Its step cannot be captured; the message names file and line.
    """

    def __init__(self, optimizer: Optimizer, names: Mapping[int, str], rates: Sequence[Sequence[float]]) -> None:
        self._optimizer, self._names, self._rates = optimizer, dict(names), [list(listed) for listed in rates]
        self._steps = max(len(listed) for listed in self._rates)
        self._members = {
            names[id(parameter)]: (group, parameter)
            for group, given in enumerate(optimizer.param_groups)
            for parameter in given["params"]
            if parameter.requires_grad
        }
        stepper = self._stepper(self._members)
        first, self._later = stepper.first_two()
        self._beginning = beginning_of(first, self._later)
        self._owners = owners(self._later)
        self._words = _described(optimizer, narrowed=stepper.narrowed)
        self._known: Foretold | None = None
        self._without: dict[frozenset[str], list[tuple[Call, str]]] = {}
        self._check_steady(first)

    def foretelling(self, cancel: CancelToken | None = None) -> Generator[tuple[int, int], None, None]:
        """Find the per-step scalars of all steps; yields how many steps are done, and their number.

        Raises:
            ProgramError: A step is another program than the others.
            CancelledError: ``cancel`` was set.
        """
        if self._known is not None:
            return
        self._known = yield from foretell(
            self._stepper, self._members, self._beginning, self._later, self._steps, cancel
        )
        parameters = {name: parameter for name, (_, parameter) in self._members.items()}
        together = self._owners is None
        tried = parameters_to_try(parameters, together=together)
        # Before everything is float64.
        self._calls(tried)
        wrong = differs(self, self._optimizer, self._names, tried, self._rates) if tried else None
        if wrong is not None:
            raise self._other_beginning() if not self._beginning.proven else self._other_update(wrong)

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """One for each number that is another in another step, called after its operator."""
        return self._foretold.names

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """Values of the per-step scalars at ``step``; the learning rates are those that the rule was made with."""
        return tuple(self._foretold.values[step - 1].tolist())

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The optimizer's state before the first step."""
        like = {**self._later.roots, **self._later.finals}
        own = {name: place.tensor for name, place in self._stepper(()).real().items()}
        return {
            name: own[name].detach().clone()
            if name in own
            else self._beginning.initial(name, self._later.described[ref], parameters)
            for name, ref in like.items()
            if not name.startswith((PARAMETER, GRADIENT)) and self._is_of(name, parameters)
        }

    def update(
        self,
        parameters: Mapping[str, Tensor],
        gradients: Mapping[str, Tensor],
        slots: Mapping[str, Tensor],
        scalars: Mapping[str, Tensor],
        at_slot: AtSlot,
    ) -> dict[str, Tensor]:
        """Compute what the optimizer's step computes; see :meth:`UpdateRule.update`."""
        given = {}
        for name, ref in self._later.roots.items():
            plain = name.partition(":")[2]
            if name.startswith(GRADIENT) and plain in gradients:
                # A gradient need not be memory of its own.
                changed = self._later.storages[ref] in self._later.written
                given[ref] = gradients[plain].clone() if changed else gradients[plain]
            elif name.startswith(PARAMETER) and plain in parameters:
                given[ref] = parameters[plain]
            elif name in slots:
                given[ref] = slots[name]

        def number(wanted: Number, reciprocal: bool) -> float | Tensor:
            places = self._foretold.places
            found = places.get((wanted.place, reciprocal), places.get((wanted.place, False)))
            return scalars[found] if isinstance(found, str) else found  # type: ignore[return-value]

        calls = self._calls(parameters)
        owners_of = iter([owner for _, owner in calls])
        values = replay([call for call, _ in calls], given, number, lambda _: at_slot(next(owners_of)))
        new = {}
        for name, ref in self._later.finals.items():
            plain = name.partition(":")[2]
            if name.startswith(PARAMETER):
                if plain in parameters:
                    new[plain] = values[ref]
            elif ref in values and self._is_of(name, parameters):
                new[name] = values[ref]
        return new

    def describe(self) -> str:
        """The optimizer's class and its settings."""
        return self._words

    @property
    def _foretold(self) -> Foretold:
        if self._known is None:
            finish(self.foretelling())
        assert self._known is not None
        return self._known

    def _stepper(self, given: Collection[str]) -> Stepper:
        return Stepper(self._optimizer, self._names, given, self._rates)

    def _is_of(self, slot: str, parameters: Mapping[str, Tensor]) -> bool:
        """Whether a tensor is kept for one of these parameters, or for none alone."""
        owner = slot.partition(":")[2]
        return owner in parameters or owner not in self._members

    def _calls(self, parameters: Collection[str]) -> list[tuple[Call, str]]:
        """The operators of the step where these parameters have a gradient, each with what it belongs to."""
        absent = frozenset(self._members) - frozenset(parameters)
        if absent not in self._without:
            whose = self._owners or {}
            calls = [(call, whose.get(place, "")) for place, call in enumerate(self._later.calls)]
            calls = [(call, owner) for call, owner in calls if owner not in absent]
            if absent:
                self._check_without(absent, [call for call, _ in calls])
            self._without[absent] = calls
        return self._without[absent]

    def _check_without(self, absent: Collection[str], calls: Sequence[Call]) -> None:
        """Check that a step in which some parameters have no gradient computes these operators."""
        # Not a part of what is being captured.
        with _disable_current_modes():
            given = [name for name in self._members if name not in absent]
            alone = None if self._owners is None else self._stepper(given).first_two()[1]
        if alone is None or [call.func for call in alone.calls] != [call.func for call in calls]:
            raise ProgramError(
                f"The parameter {min(absent)!r} has no gradient in the step, and the optimizer "
                f"{name_of(self._optimizer)} computes something else without it.",
                remedy="Give the optimizer only parameters that the loss depends on.",
            )

    def _check_steady(self, first: StepCalls) -> None:
        """Check that the optimizer does the same at another moment, under other seeds."""
        with at_another_moment():
            again = self._stepper(self._members).first_two()
        for one, other in zip((first, self._later), again, strict=True):
            if [call.func for call in one.calls] != [call.func for call in other.calls] or one.numbers != other.numbers:
                raise ProgramError(
                    f"The step of the optimizer {name_of(self._optimizer)} is another one when it is captured a second "
                    "time: it hangs on a clock, or on random numbers of another library than torch.",
                    remedy="Draw within the step by torch, for instance with torch.rand_like.",
                )

    def _other_beginning(self) -> ProgramError:
        return ProgramError(
            f"The first step of the optimizer {name_of(self._optimizer)} computes something else than those behind it, "
            "and an order has one program for all of them.",
            remedy="Make one step with it before ordering, after a backward pass: an order goes on from the state that "
            "an optimizer is in.",
        )

    def _other_update(self, parameter: str) -> ProgramError:
        return ProgramError(
            f"What was captured of the optimizer {name_of(self._optimizer)} does something else to {parameter!r} than "
            "the optimizer itself.",
            remedy="Use an optimizer of torch.optim, or report this one.",
        )


def _described(optimizer: Optimizer, *, narrowed: bool) -> str:
    groups = optimizer.param_groups
    settings = {
        name: plain_number(groups[0][name])
        for name in optimizer.defaults
        if name in groups[0] and name not in ("lr", "foreach", "fused", "capturable", "differentiable")
    }
    words = [f"{name} {_word(value)}" for name, value in settings.items() if _is_plain(value)][:_MOST_SETTINGS]
    words += [f"{len(groups)} parameter groups, the first as said"] * (len(groups) > 1)
    words += ["what it computes in other precisions as the profile says"] * narrowed
    return f"{name_of(optimizer)} as its step is written{': ' if words else ''}{', '.join(words)}"


def _is_plain(value: Any) -> bool:
    return isinstance(value, (bool, int, float, str)) or (
        isinstance(value, (tuple, list)) and all(isinstance(item, (int, float)) for item in value)
    )


def _word(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return " ".join(_word(item) for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
