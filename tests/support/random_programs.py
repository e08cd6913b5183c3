"""Programs with arguments that a stranger made up: a single operator with arguments by chance, or real ones changed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from benchmarks.vectors.jobs import convolution_order, transformer_order

from counterfoil_core.arithmetic.admission import read_program
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.arithmetic.compute.metatypes import check_by_library
from counterfoil_core.arithmetic.compute.plan import Prepared
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, step_key
from counterfoil_core.arithmetic.grid.margin import kinds_without_bound, site_margins
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.arithmetic.selftest import tiny_program
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.dtypes import STATE_DTYPES
from counterfoil_core.base.errors import LimitError, NonFiniteError, RefusedError
from counterfoil_core.base.precision import Precision
from counterfoil_core.operators.catalogue import allowed_names
from counterfoil_core.operators.signatures import Parameter, signature_of
from counterfoil_core.program.graph import Program
from counterfoil_core.program.limits import Limits
from counterfoil_core.values.outcome import Outcome
from support.jobs import replaced

SMALL = Limits(operators=2000, tensors=4000, bytes=2**26, flops=1e8)
"""What is computed here."""
_TORCH = {
    "float32": torch.float32,
    "int64": torch.int64,
    "int32": torch.int32,
    "uint8": torch.uint8,
    "bool": torch.bool,
}
_NUMBERS: tuple[Any, ...] = (
    0, 1, -1, 2, 3, 4, 7, 16, -16, 127, 255, 2**31 - 1, -(2**31), 2**32, 2**40, -(2**53) + 1, 2**53 - 1,
    {"int": str(2**62)}, {"int": str(2**63 - 1)}, {"int": str(-(2**63))}, {"int": str(2**63)}, {"int": str(10**30)},
)  # fmt: skip
_FLOATS = (0.0, -0.0, 1.0, 0.5, -2.5, 1e-300, 1e300, 3.4e38, float("inf"), float("-inf"), float("nan"))
_OTHERS: tuple[Any, ...] = (
    None, True, False, "", "mean", "none", "tanh", "floor", "x" * 300, [], [[]], [None], {"dtype": "float32"},
    {"dtype": "int64"}, {"dtype": "bool"}, {"memory_format": "channels_last"}, {"layout": "strided"}, {"value": 0},
    {"value": 10**9}, {"value": -1},
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A program of a stranger: what was done to it, and its JSON."""

    name: str
    data: bytes


def cases(seed: int, count: int) -> Iterator[Case]:
    """Yield ``count`` programs, the same ones for the same seed; most have only one thing wrong, and many nothing."""
    for number in range(count):
        case = random_program(random.Random(f"{seed} {number}"))
        yield Case(f"case {number} of seed {seed}: {case.name}", case.data)


def random_program(chance: random.Random) -> Case:
    """Return a program with arguments by chance."""
    name, value = _changed(chance) if chance.random() < 0.35 else _single(chance)
    return Case(name, canonical.encode(value))


def compute(data: bytes) -> None:
    """Read a program as an auditor does, and compute one step of it when it is small.

    Raises:
        RefusedError: It is malformed or unsupported.
        LimitError: It is not small.
        NonFiniteError: It gives what is not finite.
    """
    precision = Precision()
    program = read_program(data, precision, SMALL)
    site_margins(program, precision)
    kinds_without_bound(program, precision)
    assert program.to_bytes() == data
    _compute(program, precision)


def outcome(data: bytes) -> Outcome | None:
    """How :func:`compute` ends.

    Returns:
        REFUSED; INCONCLUSIVE where it is too large, or gives what is not finite; None when it was computed. Whatever
        else is raised, a test has found.
    """
    try:
        compute(data)
    except RefusedError:
        return Outcome.REFUSED
    except (LimitError, NonFiniteError):
        return Outcome.INCONCLUSIVE
    return None


def _compute(program: Program, precision: Precision) -> None:
    kernels = Kernels(torch.device("cpu"), 1)
    try:
        rounder = RecordingRounder(program, precision, kernels)
        rounder.begin_step(step_key(Digest.of(b"order"), 1))
        Interpreter(program, torch.device("cpu")).run(_inputs(program), rounder=rounder)
    finally:
        kernels.close()


