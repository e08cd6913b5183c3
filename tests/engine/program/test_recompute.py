"""Programs that compute activations again: what they keep, what they repeat, and that nothing else changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.recompute import AUTO, count_recomputed, move_updates_up, recompute_activations
from counterfoil.program.update import AdamW, Sgd, UpdateRule
from counterfoil_core.arithmetic.admission import read_program
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, DataError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.precision import ExactPrecision, Precision
from counterfoil_core.operators.facts import UNIFORM
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.estimate import estimate, least_memory
from counterfoil_core.program.graph import Input, Program, node_values
from support.jobs import capture_on, draw, own_order

ROWS, WIDTH = 8, 6
BATCH = {"x": TensorType("float32", (ROWS, WIDTH))}


def squared(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    return model(batch["x"]).square().mean()


def penalised(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """With a penalty of the gradient of the input: a backward pass within the forward pass."""
    x = batch["x"].detach().requires_grad_()
    made = model(x).tanh().square().mean()
    (slope,) = torch.autograd.grad(made, x, create_graph=True)
    return made + slope.square().sum()


class Skipping(nn.Module):
    """What the first layer gives is read by the last one."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(WIDTH, WIDTH), nn.Linear(2 * WIDTH, 3)
        self.middle = nn.Sequential(*(layer for _ in range(4) for layer in (nn.Linear(WIDTH, WIDTH), nn.GELU())))

    def forward(self, x: Tensor) -> Tensor:
        first = torch.softmax(self.first(x), -1)
        return self.last(torch.cat([self.middle(first), first], -1))


def deep(*between: Callable[[], nn.Module], layers: int = 6, width: int = WIDTH) -> nn.Module:
    return nn.Sequential(*(part for _ in range(layers) for part in (nn.Linear(width, width), *(f() for f in between))))


MODELS: dict[str, tuple[Callable[[], nn.Module], Any, UpdateRule, int]] = {
    "dropout": (lambda: deep(nn.Tanh, lambda: nn.Dropout(0.3)), squared, Sgd(momentum=0.9), 1),
    "batch norm, micro-batches": (lambda: deep(lambda: nn.BatchNorm1d(WIDTH), nn.ReLU), squared, AdamW(), 2),
    "skipping, clipped": (Skipping, squared, AdamW(clip_norm=0.01), 1),
    "gradient penalty": (lambda: deep(nn.Softplus), penalised, Sgd(), 1),
}


@cache
def captured(name: str) -> CapturedStep:
    torch.manual_seed(1)
    make, objective, rule, micro_batches = MODELS[name]
    return capture(make(), objective, rule, BATCH, micro_batches=micro_batches)


def executed(step: CapturedStep, program: Program) -> dict[str, bytes]:
    """The new state and the loss of a step, bit for bit."""
    scalars = {item.name: 0.125 for item in program.inputs if item.kind == "scalar"}
    batch = {"x": torch.from_numpy(draw((ROWS, WIDTH), 3))}
    inputs = StepInputs(step.initial_state, batch, scalars, Draws(5, 1))
    result = Interpreter(program, torch.device("cpu")).run(inputs)
    return {name: value.numpy().tobytes() for name, value in result.state.items()} | {"": repr(result.loss).encode()}


def unlike(program: Program) -> Counter[str]:
    return Counter(node.operator for node in program.nodes)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("segments", [2, 3, 7, 100, AUTO])
@pytest.mark.parametrize("name", MODELS)
def test_state_and_loss_are_the_same_bit_for_bit(name, segments):
    step = captured(name)
    made = finish(recompute_activations(step.program, segments, 8))
    # Others read it strictly, and what it needs was estimated as they do.
    read = read_program(made.program.to_bytes(), Precision())
    assert read.to_bytes() == made.program.to_bytes()
    assert (estimate(step.program), estimate(read)) == (made.before, made.after)
    assert made.after.bytes <= made.before.bytes
    # Cut between any two operators, a forward pass keeps all that it has.
    again = count_recomputed(read) - count_recomputed(step.program)
    assert segments == 100 or (made.after.bytes < made.before.bytes and again > 0)
    assert executed(step, read) == executed(step, step.program)


