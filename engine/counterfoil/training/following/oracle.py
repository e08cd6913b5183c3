"""The script as its own oracle: what is ordered is held against what the script does, step by step.

Each step that is compared is executed as ordered, from the script's own state before it and with the numbers that the
script drew, and held against the script's own state after it: so nothing that training amplifies comes in between. How
many steps there are, what is called in each, the first state, and what is left in the end are compared, too. Whatever
differs is a refusal: no order is made of a script that does something else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from counterfoil.program.update.torchs import slots_of_torch
from counterfoil.program.whereabouts import in_brackets
from counterfoil.training.following.agreement import Difference, StepComparison, losses_agree
from counterfoil.training.following.calls import KEPT, same_bits
from counterfoil.training.following.plainprocess import PlainProcess
from counterfoil.training.following.plainreport import Border
from counterfoil.training.following.plainrun import OF_MODULE
from counterfoil.training.following.scriptdraws import UnmatchedDrawsError, align_draws
from counterfoil.training.following.survey import Survey
from counterfoil.training.order import OrderDraft
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError, ProgramError
from counterfoil_core.order.evaluation import NATS, SCORE, score_names
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.values.runfacts import NATS_BITS

_REMEDY = (
    "An order must do what the script does, so none was made. Order the steps before with --max-steps, or write that "
    "part in another way: docs/for-trainers.md#what-is-refused-and-what-to-do."
)
_SHOWN = 3
LOSS = "loss:"
"""Among the names of tensors, that of the number to which an evaluation adds its losses."""


@dataclass(frozen=True)
class Agreement:
    """What was compared, and found to be the same."""

    steps: tuple[int, ...]  #: Numbers of the steps, ascending.
    ordered: int  #: How many steps the order has.


def order_of_draft(draft: OrderDraft) -> LoadedOrder:
    """Return an order that is not written yet, ready to be executed."""
    return LoadedOrder(
        draft.manifest, draft.programs, draft.initial, draft.schedule, draft.scalars, draft.data, draft.updates
    )


def steps_to_compare(order: LoadedOrder, survey: Survey, rates: Sequence[object]) -> tuple[int, ...]:
    """Return which steps are compared: those that were surveyed, and the first of each program and each way on.

    Args:
        order: The order.
        survey: What the script did.
        rates: What else tells steps apart, for each step of the order: its learning rates and groups.
    """
    chosen = set(range(1, min(survey.steps, order.manifest.steps) + 1))
    met: set[object] = set()
    for step in range(1, order.manifest.steps + 1):
        kind = order.programs.of(step).digest
        moved = rates[step - 1] if step <= len(rates) else None
        for sign in (("program", kind), ("groups", moved)):
            if sign not in met:
                met.add(sign)
                chosen.add(step)
    return tuple(sorted(chosen))


class Oracle:
    """Compares an order with its script.

    Args:
        order: The order.
        survey: What the script did when it ran alone.
        calls: What the script called in each step where it was followed; None where a library's loop was taken over.
        sources: The names that the plain run has for tensors of the order's state, where they are others.
        tell: Is told how many steps were compared.
        cancel: Looked at between steps.
    """

    def __init__(
        self,
        order: LoadedOrder,
        survey: Survey,
        calls: Sequence[tuple[str, ...]] | None,
        sources: Mapping[str, str],
        tell: Callable[[int], None],
        cancel: CancelToken | None = None,
    ) -> None:
        self._survey = survey
        self._calls = calls
        self._sources = sources
        self._tell = tell
        self._cancel = cancel
        self._order = order
        self._initial = self._order.initial
        self._comparisons: dict[Digest, StepComparison] = {}
        self._carried = dict(self._initial)
        self._unset: set[str] = set()
        self._updated = frozenset(name for program in order.programs.all for name in program.updates)
        self.evaluates = bool(score_names(order.programs.all))
        """Whether the order is one of an evaluation, which ends with its last batch."""

    # What is known before anything is executed.

    def check_sequence(self) -> None:
        """Compare how many steps there are, and what is called in each.

        Raises:
            ProgramError: They differ.
        """
        survey, ordered = self._survey, self._order.manifest.steps
        survey.check()
        if survey.is_whole and survey.steps != ordered:
            raise _differs(
                f"The script makes {survey.steps} steps, and {ordered} would be ordered: where it is followed its "
                "steps end elsewhere, or it takes another way at a decision"
            )
        if not survey.is_whole and survey.steps > ordered:
            raise _differs(f"The script makes more than the {ordered} steps that would be ordered")
        if self._calls is None:
            return
        for number, (border, calls) in enumerate(zip(survey.borders[1:], self._calls, strict=False), start=1):
            if border.calls != calls:
                place = next((n for n, (a, b) in enumerate(zip(border.calls, calls, strict=False)) if a != b), -1)
                own = _call(border.calls, place if place >= 0 else min(len(border.calls), len(calls)))
                other = _call(calls, place if place >= 0 else min(len(border.calls), len(calls)))
                raise _differs(
                    f"In step {number} the script makes {len(border.calls)} calls that count, and {len(calls)} would "
                    f"be ordered: where it {own}, the order was made of a script that {other}"
                )

    # What is executed.

    def compare(self, process: PlainProcess, chosen: Sequence[int]) -> Agreement:
        """Compare steps with a script that runs at the same time, and waits at each border.

        Args:
            process: The script; it writes down its state before and after each of the steps.
            chosen: Their numbers, ascending.

        Raises:
            ProgramError: A step is another one, or the script does not do the same twice.
        """
        wanted, last = set(chosen), self._order.manifest.steps
        before: dict[str, Tensor] = {}
        held_back: tuple[int, dict[str, Tensor], dict[str, Tensor], Border] | None = None
        done = 0
        for border in process.borders():
            if self._cancel is not None:
                self._cancel.check()
            if border.is_end:
                if border.failure is not None:
                    raise DataError(
                        f"The script fails when it runs again, in another process and without a network: "
                        f"{border.failure.sentence}{in_brackets(border.failure.place)}.",
                        remedy="Let it use what it has fetched before, and nothing that is there once alone.",
                        detail=border.failure.detail,
                    )
                self._check_end(border, process, held_back)
                break
            number = border.number
            self._check_repeated(border)
            after = process.tensors(border) if border.state is not None else {}
            if number == 0:
                self._check_first(after)
            elif number in wanted:
                if number == last and self._survey.is_whole and not self.evaluates:
                    # What follows the last step may be a part of it.
                    held_back = (number, before, after, border)
                    self._draws = process.draws(border)
                else:
                    self._check_step(number, before, after, process.draws(border), border)
                done += 1
                self._tell(done)
            process.forget(number - 2)
            before = after
            if held_back is None and number >= chosen[-1]:
                break
        if done < len(chosen):
            raise _differs(
                f"The script made {done} of the {len(chosen)} steps that are compared when it ran again: it does not "
                "do the same twice"
            )
        return Agreement(tuple(chosen), last)

    def _check_repeated(self, border: Border) -> None:
        """Check that the script does twice what it does: the second time under another hash seed."""
        if border.number >= len(self._survey.borders):
            return
        first = self._survey.borders[border.number]
        if first.digest == border.digest and first.calls == border.calls:
            return
        drawn = next((a for a, b in zip(border.drawn, first.drawn, strict=False) if a != b), None)
        answer = next((a for a, b in zip(border.answers, first.answers, strict=False) if a != b), None)
        where = drawn[1] if drawn is not None else answer[0] if answer is not None else ""
        what = "draws other random numbers" if drawn is not None else "computes other values"
        raise ProgramError(
            f"The script does not do the same twice: in step {border.number} it {what} when it runs again in another "
            f"process, under another hash seed{f' ({where})' if where else ''}.",
            remedy="Seed what draws (random, numpy, torch, and generators of your own), go through names in an order "
            "of their own, for instance sorted(names) in the place of a set, and use neither clocks nor threads in "
            "what is trained.",
        )

    def _check_first(self, state: Mapping[str, Tensor]) -> None:
        for name, initial in self._initial.items():
            mine = state.get(self._key(name, state))
            if mine is None or mine.shape != initial.shape:
                continue
            if not same_bits(mine.to(initial.dtype), initial):
                raise _differs(
                    f"The order would begin with another {name!r} than the script does, which is changed past torch "
                    "before its first step, or in it"
                )

    def _check_step(
        self,
        number: int,
        before: Mapping[str, Tensor],
        after: Mapping[str, Tensor],
        draws: Sequence[tuple[str, Tensor]],
        border: Border,
    ) -> None:
        differences, losses = self._differences(number, before, after, draws)
        if differences:
            if self.evaluates:
                raise self._count_differs(number, differences[0], before, after)
            raise self._step_differs(number, differences, losses[0], border)
        self._check_loss(number, losses, border)

    def _count_differs(
        self, number: int, first: Difference, before: Mapping[str, Tensor], after: Mapping[str, Tensor]
    ) -> ProgramError:
        if not first.name.startswith(SCORE):
            return _differs(f"In step {number} the script changes {first.name!r}, which it scores")
        name = self._key(first.name, after) or first.name
        plain = name.removeprefix(SCORE)
        if name not in after:
            return _differs(
                f"In step {number} {plain!r} is a whole number in the order, and none in the script",
                "Say what the script calls the counts of the order: --counts counted=total,nats=loss_sum.",
            )
        if bool((after[name] < before.get(name, 0)).any()):
            return _differs(
                f"In step {number} the script begins to count {plain!r} anew, and an order has one sum of each count",
                "Order one evaluation at a time.",
            )
        own = ", ".join(map(str, (after[name] - before.get(name, 0)).reshape(-1)[:_SHOWN].tolist()))
        return _differs(
            f"In step {number} the script adds {own} to {plain!r}, and the order another number",
            "Begin each count at zero, and add to it what tensors of torch give: "
            "correct += (answers == labels).sum().item().",
        )

    def _check_loss(self, number: int, losses: tuple[float, float], border: Border) -> None:
        """Compare the loss of a step that was followed; what a library's loop goes back through it weighs by itself."""
        own = self._loss_of(border)
        if (self._calls is not None or self.evaluates) and own is not None and not losses_agree(own, *losses):
            does = "adds" if self.evaluates else "goes back through"
            raise _differs(
                f"Step {number} would be ordered with the loss {losses[0]:.6g}, and the script {does} {own:.6g}"
            )

    def _loss_of(self, border: Border) -> float | None:
        """The script's own loss of a step; None where it has none."""
        if self.evaluates:
            return dict(border.sums).get(self._sources.get(LOSS, ""))
        return math.fsum(border.losses) if border.losses else None

    def _differences(
        self,
        number: int,
        before: Mapping[str, Tensor],
        after: Mapping[str, Tensor],
        draws: Sequence[tuple[str, Tensor]],
    ) -> tuple[list[Difference], tuple[float, float]]:
        program = self._order.programs.of(number)
        if program.digest not in self._comparisons:
            self._comparisons[program.digest] = StepComparison(program)
        comparison = self._comparisons[program.digest]
        state: dict[str, Tensor] = {}
        mine: dict[str, Tensor] = {}
        for name, initial in self._initial.items():
            key = self._key(name, before, after)
            own = before.get(key)
            # What the script does not hold then is what the order holds: a slot that is not made yet, or is hidden.
            if self._is_unset(number, name, key, before, after, comparison):
                state[name] = self._carried[name]
                continue
            fits = own is not None and own.numel() == initial.numel()
            state[name] = own.to(initial.dtype).reshape(initial.shape) if fits else self._carried[name]  # type: ignore[union-attr]
            # What an order keeps as it found it, and is no model's, is a log that nobody reads.
            if key in after and (name in self._updated or not name.startswith(KEPT)):
                mine[name] = after[key]
        try:
            numbers = align_draws(program, draws)
        except UnmatchedDrawsError as error:
            raise _differs(f"In step {number} {error}") from error
        inputs = self._order.inputs(number, state)
        differences, result, single = comparison.differences(inputs, numbers, mine)
        if self.evaluates:
            # A count that the script does not hold as one; a sum of losses is compared as the loss is.
            nats = {NATS} if self._sources.get(LOSS) and _sums_up(result.loss, state, result.state) else set[str]()
            lost = self._updated - mine.keys() - nats
            differences += [Difference(name, math.inf, 0.0, 0.0, "") for name in sorted(lost)]
        foreign = [
            name.removeprefix(OF_MODULE)
            for name in after
            if name.startswith(OF_MODULE)
            and name.removeprefix(OF_MODULE) not in self._initial
            and name in before
            and self._survey.holds(name.removeprefix(OF_MODULE))
            and not (before[name].shape == after[name].shape and same_bits(before[name], after[name]))
        ]
        if foreign:
            raise _differs(f"In step {number} the script changes {foreign[0]!r}, which the order does not hold")
        self._carried |= {**state, **result.state, **{n: t for n, t in mine.items() if t.shape == state[n].shape}}
        return differences, (result.loss, single)

    def _is_unset(
        self,
        number: int,
        name: str,
        key: str,
        before: Mapping[str, Tensor],
        after: Mapping[str, Tensor],
        comparison: StepComparison,
    ) -> bool:
        """Whether the script has put a tensor where the order has another, and no step of the order has given it since.

        Raises:
            ProgramError: The step reads it.
        """
        updated = name in comparison.program.updates
        if key in after and key not in before and not updated:
            mine = after[key].to(self._initial[name].dtype)
            if mine.numel() != self._carried[name].numel() or not same_bits(
                mine.reshape(-1), self._carried[name].reshape(-1)
            ):
                self._unset.add(name)
        if name not in self._unset:
            return False
        if name in comparison.reads and key in before:
            raise _differs(f"In step {number} the order reads {name!r}, which the script has put there itself")
        if updated:
            self._unset.discard(name)
        return not updated

    def _check_end(
        self,
        end: Border,
        process: PlainProcess,
        last: tuple[int, dict[str, Tensor], dict[str, Tensor], Border] | None,
    ) -> None:
        """Compare the last step with what is left when the script has ended."""
        if last is None:
            return
        number, before, after, border = last
        left = process.tensors(end) if end.state is not None else after
        differences, losses = self._differences(number, before, left, self._draws)
        if not differences:
            self._check_loss(number, losses, border)
            return
        own: list[Difference] = []
        if end.digest != border.digest:
            own, _ = self._differences(number, before, after, self._draws)
        same = [one.number for one in self._survey.borders[:-1] if one.models == end.models]
        if same or (end.digest != border.digest and not own):
            raise self._end_differs(differences, same)
        raise self._step_differs(number, differences, losses[0], border)

    def _end_differs(self, differences: Sequence[Difference], same: Sequence[int]) -> ProgramError:
        names = _listed([difference.name for difference in differences])
        if same:
            return _differs(
                f"The script puts its models back after its last step, into their state after step {same[-1]}, and an "
                "order ends with what its last step gives",
                f"Order that state: --max-steps {same[-1]}.",
            )
        return _differs(
            f"The script changes {names} after its last step, and an order ends with its last step",
            "Do it before the last step ends, or with the weights that the run gives (docs/delivered-weights.md).",
        )

    def _step_differs(
        self, number: int, differences: Sequence[Difference], loss: float, border: Border
    ) -> ProgramError:
        first = max(differences, key=lambda difference: difference.size / max(difference.allowed, 1e-300))
        more = f"; so do {len(differences) - 1} more tensors" if len(differences) > 1 else ""
        where = border.written.get(self._key(first.name, border.written), "")
        own = math.fsum(border.losses)
        same = math.isfinite(own) and abs(own - loss) <= 1e-3 * max(abs(own), 1e-3)
        cause = (
            "The loss is the same in both: so the gradients differ, or what the optimizer makes of them does"
            if same
            else f"The loss differs already, {own:.6g} by itself and {loss:.6g} as ordered: so the batch, or what the "
            "model makes of it, is another"
        )
        settings = self._settings_of(number)
        return _differs(
            f"Step {number} would be ordered as another one than the script makes"
            f"{f' ({where})' if where else ''}: {first.sentence}{more}. {cause}{settings}"
        )

    def _settings_of(self, number: int) -> str:
        """Say of an optimizer whose settings have changed since the first step that they have."""
        borders = self._survey.borders
        if not 1 < number < len(borders):
            return ""
        first = {update.optimizer: update.settings for update in borders[1].updates}
        now = {update.optimizer: update.settings for update in borders[number].updates}
        moved = [n for n, text in now.items() if n in first and _without_rates(text) != _without_rates(first[n])]
        return ". A setting of its optimizer other than the rate has changed since the first step" if moved else ""

    def _key(self, name: str, *places: Mapping[str, object]) -> str:
        """Return what the plain run calls a tensor of the order's state."""
        if name in self._sources:
            return self._sources[name]
        if name.startswith((KEPT, SCORE)):
            return name
        slot, colon, parameter = name.partition(":")
        if not colon:
            return OF_MODULE + name
        # Of an optimizer that shares a parameter with one before the name says which it is, from 1.
        number, dot, plain = slot.partition(".")
        shared = bool(dot) and number[1:].isdigit()
        slot, wanted = (plain, str(int(number[1:]) - 1)) if shared else (slot, "")
        for place in places:
            for key in place:
                optimizer, _, rest = key.partition("|")
                owner, _, kept = rest.rpartition("|")
                if owner == parameter and wanted in ("", optimizer) and (kept == slot or slot in slots_of_torch(kept)):
                    return key
        return ""


