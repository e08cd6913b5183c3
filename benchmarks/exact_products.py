"""``python -m benchmarks exact-products``: matrix products of the exact profiles, in every form, against float32.

Prints ratios to ordinary float32 with one thread: the whole product
(quantising, multiplying, rounding) in each form that is sound on this machine. On a machine that does other work the
figures say little: repeat until they stay.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from benchmarks.timing import rounds_of
from counterfoil_core.kernels.exact import convolutions, digitproducts
from counterfoil_core.kernels.exact.forms import sound_forms
from counterfoil_core.kernels.exact.geometry import Geometry
from counterfoil_core.kernels.exact.products import Form, matmul

SHAPES = ((512, 768, 768), (512, 768, 3072), (512, 3072, 768), (768, 512, 768), (1024, 1024, 1024), (64, 576, 9216))
"""m, k, n: layers of width 768, their gradients, a cube, and an unfolded convolution of 64 channels."""
BITS = (13, 20)


def calls_for(a: Tensor, b: Tensor) -> dict[str, Callable[[], object]]:
    wide = a.to(torch.float64), b.to(torch.float64)
    calls: dict[str, Callable[[], object]] = {"float32": lambda: a @ b, "float64": lambda: wide[0] @ wide[1]}
    for bits in BITS:
        for form in sorted(sound_forms(a.device.type), key=lambda form: form.value):
            calls[f"{form.value}, S = {bits}"] = lambda bits=bits, form=form: matmul(a, b, bits, form)  # type: ignore[misc]
        cut = digitproducts.cut(a, bits), digitproducts.cut(b, bits)
        calls[f"karatsuba, S = {bits}, cut before"] = lambda cut=cut: digitproducts.multiply(*cut)  # type: ignore[misc]
    return calls


def convolution_calls() -> dict[str, Callable[[], object]]:
    """A convolution of 3 by 3 over 16 images of 64 channels and 32 by 32, and its gradients, in one call each."""
    x, weight, g = torch.randn(16, 64, 32, 32), torch.randn(64, 64, 3, 3), torch.randn(16, 64, 32, 32)
    geometry = Geometry((1, 1), (1, 1), (1, 1))
    library = geometry.library_arguments()

    def ordinary() -> None:
        torch.ops.aten.convolution(x, weight, None, *library)
        torch.ops.aten.convolution_backward(g, x, weight, None, *library, [True, True, False])

    def exact(bits: int, form: Form) -> None:
        convolutions.convolution(x, weight, geometry, bits, form)
        convolutions.input_gradient(g, weight, (32, 32), geometry, bits, form)
        convolutions.weight_gradient(g, x, (3, 3), geometry, bits, form)

    calls: dict[str, Callable[[], object]] = {"float32": ordinary}
    for bits in BITS:
        for form in sorted(sound_forms("cpu") - {Form.FLOAT32}, key=lambda form: form.value):
            calls[f"{form.value}, S = {bits}"] = lambda bits=bits, form=form: exact(bits, form)  # type: ignore[misc]
    return calls


def show(title: str, calls: dict[str, Callable[[], object]], rounds: int) -> None:
    """Time calls and print the median of each by float32's."""
    found = {name: statistics.median(taken) for name, taken in rounds_of(calls, rounds, warm_up=1).items()}
    print(f"{title}: float32 {1e3 * found['float32']:.1f} ms")
    for name, taken in found.items():
        print(f"  {name:32} {taken / found['float32']:6.2f}")


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks exact-products", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--shapes", type=int, default=len(SHAPES), help="how many of the shapes")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(chosen.threads)
    generator = torch.Generator().manual_seed(0)
    print(f"torch {torch.__version__}, {chosen.threads} threads; times by those of float32")
    for m, k, n in SHAPES[: chosen.shapes]:
        a, b = torch.randn(m, k, generator=generator), torch.randn(k, n, generator=generator)
        show(f"{m} x {k} x {n}", calls_for(a, b), chosen.rounds)
    show("convolution and gradients", convolution_calls(), chosen.rounds)
