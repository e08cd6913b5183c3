"""Does different things at steps that a counter names: evaluates, saves, lowers the rate."""

import torch
from torch import nn

torch.manual_seed(12)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
steps_to_decay = {6, 10}
held = torch.randn(20, 6), torch.randint(0, 4, (20,))
step = 0
while step < 12:
    step += 1
    x, y = torch.randn(10, 6), torch.randint(0, 4, (10,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step in steps_to_decay:
        for group in optimizer.param_groups:
            group["lr"] *= 0.1
    if step % 4 == 0:
        with torch.no_grad():
            print(step, loss.item(), nn.functional.cross_entropy(model(held[0]), held[1]).item())
        torch.save(model.state_dict(), f"step{step}.pt")
