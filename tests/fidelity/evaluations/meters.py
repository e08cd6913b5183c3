"""Counts in objects with update and compute, as metrics of libraries do, and keeps an average of the loss."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class Accuracy:
    def __init__(self):
        self.correct = 0
        self.total = 0

    def update(self, logits, labels):
        self.correct += int((logits.argmax(-1) == labels).sum())
        self.total += labels.numel()

    def compute(self):
        return self.correct / self.total


class AverageMeter:
    def __init__(self):
        self.sum = 0.0
        self.count = 0
        self.avg = 0.0

    def update(self, val, n=1):
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count


@torch.no_grad()
def validate(model, loader):
    metric, losses = Accuracy(), AverageMeter()
    for i, (x, y) in enumerate(loader):
        logits = model(x)
        losses.update(F.cross_entropy(logits, y).item(), x.size(0))
        metric.update(logits, y)
        if i % 2 == 0:
            print(f"{i}: {losses.avg:.4f}")
    print(f"{metric.compute():.3f}: {metric.correct} of {metric.total}, loss {losses.sum:.4f}")


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
model.eval()
validate(model, DataLoader(TensorDataset(torch.randn(40, 6), torch.randint(0, 3, (40,))), batch_size=16))
