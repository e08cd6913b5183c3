"""Gives the Trainer a plain module that returns a dict with its loss."""

import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments


class Regression(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x, labels=None):
        out = self.net(x).squeeze(-1)
        return {"loss": nn.functional.mse_loss(out, labels), "logits": out}


class Points(Dataset):
    def __init__(self, n):
        self.x = torch.randn(n, 4)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"x": self.x[i], "labels": self.x[i].sum()}


torch.manual_seed(1)
model = Regression()
args = TrainingArguments(
    "out", num_train_epochs=2, per_device_train_batch_size=8, report_to="none", use_cpu=True, save_strategy="no"
)
trainer = Trainer(model, args, train_dataset=Points(32))
trainer.train()
torch.save(model.state_dict(), "regression.pt")
