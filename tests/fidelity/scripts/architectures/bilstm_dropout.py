"""Tags words with a two-layer bidirectional LSTM that has dropout between its layers."""

import torch
from torch import nn

torch.manual_seed(6)
embed = nn.Embedding(18, 8)
lstm = nn.LSTM(8, 6, num_layers=2, bidirectional=True, dropout=0.3, batch_first=True)
tag = nn.Linear(12, 4)
model = nn.ModuleDict({"embed": embed, "lstm": lstm, "tag": tag})
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
sentences = torch.randint(0, 18, (6, 5, 8))
for step, words in enumerate(sentences):
    model.train()
    logits = tag(lstm(embed(words))[0])
    loss = nn.functional.cross_entropy(logits.transpose(1, 2), words % 4)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
