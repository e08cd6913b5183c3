"""Runs the steps of an optimizer's twin on tensors that stand for the real ones, to see what they compute.

The first two steps are watched whole. Of those behind them only the numbers are taken, which learning rates and counts
of steps make, and of parameters that are treated alike one stands for all.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedOperatorException,
)
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.optim import Optimizer

from counterfoil.base.foreignerrors import describe_error, theirs
from counterfoil.program import remedies, whereabouts
from counterfoil.program.update.calls import GRADIENT, PARAMETER, Ref, StepCalls
from counterfoil.program.update.observation import Following, OpaqueError, OtherStepError, Watching, watch_step
from counterfoil.program.update.twins import Place, held_tensors, name_of, set_rates, twin_of
from counterfoil_core.base.errors import CounterfoilError, ProgramError


@dataclass
class Stepper:
    """A twin on fake tensors, and how far it has gone.

    Args:
        optimizer: The optimizer, which is not changed.
        names: The names of its parameters, by identity.
        given: The parameters that have a gradient, by name.
        rates: The learning rates of each of its parameter groups.
    """

    optimizer: Optimizer
    names: Mapping[int, str]
    given: Collection[str]
    rates: Sequence[Sequence[float]]

    def __post_init__(self) -> None:
        self._opaque: frozenset[int] = frozenset()
        self._opaque_names: frozenset[str] = frozenset()
        self.narrowed = False
        self._restart()

    def _restart(self) -> None:
        self.fakes = FakeTensorMode(allow_non_fake_inputs=True)
        self.done = 0
        self._watched: list[StepCalls] = []
        self.twin = twin_of(self.optimizer, self.names, self._stand_in)
        self._gradients = {
            name: torch.empty(tensor.shape, dtype=torch.float32, device="meta")
            for name, tensor in self.twin.parameters.items()
        }

    def _stand_in(self, name: str, tensor: Tensor) -> Tensor:
        if ":" in name and tensor.numel() == 1 and name not in self._opaque_names:
            return tensor.detach().double() if tensor.is_floating_point() else tensor.detach().clone()
        tensor = tensor if tensor.dtype == torch.float32 or not tensor.is_floating_point() else tensor.detach().float()
        return self.fakes.from_tensor(tensor)

    def first_two(self) -> tuple[StepCalls, StepCalls]:
        """Make the first two steps of a twin that has made none, and return what they compute.

        Raises:
            ProgramError: A step fails, or cannot be watched; the message names file and line.
        """
        self.advance(2)
        first, second = self._watched
        return first, second

    def advance(self, steps: int) -> None:
        """Make steps until so many are made; raises as :meth:`first_two` and :meth:`follow`."""
        while self.done < steps:
            if self.done >= 2:
                self.follow(self._watched[1])
                continue
            try:
                self._watched.append(self._watch())
            except OpaqueError as error:
                self._note(error)
                self._restart()

    def follow(self, like: StepCalls) -> list[float]:
        """Make one more step, and return its numbers.

        Args:
            like: The step before, or one like it.

        Raises:
            ProgramError: It computes something else than that.
        """
        with self._told():
            following = Following(self._roots(), like, self.fakes, self._opaque)
            try:
                self._step(following)
                return following.numbers()
            except OtherStepError as error:
                raise ProgramError(
                    f"Step {self.done} of the optimizer {name_of(self.optimizer)} computes something else than the "
                    f"step before{whereabouts.in_brackets(error.line)}.",
                    remedy="An order has one program for all steps of an optimizer: order the steps up to there, and "
                    "what follows as another job; or choose by torch.where on a tensor that counts the steps.",
                ) from error

    def places(self) -> dict[str, Place]:
        """Where the twin holds tensors that are fake, by name."""
        return {name: place for name, place in self.twin.held.items() if isinstance(place.tensor, FakeTensor)}

    def real(self) -> dict[str, Place]:
        """Where the optimizer itself holds tensors of which the twin has fake ones, by name."""
        places = self.places()
        return {name: place for name, place in held_tensors(self.optimizer, self.names).items() if name in places}

    def _watch(self) -> StepCalls:
        with self._told():
            watching = Watching(self._roots(), self._opaque)
            self._step(watching)
            self.narrowed |= watching.narrowed
            return watching.step(self._tensors())

    def _tensors(self) -> dict[str, Tensor]:
        state = {name: place.tensor for name, place in self.places().items()}
        return {**{f"{PARAMETER}{name}": tensor for name, tensor in self.twin.parameters.items()}, **state}

    def _roots(self) -> dict[str, Tensor]:
        """Give each parameter a gradient; return the tensors that the next step is given."""
        gradients = {}
        for name, tensor in self.twin.parameters.items():
            tensor.grad = None
            if name in self.given:
                gradient = FakeTensor(self.fakes, self._gradients[name], torch.device("cpu"))
                tensor.grad = gradients[f"{GRADIENT}{name}"] = gradient
        return {**self._tensors(), **gradients}

    def _step(self, watching: Watching) -> None:
        rates = [listed[min(self.done, len(listed) - 1)] for listed in self.rates]
        set_rates(self.twin.optimizer, rates)
        self.done += 1
        with watch_step(watching, self.fakes), eagerly():
            run_step(self.twin.optimizer)

    def _note(self, error: OpaqueError) -> None:
        if error.made is not None:
            self._opaque |= {error.made}
            return
        names = {name for name, place in self.twin.held.items() if place.tensor is error.tensor}
        if not names or names <= self._opaque_names:
            raise ProgramError(
                f"The optimizer {name_of(self.optimizer)} computes one number of gradients into a tensor that it does "
                "not hold.",
                remedy="Let it make a new tensor instead of changing one in place.",
            )
        self._opaque_names |= names

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say of what the optimizer's code raises where it comes from."""
        name = name_of(self.optimizer)
        try:
            yield
        except (DataDependentOutputException, DynamicOutputShapeException, GuardOnDataDependentSymNode) as error:
            raise ProgramError(
                f"The optimizer {name} decides by the values of a tensor, which a program cannot"
                f"{whereabouts.in_brackets(whereabouts.where_raised(error))}.",
                remedy=remedies.for_decision(error),
                detail=str(error),
            ) from error
        except UnsupportedOperatorException as error:
            raise ProgramError(
                f"The optimizer {name} uses the operator {error.func}, which cannot be captured"
                f"{whereabouts.in_brackets(whereabouts.where_raised(error))}.",
                remedy="Use an optimizer that is written in operators of torch.",
            ) from error
        except (CounterfoilError, OpaqueError, OtherStepError):
            raise
        except BaseException as error:
            theirs(error)
            raise ProgramError(
                f"The step of the optimizer {name} failed: {describe_error(error)}"
                f"{whereabouts.in_brackets(whereabouts.where_raised(error))}.",
                remedy="Call optimizer.step() after one backward pass outside Counterfoil, on the CPU; what has to be "
                "called before it, such as optimizer.train(), call before ordering, too.",
            ) from error


def run_step(optimizer: Optimizer) -> None:
    """Call the step of an optimizer."""
    step: Any = type(optimizer).step
    step(optimizer)


@contextmanager
def eagerly() -> Iterator[None]:
    """Let functions under torch.compile run as they are written."""
    if "torch._dynamo" not in sys.modules:
        # Nothing is compiled.
        yield
        return
    with torch.compiler.set_stance("force_eager"):
        yield


def owners(step: StepCalls) -> dict[int, str] | None:
    """Return to which parameter each operator of a step belongs, by its place.

    Operators of no tensor at all belong to nobody. None where one computes of tensors of several parameters.
    """
    of: dict[Ref, str] = {ref: name.partition(":")[2] for name, ref in step.roots.items()}
    found: dict[int, str] = {}
    for place, call in enumerate(step.calls):
        whose = {of[ref] for ref in call.reads if ref in of}
        if len(whose) > 1:
            return None
        if whose:
            found[place] = owner = whose.pop()
            of |= dict.fromkeys(call.results, owner)
    return found
