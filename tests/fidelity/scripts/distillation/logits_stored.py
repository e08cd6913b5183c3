"""Stores the teacher's logits for the whole set without grad and trains the student on them."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
x = torch.randn(48, 10)
teacher = nn.Sequential(nn.Linear(10, 40), nn.Tanh(), nn.Dropout(0.3), nn.Linear(40, 3))
teacher.eval()
logits = []
with torch.no_grad():
    for batch in x.split(16):
        logits.append(teacher(batch))
torch.save(torch.cat(logits), "logits.pt")

dataset = TensorDataset(x, torch.load("logits.pt"))
student = nn.Linear(10, 3)
optimizer = torch.optim.AdamW(student.parameters(), lr=2e-2)
for epoch in range(3):
    for inputs, target in DataLoader(dataset, batch_size=16, shuffle=True):
        loss = nn.functional.cross_entropy(student(inputs), target.softmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
