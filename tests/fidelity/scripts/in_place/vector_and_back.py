"""Moves all weights as one vector, by parameters_to_vector and back, every few steps."""

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(9)
model = nn.Sequential(nn.Linear(3, 10), nn.Tanh(), nn.Linear(10, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
start = parameters_to_vector(model.parameters()).detach().clone()
for step in range(10):
    x = torch.randn(16, 3)
    loss = nn.functional.mse_loss(model(x), x.sin().sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 3:
        vector = parameters_to_vector(model.parameters()).detach()
        away = vector - start
        if away.norm() > 0.3:
            vector = start + 0.3 * away / away.norm()
        vector_to_parameters(vector, model.parameters())
    print(step, loss.item())
