"""Follows a script's own training loop, and makes an order of what it would train. Nothing is trained."""

from __future__ import annotations

import os
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils._python_dispatch import _disable_current_modes

from counterfoil.base.foreignerrors import describe_error, text_of
from counterfoil.program import tracing, whereabouts
from counterfoil.program.asked import Again, AskedValues, PlainNames
from counterfoil.program.asked.numbers import is_asked
from counterfoil.program.asked.questions import UNSUITABLE
from counterfoil.program.attribution import Location, label_line
from counterfoil.program.devices import OneDevice
from counterfoil.program.philoxdraws import count_draws
from counterfoil.program.remedies import NoFormError, Notes
from counterfoil.program.statetensors import names_in_order, tensor_type, tied_names, unsaved_names
from counterfoil.program.steadiness import generators_kept
from counterfoil.program.update.torchs import slots_by_torch
from counterfoil.training.custom import check_model
from counterfoil.training.following.answers import Answers
from counterfoil.training.following.aside import WithoutValues
from counterfoil.training.following.borders import Borders, watch
from counterfoil.training.following.calls import KEPT
from counterfoil.training.following.draft import Followed
from counterfoil.training.following.optimizers import FollowedOptimizer, entries_of
from counterfoil.training.following.oracle import LOSS, sources_of_counts
from counterfoil.training.following.plainreport import Generators
from counterfoil.training.following.plainrun import set_generators, slot_key
from counterfoil.training.following.scores import REMEDY, Scores
from counterfoil.training.following.scriptsteps import HELD, Lasting, TakenSteps
from counterfoil.training.following.shelf import Shelf, tensors_in
from counterfoil.training.following.steps import Geometry, Update
from counterfoil.training.following.survey import Survey
from counterfoil.training.following.world import World
from counterfoil.training.scripts.handover import ScriptOrder, Wanted
from counterfoil.training.scripts.workfolder import files_unwatched
from counterfoil.training.stages import FOLLOWING, Preparing
from counterfoil_core.base.errors import CounterfoilError, DataError, ProgramError
from counterfoil_core.order.evaluation import SCORE

_LABELLED = 2
"""In so many steps it is noted which line each gradient belongs to."""


def follow(run: Callable[[], None], wanted: Wanted, title: str, survey: Survey | None = None) -> ScriptOrder | None:
    """Run a script, and return the order of what its own loop trains; None where it trains nothing.

    Args:
        run: Runs the script.
        wanted: What is wanted of the order besides.
        title: The name of the job.
        survey: What the script does where it runs with values; None where nobody has seen that.

    Raises:
        HandedOver: So many steps as are wanted were followed, which ends the script.
        CounterfoilError: The script does what cannot be ordered.
    """
    names, lasting = PlainNames(), Lasting()
    while True:
        follower = Follower(wanted, title, names, lasting, survey or Survey())
        wanted.before = follower.close
        try:
            # What the follower changes of torch it changes while it watches, and undoes before: both change some of it.
            with OneDevice(follower.notes), watch(follower), follower.ended(), generators_kept():
                _run_to_its_end(run, follower)
                follower.end()
        except Again:
            # One more module makes plain numbers of values, or more of the state lasts: the script begins anew.
            continue
        except NoFormError as error:
            # Where it was asked for is said already; where the refusal was found again says nothing to a client.
            raise ProgramError(f"The script {error.sentence}.", remedy=error.remedy) from error
        return follower.ordered()


def _run_to_its_end(run: Callable[[], None], follower: Follower) -> None:
    """Run a script; raises DataError where it fails after it has begun to train."""
    try:
        set_generators(follower.first_generators)
        run()
    except (NoFormError, *tracing.SHAPELESS) as error:
        if follower.has_all_steps:
            return
        with tracing.explain_errors(follower.location):
            raise error
    except CounterfoilError:
        if not follower.has_all_steps:
            raise
    except SystemExit as ended:
        if ended.code not in (None, 0) or not follower.steps:
            raise
    except Exception as error:
        if follower.complete or follower.has_all_steps:
            return
        if isinstance(error, TypeError) and any(name in text_of(error) for name in UNSUITABLE):
            raise ProgramError(
                "The script gives what its model gave to a function that takes plain numbers alone, of numpy or "
                f"another library{whereabouts.in_brackets(whereabouts.where_raised(error))}: no program can.",
                remedy="Compute it with tensors of torch, and keep it one: without item(), float() and numpy().",
            ) from error
        if not follower.steps and not follower.first_generators:
            raise
        if isinstance(error, KeyError) and any(map(is_asked, error.args)):
            raise ProgramError(
                "The script looks something up by a value of the training"
                f"{whereabouts.in_brackets(whereabouts.where_raised(error))}.",
                remedy="Look it up by what is known beforehand, such as the number of the step, or order the steps "
                f"before (--max-steps {follower.steps}).",
            ) from error
        raise DataError(
            f"The script failed after {follower.steps} steps while it was followed: {describe_error(error)}"
            f"{whereabouts.in_brackets(whereabouts.where_raised(error))}.",
            remedy="While it is followed its tensors have no values: leave out what needs them, or order the steps "
            f"before (--max-steps {follower.steps}).",
            detail=traceback.format_exc(),
        ) from error


