"""Routes tokens to the best two of four experts with a balancing loss."""

import torch
import torch.nn.functional as F
from torch import nn


class MoE(nn.Module):
    def __init__(self, width, experts=4, k=2):
        super().__init__()
        self.gate = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 16), nn.GELU(), nn.Linear(16, width)) for _ in range(experts)
        )
        self.k = k

    def forward(self, x):
        probs = self.gate(x).softmax(-1)
        weight, chosen = probs.topk(self.k, dim=-1)
        weight = weight / weight.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            row, slot = torch.where(chosen == i)
            if len(row):
                out.index_add_(0, row, weight[row, slot, None] * expert(x[row]))
        share = F.one_hot(chosen, len(self.experts)).float().sum(1).mean(0)
        return out, len(self.experts) * (share * probs.mean(0)).sum()


torch.manual_seed(13)
moe, head = MoE(8), nn.Linear(8, 3)
optimizer = torch.optim.AdamW([*moe.parameters(), *head.parameters()], lr=3e-3)
for step in range(6):
    x = torch.randn(24, 8)
    out, balance = moe(x)
    loss = F.cross_entropy(head(x + out), x[:, :3].argmax(1)) + 0.01 * balance
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), balance.item())
