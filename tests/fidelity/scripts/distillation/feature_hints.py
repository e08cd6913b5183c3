"""Matches inner features of teacher and student through a learned projection and hooks."""

import torch
from torch import nn

torch.manual_seed(3)
teacher = nn.Sequential(nn.Linear(7, 32), nn.ReLU(), nn.Linear(32, 3)).requires_grad_(False).eval()
student = nn.Sequential(nn.Linear(7, 10), nn.ReLU(), nn.Linear(10, 3))
project = nn.Linear(10, 32)
hints = {}
teacher[1].register_forward_hook(lambda m, i, o: hints.__setitem__("teacher", o))
student[1].register_forward_hook(lambda m, i, o: hints.__setitem__("student", o))
optimizer = torch.optim.SGD([*student.parameters(), *project.parameters()], lr=0.05, momentum=0.9)
for step in range(8):
    x = torch.randn(16, 7)
    with torch.no_grad():
        goal = teacher(x).argmax(1)
    loss = nn.functional.cross_entropy(student(x), goal)
    loss = loss + 0.5 * nn.functional.mse_loss(project(hints["student"]), hints["teacher"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
