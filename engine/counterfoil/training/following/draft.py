"""The order of the steps that were followed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil.program import philoxdraws, tracing
from counterfoil.program.attribution import META_KEY, Location
from counterfoil.program.capture import CapturedStep
from counterfoil.program.lowering import lower
from counterfoil.program.recompute import Segments
from counterfoil.program.remedies import NoFormError
from counterfoil.program.statetensors import DTYPE_NAMES, tensor_type
from counterfoil.program.update.rule import NothingTrained
from counterfoil.training.capture import unite_turns
from counterfoil.training.custom import ClientJob
from counterfoil.training.following.layout import Layout, Made, Plan, plan_of
from counterfoil.training.following.optimizers import FollowedOptimizer
from counterfoil.training.following.scores import REMEDY
from counterfoil.training.following.scriptsteps import TakenSteps, Variant
from counterfoil.training.following.steps import Geometry, Number, Operation, Tape, Update
from counterfoil.training.forms import pattern_of
from counterfoil.training.order import OrderDraft, assemble_order
from counterfoil.training.stages import Preparing
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DataError, ProgramError
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision, Precision, exact_profile
from counterfoil_core.base.turns import ALONE, Turns
from counterfoil_core.operators.node import TensorType
from counterfoil_core.order.evaluation import SCORE, score_names
from counterfoil_core.program.graph import Input, Program
from counterfoil_core.program.torchdtypes import TORCH_DTYPES
from counterfoil_core.values.runfacts import MAX_SCORES

# The program of a step that was followed: what it did, done once more while it is traced.

# Operators that are given a tensor in the place of a number: for numbers that change from step to step.

_aten = torch.ops.aten


def _add(x: Tensor, y: Any, alpha: Any = 1) -> Tensor:
    return torch.add(x, y * alpha)


def _add_(x: Tensor, y: Any, alpha: Any = 1) -> Tensor:
    return x.add_(y * alpha)


def _sub(x: Tensor, y: Any, alpha: Any = 1) -> Tensor:
    return torch.sub(x, y * alpha)


def _sub_(x: Tensor, y: Any, alpha: Any = 1) -> Tensor:
    return x.sub_(y * alpha)


_FORMS: Mapping[Any, Callable[..., Any]] = {
    _aten.add.Tensor: _add,
    _aten.add_.Tensor: _add_,
    _aten.sub.Tensor: _sub,
    _aten.sub_.Tensor: _sub_,
    _aten.rsub.Scalar: lambda x, y, alpha=1: y - x * alpha,
    _aten.addcmul.default: lambda x, y, z, value=1: x + y * z * value,
    _aten.addcmul_.default: lambda x, y, z, value=1: x.add_(y * z * value),
    _aten.addcdiv.default: lambda x, y, z, value=1: x + y / z * value,
    _aten.addcdiv_.default: lambda x, y, z, value=1: x.add_(y / z * value),
    _aten.lerp.Scalar: _aten.lerp.Tensor,
    _aten.lerp_.Scalar: _aten.lerp_.Tensor,
    _aten.fill.Scalar: _aten.fill.Tensor,
    _aten.fill_.Scalar: _aten.fill_.Tensor,
    _aten.full_like.default: lambda x, value, **_: torch.zeros_like(x) + value,
    _aten.pow.Tensor_Scalar: _aten.pow.Tensor_Tensor,
    **{
        getattr(_aten, name).Scalar: getattr(_aten, name).Tensor
        for name in ("eq", "ne", "lt", "le", "gt", "ge", "mul", "mul_", "div", "div_")
    },
}
"""What computes the same with a tensor, where the operator itself takes a number alone."""


def with_tensors(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Call an operator, some of whose numbers may be tensors.

    Args:
        function: The operator.
        args: Its arguments.
        kwargs: Its keyword arguments.

    Raises:
        NoFormError: It cannot be given a tensor there.
    """
    declared = function._schema.arguments
    given = [*zip(declared, args, strict=False), *((item, kwargs.get(item.name)) for item in declared)]
    if not any(isinstance(value, Tensor) and "Tensor" not in str(item.type) for item, value in given):
        return function(*args, **kwargs)
    form = _FORMS.get(function)
    if form is None:
        raise NoFormError(
            f"gives {function} a number that changes from step to step",
            remedy="Give it as a tensor: torch.tensor(number).",
        )
    return form(*args, **kwargs)


@dataclass(frozen=True)
class BatchInput:
    """A tensor of a step that is read from the data."""

    name: str  #: The data array.
    type: TensorType  #: What of it a step reads, ``[batch size, *row]``.
    rows: int | None  #: How many of these rows the tensor has; None where it is one row.
    dtype: torch.dtype  #: The dtype of the tensor.

    def cut(self, given: Tensor) -> Tensor:
        """Return the tensor from what a step reads."""
        if self.rows is None:
            given = given[0]
        elif self.rows != given.shape[0]:
            given = given[: self.rows]
        if given.dtype == self.dtype:
            return given
        return given != 0 if self.dtype is torch.bool else given.to(self.dtype)