@pytest.mark.parametrize("operator", [UNIFORM, "aten.tanh.default", "aten.addmm.default"])
def test_control_a_copy_that_computes_something_else_is_noticed(operator):
    step = captured("dropout")
    program = finish(recompute_activations(step.program, 3, 8)).program
    changed = 0
    for index, node in enumerate(program.nodes):
        if node.operator == operator and node.phase == "backward":
            nodes = [*program.nodes]
            nodes[index] = _other(node)
            other = replace(program, nodes=tuple(nodes))
            assert executed(step, other) != executed(step, program), node
            changed += 1
    assert changed > 1


def _other(node: Node) -> Node:
    if node.operator == UNIFORM:
        shape, number = node.args
        return replace(node, args=(shape, number + 1))
    if node.operator == "aten.addmm.default":
        return replace(node, kwargs=(("beta", 2),))
    return replace(node, operator="aten.sin.default")


def test_a_copy_draws_what_was_drawn():
    before, after = (
        captured("dropout").program,
        finish(recompute_activations(captured("dropout").program, 3, 8)).program,
    )
    drawn = [[node.args for node in program.nodes if node.operator == UNIFORM] for program in (before, after)]
    assert set(drawn[0]) == set(drawn[1])
    assert len(drawn[0]) < len(drawn[1])


def test_running_statistics_are_updated_once():
    before = captured("batch norm, micro-batches").program
    after = finish(recompute_activations(before, 3, 8)).program
    for name, value in after.updates.items():
        if "running" in name:
            (maker,) = [n for n in after.nodes if 0 <= value.number - n.first_value < len(n.outputs)]
            assert maker.phase == "forward"
    # The second micro-batch reads the statistics that the first one left; copies read what was read.
    norm = "aten._native_batch_norm_legit_functional.default"
    read = [{n.args[3:5] for n in program.nodes if n.operator == norm} for program in (before, after)]
    assert unlike(after)[norm] > unlike(before)[norm] == len(read[0]) == len(read[1]) == 12


def test_the_last_segment_is_kept_and_nothing_is_computed_thrice():
    step = captured("dropout")
    program = finish(recompute_activations(step.program, 3, 8)).program
    more = unlike(program) - unlike(step.program)
    assert not unlike(step.program) - unlike(program)
    # Of six layers in three segments two are kept, and the first layer's product is not read by its own gradient.
    assert 0 < more["aten.addmm.default"] <= 4
    assert max(Counter(n.args for n in program.nodes if n.operator == UNIFORM).values()) == 2
    last = [node for node in program.nodes if node.module in ("15", "16", "17") and node.phase == "backward"]
    assert last
    assert not [node for node in last if node.operator in ("aten.addmm.default", "aten.tanh.default", UNIFORM)]


@pytest.mark.slow
def test_a_deep_model_takes_a_fraction_of_the_memory():
    step = capture_on(deep(nn.Tanh, lambda: nn.Dropout(0.1), layers=40, width=4), (256, 4))
    made = finish(recompute_activations(step.program, AUTO, 8))
    assert made.before.bytes / made.after.bytes >= 4
    assert least_memory(step.program, 8) / least_memory(made.program, 8) >= 3
    # At most the forward pass again.
    assert made.before.flops < made.after.flops < 1.5 * made.before.flops


def test_where_nothing_is_saved_nothing_is_recomputed():
    program = capture_on(nn.Linear(40, 2, bias=False), (2, 40)).program
    made = finish(recompute_activations(program, AUTO, 8))
    assert made.program is program
    assert made.before == made.after


@pytest.mark.parametrize("segments", [0, 1, -3, 1001, 2.0, True, "some", None])
def test_other_numbers_of_segments_are_refused(segments):
    with pytest.raises(DataError, match="segments"):
        finish(recompute_activations(captured("dropout").program, segments, 8))


