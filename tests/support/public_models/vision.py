"""Vision models of torchvision and timm, and the networks of diffusers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from support.public_models.entry import Entry, Made, classes, normal

_LABELS = 5


def _cross_entropy(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    return functional.cross_entropy(model(batch["images"]), batch["labels"])


def _classified(build: Callable[[], nn.Module], side: int = 32, rows: int = 4) -> Made:
    return Made(
        build().train(), _cross_entropy, {"images": normal(rows, 3, side, side), "labels": classes(rows, _LABELS)}
    )


def _torchvision(build: Callable[[Any], nn.Module], side: int = 32) -> Callable[[], Made]:
    def make() -> Made:
        import torchvision

        return _classified(lambda: build(torchvision.models), side)

    return make


def _timm(name: str, side: int = 32, **settings: Any) -> Callable[[], Made]:
    def make() -> Made:
        import timm

        return _classified(lambda: timm.create_model(name, num_classes=_LABELS, **settings), side)

    return make


def _mixer() -> Made:
    from timm.models.mlp_mixer import MlpMixer

    return _classified(lambda: MlpMixer(_LABELS, img_size=32, patch_size=8, num_blocks=2, embed_dim=16))


def _convmixer() -> Made:
    from timm.models.convmixer import ConvMixer

    return _classified(lambda: ConvMixer(16, 2, kernel_size=3, patch_size=4, num_classes=_LABELS))


def _mobilenet(models: Any) -> nn.Module:
    setting = models.mobilenetv3.InvertedResidualConfig
    blocks = [
        setting(16, 3, 16, 16, True, "RE", 2, 1, 0.5),
        setting(16, 5, 32, 24, True, "HS", 2, 1, 0.5),
    ]
    return models.MobileNetV3(blocks, 64, num_classes=_LABELS)  # type: ignore[no-any-return]


def _efficientnet(models: Any) -> nn.Module:
    setting = models.efficientnet.MBConvConfig
    blocks = [setting(1, 3, 1, 8, 8, 1), setting(6, 3, 2, 8, 16, 2)]
    return models.EfficientNet(blocks, dropout=0.2, num_classes=_LABELS)  # type: ignore[no-any-return]


def _regnet(models: Any) -> nn.Module:
    sizes = models.regnet.BlockParams.from_init_params(depth=3, w_0=8, w_a=8.0, w_m=2.0, group_width=8)
    return models.RegNet(sizes, num_classes=_LABELS, stem_width=8)  # type: ignore[no-any-return]


def _convnext(models: Any) -> nn.Module:
    setting = models.convnext.CNBlockConfig
    return models.ConvNeXt(  # type: ignore[no-any-return]
        [setting(8, 16, 1), setting(16, None, 1)], stochastic_depth_prob=0.1, num_classes=_LABELS
    )


def _swin(models: Any) -> nn.Module:
    return models.SwinTransformer(  # type: ignore[no-any-return]
        [4, 4], 8, [2, 2], [1, 2], [4, 4], stochastic_depth_prob=0.2, num_classes=_LABELS
    )


def _inception() -> Made:
    from torchvision.models.googlenet import BasicConv2d, Inception

    class Small(nn.Module):
        """Two of GoogLeNet's blocks; the whole network wants images of 75 pixels and 6 million weights."""

        def __init__(self) -> None:
            super().__init__()
            self.stem = BasicConv2d(3, 8, kernel_size=3, stride=2)
            self.first = Inception(8, 4, 4, 8, 2, 4, 4)
            self.second = Inception(20, 4, 4, 8, 2, 4, 4)
            self.head = nn.Linear(20, _LABELS)

        def forward(self, x: Tensor) -> Tensor:
            return self.head(self.second(self.first(self.stem(x))).mean((2, 3)))

    return _classified(Small)


def _segmenting(head: str) -> Callable[[], Made]:
    def make() -> Made:
        from torchvision.models import resnet
        from torchvision.models._utils import IntermediateLayerGetter
        from torchvision.models.segmentation import deeplabv3, fcn

        backbone = resnet.ResNet(resnet.BasicBlock, [1, 1, 1, 1])
        layers = IntermediateLayerGetter(backbone, {"layer2": "out"})
        if head == "fcn":
            model: nn.Module = fcn.FCN(layers, fcn.FCNHead(128, 3))
        else:
            model = deeplabv3.DeepLabV3(layers, deeplabv3.DeepLabHead(128, 3, atrous_rates=(2, 3)))

        def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
            return functional.cross_entropy(model(batch["images"])["out"], batch["labels"])

        labels = np.random.default_rng(0).integers(0, 3, (2, 32, 32))
        return Made(model.train(), objective, {"images": normal(2, 3, 32, 32), "labels": labels})

    return make


