"""Follows a script's own training loop, and makes an order of what it would train. Nothing is trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.utils._python_dispatch import _disable_current_modes

from counterfoil.base.errors import DataError
from counterfoil.operators.random import counting_draws
from counterfoil.program import tracing, whereabouts
from counterfoil.program.asked import Again, AskedValues, PlainNames
from counterfoil.program.attribution import Location, label_line
from counterfoil.program.capture import tied_names, unsaved_names
from counterfoil.program.steadiness import generators_kept
from counterfoil.training.following.aside import WithoutValues
from counterfoil.training.following.borders import watched
from counterfoil.training.following.drafting import Followed
from counterfoil.training.following.models import Models, find_models
from counterfoil.training.following.optimizers import FollowedOptimizer
from counterfoil.training.following.steps import Geometry, Update
from counterfoil.training.following.taken import TakenSteps
from counterfoil.training.following.world import World
from counterfoil.training.preparing import Preparing
from counterfoil.training.scripts.handing import ScriptOrder, Wanted

_FOLLOWING = "Following the script"


def follow(run: Callable[[], None], wanted: Wanted, title: str) -> ScriptOrder | None:
    """Run a script, and return the order of what its own loop trains; None where it trains nothing.

    Args:
        run: Runs the script.
        wanted: What is wanted of the order besides.
        title: The name of the job.

    Raises:
        HandedOver: So many steps as are wanted were followed, which ends the script.
        CounterfoilError: The script does what cannot be ordered.
    """
    names = PlainNames()
    while True:
        follower = Follower(wanted, title, names)
        try:
            with generators_kept(), watched(follower):
                run()
                follower.end()
        except Again:
            # One more module makes plain numbers of values: now that it is known, the script begins anew.
            continue
        finally:
            follower.close()
        return follower.ordered()


class Follower:
    """Watches a script: see :class:`counterfoil.training.following.borders.Watcher`.

    Args:
        wanted: What is wanted of the order.
        title: The name of the job.
        names: The modules that make plain numbers of values that are not known.
    """

    def __init__(self, wanted: Wanted, title: str, names: PlainNames) -> None:
        self._wanted = wanted
        self._title = title
        self._location = Location()
        self._stack = ExitStack()
        self._world: World | None = None
        self._taken: TakenSteps
        self._models: Models | None = None
        self._roots: set[int] = set()
        self._made: list[Optimizer] = []
        self._optimizers: dict[int, FollowedOptimizer] = {}
        self._from_loader = False
        self._names = names
        self._calls: list[int] = []
        self._notes: dict[str, None] = {}
        self._handing = False

    # What the script does.

    def made(self, optimizer: Optimizer) -> None:
        """Remember an optimizer."""
        if not self._handing:
            self._made.append(optimizer)
            if self._world is None:
                self._from_loader = False

    def fetches(self, first: bool) -> bool:
        """End the step where a loader is asked for the next batch; an evaluation gets one batch alone."""
        if self._handing:
            return True
        world = self._world
        if world is not None and world.step.updated:
            self._finish(world)
        self._from_loader = bool(self._made)
        return first or world is None or torch.is_grad_enabled()

    def clears(self, owner: Optimizer | nn.Module) -> None:
        """Begin with the first step, or with the next where there is no loader."""
        if self._handing:
            return
        if self._world is None and (isinstance(owner, Optimizer) or not self._made):
            self._start(owner)
        elif self._world is not None:
            self._next_without_loader(self._world)

    def runs(self, module: nn.Module) -> None:
        """Begin with the first step where what is trained is called, or with the next where there is no loader."""
        if self._handing or not torch.is_grad_enabled():
            return
        if self._world is None:
            trained = {id(p) for made in self._made for group in made.param_groups for p in group["params"]}
            if any(id(parameter) in trained for parameter in module.parameters()):
                self._start(None)
        elif id(module) in self._roots:
            self._next_without_loader(self._world)

    def goes_back(self, losses: Sequence[Tensor]) -> None:
        """Note what the gradients are those of."""
        world = self._world
        if world is None:
            return
        for loss in losses:
            if world.is_noted(loss):
                self._location.attribute_backward(loss)
                with torch.no_grad():
                    world.step.losses.append(Geometry.of(loss.detach()))

    def updates(self, optimizer: Optimizer, closure: Callable[[], Any] | None) -> Any:
        """Note an optimizer's step."""
        result = None
        if closure is not None:
            with torch.enable_grad():
                result = closure()
        world = self._world
        if world is None:
            raise DataError(
                f"{type(optimizer).__name__} makes a step, and no model was called before.",
                remedy="Let the script call a torch.nn.Module that holds the parameters.",
            )
        own = self._optimizer(optimizer, world)
        place = whereabouts.in_brackets(whereabouts.client_line())
        rates = own.call(place)
        number = list(self._optimizers).index(id(optimizer))
        gradients = {
            own.names[id(parameter)]: Geometry.of(parameter.grad)
            for group in optimizer.param_groups
            for parameter in group["params"]
            if parameter.grad is not None
        }
        time = world.step.updates.get(number, 0)
        world.step.updates[number] = time + 1
        written = (*gradients, *own.slots)
        for name in written:
            world.note_change(name)
        state = tuple(Geometry.of(world.stands[name]) for name in written)
        self._location.at_slot("")
        world.step.events.append(Update(number, time, gradients, state, rates, self._location.place))
        self._calls.append(len(own.rates) - 1)
        return result

    def saves(self, what: str) -> bool:
        """Keep a script from saving what was not trained."""
        if self._world is None:
            return True
        self._notes[f"{what} was not written: the weights come with the run (counterfoil export)."] = None
        return False

    def _decide(self, place: str) -> bool:
        """Answer a question for a value that nobody knows."""
        self._notes[f"The script decides by a value of the training{whereabouts.in_brackets(place)}: taken as no."] = (
            None
        )
        return False

    # Steps.

    def _start(self, owner: Optimizer | nn.Module | None) -> None:
        trained = [p for made in self._made for group in made.param_groups for p in group["params"]]
        if not self._made and isinstance(owner, nn.Module):
            trained = [parameter for parameter in owner.parameters() if parameter.requires_grad]
        if not trained:
            return
        frame = whereabouts.client_frame()
        models = find_models(trained, frame)
        while frame is not None and frame.f_globals.get("__name__") != "__main__":
            frame = frame.f_back
        if frame is not None:
            self._names.learn_usual(frame)
        self._models = models
        self._roots = {id(models.modules[name]) for name in models.trained}
        world = World(models.tensors, self._location)
        stack = self._stack
        stack.enter_context(tracing.plainly(ignore_autocast=self._wanted.precision is not None))
        stack.enter_context(counting_draws())
        for name in models.trained:
            stack.enter_context(self._location.attribute_forward(models.modules[name]))
        stack.enter_context(whereabouts.LineLabels(label_line))
        aside = WithoutValues(world)
        stack.enter_context(aside)
        stack.enter_context(
            AskedValues(self._decide, self._names, known=aside.knows, hold=aside.hold, stand_in=world.unknown)
        )
        stack.enter_context(world)
        self._world, self._taken = world, TakenSteps(world.names)

    def _optimizer(self, optimizer: Optimizer, world: World) -> FollowedOptimizer:
        if id(optimizer) not in self._optimizers:
            assert self._models is not None
            prefix = f"o{len(self._optimizers) + 1}." if len(self._made) > 1 else ""
            with _disable_current_modes():
                own = FollowedOptimizer.of(optimizer, prefix, self._models.tensors)
                for name, slot in own.slots.items():
                    world.hold(name, slot)
            self._optimizers[id(optimizer)] = own
        return self._optimizers[id(optimizer)]

    def _next_without_loader(self, world: World) -> None:
        if world.step.updated and not self._from_loader:
            self._finish(world)

    def _finish(self, world: World) -> None:
        """Take the step that the script has made."""
        taken = self._taken
        taken.take(world.step, tuple(self._calls), self._kept)
        self._calls = []
        world.begin()
        self._wanted.tell(Preparing(_FOLLOWING, "steps", len(taken), self._wanted.max_steps or 0))
        if len(taken) == self._wanted.max_steps:
            taken.end(self._kept)
            self.close()
            self._wanted.hand_over(self._job(), tuple(self._notes))

    @property
    def _kept(self) -> frozenset[str]:
        """Names of the state whose new value counts: of modules, and of optimizers."""
        assert self._models is not None
        return self._models.kept.union(*(own.slots for own in self._optimizers.values()))

    def end(self) -> None:
        """Take the last step, where the script has ended."""
        if self._world is None:
            return
        if self._world.step.updated:
            self._taken.take(self._world.step, tuple(self._calls), self._kept)
        self._taken.end(self._kept)

    def close(self) -> None:
        """Let torch compute as ever."""
        self._handing = True
        self._stack.close()

    def ordered(self) -> ScriptOrder | None:
        """Return the order of all steps; None where there was none."""
        if self._world is None or not self._taken.made:
            return None
        return ScriptOrder(self._wanted.draft(self._job(), self._wanted.precision), tuple(self._notes))

    def _job(self) -> Followed:
        world, models, taken = self._world, self._models, self._taken
        assert world is not None
        assert models is not None
        used = {name for variant in taken.variants.values() for name in (*variant.tape.read, *variant.tape.written)}
        tied: dict[str, str] = {}
        unsaved: list[str] = []
        for name in models.trained:
            module = models.modules[name]
            own = models.own(name)
            used.update(own.values())
            tied.update((models.name(name, other), own[first]) for other, first in tied_names(module, own).items())
            unsaved += [own[buffer] for buffer in unsaved_names(module) if buffer in own]
        used.update(name for optimizer in self._optimizers.values() for name in optimizer.slots)
        state = {name: tensor.detach() for name, tensor in world.real.items() if name in used}
        return Followed(
            self._title,
            taken,
            tuple(self._optimizers.values()),
            state,
            {name: Geometry.of(world.stands[name]) for name in state},
            tied,
            tuple(sorted(unsaved)),
            seed=torch.initial_seed() % 2**64,
        )