class Follower(Borders):
    """Watches a script: see :class:`counterfoil.training.following.borders.Watcher`.

    Args:
        wanted: What is wanted of the order.
        title: The name of the job.
        names: The modules that make plain numbers of values that are not known.
        lasting: What later steps were seen to read.
        survey: What the script does where it runs with values.
    """

    def __init__(self, wanted: Wanted, title: str, names: PlainNames, lasting: Lasting, survey: Survey) -> None:
        super().__init__(evaluates=wanted.evaluates)
        self._scores: Scores | None = None
        self._decided: ProgramError | None = None
        """The refusal of what was decided behind a batch, which holds where another follows."""
        self._fetched = False
        self._wanted = wanted
        self._title = title
        self.location = Location()
        self._stack = ExitStack()
        self._world: World | None = None
        self._lasting = lasting
        self._taken = TakenSteps(lasting)
        self._seed = 0
        self._optimizers: dict[int, FollowedOptimizer] = {}
        self._slots: dict[str, str] = {}
        """What the plain run calls each slot, by its name in the order."""
        self._names = names
        self._lines = whereabouts.LineLabels(label_line)
        self._groups: list[tuple[object, ...]] = []
        self._kinds: list[tuple[object, ...]] = []
        """What tells steps apart besides their programs: optimizers, groups, and whether rates have moved."""
        self._answers = Answers(survey, wanted.answers)
        self._survey = survey
        self.notes = Notes()
        self._shelf = Shelf()
        self._handing = False

    # What the script does.

    def made(self, optimizer: Optimizer) -> None:
        """Remember an optimizer."""
        if not self._handing:
            super().made(optimizer)

    def adds(self, optimizer: Optimizer) -> None:
        """Take in what it trains."""
        if not self._handing:
            super().adds(optimizer)

    def fetches(self) -> None:
        """End the step where a loader is asked for the next batch."""
        if self.tallies is not None and self._world is None and not self._fetched:
            # A line that calls a model within int() has looked that name up before the model is called.
            self._fetched = True
            self._learn_usual()
            self._stack.enter_context(self._names.replaced())
        if not self._handing:
            super().fetches()

    def clears(self, owner: Optimizer | nn.Module) -> None:
        """Begin with the first step, or with the next where there is no loader."""
        if not self._handing:
            super().clears(owner)

    def runs(self, module: nn.Module) -> None:
        """Begin with the first step where what is trained is called, or with the next where there is no loader."""
        if not self._handing:
            super().runs(module)

    def goes_back(self, losses: Sequence[Tensor]) -> None:
        """Note what the gradients are those of."""
        world = self._world
        if world is None or self._handing:
            return
        self._check_trains()
        self.calls.append("backward")
        for loss in losses:
            if world.is_noted(loss):
                self.location.attribute_backward(loss)
                with torch.no_grad():
                    world.step.losses.append(Geometry.of(loss.detach()))

    def updates(self, optimizer: Optimizer, closure: Callable[[], Any] | None, step: Callable[[], Any]) -> Any:
        """Note an optimizer's step."""
        self._check_trains()
        if closure is not None and self._world is None:
            self.start(optimizer)
        world = self._world
        if world is None:
            raise DataError(
                f"{type(optimizer).__name__} makes a step, and no model was called before.",
                remedy="Let the script call a torch.nn.Module that holds the parameters.",
            )
        # What is asked of tensors here, and below where a step ends, is no call of the script's: no mode looks at it.
        with torch._C.DisableTorchFunction():
            _check_gradients(optimizer, world)
        own = self._optimizer(optimizer, world)
        rates = own.call()
        self.calls.append(f"update {own.number}")
        sizes = tuple(len(group["params"]) for group in optimizer.param_groups)
        self._groups.append((own.number, sizes, rates != own.rates[0]))
        self.location.at_slot("")
        if closure is not None and own.rule is not None and not own.is_hooked:
            with torch.enable_grad():
                result = closure()
            if own.fits_rule():
                self._note_update(own, rates, world)
                return result
            type(optimizer).step(optimizer, lambda: result)
        elif own.fits_rule():
            self._note_update(own, rates, world)
            return None
        else:
            result = step()
        self._adopt_slots(own, world)
        world.step.note_update()
        return result

    def _check_trains(self) -> None:
        """Raise ProgramError where a script that should score a model trains one."""
        if self.tallies is not None:
            raise ProgramError(
                f"The script trains{whereabouts.in_brackets(whereabouts.client_line())}, and an evaluation changes no "
                "weight.",
                remedy="Order the training by 'counterfoil order --script', and score its weights by a script that "
                "loads them.",
            )

    def _note_update(self, own: FollowedOptimizer, rates: tuple[float, ...], world: World) -> None:
        with _disable_current_modes(), torch._C.DisableTorchFunction():
            self._note_rule(own, rates, world)

    def _note_rule(self, own: FollowedOptimizer, rates: tuple[float, ...], world: World) -> None:
        gradients = {
            own.names[id(parameter)]: Geometry.of(parameter.grad)
            for group in own.optimizer.param_groups
            for parameter in group["params"]
            if parameter.grad is not None
        }
        number = list(self._optimizers).index(id(own.optimizer))
        time = world.step.updates.get(number, 0)
        world.step.updates[number] = time + 1
        written = (*gradients, *own.slots)
        for name in written:
            world.note_change(name)
        state = tuple(Geometry.of(world.stands[name]) for name in written)
        world.step.events.append(Update(number, time, gradients, state, rates, self.location.place, len(own.rates) - 1))
        world.step.note_update()
        own.keep_state({name: world.real[name] for name in own.slots})

    def _adopt_slots(self, own: FollowedOptimizer, world: World) -> None:
        """Take what an optimizer's own step has made of its state as slots of the order."""
        for parameter, key, value in own.entries():
            self._adopt_slot(world, own.number, parameter, key, value)

    def _adopt_loaded_slots(self, world: World) -> None:
        """Take what a script has put into the state of its optimizers by itself, as by ``load_state_dict``."""
        assert self.models is not None
        known = {id(tensor): name for name, tensor in self.models.present().items()}
        for number, optimizer in enumerate(self.made_optimizers):
            for parameter, key, value in entries_of(optimizer):
                if id(parameter) in known:
                    self._adopt_slot(world, number, known[id(parameter)], key, value)

    def _adopt_slot(self, world: World, number: int, parameter: str, key: str, value: Tensor) -> None:
        if isinstance(value, FakeTensor) and world.names.get(value.untyped_storage()._cdata, HELD).startswith(HELD):
            source = slot_key(number, parameter, key)
            before = next((name for name, other in self._slots.items() if other == source), None)
            world.adopt(before or self._slot_name(number, parameter, key), value)

    def _slot_name(self, number: int, parameter: str, key: str) -> str:
        """Name a slot of an optimizer, and remember what it is of."""
        name = f"{key}:{parameter}"
        if name in self._slots:
            name = f"o{number + 1}.{name}"
        self._slots[name] = slot_key(number, parameter, key)
        return name

    def _is_slot(self, memory: int) -> str:
        """Return a name for a memory that is that of an entry of an optimizer's state; empty for any other."""
        assert self.models is not None
        known = {id(tensor): name for name, tensor in self.models.present().items()}
        for number, optimizer in enumerate(self.made_optimizers):
            for parameter, key, value in entries_of(optimizer):
                if value.untyped_storage()._cdata == memory and id(parameter) in known:
                    return self._slot_name(number, known[id(parameter)], key)
        return ""

    def differentiates(self, outputs: Sequence[Tensor]) -> None:
        """Note of what gradients are computed, for a script that calls ``backward`` nowhere."""
        world = self._world
        if world is not None and not self._handing:
            noted = [one for one in outputs if world.is_noted(one) and one.numel() == 1]
            for one in noted:
                self.location.attribute_backward(one)
            with torch.no_grad():
                world.step.differentiated += [Geometry.of(one.detach()) for one in noted]

    def lowers(self, scheduler: ReduceLROnPlateau, before: Sequence[float]) -> None:
        """Say that rates were lowered, and why."""
        self._answers.leave_out(whereabouts.client_line())
        now = [float(group["lr"]) for group in scheduler.optimizer.param_groups]
        self.notes.add(
            f"The learning rate goes from {before[0]:g} to {now[0]:g} after step {self.steps}, since the script's own "
            f"metric had not improved ({type(scheduler).__name__}, patience {scheduler.patience})."
        )

    def compiles(self) -> None:
        """Note that nothing is compiled."""
        self.notes.add("torch.compile is left out: an order says what is computed, not by which kernels.")

    def saves(self, file: Any) -> bool:
        """Keep a script from saving what has no values."""
        if self._world is None:
            return True
        if isinstance(file, (str, os.PathLike)):
            self.notes.add(f"{file} was not written: the weights come with the run (counterfoil export).")
            with suppress(OSError, ValueError), files_unwatched():
                # Whoever looks whether it is there finds it.
                Path(file).touch()
        return False

    def _casts(self, dtype: torch.dtype) -> bool:
        """Ask for a profile where the script computes in mixed precision."""
        name = str(dtype).removeprefix("torch.")
        near = ("float32-bfloat16",) if dtype is torch.bfloat16 else ()
        question = f"The script computes in mixed precision, {name}; an order's profile says how it is computed."
        self._wanted.profile(question, (*near, "float64-24", "exact-20"))
        return True

    def keeps(self, what: Any, file: Any) -> bool:
        """Keep what is saved of values that nobody knows, for who loads it again."""
        world = self._world
        if world is None or not any(map(world.is_noted, tensors_in(what))):
            return True
        self._shelf.put(what, file)
        return self.saves(file)

    def loads(self, what: Any, file: Any) -> None:
        """What is loaded has values."""

    def kept(self, file: Any) -> tuple[Any] | None:
        """Return what was saved there."""
        return None if self._handing else self._shelf.take(file)

    # Steps.

    def begin(self) -> None:
        """Begin to follow."""
        models = self.models
        assert models is not None
        self._learn_usual()
        for name in models.trained:
            check_model(models.modules[name], lambda own: names_in_order([own])[own])
        for name, tensor in models.tensors.items():
            tensor_type(name, tensor, whereabouts.client_line())
        # What the script seeded; it is put back before the order is made.
        self._seed = torch.initial_seed() % 2**64
        world = World(models.tensors, models.others, self.location, self.notes, self._is_slot, self.wrote)
        # What the script changes of other modules is state from the beginning, whatever it does to it first.
        for name, tensor in models.others.items():
            if self._survey.holds(name):
                world.hold(name, tensor)
        stack = self._stack
        stack.enter_context(tracing.plainly(ignore_autocast=self._casts, notes=self.notes))
        stack.enter_context(count_draws())
        for name in models.trained:
            stack.enter_context(self.location.attribute_forward(models.modules[name]))
        stack.enter_context(self._lines)
        aside = WithoutValues(world, self.notes)
        stack.enter_context(
            AskedValues(
                self._answers.decide if self.tallies is None else self._decide_of_scores,
                self._names,
                known=aside.knows,
                hold=aside.hold,
                stand_in=world.unknown,
                answers=self._answers.take,
            )
        )
        # Above: whether a number is finite has a usual answer, which becomes a part of the step.
        stack.enter_context(aside)
        stack.enter_context(world)
        self._wanted.followed = True
        self._world = world
        if self.tallies is not None:
            self._scores = Scores(world, self.tallies, self.notes, self._wanted.counts)
        self._settle_generators(0)

    def _learn_usual(self) -> None:
        frame = whereabouts.client_frame()
        while frame is not None and frame.f_globals.get("__name__") != "__main__":
            frame = frame.f_back
        if frame is not None:
            self._names.learn_usual(frame)

    def grow(self) -> None:
        """Take in what was made since the first step began."""
        assert self.models is not None
        assert self._world is not None
        for name, tensor in self.models.tensors.items():
            if isinstance(tensor, FakeTensor):
                self._world.adopt(name, tensor)
            elif self._world.rename(tensor, name):
                continue
            elif name not in self._world.real:
                with _disable_current_modes():
                    tensor_type(name, tensor, whereabouts.client_line())
                    self._world.hold(name, tensor)

    def _optimizer(self, optimizer: Optimizer, world: World) -> FollowedOptimizer:
        assert self.models is not None
        if id(optimizer) not in self._optimizers:
            prefix = f"o{len(self._optimizers) + 1}." if len(self.made_optimizers) > 1 else ""
            number = next((n for n, made in enumerate(self.made_optimizers) if made is optimizer), -1)
            with _disable_current_modes():
                present = self.models.present()
                own = FollowedOptimizer.of(optimizer, number, prefix, present, world.real)
                for name, slot in own.slots.items():
                    world.hold(name, slot)
            keys = {ours: key for key, ours in slots_by_torch(optimizer).items()}
            for name in own.slots:
                slot_name, _, parameter = name.partition(":")
                self._slots[name] = slot_key(number, parameter, keys.get(slot_name, slot_name))
            self._optimizers[id(optimizer)] = own
        own = self._optimizers[id(optimizer)]
        own.learn_names(self.models.present())
        return own

    def _settle_generators(self, border: int) -> None:
        """Put the generators where they were at a border when the script ran with values."""
        if border < len(self._survey.borders):
            set_generators(self._survey.borders[border].generators_now)

    def finish(self) -> None:
        """Take the step that the script has made."""
        world, taken = self._world, self._taken
        assert world is not None
        self._check_refusal()
        with torch._C.DisableTorchFunction():
            self._adopt_loaded_slots(world)
            self._hold_what_lasts(world)
            self._take_scores(world)
            taken.take(world.step, world.births, self._kept, self.calls)
        self._kinds.append(tuple(self._groups))
        self._groups = []
        self._answers.step = len(taken) + 1
        self._settle_generators(len(taken))
        # Lines of backward passes are known by then; they cost more than all else.
        self._lines.label = label_line if len(taken) < _LABELLED else None
        world.begin()
        self._wanted.tell(Preparing(FOLLOWING, "steps", len(taken), self._wanted.max_steps or self._survey.steps))
        if len(taken) == self._wanted.max_steps:
            taken.end(self._kept)
            self.close()
            self._wanted.hand_over(self._job(), self._sentences)

    def _decide_of_scores(self, place: str, answer: Any) -> bool:
        """Refuse a decision by what a model gives within a batch; behind the last one it is no part of the order."""
        assert self._world is not None
        error = ProgramError(
            f"The script decides by what its model gives{whereabouts.in_brackets(place)}: what it counts there would "
            "be a number of its own run, whatever the weights are.",
            remedy=REMEDY,
        )
        if self.is_updated:
            # Kept, so that no handler of the script's swallows it.
            self._world.refusal = self._world.refusal or error
            raise error
        self._decided = error
        return bool(answer)

    def _take_scores(self, world: World) -> None:
        """Take what an evaluation has added up in the step.

        Raises:
            ProgramError: It changes what it scores, or hangs on a decision by what a batch before it gave.
        """
        if self._scores is None:
            return
        if self._decided is not None:
            raise self._decided
        assert self.models is not None
        changed = next((name for name in world.step.written if name in self.models.tensors), None)
        if changed is not None:
            raise ProgramError(
                f"The script changes {changed!r} of the model that it scores, in step {len(self._taken) + 1}.",
                remedy="Call model.eval() before it is scored.",
            )
        self._scores.take()

    def _hold_what_lasts(self, world: World) -> None:
        """Take what the step has made, and a step behind the next one reads, as state from its end on."""
        counts: Counter[int] = Counter()
        for birth, made in world.births_of_step():
            place = self._lasting.places.get(birth)
            if place is not None and made.untyped_storage()._cdata not in world.names:
                world.adopt(f"{HELD}{place + 1}.{counts[place] + 1}", made)
                counts[place] += 1

    def _check_refusal(self) -> None:
        """Raise what was refused before, also where the script has swallowed it."""
        assert self._world is not None
        if self._world.refusal is not None:
            with tracing.explain_errors(self.location):
                raise self._world.refusal

    @property
    def _sentences(self) -> tuple[str, ...]:
        return (*self.notes.sentences, *self._answers.sentences)

    @property
    def _kept(self) -> frozenset[str]:
        """Names of the state whose new value counts: of modules, and of optimizers."""
        assert self.models is not None
        assert self._world is not None
        if self.tallies is not None:
            return frozenset(name for name in self._world.real if name.startswith(SCORE))
        present = self.models.present()
        sizes = {tensor.numel() for tensor in present.values() if self._trains(tensor)} - {1}
        # A tensor of no module that is as large as a parameter is an average or the like; others are logs, mostly.
        averages = {
            name
            for name, tensor in self._world.real.items()
            if name.startswith(KEPT) and (name in self._lasting.names or tensor.numel() in sizes)
        }
        held = {name for name in self._world.real if name.startswith(HELD)}
        return frozenset(present) | self._slots.keys() | averages | held

    @property
    def steps(self) -> int:
        """How many steps the script has made, the one that it is in counted if it has changed a parameter."""
        return 0 if self._world is None else len(self._taken) + self.is_updated

    @property
    def complete(self) -> bool:
        """Whether as many steps were made as are wanted."""
        return self.steps == self._wanted.max_steps

    @property
    def first_generators(self) -> Generators:
        """Where the generators are when the script begins, by their names; empty where nobody has seen that."""
        return self._survey.generators

    @property
    def has_all_steps(self) -> bool:
        """Whether all steps were followed that the script makes, from where it runs with values to its end."""
        return self._survey.is_whole and 0 < self.steps == self._survey.steps

    def end(self) -> None:
        """Take the last step, where the script has ended."""
        world = self._world
        if world is None:
            return
        if not self.has_all_steps:
            self._check_refusal()
        if self.is_updated:
            self._adopt_loaded_slots(world)
            self._hold_what_lasts(world)
            self._take_scores(world)
            try:
                self._taken.take(world.step, world.births, self._kept, self.calls)
            except ProgramError:
                if not self.has_all_steps:
                    raise
                # What the script does behind its last update is looked at where it is compared.
                self._taken.take(world.step.until_update(), world.births, self._kept, self.calls)
            self._taken.end(self._kept)
        elif self.tallies is not None:
            # What is done with the scores is no part of them.
            self._taken.end(self._kept)
        else:
            self._taken.end(self._kept, world.step, world.births)

    @contextmanager
    def ended(self) -> Iterator[None]:
        """Let go of torch, however the script ends."""
        try:
            yield
        finally:
            self.close()

    def close(self) -> None:
        """Let torch compute as ever."""
        self._handing = True
        loss = {} if self._scores is None else {LOSS: self._scores.loss} | sources_of_counts(self._wanted.counts)
        self._wanted.calls, self._wanted.sources = tuple(self._taken.calls), self._slots | loss
        self._wanted.kinds = (*self._kinds, tuple(self._groups))
        has_all = self.has_all_steps
        try:
            self._stack.close()
        except NoFormError:
            # What was refused behind the last step is no part of the order: the comparison says whether it matters.
            if not has_all:
                raise

    def ordered(self) -> ScriptOrder | None:
        """Return the order of all steps; None where there was none."""
        if self._world is None or not self._taken.made:
            return None
        return ScriptOrder(self._wanted.draft(self._job(), self._wanted.precision), self._sentences)

    def _job(self) -> Followed:
        world, models, taken = self._world, self.models, self._taken
        assert world is not None
        assert models is not None
        if self._scores is not None:
            self._scores.check()
        used = {name for variant in taken.variants.values() for name in (*variant.tape.read, *variant.tape.written)}
        tied: dict[str, str] = {}
        unsaved: list[str] = []
        for name in models.trained:
            module = models.modules[name]
            own = models.own(name)
            used.update(own.values())
            tied.update((models.name(name, other), own[first]) for other, first in tied_names(module, own).items())
            unsaved += [own[buffer] for buffer in unsaved_names(module) if buffer in own]
        used.update(self._slots)
        state = {name: tensor.detach() for name, tensor in world.real.items() if name in used}
        return Followed(
            self._title,
            taken,
            tuple(self._optimizers.values()),
            state,
            tied,
            tuple(sorted(unsaved)),
            seed=self._seed,
            evaluates=self.tallies is not None,
            rounded="" if self._scores is None else self._scores.rounded,
            checkpoint_every=self._wanted.checkpoint_every or (10 if self.tallies is None else len(taken.made)),
        )


def _check_gradients(optimizer: Optimizer, world: World) -> None:
    """Check that gradients are made of the state; raises ProgramError where one was brought along like data."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None and not world.is_noted(parameter.grad):
                raise ProgramError(
                    f"The gradient of a parameter of shape {list(parameter.shape)} is computed where nobody can follow "
                    f"it{whereabouts.in_brackets(whereabouts.client_line())}: an order would hold it as a number.",
                    remedy="Begin each step with zero_grad(), or call the module itself, model(x) and not "
                    "model.forward(x): there a step begins. Compute gradients in this process, by loss.backward().",
                )
