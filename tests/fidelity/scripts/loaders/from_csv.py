"""Writes a small CSV file, reads it back and trains on its rows."""

import csv
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

random.seed(23)
torch.manual_seed(23)
with open("houses.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["rooms", "area", "age", "price"])
    for _ in range(32):
        rooms, area, age = random.randint(1, 6), random.uniform(30, 150), random.randint(0, 80)
        writer.writerow([rooms, area, age, 20 * rooms + 3 * area - age + random.gauss(0, 5)])

with open("houses.csv", newline="") as file:
    table = torch.tensor([[float(v) for v in row.values()] for row in csv.DictReader(file)])
table = (table - table.mean(0)) / table.std(0)
loader = DataLoader(TensorDataset(table[:, :3], table[:, 3:]), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(3):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
