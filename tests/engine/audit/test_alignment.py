"""The states of a replay within a segment, as a table."""

from __future__ import annotations

import pytest

from counterfoil_core.hearing.segments import Agreed, Drifting, Ended, Lost, Reached, after, match_of
from counterfoil_core.values.steptable import StepMatch

AGREED = Agreed("state 3", "state 2")
DRIFTING = Drifting("own 3")

TABLE = [
    (AGREED, Reached("4", agrees=True, committed=True), Agreed("4", "4")),
    (AGREED, Reached("4", agrees=True, committed=False), Agreed("4", "state 2")),
    (AGREED, Reached("4", agrees=False, committed=True), Drifting("4")),
    (AGREED, Reached("4", agrees=False, committed=False), Drifting("4")),
    (AGREED, Lost(), Ended()),
    (DRIFTING, Reached("4", agrees=True, committed=True), Drifting("4")),
    (DRIFTING, Reached("4", agrees=True, committed=False), Drifting("4")),
    (DRIFTING, Reached("4", agrees=False, committed=True), Drifting("4")),
    (DRIFTING, Reached("4", agrees=False, committed=False), Drifting("4")),
    (DRIFTING, Lost(), Ended()),
    (Ended(), Reached("4", agrees=True, committed=True), Ended()),
    (Ended(), Reached("4", agrees=False, committed=True), Ended()),
    (Ended(), Lost(), Ended()),
]


@pytest.mark.parametrize(("alignment", "found", "expected"), TABLE)
def test_where_a_step_leads(alignment, found, expected):
    assert after(alignment, found) == expected


@pytest.mark.parametrize("alignment", [AGREED, DRIFTING, Ended()])
@pytest.mark.parametrize("equal", [True, False])
def test_only_an_agreed_state_judges(alignment, equal):
    judged = StepMatch.MATCH if equal else StepMatch.MISMATCH
    assert match_of(alignment, equal) is (judged if isinstance(alignment, Agreed) else StepMatch.UNJUDGED)
