"""Trains a policy by REINFORCE in a small walk whose actions are drawn from the policy."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(8):
    place, log_probs, rewards = 2, [], []
    for _ in range(8):
        state = nn.functional.one_hot(torch.tensor(place), 5).float()
        choice = Categorical(logits=policy(state))
        action = choice.sample()
        log_probs.append(choice.log_prob(action))
        place = max(0, min(4, place + (1 if action.item() == 1 else -1)))
        rewards.append(1.0 if place == 4 else -0.1)
        if place in (0, 4):
            break
    returns, R = [], 0.0
    for r in reversed(rewards):
        R = r + 0.9 * R
        returns.insert(0, R)
    loss = -(torch.stack(log_probs) * torch.tensor(returns)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(episode, len(rewards), sum(rewards))
