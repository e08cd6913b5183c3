"""Hands the state after a step of an order back to the optimizers that the client has."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from counterfoil.program.update.torchs import is_stranger, names_of_parameters, write_back
from counterfoil.program.update.twins import HOW, set_rates
from counterfoil.program.update.twinsteps import Stepper


class Handing:
    """Puts optimizers into the state that they would be in after steps of an order.

    Args:
        optimizers: The optimizers, in the state before the first step.
        model: The model whose parameters they hold; it is not changed.
        rates: The learning rates of each of their parameter groups, those of several one behind the other.
        updated: Names of the tensors that a step changes.
    """

    def __init__(
        self,
        optimizers: Sequence[Optimizer],
        model: nn.Module,
        rates: Sequence[Sequence[float]],
        updated: Collection[str],
    ) -> None:
        self._optimizers, self._model = optimizers, model
        self._rates: list[list[list[float]]] = []
        left = [list(listed) for listed in rates]
        for optimizer in optimizers:
            self._rates.append([left.pop(0) for _ in optimizer.param_groups])
        names = names_of_parameters(model)
        self._steppers = {
            place: Stepper(optimizer, names, updated, own)
            for place, (optimizer, own) in enumerate(zip(optimizers, self._rates, strict=True))
            if is_stranger(optimizer)
        }

    def hand(self, state: Mapping[str, Tensor], steps: int) -> None:
        """Write a state into the optimizers.

        Args:
            state: The state after the step, by the names of an order.
            steps: Steps that the order has made; not fewer than at the last time.
        """
        for place, optimizer in enumerate(self._optimizers):
            if place in self._steppers:
                stepper = self._steppers[place]
                stepper.advance(steps)
                _transplant(stepper, optimizer, state)
            else:
                write_back(optimizer, self._model, state, steps)
            set_rates(optimizer, [listed[steps - 1] for listed in self._rates[place]])


def _transplant(stepper: Stepper, optimizer: Optimizer, state: Mapping[str, Tensor]) -> None:
    """Give an optimizer what its twin has, with the tensors of a state in the place of those without values."""
    of = {name: parameter for parameter, name in _named(optimizer, stepper.names)}
    memo: dict[int, Any] = {id(stand_in): of[name] for name, stand_in in stepper.twin.parameters.items()}
    fake = stepper.places()
    for name, place in stepper.twin.held.items():
        # Its numbers are float64, and those of an optimizer float32.
        number = place.tensor if name in fake or not place.tensor.is_floating_point() else place.tensor.float()
        memo[id(place.tensor)] = (state[name] if name in fake else number).clone()
    memo[id(stepper.twin.optimizer)] = optimizer
    new = copy.deepcopy(vars(stepper.twin.optimizer), memo)
    for own, made in zip(optimizer.param_groups, new.pop("param_groups"), strict=True):
        how = {name: value for name, value in own.items() if name in HOW}
        own.clear()
        own.update(made | how)
    kept = new.pop("state")
    optimizer.state.clear()
    optimizer.state.update(kept)
    vars(optimizer).update(new)


def _named(optimizer: Optimizer, names: Mapping[int, str]) -> list[tuple[Tensor, str]]:
    return [(parameter, names[id(parameter)]) for group in optimizer.param_groups for parameter in group["params"]]
