"""The steps that a script has made so far: what counts of each, and what they brought along."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

from counterfoil.program import whereabouts
from counterfoil.program.asked import Again
from counterfoil.program.asked.numbers import REMEDY
from counterfoil.training.following.layout import Made
from counterfoil.training.following.rows import Pool
from counterfoil.training.following.steps import Geometry, Memory, Step, Tape, Update, tape_of
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.bundle.schema import MAX_PROGRAMS


@dataclass(frozen=True)
class Variant:
    """One of a script's different steps."""

    tape: Tape  #: What the first such step did.
    dtypes: tuple[torch.dtype, ...]  #: The dtypes of the tensors that it brought along.
    kept: Step  #: Keeps what stood for its tensors, as memory tells them apart.


@dataclass(frozen=True)
class _Waiting:
    """The last step, of which the next may still read something."""

    step: Step
    tape: Tape


HELD = "held."
"""What the names of tensors begin with that a step makes, and one behind the next reads."""
_MOST_ANEW = 16
"""So often a script is followed anew since more of what it makes lasts."""
Birth = tuple[str, str, tuple[int, ...]]
"""Where a tensor was made: file and line, operator and shape."""


@dataclass
class Lasting:
    """What later steps of a script were seen to read, so that it is followed anew with it as state."""

    names: set[str] = field(default_factory=set)  #: Names of tensors of no module.
    #: Where tensors are made that are read behind the next step, each with its number.
    places: dict[Birth, int] = field(default_factory=dict)
    _anew: int = 0

    def add(self, names: Iterable[str], places: Iterable[Birth]) -> bool:
        """Take in more; whether any of it is new."""
        before = len(self.names) + len(self.places)
        self.names.update(names)
        for place in places:
            self.places.setdefault(place, len(self.places))
        self._anew += 1
        return len(self.names) + len(self.places) > before and self._anew <= _MOST_ANEW


