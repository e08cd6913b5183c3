"""Steps found by number, hash and condition; anything else is refused in a sentence."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from counterfoil import Digest, StepMatch, StepRow
from counterfoil_app.model.step_data import StepData, StepState
from counterfoil_app.model.step_search import NotUnderstood, columns, search
from support.reports import empty_table

LOSSES = [float(12 - step) for step in range(12)]


def leaf(step: int, side: str) -> Digest:
    return Digest(bytes.fromhex(f"{step:02x}{'ab' if side == 'trainer' else 'cd'}" + "00" * 30))


def data() -> StepData:
    """12 steps, 10 of them replayed; step 7 differs."""
    result = StepData()
    result.table = empty_table(12)
    result.states = np.full(12, StepState.WAITING, np.uint8)
    result.table.column("trainer_loss")[:] = LOSSES
    result.add(
        StepRow(
            step=step,
            match=StepMatch.MISMATCH if step == 7 else StepMatch.MATCH,
            trainer_leaf=leaf(step, "trainer"),
            replay_leaf=leaf(step, "replay" if step == 7 else "trainer"),
            trainer_loss=LOSSES[step - 1],
            replay_loss=LOSSES[step - 1] + (0.5 if step == 7 else 0.0),
            log_entries=step,
            log_bytes=10 * step,
            corrections=step % 3,
            contradictions=0,
            omissions=0,
            rounded_values=100,
            seconds=0.25,
        )
        for step in range(1, 11)
    )
    return result


def found(wanted: str) -> list[int]:
    return (np.flatnonzero(search(data(), wanted)) + 1).tolist()


@pytest.mark.parametrize(
    ("wanted", "steps"),
    [
        ("", list(range(1, 13))),
        ("5", [5]),
        ("3-5, 11", [3, 4, 5, 11]),
        ("900", []),
        ("0", []),
        ("07cd", [7]),
        ("07cd0", [7]),
        ("07cd1", []),
        ("#07", [7]),
        ("#0", list(range(1, 11))),
        ("0aAB", [10]),
        ("loss > 9", [1, 2, 3]),
        ("loss > 9 and corrections == 0", [3]),
        ("not match and step < 11", [7]),
        ("mismatch or step == 1", [1, 7]),
        ("abs(difference) > 0", [7]),
        ("difference > 0", [7]),
        ("2 < step <= 4", [3, 4]),
        ("corrections >= 0", [1, 2, 3, 4, 5, 6, 8, 9, 10]),  # 7 differs: its log was not judged
        ("entries * 10 == bytes and step - 1 >= 8", [9, 10, 11, 12]),
        ("-loss < -11", [1]),
        ("unjudged", []),
    ],
)
def test_what_is_meant(wanted: str, steps: list[int]) -> None:
    if wanted.startswith("entries"):
        steps = [9, 10, 11, 12]  # what was not replayed has no entries here: 0 is 10 times 0
    assert found(wanted) == steps


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("loss", "This is a number"),
        ("loss and step > 1", "loss is a number"),
        ("match > 1", "match is no number"),
        ("colour == 1", "There is no column colour"),
        ("loss >", "This is neither a step, a hash, nor a condition"),
        ("__import__('os')", "nothing like"),
        ("loss.real > 1", "nothing like"),
        ("[x for x in (1,)]", "nothing like"),
        ("2 ** 9999999 > 1", "nothing like"),
        ("'a' < 'b'", "nothing like"),
        ("step in (1, 2)", "nothing like"),
        ("1" * 401, "at most 400 characters"),
        ("(" * 200, "neither"),
    ],
)
def test_what_is_not_understood_is_said(wanted: str, said: str) -> None:
    with pytest.raises(NotUnderstood, match=said.replace("(", r"\(")):
        search(data(), wanted)


def test_every_named_column_can_be_used() -> None:
    table = data()
    for name, values in columns(table).items():
        wanted = name if values.dtype == np.bool_ else f"{name} == {name}"
        assert search(table, wanted).shape == (12,)


@given(st.text(st.sampled_from("loss step()<>=!and or not 0123456789.-+*/#abcdef,"), max_size=30))
@settings(max_examples=300)
def test_whatever_is_typed_is_understood_or_refused(wanted: str) -> None:
    with contextlib.suppress(NotUnderstood):
        assert search(data(), wanted).dtype == np.bool_
