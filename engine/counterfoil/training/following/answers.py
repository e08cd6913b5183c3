"""What a script asks of values while it is followed without any: answered as it was when it ran with values.

A decision that hangs on a value becomes a part of the order, with its reason, in the steps in which the script was seen
to decide. Beyond them nobody knows what it would do, and the order ends there, unless the client says what to take.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import Any

from counterfoil.program.whereabouts import in_brackets
from counterfoil.training.following.survey import Survey
from counterfoil.training.scripts.workfolder import script_line
from counterfoil_core.base.errors import DataError, ProgramError

_MOST_ASKED = 100_000
"""So often one line may ask for a value that nobody knows: a loop that waits for a yes would not end."""
_SHOWN = 5
_YES = {"yes": True, "no": False}


def parse_answers(texts: Sequence[str]) -> dict[str, bool]:
    """Read what a client answers where nobody has seen a script decide.

    Args:
        texts: ``yes`` or ``no`` for every line, or ``train.py:42=yes`` for one.

    Returns:
        The answers by line, ``name.py:number``; the one for all under an empty text.

    Raises:
        DataError: One is none of these.
    """
    found = {}
    for text in texts:
        line, _, answer = text.rpartition("=")
        if answer not in _YES or (line and not line.rpartition(":")[2].isdigit()):
            raise DataError(
                f"{text!r} is no answer.", remedy="Say yes or no, or for one line alone: --answer train.py:42=yes."
            )
        found[line] = _YES[answer]
    return found


class Answers:
    """Answers what is asked while a script is followed.

    Args:
        survey: What the script did where it ran with values.
        given: What the client answers where nobody has seen that, by line; for all under an empty text.

    Attributes:
        step: The step that is followed, from 1.
    """

    def __init__(self, survey: Survey, given: Mapping[str, bool]) -> None:
        self._survey = survey
        self._given = given
        self._step = 1
        self._left: defaultdict[str, deque[Any]] = defaultdict(deque)
        self._decided: dict[str, list[tuple[int, bool]]] = defaultdict(list)
        self._left_out: set[str] = set()
        self._asked: Counter[str] = Counter()
        self._by_client: dict[str, tuple[bool, int]] = {}
        self.step = 1

    @property
    def step(self) -> int:
        """The step that is followed, from 1."""
        return self._step

    @step.setter
    def step(self, number: int) -> None:
        self._step = number
        self._left = defaultdict(deque)
        survey = self._survey
        border = survey.borders[number] if number < len(survey.borders) else survey.end
        for place, value in () if border is None else border.answers:
            self._left[place].append(value)

    def take(self, place: str) -> Any:
        """Return the answer to the next question at a place in this step; None where nobody knows it.

        Args:
            place: File and line.
        """
        waiting = self._left[place]
        return waiting.popleft() if waiting else None

    def decide(self, place: str, answer: Any) -> bool:
        """Return what the script decides at a place.

        Args:
            place: File and line.
            answer: The value that it asks for the truth of; None where nobody knows it.

        Raises:
            ProgramError: Nobody has seen that, and the client does not say.
        """
        if answer is None:
            return self._of_client(place)
        self._decided[place].append((self._step, bool(answer)))
        return bool(answer)

    def _of_client(self, place: str) -> bool:
        self._asked[place] += 1
        if self._asked[place] > _MOST_ASKED:
            raise ProgramError(
                f"The script decides by a value of the training{in_brackets(place)} again and again.",
                remedy="Repeat a known number of times.",
            )
        file, _, number = place.rpartition(", line ")
        given = self._given.get(f"{os.path.basename(file)}:{number}", self._given.get(""))
        if given is None:
            raise self._unseen(place, f"--answer {os.path.basename(file)}:{number}=no")
        self._by_client.setdefault(place, (given, self._step))
        return given

    def _unseen(self, place: str, answer: str) -> ProgramError:
        """The refusal of a decision that nobody has seen."""
        seen, step = self._survey.steps, self._step
        # A library's line lies in no folder of the client's.
        caller = script_line() if os.path.isabs(place) else ""
        where = place if caller in ("", place) else f"{place}, called at {caller}"
        what = f"The script decides by a value of the training{in_brackets(where)}"
        before = f"Order the steps before (--max-steps {step - 1}), or say" if step > 1 else "Say"
        if not seen:
            return ProgramError(
                f"{what}, and nobody has seen how: an order says beforehand what is done.",
                remedy=f"Let it be compared (leave out --compare 0), or say what to take: {answer}.",
            )
        if step > seen:
            return ProgramError(
                f"{what} in step {step}, beyond the {seen} steps that it was seen to make.",
                remedy=f"See it make more (--compare {max(2 * seen, step)}). {before} what to take: {answer}.",
            )
        return ProgramError(
            f"{what} in step {step}, and nobody saw how when it ran by itself: it asks a number that it took out of a "
            "tensor before, or what it computes is another.",
            remedy="If its data come from its model, as in reinforcement learning, order one round (docs/rollouts.md). "
            f"{before} what to take: {answer}.",
        )

    def leave_out(self, place: str) -> None:
        """Say nothing of what is decided at a place: somebody else does.

        Args:
            place: File and line.
        """
        self._left_out.add(place)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was decided, for the client."""
        said = [_decided(place, taken) for place, taken in self._decided.items() if place not in self._left_out]
        said += [
            f"The script decides by a value of the training{in_brackets(place)}: answered {'yes' if given else 'no'} "
            f"from step {step} on, as you said."
            for place, (given, step) in self._by_client.items()
        ]
        return tuple(said)


def _decided(place: str, taken: Sequence[tuple[int, bool]]) -> str:
    """One sentence on all decisions of a line, with the steps of the rarer answer."""
    yes = list(dict.fromkeys(step for step, truth in taken if truth))
    no = list(dict.fromkeys(step for step, truth in taken if not truth))
    what = f"The script decides by a value of the training{in_brackets(place)}, as it did when it ran by itself"
    if not yes or not no:
        return f"{what}: {'true' if yes else 'not true'} each time, {len(taken)} in all."
    if set(yes) == set(no):
        return f"{what}: both ways in {'each' if len(yes) > 1 else 'the'} step, {len(taken)} in all."
    rare, word, other = (yes, "true", "not") if len(yes) <= len(no) else (no, "not true", "true")
    shown = ", ".join(map(str, rare[:_SHOWN])) + (f" and {len(rare) - _SHOWN} more" if len(rare) > _SHOWN else "")
    return f"{what}: {word} in step{'s' * (len(rare) > 1)} {shown}, else {other}."
