"""Calls of every operator of class exact, with inputs full of boundaries, and what tells two results apart.

Tensors are larger than what torch gives to one thread (32,768 elements), of a length that no vector divides, and hold
the same boundaries again and again at other places of a vector.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.operation import FACTORIES, Operation, make_operation, native
from counterfoil_core.operators.facts import ROW_SCALE
from counterfoil_core.operators.node import Node, TensorType
from counterfoil_core.operators.signatures import overload

LENGTH = 40_003
FLOATS = [
    0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.5, 1.0, -1.0, -3.0, 7.0, 0.1, -0.7, 1 / 3, 0.3, math.pi,
    0.49999999999999994, 0.49999997, 1 + 2.0**-23, 1 - 2.0**-24, 1 + 2.0**-52, 1 - 2.0**-53, 254.9, 255.5, 256.0,
    2.0**23 + 0.5, 2.0**24 + 2, -(2.0**31), 2.0**31, 2.0**31 - 0.5, 2.0**52 + 0.5, 2.0**53 - 1, -(2.0**63), 2.0**63,
    2.0**63 - 1024, 1e19, -1e30, 3.4028234663852886e38, -3.4028234663852886e38, 1.7976931348623157e308, 1e-30,
    1.1754943508222875e-38, 1.1754942106924411e-38, 1.401298464324817e-45, -1e-44, 2.2250738585072014e-308, 1e-310,
    5e-324, -5e-324, math.inf, -math.inf, math.nan,
]  # fmt: skip
INTEGERS = {
    torch.int64: [0, 1, -1, 2, -2, 3, -7, 255, 256, 2**31, 2**53 + 1, 2**62, -(2**62), 2**63 - 1, -(2**63), 2**32 + 1],
    torch.int32: [0, 1, -1, 2, -2, 3, -7, 255, 256, 2**24 + 1, 2**30, 2**31 - 1, -(2**31)],
    torch.uint8: [0, 1, 2, 3, 7, 127, 128, 200, 254, 255],
    torch.bool: [False, True],
}


@dataclass
class Call:
    """One use of an operator.

    Attributes:
        name: Its full name.
        args: Its positional arguments.
        kwargs: Its keyword arguments.
        period: Elements of the result after which it repeats; 0 where it does not.
    """

    name: str
    args: list[Any]
    kwargs: dict[str, Any] = field(default_factory=dict)
    period: int = 0

    def run(self) -> tuple[Operation, list[Any], dict[str, Any], list[Tensor]]:
        """Compute it as the interpreter does; returns the operation, its arguments as given to it, and the results."""
        kwargs = dict(self.kwargs)
        described = tuple(sorted((key, value) for key, value in kwargs.items() if isinstance(value, (int, float, str))))
        # Whether the result is floating decides the class; the dtype of a result does not depend on who computes it.
        if "arange" in self.name or kwargs.get("dtype") is not None:
            floating = [kwargs["dtype"].is_floating_point]
        else:
            floating = [dtype.is_floating_point for dtype in _dtypes(overload(self.name), self.args, kwargs)]
        outputs = tuple(TensorType("float32" if f else "int64", ()) for f in floating)
        operation = make_operation(Node(self.name, (), described, outputs, 0, "", "forward"))
        if self.name in FACTORIES:
            kwargs["device"] = torch.device("cpu")
        result = native(operation, list(self.args), kwargs)
        results = list(result) if isinstance(result, (tuple, list)) else [result]
        types = tuple(TensorType(_name(r.dtype), tuple(r.shape)) for r in results)
        node = Node(self.name, (), described, types, 0, "", "forward")
        return make_operation(node), list(self.args), kwargs, results


def _dtypes(function: Any, args: list[Any], kwargs: dict[str, Any]) -> list[torch.dtype]:
    meta = [_meta(value) for value in args]
    result = function(*meta, **{key: _meta(value) for key, value in kwargs.items()})
    return [r.dtype for r in (result if isinstance(result, (tuple, list)) else [result])]


def _meta(value: Any) -> Any:
    if isinstance(value, Tensor):
        return torch.empty_like(value, device="meta")
    return [_meta(item) for item in value] if isinstance(value, list) else value


def _name(dtype: torch.dtype) -> str:
    return "float32" if dtype.is_floating_point else str(dtype).removeprefix("torch.")


def digest(values: Any) -> str:
    """SHA-256 of a result's bits; one that is no number is as good as another."""
    array = np.ascontiguousarray(values)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return hashlib.sha256(str((array.dtype, array.shape)).encode() + array.tobytes()).hexdigest()