class TakenSteps:
    """The steps that a script has made.

    Args:
        lasting: What later steps were seen to read; grows.

    Attributes:
        made: The steps whose program is known.
        calls: What the script called in each, as texts.
        variants: The different steps by what tells them apart.
        pool: What they brought along.
        carried: What steps hand to the next that is no state: zeros of its shape, in order.
    """

    def __init__(self, lasting: Lasting) -> None:
        self._lasting = lasting
        self._births: Mapping[Memory, Birth] = {}
        self._left_out: set[str] = set()
        self._waiting: _Waiting | None = None
        self.made: list[Made] = []
        self.calls: list[tuple[str, ...]] = []
        self.variants: dict[str, Variant] = {}
        self.pool = Pool()
        self.carried: list[Tensor] = []

    def __len__(self) -> int:
        """How many steps were made."""
        return len(self.made) + (self._waiting is not None)

    def take(
        self,
        step: Step,
        births: Mapping[Memory, Birth],
        kept: frozenset[str],
        called: Sequence[str] = (),
    ) -> None:
        """Take a step that the script has made.

        Args:
            step: The step.
            births: Where each memory was made.
            kept: Names of the state whose new value counts.
            called: What the script called in it, as texts.

        Raises:
            ProgramError: It does what a program cannot.
            Again: The script must be followed anew, with more that lasts.
        """
        tape = tape_of(step, kept)
        _check(tape)
        self._births = births
        late = tape.read & self._left_out
        if late and self._lasting.add(late, ()):
            # What was left out of the steps before, as nobody seemed to read it, counts after all.
            raise Again
        self._left_out |= step.written.keys() - set(tape.written)
        if tape.carried:
            self._check_carried(step, tape, births)
        self._settle(tape.carried, kept)
        self._waiting = _Waiting(step, tape)
        self.calls.append(tuple(called))

    def end(
        self, kept: frozenset[str], behind: Step | None = None, births: Mapping[Memory, Birth] | None = None
    ) -> None:
        """Settle the last step: there is none that reads of it.

        Args:
            kept: Names of the state whose new value counts.
            births: Where each memory was made.
            behind: What the script did behind it, which becomes a part of it where it changes what counts.
        """
        waiting = self._waiting
        if behind is not None and waiting is not None and not kept.isdisjoint(behind.written):
            step = waiting.step.joined(behind)
            # What no program can do stays out of it: whether that matters is seen where the script is compared.
            with suppress(ProgramError):
                tape = tape_of(step, kept)
                _check(tape)
                if tape.carried == waiting.tape.carried:
                    self._waiting = _Waiting(step, tape)
                elif self._lasting.add((), [births[p.memory] for p in tape.carried if births and p.memory in births]):
                    raise Again
        self._settle((), kept)

    def _check_carried(self, step: Step, tape: Tape, births: Mapping[Memory, Birth]) -> None:
        before = self._waiting
        lost = [item for item in tape.carried if before is None or item.memory not in before.step.known]
        if lost and self._lasting.add((), [births[item.memory] for item in lost if item.memory in births]):
            raise Again
        if lost:
            raise _lost(step, lost[0])
        shapes = [(item.shape, item.dtype) for item in tape.carried]
        known = [(tuple(zeros.shape), str(zeros.dtype)) for zeros in self.carried]
        if any(one != other for one, other in zip(shapes, known, strict=False)):
            place = step.carried[tape.carried[0].memory][2]
            raise ProgramError(
                "A step of the script uses what the step before computed, and of another shape than in other steps"
                f"{whereabouts.in_brackets(place)}.",
                remedy=_KEEP,
            )
        with _disable_current_modes():
            for shape, dtype in shapes[len(known) :]:
                self.carried.append(torch.zeros(shape, dtype=getattr(torch, dtype.removeprefix("torch."))))

    def _settle(self, handed: tuple[Geometry, ...], kept: frozenset[str]) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return
        step = waiting.step
        tape = tape_of(step, kept, handed) if handed else waiting.tape
        # What leads to what is handed on may itself have been handed on: the step before has not given that.
        late = [place for place in tape.carried if place not in waiting.tape.carried]
        if late:
            if self._lasting.add((), [self._births[p.memory] for p in late if p.memory in self._births]):
                raise Again
            raise _lost(step, late[0])
        with _disable_current_modes():
            brought = tuple(self.pool.put(step.met[item.memory][1], "a tensor of the script") for item in tape.met)
        if tape.key not in self.variants:
            dtypes = tuple(step.met[item.memory][1].dtype for item in tape.met)
            self.variants[tape.key] = Variant(tape, dtypes, step)
            self._check_variants()
        variant = list(self.variants).index(tape.key)
        numbers = tuple(step.numbers[index] for index in tape.used)
        updates = [event for event in tape.events if isinstance(event, Update)]
        calls, rates = tuple(event.call for event in updates), tuple(event.rates for event in updates)
        self.made.append(Made(variant, brought, numbers, calls, rates))

    def _check_variants(self) -> None:
        if len(self.variants) <= MAX_PROGRAMS:
            return
        first, *_, last = (key.splitlines() for key in self.variants)
        tape = list(self.variants.values())[-1].tape
        number = next((n for n, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), 0)
        place = tape.events[min(number, len(tape.events) - 1)].place[2]
        raise ProgramError(
            f"The script's steps are of more than {MAX_PROGRAMS} kinds: they differ in shapes, whole numbers or "
            f"operators{whereabouts.in_brackets(place)}.",
            remedy="Bring all batches to a few shapes, for instance by padding to one length, or order fewer steps "
            "(--max-steps).",
        )


_KEEP = "Keep it as a buffer of a module (register_buffer), or compute it again."


def _lost(step: Step, item: Geometry) -> ProgramError:
    """The refusal of what was computed too long ago."""
    place = step.carried[item.memory][2] if item.memory in step.carried else ""
    return ProgramError(
        "A step of the script uses what an earlier step than the last computed, and that is another thing each time"
        f"{whereabouts.in_brackets(place)}.",
        remedy=_KEEP,
    )


def _check(tape: Tape) -> None:
    if not tape.losses:
        raise ProgramError(
            "A step of the script changes parameters, and calls backward() nowhere.",
            remedy="Compute gradients with loss.backward(); what changes weights by hand has to stand in a step that "
            "an optimizer makes.",
        )
    if tape.asked:
        raise ProgramError(
            "A step of the script takes a number out of a tensor and computes with it, which a program cannot: it "
            f"was asked for at {tape.asked[0]}, and reaches the loss.",
            remedy=REMEDY,
        )
