"""What may stand in a program of an exact profile is known from its nodes and their types alone."""

from __future__ import annotations

from typing import Any

import pytest
from torch import Tensor

from counterfoil_core.arithmetic.admission import read_program
from counterfoil_core.arithmetic.beforehand import LIMITS, check_exact, check_single
from counterfoil_core.arithmetic.compute.operation import make_operation
from counterfoil_core.arithmetic.families.table import DEFINITIONS
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.canonical import float_text
from counterfoil_core.base.errors import CancelledError, ProgramError
from counterfoil_core.base.precision import ExactPrecision, Precision
from counterfoil_core.kernels.exact import convolutions, digitproducts, products, sums
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.products import Form
from counterfoil_core.operators.node import Argument, Node, TensorType, Value
from counterfoil_core.program.graph import types_by_name
from counterfoil_core.program.torchdtypes import TORCH_DTYPES
from support.definite_calls import CALLS
from support.hostile_programs import single
from support.jobs import digits_order, gpt2_order

DTYPES = {dtype: name for name, dtype in TORCH_DTYPES.items()}


def use(name: str, args: list[Any], kwargs: dict[str, Any] | None = None) -> tuple[Node, list[TensorType]]:
    """A node that calls an operator, and the types of its operands."""
    types: list[TensorType] = []

    def argument(item: Any) -> Argument:
        if isinstance(item, Tensor):
            types.append(TensorType(DTYPES[item.dtype], tuple(item.shape)))
            return Value(len(types) - 1)
        if isinstance(item, TensorType):
            types.append(item)
            return Value(len(types) - 1)
        return tuple(argument(part) for part in item) if isinstance(item, list) else item

    given = tuple(argument(item) for item in args)
    named = tuple(sorted((key, argument(item)) for key, item in (kwargs or {}).items()))
    return Node(name, given, named, (TensorType("float32", ()),), len(types), "", "forward"), types


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> tuple[list[int], list[int]]:
    """The numbers of products and of terms that are checked while something is computed."""
    found: tuple[list[int], list[int]] = ([], [])
    check_operands, sum_bits = products.check_operands, sums.sum_bits
    for module in (products, convolutions, digitproducts):
        monkeypatch.setattr(
            module, "check_operands", lambda a, b, count: (found[0].append(count), check_operands(a, b, count))[1]
        )
    monkeypatch.setattr(sums, "sum_bits", lambda count: (found[1].append(count), sum_bits(count))[1])
    return found


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_terms_are_counted_as_the_rules_count_them(call: Any, counted: tuple[list[int], list[int]]) -> None:
    name, args = call
    node, types = use(name, args)
    arguments = types_by_name(node, types)
    operation = make_operation(node)
    limited = LIMITS[node.entry.kind]
    DEFINITIONS[node.entry.kind](operation.named(args, {}), Profile(20, Form.FLOAT64, Form.FLOAT64, Form.FLOAT64))
    assert set(counted[0]) == set(limited.products(arguments))
    assert set(counted[1]) == set(limited.terms(arguments))


def f(*shape: int) -> TensorType:
    return TensorType("float32", shape)


def i(*shape: int, dtype: str = "int64") -> TensorType:
    return TensorType(dtype, shape)


GEOMETRY = [[1, 1], [0, 0], [1, 1], False, [0, 0], 1]
REFUSED: list[tuple[str, list[Any], str]] = [
    ("aten._softmax.default", [f(3, 4), 1, False], "is composite"),
    ("aten.addmm.default", [f(3), f(3, 4), f(4, 3)], "is composite"),
    ("aten.lerp.Scalar", [f(3), f(3), 0.5], "is composite"),
    ("aten.convolution.default", [f(1, 2, 5, 5), f(3, 2, 3, 3), f(3), *GEOMETRY], "has a bias"),
    ("aten.convolution.default", [f(2, 5, 5), f(3, 2, 3, 3), None, *GEOMETRY], "has no batch axis"),
    (
        "aten.convolution_backward.default",
        [f(1, 3, 3, 3), f(1, 2, 5, 5), f(3, 2, 3, 3), [3], *GEOMETRY, [True, True, True]],
        "gradient of a bias",
    ),
    ("aten.embedding_dense_backward.default", [f(4, 3), i(4), 5, -1, True], "divides by frequencies"),
    ("aten.index_put.default", [f(4), [i(4, dtype="bool")], f(), True], "has a mask"),
    ("aten.div.Tensor", [f(4), i(4)], "takes integers"),
    ("aten.exp.default", [i(4)], "takes integers"),
    ("aten.sum.default", [i(4, dtype="bool")], "takes integers"),
    ("aten.mm.default", [f(2, 2**22 + 1), f(2**22 + 1, 2)], "adds 4,194,305 terms"),
    ("aten.bmm.default", [f(1, 2, 2**23), f(1, 2**23, 2)], "adds 8,388,608 terms"),
    ("aten.convolution.default", [f(1, 2**20, 5, 5), f(3, 2**20, 3, 3), None, *GEOMETRY], "adds 9,437,184 terms"),
    (
        "aten.convolution_backward.default",
        [f(8, 3, 1024, 1024), f(8, 2, 1024, 1024), f(3, 2, 1, 1), [3], *GEOMETRY, [False, True, False]],
        "adds 8,388,608 terms",
    ),
    ("aten.sum.default", [f(2**15, 2**15)], "1,073,741,824 terms"),
    ("aten.cumsum.default", [f(2**29 + 1), 0], "536,870,913 terms"),
    ("aten.index_add.default", [f(3), 0, i(2**29), f(2**29)], "536,870,913 terms"),
]