@dataclass(frozen=True)
class Sources:
    """Where the values of a step come from, besides what it computes."""

    types: Mapping[str, Tensor]  #: Its initial value, by name; only its type is used.
    optimizers: Sequence[FollowedOptimizer]  #: The script's optimizers.
    batch: Mapping[Geometry, BatchInput]  #: The tensors that are read from the data, by what stands for them.
    constants: Mapping[Geometry, Tensor]  #: Those that are the same in every step.
    scalars: Mapping[int, str]  #: Names of the per-step scalars that stand for numbers, by the number.
    #: What steps hand to the next that is no state of the script's: zeros of its shape, by name.
    carried: Mapping[str, Tensor]


def retrace(
    tape: Tape, numbers: Mapping[int, float], sources: Sources, *, exact: ExactPrecision | None, ignore_autocast: bool
) -> tuple[Program, dict[str, Tensor]]:
    """Return the program of a step, and the constants that it reads as state.

    Args:
        tape: What the step did.
        numbers: Its numbers, by their index.
        sources: Where its values come from.
        exact: As for :func:`counterfoil.program.capture.capture`.
        ignore_autocast: Likewise.

    Raises:
        ProgramError: The step does what a program cannot.
    """
    inputs = _inputs(tape, sources)
    location = Location()
    again = _Again(tape, numbers, sources, inputs, location)
    with (
        tracing.explain_errors(location),
        tracing.without_values(ignore_autocast=ignore_autocast) as mode,
        torch.no_grad(),
    ):
        examples = [
            mode.from_tensor(({**sources.types, **sources.carried})[item.name].detach())
            if item.kind == "state"
            else torch.empty(item.type.shape, dtype=TORCH_DTYPES[item.type.dtype])
            for item in inputs
        ]
        traced = tracing.trace_in_place(again, examples, exact=exact)
        pure = tracing.without_mutations(traced, examples, exact=exact)
    results = [*tape.written, *map(carried_name, range(len(tape.handed)))]
    return lower(pure, tuple(inputs), results, META_KEY, DTYPE_NAMES, (), single=exact is not None)


def carried_name(number: int) -> str:
    """Return the name of what a step hands to the next, from 0."""
    return f"carried.{number + 1}"


def _inputs(tape: Tape, sources: Sources) -> list[Input]:
    inputs = [
        Input(name, "state", tensor_type(name, tensor))
        for name, tensor in sorted({**sources.types, **sources.carried}.items())
    ]
    batch = {item.name: item.type for item in sources.batch.values()}
    inputs += [Input(name, "batch", batch[name]) for name in sorted(batch)]
    updates = [event for event in tape.events if isinstance(event, Update)]
    scalars = [name for event in updates for name in sources.optimizers[event.optimizer].scalar_names(event.time)]
    return inputs + [Input(name, "scalar", TensorType("float32", ())) for name in (*scalars, *sources.scalars.values())]


