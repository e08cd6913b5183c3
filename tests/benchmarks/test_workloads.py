"""What is measured is what its name says."""

from __future__ import annotations

import torch
from benchmarks.workloads import CPU, LargeImageResNet, eager_step, weight_dtype

from counterfoil.training.recipes.resnet import LAYOUTS, Bottleneck, ResNetLayout
from counterfoil_core.arithmetic.selftest import tiny_program
from counterfoil_core.program.estimate import product_flops


def test_resnet_50_has_the_parameters_and_the_names_of_the_public_weights() -> None:
    with torch.device("meta"):
        model = LargeImageResNet(LAYOUTS["resnet50"], 1000)
    state = model.state_dict()
    assert sum(parameter.numel() for parameter in model.parameters()) == 25_557_032
    assert len(state) == 320
    assert {"conv1.weight", "bn1.running_var", "layer1.0.downsample.0.weight", "layer4.2.bn3.bias"} < set(state)
    assert tuple(state["conv1.weight"].shape) == (64, 3, 7, 7)


def test_its_stem_halves_the_image_twice() -> None:
    model = LargeImageResNet(ResNetLayout(Bottleneck, (1, 1, 1, 1), 2), 5)
    seen = []
    model.layer1.register_forward_pre_hook(lambda _module, given: seen.append(tuple(given[0].shape)))
    assert model(torch.zeros(2, 3, 64, 64)).shape == (2, 5)
    assert seen == [(2, 2, 16, 16)]


def test_products_alone_are_counted() -> None:
    # 16 x 24 by 24 x 24, and 24 x 16 by 16 x 24; tanh, mul, sub and sum are not.
    assert product_flops(tiny_program()) == 2 * (16 * 24 * 24) + 2 * (24 * 16 * 24)


def test_eager_training_computes_in_its_dtype() -> None:
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        weights, seen = torch.nn.Parameter(torch.ones(4, 4, dtype=weight_dtype(dtype))), []

        def loss(weights: torch.nn.Parameter = weights, seen: list[torch.dtype] = seen) -> torch.Tensor:
            product = weights @ weights
            seen.append(product.dtype)
            return product.float().sum()

        step = eager_step(torch.optim.SGD([weights], lr=0.01), loss, dtype, CPU)
        first = step()
        assert step() < first, "it learns"
        assert seen == [dtype, dtype]
        assert weights.dtype is (torch.float32 if dtype is torch.bfloat16 else dtype)
