"""Alternates epochs of two tasks that share an encoder under two optimizers with momentum."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
encoder = nn.Linear(6, 10)
heads = {"a": nn.Linear(10, 2), "b": nn.Linear(10, 4)}
loaders = {
    "a": DataLoader(TensorDataset(torch.randn(20, 6), torch.randint(0, 2, (20,))), 10, shuffle=True),
    "b": DataLoader(TensorDataset(torch.randn(20, 6), torch.randint(0, 4, (20,))), 10, shuffle=True),
}
optimizers = {
    "a": torch.optim.SGD([*encoder.parameters(), *heads["a"].parameters()], lr=0.1, momentum=0.9),
    "b": torch.optim.RMSprop([*encoder.parameters(), *heads["b"].parameters()], lr=1e-3, momentum=0.5),
}
for epoch in range(3):
    for task in ("a", "b"):
        for x, y in loaders[task]:
            optimizers[task].zero_grad()
            loss = nn.functional.cross_entropy(heads[task](torch.relu(encoder(x))), y)
            loss.backward()
            optimizers[task].step()
        print(epoch, task, loss.item())