def _inputs(program: Program) -> StepInputs:
    generator = torch.Generator().manual_seed(1)
    tensors: dict[str, dict[str, Any]] = {"state": {}, "batch": {}, "scalar": {}}
    for item in program.inputs:
        if item.kind == "scalar":
            tensors["scalar"][item.name] = 0.5
        elif item.type.floating:
            tensors[item.kind][item.name] = torch.rand(item.type.shape, generator=generator) * 2 - 1
        else:
            drawn = torch.randint(0, 3, item.type.shape, generator=generator)
            tensors[item.kind][item.name] = drawn.to(_TORCH[item.type.dtype])
    return StepInputs(tensors["state"], tensors["batch"], tensors["scalar"], Draws(5, 1))


# Real programs, changed.


@cache
def _real() -> tuple[bytes, ...]:
    return tuple(
        program.to_bytes() for program in (tiny_program(), convolution_order().program, transformer_order().program)
    )


def _changed(chance: random.Random) -> tuple[str, Any]:
    value = json.loads(chance.choice(_real()))
    node = chance.choice(value["nodes"])
    change = chance.choice(_CHANGES)
    change(chance, node, value)
    return f"{node.get('op')!s:.60}, {change.__name__.strip('_')}", value


def _argument(chance: random.Random, node: Any, value: Any) -> None:
    places = [(node["args"], at) for at in range(len(node["args"]))] + [(node["kwargs"], key) for key in node["kwargs"]]
    for holder, at in list(places):
        if isinstance(holder[at], list):
            places += [(holder[at], inner) for inner in range(len(holder[at]))]
    if places:
        holder, at = chance.choice(places)
        holder[at] = _anything(chance, len(value["inputs"]) + len(value["nodes"]))


def _one_more_argument(chance: random.Random, node: Any, value: Any) -> None:
    node["args"].append(_anything(chance, 4))


def _one_argument_less(chance: random.Random, node: Any, value: Any) -> None:
    if node["args"]:
        node["args"].pop(chance.randrange(len(node["args"])))


def _keyword(chance: random.Random, node: Any, value: Any) -> None:
    names = [parameter.name for parameter in signature_of(node["op"]).parameters]
    node["kwargs"][chance.choice([*names, "out", "device", "dtype", ""])] = _anything(chance, 4)


def _other_operator(chance: random.Random, node: Any, value: Any) -> None:
    node["op"] = chance.choice(allowed_names())


def _other_output(chance: random.Random, node: Any, value: Any) -> None:
    at = chance.randrange(len(node["outputs"]))
    node["outputs"][at] = chance.choice([None, _described(chance), _described(chance)])


def _other_outputs(chance: random.Random, node: Any, value: Any) -> None:
    node["outputs"] = [_described(chance) for _ in range(chance.choice([0, 2, 3, 500]))]


_CHANGES: tuple[Callable[[random.Random, Any, Any], None], ...] = (
    _argument, _argument, _argument, _argument, _one_more_argument, _one_argument_less, _keyword, _other_operator,
    _other_output, _other_outputs,
)  # fmt: skip


def _anything(chance: random.Random, values: int, depth: int = 0) -> Any:
    kind = chance.randrange(5 if depth < 2 else 3)
    if kind == 0:
        return {"value": chance.randrange(values)}
    if kind == 1:
        return chance.choice(_NUMBERS)
    if kind == 2:
        return {"float": canonical.float_text(chance.choice(_FLOATS))}
    if kind == 3:
        return [_anything(chance, values, depth + 1) for _ in range(chance.choice([0, 1, 1, 2, 2, 3, 4, 6, 40]))]
    return chance.choice(_OTHERS)


def _described(chance: random.Random) -> Any:
    lengths = [0, 1, 2, 3, 4, 8, 2**20, 2**36]
    shape = [chance.choice(lengths) for _ in range(chance.choice([0, 1, 2, 2, 3, 4, 17]))]
    return {"dtype": chance.choice(STATE_DTYPES), "shape": shape}


# A single operator.


