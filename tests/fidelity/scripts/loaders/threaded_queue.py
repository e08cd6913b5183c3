"""Fills a queue of batches from a background thread."""

import queue
import threading

import torch
from torch import nn

torch.manual_seed(0)
data = torch.randn(40, 6)
target = data.norm(dim=1, keepdim=True)
waiting = queue.Queue(maxsize=2)


def producer():
    generator = torch.Generator().manual_seed(1)
    for _ in range(6):
        rows = torch.randint(0, len(data), (10,), generator=generator)
        waiting.put((data[rows], target[rows]))
    waiting.put(None)


thread = threading.Thread(target=producer, daemon=True)
thread.start()
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
while (item := waiting.get()) is not None:
    x, y = item
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
thread.join()
print("done", loss.item())
