"""Follows a script's own training loop, and makes an order of what it would train. Nothing is trained."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils._python_dispatch import _disable_current_modes

from counterfoil.base.errors import CounterfoilError, DataError, ProgramError
from counterfoil.base.raised import told
from counterfoil.operators.random import counting_draws
from counterfoil.program import tracing, whereabouts
from counterfoil.program.asked import Again, AskedValues, PlainNames
from counterfoil.program.asked.numbers import is_asked
from counterfoil.program.attribution import Location, label_line
from counterfoil.program.held import tensor_type, tied_names, unsaved_names
from counterfoil.program.notes import Notes
from counterfoil.program.steadiness import generators_kept
from counterfoil.training.custom import check_model
from counterfoil.training.following.aside import WithoutValues
from counterfoil.training.following.borders import watched
from counterfoil.training.following.branches import STEPS, Copy, Inside, digest, fork
from counterfoil.training.following.drafting import Followed
from counterfoil.training.following.models import Models, find_models
from counterfoil.training.following.optimizers import FollowedOptimizer
from counterfoil.training.following.steps import Geometry, Update
from counterfoil.training.following.taken import TakenSteps
from counterfoil.training.following.world import World
from counterfoil.training.preparing import Preparing
from counterfoil.training.schedules import waiting
from counterfoil.training.scripts.handing import ScriptOrder, Wanted

_FOLLOWING = "Following the script"
_LABELLED = 2
"""In so many steps it is noted which line each gradient belongs to."""
_MOST_ASKED = 100_000
"""So often one line may ask for a value: a loop that waits for a yes would not end."""


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
        wanted.before = follower.close
        try:
            # What the follower changes of torch it changes while it watches, and undoes before: both change some of it.
            with watched(follower), follower.ended(), generators_kept():
                _run_to_its_end(run, follower)
                follower.end()
        except Again:
            # One more module makes plain numbers of values: now that it is known, the script begins anew.
            continue
        return follower.ordered()


def _run_to_its_end(run: Callable[[], None], follower: Follower) -> None:
    """Run a script; raises DataError where it fails after it has begun to train."""
    try:
        run()
    except CounterfoilError:
        raise
    except tracing.SHAPELESS as error:
        with tracing.explained(follower.location):
            raise error
    except SystemExit as ended:
        if ended.code not in (None, 0) or not follower.steps:
            raise
    except Exception as error:
        if not follower.steps:
            raise
        if follower.complete:
            return
        if isinstance(error, KeyError) and any(map(is_asked, error.args)):
            raise ProgramError(
                "The script looks something up by a value of the training"
                f"{whereabouts.in_brackets(whereabouts.where_raised(error))}.",
                remedy="Leave that out where nothing is trained, or order the steps before with --max-steps.",
            ) from error
        raise DataError(
            f"The script failed after {follower.steps} steps: {told(error)}"
            f"{whereabouts.in_brackets(whereabouts.where_raised(error))}.",
            remedy=f"Nothing is trained or saved while it is followed. If its training had ended, say --max-steps "
            f"{follower.steps}.",
            detail=traceback.format_exc(),
        ) from error


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
        self.location = Location()
        self._stack = ExitStack()
        self._world: World | None = None
        self._taken: TakenSteps
        self._models: Models | None = None
        self._seed = 0
        self._roots: set[int] = set()
        self._made: list[Optimizer] = []
        self._optimizers: dict[int, FollowedOptimizer] = {}
        self._from_loader = False
        self._names = names
        self._lines = whereabouts.LineLabels(label_line)
        self._calls: list[int] = []
        self._asked: Counter[tuple[str, int]] = Counter()
        self._yes: tuple[str, int] | None = None
        self._copies: list[Copy] = []
        self._inside: Inside | None = None
        self._notes = Notes()
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
                self.location.attribute_backward(loss)
                with torch.no_grad():
                    world.step.losses.append(Geometry.of(loss.detach()))

    def waits(self, scheduler: ReduceLROnPlateau) -> None:
        """Refuse a scheduler that waits for a value of the training."""
        if self._world is not None:
            raise waiting(scheduler)

    def updates(self, optimizer: Optimizer, closure: Callable[[], Any] | None) -> Any:
        """Note an optimizer's step."""
        if closure is not None and self._world is None:
            self._start(optimizer)
        world = self._world
        if world is None:
            raise DataError(
                f"{type(optimizer).__name__} makes a step, and no model was called before.",
                remedy="Let the script call a torch.nn.Module that holds the parameters.",
            )
        own = self._optimizer(optimizer, world)
        rates = own.call(whereabouts.in_brackets(whereabouts.client_line()))
        self.location.at_slot("")
        if own.rule is None:
            # Its step is what it is written to be, like everything else of the script.
            return type(optimizer).step(optimizer, *([] if closure is None else [closure]))
        result = None
        if closure is not None:
            with torch.enable_grad():
                result = closure()
        self._note_update(own, rates, world)
        return result

    def _note_update(self, own: FollowedOptimizer, rates: tuple[float, ...], world: World) -> None:
        number = list(self._optimizers).index(id(own.optimizer))
        gradients = {
            own.names[id(parameter)]: Geometry.of(parameter.grad)
            for group in own.optimizer.param_groups
            for parameter in group["params"]
            if parameter.grad is not None
        }
        time = world.step.updates.get(number, 0)
        world.step.updates[number] = time + 1
        written = (*gradients, *own.slots)
        for name in written:
            world.note_change(name)
        state = tuple(Geometry.of(world.stands[name]) for name in written)
        world.step.events.append(Update(number, time, gradients, state, rates, self.location.place))
        self._calls.append(len(own.rates) - 1)

    def compiles(self) -> None:
        """Note that nothing is compiled."""
        self._notes.add("torch.compile is left out: an order says what is computed, not by which kernels.")

    def saves(self, what: str) -> bool:
        """Keep a script from saving what was not trained."""
        if self._world is None:
            return True
        self._notes.add(f"{what} was not written: the weights come with the run (counterfoil export).")
        return False

    def _casts(self, dtype: torch.dtype) -> bool:
        """Ask for a profile where the script computes in mixed precision."""
        name = str(dtype).removeprefix("torch.")
        near = ("float32-bfloat16",) if dtype is torch.bfloat16 else ()
        question = f"The script computes in mixed precision, {name}; an order's profile says how it is computed."
        self._wanted.profile(question, (*near, "float64-24", "exact-20"))
        return True

    def _decide(self, place: str) -> bool:
        """Answer a question for a value that nobody knows: no, and in a copy of the script yes."""
        frame = whereabouts.client_frame()
        # A line may ask several times.
        question = (place, -1 if frame is None else frame.f_lasti)
        self._asked[question] += 1
        if self._asked[question] > _MOST_ASKED:
            raise ProgramError(
                f"The script decides by a value of the training{whereabouts.in_brackets(place)} again and again.",
                remedy="Repeat a known number of times.",
            )
        if self._asked[question] == 1:
            copy = None if self._inside is not None else fork(place, len(self._taken))
            if isinstance(copy, Inside):
                self._inside, self._copies = copy, []
                self._yes = question
            elif copy is not None:
                self._copies.append(copy)
        return question == self._yes

    def _compare(self, *, ended: bool) -> None:
        """Compare with copies of the script that have made as many steps since as are compared."""
        made, keys = self._taken.made, list(self._taken.variants)
        if self._inside is not None:
            self._inside.tell(made, keys, "ended" if ended else "")
        for copy in list(self._copies):
            own = [digest(step, keys) for step in made[copy.begins : copy.begins + STEPS]]
            if len(own) == STEPS or ended:
                self._copies.remove(copy)
                self._judge(copy, own)

    def _judge(self, copy: Copy, own: Sequence[str]) -> None:
        told, where = copy.told(), whereabouts.in_brackets(copy.place)
        same = told is not None and all(one == other for one, other in zip(told.steps, own, strict=False))
        if told is None:
            note = "what a yes would change could not be told"
        elif not own:
            note = "no step came behind it"
        elif same and len(told.steps) >= len(own):
            note = (
                f"with a yes the next {len(own)} steps are the same"
                if len(own) > 1
                else "with a yes the next step is the same"
            )
        elif same and self._wanted.max_steps is not None:
            note = "a yes would end the training, which is ordered to its last step"
        else:
            raise ProgramError(
                f"The script decides by a value of the training{where}, and "
                + ("ends with a yes." if same else "does something else with a yes."),
                remedy="An order says beforehand what is done: order the steps before with --max-steps, or decide by "
                "what is known, such as the number of the step.",
            )
        self._notes.add(f"The script decides by a value of the training{where}: {note}; answered no.")

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
        for name in models.trained:
            check_model(models.modules[name])
        for name, tensor in models.tensors.items():
            tensor_type(name, tensor)
        # What the script seeded; it is put back before the order is made.
        self._seed = torch.initial_seed() % 2**64
        self._models = models
        self._roots = {id(models.modules[name]) for name in models.trained}
        world = World(models.tensors, models.others, self.location, self._notes)
        stack = self._stack
        stack.enter_context(tracing.plainly(ignore_autocast=self._casts, notes=self._notes))
        stack.enter_context(counting_draws())
        for name in models.trained:
            stack.enter_context(self.location.attribute_forward(models.modules[name]))
        stack.enter_context(self._lines)
        aside = WithoutValues(world, self._notes)
        stack.enter_context(
            AskedValues(self._decide, self._names, known=aside.knows, hold=aside.hold, stand_in=world.unknown)
        )
        # Above: whether a number is finite has a usual answer, which becomes a part of the step.
        stack.enter_context(aside)
        stack.enter_context(world)
        self._wanted.followed = True
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
        self._compare(ended=False)
        self._calls = []
        # Lines of backward passes are known by then; they cost more than all else.
        self._lines.label = label_line if len(taken) < _LABELLED else None
        world.begin()
        if self._inside is None:
            self._wanted.tell(Preparing(_FOLLOWING, "steps", len(taken), self._wanted.max_steps or 0))
        if len(taken) == self._wanted.max_steps:
            taken.end(self._kept)
            self._compare(ended=True)
            self.close()
            self._wanted.hand_over(self._job(), self._notes.sentences)

    @property
    def _kept(self) -> frozenset[str]:
        """Names of the state whose new value counts: of modules, and of optimizers."""
        assert self._models is not None
        return self._models.kept.union(*(own.slots for own in self._optimizers.values()))

    @property
    def steps(self) -> int:
        """How many steps the script has made, the one that it is in counted if it has changed a parameter."""
        return 0 if self._world is None else len(self._taken) + self._world.step.updated

    @property
    def complete(self) -> bool:
        """Whether as many steps were made as are wanted."""
        return self.steps == self._wanted.max_steps

    def end(self) -> None:
        """Take the last step, where the script has ended."""
        if self._world is None:
            return
        if self._world.step.updated:
            self._taken.take(self._world.step, tuple(self._calls), self._kept)
        self._taken.end(self._kept)
        self._compare(ended=True)

    @contextmanager
    def ended(self) -> Iterator[None]:
        """Let go of torch, and of copies of the script, however it ends; a copy tells how."""
        try:
            yield
        except BaseException as error:
            if self._inside is not None:
                self._inside.tell(self._taken.made, list(self._taken.variants), type(error).__name__)
            raise
        finally:
            self.close()

    def close(self) -> None:
        """Let torch compute as ever."""
        self._handing = True
        self._stack.close()
        while self._copies:
            self._copies.pop().end()

    def ordered(self) -> ScriptOrder | None:
        """Return the order of all steps; None where there was none."""
        if self._world is None or not self._taken.made:
            return None
        return ScriptOrder(self._wanted.draft(self._job(), self._wanted.precision), self._notes.sentences)

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
            seed=self._seed,
        )
