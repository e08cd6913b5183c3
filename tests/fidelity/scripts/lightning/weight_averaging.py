"""Averages weights by the StochasticWeightAveraging callback from the third epoch on."""

import lightning as L
import torch
from lightning.pytorch.callbacks import StochasticWeightAveraging
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 15), nn.BatchNorm1d(15), nn.ReLU(), nn.Linear(15, 2))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


L.seed_everything(7)
data = TensorDataset(torch.randn(24, 5), torch.randint(0, 2, (24,)))
model = Net()
trainer = L.Trainer(
    max_epochs=5,
    accelerator="cpu",
    devices=1,
    callbacks=[StochasticWeightAveraging(swa_lrs=0.05, swa_epoch_start=2, annealing_epochs=2)],
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(model, DataLoader(data, batch_size=8, shuffle=True))
torch.save(model.state_dict(), "averaged.pt")
