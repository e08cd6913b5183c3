"""Fine-tunes only the biases of a small transformer from a pretrained file."""

import torch
from torch import nn


class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.block = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True, norm_first=True)
        self.out = nn.Linear(16, 2)

    def forward(self, tokens):
        return self.out(self.block(self.embed(tokens)).mean(1))


torch.manual_seed(7)
torch.save(Tiny().state_dict(), "pretrained.pt")
model = Tiny()
model.load_state_dict(torch.load("pretrained.pt", weights_only=True))
for name, parameter in model.named_parameters():
    parameter.requires_grad = name.endswith("bias")
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=5e-3)
tokens = torch.randint(0, 20, (6, 8, 7))
for batch in tokens:
    loss = nn.functional.cross_entropy(model(batch), batch[:, 0] % 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
torch.save(model.state_dict(), "tuned.pt")
