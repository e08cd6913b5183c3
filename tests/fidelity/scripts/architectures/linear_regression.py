"""Fits a line by a linear layer, full batches and plain SGD."""

import torch
import torch.nn as nn

torch.manual_seed(32)
X = torch.linspace(0, 10, 50).view(-1, 1)
Y = 2.5 * X - 3 + torch.randn(50, 1)
X = (X - X.mean()) / X.std()

model = nn.Linear(1, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(15):
    prediction = model(X)
    loss = criterion(prediction, Y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (epoch + 1) % 5 == 0:
        print(f"Epoch [{epoch + 1}/15], Loss: {loss.item():.4f}")
torch.save(model.state_dict(), "line.ckpt")
