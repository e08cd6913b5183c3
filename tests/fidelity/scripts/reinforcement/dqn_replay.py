"""Trains a DQN from a replay buffer with epsilon-greedy actions and a target network."""

import copy
import random
from collections import deque

import torch
from torch import nn

random.seed(2)
torch.manual_seed(2)
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
target = copy.deepcopy(net)
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
memory = deque(maxlen=60)


def one_hot(place):
    return nn.functional.one_hot(torch.tensor(place), 6).float()


place, updates = 0, 0
for t in range(40):
    if random.random() < max(0.1, 1 - t / 30):
        action = random.randrange(2)
    else:
        with torch.no_grad():
            action = net(one_hot(place)).argmax().item()
    after = max(0, min(5, place + (1 if action else -1)))
    memory.append((place, action, float(after == 5), after))
    place = 0 if after == 5 else after
    if len(memory) >= 16 and t % 3 == 0:
        s, a, r, n = zip(*random.sample(memory, 12))
        q = net(torch.stack([one_hot(i) for i in s])).gather(1, torch.tensor(a)[:, None]).squeeze(1)
        with torch.no_grad():
            goal = torch.tensor(r) + 0.9 * target(torch.stack([one_hot(i) for i in n])).max(1).values
        loss = nn.functional.smooth_l1_loss(q, goal)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(net.parameters(), 100)
        optimizer.step()
        updates += 1
        if updates % 3 == 0:
            target.load_state_dict(net.state_dict())
        print(t, loss.item())
