"""Which operators are computed together: those whose results the others read, with nothing in between that waits."""

from __future__ import annotations

import itertools
import math
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from counterfoil.program.capture import capture
from counterfoil.program.update import AdamW
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.chains import Chain, ChainRules, Code, schedule
from counterfoil_core.program.elementwise import spread_of
from counterfoil_core.program.graph import Input, Program, node_values

WHOLE, ONE, OTHER = TensorType("float32", (8, 9)), TensorType("float32", ()), TensorType("float32", (9, 8))


def program(*nodes: tuple[str, tuple[Any, ...], TensorType] | tuple[str, tuple[Any, ...], TensorType, str]) -> Program:
    """A program whose inputs are two tensors and a number, values 0 to 2; its nodes give values from 3 on."""
    inputs = (Input("a", "state", WHOLE), Input("b", "batch", WHOLE), Input("c", "scalar", ONE))
    made = tuple(
        Node(f"aten.{name}", args, (), (kind,), 3 + n, "", phase[0] if phase else "update")
        for n, (name, args, kind, *phase) in enumerate(nodes)
    )
    return Program(inputs, made, {"a": Value(2 + len(nodes))}, Value(2))


def nodes_of(made: Program, smallest: int = 1) -> list[tuple[int, ...]]:
    return [chain.nodes for chain in schedule(made, smallest).chains.values()]


def test_where_the_elements_of_a_spread_operand_lie() -> None:
    """As torch broadcasts it, or None where two groups of axes are spread, or it does not fit."""
    shape, seen = (2, 3, 4, 5), 0
    lengths = [given for n in range(1, 5) for given in itertools.product((1, 2, 3, 4, 5), repeat=n)]
    for given in lengths:
        padded = (*[1] * (4 - len(given)), *given)
        fits = all(own in (1, length) for own, length in zip(padded, shape, strict=True))
        apart = "".join("s" if own == 1 else "k" for own in padded)
        found = spread_of(given, shape)
        assert (found is not None) == (fits and len(apart.replace("k", " ").split()) <= 1), given
        if found is not None:
            over, inner = found
            whole = torch.arange(math.prod(given)).view(given).expand(shape).reshape(-1).tolist()
            assert whole == [i // over * inner + i % inner for i in range(len(whole))], given
            seen += 1
    assert seen == 11 + 4 + 3 + 2, "of 4, 3, 2 axes and 1"
    assert spread_of((1, *shape), shape) is None


def test_a_spread_operand_and_one_operator_are_a_chain_where_the_rules_say_so() -> None:
    row = TensorType("float32", (8, 1))
    made = program(
        ("amax.default", (Value(1), (1,), True), row), ("mul.Tensor", (Value(0), Value(3)), WHOLE),
        ("neg.default", (Value(4),), WHOLE), ("abs.default", (Value(3),), row),
        ("mul.Tensor", (Value(5), Value(6)), WHOLE),
    )  # fmt: skip
    for rules, chains in (
        (ChainRules(), []),
        (ChainRules(spread=True), [(1, 2, 4)]),
        (ChainRules(alone=True), [(2,), (3,)]),
        (ChainRules(alone=True, spread=True), [(3,), (1, 2, 4)]),
    ):
        assert sorted(chain.nodes for chain in schedule(made, 1, rules).chains.values()) == sorted(chains)


def test_an_update_is_one_chain_that_reads_and_gives_stored_state() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 20))
    made = capture(
        model,
        lambda m, batch: functional.mse_loss(m(batch["x"]), batch["x"]),
        AdamW(clip_norm=1.0),
        {"x": TensorType("float32", (5, 20))},
    ).program
    plan = schedule(made, 600)
    updates = [chain for chain in plan.chains.values() if chain.sites]
    assert len(updates) == 2
    for chain in updates:
        # The clipped gradient, decay, both moments, root, quotient, new parameter.
        assert len(chain.nodes) == 16
        assert sorted(item.dtype for item in chain.operands) == ["float32"] * 3 + ["float64"]
        assert [item.dtype for item in chain.results] == ["float32"] * 3
        assert [made.sites[site].kind for site in chain.sites] == ["sqrt", "div"]
        assert chain.sites[1] == chain.sites[0] + 1
        assert made.nodes[chain.nodes[0]].module == "clip_by_norm"
        assert chain.nodes[0] + 1 < chain.nodes[1], "the clip factor's product is put off"
    moments = {n for n, item in enumerate(made.inputs) if item.name.startswith("moment") and item.type.elements == 600}
    assert len(moments) == 4
    assert not moments & {value for first in plan.first_used for value in first}


def test_what_is_put_off_never_passes_a_reader_or_a_site() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(20, 30), nn.GELU(), nn.Dropout(0.5), nn.Linear(30, 20), nn.Sigmoid())
    made = capture(
        model, lambda m, batch: m(batch["x"]).square().mean(), AdamW(), {"x": TensorType("float32", (20, 20))}
    ).program
    plan = schedule(made, 1)
    assert len(plan.chains) > 4
    place = {index: chain.nodes[-1] for chain in plan.chains.values() for index in chain.nodes}
    site_order = [(place.get(site.node, site.node), number) for number, site in enumerate(made.sites)]
    assert site_order == sorted(site_order)
    maker = {
        made.nodes[i].first_value + n: i for i in range(len(made.nodes)) for n in range(len(made.nodes[i].outputs))
    }
    for index, node in enumerate(made.nodes):
        for value in node_values(node):
            if value.number in maker:
                one, other = maker[value.number], place.get(index, index)
                assert place.get(one, one) < other or one in _members(plan.chains.get(other)), node.where
    for chain in plan.chains.values():
        for index in chain.nodes:
            late = made.nodes[index].entry.operator_class is OperatorClass.EXACT
            assert late or not any(index < site.node < chain.nodes[-1] for site in made.sites if site.node not in place)


