"""The counts are those of the programs that are ordered: they are counted there again."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from counterfoil.audit.values.transformer import (
    EXACT,
    GRID,
    PLACES,
    STATE_BYTES,
    TENSORS,
    UPDATE_VALUES,
    Count,
    Counts,
    Transformer,
)
from counterfoil.training.recipes.gpt2 import Gpt2Size, order_gpt2
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.node import Node, Value
from counterfoil_core.program.estimate import product_flops
from counterfoil_core.program.graph import Program

PRODUCTS = {"mm", "bmm", "addmm", "baddbmm"}
BATCH, LEAST, MOST = 8, 1, 2
"""Rows, and layers of the two programs whose difference is one layer."""


def read(program: Program, node: Node) -> int:
    types = (program.types[argument.number] for argument in node.args if isinstance(argument, Value))
    return sum(found.elements for found in types if found is not None and found.floating)


@cache
def counted(profile: str, layers: int, width: int, heads: int, context: int) -> Counter[str]:
    """What a program takes: elements by kind, operations, parameters."""
    size = Gpt2Size(layers=layers, heads=heads, width=width, context=context, dropout=0.0)
    order = order_gpt2(b"abc " * 1000, size=size, batch_size=BATCH, steps=1, precision=PROFILES[profile])
    program, found = order.program, Counter[str]()
    for node in program.nodes:
        if node.phase == "update" or node.entry.operator_class is OperatorClass.VIEW:
            continue
        kind = "products" if node.operator.split(".")[1] in PRODUCTS else "others"
        found[f"{kind}_read"] += read(program, node)
        found[f"{kind}_made"] += sum(o.elements for o in node.outputs if o is not None and o.floating)
    found["rounded"] = sum(site.elements for site in program.sites)
    found["flops"] = product_flops(program)
    found["places"] = len(program.places)
    found["tensors"] = sum(name.startswith("h.") for name in order.initial)
    found["parameters"] = sum(order.initial[name].size for name in order.initial if name.startswith("h."))
    return found


def layer(profile: str, width: int = 128, heads: int = 2, context: int = 64) -> Counter[str]:
    more, less = (counted(profile, layers, width, heads, context) for layers in (MOST, LEAST))
    return Counter({name: (more[name] - less[name]) // (MOST - LEAST) for name in more})


@pytest.mark.slow
@pytest.mark.parametrize(("profile", "counts"), [("float64-24", GRID), ("exact-13", EXACT)])
def test_the_elements_of_a_layer_are_those_of_its_program(profile: str, counts: Counts) -> None:
    """Two sizes that differ in heads by context tell the two parts of a count apart."""
    width, batch = 128, BATCH
    for name in ("products_read", "products_made", "others_read", "others_made", *(["rounded"] * (counts is GRID))):
        few, many = layer(profile, heads=2)[name], layer(profile, heads=4)[name]
        tokens = batch * 64
        attention = (many - few) / (tokens * 2 * 64)
        count: Count = getattr(counts, name)
        assert attention == pytest.approx(count.attention, rel=0.02), name
        rest = few - attention * tokens * 2 * 64
        # What is left holds the parameters too, which do not grow with the tokens.
        parameters = {"products_read": 2, "products_made": 1, "rounded": UPDATE_VALUES}.get(name, 0)
        rest -= parameters * layer(profile)["parameters"]
        assert rest / (tokens * width) == pytest.approx(count.width, rel=0.05), name


@pytest.mark.slow
def test_the_operations_of_a_layer_are_those_of_its_program() -> None:
    for context in (64, 128):
        found = layer("float64-24", context=context)
        model = Transformer(12 * 128**2, context, 128, 1)
        assert found["flops"] / (BATCH * context) == pytest.approx(model.flops, rel=0.01)
    assert Transformer(12 * 128**2, 64, 128, 1).flops != Transformer(12 * 128**2, 128, 128, 1).flops  # control


def test_the_places_and_tensors_of_a_layer_are_those_of_its_program() -> None:
    assert {False: layer("float64-24")["places"], True: layer("exact-13")["places"]} == PLACES
    assert layer("float64-24")["parameters"] == 12 * 128**2 + 13 * 128
    assert layer("float64-24")["tensors"] == TENSORS


def test_the_state_of_a_model_is_its_weights_and_two_moments() -> None:
    size = Gpt2Size(layers=1, heads=2, width=128, context=64, dropout=0.0)
    order = order_gpt2(b"abc " * 1000, size=size, batch_size=BATCH, steps=1)
    weights = sum(v.nbytes for name, v in order.initial.items() if not name.startswith("moment"))
    assert sum(v.nbytes for v in order.initial.values()) == pytest.approx(STATE_BYTES / 4 * weights, rel=0.01)


@pytest.mark.parametrize("parameters", [1e9, 8e9, 70e9])
def test_a_transformer_has_the_parameters_that_were_asked_for(parameters: float) -> None:
    model = Transformer.of(parameters, 4096)
    assert 12 * model.layers * model.width**2 == pytest.approx(parameters)
    assert 70 < model.width / model.layers < 140