class _Again:
    """What a step did, as a function of its inputs."""

    def __init__(
        self, tape: Tape, numbers: Mapping[int, float], sources: Sources, inputs: Sequence[Input], location: Location
    ) -> None:
        self._tape = tape
        self._numbers = numbers
        self._sources = sources
        self._inputs = inputs
        self._location = location
        self._values: dict[Geometry, Tensor] = {}
        self._scalars: dict[str, Tensor] = {}

    def __call__(self, *values: Tensor) -> list[Tensor]:
        """Return the loss, and the new state."""
        given = {(item.kind, item.name): value for item, value in zip(self._inputs, values, strict=True)}
        sources = self._sources
        self._scalars = {name: value for (kind, name), value in given.items() if kind == "scalar"}
        self._values = {
            place: given["state", name] for name, place in self._tape.begins.items() if name in sources.types
        }
        self._values |= {place: item.cut(given["batch", item.name]) for place, item in sources.batch.items()}
        self._values |= sources.constants
        self._values |= {place: given["state", carried_name(number)] for number, place in enumerate(self._tape.carried)}
        for event in self._tape.events:
            self._location.at(event.place)
            if isinstance(event, Update):
                self._update(event)
            else:
                self._operate(event)
        loss = self._loss()
        new = [self._value(self._tape.ends[name]) for name in self._tape.written]
        return [loss, *new, *map(self._value, self._tape.handed)]

    def _loss(self) -> Tensor:
        losses = [self._values[place].reshape(()) for place in self._tape.losses]
        loss = sum(losses[1:], losses[0])
        for place in self._tape.truths:
            loss = torch.where(self._values[place].reshape(()), loss, torch.full((), torch.inf))
        return loss

    def _operate(self, event: Operation) -> None:
        if event.function.namespace == "counterfoil":
            result = getattr(philoxdraws, event.function.__name__.partition(".")[0])(event.args[0])
        else:
            args, kwargs = self._filled(event.args), self._filled(event.kwargs)
            function = event.function
            if function is _aten.native_batch_norm.default and args[3] is not None and args[5]:
                # It does not say that it writes to its running statistics: where nobody reads its results it would be
                # left out, and a pass without gradients moves them all the same.
                function = _aten._native_batch_norm_legit.default
            result = with_tensors(function, args, kwargs)
        self._bind(event.results, result)

    def _filled(self, item: Any) -> Any:
        if isinstance(item, Geometry):
            return self._value(item)
        if isinstance(item, Number):
            name = self._sources.scalars.get(item.index)
            return self._numbers[item.index] if name is None else self._scalars[name]
        if isinstance(item, (tuple, list)):
            return type(item)(self._filled(part) for part in item)
        if isinstance(item, dict):
            return {name: self._filled(part) for name, part in item.items()}
        return item

    def _value(self, place: Geometry) -> Tensor:
        if place not in self._values:
            whole = next((tensor for known, tensor in self._values.items() if known.memory == place.memory), None)
            if whole is None:
                raise ProgramError(
                    f"A step of the script reads a tensor of shape {list(place.shape)} that nothing in it makes.",
                    remedy="This is a slip of Counterfoil's: please report it, with the script if you can.",
                )
            self._values[place] = whole.as_strided(place.shape, place.stride, place.offset)
        return self._values[place]

    def _bind(self, places: Any, result: Any) -> None:
        if isinstance(places, Geometry):
            self._values[places] = result
        elif isinstance(places, (tuple, list)):
            for place, part in zip(places, result, strict=True):
                self._bind(place, part)

    def _update(self, event: Update) -> None:
        """Put new parameters and slots in the place of the old ones."""
        own = self._sources.optimizers[event.optimizer]
        begins = {name: self._values[place] for name, place in self._tape.begins.items() if place in self._values}
        state = {name: value for name, value in begins.items() if name in self._sources.types}
        assert own.rule is not None
        names = own.scalar_names(event.time)
        scalars = dict(zip(own.rule.scalar_names, (self._scalars[name] for name in names), strict=True))
        gradients = {name: self._value(place) for name, place in event.gradients.items()}
        new = own.rule.update(
            {name: state[name] for name in gradients},
            gradients,
            {name: state[name] for name in own.slots},
            scalars,
            self._location.at_slot,
        )
        for name, value in new.items():
            state[name].copy_(value)


_COUNTING = 24
"""Bits of float32, in which a step counts up to 2^24."""
RECIPE = "script"


