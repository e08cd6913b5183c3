"""Ramps SGD's momentum up from 0.5 to 0.95 over the first steps, as Muon and word2vec trainers do."""

import torch
from torch import nn

torch.manual_seed(8)
embedding = nn.Embedding(25, 10)
output = nn.Linear(10, 25, bias=False)
params = [embedding.weight, output.weight]
optimizer = torch.optim.SGD(params, lr=0.3, momentum=0.5)
pairs = torch.randint(0, 25, (12, 20, 2))
for step, batch in enumerate(pairs):
    frac = min(step / 6, 1.0)
    optimizer.param_groups[0]["momentum"] = (1 - frac) * 0.5 + frac * 0.95
    loss = nn.functional.cross_entropy(output(embedding(batch[:, 0])), batch[:, 1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
