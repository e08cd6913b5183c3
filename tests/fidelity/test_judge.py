"""The judge calls an order right only where it is: each way to be wrong has a case, and rounding alone is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from tests.fidelity.judge import AGREES, DIFFERENT, DRAWS, REFUSED, Script, Verdict, judge
from tests.fidelity.orderrun import Ordered
from tests.fidelity.plainrun import LOSS, Held, Plain
from torch import Tensor

START, END = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.5, 2.0, 2.0])
SLOT = torch.tensor([9.0, 9.0, 9.0])


def held(final: Tensor = END, initial: Tensor | None = START, name: str = "weight", beside: bool = True) -> Held:
    return Held((name, f"model.{name}"), initial, final, beside, beside)


PLAIN = Plain([LOSS, 0, LOSS, 0, LOSS], [0.5, 0.25, 7.0], [held()], many=False)
ORDER = Ordered(steps=2, losses=(0.5, 0.25), state={"weight": END, "momentum:weight": SLOT})


def judged(plain: Plain, order: Ordered, shaken: Sequence[Plain] = ()) -> Verdict:
    return judge(Script(plain, lambda: shaken), order)


def test_an_order_with_the_losses_and_the_end_of_the_script_agrees() -> None:
    assert judged(PLAIN, ORDER) == Verdict(AGREES)


def test_a_refusal_is_told_with_its_sentence() -> None:
    assert judged(PLAIN, Ordered(refused="No.")) == Verdict(REFUSED, "No.")


@pytest.mark.parametrize(
    ("losses", "sentence"),
    [
        ((0.5,), "1 steps are ordered, and the script makes 2 with 2 losses"),
        ((0.5, 0.25, 0.25), "3 steps are ordered, and the script makes 2"),
        ((0.25, 0.5), "the loss of step 1 is 0.25, and the script's is 0.5"),
        ((0.5, 0.2502), "the loss of step 2 is 0.2502, and the script's is 0.25"),
        ((0.5, float("nan")), "the loss of step 2 is nan"),
    ],
)
def test_other_losses_are_another_training(losses: tuple[float, ...], sentence: str) -> None:
    verdict = judged(PLAIN, replace(ORDER, losses=losses, steps=len(losses)))
    assert verdict.outcome == DIFFERENT
    assert sentence in verdict.sentence


def test_the_losses_of_a_step_are_those_that_add_up_to_the_orders() -> None:
    plain = replace(PLAIN, events=[LOSS, LOSS, 0, LOSS, 0], losses=[0.125, 0.375, 0.25])
    assert judged(plain, ORDER) == Verdict(AGREES)
    assert judged(plain, replace(ORDER, losses=(0.125, 0.625))) == Verdict(AGREES)
    assert judged(plain, replace(ORDER, losses=(0.5, 0.26))).outcome == DIFFERENT


def test_losses_of_which_some_are_no_numbers_are_left_to_the_state() -> None:
    plain = replace(PLAIN, losses=[float("nan"), 0.25, 7.0], many=True)
    assert judged(plain, ORDER) == Verdict(AGREES)


def test_a_state_off_by_a_part_of_its_movement_is_another_training() -> None:
    for off, outcome in ((1e-3, AGREES), (4e-3, DIFFERENT), (1.0, DIFFERENT)):
        away = off * (END - START).norm() * torch.tensor([0.0, 1.0, 0.0])
        verdict = judged(PLAIN, replace(ORDER, state={"weight": END + away}))
        assert verdict.outcome == outcome, off
    assert "weight ends 1e+02 % of its movement away" in verdict.sentence


def test_a_state_that_never_moved_is_another_training() -> None:
    assert judged(PLAIN, replace(ORDER, state={"weight": START})).outcome == DIFFERENT


def test_a_slot_of_an_optimizer_is_no_tensor_of_a_module() -> None:
    verdict = judged(PLAIN, replace(ORDER, state={"moment:weight": END}))
    assert verdict == Verdict(DIFFERENT, "model.weight is changed by the script, and is not in the order")


def test_tensors_of_other_names_are_matched_by_the_nearest_of_their_shape() -> None:
    plain = replace(PLAIN, held=[held(), held(END + 1, START + 1, "bias")])
    assert judged(plain, replace(ORDER, state={"a": END + 1, "b": END})) == Verdict(AGREES)
    assert judged(plain, replace(ORDER, state={"a": END, "b": END})).outcome == DIFFERENT


def test_what_no_optimizer_holds_counts_where_it_changed() -> None:
    average = held(END / 2, START, "average", beside=False)
    plain = replace(PLAIN, held=[held(), average])
    assert "average is changed by the script" in judged(plain, ORDER).sentence
    state = {"weight": END, "model.average": END / 2}
    assert judged(plain, replace(ORDER, state=state)) == Verdict(AGREES)
    still = replace(average, initial=END / 2)
    assert judged(replace(PLAIN, held=[held(), still]), ORDER) == Verdict(AGREES)


def test_whole_numbers_are_equal() -> None:
    plain = replace(PLAIN, held=[held(), held(torch.tensor(4), torch.tensor(0), "count")])
    assert judged(plain, replace(ORDER, state={"weight": END, "count": torch.tensor(4)})) == Verdict(AGREES)
    assert judged(plain, replace(ORDER, state={"weight": END, "count": torch.tensor(5)})).outcome == DIFFERENT


def test_what_rounding_alone_moves_as_far_is_no_difference() -> None:
    order = replace(ORDER, losses=(0.5, 0.251), state={"weight": END + 0.01})
    shaken = replace(PLAIN, losses=[0.5, 0.2502, 7.0], held=[held(END + 0.002)])
    assert judged(PLAIN, order).outcome == DIFFERENT
    assert judged(PLAIN, order, [shaken]) == Verdict(AGREES)
    # A tensor that rounding does not move is off nevertheless.
    assert judged(PLAIN, order, [replace(shaken, held=[held()])]).outcome == DIFFERENT
    assert judged(PLAIN, order, [replace(shaken, losses=[0.5, 0.25, 7.0])]).outcome == DIFFERENT


def test_an_order_that_draws_is_judged_by_its_number_of_steps() -> None:
    other = replace(ORDER, draws=True, losses=(3.0, 4.0), state={"weight": START})
    assert judged(PLAIN, other) == Verdict(DRAWS)
    assert judged(PLAIN, replace(other, steps=1, losses=(3.0,))).outcome == DIFFERENT


def test_an_order_that_cannot_be_executed_is_another_training() -> None:
    verdict = judged(PLAIN, replace(ORDER, losses=(0.5,), diverged="A number is not finite."))
    assert verdict == Verdict(DIFFERENT, "the order ends at step 2: A number is not finite.")


def test_an_order_of_a_script_that_trains_nothing_is_another_training() -> None:
    assert judged(replace(PLAIN, events=[], losses=[]), ORDER).outcome == DIFFERENT


def test_weights_that_are_changed_by_hand_are_changed_for_all_losses() -> None:
    plain = replace(PLAIN, events=[LOSS, LOSS], losses=[0.5, 0.25], held=[held(beside=False)])
    assert judged(plain, ORDER) == Verdict(AGREES)
    assert judged(plain, replace(ORDER, state={"weight": START})).outcome == DIFFERENT
    assert judged(replace(plain, losses=[0.5, 0.25, 7.0], events=[LOSS] * 3), ORDER).outcome == DIFFERENT
