"""Trains a double DQN on a fixed log of transitions with a softly updated target."""

import torch
from torch import nn

torch.manual_seed(3)
states, actions = torch.randn(80, 4), torch.randint(0, 3, (80,))
rewards = states[torch.arange(80), actions]
nexts, done = torch.randn(80, 4), (torch.rand(80) < 0.1).float()


def make():
    return nn.Sequential(nn.Linear(4, 20), nn.ReLU(), nn.Linear(20, 3))


online, target = make(), make()
target.load_state_dict(online.state_dict())
optimizer = torch.optim.Adam(online.parameters(), lr=3e-3)
for step in range(10):
    rows = torch.randint(0, 80, (20,))
    q = online(states[rows]).gather(1, actions[rows].unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        best = online(nexts[rows]).argmax(1, keepdim=True)
        goal = rewards[rows] + 0.95 * (1 - done[rows]) * target(nexts[rows]).gather(1, best).squeeze(1)
    loss = nn.functional.mse_loss(q, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for t, o in zip(target.parameters(), online.parameters()):
        t.data.copy_(0.1 * o.data + 0.9 * t.data)
    print(step, loss.item())