@pytest.mark.parametrize("name", MODELS)
def test_updates_follow_their_gradients(name):
    step = captured(name)
    program = move_updates_up(step.program)
    assert unlike(program) == unlike(step.program)
    assert read_program(program.to_bytes(), Precision()).to_bytes() == program.to_bytes()
    assert executed(step, program) == executed(step, step.program)
    phases = "".join(node.phase[0] for node in program.nodes)
    # Clipping by the norm of all gradients waits for all of them.
    assert ("ub" in phases) == (name != "skipping, clipped")


def test_what_all_parameters_share_is_there_for_the_first_of_them():
    """Under exact profiles a factor of the weight decay is one operator for all parameters."""
    torch.manual_seed(1)
    step = capture(deep(nn.GELU), squared, AdamW(weight_decay=0.1), BATCH, exact=ExactPrecision(20))
    program = move_updates_up(step.program)
    assert unlike(program) == unlike(step.program)
    assert executed(step, program) == executed(step, step.program)
    assert "ub" in "".join(node.phase[0] for node in program.nodes)
    shared = [node for node in program.nodes if node.phase == "update" and node.outputs[0].shape == ()]
    assert shared, "nothing is shared by the parameters"
    made = finish(recompute_activations(step.program, 3, 8))
    assert read_program(made.program.to_bytes(), ExactPrecision(20)).to_bytes() == made.program.to_bytes()
    assert executed(step, made.program) == executed(step, step.program)


def test_what_is_needed_earlier_is_not_moved_behind():
    """An operator outside the update reads one of the update, whose result waits for a later operator."""
    whole, one = TensorType("float32", (3,)), TensorType("float32", ())
    inputs = (Input("s", "state", whole), Input("x", "batch", whole))
    nodes = (
        Node("aten.mul.Tensor", (Value(0), 0.5), (), (whole,), 2, "", "update"),
        Node("aten.add.Tensor", (Value(2), Value(1)), (), (whole,), 3, "", "forward"),
        Node("aten.neg.default", (Value(3),), (), (whole,), 4, "", "backward"),
        Node("aten.add.Tensor", (Value(2), Value(4)), (), (whole,), 5, "", "update"),
        Node("aten.sum.default", (Value(3),), (), (one,), 6, "", "forward"),
    )
    program = move_updates_up(Program(inputs, nodes, {"s": Value(5)}, Value(6)))
    assert [node.operator for node in program.nodes] == [node.operator for node in nodes]
    made = {0, 1}
    for node in program.nodes:
        assert {value.number for value in node_values(node)} <= made
        made.add(node.first_value)


def test_a_wide_model_does_not_keep_all_gradients_at_once():
    program = capture_on(deep(nn.ReLU, layers=8, width=32), (2, 32), rule=Sgd(momentum=0.9)).program
    weights = 8 * 8 * (32 * 32 + 32)
    assert estimate(program).bytes - estimate(move_updates_up(program)).bytes >= 0.6 * weights


def test_operands_of_a_copy_are_kept_or_copies():
    program = finish(recompute_activations(captured("skipping, clipped").program, 3, 8)).program
    made = set(range(len(program.inputs)))
    for node in program.nodes:
        assert {value.number for value in node_values(node)} <= made
        made |= set(range(node.first_value, node.first_value + len(node.outputs)))


def test_an_order_says_what_it_brought():
    data = {"x": draw((32, WIDTH), 2), "y": draw((32, WIDTH), 3)}
    draft = own_order(deep(nn.Tanh), lambda model, batch: (model(batch["x"]) - batch["y"]).square().mean(), data)
    again = draft.recomputing(3)
    assert draft.recomputing(None) is draft
    reports = list(draft.recomputing_in_stages(AUTO))
    assert [report.done for report in reports] == list(range(reports[0].total))
    cancel = CancelToken()
    weighing = draft.recomputing_in_stages(AUTO, cancel)
    next(weighing)
    cancel.cancel()
    with pytest.raises(CancelledError):
        next(weighing)
    assert again.recomputation.after.bytes < again.recomputation.before.bytes
    assert again.manifest.programs.only == again.program.digest != draft.program.digest
    assert replace(again.manifest, programs=draft.manifest.programs) == draft.manifest
