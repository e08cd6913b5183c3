"""Trains a GAN with manual optimization of two optimizers."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader


class GAN(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 2))
        self.discriminator = nn.Sequential(nn.Linear(2, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))

    def loss(self, logits, real):
        target = torch.full_like(logits, float(real))
        return nn.functional.binary_cross_entropy_with_logits(logits, target)

    def training_step(self, batch, batch_idx):
        opt_g, opt_d = self.optimizers()
        fake = self.generator(torch.randn(len(batch), 3))
        d_loss = self.loss(self.discriminator(batch), True) + self.loss(self.discriminator(fake.detach()), False)
        opt_d.zero_grad()
        self.manual_backward(d_loss)
        opt_d.step()
        g_loss = self.loss(self.discriminator(fake), True)
        opt_g.zero_grad()
        self.manual_backward(g_loss)
        opt_g.step()

    def configure_optimizers(self):
        g = torch.optim.Adam(self.generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
        d = torch.optim.Adam(self.discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
        return [g, d], []


L.seed_everything(2)
model = GAN()
loader = DataLoader(torch.randn(48, 2) + 1, batch_size=8, shuffle=True)
trainer = L.Trainer(
    max_epochs=1,
    accelerator="cpu",
    devices=1,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(model, loader)
