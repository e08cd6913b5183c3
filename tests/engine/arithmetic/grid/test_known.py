"""What is kept of values during a step is what measuring them gives, at every operator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from benchmarks.forms import Forms
from torch import Tensor, nn

from counterfoil.program.capture import capture
from counterfoil.program.update import Sgd
from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.families import magnitude
from counterfoil_core.arithmetic.families.magnitudecache import Known
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.kernels.cpu.measures import ALL, SQUARES, TOTAL
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.sameness import Same
from support.jobs import digits_order, gpt2_order

CPU = torch.device("cpu")


class Compared(Known):
    """Compares what is kept with the values."""

    def __init__(self, known: Known) -> None:
        super().__init__(known._same)
        self.answers = {"largest": 0, "sizes": 0}
        self.asked_of = torch.empty(0)

    def largest(self, value: Tensor) -> float | None:
        found = super().largest(value)
        if found is not None:
            assert found == float(value.abs().amax())
            self.answers["largest"] += 1
        return found

    def order(self, value: Tensor) -> int | None:
        assert value.is_contiguous()
        self.asked_of = value
        return super().order(value)

    def sizes(self, order: int, asked: tuple[int, int, int, int]) -> Any:
        found = super().sizes(order, asked)
        if found is not None:
            *shape, kind = asked
            with magnitude.using(1):
                again = magnitude.sizes(self.asked_of.view(shape))
            for one, other in ((found.rows, again.rows), (found.columns, again.columns)):
                assert kind != ALL or torch.equal(one.largest, other.largest)
                # One kind of sums alone may be added in another order.
                assert kind == TOTAL or torch.allclose(one.squares, other.squares, rtol=1e-13, atol=0.0)
                assert kind == SQUARES or torch.allclose(one.total, other.total, rtol=1e-13, atol=0.0)
            self.answers["sizes"] += 1
        return found


def compared(rounder: Any) -> Compared:
    known = rounder._known = Compared(rounder._known)
    rounder._measuring = magnitude.using(1, known)
    return known


@pytest.mark.parametrize("order", [digits_order, gpt2_order], ids=["digits", "gpt2"])
def test_what_is_kept_is_what_measuring_gives(order: Any) -> None:
    draft: OrderDraft = order()
    forms = Forms(draft, Machine(CPU, 1), Kernels(CPU, 1))
    recording, replaying = compared(forms._recording), compared(forms._replaying)
    forms.record()
    # A trainer who chose every direction: they are followed, which changes values after they were rounded.
    recorder = forms._recording
    assert isinstance(recorder, RecordingRounder)
    recorder.logs = [replace(log, ups=~log.ups) for log in forms.logs]
    forms.replay()
    assert sum(count.corrections for count in forms.counts)
    for known in (recording, replaying):
        assert known.answers["largest"] > 2
        assert known.answers["sizes"] > 2


def test_forms_of_one_value_are_told_from_others() -> None:
    class Views(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(6, 4))

        def forward(self, x: Tensor) -> Tensor:
            y = (x @ self.weight).exp()
            return (y.t().reshape(3, 4).t() * y.view(4, 3)[:, 1:2] + y.transpose(0, 1).t().reshape(-1)[0]).sum()

    program = capture(Views(), lambda m, b: m(b["x"]), Sgd(), {"x": TensorType("float32", (3, 6))}).program
    named: dict[str, list[tuple[int, Same]]] = {}
    for node in program.nodes:
        named.setdefault(node.operator.split(".")[1], []).append((node.first_value, program.sameness[node.first_value]))
    ((y, own),) = named["exp"]
    assert own == Same(y, y, False)
    forms = {
        same
        for entries in named.values()
        for _, same in entries
        if same.members == y
    }  # fmt: skip
    # Of the same order; exchanged axes; laid out anew after axes were exchanged, and those exchanged again.
    assert {Same(y, y, False), Same(y, y, True)} < forms
    assert any(same.order != y for same in forms)
    # Part of a value is a value of its own.
    for _, same in named["select"] + named["slice"]:
        assert same.members != y


def test_another_tensor_at_the_same_place_is_not_taken_for_a_value() -> None:
    known = Known([Same(0, 0, False), Same(1, 1, False)])
    x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
    known.note(0, 5.0)
    known.meet({"self": 0}, {"self": x})
    assert known.largest(x) == 5.0
    # A view of some of it begins at the same address.
    assert known.largest(x[:1]) is None
    with magnitude.using(1, known):
        magnitude.sizes(x[None])
        assert known.order(x[None]) == 0
        assert known.sizes(0, (1, 2, 3, ALL)) is not None
        assert known.order(x[:1][None]) is None
        # The next operator's argument lies where this one's did.
        known.meet({"self": 1}, {"self": x.mul_(2.0)})
        assert known.order(x[None]) == known.order(x) == 1
        assert known.sizes(1, (1, 2, 3, ALL)) is None
        assert magnitude.largest(x) == 10.0
    known.forget()
    known.meet({"self": 1}, {"self": x})
    assert known.largest(x) is None


@pytest.mark.parametrize("order", [digits_order, gpt2_order], ids=["digits", "gpt2"])
def test_outputs_rounded_by_one_call_are_those_rounded_one_after_the_other(order: Any) -> None:
    found = []
    for together in (True, False):
        forms = Forms(order(), Machine(CPU, 1), Kernels(CPU, 1))
        recorder, replayer = forms._recording, forms._replaying
        assert isinstance(recorder, RecordingRounder)
        assert recorder._together
        recorder._together = replayer._together = together
        one = forms.record()
        logs = [(log.exponent, log.indices.tolist(), log.ups.tolist()) for log in forms.logs]
        recorder.logs = [replace(log, ups=~log.ups) for log in forms.logs]
        other = forms.replay()
        prints = [array.tolist() for array in forms.fingerprints]
        states = [{name: tensor.numpy().tobytes() for name, tensor in made.state.items()} for made in (one, other)]
        found.append((logs, prints, states, one.loss, other.loss, list(forms.counts)))
    assert found[0] == found[1]
    assert found[0][1][0] != found[0][1][1]
