from __future__ import annotations

import ast
import dataclasses
import os
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from counterfoil.arithmetic.compute.devicelist import device_advice, list_devices
from counterfoil.base.cards import GPUS, data_sheet, step_seconds
from counterfoil_core.arithmetic.compute.devices import (
    LIBRARIES,
    check_memory,
    environment,
    environment_after,
    memory_of,
    nondeterministic_functions,
    open_device,
    set_determinism,
)
from counterfoil_core.base.errors import DeviceError, MemoryShortageError
from counterfoil_core.kernels import devices
from counterfoil_core.kernels.carriers import Carrier
from counterfoil_core.kernels.exact import device_products
from counterfoil_core.program.limits import Estimate

ROOT = Path(__file__).parents[4]


def set_variable(name: str) -> Callable[[Any], None]:
    return lambda value: os.environ.__setitem__(name, value)


def set_fill(value: bool) -> None:
    torch.utils.deterministic.fill_uninitialized_memory = value


def set_attribute(target: Any, name: str) -> Callable[[Any], None]:
    return lambda value: setattr(target, name, value)


def flushes_subnormals() -> bool:
    return bool((torch.tensor([2.0**-1060], dtype=torch.float64) * 2.0**-5 == 0).item())


# Each switch: how to set it wrongly, the wrong value, how to read it, the right value.
SWITCHES: dict[str, tuple[Callable[[Any], Any], Any, Callable[[], Any], Any]] = {
    **{name: (set_variable(name), "1", lambda name=name: os.environ[name], value) for name, value in LIBRARIES.items()},
    "cudnn": (set_attribute(torch.backends.cudnn, "enabled"), True, lambda: torch.backends.cudnn.enabled, False),
    "deterministic algorithms": (
        torch.use_deterministic_algorithms,
        False,
        torch.are_deterministic_algorithms_enabled,
        True,
    ),
    "filled memory": (set_fill, True, lambda: torch.utils.deterministic.fill_uninitialized_memory, False),
    "cudnn benchmark": (
        set_attribute(torch.backends.cudnn, "benchmark"),
        True,
        lambda: torch.backends.cudnn.benchmark,
        False,
    ),
    "cudnn deterministic": (
        set_attribute(torch.backends.cudnn, "deterministic"),
        False,
        lambda: torch.backends.cudnn.deterministic,
        True,
    ),
    "tf32 in matmul": (
        set_attribute(torch.backends.cuda.matmul, "allow_tf32"),
        True,
        lambda: torch.backends.cuda.matmul.allow_tf32,
        False,
    ),
    "tf32 in cudnn": (
        set_attribute(torch.backends.cudnn, "allow_tf32"),
        True,
        lambda: torch.backends.cudnn.allow_tf32,
        False,
    ),
    "subnormals": (torch.set_flush_denormal, True, flushes_subnormals, False),
}


@pytest.mark.parametrize("name", SWITCHES)
def test_switch(name):
    spoil, wrong, read, right = SWITCHES[name]
    spoil(wrong)
    assert read() == wrong  # control: the switch can be set wrongly
    set_determinism()
    assert read() == right


def test_threads():
    before = torch.get_num_threads()
    try:
        assert set_determinism(1) == 1
        assert torch.get_num_threads() == 1
        assert set_determinism() == 1  # None leaves them
    finally:
        torch.set_num_threads(before)


def test_a_device_of_amd_is_refused_by_its_name(monkeypatch):
    monkeypatch.setattr(torch.version, "hip", "7.0")
    with pytest.raises(DeviceError, match="AMD"):
        open_device("cuda:0")
    assert open_device("cpu").type == "cpu"


def test_the_environment_of_a_device_names_what_its_libraries_may_do(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _device: "imitated")
    monkeypatch.setattr(devices, "_without_triton", {0})
    found = dict(environment(torch.device("cuda:0")))
    assert found["kernels"] == "torch"
    assert "CUBLAS_EMULATE_DOUBLE_PRECISION=0" in found["libraries"]
    assert "libraries" not in dict(environment(torch.device("cpu")))


@pytest.mark.parametrize("threads", [0, -1])
def test_impossible_threads(threads):
    with pytest.raises(DeviceError, match="threads"):
        set_determinism(threads)


def test_refuses_when_a_switch_cannot_be_set(monkeypatch):
    monkeypatch.setattr(torch, "are_deterministic_algorithms_enabled", lambda: False)
    with pytest.raises(DeviceError, match="deterministic"):
        set_determinism()


@pytest.mark.parametrize("name", ["", "gpu", "meta", "cuda:99", "cpu:x", "cuda:-1"])
def test_a_device_that_is_not_there(name):
    with pytest.raises(DeviceError) as caught:
        open_device(name)
    assert caught.value.remedy


