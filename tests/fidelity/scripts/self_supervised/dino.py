"""Trains a student against a sharpened and centred teacher whose centre moves."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(5)
student = nn.Sequential(nn.Linear(10, 20), nn.GELU(), nn.Linear(20, 8))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad = False
center = torch.zeros(1, 8)
optimizer = torch.optim.AdamW(student.parameters(), lr=2e-3)
for it in range(8):
    x = torch.randn(12, 10)
    crops = [x + 0.2 * torch.randn_like(x) for _ in range(3)]
    student_out = [student(c) / 0.1 for c in crops]
    teacher_out = [F.softmax((teacher(c) - center) / 0.04, dim=-1).detach() for c in crops[:2]]
    terms = [
        torch.sum(-t * F.log_softmax(s, dim=-1), dim=-1).mean()
        for i, t in enumerate(teacher_out)
        for j, s in enumerate(student_out)
        if i != j
    ]
    loss = sum(terms) / len(terms)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for q, k in zip(student.parameters(), teacher.parameters()):
            k.data.mul_(0.9).add_(0.1 * q.detach().data)
        batch_center = torch.cat([teacher(c) for c in crops[:2]]).mean(0, keepdim=True)
        center = center * 0.9 + batch_center * 0.1
    print(it, loss.item())
