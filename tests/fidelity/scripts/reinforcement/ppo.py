"""Trains by PPO: several clipped steps on each rollout of old log probabilities."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(5)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3, eps=1e-5)
for rollout in range(3):
    states = torch.randn(32, 4)
    with torch.no_grad():
        choice = Categorical(logits=policy(states))
        actions = choice.sample()
        old = choice.log_prob(actions)
    reward = (actions == states[:, :3].argmax(1)).float()
    advantage = (reward - reward.mean()) / (reward.std() + 1e-8)
    for epoch in range(2):
        for rows in torch.randperm(32).split(16):
            new = Categorical(logits=policy(states[rows]))
            ratio = (new.log_prob(actions[rows]) - old[rows]).exp()
            a = advantage[rows]
            clipped = torch.min(ratio * a, ratio.clamp(0.8, 1.2) * a)
            loss = -clipped.mean() - 0.01 * new.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            optimizer.step()
    print(rollout, reward.mean().item(), loss.item())
