"""Samples text from the model between the steps by multinomial draws."""

import torch
from torch import nn

torch.manual_seed(4)
letters = "abcdefgh "
table = nn.Embedding(len(letters), len(letters))
optimizer = torch.optim.AdamW(table.parameters(), lr=0.1)
text = torch.randint(0, len(letters), (120,))


@torch.no_grad()
def sample(length):
    token, out = torch.zeros(1, dtype=torch.long), []
    for _ in range(length):
        token = torch.multinomial(table(token).softmax(-1).squeeze(0), 1)
        out.append(letters[token.item()])
    return "".join(out)


for step in range(6):
    starts = torch.randint(0, 100, (8,))
    x = torch.stack([text[s : s + 10] for s in starts])
    y = torch.stack([text[s + 1 : s + 11] for s in starts])
    loss = nn.functional.cross_entropy(table(x).flatten(0, 1), y.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 3), repr(sample(12)))
