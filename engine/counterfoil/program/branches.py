"""Where a step asks for the truth of a value that it does not have: both answers are tried.

A step may look at values for a log: the best loss so far, a count of right answers. It is traced with the answer False
everywhere, with True at one place after the other, and with True everywhere; a place is a line of code. Where all of
these are the same program the answers do not matter. Else the step decides what it computes by values, which a program
cannot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping

from torch import fx

from counterfoil.program import remedies
from counterfoil.program.noform import NoFormError
from counterfoil.program.steadiness import first_difference
from counterfoil.program.whereabouts import in_brackets
from counterfoil_core.base.errors import ProgramError

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
