"""Loads with two worker processes that draw their own noise by worker_init_fn."""

import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        base = torch.full((5,), float(index) / 24)
        return base + torch.from_numpy(np.random.randn(5).astype("float32")) * 0.1, torch.tensor([index / 24])


def seed_worker(worker_id):
    seed = torch.initial_seed() % 2**32
    np.random.seed(seed)
    random.seed(seed)


if __name__ == "__main__":
    torch.manual_seed(11)
    g = torch.Generator()
    g.manual_seed(11)
    loader = DataLoader(Noisy(), 6, shuffle=True, num_workers=2, worker_init_fn=seed_worker, generator=g)
    model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
    print("loss", loss.item())
