"""Trains actor and critic together on advantages from a rollout of the present policy."""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(4)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 24), nn.Tanh())
        self.mean, self.value = nn.Linear(24, 1), nn.Linear(24, 1)
        self.log_std = nn.Parameter(torch.full((1,), -0.5))

    def forward(self, state):
        h = self.body(state)
        return Normal(self.mean(h), self.log_std.exp()), self.value(h).squeeze(-1)


model = ActorCritic()
optimizer = torch.optim.RMSprop(model.parameters(), lr=3e-3)
state = torch.randn(8, 3)
for update in range(6):
    logs, values, rewards, entropies = [], [], [], []
    for _ in range(5):
        policy, value = model(state)
        action = policy.sample()
        logs.append(policy.log_prob(action).squeeze(-1))
        values.append(value)
        entropies.append(policy.entropy().mean())
        rewards.append(-(action.squeeze(-1) - state.sum(1)).abs())
        state = (0.8 * state + 0.2 * action + 0.1 * torch.randn(8, 3)).detach()
    R = model(state)[1].detach()
    loss = 0.0
    for log, value, reward in zip(reversed(logs), reversed(values), reversed(rewards)):
        R = reward + 0.9 * R
        advantage = R - value
        loss = loss - (log * advantage.detach()).mean() + 0.5 * advantage.pow(2).mean()
    loss = loss - 0.01 * sum(entropies)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(update, torch.stack(rewards).mean().item(), loss.item())
