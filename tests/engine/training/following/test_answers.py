"""What a script asks of values is answered as it was seen to decide, and beyond that by the client or by nobody."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from counterfoil.training.following.answers import Answers, parse_answers
from counterfoil.training.following.plainreport import Border
from counterfoil.training.following.survey import Survey
from counterfoil_core.base.errors import DataError, ProgramError

PLACE = "/job/train.py, line 42"
OTHER = "/job/train.py, line 7"


def survey(*steps: list[tuple[str, Any]], end: list[tuple[str, Any]] | None = None) -> Survey:
    """What was asked in each step, and after the last one."""
    borders = [Border(0), *(Border(n, answers=tuple(asked)) for n, asked in enumerate(steps, start=1))]
    tail = None if end is None else Border(len(steps), answers=tuple(end), is_end=True)
    return Survey(tuple(borders), end=tail)


def decided(answers: Answers, step: int, place: str = PLACE) -> bool:
    answers.step = step
    return answers.decide(place, answers.take(place))


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ([], {}),
        (["no"], {"": False}),
        (["train.py:42=yes", "model.py:7=no", "yes"], {"train.py:42": True, "model.py:7": False, "": True}),
        # The last one counts, as options do.
        (["no", "yes"], {"": True}),
    ],
)
def test_answers_are_read_by_line(texts: list[str], found: Mapping[str, bool]) -> None:
    assert parse_answers(texts) == found


@pytest.mark.parametrize("text", ["", "maybe", "Yes", "train.py:42", "train.py=yes", "train.py:x=yes", "=maybe", "1"])
def test_what_is_no_answer_is_refused_by_what_it_is(text: str) -> None:
    with pytest.raises(DataError) as refused:
        parse_answers(["yes", text])
    assert refused.value.sentence == f"{text!r} is no answer."
    assert "--answer train.py:42=yes" in str(refused.value.remedy)


def test_each_question_of_a_step_has_the_answer_of_its_place_and_turn() -> None:
    seen = survey([(PLACE, 3.5), (OTHER, 0.0), (PLACE, 1)], [(PLACE, 2.0)], end=[(PLACE, False)])
    answers = Answers(seen, {})
    assert [answers.take(PLACE), answers.take(OTHER), answers.take(PLACE)] == [3.5, 0.0, 1]
    assert answers.take(PLACE) is None, "it was not asked a third time"
    answers.step = 2
    assert answers.take(OTHER) is None
    assert answers.take(PLACE) == 2.0
    # What follows the last step was seen, too.
    answers.step = 3
    assert answers.take(PLACE) is False


def test_what_was_seen_is_decided_as_it_was_and_said_with_its_steps() -> None:
    answers = Answers(survey(*([(PLACE, truth)] for truth in (True, False, False, True, False))), {"": True})
    assert [decided(answers, step) for step in range(1, 6)] == [True, False, False, True, False]
    assert answers.sentences == (
        f"The script decides by a value of the training ({PLACE}), as it did when it ran by itself: true in steps 1, "
        "4, else not.",
    )


@pytest.mark.parametrize(
    ("truths", "said"),
    [
        ([True, True], ": true each time, 2 in all."),
        ([False], ": not true each time, 1 in all."),
        ([True, True, False], ": not true in step 3, else true."),
        ([True] * 7 + [False] * 8, ": true in steps 1, 2, 3, 4, 5 and 2 more, else not."),
    ],
)
def test_the_rarer_answer_is_named_with_its_steps(truths: list[bool], said: str) -> None:
    answers = Answers(survey(*([(PLACE, truth)] for truth in truths)), {})
    for step in range(1, len(truths) + 1):
        decided(answers, step)
    (sentence,) = answers.sentences
    assert sentence.endswith(said)


def test_beyond_what_was_seen_the_order_ends_with_what_to_do() -> None:
    answers = Answers(survey([(PLACE, True)], [(PLACE, True)]), {})
    with pytest.raises(ProgramError, match=r"in step 3, beyond the 2 steps that it was seen to make") as refused:
        decided(answers, 3)
    assert PLACE in refused.value.sentence
    for way in ("--compare 4", "--max-steps 2", "--answer train.py:42=no"):
        assert way in str(refused.value.remedy)


def test_where_nobody_has_seen_it_run_the_order_ends_with_what_to_do() -> None:
    with pytest.raises(ProgramError, match="and nobody has seen how") as refused:
        decided(Answers(Survey(), {}), 1)
    assert "leave out --compare 0" in str(refused.value.remedy)
    assert "say what to take: --answer train.py:42=no" in str(refused.value.remedy)


def test_a_question_that_was_not_asked_there_is_a_difference() -> None:
    answers = Answers(survey([(OTHER, True)], [(PLACE, True)]), {})
    with pytest.raises(ProgramError, match=r"in step 1, and nobody saw how when it ran by itself") as refused:
        decided(answers, 1)
    assert "--compare" not in str(refused.value.remedy)
    # The line of a library is followed by that of whoever called it.
    assert re.search(rf"\({PLACE}, called at .*test_answers.py, line \d+\)", refused.value.sentence)
    with pytest.raises(ProgramError, match=r"\(train.py, line 7\)"):
        decided(answers, 1, "train.py, line 7")


@pytest.mark.parametrize(("given", "taken"), [({"": True}, True), ({"": True, "train.py:42": False}, False)])
def test_beyond_what_was_seen_the_client_says_what_is_taken(given: Mapping[str, bool], taken: bool) -> None:
    answers = Answers(survey([(PLACE, not taken)]), given)
    assert decided(answers, 1) is not taken, "what was seen goes before what is said"
    assert decided(answers, 2) is taken
    assert decided(answers, 3) is taken
    seen, said = answers.sentences
    assert "as it did when it ran by itself" in seen
    assert said == (
        f"The script decides by a value of the training ({PLACE}): answered {'yes' if taken else 'no'} from step 2 on, "
        "as you said."
    )


def test_an_answer_for_one_line_is_none_for_another() -> None:
    answers = Answers(survey([]), {"train.py:42": True})
    assert decided(answers, 2)
    with pytest.raises(ProgramError, match="line 7"):
        decided(answers, 2, OTHER)


def test_a_loop_that_waits_for_a_value_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterfoil.training.following.answers._MOST_ASKED", 3)
    answers = Answers(survey([]), {"": False})
    answers.step = 2
    for _ in range(3):
        assert answers.decide(PLACE, None) is False
    with pytest.raises(ProgramError, match="again and again"):
        answers.decide(PLACE, None)
