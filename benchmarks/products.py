"""Matrix products of two float32 matrices in every way that is compared: ordinary, rounded, exact, RepDL's."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from argparse import Namespace
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.measure import (
    Benchmark,
    Cell,
    Results,
    Sections,
    Values,
    argument,
    figures,
    on_page,
    origins,
    ratio,
    rounds_of,
)
from benchmarks.pages import markdown
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.precision import Precision
from counterfoil_core.kernels.exact import convolutions, digitproducts
from counterfoil_core.kernels.exact.forms import sound_forms
from counterfoil_core.kernels.exact.geometry import Geometry
from counterfoil_core.kernels.exact.products import Form, matmul
from counterfoil_core.kernels.grid import Grid, scale_exponent

SHAPES = ((256, 256, 1024), (512, 768, 768))
"""m, k, n of what is compared with others."""
EVERY = (*SHAPES, (512, 768, 3072), (512, 3072, 768), (768, 512, 768), (1024, 1024, 1024), (64, 576, 9216))
"""The same, layers of width 768 with their gradients, a cube, and an unfolded convolution of 64 channels."""
CONVOLUTION = "convolution and gradients"
_BITS = (20, 13)
Calls = Mapping[str, Callable[[], object]]


def repdl_product() -> Callable[[Tensor, Tensor], Tensor] | None:
    """Return RepDL's float32 product for the CPU, where it is installed; it is neither shipped nor fetched."""
    spec = importlib.util.find_spec("repdl")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(next(iter(spec.submodule_search_locations))) / "backend"
    for file in (folder / f"cpu{suffix}" for suffix in importlib.machinery.EXTENSION_SUFFIXES):
        if file.exists():
            # The package itself asks for its CUDA part too; the part for the CPU stands by itself.
            loader = importlib.machinery.ExtensionFileLoader("repdl.backend.cpu", str(file))
            made = importlib.util.spec_from_loader(loader.name, loader)
            assert made is not None
            module = importlib.util.module_from_spec(made)
            loader.exec_module(module)
            return lambda a, b: module.mm(a, b, False, False)
    return None


def product_calls(a: Tensor, b: Tensor, kernels: Kernels) -> Calls:
    """Return the products of two float32 matrices that are compared, by name."""
    profile = Precision()

    def grid() -> None:
        result = a.double() @ b.double()
        exponent = scale_exponent(float(a.double().norm(dim=1).max() * b.double().norm(dim=0).max()))
        assert exponent is not None
        made = Grid.of(exponent, profile, profile.margin_bits)
        kernels.round(result.view(-1), made, made.tau, 1)

    calls: dict[str, Callable[[], object]] = {
        "float32": lambda: torch.mm(a, b),
        "float64": lambda: a.double() @ b.double(),
        "float64, rounded to 24 bits": grid,
    }
    for bits in _BITS:
        for form in sorted(sound_forms("cpu"), key=lambda form: form.value):
            calls[f"exact-{bits} ({form.value})"] = partial(matmul, a, b, bits, form)
        calls[f"exact-{bits} (karatsuba, cut before)"] = partial(
            digitproducts.multiply, digitproducts.cut(a, bits), digitproducts.cut(b, bits)
        )
    repdl = repdl_product()
    return calls if repdl is None else {**calls, "RepDL": partial(repdl, a, b)}


def convolution_calls() -> Calls:
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

    forms = sorted(sound_forms("cpu") - {Form.FLOAT32}, key=lambda form: form.value)
    return {
        "float32": ordinary,
        **{f"exact-{bits} ({form.value})": partial(exact, bits, form) for bits in _BITS for form in forms},
    }


def shape_name(shape: tuple[int, int, int]) -> str:
    """A shape in words."""
    return " x ".join(map(str, shape))


def measure_product(key: str, rounds: int, threads: int | None) -> dict[str, float]:
    """Time a product, by the name of its shape, or the convolution, in every way by float32's."""
    machine, generator = open_machine("cpu", threads), torch.Generator().manual_seed(0)
    with machine.kernels() as kernels:
        if key == CONVOLUTION:
            calls = convolution_calls()
        else:
            m, k, n = next(shape for shape in EVERY if shape_name(shape) == key)
            a, b = torch.randn(m, k, generator=generator), torch.randn(k, n, generator=generator)
            calls = product_calls(a, b, kernels)
        times = rounds_of(calls, rounds, warm_up=1)
    return {name: ratio(times, name, "float32") for name in times}


def product_table(found: Mapping[str, Mapping[str, float]]) -> str:
    """Return products as Markdown; RepDL has a row where it was not installed too."""
    shown = list(dict.fromkeys(name for row in found.values() for name in row))
    rows = [[name, *(f"{row[name]:.2f}" if name in row else "-" for row in found.values())] for name in shown]
    if "RepDL" not in shown:
        rows.append(["RepDL", *["not installed here"] * len(found)])
    return markdown(["product, time / float32's", *found], rows)


def _measure(options: Namespace, key: str) -> Values:
    return {"ratios": measure_product(key, options.rounds, options.threads)}


def _sections(results: Results, _options: Namespace) -> Sections:
    table = product_table({key: one["ratios"] for key, one in figures(results).items()})
    return on_page("benchmarks.md", "exact-products", origins(results), table)


EXACT_PRODUCTS = Benchmark(
    "Single products and a convolution with its gradients, in every form that is sound here, by float32's time. On a "
    "machine that does other work the figures say little: repeat until they stay.",
    lambda _options: [Cell(key, alone=True) for key in (*map(shape_name, EVERY), CONVOLUTION)],
    _measure,
    _sections,
    (argument("--rounds", type=int, default=5),),
)
