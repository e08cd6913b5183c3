"""Classifies images by a small vision transformer with patches and a class token."""

import torch
from torch import nn


class ViT(nn.Module):
    def __init__(self, size=8, patch=4, width=16, classes=3):
        super().__init__()
        self.patches = nn.Conv2d(1, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, (size // patch) ** 2 + 1, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 2, 32, 0.0, "gelu", batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, classes))

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], 1) + self.places
        return self.head(self.blocks(x)[:, 0])


torch.manual_seed(33)
model = ViT()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.05)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6)
for step in range(6):
    images, labels = torch.randn(6, 1, 8, 8), torch.randint(0, 3, (6,))
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(step, loss.item())
