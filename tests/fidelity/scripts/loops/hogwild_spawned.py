"""Trains one shared model in processes that begin anew, as the Hogwild example does."""

import torch
import torch.multiprocessing as mp
from torch import nn


def train(rank, model):
    torch.manual_seed(100 + rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    for _ in range(4):
        x = torch.randn(16, 4)
        loss = nn.functional.mse_loss(model(x), x[:, :1].abs())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("process", rank, loss.item())


if __name__ == "__main__":
    torch.manual_seed(14)
    context = mp.get_context("spawn")
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    model.share_memory()
    for rank in range(2):
        process = context.Process(target=train, args=(rank, model))
        process.start()
        process.join()
    torch.save(model.state_dict(), "shared.pt")
