"""What a step launches on a CUDA device, counted without one: kernels, the bytes that they move, what they multiply.

The step runs by the device's own code, at its true size, on tensors without memory (torch's device ``meta``). Nothing
of that code looks at a value before a step ends, so none is needed: where it waits for one, it is given zero, and the
wait is counted. Triton's launches are noted in the place of being run.

- **Launches.** One for each kernel of Triton and one for each of torch's operators that is no view. Some of torch's
  launch several kernels, as sums of much and products that are cut along the inner axis do; so it is a lower bound.
- **Bytes** are those of operands and results, each once, as their sizes and strides say: what a cache cannot do better.
  The few that a kernel of Triton moves beside its tensors (rows of a place, logged elements) are left out.
- **Operations** of a product are two for each pair of elements, in the arithmetic that it is computed in: a product of
  integers that are cut into digits has them once for each pair of digits.
"""

from __future__ import annotations

import math
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten
from torch.utils.flop_counter import flop_registry

from benchmarks.measure import Benchmark, Cell, Results, Sections, Values, figures, on_page, some_of
from benchmarks.pages import markdown
from benchmarks.workloads import WORKLOADS, Workload, public_gpt2
from counterfoil_core.arithmetic.compute import interpreter, plan
from counterfoil_core.arithmetic.compute.chainplan import ChainUnit
from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.compute.plan import Prepared, dtype_of
from counterfoil_core.arithmetic.grid import ahead, devicechains
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.base.precision import PROFILES, AnyPrecision, ExactPrecision
from counterfoil_core.kernels import devices
from counterfoil_core.kernels.exact import device_products
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.products import Form
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.program.graph import Program, node_values
from counterfoil_core.program.torchdtypes import TORCH_DTYPES

META = torch.device("meta")
"""The device that stands for one of CUDA."""
LOGGED = 2
"""Elements of each rounding site that the log of a replay has."""
FORMS = ("recorded", "replayed")

_Moved = tuple[tuple[str, ...], tuple[str, ...]]
MOVED: Mapping[str, _Moved] = {
    "_round_block": (("values",), ("values",)),
    "_fingerprint_block": (("values",), ()),
    "_largest": (("x",), ("largest",)),
    "_layer_norm": (("x", "weight", "bias"), ("out", "means", "rstds")),
    "_layer_norm_gradient": (("g", "x", "means", "rstds", "weight"), ("to_input",)),
    "_layer_norm_columns": (("g", "x", "means", "rstds"), ("to_weight", "to_bias")),
    "_batch_norm": (("x", "weight", "bias"), ("out", "means", "rstds", "new_mean", "new_variance")),
    "_batch_norm_gradient": (("g", "x", "means", "rstds"), ("to_input", "to_weight", "to_bias")),
    "_norm_sizes": (("x", "rstds"), ("tops",)),
    "_gradient_sizes": (("g", "x", "means", "rstds"), ("tops",)),
    "_largest_gate": (("g", "x"), ("top",)),
    "_largest_of_products": (("first", "second"), ("top",)),
    "_top": (("x",), ("top",)),
    "_measure": (("x",), ("found",)),
    "_quantise": (("x", "largest"), ("values", "exponents")),
    "_sum": (("x", "largest"), ("totals",)),
    "_sum_whole": (("x",), ("result",)),
    "_row_frexp": (("x",), ("fractions", "scales")),
    "_round_sums": (("totals", "largest"), ("result",)),
    "_bracket": (("values",), ("result",)),
    "_fill": ((), ("out",)),
    "_multiply": (("a", "b"), ("c",)),
    "_convolve": (("a", "x"), ("c",)),
    "_sure": (("x",), ("result",)),
    "_leaves": ((), ()),
    "_run_chain": (("operands",), ("results",)),
}
"""Which tensors each kernel of Triton reads and writes, by the names of its arguments."""


@dataclass(frozen=True)
class Launch:
    """One launch."""

    kernel: str  #: The kernel of Triton, or the operator of torch, which has a dot in its name.
    within: str  #: Kind of the program's operator that launched it; empty before, between and after them.
    read: int = 0  #: Bytes.
    written: int = 0  #: Bytes.
    operations: int = 0  #: Multiplications and additions, of products alone.
    wide: bool = False  #: Whether it reads or writes tensors of float64 numbers, with more than one element.


