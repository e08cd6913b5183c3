from __future__ import annotations

import json
import random
from functools import cached_property
from typing import Any

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import nn

from counterfoil_core.arithmetic.admission import check_types
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.arithmetic.compute.plan import Frame, Unit
from counterfoil_core.arithmetic.selftest import tiny_inputs, tiny_program
from counterfoil_core.base import canonical
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.operators.catalogue import allowed_names
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.graph import Program, node_values
from support.jobs import Job, capture_on

TINY = tiny_program()
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 12) | st.text(max_size=3) | st.sampled_from(allowed_names()),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["value", "float", "int", "dtype", "memory_format", "op", "args", "shape", "kind"]),
            inner,
            max_size=2,
        )
    ),
    max_leaves=6,
)


def parts(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything in a JSON value."""
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += parts(item, (*path, key))
    return found


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = new
    return value


PATHS = parts(json.loads(TINY.to_bytes()))


def accepted_or_refused(data: bytes) -> None:
    """Reading ends in a program that encodes to the same bytes and runs to an end, or in ProgramError."""
    try:
        program = Program.from_bytes(data)
    except ProgramError:
        return
    assert program.to_bytes() == data
    try:
        check_types(program, "float64")
    except ProgramError:
        return
    assert len(program.last_uses) == len(program.nodes)


@given(st.binary(max_size=200))
def test_junk_is_refused(data):
    with pytest.raises(ProgramError):
        Program.from_bytes(data)


@given(VALUES)
def test_json_of_another_kind_is_refused(value):
    with pytest.raises(ProgramError):
        Program.from_bytes(canonical.encode(value))


@settings(max_examples=300)
@given(st.sampled_from(PATHS), VALUES)
def test_a_program_with_one_part_replaced(path, value):
    changed = put(json.loads(TINY.to_bytes()), path, value)
    accepted_or_refused(canonical.encode(changed))


@settings(max_examples=200)
@given(st.integers(0, 2**32))
def test_a_program_with_one_byte_replaced(seed):
    chance = random.Random(seed)
    data = bytearray(TINY.to_bytes())
    data[chance.randrange(len(data))] = chance.randrange(256)
    accepted_or_refused(bytes(data))


@pytest.mark.parametrize("path", [p for p in PATHS if p and isinstance(p[-1], str)], ids=str)
def test_a_program_with_a_field_missing_or_added(path):
    value = json.loads(TINY.to_bytes())
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    removed = holder.pop(path[-1])
    accepted_or_refused(canonical.encode(value))
    holder[path[-1]] = removed
    holder["surplus"] = 1
    accepted_or_refused(canonical.encode(value))


def changed(**edits: Any) -> bytes:
    value = json.loads(TINY.to_bytes())
    for path, new in edits.items():
        keys = [int(key) if key.isdigit() else key for key in path.split("__")]
        put(value, tuple(keys), new)
    return canonical.encode(value)


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        ({"format": 2}, "format 2"),
        ({"nodes__0__op": "aten.rand.default"}, "'aten.rand.default' in 'layer', which is not on the allow-list"),
        ({"nodes__0__op": "os.system"}, "not on the allow-list"),
        ({"nodes__0__op": ["aten.mm.default"]}, "not on the allow-list"),
        ({"nodes__0__args": [{"value": 2}, {"value": 0}]}, "value 2 before it is computed"),
        ({"nodes__0__args": [{"value": -1}]}, "value -1 before"),
        ({"nodes__0__args": [{"value": True}]}, "value True before"),
        ({"nodes__0__pass": "sideways"}, "no proper origin"),
        ({"nodes__0__args": [[[[[[[1]]]]]]]}, "nested too deeply"),
        ({"nodes__0__args": [{"dtype": "float64"}]}, "unknown kind"),
        ({"nodes__0__outputs__0__dtype": "complex64"}, "complex64"),
        ({"nodes__0__outputs__0__shape": [2**30, 2**30]}, "elements; the limit"),
        ({"nodes__0__outputs__0__shape": [-1]}, "not a list of lengths"),
        ({"inputs__1__name": "w"}, "same name"),
        ({"inputs__0__kind": "secret"}, "unknown kind 'secret'"),
        ({"updates": {"w": 2}}, "update of 'w' does not fit"),
        ({"updates": {"nothing": 7}}, "update of 'nothing' does not fit"),
        ({"loss": 7}, "not a single number"),
        ({"loss": 99}, "value 99 before"),
        ({"nodes__0__surplus": 1}, "missing or unknown fields"),
    ],
    ids=str,
)
def test_the_sentence_names_what_is_wrong(edit, sentence):
    with pytest.raises(ProgramError) as caught:
        Program.from_bytes(changed(**edit))
    assert sentence in str(caught.value)


def test_the_unchanged_program_is_accepted():
    assert Program.from_bytes(changed()) == TINY


@pytest.mark.parametrize("draw", [-1, 2**32, "0", None, True])
def test_a_random_draw_needs_a_number_of_32_bits(draw):
    program = capture_on(nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)), (4, 3)).program
    value = json.loads(program.to_bytes())
    node = next(n for n in value["nodes"] if n["op"] == "counterfoil.uniform")
    node["args"][1] = draw
    with pytest.raises(ProgramError):
        Program.from_bytes(canonical.encode(value))


@pytest.mark.parametrize(
    "argument",
    [{"int": "5"}, {"int": " 5"}, {"float": "0x1p0"}, {"float": "1e3"}, {"float": "0x1p9999"}, {"int": 2**40}],
    ids=str,
)
def test_another_spelling_of_a_number_is_refused(argument):
    with pytest.raises(ProgramError):
        Program.from_bytes(changed(nodes__4__args=[{"value": 5}, argument]))


def test_integers_beyond_json_and_floats_survive():
    value = json.loads(TINY.to_bytes())
    for argument, number in (({"float": (0.1).hex()}, 0.1), ({"int": str(-(2**63))}, -(2**63))):
        value["nodes"][4]["args"] = [{"value": 5}, argument]
        program = Program.from_bytes(canonical.encode(value))
        assert program.nodes[4].args[1:] == (number,)
        assert Program.from_bytes(program.to_bytes()) == program


def test_values_are_counted_without_gaps(digits_job):
    program = program_of(digits_job)
    expected = len(program.inputs)
    for node in program.nodes:
        assert node.first_value == expected
        assert all(value.number < expected for value in node_values(node))
        expected += len(node.outputs)
    assert len(program.types) == expected


def program_of(job: Job) -> Program:
    with BundleReader.open(job.order) as reader:
        return Program.from_bytes(reader.program())


# Liveness.


def test_nothing_is_freed_before_its_last_use(gpt2_job):
    program = program_of(gpt2_job)
    freed: set[int] = set()
    for index, node in enumerate(program.nodes):
        used = {value.number for value in node_values(node)}
        assert not used & freed
        assert not set(program.last_uses[index]) & freed
        freed |= set(program.last_uses[index])
    kept = {value.number for value in program.updates.values()} | {program.loss.number}
    assert not kept & freed
    # Everything that some operator computed or read is freed, but for the results.
    computed = {n.first_value + i for n in program.nodes for i in range(len(n.outputs))}
    assert computed - kept <= freed


def test_freeing_changes_nothing_and_lowers_the_peak():
    program = tiny_program()
    peaks = {}
    results = {}
    for freeing in (True, False):
        if not freeing:
            program.__dict__["last_uses"] = tuple(() for _ in program.nodes)
        interpreter = _Counting(program, torch.device("cpu"))
        results[freeing] = interpreter.run(tiny_inputs())
        peaks[freeing] = interpreter.peak
    assert torch.equal(results[True].state["w"], results[False].state["w"])
    assert results[True].loss == results[False].loss
    assert peaks[True] < peaks[False]


class _Counting(Interpreter):
    """Keeps the largest number of values that are alive after an operator."""

    peak = 0

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        return tuple(_Counted(unit, self) for unit in super().units)


class _Counted:
    def __init__(self, unit: Unit, counting: _Counting) -> None:
        self._unit = unit
        self._counting = counting
        self.end = unit.end

    def advance(self, frame: Frame) -> None:
        self._unit.advance(frame)
        alive = sum(value is not None for value in frame.values)
        self._counting.peak = max(self._counting.peak, alive)


def test_elements_of_a_type():
    assert TensorType("float32", ()).elements == 1
    assert TensorType("float32", (2, 0, 3)).elements == 0
    assert not TensorType("int64", (2,)).floating


def test_a_missing_input_is_no_silent_zero():
    with pytest.raises(KeyError):
        Interpreter(TINY, torch.device("cpu")).run(StepInputs({"w": torch.zeros(24, 24)}, {}, {}, Draws(0, 1)))