def _ssd_heads() -> Made:
    from torchvision.models.detection.ssd import SSDHead

    class Detector(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Sequential(nn.Conv2d(3, 8, 3, stride=4, padding=1), nn.ReLU())
            self.second = nn.Sequential(nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU())
            self.head = SSDHead([8, 16], [2, 2], 3)

        def forward(self, x: Tensor) -> dict[str, Tensor]:
            first = self.first(x)
            return self.head([first, self.second(first)])  # type: ignore[no-any-return]

    def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        """Multibox loss with hard negative mining, three negatives for each positive (Liu et al. 2016)."""
        found = model(batch["images"])
        labels, boxes = batch["labels"], batch["boxes"]
        positive = labels > 0
        entropy = functional.cross_entropy(found["cls_logits"].flatten(0, 1), labels.flatten(), reduction="none")
        entropy = entropy.view(labels.shape)
        negative = torch.where(positive, -float("inf"), entropy.detach())
        rank = negative.sort(1, descending=True)[1].sort(1)[1]
        kept = positive | (rank < 3 * positive.sum(1, keepdim=True))
        located = functional.smooth_l1_loss(found["bbox_regression"], boxes, reduction="none").sum(-1)
        return ((entropy * kept).sum() + (located * positive).sum()) / positive.sum()

    count = (4 * 4 + 2 * 2) * 2
    labels = (np.random.default_rng(0).random((2, count)) < 0.2) * np.random.default_rng(1).integers(1, 3, (2, count))
    data = {"images": normal(2, 3, 16, 16), "labels": labels, "boxes": normal(2, count, 4, seed=2)}
    return Made(Detector().train(), objective, data)


def _diffusion() -> Made:
    import diffusers

    model = diffusers.UNet2DModel(
        sample_size=8, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(8, 16), norm_num_groups=4,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        attention_head_dim=8,
    )  # fmt: skip
    scheduler = diffusers.DDPMScheduler(num_train_timesteps=50)

    def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        """As diffusers' own training script: noise, a time for each image, and the mean square of what is left."""
        clean = batch["images"]
        noise = torch.randn(clean.shape)
        times = torch.randint(0, 50, (len(clean),))
        noisy = scheduler.add_noise(clean, noise, times)
        return functional.mse_loss(model(noisy, times, return_dict=False)[0], noise)

    return Made(model.train(), objective, {"images": normal(4, 1, 8, 8)})


def _autoencoder() -> Made:
    import diffusers

    model = diffusers.AutoencoderKL(
        in_channels=1, out_channels=1, block_out_channels=(8, 8), latent_channels=2, norm_num_groups=4, sample_size=8,
        down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2,
    )  # fmt: skip

    def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        latent = model.encode(batch["images"]).latent_dist
        decoded = model.decode(latent.sample()).sample
        return functional.mse_loss(decoded, batch["images"]) + 1e-3 * latent.kl().mean()

    return Made(model.train(), objective, {"images": normal(4, 1, 8, 8)})


_V, _M, _D = "torchvision", "timm", "diffusers"
VISION = (
    Entry("ResNet", _V, _torchvision(lambda m: m.ResNet(m.resnet.BasicBlock, [1, 1, 1, 1], num_classes=_LABELS))),
    Entry("VGG", _V, _torchvision(lambda m: nn.Sequential(
        m.vgg.make_layers([8, "M", 16, 16, "M"], batch_norm=True), nn.AdaptiveAvgPool2d(7), nn.Flatten(),
        nn.Linear(16 * 49, 32), nn.ReLU(True), nn.Dropout(), nn.Linear(32, _LABELS)))),
    Entry("MobileNetV3", _V, _torchvision(_mobilenet)),
    Entry("EfficientNet", _V, _torchvision(_efficientnet)),
    Entry("DenseNet", _V, _torchvision(lambda m: m.DenseNet(8, (2, 2), 16, num_classes=_LABELS))),
    Entry("ShuffleNetV2", _V, _torchvision(
        lambda m: m.ShuffleNetV2([1, 1, 1], [8, 16, 24, 32, 48], num_classes=_LABELS))),
    Entry("GoogLeNet", _V, _inception),
    Entry("RegNet", _V, _torchvision(_regnet)),
    Entry("Swin (torchvision)", _V, _torchvision(_swin)),
    Entry("ConvNeXt (torchvision)", _V, _torchvision(_convnext)),
    Entry("Vision transformer (torchvision)", _V, _torchvision(
        lambda m: m.VisionTransformer(16, 8, 2, 2, 16, 32, num_classes=_LABELS), 16)),
    Entry("FCN", _V, _segmenting("fcn")),
    Entry("DeepLabV3", _V, _segmenting("deeplab")),
    Entry("SSD's heads and loss", _V, _ssd_heads),
    Entry("MLP-Mixer", _M, _mixer),
    Entry("PiT", _M, _timm("pit_ti_224", img_size=32, patch_size=8, stride=4, base_dims=(8, 8), depth=(1, 1),
        heads=(1, 2))),
    Entry("DeiT", _M, _timm("deit_tiny_patch16_224", img_size=32, embed_dim=16, depth=2, num_heads=2)),
    Entry("CaiT", _M, _timm("cait_xxs24_224", img_size=32, embed_dim=16, depth=2, num_heads=2)),
    Entry("ConvMixer", _M, _convmixer),
    Entry("UNet2D, diffusion", _D, _diffusion),
    Entry("AutoencoderKL", _D, _autoencoder),
)  # fmt: skip
