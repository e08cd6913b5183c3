"""All variants of the kernels that their launchers ask Triton for: the launchers themselves are asked.

What they are given are tensors without memory, of lengths at which a kernel is compiled otherwise: one, multiples of 16
and others, beyond int32; in rows, in columns and strided.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import torch
import triton
from torch import Tensor
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction

from .driver import compiled_for

_COUNTS = (1, 4096, 5001, 2**31 + 16)
_GROUPED = (
    (1, 1, 1, 1), (1, 1, 1, 5000), (300, 1, 1, 64), (5000, 1, 1, 3), (1, 700, 300, 1), (1, 64, 5000, 1),
    (6, 50, 30, 9), (2, 3, 5, 2048), (2, 1, 1, 70000), (3, 40, 3, 2048), (1, 40, 30, 2048),
)  # fmt: skip
"""k0, r0, k1, r1 of a tensor whose axes r share an exponent."""


_OPTIONS = ("num_warps", "num_stages", "enable_fp_fusion", "maxnreg")
"""What a launcher may ask of the compiler."""


@dataclass(frozen=True)
class Variant:
    """A kernel as a launcher asks for it."""

    function: JITFunction[Any]
    source: ASTSource
    options: dict[str, Any]

    @property
    def kernel(self) -> str:
        """Its name."""
        return str(self.function.fn.__name__)

    def constant(self, name: str) -> Any:
        """Return a constant that it is compiled with, by the name of its argument."""
        return self.source.constants[(self.function.arg_names.index(name),)]

    def compiled(self, target: GPUTarget) -> Any:
        """Return what Triton makes of it for a target, without what an assembler does."""
        # Triton bounds registers for devices of NVIDIA alone.
        options = {name: one for name, one in self.options.items() if name != "maxnreg" or target.backend == "cuda"}
        return triton.compile(self.source, target=target, options=options)


def _absent(*shape: int, dtype: torch.dtype) -> Tensor:
    return torch.empty(shape, dtype=dtype, device="meta")


def _rounding() -> None:
    from counterfoil_core.kernels.cuda.rounding import OWN_TYPES, SLOTS, Directions, GridChoice, Pass
    from counterfoil_core.kernels.devicenumber import DeviceNumber

    slot, cursor = _absent(SLOTS, dtype=torch.int64), _absent(1, dtype=torch.int64)
    one = DeviceNumber.read(_absent(dtype=torch.float64))
    # As of a matrix product, which another matrix is added to; and of a mean.
    scales = (one, (one * one).sqrt() * 0.5 + one, one / 3)
    for count in _COUNTS:
        entries = _absent(min(count, 1024 + count // 1024), dtype=torch.int64)
        some = _absent(min(count, 5001), dtype=torch.int64)
        # Other profiles only where nothing else is special.
        grids = ((8, 14), (18, 38), (24, 44)) if count == 5001 else ((24, 44),)
        for values in (_absent(count, dtype=dtype) for dtype in (torch.float64, torch.float32)):
            for bits, margin in grids:
                passes = Pass(bits)
                for done in (None, _absent(passes.blocks(count), dtype=torch.int32)):
                    passes.round(values, slot, entries, cursor, done)
                for follow in (None, Directions(some[:0], some, some, margin), Directions(some, some, some, margin)):
                    for scale in scales if bits == 24 and follow is None else scales[:1]:
                        choice = GridChoice(scale, 8, margin, follow)
                        passes.round(values, slot, entries, cursor, choice=choice)
        for dtype in OWN_TYPES:
            Pass(0).fingerprint(_absent(count, dtype=dtype), slot)


def _sha256() -> None:
    from counterfoil_core.kernels.cuda.sha256 import leaf_hashes

    # Its launcher asks for addresses, and so for memory.
    for count in (1, 16, 33):
        leaf_hashes([torch.zeros(100 * count, dtype=torch.uint8)], 100)


def _exact() -> None:
    from counterfoil_core.kernels.cuda import exact

    flag = _absent(1, dtype=torch.int32)
    for lengths in _GROUPED:
        x = _absent(*lengths, dtype=torch.float32)
        top = exact.largest(x, lengths)
        exact.quantise(x, lengths, top, 24, flag)
        exact.total(x, lengths, 24, flag)
        exact.row_frexp(x, lengths)
    for count in _COUNTS[:-1]:
        exact.bracket(_absent(count, dtype=torch.float64), 2.0**-50, 64)
        for kind in ("sqrt", "reciprocal", "rsqrt"):
            exact.sure(kind, _absent(count, dtype=torch.float32))


def _products() -> None:
    from counterfoil_core.kernels.carriers import Carrier
    from counterfoil_core.kernels.exact import device_products
    from counterfoil_core.kernels.exact.geometry import Geometry
    from counterfoil_core.kernels.exact.refusals import Noted, note_refusals

    def laid(batch: int, rows: int, columns: int) -> tuple[Tensor, ...]:
        return (
            _absent(batch, rows, columns, dtype=torch.float32),
            _absent(batch, columns, rows, dtype=torch.float32).mT,
            _absent(batch, rows, 2 * columns, dtype=torch.float32)[..., ::2],
        )

    # Nobody looks at the flag.
    for carrier, bits in itertools.product(Carrier, (13, 20)):
        with note_refusals(Noted()), patch.object(device_products, "_carrier", lambda _device, found=carrier: found):
            for batch, m, k, n in (
                (1, 1, 1, 1),
                (1, 37, 150, 20),
                (3, 64, 64, 96),
                (1, 2048, 768, 768),
                (1, 64, 2**15 + 1, 64),
                (1, 96, 2**15 + 32, 64),
            ):
                # In rows, in columns, strided; and both along the axis that is added over: that takes registers.
                rows, columns, strided = laid(batch, m, k), laid(batch, k, n), laid(batch, k, n)[2]
                for left, right in (*zip(rows, columns, strict=True), (rows[1], columns[0]), (rows[0], strided)):
                    device_products.matmul(left, right, bits)
            for axes, groups in ((1, 1), (2, 1), (2, 4), (3, 1)):
                geometry = Geometry((2,) * axes, (1,) * axes, (1,) * axes, groups)
                x = _absent(4, 16, *[12] * axes, dtype=torch.float32)
                weight = _absent(8, 16 // groups, *[3] * axes, dtype=torch.float32)
                g = device_products.convolution(x, weight, geometry, bits)
                device_products.input_gradient(g, weight, x.shape[2:], geometry, bits)
                device_products.weight_gradient(g, x, weight.shape[2:], geometry, bits)


def _draws() -> None:
    from counterfoil_core.kernels.cuda.philox import words

    for count in (1, 16, 33):
        for start in (0, 2**32):
            for shift in (0, 8, 31):
                words(range(start, start + count), (2**32 - 1, 7), 2**31, 3, torch.device("meta"), shift)


def _measures() -> None:
    from counterfoil_core.kernels.cuda.measures import measures, top

    for dtype in (torch.float64, torch.float32):
        for count in _COUNTS[:-1]:
            top(_absent(count, dtype=dtype))
        for lengths in _GROUPED:
            measures(_absent(*lengths, dtype=dtype), lengths)


def _norms() -> None:
    from counterfoil_core.kernels.cuda.measures import largest_gate, largest_of_products
    from counterfoil_core.kernels.cuda.norms import (
        batch_norm,
        batch_norm_backward,
        gradient_sizes,
        layer_norm,
        layer_norm_backward,
        norm_sizes,
    )

    for count in _COUNTS[:-1]:
        for dtype in (torch.float64, torch.float32):
            largest_gate(_absent(count, dtype=dtype), _absent(count, dtype=dtype), 0.4, 0.1)
        largest_of_products(_absent(4, count, dtype=torch.float64), _absent(4, 64, dtype=torch.float64))
    for rows, length in ((1, 1), (300, 64), (4096, 768), (5, 5001), (5001, 3)):
        x, column = _absent(rows, length, dtype=torch.float64), _absent(rows, 1, dtype=torch.float64)
        for weight in (None, _absent(length, dtype=torch.float64)):
            given = {"input": x, "normalized_shape": [length], "weight": weight, "bias": weight, "eps": 1e-5}
            layer_norm(given)
            gradient = {"grad_out": x, "mean": column, "rstd": column, "output_mask": [True] * 3}
            layer_norm_backward(given | gradient)
    for lengths in _GROUPED[:-2]:
        x, group = _absent(*lengths, dtype=torch.float64), _absent(lengths[0] * lengths[2], dtype=torch.float64)
        for weight in (None, group):
            norm_sizes(x, lengths, group, weight)
            gradient_sizes(x, x, lengths, group, group, weight)
        gradient_sizes(x, x, lengths, group, group, by_terms=True)
    for shape, lengths in (
        ((64, 32, 8, 8), (1, 64, 32, 64)), ((5, 3, 7), (1, 5, 3, 7)), ((128, 300), (1, 128, 300, 1)),
        ((1, 2, 4096), (2, 1, 1, 4096)),
    ):  # fmt: skip
        x, channel = _absent(*shape, dtype=torch.float64), _absent(shape[1], dtype=torch.float64)
        for weight in (None, channel):
            given = {"input": x, "weight": weight, "bias": weight, "eps": 1e-5, "momentum": 0.1}
            batch_norm(given if weight is None else given | {"running_mean": channel, "running_var": channel}, lengths)
            gradient = {"grad_out": x, "save_mean": channel, "save_invstd": channel, "output_mask": [True] * 3}
            batch_norm_backward(given | gradient, lengths)
        batch_norm_backward(given | gradient | {"output_mask": [False, True, True]}, lengths)


def _chains() -> None:
    from counterfoil_core.kernels.cuda.chains import WHOLE, Instruction, narrow, run

    # A step of Adam, whose sites are its root and its quotient; and a selection of the sum or the quotient of two.
    adam: list[Instruction] = [
        ("MUL_S", 0, 0, 0), ("MUL_S", 1, 1, 0), ("SUB", 1, 5, 0), ("MUL_S", 2, 2, 0), ("MUL_S", 4, 3, 0),
        ("ADD", 7, 8, 0), ("NARROW", 9, 0, 0), ("MUL_S", 3, 4, 0), ("MUL", 4, 4, 0), ("MUL_S", 12, 5, 0),
        ("ADD", 11, 13, 0), ("NARROW", 14, 1, 1), ("SQRT", 14, 0, 0), ("SITE", 16, 0, 0), ("MUL_S", 16, 6, 0),
        ("ADD_S", 18, 7, 0), ("DIV", 9, 19, 0), ("SITE", 20, 1, 0), ("MUL_S", 20, 8, 0), ("SUB", 6, 22, 0),
        ("NARROW", 23, 2, 2),
    ]  # fmt: skip
    chosen: list[Instruction] = [
        ("TRUTH", 1, 0, 0), ("DIV_FROM_S", 0, 0, 0), ("NEG", 3, 0, 0), ("WHERE", 2, 3, 4), ("STORE", 5, 0, 0),
        ("LE", 0, 5, 0), ("DECIDE", 7, 1, 0),
    ]  # fmt: skip
    moment: list[Instruction] = [
        ("WIDEN", 1, 0, 0), ("MUL_S", 2, 0, 0), ("MUL_S", 0, 1, 0), ("ADD", 3, 4, 0), ("NARROW", 5, 0, 0),
        ("STORE", 5, 1, 0),
    ]  # fmt: skip
    row, top, number = _absent(16, dtype=torch.int64), _absent(1, dtype=torch.int32), _absent(dtype=torch.float32)
    for count in _COUNTS:
        many, truths = _absent(count, dtype=torch.float32), _absent(count, dtype=torch.bool)
        run(adam, count, [many] * 4, [WHOLE] * 4, [many] * 3, [number] * 9, [row] * 2, [top] * 3, torch.float32)
        run(chosen, count, [many, truths], [WHOLE] * 2, [many, truths], [number], [], [], torch.float32)
        wide, numbers = _absent(count, dtype=torch.float64), [_absent(dtype=torch.float64)] * 2
        run(moment, count, [wide, many], [WHOLE] * 2, [many, wide], numbers, [], [top], torch.float64)
        narrow(wide)
    # A matrix whose rows and columns are multiplied by a number each.
    scaled: list[Instruction] = [("MUL", 0, 1, 0), ("MUL", 3, 2, 0), ("SITE", 4, 0, 0), ("STORE", 4, 0, 0)]
    for rows, columns in ((64, 48), (37, 41), (2**21, 2**11)):
        parts = [_absent(length, dtype=torch.float32) for length in (rows * columns, rows, columns)]
        spreads = [WHOLE, (columns, 1), (rows * columns, columns)]
        run(scaled, rows * columns, parts, spreads, parts[:1], [], [row], [], torch.float32)


def variants(
    launchers: tuple[Callable[[], None], ...] = (
        _rounding,
        _sha256,
        _exact,
        _products,
        _draws,
        _measures,
        _norms,
        _chains,
    ),
) -> list[Variant]:
    """Return every variant, each once."""
    found: dict[tuple[str, str], Variant] = {}

    def asked(*, key: str, fn: Any, compile: dict[str, Any], **_: Any) -> bool:
        (attributes,) = compile["configs"]
        source = ASTSource(fn.jit_function, compile["signature"], compile["constants"], attributes)
        # Triton names only some options by themselves.
        given = json.loads(compile["specialization_data"])["options"]
        options = {name: given[name] for name in _OPTIONS if given[name] is not None}
        found.setdefault((fn.name, key), Variant(fn.jit_function, source, options))
        # It is not compiled, and so not launched.
        return True

    with compiled_for(90):
        triton.knobs.runtime.jit_cache_hook = asked
        # A variant that is compiled already would be launched.
        for function in _functions():
            function.device_caches.clear()
        for launcher in launchers:
            launcher()
    return list(found.values())


def _functions() -> list[JITFunction[Any]]:
    from counterfoil_core.kernels.cuda import chains, exact, measures, norms, philox, products, rounding, sha256

    return [
        value
        for module in (chains, exact, measures, norms, philox, products, rounding, sha256)
        for value in vars(module).values()
        if isinstance(value, JITFunction)
    ]
