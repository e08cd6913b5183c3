"""Mutants of the follower: each takes back one repair, and so gives a wrong order of a script of the corpus.

They are the control of two things. With the product's own comparison off, the judge of this folder must call each of
these orders different: it sees what it is there for. With the comparison on, the product must refuse each of them.

A mutant is a row of ``MUTANTS``: what it is called, which kind of error it makes, a script that is followed truly and
shows it, and a context manager within which the follower of this process and of its forks is the mutant. The runs with
values are other processes, and stay as they are. It replaces as little as it can by ``mock.patch.object``;
``python -m tests.fidelity --mutants NAME --uncompared`` shows what it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils.data import DataLoader
from torch.utils.data.dataloader import _BaseDataLoaderIter

from counterfoil.program import whereabouts
from counterfoil.training.following import aside, draft, optimizers, script, scriptsteps, world
from counterfoil.training.following.answers import Answers
from counterfoil.training.following.aside import WithoutValues
from counterfoil.training.following.calls import KEPT, SET_DATA, written_by
from counterfoil.training.following.draft import Followed
from counterfoil.training.following.follower import Follower
from counterfoil.training.following.layout import Made, Plan, plan_of
from counterfoil.training.following.optimizers import FollowedOptimizer
from counterfoil.training.following.scriptsteps import Lasting, TakenSteps
from counterfoil.training.following.shelf import Shelf, file_key
from counterfoil.training.following.steps import Geometry, Step, Tape, tape_of
from counterfoil.training.following.world import World
from counterfoil.training.scripts.handover import ScriptOrder, Wanted

Patched = AbstractContextManager[Any]


@dataclass(frozen=True)
class Mutant:
    """A follower with one repair taken back.

    Attributes:
        name: What it is called.
        cause: What it gets wrong, in a few words.
        script: The script of the corpus that shows it, as IDIOM/NAME.
        patch: Within, the follower of this process, and of its forks, is the mutant.
    """

    name: str
    cause: str
    script: str
    patch: Callable[[], Patched]


# Steps, and what is written down of them.


def _without(place: int) -> Patched:
    end = TakenSteps.end

    def ended(self: TakenSteps, *args: Any) -> None:
        end(self, *args)
        self.made.pop(place)

    return mock.patch.object(TakenSteps, "end", ended)


def _numbers_of_the_first_step() -> Patched:
    def planned(made: list[Made]) -> Plan:
        return replace(plan_of(made), numbered={})

    return mock.patch.object(draft, "plan_of", planned)


def _batches_of_the_first_step() -> Patched:
    def planned(made: list[Made]) -> Plan:
        return replace(plan_of(made), varying=(), kinds=(), rows=None)

    return mock.patch.object(draft, "plan_of", planned)


def _no_tail() -> Patched:
    end = TakenSteps.end
    return mock.patch.object(TakenSteps, "end", lambda self, kept, *_: end(self, kept))


def _until_the_update() -> Patched:
    take = TakenSteps.take

    def taken_short(self: TakenSteps, step: Step, *args: Any) -> None:
        take(self, step.until_update(), *args)

    return mock.patch.object(TakenSteps, "take", taken_short)


def _nothing_handed_on() -> Patched:
    settle = TakenSteps._settle

    def settled(self: TakenSteps, handed: tuple[Geometry, ...], kept: frozenset[str]) -> None:
        settle(self, (), kept)

    return mock.patch.object(TakenSteps, "_settle", settled)


def _loose_left_out() -> Patched:
    """What is of no module counts for a log, also where later steps read it."""
    return _both(
        _kept_without(lambda name, _: name.startswith(KEPT)), mock.patch.object(Lasting, "add", return_value=False)
    )


def _kept_without(left_out: Callable[[str, Follower], bool]) -> Patched:
    kept = Follower.__dict__["_kept"]

    def fewer(self: Follower) -> frozenset[str]:
        return frozenset(name for name in kept.fget(self) if not left_out(name, self))

    return mock.patch.object(Follower, "_kept", property(fewer))


def _is_buffer(name: str, follower: Follower) -> bool:
    assert follower.models is not None
    tensor = follower.models.present().get(name)
    return tensor is not None and not tensor.requires_grad and name in follower.models.tensors


def _is_of_another(name: str, follower: Follower) -> bool:
    assert follower.models is not None
    return name in follower.models.others


def _averages_at_nine_tenths() -> Patched:
    job = Follower._job

    def changed(self: Follower) -> Followed:
        made = job(self)
        assert self.models is not None
        averages = {name: 0.9 * tensor for name, tensor in made.state.items() if name in self.models.others}
        return replace(made, state={**made.state, **averages})

    return mock.patch.object(Follower, "_job", changed)


def _loss_with_penalties() -> Patched:
    def taped(step: Step, *args: Any) -> Tape:
        return tape_of(replace(step, losses=[*step.losses, *step.differentiated]), *args)

    return mock.patch.object(scriptsteps, "tape_of", taped)


def _last_loss_alone() -> Patched:
    def taped(step: Step, *args: Any) -> Tape:
        return tape_of(replace(step, losses=step.losses[-1:]), *args)

    return mock.patch.object(scriptsteps, "tape_of", taped)


# Optimizers.


def _rates_of_the_first_step() -> Patched:
    call = FollowedOptimizer.call

    def called(self: FollowedOptimizer) -> tuple[float, ...]:
        call(self)
        self.rates[-1] = self.rates[0]
        return self.rates[-1]

    return mock.patch.object(FollowedOptimizer, "call", called)


def _bias_of_the_first_step() -> Patched:
    scalars = FollowedOptimizer.scalars

    def repeated(self: FollowedOptimizer) -> list[tuple[float, ...]]:
        rows = scalars(self)
        return rows[:1] * len(rows)

    return mock.patch.object(FollowedOptimizer, "scalars", repeated)


def _slots_by_name() -> Patched:
    """A new optimizer goes on with the slots of the one before."""
    of = FollowedOptimizer.of.__func__  # type: ignore[attr-defined]

    def made(cls: type[FollowedOptimizer], optimizer: Optimizer, number: int, prefix: str, tensors: Any, _: Any) -> Any:
        return of(cls, optimizer, number, prefix, tensors, ())

    hold = World.hold

    def held(self: World, name: str, tensor: Tensor) -> Any:
        return self.stands[name] if ":" in name and name in self.stands else hold(self, name, tensor)

    return _both(mock.patch.object(FollowedOptimizer, "of", classmethod(made)), mock.patch.object(World, "hold", held))


@contextmanager
def _both(one: Patched, other: Patched) -> Iterator[None]:
    with one, other:
        yield


def _entries_not_looked_at() -> Patched:
    return mock.patch.object(optimizers, "_same_entries", return_value=True)


def _entries_by_name() -> Patched:
    def same(left: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> bool:
        return (left or {}).keys() == (now or {}).keys()

    return mock.patch.object(optimizers, "_same_entries", same)


def _counts_of_the_optimizer() -> Patched:
    fits = FollowedOptimizer.fits_rule

    def fitting(self: FollowedOptimizer) -> bool:
        before = {id(p): len(self.rates) - 1 for group in self.optimizer.param_groups for p in group["params"]}
        with (
            mock.patch.object(optimizers, "_done", lambda optimizer, p: before[id(p)]),
            mock.patch.object(self, "_done_before", {}),
        ):
            return fits(self)

    return mock.patch.object(FollowedOptimizer, "fits_rule", fitting)


def _rule_always() -> Patched:
    fits = FollowedOptimizer.fits_rule

    def fitting(self: FollowedOptimizer) -> bool:
        return self.rule is not None or fits(self)

    return mock.patch.object(FollowedOptimizer, "fits_rule", fitting)


def _settings_without(*names: str) -> Patched:
    settings = optimizers._settings

    def fewer(optimizer: Optimizer) -> list[dict[str, Any]]:
        return [{n: value for n, value in group.items() if n not in names} for group in settings(optimizer)]

    return mock.patch.object(optimizers, "_settings", fewer)


def _hooks(names: Sequence[str]) -> Patched:
    """See only hooks of these kinds."""

    def hooked(self: FollowedOptimizer) -> bool:
        own = [getattr(self.optimizer, name, None) for name in names]
        return any([*own, *(getattr(optimizers, name, None) for name in names)])

    return mock.patch.object(FollowedOptimizer, "is_hooked", property(hooked))


def _state_not_kept() -> Patched:
    return mock.patch.object(FollowedOptimizer, "keep_state", return_value=None)


def _state_kept_as_copies() -> Patched:
    keep = FollowedOptimizer.keep_state

    def kept(self: FollowedOptimizer, slots: Mapping[str, Tensor]) -> None:
        keep(self, {name: slot.clone() for name, slot in slots.items()})

    return mock.patch.object(FollowedOptimizer, "keep_state", kept)


def _adopted_without_writing() -> Patched:
    adopt = World.adopt

    def adopted(self: World, name: str, made: Any) -> None:
        written = dict(self.step.written)
        adopt(self, name, made)
        self.step.written = written

    return mock.patch.object(World, "adopt", adopted)


def _plateau_without_effect() -> Patched:
    step = ReduceLROnPlateau.step

    def moved(self: ReduceLROnPlateau, metrics: Any, *args: Any) -> None:
        before = [group["lr"] for group in self.optimizer.param_groups]
        step(self, metrics, *args)
        for group, rate in zip(self.optimizer.param_groups, before, strict=True):
            group["lr"] = rate

    return mock.patch.object(ReduceLROnPlateau, "step", moved)


def _takeover_whatever_it_gives() -> Patched:
    def taken_over(ordered: Callable[[Wanted], ScriptOrder], wanted: Wanted) -> ScriptOrder:
        return ordered(wanted)

    return mock.patch.object(script, "_by_either_way", taken_over)


# What is read, and what is written.


def _one_batch_without_grad() -> Patched:
    following = _BaseDataLoaderIter.__next__

    def cut(self: Any) -> Any:
        if self._num_yielded and not torch.is_grad_enabled():
            raise StopIteration
        return following(self)

    return mock.patch.object(_BaseDataLoaderIter, "__next__", cut)


def _loader_without(**given: Any) -> Patched:
    init = DataLoader.__init__

    def begun(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **{**kwargs, **given})

    return mock.patch.object(DataLoader, "__init__", begun)


def _same_memory_is_the_same() -> Patched:
    return mock.patch.object(world, "same_bits", lambda one, other: one.shape == other.shape)


def _same_version_is_the_same() -> Patched:
    stand_in, versions = World._stand_in, dict[int, int]()

    def stood(self: World, tensor: Tensor, *, changed: bool) -> Any:
        stand = stand_in(self, tensor, changed=changed)
        for _, copy, _ in self._met.get(Geometry.of(tensor), ()):
            versions.setdefault(id(copy), tensor._version)
        return stand

    def same(copy: Tensor, tensor: Tensor) -> bool:
        return versions.get(id(copy)) == tensor._version

    return _both(mock.patch.object(World, "_stand_in", stood), mock.patch.object(world, "same_bits", same))


def _function(match: Callable[[Any, World, tuple[Any, ...]], bool], done: Callable[..., Any]) -> Patched:
    """Do something else where a function is called, before the follower sees it."""
    pass_on = WithoutValues.__torch_function__

    def called(self: WithoutValues, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if match(func, self._world, args):
            return done(*args, **(kwargs or {}))
        return pass_on(self, func, types, args, kwargs)

    return mock.patch.object(WithoutValues, "__torch_function__", called)


def _is_on_noted(function: Any) -> Callable[[Any, World, tuple[Any, ...]], bool]:
    def match(func: Any, own: World, args: tuple[Any, ...]) -> bool:
        return bool(func == function and isinstance(args[0], Tensor) and own.is_noted(args[0]))

    return match


def _data_not_set() -> Patched:
    return _function(_is_on_noted(SET_DATA), lambda *_: None)


def _copies_of_memory() -> Patched:
    def copied(tensor: Tensor, memo: dict[int, Any]) -> Any:
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            memo[id(tensor)] = tensor.detach().clone().requires_grad_(tensor.requires_grad)
        return memo[id(tensor)]

    def match(func: Any, own: World, args: tuple[Any, ...]) -> bool:
        return _is_on_noted(Tensor.__deepcopy__)(func, own, args) and type(args[0]) in (Tensor, torch.nn.Parameter)

    return _function(match, copied)


def _foreach_left_out() -> Patched:
    note = World._note

    def noted(self: World, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if func._opname.startswith("_foreach_") and func._schema.is_mutable:
            return None
        return note(self, func, args, kwargs)

    return mock.patch.object(World, "_note", noted)


def _shapes_after_the_call() -> Patched:
    record = World._record

    def recorded(self: World, func: Any, asked: Any, results: Any, given: list[Tensor], *rest: Any) -> None:
        now = {place.memory: place for place in map(Geometry.of, given)}

        def described(item: Any) -> Any:
            return now.get(item.memory, item) if isinstance(item, Geometry) else item

        record(self, func, world._mapped(asked, described), results, given, *rest)

    return mock.patch.object(World, "_record", recorded)


def _statistics_not_written(only: Callable[[], bool]) -> Patched:
    def written(func: Any, args: Any, kwargs: Any) -> list[Tensor]:
        if func._schema.name == "aten::native_batch_norm" and only():
            return []
        return written_by(func, args, kwargs)

    return mock.patch.object(world, "written_by", written)


def _passes_that_nobody_reads() -> Patched:
    operators = SimpleNamespace(native_batch_norm=SimpleNamespace(default=None))
    return mock.patch.object(draft, "_aten", operators)


def _cumulative_by_a_tenth() -> Patched:
    cumulative = aside._cumulative_batch_norm

    def tenth(momentum: Tensor, *args: Any) -> Tensor:
        return cumulative(torch.full_like(momentum, 0.1), *args)

    return mock.patch.object(aside, "_cumulative_batch_norm", tenth)


# What the script decides, draws and saves.


def _always(answer: bool) -> Patched:
    return mock.patch.object(Answers, "decide", return_value=answer)


def _answers_a_step_late() -> Patched:
    setter = Answers.step.fset  # type: ignore[attr-defined]

    def late(self: Answers, number: int) -> None:
        setter(self, max(number - 1, 1))

    return mock.patch.object(Answers, "step", Answers.step.setter(late))  # type: ignore[attr-defined]


def _generators_left_where_they_are() -> Patched:
    return mock.patch.object(Follower, "_settle_generators", return_value=None)


def _draws_not_drawn() -> Patched:
    return _both(
        mock.patch.object(world, "advance_generator", return_value=None),
        mock.patch.object(aside, "advance_generator", return_value=None),
    )


def _first_saved() -> Patched:
    put = Shelf.put

    def once(self: Shelf, what: Any, file: Any) -> None:
        if not self.has(file):
            put(self, what, file)

    return mock.patch.object(Shelf, "put", once)


def _saved_without_a_copy() -> Patched:
    def put(self: Shelf, what: Any, file: Any) -> None:
        self._kept[file_key(file)] = (what, file)

    return mock.patch.object(Shelf, "put", put)


def _refusals_swallowed() -> Patched:
    return mock.patch.object(Follower, "_check_refusal", return_value=None)


def _no_grad() -> bool:
    return not torch.is_grad_enabled()


OWN_PRE, OWN_POST = "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks"
ALL_PRE, ALL_POST = "_global_optimizer_pre_hooks", "_global_optimizer_post_hooks"

MUTANTS = (
    # What is written down of steps.
    Mutant("numbers of the first step", "a number is frozen", "losses/annealed", _numbers_of_the_first_step),
    Mutant("batches of the first step", "data are frozen", "loaders/cycle_forever", _batches_of_the_first_step),
    Mutant("without the first step", "the first step is missed", "loops/warm_up_step", lambda: _without(0)),
    Mutant("without the last step", "the last step is missed", "averages/ema_module", lambda: _without(-1)),
    Mutant(
        "no tail of best weights", "what follows the last step is left out", "early_stopping/best_in_memory", _no_tail
    ),
    Mutant(
        "no statistics of the tail",
        "a pass behind the last step is left out",
        "normalisation/running_loss_pass",
        _no_tail,
    ),
    Mutant(
        "until the update", "what follows an update in its step is left out", "averages/ema_module", _until_the_update
    ),
    Mutant("unclamped", "what follows an update in its step is left out", "in_place/data_clamped", _until_the_update),
    Mutant("nothing handed on", "what the next step reads is lost", "architectures/lstm_language", _nothing_handed_on),
    Mutant("loose left out", "averages of no module keep their first values", "averages/ema_list", _loose_left_out),
    Mutant(
        "parameters alone",
        "statistics that a pass moves are lost",
        "normalisation/batchnorm_cnn",
        lambda: _kept_without(_is_buffer),
    ),
    Mutant(
        "one model alone",
        "modules that are not trained are lost",
        "averages/every_other_step",
        lambda: _kept_without(_is_of_another),
    ),
    Mutant(
        "averages at nine tenths",
        "a tensor is changed before it becomes state",
        "averages/ema_module",
        _averages_at_nine_tenths,
    ),
    Mutant(
        "loss with penalties",
        "what is differentiated counts as loss",
        "several_models/gradient_penalty",
        _loss_with_penalties,
    ),
    Mutant("last loss alone", "a loss of several is lost", "losses/two_backwards", _last_loss_alone),
    # Optimizers.
    Mutant("rates of the first step", "a schedule is not followed", "schedules/cosine", _rates_of_the_first_step),
    Mutant("counts stay at one", "the count of a slot does not move", "freezing/bias_only", _bias_of_the_first_step),
    Mutant("slots by name", "a new optimizer goes on with old slots", "optimizers/adam_each_epoch", _slots_by_name),
    Mutant("slots of a shared encoder", "two optimizers share slots", "several_models/shared_encoder", _slots_by_name),
    Mutant(
        "entries not looked at", "cleared state is not seen", "optimizers/state_defaultdict", _entries_not_looked_at
    ),
    Mutant("entries by name", "loaded state is not seen", "checkpoints/rollback", _entries_by_name),
    Mutant("rule always", "cleared state is not seen", "optimizers/state_cleared", _rule_always),
    Mutant(
        "state kept as copies",
        "what the script writes to state is lost",
        "optimizers/state_reset_part",
        _state_kept_as_copies,
    ),
    Mutant(
        "renewed slots not written",
        "a slot that is made anew is stale",
        "optimizers/own_renewed_state",
        _adopted_without_writing,
    ),
    Mutant(
        "counts of the optimizer",
        "parameters have no counts of their own",
        "optimizers/adamw_unused",
        _counts_of_the_optimizer,
    ),
    Mutant("dampening by the rule", "a first momentum is dampened", "optimizers/sgd_dampening", _rule_always),
    Mutant("betas as they were", "a setting moves", "schedules/betas", lambda: _settings_without("betas")),
    Mutant("momentum as it was", "a setting moves", "schedules/momentum_ramp", lambda: _settings_without("momentum")),
    Mutant(
        "weight decay as it was", "a setting moves", "schedules/weight_decay", lambda: _settings_without("weight_decay")
    ),
    Mutant("state not kept", "the own step begins anew behind the rule", "schedules/momentum_ramp", _state_not_kept),
    Mutant(
        "pre-hooks not seen",
        "a hook is not called",
        "hooks/step_pre_hook",
        lambda: _hooks((OWN_POST, ALL_PRE, ALL_POST)),
    ),
    Mutant(
        "post-hooks not seen",
        "a hook is not called",
        "hooks/step_post_hook",
        lambda: _hooks((OWN_PRE, ALL_PRE, ALL_POST)),
    ),
    Mutant(
        "global pre-hooks not seen",
        "a hook is not called",
        "hooks/global_pre_hook",
        lambda: _hooks((OWN_PRE, OWN_POST, ALL_POST)),
    ),
    Mutant(
        "global post-hooks not seen",
        "a hook is not called",
        "hooks/global_optimizer_hook",
        lambda: _hooks((OWN_PRE, OWN_POST, ALL_PRE)),
    ),
    Mutant("slots not written", "a slot that is made is lost", "optimizers/adamw_each_phase", _adopted_without_writing),
    Mutant("plateau without effect", "a rate does not fall", "schedules/plateau", _plateau_without_effect),
    Mutant(
        "Trainer by its rule",
        "a hook is not called under Trainer",
        "trainer/optimizer_hook",
        _takeover_whatever_it_gives,
    ),
    Mutant(
        "Lightning by its rule",
        "accumulated batches are summed otherwise",
        "lightning/accumulated",
        _takeover_whatever_it_gives,
    ),
    Mutant("Trainer once", "a second phase is missed", "trainer/two_phases", _takeover_whatever_it_gives),
    Mutant(
        "Trainer without its past", "a run that goes on begins anew", "trainer/resumed", _takeover_whatever_it_gives
    ),
    # What is read, and what is written.
    Mutant(
        "one batch without grad",
        "batches fetched without grad are lost",
        "normalisation/running_loss_pass",
        _one_batch_without_grad,
    ),
    Mutant(
        "loaders without workers", "workers draw otherwise", "loaders/workers", lambda: _loader_without(num_workers=0)
    ),
    Mutant(
        "workers not told apart",
        "worker_init_fn is not called",
        "loaders/workers",
        lambda: _loader_without(worker_init_fn=None),
    ),
    Mutant(
        "same memory is the same",
        "what is written again is not seen",
        "accumulation/reused_buffer",
        _same_memory_is_the_same,
    ),
    Mutant(
        "same version is the same",
        "numpy writes without counting",
        "accumulation/numpy_buffer",
        _same_version_is_the_same,
    ),
    Mutant("data not set", "tensor.data = other does nothing", "in_place/data_replaced_midway", _data_not_set),
    Mutant("copies of memory", "a copy is of the first values", "checkpoints/rollback", _copies_of_memory),
    Mutant("foreach left out", "operators on lists are left out", "averages/averaged_model", _foreach_left_out),
    Mutant(
        "shapes after the call", "a tensor is transposed twice", "in_place/transposed_logits", _shapes_after_the_call
    ),
    Mutant(
        "statistics not written",
        "running statistics stay",
        "normalisation/running_loss_pass",
        lambda: _statistics_not_written(_no_grad),
    ),
    Mutant(
        "passes that nobody reads",
        "running statistics stay",
        "normalisation/train_mode_without_grad",
        _passes_that_nobody_reads,
    ),
    Mutant(
        "cumulative by a tenth", "momentum=None is taken for 0.1", "averages/bn_recalibrated", _cumulative_by_a_tenth
    ),
    # What the script decides, draws and saves.
    Mutant(
        "always no", "a decision by value is taken for a no", "early_stopping/halve_by_hand", lambda: _always(False)
    ),
    Mutant(
        "always yes",
        "a decision by value is taken for a yes",
        "early_stopping/curriculum_by_loss",
        lambda: _always(True),
    ),
    Mutant(
        "answers a step late",
        "answers are those of the step before",
        "early_stopping/halve_by_hand",
        _answers_a_step_late,
    ),
    Mutant(
        "generators left where they are",
        "what draws by value draws otherwise",
        "evaluation/sampled_counts",
        _generators_left_where_they_are,
    ),
    Mutant(
        "draws not drawn", "what is drawn behind a draw is another", "evaluation/uncertainty_first", _draws_not_drawn
    ),
    Mutant("first saved", "a file is loaded as it was saved first", "checkpoints/best_file_restored", _first_saved),
    Mutant(
        "saved without a copy",
        "a file is loaded as its tensors are now",
        "checkpoints/best_file_restored",
        _saved_without_a_copy,
    ),
    Mutant("refusals swallowed", "what the script swallows is left out", "losses/hard_or_all", _refusals_swallowed),
)


@contextmanager
def mutated(name: str) -> Iterator[None]:
    """Within, the follower is the mutant of a name; its frames count as the product's, not as the script's."""
    mutant = next(mutant for mutant in MUTANTS if mutant.name == name)
    with mock.patch.object(whereabouts, "_OWN", (*whereabouts._OWN, __file__)), mutant.patch():
        yield
