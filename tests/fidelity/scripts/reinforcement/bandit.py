"""Learns a bandit's arms by a policy gradient with a running baseline."""

import torch
from torch.distributions import Categorical

torch.manual_seed(1)
arms = torch.tensor([0.2, 0.8, 0.4, 0.6])
preferences = torch.zeros(4, requires_grad=True)
optimizer = torch.optim.SGD([preferences], lr=0.3)
baseline = 0.0
for step in range(12):
    choice = Categorical(logits=preferences)
    pulls = choice.sample((6,))
    reward = (torch.rand(6) < arms[pulls]).float()
    loss = -((reward - baseline) * choice.log_prob(pulls)).mean() - 0.01 * choice.entropy()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    baseline += 0.1 * (reward.mean().item() - baseline)
    print(step, pulls.tolist(), baseline)