@pytest.mark.parametrize(("name", "args", "what"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_refused_by_name(name: str, args: list[Any], what: str) -> None:
    with pytest.raises(ProgramError, match=what) as refused:
        check_single(*use(name, args), 20)
    assert name in refused.value.sentence
    assert refused.value.remedy


def test_a_factor_is_refused() -> None:
    with pytest.raises(ProgramError, match="has a factor"):
        check_single(*use("aten.index_add.default", [f(3), 0, i(4), f(4)], {"alpha": 0.5}), 20)


@pytest.mark.parametrize("case", [case for case in REFUSED if "terms" in case[2]], ids=lambda case: case[0])
def test_one_term_less_is_taken(case: tuple[str, list[Any], str]) -> None:
    """The control of the limits: half of each length that is too long."""
    name, args, _ = case

    def halved(item: Any) -> Any:
        return (
            TensorType(item.dtype, tuple(n // 4 if n > 512 else n for n in item.shape))
            if isinstance(item, TensorType)
            else item
        )

    check_single(*use(name, [halved(item) for item in args]), 20)


def test_the_limit_of_products_follows_from_the_profile() -> None:
    node, types = use("aten.mm.default", [f(2, 2**14 + 1), f(2**14 + 1, 2)])
    check_single(node, types, 20)
    with pytest.raises(ProgramError, match="with operands of 24 and 24 bits at most 16,384"):
        check_single(node, types, 24)


def test_a_step_that_was_captured_for_another_profile_is_refused() -> None:
    draft = gpt2_order()
    with pytest.raises(ProgramError, match="is composite") as refused:
        check_exact(draft.program, 20)
    assert "anew with an exact profile" in str(refused.value.remedy)
    data = draft.program.to_bytes()
    with pytest.raises(ProgramError, match="is composite"):
        read_program(data, ExactPrecision(20))
    assert read_program(data, Precision()).nodes


def test_a_step_that_was_captured_for_an_exact_profile_is_taken() -> None:
    for order in (gpt2_order, digits_order):
        program = order(precision=ExactPrecision(13)).program
        check_exact(program, 24)
        assert read_program(program.to_bytes(), ExactPrecision(20)).nodes


@pytest.mark.parametrize(
    ("operator", "args", "inputs"),
    [
        ("aten.mm.default", [{"value": 0}, {"value": 1}], [("float32", []), ("float32", [])]),
        ("aten.bmm.default", [{"value": 0}, {"value": 1}], [("float32", [3]), ("float32", [])]),
        ("aten.convolution.default", [{"value": 0}, {"value": 1}, None, *GEOMETRY], [("float32", []), ("float32", [])]),
        ("aten.cumsum.default", [{"value": 0}, 7], [("float32", [2, 3])]),
        ("aten.scatter_add.default", [{"value": 0}, 5, {"value": 1}, {"value": 0}], [("float32", [2]), ("int64", [2])]),
    ],
)  # fmt: skip
def test_shapes_that_do_not_fit_are_refused_before_lengths_are_read(
    operator: str, args: list[Any], inputs: list[Any]
) -> None:
    with pytest.raises(ProgramError):
        read_program(single(operator, args, [("float32", [2, 2])], *inputs), ExactPrecision(20))


def test_a_single_operation_of_a_stranger_is_taken() -> None:
    """The control of the test above."""
    args = [{"value": 0}, {"value": 1}]
    data = single("aten.mm.default", args, [("float32", [2, 2])], ("float32", [2, 3]), ("float32", [3, 2]))
    assert read_program(data, ExactPrecision(20)).nodes


@pytest.mark.parametrize("number", [1e300, -3.4028235677973366e38, 1.7976931348623157e308])
@pytest.mark.parametrize("operator", ["aten.clamp_min.default", "aten.mul.Tensor", "aten.div.Tensor", "aten.gt.Scalar"])
def test_numbers_that_float32_cannot_hold_are_refused(operator: str, number: float) -> None:
    # torch refuses most on the CPU when the step is computed; another device may take infinity.
    dtype = "bool" if operator == "aten.gt.Scalar" else "float32"
    for given, shape in ((number, [3]), (3.4028234663852886e38, [2])):
        data = single(operator, [{"value": 0}, {"float": float_text(given)}], [(dtype, shape)], ("float32", shape))
        if given != number:
            assert read_program(data, ExactPrecision(20)).nodes  # control
            continue
        with pytest.raises(ProgramError, match="which float32 cannot hold"):
            read_program(data, ExactPrecision(20))
        assert read_program(data, Precision()).nodes


def test_who_stops_waits_no_longer() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        check_exact(digits_order(precision=ExactPrecision(20)).program, 20, cancel)
