"""Matrix products of two float32 matrices in every way that is compared: ordinary, rounded, exact, RepDL's."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import statistics
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.pages import markdown
from benchmarks.timing import rounds_of
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.precision import Precision
from counterfoil_core.kernels.exact.forms import sound_forms
from counterfoil_core.kernels.exact.products import Form, matmul
from counterfoil_core.kernels.grid import Grid, scale_exponent

SHAPES = ((256, 256, 1024), (512, 768, 768))


def repdl_product() -> Callable[[Tensor, Tensor], Tensor] | None:
    """Return RepDL's float32 product for the CPU, where it is installed; it is neither shipped nor fetched."""
    spec = importlib.util.find_spec("repdl")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(next(iter(spec.submodule_search_locations))) / "backend"
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        file = folder / f"cpu{suffix}"
        if file.exists():
            # The package itself asks for its CUDA part too; the part for the CPU stands by itself.
            loader = importlib.machinery.ExtensionFileLoader("repdl.backend.cpu", str(file))
            made = importlib.util.spec_from_loader(loader.name, loader)
            assert made is not None
            module = importlib.util.module_from_spec(made)
            loader.exec_module(module)
            return partial(_plain, module.mm)
    return None


def _plain(product: Callable[..., Tensor], a: Tensor, b: Tensor) -> Tensor:
    return product(a, b, False, False)


def products(kernels: Kernels) -> dict[str, Callable[[Tensor, Tensor], object]]:
    """Return the products of two float32 matrices that are compared, by name."""

    def grid(a: Tensor, b: Tensor) -> Tensor:
        result = a.double() @ b.double()
        scale = float(a.double().norm(dim=1).max() * b.double().norm(dim=0).max())
        exponent = scale_exponent(scale)
        assert exponent is not None
        profile = Precision()
        made = Grid.of(exponent, profile, profile.margin_bits)
        kernels.round(result.view(-1), made, made.tau, 1)
        return result

    form = Form.INT8 if Form.INT8 in sound_forms("cpu") else Form.FLOAT64
    repdl = repdl_product()
    return {
        "float32": torch.mm,
        "float64": lambda a, b: a.double() @ b.double(),
        "float64, rounded to 24 bits": grid,
        f"exact-20 ({form.value})": lambda a, b: matmul(a, b, 20, form),
        f"exact-13 ({form.value})": lambda a, b: matmul(a, b, 13, form),
        **({} if repdl is None else {"RepDL": repdl}),
    }


def measure_products(rounds: int, threads: int) -> dict[str, dict[str, float]]:
    """Time products in every way by float32's; by shape and way."""
    machine = open_machine("cpu", threads)
    generator = torch.Generator().manual_seed(0)
    found: dict[str, dict[str, float]] = {}
    with machine.kernels() as kernels:
        for m, k, n in SHAPES:
            a, b = torch.randn(m, k, generator=generator), torch.randn(k, n, generator=generator)
            calls = {name: partial(call, a, b) for name, call in products(kernels).items()}
            times = rounds_of(calls, rounds, warm_up=1)
            base = times["float32"]
            found[f"{m} x {k} x {n}"] = {
                name: statistics.median(x / y for x, y in zip(taken, base, strict=True))
                for name, taken in times.items()
            }
    return found


def product_table(found: Mapping[str, Mapping[str, float]]) -> str:
    """Return the products as Markdown; RepDL has a row where it was not installed too."""
    names = list(dict.fromkeys(name for row in found.values() for name in row))
    rows = [[name, *(f"{found[shape][name]:.2f}" for shape in found)] for name in names]
    if "RepDL" not in names:
        rows.append(["RepDL", *["not installed here"] * len(found)])
    return markdown(["product, time / float32's", *found], rows)