def test_the_cpu_is_listed_and_opens():
    assert list_devices()[0].name == "cpu"
    assert open_device("cpu") == torch.device("cpu")


def with_cards(monkeypatch: pytest.MonkeyPatch, *cards: tuple[str, int, int]) -> None:
    """Let torch say that this machine has these CUDA devices."""
    properties = [
        SimpleNamespace(name=name, major=major, minor=minor, gcnArchName=name) for name, major, minor in cards
    ]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: len(properties))
    monkeypatch.setattr(torch.cuda, "get_device_properties", properties.__getitem__)


def test_a_card_with_little_float64_is_listed_as_such_and_another_profile_recommended(monkeypatch):
    with_cards(monkeypatch, ("NVIDIA H100", 9, 0), ("NVIDIA GeForce RTX 4090", 8, 9), ("NVIDIA Next", 77, 0))
    assert [device.float64_share for device in list_devices()] == [0.5, 0.5, 1 / 64, None]
    advice = device_advice("float64")
    assert len(advice) == 1, "of four devices one is slow"
    assert advice[0].startswith("cuda:1 (NVIDIA GeForce RTX 4090) has little float64, 1/64 of")
    assert device_advice("float32") == ()
    assert device_advice("float64", name="cuda:1") == advice
    assert device_advice("float64", name="cuda:0") == device_advice("float64", name="cpu") == ()


STEP = Estimate(operators=4000, tensors=4000, bytes=10**10, flops=33 * 10**11, total_bytes=62 * 10**9)
"""About what a step of GPT-2 of 124 million parameters takes on 8 sequences of 512."""


def test_where_a_data_sheet_is_held_times_under_other_profiles_are_told(monkeypatch):
    with_cards(monkeypatch, ("NVIDIA H100 80GB HBM3", 9, 0), ("NVIDIA GeForce RTX 4090", 8, 9), ("NVIDIA Next", 7, 5))
    named, quick = device_advice("float64", STEP, "cuda:1")[0], device_advice("float64", STEP, "cuda:0")[0]
    assert re.search(r"takes 5\.9 s, one under exact-20 0\.\d+ s, and one under exact-13 0\.\d+ s: by a model", named)
    assert quick.startswith("On cuda:0 (NVIDIA H100 80GB HBM3) a step of this order takes 0.")
    assert "has little float64, 1/32" in device_advice("float64", STEP, "cuda:2")[0], "no sheet of it is held"
    assert device_advice("float32", STEP) == ()
    small = dataclasses.replace(STEP, flops=10**9, total_bytes=10**7)
    assert "has little float64, 1/64" in device_advice("float64", small, "cuda:1")[0], "launches decide"
    # Control: a step that only moves bytes gains the size of its values alone.
    moving = dataclasses.replace(STEP, flops=0, total_bytes=1)
    assert step_seconds(GPUS["A100"], moving) == pytest.approx(4 * step_seconds(GPUS["A100"], moving, 2))


def test_a_step_takes_its_operations_and_its_bytes():
    gpu = GPUS["RTX 4090"]
    for digits, rate, products, moved in ((None, gpu.float64, 1, 6), (3, gpu.int8, 9, 1.5), (2, gpu.int8, 4, 1.5)):
        expected = (products * STEP.flops / rate + moved * STEP.total_bytes / gpu.bandwidth) / 0.5
        assert step_seconds(gpu, STEP, digits) == pytest.approx(expected)


@pytest.mark.parametrize("title", ["NVIDIA A100-SXM4-80GB", "NVIDIA GeForce RTX 4090", "NVIDIA L4", "NVIDIA B300"])
def test_a_data_sheet_is_known_by_the_drivers_name(title):
    sheet = data_sheet(title)
    assert sheet is not None
    assert sheet.name in title


@pytest.mark.parametrize(
    "title",
    [
        "NVIDIA L40S",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA GeForce RTX 2080 Ti",
        "Intel(R) Xeon(R)",
        "NVIDIA GB10",
    ],
)
def test_no_data_sheet_is_taken_for_anothers(title):
    assert data_sheet(title) is None


def test_cuda_alone_is_the_first_card(monkeypatch):
    with_cards(monkeypatch, ("NVIDIA GeForce RTX 2080 Ti", 7, 5), ("NVIDIA H100", 9, 0))
    assert "1/32" in device_advice("float64", name="cuda")[0]


def test_environment_is_sorted_text():
    pairs = environment(torch.device("cpu"))
    assert list(pairs) == sorted(pairs)
    assert all(isinstance(text, str) for pair in pairs for text in pair)
    assert {"torch", "threads", "cpu_capability", "device"} <= dict(pairs).keys()


def test_a_step_that_cannot_fit_is_refused_before_it_starts() -> None:
    check_memory(torch.device("cpu"), 1)
    with pytest.raises(MemoryShortageError, match=r"needs at least 1048576\.0 GiB"):
        check_memory(torch.device("cpu"), 2**50)


