"""Goes on from the newest file of a folder of checkpoints, which an earlier experiment may have filled."""

import glob
import os

import torch
from torch import nn

torch.manual_seed(4)
os.makedirs("ckpt", exist_ok=True)
model = nn.Linear(6, 2)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
files = sorted(glob.glob("ckpt/step_*.pt"))
start = 0
if files:
    state = torch.load(files[-1])
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optim"])
    start = int(files[-1][-7:-3])
for step in range(start, 9):
    x, y = torch.randn(10, 6), torch.randint(0, 2, (10,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 3 == 2:
        torch.save({"model": model.state_dict(), "optim": optimizer.state_dict()}, f"ckpt/step_{step + 1:04d}.pt")
        for old in sorted(glob.glob("ckpt/step_*.pt"))[:-2]:
            os.remove(old)
print(os.listdir("ckpt"))