def repeated(values: list[Any], dtype: torch.dtype, length: int = LENGTH) -> Tensor:
    held = torch.from_numpy(np.array(values, _numpy(dtype)))
    return held.repeat(-(-length // len(values)))[:length].contiguous()


def _numpy(dtype: torch.dtype) -> Any:
    return np.dtype(str(dtype).removeprefix("torch."))


def floats(dtype: torch.dtype) -> list[float]:
    """Boundaries of a floating dtype."""
    if dtype is torch.float64:
        return FLOATS
    with np.errstate(over="ignore"):
        return [float(np.float32(x)) for x in FLOATS if not math.isfinite(x) or abs(x) < 3.5e38]


def boundaries(dtype: torch.dtype) -> list[Any]:
    return floats(dtype) if dtype.is_floating_point else INTEGERS[dtype]


def pairs(first: torch.dtype, second: torch.dtype, nonzero: bool = False) -> tuple[Tensor, Tensor, int]:
    """All pairs of boundaries; ``nonzero`` leaves out integer zeros among the second."""
    seconds = [b for b in _operands(second) if b or not nonzero or second.is_floating_point]
    both = list(itertools.product(_operands(first), seconds))
    a, b = zip(*both, strict=True)
    return repeated(list(a), first), repeated(list(b), second), len(both)


def _operands(dtype: torch.dtype) -> list[Any]:
    """Every third boundary of a floating dtype, both zeros, and what is not finite among them."""
    found = boundaries(dtype)
    return found if not dtype.is_floating_point else [*found[:2], *found[2:-3:3], *found[-3:]]


def mixed(dtype: torch.dtype, *shape: int, seed: int = 1) -> Tensor:
    """Boundaries in a random order, with many repetitions."""
    generator = np.random.Generator(np.random.Philox(seed))
    values = np.array(boundaries(dtype), _numpy(dtype))
    return torch.from_numpy(values[generator.integers(0, len(values), shape)])


def few(dtype: torch.dtype, *shape: int, seed: int = 1) -> Tensor:
    """Few values, ties everywhere, zeros of both signs, and rarely what is no number."""
    generator = np.random.Generator(np.random.Philox(seed))
    if not dtype.is_floating_point:
        return torch.from_numpy(generator.integers(0, 4, shape).astype(_numpy(dtype)))
    values = np.array([0.0, -0.0, -1.0, -math.inf] * 24 + [1.0, -2.0, math.inf, math.nan], _numpy(dtype))
    return torch.from_numpy(values[generator.integers(0, len(values), shape)])


def places(limit: int, *shape: int, low: int = 0) -> Tensor:
    generator = np.random.Generator(np.random.Philox(7))
    return torch.from_numpy(generator.integers(low, limit, shape))


_UNARY = "neg abs relu floor ceil trunc round sign sgn frac isnan isinf logical_not clone lift_fresh_copy"
_COMPARISONS = "eq ne lt le gt ge"
_INTEGER_DTYPES = (torch.int64, torch.int32, torch.uint8)


def pointwise_calls(dtype: torch.dtype) -> list[Call]:
    """Operators that look at one place, in one floating dtype."""
    x = repeated(floats(dtype), dtype)
    period = len(floats(dtype))
    a, b, both = pairs(dtype, dtype)
    found = [Call(f"aten.{name}.default", [x], {}, period) for name in _UNARY.split()]
    mask, masked, masks = pairs(torch.bool, dtype)
    numbers = [0.1, -0.0, 1e30, 3, -1.5]
    for number in numbers:
        found += [Call(f"aten.{n}.Scalar", [x, number], {}, period) for n in _COMPARISONS.split()]
        found += [Call(f"aten.{n}.Scalar", [x, number], {}, period) for n in ("mul", "add", "sub", "rsub")]
        found += [Call(f"aten.{n}.Tensor", [x, number], {}, period) for n in ("mul", "add", "sub")]
        found += [Call("aten.masked_fill.Scalar", [masked, mask, number], {}, masks)]
        found += [Call(f"aten.{n}.default", [x, number], {}, period) for n in ("clamp_min", "clamp_max", "leaky_relu")]
        if number:
            found += [Call(f"aten.{n}.Scalar", [x, number], {}, period) for n in ("fmod", "remainder")]
            for mode in ("floor", "trunc"):
                found.append(Call("aten.div.Scalar_mode", [x, number], {"rounding_mode": mode}, period))
                found.append(Call("aten.div.Tensor_mode", [x, number], {"rounding_mode": mode}, period))
        found.append(Call("aten.threshold.default", [x, number, 0.3], {}, period))
        found.append(Call("aten.threshold_backward.default", [a, b, number], {}, both))
        found.append(Call("aten.leaky_relu_backward.default", [a, b, number, False], {}, both))
    for n in ("mul", "rsub", *_COMPARISONS.split(), "fmod", "remainder"):
        found.append(Call(f"aten.{n}.Tensor", [a, b], {}, both))
    for n in ("add", "sub", "rsub"):
        found += [Call(f"aten.{n}.Tensor", [a, b], {"alpha": alpha}, both) for alpha in (1, -1)]
    found += [Call(f"aten.{n}.default", [a, b], {}, both) for n in ("maximum", "minimum")]
    found += [Call(f"aten.logical_{n}.default", [a, b], {}, both) for n in ("and", "or", "xor")]
    found += [Call(f"aten.{n}.Tensor", [a, b], {}, both) for n in ("clamp_min", "clamp_max")]
    found += [Call("aten.div.Tensor_mode", [a, b], {"rounding_mode": mode}, both) for mode in ("floor", "trunc")]
    found += [
        Call("aten.clamp.default", [x, -0.0, 1.5], {}, period),
        Call("aten.clamp.default", [x, None, 0.0], {}, period),
        Call("aten.clamp.default", [x, 2.0, -1.0], {}, period),
        Call("aten.clamp.Tensor", [a, b], {}, both),
        Call("aten.clamp.Tensor", [a, None, b], {}, both),
        Call("aten.hardtanh.default", [x, -1.5, 0.0], {}, period),
        Call("aten.hardtanh_backward.default", [a, b, -0.5, 0.5], {}, both),
        Call("aten.where.self", [mask, masked, masked.neg()], {}, masks),
        Call("aten.where.self", [mask, masked, torch.ones(()).to(dtype)], {}, masks),
        Call("aten.where.ScalarSelf", [mask, 0.1, masked], {}, masks),
        Call("aten.where.ScalarOther", [mask, masked, -0.0], {}, masks),
        Call("aten.masked_fill.Tensor", [masked, mask, torch.tensor(-0.0, dtype=dtype)], {}, masks),
        Call("aten._to_copy.default", [x], {}, period),
        *[Call("aten._to_copy.default", [x], {"dtype": to}, period) for to in INTEGERS],
        *[Call("aten.copy.default", [torch.zeros(LENGTH, dtype=to), x], {}, period) for to in (*INTEGERS, dtype)],
        *[Call("aten.full_like.default", [x, number], {}, 1) for number in numbers],
        Call("aten.zeros_like.default", [x], {}, 1),
        Call("aten.ones_like.default", [x], {}, 1),
        Call("aten.new_zeros.default", [x, [LENGTH]], {}, 1),
        Call("aten.new_ones.default", [x, [LENGTH]], {}, 1),
        Call("aten.new_full.default", [x, [LENGTH], 0.1], {}, 1),
        Call("aten.fill.Scalar", [x, 0.1], {}, 1),
        *[Call("aten.scalar_tensor.default", [number], {"dtype": dtype}) for number in numbers],
        Call("aten.full.default", [[LENGTH], 0.1], {"dtype": dtype}, 1),
        Call("aten.zeros.default", [[LENGTH]], {"dtype": dtype}, 1),
        Call("aten.ones.default", [[LENGTH]], {"dtype": dtype}, 1),
        Call("aten.eye.default", [211], {"dtype": dtype}),
        Call("aten.eye.m", [211, 199], {"dtype": dtype}),
        Call("aten.arange.default", [LENGTH], {"dtype": dtype}),
        Call("aten.arange.start", [-5, LENGTH], {"dtype": dtype}),
        Call("aten.arange.start_step", [2**24 - 5, 2**24 + 7 * LENGTH, 7], {"dtype": dtype}),
        Call("aten.arange.start_step", [9, -3 * LENGTH, -3], {"dtype": torch.int64}),
    ]
    for integer in _INTEGER_DTYPES:
        i, f, count = pairs(integer, dtype)
        found += [Call(f"aten.{n}.Tensor", [i, f], {}, count) for n in ("mul", "add", "lt", "eq")]
        found.append(Call("aten.maximum.default", [f, i], {}, count))
        found.append(Call("aten.where.self", [i > 2, i, f], {}, count))
        found.append(Call("aten.remainder.Tensor", [i, f], {}, count))
        found.append(Call("aten.div.Tensor_mode", [i, f], {"rounding_mode": "floor"}, count))
        held = repeated(INTEGERS[integer], integer)
        found.append(Call("aten._to_copy.default", [held], {"dtype": dtype}, len(INTEGERS[integer])))
    return found


def integer_calls() -> list[Call]:
    """Arithmetic of integers: modulo 2^n, with divisors other than zero."""
    found: list[Call] = []
    for dtype in _INTEGER_DTYPES:
        a, b, both = pairs(dtype, dtype)
        divided, divisor, count = pairs(dtype, dtype, nonzero=True)
        held, period = repeated(INTEGERS[dtype], dtype), len(INTEGERS[dtype])
        for n in ("mul", "add", "sub", "rsub", *_COMPARISONS.split(), *(f"bitwise_{n}" for n in ("and", "or", "xor"))):
            found.append(Call(f"aten.{n}.Tensor", [a, b], {}, both))
            found.append(Call(f"aten.{n}.Scalar", [held, 3], {}, period))
        found += [Call(f"aten.{n}.Tensor", [a, b], {"alpha": 3}, both) for n in ("add", "sub")]
        for n in ("neg", "abs", "relu", "floor", "ceil", "trunc", "round", "sign", "sgn", "logical_not", "bitwise_not"):
            found.append(Call(f"aten.{n}.default", [held], {}, period))
        found += [Call(f"aten.{n}.default", [a, b], {}, both) for n in ("maximum", "minimum", "logical_and")]
        found += [Call("aten.clamp.default", [held, 2, 100], {}, period)]
        found += [Call("aten._to_copy.default", [held], {"dtype": to}, period) for to in INTEGERS]
        for n in ("fmod", "remainder"):
            found.append(Call(f"aten.{n}.Tensor", [divided, divisor], {}, count))
            found.append(Call(f"aten.{n}.Scalar", [held, 7], {}, period))
            if dtype is not torch.uint8:
                found.append(Call(f"aten.{n}.Scalar", [held, -1], {}, period))
        for mode in ("floor", "trunc"):
            found.append(Call("aten.div.Tensor_mode", [divided, divisor], {"rounding_mode": mode}, count))
            found.append(Call("aten.div.Scalar_mode", [held, 7], {"rounding_mode": mode}, period))
        matrix = mixed(dtype, 40, 30)
        other = mixed(dtype, 30, 20, seed=2)
        found += [
            Call("aten.pow.Tensor_Scalar", [held, 3], {}, period),
            Call("aten.pow.Tensor_Tensor", [held, (held & 7)], {}, period),
            Call("aten.pow.Scalar", [3, held & 63], {}, period),
            Call("aten.addcmul.default", [a, b, a], {"value": 3}, both),
            Call("aten.mm.default", [matrix, other], {}),
            Call("aten.addmm.default", [mixed(dtype, 20), matrix, other], {"beta": 3, "alpha": 2}),
            Call("aten.mv.default", [matrix, mixed(dtype, 30, seed=4)], {}),
            Call("aten.addmv.default", [mixed(dtype, 40), matrix, mixed(dtype, 30, seed=4)], {}),
            Call("aten.dot.default", [a, b], {}),
            Call("aten.bmm.default", [mixed(dtype, 3, 9, 5), mixed(dtype, 3, 5, 7, seed=3)], {}),
            Call("aten.baddbmm.default", [mixed(dtype, 3, 9, 7), mixed(dtype, 3, 9, 5), mixed(dtype, 3, 5, 7)], {}),
            Call("aten.sum.default", [a], {}),
            Call("aten.sum.dim_IntList", [mixed(dtype, 50, 900), [1]], {}),
            Call("aten.prod.default", [mixed(dtype, 99)], {}),
            Call("aten.prod.dim_int", [mixed(dtype, 50, 90), 0], {}),
            Call("aten.cumsum.default", [mixed(dtype, 150, 300), 1], {}),
            Call("aten.index_put.default", [mixed(dtype, 5, 4), [places(5, 99)], mixed(dtype, 99, 4), True], {}),
            Call("aten.scatter_add.default", [mixed(dtype, 5, 4), 0, places(5, 99, 4), mixed(dtype, 99, 4)], {}),
            Call("aten.index_add.default", [mixed(dtype, 5, 4), 0, places(5, 99), mixed(dtype, 99, 4)], {}),
        ]
    t, f, count = pairs(torch.bool, torch.bool)
    found += [Call(f"aten.{n}.Tensor", [t, f], {}, count) for n in ("mul", "add", "bitwise_and", "bitwise_or", "eq")]
    found += [Call("aten.bitwise_xor.Scalar", [t, True], {}, count), Call("aten.bitwise_not.default", [t], {}, count)]
    found += [Call("aten.sum.default", [t], {}), Call("aten.cumsum.default", [mixed(torch.bool, 50, 90), 0], {})]
    found.append(Call("aten.where.Scalar", [t, 3, 5], {}, count))
    # Floating numbers that are summed as integers are converted first.
    found.append(Call("aten.sum.dim_IntList", [mixed(torch.float64, 50, 9), [1]], {"dtype": torch.int64}))
    found.append(Call("aten.cumsum.default", [mixed(torch.float64, 50, 9), 1], {"dtype": torch.int32}))
    return found


def selection_calls(dtype: torch.dtype) -> list[Call]:
    """Extremes, sorts and pooling, with ties and zeros of both signs."""
    wide, tall, flat = few(dtype, 37, 1201), few(dtype, 1201, 37, seed=2), few(dtype, LENGTH, seed=3)
    finite = flat.nan_to_num(-3.0) if dtype.is_floating_point else flat
    found = [Call(f"aten.{n}.default", [x], {}) for n in ("max", "min", "any", "all") for x in (flat, finite)]
    for x, dim in ((wide, 1), (wide, 0), (tall, -1), (tall, 0), (few(dtype, 9, 71, 65), 1)):
        found += [Call(f"aten.{n}.dim", [x, dim, True], {}) for n in ("max", "min", "any", "all")]
        found += [Call(f"aten.{n}.default", [x, [dim]], {}) for n in ("amax", "amin")]
        found += [Call(f"aten.{n}.default", [x, dim], {}) for n in ("argmax", "argmin")]
        for descending in (False, True):
            found.append(Call("aten.sort.stable", [x], {"stable": True, "dim": dim, "descending": descending}))
    found += [Call(f"aten.{n}.default", [x], {}) for n in ("argmax", "argmin") for x in (flat, finite)]
    found += [Call("aten.any.dims", [few(dtype, 9, 71, 65), [0, 2]], {})]
    found += [Call("aten.sort.stable", [flat], {"stable": True, "dim": 0, "descending": False})]
    for reduce in ("amax", "amin"):
        for dim, met in ((0, few(dtype, 90, 30, seed=6)), (-1, few(dtype, 37, 900, seed=7))):
            where = places(wide.shape[dim], *met.shape)
            for kept in (True, False):
                found.append(Call("aten.scatter_reduce.two", [wide, dim, where, met, reduce], {"include_self": kept}))
    if dtype.is_floating_point:
        found += [Call(f"aten.{n}.default", [mixed(dtype, 33, 1201), [1]], {}) for n in ("amax", "amin")]
        found += [Call(ROW_SCALE, [x], {}) for x in (wide, tall.t(), mixed(dtype, 33, 1201), finite[:, None])]
        found += [Call(ROW_SCALE, [finite[:60].view(5, 4, 3)[:, :, :0]], {})]
        # From 32,768 elements on torch shares work among threads; smaller ones would not show what threads change.
        image, volume = few(dtype, 3, 5, 61, 59, seed=4), few(dtype, 2, 3, 21, 23, 19, seed=5)
        nhwc = image.contiguous(memory_format=torch.channels_last)
        for x in (image, nhwc):
            found += [
                Call("aten.max_pool2d_with_indices.default", [x, [3, 3], [2, 2], [1, 1]], {}),
                Call("aten.max_pool2d_with_indices.default", [x, [2, 3]], {}),
                Call("aten.max_pool2d_with_indices.default", [x, [3, 2], [2, 1], [1, 0], [2, 3], True], {}),
                Call("aten.adaptive_max_pool2d.default", [x, [7, 9]], {}),
            ]
        found.append(Call("aten.max_pool3d_with_indices.default", [volume, [3, 2, 2], [2, 2, 1], [1, 1, 0]], {}))
        found.append(Call("aten.max_pool2d_with_indices.default", [mixed(dtype, 3, 9, 40, 40), [2, 2]], {}))
    return found


def move_calls(dtype: torch.dtype) -> list[Call]:
    """Operators that move elements."""
    x, cube, image = mixed(dtype, 211, 199), mixed(dtype, 9, 71, 65), mixed(dtype, 3, 4, 61, 59)
    volume = mixed(dtype, 2, 3, 19, 21, 23)
    found = [
        Call("aten.view_copy.default", [x, [199, 211]], {}),
        Call("aten.permute_copy.default", [cube, [2, 0, 1]], {}),
        Call("aten.expand_copy.default", [mixed(dtype, 211, 1), [4, 211, 50]], {}),
        Call("aten.unfold_copy.default", [x, 1, 5, 3], {}),
        Call("aten.cat.default", [[x, mixed(dtype, 3, 199, seed=2), x], 0], {}),
        Call("aten.stack.default", [[x, x.flip(0)], 1], {}),
        Call("aten.flip.default", [cube, [0, 2]], {}),
        Call("aten.roll.default", [cube, [5, -3], [1, 2]], {}),
        Call("aten.roll.default", [cube, [7]], {}),
        Call("aten.repeat.default", [x, [2, 1, 2]], {}),
        Call("aten.gather.default", [x, 1, places(199, 200, 300)], {}),
        Call("aten.index.Tensor", [x, [places(211, 500, low=-211), places(199, 500, low=-199)]], {}),
        Call("aten.index.Tensor", [cube, [None, places(71, 300, low=-71)]], {}),
        Call("aten.index_select.default", [x, 1, places(199, 300)], {}),
        Call("aten.embedding.default", [x, places(211, 30, 9)], {}),
        Call("aten.select_scatter.default", [x, mixed(dtype, 211), 1, -3], {}),
        Call("aten.slice_scatter.default", [x, mixed(dtype, 50, 199), 0, 5, 205, 4], {}),
        Call("aten.diagonal_scatter.default", [x, mixed(dtype, 197), 2], {}),
        Call("aten.select_backward.default", [x, [5, 211, 199], 0, 3], {}),
        Call("aten.slice_backward.default", [x, [211, 700], 1, 50, 647, 3], {}),
        Call("aten.tril.default", [x, -2], {}),
        Call("aten.triu.default", [x, 3], {}),
        Call("aten.constant_pad_nd.default", [x, [3, -2, 1, 4], 1], {}),
        Call("aten.constant_pad_nd.default", [x, [3, 2]], {}),
        Call("aten.pixel_shuffle.default", [image, 2], {}),
        Call("aten.pixel_unshuffle.default", [mixed(dtype, 3, 4, 60, 58), 2], {}),
        Call("aten.scatter.value", [x, 0, places(211, 40, 199), 1], {}),
        Call("aten.scatter.src", [x, 0, places(211, 500, 190), mixed(dtype, 500, 199, seed=2)], {}),
        Call("aten.scatter.src", [x, -1, places(5, 200, 400), mixed(dtype, 211, 400, seed=2)], {}),
        Call("aten.scatter.src", [mixed(dtype, 9, 71, 65), 1, places(3, 9, 80, 65), mixed(dtype, 9, 80, 66)], {}),
        Call("aten.clone.default", [cube.permute(2, 0, 1)], {}),
    ]
    if dtype.is_floating_point:
        found += [
            Call("aten.cat.default", [[mixed(torch.int64, 7), mixed(dtype, 300)], 0], {}),
            Call("aten.scatter.value", [x, 1, places(199, 211, 40), -0.0], {}),
            Call("aten.im2col.default", [image, [3, 2], [1, 2], [1, 0], [2, 3]], {}),
            Call("aten.reflection_pad1d.default", [cube, [4, 7]], {}),
            Call("aten.reflection_pad2d.default", [image, [4, 7, 1, 0]], {}),
            Call("aten.reflection_pad3d.default", [volume, [4, 7, 1, 0, 2, 5]], {}),
            Call("aten.replication_pad1d.default", [cube, [4, 7]], {}),
            Call("aten.replication_pad2d.default", [image, [4, 7, 1, 0]], {}),
            Call("aten.replication_pad3d.default", [volume, [4, 7, 1, 0, 2, 5]], {}),
        ]
    return found


def all_calls() -> list[Call]:
    """Every call, in a fixed order."""
    found = [call for dtype in (torch.float64, torch.float32) for call in pointwise_calls(dtype)]
    found += integer_calls()
    found += [call for dtype in (torch.float64, torch.float32, torch.int64) for call in selection_calls(dtype)]
    found += [call for dtype in (torch.float64, torch.float32, torch.uint8) for call in move_calls(dtype)]
    return found
