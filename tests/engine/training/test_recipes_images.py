"""Residual networks and VGG-11: layout, normalisation, record and replay, bad input."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn

from counterfoil.program.capture import capture
from counterfoil.program.update import Sgd
from counterfoil.training.images import ImageObjective, Normalisation, image_batch
from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes import resnet, vgg
from counterfoil.training.recipes.resnet import BasicBlock, Bottleneck, ResNet, ResNetLayout, order_resnet
from counterfoil.training.recipes.vgg import Vgg, VggLayout, order_vgg
from counterfoil.training.tamper import LabelFlip
from counterfoil.training.weights import he_uniform
from counterfoil_core.arithmetic.admission import check_types
from counterfoil_core.base.errors import DataError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.events import DisputeLocated
from counterfoil_core.values.outcome import Outcome
from support.jobs import Job, audited, record_job

RNG = np.random.default_rng(0)
COLOUR = RNG.integers(0, 256, (48, 3, 12, 12), dtype=np.uint8)
GREY = COLOUR[:, 0]
LABELS = np.arange(48, dtype=np.int64) * 7 % 10
SMALL = {"steps": 2, "batch_size": 8, "checkpoint_every": 1, "seed": 4}
TINY = ResNetLayout(BasicBlock, (1, 1, 1, 1), 2)
TINY_BOTTLENECK = ResNetLayout(Bottleneck, (1, 1, 1, 1), 2)
TINY_VGG = VggLayout(8, 7, 0.5, ((2,), (3, 3)))
TINY_VGG_SMALL = VggLayout(8, 1, None, ((2,), (3, 3)))

ORDERS: dict[str, Callable[[], OrderDraft]] = {
    "basic blocks": lambda: order_resnet(COLOUR, LABELS, model=TINY, **SMALL),
    "bottlenecks": lambda: order_resnet(COLOUR, LABELS, model=TINY_BOTTLENECK, **SMALL),
    "grey images": lambda: order_resnet(GREY, LABELS, model=TINY, flip=False, crop_padding=2, **SMALL),
    "vgg": lambda: order_vgg(COLOUR, LABELS, layout=TINY_VGG, **SMALL),
    "small vgg": lambda: order_vgg(COLOUR, LABELS, layout=TINY_VGG_SMALL, **SMALL),
}

QUICK = ("basic blocks", "vgg")
EACH = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in ORDERS]


@cache
def drafted(name: str) -> OrderDraft:
    """One of the orders; nobody changes it."""
    return ORDERS[name]()


@pytest.fixture(scope="module")
def jobs(tmp_path_factory, trainer_key) -> Callable[[str], Job]:
    made: dict[str, Job] = {}

    def job(name: str) -> Job:
        if name not in made:
            made[name] = record_job(tmp_path_factory.mktemp("images"), drafted(name), trainer_key)
        return made[name]

    return job


@pytest.mark.sampled
@pytest.mark.parametrize("perturbation", ["reversed", "split"])
@pytest.mark.parametrize("name", EACH)
def test_replay_is_bit_exact_on_other_hardware(jobs, name, perturbation):
    job = jobs(name)
    report = audited(job.run, job.order, perturbation=perturbation).report
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert (report.contradictions, report.omissions) == (0, 0)
    assert report.steps_replayed == 2


@pytest.mark.parametrize("name", EACH)
def test_control_there_are_decisions_to_follow(jobs, name):
    """The logs are not empty, so the perturbations above had something to follow."""
    with BundleReader.open(jobs(name).run) as reader:
        assert sum(reader.log_entries().tolist()) > 0


@pytest.mark.parametrize("name", QUICK)
def test_control_flipped_labels_are_disputed_at_their_step(tmp_path, trainer_key, name):
    job = record_job(tmp_path, drafted(name), trainer_key, tamper=LabelFlip(2))
    result = audited(job.run, job.order)
    assert result.report.outcome is Outcome.DISPUTED
    assert result.of(DisputeLocated)[0].dispute.step == 2


def test_one_seed_gives_one_order_and_another_another():
    first, again = drafted("vgg"), ORDERS["vgg"]()
    other = order_vgg(COLOUR, LABELS, layout=TINY_VGG, **(SMALL | {"seed": 5}))
    assert first.manifest.digest == again.manifest.digest != other.manifest.digest


def parameters(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def on_meta(make: Callable[[], nn.Module]) -> nn.Module:
    """Build a model without memory for its weights."""
    with torch.device("meta"):
        return make()


# torchvision's networks have 1000 classes, and a 7x7 stem where ours have 3x3: 64 x 3 x (49 - 9) weights fewer.
@pytest.mark.parametrize(
    ("name", "theirs"), [("resnet18", 11_689_512), ("resnet34", 21_797_672), ("resnet50", 25_557_032)]
)
def test_residual_networks_have_the_published_number_of_parameters(name, theirs):
    assert parameters(on_meta(lambda: ResNet(resnet.LAYOUTS[name], 3, 1000))) == theirs - 64 * 3 * 40


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (lambda: ResNet(resnet.LAYOUTS["resnet18"], 3, 10), 11_173_962),
        (lambda: ResNet(resnet.LAYOUTS["resnet34"], 3, 10), 21_282_122),
        (lambda: ResNet(resnet.LAYOUTS["resnet50"], 3, 10), 23_520_842),
        (lambda: Vgg(vgg.LAYOUTS["torchvision"], 3, 1000), 132_863_336),  # torchvision's
        (lambda: Vgg(vgg.LAYOUTS["torchvision"], 3, 10), 128_807_306),
        (lambda: Vgg(vgg.LAYOUTS["small"], 3, 10), 9_750_922),
    ],
)
def test_number_of_parameters(make, count):
    assert parameters(on_meta(make)) == count


def test_tensors_have_torchvisions_names():
    network = on_meta(lambda: ResNet(resnet.LAYOUTS["resnet50"], 3, 1000)).state_dict()
    shapes = {
        "bn1.running_var": (64,),
        "layer1.0.conv1.weight": (64, 64, 1, 1),
        "layer1.0.conv3.weight": (256, 64, 1, 1),
        "layer1.0.downsample.0.weight": (256, 64, 1, 1),
        "layer1.0.downsample.1.num_batches_tracked": (),
        "layer2.0.conv2.weight": (128, 128, 3, 3),
        "layer3.5.bn3.weight": (1024,),
        "layer4.2.conv2.weight": (512, 512, 3, 3),
        "fc.weight": (1000, 2048),
    }
    assert {name: tuple(network[name].shape) for name in shapes} == shapes
    assert len(network) == 320  # torchvision's
    layers = on_meta(lambda: Vgg(vgg.LAYOUTS["torchvision"], 3, 1000)).state_dict()
    convolutions = [f"features.{index}" for index in (0, 3, 6, 8, 11, 13, 16, 18)]
    modules = [*convolutions, *(f"classifier.{index}" for index in (0, 3, 6))]
    assert list(layers) == [f"{module}.{part}" for module in modules for part in ("weight", "bias")]
    assert tuple(layers["classifier.0.weight"].shape) == (4096, 512 * 7 * 7)


# Of ResNet-50 a block with a projection for each stage, and one without: the others are like them.
RESNET50 = replace(resnet.LAYOUTS["resnet50"], depths=(2, 1, 1, 1))


# VGG-11 has no operator that ResNet-50 and the tiny VGG that is recorded here have not.
@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [lambda: ResNet(RESNET50, 3, 10), lambda: Vgg(vgg.LAYOUTS["torchvision"], 3, 10)],
    ids=["ResNet-50", "VGG-11"],
)
def test_a_full_size_network_is_captured(make):
    pixels = RNG.integers(0, 256, (64, 3, 32, 32), dtype=np.uint8)
    model = on_meta(make).to_empty(device="cpu")  # memory that nothing touches
    objective = ImageObjective(Normalisation.of(pixels), 4, True)
    program = capture(model, objective, Sgd(0.9, 5e-4), image_batch(pixels, 64)).program
    check_types(program, "float64")
    assert {node.module for node in program.nodes} >= {name for name, _ in model.named_parameters()}


def test_normalisation_is_exact_and_gives_mean_zero_and_deviation_one():
    normalisation = Normalisation.of(COLOUR)
    pixels = COLOUR.transpose(1, 0, 2, 3).reshape(3, -1)
    assert np.allclose(normalisation.means, pixels.mean(1), rtol=1e-14)
    assert np.allclose(normalisation.deviations, pixels.std(1), rtol=1e-12)
    result = normalisation(torch.from_numpy(COLOUR))
    assert torch.allclose(result.mean((0, 2, 3)), torch.zeros(3), atol=1e-5)
    assert torch.allclose(result.std((0, 2, 3), correction=0), torch.ones(3), atol=1e-5)
    # In another order, and in blocks, the sums are the same.
    repeated = np.concatenate([COLOUR] * 50)[::-1]
    assert Normalisation.of(repeated) == normalisation
    assert Normalisation.of(np.full((3, 1, 2, 2), 7, np.uint8)) == Normalisation((7.0,), (1.0,))


def test_he_uniform_keeps_the_size_of_a_signal():
    """Eight layers later the signal is as large as before; with the fan-in of linear layers it would have vanished."""
    model = nn.Sequential(*(layer for _ in range(8) for layer in (nn.Linear(200, 200), nn.ReLU())))
    he_uniform(model, 3)
    x = torch.from_numpy(RNG.standard_normal((100, 200)).astype(np.float32))
    with torch.no_grad():
        assert 0.3 < float(model(x).square().mean()) < 3.0
    weight = model[0].weight.detach()
    assert float(weight.abs().max()) <= math.sqrt(6 / 200)
    assert float(weight.var()) == pytest.approx(2 / 200, rel=0.05)
    assert not model[0].bias.any()


BAD: dict[str, tuple[Callable[[], OrderDraft], str]] = {
    "floating images": (lambda: order_resnet(COLOUR.astype(np.float32), LABELS), "uint8"),
    "flat images": (lambda: order_resnet(COLOUR.reshape(48, -1), LABELS), "shape"),
    "no images": (lambda: order_resnet(COLOUR[:0], LABELS[:0]), "shape"),
    "fewer labels": (lambda: order_resnet(COLOUR, LABELS[:-1]), "one int64 label"),
    "labels of another type": (lambda: order_vgg(COLOUR, LABELS.astype(np.int32)), "int32"),
    "labels out of range": (lambda: order_resnet(COLOUR, LABELS, classes=9), "0 to 9"),
    "negative labels": (lambda: order_resnet(COLOUR, LABELS - 1), "-1 to 8"),
    "one class": (lambda: order_resnet(COLOUR, LABELS * 0, classes=1), "1 classes"),
    "another model": (lambda: order_resnet(COLOUR, LABELS, model="resnet101"), "resnet101"),
    "another layout": (lambda: order_vgg(COLOUR, LABELS, layout="large"), "large"),
    "small images": (lambda: order_vgg(COLOUR, LABELS), "12x12"),
    "a large batch": (lambda: order_resnet(COLOUR, LABELS, model=TINY, batch_size=49), "48 rows"),
    "no steps": (lambda: order_vgg(COLOUR, LABELS, layout=TINY_VGG, steps=0), "one step"),
    "a negative border": (lambda: order_resnet(COLOUR, LABELS, model=TINY, crop_padding=-1), "-1 pixels"),
    "nothing to normalise over": (lambda: order_resnet(GREY[:, :8, :8], LABELS, model=TINY, batch_size=1), "8x8"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_a_sentence(name):
    make, word = BAD[name]
    with pytest.raises(DataError) as caught:
        make()
    assert word in caught.value.sentence
