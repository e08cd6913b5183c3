"""Carriers of exact products: each gives the CPU's bits, as compiled for every device; a card has the quicker one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from counterfoil.base.cards import GPUS
from counterfoil_core.kernels import devices
from counterfoil_core.kernels.carriers import Carrier, carrier_of
from counterfoil_core.kernels.cuda import products as cuda_products
from counterfoil_core.kernels.cuda.products import SUMMED, digit_count
from counterfoil_core.kernels.exact import device_products, digits, forms, products
from counterfoil_core.kernels.exact.convolutions import convolution, input_gradient, weight_gradient
from counterfoil_core.kernels.exact.geometry import Geometry
from counterfoil_core.kernels.exact.products import Form
from support.definite_reference import same_bits, wild
from support.triton_device import GPU, ON_DEVICE

MACHINES = [
    pytest.param("cpu", marks=[pytest.mark.ptx(sm, 3), *often], id=f"sm_{sm}")
    for sm, often in ((80, []), (90, []), (100, []), (103, [pytest.mark.often]), (120, []))
]
"""As compiled for devices that have other instructions for it, or other room."""
DEVICES = [pytest.param("cuda:0", marks=GPU)] if ON_DEVICE else ["cpu", *MACHINES]
FORM = Form.TENSOR_CORES


@pytest.fixture(params=Carrier, ids=lambda carrier: carrier.value)
def carrier(request: pytest.FixtureRequest) -> Carrier:
    return request.param


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest, carrier: Carrier, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A device whose tensor cores multiply in a carrier, whatever is quicker on it."""
    if not ON_DEVICE:
        monkeypatch.setattr(devices, "loops_reach", lambda device: False)
        monkeypatch.setattr(devices, "triton_reaches", lambda device: True)
    monkeypatch.setattr(device_products, "_carrier", lambda _device: carrier)
    forms.is_sound.cache_clear()
    yield request.param
    forms.is_sound.cache_clear()
    digits.forget()


@pytest.mark.parametrize("bits", [13, 20])
def test_a_product_has_the_bits_of_the_cpu(device: str, bits: int) -> None:
    """Less than a tile, and more terms than bfloat16 adds; memory along either axis."""
    longer = SUMMED[Carrier.BFLOAT16, digit_count(bits)] + 33
    for m, k, n in ((37, 150, 20), (9, longer, 18)):
        a, b = wild((2, m, k), k, -9, 9), wild((2, k, n), n, -9, 9)
        expected = products.matmul(a, b, bits, Form.FLOAT64)
        if k == longer:
            a, b = a.mT.contiguous().mT, b.mT.contiguous().mT
        found = products.matmul(a.to(device), b.to(device), bits, FORM)
        assert same_bits(found.cpu(), expected)


@pytest.mark.parametrize("bits", [14, 22])
def test_the_longest_sums_of_the_largest_digits(device: str, carrier: Carrier, bits: int) -> None:
    """Digits of 127 have odd products, and a unit is lost where a sum that float32 does not hold is rounded."""
    summed = SUMMED[Carrier.BFLOAT16, digit_count(bits)]
    largest = 127 + 63 * 256 if bits == 14 else 127 + 127 * 256 + 63 * 256**2
    smallest = -(128 + 63 * 256) if bits == 14 else -(128 + 128 * 256 + 63 * 256**2)
    assert -smallest < 2**bits, "a larger one would have all integers halved"
    rows = torch.tensor([[float(2**bits - 1)], [float(largest)], [float(-largest)], [float(smallest)]])
    a = rows.expand(4, 2 * summed + 1).contiguous()
    # What shares the exponent of the largest integers is as it is written.
    a[:, -1] = torch.tensor([1.0, 1.0, -1.0, 1.0])
    a[0, :-1:2] *= -1
    expected = products.matmul(a, a.t(), bits, Form.FLOAT64)
    assert same_bits(products.matmul(a.to(device), a.to(device).t(), bits, FORM).cpu(), expected)


def test_a_convolution_has_the_bits_of_the_cpu(device: str) -> None:
    geometry = Geometry((2, 1), (1, 0), (1, 2), 2)
    x, weight = wild((2, 4, 6, 7), 1), wild((6, 2, 3, 2), 2)
    expected = convolution(x, weight, geometry, 20)
    g = wild(tuple(expected.shape), 3)
    there = [tensor.to(device) for tensor in (x, weight, g)]
    assert same_bits(convolution(there[0], there[1], geometry, 20, FORM).cpu(), expected)
    found = input_gradient(there[2], there[1], x.shape[2:], geometry, 20, FORM)
    assert same_bits(found.cpu(), input_gradient(g, weight, x.shape[2:], geometry, 20))
    found = weight_gradient(there[2], there[0], weight.shape[2:], geometry, 20, FORM)
    assert same_bits(found.cpu(), weight_gradient(g, x, weight.shape[2:], geometry, 20))


def test_known_answers_are_asked_of_the_carrier(device: str, carrier: Carrier, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, length in (("_ROWS", 5), ("_INNER", 70), ("_COLUMNS", 3)):
        monkeypatch.setattr(forms, name, length)
    monkeypatch.setattr(forms, "_BITS_OF_KERNELS", {FORM: (20,)})
    asked = []
    multiply = cuda_products.multiply
    monkeypatch.setattr(cuda_products, "multiply", lambda *given: asked.append(given[-1]) or multiply(*given))
    assert forms.is_sound(device, FORM)
    assert set(asked) == {carrier}


@pytest.mark.parametrize("device", DEVICES[:1], indirect=True)
def test_a_carrier_that_is_given_more_terms_than_it_holds_is_found(
    device: str, carrier: Carrier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a device is that holds fewer bits; int8 has room for more. One of the known answers finds it."""
    for name, length in (("_ROWS", 2), ("_INNER", 1043), ("_COLUMNS", 2)):
        monkeypatch.setattr(forms, name, length)
    monkeypatch.setattr(forms, "_BITS_OF_KERNELS", {FORM: (20,)})
    cases = forms._cases(torch.device(device))
    monkeypatch.setattr(forms, "_cases", lambda _device: [case for case in cases if forms._ODD_BYTES in case[0]])
    assert forms.is_sound(device, FORM)  # control
    forms.is_sound.cache_clear()
    monkeypatch.setattr(cuda_products, "SUMMED", dict.fromkeys(SUMMED, 1 << 11))
    assert forms.is_sound(device, FORM) == (carrier is Carrier.INT8)


# Which carrier is a card's.


@pytest.mark.parametrize(
    ("capability", "expected"),
    [
        ((7, 5), None), ((8, 0), Carrier.INT8), ((8, 9), Carrier.INT8), ((9, 0), Carrier.INT8),
        ((10, 0), Carrier.INT8), ((10, 3), Carrier.BFLOAT16), ((12, 0), Carrier.INT8),
    ],
)  # fmt: skip
def test_the_carrier_of_a_device(capability: tuple[int, int], expected: Carrier | None) -> None:
    assert carrier_of(capability) is expected


@pytest.mark.parametrize("gpu", GPUS.values(), ids=GPUS)
def test_a_card_has_the_carrier_that_is_quicker_by_its_data_sheet(gpu) -> None:
    quicker = Carrier.INT8 if gpu.int8 > gpu.bfloat16 else Carrier.BFLOAT16
    assert carrier_of(gpu.capability) is quicker
    assert gpu.digits == max(gpu.int8, gpu.bfloat16)
