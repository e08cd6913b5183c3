"""Distils a frozen teacher into a smaller student by softened targets."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 4)).eval()
student = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
T, alpha = 3.0, 0.7
for step in range(9):
    x, y = torch.randn(20, 8), torch.randint(0, 4, (20,))
    with torch.no_grad():
        teacher_logits = teacher(x)
    logits = student(x)
    soft = F.kl_div(F.log_softmax(logits / T, 1), F.softmax(teacher_logits / T, 1), reduction="batchmean") * T * T
    loss = alpha * soft + (1 - alpha) * F.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, soft.item(), loss.item())
