"""Prefetches the next batch under no_grad while the present one is trained on."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Prefetcher:
    def __init__(self, loader, mean, std):
        self.loader = iter(loader)
        self.mean, self.std = mean, std
        self.preload()

    def preload(self):
        try:
            self.next_input, self.next_target = next(self.loader)
        except StopIteration:
            self.next_input = None
            return
        with torch.no_grad():
            self.next_input = self.next_input.float().sub_(self.mean).div_(self.std)

    def next(self):
        inputs, target = self.next_input, self.next_target
        if inputs is not None:
            self.preload()
        return inputs, target


torch.manual_seed(0)
data = TensorDataset(torch.randint(0, 256, (40, 12), dtype=torch.uint8), torch.randint(0, 3, (40,)))
loader = DataLoader(data, batch_size=10, shuffle=True)
model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
for epoch in range(2):
    prefetcher = Prefetcher(loader, 127.5, 74.0)
    inputs, target = prefetcher.next()
    while inputs is not None:
        loss = nn.functional.cross_entropy(model(inputs), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        inputs, target = prefetcher.next()
    print("epoch", epoch, round(loss.item(), 4))