def _single(chance: random.Random) -> tuple[str, Any]:
    name = chance.choice(allowed_names())
    inputs = _given(chance)
    args, kwargs = [], {}
    for parameter in signature_of(name).parameters:
        if not parameter.required and chance.random() < 0.4:
            if not parameter.by_name:
                break
            continue
        argument = _fitting(chance, parameter, len(inputs))
        if chance.random() < 0.05:
            argument = _anything(chance, len(inputs))
        if parameter.by_name:
            kwargs[parameter.name] = argument
        else:
            args.append(argument)
    node = {"op": name, "args": args, "kwargs": kwargs, "outputs": [], "module": "m", "pass": "forward"}
    value: dict[str, Any] = {"format": 1, "inputs": inputs, "nodes": [node], "updates": {}, "loss": 0}
    inputs.append({"name": "loss", "kind": "state", "dtype": "float32", "shape": []})
    value["loss"] = len(inputs) - 1
    results = signature_of(name).results
    for count in range(1, 9) if results is None else (results,):
        node["outputs"] = [{"dtype": "float32", "shape": []}] * count
        found = _found(value)
        if found is not None:
            node["outputs"] = found
            break
    if chance.random() < 0.1:
        _other_output(chance, node, value)
    return name, value


def _given(chance: random.Random) -> list[Any]:
    """Inputs whose shapes fit one another often enough."""
    shape = [chance.choice([1, 2, 3, 4, 6, 8]) for _ in range(chance.choice([0, 1, 2, 2, 3, 4, 4, 5]))]
    shapes = [shape, shape, shape[:1], shape[1:2], shape[1:], list(reversed(shape)), [3, 3], [2, 3, 4, 4], []]
    floating = chance.random() < 0.6
    if chance.random() < 0.1:
        shapes[0] = [*shape[:-1], 0]
    return [
        {
            "name": f"x{number}",
            "kind": "state",
            "dtype": "float32" if floating and chance.random() < 0.9 else chance.choice(STATE_DTYPES),
            "shape": list(item),
        }
        for number, item in enumerate(shapes)
    ]


def _fitting(chance: random.Random, parameter: Parameter, values: int) -> Any:
    """An argument of the right type, most often of a sensible size."""
    if parameter.optional and chance.random() < 0.3:
        return None
    kind = parameter.type
    if kind == "Tensor":
        return {"value": chance.choice([0, 0, 1, 1, chance.randrange(values)])}
    if kind in ("List[Tensor]", "List[Optional[Tensor]]"):
        return [{"value": chance.choice([0, 1, chance.randrange(values)])} for _ in range(chance.choice([1, 2, 3]))]
    if kind == "int":
        return _size(chance)
    if kind == "List[int]":
        length = parameter.length if parameter.length and chance.random() < 0.8 else chance.choice([0, 1, 2, 3, 4])
        return [_size(chance) for _ in range(length)]
    if kind == "bool":
        return chance.random() < 0.5
    if kind == "List[bool]":
        return [chance.random() < 0.7 for _ in range(parameter.length or 3)]
    if kind in ("float", "number"):
        number = chance.choice(_FLOATS) if chance.random() < 0.3 else chance.choice([0.5, 1.0, 2.0, 1e-5])
        return {"float": canonical.float_text(number)} if chance.random() < 0.6 else _size(chance)
    if kind == "str":
        return chance.choice(["none", "tanh", "floor", "trunc"])
    if kind == "ScalarType":
        return {"dtype": chance.choice(STATE_DTYPES)}
    if kind == "MemoryFormat":
        return {"memory_format": chance.choice(["contiguous_format", "preserve_format", "channels_last"])}
    return {"layout": "strided"} if kind == "Layout" else None


def _size(chance: random.Random) -> Any:
    return chance.choice(_NUMBERS) if chance.random() < 0.08 else chance.choice([0, 1, 1, 2, 2, 3, 4, -1, -2])


def _found(value: Any) -> list[Any] | None:
    """What the operator of a program would give, where it takes its arguments."""
    try:
        program = Program.from_bytes(canonical.encode(value))
        with replaced(Prepared, "_agreed", lambda prepared, result: _give(result)):
            check_by_library(program, "float64", [0])
    except _Given as given:
        names = {torch.float64: "float32", **{dtype: name for name, dtype in _TORCH.items() if name != "float32"}}
        if any(output is not None and output.dtype not in names for output in given.outputs):
            return None
        return [
            None if output is None else {"dtype": names[output.dtype], "shape": list(output.shape)}
            for output in given.outputs
        ]
    except Exception:  # refused, or a fault: then :func:`outcome` meets it again
        return None
    return None


class _Given(BaseException):
    """Ends a check at its first operator, with what that gives."""

    def __init__(self, outputs: Sequence[Any]) -> None:
        super().__init__()
        self.outputs = outputs


def _give(result: Any) -> Any:
    raise _Given(list(result) if isinstance(result, (tuple, list)) else [result])