@dataclass
class Launches:
    """What a step launches."""

    operators: int  #: Those of its program.
    least: int  #: Bytes of what each of its units, an operator that is no view or a chain, takes and gives, each once.
    launches: list[Launch] = field(default_factory=list)  #: In their order.
    waits: Counter[str] = field(default_factory=Counter)  #: Kinds of operators in which the host waits for a value.

    @property
    def moved(self) -> int:
        """Bytes read and written."""
        return sum(one.read + one.written for one in self.launches)

    @property
    def of_float64(self) -> Counter[str]:
        """Those that read or write float64 tensors, by what they are."""
        return Counter(one.kernel for one in self.launches if one.wide)

    def by(self, name: Callable[[Launch], str]) -> Counter[str]:
        """Count them by what ``name`` says of each."""
        return Counter(map(name, self.launches))


def launches(program: Program, precision: AnyPrecision, form: str = FORMS[0]) -> Launches:
    """Count what the first step of a program launches, when it is repeated: what is done once is done.

    Args:
        program: The program.
        precision: The profile.
        form: One of FORMS.
    """
    with _as_cuda():
        computer = Interpreter(
            program, META, TORCH_DTYPES[precision.compute], _compute(precision), devicechains.run_on_device,
            devicechains.DEFINED if isinstance(precision, ExactPrecision) else devicechains.UNROUNDED,
        )  # fmt: skip
        kernels, arithmetic = Kernels(META, 1, run_ahead=True), arithmetic_of(precision)
        rounder: Any
        if form == "replayed":
            rounder = arithmetic.replayer(program, kernels)
            begin = partial(rounder.follow, 1, _logs(program, precision))
        else:
            rounder = arithmetic.recorder(program, kernels)
            begin = partial(rounder.begin_step, 1)
        inputs = _inputs(program)
        for _ in range(2):
            counted = _Counting(Launches(len(program.nodes), least_bytes(computer)))
            with counted.installed():
                begin()
                computer.run(inputs, rounder=rounder)
        return counted.found


def least_bytes(computer: Interpreter) -> int:
    """Bytes of what each unit of a step takes and gives: nothing that computes them one by one moves less."""
    program, moved = computer.program, 0

    def size(number: int, dtype: str = "") -> int:
        described = program.types[number]
        if described is None:
            return 0
        named = {"float64": computer.dtype, "": dtype_of(described.dtype, computer.dtype)}
        return math.prod(described.shape) * (named.get(dtype) or TORCH_DTYPES[dtype]).itemsize

    for unit in computer.units:
        if isinstance(unit, ChainUnit):
            moved += sum(size(item.value, item.dtype) for item in (*unit.chain.operands, *unit.chain.results))
        elif isinstance(unit, Prepared) and unit.node.entry.operator_class is not OperatorClass.VIEW:
            taken = {value.number for value in node_values(unit.node)}
            given = range(unit.node.first_value, unit.node.first_value + len(unit.node.outputs))
            moved += sum(map(size, (*taken, *given)))
    return moved


def _compute(precision: AnyPrecision) -> Any:
    if not isinstance(precision, ExactPrecision):
        return native
    cores = Form.TENSOR_CORES if precision.bits <= device_products.MOST_BITS else Form.FLOAT64
    return exactly(Profile(precision.bits, cores, cores, cores))


def _logs(program: Program, precision: AnyPrecision) -> list[SiteLog]:
    if isinstance(precision, ExactPrecision):
        return []
    counts = (min(LOGGED, site.elements) for site in program.sites)
    return [SiteLog(0, np.arange(count), np.zeros(count, np.bool_)) for count in counts]


def _inputs(program: Program) -> StepInputs:
    found: dict[str, dict[str, Any]] = {"state": {}, "batch": {}, "scalar": {}, "combined": {}}
    for item in program.inputs:
        if item.kind == "scalar":
            found[item.kind][item.name] = 0.5
        else:
            dtype = TORCH_DTYPES[item.type.dtype]
            found[item.kind][item.name] = torch.empty(item.type.shape, dtype=dtype, device=META)
    return StepInputs(found["state"], found["batch"], found["scalar"], Draws(1, 1), combined=found["combined"])


@contextmanager
def _as_cuda() -> Iterator[None]:
    """Take tensors without memory for those of a CUDA device meanwhile."""
    with (
        patch.object(devices, "triton_reaches", lambda device: device.type == "meta"),
        patch.object(interpreter, "_ordinary", lambda tensor: tensor),
        patch.object(plan, "_unshared", _unshared),
        patch.object(ahead.Ahead, "wait", _never),
    ):
        yield