def sources_of_counts(counts: Mapping[str, str]) -> dict[str, str]:
    """Return what the plain run calls scores, by their names in an order.

    Args:
        counts: What the script calls them, by what the order does; the number that adds up losses is no count there.
    """
    found = {f"{SCORE}{ours}": f"{SCORE}{theirs}" for ours, theirs in counts.items()}
    return found | {NATS: "", LOSS: found[NATS].removeprefix(SCORE)} if NATS in found else found


def _sums_up(loss: float, before: Mapping[str, Tensor], after: Mapping[str, Tensor]) -> bool:
    """Whether a step adds its loss to the sum of losses, to a unit."""
    return NATS in after and abs(int(after[NATS] - before[NATS]) - round(loss * 2**NATS_BITS)) <= 1


def _without_rates(settings: str) -> str:
    return ",".join(part for part in settings.split(",") if "lr" not in part)


def _call(calls: Sequence[str], place: int) -> str:
    if place >= len(calls):
        return "has ended its step"
    call, _, number = calls[place].partition(" ")
    words = {
        "fetch": "asks a loader for a batch",
        "run": "calls a model",
        "clear": "clears gradients",
        "backward": "calls backward()",
        "update": f"lets optimizer {int(number or 0) + 1} make its step",
    }
    return words.get(call, call)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:_SHOWN]))
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _differs(sentence: str, remedy: str = _REMEDY) -> ProgramError:
    return ProgramError(f"{sentence}.", remedy=remedy)
