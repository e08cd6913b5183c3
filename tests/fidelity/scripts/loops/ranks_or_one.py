"""Trains under DistributedDataParallel with as many ranks as torchrun gives, or one."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    store = None if "RANK" in os.environ else dist.FileStore("store", world)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=world)
    torch.manual_seed(16)
    data = TensorDataset(torch.randn(48, 6), torch.randint(0, 3, (48,)))
    sampler = DistributedSampler(data, shuffle=True, seed=16)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(6, 18), nn.ReLU(), nn.Linear(18, 3)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in DataLoader(data, batch_size=12 // world, sampler=sampler):
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(epoch, loss.item())
    if rank == 0:
        torch.save(model.module.state_dict(), "model.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
