"""Draws a random subset for each evaluation from the same generator as training."""

import torch
from torch import nn

torch.manual_seed(3)
model = nn.Sequential(nn.Embedding(16, 10), nn.Linear(10, 16))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
text = torch.randint(0, 16, (300,))
train_text, valid_text = text[:250], text[250:]


def get_batch(split):
    data = train_text if split == "train" else valid_text
    ix = torch.randint(len(data) - 8, (4,))
    return torch.stack([data[i : i + 8] for i in ix]), torch.stack([data[i + 1 : i + 9] for i in ix])


def loss_of(x, y):
    return nn.functional.cross_entropy(model(x).transpose(1, 2), y)


@torch.no_grad()
def estimate_loss():
    model.eval()
    out = {s: torch.stack([loss_of(*get_batch(s)) for _ in range(3)]).mean().item() for s in ("train", "valid")}
    model.train()
    return out


for step in range(8):
    if step % 3 == 0:
        print(step, estimate_loss())
    loss = loss_of(*get_batch("train"))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
