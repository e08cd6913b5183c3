"""Updates an average of the weights in on_train_batch_end and evaluates with it."""

import copy

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Averaged(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 1))
        self.ema = copy.deepcopy(self.net).requires_grad_(False)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)

    def on_train_batch_end(self, outputs, batch, batch_idx):
        for a, p in zip(self.ema.parameters(), self.net.parameters()):
            a.data.mul_(0.9).add_(p.data, alpha=0.1)

    def configure_optimizers(self):
        return torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)


L.seed_everything(4)
x = torch.randn(40, 5)
data = TensorDataset(x, x.prod(1, keepdim=True))
model = Averaged()
trainer = L.Trainer(
    max_steps=8,
    accelerator="cpu",
    devices=1,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(model, DataLoader(data, batch_size=10, shuffle=True))
print(nn.functional.mse_loss(model.ema(x), data.tensors[1]).item())
