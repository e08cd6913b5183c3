from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.stoprule import StopRule

FEW = st.sampled_from([0.0, -0.0, 1.0, 1.5, 2.0, 2.5, 5e-324, math.inf, -math.inf, math.nan])
"""Losses that often are equal, or no numbers."""
LOSSES = st.lists(FEW | st.floats(), max_size=40)
RULES = st.builds(StopRule, st.integers(1, 8), st.sampled_from([0.0, 5e-324, 0.5, 1.0]) | st.floats(0.0, 3.0))


def as_defined(rule: StopRule, losses: list[float]) -> int | None:
    """The words of docs/bundle-format.md, step by step."""
    numbers = [math.inf if math.isnan(loss) else loss for loss in losses]
    for step in range(rule.patience + 1, len(numbers) + 1):
        before, last = numbers[: step - rule.patience], numbers[step - rule.patience : step]
        fall = min(before) - min(last)
        if not (fall > 0.0 and fall >= rule.min_fall):
            return step
    return None


@given(RULES, LOSSES)
def test_it_fires_where_its_definition_says(rule: StopRule, losses: list[float]) -> None:
    assert rule.fires(losses) == as_defined(rule, losses)


@given(RULES, LOSSES)
def test_loss_by_loss_it_fires_where_it_does_on_all(rule: StopRule, losses: list[float]) -> None:
    watch, first = rule.watch(), rule.fires(losses)
    said = [step for step, loss in enumerate(losses, 1) if watch.fires(loss)]
    assert said[:1] == ([] if first is None else [first])


@given(RULES, LOSSES, LOSSES)
def test_what_comes_later_changes_nothing(rule: StopRule, losses: list[float], later: list[float]) -> None:
    first = rule.fires(losses)
    if first is not None:
        assert rule.fires(losses[:first]) == rule.fires([*losses, *later]) == first


@pytest.mark.parametrize(
    ("rule", "losses", "step"),
    [
        (StopRule(1), [3.0, 2.0, 2.0, 1.0], 3),
        (StopRule(2), [3.0, 2.0, 2.0, 1.0], None),
        (StopRule(2), [3.0, 2.0, 2.0, 2.0, 1.0], 4),
        (StopRule(2, 1.25), [3.0, 2.0, 1.5, 1.0, 0.5], 4),
        (StopRule(2, 1.0), [3.0, 2.5, 2.0, 1.5, 1.0], None),
        # One loss was low once: what was reached counts, not what stands before the window.
        (StopRule(2), [3.0, 0.5, 2.0, 1.0, 0.75], 4),
        (StopRule(1), [math.nan, math.nan], 2),
        (StopRule(1), [math.nan, math.inf, 1.0, math.nan], 2),
        (StopRule(2), [math.nan, math.inf, 1.0, 0.5, math.nan], None),
        (StopRule(1), [-math.inf, -math.inf], 2),
        (StopRule(1), [0.0, -0.0], 2),
        (StopRule(1, 5e-324), [5e-324, 0.0], None),
        (StopRule(5), [1.0] * 5, None),
        (StopRule(5), [1.0] * 6, 6),
    ],
)
def test_examples(rule: StopRule, losses: list[float], step: int | None) -> None:
    assert rule.fires(losses) == step == as_defined(rule, losses)


@given(RULES)
def test_a_rule_reads_back(rule: StopRule) -> None:
    assert StopRule.from_json(rule.to_json()) == rule


@pytest.mark.parametrize("patience", [0, -1, True, 1.5, "2", None])
def test_a_patience_that_is_no_number_of_steps(patience: object) -> None:
    with pytest.raises(BundleError, match="looks back"):
        StopRule(patience)  # type: ignore[arg-type]


@pytest.mark.parametrize("fall", [-1.0, -0.0, math.inf, math.nan, True, "1", None])
def test_a_fall_that_is_none(fall: object) -> None:
    with pytest.raises(BundleError, match="asks for a fall"):
        StopRule(1, fall)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"patience": 2},
        {"patience": 2, "min_fall": "0x0.0p+0", "more": 1},
        {"patience": 0, "min_fall": "0x0.0p+0"},
        {"patience": 10_000_001, "min_fall": "0x0.0p+0"},
        {"patience": True, "min_fall": "0x0.0p+0"},
        {"patience": 2, "min_fall": 0},
        {"patience": 2, "min_fall": "0x0p0"},
        {"patience": 2, "min_fall": "-0x0.0p+0"},
        {"patience": 2, "min_fall": "inf"},
        {"patience": 2, "min_fall": "nan"},
        {"patience": 2, "min_fall": "0x1.0000000000000p+9999"},
        {"patience": 2, "min_fall": "a fall"},
    ],
)
def test_a_rule_in_another_form_is_refused(value: object) -> None:
    with pytest.raises(BundleError):
        StopRule.from_json(value)


def test_a_rule_in_words() -> None:
    assert StopRule(20).describe() == "ends early if the loss has not fallen in 20 steps"
    assert StopRule(20, 0.01).describe() == "ends early if the loss has not fallen by 0.01 in 20 steps"
