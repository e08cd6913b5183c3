"""Trains a small language model by GRPO on groups of completions drawn from itself."""

import torch
from torch import nn

torch.manual_seed(6)
vocab = 8


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(vocab, 12), nn.GRU(12, 16, batch_first=True), nn.Linear(16, vocab)

    def forward(self, tokens):
        return self.out(self.rnn(self.embed(tokens))[0])


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(6):
    prompts = torch.randint(0, vocab, (3, 2)).repeat_interleave(4, 0)
    tokens = prompts
    with torch.no_grad():
        for _ in range(5):
            probs = model(tokens)[:, -1].softmax(-1)
            tokens = torch.cat([tokens, torch.multinomial(probs, 1)], 1)
    reward = (tokens[:, 2:] % 2 == 0).float().mean(1).view(3, 4)
    advantage = ((reward - reward.mean(1, keepdim=True)) / (reward.std(1, keepdim=True) + 1e-4)).flatten()
    log_probs = model(tokens[:, :-1]).log_softmax(-1).gather(2, tokens[:, 1:, None]).squeeze(2)[:, 1:]
    loss = -(torch.exp(log_probs - log_probs.detach()) * advantage[:, None]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, reward.mean().item())