def _unshared(outputs: list[Tensor | None], args: list[Any]) -> list[Tensor | None]:
    """As the plan's own, which compares addresses: here there are none."""
    own = {one.untyped_storage()._cdata for one in args if isinstance(one, Tensor)}
    return [one.clone() if one is not None and one.untyped_storage()._cdata in own else one for one in outputs]


def _never(_rounder: object) -> None:
    raise AssertionError("a step that is counted is an ordinary one")


class _Counting(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts what is launched, and answers where the host waits.

    Args:
        found: Filled.
    """

    def __init__(self, found: Launches) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found = found
        self._within = ""

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Count meanwhile."""
        import triton
        from triton.runtime.interpreter import InterpretedFunction

        advance, advance_chain, finish, counting = Prepared.advance, ChainUnit.advance, ahead.Ahead.finish, self

        def within(prepared: Prepared, frame: Any) -> None:
            counting._within = prepared.node.entry.kind
            advance(prepared, frame)
            counting._within = ""

        def within_chain(unit: ChainUnit, frame: Any) -> None:
            counting._within = "chain"
            advance_chain(unit, frame)
            counting._within = ""

        def ended(rounder: Any, numbers: Tensor) -> list[float]:
            # Whatever comes back is finite.
            assert finish(rounder, numbers) is not None
            return [0.0] * numbers.numel()

        def launched(function: Any, *arguments: Any, grid: Any, warmup: bool = False, **named: Any) -> None:
            counting._triton(function.fn.__name__, dict(zip(function.arg_names, arguments, strict=False)) | named)

        with ExitStack() as stack:
            for owner in (triton.JITFunction, InterpretedFunction):
                stack.enter_context(patch.object(owner, "run", launched))
            stack.enter_context(patch.object(Prepared, "advance", within))
            stack.enter_context(patch.object(ChainUnit, "advance", within_chain))
            stack.enter_context(patch.object(ahead.Ahead, "finish", ended))
            stack.enter_context(self)
            yield

    def _triton(self, kernel: str, given: Mapping[str, Any]) -> None:
        read, written = MOVED[kernel]
        operations = _OPERATIONS[kernel](given) if kernel in _OPERATIONS else 0
        moved = [tensors_in([given[name] for name in names]) for names in (read, written)]
        ins, outs = map(bytes_of, moved)
        self.found.launches.append(
            Launch(kernel, self._within, ins, outs, operations, _is_wide([*moved[0], *moved[1]]))
        )

    def __torch_dispatch__(
        self, function: Any, types: Sequence[type], args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Note an operator of torch, and do it without values."""
        kwargs = dict(kwargs or {})
        if function._can_decompose():
            # Without gradients an operator that is made of others comes here whole.
            with self:
                return function.decompose(*args, **kwargs)
        given = tensors_in((args, kwargs))
        on_device = any(one.is_meta for one in given)
        target = kwargs.get("device")
        if on_device and function is torch.ops.aten._local_scalar_dense.default:
            self.found.waits[self._within] += 1
            return False if given[0].dtype is torch.bool else given[0].dtype.is_floating_point * 0.0
        if on_device and target is not None and torch.device(target).type == "cpu":
            self.found.waits[self._within] += 1
            self.found.launches.append(Launch(str(function.overloadpacket), self._within, bytes_of(given)))
            return torch.zeros(given[0].shape, dtype=kwargs.get("dtype") or given[0].dtype)
        result = function(*args, **kwargs)
        here = any(one.is_meta for one in (*given, *tensors_in(result)))
        if here and is_launch(function, given, result):
            moved = moved_by(function, args, kwargs, given, result)
            read, written = map(bytes_of, moved)
            products, wide = operations_of(function, args, kwargs, result), _is_wide([*moved[0], *moved[1]])
            name = str(function.overloadpacket)
            self.found.launches.append(Launch(name, self._within, read, written, products, wide))
        return result


def tensors_in(tree: Any) -> list[Tensor]:
    """Return the tensors in what an operator takes or gives."""
    return [one for one in tree_flatten(tree)[0] if isinstance(one, Tensor)]


def _is_wide(tensors: Iterable[Tensor]) -> bool:
    return any(one.dtype is torch.float64 and one.numel() > 1 for one in tensors)


def bytes_of(tensors: Iterable[Tensor]) -> int:
    """Bytes of tensors; an axis along which nothing moves in memory has one element."""
    return sum(
        math.prod(length for length, step in zip(one.shape, one.stride(), strict=True) if step) * one.element_size()
        if one.numel()
        else 0
        for one in tensors
    )


_NOTHING = frozenset({"aten::empty", "aten::empty_strided", "aten::empty_like", "aten::new_empty", "aten::detach",
                      "aten::lift_fresh", "aten::new_empty_strided", "aten::_unsafe_view", "aten::alias",
                      "aten::resize_", "aten::set_"})  # fmt: skip
"""Operators that launch nothing, though their results are not views."""


def operations_of(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> int:
    """Return the multiplications and additions of an operator of torch that is a product; 0 for any other."""
    packet = function.overloadpacket
    return int(flop_registry[packet](*args, **kwargs, out_val=result)) if packet in flop_registry else 0


def is_launch(function: Any, given: Sequence[Tensor], result: Any) -> bool:
    """Whether an operator of torch launches a kernel: it is no view, and there is something to do."""
    schema = function._schema
    if schema.name in _NOTHING or function.is_view:
        return False
    made = tensors_in(result)
    # Of what gives its argument back as it is; and of nothing.
    if not schema.is_mutable and made and all(any(one is other for other in given) for one in made):
        return False
    return any(one.numel() for one in (*made, *given))


def moved_by(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], given: Sequence[Tensor], result: Any
) -> tuple[list[Tensor], list[Tensor]]:
    """What an operator reads and what it writes."""
    changed: list[Tensor] = []
    only_written = function.overloadpacket.__name__ in ("fill_", "zero_", "copy_")
    for number, argument in enumerate(function._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[number] if number < len(args) else kwargs.get(argument.name)
            changed += tensors_in([value])
            only_written = only_written or argument.is_out
    fresh = [one for one in tensors_in(result) if not any(one is other for other in given)]
    read = [one for one in given if not (only_written and any(one is other for other in changed))]
    # An operator in place gives another object for the same memory.
    return read, changed or fresh


def _of_digits(given: Mapping[str, Any]) -> int:
    # Each result adds so many products, each of so many pairs of digits.
    return 2 * int(given["c"].numel() * given["inner"]) * int(given["count"]) ** 2


_OPERATIONS: Mapping[str, Callable[[Mapping[str, Any]], int]] = {"_multiply": _of_digits, "_convolve": _of_digits}


LARGE = {"gpt2-124M": lambda: public_gpt2(8, 512)}
"""Steps that are only counted here."""
STEPS: Mapping[str, Callable[[], Workload]] = {**WORKLOADS, **LARGE}
COUNTED = ("exact-20", "exact-20-rows", "float64-24")


def _cells(options: Namespace) -> list[Cell]:
    keys = options.steps or ["gpt2", "digits"]
    return [
        Cell(f"{key} {profile} {form}")
        for key in keys
        for profile in COUNTED
        for form in (FORMS if profile.startswith("float") else FORMS[:1])
    ]


def _measure(_options: Namespace, cell: str) -> Values:
    key, profile, form = cell.split()
    precision = PROFILES[profile]
    found = launches(STEPS[key]().order(precision).program, precision, form)
    return {
        "operators": found.operators, "launches": len(found.launches), "moved": found.moved, "least": found.least,
        "float64": dict(found.of_float64.most_common()),
        "operations": sum(one.operations for one in found.launches), "waits": dict(found.waits),
        "kernels": dict(found.by(lambda one: one.kernel).most_common()),
        "within": dict(found.by(lambda one: f"{one.within}: {one.kernel}").most_common()),
        "said": f"{len(found.launches) / found.operators:.2f} launches an operator",
    }  # fmt: skip


def _sections(results: Results, _options: Namespace) -> Sections:
    rows = [
        [
            key,
            one["operators"],
            one["launches"],
            f"{one['launches'] / one['operators']:.2f}",
            f"{one['moved'] / 2**20:,.1f}",
            f"{one['moved'] / one['least']:.2f}",
            sum(one["waits"].values()),
        ]
        for key, one in figures(results).items()
    ]
    head = ["step", "operators", "launches", "launches an operator", "MiB moved", "times the least", "waits"]
    return on_page("kernels.md", "launches", markdown(head, [list(map(str, row)) for row in rows]))


LAUNCHES = Benchmark(
    "What a step launches on a CUDA device, counted without one.",
    _cells,
    _measure,
    _sections,
    (some_of("steps", STEPS),),
    here=True,
)