def test_an_operator_without_a_deterministic_algorithm_runs_and_is_noted(capfd):
    """``put_`` has none, on the CPU too; the allow-list has no such operator there."""
    set_determinism()
    device = torch.device("cpu")
    plain = environment(device)
    assert environment_after(plain) == plain
    x = torch.zeros(3)
    for _ in range(2):
        x.put_(torch.tensor([1]), torch.tensor([2.0]))
    assert x.tolist() == [0.0, 2.0, 0.0]
    assert nondeterministic_functions() == ("put_",)
    assert dict(environment_after(plain))["nondeterministic"] == "put_"
    assert capfd.readouterr().err == ""
    set_determinism()
    assert nondeterministic_functions() == ()


def test_other_warnings_are_shown_as_before():
    set_determinism()
    with pytest.warns(UserWarning, match="something else"):
        warnings.warn("something else", UserWarning, stacklevel=1)


def test_control_without_the_switch_it_is_an_error():
    torch.use_deterministic_algorithms(True)
    with pytest.raises(RuntimeError, match="deterministic"):
        torch.zeros(3).put_(torch.tensor([1]), torch.tensor([2.0]))
    set_determinism()


# A second device. None is here: what is asked of torch names the device, and no launch is without it.

TWO = (("NVIDIA One", 9, 0), ("NVIDIA Two", 8, 9))


def test_the_second_device_is_opened_and_asked_as_such(monkeypatch):
    with_cards(monkeypatch, *TWO)
    asked: list[torch.device] = []

    def answered(value: Any) -> Callable[[Any], Any]:
        return lambda device: asked.append(torch.device(device)) or value

    monkeypatch.setattr(torch.cuda, "get_device_name", answered("NVIDIA Two"))
    monkeypatch.setattr(torch.cuda, "get_device_properties", answered(SimpleNamespace(total_memory=7)))
    monkeypatch.setattr(torch.cuda, "get_device_capability", answered((8, 9)))
    monkeypatch.setattr(devices, "_without_triton", set())
    second = open_device("cuda:1")
    assert (open_device("cuda"), second) == (torch.device("cuda:0"), torch.device("cuda:1"))
    with pytest.raises(DeviceError) as caught:
        open_device("cuda:2")
    assert "cuda:0 to cuda:1" in str(caught.value.remedy)
    found = dict(environment(second))
    assert (found["device"], found["device_title"], memory_of(second)) == ("cuda:1", "NVIDIA Two", 7)
    assert device_products._carrier(second) is Carrier.INT8
    assert asked == [second] * 3
    # One on which Triton does not run leaves the other as it is.
    devices.leave_triton_out(torch.device("cuda:0"))
    monkeypatch.setattr(devices, "_has_triton", lambda: True)
    assert [devices.triton_reaches(torch.device("cuda", index)) for index in (0, 1)] == [False, True]


def test_kernels_are_launched_on_the_device_of_their_tensor(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device", lambda device: ("current", device))
    assert devices.device_of(SimpleNamespace(is_cuda=True, device=torch.device("cuda:1"))) == (
        "current",
        torch.device("cuda:1"),
    )


def calls_in(*folders: str) -> Iterator[tuple[ast.AST, list[ast.AST], str]]:
    """Every call in the source of some folders, what it is within, and where it stands."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text("utf-8"))
            around: dict[ast.AST, ast.AST] = {
                child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)
            }
            for node in ast.walk(tree):
                if isinstance(node, ast.Call):
                    within, inner = [], node
                    while inner in around:
                        within.append(inner := around[inner])
                    yield node, within, f"{path.relative_to(ROOT)}:{node.lineno}"


def test_no_launch_of_triton_is_without_its_device() -> None:
    launches = [
        (where, any(isinstance(one, ast.With) and "device_of(" in ast.unparse(one.items[0]) for one in within))
        for call, within, where in calls_in("engine/counterfoil_core/kernels/cuda")
        if isinstance(call.func, ast.Subscript)
    ]
    assert len(launches) >= 8
    assert [where for where, named in launches if not named] == []


def test_nothing_asks_torch_of_the_current_device() -> None:
    """Control for who adds a call: ``empty_cache`` is of all devices, and these two are of none."""
    of_all = {"is_available", "device_count", "empty_cache"}
    asked = [
        (ast.unparse(call), where, bool(call.args or call.keywords))
        for call, _, where in calls_in("engine", "app", "benchmarks")
        if ast.unparse(call.func).startswith("torch.cuda.")
    ]
    assert len(asked) > 8
    assert [one for one in asked if not one[2] and one[0].split("(")[0].removeprefix("torch.cuda.") not in of_all] == []