def _members(chain: Chain | None) -> tuple[int, ...]:
    return () if chain is None else chain.nodes


def test_each_value_is_freed_once_behind_its_last_reader() -> None:
    made = program(
        ("mul.Tensor", (Value(1), 2.0), WHOLE),
        ("neg.default", (Value(3),), WHOLE),
        ("t.default", (Value(4),), OTHER),
        ("add.Tensor", (Value(3), Value(0)), WHOLE),
        ("sqrt.default", (Value(6),), WHOLE),
    )
    plan = schedule(made, 1)
    assert [chain.nodes for chain in plan.chains.values()] == [(0, 1), (3, 4)]
    first, second = plan.chains.values()
    assert first.internal == ()
    assert second.internal == (6,)
    assert plan.dying == ((), (1,), (4, 5), (), (3,))
    assert plan.first_used == ((), (1,), (), (), ())


def test_a_reader_in_between_ends_a_chain() -> None:
    halves = ("neg.default", (Value(1),), WHOLE), ("t.default", (Value(3),), OTHER), ("abs.default", (Value(3),), WHOLE)
    assert nodes_of(program(*halves)) == []
    assert nodes_of(program(halves[0], ("abs.default", (Value(3),), WHOLE), ("t.default", (Value(3),), OTHER))) == [
        (0, 1)
    ]


def test_a_site_in_between_ends_a_chain_that_has_one() -> None:
    def steps(first: str) -> Program:
        return program(
            (f"{first}.default", (Value(1),), WHOLE),
            ("exp.default", (Value(0),), WHOLE),
            ("neg.default", (Value(3),), WHOLE),
        )

    assert nodes_of(steps("sqrt")) == []
    assert nodes_of(steps("abs")) == [(0, 2)]


def test_nothing_is_put_off_to_another_pass() -> None:
    one = ("neg.default", (Value(1),), WHOLE, "forward")
    assert nodes_of(program(one, ("abs.default", (Value(3),), WHOLE, "forward"))) == [(0, 1)]
    assert nodes_of(program(one, ("abs.default", (Value(3),), WHOLE, "backward"))) == []


def test_what_is_not_a_chain() -> None:
    first = ("neg.default", (Value(0),), WHOLE)
    row, flags = TensorType("float32", (9,)), TensorType("bool", (8, 9))
    assert nodes_of(program(first, ("neg.default", (Value(3),), WHOLE))) == [(0, 1)]
    assert nodes_of(program(first, ("neg.default", (Value(3),), WHOLE)), smallest=73) == []
    for other in (
        ("exp.default", (Value(3),), WHOLE),  # differs between libraries
        ("addcmul.default", (Value(3), Value(3), Value(3)), WHOLE),  # may be fused
        ("neg.default", (Value(3),), row),  # not what it gives
        ("lt.Scalar", (Value(3), 1.0), WHOLE),  # nor that
        ("neg.default", (Value(3),), flags),
        ("mul.Tensor", (Value(3), True), WHOLE),
        ("mul.Tensor", (Value(3), float("nan")), WHOLE),
        ("mul.Tensor", (Value(3), 2**53 + 1), WHOLE),
        ("rsub.Tensor", (Value(3), 1.0), WHOLE),  # torch takes no number there
        ("maximum.default", (Value(3), 1.0), WHOLE),
        ("where.self", (Value(3), Value(3), Value(3)), WHOLE),  # no condition
        ("where.Scalar", (Value(3), 1.0, 2.0), WHOLE),  # gives torch's default dtype
        ("add.Tensor", (Value(3), Value(3), 1), WHOLE),
    ):
        assert nodes_of(program(first, other)) == [], other


def test_numbers_of_other_bits_are_other_numbers() -> None:
    made = program(("add.Tensor", (Value(1), 0.0), WHOLE), ("add.Tensor", (Value(3), -0.0), WHOLE))
    (chain,) = schedule(made, 1).chains.values()
    assert [float(number).hex() for number in chain.scalars if not isinstance(number, Value)] == [
        "0x0.0p+0",
        "-0x0.0p+0",
    ]
    assert [one.code for one in chain.plain] == [Code.ADD_S, Code.ADD_S, Code.NARROW]


def test_an_instruction_never_writes_what_it_reads() -> None:
    made = program(
        ("mul.Tensor", (Value(0), Value(2)), WHOLE),
        ("rsub.Scalar", (Value(3), 1), WHOLE),
        ("clamp.default", (Value(4), -1.0, 1.0), WHOLE),
        ("threshold_backward.default", (Value(5), Value(4), 0), WHOLE),
        ("sqrt.default", (Value(6),), WHOLE),
        ("div.Tensor", (Value(7), Value(5)), WHOLE),
    )
    (chain,) = schedule(made, 1).chains.values()
    assert len(chain.nodes) == 6
    for one in (*chain.rounding, *chain.plain):
        reads = {one.first} if one.code is not Code.FILL else set()
        if one.code in (Code.ADD, Code.SUB, Code.MUL, Code.DIV, Code.MAX, Code.MIN, Code.LT, Code.LE, Code.WHERE):
            reads.add(one.second)
        if one.code is Code.WHERE:
            reads.add(one.third)
        assert one.code is Code.WATCH or one.target not in reads
        assert max(one.target, *reads, 0) < chain.slots
