"""Trains an LSTM language model by truncated backpropagation with a detached hidden state."""

import torch
from torch import nn

torch.manual_seed(5)
corpus = torch.randint(0, 14, (4, 61))


class RNNModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Embedding(14, 10)
        self.rnn = nn.LSTM(10, 12, batch_first=True)
        self.decoder = nn.Linear(12, 14)

    def forward(self, x, hidden):
        out, hidden = self.rnn(self.encoder(x), hidden)
        return self.decoder(out), hidden


model = RNNModel()
hidden = (torch.zeros(1, 4, 12), torch.zeros(1, 4, 12))
for batch, i in enumerate(range(0, 60, 10)):
    x, y = corpus[:, i : i + 10], corpus[:, i + 1 : i + 11]
    model.zero_grad()
    hidden = tuple(h.detach() for h in hidden)
    output, hidden = model(x, hidden)
    loss = nn.functional.cross_entropy(output.flatten(0, 1), y.flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-2.0)
    print(batch, loss.item())
