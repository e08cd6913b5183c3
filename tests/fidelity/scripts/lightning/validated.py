"""Validates after each epoch, keeps the best checkpoint and stops early."""

import lightning as L
import torch
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Regressor(L.LightningModule):
    def __init__(self, width=24, lr=3e-2):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, 1))

    def step(self, batch, name):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        self.log(name, loss)
        return loss

    def training_step(self, batch, batch_idx):
        return self.step(batch, "train_loss")

    def validation_step(self, batch, batch_idx):
        self.step(batch, "val_loss")

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)


L.seed_everything(1)
x, y = torch.randn(45, 4), torch.randn(45, 1)
train = DataLoader(TensorDataset(x[:30], y[:30]), batch_size=15, shuffle=True)
valid = DataLoader(TensorDataset(x[30:], y[30:]), batch_size=15)
checkpoint = ModelCheckpoint(dirpath="checkpoints", monitor="val_loss", filename="best", save_top_k=1)
trainer = L.Trainer(
    max_epochs=7,
    accelerator="cpu",
    devices=1,
    logger=False,
    callbacks=[checkpoint, EarlyStopping("val_loss", patience=2)],
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(Regressor(), train, valid)
model = Regressor.load_from_checkpoint(checkpoint.best_model_path)
