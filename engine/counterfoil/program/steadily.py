"""Tracing of a step that is the same at every moment: what a step hangs on besides its inputs is found and refused.

A step is traced once for its program, and again at another moment and on other branches, to be compared
(:mod:`counterfoil.program.steadiness`, :mod:`counterfoil.program.steadily`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, fx, nn

from counterfoil.program import remedies, tracing
from counterfoil.program.asked import Again, AskedValues, PlainNames
from counterfoil.program.attribution import META_KEY, Location
from counterfoil.program.clientstate import Reached, Snapshot
from counterfoil.program.decisions import Decisions
from counterfoil.program.lowering import lower
from counterfoil.program.remedies import NoFormError, Notes
from counterfoil.program.statetensors import DTYPE_NAMES, Held
from counterfoil.program.steadiness import (
    at_another_moment,
    check_drew_nothing,
    check_same,
    first_difference,
    generators_kept,
    moments_asked,
    positions,
)
from counterfoil.program.whereabouts import in_brackets
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.program.graph import BUFFER, Input, Program
from counterfoil_core.program.torchdtypes import TORCH_DTYPES

# Where a step asks for the truth of a value that it does not have: both answers are tried. A step may look at values
# for a log: the best loss so far, a count of right answers. It is traced with the answer False everywhere, with True at
# one place after the other, and with True everywhere; a place is a line of code. Where all of these are the same
# program the answers do not matter. Else the step decides what it computes by values, which a program cannot.

MOST_ALONE = 8
"""Places that are answered True one by one; further ones only together with all others."""
_MOST_ASKED = 10_000
"""So often one place may be answered True in one trace: a loop that waits for False would not end."""


class Answers:
    """Answers of one trace.

    Args:
        true: Places that are answered True; None for all.

    Attributes:
        places: The places that were asked, in their order, each with what a sentence about it begins with.
    """

    def __init__(self, true: Collection[str] | None = ()) -> None:
        self._true = true
        self._asked: Counter[str] = Counter()
        self.places: dict[str, str] = {}

    def decide(self, place: str, begin: str) -> bool:
        """Answer one place.

        Args:
            place: File and line.
            begin: What a sentence about it begins with.

        Raises:
            NoFormError: It asks again and again.
        """
        self.places.setdefault(place, begin)
        answer = self._true is None or place in self._true
        self._asked[place] += answer
        if self._asked[place] > _MOST_ASKED:
            raise NoFormError(
                "decides control flow by the values of a tensor, again and again, which a program cannot",
                remedy=remedies.BRANCH,
            )
        return answer


def check_branches(one: fx.GraphModule, places: Mapping[str, str], trace: Callable[[Answers], fx.GraphModule]) -> None:
    """Check that a step is the same program whatever it is answered.

    Args:
        one: The step with every answer False.
        places: The places that were asked then, as in :class:`Answers`.
        trace: Traces it with other answers.

    Raises:
        ProgramError: It is another one, or cannot be captured; the message names file and line of the question.
    """
    if not places:
        return
    known, tried = dict(places), 0
    while tried < min(len(known), MOST_ALONE):
        place = list(known)[tried]
        known = {**known, **_check(one, place, known[place], Answers({place}), trace)}
        tried += 1
    if len(known) > 1:
        place = list(known)[-1]
        _check(one, place, known[place], Answers(None), trace)


def _check(
    one: fx.GraphModule, place: str, begin: str, answers: Answers, trace: Callable[[Answers], fx.GraphModule]
) -> Mapping[str, str]:
    """Check one trace, and return the places that it asked."""
    detail = ""
    try:
        if first_difference(one, trace(answers)) is None:
            return answers.places
    except ProgramError as error:
        detail = error.sentence
    raise ProgramError(
        f"{begin} decides control flow or a shape by the values of a tensor, which a program cannot"
        f"{in_brackets(place)}.",
        remedy=remedies.at_place(place),
        detail=detail,
    )


Named = Mapping[tuple[str, str], Tensor]
"""The inputs of a step by kind and name."""


@dataclass(frozen=True)
class Surroundings:
    """What a step that is being traced is watched by."""

    location: Location  #: Is told what is computed, and where.
    decisions: Decisions  #: Notes what the step decides by values.
    asked: AskedValues  #: Answers what it asks of values that are not known.
    notes: Notes  #: Is told what was left out.


@dataclass(frozen=True)
class Results:
    """What a step gives."""

    loss: Tensor  #: The loss.
    state: Mapping[str, Tensor]  #: The new state by name.
    #: What is combined with that of the other shares, by name.
    combined: Mapping[str, Tensor] = field(default_factory=dict)


Step = Callable[[Named, Surroundings], Results]
"""A step as a function of its inputs, which is called with fake tensors."""


class Tracer:
    """Makes programs of steps that run a client's code, and leaves that as it was.

    Args:
        model: The client's model.
        objective: The client's objective.
        held: What a step starts from.
        exact: The exact profile that they are for; None for one that rounds.
        ignore_autocast: Whether ``torch.autocast`` is without effect; else it is refused.
    """

    def __init__(
        self,
        model: nn.Module,
        objective: Callable[..., Any],
        held: Held,
        *,
        exact: ExactPrecision | None,
        ignore_autocast: bool,
    ) -> None:
        self._held = held
        self._exact = exact
        self._ignore_autocast = ignore_autocast
        self._kept, self._reached = Snapshot(model), Reached(objective, model)
        self._names = PlainNames()
        self.notes = Notes()
        """What was left out of the client's code."""
        self.constants: dict[str, Tensor] = {}
        """Constants that the programs read as state, by the names that they got."""

    def program(self, step: Step, inputs: Sequence[Input]) -> Program:
        """Return the program of a step.

        Args:
            step: The step.
            inputs: Its inputs, state first, sorted by name.

        Raises:
            ProgramError: It uses an operator outside the allow-list, values decide its control flow, it holds what
                cannot be captured, or it is not the same at another moment; the message names the module, or the line.
        """
        with generators_kept(), moments_asked() as asked:
            try:
                before = positions()
                traced = self._trace(step, inputs, again=False)
                check_drew_nothing(before, lambda: self._trace(step, inputs))
                moments = asked()
                for number in range(1, moments.count + 1):
                    with at_another_moment(number):
                        check_same(traced.written, self._trace(step, inputs).written, META_KEY, moments)
                check_branches(
                    traced.written,
                    traced.answers.places,
                    lambda answers: self._trace(step, inputs, answers).written,
                )
            finally:
                self._kept.restore()
                self._reached.restore()
        assert traced.pure is not None
        program, constants = lower(
            traced.pure,
            tuple(inputs),
            traced.state,
            META_KEY,
            DTYPE_NAMES,
            self._held.storages,
            single=self._exact is not None,
            combined_names=traced.combined,
            taken=self.constants,
        )
        changed = {*program.updates, *(name.removeprefix(BUFFER) for name in program.combined)}
        for name in sorted(traced.decisions.relied_on & changed):
            raise ProgramError(
                f"The step decides control flow or a shape by the values of the buffer {name!r}, and changes them.",
                remedy="A program does the same in every step: choose with torch.where, and keep shapes fixed.",
            )
        self.constants |= constants
        return program

    def _trace(
        self, step: Step, inputs: Sequence[Input], answers: Answers | None = None, *, again: bool = True
    ) -> _Traced:
        """Trace a step; ``again`` where it is only compared."""
        location = Location()
        decisions = Decisions(location.at_line, self._held.storages)
        answers = answers or Answers()
        asked = AskedValues(
            lambda place, _: answers.decide(place, location.sentence),
            self._names,
            known=decisions.knows,
            hold=decisions.hold,
        )
        around = Surroundings(location, decisions, asked, self.notes)
        try:
            return self._traced(step, inputs, around, answers, again=again)
        except Again:
            return self._trace(step, inputs, answers, again=again)
        finally:
            # What a run left behind is fake; but whether it is read by the next one must be seen there.
            self._kept.settle(decisions.knows)
            self._reached.settle()

    def _traced(
        self, step: Step, inputs: Sequence[Input], around: Surroundings, answers: Answers, *, again: bool
    ) -> _Traced:
        state, steady = self._held.state, self._held.steady
        new: list[str] = []
        combined: list[str] = []

        def flat(*values: Tensor) -> list[Tensor]:
            for item, value in zip(inputs, values, strict=True):
                if item.kind == "state" and item.name in steady:
                    around.decisions.know(item.name, value, state[item.name])
            with around.decisions:
                results = step(dict(zip([(item.kind, item.name) for item in inputs], values, strict=True)), around)
            new[:], combined[:] = list(results.state), list(results.combined)
            return [results.loss, *results.state.values(), *results.combined.values()]

        surroundings = tracing.without_values(ignore_autocast=self._ignore_autocast, notes=self.notes)
        with tracing.explain_errors(around.location), surroundings as mode:
            examples = [
                mode.from_tensor(state[item.name])
                if item.kind == "state"
                else torch.empty(item.type.shape, dtype=TORCH_DTYPES[item.type.dtype])
                for item in inputs
            ]
            traced = tracing.trace_in_place(flat, examples, exact=self._exact)
            pure = None if again else tracing.without_mutations(traced, examples, exact=self._exact)
        return _Traced(traced, pure, new, combined, around.decisions, answers)


@dataclass(frozen=True)
class _Traced:
    """A step that was traced."""

    written: torch.fx.GraphModule  #: As it is written, with what it changes in place.
    pure: torch.fx.Graph | None  #: Without mutations; None where it was traced only to be compared.
    state: list[str]  #: Names of the state that it gives, in their order.
    combined: list[str]  #: Names of what is combined, in their order.
    decisions: Decisions  #: What it decided by values.
    answers: Answers  #: What it was answered where it asked for values.
