"""The same bits under every instruction set that this processor has, and on one and two threads, in one digest."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

import pytest

SCRIPT = """
import hashlib, sys
import numpy as np, torch
from counterfoil_core.kernels.exact import convolutions, elementwise, functions, sums
from counterfoil_core.kernels.exact.geometry import Geometry
from counterfoil_core.kernels.exact.forms import sound_forms
from counterfoil_core.kernels.exact.products import Form, matmul

torch.set_num_threads(int(sys.argv[1]))
rng = np.random.default_rng(0)
draw = lambda *shape: torch.from_numpy(rng.standard_normal(shape).astype(np.float32))
defined, plain, sound = hashlib.sha256(), hashlib.sha256(), sound_forms("cpu")
add = lambda digest, tensor: digest.update(tensor.contiguous().numpy().tobytes())
a, b, rows = draw(150, 1111), draw(1111, 140), draw(300, 1003)
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
    found = functions.evaluate(kind, *operands)
    add(defined, torch.where(torch.isnan(found), 0.0, found))
    add(plain, torch.nan_to_num(functions._LIBRARY[kind](*operands)))
for operation in (elementwise.add, elementwise.subtract, elementwise.multiply, elementwise.divide):
    add(defined, operation(rows * 1e-38, rows.flip(1)))
largest = torch.full((64, 64), 127, dtype=torch.int8)
saturates = int(torch._int_mm(largest, largest)[0, 0]) != 64 * 127 * 127
names = sorted(form.value for form in sound)
print(defined.hexdigest(), plain.hexdigest(), *names, *["saturates"] * saturates)
"""
SETTINGS = {
    "as it is": {},
    "AVX2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    },
    "AVX-512 without 8-bit dot products": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE"},
    "SSE4": {
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    },
}

QUICK = ("as it is", "SSE4")
EACH = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in SETTINGS]


@cache
def digests(setting: str, threads: int) -> tuple[str, str, set[str]]:
    """The digest of what is defined, that of ordinary float32; the sound forms, and whether int8 products saturate."""
    environment = os.environ | SETTINGS[setting]
    command = [sys.executable, "-c", SCRIPT, str(threads)]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr
    defined, plain, *sound = found.stdout.split()
    return defined, plain, set(sound)


@pytest.mark.parametrize("setting", EACH)
def test_every_instruction_set_gives_the_same_bits(setting: str) -> None:
    """On this machine's own, two threads do."""
    threads = 2 if setting == "as it is" else 1
    assert digests(setting, threads)[0] == digests("as it is", 1)[0]


def test_the_same_in_float32_does_not() -> None:
    """The control."""
    assert digests("SSE4", 1)[1] != digests("as it is", 1)[1]


@pytest.mark.parametrize("setting", EACH)
def test_digits_of_six_bits_never_saturate(setting: str) -> None:
    """Products of whole bytes may, without 8-bit dot products; sums of two digits are then left out, and only they."""
    found = digests(setting, 1)[2]
    assert found >= {"float64", "float32", "int8"}
    assert ("karatsuba" in found) != ("saturates" in found)