@dataclass(frozen=True)
class Followed(ClientJob):
    """The training that a script's own loop did while it was followed."""

    title: str  #: The name of the job.
    taken: TakenSteps  #: Its steps.
    optimizers: Sequence[FollowedOptimizer]  #: The optimizers.
    state: Mapping[str, Tensor]  #: The initial state by name.
    tied: Mapping[str, str]  #: As of a captured step.
    unsaved: tuple[str, ...]  #: Likewise.
    seed: int = 0  #: Seed of the draws.
    checkpoint_every: int = 10  #: The state is stored every so many steps.
    evaluates: bool = False  #: Whether the steps score a model, and train none.
    rounded: str = ""  #: The name of a count that is a number of floating point; empty where there is none.

    def drafting(
        self,
        precision: AnyPrecision | None = None,
        recompute_activations: Segments | None = None,
        cancel: CancelToken | None = None,
    ) -> Generator[Preparing, None, OrderDraft]:
        """Draft the order; see :meth:`ClientJob.drafting`."""
        steps, variants = self.taken.made, list(self.taken.variants.values())
        by_variant = [[step for step in steps if step.variant == number] for number in range(len(variants))]
        plans = [plan_of(alike) for alike in by_variant]
        layout = Layout.of(plans)
        captured: dict[str, CapturedStep] = {}
        for number, (plan, alike) in enumerate(zip(plans, by_variant, strict=True)):
            yield Preparing("Writing down steps", "programs", number, len(plans))
            if cancel is not None:
                cancel.check()
            program, constants = retrace(
                variants[number].tape,
                dict(zip(variants[number].tape.used, alike[0].numbers, strict=True)),
                self._sources(variants[number], plan, layout, alike[0]),
                exact=exact_profile(precision),
                ignore_autocast=precision is not None,
            )
            unsaved = tuple(sorted({*self.unsaved, *self._carried, *constants}))
            captured[_name(number, len(plans))] = CapturedStep(
                program, {**self.state, **self._carried, **constants}, (), 1, self.tied, unsaved
            )
        made = unite_turns(captured)
        names, scalars = self._scalars(plans)
        schedule, data = layout.scheduled(steps, plans, self.taken.pool)
        draft = assemble_order(
            title=self.title,
            recipe=RECIPE,
            optimizer=NothingTrained().describe()
            if self.evaluates
            else "; ".join(own.describe() for own in self.optimizers),
            programs=Turns(made.programs, self._pattern(len(plans))),
            scalar_names=names,
            scalars=scalars,
            state=made.state,
            module=made.module,
            schedule=schedule,
            data=data,
            seed=self.seed,
            precision=precision,
            commit_every=1,
            checkpoint_every=self.checkpoint_every,
            rates={own.prefix.rstrip("."): [rates[0] for rates in own.rates] for own in self.optimizers},
        )
        if self.evaluates:
            _check_scores(draft)
        if self.rounded and isinstance(precision, Precision) and precision.significand_bits < _COUNTING:
            raise ProgramError(
                f"The script counts {self.rounded!r} in floating point, of which the order's profile keeps "
                f"{precision.significand_bits} bits.",
                remedy="Leave float() out of the count, (answers == labels).sum().item(), or choose another profile.",
            )
        return (yield from draft.recomputing_in_stages(recompute_activations, cancel))

    @property
    def _carried(self) -> dict[str, Tensor]:
        """What steps hand to the next that is no state of the script's."""
        return {carried_name(number): zeros for number, zeros in enumerate(self.taken.carried)}

    def _sources(self, variant: Variant, plan: Plan, layout: Layout, step: Made) -> Sources:
        """Where the values of a variant come from."""
        tape, dtypes = variant.tape, variant.dtypes
        batch = {
            tape.met[place]: BatchInput(name, TensorType(kind[0], (layout.width, *kind[1])), plan.rows, dtypes[place])
            for place, name, kind in zip(plan.varying, layout.names[plan.kinds], plan.kinds, strict=True)
        }
        constants = {
            geometry: torch.from_numpy(self.taken.pool.tensor(step.brought[place])).to(dtypes[place])
            for place, geometry in enumerate(tape.met)
            if place not in plan.varying
        }
        scalars = {tape.used[place]: name for place, name in plan.numbered.items()}
        return Sources(self.state, self.optimizers, batch, constants, scalars, self._carried)

    def _pattern(self, variants: int) -> tuple[str, ...]:
        """The shortest pattern that gives every step its program."""
        return pattern_of([_name(step.variant, variants) for step in self.taken.made])

    def _scalars(self, plans: Sequence[Plan]) -> tuple[tuple[str, ...], npt.NDArray[np.float64]]:
        """Return the names of the per-step scalars, and float64 ``[steps, scalars]``."""
        values = [own.scalars() for own in self.optimizers]
        variants = list(self.taken.variants.values())
        rows: list[dict[str, float]] = []
        for step in self.taken.made:
            row = {name: step.numbers[place] for place, name in plans[step.variant].numbered.items()}
            updates = [event for event in variants[step.variant].tape.events if isinstance(event, Update)]
            for update, call in zip(updates, step.calls, strict=True):
                own = self.optimizers[update.optimizer]
                row.update(zip(own.scalar_names(update.time), values[update.optimizer][call], strict=True))
            rows.append(row)
        names = tuple(dict.fromkeys(name for row in rows for name in row))
        return names, np.array([[row.get(name, 0.0) for name in names] for row in rows], np.float64).reshape(
            len(rows), len(names)
        )


def _check_scores(draft: OrderDraft) -> None:
    """Raise ProgramError where the steps change something else than counts, or count nothing."""
    names = score_names(draft.programs.all)
    changed = sorted({name for program in draft.programs.all for name in program.updates})
    if not changed:
        raise ProgramError("The script adds up nothing of what its model gives.", remedy=REMEDY)
    if not names:
        other = next(name for name in changed if not name.startswith(SCORE))
        raise ProgramError(
            f"A step of the script reads what a step before it computed ({other}): what it scores hangs on more than "
            "its own rows.",
            remedy="Score each batch by itself, for instance from a hidden state of zeros.",
        )
    if sum(draft.initial[name].size for name in names) > MAX_SCORES:
        raise DataError(
            f"The counts have more than {MAX_SCORES:,} numbers, which no statement has room for.",
            remedy="Count fewer, for instance of each class and not of each pair.",
        )


def _name(variant: int, variants: int) -> str:
    return ALONE if variants == 1 else f"p{variant + 1}"
