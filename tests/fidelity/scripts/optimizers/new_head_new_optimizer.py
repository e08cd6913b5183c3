"""Learns a second task with a new head and a new optimizer, and keeps the old head."""

import torch
from torch import nn

torch.manual_seed(34)
trunk = nn.Sequential(nn.Linear(6, 18), nn.ReLU())
heads = nn.ModuleList([nn.Linear(18, 2)])


def train(task, optimizer, steps):
    for _ in range(steps):
        x = torch.randn(14, 6) + task
        y = (x[:, task] > task).long()
        loss = nn.functional.cross_entropy(heads[task](trunk(x)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("task", task, loss.item())


train(0, torch.optim.SGD([*trunk.parameters(), *heads.parameters()], lr=0.1, momentum=0.9), 5)
heads.append(nn.Linear(18, 2))
train(1, torch.optim.SGD([*trunk.parameters(), *heads[1].parameters()], lr=0.02, momentum=0.9), 5)
torch.save({"trunk": trunk.state_dict(), "heads": heads.state_dict()}, "tasks.pt")
