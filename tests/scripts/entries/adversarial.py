"""Networks trained against each other: several optimizers, some of which share parameters."""

from __future__ import annotations

from tests.scripts import materials
from tests.scripts.entry import Script

GANS = "eriklindernoren/PyTorch-GAN"
EPOCH = ("--n_epochs", "1", "--sample_interval", "4")

ADVERSARIAL = (
    *(
        Script(
            f"PyTorch-GAN {name}",
            GANS,
            f"implementations/{name}/{name}.py",
            (*EPOCH, "--batch_size", "8", "--img_size", "16", *more),
            standins=("torchvision",),
            losses=False,
            steps=6,
        )
        for name, more in (
            ("gan", ("--latent_dim", "8")),
            ("infogan", ("--latent_dim", "8")),
            ("wgan_gp", ("--latent_dim", "8", "--n_critic", "2")),
        )
    ),
    Script(
        "PyTorch-GAN wgan",
        GANS,
        "implementations/wgan/wgan.py",
        (*EPOCH, "--batch_size", "8", "--latent_dim", "8", "--n_critic", "2"),
        standins=("torchvision",),
        losses=False,
        steps=6,
    ),
    Script(
        "PyTorch-GAN cyclegan",
        GANS,
        "implementations/cyclegan/cyclegan.py",
        (
            *("--n_epochs", "2", "--decay_epoch", "1", "--dataset_name", "tiny", "--n_cpu", "0"),
            *("--img_height", "32", "--img_width", "32", "--n_residual_blocks", "1", "--sample_interval", "2"),
        ),
        standins=("torchvision",),
        materials=materials.two_domains,
        losses=False,
        steps=6,
    ),
)
