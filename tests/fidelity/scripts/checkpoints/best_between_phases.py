"""Loads the best file of the first phase before the second phase goes on with a smaller rate."""

import torch
from torch import nn

torch.manual_seed(3)
model = nn.Sequential(nn.Linear(7, 21), nn.ReLU(), nn.Linear(21, 2))
x, y = torch.randn(60, 7), torch.randint(0, 2, (60,))


def run(lr, epochs, path):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    best = 0.0
    for epoch in range(epochs):
        loss = nn.functional.cross_entropy(model(x[:40]), y[:40])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            accuracy = (model(x[40:]).argmax(1) == y[40:]).float().mean().item()
        if accuracy >= best:
            best = accuracy
            torch.save(model.state_dict(), path)
    print(path, best)


run(0.3, 6, "phase1.pt")
model.load_state_dict(torch.load("phase1.pt"))
run(0.03, 6, "phase2.pt")
model.load_state_dict(torch.load("phase2.pt"))
