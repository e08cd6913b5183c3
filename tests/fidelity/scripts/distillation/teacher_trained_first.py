"""Trains the teacher, freezes it and distils it in the same script."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
x = torch.randn(60, 6)
y = (x[:, 0] * x[:, 1] > 0).long()
teacher = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 2))
student = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 2))

optimizer = torch.optim.Adam(teacher.parameters(), lr=1e-2)
for epoch in range(6):
    loss = F.cross_entropy(teacher(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("teacher", loss.item())
torch.save(teacher.state_dict(), "teacher.pt")

teacher.eval().requires_grad_(False)
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
for epoch in range(3):
    for rows in torch.randperm(60).split(30):
        loss = F.mse_loss(student(x[rows]), teacher(x[rows]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("student", epoch, loss.item())
