"""Digests of what exact kernels compute, and of the same in ordinary float32; as a program it prints them."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.kernels.exact import convolutions, elementwise, functions, sums
from counterfoil_core.kernels.exact.forms import sound_forms
from counterfoil_core.kernels.exact.geometry import Geometry
from counterfoil_core.kernels.exact.products import matmul


def kernel_digests(threads: int) -> tuple[str, str, set[str]]:
    """Compute with so many threads.

    Returns:
        The digest of what is defined, that of ordinary float32; the sound forms, and whether int8 products saturate.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        return _digests()
    finally:
        torch.set_num_threads(before)


def _digests() -> tuple[str, str, set[str]]:
    rng = np.random.default_rng(0)

    def draw(*shape: int) -> Tensor:
        return torch.from_numpy(rng.standard_normal(shape).astype(np.float32))

    def add(digest: Any, tensor: Tensor) -> None:
        digest.update(tensor.contiguous().numpy().tobytes())

    defined, plain, sound = hashlib.sha256(), hashlib.sha256(), sound_forms("cpu")
    a, b, rows = draw(150, 1111), draw(1111, 140), draw(100, 1003)
    images, kernel = draw(4, 6, 20, 20), draw(8, 6, 3, 3)
    geometry = Geometry((1, 1), (1, 1), (1, 1))
    for bits in (13, 20):
        found = set()
        for form in sound:
            products = hashlib.sha256()
            add(products, matmul(a, b, bits, form))
            result = convolutions.convolution(images, kernel, geometry, bits, form)
            add(products, result)
            add(products, convolutions.input_gradient(result, kernel, (20, 20), geometry, bits, form))
            add(products, convolutions.weight_gradient(result, images, (3, 3), geometry, bits, form))
            found.add(products.digest())
        (only,) = found
        defined.update(only)
    add(plain, a @ b)
    for axes in ((0,), (1,), (0, 1)):
        add(defined, sums.total(rows, axes))
        add(plain, rows.sum(axes))
    for kind in sorted(functions.FUNCTIONS):
        operands = (rows.abs(), rows.flip(0)) if kind in ("pow", "atan2", "xlogy") else (rows,)
        values = functions.evaluate(kind, *operands)
        add(defined, torch.where(torch.isnan(values), 0.0, values))
        add(plain, torch.nan_to_num(functions._LIBRARY[kind](*operands)))
    for operation in (elementwise.add, elementwise.subtract, elementwise.multiply, elementwise.divide):
        add(defined, operation(rows * 1e-38, rows.flip(1)))
    largest = torch.full((64, 64), 127, dtype=torch.int8)
    saturates = int(torch._int_mm(largest, largest)[0, 0]) != 64 * 127 * 127
    return (
        defined.hexdigest(),
        plain.hexdigest(),
        {form.value for form in sound} | ({"saturates"} if saturates else set()),
    )


if __name__ == "__main__":
    of_defined, of_plain, names = kernel_digests(1)
    print(of_defined, of_plain, *names)
