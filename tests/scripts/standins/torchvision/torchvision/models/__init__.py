"""The architectures that scripts take from torchvision, with random weights."""

from __future__ import annotations

from enum import Enum
from typing import Any

from torch import Tensor, nn


class VGG16_Weights(Enum):  # noqa: N801
    IMAGENET1K_V1 = "random here"


class BasicBlock(nn.Module):
    """Deep Residual Learning for Image Recognition (arXiv 1512.03385), figure 5, left."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.downsample: nn.Module | None = None
        if stride != 1 or inside != outside:
            self.downsample = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x: Tensor) -> Tensor:
        around = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += around
        return self.relu(out)


class Bottleneck(nn.Module):
    """The same figure, right."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside // 4, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside // 4)
        self.conv2 = nn.Conv2d(outside // 4, outside // 4, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside // 4)
        self.conv3 = nn.Conv2d(outside // 4, outside, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outside)
        self.relu = nn.ReLU(inplace=True)
        self.downsample: nn.Module | None = None
        if stride != 1 or inside != outside:
            self.downsample = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x: Tensor) -> Tensor:
        around = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += around
        return self.relu(out)


class ResNet(nn.Module):
    """The same paper, table 1."""

    def __init__(self, block: type[BasicBlock | Bottleneck], counts: tuple[int, ...], num_classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        growth = 1 if block is BasicBlock else 4
        inside = 64
        for layer, count in enumerate(counts, 1):
            outside = 32 * 2**layer * growth
            blocks = []
            for index in range(count):
                blocks.append(block(inside, outside, 1 if layer == 1 or index else 2))
                inside = outside
            self.add_module(f"layer{layer}", nn.Sequential(*blocks))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(inside, num_classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
        return self.fc(self.avgpool(x).flatten(1))


def resnet18(weights: Any = None, num_classes: int = 1000, **_options: Any) -> ResNet:
    return ResNet(BasicBlock, (2, 2, 2, 2), num_classes)


def resnet50(weights: Any = None, num_classes: int = 1000, **_options: Any) -> ResNet:
    return ResNet(Bottleneck, (3, 4, 6, 3), num_classes)


class Vgg(nn.Module):
    """Very Deep Convolutional Networks (arXiv 1409.1556), table 1, column D."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        inside = 3
        for width in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
            if width:
                layers += [nn.Conv2d(inside, width, 3, padding=1), nn.ReLU(inplace=True)]
                inside = width
            else:
                layers.append(nn.MaxPool2d(2, 2))
        self.features = nn.Sequential(*layers)


def vgg16(weights: Any = None, **_options: Any) -> Vgg:
    return Vgg()


def get_model(name: str, weights: Any = None, num_classes: int = 1000, **_options: Any) -> nn.Module:
    return {"resnet18": resnet18, "resnet50": resnet50}[name](num_classes=num_classes)


def list_models(**_options: Any) -> list[str]:
    return ["resnet18", "resnet50"]


def get_weight(name: str) -> Any:
    raise ValueError(f"the stand-in has no weights {name}")


def _not_made(**_options: Any) -> nn.Module:
    raise NotImplementedError("the stand-in makes resnet18, resnet50 and vgg16 only")


alexnet = squeezenet1_1 = inception_v3 = _not_made
"""Of these only the names are imported."""
