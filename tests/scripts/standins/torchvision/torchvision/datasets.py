"""Data sets of the names that scripts ask for, of a few generated images; and folders of images."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import Dataset

ROWS = int(os.environ.get("STANDIN_IMAGES", "64"))
"""Images of a generated training set; a test set has a quarter of them."""

Transform = Callable[[Any], Any]


class VisionDataset(Dataset[tuple[Any, Any]]):
    """Images as arrays, with a label each."""

    SHAPE: tuple[int, ...] = (32, 32, 3)
    CLASSES = 10

    def __init__(
        self,
        root: str = "",
        train: bool = True,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        download: bool = False,
    ) -> None:
        self.root, self.train = root, train
        self.transform, self.target_transform = transform, target_transform
        draw = np.random.default_rng(7 if train else 8)
        rows = ROWS if train else ROWS // 4
        self.targets: Any = [row % self.CLASSES for row in range(rows)]
        self.data: Any = draw.integers(0, 256, (rows, *self.SHAPE)).astype(np.uint8)
        self.classes = [str(label) for label in range(self.CLASSES)]

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        image: Any = Image.fromarray(np.asarray(self.data[index]))
        label = int(self.targets[index])
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            label = self.target_transform(label)
        return image, label


class CIFAR10(VisionDataset):
    pass


class CIFAR100(VisionDataset):
    CLASSES = 100


class MNIST(VisionDataset):
    SHAPE = (28, 28)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.data = torch.from_numpy(self.data)
        self.targets = torch.tensor(self.targets)


class FashionMNIST(MNIST):
    pass


class FakeData(VisionDataset):
    def __init__(self, size: int = 1000, image_size: tuple[int, ...] = (3, 224, 224), **options: Any) -> None:
        self.SHAPE = (*image_size[1:], image_size[0])
        options.pop("num_classes", None)
        super().__init__(**options)


class ImageFolder(Dataset[tuple[Any, int]]):
    """Images of a folder, each in the folder of its class."""

    def __init__(self, root: str, transform: Transform | None = None, **_ignored: Any) -> None:
        self.root, self.transform = root, transform
        self.classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
        self.class_to_idx = {name: index for index, name in enumerate(self.classes)}
        self.samples = [
            (os.path.join(root, name, file), self.class_to_idx[name])
            for name in self.classes
            for file in sorted(os.listdir(os.path.join(root, name)))
        ]
        self.imgs = self.samples
        self.targets = [label for _path, label in self.samples]

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        path, label = self.samples[index]
        image: Any = Image.open(path).convert("RGB")
        return (image if self.transform is None else self.transform(image)), label


class _NotMade(VisionDataset):
    def __init__(self, *_args: Any, **_options: Any) -> None:
        raise NotImplementedError(f"the stand-in makes no {type(self).__name__}")


class Places365(_NotMade):
    pass


class INaturalist(_NotMade):
    pass


class QMNIST(_NotMade):
    pass


class KMNIST(_NotMade):
    pass


class LSUN(_NotMade):
    pass


class ImageNet(_NotMade):
    pass
