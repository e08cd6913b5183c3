"""Trains in two phases, the head first and then everything, with a new AdamW for each."""

import torch
from torch import nn

torch.manual_seed(8)
backbone = nn.Sequential(nn.Linear(10, 20), nn.ReLU())
head = nn.Linear(20, 3)
model = nn.Sequential(backbone, head)
x = torch.randn(30, 10)
y = torch.randint(0, 3, (30,))


def fit(parameters, lr, steps):
    optimizer = torch.optim.AdamW(parameters, lr=lr, weight_decay=0.05)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{steps} steps, loss {loss.item():.4f}")


print("warming up the head")
fit(head.parameters(), 1e-2, 5)
print("fine-tuning")
fit(model.parameters(), 1e-3, 5)
torch.save(model.state_dict(), "model.pt")
