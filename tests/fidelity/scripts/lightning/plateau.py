"""Lowers the rate on a plateau that configure_optimizers monitors."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 30), nn.ReLU(), nn.Dropout(0.2), nn.Linear(30, 2))

    def training_step(self, batch, batch_idx):
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", nn.functional.cross_entropy(self.net(batch[0]), batch[1]))

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=5e-2)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.2, patience=0)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "monitor": "val_loss"}}


L.seed_everything(5)
x, y = torch.randn(48, 6), torch.randint(0, 2, (48,))
train = DataLoader(TensorDataset(x[:32], y[:32]), batch_size=16, shuffle=True)
valid = DataLoader(TensorDataset(x[32:], y[32:]), batch_size=16)
model = Net()
trainer = L.Trainer(
    max_epochs=6,
    accelerator="cpu",
    devices=1,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    num_sanity_val_steps=0,
)
trainer.fit(model, train, valid)
print(trainer.optimizers[0].param_groups[0]["lr"])
