"""Evaluates under inference_mode by a decorated function and prints a confusion matrix."""

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
x, y = torch.randn(60, 4), torch.randint(0, 3, (60,))


@torch.inference_mode()
def confusion(inputs, labels):
    guesses = model(inputs).argmax(1)
    matrix = torch.zeros(3, 3, dtype=torch.long)
    for truth, guess in zip(labels, guesses):
        matrix[truth, guess] += 1
    return matrix


for epoch in range(4):
    for start in (0, 20):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[start : start + 20]), y[start : start + 20])
        loss.backward()
        optimizer.step()
    print(epoch, confusion(x[40:], y[40:]).tolist())
